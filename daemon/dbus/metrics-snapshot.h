/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implement the method DumpMetrics: counters for exporters. */
#ifndef SPEPROF_METRICS_SNAPSHOT_H
#define SPEPROF_METRICS_SNAPSHOT_H

#include <systemd/sd-bus.h>

#include "engine/worker.h"
#include "output/metrics.h"

/**
 * bus_read_metrics() - collect the counters of the machine's session
 * @state: state of the worker; the machine's session exists
 * @arg: struct metrics_snapshot to fill; the caller frees it with metrics_clear()
 *
 * It drains the session first.
 *
 * Context: called through worker_call_readonly().
 *
 * Return: 0 or -ENOMEM.
 */
int bus_read_metrics(struct worker_state *state, void *arg);

/** bus_handle_dump_metrics() - the method DumpMetrics; @userdata: the &struct bus_service */
int bus_handle_dump_metrics(sd_bus_message *message, void *userdata, sd_bus_error *error);

#endif
