/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which series a request had: those that the next one lacks have ended, and receivers are told. */
#ifndef SPEPROF_WRITTEN_H
#define SPEPROF_WRITTEN_H

#include "codec/env.h"

/* Bytes of labels that are remembered; of series beyond that no end is told. */
#define STALENESS_SIZE (4U << 20)

/**
 * struct staleness_series
 * @hash: of @native and the labels
 * @at: of the labels in &struct staleness.labels, @size of them
 * @native: it is a native histogram
 */
struct staleness_series {
	u64 hash;
	u32 at;
	u32 size;
	bool native;
};

/**
 * struct staleness - series by their labels as they are encoded
 * @incomplete: not all that were added are remembered
 */
struct staleness {
	struct staleness_series *ones;
	u32 count;
	u32 room;
	u8 *labels;
	size_t size;
	size_t labels_room;
	bool incomplete;
};

void staleness_clear(struct staleness *written);

/** staleness_add() - what there is no memory or room for is not remembered */
void staleness_add(struct staleness *written, const u8 *labels, size_t size, bool native);

typedef void (*staleness_fn)(void *ctx, const u8 *labels, size_t size, bool native);

/**
 * staleness_report() - each of @before that @now lacks; both are sorted by it
 *
 * None where @now is incomplete: what is not found there may have been.
 */
void staleness_report(struct staleness *before, struct staleness *now, staleness_fn ended, void *ctx);

#endif
