/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The worker: the thread that owns the sessions, their sources and the tables of tasks and symbols.
 * The worker coordinates one or more drain threads (drain-threads.h), which drain the sources, and
 * merges their counters. The worker also applies task events, saves checkpoints, and runs functions
 * for other threads.
 */
#ifndef SPEPROF_WORKER_H
#define SPEPROF_WORKER_H

#include "budget.h"
#include "drain-meter.h"
#include "engine-hooks.h"
#include "session.h"
#include "tasks/task-events.h"

/*
 * Maximum number of sessions. Each session needs the memory of a profile, and time for each sample.
 */
#define WORKER_SESSIONS 8

struct rate_control;
struct drain_threads;

/**
 * struct worker_state - the state of the worker; used on its thread, and by drain threads while
 * they hold their lock
 * @tasks: task events; NULL: the kernel refuses them, so /proc is scanned
 * @task_status: the task events that are in use, and the reason why no better ones are
 * @plan: sizes of all tables
 * @process_id: a random number that identifies this run of the daemon
 * @line_size: result of hot_lines_read_size() at the start of the daemon, for all sessions
 * @attributor: tables of tasks, shared by all sessions
 * @symbols: names of functions, shared by all sessions
 * @sessions: entries, free if the name is ""; use worker_get_next_session() and
 *	worker_find_session(). A session never moves
 * @profile_bytes: memory of the pprof profiles that are being collected; counted in MEMORY_SESSIONS
 * @hooks: called when sessions change; NULL: state is not saved. Set once, by checkpoint_attach()
 * @saved_state: data of the code that installed @hooks; the engine does not use it
 * @rate_control: controls the sampling interval of the session "machine"; NULL: none; borrowed
 * @drain_threads: the drain threads
 */
struct worker_state {
	struct task_events *tasks;
	struct task_events_status task_status;
	struct memory_plan plan;
	u64 process_id;
	u32 line_size;
	struct attributor *attributor;
	struct symbols_cache *symbols;
	struct session sessions[WORKER_SESSIONS];
	u64 profile_bytes;
	const struct engine_hooks *hooks;
	void *saved_state;
	struct rate_control *rate_control;
	struct drain_threads *drain_threads;
};

/** typedef worker_fn - a function that runs on the worker's thread; returns 0 or negative errno */
typedef int (*worker_fn)(struct worker_state *state, void *arg);

struct worker;

/**
 * worker_new() - start the worker's thread, without a session
 * @plan: sizes of tables, copied; NULL: defaults
 * @tasks: task events; owned by the worker on success; NULL: scan /proc only
 * @task_status: result of task_events_new(); copied
 * @ret_worker: freed by worker_free()
 *
 * Return: 0 or negative errno.
 */
int worker_new(const struct memory_plan *plan, struct task_events *tasks,
	       const struct task_events_status *task_status, struct worker **ret_worker);

/** worker_free() - stop all sessions, end the thread and free; NULL is allowed; returns NULL */
struct worker *worker_free(struct worker *worker);

/**
 * worker_call() - run @fn on the worker's thread and wait for it
 * @worker: running
 * @fn: may change everything; all drain threads are paused meanwhile
 * @arg: for @fn
 *
 * Context: any thread but the worker's and drain threads. Calls of several threads run one by one.
 * Return: the result of @fn.
 */
int worker_call(struct worker *worker, worker_fn fn, void *arg);

/**
 * worker_call_readonly() - like worker_call(), for an @fn that only reads
 *
 * If there are several drain threads, each counts in its own tables, and none is paused.
 */
int worker_call_readonly(struct worker *worker, worker_fn fn, void *arg);

/**
 * worker_get_heartbeat() - return a number that changes while the worker and all drain threads run
 * @worker: running
 *
 * The number changes at least once a second. If a thread hangs, the number stops changing.
 *
 * Context: always the same thread.
 */
u64 worker_get_heartbeat(struct worker *worker);

/**
 * worker_get_free_bytes() - return the bytes of MEMORY_SESSIONS that sessions and pprof profiles do
 * not use yet
 */
u64 worker_get_free_bytes(struct worker_state *state);

/** worker_find_session() - find a session by @name (NULL: SESSION_MACHINE), or return NULL */
struct session *worker_find_session(struct worker_state *state, const char *name);

/**
 * worker_get_next_session() - return the session after @session, or the first one if @session is
 * NULL; NULL after the last
 */
struct session *worker_get_next_session(struct worker_state *state, struct session *session);

/**
 * worker_drain_session() - read and count the windows in the rings of @session; on the worker's
 * thread
 */
void worker_drain_session(struct worker_state *state, struct session *session);

/*
 * The functions below are arguments of worker_call(). If @arg is the name of a session, NULL is
 * SESSION_MACHINE, and -ENOENT means that there is no such session.
 */

/**
 * worker_add_session() - add a session, which is stopped
 * @state: the worker's
 * @arg: struct session_config
 *
 * Return: 0; -EEXIST: the name is taken; -ENOSPC: there are WORKER_SESSIONS sessions already;
 * -EDQUOT: MemoryBudget= is too small; other errors of session_init() and of programming the SPUs.
 */
int worker_add_session(struct worker_state *state, void *arg);

/**
 * worker_remove_session() - stop and remove the session named @arg, and close its source if no
 * other session uses it. Return: 0; -ENOENT: there is no such session
 */
int worker_remove_session(struct worker_state *state, void *arg);

/**
 * worker_start_session() - start the session named @arg. Return: 0; -EALREADY: it runs; -ENOENT:
 * there is no such session; or the error of its source
 */
int worker_start_session(struct worker_state *state, void *arg);

/**
 * worker_stop_session() - stop the session named @arg after a last drain. Return: 0; -EALREADY: it
 * is stopped; -ENOENT: there is no such session
 */
int worker_stop_session(struct worker_state *state, void *arg);

/**
 * worker_reset_session() - set all counters of the session named @arg to zero. Return: 0; -ENOENT:
 * there is no such session
 */
int worker_reset_session(struct worker_state *state, void *arg);

/**
 * struct worker_change_request - argument of worker_change_session()
 * @session: its name
 * @rule: the new rule, owned by the session on success; NULL: unchanged
 * @interval_ns: mean time between samples of a busy CPU; 0: unchanged
 * @sampling: the new interval (0: unchanged), jitter and exception levels; NULL: unchanged
 * @reason: on failure, a static sentence with the reason, or NULL
 */
struct worker_change_request {
	const char *session;
	struct session_rule *rule;
	u64 interval_ns;
	const struct source_config *sampling;
	const char *reason;
};

/**
 * worker_change_session() - change rule and sampling of a session; on failure nothing has changed
 * @state: the worker's
 * @arg: struct worker_change_request
 *
 * Samples that were taken before the change are counted by the old rule.
 *
 * Return: 0; -ENOENT: there is no such session; -EOPNOTSUPP: another session owns the source, or
 * the source cannot change its interval; other errors of the source.
 */
int worker_change_session(struct worker_state *state, void *arg);

/**
 * struct worker_view_request - argument of worker_make_view()
 * @session: its name; NULL is SESSION_MACHINE
 * @span: period that is shown
 * @group: what a row is
 * @sort: order of rows, the largest first
 * @limit: maximum number of rows
 * @view: the result; the caller calls view_clear()
 */
struct worker_view_request {
	const char *session;
	enum view_span span;
	enum view_group group;
	enum view_sort sort;
	u32 limit;
	struct view view;
};

/**
 * worker_make_view() - make a view; @arg is struct worker_view_request; returns 0, -ENOENT or
 * -ENOMEM
 */
int worker_make_view(struct worker_state *state, void *arg);

/**
 * struct worker_hot_request - argument of worker_write_hot_json()
 * @session: name of the session; NULL is SESSION_MACHINE
 * @limit: maximum number of cache lines, and of pages
 * @text: allocated result; the caller frees it
 */
struct worker_hot_request {
	const char *session;
	u32 limit;
	char *text;
};

/**
 * worker_write_hot_json() - write the hot cache lines and pages as JSON (profile_hot_memory_json())
 * @state: the worker's
 * @arg: struct worker_hot_request
 *
 * Return: 0; -ENOENT if there is no such session; -ENOMEM if memory cannot be allocated.
 */
int worker_write_hot_json(struct worker_state *state, void *arg);

#endif
