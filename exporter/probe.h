/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Find out facts about the machine and about this process. */
#ifndef SPEPROF_PROBE_H
#define SPEPROF_PROBE_H

#include "codec/env.h"

/**
 * probe_has_spe() - return whether a driver of this machine has an SPU
 * @sys: mount point of sysfs: "/sys", or the directory that a test uses instead
 *
 * The drivers are arm_spe_pmu and speprof.ko. An SPU without a driver is not found. The daemon is
 * not queried, so the result does not depend on whether it runs.
 *
 * Return: true if a driver has an SPU.
 */
bool probe_has_spe(const char *sys);

/**
 * probe_own_process() - get the CPU time and the resident memory of this process
 * @ret_cpu_ns: CPU time of all threads, in nanoseconds
 * @ret_memory: bytes; unchanged if /proc/self/statm cannot be read
 */
void probe_own_process(u64 *ret_cpu_ns, u64 *ret_memory);

#endif
