// SPDX-License-Identifier: LGPL-2.1-or-later
#include "worker.h"

#include "output/profile-json.h"
#include "profile/cache-lines.h"
#include "profile/profile-read.h"
#include "profile/profile-shard.h"
#include "rate-control.h"
#include "drain-threads.h"
#include "task-ids.h"
#include "tasks/task-event.h"
#include "util/time.h"
#include "worker-internal.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define REFRESH_NS 1000000000ULL

/*
 * The longest sleep of the worker's thread in ms. The thread updates its heartbeat at least once in
 * this time.
 */
#define SLEEP_MS 1000
#define MERGE_MS 250

struct worker {
	pthread_t thread;
	int wake;
	u64 heartbeat;
	u64 refreshed;
	u64 merged_ns;
	struct worker_state state;

	pthread_mutex_t lock;
	pthread_cond_t done;
	/* The function that a thread waits for; there is one at a time, protected by @lock. */
	worker_fn fn;
	void *arg;
	int result;
	u64 heartbeat_all; /* used only by the thread that calls worker_get_heartbeat() */
	u64 heartbeat_seen;
	bool reading; /* worker_call_readonly(): @fn changes nothing */
	bool pending;
	bool quit;
};

struct session *worker_get_next_session(struct worker_state *state, struct session *session)
{
	session = session ? session + 1 : state->sessions;
	for (; session < state->sessions + WORKER_SESSIONS; session++)
		if (*session->name)
			return session;
	return NULL;
}

struct session *worker_find_session(struct worker_state *state, const char *name)
{
	struct session *session = NULL;

	while ((session = worker_get_next_session(state, session)))
		if (!strcmp(session->name, name ? name : SESSION_MACHINE))
			return session;
	return NULL;
}

/*
 * Context of a drain: the partition that is drained, and the reader lock and meter of the thread
 * that drains it.
 */
struct drain_context {
	struct worker_state *state;
	struct shared_source *shared_source;
	struct attribute_reader *reader;
	struct drain_meter *meter;
	u32 part;
};

/* Return the reader lock of the worker's thread. */
static struct attribute_reader *get_own_reader(struct worker_state *state)
{
	return drain_threads_get_worker_reader(state->drain_threads);
}

/* Run @fn with the write lock. The caller is the worker's thread and holds its reader lock. */
static void call_with_write_lock(struct worker_state *state, void (*fn)(struct worker_state *state))
{
	attribute_lock_upgrade(get_own_reader(state));
	fn(state);
	attribute_lock_downgrade(get_own_reader(state));
}

/*
 * Run @fn with the write lock. The caller is the worker's thread and does not hold its reader lock.
 */
static void call_with_both_locks(struct worker_state *state, void (*fn)(struct worker_state *state))
{
	attribute_read_begin(get_own_reader(state));
	call_with_write_lock(state, fn);
	attribute_read_end(get_own_reader(state));
}

static void apply_task_event(void *ctx, const struct task_event *event)
{
	struct worker_state *state = ctx;

	attributor_apply_event(state->attributor, event);
}

static bool is_any_session_running(struct worker_state *state)
{
	struct session *session = NULL;

	while ((session = worker_get_next_session(state, session)))
		if (session->running)
			return true;
	return false;
}

/*
 * Deliver task events only while a session runs: the first delivery reports all tasks of the
 * machine, and must come after the checkpoint was restored. A source may be drained earlier, when
 * its SPUs are programmed.
 */
static void apply_task_events(struct worker_state *state, u64 until_ns)
{
	const struct task_sink sink = { .task = apply_task_event, .ctx = state };

	if (attributor_has_answers(state->attributor))
		attributor_apply_answers(state->attributor);
	if (state->tasks && is_any_session_running(state))
		task_events_deliver(state->tasks, until_ns, &sink);
}

static void apply_all_task_events(struct worker_state *state)
{
	apply_task_events(state, 0);
}

static void apply_proc_answers(struct worker_state *state)
{
	attributor_apply_answers(state->attributor);
}

/*
 * Apply the task events that precede a window's end. A single drain thread applies no later events,
 * because samples without a time are attributed to the tasks at that moment. With several drain
 * threads, all events up to now are applied at once: a write lock for each window would stop the
 * other threads too often.
 */
static void apply_preceding_task_events(const struct drain_context *drain, u64 until_ns)
{
	struct worker_state *state = drain->state;
	u64 now, applied_ns = drain_threads_get_watermark(state->drain_threads);

	if ((!state->tasks || applied_ns >= until_ns) && !attributor_has_answers(state->attributor))
		return;
	drain_meter_end(drain->meter);
	attribute_lock_upgrade(drain->reader);
	now = time_now_ns();
	if (!drain_threads_is_single(state->drain_threads) && now > until_ns)
		until_ns = now;
	if (applied_ns > until_ns)
		until_ns = applied_ns;
	apply_task_events(state, until_ns);
	drain_threads_set_watermark(state->drain_threads, until_ns);
	attribute_lock_downgrade(drain->reader);
	drain_meter_begin(drain->meter);
}

/* Return the number of samples that @profile has counted or filtered; 0 if @profile is NULL. */
static u64 count_samples(const struct profile *profile)
{
	const struct view_header *header = profile ? profile_get_header(profile) : NULL;

	return header ? header->records + header->filtered : 0;
}

/* Count @window for all running sessions of its source. */
static void count_window(const struct drain_context *drain, const struct source_window *window)
{
	struct worker_state *state = drain->state;
	struct session *session = NULL, *machine = worker_find_session(state, NULL);
	struct profile *profiles[WORKER_SESSIONS], *of_machine = NULL;
	u32 count = 0;
	u64 before;

	_Static_assert(WORKER_SESSIONS <= PROFILES_PER_WINDOW_MAX, "all sessions count a window");

	while ((session = worker_get_next_session(state, session))) {
		if (!session->running || session->shared_source != drain->shared_source)
			continue;
		profiles[count] = session->shard[drain->part];
		profile_set_reader(profiles[count], drain->reader);
		if (session == machine)
			of_machine = profiles[count];
		count++;
	}
	if (!count)
		return;
	before = count_samples(of_machine);
	profiles_add_window(profiles, count, window);
	if (of_machine)
		rate_control_count_window(state->rate_control, window->cpu,
					  count_samples(of_machine) - before, window->len);
}

/* Copy @window into the flight recorders of its source's sessions. */
static void copy_to_flight_recorders(const struct drain_context *drain,
				     const struct source_window *window)
{
	struct session *session = NULL;

	while ((session = worker_get_next_session(drain->state, session)))
		if (session->running && session->flight &&
		    session->shared_source == drain->shared_source)
			flight_recorder_add_window(session->flight, window);
}

static void receive_window(void *ctx, const struct source_window *window)
{
	const struct drain_context *drain = ctx;

	attribute_read_begin(drain->reader);
	apply_preceding_task_events(drain, window->end_ns);
	count_window(drain, window);
	attribute_read_end(drain->reader);
	drain_threads_lock_common(drain->state->drain_threads);
	shared_source_count_window(drain->shared_source, window);
	copy_to_flight_recorders(drain, window);
	drain_threads_unlock_common(drain->state->drain_threads);
	if (drain->meter)
		drain->meter->bytes += window->len;
}

/* Request a checkpoint if a ring of @source is so full that it needs one to free space. */
static void check_retained(struct worker_state *state, const struct shared_source *shared_source,
			   const struct source *source)
{
	const struct source_persist_ops *persist = source->ops->persist;
	bool machine = shared_source == worker_find_session(state, NULL)->shared_source;

	if (state->hooks && persist && persist->retained(source) >= SOURCE_RETAINED_MAX)
		drain_threads_request_checkpoint(state->drain_threads,
						 machine ? CHECKPOINT_FOR_MACHINE :
							   CHECKPOINT_FOR_SESSIONS);
}

void worker_drain_partition(struct worker_state *state, struct shared_source *shared_source,
			    u32 part, struct attribute_reader *reader, struct drain_meter *meter)
{
	struct drain_context drain = {
		.state = state,
		.shared_source = shared_source,
		.reader = reader,
		.meter = meter,
		.part = part,
	};
	const struct source_sink sink = { .window = receive_window, .ctx = &drain };
	struct source *source = source_get_partition(shared_source->source, part);
	int r;

	if (!source)
		return;
	r = source->ops->drain(source, &sink);
	if (r < 0)
		__atomic_store_n(&shared_source->error, r, __ATOMIC_RELAXED);
	check_retained(state, shared_source, source);
}

void worker_drain_source(struct worker_state *state, struct shared_source *shared_source)
{
	call_with_write_lock(state, apply_proc_answers);
	attribute_read_end(get_own_reader(state));
	drain_threads_drain_source(state, shared_source);
	drain_threads_merge_shards(state);
	attribute_read_begin(get_own_reader(state));
	/* Apply all task events: a CPU without windows would not empty its ring of task events. */
	call_with_write_lock(state, apply_all_task_events);
	if (task_ids_switches_are_useless(state))
		call_with_write_lock(state, task_ids_stop_switches);
}

void worker_drain_session(struct worker_state *state, struct session *session)
{
	if (session->running)
		worker_drain_source(state, session->shared_source);
}

/* Return whether @session is the first running session of those that share its source. */
bool worker_session_is_first_of_source(struct worker_state *state, const struct session *session)
{
	struct session *other = NULL;

	while ((other = worker_get_next_session(state, other)))
		if (other->running && other->shared_source == session->shared_source)
			return other == session;
	return false;
}

static void fill_memory_header(struct worker_state *state, struct view_header *header)
{
	const struct shared_source *machine = worker_find_session(state, NULL)->shared_source;
	struct session *session = NULL;

	header->memory_locked = state->tasks ? task_events_get_locked_bytes(state->tasks) : 0;
	header->memory_locked += machine->source->locked_bytes;
	while ((session = worker_get_next_session(state, session)))
		if (session->shared_source != machine)
			header->memory_locked += session->shared_source->source->locked_bytes;
	header->memory_budget = state->plan.budget;
	memcpy(header->memory_share, state->plan.share, sizeof(header->memory_share));
}

int worker_make_view(struct worker_state *state, void *arg)
{
	struct worker_view_request *request = arg;
	struct session *session = worker_find_session(state, request->session);
	struct view_header *header = &request->view.header;
	struct attributor_stats stats;
	u64 duration, spanned;
	int r;

	if (!session)
		return -ENOENT;
	if (session->running)
		worker_drain_source(state, session->shared_source);
	duration = session_get_duration(session);
	if (request->span == VIEW_SPAN_START)
		r = profile_create_view(session->profile, state->symbols, true, request->group,
					request->sort, request->limit, &request->view);
	else
		r = profile_create_span_view(session->profile, state->symbols, true, request->span,
					     request->group, request->sort, request->limit,
					     session->running ? time_now_ns() : 0, &request->view);
	if (r < 0)
		return r;
	spanned = header->duration_ns;
	attributor_get_stats(state->attributor, &stats);
	header->task_events_lost = stats.events_lost;
	header->mappings_lost = stats.mappings_lost;
	snprintf(header->tasks, sizeof(header->tasks), "%s",
		 task_events_name(state->task_status.kind));
	snprintf(header->tasks_reason, sizeof(header->tasks_reason), "%s",
		 state->task_status.reason);
	task_ids_fill_header(state, header);
	session_fill_header(session, header);
	fill_memory_header(state, header);
	rate_control_fill_header(state, header);
	header->duration_ns = duration;
	if (request->span != VIEW_SPAN_START) {
		header->duration_ns = spanned;
		/* The cost of sampling is known only since the last reset, not for a period. */
		header->cost_ns = 0;
	}
	return 0;
}

int worker_write_hot_json(struct worker_state *state, void *arg)
{
	struct worker_hot_request *request = arg;
	struct session *session = worker_find_session(state, request->session);

	if (!session)
		return -ENOENT;
	return profile_hot_memory_json(session->profile, state->symbols, true, request->limit,
				       &request->text);
}

/*
 * Run the pending function after a merge, so that it finds all counters. The drain threads are
 * paused meanwhile if the function changes something, or if they count in the tables that it reads.
 */
static int run_call(struct worker *w)
{
	bool pause = !w->reading || drain_threads_is_single(w->state.drain_threads);
	struct attribute_reader *reader = get_own_reader(&w->state);
	int r;

	drain_threads_merge_shards(&w->state);
	if (pause) {
		drain_threads_pause(w->state.drain_threads);
		drain_threads_merge_shards(&w->state);
	}
	attribute_read_begin(reader);
	r = w->fn(&w->state, w->arg);
	attribute_read_end(reader);
	if (pause)
		drain_threads_resume(w->state.drain_threads);
	/* The function may have started a source that the drain threads do not poll yet. */
	if (!w->reading)
		drain_threads_wake(w->state.drain_threads);
	return r;
}

/*
 * Run the function that another thread waits for, if any. Return true if the worker's thread must
 * exit.
 */
static bool run_pending_call(struct worker *w)
{
	bool quit;

	pthread_mutex_lock(&w->lock);
	if (w->pending) {
		/*
		 * Holding &worker.lock meanwhile is safe: all callers wait for it or for
		 * &worker.done.
		 */
		w->result = run_call(w);
		w->pending = false;
		pthread_cond_broadcast(&w->done);
	}
	quit = w->quit;
	pthread_mutex_unlock(&w->lock);
	return quit;
}

static void refresh_tasks(struct worker_state *state)
{
	if (state->tasks)
		task_events_follow_hotplug(state->tasks);
	attributor_refresh(state->attributor);
}

/*
 * Return whether to merge the shards now: before a period of the profile ends, and before the
 * shards contain too many counters.
 */
static bool merge_is_due(struct worker *w, u64 now)
{
	struct session *session = NULL;

	if (drain_threads_is_single(w->state.drain_threads))
		return false;
	while ((session = worker_get_next_session(&w->state, session)))
		if (session->running && profile_history_is_due(session->profile, now))
			return true;
	return now - w->merged_ns >= REFRESH_NS;
}

/* Run @fn while the drain threads are paused, after a merge. */
static void call_with_threads_paused(struct worker_state *state,
				     void (*fn)(struct worker_state *state))
{
	drain_threads_pause(state->drain_threads);
	drain_threads_merge_shards(state);
	attribute_read_begin(get_own_reader(state));
	fn(state);
	attribute_read_end(get_own_reader(state));
	drain_threads_resume(state->drain_threads);
}

/*
 * Apply all task events, because a ring of task events is half full. Count the windows in the rings
 * first: samples without a time are attributed to the tasks that the tables have at that moment.
 */
static void empty_task_rings(struct worker_state *state)
{
	struct session *session = NULL;

	while ((session = worker_get_next_session(state, session)))
		if (worker_session_is_first_of_source(state, session))
			drain_threads_drain_source(state, session->shared_source);
	call_with_both_locks(state, apply_all_task_events);
}

static bool names_are_full(struct worker_state *state, u64 now)
{
	struct session *session = NULL;

	while ((session = worker_get_next_session(state, session)))
		if (profile_ids_are_full(session->profile, now))
			return true;
	return false;
}

static void sweep_names(struct worker_state *state)
{
	struct session *session = NULL;
	u64 now = time_now_ns();

	while ((session = worker_get_next_session(state, session)))
		if (profile_ids_are_full(session->profile, now))
			session_sweep_names(session, now);
}

static void tick_rate_control(struct worker_state *state)
{
	rate_control_tick(state, time_now_ns());
}

/* Do the work that is due about once a second while a session runs. */
static void run_periodic_work(struct worker *w)
{
	struct worker_state *state = &w->state;
	u64 now = time_now_ns();

	if (now - w->refreshed >= REFRESH_NS) {
		call_with_both_locks(state, refresh_tasks);
		if (task_ids_switches_are_useless(state))
			call_with_both_locks(state, task_ids_stop_switches);
		if (names_are_full(state, now))
			call_with_threads_paused(state, sweep_names);
		w->refreshed = now;
	}
	if (merge_is_due(w, now)) {
		drain_threads_merge_shards(state);
		w->merged_ns = now;
	}
	if (state->rate_control && now >= state->rate_control->next_ns)
		call_with_threads_paused(state, tick_rate_control);
	/* The drain threads are paused: the counters must match the positions in the rings. */
	if (state->hooks && state->hooks->checkpoint_due(state, now))
		call_with_threads_paused(state, state->hooks->checkpoint_save);
}

/* Do all work of one iteration of the worker's thread except calls and draining. */
static void run_housekeeping(struct worker *w)
{
	struct worker_state *state = &w->state;
	bool running = is_any_session_running(state);
	bool merging = running && !drain_threads_is_single(state->drain_threads);
	struct pollfd fds[] = {
		{ .fd = w->wake, .events = POLLIN },
		{ .fd = attributor_get_answers_fd(state->attributor), .events = POLLIN },
		{ .fd = running && state->tasks ? task_events_get_fd(state->tasks) : -1,
		  .events = POLLIN },
	};
	u64 count;

	if (poll(fds, ARRAY_SIZE(fds), merging ? MERGE_MS : SLEEP_MS) < 0 && errno != EINTR)
		return;
	if (fds[1].revents)
		call_with_both_locks(state, apply_proc_answers);
	if ((fds[0].revents && read(w->wake, &count, sizeof(count)) < 0) || !running)
		return;
	if (fds[2].revents)
		empty_task_rings(state);
	run_periodic_work(w);
}

static void *worker_run(void *arg)
{
	struct worker *w = arg;

	while (!run_pending_call(w)) {
		__atomic_add_fetch(&w->heartbeat, 1, __ATOMIC_RELAXED);
		run_housekeeping(w);
	}
	return NULL;
}

static void state_deinit(struct worker_state *state)
{
	for (u32 i = 0; i < WORKER_SESSIONS; i++)
		session_deinit(&state->sessions[i]);
	symbols_free(state->symbols);
	attributor_free(state->attributor);
	task_events_free(state->tasks);
}

static int state_init(struct worker_state *state, const struct memory_plan *plan,
		      struct task_events *tasks, const struct task_events_status *task_status)
{
	static const struct memory_plan unlimited;
	struct attributor_config attribution = { .live = true, .background = true };
	struct symbols_config names = { .idle = true };
	u32 cpus;
	int r;

	*state = (struct worker_state){ .task_status = *task_status,
					.process_id = session_make_epoch(),
					.line_size = hot_lines_read_size("/sys"),
					.plan = plan ? *plan : unlimited };
	if (!state->plan.workers)
		state->plan.workers = 1;
	names.budget = state->plan.names;
	attribution.processes = state->plan.processes;
	attribution.threads = state->plan.threads;
	attribution.containers = state->plan.containers;
	attribution.map_bytes = state->plan.map_bytes;
	attribution.saved_map_bytes = state->plan.saved_map_bytes;
	attribution.cgroup_bytes = state->plan.cgroup_bytes;
	r = attributor_new(&attribution, &state->attributor);
	if (r >= 0)
		r = symbols_new(&names, &state->symbols);
	if (r < 0) {
		state_deinit(state);
		return r;
	}
	state->tasks = tasks;
	if (tasks) {
		struct switch_ring *rings = task_events_get_switch_rings(tasks, &cpus);

		attributor_set_switch_rings(state->attributor, rings, cpus);
	}
	return 0;
}

int worker_new(const struct memory_plan *plan, struct task_events *tasks,
	       const struct task_events_status *task_status, struct worker **ret_worker)
{
	struct worker *w;
	int r;

	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	r = state_init(&w->state, plan, tasks, task_status);
	if (r < 0) {
		free(w);
		return r;
	}
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->done, NULL);
	w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = w->wake < 0 ? -errno : 0;
	if (r >= 0)
		r = drain_threads_new(&w->state, &w->state.drain_threads);
	if (r >= 0)
		r = -pthread_create(&w->thread, NULL, worker_run, w);
	if (r < 0) {
		drain_threads_free(w->state.drain_threads);
		w->state.tasks = NULL;
		state_deinit(&w->state);
		if (w->wake >= 0)
			close(w->wake);
		free(w);
		return r;
	}
	*ret_worker = w;
	return 0;
}

static void wake_thread(struct worker *w)
{
	const u64 one = 1;

	/*
	 * A failed write means that the counter of the eventfd is full, so that the thread wakes up
	 * anyway.
	 */
	if (write(w->wake, &one, sizeof(one)) < 0)
		return;
}

void worker_wake(struct worker_state *state)
{
	wake_thread((struct worker *)((char *)state - offsetof(struct worker, state)));
}

/*
 * Change the number only if the worker's thread and all drain threads have run, or sleep, since the
 * number last changed.
 */
u64 worker_get_heartbeat(struct worker *worker)
{
	u64 heartbeat = __atomic_load_n(&worker->heartbeat, __ATOMIC_RELAXED);

	if (heartbeat != worker->heartbeat_seen &&
	    drain_threads_check_heartbeat(worker->state.drain_threads)) {
		worker->heartbeat_seen = heartbeat;
		worker->heartbeat_all++;
	}
	return worker->heartbeat_all;
}

static int call_worker(struct worker *worker, bool reading, worker_fn fn, void *arg)
{
	int r;

	pthread_mutex_lock(&worker->lock);
	while (worker->pending)
		pthread_cond_wait(&worker->done, &worker->lock);
	worker->fn = fn;
	worker->arg = arg;
	worker->reading = reading;
	worker->pending = true;
	wake_thread(worker);
	while (worker->pending)
		pthread_cond_wait(&worker->done, &worker->lock);
	r = worker->result;
	pthread_mutex_unlock(&worker->lock);
	return r;
}

int worker_call(struct worker *worker, worker_fn fn, void *arg)
{
	return call_worker(worker, false, fn, arg);
}

int worker_call_readonly(struct worker *worker, worker_fn fn, void *arg)
{
	return call_worker(worker, true, fn, arg);
}

struct worker *worker_free(struct worker *worker)
{
	if (!worker)
		return NULL;
	pthread_mutex_lock(&worker->lock);
	worker->quit = true;
	pthread_mutex_unlock(&worker->lock);
	wake_thread(worker);
	pthread_join(worker->thread, NULL);
	drain_threads_free(worker->state.drain_threads);
	state_deinit(&worker->state);
	close(worker->wake);
	pthread_cond_destroy(&worker->done);
	pthread_mutex_destroy(&worker->lock);
	free(worker);
	return NULL;
}
