// SPDX-License-Identifier: LGPL-2.1-or-later
// Histograms of cycles with base 2^(1/4) and inclusive upper bounds, as in daemon/util/histogram.h.

export const BUCKETS = 63;

const QUARTERS = [2553802833, 3037000499, 3611622602];

/** Return the largest value in bucket @bucket. */
export function bucketUpper(bucket) {
	if (bucket < 3)
		return bucket;
	const e = (bucket + 1) >> 2;
	const q = (bucket + 1) & 3;
	return q === 3 ? 2 ** (e + 1) : Math.floor(QUARTERS[q] / 2 ** (31 - e));
}

/** Return an empty histogram. */
export function newHistogram() {
	return { count: 0, sum: 0, max: 0, bucket: new Float64Array(BUCKETS) };
}

/** Add the counts of @from to @to. */
export function mergeHistogram(to, from) {
	to.count += from.count;
	to.sum += from.sum;
	to.max = Math.max(to.max, from.max);
	for (let i = 0; i < BUCKETS; i++)
		to.bucket[i] += from.bucket[i];
}

/** Return the upper bound of the bucket of the @permille/1000 quantile; 0 for an empty histogram. */
export function quantile(h, permille) {
	const rank = Math.floor((h.count * permille + 999) / 1000);
	let seen = 0;
	for (let i = 0; i < BUCKETS && h.count; i++) {
		seen += h.bucket[i];
		if (seen >= rank && seen)
			return Math.min(bucketUpper(i), h.max);
	}
	return h.max;
}

/** Return the mean; null for an empty histogram. */
export function mean(h) {
	return h.count ? h.sum / h.count : null;
}
