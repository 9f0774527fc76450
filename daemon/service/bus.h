/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* org.speprof1 on the bus: translates calls for the worker, decides nothing else. */
#ifndef SPEPROF_BUS_H
#define SPEPROF_BUS_H

#include <systemd/sd-bus.h>

#include "pprof.h"
#include "worker.h"

#define BUS_NAME "org.speprof1"
#define BUS_PATH "/org/speprof1"
#define BUS_INTERFACE "org.speprof1.Manager"

struct bus {
	sd_bus *bus;
	sd_bus_slot *slot;
	struct worker *worker;
	struct bus_profile *profiles[PPROF_AT_ONCE]; /* that are being taken */
};

/**
 * bus_init() - connect, put the object there and take the name
 * @address: of a private bus, or NULL for the system's
 * @worker: borrowed
 *
 * Return: 0; -EEXIST if another speprofd has the name; other negative errno.
 */
int bus_init(struct bus *bus, sd_event *event, const char *address, struct worker *worker);

void bus_deinit(struct bus *bus);

#endif
