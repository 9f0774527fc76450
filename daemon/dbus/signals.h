/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the bus is told unasked. */
#ifndef SPEPROF_SIGNALS_H
#define SPEPROF_SIGNALS_H

#include "bus-core.h"

/** signal_watch_new() - begin to look; what is there already is not signalled */
int signal_watch_new(struct bus *bus, sd_event *event, struct signal_watch **ret_watch);
struct signal_watch *signal_watch_free(struct signal_watch *watch);

#endif
