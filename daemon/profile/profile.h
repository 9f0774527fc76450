/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A profile aggregates samples in tables of fixed capacity. One thread owns a profile, and only
 * this thread may call the functions below, including those that only read.
 */
#ifndef SPEPROF_PROFILE_H
#define SPEPROF_PROFILE_H

#include "attribution/attributor.h"
#include "attribution/reader-lock.h"
#include "codec/record.h"
#include "counters.h"
#include "filter/filter.h"
#include "source/source.h"
#include "symbols/symbols.h"
#include "util/numa-nodes.h"
#include "view/view.h"

struct profile;

/**
 * struct profile_config - the configuration of a profile
 * @cell_bytes: memory budget of the cells, which count the samples of functions by program. 0: the
 *	table grows on demand; @history must be false then
 * @programs: maximum number of programs, and of binaries; 0: the memory of their paths has no limit
 * @counters: maximum number of counters of processes and containers, 2 KiB each; 0: no limit. At
 *	the limit, the processes with the fewest samples are evicted
 * @contexts: maximum number of values of each Context packet that are counted separately, a power
 *	of two; 0 for the default (65536)
 * @lines, @pages: capacities of the tables of hot cache lines and pages; 0 for the defaults (1024,
 *	4096)
 * @line_size: size of a cache line, bytes; 0: 64. See hot_lines_set_size()
 * @skip_memory: do not count cache lines and pages: their tables depend on the order of samples
 * @split: for a recording: properties by which its cells are separated, CELL_SPLIT_* and CELL_BY_DATA
 *	(cell-counter.h)
 * @history: count by period: the last 10 s, minute and 10 minutes
 * @processes, @containers: the attributor's capacities, for the history; 0 for its defaults
 * @nodes: the machine's nodes, for pages; must outlive the profile. NULL: unknown
 * @midr: MIDR_EL1 for windows of an unknown core; 0 for none
 * @filter: condition on samples; must outlive the profile. NULL: all samples
 * @whole: makes the profile a shard of @whole (profile-shard.h), without a history
 * @reader: reader lock slot of the attributor if several threads use it; NULL for a single thread
 */
struct profile_config {
	u64 cell_bytes;
	u32 programs;
	u32 counters;
	u32 contexts;
	u32 lines;
	u32 pages;
	u32 line_size;
	bool skip_memory;
	u8 split;
	bool history;
	u32 processes;
	u32 containers;
	const struct numa_nodes *nodes;
	u64 midr;
	const struct filter *filter;
	struct profile *whole;
	struct attribute_reader *reader;
};

/**
 * profile_new() - allocate an empty profile
 * @config: the configuration, copied
 * @attributor: finds the tasks of samples; must outlive the profile
 * @ret_profile: the profile; free it with profile_free()
 *
 * Return: 0; -EINVAL if the budget of the cells is too small, or is 0 although there is a history;
 * -ENOMEM if memory cannot be allocated.
 */
int profile_new(const struct profile_config *config, struct attributor *attributor,
		struct profile **ret_profile);

/** profile_free() - free a profile, which may be NULL; returns NULL */
struct profile *profile_free(struct profile *profile);

/**
 * profile_set_filter() - replace the filter; @filter is as in &struct profile_config
 *
 * Before that, samples that wait for /proc are counted with the previous filter.
 */
void profile_set_filter(struct profile *profile, const struct filter *filter);

/**
 * profile_set_line_size() - set &profile_config.line_size before the first window
 */
void profile_set_line_size(struct profile *profile, u32 bytes);

/**
 * profile_finish_waiting_samples() - count all samples that wait for /proc
 *
 * A sample that still has no known task counts as unattributed.
 */
void profile_finish_waiting_samples(struct profile *profile);

/** profile_reset() - clear all counters and ledgers */
void profile_reset(struct profile *profile);

/** profile_add_window() - decode, attribute and count the records of a window */
void profile_add_window(struct profile *profile, const struct source_window *window);

/* Maximum number of profiles in one call of profiles_add_window(). */
#define PROFILES_PER_WINDOW_MAX 8

/**
 * profiles_add_window() - decode and attribute the samples of a window once, and count them in
 * several profiles
 * @profiles: the profiles, each with the same attributor and reader lock
 * @count: number of @profiles, 1 to PROFILES_PER_WINDOW_MAX
 * @window: the window
 *
 * Each profile applies its own filter.
 */
void profiles_add_window(struct profile *const *profiles, u32 count,
			 const struct source_window *window);

/**
 * struct profile_sample - a sample that was counted
 * @sample, @window: the sample and its window; valid during the call
 * @process: index of its process in the attributor; ATTRIBUTE_NONE for none
 * @generation: generation of that process
 * @origin: what served the access, if @memory
 * @memory: the sample is a load or store
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
 * struct profile_observer - a callback that receives each counted sample
 * @sample: the callback. The thread that counts the sample calls it. Calls of several threads never
 *	overlap
 * @ctx: its argument
 * @next: the next observer of the profile
 * @profile: the observed profile; NULL after the profile was freed
 */
struct profile_observer {
	void (*sample)(void *ctx, const struct profile_sample *sample);
	void *ctx;
	struct profile_observer *next;
	struct profile *profile;
};

/**
 * profile_add_observer() - add an observer, which must stay valid until profile_remove_observer()
 * @profile: the profile. For a shard, the observer receives the samples of that shard; for another
 *	profile also the samples of all its shards
 * @observer: the observer
 */
void profile_add_observer(struct profile *profile, struct profile_observer *observer);
void profile_remove_observer(struct profile_observer *observer);

/**
 * profile_assign_ids() - assign ids to the programs and binaries of a recording
 * @profile: a profile of a recording, without samples
 *
 * Call it after the last task event. Binaries with the same build id get the same id, and the path
 * of the first of them. So the row in which a sample is counted does not depend on the order of
 * samples.
 */
void profile_assign_ids(struct profile *profile);

/**
 * profile_is_exact() - return whether the counters are independent of the order of samples
 * @profile: a profile of a recording
 *
 * The counters depend on the order if a table of fixed capacity was full. That is the case if the
 * recording has more than 12,287 combinations of operation, events and data source, or more than
 * 65,536 values of a context, or if one location has thousands of combinations.
 */
bool profile_is_exact(const struct profile *profile);

/**
 * profile_make_sink() - return a sink that passes windows to @profile and events to its attributor
 */
struct source_sink profile_make_sink(struct profile *profile);

/**
 * profile_create_view() - create a view of all samples since the start
 * @profile: the profile; the caller runs on its thread
 * @symbols: resolver of function names
 * @live: the processes belong to this machine and may still run
 * @group: what a row is
 * @sort: the order of rows
 * @limit: maximum number of rows, the heaviest; 0 for all
 * @ret_view: the view; free it with view_clear(). The fields that only the daemon can set (source,
 *	running, cost, memory) are 0
 *
 * Return: 0; -EINVAL if @group is invalid; -ENOMEM if memory cannot be allocated.
 */
int profile_create_view(struct profile *profile, struct symbols_cache *symbols, bool live,
			enum view_group group, enum view_sort sort, u32 limit,
			struct view *ret_view);

/**
 * profile_create_span_view() - create a view of the samples of a period
 * @span: the period; VIEW_SPAN_START means all samples since the start
 * @now_ns: current time on the windows' clock, so that the period advances without samples; 0 if
 *	unknown
 *
 * The other parameters are those of profile_create_view(). The caller checks with
 * view_sort_is_supported() that the period has such rows and such an order. In the header, records,
 * weight and duration_ns refer to the period; the ledgers of lost and suspect bytes are totals
 * since the start. There are at most 256 rows, the heaviest. Rows of processes and functions have
 * no percentiles and levels, and only the weight of view_get_share_unit().
 *
 * Return: 0; -EOPNOTSUPP if @profile has no history; -ENOMEM if memory cannot be allocated.
 */
int profile_create_span_view(struct profile *profile, struct symbols_cache *symbols, bool live,
			     enum view_span span, enum view_group group, enum view_sort sort,
			     u32 limit, u64 now_ns, struct view *ret_view);

/**
 * profile_skip_time() - exclude @ns from the open slot of the history, because sampling was not
 * running
 */
void profile_skip_time(struct profile *profile, u64 ns);

/** profile_count_containers() - return the number of containers; index 0 is "none" */
u32 profile_count_containers(struct profile *profile);
/**
 * profile_get_container_samples() - return the number of samples of container @index
 *
 * The last call of profile_count_containers(), or the last view, has updated the number.
 */
u64 profile_get_container_samples(const struct profile *profile, u32 index);

/**
 * profile_get_histogram() - return the histogram of a latency of all samples; valid until the next
 * window
 */
const struct histogram *profile_get_histogram(struct profile *profile,
					      enum profile_latency latency);

#endif
