// SPDX-License-Identifier: LGPL-2.1-or-later
#include "worker.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define REFRESH_NS 1000000000ULL

struct worker {
	pthread_t thread;
	int wake;
	struct worker_state state;

	pthread_mutex_t lock;
	pthread_cond_t done;
	/* One call at a time: under @lock. */
	worker_fn fn;
	void *arg;
	int result;
	bool pending;
	bool quit;
};

static u64 now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (u64)ts.tv_sec * 1000000000ULL + (u64)ts.tv_nsec;
}

int worker_start(struct worker_state *state, void *arg __attribute__((unused)))
{
	int r;

	if (state->running)
		return -EALREADY;
	r = state->source->ops->start(state->source);
	if (r < 0)
		return r;
	state->running = true;
	state->started_ns = now_ns(CLOCK_MONOTONIC);
	state->error = 0;
	return 0;
}

/* What happened before the window's end is known before its samples are looked at. */
static void drain_window(void *ctx, const struct source_window *window)
{
	struct worker_state *state = ctx;
	const struct source_sink sink = profile_sink(state->profile);

	task_events_until(state->tasks, window->end_ns, &sink);
	profile_window(state->profile, window);
}

static void drain(struct worker_state *state)
{
	const struct source_sink sink = profile_sink(state->profile);
	const struct source_sink after_tasks = { .window = drain_window, .ctx = state };
	int r = state->source->ops->drain(state->source, state->tasks ? &after_tasks : &sink);

	/* Idle CPUs bring no windows, and their rings must not fill up. */
	if (state->tasks)
		task_events_until(state->tasks, 0, &sink);
	if (r < 0)
		state->error = r;
}

int worker_stop(struct worker_state *state, void *arg __attribute__((unused)))
{
	if (!state->running)
		return -EALREADY;
	state->source->ops->stop(state->source);
	drain(state);
	state->running = false;
	state->ran_ns += now_ns(CLOCK_MONOTONIC) - state->started_ns;
	return 0;
}

int worker_reset(struct worker_state *state, void *arg __attribute__((unused)))
{
	drain(state);
	profile_reset(state->profile);
	state->ran_ns = 0;
	state->started_ns = now_ns(CLOCK_MONOTONIC);
	state->cost_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	return 0;
}

/* Resident bytes, from /proc/self/statm; 0 if that cannot be read. */
static u64 resident(void)
{
	unsigned long long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (!f)
		return 0;
	if (fscanf(f, "%*u %llu", &pages) != 1)
		pages = 0;
	fclose(f);
	return pages * (u64)sysconf(_SC_PAGESIZE);
}

static void fill_trouble(const struct worker_state *state, struct view_header *h)
{
	const struct source_trouble *trouble = &state->source->trouble;
	struct attributor_stats stats;

	attributor_stats(state->attributor, &stats);
	h->task_events_lost = stats.events_lost;
	h->faults = trouble->faults;
	h->throttles = trouble->throttles;
	h->unread = trouble->unread;
	h->cpus_stopped = trouble->cpus_stopped;
	snprintf(h->fault, sizeof(h->fault), "%s", trouble->last);
	if (!*h->fault && state->error)
		snprintf(h->fault, sizeof(h->fault), "reading failed: %s", strerror(-state->error));
}

static void fill_header(const struct worker_state *state, u64 now, struct view_header *h)
{
	snprintf(h->source, sizeof(h->source), "%s", state->source->ops->name);
	h->backend = state->source->backend;
	h->running = state->running;
	h->cpus = state->source->cpus;
	h->interval_ns = state->source->interval_ns;
	snprintf(h->tasks, sizeof(h->tasks), "%s", task_events_name(state->told.kind));
	snprintf(h->tasks_reason, sizeof(h->tasks_reason), "%s", state->told.reason);
	h->duration_ns = state->ran_ns;
	if (state->running)
		h->duration_ns += now - state->started_ns;
	h->cost_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID) - state->cost_ns;
	h->memory = resident();
	fill_trouble(state, h);
}

int worker_view(struct worker_state *state, void *arg)
{
	struct worker_view *request = arg;
	u64 now;
	int r;

	if (state->running)
		drain(state);
	/* Reading the symbols of all that ran may take a second the first time. */
	now = now_ns(CLOCK_MONOTONIC);
	r = profile_view(state->profile, state->symbols, true, request->group, request->sort,
			 request->limit, &request->view);
	if (r >= 0)
		fill_header(state, now, &request->view.header);
	return r;
}

/* Run the call that waits, if one does; returns whether to end. */
static bool serve(struct worker *w)
{
	bool quit;

	pthread_mutex_lock(&w->lock);
	if (w->pending) {
		/* The caller waits for @done: nobody else touches the call meanwhile. */
		w->result = w->fn(&w->state, w->arg);
		w->pending = false;
		pthread_cond_broadcast(&w->done);
	}
	quit = w->quit;
	pthread_mutex_unlock(&w->lock);
	return quit;
}

static void *worker_run(void *arg)
{
	struct worker *w = arg;
	struct pollfd fds[] = {
		{ .fd = w->wake, .events = POLLIN },
		{ .events = POLLIN },
		{ .events = POLLIN },
	};
	u64 refreshed = 0, now, count;

	while (!serve(w)) {
		fds[1].fd = w->state.running ? w->state.source->ops->fd(w->state.source) : -1;
		fds[2].fd =
			w->state.running && w->state.tasks ? task_events_fd(w->state.tasks) : -1;
		if (poll(fds, ARRAY_SIZE(fds), 1000) < 0 && errno != EINTR)
			break;
		if (fds[0].revents && read(w->wake, &count, sizeof(count)) < 0)
			continue;
		if (!w->state.running)
			continue;
		if (fds[1].revents || fds[2].revents)
			drain(&w->state);
		now = now_ns(CLOCK_MONOTONIC);
		if (now - refreshed >= REFRESH_NS) {
			if (w->state.tasks)
				task_events_check(w->state.tasks);
			attributor_refresh(w->state.attributor);
			refreshed = now;
		}
	}
	if (w->state.running)
		worker_stop(&w->state, NULL);
	return NULL;
}

static void state_deinit(struct worker_state *state)
{
	profile_free(state->profile);
	symbols_free(state->symbols);
	attributor_free(state->attributor);
	task_events_free(state->tasks);
	if (state->source)
		state->source->ops->free(state->source);
}

static int state_init(struct worker_state *state, struct source *source, struct task_events *tasks,
		      const struct task_events_status *told, const struct filter *filter)
{
	const struct profile_config profile = { .filter = filter };
	const struct attributor_config attribution = { .live = true };
	u32 cpus;
	int r;

	*state = (struct worker_state){ 0 };
	r = attributor_new(&attribution, &state->attributor);
	if (r >= 0)
		r = symbols_new(0, &state->symbols);
	if (r >= 0)
		r = profile_new(&profile, state->attributor, &state->profile);
	if (r < 0) {
		state_deinit(state);
		return r;
	}
	state->source = source;
	state->tasks = tasks;
	state->told = *told;
	if (tasks) {
		struct switch_ring *rings = task_events_switches(tasks, &cpus);

		attributor_switches(state->attributor, rings, cpus);
	}
	state->cost_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	return 0;
}

int worker_new(struct source *source, struct task_events *tasks,
	       const struct task_events_status *told, const struct filter *filter,
	       struct worker **ret_worker)
{
	struct worker *w;
	int r;

	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	r = state_init(&w->state, source, tasks, told, filter);
	if (r < 0) {
		free(w);
		return r;
	}
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->done, NULL);
	w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = w->wake < 0 ? -errno : -pthread_create(&w->thread, NULL, worker_run, w);
	if (r < 0) {
		w->state.source = NULL;
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

	/* A full counter wakes too. */
	if (write(w->wake, &one, sizeof(one)) < 0)
		return;
}

int worker_call(struct worker *worker, worker_fn fn, void *arg)
{
	int r;

	pthread_mutex_lock(&worker->lock);
	while (worker->pending)
		pthread_cond_wait(&worker->done, &worker->lock);
	worker->fn = fn;
	worker->arg = arg;
	worker->pending = true;
	wake(worker);
	while (worker->pending)
		pthread_cond_wait(&worker->done, &worker->lock);
	r = worker->result;
	pthread_mutex_unlock(&worker->lock);
	return r;
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
	state_deinit(&worker->state);
	close(worker->wake);
	pthread_cond_destroy(&worker->done);
	pthread_mutex_destroy(&worker->lock);
	free(worker);
	return NULL;
}
