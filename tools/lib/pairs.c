// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pairs.h"

#include <errno.h>
#include <stdlib.h>

#define CONFIDENCE 0.95

static int ratio_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sort @values and return their median. */
static double sort_and_get_median(double *values, u32 count)
{
	qsort(values, count, sizeof(*values), ratio_compare);
	return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/*
 * Of @pairs sorted values, the k-th smallest and the k-th largest enclose the median with some
 * probability. Find the largest k for which it is at least CONFIDENCE. The number of values below
 * the median has a binomial distribution. Return k - 1.
 */
static u32 find_rank(u32 pairs, double *ret_confidence)
{
	double probability = 1, outside;
	u32 rank = 0;

	for (u32 i = 0; i < pairs; i++)
		probability /= 2;
	outside = 2 * probability;
	for (;;) {
		double next;

		probability *= (double)(pairs - rank) / (rank + 1);
		next = outside + 2 * probability;
		if (next > 1 - CONFIDENCE)
			break;
		outside = next;
		rank++;
	}
	*ret_confidence = 1 - outside;
	return rank;
}

static int run_pairs(u32 pairs, pairs_run_fn run, void *ctx, double *times[2], double *ratios)
{
	u64 ns;
	int r = run(ctx, false, &ns);

	for (u32 i = 0; !r && i < pairs; i++) {
		for (u32 j = 0; !r && j < 2; j++) {
			bool second = (i + j) % 2;

			r = run(ctx, second, &ns);
			times[second][i] = (double)ns;
		}
		ratios[i] = times[1][i] / times[0][i];
	}
	return r;
}

int pairs_measure(u32 pairs, pairs_run_fn run, void *ctx, struct pairs_result *ret_result)
{
	double *values = calloc(3 * (size_t)pairs, sizeof(*values)), *ratios = values + 2 * pairs;
	double *times[] = { values, values + pairs };
	u32 rank;
	int r;

	if (!values)
		return -ENOMEM;
	r = run_pairs(pairs, run, ctx, times, ratios);
	if (!r) {
		ret_result->ratio = sort_and_get_median(ratios, pairs);
		rank = find_rank(pairs, &ret_result->confidence);
		ret_result->low = ratios[rank];
		ret_result->high = ratios[pairs - 1 - rank];
		ret_result->first_ns = sort_and_get_median(times[0], pairs);
		ret_result->second_ns = sort_and_get_median(times[1], pairs);
	}
	free(values);
	return r;
}
