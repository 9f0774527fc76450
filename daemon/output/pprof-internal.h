/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table that is counted in and written from. */
#ifndef SPEPROF_PPROF_INTERNAL_H
#define SPEPROF_PPROF_INTERNAL_H

#include "pprof.h"

/* Sums of samples, each also of what its samples stand for. */
enum pprof_value {
	PPROF_SAMPLES,
	PPROF_TOTAL,
	PPROF_ISSUE,
	PPROF_TRANSLATION,
	PPROF_L1_MISSES,
	PPROF_L2_MISSES,
	PPROF_LLC_MISSES,
	PPROF_VALUES,
};

#define PPROF_NO_NODE 0xff

/**
 * struct pprof_entry
 * @pc: virtual address; @kernel: and whose
 * @container, @container_generation: of the attributor
 * @level: what served it, SPE_LEVELS of what is no load or store
 * @node: of the CPU, PPROF_NO_NODE if unknown
 * @unit: of which @weighted is: no entry has two
 * @weighted: each sample's part of @value times its interval; of PPROF_SAMPLES the operations
 */
struct pprof_entry {
	u64 pc;
	u32 process;
	u32 generation;
	u32 container;
	u32 container_generation;
	u8 level;
	u8 node;
	u8 unit;
	bool kernel;
	bool used;
	u64 value[PPROF_VALUES];
	u64 weighted[PPROF_VALUES];
};

static_assert(sizeof(struct pprof_entry) == PPROF_ENTRY, "as the budget has it");

/**
 * struct pprof
 * @room: how many @entries there are, and names may be
 * @no_interval: there was a sample whose interval is not known
 * @others: samples for which there was no entry, without place, by unit
 * @node: of CPUs
 */
struct pprof {
	struct attributor *attributor;
	struct profile_observer observer;
	struct pprof_limits room;
	bool live;
	bool no_interval;
	u32 count;
	struct pprof_entry *entries;
	struct pprof_entry others[UNITS];
	u8 node[4096];
};

/**
 * struct pprof_hide - what is summed up, as a filter has it
 * @verdict: of containers by index: 0 not looked at, FOLD_SHOWN, FOLD_HIDDEN
 * @entries: @count of them, one for each data source, node and unit; of no place
 * @error: negative errno
 */
struct pprof_hide {
	const struct pprof_filter *filter;
	struct attributor *attributor;
	u8 *verdict;
	u32 containers;
	struct pprof_entry *entries;
	u32 count;
	u32 room;
	int error;
};

int pprof_hide_init(struct pprof_hide *fold, const struct pprof_filter *filter,
		    struct attributor *attributor);
void pprof_hide_deinit(struct pprof_hide *fold);

/** pprof_hide_entry() - whether @entry is not to be shown: it is summed up then */
bool pprof_hide_entry(struct pprof_hide *fold, const struct pprof_entry *entry);

#endif
