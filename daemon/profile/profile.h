/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The profile: samples aggregated in tables of fixed capacity. One owner, one
 * thread; a snapshot is taken by that thread.
 */
#ifndef SPEPROF_PROFILE_H
#define SPEPROF_PROFILE_H

#include "attribution/attributor.h"
#include "attribution/reader-lock.h"
#include "codec/record.h"
#include "counters.h"
#include "filter/filter.h"
#include "numa-nodes.h"
#include "source/source.h"
#include "symbols/symbols.h"
#include "view/view.h"

struct profile;

/**
 * struct profile_config
 * @locations: capacity of the (process, PC) table; 0 for the default (32768)
 * @location_bytes: what places may take beside themselves, for what is carried over; 0: no bound
 * @counters: of processes and containers, 2 KiB each: who counted least gives way; 0: no bound
 * @contexts: values of each Context packet counted one by one, a power of two; 0 for
 *	the default (65536)
 * @midr: MIDR_EL1 for windows that do not say which core took them; 0 for none
 * @lines, @pages: capacities of the tables of hot cache lines and pages; 0 for the
 *	defaults (1024, 4096)
 * @history: keep what was counted in the last 10 s, minute and 10 minutes
 * @processes, @containers: of the attributor, for windows; 0 for its defaults
 * @nodes: of this machine, for pages; the caller's until the profile is freed. NULL: unknown
 * @filter: what counts; stays the caller's until the profile is freed. NULL: everything
 * @whole: makes it a shard of that (profile-shard.h); keeps no windows
 * @reader: a seat at the attributor, where several threads ask it; NULL for one thread alone
 */
struct profile_config {
	u32 locations;
	u64 location_bytes;
	u32 counters;
	u32 contexts;
	u32 lines;
	u32 pages;
	bool history;
	u32 processes;
	u32 containers;
	const struct nodes *nodes;
	u64 midr;
	const struct filter *filter;
	struct profile *whole;
	struct attribute_reader *reader;
};

int profile_new(const struct profile_config *config, struct attributor *attributor,
		struct profile **ret_profile);
struct profile *profile_free(struct profile *profile);

/** profile_set_filter() - what counts from now on; @filter as in &struct profile_config */
void profile_set_filter(struct profile *profile, const struct filter *filter);

/** profile_finish_queued() - count the samples that still wait for /proc, as far as it has answered */
void profile_finish_queued(struct profile *profile);

/** profile_reset() - forget all samples and ledgers */
void profile_reset(struct profile *profile);

/** profile_window() - decode, attribute and aggregate a window */
void profile_window(struct profile *profile, const struct source_window *window);

/**
 * struct profile_sample - a sample that was counted
 * @sample, @window: as they came; valid during the call
 * @process: index of the attributor's process, of @generation; ATTRIBUTE_NONE for none
 * @origin: what served it, if @memory: a load or store
 */
struct profile_sample {
	const struct spe_sample *sample;
	const struct source_window *window;
	u32 process;
	u32 generation;
	struct spe_origin origin;
	bool memory;
};

/**
 * struct profile_observer - who wants to see each sample, and not just what it adds to
 *
 * As long as there is one, records are decoded one by one, which takes twice as long.
 */
struct profile_observer {
	void (*sample)(void *ctx, const struct profile_sample *sample);
	void *ctx;
	struct profile_observer *next;
	struct profile *profile; /* NULL once that was freed */
};

/** profile_observe() - @observer stays the caller's, until it is taken away again */
void profile_observe(struct profile *profile, struct profile_observer *observer);
void profile_unobserve(struct profile_observer *observer);

/** profile_sink() - a sink that feeds @profile and its attributor */
struct source_sink profile_sink(struct profile *profile);

/**
 * profile_view() - the heaviest @limit rows
 * @symbols: to name functions
 * @limit: 0 for all
 * @ret_view: rows allocated; the header's ledgers are filled, what only the
 *	daemon knows (source, running, cost, memory) is left zero
 */
int profile_view(struct profile *profile, struct symbols *symbols, bool live,
		 enum view_group group, enum view_sort sort, u32 limit, struct view *ret_view);

/**
 * profile_span_view() - profile_view() of what was counted in the last time
 * @now_ns: on the windows' clock, so that without samples time passes too; 0 if unknown
 *
 * Of @header, records, weight and duration_ns are of that time, ledgers since the start. Rows
 * are the 256 heaviest, of processes and functions without percentiles and levels, and with the
 * weight of view_unit() alone.
 *
 * Return: 0; -EOPNOTSUPP if @profile keeps no windows; -EINVAL, -ENOMEM.
 */
int profile_span_view(struct profile *profile, struct symbols *symbols, bool live,
		      enum view_span span, enum view_group group, enum view_sort sort, u32 limit,
		      u64 now_ns, struct view *ret_view);

/** profile_skip_time() - nobody sampled for @ns: this was no time of a window of the last seconds */
void profile_skip_time(struct profile *profile, u64 ns);

/** profile_containers() - how many there are; index 0 is "none" */
u32 profile_containers(struct profile *profile);
/** profile_container_samples() - as of the last profile_containers() or view */
u64 profile_container_samples(const struct profile *profile, u32 index);

/** profile_histogram() - latency of the whole machine; valid until the next window */
const struct histogram *profile_histogram(struct profile *profile, enum profile_latency latency);

#endif
