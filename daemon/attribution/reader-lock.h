/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reader-writer lock for an attributor that several threads use. Each thread has its own reader
 * slot, so readers do not contend for a cache line. A writer locks all slots.
 *
 *	attribute_read_begin(reader);
 *	if (!attributor_find_process_cached(attributor, tid, time, &index, &span)) {
 *		attribute_lock_upgrade(reader);
 *		index = attributor_find_process(attributor, tid);
 *		attribute_lock_downgrade(reader);
 *	}
 *	attribute_read_end(reader);
 *
 * A result is valid until the thread releases its slot or takes the write lock. If only one thread
 * uses the attributor, the reader is NULL, and all functions do nothing.
 */
#ifndef SPEPROF_READER_LOCK_H
#define SPEPROF_READER_LOCK_H

#include "codec/env.h"

struct attribute_lock;
struct attribute_reader;

/** attribute_lock_new() - allocate @ret_lock with @readers slots; returns 0 or -ENOMEM */
int attribute_lock_new(u32 readers, struct attribute_lock **ret_lock);

/** attribute_lock_free() - free a lock that no thread uses; @lock may be NULL. Returns NULL */
struct attribute_lock *attribute_lock_free(struct attribute_lock *lock);

/**
 * attribute_lock_get_reader() - return slot @index of @lock; NULL if @lock is NULL
 *
 * Each slot belongs to one thread. While the thread holds its slot, it must not wait for a lock
 * that a writer may hold.
 */
struct attribute_reader *attribute_lock_get_reader(struct attribute_lock *lock, u32 index);

/** attribute_read_begin() - lock @reader; waits while a writer waits for the lock or holds it */
void attribute_read_begin(struct attribute_reader *reader);

/** attribute_read_end() - unlock @reader */
void attribute_read_end(struct attribute_reader *reader);

/**
 * attribute_lock_upgrade() - exchange the held reader lock @reader for the write lock
 *
 * Another writer may run in between, so earlier results are invalid: query them again.
 */
void attribute_lock_upgrade(struct attribute_reader *reader);

/**
 * attribute_lock_downgrade() - exchange the held write lock for the reader lock @reader
 *
 * No writer runs in between, so results obtained under the write lock stay valid.
 */
void attribute_lock_downgrade(struct attribute_reader *reader);

/**
 * attribute_read_yield() - release and retake the held reader lock @reader if a writer waits
 *
 * Call it during a long read. Earlier results are invalid afterwards.
 */
void attribute_read_yield(struct attribute_reader *reader);

/**
 * attribute_lock_get_longest_write_ns() - return the longest time for which a writer held @lock, ns
 */
u64 attribute_lock_get_longest_write_ns(const struct attribute_lock *lock);

#endif
