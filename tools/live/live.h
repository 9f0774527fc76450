/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The live view: it connects state, screen, terminal and daemon. */
#ifndef SPEPROF_LIVE_H
#define SPEPROF_LIVE_H

#include "lib/bus.h"
#include "lib/options.h"

/**
 * live_show() - show the live view until the user quits, or options->number times
 * @options: group, sort, period, delay, and -c and -p, which select rows
 * @bus: a connection of bus_new(); it belongs to the function
 *
 * Return: &enum status; an error was printed.
 */
int live_show(const struct options *options, struct bus *bus);

#endif
