// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ring-watch.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

static int arm_poll(struct ring_watch *watch, u32 ring)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&watch->io);

	if (!sqe)
		return -EBUSY;
	io_uring_prep_poll_multishot(sqe, watch->fds[ring], POLLIN | POLLPRI);
	io_uring_sqe_set_data64(sqe, ring);
	return 0;
}

static int watch_uring(struct ring_watch *watch)
{
	unsigned int entries = 8;
	int r;

	while (entries < watch->count)
		entries *= 2;
	r = io_uring_queue_init(entries, &watch->io, 0);
	if (r < 0)
		return r;
	watch->uring = true;
	for (u32 i = 0; i < watch->count && r >= 0; i++)
		r = arm_poll(watch, i);
	return r < 0 ? r : io_uring_submit(&watch->io);
}

static int watch_epoll(struct ring_watch *watch)
{
	/*
	 * Use edge-triggered events, as multishot polls do: a ring stays readable until its drained
	 * records are released.
	 */
	struct epoll_event event = { .events = EPOLLIN | EPOLLPRI | EPOLLET };

	watch->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (watch->epoll < 0)
		return -errno;
	for (u32 i = 0; i < watch->count; i++) {
		event.data.u32 = i;
		if (epoll_ctl(watch->epoll, EPOLL_CTL_ADD, watch->fds[i], &event) < 0)
			return -errno;
	}
	return 0;
}

int ring_watch_init(struct ring_watch *watch, const int *fds, u32 count, bool uring)
{
	*watch = (struct ring_watch){ .fds = fds, .count = count, .epoll = -1 };
	if (uring && watch_uring(watch) >= 0)
		return 0;
	if (watch->uring) {
		io_uring_queue_exit(&watch->io);
		watch->uring = false;
	}
	return watch_epoll(watch);
}

void ring_watch_deinit(struct ring_watch *watch)
{
	if (watch->uring)
		io_uring_queue_exit(&watch->io);
	if (watch->epoll >= 0)
		close(watch->epoll);
	watch->uring = false;
	watch->epoll = -1;
}

int ring_watch_fd(const struct ring_watch *watch)
{
	return watch->uring ? watch->io.ring_fd : watch->epoll;
}

/* A completion without IORING_CQE_F_MORE ended its multishot poll: arm a new one. */
static int clear_completions(struct ring_watch *watch)
{
	struct io_uring_cqe *cqe;
	unsigned int head, seen = 0, armed = 0;

	io_uring_for_each_cqe(&watch->io, head, cqe)
	{
		seen++;
		if (!(cqe->flags & IORING_CQE_F_MORE) && cqe->res >= 0)
			armed += arm_poll(watch, (u32)cqe->user_data) >= 0;
	}
	io_uring_cq_advance(&watch->io, seen);
	return armed ? io_uring_submit(&watch->io) : 0;
}

/* The epoll descriptor stays readable until all its edges are read. */
static void clear_edges(struct ring_watch *watch)
{
	struct epoll_event events[64];

	while (epoll_wait(watch->epoll, events, ARRAY_SIZE(events), 0) == ARRAY_SIZE(events))
		;
}

int ring_watch_clear(struct ring_watch *watch)
{
	int r;

	if (!watch->uring) {
		clear_edges(watch);
		return 0;
	}
	r = clear_completions(watch);
	/*
	 * The kernel keeps completions that do not fit into the queue. The descriptor stays
	 * readable until they are fetched.
	 */
	while (r >= 0 && io_uring_cq_has_overflow(&watch->io)) {
		r = io_uring_get_events(&watch->io);
		if (r >= 0)
			r = clear_completions(watch);
	}
	return r < 0 ? r : 0;
}
