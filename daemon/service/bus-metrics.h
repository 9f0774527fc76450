/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What exporters ask for on the bus. */
#ifndef SPEPROF_BUS_METRICS_H
#define SPEPROF_BUS_METRICS_H

#include <systemd/sd-bus.h>

/** bus_dump_metrics() - the method DumpMetrics; @userdata is the struct bus */
int bus_dump_metrics(sd_bus_message *message, void *userdata, sd_bus_error *error);

#endif
