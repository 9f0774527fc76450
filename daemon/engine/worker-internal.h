/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions that worker.c, worker-sessions.c and the drain threads share. */
#ifndef SPEPROF_WORKER_INTERNAL_H
#define SPEPROF_WORKER_INTERNAL_H

#include "worker.h"

/**
 * worker_session_is_first_of_source() - return whether @session is the first running session of its
 * source
 */
bool worker_session_is_first_of_source(struct worker_state *state, const struct session *session);

/**
 * worker_drain_partition() - pass all windows in the rings of a partition to the running sessions
 * @state: the worker's
 * @shared_source: the source
 * @part: the partition; 0 if the source is not partitioned
 * @reader: reader lock of the calling thread; not held
 * @meter: meter of the drain thread, after drain_meter_begin(); paused while task events are
 *	applied. NULL: the worker's thread drains, and its CPU time does not count as cost of
 *	sampling
 *
 * Context: the drain thread of @part, or the worker's thread, with the lock of that drain thread.
 */
void worker_drain_partition(struct worker_state *state, struct shared_source *shared_source,
			    u32 part, struct attribute_reader *reader, struct drain_meter *meter);

/**
 * worker_drain_source() - drain all partitions, also of a stopped source, and merge the shards
 *
 * Context: the worker's thread, which holds its reader lock; the lock is released meanwhile.
 */
void worker_drain_source(struct worker_state *state, struct shared_source *shared_source);

/**
 * worker_program_filters() - program the filters of the SPUs, so that they drop samples that the
 * only session of the source never counts
 * @state: the worker's
 * @shared_source: with several sessions, the SPUs filter nothing
 *
 * Return: 0; negative errno if the SPUs still filter samples that a session counts.
 */
int worker_program_filters(struct worker_state *state, struct shared_source *shared_source);

/** worker_wake() - wake the worker's thread; any thread may call it */
void worker_wake(struct worker_state *state);

/** worker_report_session_change() - call &engine_hooks.session_changed, if there are hooks */
static inline void worker_report_session_change(struct worker_state *state)
{
	if (state->hooks)
		state->hooks->session_changed(state);
}

#endif
