/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The source "perf" on a kernel that a test stands in for. */
#ifndef SPEPROF_PERF_INTERNAL_H
#define SPEPROF_PERF_INTERNAL_H

#include "perf-aux.h"

/** source_perf_new_on() - source_perf_new() on @host, which is copied */
int source_perf_new_on(const struct perf_host *host, const struct source_config *config,
		       struct source **ret_source, const char **ret_reason);

#endif
