/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The worker: the one thread that owns a source and the tables it feeds. What
 * others want of them is called there, between two drains, so that nothing on a
 * sample's way takes a lock.
 */
#ifndef SPEPROF_WORKER_H
#define SPEPROF_WORKER_H

#include "profile.h"
#include "source.h"
#include "task-events.h"

/**
 * struct worker_state - what the worker owns
 * @source, @tasks, @attributor, @symbols, @profile: freed with the worker; @tasks is
 *	NULL where the kernel refuses them
 * @told: which task events there are, and why no better ones
 * @running: sampling is enabled
 * @started_ns: when it was, CLOCK_MONOTONIC
 * @ran_ns: how long it ran before that, since the last reset
 * @cost_ns: CPU time of this process at the last reset
 * @error: negative errno of the last drain that failed, 0 for none
 */
struct worker_state {
	struct source *source;
	struct task_events *tasks;
	struct task_events_status told;
	struct attributor *attributor;
	struct symbols *symbols;
	struct profile *profile;
	bool running;
	u64 started_ns;
	u64 ran_ns;
	u64 cost_ns;
	int error;
};

typedef int (*worker_fn)(struct worker_state *state, void *arg);

struct worker;

/**
 * worker_new() - start the thread; takes over @source and @tasks
 * @tasks: what tells of tasks, NULL for /proc alone
 * @told: what task_events_new() said of it; copied
 * @filter: what counts, or NULL; the caller's until worker_free()
 */
int worker_new(struct source *source, struct task_events *tasks,
	       const struct task_events_status *told, const struct filter *filter,
	       struct worker **ret_worker);

/** worker_free() - stop sampling, end the thread, free what it owns */
struct worker *worker_free(struct worker *worker);

/**
 * worker_call() - run @fn on the worker's thread and wait for it
 *
 * Return: what @fn returns.
 */
int worker_call(struct worker *worker, worker_fn fn, void *arg);

/* Calls for worker_call(); @arg as each says. */
int worker_start(struct worker_state *state, void *arg);	/* NULL; -EALREADY */
int worker_stop(struct worker_state *state, void *arg);		/* NULL; -EALREADY */
int worker_reset(struct worker_state *state, void *arg);	/* NULL */

/** struct worker_view - argument of worker_view() */
struct worker_view {
	enum view_group group;
	enum view_sort sort;
	u32 limit;
	struct view view;
};
int worker_view(struct worker_state *state, void *arg);		/* struct worker_view */

#endif
