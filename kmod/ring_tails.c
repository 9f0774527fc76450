// SPDX-License-Identifier: GPL-2.0-only
/*
 * A ring's tails: what userspace says that it has consumed, from any task.
 */
#include "ring.h"

/* Whether @next may follow @now: not back, not beyond @head. */
static bool tail_is_valid(u64 next, u64 now, u64 head)
{
	return next >= now && next <= head;
}

/* Anything may stand in the control page. */
void ring_take_tails(struct ring *ring)
{
	unsigned long flags;
	u64 tail, event_tail;

	raw_spin_lock_irqsave(&ring->tail_lock, flags);
	tail = smp_load_acquire(&ring->control->tail);
	event_tail = smp_load_acquire(&ring->control->event_tail);
	if (tail_is_valid(tail, ring->tail, READ_ONCE(ring->published)))
		ring->tail = tail;
	else
		ring->bad_tails++;
	if (tail_is_valid(event_tail, ring->event_tail, READ_ONCE(ring->event_published)))
		ring->event_tail = event_tail;
	else
		ring->bad_tails++;
	raw_spin_unlock_irqrestore(&ring->tail_lock, flags);
}

int ring_advance(struct ring *ring, u64 tail, u64 event_tail)
{
	unsigned long flags;
	int ret = -ERANGE;

	raw_spin_lock_irqsave(&ring->tail_lock, flags);
	if (tail_is_valid(tail, ring->tail, READ_ONCE(ring->published)) &&
	    tail_is_valid(event_tail, ring->event_tail, READ_ONCE(ring->event_published))) {
		ring->tail = tail;
		ring->event_tail = event_tail;
		WRITE_ONCE(ring->control->tail, tail);
		WRITE_ONCE(ring->control->event_tail, event_tail);
		ret = 0;
	}
	raw_spin_unlock_irqrestore(&ring->tail_lock, flags);
	return ret;
}

int ring_consume(struct ring *ring, u64 tail)
{
	unsigned long flags;
	int ret = -ERANGE;

	raw_spin_lock_irqsave(&ring->tail_lock, flags);
	if (tail_is_valid(tail, ring->tail, READ_ONCE(ring->published))) {
		ring->tail = tail;
		WRITE_ONCE(ring->control->tail, tail);
		ret = 0;
	}
	raw_spin_unlock_irqrestore(&ring->tail_lock, flags);
	return ret;
}
