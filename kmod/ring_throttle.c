// SPDX-License-Identifier: GPL-2.0-only
/*
 * When a ring rests, so that its CPU spends no more on its SPU than throttle.c allows.
 */
#include <linux/ktime.h>

#include "ring_internal.h"
#include "throttle.h"

static void ring_note_rest(struct ring *ring)
{
	ring->count.throttles++;
	ring->rested_before = ring->count.state_ns[SPEPROF_RING_THROTTLED];
}

u32 ring_throttle(struct ring *ring, const struct closed *closed, u32 to)
{
	/* Whatever closed the window: the SPU, the timer or a command, each interrupted the CPU. */
	ring->rest_until = throttle_charge(closed->end_ns, 1, closed->bytes, &ring->bound,
					   &ring->spent, &ring->rest_cause);
	if (!ring->rest_until || (to != SPEPROF_RING_ARMED && to != SPEPROF_RING_PARKED))
		return to;
	ring_note_rest(ring);
	ring->parked_from = SPEPROF_RING_THROTTLED;
	return to == SPEPROF_RING_PARKED ? to : SPEPROF_RING_THROTTLED;
}

bool ring_rests_first(struct ring *ring)
{
	struct spe_window window;

	ring->rest_until = throttle_charge(ktime_get_ns(), 0, 0, &ring->bound, &ring->spent,
					   &ring->rest_cause);
	if (!ring->rest_until || !ring_has_room(ring, &window))
		return false;
	ring_note_rest(ring);
	return true;
}

void ring_rested(struct ring *ring)
{
	u64 now = ktime_get_ns();
	u32 to;

	if (now < ring->rest_until)
		return;
	ring_transition(ring, SPEPROF_RING_HANDLING, now);
	to = ring_arm(ring);
	ring_add_event(ring, &(struct speprof_event){
		.time_ns = now,
		.type = SPEPROF_EVENT_THROTTLE,
		.arg0 = ring->count.state_ns[SPEPROF_RING_THROTTLED] - ring->rested_before,
		.arg1 = ring->rest_cause,
	});
	if (to != SPEPROF_RING_ARMED)
		ring_add_state_event(ring, SPEPROF_RING_THROTTLED, to);
	ring_publish(ring);
}
