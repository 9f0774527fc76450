/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of samples for pprof, which is filled, filtered and written by different files */
#ifndef SPEPROF_PPROF_INTERNAL_H
#define SPEPROF_PPROF_INTERNAL_H

#include "pprof.h"

/*
 * The values of an entry. &pprof_entry.value has the sum of each value, and &pprof_entry.weighted
 * the sum in which each sample is multiplied by its interval.
 */
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
 * struct pprof_entry - the counters of one combination of location, process, container, level and
 * node
 * @pc: virtual address
 * @process, @generation: index and generation of an entry of the attributor
 * @container, @container_generation: index and generation of an entry of the attributor
 * @level: the level that served the access; SPE_LEVELS for samples other than loads and stores
 * @node: NUMA node of the CPU; PPROF_NO_NODE if unknown
 * @unit: unit of @weighted; samples of another unit have their own entry
 * @kernel: true if @pc is an address of the kernel
 * @used: true if the entry is in use
 * @value: sums, indexed by &enum pprof_value
 * @weighted: sums in which each sample is multiplied by its interval; for PPROF_SAMPLES the number
 * of operations
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

static_assert(sizeof(struct pprof_entry) == PPROF_ENTRY_SIZE, "as the budget has it");

/**
 * struct pprof - the table of samples for one pprof profile
 * @attributor: the attributor of the profile
 * @observer: receives the samples
 * @limits: number of @entries, and bytes of names
 * @grows: the number of @entries has no limit
 * @live: the profiled processes and CPUs belong to this machine
 * @no_interval: a sample had an unknown interval
 * @count: number of used @entries
 * @entries: the table, open addressing
 * @others: sums of samples without a location, because the table was full; indexed by unit
 * @node: NUMA node of each CPU
 */
struct pprof {
	struct attributor *attributor;
	struct profile_observer observer;
	struct pprof_limits limits;
	bool grows;
	bool live;
	bool no_interval;
	u32 count;
	struct pprof_entry *entries;
	struct pprof_entry others[UNITS];
	u8 node[4096];
};

/**
 * struct pprof_hidden - sums of the samples that a filter hides
 * @filter: the filter
 * @attributor: the attributor with the names of containers
 * @verdict: result of the filter, indexed by container: 0 if not checked yet, FOLD_SHOWN or
 * FOLD_HIDDEN
 * @containers: number of entries of @verdict
 * @entries: one sum for each data source, node and unit, without location
 * @count, @capacity: number of @entries, and capacity
 * @error: negative errno of the first failure, 0 for none
 */
struct pprof_hidden {
	const struct pprof_filter *filter;
	struct attributor *attributor;
	u8 *verdict;
	u32 containers;
	struct pprof_entry *entries;
	u32 count;
	u32 capacity;
	int error;
};

/**
 * pprof_sort_entries() - sort the entries of a table without a limit
 *
 * The written profile then does not depend on the order in which samples were counted. This call is
 * useless for a table with a limit, because which samples have an entry depends on that order. Do
 * not add samples after this call.
 */
void pprof_sort_entries(struct pprof *pprof);

/** pprof_hidden_init() - prepare the sums for @filter; returns 0 or -ENOMEM */
int pprof_hidden_init(struct pprof_hidden *fold, const struct pprof_filter *filter,
		      struct attributor *attributor);

/** pprof_hidden_deinit() - free the sums */
void pprof_hidden_deinit(struct pprof_hidden *fold);

/**
 * pprof_hide_entry() - add @entry to the sums if the filter hides it
 *
 * Return: true if the filter hides @entry.
 */
bool pprof_hide_entry(struct pprof_hidden *fold, const struct pprof_entry *entry);

#endif
