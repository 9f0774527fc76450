// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Fuzz the codec's fast path against its general path, record by record and many records at a time.
 * The first byte of the input sets the alignment; the rest is two windows that share a set of
 * layouts. A window decoded in chunks is also compared with the whole window.
 */
#include "fuzz.h"
#include "kmod/core/codec/layout-twin.h"

static void report_difference(const char *difference)
{
	if (!difference)
		return;
	fprintf(stderr, "they do not agree: %s\n", difference);
	abort();
}

/* Decode in chunks, with sizes that depend on the input, and compare with the whole window. */
static void compare_chunks(const u8 *buf, size_t len, u32 align, struct spe_layouts *layouts)
{
	const struct spe_decoder_config config = { .align = align };
	struct spe_range range_want = { 0 }, range_got = { 0 };
	size_t end = 0, from = 0;
	struct spe_decoder whole, parts;
	struct spe_sample want, got;
	enum spe_decode_result r;

	spe_decoder_init(&whole, &config, buf, len);
	spe_decoder_init(&parts, &config, NULL, 0);
	spe_decoder_set_chunk(&parts, buf, 0, !len);
	do {
		r = spe_decoder_next_fast(&parts, layouts, &got, &range_got);
		if (r == SPE_DECODE_MORE) {
			from += parts.pos;
			end += 1 + buf[end] % 80;
			end = end < len ? end : len;
			spe_decoder_set_chunk(&parts, buf + from, end - from, end == len);
			continue;
		}
		fuzz_assert(spe_decoder_next(&whole, &want, &range_want) == r);
		fuzz_assert(parts.base + parts.pos == whole.pos);
		if (r == SPE_DECODE_SAMPLE)
			report_difference(layout_twin_compare_samples(&want, &got));
		else if (r == SPE_DECODE_SUSPECT)
			fuzz_assert(range_want.offset == range_got.offset &&
				    range_want.size == range_got.size);
	} while (r != SPE_DECODE_END);
	report_difference(layout_twin_compare_ends(&whole, &parts));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const u8 alignments[] = { 0, 64, 4, 48 };
	struct spe_layouts layouts = { 0 }, by_run = { 0 };
	u32 align;

	if (size < 1)
		return 0;
	align = alignments[data[0] % ARRAY_SIZE(alignments)];
	report_difference(
		layout_twin_compare_records(data + 1, (size - 1) / 2, align, &layouts, NULL));
	report_difference(layout_twin_compare_records(data + 1, size - 1, align, &layouts, NULL));
	report_difference(layout_twin_compare_runs(data + 1, (size - 1) / 2, align, &by_run));
	report_difference(layout_twin_compare_runs(data + 1, size - 1, align, &by_run));
	report_difference(layout_twin_compare_runs(data + 1, size - 1, align, &layouts));
	compare_chunks(data + 1, size - 1, align, &layouts);
	return 0;
}
