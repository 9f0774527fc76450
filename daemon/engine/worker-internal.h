/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the worker, its sessions and those threads that drain sources have of each other. */
#ifndef SPEPROF_WORKER_INTERNAL_H
#define SPEPROF_WORKER_INTERNAL_H

#include "worker.h"

/** session_drives_source() - whether @session is the first that runs of those that share its feed */
bool session_drives_source(struct worker_state *state, const struct session *session);

/**
 * worker_drain_part() - what part @part of @shared_source's source holds goes to the sessions that run
 * @meter: the drain thread's, in a section; it is paused while task events are handled. NULL in a
 *	call, whose cost is not that of sampling
 */
void worker_drain_part(struct worker_state *state, struct shared_source *shared_source, u32 part,
		       struct drain_meter *meter);

/** worker_drain_source() - all of what is there, also of who is stopped; of the worker's thread */
void worker_drain_source(struct worker_state *state, struct shared_source *shared_source);

/**
 * worker_program() - have the SPUs of @shared_source leave out what its one session never wants, if they can
 *
 * Return: 0; negative errno where they go on leaving out what somebody may want by now.
 */
int worker_program(struct worker_state *state, struct shared_source *shared_source);

/** worker_wake() - the worker's thread comes around now; from any thread */
void worker_wake(struct worker_state *state);

/** worker_session_changed() - call the hook of that name, where there are hooks */
static inline void worker_session_changed(struct worker_state *state)
{
	if (state->hooks)
		state->hooks->session_changed(state);
}

#endif
