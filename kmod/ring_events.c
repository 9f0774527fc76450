// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of a ring, and what makes windows and events visible to readers.
 */
#include <linux/ktime.h>
#include <linux/poll.h>

#include "ring_internal.h"
#include "stats.h"

void ring_wake(struct irq_work *work)
{
	struct ring *ring = container_of(work, struct ring, wake);
	__poll_t mask = EPOLLIN | EPOLLRDNORM | EPOLLPRI;

	/* Everybody waits for an error, so not where there is none. */
	if (READ_ONCE(ring->state) == SPEPROF_RING_FAULTED)
		mask |= EPOLLERR;
	wake_up_interruptible_poll(&ring->readers, mask);
}

/* All up to the private heads is written: let readers see it. */
void ring_publish(struct ring *ring)
{
	smp_store_release(&ring->published, ring->head);
	smp_store_release(&ring->event_published, ring->event_seq);
	smp_store_release(&ring->control->head, ring->head);
	smp_store_release(&ring->control->event_head, ring->event_seq);
	ring->count.wakeups++;
	irq_work_queue(&ring->wake);
}

u64 ring_event_oldest(const struct ring *ring, u32 more)
{
	u64 slots = ring->config.event_slots, used = ring->event_seq + EVENT_RESERVE + more;

	return ring->flight && used > slots ? used - slots : 0;
}

u64 ring_free_slots(struct ring *ring)
{
	unsigned long flags;
	u64 used;

	raw_spin_lock_irqsave(&ring->tail_lock, flags);
	used = ring->event_seq - ring->event_tail;
	raw_spin_unlock_irqrestore(&ring->tail_lock, flags);
	return ring->config.event_slots - used;
}

bool ring_has_slot(struct ring *ring, u32 beyond)
{
	if (ring->flight) {
		/* Readers know what is lost before it is. */
		smp_store_release(&ring->control->event_oldest, ring_event_oldest(ring, 1));
		smp_wmb();
		return true;
	}
	ring_take_tails(ring);
	return ring_free_slots(ring) > beyond;
}

/* The caller publishes. A slot is free: EVENT_RESERVE of them were when it armed. */
void ring_add_event(struct ring *ring, const struct speprof_event *event)
{
	struct speprof_event *slot = &ring->events[ring->event_seq & (ring->config.event_slots - 1)];

	*slot = *event;
	slot->seq = ring->event_seq++;
	slot->cpu = ring->cpu;
	slot->position = ring->head;
	observe_event(ring->cpu, event);
}

void ring_add_state_event(struct ring *ring, u32 from, u32 to)
{
	ring_add_event(ring, &(struct speprof_event){
		.time_ns = ring->since,
		.type = SPEPROF_EVENT_STATE,
		.arg0 = from,
		.arg1 = to,
	});
}

void ring_add_unread_event(struct ring *ring)
{
	ring_add_event(ring, &(struct speprof_event){
		.time_ns = ktime_get_ns(),
		.type = SPEPROF_EVENT_UNREAD,
		.arg0 = ktime_get_ns() - ring->seen_ns,
		.arg1 = ring->head - ring->seen_tail,
	});
}

void ring_add_gone_event(struct ring *ring)
{
	struct ring_gone gone = ring->gone;

	/* There is no hurry: without a slot it is told later. */
	if (!gone.count || !ring_has_slot(ring, EVENT_RESERVE))
		return;
	ring->gone.count = 0;
	ring_add_event(ring, &(struct speprof_event){
		.time_ns = ktime_get_ns(),
		.type = SPEPROF_EVENT_CGROUP,
		.arg0 = gone.id,
		.arg1 = (u64)gone.count << 32 | gone.left,
	});
	ring_publish(ring);
}

void ring_tell_gone(struct ring *ring, u64 id, u32 left)
{
	ring->gone = (struct ring_gone){ .id = id, .left = left, .count = ring->gone.count + 1 };
	ring_add_gone_event(ring);
}
