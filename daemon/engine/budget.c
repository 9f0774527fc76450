// SPDX-License-Identifier: LGPL-2.1-or-later
/* The arithmetic is in Documentation/explanation/tables.md, with a table for 192 CPUs. */
#include "budget.h"

#include <errno.h>

#include "profile/cell-counter.h"

/* Bytes of an entry of each table, including the memory that the entry points to. */
#define CELL_MARK 56 /* mark of a cell in the history */
#define PROGRAM	  1472 /* program and binary: ids and paths; the cell of its evicted samples */
#define PROCESS	  2880 /* counters, including those of former containers; mappings */
#define MAP_BYTES 384 /* mappings of a process: twelve without a path, or a few with one */
#define THREAD	  128 /* includes the previous task with the same TID */
#define CONTAINER 7552 /* counters: current, of exited processes, at the last history slot; paths */
#define CGROUP	  256 /* paths of the cgroups of a container, in the table of cgroup ids */
#define CONTEXT	  64 /* a combination of four indices */
#define LINE	  512 /* a hot cache line */
#define PAGE	  128 /* a hot memory page */

/*
 * Memory that does not depend on the sizes of the tables, in MiB: slots of the history 6.6,
 * combinations of sample properties 2.1, data sources 0.5, executable, libraries and stacks 5, ids
 * 0.3, queries to /proc and their answers 0.25.
 */
#define FIXED ((14ULL << 20) + (768ULL << 10))

/*
 * Bytes in a checkpoint for cells, for a process and for a container. A checkpoint has SAVED_COPIES
 * slots.
 */
#define SAVED_CELLS(bytes) ((bytes) / 8 * 3) /* 3/8 of the memory of the cells, if all are in use */
#define SAVED_PROCESS	128 /* identity, and the counters of processes with samples */
#define SAVED_MAPS	160 /* mappings of a process: twelve without a path, or a few with one */
#define SAVED_CONTAINER 512
#define SAVED_COPIES	   2 /* number of slots */

/*
 * Limits of the memory for names of functions. MAPPINGS is added for mappings of files, and for
 * queries to the helper processes that read symbols.
 */
#define NAMES_MAX   (16ULL << 20)
#define NAMES_MIN   (1ULL << 20)
#define NAMES_SHARE 32 /* at most this fraction of the budget */
#define MAPPINGS    (1ULL << 20)

/* Sessions that are created through D-Bus get 1/SESSIONS_SHARE of the budget. */
#define SESSIONS_SHARE 6
/*
 * The tables of a session that is created through D-Bus have 1/SESSION_SCALE of the size of the
 * tables of the session "machine".
 */
#define SESSION_SCALE 8
#define SESSION_CELLS 16 /* the same divisor for cells, up to SESSION_CELLS_MAX bytes */
#define SESSION_CELLS_MAX (512U << 10)
/* Bytes for the history and for the sample classes of a session that is created through D-Bus. */
#define SESSION_FIXED (1ULL << 20)
/*
 * A session that is created through D-Bus has counters for 1/COUNTERS_SCALE of the processes and
 * containers.
 */
#define COUNTERS_SCALE 32
#define COUNTERS       2176 /* bytes of the counters of one process or container */
#define TALLIES	       32 /* bytes for each possible process or container */

/* Size of a pprof profile: bytes of an entry with its names, and the minimum number of entries. */
#define PPROF_NAMES 192ULL
#define PPROF_BYTES (PPROF_ENTRY_SIZE + PPROF_NAMES)
#define PPROF_MIN   512

/* Bytes of the 64 event slots of a ring of the module. */
#define EVENTS 4096U

/* Bytes of an SPU that is emulated in the process, with its buffer. */
#define EMULATED (96ULL << 10)

/*
 * Memory for BPF in addition to its ring: 16 bytes for each record of 88 bytes, to sort the
 * positions of records; and the BPF programs with their maps.
 */
#define BPF_PENDING(ring) ((u64)(ring) / 88 * 16)
#define BPF_FIXED	  (256ULL << 10)

/* Number of cells for each program, and for each binary. */
#define CELLS_PER_PROGRAM 16
#define PROGRAMS_MIN	  128 /* minimum of &memory_plan.programs */

/*
 * Bytes of a drain thread in addition to its tables: combinations of sample properties 2.1 MiB,
 * sources 0.5 MiB, attribution, a stack.
 */
#define SHARD_FIXED    (3ULL << 20)
#define SHARD_PROCESS  2200 /* bytes of the counters of a process or container in a shard */

/*
 * Samples a second that one drain thread is expected to count: half the rate that `make bench`
 * measured with the worst order of samples for CPU caches.
 */
#define WORKER_RATE 5000000ULL
#define WORKERS_MAX 16 /* limit of &memory_plan.workers */

/* Limits of the rings of a CPU in bytes: &memory_plan.ring, .side_band, .bpf and .switches. */
#define RING_MAX       (256U << 10)
#define SIDE_BAND_MAX  (128U << 10)
#define SIDE_BAND_MIN  (16U << 10)
#define BPF_MAX	       (1U << 20)
#define BPF_MIN	       (256U << 10)
#define SWITCHES_MAX   (16U << 20)
#define SWITCHES_SHARE 16 /* at most this fraction of the budget */
/* bytes for each CPU that the smallest rings of context switches may need */
#define SWITCHES_CPU (128U << 10)

/* Bytes of the cells if no budget is set. */
#define CELL_BYTES_DEFAULT (20U << 20)

/* Table sizes scale in steps of 1/SCALE_ONE; at SCALE_ONE they have their nominal size. */
#define SCALE_ONE 64
#define SCALE_MAX (4 * SCALE_ONE)
#define SCALE_MIN (SCALE_ONE / 8)

static u32 round_down_to_power(u64 n)
{
	u32 power = 1;

	while (power <= n / 2)
		power *= 2;
	return power;
}

static u32 scale_entries(u32 whole, u32 scale)
{
	return (u32)((u64)whole * scale / SCALE_ONE);
}

/*
 * Return the size of a table. Its number of sets is a power of two. A size of at least seven
 * eighths of a power of two is rounded up.
 */
static u32 scale_to_power(u32 whole, u32 scale)
{
	return round_down_to_power((u64)scale_entries(whole, scale) * 8 / 7);
}

static u64 get_larger(u64 a, u64 b)
{
	return a > b ? a : b;
}

static u64 round_up_to_pages(const struct memory_request *request, u64 bytes)
{
	u64 page = request->page ? request->page : 4096;

	return (bytes + page - 1) / page * page;
}

/*
 * Return the bytes for each CPU that a ring of @ring bytes needs, with the source that needs most.
 */
static u64 compute_ring_bytes(const struct memory_request *request, u32 ring)
{
	u64 bytes = 0;

	if (request->sources & MEMORY_MODULE)
		bytes = round_up_to_pages(request, ring) + round_up_to_pages(request, EVENTS) +
			round_up_to_pages(request, 1);
	if (request->sources & MEMORY_PERF)
		bytes = get_larger(bytes, round_up_to_pages(request, ring) +
						  round_up_to_pages(request, ring / 4) +
						  round_up_to_pages(request, 1));
	if (request->sources & MEMORY_EMULATED)
		bytes = get_larger(bytes, round_up_to_pages(request, ring) +
						  round_up_to_pages(request, 1) + EMULATED);
	return bytes;
}

static u64 compute_rings_share(const struct memory_request *request, const struct memory_plan *p)
{
	/*
	 * A perf source needs a buffer for one window, to copy windows that wrap around the end of
	 * the AUX area.
	 */
	return request->cpus * compute_ring_bytes(request, p->ring) +
	       (request->sources & MEMORY_PERF ? p->ring : 0);
}

static u64 compute_tasks_share(const struct memory_request *request, const struct memory_plan *p)
{
	u64 bytes = 0;

	if (request->side_band)
		bytes += request->cpus *
			 (round_up_to_pages(request, p->side_band) + round_up_to_pages(request, 1));
	if (request->bpf)
		bytes += p->bpf + BPF_PENDING(p->bpf) + BPF_FIXED;
	if (request->switches)
		bytes += get_larger(p->switches, (u64)request->cpus * SWITCHES_CPU);
	return bytes;
}

/* Return the bytes of the table of threads, which all sessions share. */
static u64 compute_attribution_bytes(const struct memory_plan *p)
{
	return (u64)p->threads * THREAD;
}

/* Return the bytes of the cells and of the cache of mappings. */
static u64 compute_cells_bytes(u64 cell_bytes)
{
	return cell_bytes + cell_bytes / CELL_CACHE_SHARE;
}

static u64 compute_profile_bytes(const struct memory_plan *p)
{
	return compute_cells_bytes(p->cell_bytes) +
	       (u64)cell_table_compute_capacity(p->cell_bytes) * CELL_MARK +
	       (u64)p->programs * PROGRAM + (u64)p->contexts * CONTEXT + (u64)p->lines * LINE +
	       (u64)p->pages * PAGE;
}

u32 budget_divide_entries(u32 whole, u32 workers)
{
	for (; workers > 1 && whole > 8; workers = (workers + 1) / 2)
		whole /= 2;
	return whole;
}

u32 budget_choose_workers(u32 cpus, u32 rate)
{
	u64 workers = ((u64)cpus * rate + WORKER_RATE - 1) / WORKER_RATE;

	workers = workers < cpus ? workers : cpus;
	workers = workers < WORKERS_MAX ? workers : WORKERS_MAX;
	return workers ? (u32)workers : 1;
}

/* Return the bytes of the shards: one for each drain thread, and a spare one. */
static u64 compute_shards_bytes(const struct memory_plan *p, u64 fixed)
{
	u64 shard = fixed +
		    compute_cells_bytes(budget_divide_entries((u32)p->cell_bytes, p->workers)) +
		    (u64)budget_divide_entries(p->contexts, p->workers) * CONTEXT;

	return p->workers < 2 ? 0 : (p->workers + 1) * shard;
}

static u64 compute_shard_counter_bytes(const struct memory_plan *p)
{
	u64 counters = ((u64)p->processes + p->containers) * SHARD_PROCESS;

	return p->workers < 2 ? 0 : (p->workers + 1) * counters;
}

/* Return the bytes of the counters of a session that is created through D-Bus. */
static u64 compute_counters_bytes(const struct memory_plan *p)
{
	return (u64)p->counters * COUNTERS + ((u64)p->processes + p->containers) * TALLIES;
}

static u32 compute_program_count(u64 cell_bytes)
{
	return (u32)get_larger(cell_table_compute_capacity(cell_bytes) / CELLS_PER_PROGRAM,
			       PROGRAMS_MIN);
}

static void plan_tables(struct memory_plan *p, u32 scale)
{
	p->cell_bytes = scale_entries(CELL_BYTES_DEFAULT, scale);
	p->programs = compute_program_count(p->cell_bytes);
	p->contexts = scale_to_power(16384, scale);
	p->lines = scale_to_power(1024, scale);
	p->pages = scale_to_power(4096, scale);
	p->processes = scale_entries(8192, scale);
	p->threads = scale_to_power(32768, scale);
	p->containers = scale_entries(2048, scale);
	p->map_bytes = (u64)p->processes * MAP_BYTES;
	p->saved_map_bytes = (u64)p->processes * SAVED_MAPS;
	p->cgroup_bytes = (u64)p->containers * CGROUP;
	p->share[MEMORY_TABLES] = compute_attribution_bytes(p) + compute_profile_bytes(p) +
				  (u64)p->processes * PROCESS +
				  p->containers * (CONTAINER + p->request.history_container_bytes) +
				  compute_shards_bytes(p, SHARD_FIXED) +
				  compute_shard_counter_bytes(p);
	p->share[MEMORY_CHECKPOINT] =
		SAVED_COPIES *
		(SAVED_CELLS(p->cell_bytes) + (u64)p->processes * SAVED_PROCESS +
		 p->saved_map_bytes + (u64)p->containers * SAVED_CONTAINER);
}

static void sum_shares(struct memory_plan *p)
{
	p->bytes = 0;
	for (u32 i = 0; i < MEMORY_SHARES; i++)
		p->bytes += p->share[i];
}

/* Return the smallest plan: the smallest rings, and tables of the size SCALE_MIN. */
static struct memory_plan plan_minimum(const struct memory_request *request)
{
	struct memory_plan p = {
		.ring = MEMORY_RING_MIN,
		.side_band = SIDE_BAND_MIN,
		.bpf = BPF_MIN,
		.switches =
			request->switches ? (u32)get_larger(SWITCHES_CPU, SWITCHES_MAX / 16) : 0,
		.names = NAMES_MIN,
		.workers = request->workers,
		.request = *request,
	};

	p.share[MEMORY_FIXED] = FIXED + request->history_bytes;
	p.share[MEMORY_NAMES] = p.names + MAPPINGS;
	p.share[MEMORY_RINGS] = compute_rings_share(request, &p);
	p.share[MEMORY_TASKS] = compute_tasks_share(request, &p);
	plan_tables(&p, SCALE_MIN);
	sum_shares(&p);
	return p;
}

/*
 * Plan rings first, because a full ring loses samples. Rings get at most two fifths of the budget.
 * If rings need more, halve the rings of the side band and of the source alternately, and then the
 * ring of BPF.
 */
static void plan_rings(const struct memory_request *request, struct memory_plan *p)
{
	struct memory_plan wanted = { .ring = RING_MAX,
				      .side_band = SIDE_BAND_MAX,
				      .bpf = BPF_MAX,
				      .switches = SWITCHES_MAX };

	if (request->budget / SWITCHES_SHARE < wanted.switches)
		wanted.switches = round_down_to_power(request->budget / SWITCHES_SHARE);
	if (wanted.switches < p->switches || !request->switches)
		wanted.switches = p->switches;
	while (compute_rings_share(request, &wanted) + compute_tasks_share(request, &wanted) >
	       request->budget / 5 * 2) {
		bool side_band =
			wanted.side_band * 2 >= wanted.ring || wanted.ring == MEMORY_RING_MIN;

		if (side_band && wanted.side_band > SIDE_BAND_MIN)
			wanted.side_band /= 2;
		else if (wanted.ring > MEMORY_RING_MIN)
			wanted.ring /= 2;
		else if (wanted.bpf > BPF_MIN)
			wanted.bpf /= 2;
		else
			return;
	}
	p->ring = wanted.ring;
	p->side_band = wanted.side_band;
	p->bpf = wanted.bpf;
	p->switches = wanted.switches;
	p->share[MEMORY_RINGS] = compute_rings_share(request, p);
	p->share[MEMORY_TASKS] = compute_tasks_share(request, p);
}

/* Plan the memory for names and for sessions of D-Bus, if the budget suffices. */
static void plan_names_and_sessions(const struct memory_request *request, struct memory_plan *p)
{
	u64 names = request->budget / NAMES_SHARE, spare;

	sum_shares(p);
	spare = (request->budget - p->bytes) / 2;
	names = names > NAMES_MAX ? NAMES_MAX : names;
	if (names > p->names + spare / 2)
		names = p->names + spare / 2;
	if (names > p->names) {
		p->share[MEMORY_NAMES] += names - p->names;
		p->names = names;
	}
	p->share[MEMORY_SESSIONS] = request->budget / SESSIONS_SHARE;
	if (p->share[MEMORY_SESSIONS] > spare / 2)
		p->share[MEMORY_SESSIONS] = spare / 2;
	sum_shares(p);
}

/* Find the largest scale that fits, by bisection, because sizes increase with the scale. */
static void find_table_scale(const struct memory_request *request, struct memory_plan *p)
{
	u32 low = SCALE_MIN, high = SCALE_MAX;

	while (low < high) {
		u32 scale = (low + high + 1) / 2;

		plan_tables(p, scale);
		sum_shares(p);
		if (p->bytes <= request->budget)
			low = scale;
		else
			high = scale - 1;
	}
	plan_tables(p, low);
	sum_shares(p);
}

int budget_make_plan(const struct memory_request *request, struct memory_plan *ret_plan,
		     u64 *ret_least)
{
	struct memory_plan least = plan_minimum(request), plan;

	if (least.bytes > request->budget) {
		*ret_least = least.bytes;
		return -ENOSPC;
	}
	plan = least;
	plan_rings(request, &plan);
	sum_shares(&plan);
	/* If larger rings leave too little for the smallest tables, use the smallest rings. */
	if (plan.bytes > request->budget)
		plan = least;
	plan_names_and_sessions(request, &plan);
	find_table_scale(request, &plan);
	/* Add the remainder to the memory for sessions of D-Bus. */
	plan.share[MEMORY_SESSIONS] += request->budget - plan.bytes;
	plan.bytes = plan.budget = request->budget;
	plan.request = *request;
	*ret_plan = plan;
	return 0;
}

struct profile_config budget_get_profile_config(const struct memory_plan *plan)
{
	return (struct profile_config){
		.history = true,
		.cell_bytes = plan->cell_bytes ? plan->cell_bytes : CELL_BYTES_DEFAULT,
		.programs =
			plan->programs ? plan->programs : compute_program_count(CELL_BYTES_DEFAULT),
		.counters = plan->counters,
		.contexts = plan->contexts,
		.lines = plan->lines,
		.pages = plan->pages,
		.processes = plan->processes,
		.containers = plan->containers,
	};
}

void budget_plan_session(const struct memory_plan *plan, u64 flight_bytes, bool own,
			 struct memory_plan *ret_plan)
{
	*ret_plan = *plan;
	if (!plan->budget)
		return;
	ret_plan->cell_bytes = plan->cell_bytes / SESSION_CELLS;
	if (ret_plan->cell_bytes > SESSION_CELLS_MAX)
		ret_plan->cell_bytes = SESSION_CELLS_MAX;
	ret_plan->programs = compute_program_count(ret_plan->cell_bytes);
	ret_plan->contexts = plan->contexts / SESSION_SCALE;
	ret_plan->lines = plan->lines / SESSION_SCALE;
	ret_plan->pages = plan->pages / SESSION_SCALE;
	ret_plan->counters = (plan->processes + plan->containers) / COUNTERS_SCALE;
	ret_plan->bytes =
		compute_profile_bytes(ret_plan) + compute_counters_bytes(ret_plan) + SESSION_FIXED +
		flight_bytes +
		compute_shards_bytes(ret_plan, SESSION_FIXED + compute_counters_bytes(ret_plan));
	if (!own)
		return;
	ret_plan->ring = MEMORY_RING_MIN;
	ret_plan->bytes += compute_rings_share(&plan->request, ret_plan);
}

u64 budget_compute_needed(const struct memory_plan *plan, u64 used_bytes, u64 flight_bytes,
			  bool own)
{
	struct memory_request larger = plan->request;
	struct memory_plan all = *plan, session;
	u64 least;

	do {
		larger.budget += 1ULL << 20;
		budget_make_plan(&larger, &all, &least);
		budget_plan_session(&all, flight_bytes, own, &session);
	} while (all.share[MEMORY_SESSIONS] < used_bytes + session.bytes);
	return larger.budget;
}

bool budget_limit_pprof(u64 free_bytes, struct pprof_limits *ret_limits)
{
	u64 limit = free_bytes / 2, entries;

	if (limit < PPROF_WRITE_BYTES + PPROF_MIN * PPROF_BYTES)
		limit = free_bytes;
	if (limit < PPROF_WRITE_BYTES + PPROF_MIN * PPROF_BYTES)
		return false;
	entries = (limit - PPROF_WRITE_BYTES) / PPROF_BYTES;
	if (entries > PPROF_ENTRIES_MAX)
		entries = PPROF_ENTRIES_MAX;
	*ret_limits =
		(struct pprof_limits){ .entries = (u32)entries, .names = entries * PPROF_NAMES };
	return true;
}

u64 budget_compute_pprof_needed(const struct memory_plan *plan, u64 used_bytes)
{
	struct memory_request larger = plan->request;
	struct memory_plan all = *plan;
	u64 least;

	do {
		larger.budget += 1ULL << 20;
		budget_make_plan(&larger, &all, &least);
	} while (all.share[MEMORY_SESSIONS] <
		 used_bytes + PPROF_WRITE_BYTES + PPROF_MIN * PPROF_BYTES);
	return larger.budget;
}
