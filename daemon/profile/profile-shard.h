/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A profile in shards: each of several threads counts in a profile of its own, whose
 * &profile_config.whole is the one that is looked at. To bring that up to date a shard's place is
 * taken by another that is empty, which is a pointer, and the shard is merged by
 * whoever owns the whole, while its thread goes on:
 *
 *	full = worker->shard;			(between two windows)
 *	worker->shard = spare;
 *	profile_merge(whole, full);
 *	spare = full;
 *
 * What is counted of all machine, containers, processes, places, contexts and ledgers is the same
 * as if the whole had been fed, as long as no table is full; so are windows of time, where
 * shards are merged before profile_advance_history(). Cache lines, pages and observers are in common.
 */
#ifndef SPEPROF_PROFILE_SHARD_H
#define SPEPROF_PROFILE_SHARD_H

#include "profile.h"

/** profile_set_reader() - whose @shard is from now on */
void profile_set_reader(struct profile *shard, struct attribute_reader *reader);

/** profile_counted() - whether there is anything to merge */
bool profile_counted(const struct profile *shard);

/**
 * profile_merge() - what @shard has counted is @whole's, and @shard as if it were new
 * @reader: of the caller, who sits in it; left for a moment now and then. NULL: nobody else asks
 */
void profile_merge(struct profile *whole, struct profile *shard, struct attribute_reader *reader);

/** profile_history_is_due() - whether profile_advance_history() would end one: shards are merged before */
bool profile_history_is_due(const struct profile *whole, u64 now_ns);

/** profile_advance_history() - it is @now_ns, of the windows' clock: sub-windows that have ended, end */
void profile_advance_history(struct profile *whole, u64 now_ns);

#endif
