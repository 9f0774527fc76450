/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Task events from BPF programs: fork, exec, exit, names, executable mappings, moves between
 * cgroups, and new and removed cgroups. task-bpf-stub.c replaces them in a build without BPF.
 */
#ifndef SPEPROF_TASK_BPF_H
#define SPEPROF_TASK_BPF_H

#include "tasks/task-event.h"
#include "tasks/switch-ring.h"

#define TASK_BPF_REASON 160

/* The time of the next event if there is none. */
#define TASK_BPF_NOTHING UINT64_MAX

struct task_bpf;

/**
 * task_bpf_new() - load and attach the BPF programs
 * @ring_size: bytes of the ring of task events, and of the ring of mappings, a power of two of
 *	pages; 0: the default
 * @ret_bpf: the programs
 * @ret_reason: buffer of TASK_BPF_REASON bytes; on failure, a sentence that explains it
 *
 * Return: 0 or negative errno.
 */
int task_bpf_new(size_t ring_size, struct task_bpf **ret_bpf, char *ret_reason);

/** task_bpf_free() - detach the programs and free @bpf, which may be NULL; returns NULL */
struct task_bpf *task_bpf_free(struct task_bpf *bpf);

/** task_bpf_reports_maps() - return true if executable mappings are reported */
bool task_bpf_reports_maps(const struct task_bpf *bpf);

/**
 * task_bpf_get_maps_reason() - return why executable mappings are not reported, owned by @bpf; ""
 * if they are
 */
const char *task_bpf_get_maps_reason(const struct task_bpf *bpf);

/**
 * task_bpf_get_fd() - return the descriptor that has an edge (EPOLLET) when the ring is half full
 */
int task_bpf_get_fd(const struct task_bpf *bpf);

/**
 * task_bpf_get_maps_fd() - return a descriptor like that of task_bpf_get_fd(), but for the ring of
 * mappings; -1 if mappings are not reported
 */
int task_bpf_get_maps_fd(const struct task_bpf *bpf);

/** task_bpf_begin_read() - start reading the events that are in the rings now */
void task_bpf_begin_read(struct task_bpf *bpf);

/**
 * task_bpf_get_next_time() - return the time of the oldest event in the rings, or TASK_BPF_NOTHING
 */
u64 task_bpf_get_next_time(const struct task_bpf *bpf);

/** task_bpf_deliver_next() - deliver the oldest event, which must exist */
void task_bpf_deliver_next(struct task_bpf *bpf, const struct task_sink *sink);

/** task_bpf_end_read() - free the space of the delivered events */
void task_bpf_end_read(struct task_bpf *bpf);

/**
 * task_bpf_take_lost_count() - return the number of task events, without mappings, that were lost
 * since the last call
 */
u64 task_bpf_take_lost_count(struct task_bpf *bpf);

/**
 * task_bpf_report_lost_maps() - report lost mappings by TASK_LOST_MAPS, see
 * mapping_bpf_report_lost()
 * @bpf: the programs
 * @until_ns: CLOCK_MONOTONIC: all events up to this time were delivered
 * @sink: receives the events
 *
 * Mappings are lost if the ring is full, or if their cgroup or user exceeds its rate limit.
 */
void task_bpf_report_lost_maps(struct task_bpf *bpf, u64 until_ns, const struct task_sink *sink);

/**
 * task_bpf_report_all_tasks() - report all tasks by TASK_SEED, with the task iterator; returns 0 or
 * negative errno
 */
int task_bpf_report_all_tasks(struct task_bpf *bpf, const struct task_sink *sink);

struct switch_bpf;

/**
 * switch_bpf_new() - record context switches on all CPUs
 * @memory: approximate bytes of all rings
 * @ret_bpf: the program
 * @ret_reason: buffer of TASK_BPF_REASON bytes; on failure, a sentence that explains it
 *
 * Return: 0 or negative errno.
 */
int switch_bpf_new(size_t memory, struct switch_bpf **ret_bpf, char *ret_reason);

/** switch_bpf_free() - detach the program and free @bpf, which may be NULL; returns NULL */
struct switch_bpf *switch_bpf_free(struct switch_bpf *bpf);

/** switch_bpf_get_rings() - return the rings of all possible CPUs, indexed by CPU; owned by @bpf */
struct switch_ring *switch_bpf_get_rings(struct switch_bpf *bpf, u32 *ret_cpus);

#endif
