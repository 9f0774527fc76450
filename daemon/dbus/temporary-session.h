/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sessions that end when the connection of their creator closes, as when its process dies. */
#ifndef SPEPROF_TEMPORARY_SESSION_H
#define SPEPROF_TEMPORARY_SESSION_H

#include "bus-core.h"

/**
 * bus_temporary_watch() - remove a session when the sender of a message leaves the bus
 * @bus: the bus
 * @message: the call that created the session
 * @session: its name, copied
 *
 * If the sender cannot be watched, the session is removed soon.
 *
 * Return: 0; -ENOMEM; other negative errno. The session is unchanged then.
 */
int bus_temporary_watch(struct bus *bus, sd_bus_message *message, const char *session);

/** bus_temporary_forget() - stop watching for a session that is removed; it may be no temporary one */
void bus_temporary_forget(struct bus *bus, const char *session);

/** bus_temporary_end() - stop watching for all sessions */
void bus_temporary_end(struct bus *bus);

#endif
