/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CPUs and their SPUs: what each can do, who samples it, and how to run
 * something there. Hotplug arrives here.
 */
#ifndef SPEPROF_CPU_H
#define SPEPROF_CPU_H

#include <linux/irq_work.h>
#include <linux/smp.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu-defs.h>
#include <linux/smp.h>

#include <linux/speprof.h>

#include "backend.h"

struct speprof_cgroup_map;
struct speprof_ring;

/**
 * struct speprof_cpu - a CPU
 * @info: its abilities, @info.flags aside; changed by the hotplug callback, read under
 *	speprof_control and cpus_read_lock()
 * @ring: whose registers the SPU holds, if anybody's. Changed and used on the CPU with
 *	interrupts off, or while it is down under speprof_control and cpus_read_lock()
 * @rings: of all started sessions; likewise
 * @map: whom a task belongs to, if they are of cgroups, else NULL; likewise
 * @seat: gives @ring the SPU once a context switch is over
 * @moved: makes it look up the cgroup of the task that runs; from any context
 * @backend: of its SPU; NULL while the CPU is not between its hotplug callbacks, or its SPU
 *	cannot be used. Changed likewise
 */
struct speprof_cpu {
	struct speprof_cpu_info info;
	struct speprof_ring *ring;
	struct hlist_head rings;
	struct speprof_cgroup_map *map;
	struct irq_work handover_work;
	call_single_data_t reevaluate_csd;
	const struct speprof_backend *backend;
};

DECLARE_PER_CPU(struct speprof_cpu, speprof_cpus);

/*
 * Serialises what changes backends and sessions. Taken before cpus_read_lock(),
 * and never in a hotplug callback.
 */
extern struct mutex speprof_control;

/** speprof_cpus_init() - before the first backend: from here on suspends are seen */
int speprof_cpus_init(void);

/** speprof_cpus_deinit() - no backend is left */
void speprof_cpus_deinit(void);

/** speprof_backend_get() - the backend, its module held; NULL if there is none. Under speprof_control */
const struct speprof_backend *speprof_backend_get(void);
void speprof_backend_put(const struct speprof_backend *backend);

/** speprof_backend_present() - whether @backend is registered. Under speprof_control */
bool speprof_backend_present(const struct speprof_backend *backend);

/** speprof_cpu_info_get() - the abilities of possible CPU @cpu */
void speprof_cpu_info_get(unsigned int cpu, struct speprof_cpu_info *ret_info);

/** speprof_cpu_count() - how many CPUs have an SPU now */
unsigned int speprof_cpu_count(void);

/**
 * speprof_cpu_call() - run @fn on @cpu with interrupts off, or here if @cpu is offline
 *
 * May sleep. While offline it is for the caller to exclude others (speprof_control).
 */
void speprof_cpu_call(unsigned int cpu, smp_call_func_t fn, void *arg);

#endif
