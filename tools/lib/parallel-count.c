// SPDX-License-Identifier: LGPL-2.1-or-later
#include "parallel-count.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "profile/profile-shard.h"

/*
 * Bytes of a recording for each thread: with fewer, starting a thread and merging its tables costs
 * more than it saves.
 */
#define THREAD_BYTES (1ULL << 20)

/**
 * struct counting_thread - the state of one thread
 * @request: what to count
 * @attributor: shares the tables of the recording's attributor; NULL: the thread uses that
 * attributor directly
 * @profile: a shard, or the whole profile
 * @result: facts from the windows of this thread
 */
struct counting_thread {
	const struct count_request *request;
	struct attributor *attributor;
	struct profile *profile;
	struct count_result result;
};

/**
 * struct counting_threads - all threads
 * @recording: the recording that is counted
 * @request: what to count
 * @thread: the threads
 * @count: number of threads
 * @profiles: number of threads that have a profile
 * @begun: whether the task events are applied
 */
struct counting_threads {
	const struct recording *recording;
	const struct count_request *request;
	struct counting_thread thread[COUNT_THREADS_MAX];
	u32 count;
	u32 profiles;
	bool begun;
};

static void apply_task_event(void *ctx, const struct task_event *event)
{
	const struct counting_thread *thread = ctx;

	attributor_apply_event(thread->request->attributor, event);
}

static void hardware_add_midr(struct recorded_hardware *to, u64 midr)
{
	u32 i = 0;

	while (i < to->cores && to->midr[i] < midr)
		i++;
	if (!midr || to->cores == COUNT_CORES_MAX || (i < to->cores && to->midr[i] == midr))
		return;
	memmove(&to->midr[i + 1], &to->midr[i], (to->cores++ - i) * sizeof(to->midr[0]));
	to->midr[i] = midr;
}

static void hardware_add_interval(struct recorded_hardware *to, u32 interval, u8 unit)
{
	if (!interval)
		return;
	if (!to->interval_min || interval < to->interval_min)
		to->interval_min = interval;
	if (interval > to->interval_max)
		to->interval_max = interval;
	to->unit = unit;
}

static void hardware_merge(struct recorded_hardware *to, const struct recorded_hardware *from)
{
	for (u32 i = 0; i < from->cores; i++)
		hardware_add_midr(to, from->midr[i]);
	for (u32 i = 0; i < ARRAY_SIZE(to->cpu); i++)
		to->cpu[i] |= from->cpu[i];
	hardware_add_interval(to, from->interval_min, from->unit);
	hardware_add_interval(to, from->interval_max, from->unit);
}

static void result_add_span(struct count_result *to, u64 start_ns, u64 end_ns)
{
	if (start_ns && (!to->start_ns || start_ns < to->start_ns))
		to->start_ns = start_ns;
	if (end_ns > to->end_ns)
		to->end_ns = end_ns;
}

static void result_merge(struct count_result *to, const struct count_result *from)
{
	result_add_span(to, from->start_ns, from->end_ns);
	if (from->backend > to->backend)
		to->backend = from->backend;
	to->explained |= from->explained;
	hardware_merge(&to->hardware, &from->hardware);
}

static void count_window(void *ctx, const struct source_window *window)
{
	struct counting_thread *thread = ctx;
	const struct cpu_list *cpus = thread->request->cpus;
	struct count_result *result = &thread->result;

	/* A window that only reports lost bytes does not contain its backend. */
	if (window->backend > result->backend)
		result->backend = window->backend;
	result->explained |= (window->flags & (WINDOW_TRUNCATED | WINDOW_SUSPECT)) != 0;
	/* Windows of CPUs that are not selected are in no ledger. */
	if (cpus && !cpu_list_has(cpus, window->cpu))
		return;
	result_add_span(result, window->start_ns, window->end_ns);
	hardware_add_midr(&result->hardware, window->midr);
	hardware_add_interval(&result->hardware, window->interval, window->unit);
	if (window->cpu < COUNT_CPUS_MAX)
		result->hardware.cpu[window->cpu / 64] |= 1ULL << window->cpu % 64;
	profile_add_window(thread->profile, window);
}

static int shard_new(const struct count_request *request, struct counting_thread *thread)
{
	struct profile_config config = request->config;
	int r;

	r = attributor_new_shared(request->attributor, &thread->attributor);
	if (r < 0)
		return r;
	config.whole = request->profile;
	r = profile_new(&config, thread->attributor, &thread->profile);
	if (r < 0)
		thread->attributor = attributor_free(thread->attributor);
	return r;
}

/*
 * Prepare the next thread. The first thread counts in the whole profile. If threads are observed,
 * the first one gets a shard, too: an observer of the whole profile would get the samples of all
 * shards.
 */
static int thread_begin(struct counting_threads *c)
{
	struct counting_thread *thread = &c->thread[c->profiles];
	int r = 0;

	if (c->profiles || c->request->watch)
		r = shard_new(c->request, thread);
	else
		thread->profile = c->request->profile;
	c->profiles += r >= 0;
	if (r >= 0 && c->request->watch)
		r = c->request->watch(c->request->ctx, thread->profile);
	return r;
}

/*
 * Prepare all threads after the task events were applied: from here on, the tables of the
 * attributor do not change.
 */
static int begin_counting(void *ctx)
{
	struct counting_threads *c = ctx;
	int r = 0;

	c->begun = true;
	profile_assign_ids(c->request->profile);
	profile_set_line_size(c->request->profile, recording_get_facts(c->recording)->line_size);
	while (c->profiles < c->count && r >= 0)
		r = thread_begin(c);
	return r;
}

static void report_progress(void *ctx, u64 done, u64 size)
{
	const struct counting_threads *c = ctx;

	if (c->request->progress)
		c->request->progress(c->request->ctx,
				     c->begun ? "counting samples" : "reading task events", done,
				     size);
}

/**
 * struct thread_pair - two threads; the profile of the second is merged into the profile of the
 * first
 */
struct thread_pair {
	struct counting_thread *to;
	struct counting_thread *from;
	pthread_t thread;
	bool started;
};

static void *merge_pair(void *ctx)
{
	const struct thread_pair *pair = ctx;

	pair->from->profile = profile_merge_and_free_shard(pair->to->profile, pair->from->profile);
	result_merge(&pair->to->result, &pair->from->result);
	return NULL;
}

/* Merge every second profile into its neighbour at a distance of @step, in parallel. */
static void merge_profiles_step(struct counting_threads *c, u32 step)
{
	struct thread_pair pairs[COUNT_THREADS_MAX / 2];
	u32 count = 0;

	for (u32 i = 0; i + step < c->profiles; i += 2 * step)
		pairs[count++] =
			(struct thread_pair){ .to = &c->thread[i], .from = &c->thread[i + step] };
	for (u32 i = 1; i < count; i++)
		pairs[i].started = !pthread_create(&pairs[i].thread, NULL, merge_pair, &pairs[i]);
	for (u32 i = 0; i < count; i++)
		if (!pairs[i].started)
			merge_pair(&pairs[i]);
	for (u32 i = 0; i < count; i++)
		if (pairs[i].started)
			pthread_join(pairs[i].thread, NULL);
}

static void merge_profiles(struct counting_threads *c)
{
	struct profile *first = c->thread[0].profile;

	for (u32 step = 1; step < c->profiles; step *= 2)
		merge_profiles_step(c, step);
	if (first && first != c->request->profile)
		profile_merge_and_free_shard(c->request->profile, first);
	for (u32 i = 0; i < c->profiles; i++)
		attributor_free(c->thread[i].attributor);
}

/* Count with @count threads. If @with_tasks is false, all task events were applied before. */
static int replay_and_count(struct recording *recording, const struct count_request *request,
			    u32 count, bool with_tasks, struct count_result *ret_result,
			    struct recording_error *ret_error)
{
	struct counting_threads c = { .recording = recording, .request = request, .count = count };
	struct source_sink sinks[COUNT_THREADS_MAX];
	const struct recording_threads threads = {
		.sinks = sinks,
		.count = count,
		.begin = begin_counting,
		.progress = report_progress,
		.ctx = &c,
	};
	int r;

	for (u32 i = 0; i < count; i++) {
		c.thread[i].request = request;
		sinks[i] = (struct source_sink){
			.window = count_window,
			.task = with_tasks ? apply_task_event : NULL,
			.ctx = &c.thread[i],
		};
	}
	r = recording_replay_threads(recording, &threads, ret_error);
	merge_profiles(&c);
	*ret_result = c.thread[0].result;
	return r;
}

int parallel_count_samples(struct recording *recording, const struct count_request *request,
			   struct count_result *ret_result, struct recording_error *ret_error)
{
	int r;

	r = replay_and_count(recording, request, request->threads, true, ret_result, ret_error);
	if (request->threads == 1 || request->watch || profile_is_exact(request->profile))
		return r;
	profile_reset(request->profile);
	return replay_and_count(recording, request, 1, false, ret_result, ret_error);
}

u32 parallel_count_choose_threads(const struct recording *recording)
{
	u64 useful = recording_get_size(recording) / THREAD_BYTES + 1;
	cpu_set_t cpus;
	int count;

	CPU_ZERO(&cpus);
	/* The call fails if the machine has more CPUs than the set can hold. */
	count = sched_getaffinity(0, sizeof(cpus), &cpus) < 0 ? COUNT_THREADS_MAX :
								CPU_COUNT(&cpus);
	useful = useful < (u64)count ? useful : (u64)count;
	return useful < COUNT_THREADS_MAX ? (u32)useful : COUNT_THREADS_MAX;
}
