// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dump.h"

#include "record.h"

/* Bytes in a line; the longest packet that D18.1.1 allows has 2 + 8. */
#define LINE_BYTES 16

struct dump {
	FILE *out;
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

/* Padding has no event of its own from the decoder: it is what lies between. */
static void dump_window(void *ctx, const struct source_window *window)
{
	const struct spe_decoder_config config = {
		.max_size = window->max_record,
		.align = window->align,
	};
	struct dump *dump = ctx;
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
		if (r == SPE_DECODE_SAMPLE)
			dump_packets(dump, window, start, sample.size);
		else if (r == SPE_DECODE_SUSPECT)
			dump_suspect(dump, window, &range);
		done = decoder.pos;
	} while (r != SPE_DECODE_END);
	dump->offset += window->len;
}

int dump_recording(struct recording *recording, FILE *out, struct recording_error *ret_error)
{
	struct dump dump = { .out = out };
	const struct source_sink sink = { .window = dump_window, .ctx = &dump };

	return recording_replay(recording, &sink, ret_error);
}
