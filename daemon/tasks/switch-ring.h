/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The newest context switches of one CPU, in order of time. The writer, BPF or switch-perf.c, never
 * waits and overwrites the oldest entries; a reader checks if its entries were overwritten.
 */
#ifndef SPEPROF_SWITCH_RING_H
#define SPEPROF_SWITCH_RING_H

#include "codec/env.h"

struct switch_entry;

/**
 * struct switch_ring - the ring of one CPU, and the state of its only reader
 * @entries: the entries; entry number n is at n & @mask
 * @count: number of entries that were ever written; stored after the entry. NULL: no ring
 * @mask: number of slots - 1
 * @until_ns: time up to which switches are in the ring; 0: the kernel writes each switch to the
 * ring at once
 * @hint: number of the entry that the last search found
 */
struct switch_ring {
	const struct switch_entry *entries;
	const u64 *count;
	u32 mask;
	u64 until_ns;
	u64 hint;
};

/**
 * switch_ring_find_tid() - find the task that ran during a whole span of time
 * @ring: the ring of the CPU
 * @from_ns: start of the span, CLOCK_MONOTONIC
 * @to_ns: end of the span, CLOCK_MONOTONIC
 *
 * Return: the TID of the task; 0 for the idle task; -1 if the CPU switched during the span, or if
 * the task is unknown.
 */
s32 switch_ring_find_tid(struct switch_ring *ring, u64 from_ns, u64 to_ns);

#endif
