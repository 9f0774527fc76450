/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The worker: the one thread that owns sessions, their sources and the tables they feed.
 * What others want of them is called there, between two drains, so that nothing on a
 * sample's way takes a lock.
 */
#ifndef SPEPROF_WORKER_H
#define SPEPROF_WORKER_H

#include "budget.h"
#include "drain-meter.h"
#include "engine-hooks.h"
#include "session.h"
#include "tasks/task-events.h"

/* Sessions at once: each costs a profile's memory, and its share of each sample. */
#define WORKER_SESSIONS 8

struct rate_control;
struct shards;

/**
 * struct worker_state - what the worker owns
 * @tasks: NULL where the kernel refuses them
 * @task_status: which task events there are, and why no better ones
 * @process: a random number of this process
 * @attributor, @symbols: what all sessions share
 * @sessions: places; worker_next() walks those that are taken, worker_session() finds one.
 *	Where a session is does not change while it lives
 * @profiles: bytes of profiles for pprof that are being taken, out of MEMORY_SESSIONS as sessions are
 * @hooks: called when sessions change; NULL: state is not saved. Set once, by checkpoint_attach()
 * @saved_state: what @hooks work on, of the code that installed them; the engine does not use it
 * @shards: those who drain, where there are several workers (shards.h); else NULL
 * @meter: what the worker's thread drains outside of calls; where there are several workers, they
 *	have meters of their own (shards_meter())
 * @rate_control: how often the machine's session samples (rate-control.h), or NULL; borrowed
 */
struct worker_state {
	struct task_events *tasks;
	struct task_events_status task_status;
	struct memory_plan plan;
	u64 process;
	struct attributor *attributor;
	struct symbols *symbols;
	struct session sessions[WORKER_SESSIONS];
	u64 profiles;
	const struct engine_hooks *hooks;
	void *saved_state;
	struct rate_control *rate_control;
	struct shards *shards;
	struct drain_meter meter;
};

typedef int (*worker_fn)(struct worker_state *state, void *arg);

struct worker;

/**
 * worker_new() - start the thread, without a session; takes over @tasks where it succeeds
 * @plan: how large tables may be, copied; NULL for their defaults
 * @tasks: what tells of tasks, NULL for /proc alone
 * @task_status: what task_events_new() said of it; copied
 */
int worker_new(const struct memory_plan *plan, struct task_events *tasks,
	       const struct task_events_status *task_status, struct worker **ret_worker);

/** worker_free() - stop all sessions, end the thread, free what it owns */
struct worker *worker_free(struct worker *worker);

/**
 * worker_call() - run @fn on the worker's thread and wait for it
 *
 * Return: what @fn returns.
 */
int worker_call(struct worker *worker, worker_fn fn, void *arg);

/** worker_read() - worker_call() of what changes nothing: where there are several workers, they go on */
int worker_read(struct worker *worker, worker_fn fn, void *arg);

/**
 * worker_heartbeat() - another number each time the worker, all of them, have come around since it was
 * asked; once a second at least, but for who asks more often. Of one thread
 */
u64 worker_heartbeat(struct worker *worker);

/** worker_share() - how much memory is still there for sessions of the bus and profiles for pprof */
u64 worker_share(struct worker_state *state);

/** worker_session() - by name, NULL for SESSION_MACHINE; NULL if there is none such */
struct session *worker_session(struct worker_state *state, const char *name);

/** worker_next() - the session after @session, from NULL on; NULL after the last */
struct session *worker_next(struct worker_state *state, struct session *session);

/** worker_drain() - count what is there of @session; of the worker's thread, as calls are */
void worker_drain(struct worker_state *state, struct session *session);

/*
 * Calls for worker_call(); @arg as each says. Where it is a session's name, NULL is
 * SESSION_MACHINE, and -ENOENT says that there is none such.
 */

/* struct session_config; -EEXIST: the name is taken; -ENOSPC: all places are; -EDQUOT: the budget
 * has no room for it; as session_init(). */
int worker_add(struct worker_state *state, void *arg);
int worker_remove(struct worker_state *state, void *arg); /* name */
int worker_start(struct worker_state *state, void *arg); /* name; -EALREADY */
int worker_stop(struct worker_state *state, void *arg); /* name; -EALREADY */
int worker_reset(struct worker_state *state, void *arg); /* name */

/**
 * struct worker_change - argument of worker_change()
 * @session: its name
 * @rule: what counts from now on, taken over where it succeeds; NULL: as before
 * @interval_ns: mean time between samples of a busy CPU; 0: as before
 * @sampling: its interval (0: as before), jitter and levels, instead; NULL: as before
 * @reason: why -EOPNOTSUPP and others, a static sentence
 */
struct worker_change {
	const char *session;
	struct session_rule *rule;
	u64 interval_ns;
	const struct source_config *sampling;
	const char *reason;
};

/* -EOPNOTSUPP: the interval is another session's, or the source cannot change it. */
int worker_change(struct worker_state *state, void *arg);

/** struct worker_view - argument of worker_view(); @session as above */
struct worker_view {
	const char *session;
	enum view_span span;
	enum view_group group;
	enum view_sort sort;
	u32 limit;
	struct view view;
};
int worker_view(struct worker_state *state, void *arg); /* struct worker_view */

/** struct worker_hot - argument of worker_hot(): profile_hot_json(); @text is allocated */
struct worker_hot {
	const char *session;
	u32 limit;
	char *text;
};
int worker_hot(struct worker_state *state, void *arg);

#endif
