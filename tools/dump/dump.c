// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dump.h"

#include <errno.h>

#include "codec/data-source.h"
#include "codec/record.h"

/* Bytes in a line; the longest packet has 2 bytes of header and 8 of payload (D18.1.1). */
#define LINE_BYTES 16

/**
 * struct dump_state - state of dump_recording()
 * @midr: MIDR_EL1 for windows without the MIDR_EL1 of their core
 * @offset: offset of the current window, in bytes of all windows
 * @done: number of bytes of the window that were printed
 * @tail: bytes of a suspect range that are not printed yet
 * @held: number of bytes in @tail
 * @parses: whether the suspect range has consisted of packets so far
 */
struct dump_state {
	FILE *out;
	u64 midr;
	u64 offset;
	u64 done;
	u8 tail[LINE_BYTES];
	size_t held;
	bool parses;
};

static void dump_line(const struct dump_state *dump, u64 at, const u8 *bytes, size_t n,
		      const char *meaning)
{
	size_t i;

	fprintf(dump->out, ".  %08llx: ", (unsigned long long)(dump->offset + at));
	for (i = 0; i < n; i++)
		fprintf(dump->out, " %02x", bytes[i]);
	fprintf(dump->out, "%*s %s\n", (int)(3 * (LINE_BYTES - i)), "", meaning);
}

/* Print a run of zeros between or within records as one line. */
static void dump_padding(const struct dump_state *dump, u64 at, u64 n)
{
	static const u8 zeros[LINE_BYTES];
	char meaning[DUMP_MEANING_MAX] = "PAD";

	if (n > LINE_BYTES)
		snprintf(meaning, sizeof(meaning), "PAD, %llu bytes", (unsigned long long)n);
	dump_line(dump, at, zeros, n < LINE_BYTES ? (size_t)n : LINE_BYTES, meaning);
}

static void dump_packets(const struct dump_state *dump, u64 at, const u8 *raw, size_t size)
{
	char meaning[DUMP_MEANING_MAX];
	struct spe_packet packet;
	size_t pos = 0, pad;
	int n;

	while (pos < size) {
		for (pad = 0; pad < size - pos && !raw[pos + pad]; pad++)
			;
		if (pad)
			dump_padding(dump, at + pos, pad);
		pos += pad;
		n = spe_packet_decode(raw + pos, size - pos, &packet);
		if (n <= 0)
			break;
		dump_format_packet(&packet, meaning);
		dump_line(dump, at + pos, raw + pos, (size_t)n, meaning);
		pos += (size_t)n;
	}
}

#define SUSPECT "SUSPECT"

static void dump_suspect_line(struct dump_state *dump, const char *meaning)
{
	dump_line(dump, dump->done - dump->held, dump->tail, dump->held, meaning);
	dump->held = 0;
}

static void dump_suspect_byte(struct dump_state *dump, u8 byte)
{
	char meaning[sizeof(SUSPECT " ") + DUMP_MEANING_MAX] = SUSPECT " ";
	struct spe_packet packet;
	int n;

	dump->tail[dump->held++] = byte;
	dump->done++;
	if (dump->parses) {
		n = spe_packet_decode(dump->tail, dump->held, &packet);
		if (n > 0) {
			dump_format_packet(&packet, meaning + strlen(SUSPECT " "));
			dump_suspect_line(dump, meaning);
		}
		dump->parses = n > 0 || n == -ENODATA;
	}
	if (dump->held == LINE_BYTES)
		dump_suspect_line(dump, SUSPECT);
}

/*
 * Print suspect bytes up to the position of @decoder: as packets while they can be parsed, because
 * a truncated or damaged record begins with packets, and the rest as bytes. Unless @whole is set,
 * the range may continue.
 */
static void dump_suspect(struct dump_state *dump, const struct spe_decoder *decoder, bool whole)
{
	while (dump->done < decoder->base + decoder->pos)
		dump_suspect_byte(dump, decoder->buf[dump->done - decoder->base]);
	if (whole && dump->held)
		dump_suspect_line(dump, SUSPECT);
	if (whole)
		dump->parses = true;
}

static void dump_header(const struct dump_state *dump, const struct source_window *window)
{
	static const struct {
		u32 flag;
		const char *name;
	} flags[] = {
		{ WINDOW_TRUNCATED, "truncated" }, { WINDOW_PARTIAL, "partial" },
		{ WINDOW_COLLIDED, "collided" },   { WINDOW_FAULTED, "faulted" },
		{ WINDOW_SUSPECT, "suspect" },	   { WINDOW_GAPS, "gaps" },
	};

	fprintf(dump->out, "window at 0x%llx: 0x%llx bytes, cpu %u",
		(unsigned long long)dump->offset,
		(unsigned long long)(window->decoder ? window->size : window->len), window->cpu);
	if (window->tid >= 0)
		fprintf(dump->out, ", tid %d", window->tid);
	if (window->midr)
		fprintf(dump->out, ", midr 0x%llx", (unsigned long long)window->midr);
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		if (window->flags & flags[i].flag)
			fprintf(dump->out, ", %s", flags[i].name);
	fputc('\n', dump->out);
}

/*
 * Print which level served a load or store, from the core's Data Source packet (D18.2.4), else from
 * events (D18.2.6). The line contains no bytes, because it describes no packet; perf prints no such
 * line.
 */
static void dump_served_level(const struct dump_state *dump, const struct spe_data_sources *sources,
			      const struct spe_sample *sample)
{
	static const struct {
		u8 flag;
		const char *name;
	} flags[] = {
		{ SPE_ORIGIN_REMOTE, "remote" },
		{ SPE_ORIGIN_SNOOPED, "snooped" },
		{ SPE_ORIGIN_PEER, "peer" },
		{ SPE_ORIGIN_MODIFIED, "modified" },
	};
	enum spe_op_kind kind = spe_sample_kind(sample);
	struct spe_origin origin;
	char text[DUMP_MEANING_MAX];
	int n;

	if (kind != SPE_KIND_LOAD && kind != SPE_KIND_STORE)
		return;
	origin = spe_sample_origin(sources, sample);
	n = snprintf(text, sizeof(text), "SERVED %s", spe_level_name(origin.level));
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		if (origin.flags & flags[i].flag)
			n += snprintf(text + n, sizeof(text) - (size_t)n, " %s", flags[i].name);
	if (origin.flags & SPE_ORIGIN_BY_SOURCE)
		snprintf(text + n, sizeof(text) - (size_t)n, ", by source (%s)", sources->name);
	else
		snprintf(text + n, sizeof(text) - (size_t)n, ", by events");
	dump_line(dump, dump->done, NULL, 0, text);
}

/* Print the bytes before @start: the decoder does not report padding, so these are padding. */
static void dump_padding_until(struct dump_state *dump, u64 start)
{
	if (start > dump->done) {
		dump_padding(dump, dump->done, start - dump->done);
		dump->done = start;
	}
}

static void dump_chunk(struct dump_state *dump, struct spe_decoder *decoder,
		       const struct spe_data_sources *sources)
{
	struct spe_sample sample;
	struct spe_range range;
	enum spe_decode_result r;

	do {
		r = spe_decoder_next(decoder, &sample, &range);
		if (r == SPE_DECODE_SAMPLE) {
			dump_padding_until(dump, decoder->base + decoder->pos - sample.size);
			dump_packets(dump, dump->done, sample.raw, sample.size);
			dump_served_level(dump, sources, &sample);
			dump->done += sample.size;
		} else if (r == SPE_DECODE_SUSPECT || decoder->broken) {
			dump_padding_until(dump, r == SPE_DECODE_SUSPECT ? range.offset :
									   decoder->suspect);
			dump_suspect(dump, decoder, r == SPE_DECODE_SUSPECT);
		}
	} while (r != SPE_DECODE_END && r != SPE_DECODE_MORE);
}

static void dump_window(void *ctx, const struct source_window *window)
{
	struct dump_state *dump = ctx;
	const struct spe_data_sources *sources =
		spe_data_sources_find(window->midr ? window->midr : dump->midr);
	struct spe_decoder local, *decoder = source_window_get_decoder(window, &local);

	/* A window without bytes only reports blind time and losses. */
	if (ferror(dump->out) || (!window->decoder && !window->len))
		return;
	if (!decoder->base)
		dump_header(dump, window);
	dump_chunk(dump, decoder, sources);
	if (decoder->open)
		return;
	dump_padding_until(dump, decoder->base + decoder->len);
	dump->offset += dump->done;
	dump->done = 0;
}

int dump_recording(struct recording *recording, u64 midr, FILE *out,
		   struct recording_error *ret_error)
{
	struct dump_state dump = { .out = out, .midr = midr, .parses = true };
	const struct source_sink sink = { .window = dump_window, .ctx = &dump };

	return recording_replay(recording, &sink, ret_error);
}
