// SPDX-License-Identifier: LGPL-2.1-or-later
#include "thread-table.h"

#include <errno.h>

#include "util/memory.h"

int thread_table_init(struct thread_table *table, u32 threads, u32 unresolved)
{
	struct thread_bucket *buckets;
	u32 count = 2, bits = 1;

	/* Allocate twice as many slots as threads, so that few buckets overflow. */
	while (count < threads / (THREAD_WAYS / 2) && bits < 28) {
		count <<= 1;
		bits++;
	}
	buckets = zero_pages_new(count * sizeof(*buckets));
	if (!buckets)
		return -ENOMEM;
	*table = (struct thread_table){
		.buckets = buckets,
		.count = count,
		.shift = 32 - bits,
		.unresolved = unresolved,
	};
	return 0;
}

void thread_table_deinit(struct thread_table *table)
{
	zero_pages_free(table->buckets, table->count * sizeof(*table->buckets));
	table->buckets = NULL;
}

/*
 * Choose a slot: a free slot, else that of a TID that was not found, else one with an old stamp,
 * else the next one in round-robin order.
 */
static u32 bucket_choose_victim(struct thread_table *table, const struct thread_bucket *b,
				const u32 *stamps)
{
	u32 stale = THREAD_WAYS, unresolved = THREAD_WAYS;

	for (u32 i = 0; i < THREAD_WAYS; i++) {
		if (!b->tid[i])
			return i;
		if (b->process[i] == table->unresolved)
			unresolved = i;
		else if (b->stamp[i] != stamps[b->process[i]])
			stale = i;
	}
	if (unresolved < THREAD_WAYS)
		return unresolved;
	if (stale < THREAD_WAYS)
		return stale;
	table->evicted++;
	return table->evict_hand++ % THREAD_WAYS;
}

void thread_table_set_process(struct thread_table *table, s32 tid, u32 process, u32 stamp,
			      u32 failed_ms, const u32 *stamps)
{
	struct thread_slot slot = thread_table_find(table, tid);

	if (!slot.bucket) {
		slot.bucket = thread_table_get_bucket(table, tid);
		slot.way = bucket_choose_victim(table, slot.bucket, stamps);
	}
	slot.bucket->tid[slot.way] = tid;
	slot.bucket->process[slot.way] = process;
	slot.bucket->stamp[slot.way] = stamp;
	slot.bucket->failed_ms[slot.way] = failed_ms;
}
