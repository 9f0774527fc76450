/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Context switches as perf's side band has them, where BPF is refused. */
#ifndef SPEPROF_SWITCH_PERF_H
#define SPEPROF_SWITCH_PERF_H

#include "switch-ring.h"

struct switch_perf;

/**
 * switch_perf_new() - follow context switches on the CPUs that are online
 * @memory: bytes for all rings, roughly
 * @ret_reason: on failure, one static sentence that says why
 */
int switch_perf_new(size_t memory, struct switch_perf **ret_perf, const char **ret_reason);

struct switch_perf *switch_perf_free(struct switch_perf *perf);

/** switch_perf_update() - take over what the kernel has told until now */
void switch_perf_update(struct switch_perf *perf);

/** switch_perf_check() - follow CPUs that went or came; to be called about once a second */
void switch_perf_check(struct switch_perf *perf);

/** switch_perf_rings() - of all possible CPUs, by number; valid as long as @perf */
struct switch_ring *switch_perf_rings(struct switch_perf *perf, u32 *ret_cpus);

#endif
