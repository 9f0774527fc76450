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
#define WINDOW_ROWS 256

/* Sub-windows: 5 of 2 s; 6 of 10 s and 10 of 1 min, the last of which may still be open. */
#define WINDOW_SUB_NS 2000000000ULL
#define WINDOW_RINGS  3

/** struct window_figures - &struct figures of a sub-window: without maxima, and in little */
struct window_figures {
	u64 latency_sum[PROFILE_LATENCIES];
	u64 weight[UNITS];
	u32 samples;
	u32 count[FIGURE_COUNTS];
	u32 bucket[PROFILE_LATENCIES][HISTOGRAM_BUCKETS];
};

/** struct window_container - key: index and generation of the attributor */
struct window_container {
	u32 index;
	u32 generation;
	struct window_figures figures;
};

/**
 * struct window_brief - of a process (@place 0) or a place; @owner as in struct location
 * @weight: sum of its samples' intervals, whatever their unit
 */
struct window_brief {
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
 * struct window_ledger - what of &struct view_header is a part of its records or of its time
 *
 * In a slot what was added in that time, in a mark what there was since the start. Not of it: what
 * was lost or is suspect, which stays in sight.
 */
struct window_ledger {
	u64 unattributed;
	u64 unattributed_weight;
	u64 evicted;
	u64 evicted_weight;
	u64 unweighed;
	u64 filtered;
	u64 enabled_ns;
	u64 blind_by[SOURCE_BLINDS];
};

#define WINDOW_LEDGERS (sizeof(struct window_ledger) / sizeof(u64))

/** struct window_slot - a sub-window; @ns: how long it was */
struct window_slot {
	u64 ns;
	struct window_ledger ledger;
	u32 containers;
	u32 processes;
	u32 places;
	struct window_figures machine;
	struct window_container container[WINDOW_ROWS];
	struct window_brief process[WINDOW_ROWS];
	struct window_brief place[WINDOW_ROWS];
};

/** struct window_ring - @next: the slot that is filled, or will be */
struct window_ring {
	u32 slots;
	u32 next;
	struct window_slot *slot;
};

/**
 * struct windows
 * @begun: there was a window
 * @start_ns: when the sub-window of now began
 * @containers, @processes, @places: capacities of what is marked
 * @ledger_mark, @machine_mark, @container_mark, @process_mark, @place_mark: what there was at
 *	@start_ns; a place's owner tells whose it is
 * @merged: where rings are summed up
 * @carried: what another process had counted of the sub-window of now: with the rest at its end
 * @peek: marks stay where they are: what is filled is to be saved
 */
struct windows {
	bool begun;
	u64 start_ns;
	u32 containers;
	u32 processes;
	u32 places;
	struct window_ring ring[WINDOW_RINGS];
	struct window_ledger ledger_mark;
	struct figures *machine_mark;
	struct container_mark *container_mark;
	struct window_brief *process_mark;
	struct window_brief *place_mark;
	struct window_slot *merged;
	struct window_slot *carried;
	bool peek;
};

/** windows_init() - 0 or -ENOMEM */
int windows_init(struct windows *windows, u32 containers, u32 processes, u32 places);
/** windows_deinit() - also of one that is all zeros */
void windows_deinit(struct windows *windows);
void windows_clear(struct windows *windows);

/** windows_due() - whether a sub-window has ended at @now_ns */
static inline bool windows_due(const struct windows *windows, u64 now_ns)
{
	return windows->begun && now_ns >= windows->start_ns + WINDOW_SUB_NS;
}

/** windows_note() - a window of records comes; whether a sub-window has ended before it */
static inline bool windows_note(struct windows *windows, u64 start_ns, u64 end_ns)
{
	if (!windows->begun && windows->machine_mark && end_ns) {
		windows->begun = true;
		windows->start_ns = start_ns;
	}
	return windows_due(windows, end_ns - 1) && end_ns;
}

/* What follows is how a sub-window is filled: all rows between begin and end. */

/** windows_begin() - the sub-window that has ended at @now_ns, as long as whole ones are */
struct window_slot *windows_begin(struct windows *windows, u64 now_ns);
void windows_ledger(struct windows *windows, struct window_slot *slot,
		    const struct window_ledger *now);
void windows_machine(struct windows *windows, struct window_slot *slot, const struct figures *now);
void windows_container(struct windows *windows, struct window_slot *slot, u32 index, u32 generation,
		       const struct figures *now);
/**
 * windows_container_left() - what was marked of a container and is no more its
 * @generation, @now: of who is at @index now; @now is NULL for no sample
 * @other: where it counts since: there it is of the time before, too
 *
 * Before windows_container(), and of all containers before that of @other.
 */
void windows_container_left(struct windows *windows, u32 index, u32 generation,
			    const struct figures *now, u32 other, u32 other_generation);
/**
 * windows_process(), windows_place() - a row
 * @index: which mark is its
 * @anew: it gave way since the last sub-window, and @now is of what came since
 * @now: since the start
 */
void windows_process(struct windows *windows, struct window_slot *slot, u32 index, bool anew,
		     const struct window_brief *now);
void windows_place(struct windows *windows, struct window_slot *slot, u32 index, bool anew,
		   const struct window_brief *now);
/** windows_place_is() - whether the place has no sample more than there were */
bool windows_place_is(const struct windows *windows, u32 index, u64 owner, u64 place, u32 samples);
void windows_end(struct windows *windows, struct window_slot *slot);

/** windows_carry() - @slot is of the sub-window of now, and is added to it at its end */
void windows_carry(struct windows *windows, const struct window_slot *slot);

/** windows_slots() - how many @ring has */
u32 windows_slots(unsigned int ring);

/** windows_sum() - all of the window @span; valid until the next call */
const struct window_slot *windows_sum(struct windows *windows, enum view_span span);

/** window_figures_get() - as figures; maxima are their buckets' upper bounds */
void window_figures_get(const struct window_figures *from, struct figures *ret_figures);

#endif
