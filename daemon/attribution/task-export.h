/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The attributor's tasks as events of a recording: also those that /proc no longer has. */
#ifndef SPEPROF_TASK_EXPORT_H
#define SPEPROF_TASK_EXPORT_H

#include "attributor.h"

/**
 * attributor_export() - report all processes that samples were counted to, with their threads,
 * containers and mappings
 * @attributor: live
 * @sink: takes task events; those of one process are in the order of time
 *
 * Reads tables alone, and no file.
 *
 * Return: 0 or -ENOMEM.
 */
int attributor_export(const struct attributor *attributor, const struct source_sink *sink);

#endif
