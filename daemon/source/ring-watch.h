/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One descriptor that becomes readable when any of several rings becomes readable. It is an
 * io_uring with a multishot poll for each ring; if io_uring is refused, it is an epoll descriptor.
 */
#ifndef SPEPROF_RING_WATCH_H
#define SPEPROF_RING_WATCH_H

#include <liburing.h>

#include "codec/env.h"

/**
 * struct ring_watch - the watched rings
 * @fds: descriptors of the rings; owned by the caller
 * @count: number of rings
 * @epoll: the epoll descriptor; -1 with io_uring
 * @uring: true if @io is used
 * @io: the io_uring
 */
struct ring_watch {
	const int *fds;
	u32 count;
	int epoll;
	bool uring;
	struct io_uring io;
};

/**
 * ring_watch_init() - start to watch rings
 * @watch: uninitialized; ring_watch_deinit() is needed even if this fails
 * @fds: descriptors of the rings, which must stay valid
 * @count: number of rings
 * @uring: use io_uring, unless it is refused (sysctl, seccomp)
 *
 * Return: 0 or negative errno.
 */
int ring_watch_init(struct ring_watch *watch, const int *fds, u32 count, bool uring);

/** ring_watch_deinit() - stop watching; the rings stay open */
void ring_watch_deinit(struct ring_watch *watch);

/**
 * ring_watch_fd() - return a descriptor that is readable if a ring became readable after the last
 * ring_watch_clear()
 */
int ring_watch_fd(const struct ring_watch *watch);

/**
 * ring_watch_clear() - make ring_watch_fd() unreadable
 *
 * Call this before reading the rings: records that are written during the read make the descriptor
 * readable again.
 *
 * Return: 0 or negative errno.
 */
int ring_watch_clear(struct ring_watch *watch);

#endif
