// SPDX-License-Identifier: GPL-2.0-only
/*
 * poll(2), read(2) and mmap(2) of a ring's descriptor.
 */
#include <linux/mm.h>
#include <linux/uio.h>

#include "ring.h"
#include "ring_file.h"

/* A consistent snapshot of the heads and tails of a ring. */
struct ring_positions {
	u64 head;
	u64 tail;
	u64 event_head;
	u64 event_tail;
};

static void ring_read_positions(struct speprof_ring *ring, struct ring_positions *ret_view)
{
	unsigned long flags;

	speprof_ring_read_tails(ring);
	raw_spin_lock_irqsave(&ring->tail_lock, flags);
	ret_view->tail = ring->tail;
	ret_view->event_tail = ring->event_tail;
	/*
	 * Read the heads after the tails, under the lock. This guarantees that no tail is beyond
	 * its head, and that no head is further ahead than the size of the ring.
	 */
	ret_view->head = smp_load_acquire(&ring->published);
	ret_view->event_head = smp_load_acquire(&ring->event_published);
	raw_spin_unlock_irqrestore(&ring->tail_lock, flags);
}

__poll_t speprof_ring_poll(struct speprof_ring *ring, struct file *file, poll_table *wait)
{
	struct ring_positions view;
	__poll_t mask = 0;

	poll_wait(file, &ring->readers, wait);
	ring_read_positions(ring, &view);
	if (view.head != view.tail)
		mask |= EPOLLIN | EPOLLRDNORM;
	if (view.event_head != view.event_tail)
		mask |= EPOLLPRI;
	if (READ_ONCE(ring->state) == SPEPROF_RING_FAULTED)
		mask |= EPOLLERR;
	return mask;
}

/*
 * Return: 1 if there are bytes to read, 0 at the end of a stopped session, -EAGAIN if more bytes
 * may follow.
 */
static ssize_t ring_check_readable(struct speprof_ring *ring, struct ring_positions *ret_view)
{
	/* Read the state first: after IDLE, everything that was published is visible. */
	u32 state = smp_load_acquire(&ring->state);

	ring_read_positions(ring, ret_view);
	if (ret_view->head != ret_view->tail)
		return 1;
	return state == SPEPROF_RING_IDLE ? 0 : -EAGAIN;
}

/* Copy bytes at the tail, and advance the tail. Return: the number of bytes, or -EFAULT. */
static ssize_t ring_copy_to_user(struct speprof_ring *ring, const struct ring_positions *view,
				 struct iov_iter *to)
{
	u64 pos = view->tail;
	ssize_t done = 0;

	while (pos != view->head && iov_iter_count(to)) {
		u64 offset = pos & (ring->config.size - 1);
		size_t size = min3(view->head - pos, ring->config.size - offset,
				   (u64)iov_iter_count(to));
		size_t copied = copy_to_iter(ring->data + offset, size, to);

		pos += copied;
		done += copied;
		if (copied < size)
			break;
	}
	if (!done)
		return iov_iter_count(to) ? -EFAULT : 0;
	/*
	 * Advance the tail to the end of the copied bytes. If userspace has advanced the mapped
	 * tail further in the meantime, the call fails, and that tail remains.
	 */
	speprof_ring_set_tail(ring, pos);
	return done;
}

ssize_t speprof_ring_read(struct speprof_ring *ring, struct kiocb *kiocb, struct iov_iter *to)
{
	bool nowait = kiocb->ki_flags & IOCB_NOWAIT || kiocb->ki_filp->f_flags & O_NONBLOCK;
	struct ring_positions view;
	ssize_t ret;

	/* A flight recorder would overwrite the bytes that are being read. */
	if (ring->flight)
		return -EINVAL;
	for (;;) {
		if (nowait) {
			if (!mutex_trylock(&ring->read_lock))
				return -EAGAIN;
		} else if (mutex_lock_interruptible(&ring->read_lock)) {
			return -ERESTARTSYS;
		}
		ret = ring_check_readable(ring, &view);
		if (ret > 0)
			ret = ring_copy_to_user(ring, &view, to);
		mutex_unlock(&ring->read_lock);
		if (ret != -EAGAIN || nowait)
			return ret;
		ret = wait_event_interruptible(ring->readers,
					       ring_check_readable(ring, &view) != -EAGAIN);
		if (ret)
			return ret;
	}
}

int speprof_ring_mmap(struct speprof_ring *ring, struct vm_area_struct *vma)
{
	switch ((u64)vma->vm_pgoff << PAGE_SHIFT) {
	case SPEPROF_MMAP_CONTROL:
		return speprof_shared_buffer_map(&ring->control_buffer, vma, true);
	case SPEPROF_MMAP_EVENTS:
		return speprof_shared_buffer_map(&ring->event_buffer, vma, false);
	case SPEPROF_MMAP_DATA:
		return speprof_shared_buffer_map(&ring->data_buffer, vma, false);
	default:
		return -EINVAL;
	}
}
