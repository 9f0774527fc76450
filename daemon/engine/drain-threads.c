// SPDX-License-Identifier: LGPL-2.1-or-later
#include "drain-threads.h"

#include "profile/profile-shard.h"
#include "util/time.h"
#include "worker-internal.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/**
 * struct drain_thread - a drain thread
 * @gate: taken before @lock, so that the thread cannot retake @lock before a waiting caller
 * @lock: held while the thread drains
 * @wake: eventfd that ends the thread's sleep
 * @asleep: the thread waits for windows
 * @heartbeat: number of iterations of its main loop
 * @seen: @heartbeat at the last drain_threads_check_heartbeat() that returned true
 * @meter: its sums change only while @lock is held
 */
struct drain_thread {
	struct drain_threads *threads;
	u32 number;
	pthread_t thread;
	pthread_mutex_t gate;
	pthread_mutex_t lock;
	int wake;
	bool asleep;
	u64 heartbeat;
	u64 seen;
	struct drain_meter meter;
} __attribute__((aligned(64)));

/**
 * struct drain_threads - all drain threads
 * @share: the lock of the attributor, with a reader for each drain thread and the worker's thread
 * @common: see drain_threads_lock_common()
 * @watermark_ns: see drain_threads_get_watermark()
 * @longest_ns: the longest time for which the exchange of a shard stopped its thread
 * @requests: CHECKPOINT_FOR_*
 * @paused: the worker's thread holds the locks of all drain threads
 */
struct drain_threads {
	struct worker_state *state;
	struct attribute_lock *share;
	pthread_mutex_t common;
	u64 watermark_ns;
	u64 longest_ns;
	u32 count;
	u32 requests;
	bool paused;
	bool quit;
	struct drain_thread shard[SOURCE_PARTITIONS_MAX];
};

static void drain_thread_lock(struct drain_thread *shard)
{
	pthread_mutex_lock(&shard->gate);
	pthread_mutex_lock(&shard->lock);
	pthread_mutex_unlock(&shard->gate);
}

static void drain_thread_wake(const struct drain_thread *shard)
{
	const u64 one = 1;

	/*
	 * A failed write means that the counter of the eventfd is full, so that the thread wakes up
	 * anyway.
	 */
	if (write(shard->wake, &one, sizeof(one)) < 0)
		return;
}

/*
 * Fill @fds with the descriptors that the thread polls: its eventfd, and its partition of each
 * source that has a running session. Return the number of entries.
 */
static nfds_t fill_poll_fds(struct drain_thread *shard, struct pollfd *fds)
{
	struct worker_state *state = shard->threads->state;
	struct session *session = NULL;
	nfds_t n = 1;

	fds[0] = (struct pollfd){ .fd = shard->wake, .events = POLLIN };
	while ((session = worker_get_next_session(state, session))) {
		struct source *part;

		if (!worker_session_is_first_of_source(state, session))
			continue;
		part = source_get_partition(session->shared_source->source, shard->number);
		if (!part)
			continue;
		fds[n++] = (struct pollfd){ .fd = part->ops->fd(part), .events = POLLIN };
	}
	return n;
}

/* Return whether a source woke the thread; the first descriptor is the thread's eventfd. */
static bool is_source_ready(const struct pollfd *fds, nfds_t n)
{
	for (nfds_t i = 1; i < n; i++)
		if (fds[i].revents)
			return true;
	return false;
}

/* Drain all sources that exist now, because they may have changed while the thread polled. */
static void drain_sources(struct drain_thread *shard)
{
	struct worker_state *state = shard->threads->state;
	struct attribute_reader *reader =
		attribute_lock_get_reader(shard->threads->share, shard->number);
	struct session *session = NULL;

	while ((session = worker_get_next_session(state, session)))
		if (worker_session_is_first_of_source(state, session))
			worker_drain_partition(state, session->shared_source, shard->number, reader,
					       &shard->meter);
	drain_meter_end(&shard->meter);
}

/* Sleep until a source of @fds is ready or the worker's thread wakes this one. */
static int drain_thread_sleep(struct drain_thread *shard, struct pollfd *fds, nfds_t n)
{
	u64 count;
	int r;

	__atomic_store_n(&shard->asleep, true, __ATOMIC_RELAXED);
	r = poll(fds, n, -1) < 0 ? -errno : 0;
	__atomic_store_n(&shard->asleep, false, __ATOMIC_RELAXED);
	if (r >= 0 && fds[0].revents && read(shard->wake, &count, sizeof(count)) < 0)
		r = -errno;
	return r == -EAGAIN ? 0 : r;
}

static void *drain_thread_run(void *arg)
{
	struct pollfd fds[WORKER_SESSIONS + 1];
	struct drain_thread *shard = arg;
	nfds_t n;
	int r;

	while (!__atomic_load_n(&shard->threads->quit, __ATOMIC_ACQUIRE)) {
		__atomic_add_fetch(&shard->heartbeat, 1, __ATOMIC_RELAXED);
		drain_thread_lock(shard);
		n = fill_poll_fds(shard, fds);
		pthread_mutex_unlock(&shard->lock);
		drain_meter_begin(&shard->meter);
		r = drain_thread_sleep(shard, fds, n);
		if (r == -EINTR || (r >= 0 && !is_source_ready(fds, n)))
			continue;
		if (r < 0)
			break;
		drain_thread_lock(shard);
		drain_sources(shard);
		pthread_mutex_unlock(&shard->lock);
	}
	return NULL;
}

static int drain_thread_start(struct drain_threads *threads, u32 number)
{
	struct drain_thread *shard = &threads->shard[number];
	int r;

	*shard = (struct drain_thread){ .threads = threads, .number = number };
	pthread_mutex_init(&shard->gate, NULL);
	pthread_mutex_init(&shard->lock, NULL);
	shard->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = shard->wake < 0 ? -errno :
			      -pthread_create(&shard->thread, NULL, drain_thread_run, shard);
	if (r < 0 && shard->wake >= 0)
		close(shard->wake);
	return r;
}

static void drain_thread_stop(struct drain_thread *shard)
{
	drain_thread_wake(shard);
	pthread_join(shard->thread, NULL);
	close(shard->wake);
	pthread_mutex_destroy(&shard->lock);
	pthread_mutex_destroy(&shard->gate);
}

int drain_threads_new(struct worker_state *state, struct drain_threads **ret_threads)
{
	struct drain_threads *threads = aligned_alloc(64, sizeof(*threads));
	u32 started = 0;
	int r;

	if (!threads)
		return -ENOMEM;
	*threads = (struct drain_threads){ .state = state, .count = state->plan.workers };
	pthread_mutex_init(&threads->common, NULL);
	r = attribute_lock_new(threads->count + 1, &threads->share);
	while (r >= 0 && started < threads->count) {
		r = drain_thread_start(threads, started);
		started += r >= 0;
	}
	if (r < 0) {
		threads->count = started;
		drain_threads_free(threads);
		return r;
	}
	*ret_threads = threads;
	return 0;
}

struct drain_threads *drain_threads_free(struct drain_threads *threads)
{
	if (!threads)
		return NULL;
	__atomic_store_n(&threads->quit, true, __ATOMIC_RELEASE);
	for (u32 i = 0; i < threads->count; i++)
		drain_thread_stop(&threads->shard[i]);
	attribute_lock_free(threads->share);
	pthread_mutex_destroy(&threads->common);
	free(threads);
	return NULL;
}

struct attribute_reader *drain_threads_get_worker_reader(const struct drain_threads *threads)
{
	return attribute_lock_get_reader(threads->share, threads->count);
}

bool drain_threads_is_single(const struct drain_threads *threads)
{
	return threads->count == 1;
}

void drain_threads_pause(struct drain_threads *threads)
{
	struct session *session = NULL;

	for (u32 i = 0; i < threads->count; i++)
		drain_thread_lock(&threads->shard[i]);
	threads->paused = true;
	/* Replace the reader lock that a single drain thread has set in the profiles. */
	while ((session = worker_get_next_session(threads->state, session)))
		profile_set_reader(session->profile, drain_threads_get_worker_reader(threads));
}

void drain_threads_resume(struct drain_threads *threads)
{
	threads->paused = false;
	for (u32 i = 0; i < threads->count; i++)
		pthread_mutex_unlock(&threads->shard[i].lock);
}

void drain_threads_wake(struct drain_threads *threads)
{
	for (u32 i = 0; i < threads->count; i++)
		drain_thread_wake(&threads->shard[i]);
}

/*
 * The caller must hold no reader lock: the drain thread may hold &drain_thread.lock and wait until
 * all reader locks are released.
 */
static void lock_partition(struct drain_threads *threads, u32 index)
{
	if (!threads->paused)
		drain_thread_lock(&threads->shard[index]);
}

static void unlock_partition(struct drain_threads *threads, u32 index)
{
	if (!threads->paused)
		pthread_mutex_unlock(&threads->shard[index].lock);
}

void drain_threads_lock_partition(struct drain_threads *threads, u32 part)
{
	attribute_read_end(drain_threads_get_worker_reader(threads));
	lock_partition(threads, part);
}

void drain_threads_unlock_partition(struct drain_threads *threads, u32 part)
{
	unlock_partition(threads, part);
	attribute_read_begin(drain_threads_get_worker_reader(threads));
}

/* Copy the health of partition @index. The caller prevents draining of the partition. */
static void copy_partition_health(struct shared_source *shared_source, u32 index)
{
	source_partition_copy_health(shared_source->source, index);
	if (!index && !shared_source->source->partitions)
		shared_source->seen = shared_source->source->health;
}

/*
 * Replace the profile in which drain thread @index counts with the spare one, and return the
 * replaced profile. Return NULL if the thread counted nothing, or counts directly in the profile of
 * the session.
 */
static struct profile *exchange_full_shard(struct drain_threads *threads, struct session *session,
					   u32 index)
{
	struct profile *full = session->shard[index];
	u64 since, took;

	lock_partition(threads, index);
	since = time_now_ns();
	copy_partition_health(session->shared_source, index);
	if (full == session->profile || !profile_has_counts(full))
		full = NULL;
	else
		session->shard[index] = session->spare;
	took = time_now_ns() - since;
	unlock_partition(threads, index);
	if (took > threads->longest_ns)
		threads->longest_ns = took;
	return full;
}

static void merge_session_shards(struct drain_threads *threads, struct session *session)
{
	struct attribute_reader *reader = drain_threads_get_worker_reader(threads);
	struct profile *full;

	for (u32 i = 0; i < threads->count; i++) {
		full = exchange_full_shard(threads, session, i);
		if (!full)
			continue;
		attribute_read_begin(reader);
		profile_merge_shard(session->profile, full, reader);
		attribute_read_end(reader);
		session->spare = full;
	}
	source_partitions_sum_health(session->shared_source->source);
	if (session->shared_source->source->partitions)
		session->shared_source->seen = session->shared_source->source->health;
	if (!session->running || drain_threads_is_single(threads))
		return;
	attribute_read_begin(reader);
	profile_advance_history(session->profile, time_now_ns());
	attribute_read_end(reader);
}

void drain_threads_merge_shards(struct worker_state *state)
{
	struct session *session = NULL;

	while ((session = worker_get_next_session(state, session)))
		merge_session_shards(state->drain_threads, session);
}

void drain_threads_drain_source(struct worker_state *state, struct shared_source *shared_source)
{
	struct drain_threads *threads = state->drain_threads;

	for (u32 i = 0; i < threads->count; i++) {
		lock_partition(threads, i);
		worker_drain_partition(state, shared_source, i,
				       drain_threads_get_worker_reader(threads), NULL);
		unlock_partition(threads, i);
	}
}

void drain_threads_request_checkpoint(struct drain_threads *threads, u32 rings)
{
	__atomic_or_fetch(&threads->requests, rings, __ATOMIC_RELEASE);
	worker_wake(threads->state);
}

u32 drain_threads_take_requests(struct drain_threads *threads)
{
	return __atomic_exchange_n(&threads->requests, 0, __ATOMIC_ACQUIRE);
}

void drain_threads_lock_common(struct drain_threads *threads)
{
	pthread_mutex_lock(&threads->common);
}

void drain_threads_unlock_common(struct drain_threads *threads)
{
	pthread_mutex_unlock(&threads->common);
}

u64 drain_threads_get_watermark(const struct drain_threads *threads)
{
	return __atomic_load_n(&threads->watermark_ns, __ATOMIC_RELAXED);
}

void drain_threads_set_watermark(struct drain_threads *threads, u64 until_ns)
{
	__atomic_store_n(&threads->watermark_ns, until_ns, __ATOMIC_RELAXED);
}

static bool drain_thread_is_alive(const struct drain_thread *shard)
{
	return __atomic_load_n(&shard->asleep, __ATOMIC_RELAXED) ||
	       __atomic_load_n(&shard->heartbeat, __ATOMIC_RELAXED) != shard->seen;
}

bool drain_threads_check_heartbeat(struct drain_threads *threads)
{
	for (u32 i = 0; i < threads->count; i++)
		if (!drain_thread_is_alive(&threads->shard[i]))
			return false;
	for (u32 i = 0; i < threads->count; i++)
		threads->shard[i].seen =
			__atomic_load_n(&threads->shard[i].heartbeat, __ATOMIC_RELAXED);
	return true;
}

struct drain_meter drain_threads_sum_meters(const struct drain_threads *threads)
{
	struct drain_meter sum = { 0 };

	for (u32 i = 0; i < threads->count; i++) {
		sum.ns += threads->shard[i].meter.ns;
		sum.bytes += threads->shard[i].meter.bytes;
	}
	return sum;
}

void drain_threads_describe(const struct drain_threads *threads, char *ret, size_t size)
{
	*ret = 0;
	if (!drain_threads_is_single(threads))
		snprintf(ret, size,
			 " %u drain threads, stopped for %llu us at most by a merge, and for %llu "
			 "us "
			 "by task events.",
			 threads->count, (unsigned long long)threads->longest_ns / 1000,
			 (unsigned long long)attribute_lock_get_longest_write_ns(threads->share) /
				 1000);
}
