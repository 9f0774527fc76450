/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The lock for an attributor that several threads use. Each thread has a reader lock slot of its
 * own, so readers do not contend. A writer takes all slots. A result is valid until the thread
 * releases its slot or takes the write lock.
 *
 *	attribute_read_begin(reader);
 *	if (!attributor_task_cached(attributor, tid, time, &index, &span)) {
 *		attribute_write_begin(reader);
 *		index = attributor_task(attributor, tid);
 *		attribute_write_end(reader);
 *	}
 *	attribute_read_end(reader);
 *
 * With a reader of NULL, for a single thread, all functions do nothing.
 */
#ifndef SPEPROF_READER_LOCK_H
#define SPEPROF_READER_LOCK_H

#include "codec/env.h"

struct attribute_lock;
struct attribute_reader;

/** attribute_lock_new() - allocate a lock with @readers slots; returns 0 or -ENOMEM */
int attribute_lock_new(u32 readers, struct attribute_lock **ret_lock);

/** attribute_lock_free() - free a lock, which may be NULL; returns NULL */
struct attribute_lock *attribute_lock_free(struct attribute_lock *share);

/**
 * attribute_lock_reader() - return slot @index of @share; NULL if @share is NULL
 *
 * A thread uses one slot. While it holds the slot it must not wait for a lock that a writer may
 * hold.
 */
struct attribute_reader *attribute_lock_reader(struct attribute_lock *share, u32 index);

/** attribute_read_begin() - take the reader lock; waits for a writer */
void attribute_read_begin(struct attribute_reader *reader);

/** attribute_read_end() - release the reader lock */
void attribute_read_end(struct attribute_reader *reader);

/**
 * attribute_write_begin() - exchange the held reader lock for the write lock
 *
 * The slot is free for a moment in between, so earlier results are invalid: query them again.
 */
void attribute_write_begin(struct attribute_reader *reader);
/**
 * attribute_write_end() - exchange the write lock for the reader lock, without a write in
 * between
 */
void attribute_write_end(struct attribute_reader *reader);

/**
 * attribute_read_yield() - let waiting writers proceed during a long read
 *
 * Earlier results are invalid afterwards, as with attribute_write_begin().
 */
void attribute_read_yield(struct attribute_reader *reader);

/** attribute_lock_longest_ns() - return the longest time that a writer held the lock, ns */
u64 attribute_lock_longest_ns(const struct attribute_lock *share);

#endif
