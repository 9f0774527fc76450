// SPDX-License-Identifier: LGPL-2.1-or-later
#include "shards.h"

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
 * struct shard - a drain thread
 * @gate: taken before @lock, so that the thread cannot retake @lock before a waiting caller
 * @lock: held while it drains
 * @wake: eventfd that ends its sleep
 * @asleep: the thread waits for windows
 * @heartbeat: number of iterations of its main loop
 * @seen: @heartbeat at the last shards_heartbeat()
 * @meter: its sums change only while @lock is held
 */
struct shard {
	struct shards *shards;
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
 * struct shards - all drain threads
 * @share: the lock of the attributor, with a reader for each drain thread and the worker's thread
 * @common: see shards_common_lock()
 * @watermark_ns: see shards_get_watermark()
 * @longest_ns: the longest time for which the exchange of a shard stopped its thread
 * @requests: CHECKPOINT_FOR_*
 * @paused: the worker's thread holds the locks of all drain threads
 */
struct shards {
	struct worker_state *state;
	struct attribute_lock *share;
	pthread_mutex_t common;
	u64 watermark_ns;
	u64 longest_ns;
	u32 count;
	u32 requests;
	bool paused;
	bool quit;
	struct shard shard[SOURCE_PARTITIONS_MAX];
};

static void shard_lock(struct shard *shard)
{
	pthread_mutex_lock(&shard->gate);
	pthread_mutex_lock(&shard->lock);
	pthread_mutex_unlock(&shard->gate);
}

static void shard_wake(const struct shard *shard)
{
	const u64 one = 1;

	/*
	 * A failed write means that the counter of the eventfd is full, so that the thread wakes up
	 * anyway.
	 */
	if (write(shard->wake, &one, sizeof(one)) < 0)
		return;
}

/* Fill in what to poll: the thread's partition of each enabled source. */
static nfds_t gather_fds(struct shard *shard, struct pollfd *fds)
{
	struct worker_state *state = shard->shards->state;
	struct session *session = NULL;
	nfds_t n = 1;

	fds[0] = (struct pollfd){ .fd = shard->wake, .events = POLLIN };
	while ((session = worker_next(state, session))) {
		struct source *part;

		if (!session_drives_source(state, session))
			continue;
		part = source_partition(session->shared_source->source, shard->number);
		if (!part)
			continue;
		fds[n++] = (struct pollfd){ .fd = part->ops->fd(part), .events = POLLIN };
	}
	return n;
}

/* Return whether a source woke the thread; the first descriptor is the thread's eventfd. */
static bool is_ready(const struct pollfd *fds, nfds_t n)
{
	for (nfds_t i = 1; i < n; i++)
		if (fds[i].revents)
			return true;
	return false;
}

/* Drain all sources that exist now, because they may have changed while the thread polled. */
static void drain_all(struct shard *shard)
{
	struct worker_state *state = shard->shards->state;
	struct attribute_reader *reader =
		attribute_lock_get_reader(shard->shards->share, shard->number);
	struct session *session = NULL;

	while ((session = worker_next(state, session)))
		if (session_drives_source(state, session))
			worker_drain_part(state, session->shared_source, shard->number, reader,
					  &shard->meter);
	drain_meter_end(&shard->meter);
}

/* Sleep until a source of @fds is ready or the worker's thread wakes this one. */
static int shard_sleep(struct shard *shard, struct pollfd *fds, nfds_t n)
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

static void *shard_run(void *arg)
{
	struct pollfd fds[WORKER_SESSIONS + 1];
	struct shard *shard = arg;
	nfds_t n;
	int r;

	while (!__atomic_load_n(&shard->shards->quit, __ATOMIC_ACQUIRE)) {
		__atomic_add_fetch(&shard->heartbeat, 1, __ATOMIC_RELAXED);
		shard_lock(shard);
		n = gather_fds(shard, fds);
		pthread_mutex_unlock(&shard->lock);
		drain_meter_begin(&shard->meter);
		r = shard_sleep(shard, fds, n);
		if (r == -EINTR || (r >= 0 && !is_ready(fds, n)))
			continue;
		if (r < 0)
			break;
		shard_lock(shard);
		drain_all(shard);
		pthread_mutex_unlock(&shard->lock);
	}
	return NULL;
}

static int shard_start(struct shards *shards, u32 number)
{
	struct shard *shard = &shards->shard[number];
	int r;

	*shard = (struct shard){ .shards = shards, .number = number };
	pthread_mutex_init(&shard->gate, NULL);
	pthread_mutex_init(&shard->lock, NULL);
	shard->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = shard->wake < 0 ? -errno : -pthread_create(&shard->thread, NULL, shard_run, shard);
	if (r < 0 && shard->wake >= 0)
		close(shard->wake);
	return r;
}

static void shard_end(struct shard *shard)
{
	shard_wake(shard);
	pthread_join(shard->thread, NULL);
	close(shard->wake);
	pthread_mutex_destroy(&shard->lock);
	pthread_mutex_destroy(&shard->gate);
}

int shards_new(struct worker_state *state, struct shards **ret_shards)
{
	struct shards *shards = aligned_alloc(64, sizeof(*shards));
	u32 started = 0;
	int r;

	if (!shards)
		return -ENOMEM;
	*shards = (struct shards){ .state = state, .count = state->plan.workers };
	pthread_mutex_init(&shards->common, NULL);
	r = attribute_lock_new(shards->count + 1, &shards->share);
	while (r >= 0 && started < shards->count) {
		r = shard_start(shards, started);
		started += r >= 0;
	}
	if (r < 0) {
		shards->count = started;
		shards_free(shards);
		return r;
	}
	*ret_shards = shards;
	return 0;
}

struct shards *shards_free(struct shards *shards)
{
	if (!shards)
		return NULL;
	__atomic_store_n(&shards->quit, true, __ATOMIC_RELEASE);
	for (u32 i = 0; i < shards->count; i++)
		shard_end(&shards->shard[i]);
	attribute_lock_free(shards->share);
	pthread_mutex_destroy(&shards->common);
	free(shards);
	return NULL;
}

struct attribute_reader *shards_own_reader(const struct shards *shards)
{
	return attribute_lock_get_reader(shards->share, shards->count);
}

bool shards_count_in_place(const struct shards *shards)
{
	return shards->count == 1;
}

void shards_pause(struct shards *shards)
{
	struct session *session = NULL;

	for (u32 i = 0; i < shards->count; i++)
		shard_lock(&shards->shard[i]);
	shards->paused = true;
	/* A drain thread that counts in place has set its own reader lock in these profiles. */
	while ((session = worker_next(shards->state, session)))
		profile_set_reader(session->profile, shards_own_reader(shards));
}

void shards_resume(struct shards *shards)
{
	shards->paused = false;
	for (u32 i = 0; i < shards->count; i++)
		pthread_mutex_unlock(&shards->shard[i].lock);
}

void shards_wake(struct shards *shards)
{
	for (u32 i = 0; i < shards->count; i++)
		shard_wake(&shards->shard[i]);
}

/* The caller holds no reader lock: the drain thread may hold its lock and wait for all readers. */
static void lock_part(struct shards *shards, u32 index)
{
	if (!shards->paused)
		shard_lock(&shards->shard[index]);
}

static void unlock_part(struct shards *shards, u32 index)
{
	if (!shards->paused)
		pthread_mutex_unlock(&shards->shard[index].lock);
}

void shards_lock_part(struct shards *shards, u32 part)
{
	attribute_read_end(shards_own_reader(shards));
	lock_part(shards, part);
}

void shards_unlock_part(struct shards *shards, u32 part)
{
	unlock_part(shards, part);
	attribute_read_begin(shards_own_reader(shards));
}

/* Copy the health of partition @index. The caller makes sure that it is not being drained. */
static void copy_health(struct shared_source *shared_source, u32 index)
{
	source_partition_update(shared_source->source, index);
	if (!index && !shared_source->source->partitions)
		shared_source->seen = shared_source->source->health;
}

/*
 * Exchange the profile in which drain thread @index counts for the spare one and return it. Returns
 * NULL if the thread counted nothing, or counts in place.
 */
static struct profile *take_full(struct shards *shards, struct session *session, u32 index)
{
	struct profile *full = session->shard[index];
	u64 since, took;

	lock_part(shards, index);
	since = time_now_ns();
	copy_health(session->shared_source, index);
	if (full == session->profile || !profile_has_counts(full))
		full = NULL;
	else
		session->shard[index] = session->spare;
	took = time_now_ns() - since;
	unlock_part(shards, index);
	if (took > shards->longest_ns)
		shards->longest_ns = took;
	return full;
}

static void gather_session(struct shards *shards, struct session *session)
{
	struct attribute_reader *reader = shards_own_reader(shards);
	struct profile *full;

	for (u32 i = 0; i < shards->count; i++) {
		full = take_full(shards, session, i);
		if (!full)
			continue;
		attribute_read_begin(reader);
		profile_merge(session->profile, full, reader);
		attribute_read_end(reader);
		session->spare = full;
	}
	source_partitions_sum(session->shared_source->source);
	if (session->shared_source->source->partitions)
		session->shared_source->seen = session->shared_source->source->health;
	if (!session->running || shards_count_in_place(shards))
		return;
	attribute_read_begin(reader);
	history_advance(session->profile, time_now_ns());
	attribute_read_end(reader);
}

void shards_gather(struct worker_state *state)
{
	struct session *session = NULL;

	while ((session = worker_next(state, session)))
		gather_session(state->shards, session);
}

void shards_drain(struct worker_state *state, struct shared_source *shared_source)
{
	struct shards *shards = state->shards;

	for (u32 i = 0; i < shards->count; i++) {
		lock_part(shards, i);
		worker_drain_part(state, shared_source, i, shards_own_reader(shards), NULL);
		unlock_part(shards, i);
	}
}

void shards_request_checkpoint(struct shards *shards, u32 rings)
{
	__atomic_or_fetch(&shards->requests, rings, __ATOMIC_RELEASE);
	worker_wake(shards->state);
}

u32 shards_checkpoint_requests(struct shards *shards)
{
	return __atomic_exchange_n(&shards->requests, 0, __ATOMIC_ACQUIRE);
}

void shards_common_lock(struct shards *shards)
{
	pthread_mutex_lock(&shards->common);
}

void shards_common_unlock(struct shards *shards)
{
	pthread_mutex_unlock(&shards->common);
}

u64 shards_get_watermark(const struct shards *shards)
{
	return __atomic_load_n(&shards->watermark_ns, __ATOMIC_RELAXED);
}

void shards_set_watermark(struct shards *shards, u64 until_ns)
{
	__atomic_store_n(&shards->watermark_ns, until_ns, __ATOMIC_RELAXED);
}

static bool shard_is_alive(const struct shard *shard)
{
	return __atomic_load_n(&shard->asleep, __ATOMIC_RELAXED) ||
	       __atomic_load_n(&shard->heartbeat, __ATOMIC_RELAXED) != shard->seen;
}

bool shards_heartbeat(struct shards *shards)
{
	for (u32 i = 0; i < shards->count; i++)
		if (!shard_is_alive(&shards->shard[i]))
			return false;
	for (u32 i = 0; i < shards->count; i++)
		shards->shard[i].seen =
			__atomic_load_n(&shards->shard[i].heartbeat, __ATOMIC_RELAXED);
	return true;
}

struct drain_meter shards_meter(const struct shards *shards)
{
	struct drain_meter sum = { 0 };

	for (u32 i = 0; i < shards->count; i++) {
		sum.ns += shards->shard[i].meter.ns;
		sum.bytes += shards->shard[i].meter.bytes;
	}
	return sum;
}

void shards_describe(const struct shards *shards, char *ret, size_t size)
{
	*ret = 0;
	if (!shards_count_in_place(shards))
		snprintf(ret, size,
			 " %u drain threads, stopped for %llu us at most by a merge, and for %llu "
			 "us "
			 "by task events.",
			 shards->count, (unsigned long long)shards->longest_ns / 1000,
			 (unsigned long long)attribute_lock_get_longest_write_ns(shards->share) /
				 1000);
}
