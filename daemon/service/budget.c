// SPDX-License-Identifier: LGPL-2.1-or-later
/* The arithmetic is in Documentation/profile.md, with a table for 192 CPUs. */
#include "budget.h"

#include <errno.h>

/* Bytes of an entry with all that hangs on it. */
#define PLACE	  512  /* two lines, carried counters, a chain; wide counters of every fourth; a mark */
#define PROCESS	  2944 /* figures and those of before a move by halves, mappings, a mark */
#define THREAD	  128  /* and who had its number before */
#define CONTAINER 7168 /* figures: of now, of processes that went, at the last sub-window */
#define CONTEXT	  64   /* of four indices */
#define LINE	  512
#define PAGE	  128

/* Sub-windows 6.5 MiB, combinations 2.1, sources 0.5, programs, libraries and stacks 5. */
#define FIXED	  (15ULL << 20)
/* Of task events: BPF's ring and tables, or perf's side band, per CPU. */
#define TASKS	  (1ULL << 20)
#define TASKS_CPU (16ULL << 10)

#define RING_MOST  (256U << 10)
#define RING_LEAST (64U << 10)

/* Tables at scale EIGHTHS: what the daemon has where memory is no matter. */
#define EIGHTHS	    8
#define SCALE_MOST  (4 * EIGHTHS)
#define SCALE_LEAST 1

/* Tables of which sets are a power of two. */
static u32 power_below(u32 n)
{
	u32 power = 1;

	while (power <= n / 2)
		power *= 2;
	return power;
}

static u32 scaled(u32 whole, u32 scale)
{
	return (u32)((u64)whole * scale / EIGHTHS);
}

static struct memory_plan plan_at(u32 scale, u32 ring, u32 cpus)
{
	struct memory_plan p = {
		.places = power_below(scaled(32768, scale)),
		.contexts = power_below(scaled(16384, scale)),
		.lines = power_below(scaled(1024, scale)),
		.pages = power_below(scaled(4096, scale)),
		.processes = scaled(8192, scale),
		.threads = power_below(scaled(32768, scale)),
		.containers = scaled(2048, scale),
		.ring = ring,
	};

	p.bytes = FIXED + TASKS + cpus * (p.ring + TASKS_CPU) + (u64)p.places * PLACE +
		  (u64)p.contexts * CONTEXT + (u64)p.lines * LINE + (u64)p.pages * PAGE +
		  (u64)p.processes * PROCESS + (u64)p.threads * THREAD +
		  (u64)p.containers * CONTAINER;
	return p;
}

int budget_plan(u64 budget, u32 cpus, struct memory_plan *ret_plan, u64 *ret_least)
{
	struct memory_plan least = plan_at(SCALE_LEAST, RING_LEAST, cpus), plan;
	u32 ring = RING_MOST;

	if (least.bytes > budget) {
		*ret_least = least.bytes;
		return -ENOSPC;
	}
	/* Rings first, up to two fifths: what they have no room for is lost. */
	while (ring > RING_LEAST && (u64)ring * cpus > budget / 5 * 2)
		ring /= 2;
	plan = least;
	for (u32 scale = SCALE_LEAST; scale <= SCALE_MOST; scale++) {
		struct memory_plan more = plan_at(scale, ring, cpus);

		if (more.bytes <= budget)
			plan = more;
	}
	plan.budget = budget;
	*ret_plan = plan;
	return 0;
}
