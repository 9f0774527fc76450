/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of a ring share. All of it on the ring's CPU, interrupts off, as in ring.h.
 */
#ifndef SPEPROF_RING_INTERNAL_H
#define SPEPROF_RING_INTERNAL_H

#include "ring.h"
#include "policy/syndrome.h"

/*
 * Event slots that must be free before a window is armed, for what may happen until the
 * next: the syndrome before it or leaving FULL; its syndrome; entering FULL, FAULTED or
 * THROTTLED; that THROTTLED ends; from there to FULL; in FULL, that nobody reads.
 */
#define EVENT_RESERVE 6

/*
 * struct speprof_closed_window - a window as it was when profiling was disabled
 * @bytes: that the SPU wrote; 0: there is nothing to publish
 * @offset: of PMBPTR from the first record; U64_MAX if PMBPTR is outside of the window
 * @head: of the ring after this window
 */
struct speprof_closed_window {
	struct spe_window window;
	u64 start_ns;
	u64 start_ticks;
	u64 end_ns;
	u64 armed_ns;
	u64 blind_ns;
	u64 parked_ns;
	u32 blind_share[SPEPROF_BLINDS];
	u64 pmbsr;
	u64 offset;
	u64 bytes;
	u64 head;
	u64 records;
	u64 interval;
	u32 generation;
	u32 flags;
	struct spe_verdict verdict;
};

/* ---- ring.c -------------------------------------------------------------------- */

/** speprof_ring_transition() - the only way to another state; what the last one took goes to the ledger */
void speprof_ring_transition(struct speprof_ring *ring, u32 to, u64 now);

/** speprof_ring_book_time() - add the time up to @now to the ledger of the ring's state */
void speprof_ring_book_time(struct speprof_ring *ring, u64 now);

/** speprof_ring_start_timer() - not from within it: it looks by itself when it is done */
void speprof_ring_start_timer(struct speprof_ring *ring);

/* ---- ring_window.c ------------------------------------------------------------- */

/** speprof_ring_set_program() - what the ring samples from the next window on; none is open */
void speprof_ring_set_program(struct speprof_ring *ring, const struct speprof_program *program);

/** speprof_ring_arm() - no window open, S clear: to ARMED, or FULL; which is returned */
u32 speprof_ring_arm(struct speprof_ring *ring);

/**
 * speprof_ring_rotate_window() - from ARMED, close the window
 * @to: ARMED, with a new window; or another state; a syndrome, the throttle or a full ring may
 *	make something else of it
 * @next: what to sample then; NULL: the same
 */
void speprof_ring_rotate_window(struct speprof_ring *ring, u32 to,
				const struct speprof_program *next);

/**
 * speprof_ring_close_parked() - close the window of a PARKED ring and publish what it has
 * @to: PARKED: the ring stays started, but a syndrome may make it FAULTED; IDLE or OFFLINE: the
 *	caller's transition follows
 */
void speprof_ring_close_parked(struct speprof_ring *ring, u32 to);

/** speprof_ring_resume() - FULL ends if there is room, and a reader */
void speprof_ring_resume(struct speprof_ring *ring);

/**
 * speprof_ring_must_rest() - whether a ring that starts has to rest before its first window
 *
 * STOP and START, and a CPU that goes offline and comes back, thus lift no bound. False if there
 * is no room for a window: the ring becomes FULL instead, which needs no event slot.
 */
bool speprof_ring_must_rest(struct speprof_ring *ring);

/** speprof_ring_end_throttle() - leave THROTTLED once the CPU's next period has begun */
void speprof_ring_end_throttle(struct speprof_ring *ring);

/* ---- ring_events.c ------------------------------------------------------------- */

/** speprof_ring_wake_readers() - wake its readers */
void speprof_ring_wake_readers(struct irq_work *work);

/** speprof_ring_publish() - all up to the private heads is written: let readers see it, wake them */
void speprof_ring_publish(struct speprof_ring *ring);

/** speprof_ring_oldest_event() - what is still there once @more and what a window may bring have come */
u64 speprof_ring_oldest_event(const struct speprof_ring *ring, u32 more);

/** speprof_ring_free_slots() - of a stream, by the tails that were taken */
u64 speprof_ring_free_slots(struct speprof_ring *ring);

/** speprof_ring_has_slot() - for one event, whatever was reserved; @beyond: are not to be taken by it */
bool speprof_ring_has_slot(struct speprof_ring *ring, u32 beyond);

/** speprof_ring_add_event() - a slot is free; the caller publishes */
void speprof_ring_add_event(struct speprof_ring *ring, const struct speprof_event *event);
void speprof_ring_add_state_event(struct speprof_ring *ring, u32 from, u32 to);
void speprof_ring_add_unread_event(struct speprof_ring *ring);

/** speprof_ring_add_cgroup_event() - tell what speprof_ring_report_cgroup_removed() could not */
void speprof_ring_add_cgroup_event(struct speprof_ring *ring);

/* ---- ring_reader.c ------------------------------------------------------------- */

/** speprof_ring_reader_seen() - the reader gave a sign at @now: the ring samples on */
void speprof_ring_reader_seen(struct speprof_ring *ring, u64 now);

/** speprof_ring_is_unread() - check for a sign of the reader; true: none came for unread_ms */
bool speprof_ring_is_unread(struct speprof_ring *ring);

/** speprof_ring_stop_unread() - from ARMED, PARKED or FULL to FULL, even if there is room */
void speprof_ring_stop_unread(struct speprof_ring *ring);

#endif
