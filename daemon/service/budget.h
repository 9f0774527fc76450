/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* MemoryBudget=: what every table and ring may hold, from one figure. */
#ifndef SPEPROF_BUDGET_H
#define SPEPROF_BUDGET_H

#include "env.h"

/**
 * struct memory_plan
 * @places, @contexts, @lines, @pages: as in &struct profile_config
 * @processes, @threads, @containers: as in &struct attributor_config
 * @ring: bytes of each CPU's ring, a power of two
 * @bytes: all of it, tables full and with what their counters carry over
 * @budget: that it was made for
 */
struct memory_plan {
	u32 places;
	u32 contexts;
	u32 lines;
	u32 pages;
	u32 processes;
	u32 threads;
	u32 containers;
	u32 ring;
	u64 bytes;
	u64 budget;
};

#define BUDGET_DEFAULT (64ULL << 20)

/**
 * budget_plan() - the largest tables and rings that @budget has room for
 * @cpus: with a ring each
 * @ret_least: where it is too small, the smallest that would do
 *
 * Return: 0 or -ENOSPC.
 */
int budget_plan(u64 budget, u32 cpus, struct memory_plan *ret_plan, u64 *ret_least);

#endif
