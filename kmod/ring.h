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
 * struct ring_config - what a ring is made of
 * @spu: abilities of the CPU's SPU
 * @max_window: bytes after which a window is closed
 * @latency_ms: bound on a window's age, 0 for none
 * @flight: a flight recorder
 * @of_cgroups: PARKED unless one of its tasks runs: see arbiter.h
 */
struct ring_config {
	const struct speprof_backend *backend;
	struct speprof_cpu_info spu;
	u64 size;
	u32 event_slots;
	u32 max_window;
	u32 latency_ms;
	bool flight;
	bool of_cgroups;
};

/* Beside those that count in speprof_ring_stats.state_ns: PARKED. */
#define RING_STATES (SPEPROF_RING_PARKED + 1)

/**
 * struct ring_count - counters of the ledgers, as speprof_ring_stats has them
 */
struct ring_count {
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
enum ring_hold {
	RING_HOLD_NONE,		/* there is none */
	RING_HOLD_SPU,		/* in the SPU's registers */
	RING_HOLD_SAVED,	/* in struct ring_saved: the SPU may be another ring's */
};

/**
 * struct ring_saved - registers of an SPU that was taken away
 * @pmsicr: what the interval counters had; 0: load them anew (D17.3.3)
 * @pmbptr: with RING_HOLD_SAVED
 * @pmbsr: of the window so far, COLL at most
 * @records: records of the window so far, where the SPU can count
 */
struct ring_saved {
	u64 pmsicr;
	u64 pmbptr;
	u64 pmbsr;
	u64 records;
};

/* struct ring_gone - cgroups that went, as SPEPROF_EVENT_CGROUP will tell; none if @count is 0 */
struct ring_gone {
	u64 id;
	u32 left;
	u32 count;
};

/**
 * struct ring - one CPU's ring
 *
 * Three groups by who may touch them. The first is constant. The second belongs to the CPU:
 * touched there with interrupts off, or elsewhere while the CPU is down, under
 * speprof_control and cpus_read_lock(). The third is shared.
 *
 * @on_cpu: in speprof_cpu.rings; of the second group too
 * @state: SPEPROF_RING_*, changed by ring_transition() alone; others may peek
 * @since: when it was entered
 * @program: what is or will be sampled
 * @loaded: generation of the program that the SPU holds, 0 if none
 * @window: what is being written, unless @hold is NONE
 * @hold: NONE unless ARMED, PARKED or HANDOVER
 * @saved: what the SPU does not hold
 * @parked_from: ARMED or FULL: what PARKED interrupted, and HANDOVER leads back to
 * @gone: what is to be told when there is a slot
 * @start_ns: when it was armed
 * @start_ticks: the backend's count then
 * @records_before: the backend's records then
 * @state_before: time in each state up to the end of the last RECORDS window
 * @head: bytes up to the end of the last closed window
 * @seq: of the next header
 * @event_seq: of the next event
 * @barren: syndromes since a byte was written
 * @flight: what is overwritten and claimed; NULL in a stream
 * @spent: of @bound
 * @rest_until: when THROTTLED ends
 * @rest_cause: SPEPROF_THROTTLE_*
 * @rested_before: time in THROTTLED until this one
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
struct ring {
	struct ring_config config;
	unsigned int cpu;
	struct area control_area;
	struct area event_area;
	struct area data_area;
	struct speprof_control *control;
	struct speprof_event *events;
	u8 *data;

	u32 state;
	u32 loaded;
	u64 since;
	struct program program;
	enum ring_hold hold;
	u32 parked_from;
	struct spe_window window;
	struct ring_saved saved;
	struct ring_gone gone;
	struct hlist_node on_cpu;
	u64 start_ns;
	u64 start_ticks;
	u64 records_before;
	u64 state_before[RING_STATES];
	u64 head;
	u64 seq;
	u64 event_seq;
	u32 barren;
	struct spe_flight *flight;
	struct throttle spent;
	u64 rest_until;
	u64 rested_before;
	u32 rest_cause;
	bool unread;
	u64 seen_tail;
	u64 seen_event_tail;
	u64 seen_ns;
	struct hrtimer timer;
	struct ring_count count;

	struct throttle_bound bound;
	u64 published;
	u64 event_published;
	raw_spinlock_t tail_lock;
	u64 tail;
	u64 event_tail;
	u64 bad_tails;
	bool kicked;
	struct throttle_bucket commands;
	struct mutex read_lock;
	struct irq_work wake;
	wait_queue_head_t readers;
};

/** ring_charge() - pages of locked memory that a ring takes */
unsigned long ring_charge(const struct ring_config *config);

/** ring_new() - an IDLE ring; -ENOMEM as ERR_PTR */
struct ring *ring_new(const struct ring_config *config);

/** ring_free() - of an IDLE ring without readers; NULL is no ring */
void ring_free(struct ring *ring);

/* ---- On the CPU, interrupts off (or as said above for a CPU that is down) ---- */

/** ring_start() - sample @program, or be PARKED; @up: the CPU is up */
void ring_start(struct ring *ring, const struct program *program, bool up);

/** ring_stop() - publish what there is, detach: IDLE */
void ring_stop(struct ring *ring);

/** ring_reprogram() - close the window, go on under @program */
void ring_reprogram(struct ring *ring, const struct program *program);

/** ring_online(), ring_offline() - the CPU came, the CPU goes */
void ring_online(struct ring *ring);
void ring_offline(struct ring *ring);

/** ring_interrupt() - PMBIRQ; returns whether a window was being written */
bool ring_interrupt(struct ring *ring);

/*
 * The five below are for rings of cgroups, and for arbiter.c, which decides whose the SPU is.
 * They may be called under the runqueue's lock: they wake nobody but by irq_work.
 */

/** ring_park() - the task that runs is no longer of its cgroups; drains the SPU */
void ring_park(struct ring *ring);

/** ring_put_away() - not sampling: take from the SPU what another ring's registers will replace */
void ring_put_away(struct ring *ring);

/** ring_enter() - a task of its cgroups runs; nobody else's registers are in the SPU. To HANDOVER */
void ring_enter(struct ring *ring);

/** ring_seat() - from HANDOVER: sample on, if there is room */
void ring_seat(struct ring *ring);

/** ring_enters_late() - whether ring_seat() must wait until the switch is over: see kernel.md */
bool ring_enters_late(const struct ring *ring);

/** ring_tell_gone() - a cgroup was removed, @left are left: an event, now or when there is a slot */
void ring_tell_gone(struct ring *ring, u64 id, u32 left);

/** ring_kick() - there is a reader; leave FULL if there is room. -ENXIO while OFFLINE */
int ring_kick(struct ring *ring);

/** ring_flush() - close and publish a window with records. -ENXIO while OFFLINE */
int ring_flush(struct ring *ring);

/**
 * ring_snapshot() - close the window, claim what is there
 * @owner: by whom it is released; not NULL
 * @snapshot: its max_bytes is taken, what comes out is filled
 *
 * Return: 0; -EOPNOTSUPP: a stream; spe_flight_claim()'s errors.
 */
int ring_snapshot(struct ring *ring, const void *owner, struct speprof_snapshot *snapshot);

/** ring_snapshot_end() - of @owner's; leaves FULL if there is room. -EOPNOTSUPP; -ENOENT: none */
int ring_snapshot_end(struct ring *ring, const void *owner);

/** ring_stats() - the ledgers now */
void ring_stats(struct ring *ring, struct speprof_ring_stats *ret_stats);

/* ---- From any task ------------------------------------------------------- */

/** ring_take_tails() - take note of the tails in the control page, if they are valid */
void ring_take_tails(struct ring *ring);

/** ring_advance() - set both tails; -ERANGE: one went back or is beyond its head */
int ring_advance(struct ring *ring, u64 tail, u64 event_tail);

/**
 * ring_note_reader() - take note that there is a reader
 *
 * Return: whether the ring may be waiting for it: ring_kick() is to be called on its CPU. A ring
 * that becomes FULL at the same time may be missed: its timer resumes it.
 */
bool ring_note_reader(struct ring *ring);

/** ring_consume() - set the tail of the data alone; -ERANGE likewise */
int ring_consume(struct ring *ring, u64 tail);

#endif
