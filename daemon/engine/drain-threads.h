/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The drain threads. Each drains one partition of every source (partitioned.h). The worker's thread
 * (worker.h) coordinates them.
 *
 * A single drain thread counts directly in the profiles of the sessions, and is paused while the
 * profiles are read. If there are several drain threads, each counts in its own shard of the
 * profile of each session. The worker's thread merges the shards, which stops a drain thread only
 * while a pointer is exchanged.
 *
 * Lock order: the lock of a drain thread, held while the thread drains; the thread's reader lock of
 * the attributor, held while it counts a window; the common lock. The worker's thread must release
 * its reader lock before it locks a drain thread: that thread may be waiting for the write lock of
 * the attributor.
 */
#ifndef SPEPROF_DRAIN_THREADS_H
#define SPEPROF_DRAIN_THREADS_H

#include "attribution/reader-lock.h"
#include "worker.h"

struct drain_threads;

/** drain_threads_new() - start state->plan.workers drain threads; returns 0 or negative errno */
int drain_threads_new(struct worker_state *state, struct drain_threads **ret_threads);

/** drain_threads_free() - end the threads and free; NULL is allowed; returns NULL */
struct drain_threads *drain_threads_free(struct drain_threads *threads);

/**
 * drain_threads_get_worker_reader() - return the attributor's reader lock of the worker's thread
 */
struct attribute_reader *drain_threads_get_worker_reader(const struct drain_threads *threads);

/**
 * drain_threads_is_single() - return whether a single drain thread counts directly in the profiles
 * of the sessions
 */
bool drain_threads_is_single(const struct drain_threads *threads);

/**
 * drain_threads_lock_partition() - keep one partition from draining until
 * drain_threads_unlock_partition()
 * @threads: the drain threads
 * @part: the partition
 *
 * Context: a call on the worker's thread, which holds its reader lock. That reader lock is released
 * until drain_threads_unlock_partition(), because the drain thread may be waiting for the write
 * lock.
 */
void drain_threads_lock_partition(struct drain_threads *threads, u32 part);
void drain_threads_unlock_partition(struct drain_threads *threads, u32 part);

/**
 * drain_threads_pause() - keep all partitions from draining until drain_threads_resume()
 *
 * Context: the worker's thread, without its reader lock.
 */
void drain_threads_pause(struct drain_threads *threads);

/** drain_threads_resume() - let all partitions drain again */
void drain_threads_resume(struct drain_threads *threads);

/** drain_threads_wake() - make all drain threads poll the sources that are enabled now */
void drain_threads_wake(struct drain_threads *threads);

/**
 * drain_threads_merge_shards() - merge all shards into the profiles of the sessions; the caller
 * holds no reader lock
 */
void drain_threads_merge_shards(struct worker_state *state);

/**
 * drain_threads_drain_source() - drain all partitions of @shared_source; the caller holds no reader
 * lock
 */
void drain_threads_drain_source(struct worker_state *state, struct shared_source *shared_source);

/* Sources with rings that need a checkpoint to free space: a set of these bits. */
#define CHECKPOINT_FOR_MACHINE	1U /* the source of SESSION_MACHINE */
#define CHECKPOINT_FOR_SESSIONS 2U /* another source */

/**
 * drain_threads_request_checkpoint() - request a checkpoint for @rings (CHECKPOINT_FOR_*), and wake
 * the worker's thread
 */
void drain_threads_request_checkpoint(struct drain_threads *threads, u32 rings);

/**
 * drain_threads_take_requests() - return and clear the requests for a checkpoint
 * @threads: the drain threads
 *
 * A ring that needs a checkpoint to free space requests it. The next drain of such a ring repeats
 * the request.
 *
 * Return: CHECKPOINT_FOR_* or 0.
 */
u32 drain_threads_take_requests(struct drain_threads *threads);

/** drain_threads_lock_common() - lock the data that the partitions of a source share */
void drain_threads_lock_common(struct drain_threads *threads);

/** drain_threads_unlock_common() - release the lock of drain_threads_lock_common() */
void drain_threads_unlock_common(struct drain_threads *threads);

/**
 * drain_threads_get_watermark() - return the time up to which task events were applied,
 * CLOCK_MONOTONIC
 */
u64 drain_threads_get_watermark(const struct drain_threads *threads);

/**
 * drain_threads_set_watermark() - set the time up to which task events were applied; the caller
 * holds the attributor's write lock
 */
void drain_threads_set_watermark(struct drain_threads *threads, u64 until_ns);

/**
 * drain_threads_check_heartbeat() - return whether every drain thread sleeps, or ran since this
 * function last returned true
 */
bool drain_threads_check_heartbeat(struct drain_threads *threads);

/**
 * drain_threads_sum_meters() - return the sum of the meters of all drain threads; the caller has
 * called drain_threads_pause()
 */
struct drain_meter drain_threads_sum_meters(const struct drain_threads *threads);

/**
 * drain_threads_describe() - describe the drain threads for the status line if there are several
 * @threads: the drain threads
 * @ret: receives the number of drain threads, and the longest times for which a merge and task
 *	events stopped a drain thread; "" if there is only one drain thread
 * @size: size of @ret in bytes
 */
void drain_threads_describe(const struct drain_threads *threads, char *ret, size_t size);

#endif
