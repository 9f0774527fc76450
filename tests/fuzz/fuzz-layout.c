// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The fast path of the codec against the general one: the first byte says the
 * alignment, the rest is two windows with one set of layouts.
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct spe_layouts layouts = { 0 };

	if (size < 1)
		return 0;
	walk_both(data + 1, (size - 1) / 2, data[0] & 1 ? 64 : 0, &layouts);
	walk_both(data + 1, size - 1, data[0] & 1 ? 64 : 0, &layouts);
	return 0;
}
