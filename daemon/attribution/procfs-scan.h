/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tasks that were there before a recording, as events that it can hold. */
#ifndef SPEPROF_PROCFS_SCAN_H
#define SPEPROF_PROCFS_SCAN_H

#include "source/source.h"

/**
 * procfs_scan_tasks() - names and executable mappings of all tasks that /proc shows,
 * and where the kernel is, if that may be seen
 * @time_ns: of the events
 *
 * Return: 0, or the negative errno of /proc itself; tasks that go meanwhile are no error.
 */
int procfs_scan_tasks(const struct source_sink *sink, u64 time_ns);

/** procfs_scan_kernel() - where the kernel is; nothing where addresses are hidden */
void procfs_scan_kernel(const struct source_sink *sink, u64 time_ns);

#endif
