// SPDX-License-Identifier: LGPL-2.1-or-later
#include "temporary-session.h"

#include <errno.h>
#include <stdlib.h>

#include "name-watch.h"
#include "objects.h"

/**
 * struct temporary_session - a session that is removed when a connection closes
 * @bus: the bus
 * @name: name of the session
 * @creator: the watch of the connection
 */
struct temporary_session {
	struct bus_service *bus;
	char name[SESSION_NAME_SIZE];
	struct name_watch creator;
};

static void on_creator_lost(void *ctx)
{
	struct temporary_session *temporary = ctx;
	struct bus_service *bus = temporary->bus;
	char name[SESSION_NAME_SIZE];

	memcpy(name, temporary->name, sizeof(name));
	/* The call also frees the temporary session. */
	bus_drop_session(bus, name);
}

int bus_watch_session_creator(struct bus_service *bus, sd_bus_message *message, const char *session)
{
	struct temporary_session *temporary;
	u32 i = 0;
	int r;

	while (i < WORKER_SESSIONS && bus->temporary[i])
		i++;
	temporary = i < WORKER_SESSIONS ? calloc(1, sizeof(*temporary)) : NULL;
	if (!temporary)
		return -ENOMEM;
	temporary->bus = bus;
	snprintf(temporary->name, sizeof(temporary->name), "%s", session);
	r = name_watch_start(&temporary->creator, bus->bus, sd_bus_message_get_sender(message),
			     on_creator_lost, temporary);
	if (r < 0) {
		free(temporary);
		return r;
	}
	bus->temporary[i] = temporary;
	return 0;
}

static void temporary_session_free(struct bus_service *bus, u32 i)
{
	name_watch_stop(&bus->temporary[i]->creator);
	free(bus->temporary[i]);
	bus->temporary[i] = NULL;
}

void bus_unwatch_session_creator(struct bus_service *bus, const char *session)
{
	for (u32 i = 0; i < WORKER_SESSIONS; i++)
		if (bus->temporary[i] && !strcmp(bus->temporary[i]->name, session))
			temporary_session_free(bus, i);
}

void bus_unwatch_all_creators(struct bus_service *bus)
{
	for (u32 i = 0; i < WORKER_SESSIONS; i++)
		if (bus->temporary[i])
			temporary_session_free(bus, i);
}
