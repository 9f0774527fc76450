// SPDX-License-Identifier: LGPL-2.1-or-later
#include "reader-lock.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

/* On a cache line of its own. */
struct attribute_reader {
	pthread_mutex_t lock;
	struct attribute_share *share;
} __attribute__((aligned(64)));

/**
 * struct attribute_share
 * @gate: of writers; readers go through it while one waits, so that it gets its turn
 * @waiting: how many writers there are
 * @since_ns: since when all seats are taken
 */
struct attribute_share {
	pthread_mutex_t gate;
	u32 waiting;
	u32 seats;
	u64 since_ns;
	u64 longest_ns;
	struct attribute_reader seat[];
};

static u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000000000ULL + (u64)ts.tv_nsec;
}

int attribute_share_new(u32 seats, struct attribute_share **ret_share)
{
	size_t size = sizeof(struct attribute_share) + seats * sizeof(struct attribute_reader);
	struct attribute_share *share = aligned_alloc(64, (size + 63) & ~(size_t)63);

	if (!share)
		return -ENOMEM;
	memset(share, 0, size);
	share->seats = seats;
	pthread_mutex_init(&share->gate, NULL);
	for (u32 i = 0; i < seats; i++) {
		share->seat[i].share = share;
		pthread_mutex_init(&share->seat[i].lock, NULL);
	}
	*ret_share = share;
	return 0;
}

struct attribute_share *attribute_share_free(struct attribute_share *share)
{
	if (!share)
		return NULL;
	for (u32 i = 0; i < share->seats; i++)
		pthread_mutex_destroy(&share->seat[i].lock);
	pthread_mutex_destroy(&share->gate);
	free(share);
	return NULL;
}

struct attribute_reader *attribute_seat(struct attribute_share *share, u32 index)
{
	return share ? &share->seat[index] : NULL;
}

void attribute_read_begin(struct attribute_reader *seat)
{
	if (!seat)
		return;
	if (__atomic_load_n(&seat->share->waiting, __ATOMIC_RELAXED)) {
		pthread_mutex_lock(&seat->share->gate);
		pthread_mutex_unlock(&seat->share->gate);
	}
	pthread_mutex_lock(&seat->lock);
}

void attribute_read_end(struct attribute_reader *seat)
{
	if (seat)
		pthread_mutex_unlock(&seat->lock);
}

void attribute_write_begin(struct attribute_reader *seat)
{
	struct attribute_share *share;

	if (!seat)
		return;
	share = seat->share;
	pthread_mutex_unlock(&seat->lock);
	__atomic_add_fetch(&share->waiting, 1, __ATOMIC_RELAXED);
	pthread_mutex_lock(&share->gate);
	for (u32 i = 0; i < share->seats; i++)
		pthread_mutex_lock(&share->seat[i].lock);
	share->since_ns = now_ns();
}

void attribute_write_end(struct attribute_reader *seat)
{
	struct attribute_share *share;
	u64 took;

	if (!seat)
		return;
	share = seat->share;
	took = now_ns() - share->since_ns;
	if (took > share->longest_ns)
		__atomic_store_n(&share->longest_ns, took, __ATOMIC_RELAXED);
	for (u32 i = 0; i < share->seats; i++)
		if (&share->seat[i] != seat)
			pthread_mutex_unlock(&share->seat[i].lock);
	__atomic_sub_fetch(&share->waiting, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&share->gate);
}

void attribute_breathe(struct attribute_reader *seat)
{
	if (!seat || !__atomic_load_n(&seat->share->waiting, __ATOMIC_RELAXED))
		return;
	attribute_read_end(seat);
	attribute_read_begin(seat);
}

u64 attribute_share_longest(const struct attribute_share *share)
{
	return share ? __atomic_load_n(&share->longest_ns, __ATOMIC_RELAXED) : 0;
}
