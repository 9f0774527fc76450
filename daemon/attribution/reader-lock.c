// SPDX-License-Identifier: LGPL-2.1-or-later
#include "reader-lock.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "util/time.h"

/** struct attribute_reader - the reader slot of a thread, alone on its cache line */
struct attribute_reader {
	pthread_mutex_t lock;
	struct attribute_lock *parent;
} __attribute__((aligned(64)));

/**
 * struct attribute_lock - a lock with a reader slot for each thread
 * @gate: held by the writer. While a writer waits, new readers lock and unlock @gate first, so that
 * readers cannot starve the writer
 * @writers: number of threads that wait for the write lock or hold it
 * @readers: number of slots
 * @write_start_ns: time at which the writer got all slots
 * @longest_write_ns: longest time that a writer held all slots
 *
 * Lock order: @gate, then the slots in ascending order. A thread that takes @gate holds no slot.
 */
struct attribute_lock {
	pthread_mutex_t gate;
	u32 writers;
	u32 readers;
	u64 write_start_ns;
	u64 longest_write_ns;
	struct attribute_reader reader[];
};

int attribute_lock_new(u32 readers, struct attribute_lock **ret_lock)
{
	size_t size = sizeof(struct attribute_lock) + readers * sizeof(struct attribute_reader);
	struct attribute_lock *lock = aligned_alloc(64, (size + 63) & ~(size_t)63);

	if (!lock)
		return -ENOMEM;
	memset(lock, 0, size);
	lock->readers = readers;
	pthread_mutex_init(&lock->gate, NULL);
	for (u32 i = 0; i < readers; i++) {
		lock->reader[i].parent = lock;
		pthread_mutex_init(&lock->reader[i].lock, NULL);
	}
	*ret_lock = lock;
	return 0;
}

struct attribute_lock *attribute_lock_free(struct attribute_lock *lock)
{
	if (!lock)
		return NULL;
	for (u32 i = 0; i < lock->readers; i++)
		pthread_mutex_destroy(&lock->reader[i].lock);
	pthread_mutex_destroy(&lock->gate);
	free(lock);
	return NULL;
}

struct attribute_reader *attribute_lock_get_reader(struct attribute_lock *lock, u32 index)
{
	if (!lock)
		return NULL;
	assert(index < lock->readers);
	return &lock->reader[index];
}

void attribute_read_begin(struct attribute_reader *reader)
{
	if (!reader)
		return;
	if (__atomic_load_n(&reader->parent->writers, __ATOMIC_RELAXED)) {
		pthread_mutex_lock(&reader->parent->gate);
		pthread_mutex_unlock(&reader->parent->gate);
	}
	pthread_mutex_lock(&reader->lock);
}

void attribute_read_end(struct attribute_reader *reader)
{
	if (reader)
		pthread_mutex_unlock(&reader->lock);
}

void attribute_lock_upgrade(struct attribute_reader *reader)
{
	struct attribute_lock *lock;

	if (!reader)
		return;
	lock = reader->parent;
	pthread_mutex_unlock(&reader->lock);
	__atomic_add_fetch(&lock->writers, 1, __ATOMIC_RELAXED);
	pthread_mutex_lock(&lock->gate);
	for (u32 i = 0; i < lock->readers; i++)
		pthread_mutex_lock(&lock->reader[i].lock);
	lock->write_start_ns = time_now_ns();
}

void attribute_lock_downgrade(struct attribute_reader *reader)
{
	struct attribute_lock *lock;
	u64 held_ns;

	if (!reader)
		return;
	lock = reader->parent;
	held_ns = time_now_ns() - lock->write_start_ns;
	if (held_ns > lock->longest_write_ns)
		__atomic_store_n(&lock->longest_write_ns, held_ns, __ATOMIC_RELAXED);
	/* Unlock all slots except the slot of the caller, which stays locked as its reader lock. */
	for (u32 i = 0; i < lock->readers; i++)
		if (&lock->reader[i] != reader)
			pthread_mutex_unlock(&lock->reader[i].lock);
	__atomic_sub_fetch(&lock->writers, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&lock->gate);
}

void attribute_read_yield(struct attribute_reader *reader)
{
	if (!reader || !__atomic_load_n(&reader->parent->writers, __ATOMIC_RELAXED))
		return;
	attribute_read_end(reader);
	attribute_read_begin(reader);
}

u64 attribute_lock_get_longest_write_ns(const struct attribute_lock *lock)
{
	return lock ? __atomic_load_n(&lock->longest_write_ns, __ATOMIC_RELAXED) : 0;
}
