/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shards of a profile. If several threads count, each has its own profile, a shard. The
 * &profile_config.whole of a shard is the profile that readers see. To update the whole, the thread
 * that owns it replaces the shard of a counting thread with an empty shard, by exchanging one
 * pointer. It then merges the full shard while the counting thread continues:
 *
 *	full = worker->shard;			(between two windows)
 *	worker->shard = spare;
 *	profile_merge_shard(whole, full);
 *	spare = full;
 *
 * While no table is full, all counters and ledgers are the same as if the whole had received all
 * windows. The counters of periods are the same only if the shards are merged before
 * profile_advance_history(). All shards share cache lines, pages and observers.
 */
#ifndef SPEPROF_PROFILE_SHARD_H
#define SPEPROF_PROFILE_SHARD_H

#include "profile.h"

/** profile_set_reader() - set the reader lock slot that @shard uses from now on */
void profile_set_reader(struct profile *shard, struct attribute_reader *reader);

/** profile_has_counts() - return whether @shard has counters to merge */
bool profile_has_counts(const struct profile *shard);

/**
 * profile_merge_shard() - move all counters of @shard to @whole, and clear @shard
 * @whole: the profile that readers see; the caller runs on its thread
 * @shard: a shard in which no thread counts
 * @reader: the caller's reader lock slot. The caller holds the lock, and the function releases it
 *	for short times; NULL if no other thread uses the attributor
 */
void profile_merge_shard(struct profile *whole, struct profile *shard,
			 struct attribute_reader *reader);

/**
 * profile_ids_are_full() - return whether profile_sweep_ids() must be called
 * @now_ns: CLOCK_MONOTONIC
 *
 * Context: any thread.
 */
bool profile_ids_are_full(const struct profile *whole, u64 now_ns);

/**
 * profile_sweep_ids() - free the ids of programs and binaries that are not in use
 * @whole: a profile with a memory budget; the caller runs on its thread
 * @shards: the shards of @whole, @count of them; no thread counts in them
 * @now_ns: CLOCK_MONOTONIC
 *
 * Evicted samples of a program that has no other samples are counted for "(other)".
 *
 * Return: 0; -ENOMEM if memory cannot be allocated: nothing was freed.
 */
int profile_sweep_ids(struct profile *whole, struct profile *const *shards, u32 count, u64 now_ns);

/**
 * profile_merge_and_free_shard() - move all counters of @shard to @to, and free @shard
 * @to: a profile, or another shard of the same profile
 * @shard: a shard that no thread counts in
 *
 * No other thread may change the attributor during the call, unlike with profile_merge_shard().
 * Other threads may merge other shards at the same time.
 *
 * Return: NULL.
 */
struct profile *profile_merge_and_free_shard(struct profile *to, struct profile *shard);

/**
 * profile_history_is_due() - return whether profile_advance_history() would close a slot
 *
 * If it returns true, the caller merges all shards before it calls profile_advance_history().
 */
bool profile_history_is_due(const struct profile *whole, u64 now_ns);

/**
 * profile_advance_history() - close the slots of the history that ended before @now_ns
 *
 * @now_ns is a time on the windows' clock.
 */
void profile_advance_history(struct profile *whole, u64 now_ns);

#endif
