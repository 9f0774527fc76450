/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The history of a profile: its counters of the last 10 s, 1 min and 10 min, in rings of slots. A
 * slot has the growth of the counters between two flushed states of the profile. Times are those of
 * the samples' clock. The open slot is closed before the profile counts the first window of records
 * that ends later than the slot. history_init() allocates all memory.
 */
#ifndef SPEPROF_HISTORY_H
#define SPEPROF_HISTORY_H

#include "counters.h"
#include "view/view.h"

/* Entries of each array of rows of &struct history_slot; the heaviest rows are stored. */
#define HISTORY_ROWS 256

/*
 * Three rings: 5 slots of 2 s, 6 slots of 10 s, and 10 slots of 1 min. In the last two rings, the
 * newest slot may be open.
 */
#define HISTORY_SLOT_NS 2000000000ULL
#define HISTORY_RINGS	3

/**
 * struct history_counters - &struct profile_counters of a slot, in less memory and without maxima
 */
struct history_counters {
	u64 latency_sum[PROFILE_LATENCIES];
	u64 weight[UNITS];
	u32 samples;
	u32 count[SAMPLE_COUNTS];
	u32 bucket[PROFILE_LATENCIES][HISTOGRAM_BUCKETS];
};

/**
 * struct history_container - the counters of a container
 * @index, @generation: identify the container's entry in the attributor
 * @counters: its counters
 */
struct history_container {
	u32 index;
	u32 generation;
	struct history_counters counters;
};

/**
 * struct history_row - the counters of a process or of a cell
 * @owner: result of location_owner_make() for a process, of cell_owner_make() for a cell
 * @place: 0 for a process, the offset of a cell
 * @latency_sum: sum of total latencies, cycles
 * @weight: sum of the samples' intervals. Intervals in different units (&enum sample_unit) are
 *	added without conversion
 * @samples: number of samples
 * @memory, @dram, @remote: loads and stores; of these, the ones that DRAM or another chip served
 * @branches, @mispredicted: branches, and the mispredicted ones
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
 * struct history_ledger - the ledgers of &struct view_header that are counted by period
 *
 * In a slot, a ledger is the increase in the period of the slot. In a mark, a ledger is the total
 * since the start. Lost and suspect bytes have no member here, because views always show their
 * totals since the start.
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
	u64 unhandled_ns;
};

#define HISTORY_LEDGERS (sizeof(struct history_ledger) / sizeof(u64))

/**
 * struct history_slot - the counters of one period
 * @ns: length of the period
 * @ledger: the ledgers of the period
 * @containers, @processes, @locations: number of used rows in @container, @process and @place
 * @machine: all samples of the period
 * @container, @process, @place: the heaviest rows
 */
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

/**
 * struct history_ring - the slots of one length
 * @slots: number of slots
 * @next: index of the slot that is filled now or next
 * @slot: the slots
 */
struct history_ring {
	u32 slots;
	u32 next;
	struct history_slot *slot;
};

/**
 * struct recent_history - the history of one profile
 * @begun: a window of records has arrived
 * @start_ns: start of the open slot, on the samples' clock
 * @containers, @processes, @locations: capacities of the marks
 * @ring: the rings, the one with the shortest slots first
 * @ledger_mark, @machine_mark, @container_mark, @process_mark, @location_mark: the totals at
 *	@start_ns, which are called marks. &history_row.owner and &history_row.place of a location's
 *	mark identify the location
 * @merged: scratch memory for the slot that is being filled, or for the sum of a ring
 * @open_slot_saved: counters of the previous process for the open slot, which are added to the slot
 *	when it ends
 * @marks_frozen: true while a slot is filled only to be saved, so that the marks must not move
 * @minute: receives the counters of each slot for the history on disk; NULL: none
 */
struct recent_history {
	bool begun;
	u64 start_ns;
	u32 containers;
	u32 processes;
	u32 locations;
	struct history_ring ring[HISTORY_RINGS];
	struct history_ledger ledger_mark;
	struct profile_counters *machine_mark;
	struct container_mark *container_mark;
	struct history_row *process_mark;
	struct history_row *location_mark;
	struct history_slot *merged;
	struct history_slot *open_slot_saved;
	bool marks_frozen;
	struct minute_log *minute;
};

struct minute_log;

/**
 * history_init() - allocate an empty history
 * @containers, @processes, @locations: capacity for each kind; the functions below take indices
 *	from 0 to capacity - 1
 *
 * Return: 0 or -ENOMEM.
 */
int history_init(struct recent_history *history, u32 containers, u32 processes, u32 locations);
/** history_deinit() - free the memory; @history may be all zeros */
void history_deinit(struct recent_history *history);

/** history_clear() - remove all slots and marks and keep the memory */
void history_clear(struct recent_history *history);

/** history_slot_has_ended() - return whether the open slot has ended at @now_ns */
static inline bool history_slot_has_ended(const struct recent_history *history, u64 now_ns)
{
	return history->begun && now_ns >= history->start_ns + HISTORY_SLOT_NS;
}

/**
 * history_note_window() - report that a window of records has arrived
 * @start_ns, @end_ns: times of the window on the samples' clock; @end_ns is 0 if unknown
 *
 * Return: whether the open slot ended before this window.
 */
static inline bool history_note_window(struct recent_history *history, u64 start_ns, u64 end_ns)
{
	if (!history->begun && history->machine_mark && end_ns) {
		history->begun = true;
		history->start_ns = start_ns;
	}
	return history_slot_has_ended(history, end_ns - 1) && end_ns;
}

/*
 * The functions below fill a slot. Add all rows between history_begin_slot() and
 * history_end_slot().
 */

/**
 * history_begin_slot() - begin to fill the open slot; return it, with its length and no counters
 * @now_ns: current time on the samples' clock; the slot ends at the last whole multiple of its
 *	length
 */
struct history_slot *history_begin_slot(struct recent_history *history, u64 now_ns);

/** history_set_ledger() - set the slot's ledgers; @now: totals since the start */
void history_set_ledger(struct recent_history *history, struct history_slot *slot,
			const struct history_ledger *now);

/** history_set_machine() - set the machine's counters of the slot; @now: totals since the start */
void history_set_machine(struct recent_history *history, struct history_slot *slot,
			 const struct profile_counters *now);

/**
 * history_add_container() - add the counters of container @index to the slot
 * @generation: generation of the container
 * @now: totals since the start
 */
void history_add_container(struct recent_history *history, struct history_slot *slot, u32 index,
			   u32 generation, const struct profile_counters *now);
/**
 * history_move_container_mark() - update the mark of an index after its container lost samples or
 * was replaced
 * @index: index of the container's mark
 * @generation, @now: generation and totals of the container that has @index now; @now is NULL if it
 *	has no samples
 * @other, @other_generation: container that counts these samples now. The call adds the samples to
 *	the mark of @other, so that they do not count as new samples of @other
 *
 * Call it before history_add_container(), and for all containers before that of @other.
 */
void history_move_container_mark(struct recent_history *history, u32 index, u32 generation,
				 const struct profile_counters *now, u32 other,
				 u32 other_generation);
/**
 * history_add_process(), history_add_location() - add the counters of a process or location to the
 * slot
 * @index: index of the mark of the process or location
 * @restarted: the entry was evicted since the last slot, and @now counts only later samples
 * @now: totals since the start
 * @latency: total latencies of the samples of @now; NULL: unknown
 */
void history_add_process(struct recent_history *history, struct history_slot *slot, u32 index,
			 bool restarted, const struct history_row *now);
void history_add_location(struct recent_history *history, struct history_slot *slot, u32 index,
			  bool restarted, const struct history_row *now,
			  const struct histogram *latency);
/** history_location_is_unchanged() - return whether a location has no new sample since its mark */
bool history_location_is_unchanged(const struct recent_history *history, u32 index, u64 owner,
				   u64 place, u32 samples);

/** history_end_slot() - finish a slot: merge it into the longer rings and open the next slot */
void history_end_slot(struct recent_history *history, struct history_slot *slot);

/**
 * history_restore_open_slot() - set the counters of the previous process for the open slot
 *
 * @slot is copied, and added to the open slot when the open slot ends.
 */
void history_restore_open_slot(struct recent_history *history, const struct history_slot *slot);

/** history_count_slots() - return the number of slots of ring @ring */
u32 history_count_slots(unsigned int ring);

/**
 * history_sum_span() - return the sum of the slots of period @span; valid until the next call of
 * this function, or until the next slot is added
 */
const struct history_slot *history_sum_span(struct recent_history *history, enum view_span span);

/** history_counters_add(), history_row_add() - add @from to @to; counters saturate */
void history_counters_add(struct history_counters *to, const struct history_counters *from);
void history_row_add(struct history_row *to, const struct history_row *from);

/**
 * history_ledger_add_increase() - add @now - @before to @to for each ledger that has not decreased
 */
void history_ledger_add_increase(struct history_ledger *to, const struct history_ledger *now,
				 const struct history_ledger *before);

/**
 * history_counters_expand() - expand @from. Each maximum becomes the upper bound of the highest
 * bucket in use
 */
void history_counters_expand(const struct history_counters *from,
			     struct profile_counters *ret_counters);

#endif
