// SPDX-License-Identifier: GPL-2.0-only
/*
 * The event ring: its slots, its events, and the heads up to which readers may read.
 */
#include <linux/ktime.h>
#include <linux/poll.h>

#include "ring_internal.h"
#include "stats.h"

void speprof_ring_wake_readers(struct irq_work *work)
{
	struct speprof_ring *ring = container_of(work, struct speprof_ring, wake);
	__poll_t mask = EPOLLIN | EPOLLRDNORM | EPOLLPRI;

	/* Every poll(2) waits for EPOLLERR, so report EPOLLERR only if the ring is FAULTED. */
	if (READ_ONCE(ring->state) == SPEPROF_RING_FAULTED)
		mask |= EPOLLERR;
	wake_up_interruptible_poll(&ring->readers, mask);
}

void speprof_ring_publish(struct speprof_ring *ring)
{
	smp_store_release(&ring->published, ring->head);
	smp_store_release(&ring->event_published, ring->event_seq);
	smp_store_release(&ring->control->head, ring->head);
	smp_store_release(&ring->control->event_head, ring->event_seq);
	ring->counters.wakeups++;
	irq_work_queue(&ring->wake);
}

u64 speprof_ring_find_oldest_event(const struct speprof_ring *ring, u32 more)
{
	u64 slots = ring->config.event_slots, used = ring->event_seq + EVENT_RESERVE + more;

	return ring->flight && used > slots ? used - slots : 0;
}

u64 speprof_ring_count_free_slots(struct speprof_ring *ring)
{
	unsigned long flags;
	u64 used;

	raw_spin_lock_irqsave(&ring->tail_lock, flags);
	used = ring->event_seq - ring->event_tail;
	raw_spin_unlock_irqrestore(&ring->tail_lock, flags);
	return ring->config.event_slots - used;
}

bool speprof_ring_has_slot(struct speprof_ring *ring, u32 reserve)
{
	if (ring->flight) {
		/*
		 * Publish the number of the oldest event that remains before an older one is
		 * overwritten.
		 */
		smp_store_release(&ring->control->event_oldest,
				  speprof_ring_find_oldest_event(ring, 1));
		smp_wmb();
		return true;
	}
	speprof_ring_read_tails(ring);
	return speprof_ring_count_free_slots(ring) > reserve;
}

void speprof_ring_add_event(struct speprof_ring *ring, const struct speprof_event *event)
{
	struct speprof_event *slot = &ring->events[ring->event_seq & (ring->config.event_slots - 1)];

	*slot = *event;
	slot->seq = ring->event_seq++;
	slot->cpu = ring->cpu;
	slot->position = ring->head;
	speprof_stats_count_event(ring->cpu, event);
}

void speprof_ring_add_state_event(struct speprof_ring *ring, u32 from, u32 to)
{
	speprof_ring_add_event(ring, &(struct speprof_event){
		.time_ns = ring->state_since,
		.type = SPEPROF_EVENT_STATE,
		.arg0 = from,
		.arg1 = to,
	});
}

void speprof_ring_add_unread_event(struct speprof_ring *ring)
{
	speprof_ring_add_event(ring, &(struct speprof_event){
		.time_ns = ktime_get_ns(),
		.type = SPEPROF_EVENT_UNREAD,
		.arg0 = ktime_get_ns() - ring->seen_ns,
		.arg1 = ring->head - ring->seen_tail,
	});
}

void speprof_ring_add_cgroup_event(struct speprof_ring *ring)
{
	struct speprof_removed_cgroups removed = ring->removed;

	/*
	 * The reserved slots are for other events. If no other slot is free, this event stays
	 * pending.
	 */
	if (!removed.count || !speprof_ring_has_slot(ring, EVENT_RESERVE))
		return;
	ring->removed.count = 0;
	speprof_ring_add_event(ring, &(struct speprof_event){
		.time_ns = ktime_get_ns(),
		.type = SPEPROF_EVENT_CGROUP,
		.arg0 = removed.id,
		.arg1 = (u64)removed.count << 32 | removed.remaining,
	});
	speprof_ring_publish(ring);
}

void speprof_ring_report_cgroup_removed(struct speprof_ring *ring, u64 id, u32 remaining)
{
	ring->removed = (struct speprof_removed_cgroups){ .id = id,
							  .remaining = remaining,
							  .count = ring->removed.count + 1 };
	speprof_ring_add_cgroup_event(ring);
}
