/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Run the live view, which connects state, screen, terminal and daemon. */
#ifndef SPEPROF_LIVE_H
#define SPEPROF_LIVE_H

#include "lib/bus.h"
#include "lib/options.h"

/**
 * live_show() - show the live view until the user quits, or for options->number iterations
 * @options: group, sort, period, delay, and the options -c and -p, which select rows
 * @bus: a connection of bus_new(), which this function owns
 *
 * Return: &enum verb_exit_status; an error was printed.
 */
int live_show(const struct options *options, struct bus_connection *bus);

#endif
