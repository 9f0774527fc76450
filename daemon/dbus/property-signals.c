// SPDX-License-Identifier: LGPL-2.1-or-later
#include "property-signals.h"

#include <errno.h>
#include <stdio.h>

struct sharers_query {
	const char *of;
	struct bus_sharers *sharers;
};

static int read_sharers(struct worker_state *state, void *arg)
{
	const struct sharers_query *query = arg;
	const struct session *of = query->of ? worker_session(state, query->of) : NULL;
	struct bus_sharers *sharers = query->sharers;
	struct session *session = NULL;

	sharers->count = 0;
	if (query->of && !of)
		return -ENOENT;
	while ((session = worker_next(state, session)))
		if (!of || session->shared_source == of->shared_source)
			snprintf(sharers->names[sharers->count++], SESSION_NAME_SIZE, "%s",
				 session->name);
	return 0;
}

void bus_find_sharers(const struct bus *bus, const char *session, struct bus_sharers *ret_sharers)
{
	struct sharers_query request = { .of = session, .sharers = ret_sharers };

	worker_read(bus->worker, read_sharers, &request);
}

void bus_signal_sharers(struct bus *bus, const struct bus_sharers *sharers, const char *but,
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

void bus_interval_changed(struct bus *bus, const char *session)
{
	struct bus_sharers sharers;

	bus_find_sharers(bus, session, &sharers);
	bus_signal_sharers(bus, &sharers, NULL, "IntervalUSec");
	if (!strcmp(session, SESSION_MACHINE))
		sd_bus_emit_properties_changed(bus->bus, BUS_PATH, BUS_MANAGER, "IntervalUSec",
					       NULL);
}

static void filter_parts_changed(struct bus *bus)
{
	struct bus_sharers all;

	bus_find_sharers(bus, NULL, &all);
	bus_signal_sharers(bus, &all, NULL, "FilterParts");
}

void bus_sampling_changed(struct bus *bus)
{
	bus_invalidate_properties(bus);
	bus_interval_changed(bus, SESSION_MACHINE);
}

void bus_configured(struct bus *bus)
{
	bus_invalidate_properties(bus);
	sd_bus_emit_properties_changed(bus->bus, BUS_SESSIONS "/" SESSION_MACHINE, BUS_SESSION,
				       "Filter", "Cgroups", NULL);
	filter_parts_changed(bus);
	bus_interval_changed(bus, SESSION_MACHINE);
}

void bus_reloaded(struct bus *bus)
{
	sd_bus_emit_properties_changed(bus->bus, BUS_PATH, BUS_MANAGER, "ConfigurationRefused",
				       "ConfigurationWaiting", NULL);
}
