/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The top layer of the bus service: connects to the bus, and registers all objects. */
#ifndef SPEPROF_BUS_H
#define SPEPROF_BUS_H

#include "bus-core.h"

/*
 * Exit status of the daemon when its connection to the bus closes, after which no client can reach
 * it. With EX_TEMPFAIL systemd restarts the unit, and the next process restores the checkpoint.
 */
#define BUS_LOST_STATUS 75

/**
 * bus_init() - connect to the bus, register the objects and request the name
 * @bus: initialized; after a failure nothing has to be released
 * @event: the main loop; borrowed
 * @address: address of a private bus; NULL: the system bus
 * @worker: borrowed, until bus_deinit()
 * @config: borrowed, until bus_deinit()
 *
 * Return: 0; -EEXIST if another speprofd has the name; other negative errno.
 */
int bus_init(struct bus_service *bus, sd_event *event, const char *address, struct worker *worker,
	     const struct config *config);

/** bus_deinit() - drop pending calls and profiles, send queued messages, and disconnect */
void bus_deinit(struct bus_service *bus);

#endif
