/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is counted of a set of samples, whatever it is the set of: the machine, a
 * container, a process, a function.
 */
#ifndef SPEPROF_COUNTERS_H
#define SPEPROF_COUNTERS_H

#include "codec/data-source.h"
#include "codec/record.h"
#include "source/source.h"
#include "util/histogram.h"

enum profile_latency {
	PROFILE_TOTAL,
	PROFILE_ISSUE,
	PROFILE_TRANSLATION,
	PROFILE_LATENCIES,
};

/* How many events figures have, from bit 0 on: those that are architected (D18.2.6). */
#define SAMPLE_EVENTS 32
/* How many SPE_ORIGIN_* bits there are. */
#define SAMPLE_ORIGINS 5
#define SAMPLE_COUNTS  64

/**
 * struct sample_counts - what is counted by what samples are
 * @event: by bit of the Events packet
 * @kind: by &enum spe_op_kind; loads and stores are the memory operations
 * @simd: SVE and SME operations, which are in @kind too
 * @mispredicted: branches among those with that event
 * @level: what served loads and stores, by &enum spe_level; their sum is theirs
 * @origin: what else is known of that, by bit of SPE_ORIGIN_*
 * @unused: makes it SAMPLE_COUNTS counters, which are added to as one array
 */
struct sample_counts {
	u64 event[SAMPLE_EVENTS];
	u64 kind[SPE_KINDS];
	u64 simd;
	u64 mispredicted;
	u64 level[SPE_LEVELS];
	u64 origin[SAMPLE_ORIGINS];
	u64 unused[SAMPLE_COUNTS - SAMPLE_EVENTS - SPE_KINDS - SPE_LEVELS - SAMPLE_ORIGINS - 2];
};

static_assert(sizeof(struct sample_counts) == SAMPLE_COUNTS * sizeof(u64), "counters alone");

/**
 * struct counters
 * @samples: how many there are
 * @weight: operations that they stand for, by &enum sample_unit: each sample the mean
 *	interval it was taken with; of windows that do not say theirs nothing
 * @counts: of all of them
 * @latency: cycles, by &enum profile_latency, of those with such a counter. Of functions
 *	issue and translation have a bucket an octave (scale 0) and not four: the
 *	others between are 0
 */
struct counters {
	u64 samples;
	u64 weight[UNITS];
	struct sample_counts counts;
	struct histogram latency[PROFILE_LATENCIES];
};

/** sample_kind_name() - of &enum spe_op_kind: "load" ...; a static string */
const char *sample_kind_name(u32 kind);

/** counters_merge() - add what @from counted to @to */
void counters_merge(struct counters *to, const struct counters *from);

/** counters_finish() - the histograms' counts by their buckets, which alone samples add to */
void counters_finish(struct counters *counters);

static inline u64 counters_memory(const struct counters *f)
{
	return f->counts.kind[SPE_KIND_LOAD] + f->counts.kind[SPE_KIND_STORE];
}

/** counters_dram() - loads and stores that memory served, as far as is known */
static inline u64 counters_dram(const struct counters *f)
{
	return f->counts.level[SPE_LEVEL_DRAM] + f->counts.level[SPE_LEVEL_BEYOND_LLC];
}

/** counters_origin() - loads and stores with @flag, one of SPE_ORIGIN_* */
static inline u64 counters_origin(const struct counters *f, unsigned int flag)
{
	return f->counts.origin[__builtin_ctz(flag)];
}

#endif
