/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whose the SPU of a CPU is: that of the one session of the whole machine, or, at each context
 * switch, that of the session of cgroups which the next task belongs to.
 */
#ifndef SPEPROF_OWNER_H
#define SPEPROF_OWNER_H

#include <linux/types.h>

struct speprof_cgroup_map;
struct speprof_ring;
struct speprof_cpu;
struct task_struct;

/** speprof_arbiter_init() - before the first session */
void speprof_arbiter_init(void);

/** speprof_arbiter_deinit() - no session is left, nobody tells of switches any more */
void speprof_arbiter_deinit(void);

/**
 * speprof_arbiter_kick_cpus() - interrupt the CPUs that run threads which were moved to another cgroup
 * @leader: the thread; with @threadgroup: the leader of its process
 * @threadgroup: all threads of the process were moved
 *
 * After the move, in any context. Does not wait for the CPUs.
 */
void speprof_arbiter_kick_cpus(const struct task_struct *leader, bool threadgroup);

/* ---- On the CPU, interrupts off; or elsewhere while it is down ---------------------- */

/**
 * speprof_arbiter_add_ring() - @ring is on the CPU from here on; the caller starts it, then settles
 * @map: NULL: it has the SPU alone; else see speprof_arbiter_swap_map()
 *
 * Return: the map before, the caller's to free.
 */
struct speprof_cgroup_map *speprof_arbiter_add_ring(struct speprof_cpu *host,
						    struct speprof_ring *ring,
						    struct speprof_cgroup_map *map);

/** speprof_arbiter_serves() - whether the CPU is up, with the backend that @ring was made for */
bool speprof_arbiter_serves(const struct speprof_cpu *host, const struct speprof_ring *ring);

/** speprof_arbiter_remove_ring() - and here no longer; it is stopped. Return: a map that nobody needs any more */
struct speprof_cgroup_map *speprof_arbiter_remove_ring(struct speprof_cpu *host,
						       struct speprof_ring *ring);

/** speprof_arbiter_swap_map() - other cgroups; the caller settles. Return: the map before, to be freed */
struct speprof_cgroup_map *speprof_arbiter_swap_map(struct speprof_cpu *host,
						    struct speprof_cgroup_map *map);

/** speprof_arbiter_reevaluate() - the SPU is given to whom the running task belongs to. Only on the CPU */
void speprof_arbiter_reevaluate(struct speprof_cpu *host);

/** speprof_arbiter_sched_switch() - @next will run on this CPU; under the runqueue's lock */
void speprof_arbiter_sched_switch(struct task_struct *next);

/** speprof_arbiter_online(), speprof_arbiter_offline() - to all rings of the CPU */
void speprof_arbiter_online(struct speprof_cpu *host);
void speprof_arbiter_offline(struct speprof_cpu *host);

#endif
