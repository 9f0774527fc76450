/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A profile's tables, for the files that aggregate into and read from it. */
#ifndef SPEPROF_PROFILE_INTERNAL_H
#define SPEPROF_PROFILE_INTERNAL_H

#include "data-source.h"
#include "layout.h"
#include "profile.h"
#include "table.h"

#define CONTEXTS (sizeof(((struct spe_sample *)0)->context) / sizeof(u32))

struct context_count {
	u32 value;
	u64 count;
};

struct process_tally {
	u32 generation;
	struct tally tally;
};

struct container_tally {
	u32 generation;
	struct tally tally;
};

/* In profile.op_flags: the kind, and whether it is an SVE or SME operation. */
#define OP_KIND 0x7
#define OP_SIMD 0x8

/* How many SPE_ORIGIN_* bits there are. */
#define ORIGINS 5

struct profile {
	struct attributor *attributor;
	u64 midr;		/* where a window has none */
	struct spe_layouts layouts;
	struct location_table *locations;
	struct process_tally *processes;
	u32 process_count;	/* capacities, grown to what the attributor uses */
	struct container_tally *containers;
	u32 container_count;

	struct view_header header;
	u8 op_flags[4][256];	/* of CLASS and SUBCLASS: OP_* */
	u64 kinds[SPE_KINDS];
	u64 simd;
	u64 events[64];
	struct histogram latency[PROFILE_LATENCIES];
	u64 *sources;		/* by value, 65536 of them */
	u64 levels[SPE_LEVELS];	/* of loads and stores */
	u64 origins[ORIGINS];	/* of them, by bit of SPE_ORIGIN_* */
	struct context_count *contexts[CONTEXTS];
	u32 context_slots;	/* of each; a power of two */
	u64 context_overflow;	/* values for which there was no room near theirs */
};

/** profile_settle() - figures of containers that were evicted count to "(other)" */
void profile_settle(struct profile *profile);

#endif
