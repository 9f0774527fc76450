/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Maps TIDs to processes in fixed memory. A TID may be in one of THREAD_WAYS adjacent slots. If
 * all are in use, one is evicted, so a lookup never searches further.
 */
#ifndef SPEPROF_THREAD_TABLE_H
#define SPEPROF_THREAD_TABLE_H

#include "codec/env.h"

#define THREAD_WAYS 8

/**
 * struct thread_bucket - the slots of all TIDs with one hash
 * @tid: 0 if the slot is free
 * @process: index of its process, or the table's @unresolved
 * @stamp: stamp of the process when the TID was resolved. If it differs now, the process has
 *	exited or the entry was reused: see struct attributor
 * @failed: time of the last lookup without a result, ms
 */
struct thread_bucket {
	s32 tid[THREAD_WAYS];
	u32 process[THREAD_WAYS];
	u32 stamp[THREAD_WAYS];
	u32 failed[THREAD_WAYS];
} __attribute__((aligned(64)));

struct thread_table {
	struct thread_bucket *buckets;
	u32 count;	/* of buckets, a power of two */
	u32 shift;
	u32 unresolved;	/* index that means "nowhere" */
	u32 hand;
	u64 evicted;
};

/* A slot of the table; @bucket is NULL for none. */
struct thread_slot {
	struct thread_bucket *bucket;
	u32 way;
};

/**
 * threads_init() - allocate a table for @threads threads; returns 0 or -ENOMEM
 *
 * @unresolved is the index for "not found".
 */
int threads_init(struct thread_table *table, u32 threads, u32 unresolved);
void threads_deinit(struct thread_table *table);

/* TIDs are often consecutive: an odd multiplier spreads them over all buckets. */
static inline struct thread_bucket *threads_bucket(const struct thread_table *table, s32 tid)
{
	return &table->buckets[((u32)tid * 0x9e3779b1U) >> table->shift];
}

static inline struct thread_slot threads_find(const struct thread_table *table, s32 tid)
{
	struct thread_bucket *b = threads_bucket(table, tid);

	for (u32 i = 0; i < THREAD_WAYS; i++)
		if (b->tid[i] == tid)
			return (struct thread_slot){ b, i };
	return (struct thread_slot){ NULL, 0 };
}

/**
 * threads_set() - set the process of @tid
 * @stamps: stamps of all processes, which show the outdated slots
 */
void threads_set(struct thread_table *table, s32 tid, u32 process, u32 stamp, u32 failed,
		 const u32 *stamps);

#endif
