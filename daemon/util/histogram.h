/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Exponential histograms of cycle counts with base 2^(1/4) and inclusive upper bounds. These are
 * the buckets of OpenTelemetry's scale 2 and of Prometheus' native schema 2.
 */
#ifndef SPEPROF_HISTOGRAM_H
#define SPEPROF_HISTOGRAM_H

#include "codec/env.h"

/*
 * Number of buckets: one each for 0, 1 and 2, then four for each octave up to 2^16, the range of
 * the counters. The three buckets between 1 and 2 are omitted, because they contain no integer.
 */
#define HISTOGRAM_BUCKETS 63

/* An additional bucket, never reported, for samples without a value. It saves a branch. */
#define HISTOGRAM_NONE HISTOGRAM_BUCKETS

/** struct histogram - distribution of 16-bit values: count, sum, largest value, and buckets */
struct histogram {
	u64 count;
	u64 sum;
	u32 max;
	u64 bucket[HISTOGRAM_BUCKETS + 1];
};

/**
 * histogram_get_bucket() - return the index of the bucket that contains @value: 0 for 0, 1 for 1,
 * ...
 */
unsigned int histogram_get_bucket(u16 value);

/** histogram_get_upper_bound() - return the largest value in @bucket */
u32 histogram_get_upper_bound(unsigned int bucket);

/** histogram_add() - count @value */
static inline void histogram_add(struct histogram *h, u16 value)
{
	h->count++;
	h->sum += value;
	if (value > h->max)
		h->max = value;
	h->bucket[histogram_get_bucket(value)]++;
}

/** histogram_merge() - add the counts of @from to @to */
void histogram_merge(struct histogram *to, const struct histogram *from);

/**
 * histogram_get_quantile() - return the upper bound of the bucket that contains the @permille/1000
 * quantile, but at most the largest value; 0 if no value was counted
 */
u32 histogram_get_quantile(const struct histogram *h, u32 permille);

#endif
