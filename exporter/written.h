/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which series a request had: those that the next one lacks have ended, and receivers are told. */
#ifndef SPEPROF_WRITTEN_H
#define SPEPROF_WRITTEN_H

#include "codec/env.h"

/* Bytes of labels that are remembered; of series beyond that no end is told. */
#define WRITTEN_SIZE (4U << 20)

/**
 * struct written_one
 * @hash: of @native and the labels
 * @at: of the labels in &struct written.labels, @size of them
 * @native: it is a native histogram
 */
struct written_one {
	u64 hash;
	u32 at;
	u32 size;
	bool native;
};

/**
 * struct written - series by their labels as they are encoded
 * @incomplete: not all that were added are remembered
 */
struct written {
	struct written_one *ones;
	u32 count;
	u32 room;
	u8 *labels;
	size_t size;
	size_t labels_room;
	bool incomplete;
};

void written_clear(struct written *written);

/** written_add() - what there is no memory or room for is not remembered */
void written_add(struct written *written, const u8 *labels, size_t size, bool native);

typedef void (*written_fn)(void *ctx, const u8 *labels, size_t size, bool native);

/**
 * written_ended() - each of @before that @now lacks; both are sorted by it
 *
 * None where @now is incomplete: what is not found there may have been.
 */
void written_ended(struct written *before, struct written *now, written_fn ended, void *ctx);

#endif
