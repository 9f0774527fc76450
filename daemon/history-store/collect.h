/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Collects what the session "machine" counted in a minute. Call both by worker_read(). */
#ifndef SPEPROF_HISTORY_COLLECT_H
#define SPEPROF_HISTORY_COLLECT_H

#include "engine/worker.h"
#include "minute.h"

/**
 * history_collect() - take the counters since the last call, with names
 * @state: the worker's
 * @arg: a struct minute; all but its times and the inodes of containers is set. Call
 *	minute_deinit()
 *
 * Return: 0; -EOPNOTSUPP: the session counts no minutes; -ENOMEM: the counters are lost.
 */
int history_collect(struct worker_state *state, void *arg);

/**
 * history_request_names() - request the names that history_collect() needs
 * @state: the worker's
 * @arg: unused
 *
 * A helper process resolves names, and nothing waits for it. Call this some seconds earlier.
 */
int history_request_names(struct worker_state *state, void *arg);

/** history_start_minutes() - start to count minutes; returns 0, -EOPNOTSUPP or -ENOMEM */
int history_start_minutes(struct worker_state *state, void *arg);

#endif
