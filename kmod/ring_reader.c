// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reader of a ring: what it has consumed, and whether there still is one.
 */
#include <linux/ktime.h>
#include <linux/moduleparam.h>

#include "ring_internal.h"

static unsigned int unread_ms = 60000;
module_param(unread_ms, uint, 0644);
MODULE_PARM_DESC(unread_ms,
		 "milliseconds after which a ring that nobody reads stops; 0: never (60000)");

/* ---- Tails ----------------------------------------------------------------- */

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

/* ---- Rings that nobody reads ----------------------------------------------- */

static void ring_set_unread(struct ring *ring, bool unread)
{
	ring->unread = unread;
	WRITE_ONCE(ring->control->flags, unread ? SPEPROF_CONTROL_UNREAD : 0);
}

void ring_seen(struct ring *ring, u64 now)
{
	ring->seen_ns = now;
	ring_set_unread(ring, false);
}

bool ring_note_reader(struct ring *ring)
{
	u32 state = READ_ONCE(ring->state);

	WRITE_ONCE(ring->kicked, true);
	return state == SPEPROF_RING_FULL || state == SPEPROF_RING_HANDLING ||
	       READ_ONCE(ring->unread);
}

/* Whether KICK came since the last look. */
static bool ring_take_kick(struct ring *ring)
{
	bool kicked = READ_ONCE(ring->kicked);

	if (kicked)
		WRITE_ONCE(ring->kicked, false);
	return kicked;
}

bool ring_is_unread(struct ring *ring)
{
	u64 limit = READ_ONCE(unread_ms) * (u64)NSEC_PER_MSEC, now = ktime_get_ns();
	u64 tail, event_tail;
	unsigned long flags;

	if (ring->flight)
		return false;
	ring_take_tails(ring);
	raw_spin_lock_irqsave(&ring->tail_lock, flags);
	tail = ring->tail;
	event_tail = ring->event_tail;
	raw_spin_unlock_irqrestore(&ring->tail_lock, flags);

	if (ring_take_kick(ring) || tail != ring->seen_tail ||
	    event_tail != ring->seen_event_tail || tail == ring->published)
		ring_seen(ring, now);
	ring->seen_tail = tail;
	ring->seen_event_tail = event_tail;
	return limit && now - ring->seen_ns >= limit;
}

void ring_stop_unread(struct ring *ring)
{
	if (ring->unread)
		return;
	if (ring->state == SPEPROF_RING_PARKED) {
		ring_close_parked(ring, SPEPROF_RING_PARKED);
		/* A throttled ring rests first: the timer checks for a reader after that. */
		if (ring->state != SPEPROF_RING_PARKED ||
		    ring->parked_from == SPEPROF_RING_THROTTLED)
			return;
		ring->parked_from = SPEPROF_RING_FULL;
	}
	ring->count.unreads++;
	ring_set_unread(ring, true);
	if (ring->state == SPEPROF_RING_ARMED) {
		ring_turn(ring, SPEPROF_RING_FULL, NULL);
		return;
	}
	/* KICK ends it, and it comes again, without an event read: one slot is kept for it. */
	if (ring_has_slot(ring, 0))
		ring_add_unread_event(ring);
	ring_publish(ring);
}
