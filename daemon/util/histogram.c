// SPDX-License-Identifier: LGPL-2.1-or-later
#include "histogram.h"

/*
 * 2^31 times 2^(1/4), 2^(2/4) and 2^(3/4), rounded down. The exact bounds are irrational, so no
 * value equals one, and rounding does not move a value to another bucket.
 */
static const u32 quarters[3] = { 2553802833U, 3037000499U, 3611622602U };

/*
 * With e = floor(log2(value - 1)), the octave is (2^e, 2^(e+1)], and the mantissa selects one of its
 * four buckets. Upper bounds are inclusive, so 2^k is the last value of its bucket.
 */
unsigned int histogram_get_bucket(u16 value)
{
	unsigned int e, q;
	u32 mantissa;

	if (value < 3)
		return value;
	e = 31 - (unsigned int)__builtin_clz((u32)value - 1);
	if (value == 1U << (e + 1))
		return 4 * e + 2;
	mantissa = (u32)value << (31 - e);
	q = (mantissa > quarters[0]) + (mantissa > quarters[1]) + (mantissa > quarters[2]);
	return 4 * e - 1 + q;
}

u32 histogram_get_upper_bound(unsigned int bucket)
{
	unsigned int e, q;

	if (bucket < 3)
		return bucket;
	e = (bucket + 1) / 4;
	q = (bucket + 1) % 4;
	return q == 3 ? 1U << (e + 1) : quarters[q] >> (31 - e);
}

void histogram_merge(struct histogram *to, const struct histogram *from)
{
	to->count += from->count;
	to->sum += from->sum;
	if (from->max > to->max)
		to->max = from->max;
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
		to->bucket[i] += from->bucket[i];
}

u32 histogram_get_quantile(const struct histogram *h, u32 permille)
{
	u64 rank = (h->count * permille + 999) / 1000, seen = 0;
	u32 upper;

	if (!h->count)
		return 0;
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++) {
		seen += h->bucket[i];
		if (seen < rank || !seen)
			continue;
		upper = histogram_get_upper_bound(i);
		return upper < h->max ? upper : h->max;
	}
	return h->max;
}
