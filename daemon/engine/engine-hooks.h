/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions that the engine calls when sessions change, so that the engine does not depend on the
 * code that saves state for a restart. That code installs these hooks (checkpoint_attach()).
 */
#ifndef SPEPROF_ENGINE_HOOKS_H
#define SPEPROF_ENGINE_HOOKS_H

#include "codec/env.h"

struct shared_source;
struct session;
struct worker_state;

/**
 * struct engine_hooks - functions that the engine calls, on the worker's thread
 * @session_added: @session is complete, and may have been started
 * @session_removed: the session @name is removed; @owned_source: no other session used its source
 * @session_changed: a session was started, stopped, reset, or has another filter
 * @source_replaced: the source of @shared_source was replaced by another one; the sessions are the
 *	same
 * @checkpoint_due: return whether the engine must call @checkpoint_save now; @now_ns is
 *	CLOCK_MONOTONIC
 * @checkpoint_save: save the tables. If there are several drain threads, the engine has paused them
 *	and merged their tables
 */
struct engine_hooks {
	void (*session_added)(struct worker_state *state, const struct session *session);
	void (*session_removed)(struct worker_state *state, const char *name, bool owned_source);
	void (*session_changed)(struct worker_state *state);
	void (*source_replaced)(struct worker_state *state,
				const struct shared_source *shared_source);
	bool (*checkpoint_due)(struct worker_state *state, u64 now_ns);
	void (*checkpoint_save)(struct worker_state *state);
};

#endif
