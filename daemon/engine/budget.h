/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Divides MemoryBudget= among all tables, rings and maps that grow with the machine or its load.
 * The result is a plan with the size of each.
 */
#ifndef SPEPROF_BUDGET_H
#define SPEPROF_BUDGET_H

#include "output/pprof.h"
#include "profile/profile.h"
#include "view/view.h"

/* Kinds of sources that may be used, bits of &memory_request.sources. */
#define MEMORY_MODULE	(1U << 0)
#define MEMORY_PERF	(1U << 1)
#define MEMORY_EMULATED (1U << 2)

/**
 * struct memory_request - input of the plan
 * @budget: MemoryBudget= in bytes
 * @cpus: number of CPUs; rings are allocated for each CPU
 * @page: the kernel's page size in bytes
 * @sources: set of MEMORY_*; the plan has memory for the source that needs most
 * @bpf: BPF task events are in use, or may be tried
 * @side_band: the side band of perf is in use, or may be tried
 * @switches: context switches may be followed, see source_open_may_need_switches()
 * @workers: number of drain threads; each has its own tables
 * @history_bytes: memory of the thread that writes the history; 0: no history on disk
 * @history_container_bytes: memory that this thread needs for each container
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
	u64 history_bytes;
	u64 history_container_bytes;
};

/**
 * struct memory_plan - sizes of all tables and rings; the named structures define the units
 * @cell_bytes, @programs, @contexts, @lines, @pages: as in &struct profile_config
 * @counters: as in &struct profile_config
 * @processes, @threads, @containers, @map_bytes, @saved_map_bytes, @cgroup_bytes: as in
 *	&struct attributor_config
 * @ring: as &source_config.ring_size
 * @side_band, @bpf, @switches: as in &struct task_events_sizes
 * @workers: number of drain threads; 0 or 1: a single one
 * @names: as &symbols_config.budget
 * @share: bytes for each &enum memory_share when all tables are full
 * @bytes: sum of @share, at most @budget
 * @budget: MemoryBudget= in bytes; 0: no budget is set, and all tables and rings have their default
 *	size
 * @request: the input of this plan
 */
struct memory_plan {
	u64 cell_bytes;
	u32 programs;
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

/* Minimum of &memory_plan.ring, the size of the ring of a CPU in bytes. */
#define MEMORY_RING_MIN (64U << 10)

/**
 * budget_make_plan() - plan the largest tables and rings that fit
 * @request: the input
 * @ret_plan: set on success
 * @ret_least: on -ENOSPC: the smallest budget in bytes that suffices
 *
 * Return: 0; -ENOSPC: the budget is too small.
 */
int budget_make_plan(const struct memory_request *request, struct memory_plan *ret_plan,
		     u64 *ret_least);

/**
 * budget_divide_entries() - return the number of entries for each of @workers drain threads, if
 * they divide a table of @whole entries; 0 if @whole is 0
 */
u32 budget_divide_entries(u32 whole, u32 workers);

/**
 * budget_choose_workers() - return the number of drain threads that can count the samples of @cpus
 * CPUs, if each CPU has @rate samples a second
 */
u32 budget_choose_workers(u32 cpus, u32 rate);

/**
 * budget_get_profile_config() - return the options of a profile, with the sizes in @plan; the
 * caller sets its filter and NUMA nodes
 */
struct profile_config budget_get_profile_config(const struct memory_plan *plan);

/**
 * budget_plan_session() - plan the sizes of a session that is created through D-Bus, within
 * MEMORY_SESSIONS
 * @plan: of the machine
 * @flight_bytes: BufferSize of the session's flight recorder in bytes; 0: no flight recorder
 * @own: the session has a separate source, with the smallest rings
 * @ret_plan: the sizes of the session; &memory_plan.bytes is its total
 */
void budget_plan_session(const struct memory_plan *plan, u64 flight_bytes, bool own,
			 struct memory_plan *ret_plan);

/**
 * budget_compute_needed() - return the smallest MemoryBudget= that suffices for one more session
 * @plan: of the machine
 * @used_bytes: memory of MEMORY_SESSIONS that is in use
 * @flight_bytes: as for budget_plan_session()
 * @own: as for budget_plan_session()
 *
 * Return: bytes.
 */
u64 budget_compute_needed(const struct memory_plan *plan, u64 used_bytes, u64 flight_bytes,
			  bool own);

/**
 * budget_limit_pprof() - limit the size of a pprof profile
 * @free_bytes: memory of MEMORY_SESSIONS that is free
 * @ret_limits: half of @free_bytes, or all of it if half is too little for the smallest profile
 *
 * Return: true; false: @free_bytes does not suffice for the smallest profile.
 */
bool budget_limit_pprof(u64 free_bytes, struct pprof_limits *ret_limits);

/**
 * budget_compute_pprof_needed() - return the smallest MemoryBudget= that suffices for one more
 * pprof profile of the smallest size
 */
u64 budget_compute_pprof_needed(const struct memory_plan *plan, u64 used_bytes);

#endif
