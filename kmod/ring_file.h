/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a ring's descriptor does beside commands: poll, read, mmap.
 */
#ifndef SPEPROF_RING_FILE_H
#define SPEPROF_RING_FILE_H

#include <linux/fs.h>
#include <linux/poll.h>

struct speprof_ring;

__poll_t speprof_ring_poll(struct speprof_ring *ring, struct file *file, poll_table *wait);
ssize_t speprof_ring_read(struct speprof_ring *ring, struct kiocb *kiocb, struct iov_iter *to);
int speprof_ring_mmap(struct speprof_ring *ring, struct vm_area_struct *vma);

#endif
