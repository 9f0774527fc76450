/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Figures of processes and containers, 2 KiB each: there for whom something was counted, and of a
 * profile with a bound no more than that. Who counted least gives way; what it had counted stays
 * with its container.
 */
#ifndef SPEPROF_TASK_COUNTERS_H
#define SPEPROF_TASK_COUNTERS_H

#include "counters.h"

struct profile;

/**
 * struct process_tally - what is kept of a process
 * @generation: of the attributor's entry
 * @container, @container_generation: where its samples since the last move count
 * @restarted: figures of before gave way since that was taken note of (history-view.c)
 * @sum: samples since then; NULL for none
 * @moved_from: those of before, which its containers have already; NULL for none
 */
struct process_tally {
	u32 generation;
	u32 container;
	u32 container_generation;
	bool restarted;
	struct counters *sum;
	struct counters *moved_from;
};

/** struct container_tally - @sum: NULL for no sample */
struct container_tally {
	u32 generation;
	struct counters *sum;
};

/* Who shares in the bound, and how: half of it, and a quarter each. */
enum tally_kind { TALLY_PROCESS, TALLY_EXITED, TALLY_CONTAINER, TALLY_KINDS };

/**
 * struct tally_budget
 * @most: figures of a profile; 0: as many as come
 * @used: by &enum tally_kind
 */
struct tally_budget {
	u32 most;
	u32 used[TALLY_KINDS];
};

/** tally_full() - whether one more of @kind is above the bound */
bool tally_full(const struct tally_budget *room, enum tally_kind kind);

/** tally_new() - empty figures; NULL without memory. Whether there is room is the caller's to ask */
struct counters *tally_new(struct tally_budget *room, enum tally_kind kind);

/** tally_drop() - @counters may be NULL; returns NULL */
struct counters *tally_drop(struct tally_budget *room, enum tally_kind kind,
			    struct counters *counters);

/** tally_samples() - of a process, whichever containers it was in */
u64 tally_samples(const struct process_tally *entry);

#endif
