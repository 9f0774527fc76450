// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rings of cgroups: the SPU is theirs while one of their tasks runs, and a window that is open
 * stays open in between. All of this may be under the runqueue's lock.
 */
#include <linux/ktime.h>

#include "stats.h"
#include "ring_internal.h"

/* The window stays open, and its registers in the SPU. */
static void ring_park_window(struct ring *ring)
{
	const struct speprof_backend *backend = ring->config.backend;

	if (backend->disables_parked_buffer) {
		backend->write(SPE_REG_PMBLIMITR, 0);
		backend->synchronize();
	}
	ring_transition(ring, SPEPROF_RING_PARKED, ktime_get_ns());
}

void ring_park(struct ring *ring)
{
	if (ring->state == SPEPROF_RING_ARMED) {
		/* What the task did is in its window before the next one runs. */
		ring_stop_sampling(ring);
		ring->parked_from = SPEPROF_RING_ARMED;
		if (ring->config.backend->read(SPE_REG_PMBSR) & SPE_PMBSR_S)
			ring_turn_drained(ring, SPEPROF_RING_PARKED, NULL);
		else
			ring_park_window(ring);
	} else if (ring->state == SPEPROF_RING_FULL || ring->state == SPEPROF_RING_THROTTLED) {
		ring->parked_from = ring->state;
		ring_transition(ring, SPEPROF_RING_PARKED, ktime_get_ns());
	} else if (ring->state == SPEPROF_RING_HANDOVER) {
		ring_transition(ring, SPEPROF_RING_PARKED, ktime_get_ns());
	}
}

void ring_put_away(struct ring *ring)
{
	const struct speprof_backend *backend = ring->config.backend;

	if (ring->loaded)
		ring->saved.pmsicr = backend->read(SPE_REG_PMSICR);
	ring->loaded = 0;
	if (ring->hold != RING_HOLD_SPU)
		return;
	ring->saved.pmbptr = backend->read(SPE_REG_PMBPTR);
	ring->saved.pmbsr |= backend->read(SPE_REG_PMBSR);
	backend->write(SPE_REG_PMBLIMITR, 0);
	backend->write(SPE_REG_PMBSR, 0);
	backend->synchronize();
	if (backend->records)
		ring->saved.records += backend->records() - ring->records_before;
	ring->hold = RING_HOLD_SAVED;
}

void ring_enter(struct ring *ring)
{
	if (ring->state != SPEPROF_RING_PARKED)
		return;
	ring->count.entries++;
	ring->count.handovers += !ring->loaded;
	observe_handover(ring->cpu, !ring->loaded);
	ring_transition(ring, SPEPROF_RING_HANDOVER, ktime_get_ns());
}

void ring_seat(struct ring *ring)
{
	if (ring->state != SPEPROF_RING_HANDOVER)
		return;
	if (ring->parked_from == SPEPROF_RING_FULL) {
		ring_transition(ring, SPEPROF_RING_FULL, ktime_get_ns());
		ring_resume(ring);
	} else if (ring->parked_from == SPEPROF_RING_THROTTLED) {
		ring_transition(ring, SPEPROF_RING_THROTTLED, ktime_get_ns());
		ring_rested(ring);
	} else if (ring->hold == RING_HOLD_NONE) {
		/* It may come here without ever having been armed: then no slot was reserved. */
		if (ring_arm(ring) == SPEPROF_RING_FULL && ring_has_slot(ring, 0)) {
			ring_add_state_event(ring, SPEPROF_RING_ARMED, SPEPROF_RING_FULL);
			ring_publish(ring);
		}
	} else {
		if (ring->hold == RING_HOLD_SAVED)
			ring_load_buffer(ring, ring->saved.pmbptr);
		else if (ring->config.backend->disables_parked_buffer)
			ring_enable_buffer(ring);
		ring_enable(ring, ktime_get_ns());
	}
	if (!hrtimer_active(&ring->timer) || ring->state == SPEPROF_RING_THROTTLED)
		ring_timer_start(ring);
}

bool ring_enters_late(const struct ring *ring)
{
	/* Where a new window lies, and whether there is room, is not for the runqueue's lock. */
	return ring->program.pmscr & SPE_PMSCR_E1SPE || ring->hold == RING_HOLD_NONE;
}

/* ---- Cgroups that were removed --------------------------------------------- */

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
