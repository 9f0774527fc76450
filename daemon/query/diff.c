// SPDX-License-Identifier: LGPL-2.1-or-later
#include "diff.h"

#include "util/array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/** struct added_row - the arguments of one call of diff_add_row() */
struct added_row {
	char *key;
	enum diff_side side;
	u32 row;
	struct diff_counts counts;
};

/**
 * struct diff - a comparison
 * @added: the rows that were added, @added_count of them
 * @rows: the matched rows, @count of them
 * @total: sums of each side, indexed by &enum diff_side
 * @whole_samples, @whole_operations: denominators of shares, indexed by &enum diff_side; 0: sums
 *	over all rows of the side
 * @tests: number of tests
 */
struct diff {
	struct added_row **added;
	u32 added_count;
	u32 added_capacity;
	struct diff_row *rows;
	u32 count;
	struct diff_total total[DIFF_SIDES];
	u64 whole_samples[DIFF_SIDES];
	u64 whole_operations[DIFF_SIDES];
	u32 tests;
};

int diff_new(struct diff **ret_diff)
{
	*ret_diff = calloc(1, sizeof(**ret_diff));
	return *ret_diff ? 0 : -ENOMEM;
}

struct diff *diff_free(struct diff *diff)
{
	if (!diff)
		return NULL;
	for (u32 i = 0; i < diff->added_count; i++) {
		free(diff->added[i]->key);
		free(diff->added[i]);
	}
	free(diff->added);
	free(diff->rows);
	free(diff);
	return NULL;
}

int diff_add_row(struct diff *diff, enum diff_side side, const char *key, u32 row,
		 const struct diff_counts *counts)
{
	struct added_row **grown, *added = malloc(sizeof(*added));

	if (!added)
		return -ENOMEM;
	*added = (struct added_row){
		.key = strdup(key), .side = side, .row = row, .counts = *counts
	};
	grown = array_reserve(diff->added, &diff->added_capacity, diff->added_count + 1,
			      sizeof(*diff->added), UINT32_MAX);
	if (grown)
		diff->added = grown;
	if (!grown || !added->key) {
		free(added->key);
		free(added);
		return -ENOMEM;
	}
	diff->added[diff->added_count++] = added;
	return 0;
}

void diff_set_denominators(struct diff *diff, enum diff_side side, u64 samples, u64 operations)
{
	diff->whole_samples[side] = samples;
	diff->whole_operations[side] = operations;
}

static void counts_merge(struct diff_counts *to, const struct diff_counts *from)
{
	to->samples += from->samples;
	to->operations += from->operations;
	to->value += from->value;
	to->memory += from->memory;
	to->dram += from->dram;
	to->remote += from->remote;
	to->loads += from->loads;
	for (unsigned int i = 0; i < SPE_LEVELS; i++)
		to->level[i] += from->level[i];
	histogram_merge(&to->latency, &from->latency);
	histogram_merge(&to->load_latency, &from->load_latency);
	histogram_merge(&to->known_latency, &from->known_latency);
	to->brief |= from->brief;
}

static int compare_added_rows(const void *a, const void *b)
{
	const struct added_row *x = *(struct added_row *const *)a;
	const struct added_row *y = *(struct added_row *const *)b;
	int r = strcmp(x->key, y->key);

	if (r)
		return r;
	if (x->side != y->side)
		return x->side < y->side ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

/* Match the rows by key. */
static int rows_match(struct diff *d)
{
	struct diff_row *row = NULL;

	d->rows = calloc(d->added_count ? d->added_count : 1, sizeof(*d->rows));
	if (!d->rows)
		return -ENOMEM;
	if (d->added_count)
		qsort(d->added, d->added_count, sizeof(*d->added), compare_added_rows);
	for (u32 i = 0; i < d->added_count; i++) {
		const struct added_row *added = d->added[i];

		if (!row || strcmp(row->key, added->key) != 0) {
			row = &d->rows[d->count++];
			row->key = added->key;
			row->row[DIFF_BEFORE] = row->row[DIFF_AFTER] = UINT32_MAX;
		}
		if (row->row[added->side] == UINT32_MAX)
			row->row[added->side] = added->row;
		counts_merge(&row->side[added->side], &added->counts);
		counts_merge(&d->total[added->side].counts, &added->counts);
	}
	return 0;
}

/*
 * Compute the effective number of samples of a side. If weights differ, a mean has a larger error
 * than with the same number of equal weights. Kish's effective number is (sum of weights)^2 / (sum
 * of squares). All samples of a row are assumed to have the same weight.
 */
static void compute_effective_samples(struct diff *d, enum diff_side side)
{
	double sum = 0, squares = 0;

	for (u32 i = 0; i < d->count; i++) {
		const struct diff_counts *c = &d->rows[i].side[side];

		if (!c->samples)
			continue;
		sum += (double)c->operations;
		squares += (double)c->operations * (double)c->operations / (double)c->samples;
	}
	d->total[side].effective =
		squares > 0 ? (u64)(sum * sum / squares + 0.5) : d->total[side].counts.samples;
}

static double divide_or_zero(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

static double compute_mean(const struct histogram *h)
{
	return divide_or_zero((double)h->sum, (double)h->count);
}

static u64 get_whole_operations(const struct diff *d, enum diff_side side)
{
	return d->whole_operations[side] ?: d->total[side].counts.operations;
}

/* Return the effective number of samples divided by the number of samples. */
static double get_effective_scale(const struct diff *d, enum diff_side side)
{
	u64 samples = d->total[side].counts.samples;

	return samples ? (double)d->total[side].effective / (double)samples : 1;
}

static void row_compute_values(const struct diff *d, struct diff_row *row)
{
	const struct diff_counts *before = &d->total[DIFF_BEFORE].counts;
	double mean = compute_mean(&before->load_latency), part[DIFF_SIDES], change[DIFF_SIDES];

	for (enum diff_side side = 0; side < DIFF_SIDES; side++) {
		const struct diff_counts *c = &row->side[side];
		double operations = (double)get_whole_operations(d, side);

		row->value[side][DIFF_SHARE] = divide_or_zero((double)c->operations, operations);
		row->value[side][DIFF_MEAN] = compute_mean(&c->latency);
		row->value[side][DIFF_P99] =
			histogram_get_quantile(diff_get_known_latency(c), 990);
		row->value[side][DIFF_DRAM] = divide_or_zero((double)c->dram, (double)c->memory);
		row->value[side][DIFF_REMOTE] =
			divide_or_zero((double)c->remote, (double)c->memory);
		change[side] = divide_or_zero((double)c->value, operations);
		part[side] = divide_or_zero((double)c->load_latency.sum -
						    mean * (double)c->load_latency.count,
					    (double)d->total[side].counts.load_latency.count);
	}
	row->change = change[DIFF_AFTER] - change[DIFF_BEFORE];
	/* The sum of @load_change over all rows is the change of the mean load latency. */
	row->load_change = part[DIFF_AFTER] - part[DIFF_BEFORE];
}

static u64 scale_count(u64 count, double scale)
{
	return (u64)((double)count * scale + 0.5);
}

static double test_ratios(const struct diff *d, u64 a, u64 all_a, u64 b, u64 all_b)
{
	double scale_a = get_effective_scale(d, DIFF_BEFORE),
	       scale_b = get_effective_scale(d, DIFF_AFTER);

	return chance_test_counts(scale_count(a, scale_a), scale_count(all_a, scale_a),
				  scale_count(b, scale_b), scale_count(all_b, scale_b));
}

static double test_shares(const struct diff *d, const struct diff_row *row)
{
	u64 all[DIFF_SIDES], part[DIFF_SIDES];

	for (enum diff_side side = 0; side < DIFF_SIDES; side++) {
		u64 samples = d->whole_samples[side] ?: d->total[side].counts.samples;

		all[side] = scale_count(samples, get_effective_scale(d, side));
		part[side] = scale_count(all[side], row->value[side][DIFF_SHARE]);
	}
	return chance_test_counts(part[DIFF_BEFORE], all[DIFF_BEFORE], part[DIFF_AFTER],
				  all[DIFF_AFTER]);
}

/* Return whether the difference of a measure is tested. */
static bool is_tested(const struct diff_row *row, enum diff_measure measure)
{
	const struct diff_counts *a = &row->side[DIFF_BEFORE], *b = &row->side[DIFF_AFTER];

	if (a->samples + b->samples < DIFF_SAMPLES_MIN)
		return false;
	if (measure == DIFF_P99)
		return (!a->brief || a->known_latency.count) &&
		       (!b->brief || b->known_latency.count);
	return measure != DIFF_MEAN || (!a->brief && !b->brief);
}

static void row_test(struct diff *d, struct diff_row *row)
{
	const struct diff_counts *a = &row->side[DIFF_BEFORE], *b = &row->side[DIFF_AFTER];
	double scale_a = get_effective_scale(d, DIFF_BEFORE),
	       scale_b = get_effective_scale(d, DIFF_AFTER);

	for (enum diff_measure m = 0; m < DIFF_MEASURES; m++)
		row->chance[m] = 1;
	if (!is_tested(row, DIFF_SHARE))
		return;
	row->chance[DIFF_SHARE] = test_shares(d, row);
	if (is_tested(row, DIFF_MEAN))
		row->chance[DIFF_MEAN] =
			chance_test_means(&a->latency, scale_a, &b->latency, scale_b);
	if (is_tested(row, DIFF_P99))
		row->chance[DIFF_P99] =
			chance_test_tails(diff_get_known_latency(a), scale_a,
					  diff_get_known_latency(b), scale_b);
	row->chance[DIFF_DRAM] = test_ratios(d, a->dram, a->memory, b->dram, b->memory);
	row->chance[DIFF_REMOTE] = test_ratios(d, a->remote, a->memory, b->remote, b->memory);
	for (enum diff_measure m = 0; m < DIFF_MEASURES; m++)
		d->tests += is_tested(row, m);
}

static int compare_numbers(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Mark the differences that exceed chance. */
static int rows_mark_exceeding_chance(struct diff *d)
{
	double *p = calloc(d->tests ? d->tests : 1, sizeof(*p)), limit;
	u32 n = 0;

	if (!p)
		return -ENOMEM;
	for (u32 i = 0; i < d->count; i++) {
		const struct diff_row *row = &d->rows[i];

		for (enum diff_measure m = 0; m < DIFF_MEASURES; m++)
			if (is_tested(row, m))
				p[n++] = row->chance[m];
	}
	qsort(p, n, sizeof(*p), compare_numbers);
	limit = chance_find_limit(p, n, DIFF_FALSE_ALARM_RATE);
	free(p);
	for (u32 i = 0; i < d->count; i++)
		for (enum diff_measure m = 0; m < DIFF_MEASURES; m++)
			d->rows[i].exceeds[m] = d->rows[i].chance[m] <= limit;
	return 0;
}

static bool row_exceeds_chance(const struct diff_row *row)
{
	for (enum diff_measure m = 0; m < DIFF_MEASURES; m++)
		if (row->exceeds[m])
			return true;
	return false;
}

static int compare_rows(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;
	double change_x = fabs(x->change), change_y = fabs(y->change);

	if (row_exceeds_chance(x) != row_exceeds_chance(y))
		return row_exceeds_chance(x) ? -1 : 1;
	if (change_x > change_y || change_x < change_y)
		return change_x > change_y ? -1 : 1;
	return strcmp(x->key, y->key);
}

int diff_finish(struct diff *d)
{
	int r = rows_match(d);

	if (r < 0)
		return r;
	for (enum diff_side side = 0; side < DIFF_SIDES; side++)
		compute_effective_samples(d, side);
	for (u32 i = 0; i < d->count; i++) {
		row_compute_values(d, &d->rows[i]);
		row_test(d, &d->rows[i]);
	}
	r = rows_mark_exceeding_chance(d);
	if (r < 0)
		return r;
	if (d->count)
		qsort(d->rows, d->count, sizeof(*d->rows), compare_rows);
	return 0;
}

u32 diff_get_row_count(const struct diff *diff)
{
	return diff->count;
}

const struct diff_row *diff_get_row(const struct diff *diff, u32 index)
{
	return &diff->rows[index];
}

const struct diff_total *diff_get_total(const struct diff *diff, enum diff_side side)
{
	return &diff->total[side];
}

u32 diff_get_test_count(const struct diff *diff)
{
	return diff->tests;
}

const struct histogram *diff_get_known_latency(const struct diff_counts *counts)
{
	return counts->brief ? &counts->known_latency : &counts->latency;
}

const char *diff_measure_name(enum diff_measure measure)
{
	static const char *const names[DIFF_MEASURES] = {
		[DIFF_SHARE] = "share", [DIFF_MEAN] = "mean",	  [DIFF_P99] = "p99",
		[DIFF_DRAM] = "dram",	[DIFF_REMOTE] = "remote",
	};

	return names[measure];
}

static u64 get_level_loads(const struct diff_counts *c, enum spe_level level)
{
	u64 dram = 0;

	for (unsigned int i = 0; i < SPE_LEVELS; i++)
		dram += spe_level_is_dram(i) ? c->level[i] : 0;
	return level == SPE_LEVEL_DRAM ? dram : spe_level_is_dram(level) ? 0 : c->level[level];
}

bool diff_find_level_move(const struct diff_row *row, enum spe_level *ret_from,
			  enum spe_level *ret_to)
{
	const struct diff_counts *a = &row->side[DIFF_BEFORE], *b = &row->side[DIFF_AFTER];
	enum spe_level from = 0, to = 0;
	double fall = 0, rise = 0;

	for (unsigned int i = 0; i < SPE_LEVELS; i++) {
		double change = divide_or_zero((double)get_level_loads(b, i), (double)b->loads) -
				divide_or_zero((double)get_level_loads(a, i), (double)a->loads);

		if (change < fall) {
			fall = change;
			from = i;
		}
		if (change > rise) {
			rise = change;
			to = i;
		}
	}
	if (fall > -0.02 || rise < 0.02)
		return false;
	*ret_from = from;
	*ret_to = to;
	return chance_test_counts(get_level_loads(a, from), a->loads, get_level_loads(b, from),
				  b->loads) < DIFF_FALSE_ALARM_RATE / SPE_LEVELS &&
	       chance_test_counts(get_level_loads(a, to), a->loads, get_level_loads(b, to),
				  b->loads) < DIFF_FALSE_ALARM_RATE / SPE_LEVELS;
}
