/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The drain threads. Each drains one partition of every source (partitioned.h). The worker's thread
 * (worker.h) coordinates them.
 *
 * A single drain thread counts directly in the profiles of the sessions, and is paused while they
 * are read. If there are several drain threads, each counts in its own shard of the profile of each
 * session. The worker's thread merges the shards, which stops a drain thread only while a pointer
 * is exchanged.
 *
 * Lock order: the lock of a drain thread, which it holds while it drains; its reader lock of the
 * attributor, which it holds while it counts a window; the common lock. The worker's thread must
 * release its reader lock before it locks a drain thread: that thread may be waiting for the write
 * lock of the attributor.
 */
#ifndef SPEPROF_SHARDS_H
#define SPEPROF_SHARDS_H

#include "attribution/reader-lock.h"
#include "worker.h"

struct shards;

/** shards_new() - start state->plan.workers drain threads; returns 0 or negative errno */
int shards_new(struct worker_state *state, struct shards **ret_shards);

/** shards_free() - end the threads and free; NULL is allowed; returns NULL */
struct shards *shards_free(struct shards *shards);

/** shards_own_reader() - return the attributor's reader lock of the worker's thread */
struct attribute_reader *shards_own_reader(const struct shards *shards);

/**
 * shards_count_in_place() - return whether a single drain thread counts directly in the profiles of
 * the sessions
 */
bool shards_count_in_place(const struct shards *shards);

/**
 * shards_lock_part() - keep one partition from draining until shards_unlock_part()
 * @shards: the drain threads
 * @part: the partition
 *
 * Context: a call on the worker's thread, which holds its reader lock. That reader lock is released
 * until shards_unlock_part(), because the drain thread may be waiting for the write lock.
 */
void shards_lock_part(struct shards *shards, u32 part);
void shards_unlock_part(struct shards *shards, u32 part);

/**
 * shards_pause() - keep all partitions from draining until shards_resume()
 *
 * Context: the worker's thread, without its reader lock.
 */
void shards_pause(struct shards *shards);

/** shards_resume() - let all partitions drain again */
void shards_resume(struct shards *shards);

/** shards_wake() - make all drain threads poll the sources that are enabled now */
void shards_wake(struct shards *shards);

/**
 * shards_gather() - merge all shards into the profiles of the sessions; the caller holds no reader
 * lock
 */
void shards_gather(struct worker_state *state);

/** shards_drain() - drain all partitions of @shared_source; the caller holds no reader lock */
void shards_drain(struct worker_state *state, struct shared_source *shared_source);

/* Sources whose rings need a checkpoint to free space: a set of these bits. */
#define CHECKPOINT_FOR_MACHINE	1U /* the source of SESSION_MACHINE */
#define CHECKPOINT_FOR_SESSIONS 2U /* another source */

/** shards_request_checkpoint() - wake the worker's thread for @rings, CHECKPOINT_FOR_* */
void shards_request_checkpoint(struct shards *shards, u32 rings);

/**
 * shards_checkpoint_requests() - return and clear the requests for a checkpoint
 * @shards: the drain threads
 *
 * A ring that needs a checkpoint to free space requests it. The next drain of such a ring repeats
 * the request.
 *
 * Return: CHECKPOINT_FOR_* or 0.
 */
u32 shards_checkpoint_requests(struct shards *shards);

/** shards_common_lock() - lock the data that the partitions of a source share */
void shards_common_lock(struct shards *shards);

/** shards_common_unlock() - release the lock of shards_common_lock() */
void shards_common_unlock(struct shards *shards);

/**
 * shards_get_watermark() - return the time up to which task events were applied, CLOCK_MONOTONIC
 */
u64 shards_get_watermark(const struct shards *shards);

/**
 * shards_set_watermark() - set the time up to which task events were applied; the caller holds the
 * attributor's write lock
 */
void shards_set_watermark(struct shards *shards, u64 until_ns);

/** shards_heartbeat() - return whether every drain thread sleeps or ran since the last call */
bool shards_heartbeat(struct shards *shards);

/**
 * shards_meter() - return the sum of the meters of all drain threads; the caller has called
 * shards_pause()
 */
struct drain_meter shards_meter(const struct shards *shards);

/**
 * shards_describe() - describe the drain threads for the status line if there are several
 * @shards: the drain threads
 * @ret: receives their number, and the longest time for which a merge or a task event stopped one
 *	of them; "" if there is only one
 * @size: bytes of @ret
 */
void shards_describe(const struct shards *shards, char *ret, size_t size);

#endif
