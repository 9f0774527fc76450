/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests whether two sets of samples differ by more than chance. The tests of counts are exact, so
 * their false alarms stay within the stated rate however few samples there are.
 */
#ifndef SPEPROF_CHANCE_H
#define SPEPROF_CHANCE_H

#include "util/histogram.h"

/**
 * chance_of_counts() - Fisher's exact test, two-sided: do @a of @all_a and @b of @all_b differ?
 * @a, @b: at most @all_a and @all_b
 *
 * Return: the probability that chance alone makes a difference at least this large, 0 to 1.
 */
double chance_of_counts(u64 a, u64 all_a, u64 b, u64 all_b);

/**
 * chance_of_means() - test whether the means of two histograms differ
 * @scale_a, @scale_b: effective samples of each sample, 0 to 1
 *
 * Two tests have to agree. The first compares the means, with the variance of all samples together.
 * Few samples of a long tail can mislead it, so the second one compares how many samples exceed
 * each power of two, by chance_of_counts(), corrected for the number of powers.
 *
 * Return: as chance_of_counts().
 */
double chance_of_means(const struct histogram *a, double scale_a, const struct histogram *b,
		       double scale_b);

/**
 * chance_of_tails() - test whether the 99th percentiles of two histograms differ
 *
 * It compares how many samples of each exceed the percentile of both together, and how many are at
 * least in its bucket, corrected for two tests. Parameters and result are those of
 * chance_of_means().
 */
double chance_of_tails(const struct histogram *a, double scale_a, const struct histogram *b,
		       double scale_b);

/**
 * chance_limit() - find the largest probability that is accepted (Benjamini and Hochberg 1995)
 * @p: probabilities of all tests, sorted, the smallest first
 * @count: number of tests
 * @rate: rate of false alarms among the accepted, 0 to 1
 *
 * If nothing differs, the probability that anything is accepted is at most @rate.
 *
 * Return: the limit; below 0 if no test is accepted.
 */
double chance_limit(const double *p, u32 count, double rate);

#endif
