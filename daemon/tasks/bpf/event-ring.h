/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A reader of a BPF ring buffer. It reads the mapping directly instead of through libbpf's
 * callback, because records that are newer than the current window must stay in the ring.
 *
 * Each record begins with its time in ns. Records are in the order of their reservation. The times
 * of records of two CPUs may be in another order, so the reader sorts the records by time. Only one
 * thread may read.
 */
#ifndef SPEPROF_EVENT_RING_H
#define SPEPROF_EVENT_RING_H

#include "codec/env.h"

/* The time of the next record if there is none. */
#define EVENT_RING_NOTHING UINT64_MAX

/* A record at the position @at of the ring. */
struct event_ring_record {
	u64 time_ns;
	u64 at;
};

/**
 * struct event_ring - the reader; all zero: no ring
 * @consumer: position up to which the space is free, read by the kernel
 * @producer: position up to which space is reserved, written by the kernel
 * @data: the ring, mapped twice in a row, so that no record wraps
 * @page: size of a page
 * @size: bytes of the ring
 * @seen: position up to which records were added to @records
 * @first: index in @records of the next record to deliver
 * @count: entries of @records
 * @records: records in order of time
 */
struct event_ring {
	u64 *consumer;
	const u64 *producer;
	const u8 *data;
	size_t page;
	size_t size;
	u64 seen;
	u32 first;
	u32 count;
	struct event_ring_record *records;
};

/**
 * event_ring_init() - map a BPF ring buffer
 * @ring: zero; unchanged on failure
 * @fd: descriptor of the map, which may be closed afterwards
 * @size: bytes of the ring, a power of two of pages
 * @record_min: bytes of the shortest record
 *
 * Return: 0 or negative errno.
 */
int event_ring_init(struct event_ring *ring, int fd, size_t size, size_t record_min);

/** event_ring_deinit() - unmap the ring; does nothing if none is mapped */
void event_ring_deinit(struct event_ring *ring);

/** event_ring_scan() - read all records up to the first one that is still being written */
void event_ring_scan(struct event_ring *ring);

/** event_ring_get_next_time() - return the time of the oldest record read, or EVENT_RING_NOTHING */
u64 event_ring_get_next_time(const struct event_ring *ring);

/**
 * event_ring_pop() - remove and return the oldest record, which must exist; the pointer is valid
 * until event_ring_release()
 */
const void *event_ring_pop(struct event_ring *ring);

/** event_ring_release() - free the space of the removed records */
void event_ring_release(struct event_ring *ring);

#endif
