/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compare two ways to run a command if the time of a run varies. Each pair has one run of each way.
 * The result is the median of the ratios, with a confidence interval.
 */
#ifndef SPEPROF_PAIRS_H
#define SPEPROF_PAIRS_H

#include "codec/env.h"

/* Minimum number of pairs; with fewer, no interval has a confidence of 95 %. */
#define PAIRS_MIN 6
#define PAIRS_MAX 1000

/**
 * struct pairs_result - the result of pairs of runs
 * @first_ns: median time of the first way
 * @second_ns: median time of the second way
 * @ratio: median over all pairs of the second time divided by the first
 * @low: lower end of the confidence interval of @ratio
 * @high: upper end of the confidence interval of @ratio
 * @confidence: probability that an interval that is computed like this contains the real median, at
 * least 0.95
 */
struct pairs_result {
	double first_ns;
	double second_ns;
	double ratio;
	double low;
	double high;
	double confidence;
};

/**
 * typedef pairs_run_fn - run once and measure the time
 * @ctx: as given to pairs_measure()
 * @second: whether to run the second way
 * @ret_ns: the time, not 0
 *
 * Return: 0; any other value ends pairs_measure().
 */
typedef int (*pairs_run_fn)(void *ctx, bool second, u64 *ret_ns);

/**
 * pairs_measure() - run pairs, and compute the median ratio and its confidence interval
 * @pairs: number of pairs, PAIRS_MIN to PAIRS_MAX
 * @run: function that runs once
 * @ctx: argument of @run
 * @ret_result: the result
 *
 * A first run, which fills caches, does not count. Every other pair runs the second way first, so
 * that a machine that slowly becomes faster or slower favours neither way.
 *
 * The interval lies between two of the sorted ratios, chosen by the binomial distribution. It is
 * valid for any distribution of times, and one extreme run cannot widen it.
 *
 * Return: 0; -ENOMEM if memory cannot be allocated; else the nonzero value that @run returned.
 */
int pairs_measure(u32 pairs, pairs_run_fn run, void *ctx, struct pairs_result *ret_result);

/** pairs_interval_includes_one() - return whether the times differ by less than their noise */
static inline bool pairs_interval_includes_one(const struct pairs_result *result)
{
	return result->low <= 1 && result->high >= 1;
}

#endif
