/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sessions that are removed when the connection of their creator closes, for instance because its
 * process exits.
 */
#ifndef SPEPROF_TEMPORARY_SESSION_H
#define SPEPROF_TEMPORARY_SESSION_H

#include "bus-core.h"

/**
 * bus_temporary_watch() - remove a session when the connection of the sender of a message closes
 * @bus: the bus
 * @message: the call that created the session
 * @session: its name, copied
 *
 * If the connection cannot be watched, the session is removed soon after this call.
 *
 * Return: 0; -ENOMEM or another negative errno if the watch cannot be started; the session is
 * unchanged then.
 */
int bus_temporary_watch(struct bus *bus, sd_bus_message *message, const char *session);

/**
 * bus_temporary_forget() - stop watching for a session that is removed; does nothing if the session
 * is not temporary
 */
void bus_temporary_forget(struct bus *bus, const char *session);

/** bus_temporary_end() - stop watching the connections of all temporary sessions */
void bus_temporary_end(struct bus *bus);

#endif
