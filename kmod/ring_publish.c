// SPDX-License-Identifier: GPL-2.0-only
/*
 * What readers get of a ring: windows, events, heads.
 */
#include <linux/ktime.h>
#include <linux/poll.h>

#include "stats.h"
#include "ring_internal.h"

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

static void ring_write_skip(struct ring *ring, const struct closed *closed, u64 position,
			    u64 span)
{
	struct speprof_window skip = {
		.magic = SPEPROF_WINDOW_MAGIC,
		.header_size = SPEPROF_WINDOW_SKIP_SIZE,
		.kind = SPEPROF_WINDOW_SKIP,
		.span = span,
		.seq = ring->seq++,
		.position = position,
		.data_offset = SPEPROF_WINDOW_SKIP_SIZE,
		.cpu = ring->cpu,
		.backend = ring->config.backend->id,
		.generation = closed->generation,
		.pmsver = ring->config.spu.pmsver,
	};

	memcpy(ring->data + (position & (ring->config.size - 1)), &skip, SPEPROF_WINDOW_SKIP_SIZE);
	ring->count.skips++;
	ring->count.skip_bytes += span;
}

/*
 * What is left out before a window; in two where it goes around the ring's end, unless the
 * place of the second header may be a snapshot's.
 */
static void ring_write_skips(struct ring *ring, const struct closed *closed)
{
	u64 position = closed->at.header - closed->at.skip;
	u64 lap = ALIGN(position + 1, ring->config.size);
	u64 first = ring->flight ? closed->at.skip : min(closed->at.skip, lap - position);

	if (first)
		ring_write_skip(ring, closed, position, first);
	if (first < closed->at.skip)
		ring_write_skip(ring, closed, lap, closed->at.skip - first);
}

void ring_write_window(struct ring *ring, const struct closed *closed)
{
	const struct speprof_cpu_info *spu = &ring->config.spu;
	struct speprof_window window = {
		.magic = SPEPROF_WINDOW_MAGIC,
		.header_size = sizeof(window),
		.kind = SPEPROF_WINDOW_RECORDS,
		.position = closed->at.header,
		.data_size = closed->bytes,
		.data_offset = (u32)(closed->at.start - closed->at.header),
		.flags = closed->flags,
		.cpu = ring->cpu,
		.backend = ring->config.backend->id,
		.generation = closed->generation,
		.pmsver = spu->pmsver,
		.midr = spu->midr,
		.pmsidr = spu->pmsidr,
		.pmbidr = spu->pmbidr,
		.pmbsr = closed->pmbsr,
		.interval = closed->interval,
		.interval_unit = spu->interval_unit,
		.clock = SPEPROF_CLOCK_MONOTONIC,
		.start_ns = closed->start_ns,
		.end_ns = closed->end_ns,
		.start_ticks = closed->start_ticks,
		.tick_hz = spu->tick_hz,
		.armed_ns = closed->armed_ns,
		.blind_ns = closed->blind_ns,
		.records = closed->records,
		.parked_ns = closed->parked_ns,
	};

	memcpy(window.blind_share, closed->blind_share, sizeof(window.blind_share));
	ring_write_skips(ring, closed);
	window.seq = ring->seq++;
	window.span = closed->head - closed->at.header;
	memcpy(ring->data + (closed->at.header & (ring->config.size - 1)), &window, sizeof(window));

	ring->count.windows++;
	ring->count.data_bytes += closed->bytes;
	ring->count.header_bytes += window.span - closed->bytes;
	ring->count.records += closed->records;
	observe_window(ring->cpu, &window);
}
