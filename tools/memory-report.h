/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cache lines that are shared, hot pages and NUMA nodes, of a recording or of the daemon. */
#ifndef SPEPROF_MEMORY_REPORT_H
#define SPEPROF_MEMORY_REPORT_H

#include "lib/options.h"

/** memory_report() - --lines and --pages of report; returns an &enum status */
int memory_report(const struct options *options);

#endif
