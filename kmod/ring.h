/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A ring: the records and events of one CPU in one session.
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
 * struct speprof_ring_config - what a ring is made of
 * @spu: abilities of the CPU's SPU
 * @max_window: bytes after which a window is closed
 * @latency_ms: bound on a window's age, 0 for none
 * @flight: a flight recorder
 * @for_cgroups: PARKED unless one of its tasks runs: see arbiter.h
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

/* Beside those that count in speprof_ring_stats.state_ns: PARKED. */
#define RING_STATES (SPEPROF_RING_PARKED + 1)

/**
 * struct speprof_ring_counters - counters of the ledgers, as speprof_ring_stats has them
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

/* Where the window is that has been armed and not closed. */
enum speprof_open_window {
	OPEN_WINDOW_NONE,	/* no window is open */
	OPEN_WINDOW_IN_SPU,	/* in the SPU's registers */
	OPEN_WINDOW_SAVED,	/* in struct speprof_saved_registers: another ring may use the SPU */
};

/**
 * struct speprof_saved_registers - registers of an SPU that was taken away
 * @pmsicr: what the interval counters had; 0: load them anew (D17.3.3)
 * @pmbptr: with OPEN_WINDOW_SAVED
 * @pmbsr: of the window so far, COLL at most
 * @records: records of the window so far, where the SPU can count
 */
struct speprof_saved_registers {
	u64 pmsicr;
	u64 pmbptr;
	u64 pmbsr;
	u64 records;
};

/* struct speprof_removed_cgroups - cgroups that went, as SPEPROF_EVENT_CGROUP will tell; none if @count is 0 */
struct speprof_removed_cgroups {
	u64 id;
	u32 left;
	u32 count;
};

/**
 * struct speprof_ring - one CPU's ring
 *
 * Three groups by who may touch them. The first is constant. The second belongs to the CPU:
 * touched there with interrupts off, or elsewhere while the CPU is down, under
 * speprof_control and cpus_read_lock(). The third is shared.
 *
 * @on_cpu: in speprof_cpu.rings; of the second group too
 * @state: SPEPROF_RING_*, changed by speprof_ring_transition() alone; others may peek
 * @since: when it was entered
 * @program: what is or will be sampled
 * @loaded: generation of the program that the SPU holds, 0 if none
 * @window: what is being written, unless @hold is NONE
 * @hold: NONE unless ARMED, PARKED or HANDOVER
 * @saved: what the SPU does not hold
 * @resume_state: ARMED or FULL: what PARKED interrupted, and HANDOVER leads back to
 * @gone: what is to be told when there is a slot
 * @start_ns: when it was armed
 * @start_ticks: the backend's count then
 * @records_before: the backend's records then
 * @state_before: time in each state up to the end of the last RECORDS window
 * @head: bytes up to the end of the last closed window
 * @seq: of the next header
 * @event_seq: of the next event
 * @empty_syndromes: syndromes since a byte was written
 * @flight: what is overwritten and claimed; NULL in a stream
 * @spent: of @bound
 * @throttled_until: when THROTTLED ends
 * @throttle_cause: SPEPROF_THROTTLE_*
 * @throttled_before: time in THROTTLED until this one
 * @unread: FULL because nobody reads
 * @seen_tail: as when the timer last looked
 * @seen_event_tail: likewise
 * @seen_ns: when the reader last gave a sign, or had nothing to read
 *
 * @bound: what it may cost the CPU; written under speprof_control
 * @published: head as readers may see it
 * @event_published: likewise of events
 * @tail_lock: innermost; protects the three below
 * @tail: bytes consumed
 * @event_tail: events consumed
 * @bad_tails: tails refused
 * @kicked: KICK came since the timer last looked
 * @commands: that its descriptors have left
 * @read_lock: one read(2) at a time
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
	struct hlist_node on_cpu;
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

/** speprof_ring_pages() - pages of locked memory that a ring takes */
unsigned long speprof_ring_pages(const struct speprof_ring_config *config);

/** speprof_ring_new() - an IDLE ring; -ENOMEM as ERR_PTR */
struct speprof_ring *speprof_ring_new(const struct speprof_ring_config *config);

/** speprof_ring_free() - of an IDLE ring without readers; NULL is no ring */
void speprof_ring_free(struct speprof_ring *ring);

/* ---- On the CPU, interrupts off (or as said above for a CPU that is down) ---- */

/** speprof_ring_start() - sample @program, or be PARKED; @up: the CPU is up */
void speprof_ring_start(struct speprof_ring *ring, const struct speprof_program *program, bool up);

/** speprof_ring_stop() - publish what there is, detach: IDLE */
void speprof_ring_stop(struct speprof_ring *ring);

/** speprof_ring_reprogram() - close the window, go on under @program */
void speprof_ring_reprogram(struct speprof_ring *ring, const struct speprof_program *program);

/** speprof_ring_online(), speprof_ring_offline() - the CPU came, the CPU goes */
void speprof_ring_online(struct speprof_ring *ring);
void speprof_ring_offline(struct speprof_ring *ring);

/** speprof_ring_interrupt() - PMBIRQ; returns whether a window was being written */
bool speprof_ring_interrupt(struct speprof_ring *ring);

/*
 * The five below are for rings of cgroups, and for arbiter.c, which decides whose the SPU is.
 * They may be called under the runqueue's lock: they wake nobody but by irq_work.
 */

/** speprof_ring_park() - the task that runs is no longer of its cgroups; drains the SPU */
void speprof_ring_park(struct speprof_ring *ring);

/** speprof_ring_save_registers() - not sampling: take from the SPU what another ring's registers will replace */
void speprof_ring_save_registers(struct speprof_ring *ring);

/** speprof_ring_begin_handover() - a task of its cgroups runs; nobody else's registers are in the SPU. To HANDOVER */
void speprof_ring_begin_handover(struct speprof_ring *ring);

/** speprof_ring_complete_handover() - from HANDOVER: sample on, if there is room */
void speprof_ring_complete_handover(struct speprof_ring *ring);

/** speprof_ring_defers_handover() - whether speprof_ring_complete_handover() must wait until the switch is over: see Documentation/explanation/rings.md */
bool speprof_ring_defers_handover(const struct speprof_ring *ring);

/** speprof_ring_report_cgroup_removed() - a cgroup was removed, @left are left: an event, now or when there is a slot */
void speprof_ring_report_cgroup_removed(struct speprof_ring *ring, u64 id, u32 left);

/** speprof_ring_kick() - there is a reader; leave FULL if there is room. -ENXIO while OFFLINE */
int speprof_ring_kick(struct speprof_ring *ring);

/** speprof_ring_flush() - close and publish a window with records. -ENXIO while OFFLINE */
int speprof_ring_flush(struct speprof_ring *ring);

/**
 * speprof_ring_take_snapshot() - close the window, claim what is there
 * @owner: by whom it is released; not NULL
 * @snapshot: its max_bytes is taken, what comes out is filled
 *
 * Return: 0; -EOPNOTSUPP: a stream; spe_flight_claim()'s errors.
 */
int speprof_ring_take_snapshot(struct speprof_ring *ring, const void *owner,
			       struct speprof_snapshot *snapshot);

/** speprof_ring_release_snapshot() - of @owner's; leaves FULL if there is room. -EOPNOTSUPP; -ENOENT: none */
int speprof_ring_release_snapshot(struct speprof_ring *ring, const void *owner);

/** speprof_ring_get_stats() - the ledgers now */
void speprof_ring_get_stats(struct speprof_ring *ring, struct speprof_ring_stats *ret_stats);

/* ---- From any task ------------------------------------------------------- */

/** speprof_ring_read_tails() - take note of the tails in the control page, if they are valid */
void speprof_ring_read_tails(struct speprof_ring *ring);

/** speprof_ring_set_tails() - set both tails; -ERANGE: one went back or is beyond its head */
int speprof_ring_set_tails(struct speprof_ring *ring, u64 tail, u64 event_tail);

/**
 * speprof_ring_note_reader() - take note that there is a reader
 *
 * Return: whether the ring may be waiting for it: speprof_ring_kick() is to be called on its CPU. A ring
 * that becomes FULL at the same time may be missed: its timer resumes it.
 */
bool speprof_ring_note_reader(struct speprof_ring *ring);

/** speprof_ring_set_tail() - set the tail of the data alone; -ERANGE likewise */
int speprof_ring_set_tail(struct speprof_ring *ring, u64 tail);

#endif
