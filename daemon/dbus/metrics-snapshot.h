/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The method DumpMetrics: counters for exporters. */
#ifndef SPEPROF_METRICS_SNAPSHOT_H
#define SPEPROF_METRICS_SNAPSHOT_H

#include <systemd/sd-bus.h>

#include "engine/worker.h"
#include "output/metrics.h"

/**
 * bus_metrics_read() - collect the counters of the machine's session
 * @state: the worker's; the machine's session exists
 * @arg: struct metrics to fill; the caller clears it with metrics_clear()
 *
 * A call for worker_read(): it drains the session first.
 *
 * Return: 0 or -ENOMEM.
 */
int bus_metrics_read(struct worker_state *state, void *arg);

/** bus_dump_metrics() - the method DumpMetrics; @userdata is the struct bus */
int bus_dump_metrics(sd_bus_message *message, void *userdata, sd_bus_error *error);

#endif
