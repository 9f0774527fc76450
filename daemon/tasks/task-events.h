/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The events of tasks and cgroups, in one stream in order of time, for any live source. The events
 * also identify tasks that exit before their samples are drained. BPF reports all events. If BPF
 * cannot report executable mappings, the side band of perf reports them. Without BPF the side band
 * reports all events except those of cgroups.
 */
#ifndef SPEPROF_TASK_EVENTS_H
#define SPEPROF_TASK_EVENTS_H

#include "task-event.h"
#include "switch-ring.h"

#define TASK_EVENTS_REASON 160

struct task_events;

/** enum task_events_kind - the origin of task events, the best last */
enum task_events_kind {
	TASK_EVENTS_PROC, /* no events: the daemon reads /proc when it needs a task */
	TASK_EVENTS_PERF,
	TASK_EVENTS_BPF,
};

/**
 * struct task_events_status - which events are available
 * @kind: origin of the events
 * @reason: for users: why no better origin works or, with BPF, why mappings are not reported;
 *	"": nothing is missing
 * @switches_reason: for users: why context switches cannot be followed; "" if they are followed or
 * not needed
 */
struct task_events_status {
	enum task_events_kind kind;
	char reason[384];
	char switches_reason[TASK_EVENTS_REASON];
};

/** task_events_name() - return "proc", "perf" or "bpf" */
const char *task_events_name(enum task_events_kind kind);

/**
 * struct task_events_sizes - sizes of the rings, in bytes
 * @bpf: both rings of BPF together, a power of two of pages
 * @side_band: the side band ring of each CPU, a power of two of pages
 * @switches: the rings of context switches of all CPUs together; each ring has a minimum size
 */
struct task_events_sizes {
	u32 bpf;
	u32 side_band;
	u32 switches;
};

/** task_events_sizes_max - sizes for machines with enough memory */
extern const struct task_events_sizes task_events_sizes_max;

/**
 * task_events_new() - start the best origin of task events that works
 * @best: the best origin to try
 * @sizes: sizes of the rings; NULL: task_events_sizes_max
 * @ret_events: the events
 * @ret_status: which events are available; set on failure too
 *
 * Return: 0; -EOPNOTSUPP if no origin works, so that only /proc remains.
 */
int task_events_new(enum task_events_kind best, const struct task_events_sizes *sizes,
		    struct task_events **ret_events, struct task_events_status *ret_status);

/** task_events_free() - stop the events and free @events, which may be NULL; returns NULL */
struct task_events *task_events_free(struct task_events *events);

/** task_events_get_locked_bytes() - return the kernel memory of all rings, in bytes */
u64 task_events_get_locked_bytes(const struct task_events *events);

/** task_events_get_fd() - return the descriptor that becomes readable when a ring is half full */
int task_events_get_fd(const struct task_events *events);

/**
 * task_events_deliver() - deliver the events up to a time, oldest first
 * @events: the events
 * @until_ns: CLOCK_MONOTONIC; 0: all that are available
 * @sink: receives the events
 *
 * An event that another CPU is still writing is delivered by a later call. TASK_LOST reports a full
 * ring; BPF then lists all tasks by TASK_SEED, as at the first call. TASK_LOST_MAPS reports that
 * only mappings were lost; no list follows.
 */
void task_events_deliver(struct task_events *events, u64 until_ns, const struct task_sink *sink);

/**
 * task_events_start_switch_rings() - record context switches too, for samples without a context
 * @events: the events
 * @ret_reason: buffer of TASK_EVENTS_REASON bytes; on failure, a sentence that explains it
 *
 * Return: 0 or negative errno.
 */
int task_events_start_switch_rings(struct task_events *events, char *ret_reason);

/**
 * task_events_start_switch_events() - deliver context switches too, as TASK_SWITCH, for a recording
 * @events: the events
 * @ret_reason: on failure, a static sentence that explains it
 *
 * Return: 0 or negative errno.
 */
int task_events_start_switch_events(struct task_events *events, const char **ret_reason);

/**
 * task_events_get_switch_rings() - get the rings of context switches
 * @events: the events, which own the rings
 * @ret_cpus: number of rings
 *
 * Return: the rings, indexed by CPU; NULL if switches are not recorded.
 */
struct switch_ring *task_events_get_switch_rings(struct task_events *events, u32 *ret_cpus);

/** task_events_stop_switches() - stop recording and delivering context switches */
void task_events_stop_switches(struct task_events *events);

/**
 * task_events_get_switch_kind() - return the origin of context switches; TASK_EVENTS_PROC if none
 * are recorded
 */
enum task_events_kind task_events_get_switch_kind(const struct task_events *events);

/**
 * task_events_count_switches() - return the number of context switches that were recorded on all
 * CPUs
 */
u64 task_events_count_switches(struct task_events *events);

/** task_events_follow_hotplug() - update the rings after CPU hotplug; call about once a second */
void task_events_follow_hotplug(struct task_events *events);

#endif
