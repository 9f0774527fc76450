/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The profile: samples aggregated in tables of fixed capacity. One owner, one
 * thread; a snapshot is taken by that thread.
 */
#ifndef SPEPROF_PROFILE_H
#define SPEPROF_PROFILE_H

#include "attribute.h"
#include "figures.h"
#include "filter.h"
#include "record.h"
#include "source.h"
#include "symbols.h"
#include "view.h"

/**
 * struct profile_config
 * @locations: capacity of the (process, PC) table; 0 for the default (32768)
 * @contexts: values of each Context packet counted one by one, a power of two; 0 for
 *	the default (65536)
 * @midr: MIDR_EL1 for windows that do not say which core took them; 0 for none
 * @filter: what counts; stays the caller's until the profile is freed. NULL: everything
 */
struct profile_config {
	u32 locations;
	u32 contexts;
	u64 midr;
	const struct filter *filter;
};

struct profile;

int profile_new(const struct profile_config *config, struct attributor *attributor,
		struct profile **ret_profile);
struct profile *profile_free(struct profile *profile);

/** profile_set_filter() - what counts from now on; @filter as in &struct profile_config */
void profile_set_filter(struct profile *profile, const struct filter *filter);

/** profile_reset() - forget all samples and ledgers */
void profile_reset(struct profile *profile);

/** profile_window() - decode, attribute and aggregate a window */
void profile_window(struct profile *profile, const struct source_window *window);

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

/** profile_containers() - how many there are; index 0 is "none" */
u32 profile_containers(struct profile *profile);
/** profile_container_samples() - as of the last profile_containers() or view */
u64 profile_container_samples(const struct profile *profile, u32 index);

/** profile_histogram() - latency of the whole machine; valid until the next window */
const struct histogram *profile_histogram(struct profile *profile, enum profile_latency latency);

/**
 * profile_summary_json() - the summary of the JSON contract, as text
 * @backend: "recording", "emulated", "hardware"
 * @processes: whether to add the processes
 * @ret_text: allocated
 */
int profile_summary_json(struct profile *profile, const char *backend, bool processes,
			 char **ret_text);

#endif
