/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What tasks do, as the kernel tells it to perf: fork, exec, exit, names and
 * executable mappings, from a dummy event on each CPU that never samples.
 */
#ifndef SPEPROF_TASK_PERF_H
#define SPEPROF_TASK_PERF_H

#include "task-event.h"

/* No event is there. */
#define TASK_PERF_NOTHING UINT64_MAX

struct task_perf;

/**
 * task_perf_new() - on all CPUs that are online
 * @maps_only: executable mappings and nothing else
 * @ring: bytes of each CPU's, a power of two of pages
 * @ret_reason: on failure, one static sentence that says why
 *
 * Return: 0, or the negative errno of perf_event_open() or mmap().
 */
int task_perf_new(bool maps_only, u32 ring, struct task_perf **ret_perf, const char **ret_reason);

/** task_perf_locked() - bytes of the rings that are open */
u64 task_perf_locked(const struct task_perf *perf);

struct task_perf *task_perf_free(struct task_perf *perf);

/** task_perf_fd() - becomes readable when a ring is half full; owned by @perf */
int task_perf_fd(const struct task_perf *perf);

/** task_perf_begin() - look at what the rings hold now */
void task_perf_begin(struct task_perf *perf);

/** task_perf_next() - time of the oldest event seen by then, or TASK_PERF_NOTHING */
u64 task_perf_next(struct task_perf *perf);

/** task_perf_deliver() - hand over the event that task_perf_next() found */
void task_perf_deliver(struct task_perf *perf, const struct task_sink *sink);

/** task_perf_end() - make room for what was handed over */
void task_perf_end(struct task_perf *perf);

/**
 * task_perf_reap() - close the events of CPUs that went offline, once all is taken of them:
 * dead ones hang up as long as they are there
 */
void task_perf_reap(struct task_perf *perf);

/** task_perf_check() - follow CPUs that went or came */
void task_perf_check(struct task_perf *perf);

#endif
