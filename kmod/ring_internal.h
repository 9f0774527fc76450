/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions that the files of the ring implementation share.
 *
 * Every function runs on the ring's CPU with interrupts off. While that CPU is offline it runs on
 * any CPU, with interrupts off, under speprof_control and cpus_read_lock().
 */
#ifndef SPEPROF_RING_INTERNAL_H
#define SPEPROF_RING_INTERNAL_H

#include "policy/syndrome.h"
#include "ring.h"

/*
 * Event slots that must be free before a window is armed. This number of events may occur before
 * the next window is armed, and none of them may be lost: 1. the syndrome of the window before it,
 * or the end of FULL; 2. the syndrome of the window; 3. the change to FULL, FAULTED or THROTTLED;
 * 4. the end of THROTTLED; 5. the change from THROTTLED to FULL; 6. in FULL, the missing reader.
 */
#define EVENT_RESERVE 6

/**
 * struct speprof_closed_window - a window after profiling was disabled
 * @window: its position in the ring
 * @start_ns: time at which it was armed, CLOCK_MONOTONIC in ns
 * @start_ticks: value of the backend's ticks() at @start_ns
 * @end_ns: time at which the SPU was drained, CLOCK_MONOTONIC in ns
 * @armed_ns: time in ARMED since the end of the last RECORDS window, in ns
 * @blind_ns: time since then in which the CPU should have been sampled but was not, in ns
 * @parked_ns: time in PARKED since then, in ns
 * @blind_share: fraction of @blind_ns for each cause, in units of 2^-32; indexed by SPEPROF_BLIND_*
 * @pmbsr: the syndrome, as read after the drain
 * @offset: bytes from the first record to PMBPTR; U64_MAX if PMBPTR is outside of the window
 * @bytes: bytes that the SPU wrote; 0: there is nothing to publish
 * @head: head of the ring after this window
 * @records: number of records; 0 if the backend cannot count them
 * @interval: mean sample interval, in operations
 * @generation: generation of its program
 * @flags: SPEPROF_WINDOW_*
 * @verdict: the interpretation of @pmbsr
 */
struct speprof_closed_window {
	struct spe_window_position window;
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
	struct spe_syndrome_verdict verdict;
};

/* ---- ring.c ---------------------------------------------------------------------- */

/**
 * speprof_ring_transition() - change the state; nothing else writes it
 * @ring: the ring
 * @to: the new state, SPEPROF_RING_*
 * @now: CLOCK_MONOTONIC in ns; the time since the last change counts for the old state
 *
 * The function warns if the table of legal transitions does not contain this transition.
 */
void speprof_ring_transition(struct speprof_ring *ring, u32 to, u64 now);

/**
 * speprof_ring_account_time() - count the time since the last change for the current state
 * @ring: the ring
 * @now: CLOCK_MONOTONIC in ns
 */
void speprof_ring_account_time(struct speprof_ring *ring, u64 now);

/**
 * speprof_ring_start_timer() - set the timer for the current state
 * @ring: the ring
 *
 * The callback of the timer must not call this, because it sets the next expiry itself.
 */
void speprof_ring_start_timer(struct speprof_ring *ring);

/* ---- ring_window.c --------------------------------------------------------------- */

/**
 * speprof_ring_set_program() - set the program of the next window
 * @ring: the ring; no window is open
 * @program: the program; copied
 */
void speprof_ring_set_program(struct speprof_ring *ring,
			      const struct speprof_sampling_program *program);

/**
 * speprof_ring_arm() - arm the next window if there is free space for it and for its events
 * @ring: the ring; no window is open, and PMBSR.S is 0
 *
 * Context: never under the runqueue lock: placing a window takes the tail lock and, in a flight
 * recorder, up to 128 steps.
 * Return: the new state: ARMED, or FULL.
 */
u32 speprof_ring_arm(struct speprof_ring *ring);

/**
 * speprof_ring_rotate_window() - close and publish the open window, and arm the next one
 * @ring: the ring, ARMED
 * @to: the state to change to; ARMED arms the next window. A syndrome, the throttle or a full ring
 *	may lead to FAULTED, THROTTLED or FULL instead
 * @next: the program of the next window; NULL: the current one
 */
void speprof_ring_rotate_window(struct speprof_ring *ring, u32 to,
				const struct speprof_sampling_program *next);

/**
 * speprof_ring_close_parked() - close and publish the window of a PARKED ring, if one is open
 * @ring: the ring, PARKED
 * @to: PARKED: the session continues, but a syndrome may make the ring FAULTED. IDLE or OFFLINE:
 *	the caller changes to that state afterwards
 */
void speprof_ring_close_parked(struct speprof_ring *ring, u32 to);

/**
 * speprof_ring_resume() - leave FULL if there is free space and a reader
 * @ring: the ring, in any state
 */
void speprof_ring_resume(struct speprof_ring *ring);

/**
 * speprof_ring_must_throttle() - check whether a ring that starts must be THROTTLED first
 * @ring: the ring; no window is open
 *
 * Neither STOP and START nor CPU hotplug may reset a limit. Without free space this returns false:
 * the ring becomes FULL, which needs no event slot.
 */
bool speprof_ring_must_throttle(struct speprof_ring *ring);

/**
 * speprof_ring_end_throttle() - leave THROTTLED if the next period of the throttle has begun
 * @ring: the ring, THROTTLED
 */
void speprof_ring_end_throttle(struct speprof_ring *ring);

/* ---- ring_events.c --------------------------------------------------------------- */

/**
 * speprof_ring_wake_readers() - wake the tasks in poll(2) and read(2); the irq_work of a ring
 * @work: &speprof_ring.wake
 */
void speprof_ring_wake_readers(struct irq_work *work);

/**
 * speprof_ring_publish() - make windows and events up to the private heads visible, and wake
 * readers
 * @ring: the ring; all bytes and events before its private heads are written
 */
void speprof_ring_publish(struct speprof_ring *ring);

/**
 * speprof_ring_find_oldest_event() - find the oldest event that is not overwritten
 * @ring: the ring
 * @more: number of events that will be added next, in addition to EVENT_RESERVE
 *
 * Return: its number; 0 for a stream, which overwrites no events.
 */
u64 speprof_ring_find_oldest_event(const struct speprof_ring *ring, u32 more);

/**
 * speprof_ring_count_free_slots() - count the free event slots of a stream
 * @ring: the ring
 */
u64 speprof_ring_count_free_slots(struct speprof_ring *ring);

/**
 * speprof_ring_has_slot() - check whether an event without a reserved slot may be added
 * @ring: the ring
 * @reserve: number of free slots that must remain
 *
 * Return: true if an event may be added. For a flight recorder this is always true; the function
 * then publishes the number of the oldest event that will not be overwritten.
 */
bool speprof_ring_has_slot(struct speprof_ring *ring, u32 reserve);

/**
 * speprof_ring_add_event() - write an event; the caller publishes it
 * @ring: the ring; a slot is free
 * @event: the event; seq, cpu and position are set here
 */
void speprof_ring_add_event(struct speprof_ring *ring, const struct speprof_event *event);

/**
 * speprof_ring_add_state_event() - write an event for a change of state; the caller publishes it
 * @ring: the ring, which is in state @to since @ring->state_since; a slot is free
 * @from: the state before
 * @to: the state now
 */
void speprof_ring_add_state_event(struct speprof_ring *ring, u32 from, u32 to);

/**
 * speprof_ring_add_unread_event() - write an event for a missing reader; the caller publishes it
 * @ring: the ring; a slot is free
 */
void speprof_ring_add_unread_event(struct speprof_ring *ring);

/**
 * speprof_ring_add_cgroup_event() - write and publish the pending event in @ring->removed
 * @ring: the ring; without a free slot the event stays pending
 */
void speprof_ring_add_cgroup_event(struct speprof_ring *ring);

/* ---- ring_reader.c --------------------------------------------------------------- */

/**
 * speprof_ring_note_progress() - record that the reader made progress
 * @ring: the ring
 * @now: CLOCK_MONOTONIC in ns
 */
void speprof_ring_note_progress(struct speprof_ring *ring, u64 now);

/**
 * speprof_ring_is_unread() - check whether the reader is missing
 * @ring: the ring
 *
 * Return: true if the reader made no progress for the number of milliseconds in the module
 * parameter unread_ms. Always false for a flight recorder.
 */
bool speprof_ring_is_unread(struct speprof_ring *ring);

/**
 * speprof_ring_stop_unread() - stop sampling because the reader is missing, even if there is free
 * space
 * @ring: the ring. If it is ARMED or FULL, it is FULL afterwards. If it is PARKED, it becomes FULL
 * at the next handover
 */
void speprof_ring_stop_unread(struct speprof_ring *ring);

#endif
