/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Windows: where in a ring the SPU may write next. Limits and padding are
 * decided here, for the module's rings and for the in-process emulation.
 */
#ifndef SPE_CORE_WINDOW_H
#define SPE_CORE_WINDOW_H

#include "codec/env.h"

/* PMBLIMITR_EL1.LIMIT counts in 4 KiB whatever the kernel's page size is. */
#define SPE_LIMIT_GRANULE 4096

/**
 * struct spe_ring_state - a per-CPU ring as window decisions see it
 * @size: bytes of the ring, a power of two, a multiple of SPE_LIMIT_GRANULE
 * @head: free-running count of bytes published
 * @tail: free-running count of bytes consumed; @tail <= @head, never trusted beyond that:
 *	the caller clamps it
 * @header: bytes of the header before each window's records
 * @align: alignment of records, a power of two (1 << PMBIDR.Align)
 * @max_record: largest record (1 << PMSIDR.MaxSize)
 * @max_window: upper bound on a window's bytes, 0 for none (bounds latency)
 */
struct spe_ring_state {
	u64 size;
	u64 head;
	u64 tail;
	u32 header;
	u32 align;
	u32 max_record;
	u32 max_window;
};

/**
 * struct spe_window - the decision
 * @skip: bytes of padding from @head to the header (to wrap, so that no window
 *	straddles the ring's end)
 * @header: free-running offset of the header
 * @start: free-running offset where PMBPTR goes
 * @limit: free-running offset where PMBLIMITR goes; a multiple of SPE_LIMIT_GRANULE
 */
struct spe_window {
	u64 skip;
	u64 header;
	u64 start;
	u64 limit;
};

/**
 * spe_window_next() - the next window after @ring.head
 *
 * Return: 0, or -ENOSPC if the free space cannot hold a window in which at
 * least two records fit: the ring is full.
 */
int spe_window_next(const struct spe_ring_state *ring, struct spe_window *ret_window);

#endif
