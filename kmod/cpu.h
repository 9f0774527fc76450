/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CPUs and their SPUs: the features of each SPU, the ring that uses it, and calls of functions on
 * its CPU. CPU hotplug and suspend are handled here.
 */
#ifndef SPEPROF_CPU_H
#define SPEPROF_CPU_H

#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu-defs.h>
#include <linux/smp.h>

#include <linux/speprof.h>

#include "backend.h"

struct speprof_cgroup_map;
struct speprof_ring;

/**
 * struct speprof_cpu - a possible CPU
 * @info: features of its SPU; @info.flags is not used; all zero if the CPU has no SPU. The hotplug
 * callbacks write @info; read it under speprof_control and cpus_read_lock()
 * @ring: the ring with its registers in the SPU; NULL if there is none. This field and all below
 * are used on the CPU with interrupts off; while the CPU is offline, on any CPU under
 * speprof_control and cpus_read_lock()
 * @rings: the rings of all started sessions on this CPU
 * @map: the map from cgroups to rings; NULL unless sessions of cgroups are started
 * @handover_work: completes a handover once the context switch is over
 * @reevaluate_csd: makes the CPU look up the cgroup of its current task; queued from any context
 * @backend: the backend of its SPU; NULL while the CPU is down, or if the SPU cannot be used
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
 * Serializes all changes of backends and sessions. It is taken before cpus_read_lock(), so a
 * hotplug callback must not take it.
 */
extern struct mutex speprof_control;

/**
 * speprof_cpus_init() - register for notifications of suspend; called before the first backend
 *
 * Return: 0, or the error of register_pm_notifier().
 */
int speprof_cpus_init(void);

/** speprof_cpus_deinit() - unregister; no backend is registered */
void speprof_cpus_deinit(void);

/**
 * speprof_backend_get() - get the registered backend, with a reference on its module
 *
 * Context: under speprof_control. Return: the backend; NULL if there is none or its module is being
 * unloaded.
 */
const struct speprof_backend *speprof_backend_get(void);

/**
 * speprof_backend_put() - drop the reference
 * @backend: as speprof_backend_get() returned it
 */
void speprof_backend_put(const struct speprof_backend *backend);

/**
 * speprof_backend_is_registered() - check whether a backend is registered now
 * @backend: the backend
 *
 * Context: under speprof_control.
 */
bool speprof_backend_is_registered(const struct speprof_backend *backend);

/**
 * speprof_cpu_info_get() - get the features of an SPU, and whether it is in use
 * @cpu: a possible CPU
 * @ret_info: filled in
 *
 * Context: may sleep; takes speprof_control.
 */
void speprof_cpu_info_get(unsigned int cpu, struct speprof_cpu_info *ret_info);

/**
 * speprof_cpus_count_spus() - count the CPUs with a usable SPU, including offline ones
 *
 * Context: may sleep; under speprof_control.
 */
unsigned int speprof_cpus_count_spus(void);

/**
 * speprof_cpu_call_function() - run a function on a CPU with interrupts off, or here if that CPU is
 * offline
 * @cpu: a possible CPU
 * @fn: the function
 * @arg: its argument
 *
 * Context: may sleep; waits for @fn. If @cpu can be offline, the caller must hold speprof_control,
 * which then protects the data of the CPU.
 */
void speprof_cpu_call_function(unsigned int cpu, smp_call_func_t fn, void *arg);

#endif
