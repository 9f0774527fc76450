// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reads the counters of a row: its folded counters and the samples that are still in its log. */
#include "cell-table-internal.h"

typedef void (*pair_fn)(void *ctx, const struct cell_pair *pair);

static void large_each(const struct cell_table *t, const struct cell_counters *n, pair_fn fn,
		       void *ctx)
{
	const struct large_pair *large = large_pairs(t, n);
	u32 larges = large_size(n);

	for (u32 i = 0; i < larges; i++) {
		u32 key = (u32)(large[i].head >> LARGE_COUNT_BITS);
		const struct cell_pair pair = {
			.sample_class = sample_class_id((u16)(key >> PAIR_BUCKET_BITS)),
			.bucket = key & HISTOGRAM_NONE,
			.count = large[i].head & LARGE_COUNT_MAX,
			.latency_sum = large[i].sum,
		};

		if (large[i].head && key < LARGE_OCTAVES)
			fn(ctx, &pair);
	}
}

static void small_each(const struct cell_table *t, const struct cell_counters *n, pair_fn fn,
		       void *ctx)
{
	const struct small_pair *small = small_pairs(t, n);
	u32 smalls = small_size(n);

	for (u32 i = 0; i < smalls; i++) {
		u32 key = small[i].head >> SMALL_COUNT_BITS;
		const struct cell_pair pair = {
			.sample_class = sample_class_id((u16)(key >> PAIR_BUCKET_BITS)),
			.bucket = key & HISTOGRAM_NONE,
			.count = small[i].head & SMALL_COUNT_MAX,
			.latency_sum = small[i].sum,
		};

		if (small[i].head)
			fn(ctx, &pair);
	}
}

static void log_each(const struct cell_table *t, const struct cell_row *row, u8 sessions,
		     pair_fn fn, void *ctx)
{
	for (unsigned int i = 0; i < row->fill; i++) {
		u64 sample = row->cell->sample[i];
		const struct cell_pair pair = {
			.sample_class = sample_class_id(sample_class_number(sample)),
			.bucket = (u8)sample_bucket(t, sample),
			.count = 1,
			.latency_sum = sample_latency(sample, PROFILE_TOTAL),
		};

		if (row->cell->sessions[i] & sessions)
			fn(ctx, &pair);
	}
}

void cell_row_each_pair(const struct cell_table *table, const struct cell_row *row, u8 sessions,
			pair_fn fn, void *ctx)
{
	const struct cell_counters *n;

	log_each(table, row, sessions, fn, ctx);
	for (u32 line = row->cell->counters; line; line = n->next) {
		n = counters_at(table, line);
		if (!(n->sessions & sessions))
			continue;
		small_each(table, n, fn, ctx);
		large_each(table, n, fn, ctx);
	}
}

/* Argument of pair_sum(), which adds the pairs of a cell to @to. */
struct cell_pair_sums {
	const struct cell_table *table;
	struct counters *to;
	u64 counts[SAMPLE_COUNTS];
};

static void pair_sum(void *ctx, const struct cell_pair *pair)
{
	struct cell_pair_sums *sums = ctx;
	const struct sample_class *sample_class =
		sample_class_of(sums->table->sample_class, pair->sample_class);
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
static unsigned int octave_bucket(unsigned int octave)
{
	return octave < 3 ? octave : 4 * octave - 6;
}

static void max_raise(struct histogram *h, u16 value)
{
	if (value > h->max)
		h->max = value;
}

/* Add the counters of the whole cell: properties of samples whose pair does not store them. */
static void counts_add(const struct cell_table *t, const struct cell_counters *n,
		       u64 counts[static SAMPLE_COUNTS])
{
	const struct large_pair *large = large_pairs(t, n);
	u32 larges = large_size(n);

	for (u32 i = 0; i < larges; i++) {
		u32 key = (u32)(large[i].head >> LARGE_COUNT_BITS);

		if (key >= LARGE_COUNTS)
			counts[key - LARGE_COUNTS] += large[i].head & LARGE_COUNT_MAX;
	}
}

static void octaves_add(const struct cell_table *t, const struct cell_counters *n,
			struct counters *to)
{
	const struct large_pair *large = large_pairs(t, n);
	u32 larges = large_size(n);

	for (unsigned int i = 0; i < CELL_LATENCIES; i++)
		for (unsigned int k = 0; k < CELL_OCTAVES; k++)
			to->latency[i + 1].bucket[octave_bucket(k)] += n->octave[i][k];
	for (u32 i = 0; i < larges; i++) {
		u32 key = (u32)(large[i].head >> LARGE_COUNT_BITS);

		if (key >= LARGE_OCTAVES && key < LARGE_COUNTS)
			to->latency[key / LARGE_OCTAVES]
				.bucket[octave_bucket(key % LARGE_OCTAVES)] +=
				large[i].head & LARGE_COUNT_MAX;
	}
}

static void counters_add(const struct cell_table *t, const struct cell_counters *n,
			 struct counters *to, u64 counts[static SAMPLE_COUNTS])
{
	octaves_add(t, n, to);
	counts_add(t, n, counts);
	for (unsigned int i = 0; i < CELL_LATENCIES; i++)
		to->latency[i + 1].sum += n->latency_sum[i];
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++)
		max_raise(&to->latency[i], n->max[i]);
	for (unsigned int i = 0; i < UNITS; i++)
		to->weight[i] += n->weight[i];
}

/* Add the properties of the samples in a log that are not in pairs. */
static void log_sum(const struct cell_table *t, const struct cell_row *row, u8 sessions,
		    struct counters *to)
{
	const struct cell_interval *interval = &t->interval[row->cell->interval];

	for (unsigned int i = 0; i < row->fill; i++) {
		u64 sample = row->cell->sample[i];

		if (!(row->cell->sessions[i] & sessions))
			continue;
		to->weight[interval->unit] += interval->interval;
		max_raise(&to->latency[PROFILE_TOTAL], sample_latency(sample, PROFILE_TOTAL));
		for (unsigned int k = PROFILE_TOTAL + 1; k < PROFILE_LATENCIES; k++) {
			u16 value = sample_latency(sample, k);

			to->latency[k].bucket[octave_bucket(cell_octave(value))] +=
				sample_has_latency(t, sample, k);
			to->latency[k].sum += value;
			max_raise(&to->latency[k], value);
		}
	}
}

void cell_row_add(const struct cell_table *table, const struct cell_row *row, u8 sessions,
		  struct counters *to)
{
	struct cell_pair_sums sums = { .table = table, .to = to };
	const struct cell_counters *n;

	memcpy(sums.counts, &to->counts, sizeof(sums.counts));
	cell_row_each_pair(table, row, sessions, pair_sum, &sums);
	for (u32 line = row->cell->counters; line; line = n->next) {
		n = counters_at(table, line);
		if (n->sessions & sessions)
			counters_add(table, n, to, sums.counts);
	}
	memcpy(&to->counts, sums.counts, sizeof(sums.counts));
	log_sum(table, row, sessions, to);
	counters_finish(to);
}

struct level_sums {
	const struct cell_table *table;
	struct cell_level *level;
};

static void level_add(void *ctx, const struct cell_pair *pair)
{
	struct level_sums *sums = ctx;
	const struct sample_class *sample_class =
		sample_class_of(sums->table->sample_class, pair->sample_class);
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
	if (histogram_upper(pair->bucket) > level->latency.max)
		level->latency.max = histogram_upper(pair->bucket);
}

void cell_row_add_levels(const struct cell_table *table, const struct cell_row *row, u8 sessions,
			 struct cell_level to[static SPE_LEVELS])
{
	struct level_sums sums = { .table = table, .level = to };
	u64 counts[SAMPLE_COUNTS] = { 0 };
	struct sample_counts without_pair;
	const struct cell_counters *n;

	cell_row_each_pair(table, row, sessions, level_add, &sums);
	for (u32 line = row->cell->counters; line; line = n->next) {
		n = counters_at(table, line);
		if (n->sessions & sessions)
			counts_add(table, n, counts);
	}
	memcpy(&without_pair, counts, sizeof(without_pair));
	for (unsigned int i = 0; i < SPE_LEVELS; i++)
		to[i].count += without_pair.level[i];
}

/* Return the number of samples in the log that at least one of the sessions counts. */
static u64 log_samples(const struct cell_row *row, u8 sessions)
{
	u64 samples = 0;

	for (unsigned int i = 0; i < row->fill; i++)
		samples += (row->cell->sessions[i] & sessions) != 0;
	return samples;
}

u32 cell_row_number(const struct cell_table *table, const struct cell_row *row)
{
	return (u32)(row->cell - table->cells);
}

u64 cell_row_samples(const struct cell_table *table, const struct cell_row *row, u8 sessions)
{
	u64 samples = log_samples(row, sessions);
	const struct cell_counters *n;

	/*
	 * The rank is in the index, so reading it is faster: the counters are probably in no cache.
	 */
	if (table->grows && !table->ranks_aged && !row->evicted && sessions == CELL_ALL)
		return row->rank;
	for (u32 line = row->cell->counters; line; line = n->next) {
		n = counters_at(table, line);
		if (n->sessions & sessions)
			samples += cell_counters_samples(table, n);
	}
	return samples;
}

u64 cell_row_weight(const struct cell_table *table, const struct cell_row *row, u8 sessions)
{
	const struct cell_interval *interval = &table->interval[row->cell->interval];
	const struct cell_counters *n;
	u64 weight = 0;

	for (unsigned int i = 0; i < row->fill; i++)
		if (row->cell->sessions[i] & sessions)
			weight += interval->interval;
	for (u32 line = row->cell->counters; line; line = n->next) {
		n = counters_at(table, line);
		for (unsigned int i = 0; i < UNITS && n->sessions & sessions; i++)
			weight += n->weight[i];
	}
	return weight;
}

static void latency_add(void *ctx, const struct cell_pair *pair)
{
	*(u64 *)ctx += pair->latency_sum;
}

u64 cell_row_latency(const struct cell_table *table, const struct cell_row *row, u8 sessions)
{
	u64 latency = 0;

	cell_row_each_pair(table, row, sessions, latency_add, &latency);
	return latency;
}
