/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The arbiter decides which ring uses the SPU of a CPU. That is the ring of the one session that
 * samples the whole machine. If sessions of cgroups are started instead, the arbiter hands the SPU
 * over at each context switch, to the session that samples the cgroup of the next task.
 */
#ifndef SPEPROF_ARBITER_H
#define SPEPROF_ARBITER_H

#include <linux/types.h>

struct speprof_cgroup_map;
struct speprof_ring;
struct speprof_cpu;
struct task_struct;

/** speprof_arbiter_init() - initialize the state of every CPU; called before the first session */
void speprof_arbiter_init(void);

/**
 * speprof_arbiter_deinit() - wait for all work and calls that the arbiter has queued on CPUs
 *
 * Context: may sleep. No session exists, and the tracepoints are unregistered.
 */
void speprof_arbiter_deinit(void);

/**
 * speprof_arbiter_kick_cpus() - make CPUs look up the cgroup of the task that they run
 * @leader: the thread that was moved to another cgroup; with @threadgroup, the leader of its
 * process
 * @threadgroup: whether all threads of the process were moved
 *
 * The function interrupts the CPUs that run the threads, and does not wait for them.
 *
 * Context: any context, after the threads were moved.
 */
void speprof_arbiter_kick_cpus(const struct task_struct *leader, bool threadgroup);

/*
 * The functions below run on the CPU with interrupts off. While that CPU is offline, those without
 * a Context line may run on any other CPU, with interrupts off, under speprof_control and
 * cpus_read_lock().
 */

/**
 * speprof_arbiter_add_ring() - add the ring of a session that starts
 * @cpu_state: the state of the CPU
 * @ring: the ring, IDLE; the caller starts it, and then reevaluates
 * @map: the new map of the CPU, which contains @ring; NULL: the session samples the whole machine
 *
 * Return: the former map, which the caller frees.
 */
struct speprof_cgroup_map *speprof_arbiter_add_ring(struct speprof_cpu *cpu_state,
						    struct speprof_ring *ring,
						    struct speprof_cgroup_map *map);

/**
 * speprof_arbiter_can_sample() - check whether the CPU is up and has the backend of a ring
 * @cpu_state: the state of the CPU
 * @ring: one of its rings
 *
 * Return: true if @ring can sample on @cpu_state now.
 */
bool speprof_arbiter_can_sample(const struct speprof_cpu *cpu_state,
				const struct speprof_ring *ring);

/**
 * speprof_arbiter_remove_ring() - remove the ring of a session that stops
 * @cpu_state: the state of the CPU
 * @ring: the ring, which is IDLE; the caller calls speprof_arbiter_reevaluate() afterwards
 *
 * Return: the map if it contains no other ring, for the caller to free; otherwise NULL.
 */
struct speprof_cgroup_map *speprof_arbiter_remove_ring(struct speprof_cpu *cpu_state,
						       struct speprof_ring *ring);

/**
 * speprof_arbiter_swap_map() - replace the map of a CPU
 * @cpu_state: the state of the CPU
 * @map: the new map from cgroups to rings, or NULL; the caller calls speprof_arbiter_reevaluate()
 * afterwards
 *
 * Return: the former map, which the caller frees.
 */
struct speprof_cgroup_map *speprof_arbiter_swap_map(struct speprof_cpu *cpu_state,
						    struct speprof_cgroup_map *map);

/**
 * speprof_arbiter_reevaluate() - give the SPU to the ring of the current task
 * @cpu_state: the state of this CPU; does nothing for a CPU that is down
 */
void speprof_arbiter_reevaluate(struct speprof_cpu *cpu_state);

/**
 * speprof_arbiter_sched_switch() - give the SPU to the ring of the task that runs next
 * @next: the task
 *
 * Context: on the CPU alone, in the tracepoint sched_switch: under the runqueue lock, interrupts
 * off, while current is still the previous task.
 */
void speprof_arbiter_sched_switch(struct task_struct *next);

/**
 * speprof_arbiter_start_rings() - start the rings of the CPU, which came online
 * @cpu_state: the state of this CPU
 */
void speprof_arbiter_start_rings(struct speprof_cpu *cpu_state);

/**
 * speprof_arbiter_stop_rings() - stop the rings of the CPU, which goes offline
 * @cpu_state: the state of this CPU
 */
void speprof_arbiter_stop_rings(struct speprof_cpu *cpu_state);

#endif
