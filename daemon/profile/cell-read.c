// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reads the counters of a row: its folded counters and the samples that are still in its log. */
#include "cell-table-internal.h"

typedef void (*pair_fn)(void *ctx, const struct cell_pair *pair);

static void large_pairs_for_each(const struct cell_table *t, const struct cell_counters *n,
				 pair_fn fn, void *ctx)
{
	const struct large_pair *large = get_large_pairs(t, n);
	u32 larges = get_large_capacity(n);

	for (u32 i = 0; i < larges; i++) {
		u32 key = (u32)(large[i].head >> LARGE_COUNT_BITS);
		const struct cell_pair pair = {
			.sample_class = class_number_to_id((u16)(key >> PAIR_BUCKET_BITS)),
			.bucket = key & HISTOGRAM_NONE,
			.count = large[i].head & LARGE_COUNT_MAX,
			.latency_sum = large[i].sum,
		};

		if (large[i].head && key < LARGE_OCTAVES)
			fn(ctx, &pair);
	}
}

static void small_pairs_for_each(const struct cell_table *t, const struct cell_counters *n,
				 pair_fn fn, void *ctx)
{
	const struct small_pair *small = get_small_pairs(t, n);
	u32 smalls = get_small_capacity(n);

	for (u32 i = 0; i < smalls; i++) {
		u32 key = small[i].head >> SMALL_COUNT_BITS;
		const struct cell_pair pair = {
			.sample_class = class_number_to_id((u16)(key >> PAIR_BUCKET_BITS)),
			.bucket = key & HISTOGRAM_NONE,
			.count = small[i].head & SMALL_COUNT_MAX,
			.latency_sum = small[i].sum,
		};

		if (small[i].head)
			fn(ctx, &pair);
	}
}

static void log_for_each_sample(const struct cell_table *t, const struct cell_row *row, pair_fn fn,
				void *ctx)
{
	for (unsigned int i = 0; i < row->fill; i++) {
		u64 sample = row->cell->sample[i];
		const struct cell_pair pair = {
			.sample_class = class_number_to_id(sample_unpack_class(sample)),
			.bucket = (u8)sample_get_bucket(t, sample),
			.count = 1,
			.latency_sum = sample_unpack_latency(sample, PROFILE_TOTAL),
		};

		fn(ctx, &pair);
	}
}

void cell_row_each_pair(const struct cell_table *table, const struct cell_row *row, pair_fn fn,
			void *ctx)
{
	const struct cell_counters *n = cell_get_counters(table, row->cell);

	log_for_each_sample(table, row, fn, ctx);
	if (!n)
		return;
	small_pairs_for_each(table, n, fn, ctx);
	large_pairs_for_each(table, n, fn, ctx);
}

/* Argument of pair_add_to_sums(), which adds the pairs of a cell to @to. */
struct cell_pair_sums {
	const struct cell_table *table;
	struct profile_counters *to;
	u64 counts[SAMPLE_COUNTS];
};

static void pair_add_to_sums(void *ctx, const struct cell_pair *pair)
{
	struct cell_pair_sums *sums = ctx;
	const struct sample_class *sample_class =
		sample_class_get_by_id(sums->table->sample_class, pair->sample_class);
	struct histogram *h = &sums->to->latency[PROFILE_TOTAL];
	u8 ones[SAMPLE_COUNTS];

	sums->to->samples += pair->count;
	h->bucket[pair->bucket] += pair->count;
	h->sum += pair->latency_sum;
	if (!sample_class)
		return;
	memcpy(ones, sample_class->ones, sizeof(ones));
	for (unsigned int i = 0; i < SAMPLE_COUNTS; i++)
		sums->counts[i] += ones[i] * pair->count;
}

/* Return the last of the four histogram buckets of @octave. */
static unsigned int octave_get_last_bucket(unsigned int octave)
{
	return octave < 3 ? octave : 4 * octave - 6;
}

static void histogram_raise_max(struct histogram *h, u16 value)
{
	if (value > h->max)
		h->max = value;
}

/*
 * Add the counters of the whole cell. These counters have the properties that the pairs of samples
 * do not store.
 */
static void counts_add_large(const struct cell_table *t, const struct cell_counters *n,
			     u64 counts[static SAMPLE_COUNTS])
{
	const struct large_pair *large = get_large_pairs(t, n);
	u32 larges = get_large_capacity(n);

	for (u32 i = 0; i < larges; i++) {
		u32 key = (u32)(large[i].head >> LARGE_COUNT_BITS);

		if (key >= LARGE_COUNTS)
			counts[key - LARGE_COUNTS] += large[i].head & LARGE_COUNT_MAX;
	}
}

static void octaves_add(const struct cell_table *t, const struct cell_counters *n,
			struct profile_counters *to)
{
	const struct large_pair *large = get_large_pairs(t, n);
	u32 larges = get_large_capacity(n);

	for (unsigned int i = 0; i < CELL_LATENCIES; i++)
		for (unsigned int k = 0; k < CELL_OCTAVES; k++)
			to->latency[i + 1].bucket[octave_get_last_bucket(k)] += n->octave[i][k];
	for (u32 i = 0; i < larges; i++) {
		u32 key = (u32)(large[i].head >> LARGE_COUNT_BITS);

		if (key >= LARGE_OCTAVES && key < LARGE_COUNTS)
			to->latency[key / LARGE_OCTAVES]
				.bucket[octave_get_last_bucket(key % LARGE_OCTAVES)] +=
				large[i].head & LARGE_COUNT_MAX;
	}
}

static void counters_add_folded(const struct cell_table *t, const struct cell_counters *n,
				struct profile_counters *to, u64 counts[static SAMPLE_COUNTS])
{
	octaves_add(t, n, to);
	counts_add_large(t, n, counts);
	for (unsigned int i = 0; i < CELL_LATENCIES; i++)
		to->latency[i + 1].sum += n->latency_sum[i];
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++)
		histogram_raise_max(&to->latency[i], n->max[i]);
	for (unsigned int i = 0; i < UNITS; i++)
		to->weight[i] += n->weight[i];
}

/* Add the properties of the samples in a log that cell_row_each_pair() does not report. */
static void log_add_to_counters(const struct cell_table *t, const struct cell_row *row,
				struct profile_counters *to)
{
	const struct cell_interval *interval = &t->interval[row->cell->interval];

	for (unsigned int i = 0; i < row->fill; i++) {
		u64 sample = row->cell->sample[i];

		to->weight[interval->unit] += interval->interval;
		histogram_raise_max(&to->latency[PROFILE_TOTAL],
				    sample_unpack_latency(sample, PROFILE_TOTAL));
		for (unsigned int k = PROFILE_TOTAL + 1; k < PROFILE_LATENCIES; k++) {
			u16 value = sample_unpack_latency(sample, k);

			to->latency[k].bucket[octave_get_last_bucket(latency_get_octave(value))] +=
				sample_has_latency(t, sample, k);
			to->latency[k].sum += value;
			histogram_raise_max(&to->latency[k], value);
		}
	}
}

void cell_row_add_counters(const struct cell_table *table, const struct cell_row *row,
			   struct profile_counters *to)
{
	const struct cell_counters *n = cell_get_counters(table, row->cell);
	struct cell_pair_sums sums = { .table = table, .to = to };

	memcpy(sums.counts, &to->counts, sizeof(sums.counts));
	cell_row_each_pair(table, row, pair_add_to_sums, &sums);
	if (n)
		counters_add_folded(table, n, to, sums.counts);
	memcpy(&to->counts, sums.counts, sizeof(sums.counts));
	log_add_to_counters(table, row, to);
	counters_sum_histograms(to);
}

struct level_sums {
	const struct cell_table *table;
	struct cell_level *level;
};

static void level_add_pair(void *ctx, const struct cell_pair *pair)
{
	struct level_sums *sums = ctx;
	const struct sample_class *sample_class =
		sample_class_get_by_id(sums->table->sample_class, pair->sample_class);
	unsigned int kind = sample_class ? sample_class->flags & SAMPLE_CLASS_KIND : SPE_KIND_NONE;
	struct cell_level *level;

	if (kind != SPE_KIND_LOAD && kind != SPE_KIND_STORE)
		return;
	level = &sums->level[sample_class->origin.level];
	level->count += pair->count;
	if (pair->bucket == HISTOGRAM_NONE)
		return;
	level->latency.count += pair->count;
	level->latency.sum += pair->latency_sum;
	level->latency.bucket[pair->bucket] += pair->count;
	if (histogram_get_upper_bound(pair->bucket) > level->latency.max)
		level->latency.max = histogram_get_upper_bound(pair->bucket);
}

void cell_row_add_levels(const struct cell_table *table, const struct cell_row *row,
			 struct cell_level to[static SPE_LEVELS])
{
	const struct cell_counters *n = cell_get_counters(table, row->cell);
	struct level_sums sums = { .table = table, .level = to };
	u64 counts[SAMPLE_COUNTS] = { 0 };
	struct sample_counts without_pair;

	cell_row_each_pair(table, row, level_add_pair, &sums);
	if (n)
		counts_add_large(table, n, counts);
	memcpy(&without_pair, counts, sizeof(without_pair));
	for (unsigned int i = 0; i < SPE_LEVELS; i++)
		to[i].count += without_pair.level[i];
}

u32 cell_row_get_number(const struct cell_table *table, const struct cell_row *row)
{
	return (u32)(row->cell - table->cells);
}

u64 cell_row_count_samples(const struct cell_table *table, const struct cell_row *row)
{
	const struct cell_counters *n = cell_get_counters(table, row->cell);

	/*
	 * Reading the rank is faster, because it is in the index. The counters are probably not in
	 * the CPU's cache.
	 */
	if (table->grows && !table->ranks_aged && !row->evicted)
		return row->rank;
	return row->fill + (n ? cell_counters_count_samples(table, n) : 0);
}

u64 cell_row_sum_weight(const struct cell_table *table, const struct cell_row *row)
{
	const struct cell_counters *n = cell_get_counters(table, row->cell);
	u64 weight = (u64)row->fill * table->interval[row->cell->interval].interval;

	for (unsigned int i = 0; n && i < UNITS; i++)
		weight += n->weight[i];
	return weight;
}

static void pair_add_latency(void *ctx, const struct cell_pair *pair)
{
	*(u64 *)ctx += pair->latency_sum;
}

u64 cell_row_sum_latency(const struct cell_table *table, const struct cell_row *row)
{
	u64 latency = 0;

	cell_row_each_pair(table, row, pair_add_latency, &latency);
	return latency;
}
