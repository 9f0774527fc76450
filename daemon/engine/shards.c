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
 * @heartbeat, @seen: how often it came around; when that was asked for
 * @meter: its sums change under @lock alone
 */
struct shard {
	struct shards *shards;
	u32 number;
	pthread_t thread;
	pthread_mutex_t gate;
	pthread_mutex_t lock;
	int wake;
	u64 heartbeat;
	u64 seen;
	struct drain_meter meter;
} __attribute__((aligned(64)));

/**
 * struct shards - all drain threads
 * @wanted: a ring needs a checkpoint to free space
 * @paused: the worker's thread holds the locks of all shards
 */
struct shards {
	struct worker_state *state;
	struct attribute_lock *share;
	pthread_mutex_t common;
	u64 watermark_ns;
	u64 longest_ns;
	u32 count;
	bool wanted;
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

	/* A failed write means that the counter is full, which wakes as well. */
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

		if (!session->running || !session_drives_source(state, session))
			continue;
		part = source_partition(session->shared_source->source, shard->number);
		if (!part)
			continue;
		fds[n++] = (struct pollfd){ .fd = part->ops->fd(part), .events = POLLIN };
	}
	return n;
}

/* Whether a ring of @part is so full that it needs a checkpoint to free space. */
static bool is_at_limit(const struct source *part)
{
	const struct source_persist_ops *persist = part ? part->ops->persist : NULL;

	return persist && persist->retained(part) >= SOURCE_RETAINED_MAX;
}

/* Whether a source woke the thread; the first descriptor is the thread's eventfd. */
static bool is_ready(const struct pollfd *fds, nfds_t n)
{
	for (nfds_t i = 1; i < n; i++)
		if (fds[i].revents)
			return true;
	return false;
}

/*
 * Drain all sources that exist now, as they may have changed while the thread polled. @meter is NULL
 * if the worker's thread woke this one.
 */
static void drain_all(struct shard *shard, struct drain_meter *meter)
{
	struct worker_state *state = shard->shards->state;
	struct session *session = NULL;
	bool at_limit = false;

	while ((session = worker_next(state, session))) {
		if (!session->running || !session_drives_source(state, session))
			continue;
		worker_drain_part(state, session->shared_source, shard->number, meter);
		at_limit = at_limit || is_at_limit(source_partition(session->shared_source->source,
								    shard->number));
	}
	drain_meter_end(meter);
	if (!at_limit || !state->hooks)
		return;
	__atomic_store_n(&shard->shards->wanted, true, __ATOMIC_RELEASE);
	worker_wake(state);
}

static void *shard_run(void *arg)
{
	struct pollfd fds[WORKER_SESSIONS + 1];
	struct shard *shard = arg;
	nfds_t n;
	u64 count;

	while (!__atomic_load_n(&shard->shards->quit, __ATOMIC_ACQUIRE)) {
		__atomic_add_fetch(&shard->heartbeat, 1, __ATOMIC_RELAXED);
		shard_lock(shard);
		n = gather_fds(shard, fds);
		pthread_mutex_unlock(&shard->lock);
		drain_meter_begin(&shard->meter);
		if (poll(fds, n, 1000) < 0 && errno != EINTR)
			break;
		if (fds[0].revents && read(shard->wake, &count, sizeof(count)) < 0)
			continue;
		shard_lock(shard);
		drain_all(shard, is_ready(fds, n) ? &shard->meter : NULL);
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
	int r = -ENOMEM;

	if (!shards)
		return -ENOMEM;
	*shards = (struct shards){ .state = state };
	pthread_mutex_init(&shards->common, NULL);
	r = attribute_lock_new(state->plan.workers + 1, &shards->share);
	while (r >= 0 && shards->count < state->plan.workers) {
		r = shard_start(shards, shards->count);
		shards->count += r >= 0;
	}
	if (r < 0) {
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

struct attribute_reader *shards_reader(struct shards *shards, u32 index)
{
	return shards ? attribute_lock_get_reader(shards->share, index) : NULL;
}

void shards_pause(struct shards *shards)
{
	for (u32 i = 0; shards && i < shards->count; i++)
		shard_lock(&shards->shard[i]);
	if (shards)
		shards->paused = true;
}

/* Wake all threads, as the set of enabled sources may have changed. */
void shards_resume(struct shards *shards)
{
	if (shards)
		shards->paused = false;
	for (u32 i = 0; shards && i < shards->count; i++) {
		pthread_mutex_unlock(&shards->shard[i].lock);
		shard_wake(&shards->shard[i]);
	}
}

/* The caller holds no reader lock: the drain thread may hold @lock and wait for all reader locks. */
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
	if (!shards)
		return;
	attribute_read_end(shards_reader(shards, shards->count));
	lock_part(shards, part);
}

void shards_unlock_part(struct shards *shards, u32 part)
{
	if (!shards)
		return;
	unlock_part(shards, part);
	attribute_read_begin(shards_reader(shards, shards->count));
}

/* Exchange the profile of shard @index for the spare one and return it; NULL: it counted nothing. */
static struct profile *take_full(struct shards *shards, struct session *session, u32 index)
{
	struct profile *full = session->shard[index], *spare = session->shard[session->shards];
	u64 since, took;

	lock_part(shards, index);
	since = time_now_ns();
	source_partition_update(session->shared_source->source, index);
	if (!index && !session->shared_source->source->partitions)
		session->shared_source->seen = session->shared_source->source->health;
	if (profile_counted(full)) {
		profile_set_reader(spare, shards_reader(shards, index));
		session->shard[index] = spare;
	} else {
		full = NULL;
	}
	took = time_now_ns() - since;
	unlock_part(shards, index);
	if (took > shards->longest_ns)
		shards->longest_ns = took;
	return full;
}

static void gather_session(struct shards *shards, struct session *session)
{
	struct attribute_reader *reader = shards_reader(shards, shards->count);
	struct profile *full;

	for (u32 i = 0; i < session->shards; i++) {
		full = take_full(shards, session, i);
		if (!full)
			continue;
		attribute_read_begin(reader);
		profile_merge(session->profile, full, reader);
		attribute_read_end(reader);
		session->shard[session->shards] = full;
	}
	source_partitions_sum(session->shared_source->source);
	if (session->shared_source->source->partitions)
		session->shared_source->seen = session->shared_source->source->health;
	attribute_read_begin(reader);
	if (session->running)
		profile_advance_history(session->profile, time_now_ns());
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
	struct attribute_reader *reader = shards_reader(shards, shards->count);

	attribute_read_end(reader);
	for (u32 i = 0; i < shards->count; i++) {
		lock_part(shards, i);
		worker_drain_part(state, shared_source, i, NULL);
		unlock_part(shards, i);
	}
	shards_gather(state);
	attribute_read_begin(reader);
}

bool shards_checkpoint_requested(struct shards *shards)
{
	return __atomic_exchange_n(&shards->wanted, false, __ATOMIC_ACQUIRE);
}

void shards_common_lock(struct shards *shards)
{
	if (shards)
		pthread_mutex_lock(&shards->common);
}

void shards_common_unlock(struct shards *shards)
{
	if (shards)
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

bool shards_heartbeat(struct shards *shards)
{
	for (u32 i = 0; i < shards->count; i++)
		if (__atomic_load_n(&shards->shard[i].heartbeat, __ATOMIC_RELAXED) ==
		    shards->shard[i].seen)
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
	if (shards)
		snprintf(ret, size,
			 " %u workers, held for %llu us at the most, by tasks for %llu us.",
			 shards->count, (unsigned long long)shards->longest_ns / 1000,
			 (unsigned long long)attribute_lock_get_longest_write_ns(shards->share) /
				 1000);
}
