/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tasks and cgroups as BPF programs tell of them: fork, exec, exit, names, executable
 * memory, moves between cgroups, cgroups made and removed. None is built in where speprof was built without BPF.
 */
#ifndef SPEPROF_TASK_BPF_H
#define SPEPROF_TASK_BPF_H

#include "tasks/task-event.h"
#include "tasks/switch-ring.h"

#define TASK_BPF_REASON 160

/* No event is there. */
#define TASK_BPF_NOTHING UINT64_MAX

struct task_bpf;

/**
 * task_bpf_new() - load and attach the programs
 * @ring: bytes of each of its two rings, of task events and of mappings, a power of two of
 *	pages; 0 for the default
 * @ret_reason: on failure, TASK_BPF_REASON bytes that say why
 */
int task_bpf_new(size_t ring, struct task_bpf **ret_bpf, char *ret_reason);

struct task_bpf *task_bpf_free(struct task_bpf *bpf);

/** task_bpf_reports_maps() - whether executable mappings are among what is told */
bool task_bpf_reports_maps(const struct task_bpf *bpf);

/** task_bpf_maps_reason() - why they are not; "" if they are; valid as long as @bpf */
const char *task_bpf_maps_reason(const struct task_bpf *bpf);

/** task_bpf_fd() - signalled, once, when the ring is half full (EPOLLET); owned by @bpf */
int task_bpf_fd(const struct task_bpf *bpf);

/** task_bpf_maps_fd() - the same for the ring of mappings; -1 where they are not told */
int task_bpf_maps_fd(const struct task_bpf *bpf);

/** task_bpf_begin() - look at what the rings hold now */
void task_bpf_begin(struct task_bpf *bpf);

/** task_bpf_next() - time of the oldest event seen by then, or TASK_BPF_NOTHING */
u64 task_bpf_next(const struct task_bpf *bpf);

/** task_bpf_deliver() - hand the oldest event over; there must be one */
void task_bpf_deliver(struct task_bpf *bpf, const struct task_sink *sink);

/** task_bpf_end() - make room for what was handed over */
void task_bpf_end(struct task_bpf *bpf);

/** task_bpf_lost() - task events, without mappings, that found the ring full since the last call */
u64 task_bpf_lost(struct task_bpf *bpf);

/**
 * task_bpf_lost_maps() - report lost mappings: TASK_LOST_MAPS (map_bpf_lost())
 * @until_ns: CLOCK_MONOTONIC: all events up to then were handed over
 *
 * They found the ring full, or their cgroup or user had mapped too much lately.
 */
void task_bpf_lost_maps(struct task_bpf *bpf, u64 until_ns, const struct task_sink *sink);

/** task_bpf_seed() - hand all tasks over, by the task iterator: TASK_SEED each */
int task_bpf_seed(struct task_bpf *bpf, const struct task_sink *sink);

struct switch_bpf;

/**
 * switch_bpf_new() - follow context switches on all CPUs
 * @memory: bytes for all rings
 * @ret_reason: as above
 */
int switch_bpf_new(size_t memory, struct switch_bpf **ret_bpf, char *ret_reason);

struct switch_bpf *switch_bpf_free(struct switch_bpf *bpf);

/** switch_bpf_rings() - of all possible CPUs, by number; valid as long as @bpf */
struct switch_ring *switch_bpf_rings(struct switch_bpf *bpf, u32 *ret_cpus);

#endif
