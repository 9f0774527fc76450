// SPDX-License-Identifier: LGPL-2.1-or-later
#include "event-ring.h"

#include <linux/bpf.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static int event_ring_mmap(struct event_ring *ring, int fd)
{
	void *map = mmap(NULL, ring->page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		return -errno;
	ring->consumer = map;
	map = mmap(NULL, ring->page + 2 * ring->size, PROT_READ, MAP_SHARED, fd, (off_t)ring->page);
	if (map == MAP_FAILED)
		return -errno;
	ring->producer = map;
	ring->data = (const u8 *)map + ring->page;
	return 0;
}

int event_ring_init(struct event_ring *ring, int fd, size_t size, size_t record_min)
{
	struct event_ring new = { .page = (size_t)sysconf(_SC_PAGESIZE), .size = size };
	size_t step = (BPF_RINGBUF_HDR_SZ + record_min + 7) & ~7ULL;
	int r = event_ring_mmap(&new, fd);

	if (!r) {
		new.records = calloc(size / step + 1, sizeof(*new.records));
		r = new.records ? 0 : -ENOMEM;
	}
	if (r < 0)
		event_ring_deinit(&new);
	else
		*ring = new;
	return r;
}

void event_ring_deinit(struct event_ring *ring)
{
	if (ring->producer)
		munmap((void *)(uintptr_t)ring->producer, ring->page + 2 * ring->size);
	if (ring->consumer)
		munmap(ring->consumer, ring->page);
	free(ring->records);
	*ring = (struct event_ring){ 0 };
}

static const void *record_get(const struct event_ring *ring, u64 at)
{
	return ring->data + (at & (ring->size - 1)) + BPF_RINGBUF_HDR_SZ;
}

/*
 * Insert the record at position @at by its time. Search from the end, because nearly all records
 * are in order.
 */
static void record_insert_by_time(struct event_ring *ring, u64 at)
{
	u64 time_ns = *(const u64 *)record_get(ring, at);
	u32 i = ring->count++;

	for (; i > ring->first && ring->records[i - 1].time_ns > time_ns; i--)
		ring->records[i] = ring->records[i - 1];
	ring->records[i] = (struct event_ring_record){ time_ns, at };
}

void event_ring_scan(struct event_ring *ring)
{
	/* Acquire: the lengths of all records before head are initialized. */
	u64 head = ring->producer ? __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE) : 0;

	if (ring->first) {
		memmove(ring->records, ring->records + ring->first,
			(ring->count - ring->first) * sizeof(*ring->records));
		ring->count -= ring->first;
		ring->first = 0;
	}
	while (ring->seen < head) {
		const u32 *length = (const void *)(ring->data + (ring->seen & (ring->size - 1)));
		/* Acquire: if the busy bit is clear, the record is complete. */
		u32 n = __atomic_load_n(length, __ATOMIC_ACQUIRE);

		if (n & BPF_RINGBUF_BUSY_BIT)
			break;
		if (!(n & BPF_RINGBUF_DISCARD_BIT))
			record_insert_by_time(ring, ring->seen);
		n &= ~BPF_RINGBUF_DISCARD_BIT;
		ring->seen += (n + BPF_RINGBUF_HDR_SZ + 7) & ~7ULL;
	}
}

u64 event_ring_get_next_time(const struct event_ring *ring)
{
	return ring->first < ring->count ? ring->records[ring->first].time_ns : EVENT_RING_NOTHING;
}

const void *event_ring_pop(struct event_ring *ring)
{
	return record_get(ring, ring->records[ring->first++].at);
}

void event_ring_release(struct event_ring *ring)
{
	u64 oldest = ring->seen;

	if (!ring->consumer)
		return;
	for (u32 i = ring->first; i < ring->count; i++)
		if (ring->records[i].at < oldest)
			oldest = ring->records[i].at;
	/* Release: the records are read before the kernel may overwrite them. */
	__atomic_store_n(ring->consumer, oldest, __ATOMIC_RELEASE);
}
