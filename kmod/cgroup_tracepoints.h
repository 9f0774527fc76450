/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions that the kernel's tracepoints call. Their parameters differ between kernels, so
 * probe/tracepoints.c compares these declarations with the kernel for which the module is built.
 */
#ifndef SPEPROF_CGROUP_TRACEPOINTS_H
#define SPEPROF_CGROUP_TRACEPOINTS_H

#include <linux/types.h>

struct cgroup;
struct task_struct;

/**
 * speprof_on_sched_switch() - switch the CPU's SPU to the ring of the next task's cgroup
 * @unused: NULL
 * @preempt: whether @prev was preempted
 * @prev: the task that ran
 * @next: the task that runs next
 * @prev_state: the state of @prev
 *
 * Context: under the runqueue lock with interrupts off, before CONTEXTIDR changes.
 */
void speprof_on_sched_switch(void *unused, bool preempt, struct task_struct *prev,
			     struct task_struct *next, unsigned int prev_state);

/**
 * speprof_on_cgroup_attach_task() - notify the arbiter of the new cgroup of a task
 * @unused: NULL
 * @to: the new cgroup
 * @path: the path of @to
 * @task: the task, already in @to
 * @threadgroup: whether all threads of the process were moved
 *
 * Without this call the arbiter would notice the new cgroup of a running thread only at its next
 * context switch.
 *
 * Context: under cgroup_mutex.
 */
void speprof_on_cgroup_attach_task(void *unused, struct cgroup *to, const char *path,
				   struct task_struct *task, bool threadgroup);

/**
 * speprof_on_cgroup_rmdir() - schedule the removal of dead cgroups from all sets
 * @unused: NULL
 * @cgroup: the cgroup that was removed
 * @path: the path of @cgroup
 *
 * Context: under cgroup_mutex.
 */
void speprof_on_cgroup_rmdir(void *unused, struct cgroup *cgroup, const char *path);

#endif
