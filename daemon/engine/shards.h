/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Several workers: a thread each for the CPUs of one part of every source (partitioned.h). It
 * waits for its part's rings, and counts in its own shard of each session's profile. The
 * worker's thread (worker.h) then drains nothing itself: it serves calls, looks after tasks
 * and merges shards, which stops each of them for as long as a pointer takes to change.
 *
 * Locks, each before the next: a shard's own, while it drains; its seat at the attributor, while it
 * counts a window; what all have in common. The worker's thread is in no seat when it
 * takes a shard's lock.
 */
#ifndef SPEPROF_SHARDS_H
#define SPEPROF_SHARDS_H

#include "attribution/reader-lock.h"
#include "worker.h"

struct shards;

/** shards_new() - start @state->plan.workers threads, which are at least 2 */
int shards_new(struct worker_state *state, struct shards **ret_shards);
struct shards *shards_free(struct shards *shards);

/** shards_reader() - of part @index; of the worker's thread with their number; NULL where @shards is */
struct attribute_reader *shards_reader(struct shards *shards, u32 index);

/**
 * shards_lock_part() - part @part of sources does not drain until shards_unlock_part(); NULL: none
 *
 * From a call, in its seat, which is free in between: who drains may wait for it to write.
 */
void shards_lock_part(struct shards *shards, u32 part);
void shards_unlock_part(struct shards *shards, u32 part);

/** shards_pause(), shards_resume() - no shard drains in between */
void shards_pause(struct shards *shards);
void shards_resume(struct shards *shards);

/** shards_gather() - all that was counted until now is in the sessions' profiles; out of the seat */
void shards_gather(struct worker_state *state);

/** shards_drain() - what is there of @shared_source is counted and gathered; in the seat, which is left meanwhile */
void shards_drain(struct worker_state *state, struct shared_source *shared_source);

/**
 * shards_checkpoint_requested() - whether one of them has found a ring held back so far that it is due
 *
 * Since this was asked the last time: who is refused says so again with its next windows.
 */
bool shards_checkpoint_requested(struct shards *shards);

/** shards_common_lock(), shards_common_unlock() - what parts of one feed have in common; NULL: nobody */
void shards_common_lock(struct shards *shards);
void shards_common_unlock(struct shards *shards);

/** shards_get_watermark() - up to when task events were applied; shards_set_watermark(): in a write of the attributor */
u64 shards_get_watermark(const struct shards *shards);
void shards_set_watermark(struct shards *shards, u64 until_ns);

/** shards_heartbeat() - whether all have come around since this was asked the last time */
bool shards_heartbeat(struct shards *shards);

/** shards_meter() - sum of the meters of all drain threads, which shards_pause() stops meanwhile */
struct drain_meter shards_meter(const struct shards *shards);

/**
 * shards_describe() - how many there are, and for how long one was kept from its rings at the most:
 * by who looks, and by who changed what is known of tasks. "" for NULL
 */
void shards_describe(const struct shards *shards, char *ret, size_t size);

#endif
