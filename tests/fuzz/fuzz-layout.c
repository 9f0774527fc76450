// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The fast path of the codec against the general one, record by record and in runs:
 * the first byte says the alignment, the rest is two windows with one set of layouts. And
 * a window that comes in parts against one that does not.
 */
#include <string.h>

#include "fuzz.h"
#include "layout.h"

static void same_sample(const struct spe_sample *a, const struct spe_sample *b)
{
	fuzz_assert(a->present == b->present && a->raw == b->raw && a->size == b->size);
	fuzz_assert(!memcmp(a->address, b->address, sizeof(a->address)));
	fuzz_assert(!memcmp(a->counter, b->counter, sizeof(a->counter)));
	fuzz_assert(!memcmp(a->context, b->context, sizeof(a->context)));
	fuzz_assert(a->events == b->events && a->events_size == b->events_size);
	fuzz_assert(a->source == b->source && a->source_size == b->source_size);
	fuzz_assert(a->op_class == b->op_class && a->op_subclass == b->op_subclass);
	fuzz_assert(a->timestamp == b->timestamp);
}

static void walk_both(const u8 *buf, size_t len, u32 align, struct spe_layouts *layouts)
{
	const struct spe_decoder_config config = { .align = align };
	struct spe_decoder general, fast;
	struct spe_sample want, got;
	struct spe_range range_want, range_got;
	enum spe_decode r;

	spe_decoder_init(&general, &config, buf, len);
	spe_decoder_init(&fast, &config, buf, len);
	do {
		r = spe_decoder_next(&general, &want, &range_want);
		fuzz_assert(spe_decoder_next_fast(&fast, layouts, &got, &range_got) == r);
		fuzz_assert(fast.pos == general.pos && fast.first == general.first);
		if (r == SPE_DECODE_SAMPLE)
			same_sample(&want, &got);
		else if (r == SPE_DECODE_SUSPECT)
			fuzz_assert(range_want.offset == range_got.offset &&
				    range_want.size == range_got.size);
	} while (r != SPE_DECODE_END);
	fuzz_assert(!memcmp(&general.ledger, &fast.ledger, sizeof(general.ledger)));
}

static void walk_runs(const u8 *buf, size_t len, u32 align, struct spe_layouts *layouts)
{
	const struct spe_decoder_config config = { .align = align };
	struct spe_range range_want, range_got;
	struct spe_decoder general, fast;
	struct spe_sample want, got;
	struct spe_run run;
	enum spe_decode r;

	spe_decoder_init(&general, &config, buf, len);
	spe_decoder_init(&fast, &config, buf, len);
	do {
		r = spe_decoder_next_run(&fast, layouts, &run, &got, &range_got);
		fuzz_assert(r != SPE_DECODE_RUN || (run.count && run.count <= SPE_RUN));
		for (u32 i = 0; r == SPE_DECODE_RUN && i < run.count; i++) {
			spe_run_sample(layouts, &run, i, &got);
			fuzz_assert(spe_decoder_next(&general, &want, NULL) == SPE_DECODE_SAMPLE);
			same_sample(&want, &got);
		}
		if (r == SPE_DECODE_RUN)
			continue;
		fuzz_assert(spe_decoder_next(&general, &want, &range_want) == r);
		if (r == SPE_DECODE_SAMPLE)
			same_sample(&want, &got);
		else if (r == SPE_DECODE_SUSPECT)
			fuzz_assert(range_want.offset == range_got.offset &&
				    range_want.size == range_got.size);
	} while (r != SPE_DECODE_END);
	fuzz_assert(!memcmp(&general.ledger, &fast.ledger, sizeof(general.ledger)));
	fuzz_assert(general.starts == fast.starts && general.first == fast.first);
}

/* In parts, whose sizes the input says, against the whole. */
static void walk_parts(const u8 *buf, size_t len, u32 align, struct spe_layouts *layouts)
{
	const struct spe_decoder_config config = { .align = align };
	struct spe_range range_want = { 0 }, range_got = { 0 };
	size_t end = 0, from = 0;
	struct spe_decoder whole, parts;
	struct spe_sample want, got;
	enum spe_decode r;

	spe_decoder_init(&whole, &config, buf, len);
	spe_decoder_init(&parts, &config, NULL, 0);
	spe_decoder_part(&parts, buf, 0, !len);
	do {
		r = spe_decoder_next_fast(&parts, layouts, &got, &range_got);
		if (r == SPE_DECODE_MORE) {
			from += parts.pos;
			end += 1 + buf[end] % 80;
			end = end < len ? end : len;
			spe_decoder_part(&parts, buf + from, end - from, end == len);
			continue;
		}
		fuzz_assert(spe_decoder_next(&whole, &want, &range_want) == r);
		fuzz_assert(parts.base + parts.pos == whole.pos);
		if (r == SPE_DECODE_SAMPLE)
			same_sample(&want, &got);
		else if (r == SPE_DECODE_SUSPECT)
			fuzz_assert(range_want.offset == range_got.offset &&
				    range_want.size == range_got.size);
	} while (r != SPE_DECODE_END);
	fuzz_assert(!memcmp(&whole.ledger, &parts.ledger, sizeof(whole.ledger)));
	fuzz_assert(whole.starts == parts.starts && whole.first == parts.first);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const u8 alignments[] = { 0, 64, 4, 48 };
	struct spe_layouts layouts = { 0 }, by_run = { 0 };
	u32 align;

	if (size < 1)
		return 0;
	align = alignments[data[0] % ARRAY_SIZE(alignments)];
	walk_both(data + 1, (size - 1) / 2, align, &layouts);
	walk_both(data + 1, size - 1, align, &layouts);
	walk_runs(data + 1, (size - 1) / 2, align, &by_run);
	walk_runs(data + 1, size - 1, align, &by_run);
	walk_runs(data + 1, size - 1, align, &layouts);
	walk_parts(data + 1, size - 1, align, &layouts);
	return 0;
}
