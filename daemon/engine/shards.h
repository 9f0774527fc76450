/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Several drain threads. Each drains one partition of every source (partitioned.h), and counts in its
 * own shard of each session's profile. The worker's thread (worker.h) then drains nothing itself: it
 * serves calls, applies task events and merges shards. A merge stops a drain thread only while a
 * pointer is exchanged.
 *
 * Lock order: the shard's lock, held while it drains; the thread's reader lock of the attributor, held
 * while it counts a window; the common lock. The worker's thread must release its reader lock before
 * it takes a shard's lock: the shard may be waiting to write to the attributor.
 */
#ifndef SPEPROF_SHARDS_H
#define SPEPROF_SHARDS_H

#include "attribution/reader-lock.h"
#include "worker.h"

struct shards;

/** shards_new() - start state->plan.workers drain threads, at least 2; 0 or negative errno */
int shards_new(struct worker_state *state, struct shards **ret_shards);

/** shards_free() - end the threads and free; NULL is allowed; returns NULL */
struct shards *shards_free(struct shards *shards);

/**
 * shards_reader() - the attributor's reader lock of a thread
 * @shards: NULL: returns NULL
 * @index: of a drain thread; their number: of the worker's thread
 */
struct attribute_reader *shards_reader(struct shards *shards, u32 index);

/**
 * shards_lock_part() - keep one partition from draining until shards_unlock_part()
 * @shards: NULL: does nothing
 * @part: the partition
 *
 * Context: a call on the worker's thread, which holds its reader lock. The lock is released while it
 * waits: the drain thread may be waiting to write.
 */
void shards_lock_part(struct shards *shards, u32 part);
void shards_unlock_part(struct shards *shards, u32 part);

/** shards_pause() - keep all partitions from draining until shards_resume() */
void shards_pause(struct shards *shards);

/** shards_resume() - let all partitions drain again */
void shards_resume(struct shards *shards);

/** shards_gather() - merge all shards into the sessions' profiles; the caller holds no reader lock */
void shards_gather(struct worker_state *state);

/** shards_drain() - drain @shared_source and merge; the caller's reader lock is released meanwhile */
void shards_drain(struct worker_state *state, struct shared_source *shared_source);

/**
 * shards_checkpoint_requested() - whether a ring needs a checkpoint to free space
 * @shards: the drain threads
 *
 * Clears the request. A drain thread repeats it with the next windows of that ring.
 */
bool shards_checkpoint_requested(struct shards *shards);

/** shards_common_lock() - lock what the partitions of a source share; NULL: does nothing */
void shards_common_lock(struct shards *shards);

/** shards_common_unlock() - the reverse */
void shards_common_unlock(struct shards *shards);

/** shards_get_watermark() - time up to which task events were applied, CLOCK_MONOTONIC */
u64 shards_get_watermark(const struct shards *shards);

/** shards_set_watermark() - set it; the caller holds the attributor's write lock */
void shards_set_watermark(struct shards *shards, u64 until_ns);

/** shards_heartbeat() - whether every drain thread ran since the last call */
bool shards_heartbeat(struct shards *shards);

/** shards_meter() - sum of the meters of all drain threads; the caller has called shards_pause() */
struct drain_meter shards_meter(const struct shards *shards);

/**
 * shards_describe() - describe the drain threads for the status line
 * @shards: NULL: ""
 * @ret: their number, and how long readers and writers of the attributor delayed one at most
 * @size: bytes of @ret
 */
void shards_describe(const struct shards *shards, char *ret, size_t size);

#endif
