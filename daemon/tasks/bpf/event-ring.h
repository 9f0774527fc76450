/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A ring that BPF programs write to, read where it lies and not by libbpf's callback: what
 * happened after a window's end has to stay in it. Records begin with their time, in ns. They
 * lie in the order in which they were reserved, which may differ from that of their times by
 * what one CPU waits for another: the reader sorts them. One thread reads.
 */
#ifndef SPEPROF_EVENT_RING_H
#define SPEPROF_EVENT_RING_H

#include "codec/env.h"

/* No record is there. */
#define EVENT_RING_NOTHING UINT64_MAX

/* Where a record lies, and when it was. */
struct event_ring_record {
	u64 time_ns;
	u64 at;
};

/**
 * struct event_ring - zeroes are one without a ring
 * @consumer, @producer: pages with positions of the ring
 * @data: the ring, mapped twice in a row
 * @size: bytes of the ring
 * @seen: position up to which records are in @records
 * @records: those between @first and @count are to be handed over, oldest first
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
 * event_ring_init() - map a ring of BPF
 * @fd: of the map, which has to stay open no longer than this call
 * @size: its bytes, a power of two of pages
 * @least: bytes of the shortest record
 *
 * Return: 0; a negative errno, and @ring is as it was: event_ring_deinit() may be called.
 */
int event_ring_init(struct event_ring *ring, int fd, size_t size, size_t least);
void event_ring_deinit(struct event_ring *ring);

/** event_ring_scan() - look at what the ring holds now; a record that is still written ends it */
void event_ring_scan(struct event_ring *ring);

/** event_ring_next() - time of the oldest record seen by then, or EVENT_RING_NOTHING */
u64 event_ring_next(const struct event_ring *ring);

/** event_ring_pop() - the oldest record; there must be one; valid until event_ring_release() */
const void *event_ring_pop(struct event_ring *ring);

/** event_ring_release() - free the space of what was taken */
void event_ring_release(struct event_ring *ring);

#endif
