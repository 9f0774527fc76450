/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Test whether two sets of samples differ by more than chance. The tests of counts are exact, so
 * that the rate of false alarms stays within the limit even with few samples.
 */
#ifndef SPEPROF_CHANCE_H
#define SPEPROF_CHANCE_H

#include "util/histogram.h"

/**
 * chance_test_counts() - test whether the shares @a / @all_a and @b / @all_b differ (Fisher's exact
 * test, two-sided)
 * @a, @b: number of samples with the property, at most @all_a and @all_b
 * @all_a, @all_b: number of all samples
 *
 * Return: the probability that chance alone causes a difference at least this large, 0 to 1.
 */
double chance_test_counts(u64 a, u64 all_a, u64 b, u64 all_b);

/**
 * chance_test_means() - test whether the means of two histograms differ
 * @scale_a, @scale_b: effective number of samples (&diff_total.effective) per sample, 0 to 1
 *
 * The result is small only if both of two tests find a difference. The first test compares the
 * means, with the variance of all samples together. A few samples with a high latency can cause a
 * false alarm of the first test. So the second test compares the number of samples above each power
 * of two with chance_test_counts(), corrected for the number of powers.
 *
 * Return: the larger probability of the two tests.
 */
double chance_test_means(const struct histogram *a, double scale_a, const struct histogram *b,
			 double scale_b);

/**
 * chance_test_tails() - test whether the 99th percentiles of two histograms differ
 *
 * The function finds the bucket with the 99th percentile of both histograms together. One test
 * compares the number of samples above that bucket. A second test includes the samples in the
 * bucket. The result is twice the smaller probability of the two tests, at most 1. The parameters
 * are those of chance_test_means().
 */
double chance_test_tails(const struct histogram *a, double scale_a, const struct histogram *b,
			 double scale_b);

/**
 * chance_find_limit() - find the largest probability that is accepted (Benjamini and Hochberg 1995)
 * @p: probabilities of all tests, sorted, the smallest first
 * @count: number of tests
 * @rate: rate of false alarms among the accepted tests, 0 to 1
 *
 * If nothing differs, the probability that any test is accepted is at most @rate.
 *
 * Return: the limit; below 0 if no test is accepted.
 */
double chance_find_limit(const double *p, u32 count, double rate);

#endif
