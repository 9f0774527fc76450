// SPDX-License-Identifier: LGPL-2.1-or-later
#include "thread-table.h"

#include <stdlib.h>

int threads_init(struct thread_table *table, u32 threads, u32 unresolved)
{
	struct thread_bucket *buckets;
	u32 count = 2, bits = 1;

	/* Half full at @threads, so that few buckets are. */
	while (count < threads / (THREAD_WAYS / 2) && bits < 28) {
		count <<= 1;
		bits++;
	}
	buckets = aligned_alloc(sizeof(*buckets), count * sizeof(*buckets));
	if (!buckets)
		return -ENOMEM;
	memset(buckets, 0, count * sizeof(*buckets));
	*table = (struct thread_table){
		.buckets = buckets,
		.count = count,
		.shift = 32 - bits,
		.unresolved = unresolved,
	};
	return 0;
}

void threads_deinit(struct thread_table *table)
{
	free(table->buckets);
	table->buckets = NULL;
}

/* The place to give away: free, else nowhere, else out of date, else in turn. */
static u32 bucket_victim(struct thread_table *table, const struct thread_bucket *b,
			 const u32 *stamps)
{
	u32 stale = THREAD_WAYS, nowhere = THREAD_WAYS;

	for (u32 i = 0; i < THREAD_WAYS; i++) {
		if (!b->tid[i])
			return i;
		if (b->process[i] == table->unresolved)
			nowhere = i;
		else if (b->stamp[i] != stamps[b->process[i]])
			stale = i;
	}
	if (nowhere < THREAD_WAYS)
		return nowhere;
	if (stale < THREAD_WAYS)
		return stale;
	table->evicted++;
	return table->hand++ % THREAD_WAYS;
}

void threads_set(struct thread_table *table, s32 tid, u32 process, u32 stamp, u32 failed,
		 const u32 *stamps)
{
	struct thread_slot slot = threads_find(table, tid);

	if (!slot.bucket) {
		slot.bucket = threads_bucket(table, tid);
		slot.way = bucket_victim(table, slot.bucket, stamps);
	}
	slot.bucket->tid[slot.way] = tid;
	slot.bucket->process[slot.way] = process;
	slot.bucket->stamp[slot.way] = stamp;
	slot.bucket->failed[slot.way] = failed;
}
