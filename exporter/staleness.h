/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds series that a request had and the next one lacks: receivers get a stale marker for these. */
#ifndef SPEPROF_STALENESS_H
#define SPEPROF_STALENESS_H

#include "codec/env.h"

/* Bytes of labels that are saved. Series beyond that get no marker. */
#define STALENESS_SIZE (4U << 20)

/**
 * struct staleness_series - a series of a request
 * @hash: of @native and the labels
 * @at: offset of its labels in &staleness.labels
 * @size: of its labels, in bytes
 * @native: it is a native histogram
 */
struct staleness_series {
	u64 hash;
	u32 at;
	u32 size;
	bool native;
};

/**
 * struct staleness - the series of one request; all zero for none
 * @series: @count of them
 * @count: of @series
 * @capacity: allocated length of @series
 * @labels: the encoded labels of all series
 * @size: of @labels, in bytes
 * @labels_capacity: allocated size of @labels
 * @incomplete: some series that were added are not saved
 */
struct staleness {
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
void staleness_clear(struct staleness *staleness);

/**
 * staleness_add() - save a series of the request
 * @staleness: the request's
 * @labels: as they are encoded; copied
 * @size: of @labels, in bytes
 * @native: it is a native histogram
 *
 * Without memory, or above STALENESS_SIZE, the series is not saved and @staleness is incomplete.
 */
void staleness_add(struct staleness *staleness, const u8 *labels, size_t size, bool native);

/** staleness_fn() - called with the arguments of staleness_add() for a series that has ended */
typedef void (*staleness_fn)(void *ctx, const u8 *labels, size_t size, bool native);

/**
 * staleness_report() - report each series that has ended
 * @before: series of the last request; sorted by this function
 * @now: series of this request; sorted by this function
 * @ended: called for each series of @before that @now lacks
 * @ctx: passed to @ended
 *
 * Reports nothing if @now is incomplete: a series that is not found there may exist.
 */
void staleness_report(struct staleness *before, struct staleness *now, staleness_fn ended,
		      void *ctx);

#endif
