/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sessions that are removed when the connection of their creator closes, for instance because its
 * process exits.
 */
#ifndef SPEPROF_TEMPORARY_SESSION_H
#define SPEPROF_TEMPORARY_SESSION_H

#include "bus-core.h"

/**
 * bus_watch_session_creator() - remove a session when the connection of the sender of a message
 * closes
 * @bus: the bus
 * @message: the call that created the session
 * @session: its name, copied
 *
 * If the connection cannot be watched, the session is removed soon after this call.
 *
 * Return: 0; -ENOMEM or another negative errno if the watch cannot be started; the session is
 * unchanged then.
 */
int bus_watch_session_creator(struct bus_service *bus, sd_bus_message *message,
			      const char *session);

/**
 * bus_unwatch_session_creator() - stop watching for a session that is removed; does nothing if the
 * session is not temporary
 */
void bus_unwatch_session_creator(struct bus_service *bus, const char *session);

/** bus_unwatch_all_creators() - stop watching the connections of all temporary sessions */
void bus_unwatch_all_creators(struct bus_service *bus);

#endif
