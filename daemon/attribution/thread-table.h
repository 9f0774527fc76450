/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * TID to process, in fixed memory. A TID has THREAD_WAYS places, side by side;
 * where they are taken, one goes, so that a lookup never probes further.
 */
#ifndef SPEPROF_THREAD_TABLE_H
#define SPEPROF_THREAD_TABLE_H

#include "codec/env.h"

#define THREAD_WAYS 8

/**
 * struct thread_bucket - the places of the TIDs that hash to it
 * @tid: 0 where the place is free
 * @process: index of its process, or the table's @unresolved
 * @stamp: of the process when the TID was resolved; another one there now means
 *	that the process is dead or the entry another's: see struct attributor
 * @failed: ms of the last lookup that found nothing
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

/* A place in the table; @bucket NULL for none. */
struct thread_slot {
	struct thread_bucket *bucket;
	u32 way;
};

/** threads_init() - room for @threads; @unresolved is the index for "nowhere" */
int threads_init(struct thread_table *table, u32 threads, u32 unresolved);
void threads_deinit(struct thread_table *table);

/* TIDs come in runs: an odd multiplier spreads a run over all buckets. */
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
 * threads_set() - @tid belongs to @process
 * @stamps: of all processes, to tell which places are out of date
 */
void threads_set(struct thread_table *table, s32 tid, u32 process, u32 stamp, u32 failed,
		 const u32 *stamps);

#endif
