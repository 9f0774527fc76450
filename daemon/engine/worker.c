// SPDX-License-Identifier: LGPL-2.1-or-later
#include "worker.h"

#include "output/profile-json.h"
#include "profile/profile-read.h"
#include "profile/profile-shard.h"
#include "rate-control.h"
#include "shards.h"
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
	u64 heartbeat_all; /* used only by the thread that calls worker_heartbeat() */
	u64 heartbeat_seen;
	bool reading; /* worker_read(): @fn changes nothing */
	bool pending;
	bool quit;
};

struct session *worker_next(struct worker_state *state, struct session *session)
{
	session = session ? session + 1 : state->sessions;
	for (; session < state->sessions + WORKER_SESSIONS; session++)
		if (*session->name)
			return session;
	return NULL;
}

struct session *worker_session(struct worker_state *state, const char *name)
{
	struct session *session = NULL;

	while ((session = worker_next(state, session)))
		if (!strcmp(session->name, name ? name : SESSION_MACHINE))
			return session;
	return NULL;
}

/*
 * Context of a drain: the partition that is drained, and the reader lock and meter of the thread
 * that drains it.
 */
struct drain {
	struct worker_state *state;
	struct shared_source *shared_source;
	struct attribute_reader *reader;
	struct drain_meter *meter;
	u32 part;
};

/* Return the reader lock of the worker's thread. */
static struct attribute_reader *own_reader(struct worker_state *state)
{
	return shards_own_reader(state->shards);
}

/* Run @fn with the write lock. The caller is the worker's thread and holds its reader lock. */
static void run_locked(struct worker_state *state, void (*fn)(struct worker_state *state))
{
	attribute_write_begin(own_reader(state));
	fn(state);
	attribute_write_end(own_reader(state));
}

/*
 * Run @fn with the write lock. The caller is the worker's thread and does not hold its reader lock.
 */
static void lock_and_run(struct worker_state *state, void (*fn)(struct worker_state *state))
{
	attribute_read_begin(own_reader(state));
	run_locked(state, fn);
	attribute_read_end(own_reader(state));
}

static void take_task(void *ctx, const struct task_event *event)
{
	struct worker_state *state = ctx;

	attributor_apply_event(state->attributor, event);
}

static bool is_running(struct worker_state *state)
{
	struct session *session = NULL;

	while ((session = worker_next(state, session)))
		if (session->running)
			return true;
	return false;
}

/*
 * Deliver task events only while a session runs, although a source may be drained before that, to
 * program it. The first delivery reports all tasks of the machine, and must come after the
 * checkpoint was restored.
 */
static void take_tasks(struct worker_state *state, u64 until_ns)
{
	const struct task_sink sink = { .task = take_task, .ctx = state };

	if (attributor_has_answers(state->attributor))
		attributor_apply_answers(state->attributor);
	if (state->tasks && is_running(state))
		task_events_deliver(state->tasks, until_ns, &sink);
}

static void take_all_tasks(struct worker_state *state)
{
	take_tasks(state, 0);
}

static void take_answers(struct worker_state *state)
{
	attributor_apply_answers(state->attributor);
}

/*
 * Apply the task events that precede a window's end. A single drain thread applies no later events,
 * because samples without a time are attributed to the tasks at that moment. With several drain
 * threads, all events up to now are applied at once: a write lock for each window would stop the
 * other threads too often.
 */
static void share_tasks(const struct drain *drain, u64 until_ns)
{
	struct worker_state *state = drain->state;
	u64 now, applied_ns = shards_get_watermark(state->shards);

	if ((!state->tasks || applied_ns >= until_ns) && !attributor_has_answers(state->attributor))
		return;
	drain_meter_end(drain->meter);
	attribute_write_begin(drain->reader);
	now = time_now_ns();
	if (!shards_count_in_place(state->shards) && now > until_ns)
		until_ns = now;
	if (applied_ns > until_ns)
		until_ns = applied_ns;
	take_tasks(state, until_ns);
	shards_set_watermark(state->shards, until_ns);
	attribute_write_end(drain->reader);
	drain_meter_begin(drain->meter);
}

/* Return the number of samples in windows that were counted in @profile; 0 for NULL. */
static u64 count_samples(const struct profile *profile)
{
	const struct view_header *header = profile ? profile_header(profile) : NULL;

	return header ? header->records + header->filtered : 0;
}

/* Count @window for all running sessions of its source. */
static void count_window(const struct drain *drain, const struct source_window *window)
{
	struct worker_state *state = drain->state;
	struct session *session = NULL, *machine = worker_session(state, NULL);
	struct profile *profiles[WORKER_SESSIONS], *of_machine = NULL;
	u32 count = 0;
	u64 before;

	_Static_assert(WORKER_SESSIONS <= PROFILE_WINDOW_MAX, "all sessions count a window");

	while ((session = worker_next(state, session))) {
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
	profile_count_window(profiles, count, window);
	if (of_machine)
		rate_control_window(state->rate_control, window->cpu,
				    count_samples(of_machine) - before, window->len);
}

/* Copy @window into the flight recorders of its source's sessions. */
static void copy_to_flights(const struct drain *drain, const struct source_window *window)
{
	struct session *session = NULL;

	while ((session = worker_next(drain->state, session)))
		if (session->running && session->flight &&
		    session->shared_source == drain->shared_source)
			flight_add(session->flight, window);
}

static void take_window(void *ctx, const struct source_window *window)
{
	const struct drain *drain = ctx;

	attribute_read_begin(drain->reader);
	share_tasks(drain, window->end_ns);
	count_window(drain, window);
	attribute_read_end(drain->reader);
	shards_common_lock(drain->state->shards);
	shared_source_count(drain->shared_source, window);
	copy_to_flights(drain, window);
	shards_common_unlock(drain->state->shards);
	if (drain->meter)
		drain->meter->bytes += window->len;
}

/* Request a checkpoint if a ring of @source is so full that it needs one to free space. */
static void check_limit(struct worker_state *state, const struct shared_source *shared_source,
			const struct source *source)
{
	const struct source_persist_ops *persist = source->ops->persist;
	bool machine = shared_source == worker_session(state, NULL)->shared_source;

	if (state->hooks && persist && persist->retained(source) >= SOURCE_RETAINED_MAX)
		shards_request_checkpoint(state->shards, machine ? CHECKPOINT_FOR_MACHINE :
								   CHECKPOINT_FOR_SESSIONS);
}

void worker_drain_part(struct worker_state *state, struct shared_source *shared_source, u32 part,
		       struct attribute_reader *reader, struct drain_meter *meter)
{
	struct drain drain = {
		.state = state,
		.shared_source = shared_source,
		.reader = reader,
		.meter = meter,
		.part = part,
	};
	const struct source_sink sink = { .window = take_window, .ctx = &drain };
	struct source *source = source_partition(shared_source->source, part);
	int r;

	if (!source)
		return;
	r = source->ops->drain(source, &sink);
	if (r < 0)
		__atomic_store_n(&shared_source->error, r, __ATOMIC_RELAXED);
	check_limit(state, shared_source, source);
}

void worker_drain_source(struct worker_state *state, struct shared_source *shared_source)
{
	run_locked(state, take_answers);
	attribute_read_end(own_reader(state));
	shards_drain(state, shared_source);
	shards_gather(state);
	attribute_read_begin(own_reader(state));
	/* CPUs without a window must not let the rings of task events fill up. */
	run_locked(state, take_all_tasks);
	if (task_ids_switches_are_useless(state))
		run_locked(state, task_ids_stop_switches);
}

void worker_drain(struct worker_state *state, struct session *session)
{
	if (session->running)
		worker_drain_source(state, session->shared_source);
}

/* Return whether @session is the first running session of those that share its source. */
bool session_drives_source(struct worker_state *state, const struct session *session)
{
	struct session *other = NULL;

	while ((other = worker_next(state, other)))
		if (other->running && other->shared_source == session->shared_source)
			return other == session;
	return false;
}

static void header_memory(struct worker_state *state, struct view_header *header)
{
	const struct shared_source *machine = worker_session(state, NULL)->shared_source;
	struct session *session = NULL;

	header->memory_locked = state->tasks ? task_events_locked(state->tasks) : 0;
	header->memory_locked += machine->source->locked_bytes;
	while ((session = worker_next(state, session)))
		if (session->shared_source != machine)
			header->memory_locked += session->shared_source->source->locked_bytes;
	header->memory_budget = state->plan.budget;
	memcpy(header->memory_share, state->plan.share, sizeof(header->memory_share));
}

int worker_view(struct worker_state *state, void *arg)
{
	struct worker_view *request = arg;
	struct session *session = worker_session(state, request->session);
	struct view_header *header = &request->view.header;
	struct attributor_stats stats;
	u64 duration, spanned;
	int r;

	if (!session)
		return -ENOENT;
	if (session->running)
		worker_drain_source(state, session->shared_source);
	duration = session_duration(session);
	if (request->span == VIEW_SPAN_START)
		r = profile_view(session->profile, state->symbols, true, request->group,
				 request->sort, request->limit, &request->view);
	else
		r = profile_span_view(session->profile, state->symbols, true, request->span,
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
	task_ids_header(state, header);
	session_header(session, header);
	header_memory(state, header);
	rate_control_header(state, header);
	header->duration_ns = duration;
	if (request->span != VIEW_SPAN_START) {
		header->duration_ns = spanned;
		/* The cost is not known for single periods. */
		header->cost_ns = 0;
	}
	return 0;
}

int worker_hot(struct worker_state *state, void *arg)
{
	struct worker_hot *request = arg;
	struct session *session = worker_session(state, request->session);

	if (!session)
		return -ENOENT;
	return profile_hot_json(session->profile, state->symbols, true, request->limit,
				&request->text);
}

/*
 * Run the pending function after a merge, so that it finds all counters. The drain threads are
 * paused meanwhile if the function changes something, or if they count in the tables that it reads.
 */
static int serve_call(struct worker *w)
{
	bool pause = !w->reading || shards_count_in_place(w->state.shards);
	struct attribute_reader *reader = own_reader(&w->state);
	int r;

	shards_gather(&w->state);
	if (pause) {
		shards_pause(w->state.shards);
		shards_gather(&w->state);
	}
	attribute_read_begin(reader);
	r = w->fn(&w->state, w->arg);
	attribute_read_end(reader);
	if (pause)
		shards_resume(w->state.shards);
	/* The function may have started a source that the drain threads do not poll yet. */
	if (!w->reading)
		shards_wake(w->state.shards);
	return r;
}

/*
 * Run the function that another thread waits for, if any. Return true if the worker's thread must
 * exit.
 */
static bool serve(struct worker *w)
{
	bool quit;

	pthread_mutex_lock(&w->lock);
	if (w->pending) {
		/* Holding @lock meanwhile is safe: all callers wait for @lock or for @done. */
		w->result = serve_call(w);
		w->pending = false;
		pthread_cond_broadcast(&w->done);
	}
	quit = w->quit;
	pthread_mutex_unlock(&w->lock);
	return quit;
}

static void refresh(struct worker_state *state)
{
	if (state->tasks)
		task_events_check(state->tasks);
	attributor_refresh(state->attributor);
}

/*
 * Return whether to merge the shards now: before a period of the profile ends, and before the
 * shards contain too many counters.
 */
static bool gather_is_due(struct worker *w, u64 now)
{
	struct session *session = NULL;

	if (shards_count_in_place(w->state.shards))
		return false;
	while ((session = worker_next(&w->state, session)))
		if (session->running && history_is_due(session->profile, now))
			return true;
	return now - w->merged_ns >= REFRESH_NS;
}

/* Run @fn while the drain threads are paused, after a merge. */
static void run_paused(struct worker_state *state, void (*fn)(struct worker_state *state))
{
	shards_pause(state->shards);
	shards_gather(state);
	attribute_read_begin(own_reader(state));
	fn(state);
	attribute_read_end(own_reader(state));
	shards_resume(state->shards);
}

/*
 * Apply all task events, because a ring of task events is half full. Count the windows in the rings
 * first: samples without a time are attributed to the tasks that the tables have at that moment.
 */
static void empty_task_rings(struct worker_state *state)
{
	struct session *session = NULL;

	while ((session = worker_next(state, session)))
		if (session_drives_source(state, session))
			shards_drain(state, session->shared_source);
	lock_and_run(state, take_all_tasks);
}

static bool names_are_full(struct worker_state *state, u64 now)
{
	struct session *session = NULL;

	while ((session = worker_next(state, session)))
		if (profile_names_are_full(session->profile, now))
			return true;
	return false;
}

static void sweep_names(struct worker_state *state)
{
	struct session *session = NULL;
	u64 now = time_now_ns();

	while ((session = worker_next(state, session)))
		if (profile_names_are_full(session->profile, now))
			session_sweep_names(session, now);
}

static void tick_rate_control(struct worker_state *state)
{
	rate_control_tick(state, time_now_ns());
}

/* Run what is due about once a second while a session runs. */
static void run_periodic(struct worker *w)
{
	struct worker_state *state = &w->state;
	u64 now = time_now_ns();

	if (now - w->refreshed >= REFRESH_NS) {
		lock_and_run(state, refresh);
		if (task_ids_switches_are_useless(state))
			lock_and_run(state, task_ids_stop_switches);
		if (names_are_full(state, now))
			run_paused(state, sweep_names);
		w->refreshed = now;
	}
	if (gather_is_due(w, now)) {
		shards_gather(state);
		w->merged_ns = now;
	}
	if (state->rate_control && now >= state->rate_control->next_ns)
		run_paused(state, tick_rate_control);
	/* The drain threads are paused: the counters must match the positions in the rings. */
	if (state->hooks && state->hooks->checkpoint_due(state, now))
		run_paused(state, state->hooks->checkpoint_save);
}

/* Do all work of one iteration of the worker's thread except calls and draining. */
static void run_housekeeping(struct worker *w)
{
	struct worker_state *state = &w->state;
	bool running = is_running(state);
	bool merging = running && !shards_count_in_place(state->shards);
	struct pollfd fds[] = {
		{ .fd = w->wake, .events = POLLIN },
		{ .fd = attributor_get_answers_fd(state->attributor), .events = POLLIN },
		{ .fd = running && state->tasks ? task_events_fd(state->tasks) : -1,
		  .events = POLLIN },
	};
	u64 count;

	if (poll(fds, ARRAY_SIZE(fds), merging ? MERGE_MS : SLEEP_MS) < 0 && errno != EINTR)
		return;
	if (fds[1].revents)
		lock_and_run(state, take_answers);
	if ((fds[0].revents && read(w->wake, &count, sizeof(count)) < 0) || !running)
		return;
	if (fds[2].revents)
		empty_task_rings(state);
	run_periodic(w);
}

static void *worker_run(void *arg)
{
	struct worker *w = arg;

	while (!serve(w)) {
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
					.process = session_epoch(),
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
		struct switch_ring *rings = task_events_switches(tasks, &cpus);

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
		r = shards_new(&w->state, &w->state.shards);
	if (r >= 0)
		r = -pthread_create(&w->thread, NULL, worker_run, w);
	if (r < 0) {
		shards_free(w->state.shards);
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

static void wake(struct worker *w)
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
	wake((struct worker *)((char *)state - offsetof(struct worker, state)));
}

/* Change the number only if all threads ran or slept since this function last returned. */
u64 worker_heartbeat(struct worker *worker)
{
	u64 heartbeat = __atomic_load_n(&worker->heartbeat, __ATOMIC_RELAXED);

	if (heartbeat != worker->heartbeat_seen && shards_heartbeat(worker->state.shards)) {
		worker->heartbeat_seen = heartbeat;
		worker->heartbeat_all++;
	}
	return worker->heartbeat_all;
}

static int call(struct worker *worker, bool reading, worker_fn fn, void *arg)
{
	int r;

	pthread_mutex_lock(&worker->lock);
	while (worker->pending)
		pthread_cond_wait(&worker->done, &worker->lock);
	worker->fn = fn;
	worker->arg = arg;
	worker->reading = reading;
	worker->pending = true;
	wake(worker);
	while (worker->pending)
		pthread_cond_wait(&worker->done, &worker->lock);
	r = worker->result;
	pthread_mutex_unlock(&worker->lock);
	return r;
}

int worker_call(struct worker *worker, worker_fn fn, void *arg)
{
	return call(worker, false, fn, arg);
}

int worker_read(struct worker *worker, worker_fn fn, void *arg)
{
	return call(worker, true, fn, arg);
}

struct worker *worker_free(struct worker *worker)
{
	if (!worker)
		return NULL;
	pthread_mutex_lock(&worker->lock);
	worker->quit = true;
	pthread_mutex_unlock(&worker->lock);
	wake(worker);
	pthread_join(worker->thread, NULL);
	shards_free(worker->state.shards);
	state_deinit(&worker->state);
	close(worker->wake);
	pthread_cond_destroy(&worker->done);
	pthread_mutex_destroy(&worker->lock);
	free(worker);
	return NULL;
}
