/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A set-associative table that maps TIDs to processes in fixed memory. The hash of a TID selects a
 * bucket of THREAD_WAYS slots. If all slots are in use, a new TID replaces one of them.
 */
#ifndef SPEPROF_THREAD_TABLE_H
#define SPEPROF_THREAD_TABLE_H

#include "codec/env.h"

/* Slots of a bucket. */
#define THREAD_WAYS 8

/**
 * struct thread_bucket - the slots of all TIDs with the same hash
 * @tid: thread id; 0 if the slot is free
 * @process: index of its process, or &thread_table.unresolved
 * @stamp: &attributor.stamp of the process when the TID was resolved. If &attributor.stamp differs
 *	now, the thread or its process exited, or the process entry was reused
 * @failed_ms: time of the last lookup that failed
 */
struct thread_bucket {
	s32 tid[THREAD_WAYS];
	u32 process[THREAD_WAYS];
	u32 stamp[THREAD_WAYS];
	u32 failed_ms[THREAD_WAYS];
} __attribute__((aligned(64)));

/**
 * struct thread_table - the table
 * @buckets: the buckets, @count of them, a power of two
 * @shift: number of bits by which the 32-bit hash is shifted to get the bucket
 * @unresolved: index that means that the thread was not found
 * @evict_hand: next slot to evict, modulo THREAD_WAYS
 * @evicted: number of TIDs that were replaced in a slot with the current stamp
 */
struct thread_table {
	struct thread_bucket *buckets;
	u32 count;
	u32 shift;
	u32 unresolved;
	u32 evict_hand;
	u64 evicted;
};

/** struct thread_slot - slot @way of @bucket; @bucket is NULL if the TID is not in the table */
struct thread_slot {
	struct thread_bucket *bucket;
	u32 way;
};

/**
 * thread_table_init() - allocate the buckets of @table
 * @threads: expected number of threads
 * @unresolved: index that means that a thread was not found; no process has it
 *
 * Return: 0 or -ENOMEM.
 */
int thread_table_init(struct thread_table *table, u32 threads, u32 unresolved);

/** thread_table_deinit() - free the buckets of @table */
void thread_table_deinit(struct thread_table *table);

/** thread_table_get_bucket() - return the bucket of @tid: consecutive TIDs get different buckets */
static inline struct thread_bucket *thread_table_get_bucket(const struct thread_table *table,
							    s32 tid)
{
	return &table->buckets[((u32)tid * 0x9e3779b1U) >> table->shift];
}

/** thread_table_find() - return the slot of @tid, which is not 0 */
static inline struct thread_slot thread_table_find(const struct thread_table *table, s32 tid)
{
	struct thread_bucket *b = thread_table_get_bucket(table, tid);

	for (u32 i = 0; i < THREAD_WAYS; i++)
		if (b->tid[i] == tid)
			return (struct thread_slot){ b, i };
	return (struct thread_slot){ NULL, 0 };
}

/**
 * thread_table_set_process() - set the process of @tid in @table; evicts another TID if the bucket
 * is full
 * @process, @stamp, @failed_ms: as in struct thread_bucket
 * @stamps: current stamps of all processes: slots with another stamp are evicted first
 */
void thread_table_set_process(struct thread_table *table, s32 tid, u32 process, u32 stamp,
			      u32 failed_ms, const u32 *stamps);

#endif
