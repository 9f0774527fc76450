/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the bus is told unasked. */
#ifndef SPEPROF_SIGNALS_H
#define SPEPROF_SIGNALS_H

#include "bus-core.h"

/** bus_watch_new() - begin to look; what is there already is not signalled */
int bus_watch_new(struct bus *bus, sd_event *event, struct bus_watch **ret_watch);
struct bus_watch *bus_watch_free(struct bus_watch *watch);

#endif
