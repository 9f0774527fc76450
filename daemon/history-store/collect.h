/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Collects what the session "machine" counted in a minute. Call the functions through
 * worker_call_readonly().
 */
#ifndef SPEPROF_HISTORY_COLLECT_H
#define SPEPROF_HISTORY_COLLECT_H

#include "engine/worker.h"
#include "minute.h"

/**
 * history_collect_minute() - copy the counters since the last call to @arg, with names, and clear
 * the counters in the profile
 * @state: state of the worker
 * @arg: a struct minute_counters. All members are set except the times and the inodes of
 *	containers. Call minute_deinit()
 *
 * Return: 0; -EOPNOTSUPP: the session counts no minutes; -ENOMEM: memory could not be allocated,
 * and the counters are lost.
 */
int history_collect_minute(struct worker_state *state, void *arg);

/**
 * history_collect_last_minute() - like history_collect_minute(), with the samples of the last two
 * seconds, which otherwise count in the next minute
 */
int history_collect_last_minute(struct worker_state *state, void *arg);

/**
 * history_request_names() - request the names that history_collect_minute() needs
 * @state: state of the worker
 * @arg: unused
 *
 * A helper process resolves names, and history_collect_minute() does not wait for it. So call this
 * function some seconds earlier.
 */
int history_request_names(struct worker_state *state, void *arg);

/**
 * history_start_minutes() - start to count minutes
 *
 * Return: 0; -EOPNOTSUPP if the session has no history in memory; -ENOMEM if memory cannot be
 * allocated.
 */
int history_start_minutes(struct worker_state *state, void *arg);

#endif
