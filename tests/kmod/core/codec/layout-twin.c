// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "layout-twin.h"

#include <string.h>

/* Make the calling function return the text of the condition if it is false. */
#define SAME(condition)                 \
	do {                            \
		if (!(condition))       \
			return #condition; \
	} while (0)

#define AGREE(call)                             \
	do {                                    \
		const char *difference = call;  \
		if (difference)                 \
			return difference;      \
	} while (0)

const char *layout_twin_compare_samples(const struct spe_sample *want, const struct spe_sample *got)
{
	SAME(want->present == got->present && want->raw == got->raw && want->size == got->size);
	SAME(!memcmp(want->address, got->address, sizeof(want->address)));
	SAME(!memcmp(want->counter, got->counter, sizeof(want->counter)));
	SAME(!memcmp(want->context, got->context, sizeof(want->context)));
	SAME(want->events == got->events && want->events_size == got->events_size);
	SAME(want->source == got->source && want->source_size == got->source_size);
	SAME(want->op_class == got->op_class && want->op_subclass == got->op_subclass);
	SAME(want->timestamp == got->timestamp);
	return NULL;
}

const char *layout_twin_compare_ends(const struct spe_decoder *want, const struct spe_decoder *got)
{
	SAME(!memcmp(&want->ledger, &got->ledger, sizeof(want->ledger)));
	SAME(want->starts == got->starts && want->first == got->first);
	return NULL;
}

static const char *compare_results(enum spe_decode_result result, const struct spe_sample *want,
				   const struct spe_sample *got, const struct spe_range *range_want,
				   const struct spe_range *range_got)
{
	if (result == SPE_DECODE_SAMPLE)
		return layout_twin_compare_samples(want, got);
	if (result == SPE_DECODE_SUSPECT)
		SAME(range_want->offset == range_got->offset && range_want->size == range_got->size);
	return NULL;
}

const char *layout_twin_compare_records(const u8 *buf, size_t len, u32 align,
					struct spe_layouts *layouts, u64 *ret_records)
{
	const struct spe_decoder_config config = { .align = align };
	struct spe_range range_want, range_got;
	struct spe_decoder general, fast;
	struct spe_sample want, got;
	enum spe_decode_result r;

	spe_decoder_init(&general, &config, buf, len);
	spe_decoder_init(&fast, &config, buf, len);
	do {
		/*
		 * Make fields that the fast path does not write differ from those of the general
		 * path.
		 */
		memset(&got, 0xee, sizeof(got));
		r = spe_decoder_next(&general, &want, &range_want);
		SAME(spe_decoder_next_fast(&fast, layouts, &got, &range_got) == r);
		SAME(fast.pos == general.pos && fast.first == general.first);
		AGREE(compare_results(r, &want, &got, &range_want, &range_got));
	} while (r != SPE_DECODE_END);
	if (ret_records)
		*ret_records = fast.ledger.records;
	return layout_twin_compare_ends(&general, &fast);
}

/*
 * Compare the records of @run with those of @general, one by one. Return: the condition that is
 * false, or NULL.
 */
static const char *compare_run(const struct spe_layouts *layouts, const struct spe_layout_run *run,
			       struct spe_decoder *general)
{
	struct spe_sample want, got;

	SAME(run->count && run->count <= SPE_RUN);
	for (u32 i = 0; i < run->count; i++) {
		memset(&got, 0xee, sizeof(got));
		spe_run_decode_sample(layouts, run, i, &got);
		SAME(spe_decoder_next(general, &want, NULL) == SPE_DECODE_SAMPLE);
		AGREE(layout_twin_compare_samples(&want, &got));
	}
	return NULL;
}

const char *layout_twin_compare_runs(const u8 *buf, size_t len, u32 align,
				     struct spe_layouts *layouts)
{
	const struct spe_decoder_config config = { .align = align };
	struct spe_range range_want, range_got;
	struct spe_decoder general, fast;
	struct spe_sample want, got;
	struct spe_layout_run run;
	enum spe_decode_result r;

	spe_decoder_init(&general, &config, buf, len);
	spe_decoder_init(&fast, &config, buf, len);
	do {
		r = spe_decoder_next_run(&fast, layouts, &run, &got, &range_got);
		if (r == SPE_DECODE_RUN) {
			AGREE(compare_run(layouts, &run, &general));
			continue;
		}
		SAME(spe_decoder_next(&general, &want, &range_want) == r);
		AGREE(compare_results(r, &want, &got, &range_want, &range_got));
	} while (r != SPE_DECODE_END);
	return layout_twin_compare_ends(&general, &fast);
}
