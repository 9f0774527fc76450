/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counters of processes and containers, 2 KiB each. The counters of a process or container are
 * allocated with its first sample. In a profile with a limit, the counters of processes with the
 * fewest samples are evicted; their samples stay counted in their containers.
 */
#ifndef SPEPROF_TASK_COUNTERS_H
#define SPEPROF_TASK_COUNTERS_H

#include "counters.h"

struct profile;

/**
 * struct process_tally - the counters of one process
 * @generation: generation of the attributor's entry
 * @container, @container_generation: the container that counts its samples since the process last
 *	moved to another container
 * @restarted: earlier counters were evicted since the last slot of the history (history-view.c)
 * @sum: samples since the last move; NULL for none
 * @moved_from: samples before the last move, which are already counted in its former containers;
 *	NULL for none
 */
struct process_tally {
	u32 generation;
	u32 container;
	u32 container_generation;
	bool restarted;
	struct profile_counters *sum;
	struct profile_counters *moved_from;
};

/** struct container_tally - counters of a container; @sum is NULL without a sample */
struct container_tally {
	u32 generation;
	struct profile_counters *sum;
};

/*
 * The kinds of counters that share the limit. Processes get half of the limit, and each of the
 * other two kinds a quarter.
 */
enum tally_kind { TALLY_PROCESS, TALLY_EXITED, TALLY_CONTAINER, TALLY_KINDS };

/**
 * struct tally_budget - the limit of counters of a profile, and their number
 * @most: the maximum number of counters; 0: no limit
 * @used: number of counters, indexed by &enum tally_kind
 */
struct tally_budget {
	u32 most;
	u32 used[TALLY_KINDS];
};

/** tally_limit_is_reached() - return whether one more of @kind would exceed the limit */
bool tally_limit_is_reached(const struct tally_budget *budget, enum tally_kind kind);

/**
 * tally_new() - allocate counters and set them to 0; return NULL if memory cannot be allocated
 *
 * The caller checks tally_limit_is_reached() first.
 */
struct profile_counters *tally_new(struct tally_budget *budget, enum tally_kind kind);

/** tally_free() - free @counters, which may be NULL; returns NULL */
struct profile_counters *tally_free(struct tally_budget *budget, enum tally_kind kind,
				    struct profile_counters *counters);

/** tally_get_samples() - return the samples of a process in all its containers */
u64 tally_get_samples(const struct process_tally *entry);

#endif
