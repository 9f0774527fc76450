/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One attributor for several threads. Each has a seat of its own, which it takes to read: a lock
 * that nobody else touches, so that readers never meet. Who changes tables takes all seats. What
 * is found while seated stays as it is until the seat is left, or changed to write.
 *
 *	attribute_read_begin(seat);
 *	if (!attributor_task_cached(attributor, tid, time, &index, &span)) {
 *		attribute_write_begin(seat);
 *		index = attributor_task(attributor, tid);
 *		attribute_write_end(seat);
 *	}
 *	attribute_read_end(seat);
 *
 * A seat that is NULL is of a thread that has the attributor to itself: all of this does nothing.
 */
#ifndef SPEPROF_READER_LOCK_H
#define SPEPROF_READER_LOCK_H

#include "codec/env.h"

struct attribute_lock;
struct attribute_reader;

/** attribute_lock_new() - with @readers of them; 0 or -ENOMEM */
int attribute_lock_new(u32 readers, struct attribute_lock **ret_lock);
struct attribute_lock *attribute_lock_free(struct attribute_lock *share);

/** attribute_lock_reader() - of @share, which may be NULL; a thread has one, and no other lock that writers wait for */
struct attribute_reader *attribute_lock_reader(struct attribute_lock *share, u32 index);

void attribute_read_begin(struct attribute_reader *reader);
void attribute_read_end(struct attribute_reader *reader);

/**
 * attribute_write_begin() - alone from now on; the seat was taken, and was free for a moment: what
 * was found before is to be asked for again
 */
void attribute_write_begin(struct attribute_reader *reader);
/** attribute_write_end() - seated as before; nobody wrote in between */
void attribute_write_end(struct attribute_reader *reader);

/** attribute_read_yield() - within a long read: let those write who wait; as attribute_write_begin() */
void attribute_read_yield(struct attribute_reader *reader);

/** attribute_lock_longest_ns() - for how long all were kept out at the most, ns */
u64 attribute_lock_longest_ns(const struct attribute_lock *share);

#endif
