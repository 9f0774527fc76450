/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Perf events, and the ring buffer into which the kernel writes their records. A reader calls
 * perf_ring_begin_read(), then perf_ring_read_header() and perf_ring_skip_record() for each record,
 * and perf_ring_end_read().
 */
#ifndef SPEPROF_PERF_EVENT_H
#define SPEPROF_PERF_EVENT_H

#include <linux/perf_event.h>

#include "codec/env.h"

/**
 * struct perf_ring - the ring buffer of one perf event, and its only reader
 * @control: the control page; NULL: not mapped
 * @data: the ring; private
 * @size: size of @data in bytes, a power of two; private
 * @head: bytes that the kernel had written at perf_ring_begin_read(), since the start; private
 * @tail: position of the next record to read, in bytes since the start; private
 */
struct perf_ring {
	struct perf_event_mmap_page *control;
	const u8 *data;
	u64 size;
	u64 head;
	u64 tail;
};

/**
 * perf_event_open() - call perf_event_open(2) for all tasks of @cpu; returns a descriptor or
 * negative errno
 */
int perf_event_open(const struct perf_event_attr *attr, u32 cpu);

/**
 * perf_event_explain_open_error() - explain EACCES and EPERM of perf_event_open(2)
 *
 * Return: a static sentence for users, which depends on the capabilities of this process and on
 * kernel.perf_event_paranoid.
 */
const char *perf_event_explain_open_error(void);

/**
 * perf_event_explain_physical_error() - explain EACCES and EPERM of an event with physical
 * addresses
 *
 * Return: a static sentence for users; NULL if physical addresses are not the cause.
 */
const char *perf_event_explain_physical_error(void);

/**
 * perf_event_read_running_ns() - read the time for which an event has been scheduled on its CPU
 * @fd: an event with PERF_FORMAT_TOTAL_TIME_RUNNING
 *
 * Return: the time in ns; 0 if it cannot be read.
 */
u64 perf_event_read_running_ns(int fd);

/**
 * perf_event_is_dead() - return true if an enabled event has not run since the last call
 * @fd: an event with PERF_FORMAT_TOTAL_TIME_RUNNING
 * @ran_ns: its running time at the last call; 0 at first, updated
 *
 * The kernel removes the events of a CPU that goes offline, and does not add them again when the
 * CPU comes back. The running time of such an event does not increase.
 */
bool perf_event_is_dead(int fd, u64 *ran_ns);

/**
 * perf_ring_map() - map @size bytes of the ring of the event @fd; returns 0 or negative errno of
 * mmap()
 */
int perf_ring_map(struct perf_ring *ring, int fd, u64 size);

/**
 * perf_ring_open() - open a dummy event on a CPU, for the records of its side band
 * @ring: the ring of the new event
 * @records: an attribute with the flags of the wanted records: task, comm, mmap, context_switch
 * @cpu: the CPU
 * @size: size of the ring in bytes; the event becomes readable when half of the ring is full
 *
 * Each record ends with the PID and TID of its task, and its time in CLOCK_MONOTONIC.
 *
 * Return: the descriptor of the event; the negative errno of perf_event_open() or mmap().
 */
int perf_ring_open(struct perf_ring *ring, const struct perf_event_attr *records, u32 cpu,
		   u64 size);

/** perf_ring_unmap() - unmap a ring; does nothing if it is not mapped */
void perf_ring_unmap(struct perf_ring *ring);

/**
 * perf_ring_begin_read() - make all records readable that the kernel has written so far
 *
 * The acquire pairs with the kernel's barrier before the store of data_head: the records below
 * data_head are complete.
 */
static inline void perf_ring_begin_read(struct perf_ring *ring)
{
	ring->head = __atomic_load_n(&ring->control->data_head, __ATOMIC_ACQUIRE);
}

/**
 * perf_ring_end_read() - free the space of the records that were read
 *
 * The release orders the reads of the records before the store of data_tail, after which the kernel
 * may overwrite the records.
 */
static inline void perf_ring_end_read(struct perf_ring *ring)
{
	__atomic_store_n(&ring->control->data_tail, ring->tail, __ATOMIC_RELEASE);
}

/** perf_ring_skip_all() - skip all records up to the head */
static inline void perf_ring_skip_all(struct perf_ring *ring)
{
	ring->tail = ring->head;
}

/**
 * perf_ring_copy() - copy a piece of the next record
 * @ring: the ring
 * @offset: bytes from the start of the record
 * @to: the destination
 * @size: bytes to copy
 *
 * A record may wrap around the end of the ring, so it cannot be read in place.
 */
static inline void perf_ring_copy(const struct perf_ring *ring, u64 offset, void *to, size_t size)
{
	u64 from = (ring->tail + offset) & (ring->size - 1);
	size_t first = ring->size - from < size ? ring->size - from : size;

	memcpy(to, ring->data + from, first);
	memcpy((u8 *)to + first, ring->data, size - first);
}

/**
 * perf_ring_read_header() - read the header of the next record
 * @ring: the ring
 * @size_min: size of the shortest record in this ring in bytes, at least the size of the header
 * @ret_header: the header
 *
 * The kernel writes no record that is shorter than @size_min or that ends beyond the head. If the
 * header describes such a record, the ring is corrupt, and all its records are dropped.
 *
 * Return: 1; 0 at the head; -EBADMSG for a corrupt ring.
 */
static inline int perf_ring_read_header(struct perf_ring *ring, u32 size_min,
					struct perf_event_header *ret_header)
{
	struct perf_event_header header;

	if (ring->head - ring->tail < sizeof(header))
		return 0;
	perf_ring_copy(ring, 0, &header, sizeof(header));
	if (header.size < size_min || header.size > ring->head - ring->tail) {
		perf_ring_skip_all(ring);
		return -EBADMSG;
	}
	*ret_header = header;
	return 1;
}

/**
 * perf_ring_skip_record() - advance the tail to the end of the record of which
 * perf_ring_read_header() returned the header
 */
static inline void perf_ring_skip_record(struct perf_ring *ring,
					 const struct perf_event_header *header)
{
	ring->tail += header->size;
}

#endif
