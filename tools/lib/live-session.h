/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Choose the session of the daemon from which a verb shows the profile. */
#ifndef SPEPROF_LIVE_SESSION_H
#define SPEPROF_LIVE_SESSION_H

#include "bus.h"
#include "options.h"

/* Seconds for which a verb samples with --filter, unless -d is given. */
#define LIVE_SESSION_SECONDS 10

/**
 * live_session_choose() - select the session that later calls of @bus read
 * @verb: name of the verb, for messages
 * @bus: a connection of bus_new()
 * @options: --session names the session. --filter creates one, which the daemon removes when @bus
 *	closes, also if this process is killed. Without both it is "machine"
 * @wait: with --filter, wait until the session has sampled for -d seconds; SIGINT ends the wait
 *	early
 *
 * Return: &enum verb_exit_status; an error was printed.
 */
int live_session_choose(const char *verb, struct bus_connection *bus, const struct options *options,
			bool wait);

/**
 * live_session_print_limits() - print to standard output what format_print_limits() prints, for the
 * session of a connection
 * @bus: a connection; its later errors are not printed
 *
 * Print nothing if the user may not read the header of the session.
 */
void live_session_print_limits(struct bus_connection *bus);

#endif
