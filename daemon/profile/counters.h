/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The counters of a set of samples. The set may be the machine, a container, a process or a
 * function.
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

/*
 * Number of event counters, for bits 0 to 31 of the Events packet: the architected events
 * (D18.2.6).
 */
#define SAMPLE_EVENTS 32
/* Number of SPE_ORIGIN_* bits. */
#define SAMPLE_ORIGINS 5
#define SAMPLE_COUNTS  64

/**
 * struct sample_counts - counters of samples by operation, event and data source
 * @event: samples with an event, indexed by bit of the Events packet
 * @kind: samples, indexed by &enum spe_op_kind; loads and stores are the memory operations
 * @simd: SVE and SME operations, which are also counted in @kind
 * @mispredicted: branches with the event "mispredicted"
 * @level: loads and stores that a level served, indexed by &enum spe_level
 * @origin: loads and stores with a flag, indexed by bit number of SPE_ORIGIN_*
 * @unused: pads the struct to SAMPLE_COUNTS counters, which are added as one array
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
 * struct profile_counters - all counters of a set of samples
 * @samples: number of samples
 * @weight: number of operations that the samples represent, indexed by &enum sample_unit. Each
 *	sample adds the mean interval of its window. Samples of windows with an unknown interval add
 *	nothing.
 * @counts: operations, events and data sources of all samples
 * @latency: histograms in cycles of the samples that have the latency, indexed by &enum
 *	profile_latency. For functions, issue and translation latency have one bucket per octave
 *	instead of four; the other three buckets are 0.
 */
struct profile_counters {
	u64 samples;
	u64 weight[UNITS];
	struct sample_counts counts;
	struct histogram latency[PROFILE_LATENCIES];
};

/** sample_kind_name() - return the name of an &enum spe_op_kind such as "load", a static string */
const char *sample_kind_name(u32 kind);

/** counters_merge() - add the counters of @from to @to */
void counters_merge(struct profile_counters *to, const struct profile_counters *from);

/**
 * counters_sum_histograms() - compute the histograms' totals from their buckets
 *
 * Call this function before the totals are read, because counting a sample updates only the
 * buckets.
 */
void counters_sum_histograms(struct profile_counters *counters);

/** counters_get_memory_accesses() - return the number of loads and stores */
static inline u64 counters_get_memory_accesses(const struct profile_counters *f)
{
	return f->counts.kind[SPE_KIND_LOAD] + f->counts.kind[SPE_KIND_STORE];
}

/**
 * counters_get_dram_accesses() - return the number of loads and stores that are known to have been
 * served by DRAM
 */
static inline u64 counters_get_dram_accesses(const struct profile_counters *f)
{
	u64 dram = 0;

	for (unsigned int i = 0; i < SPE_LEVELS; i++)
		dram += spe_level_is_dram(i) ? f->counts.level[i] : 0;
	return dram;
}

/**
 * counters_get_origin_accesses() - return the number of loads and stores with @flag, one bit of
 * SPE_ORIGIN_*
 */
static inline u64 counters_get_origin_accesses(const struct profile_counters *f, unsigned int flag)
{
	return f->counts.origin[__builtin_ctz(flag)];
}

#endif
