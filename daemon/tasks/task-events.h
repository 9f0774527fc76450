/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What tasks do, beside any live source, as one stream in order of time: BPF, with perf's
 * side band for executable mappings where BPF cannot tell them; else the side band for all it knows. Who was gone
 * before a window is drained is known all the same.
 */
#ifndef SPEPROF_TASK_EVENTS_H
#define SPEPROF_TASK_EVENTS_H

#include "task-event.h"
#include "switch-ring.h"

#define TASK_EVENTS_REASON 160

struct task_events;

/** enum task_events_kind - what tells of tasks, the best last */
enum task_events_kind {
	TASK_EVENTS_PROC, /* nothing: /proc is asked */
	TASK_EVENTS_PERF,
	TASK_EVENTS_BPF,
};

/**
 * struct task_events_status
 * @reason: why it is not better; for TASK_EVENTS_BPF why mappings are not told;
 *	"" if nothing is missing
 */
struct task_events_status {
	enum task_events_kind kind;
	char reason[384];
};

/** task_events_name() - "proc", "perf" or "bpf" */
const char *task_events_name(enum task_events_kind kind);

/**
 * struct task_events_sizes - of what the kernel writes into, bytes
 * @bpf: BPF's two rings together, a power of two of pages
 * @side_band: each CPU's ring of perf, likewise
 * @switches: of all CPUs together, once switches are followed; each has its least anyway
 */
struct task_events_sizes {
	u32 bpf;
	u32 side_band;
	u32 switches;
};

/** task_events_sizes_max - where memory is no matter */
extern const struct task_events_sizes task_events_sizes_max;

/**
 * task_events_new() - the best that works here
 * @best: nothing better is tried
 * @sizes: NULL for task_events_sizes_max
 * @ret_status: in any case, also where it fails
 *
 * Return: 0; -EOPNOTSUPP where only /proc is left.
 */
int task_events_new(enum task_events_kind best, const struct task_events_sizes *sizes,
		    struct task_events **ret_events, struct task_events_status *ret_status);

struct task_events *task_events_free(struct task_events *events);

/** task_events_locked() - bytes of its rings, of perf and BPF */
u64 task_events_locked(const struct task_events *events);

/** task_events_fd() - becomes readable when a ring is half full; owned by @events */
int task_events_fd(const struct task_events *events);

/**
 * task_events_deliver() - hand over what happened up to a time, oldest first
 * @until_ns: CLOCK_MONOTONIC, 0 for all that is there
 * @sink: its @task is called
 *
 * An event that another CPU was still writing comes with a later call. TASK_LOST
 * says that a ring was full; where BPF tells, all tasks follow as TASK_SEED then, as they
 * do at the first call. Lost mappings alone are TASK_LOST_MAPS, and no task is told again.
 */
void task_events_deliver(struct task_events *events, u64 until_ns, const struct task_sink *sink);

/**
 * task_events_follow_switches() - follow context switches too, for records without a context
 * @ret_reason: on failure, TASK_EVENTS_REASON bytes that say why
 */
int task_events_follow_switches(struct task_events *events, char *ret_reason);

/** task_events_switches() - their rings, by CPU, as long as @events; NULL if not followed */
struct switch_ring *task_events_switches(struct task_events *events, u32 *ret_cpus);

/** task_events_check() - follow CPUs that went or came; call about once a second */
void task_events_check(struct task_events *events);

#endif
