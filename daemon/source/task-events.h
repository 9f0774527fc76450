/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What tasks do, as the kernel tells it to perf: fork, exec, exit, names and
 * executable mappings, from a dummy event on each CPU that never samples. Beside
 * any live source: who was gone before a window is drained is known all the same.
 */
#ifndef SPEPROF_TASK_EVENTS_H
#define SPEPROF_TASK_EVENTS_H

#include "source.h"

struct task_events;

/**
 * task_events_new() - on all CPUs that are online
 * @ret_reason: on failure, one static sentence that says why
 *
 * Return: 0, or the negative errno of perf_event_open() or mmap().
 */
int task_events_new(struct task_events **ret_events, const char **ret_reason);

struct task_events *task_events_free(struct task_events *events);

/** task_events_fd() - becomes readable when a ring is half full; owned by @events */
int task_events_fd(const struct task_events *events);

/**
 * task_events_until() - hand over what happened up to a time, oldest first
 * @until_ns: CLOCK_MONOTONIC, 0 for all that is there
 * @sink: its @task is called
 *
 * An event that another CPU was still writing comes with a later call. TASK_LOST
 * says that a ring was full.
 */
void task_events_until(struct task_events *events, u64 until_ns, const struct source_sink *sink);

/** task_events_check() - follow CPUs that went or came; call about once a second */
void task_events_check(struct task_events *events);

#endif
