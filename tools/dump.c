// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dump.h"

#include "data-source.h"
#include "record.h"

/* Bytes in a line; the longest packet that D18.1.1 allows has 2 + 8. */
#define LINE_BYTES 16

struct dump {
	FILE *out;
	u64 midr; /* of windows that do not say which core took them */
	u64 offset; /* of the window, in all windows */
};

static void dump_line(const struct dump *dump, const struct source_window *window, size_t pos,
		      size_t n, const char *meaning)
{
	size_t i;

	fprintf(dump->out, ".  %08llx: ", (unsigned long long)(dump->offset + pos));
	for (i = 0; i < n; i++)
		fprintf(dump->out, " %02x", window->data[pos + i]);
	fprintf(dump->out, "%*s %s\n", (int)(3 * (LINE_BYTES - i)), "", meaning);
}

/* Zeros between or within records: a line, however many they are. */
static void dump_padding(const struct dump *dump, const struct source_window *window, size_t pos,
			 size_t n)
{
	char meaning[DUMP_MEANING_MAX] = "PAD";

	if (n > LINE_BYTES)
		snprintf(meaning, sizeof(meaning), "PAD, %zu bytes", n);
	dump_line(dump, window, pos, n < LINE_BYTES ? n : LINE_BYTES, meaning);
}

static void dump_packets(const struct dump *dump, const struct source_window *window, size_t pos,
			 size_t size)
{
	char meaning[DUMP_MEANING_MAX];
	struct spe_packet packet;
	size_t end = pos + size, pad;
	int n;

	while (pos < end) {
		for (pad = 0; pad < end - pos && !window->data[pos + pad]; pad++)
			;
		if (pad)
			dump_padding(dump, window, pos, pad);
		pos += pad;
		n = spe_packet_decode(window->data + pos, end - pos, &packet);
		if (n <= 0)
			break;
		dump_packet_meaning(&packet, meaning);
		dump_line(dump, window, pos, (size_t)n, meaning);
		pos += (size_t)n;
	}
}

/*
 * What no record is made of: packets as far as they parse, which is how a cut or
 * damaged record begins, and the rest as bytes.
 */
static void dump_suspect(const struct dump *dump, const struct source_window *window,
			 const struct spe_range *range)
{
	char meaning[sizeof("SUSPECT ") + DUMP_MEANING_MAX] = "SUSPECT ";
	size_t pos = range->offset, end = range->offset + range->size, size;
	struct spe_packet packet;
	int n;

	while (pos < end && (n = spe_packet_decode(window->data + pos, end - pos, &packet)) > 0) {
		dump_packet_meaning(&packet, meaning + strlen("SUSPECT "));
		dump_line(dump, window, pos, (size_t)n, meaning);
		pos += (size_t)n;
	}
	for (; pos < end; pos += size) {
		size = end - pos < LINE_BYTES ? end - pos : LINE_BYTES;
		dump_line(dump, window, pos, size, "SUSPECT");
	}
}

static void dump_header(const struct dump *dump, const struct source_window *window)
{
	static const struct {
		u32 flag;
		const char *name;
	} flags[] = {
		{ WINDOW_TRUNCATED, "truncated" }, { WINDOW_PARTIAL, "partial" },
		{ WINDOW_COLLIDED, "collided" },   { WINDOW_FAULTED, "faulted" },
		{ WINDOW_SUSPECT, "suspect" },
	};

	fprintf(dump->out, "window at 0x%llx: 0x%zx bytes, cpu %u",
		(unsigned long long)dump->offset, window->len, window->cpu);
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
 * What the record as a whole says of a load or store: which level served it, by the
 * Data Source packet of that core (D18.2.4), else by events (D18.2.6). perf has no
 * such line; without bytes it is none of its packets.
 */
static void dump_served(const struct dump *dump, const struct source_window *window, size_t start,
			const struct spe_data_sources *sources, const struct spe_sample *sample)
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
	dump_line(dump, window, start, 0, text);
}

/* Padding has no event of its own from the decoder: it is what lies between. */
static void dump_window(void *ctx, const struct source_window *window)
{
	const struct spe_decoder_config config = {
		.max_size = window->max_record,
		.align = window->align,
	};
	struct dump *dump = ctx;
	const struct spe_data_sources *sources =
		spe_data_sources_find(window->midr ? window->midr : dump->midr);
	struct spe_decoder decoder;
	struct spe_sample sample;
	struct spe_range range;
	size_t done = 0, start;
	enum spe_decode r;

	if (ferror(dump->out))
		return;
	dump_header(dump, window);
	spe_decoder_init(&decoder, &config, window->data, window->len);
	do {
		r = spe_decoder_next(&decoder, &sample, &range);
		start = r == SPE_DECODE_SAMPLE	? decoder.pos - sample.size :
			r == SPE_DECODE_SUSPECT ? range.offset :
						  window->len;
		if (start > done)
			dump_padding(dump, window, done, start - done);
		if (r == SPE_DECODE_SAMPLE) {
			dump_packets(dump, window, start, sample.size);
			dump_served(dump, window, start, sources, &sample);
		} else if (r == SPE_DECODE_SUSPECT) {
			dump_suspect(dump, window, &range);
		}
		done = decoder.pos;
	} while (r != SPE_DECODE_END);
	dump->offset += window->len;
}

int dump_recording(struct recording *recording, u64 midr, FILE *out,
		   struct recording_error *ret_error)
{
	struct dump dump = { .out = out, .midr = midr };
	const struct source_sink sink = { .window = dump_window, .ctx = &dump };

	return recording_replay(recording, &sink, ret_error);
}
