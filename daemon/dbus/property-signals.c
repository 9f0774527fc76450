// SPDX-License-Identifier: LGPL-2.1-or-later
#include "property-signals.h"

#include <errno.h>
#include <stdio.h>

struct sharing_sessions_query {
	const char *of;
	struct bus_sharing_sessions *sharers;
};

static int read_sharing_sessions(struct worker_state *state, void *arg)
{
	const struct sharing_sessions_query *query = arg;
	const struct session *of = query->of ? worker_find_session(state, query->of) : NULL;
	struct bus_sharing_sessions *sharers = query->sharers;
	struct session *session = NULL;

	sharers->count = 0;
	if (query->of && !of)
		return -ENOENT;
	while ((session = worker_get_next_session(state, session)))
		if (!of || session->shared_source == of->shared_source)
			snprintf(sharers->names[sharers->count++], SESSION_NAME_SIZE, "%s",
				 session->name);
	return 0;
}

void bus_find_sharing_sessions(const struct bus_service *bus, const char *session,
			       struct bus_sharing_sessions *ret_sharers)
{
	struct sharing_sessions_query request = { .of = session, .sharers = ret_sharers };

	worker_call_readonly(bus->worker, read_sharing_sessions, &request);
}

void bus_signal_sharing_sessions(struct bus_service *bus,
				 const struct bus_sharing_sessions *sharers, const char *but,
				 const char *property)
{
	char object[sizeof(BUS_SESSIONS) + SESSION_NAME_SIZE];

	for (u32 i = 0; i < sharers->count; i++) {
		if (but && !strcmp(sharers->names[i], but))
			continue;
		snprintf(object, sizeof(object), BUS_SESSIONS "/%s", sharers->names[i]);
		sd_bus_emit_properties_changed(bus->bus, object, BUS_SESSION, property, NULL);
	}
}

void bus_signal_interval(struct bus_service *bus, const char *session)
{
	struct bus_sharing_sessions sharers;

	bus_find_sharing_sessions(bus, session, &sharers);
	bus_signal_sharing_sessions(bus, &sharers, NULL, "IntervalUSec");
	if (!strcmp(session, SESSION_MACHINE))
		sd_bus_emit_properties_changed(bus->bus, BUS_PATH, BUS_MANAGER, "IntervalUSec",
					       NULL);
}

static void signal_filter_parts(struct bus_service *bus)
{
	struct bus_sharing_sessions all;

	bus_find_sharing_sessions(bus, NULL, &all);
	bus_signal_sharing_sessions(bus, &all, NULL, "FilterParts");
}

void bus_signal_machine_interval(struct bus_service *bus)
{
	bus_invalidate_properties(bus);
	bus_signal_interval(bus, SESSION_MACHINE);
}

void bus_signal_configuration(struct bus_service *bus)
{
	bus_invalidate_properties(bus);
	sd_bus_emit_properties_changed(bus->bus, BUS_SESSIONS "/" SESSION_MACHINE, BUS_SESSION,
				       "Filter", "Cgroups", NULL);
	signal_filter_parts(bus);
	bus_signal_interval(bus, SESSION_MACHINE);
}

void bus_signal_reload(struct bus_service *bus)
{
	sd_bus_emit_properties_changed(bus->bus, BUS_PATH, BUS_MANAGER, "ConfigurationRefused",
				       "ConfigurationWaiting", NULL);
}
