/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * poll(2), read(2) and mmap(2) of a ring's descriptor.
 */
#ifndef SPEPROF_RING_FILE_H
#define SPEPROF_RING_FILE_H

#include <linux/fs.h>
#include <linux/poll.h>

struct speprof_ring;

/**
 * speprof_ring_poll() - implement poll(2) of a ring's descriptor
 * @ring: the ring
 * @file: the descriptor's file
 * @wait: the caller's poll table
 *
 * Context: may sleep.
 * Return: a mask of EPOLLIN if there are unread bytes, EPOLLPRI if there are unread events, and
 * EPOLLERR if the ring is FAULTED.
 */
__poll_t speprof_ring_poll(struct speprof_ring *ring, struct file *file, poll_table *wait);

/**
 * speprof_ring_read() - implement read(2) of a ring's descriptor
 * @ring: the ring
 * @kiocb: IOCB_NOWAIT and O_NONBLOCK are honoured
 * @to: destination
 *
 * Context: may sleep.
 * Return: the number of bytes read, which may begin and end within a window; 0 if the session is
 * stopped and everything was read; -EINVAL if the ring is a flight recorder; -EAGAIN if there are
 * no bytes and the call must not block; -EFAULT if @to cannot be written; -ERESTARTSYS if a signal
 * arrived.
 */
ssize_t speprof_ring_read(struct speprof_ring *ring, struct kiocb *kiocb, struct iov_iter *to);

/**
 * speprof_ring_mmap() - implement mmap(2) of a ring's descriptor
 * @ring: the ring
 * @vma: its offset is SPEPROF_MMAP_CONTROL, SPEPROF_MMAP_EVENTS or SPEPROF_MMAP_DATA
 *
 * Return: 0; -EINVAL for another offset; an error of speprof_shared_buffer_map().
 */
int speprof_ring_mmap(struct speprof_ring *ring, struct vm_area_struct *vma);

#endif
