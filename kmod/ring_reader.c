// SPDX-License-Identifier: GPL-2.0-only
/* The tails of a ring, which its reader advances, and the detection of a missing reader */
#include <linux/ktime.h>
#include <linux/moduleparam.h>

#include "ring_internal.h"

static unsigned int unread_ms = 60000;
module_param(unread_ms, uint, 0644);
MODULE_PARM_DESC(unread_ms,
		 "milliseconds without a reader after which a ring stops sampling; 0: never (60000)");

/* ---- Tails ----------------------------------------------------------------- */

/* Return true if a tail that changes from @now to @next neither decreases nor exceeds @head. */
static bool tail_is_valid(u64 next, u64 now, u64 head)
{
	return next >= now && next <= head;
}

/* Validate both tails, because userspace may write any value to the control page. */
void speprof_ring_read_tails(struct speprof_ring *ring)
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

int speprof_ring_set_tails(struct speprof_ring *ring, u64 tail, u64 event_tail)
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

int speprof_ring_set_tail(struct speprof_ring *ring, u64 tail)
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

/* ---- Rings without a reader ------------------------------------------------ */

/*
 * Store whether the ring stopped because its reader is missing, and publish it in the control page.
 */
static void ring_set_unread(struct speprof_ring *ring, bool unread)
{
	ring->unread = unread;
	WRITE_ONCE(ring->control->flags, unread ? SPEPROF_CONTROL_UNREAD : 0);
}

void speprof_ring_note_progress(struct speprof_ring *ring, u64 now)
{
	ring->seen_ns = now;
	ring_set_unread(ring, false);
}

bool speprof_ring_note_reader(struct speprof_ring *ring)
{
	u32 state = READ_ONCE(ring->state);

	WRITE_ONCE(ring->reader_kicked, true);
	return state == SPEPROF_RING_FULL || state == SPEPROF_RING_HANDLING ||
	       READ_ONCE(ring->unread);
}

static bool ring_test_and_clear_kick(struct speprof_ring *ring)
{
	bool kicked = READ_ONCE(ring->reader_kicked);

	if (kicked)
		WRITE_ONCE(ring->reader_kicked, false);
	return kicked;
}

bool speprof_ring_is_unread(struct speprof_ring *ring)
{
	u64 limit = READ_ONCE(unread_ms) * (u64)NSEC_PER_MSEC, now = ktime_get_ns();
	u64 tail, event_tail;
	unsigned long flags;

	if (ring->flight)
		return false;
	speprof_ring_read_tails(ring);
	raw_spin_lock_irqsave(&ring->tail_lock, flags);
	tail = ring->tail;
	event_tail = ring->event_tail;
	raw_spin_unlock_irqrestore(&ring->tail_lock, flags);

	if (ring_test_and_clear_kick(ring) || tail != ring->seen_tail ||
	    event_tail != ring->seen_event_tail || tail == ring->published)
		speprof_ring_note_progress(ring, now);
	ring->seen_tail = tail;
	ring->seen_event_tail = event_tail;
	return limit && now - ring->seen_ns >= limit;
}

void speprof_ring_stop_unread(struct speprof_ring *ring)
{
	if (ring->unread)
		return;
	if (ring->state == SPEPROF_RING_PARKED) {
		speprof_ring_close_parked(ring, SPEPROF_RING_PARKED);
		/*
		 * A THROTTLED ring stays THROTTLED. Its timer checks for a missing reader when
		 * THROTTLED has ended.
		 */
		if (ring->state != SPEPROF_RING_PARKED ||
		    ring->resume_state == SPEPROF_RING_THROTTLED)
			return;
		ring->resume_state = SPEPROF_RING_FULL;
	}
	ring->counters.unreads++;
	ring_set_unread(ring, true);
	if (ring->state == SPEPROF_RING_ARMED) {
		speprof_ring_rotate_window(ring, SPEPROF_RING_FULL, NULL);
		return;
	}
	/*
	 * One slot is reserved for this event. If a process calls KICK but reads nothing, the event
	 * can repeat; it is then dropped if no slot is free.
	 */
	if (speprof_ring_has_slot(ring, 0))
		speprof_ring_add_unread_event(ring);
	speprof_ring_publish(ring);
}
