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
 * struct closed - a window as it was when profiling was disabled
 * @bytes: that the SPU wrote; 0: there is nothing to publish
 * @offset: of PMBPTR from the first record; U64_MAX if PMBPTR is outside of the window
 * @head: of the ring after this window
 */
struct closed {
	struct spe_window at;
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

/** ring_transition() - the only way to another state; what the last one took goes to the ledger */
void ring_transition(struct ring *ring, u32 to, u64 now);

/** ring_book_time() - add the time up to @now to the ledger of the ring's state */
void ring_book_time(struct ring *ring, u64 now);

/** ring_timer_start() - not from within it: it looks by itself when it is done */
void ring_timer_start(struct ring *ring);

/* ---- ring_window.c ------------------------------------------------------------- */

/** ring_has_room() - whether there is room for a window, and slots for its events */
bool ring_has_room(struct ring *ring, struct spe_window *ret_window);

/** ring_set_program() - what the ring samples from the next window on; none is open */
void ring_set_program(struct ring *ring, const struct program *program);

/** ring_arm() - no window open, S clear: to ARMED, or FULL; which is returned */
u32 ring_arm(struct ring *ring);

/**
 * ring_turn() - from ARMED, close the window
 * @to: ARMED, with a new window; or another state; a syndrome, the throttle or a full ring may
 *	make something else of it
 * @next: what to sample then; NULL: the same
 */
void ring_turn(struct ring *ring, u32 to, const struct program *next);

/**
 * ring_close_parked() - close the window of a PARKED ring and publish what it has
 * @to: PARKED: the ring stays started, but a syndrome may make it FAULTED; IDLE or OFFLINE: the
 *	caller's transition follows
 */
void ring_close_parked(struct ring *ring, u32 to);

/** ring_resume() - FULL ends if there is room, and a reader */
void ring_resume(struct ring *ring);

/**
 * ring_rests_first() - whether a ring that starts has to rest before its first window
 *
 * STOP and START, and a CPU that goes offline and comes back, thus lift no bound. False if there
 * is no room for a window: the ring becomes FULL instead, which needs no event slot.
 */
bool ring_rests_first(struct ring *ring);

/** ring_rested() - leave THROTTLED once the CPU's next period has begun */
void ring_rested(struct ring *ring);

/* ---- ring_events.c ------------------------------------------------------------- */

/** ring_wake() - wake its readers */
void ring_wake(struct irq_work *work);

/** ring_publish() - all up to the private heads is written: let readers see it, wake them */
void ring_publish(struct ring *ring);

/** ring_event_oldest() - what is still there once @more and what a window may bring have come */
u64 ring_event_oldest(const struct ring *ring, u32 more);

/** ring_free_slots() - of a stream, by the tails that were taken */
u64 ring_free_slots(struct ring *ring);

/** ring_has_slot() - for one event, whatever was reserved; @beyond: are not to be taken by it */
bool ring_has_slot(struct ring *ring, u32 beyond);

/** ring_add_event() - a slot is free; the caller publishes */
void ring_add_event(struct ring *ring, const struct speprof_event *event);
void ring_add_state_event(struct ring *ring, u32 from, u32 to);
void ring_add_unread_event(struct ring *ring);

/** ring_add_gone_event() - tell what ring_tell_gone() could not */
void ring_add_gone_event(struct ring *ring);

/* ---- ring_reader.c ------------------------------------------------------------- */

/** ring_seen() - the reader gave a sign at @now: the ring samples on */
void ring_seen(struct ring *ring, u64 now);

/** ring_is_unread() - check for a sign of the reader; true: none came for unread_ms */
bool ring_is_unread(struct ring *ring);

/** ring_stop_unread() - from ARMED, PARKED or FULL to FULL, even if there is room */
void ring_stop_unread(struct ring *ring);

#endif
