/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Readiness of many rings as one descriptor: by io_uring, a multishot poll each, or by epoll.
 */
#ifndef SPEPROF_RING_WATCH_H
#define SPEPROF_RING_WATCH_H

#include <liburing.h>

#include "codec/env.h"

/**
 * struct ring_watch - all of it
 * @fds: the rings, the caller's
 * @epoll: -1 where io_uring watches
 */
struct ring_watch {
	const int *fds;
	u32 count;
	int epoll;
	bool uring;
	struct io_uring io;
};

/**
 * ring_watch_init() - watch @count rings, by io_uring if @uring and if it is not refused
 *
 * Return: 0 or -errno; ring_watch_deinit() is due in both cases.
 */
int ring_watch_init(struct ring_watch *watch, const int *fds, u32 count, bool uring);

void ring_watch_deinit(struct ring_watch *watch);

/** ring_watch_fd() - readable once a ring has become so since the last ring_watch_take() */
int ring_watch_fd(const struct ring_watch *watch);

/** ring_watch_take() - to be called before the rings are read; 0 or -errno */
int ring_watch_take(struct ring_watch *watch);

#endif
