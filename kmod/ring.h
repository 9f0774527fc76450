/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A ring: the memory that receives the records and events of one CPU for one session, and
 * the state machine that arms and closes the windows in it.
 */
#ifndef SPEPROF_RING_H
#define SPEPROF_RING_H

#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include <linux/speprof.h>

#include "shared_buffer.h"
#include "backend.h"
#include "policy/flight.h"
#include "program.h"
#include "throttle.h"
#include "policy/window.h"

/**
 * struct speprof_ring_config - how a ring is made; constant afterwards
 * @backend: the backend of the CPU's SPU
 * @spu: what the SPU can do
 * @size: bytes of the data ring; a power of two
 * @event_slots: slots of the event ring; a power of two
 * @max_window: bytes after which a window is closed
 * @latency_ms: a window is closed after this many milliseconds; 0: there is no such bound
 * @flight: the ring is a flight recorder, which overwrites its oldest windows
 * @for_cgroups: the session samples cgroups: the ring is PARKED while no task of them runs
 */
struct speprof_ring_config {
	const struct speprof_backend *backend;
	struct speprof_cpu_info spu;
	u64 size;
	u32 event_slots;
	u32 max_window;
	u32 latency_ms;
	bool flight;
	bool for_cgroups;
};

/* The states of speprof_ring_stats.state_ns, and PARKED, which has a field of its own there. */
#define RING_STATES (SPEPROF_RING_PARKED + 1)

/**
 * struct speprof_ring_counters - what speprof_ring_stats reports
 * @state_ns: nanoseconds in each state, up to the last change of state
 * @entries: how often a task of the session's cgroups was scheduled in
 * @handovers: how many of these found the registers of another ring in the SPU
 *
 * The other fields are those of struct speprof_ring_stats with the same names.
 */
struct speprof_ring_counters {
	u64 state_ns[RING_STATES];
	u64 data_bytes;
	u64 header_bytes;
	u64 skip_bytes;
	u64 windows;
	u64 skips;
	u64 records;
	u64 interrupts;
	u64 resumes;
	u64 wakeups;
	u64 throttles;
	u64 unreads;
	u64 entries;
	u64 handovers;
};

/* Where the registers of the open window are: the one that was armed and is not closed. */
enum speprof_open_window {
	OPEN_WINDOW_NONE,	/* no window is open */
	OPEN_WINDOW_IN_SPU,	/* in the SPU's registers */
	OPEN_WINDOW_SAVED,	/* in struct speprof_saved_registers: another ring may use the SPU */
};

/**
 * struct speprof_saved_registers - registers of an SPU that another ring uses
 * @pmsicr: the interval counters; 0: the SPU reloads them (D17.3.3)
 * @pmbptr: the write pointer; valid with OPEN_WINDOW_SAVED
 * @pmbsr: the syndrome of the open window so far; COLL is the only bit that can be set
 * @records: records of the open window so far, if the SPU can count
 */
struct speprof_saved_registers {
	u64 pmsicr;
	u64 pmbptr;
	u64 pmbsr;
	u64 records;
};

/**
 * struct speprof_removed_cgroups - the next SPEPROF_EVENT_CGROUP, which waits for a free slot
 * @id: ID of the cgroup that was removed last
 * @left: how many cgroups the session still samples
 * @count: how many cgroups were removed since the last such event; 0: there is none to add
 */
struct speprof_removed_cgroups {
	u64 id;
	u32 left;
	u32 count;
};

/**
 * struct speprof_ring - the ring of one CPU in one session
 *
 * The fields are in three groups. Those before @state never change. Those from @state to
 * @counters belong to the CPU: they are used there with interrupts off. While the CPU is down, any
 * CPU may use them under speprof_control and cpus_read_lock(). Those from @bound on are shared.
 *
 * @config: how it was made
 * @cpu: the CPU that it belongs to
 * @control_buffer: pages of @control
 * @event_buffer: pages of @events
 * @data_buffer: pages of @data
 * @control: the control page, which userspace may write to
 * @events: the event ring
 * @data: the data ring
 *
 * @state: SPEPROF_RING_*; only speprof_ring_transition() changes it. Others may read it with
 *	READ_ONCE()
 * @loaded_generation: generation of the program that is in the SPU's registers; 0: none is
 * @state_since: when @state began, CLOCK_MONOTONIC in ns
 * @program: the program of the open window, or of the next one
 * @open_window: where the registers of the open window are; NONE unless the ring is ARMED,
 *	HANDLING, PARKED or HANDOVER
 * @resume_state: ARMED, FULL or THROTTLED: the state that follows PARKED and HANDOVER
 * @window: the open window, unless @open_window is NONE
 * @saved: registers that are not in the SPU
 * @removed: an event that waits for a free slot
 * @cpu_link: links the ring into speprof_cpu.rings
 * @start_ns: when the window was armed, CLOCK_MONOTONIC in ns
 * @start_ticks: the backend's count at the same time
 * @records_before: what the backend's records() returned when the window was loaded
 * @state_before: @counters.state_ns at the end of the last RECORDS window
 * @head: bytes up to the end of the last closed window
 * @seq: number of the next window header
 * @event_seq: number of the next event
 * @empty_syndromes: how many windows in a row ended in a syndrome without a byte written
 * @flight: which windows are overwritten and which are claimed; NULL for a stream
 * @throttle: what this ring has spent of @bound
 * @throttled_until: when THROTTLED ends, CLOCK_MONOTONIC in ns
 * @throttled_before: time in THROTTLED before the current stay, in ns
 * @throttle_cause: SPEPROF_THROTTLE_*
 * @unread: the ring stopped sampling because nobody reads it
 * @seen_tail: the data tail at the timer's last check
 * @seen_event_tail: the event tail at the timer's last check
 * @seen_ns: when the reader last made progress or had nothing to read, CLOCK_MONOTONIC
 * @timer: bounds a window's age, ends FULL and THROTTLED, notices that nobody reads
 * @counters: the ledgers
 *
 * @bound: what sampling may cost the CPU; written under speprof_control
 * @published: the head that readers may see
 * @event_published: the event head that readers may see
 * @tail_lock: innermost lock; protects the next three
 * @tail: bytes that readers have consumed
 * @event_tail: events that readers have consumed
 * @bad_tails: tails that were rejected
 * @reader_kicked: KICK was called since the timer's last check
 * @command_bucket: commands that the ring's descriptors have left
 * @read_lock: one read(2) at a time
 * @wake: wakes @readers from any context
 * @readers: tasks in poll(2) and read(2)
 */
struct speprof_ring {
	struct speprof_ring_config config;
	unsigned int cpu;
	struct speprof_shared_buffer control_buffer;
	struct speprof_shared_buffer event_buffer;
	struct speprof_shared_buffer data_buffer;
	struct speprof_control *control;
	struct speprof_event *events;
	u8 *data;

	u32 state;
	u32 loaded_generation;
	u64 state_since;
	struct speprof_program program;
	enum speprof_open_window open_window;
	u32 resume_state;
	struct spe_window window;
	struct speprof_saved_registers saved;
	struct speprof_removed_cgroups removed;
	struct hlist_node cpu_link;
	u64 start_ns;
	u64 start_ticks;
	u64 records_before;
	u64 state_before[RING_STATES];
	u64 head;
	u64 seq;
	u64 event_seq;
	u32 empty_syndromes;
	struct spe_flight *flight;
	struct speprof_throttle throttle;
	u64 throttled_until;
	u64 throttled_before;
	u32 throttle_cause;
	bool unread;
	u64 seen_tail;
	u64 seen_event_tail;
	u64 seen_ns;
	struct hrtimer timer;
	struct speprof_ring_counters counters;

	struct speprof_throttle_bound bound;
	u64 published;
	u64 event_published;
	raw_spinlock_t tail_lock;
	u64 tail;
	u64 event_tail;
	u64 bad_tails;
	bool reader_kicked;
	struct speprof_command_bucket command_bucket;
	struct mutex read_lock;
	struct irq_work wake;
	wait_queue_head_t readers;
};

/**
 * speprof_ring_pages() - how many pages of locked memory a ring takes
 * @config: only its sizes are used
 */
unsigned long speprof_ring_pages(const struct speprof_ring_config *config);

/**
 * speprof_ring_new() - allocate a ring, which is IDLE
 * @config: how to make it; copied
 *
 * Context: may sleep; takes no lock.
 * Return: the ring, or ERR_PTR(-ENOMEM).
 */
struct speprof_ring *speprof_ring_new(const struct speprof_ring_config *config);

/**
 * speprof_ring_free() - free a ring that is IDLE and has no reader
 * @ring: may be NULL
 *
 * Context: may sleep: waits for the ring's timer and its irq_work.
 */
void speprof_ring_free(struct speprof_ring *ring);

/*
 * ---- On the ring's CPU ---------------------------------------------------------
 *
 * The functions down to speprof_ring_get_stats() run on the ring's CPU with interrupts off.
 * While that CPU is down they run on any CPU, with interrupts off, under speprof_control and
 * cpus_read_lock().
 */

/**
 * speprof_ring_start() - begin to sample, from IDLE
 * @ring: the ring, which speprof_arbiter_add_ring() has added to its CPU
 * @program: what to sample; copied
 * @up: the CPU is online with the ring's backend
 *
 * The ring becomes ARMED, FULL or THROTTLED; PARKED if it samples cgroups; OFFLINE if not @up. The
 * caller reevaluates the arbiter afterwards.
 */
void speprof_ring_start(struct speprof_ring *ring, const struct speprof_program *program, bool up);

/**
 * speprof_ring_stop() - publish what was sampled and become IDLE; a ring that is IDLE stays so
 * @ring: the ring
 */
void speprof_ring_stop(struct speprof_ring *ring);

/**
 * speprof_ring_reprogram() - close the open window and sample another program
 * @ring: the ring, in any state
 * @program: what to sample from here on; copied
 */
void speprof_ring_reprogram(struct speprof_ring *ring, const struct speprof_program *program);

/**
 * speprof_ring_online() - the CPU came online: begin to sample, if the ring is OFFLINE
 * @ring: a ring of a started session
 */
void speprof_ring_online(struct speprof_ring *ring);

/**
 * speprof_ring_offline() - the CPU goes offline: publish what was sampled, become OFFLINE
 * @ring: a ring of a started session
 *
 * A ring that is FAULTED stays so.
 */
void speprof_ring_offline(struct speprof_ring *ring);

/**
 * speprof_ring_interrupt() - handle the buffer management interrupt (PMBIRQ)
 * @ring: the ring whose registers the SPU holds
 *
 * Context: hard interrupt.
 * Return: true if the ring was ARMED; then its window was closed, and PMBSR.S is 0.
 */
bool speprof_ring_interrupt(struct speprof_ring *ring);

/*
 * The next five hand the SPU over between rings of cgroups. The arbiter calls them at context
 * switches, under the runqueue lock. They wake readers only by irq_work, as a wakeup would take the
 * runqueue lock again.
 */

/**
 * speprof_ring_park() - stop sampling: the task that runs next is not of the ring's cgroups
 * @ring: the ring whose registers the SPU holds, in any state
 *
 * Drains the SPU, so that no record of the previous task is written later. An open window stays
 * open unless its syndrome ends it. FULL and THROTTLED are remembered in @ring->resume_state.
 */
void speprof_ring_park(struct speprof_ring *ring);

/**
 * speprof_ring_save_registers() - free the SPU for another ring
 * @ring: the ring whose registers the SPU holds; not ARMED
 *
 * Saves the interval counters, and the write pointer and syndrome of an open window.
 */
void speprof_ring_save_registers(struct speprof_ring *ring);

/**
 * speprof_ring_begin_handover() - a task of the ring's cgroups runs next: PARKED becomes HANDOVER
 * @ring: the ring; no other ring's registers are in the SPU
 */
void speprof_ring_begin_handover(struct speprof_ring *ring);

/**
 * speprof_ring_complete_handover() - leave HANDOVER: sample again, if the ring has free space
 * @ring: the ring; nothing happens in another state than HANDOVER
 *
 * Context: not under the runqueue lock if speprof_ring_defers_handover().
 */
void speprof_ring_complete_handover(struct speprof_ring *ring);

/**
 * speprof_ring_defers_handover() - whether the handover has to wait for the end of the switch
 * @ring: the ring, in HANDOVER
 *
 * It has to if the kernel is sampled, as records of the switch itself would name the previous
 * task. It also has to if no window is open, as arming one takes too long for the runqueue lock.
 */
bool speprof_ring_defers_handover(const struct speprof_ring *ring);

/**
 * speprof_ring_report_cgroup_removed() - add an event, now or once a slot is free
 * @ring: the ring
 * @id: ID of the cgroup that was removed
 * @left: how many cgroups the session still samples
 */
void speprof_ring_report_cgroup_removed(struct speprof_ring *ring, u64 id, u32 left);

/**
 * speprof_ring_kick() - a reader is there: leave FULL if there is free space
 * @ring: the ring
 *
 * Return: 0, or -ENXIO if the ring is OFFLINE.
 */
int speprof_ring_kick(struct speprof_ring *ring);

/**
 * speprof_ring_flush() - close and publish the open window if it has records
 * @ring: the ring
 *
 * Return: 0, or -ENXIO if the ring is OFFLINE.
 */
int speprof_ring_flush(struct speprof_ring *ring);

/**
 * speprof_ring_take_snapshot() - close the open window and claim the newest windows
 * @ring: a flight recorder
 * @owner: who releases the claim; not NULL
 * @snapshot: in: max_bytes, 0 means half of the ring. Out: start, end and time_ns
 *
 * Return: 0; -EOPNOTSUPP if @ring is a stream; an error of spe_flight_claim().
 */
int speprof_ring_take_snapshot(struct speprof_ring *ring, const void *owner,
			       struct speprof_snapshot *snapshot);

/**
 * speprof_ring_release_snapshot() - release @owner's claim; leave FULL if there is free space
 * @ring: the ring
 * @owner: as for speprof_ring_take_snapshot()
 *
 * Return: 0; -EOPNOTSUPP if @ring is a stream; -ENOENT if @owner holds no claim.
 */
int speprof_ring_release_snapshot(struct speprof_ring *ring, const void *owner);

/**
 * speprof_ring_get_stats() - read the ledgers as of now
 * @ring: the ring
 * @ret_stats: filled in; times in ns, sizes in bytes
 */
void speprof_ring_get_stats(struct speprof_ring *ring, struct speprof_ring_stats *ret_stats);

/* ---- From any context ---------------------------------------------------------- */

/**
 * speprof_ring_read_tails() - take the tails from the control page, if they are valid
 * @ring: the ring
 *
 * A tail that goes back or is beyond its head is ignored and counted in bad_tails.
 */
void speprof_ring_read_tails(struct speprof_ring *ring);

/**
 * speprof_ring_set_tails() - the reader has consumed data and events
 * @ring: the ring
 * @tail: bytes consumed since the ring was made
 * @event_tail: events consumed since the ring was made
 *
 * Return: 0; -ERANGE if one goes back or is beyond its head: then neither is set.
 */
int speprof_ring_set_tails(struct speprof_ring *ring, u64 tail, u64 event_tail);

/**
 * speprof_ring_set_tail() - the reader has consumed data
 * @ring: the ring
 * @tail: bytes consumed since the ring was made
 *
 * Return: 0; -ERANGE if it goes back or is beyond the head.
 */
int speprof_ring_set_tail(struct speprof_ring *ring, u64 tail);

/**
 * speprof_ring_note_reader() - note that a reader is there
 * @ring: the ring
 *
 * Return: true if the ring may be waiting for its reader: the caller runs speprof_ring_kick() on
 * the ring's CPU. A ring that becomes FULL at the same moment may be missed; its timer resumes it.
 */
bool speprof_ring_note_reader(struct speprof_ring *ring);

#endif
