/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Exponential histograms of cycle counts, base 2^(1/4), upper bounds inclusive:
 * the buckets of OpenTelemetry's scale 2 and Prometheus' native schema 2.
 */
#ifndef SPEPROF_HISTOGRAM_H
#define SPEPROF_HISTOGRAM_H

#include "codec/env.h"

/*
 * Zero, one and two; then four buckets an octave up to 2^16, the counters' range.
 * Between one and two no integer lies, so their three buckets are left out.
 */
#define HISTOGRAM_BUCKETS 63

/* A bucket beside them, for what has no value: counted without a branch, never shown. */
#define HISTOGRAM_NONE HISTOGRAM_BUCKETS

struct histogram {
	u64 count;
	u64 sum;
	u32 max;
	u64 bucket[HISTOGRAM_BUCKETS + 1];
};

/** histogram_bucket() - the bucket of @value: 0 for 0, 1 for 1, ... */
unsigned int histogram_bucket(u16 value);

/** histogram_upper() - the largest value that falls into @bucket */
u32 histogram_upper(unsigned int bucket);

static inline void histogram_add(struct histogram *h, u16 value)
{
	h->count++;
	h->sum += value;
	if (value > h->max)
		h->max = value;
	h->bucket[histogram_bucket(value)]++;
}

void histogram_merge(struct histogram *to, const struct histogram *from);

/** histogram_quantile() - upper bound of the bucket that holds the @permille'th value */
u32 histogram_quantile(const struct histogram *h, u32 permille);

#endif
