/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who ran when on one CPU, while it is being written: the newest switches, in order of
 * time. The writer never waits; a reader finds out whether it was overtaken.
 */
#ifndef SPEPROF_SWITCH_RING_H
#define SPEPROF_SWITCH_RING_H

#include "codec/env.h"

struct switch_entry;

/**
 * struct switch_ring
 * @entries: @mask + 1 of them
 * @count: how many there ever were; written after the entry; NULL where none is followed
 * @until_ns: what is after it is not told yet; 0 where the writer is the kernel itself
 * @hint: where the last answer was
 */
struct switch_ring {
	const struct switch_entry *entries;
	const u64 *count;
	u32 mask;
	u64 until_ns;
	u64 hint;
};

/**
 * switch_ring_find() - the TID that ran from @from_ns to @to_ns, 0 for the idle task
 *
 * Return: it; -1 where there was a switch in between, or where that is not known
 * (any more).
 */
s32 switch_ring_find(struct switch_ring *ring, u64 from_ns, u64 to_ns);

#endif
