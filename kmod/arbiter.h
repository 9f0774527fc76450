/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whose the SPU of a CPU is: that of the one session of the whole machine, or, at each context
 * switch, that of the session of cgroups which the next task belongs to.
 */
#ifndef SPEPROF_OWNER_H
#define SPEPROF_OWNER_H

#include <linux/types.h>

struct cgroup_map;
struct ring;
struct speprof_cpu;
struct task_struct;

/** owner_init() - before the first session */
void owner_init(void);

/** owner_deinit() - no session is left, nobody tells of switches any more */
void owner_deinit(void);

/**
 * owner_moved() - interrupt the CPUs that run threads which were moved to another cgroup
 * @leader: the thread; with @threadgroup: the leader of its process
 * @threadgroup: all threads of the process were moved
 *
 * After the move, in any context. Does not wait for the CPUs.
 */
void owner_moved(const struct task_struct *leader, bool threadgroup);

/* ---- On the CPU, interrupts off; or elsewhere while it is down ---------------------- */

/**
 * owner_add() - @ring is on the CPU from here on; the caller starts it, then settles
 * @map: NULL: it has the SPU alone; else see owner_swap()
 *
 * Return: the map before, the caller's to free.
 */
struct cgroup_map *owner_add(struct speprof_cpu *host, struct ring *ring, struct cgroup_map *map);

/** owner_serves() - whether the CPU is up, with the backend that @ring was made for */
bool owner_serves(const struct speprof_cpu *host, const struct ring *ring);

/** owner_remove() - and here no longer; it is stopped. Return: a map that nobody needs any more */
struct cgroup_map *owner_remove(struct speprof_cpu *host, struct ring *ring);

/** owner_swap() - other cgroups; the caller settles. Return: the map before, to be freed */
struct cgroup_map *owner_swap(struct speprof_cpu *host, struct cgroup_map *map);

/** owner_settle() - the SPU is given to whom the running task belongs to. Only on the CPU */
void owner_settle(struct speprof_cpu *host);

/** owner_switch() - @next will run on this CPU; under the runqueue's lock */
void owner_switch(struct task_struct *next);

/** owner_online(), owner_offline() - to all rings of the CPU */
void owner_online(struct speprof_cpu *host);
void owner_offline(struct speprof_cpu *host);

#endif
