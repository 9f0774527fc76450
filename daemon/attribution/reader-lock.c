// SPDX-License-Identifier: LGPL-2.1-or-later
#include "reader-lock.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "util/time.h"

/* On a cache line of its own. */
struct attribute_reader {
	pthread_mutex_t lock;
	struct attribute_lock *share;
} __attribute__((aligned(64)));

/**
 * struct attribute_lock
 * @gate: of writers; readers go through it while one waits, so that it gets its turn
 * @waiting: how many writers there are
 * @since_ns: since when all seats are taken
 */
struct attribute_lock {
	pthread_mutex_t gate;
	u32 waiting;
	u32 readers;
	u64 since_ns;
	u64 longest_ns;
	struct attribute_reader reader[];
};

int attribute_lock_new(u32 readers, struct attribute_lock **ret_lock)
{
	size_t size = sizeof(struct attribute_lock) + readers * sizeof(struct attribute_reader);
	struct attribute_lock *share = aligned_alloc(64, (size + 63) & ~(size_t)63);

	if (!share)
		return -ENOMEM;
	memset(share, 0, size);
	share->readers = readers;
	pthread_mutex_init(&share->gate, NULL);
	for (u32 i = 0; i < readers; i++) {
		share->reader[i].share = share;
		pthread_mutex_init(&share->reader[i].lock, NULL);
	}
	*ret_lock = share;
	return 0;
}

struct attribute_lock *attribute_lock_free(struct attribute_lock *share)
{
	if (!share)
		return NULL;
	for (u32 i = 0; i < share->readers; i++)
		pthread_mutex_destroy(&share->reader[i].lock);
	pthread_mutex_destroy(&share->gate);
	free(share);
	return NULL;
}

struct attribute_reader *attribute_lock_reader(struct attribute_lock *share, u32 index)
{
	return share ? &share->reader[index] : NULL;
}

void attribute_read_begin(struct attribute_reader *reader)
{
	if (!reader)
		return;
	if (__atomic_load_n(&reader->share->waiting, __ATOMIC_RELAXED)) {
		pthread_mutex_lock(&reader->share->gate);
		pthread_mutex_unlock(&reader->share->gate);
	}
	pthread_mutex_lock(&reader->lock);
}

void attribute_read_end(struct attribute_reader *reader)
{
	if (reader)
		pthread_mutex_unlock(&reader->lock);
}

void attribute_write_begin(struct attribute_reader *reader)
{
	struct attribute_lock *share;

	if (!reader)
		return;
	share = reader->share;
	pthread_mutex_unlock(&reader->lock);
	__atomic_add_fetch(&share->waiting, 1, __ATOMIC_RELAXED);
	pthread_mutex_lock(&share->gate);
	for (u32 i = 0; i < share->readers; i++)
		pthread_mutex_lock(&share->reader[i].lock);
	share->since_ns = time_now_ns();
}

void attribute_write_end(struct attribute_reader *reader)
{
	struct attribute_lock *share;
	u64 took;

	if (!reader)
		return;
	share = reader->share;
	took = time_now_ns() - share->since_ns;
	if (took > share->longest_ns)
		__atomic_store_n(&share->longest_ns, took, __ATOMIC_RELAXED);
	for (u32 i = 0; i < share->readers; i++)
		if (&share->reader[i] != reader)
			pthread_mutex_unlock(&share->reader[i].lock);
	__atomic_sub_fetch(&share->waiting, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&share->gate);
}

void attribute_read_yield(struct attribute_reader *reader)
{
	if (!reader || !__atomic_load_n(&reader->share->waiting, __ATOMIC_RELAXED))
		return;
	attribute_read_end(reader);
	attribute_read_begin(reader);
}

u64 attribute_lock_longest_ns(const struct attribute_lock *share)
{
	return share ? __atomic_load_n(&share->longest_ns, __ATOMIC_RELAXED) : 0;
}
