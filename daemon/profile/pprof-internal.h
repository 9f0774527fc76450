/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table that is counted in and written from. */
#ifndef SPEPROF_PPROF_INTERNAL_H
#define SPEPROF_PPROF_INTERNAL_H

#include "pprof.h"

enum pprof_value {
	PPROF_SAMPLES,
	PPROF_OPERATIONS, /* that they stand for */
	PPROF_TOTAL,
	PPROF_ISSUE,
	PPROF_TRANSLATION,
	PPROF_WEIGHTED, /* total latency of the operations that they stand for */
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
 */
struct pprof_entry {
	u64 pc;
	u32 process;
	u32 generation;
	u32 container;
	u32 container_generation;
	u8 level;
	u8 node;
	bool kernel;
	bool used;
	u64 value[PPROF_VALUES];
};

/**
 * struct pprof
 * @others: samples for which there was no entry, without place
 * @node: of CPUs
 */
struct pprof {
	struct attributor *attributor;
	struct profile_observer observer;
	bool live;
	u64 interval; /* of the last window */
	u8 unit;
	u32 count;
	struct pprof_entry *entries;
	struct pprof_entry others;
	u8 node[4096];
};

#endif
