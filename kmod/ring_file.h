/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a ring's descriptor does beside commands: poll, read, mmap.
 */
#ifndef SPEPROF_RING_FILE_H
#define SPEPROF_RING_FILE_H

#include <linux/fs.h>
#include <linux/poll.h>

struct ring;

__poll_t ring_file_poll(struct ring *ring, struct file *file, poll_table *wait);
ssize_t ring_file_read(struct ring *ring, struct kiocb *kiocb, struct iov_iter *to);
int ring_file_mmap(struct ring *ring, struct vm_area_struct *vma);

#endif
