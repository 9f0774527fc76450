/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * MemoryBudget=: what every table, ring and map may hold, from one figure. Who takes memory
 * that grows with the machine or its load has a share here, and takes its size from the plan.
 */
#ifndef SPEPROF_BUDGET_H
#define SPEPROF_BUDGET_H

#include "output/pprof.h"
#include "profile/profile.h"
#include "view/view.h"

/* Which sources may come to be used, bits of &memory_request.sources. */
#define MEMORY_MODULE	(1U << 0)
#define MEMORY_PERF	(1U << 1)
#define MEMORY_EMULATED (1U << 2)

/**
 * struct memory_request - what the plan depends on
 * @budget: bytes, of it all
 * @cpus: with a ring of each kind
 * @page: the kernel's page size
 * @sources: MEMORY_*; the dearest counts
 * @bpf, @side_band: what tells of tasks; what is only tried counts
 * @switches: context switches are followed (Contexts=no)
 * @workers: who count, each in tables of its own beside those of all
 */
struct memory_request {
	u64 budget;
	u32 cpus;
	u32 page;
	u32 sources;
	bool bpf;
	bool side_band;
	bool switches;
	u32 workers;
};

/**
 * struct memory_plan
 * @locations, @contexts, @lines, @pages: as in &struct profile_config
 * @location_bytes, @counters: likewise
 * @processes, @threads, @containers, @map_bytes, @saved_map_bytes, @cgroup_bytes: as in &struct attributor_config
 * @ring: as &source_config.ring_size
 * @side_band, @bpf, @switches: as in &struct task_events_sizes
 * @workers: threads that count; 0 and 1: the one
 * @names: as &symbols_config.budget
 * @share: bytes, by &enum memory_share: tables full and with what their counters carry over
 * @bytes: their sum, @budget at most
 * @budget: that it was made for; 0 for none: everything has its default
 * @request: all that it was made for
 */
struct memory_plan {
	u32 locations;
	u64 location_bytes;
	u32 counters;
	u32 contexts;
	u32 lines;
	u32 pages;
	u32 processes;
	u32 threads;
	u32 containers;
	u64 map_bytes;
	u64 saved_map_bytes;
	u64 cgroup_bytes;
	u32 ring;
	u32 side_band;
	u32 bpf;
	u32 switches;
	u32 workers;
	u64 names;
	u64 share[MEMORY_SHARES];
	u64 bytes;
	u64 budget;
	struct memory_request request;
};

/* Of a CPU's ring, at the least. */
#define MEMORY_RING_LEAST (64U << 10)

/**
 * budget_plan() - the largest tables and rings that @request->budget has room for
 * @ret_least: where it is too small, the smallest that would do
 *
 * Return: 0 or -ENOSPC.
 */
int budget_plan(const struct memory_request *request, struct memory_plan *ret_plan, u64 *ret_least);

/** budget_shard() - of @whole, a table's entries, each of @workers has so many; 0 stays 0 */
u32 budget_shard(u32 whole, u32 workers);

/** budget_workers() - how many are enough for @cpus CPUs of which each brings @rate samples a second */
u32 budget_workers(u32 cpus, u32 rate);

/** budget_profile() - a profile with sub-windows and tables of the plan's sizes; filter and nodes are the caller's */
struct profile_config budget_profile(const struct memory_plan *plan);

/**
 * budget_session() - tables of a session that the bus makes, out of MEMORY_SESSIONS
 * @flight_bytes: its BufferSize
 * @own: it has a source of its own, with the least rings
 * @ret_plan: as @plan, but for its own tables; @bytes is what it takes
 */
void budget_session(const struct memory_plan *plan, u64 flight_bytes, bool own,
		    struct memory_plan *ret_plan);

/**
 * budget_needed() - the least MemoryBudget= that has room for such a session
 * @used: bytes of MEMORY_SESSIONS that others have
 */
u64 budget_needed(const struct memory_plan *plan, u64 used, u64 flight_bytes, bool own);

/**
 * budget_pprof() - how large a profile for pprof may be: half of @left bytes, or all of them for the least
 *
 * Return: false: there is no room for the least.
 */
bool budget_pprof(u64 left, struct pprof_limits *ret_limits);

/** budget_pprof_needed() - the least MemoryBudget= that has room for one; @used as above */
u64 budget_pprof_needed(const struct memory_plan *plan, u64 used);

#endif
