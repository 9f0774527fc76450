/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Task events from the side band of perf: fork, exec, exit, names, executable mappings, context
 * switches. The kernel writes them to the ring of a dummy event on each CPU, which never samples.
 */
#ifndef SPEPROF_TASK_PERF_H
#define SPEPROF_TASK_PERF_H

#include "task-event.h"

/* The time of the next event if there is none. */
#define TASK_PERF_NOTHING UINT64_MAX

struct task_perf;

/**
 * enum task_perf_records - what the side band reports
 * @TASK_PERF_TASKS: fork, exec, exit, names and executable mappings
 * @TASK_PERF_MAPS: executable mappings only
 * @TASK_PERF_SWITCHES: context switches only, as TASK_SWITCH
 */
enum task_perf_records {
	TASK_PERF_TASKS,
	TASK_PERF_MAPS,
	TASK_PERF_SWITCHES,
};

/**
 * task_perf_new() - open the side band on all online CPUs
 * @records: what to report
 * @ring_size: bytes of the ring of each CPU, a power of two of pages
 * @ret_perf: the side band
 * @ret_reason: on failure, a static sentence that explains it
 *
 * Return: 0; the negative errno of perf_event_open() or mmap().
 */
int task_perf_new(enum task_perf_records records, u32 ring_size, struct task_perf **ret_perf,
		  const char **ret_reason);

/** task_perf_get_locked_bytes() - return the bytes of all open rings */
u64 task_perf_get_locked_bytes(const struct task_perf *perf);

/** task_perf_free() - close the side band and free @perf, which may be NULL; returns NULL */
struct task_perf *task_perf_free(struct task_perf *perf);

/** task_perf_get_fd() - return the descriptor that becomes readable when a ring is half full */
int task_perf_get_fd(const struct task_perf *perf);

/** task_perf_begin_read() - start reading the events that are in the rings now */
void task_perf_begin_read(struct task_perf *perf);

/**
 * task_perf_get_next_time() - return the time of the oldest event in the rings, or
 * TASK_PERF_NOTHING
 */
u64 task_perf_get_next_time(struct task_perf *perf);

/** task_perf_deliver_next() - deliver the event that task_perf_get_next_time() found */
void task_perf_deliver_next(struct task_perf *perf, const struct task_sink *sink);

/** task_perf_end_read() - free the space of the delivered events */
void task_perf_end_read(struct task_perf *perf);

/**
 * task_perf_close_offline() - close the events of CPUs that went offline
 *
 * Call this after all records of these events were read. Until it is closed, the event of an
 * offline CPU reports EPOLLHUP.
 */
void task_perf_close_offline(struct task_perf *perf);

/** task_perf_follow_hotplug() - update the events after CPU hotplug */
void task_perf_follow_hotplug(struct task_perf *perf);

#endif
