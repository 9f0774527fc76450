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
 * struct speprof_ring_config - the configuration of a ring, which never changes
 * @backend: the backend of the CPU's SPU
 * @spu: features of the SPU
 * @size: size of the data ring in bytes; a power of two
 * @event_slots: slots of the event ring; a power of two
 * @max_window: maximum bytes of records in a window
 * @latency_ms: maximum age of a window, in milliseconds; 0: no limit
 * @flight: whether the ring is a flight recorder, which overwrites its oldest windows
 * @for_cgroups: whether the session samples cgroups, so that the ring is PARKED while no task of
 * these cgroups runs
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

/*
 * The number of states. The time in the last one, PARKED, is in parked_ns of struct
 * speprof_ring_stats, and not in state_ns.
 */
#define RING_STATES (SPEPROF_RING_PARKED + 1)

/**
 * struct speprof_ring_counters - counters of a ring, reported by speprof_ring_stats
 * @state_ns: nanoseconds in each state, up to the last change of state
 * @entries: number of times that a task of the session's cgroups was scheduled in
 * @handovers: number of those times at which the SPU had the registers of another ring, or of none
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

/*
 * Where the registers of the open window are. A window is open from the time it is armed until it
 * is closed.
 */
enum speprof_open_window {
	OPEN_WINDOW_NONE,	/* no window is open */
	OPEN_WINDOW_IN_SPU,	/* the registers are in the SPU */
	/* the registers are in struct speprof_saved_registers; another ring may use the SPU */
	OPEN_WINDOW_SAVED,
};

/**
 * struct speprof_saved_registers - registers of a ring while another ring uses the SPU
 * @pmsicr: PMSICR_EL1, the interval counters; 0 makes the SPU reload them (D17.3.3)
 * @pmbptr: the write pointer; valid with OPEN_WINDOW_SAVED
 * @pmbsr: the syndrome of the open window so far; COLL is the only bit that can be set
 * @records: number of records in the open window so far; 0 if the backend cannot count them
 */
struct speprof_saved_registers {
	u64 pmsicr;
	u64 pmbptr;
	u64 pmbsr;
	u64 records;
};

/**
 * struct speprof_removed_cgroups - the next SPEPROF_EVENT_CGROUP, pending until a slot is free
 * @id: ID of the cgroup that was removed last
 * @remaining: number of cgroups that the session still samples
 * @count: number of cgroups that were removed since the last such event; 0: no event is pending
 */
struct speprof_removed_cgroups {
	u64 id;
	u32 remaining;
	u32 count;
};

/**
 * struct speprof_ring - the ring of one CPU in one session
 *
 * The fields are in three groups. Those before @state never change. Those from @state to @counters
 * belong to the CPU: they are used there with interrupts off. While the CPU is down, any CPU may
 * use them under speprof_control and cpus_read_lock(). Those from @bound on are shared.
 *
 * @config: its configuration
 * @cpu: the CPU that it belongs to
 * @control_buffer: pages of @control
 * @event_buffer: pages of @events
 * @data_buffer: pages of @data
 * @control: the control page, which userspace may write to
 * @events: the event ring
 * @data: the data ring
 *
 * @state: SPEPROF_RING_*; only speprof_ring_transition() changes it. Other CPUs may read it with
 * READ_ONCE()
 * @loaded_generation: generation of the program that is in the SPU's registers; 0 if none is loaded
 * @state_since: when @state began, CLOCK_MONOTONIC in ns
 * @program: the program of the open window, or of the next one
 * @open_window: where the registers of the open window are; NONE unless the ring is ARMED,
 * HANDLING, PARKED or HANDOVER
 * @resume_state: ARMED, FULL or THROTTLED: the state that follows PARKED and HANDOVER
 * @window: the open window, unless @open_window is NONE
 * @saved: registers that are not in the SPU
 * @removed: an event that is pending until a slot is free
 * @cpu_link: links the ring into speprof_cpu.rings
 * @start_ns: when the window was armed, CLOCK_MONOTONIC in ns
 * @start_ticks: value of the backend's ticks() at @start_ns
 * @records_before: value of the backend's records() when the window was loaded
 * @state_before: @counters.state_ns at the end of the last RECORDS window
 * @head: bytes up to the end of the last closed window
 * @seq: number of the next window header
 * @event_seq: number of the next event
 * @empty_syndromes: number of consecutive windows that ended in a syndrome without a byte written
 * @flight: the windows of a flight recorder, and the claims on them; NULL for a stream
 * @throttle: interrupts and bytes of this ring in the current period, which @bound limits
 * @throttled_until: when THROTTLED ends, CLOCK_MONOTONIC in ns
 * @throttled_before: total time in THROTTLED before it was last entered, in ns
 * @throttle_cause: SPEPROF_THROTTLE_*
 * @unread: whether the ring stopped sampling because its reader is missing
 * @seen_tail: the data tail at the timer's last check
 * @seen_event_tail: the event tail at the timer's last check
 * @seen_ns: when the reader last made progress or had nothing to read, CLOCK_MONOTONIC
 * @timer: limits the age of a window, ends FULL and THROTTLED, and detects a missing reader
 * @counters: the counters
 *
 * @bound: limits of the ring's interrupts and bytes; written under speprof_control
 * @published: the head up to which readers may read
 * @event_published: the event head up to which readers may read
 * @tail_lock: innermost lock; protects @tail, @event_tail and @bad_tails
 * @tail: bytes that readers have consumed
 * @event_tail: events that readers have consumed
 * @bad_tails: number of invalid tails that were ignored
 * @reader_kicked: whether KICK was called since the timer's last check
 * @command_bucket: limits the rate of commands through the ring's descriptors
 * @read_lock: allows one read(2) at a time
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
	struct speprof_sampling_program program;
	enum speprof_open_window open_window;
	u32 resume_state;
	struct spe_window_position window;
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
	struct spe_flight_recorder *flight;
	struct speprof_throttle_usage throttle;
	u64 throttled_until;
	u64 throttled_before;
	u32 throttle_cause;
	bool unread;
	u64 seen_tail;
	u64 seen_event_tail;
	u64 seen_ns;
	struct hrtimer timer;
	struct speprof_ring_counters counters;

	struct speprof_throttle_limits bound;
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
 * speprof_ring_count_pages() - return the number of locked pages that a ring needs
 * @config: only its sizes are used
 */
unsigned long speprof_ring_count_pages(const struct speprof_ring_config *config);

/**
 * speprof_ring_new() - allocate a ring, which is IDLE
 * @config: the configuration; copied
 *
 * Context: may sleep; takes no lock.
 * Return: the ring, or ERR_PTR(-ENOMEM) if memory cannot be allocated.
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
 * The functions down to speprof_ring_get_stats() run on the ring's CPU with interrupts off. While
 * that CPU is offline they run on any CPU, with interrupts off, under speprof_control and
 * cpus_read_lock().
 */

/**
 * speprof_ring_start() - start sampling, from IDLE
 * @ring: the ring, which speprof_arbiter_add_ring() has added to its CPU
 * @program: the sampling program; copied
 * @up: whether the CPU is online with the ring's backend
 *
 * The ring becomes ARMED, FULL or THROTTLED; PARKED if it samples cgroups; OFFLINE if @up is false.
 * The caller reevaluates the arbiter afterwards.
 */
void speprof_ring_start(struct speprof_ring *ring, const struct speprof_sampling_program *program,
			bool up);

/**
 * speprof_ring_stop() - stop sampling, publish the records, and become IDLE; does nothing in IDLE
 * @ring: the ring
 */
void speprof_ring_stop(struct speprof_ring *ring);

/**
 * speprof_ring_reprogram() - close the open window and use another sampling program
 * @ring: the ring, in any state
 * @program: the new program; copied
 */
void speprof_ring_reprogram(struct speprof_ring *ring,
			    const struct speprof_sampling_program *program);

/**
 * speprof_ring_bring_online() - start sampling after the CPU came online, if the ring is OFFLINE
 * @ring: a ring of a started session
 */
void speprof_ring_bring_online(struct speprof_ring *ring);

/**
 * speprof_ring_take_offline() - publish the records and become OFFLINE, before the CPU goes offline
 * @ring: a ring of a started session
 *
 * A FAULTED ring stays FAULTED.
 */
void speprof_ring_take_offline(struct speprof_ring *ring);

/**
 * speprof_ring_handle_interrupt() - handle the buffer management interrupt (PMBIRQ)
 * @ring: the ring with its registers in the SPU
 *
 * Context: hard interrupt.
 * Return: true if the ring was ARMED, in which case its window was closed and PMBSR.S is 0; false
 * if the interrupt was spurious.
 */
bool speprof_ring_handle_interrupt(struct speprof_ring *ring);

/*
 * The next five functions hand the SPU over between rings of cgroups. The arbiter calls them at
 * context switches, under the runqueue lock. They wake readers only by irq_work, because a direct
 * wakeup would take the runqueue lock again.
 */

/**
 * speprof_ring_park() - stop sampling because the ring does not sample the next task
 * @ring: the ring with its registers in the SPU, in any state
 *
 * The function drains the SPU, so that no record of the previous task is written later. An open
 * window stays open unless its syndrome ends it. If the ring was FULL or THROTTLED,
 * @ring->resume_state stores that state.
 */
void speprof_ring_park(struct speprof_ring *ring);

/**
 * speprof_ring_save_registers() - save the registers of a ring, so that another ring can use the
 * SPU
 * @ring: the ring with its registers in the SPU; not ARMED
 *
 * The registers are the interval counters, and the write pointer and syndrome of an open window.
 */
void speprof_ring_save_registers(struct speprof_ring *ring);

/**
 * speprof_ring_begin_handover() - change from PARKED to HANDOVER because the ring samples the next
 * task
 * @ring: the ring; no other ring has registers in the SPU
 */
void speprof_ring_begin_handover(struct speprof_ring *ring);

/**
 * speprof_ring_complete_handover() - leave HANDOVER: sample again if the ring has free space
 * @ring: the ring; does nothing in another state
 *
 * Context: not under the runqueue lock if speprof_ring_defers_handover().
 */
void speprof_ring_complete_handover(struct speprof_ring *ring);

/**
 * speprof_ring_defers_handover() - check whether the handover must wait for the end of the context
 * switch
 * @ring: the ring, in HANDOVER
 *
 * The handover must wait if the kernel is sampled, because records of the context switch itself
 * would contain the TID of the previous task. It must also wait if no window is open, because
 * arming a window under the runqueue lock takes too long.
 *
 * Return: true if the caller must defer speprof_ring_complete_handover().
 */
bool speprof_ring_defers_handover(const struct speprof_ring *ring);

/**
 * speprof_ring_report_cgroup_removed() - report a removed cgroup by an event, when a slot is free
 * @ring: the ring
 * @id: ID of the cgroup that was removed
 * @remaining: number of cgroups that the session still samples
 */
void speprof_ring_report_cgroup_removed(struct speprof_ring *ring, u64 id, u32 remaining);

/**
 * speprof_ring_kick() - record that a reader exists, and leave FULL if there is free space
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
 * @owner: identifies the owner of the claim; not NULL
 * @snapshot: input: max_bytes; 0 means half of the ring. Output: start, end and time_ns
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
 * Return: 0; -EOPNOTSUPP if @ring is a stream; -ENOENT if @owner has no claim.
 */
int speprof_ring_release_snapshot(struct speprof_ring *ring, const void *owner);

/**
 * speprof_ring_get_stats() - read the current counters
 * @ring: the ring
 * @ret_stats: filled in; times in ns, sizes in bytes
 */
void speprof_ring_get_stats(struct speprof_ring *ring, struct speprof_ring_stats *ret_stats);

/* ---- From any context ---------------------------------------------------------- */

/**
 * speprof_ring_read_tails() - copy the tails from the control page if they are valid
 * @ring: the ring
 *
 * Userspace may write any value. A tail that decreases or exceeds its head is ignored and counted
 * in @ring->bad_tails.
 */
void speprof_ring_read_tails(struct speprof_ring *ring);

/**
 * speprof_ring_set_tails() - set both tails after the reader has consumed data and events
 * @ring: the ring
 * @tail: bytes consumed since the ring was created
 * @event_tail: events consumed since the ring was created
 *
 * Return: 0; -ERANGE if a tail decreases or exceeds its head, in which case neither tail is set.
 */
int speprof_ring_set_tails(struct speprof_ring *ring, u64 tail, u64 event_tail);

/**
 * speprof_ring_set_tail() - set the data tail after the reader has consumed data
 * @ring: the ring
 * @tail: bytes consumed since the ring was created
 *
 * Return: 0; -ERANGE if @tail decreases or exceeds the head.
 */
int speprof_ring_set_tail(struct speprof_ring *ring, u64 tail);

/**
 * speprof_ring_note_reader() - record that a reader exists
 * @ring: the ring
 *
 * A ring that becomes FULL at the same time may be missed; its timer then resumes it.
 *
 * Return: true if the ring may be waiting for its reader, in which case the caller must run
 * speprof_ring_kick() on the ring's CPU.
 */
bool speprof_ring_note_reader(struct speprof_ring *ring);

#endif
