/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ring of a perf event: where the kernel writes records and a reader follows it.
 * begin, then next and skip for each record, then end.
 */
#ifndef SPEPROF_PERF_RING_H
#define SPEPROF_PERF_RING_H

#include <linux/perf_event.h>

#include "codec/env.h"

/**
 * struct perf_ring - private but for @control, NULL while it is not mapped
 * @size: of @data, a power of two
 * @head: what the kernel had written at perf_ring_begin()
 * @tail: where the record is that is read next
 */
struct perf_ring {
	struct perf_event_mmap_page *control;
	const u8 *data;
	u64 size;
	u64 head;
	u64 tail;
};

/** perf_ring_map() - the ring of the event @fd, of @size bytes; 0 or mmap's negative errno */
int perf_ring_map(struct perf_ring *ring, int fd, u64 size);

/**
 * perf_ring_open() - an event on @cpu that counts nothing, for what its records tell
 * @what: of what: task, comm, mmap, context_switch ...; the rest is filled in
 * @size: of the ring, at half of which the reader is woken
 *
 * Each record ends in the ids of its task and in its time, CLOCK_MONOTONIC.
 *
 * Return: the event's descriptor, or the negative errno of perf or mmap.
 */
int perf_ring_open(struct perf_ring *ring, const struct perf_event_attr *what, u32 cpu, u64 size);

/**
 * perf_event_ran_ns() - how long an event with PERF_FORMAT_TOTAL_TIME_RUNNING has been on its CPU
 *
 * The kernel takes events from a CPU that goes offline and does not put them back: of one that is
 * enabled and whose time stands still nothing will come any more.
 *
 * Return: 0 if it cannot be read.
 */
u64 perf_event_ran_ns(int fd);

/** perf_ring_unmap() - may be called on one that is not mapped */
void perf_ring_unmap(struct perf_ring *ring);

/** perf_ring_begin() - see what there is now */
static inline void perf_ring_begin(struct perf_ring *ring)
{
	ring->head = __atomic_load_n(&ring->control->data_head, __ATOMIC_ACQUIRE);
}

/** perf_ring_end() - give the room of what was read back to the kernel */
static inline void perf_ring_end(struct perf_ring *ring)
{
	__atomic_store_n(&ring->control->data_tail, ring->tail, __ATOMIC_RELEASE);
}

/** perf_ring_drop() - what is still to be read will not be */
static inline void perf_ring_drop(struct perf_ring *ring)
{
	ring->tail = ring->head;
}

/**
 * perf_ring_copy() - @size bytes from @offset of the record that is read next
 *
 * A copy, as a record may straddle the ring's end.
 */
static inline void perf_ring_copy(const struct perf_ring *ring, u64 offset, void *to, size_t size)
{
	u64 from = (ring->tail + offset) & (ring->size - 1);
	size_t first = ring->size - from < size ? ring->size - from : size;

	memcpy(to, ring->data + from, first);
	memcpy((u8 *)to + first, ring->data, size - first);
}

/**
 * perf_ring_next() - the header of the record that is read next
 * @least: bytes that any record of this ring has, at least its header
 *
 * The kernel writes no record that is shorter, or that ends behind @head. Where there
 * seems to be one the ring cannot be walked, and the rest of it is dropped.
 *
 * Return: 1; 0 at the end; -EBADMSG where it cannot be walked.
 */
static inline int perf_ring_next(struct perf_ring *ring, u32 least,
				 struct perf_event_header *ret_header)
{
	struct perf_event_header header;

	if (ring->head - ring->tail < sizeof(header))
		return 0;
	perf_ring_copy(ring, 0, &header, sizeof(header));
	if (header.size < least || header.size > ring->head - ring->tail) {
		perf_ring_drop(ring);
		return -EBADMSG;
	}
	*ret_header = header;
	return 1;
}

/** perf_ring_skip() - go on behind the record of perf_ring_next() */
static inline void perf_ring_skip(struct perf_ring *ring, const struct perf_event_header *header)
{
	ring->tail += header->size;
}

#endif
