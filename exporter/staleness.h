/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Find series of a request that are missing in the next one, for which receivers get a stale
 * marker.
 */
#ifndef SPEPROF_STALENESS_H
#define SPEPROF_STALENESS_H

#include "codec/env.h"

/* maximum bytes of labels that are remembered; series beyond that get no marker */
#define STALENESS_SIZE (4U << 20)

/**
 * struct staleness_series - a series of a request
 * @hash: hash of @native and the labels
 * @at: offset of the labels of the series in the encoded labels of all series
 * @size: bytes of its labels
 * @native: whether it is a native histogram
 */
struct staleness_series {
	u64 hash;
	u32 at;
	u32 size;
	bool native;
};

/**
 * struct staleness_list - the series of one request; all zero: none
 * @series: the series
 * @count: number of @series
 * @capacity: allocated length of @series
 * @labels: the encoded labels of all series
 * @size: bytes of @labels
 * @labels_capacity: allocated size of @labels
 * @incomplete: whether some series that were added are not in it
 */
struct staleness_list {
	struct staleness_series *series;
	u32 count;
	u32 capacity;
	u8 *labels;
	size_t size;
	size_t labels_capacity;
	bool incomplete;
};

/**
 * staleness_clear() - release all memory
 * @staleness: zeroed
 */
void staleness_clear(struct staleness_list *staleness);

/**
 * staleness_add_series() - remember a series of a request
 * @staleness: the series of the request
 * @labels: encoded labels; copied
 * @size: bytes of @labels
 * @native: whether it is a native histogram
 *
 * If memory cannot be allocated, or STALENESS_SIZE would be exceeded, the series is not remembered
 * and @staleness is incomplete.
 */
void staleness_add_series(struct staleness_list *staleness, const u8 *labels, size_t size,
			  bool native);

/**
 * staleness_fn() - handle a series that has ended; the arguments are those of
 * staleness_add_series()
 */
typedef void (*staleness_fn)(void *ctx, const u8 *labels, size_t size, bool native);

/**
 * staleness_report_ended() - report each series that has ended
 * @before: series of the last request; this function sorts them
 * @now: series of this request; this function sorts them
 * @ended: called for each series of @before that is missing in @now
 * @ctx: argument for @ended
 *
 * The function reports nothing if @now is incomplete, because a series that is missing in @now may
 * exist.
 */
void staleness_report_ended(struct staleness_list *before, struct staleness_list *now,
			    staleness_fn ended, void *ctx);

#endif
