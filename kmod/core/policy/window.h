/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Place the next window in a ring, which determines the bytes that the SPU may write. The module's
 * rings and the emulation in userspace use it.
 */
#ifndef SPE_CORE_WINDOW_H
#define SPE_CORE_WINDOW_H

#include "codec/env.h"

/* PMBLIMITR_EL1.LIMIT is a multiple of 4 KiB for every page size of the kernel. */
#define SPE_LIMIT_GRANULE 4096

/**
 * struct spe_ring_state - the state of a ring that determines the next window
 * @size: size of the ring in bytes: a power of two, and a multiple of SPE_LIMIT_GRANULE
 * @head: bytes published since the ring was made
 * @tail: bytes consumed since then; the caller has checked that it is not above @head
 * @header: size of a window's header in bytes
 * @align: alignment of records in bytes: a power of two (1 << PMBIDR.Align)
 * @max_record: size of the largest record in bytes (1 << PMSIDR.MaxSize)
 * @max_window: maximum bytes of records in a window; 0: no limit
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
 * struct spe_window_position - the position of a window; positions count bytes since the ring was
 * made
 * @skip: bytes to skip before the header, so that no window crosses the end of the ring
 * @header: position of the header
 * @start: position of the first record, for PMBPTR
 * @limit: position after the last byte that may be written, for PMBLIMITR; a multiple of
 *	SPE_LIMIT_GRANULE
 */
struct spe_window_position {
	u64 skip;
	u64 header;
	u64 start;
	u64 limit;
};

/**
 * spe_window_place() - place the next window after @ring->head
 * @ring: state of the ring of a stream
 * @ret_window: the window; undefined on failure
 *
 * Return: 0, or -ENOSPC if the free space is too small for a window of two records.
 */
int spe_window_place(const struct spe_ring_state *ring, struct spe_window_position *ret_window);

#endif
