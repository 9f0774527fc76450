/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Context switches from the side band of perf, for systems that refuse BPF. */
#ifndef SPEPROF_SWITCH_PERF_H
#define SPEPROF_SWITCH_PERF_H

#include "switch-ring.h"

struct switch_perf;

/**
 * switch_perf_new() - record context switches on all online CPUs
 * @memory: approximate bytes of all rings
 * @ret_perf: the switches
 * @ret_reason: on failure, a static sentence that explains it
 *
 * Return: 0; the negative errno of perf_event_open() or mmap(); -ENOMEM if memory cannot be
 * allocated; -ENODATA if the list of possible CPUs is empty; errors of cpu_list_read().
 */
int switch_perf_new(size_t memory, struct switch_perf **ret_perf, const char **ret_reason);

/** switch_perf_free() - stop recording and free @perf, which may be NULL; returns NULL */
struct switch_perf *switch_perf_free(struct switch_perf *perf);

/**
 * switch_perf_copy_switches() - copy the new switches from the perf rings to the rings of entries
 */
void switch_perf_copy_switches(struct switch_perf *perf);

/** switch_perf_follow_hotplug() - update the events after CPU hotplug; call about once a second */
void switch_perf_follow_hotplug(struct switch_perf *perf);

/**
 * switch_perf_get_rings() - return the rings of all possible CPUs, indexed by CPU; owned by @perf
 */
struct switch_ring *switch_perf_get_rings(struct switch_perf *perf, u32 *ret_cpus);

#endif
