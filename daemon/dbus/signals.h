/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Emit signals for faults, throttling, false sharing, and containers that were added or removed. */
#ifndef SPEPROF_SIGNALS_H
#define SPEPROF_SIGNALS_H

#include "bus-core.h"

/**
 * signal_watch_new() - poll for changes once a second and emit signals for them
 * @bus: connected; borrowed, until signal_watch_free()
 * @event: the main loop; borrowed
 * @ret_watch: freed by signal_watch_free()
 *
 * No signals are sent for containers that exist at the start. At most ten signals of a kind are
 * sent in a second; the last argument of the next signal is the number of signals that were left
 * out.
 *
 * Return: 0 or negative errno.
 */
int signal_watch_new(struct bus_service *bus, sd_event *event, struct signal_watch **ret_watch);
/** signal_watch_free() - stop polling; returns NULL */
struct signal_watch *signal_watch_free(struct signal_watch *watch);

#endif
