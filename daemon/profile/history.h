/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What was counted in the last 10 s, minute and 10 minutes: rings of sub-windows, each the
 * difference between two settled profiles. By the samples' clock: a sub-window ends before
 * the first window of records that ends behind it. All memory is there from the start.
 */
#ifndef SPEPROF_HISTORY_H
#define SPEPROF_HISTORY_H

#include "counters.h"
#include "view/view.h"

/* Of each kind, the heaviest are kept. */
#define HISTORY_ROWS 256

/* Sub-windows: 5 of 2 s; 6 of 10 s and 10 of 1 min, the last of which may still be open. */
#define HISTORY_SLOT_NS 2000000000ULL
#define HISTORY_RINGS	3

/** struct history_counters - &struct counters of a sub-window: without maxima, and in little */
struct history_counters {
	u64 latency_sum[PROFILE_LATENCIES];
	u64 weight[UNITS];
	u32 samples;
	u32 count[SAMPLE_COUNTS];
	u32 bucket[PROFILE_LATENCIES][HISTOGRAM_BUCKETS];
};

/** struct history_container - key: index and generation of the attributor */
struct history_container {
	u32 index;
	u32 generation;
	struct history_counters counters;
};

/**
 * struct history_row - of a process (@place 0) or a place; @owner as in struct location
 * @weight: sum of its samples' intervals, whatever their unit
 */
struct history_row {
	u64 owner;
	u64 place;
	u64 latency_sum;
	u64 weight;
	u32 samples;
	u32 memory;
	u32 dram;
	u32 remote;
	u32 branches;
	u32 mispredicted;
};

/**
 * struct history_ledger - what of &struct view_header is a part of its records or of its time
 *
 * In a slot what was added in that time, in a mark what there was since the start. Not of it: what
 * was lost or is suspect, which stays in sight.
 */
struct history_ledger {
	u64 unattributed;
	u64 unattributed_weight;
	u64 evicted;
	u64 evicted_weight;
	u64 unweighed;
	u64 filtered;
	u64 enabled_ns;
	u64 blind_by[SOURCE_BLINDS];
};

#define WINDOW_LEDGERS (sizeof(struct history_ledger) / sizeof(u64))

/** struct history_slot - a sub-window; @ns: how long it was */
struct history_slot {
	u64 ns;
	struct history_ledger ledger;
	u32 containers;
	u32 processes;
	u32 locations;
	struct history_counters machine;
	struct history_container container[HISTORY_ROWS];
	struct history_row process[HISTORY_ROWS];
	struct history_row place[HISTORY_ROWS];
};

/** struct history_ring - @next: the slot that is filled, or will be */
struct history_ring {
	u32 slots;
	u32 next;
	struct history_slot *slot;
};

/**
 * struct history
 * @begun: there was a window
 * @start_ns: when the sub-window of now began
 * @containers, @processes, @locations: capacities of what is marked
 * @ledger_mark, @machine_mark, @container_mark, @process_mark, @location_mark: what there was at
 *	@start_ns; a place's owner tells whose it is
 * @merged: where rings are summed up
 * @open_slot_saved: what another process had counted of the sub-window of now: with the rest at its end
 * @marks_frozen: marks stay where they are: what is filled is to be saved
 */
struct history {
	bool begun;
	u64 start_ns;
	u32 containers;
	u32 processes;
	u32 locations;
	struct history_ring ring[HISTORY_RINGS];
	struct history_ledger ledger_mark;
	struct counters *machine_mark;
	struct container_mark *container_mark;
	struct history_row *process_mark;
	struct history_row *location_mark;
	struct history_slot *merged;
	struct history_slot *open_slot_saved;
	bool marks_frozen;
};

/** history_init() - 0 or -ENOMEM */
int history_init(struct history *history, u32 containers, u32 processes, u32 locations);
/** history_deinit() - also of one that is all zeros */
void history_deinit(struct history *history);
void history_clear(struct history *history);

/** history_due() - whether a sub-window has ended at @now_ns */
static inline bool history_due(const struct history *history, u64 now_ns)
{
	return history->begun && now_ns >= history->start_ns + HISTORY_SLOT_NS;
}

/** history_note_window() - a window of records comes; whether a sub-window has ended before it */
static inline bool history_note_window(struct history *history, u64 start_ns, u64 end_ns)
{
	if (!history->begun && history->machine_mark && end_ns) {
		history->begun = true;
		history->start_ns = start_ns;
	}
	return history_due(history, end_ns - 1) && end_ns;
}

/* What follows is how a sub-window is filled: all rows between begin and end. */

/** history_begin() - the sub-window that has ended at @now_ns, as long as whole ones are */
struct history_slot *history_begin(struct history *history, u64 now_ns);
void history_ledger(struct history *history, struct history_slot *slot,
		    const struct history_ledger *now);
void history_machine(struct history *history, struct history_slot *slot,
		     const struct counters *now);
void history_container(struct history *history, struct history_slot *slot, u32 index,
		       u32 generation, const struct counters *now);
/**
 * history_container_moved() - what was marked of a container and is no more its
 * @generation, @now: of who is at @index now; @now is NULL for no sample
 * @other: where it counts since: there it is of the time before, too
 *
 * Before history_container(), and of all containers before that of @other.
 */
void history_container_moved(struct history *history, u32 index, u32 generation,
			     const struct counters *now, u32 other, u32 other_generation);
/**
 * history_process(), history_location() - a row
 * @index: which mark is its
 * @restarted: it gave way since the last sub-window, and @now is of what came since
 * @now: since the start
 */
void history_process(struct history *history, struct history_slot *slot, u32 index, bool restarted,
		     const struct history_row *now);
void history_location(struct history *history, struct history_slot *slot, u32 index, bool restarted,
		      const struct history_row *now);
/** history_location_unchanged() - whether the place has no sample more than there were */
bool history_location_unchanged(const struct history *history, u32 index, u64 owner, u64 place,
				u32 samples);
void history_end(struct history *history, struct history_slot *slot);

/** history_restore_open_slot() - @slot is of the sub-window of now, and is added to it at its end */
void history_restore_open_slot(struct history *history, const struct history_slot *slot);

/** history_slots() - how many @ring has */
u32 history_slots(unsigned int ring);

/** history_sum() - all of the window @span; valid until the next call */
const struct history_slot *history_sum(struct history *history, enum view_span span);

/** history_counters_get() - as figures; maxima are their buckets' upper bounds */
void history_counters_get(const struct history_counters *from, struct counters *ret_counters);

#endif
