// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Implement org.speprof1.Session: an object for each session. Properties are read on demand, then
 * cached.
 */
#include "objects.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/time.h"

/* The component that evaluates a part of a filter */
enum filter_evaluator { PART_DAEMON, PART_SPU, PART_MODULE };

/** struct session_properties - values of the properties, copied on the worker's thread */
struct session_properties {
	char name[SESSION_NAME_SIZE];
	struct view_header header;
	bool shared;
	bool physical;
	u64 flight_bytes;
	char *expression;
	char **cgroups;
	struct {
		char *text;
		enum filter_evaluator where;
	} * parts;
	u32 part_count;
};

/*
 * Return the component that evaluates a part of the filter. The SPU evaluates a part only if no
 * other session uses the source. The module evaluates a list of cgroups: it samples only tasks in
 * these cgroups.
 */
static enum filter_evaluator find_part_evaluator(const struct session *session,
						 const struct filter_part *part, u32 index)
{
	const struct shared_source *shared_source = session->shared_source;

	if (session->rule->cgroups && index == session->rule->cgroups_part &&
	    shared_source->source->cgroups)
		return PART_MODULE;
	if ((part->inverted && shared_source->filter.filter_events_not &&
	     shared_source->source->filters_not) ||
	    (part->masked && shared_source->filter.filter_masked &&
	     shared_source->source->filters_masked) ||
	    (part->sources && shared_source->filter.filter_sources_not &&
	     shared_source->source->filters_sources) ||
	    (part->hardware && source_config_has_base_filter(&shared_source->filter) &&
	     shared_source->source->filters))
		return PART_SPU;
	return PART_DAEMON;
}

static int copy_parts(const struct session *session, struct session_properties *properties)
{
	struct filter_part parts[FILTER_NODES];
	u32 n = session->rule->filter ?
			filter_split(session->rule->filter, &session->shared_source->cores, parts,
				     FILTER_NODES) :
			0;

	properties->parts = calloc(n + 1, sizeof(*properties->parts));
	if (!properties->parts)
		return -ENOMEM;
	for (; properties->part_count < n; properties->part_count++) {
		const struct filter_part *part = &parts[properties->part_count];
		char *text = strndup(part->text, part->len);

		if (!text)
			return -ENOMEM;
		properties->parts[properties->part_count].text = text;
		properties->parts[properties->part_count].where =
			find_part_evaluator(session, part, properties->part_count);
	}
	return 0;
}

static int copy_cgroups(const struct session *session, struct session_properties *properties)
{
	char *const *from = session->rule->cgroups;
	size_t n = 0;

	while (from && from[n])
		n++;
	properties->cgroups = calloc(n + 1, sizeof(*properties->cgroups));
	for (size_t i = 0; properties->cgroups && i < n; i++) {
		properties->cgroups[i] = strdup(from[i]);
		if (!properties->cgroups[i])
			return -ENOMEM;
	}
	return properties->cgroups ? 0 : -ENOMEM;
}

static int read_properties(struct worker_state *state, void *arg)
{
	struct session_properties *properties = arg;
	const struct session *session = worker_find_session(state, properties->name);
	int r;

	if (!session)
		return -ENOENT;
	session_fill_header(session, &properties->header);
	properties->shared = session->shared;
	properties->physical = session->shared_source->sampling.physical;
	properties->flight_bytes = session->flight ? flight_recorder_get_size(session->flight) : 0;
	properties->expression = strdup(session->rule->expression);
	r = properties->expression ? copy_parts(session, properties) : -ENOMEM;
	return r < 0 ? r : copy_cgroups(session, properties);
}

static void properties_clear(struct session_properties *properties)
{
	for (u32 i = 0; i < properties->part_count; i++)
		free(properties->parts[i].text);
	free(properties->parts);
	for (size_t i = 0; properties->cgroups && properties->cgroups[i]; i++)
		free(properties->cgroups[i]);
	free(properties->cgroups);
	free(properties->expression);
}

static int append_parts(sd_bus_message *reply, const struct session_properties *properties)
{
	static const char *const where[] = {
		[PART_DAEMON] = "daemon", [PART_SPU] = "spu", [PART_MODULE] = "module"
	};
	int r = sd_bus_message_open_container(reply, 'a', "(ss)");

	for (u32 i = 0; i < properties->part_count && r >= 0; i++)
		r = sd_bus_message_append(reply, "(ss)", properties->parts[i].text,
					  where[properties->parts[i].where]);
	return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int append_property(sd_bus_message *reply, const char *property,
			   const struct session_properties *properties)
{
	if (!strcmp(property, "Name"))
		return sd_bus_message_append(reply, "s", properties->name);
	if (!strcmp(property, "State"))
		return sd_bus_message_append(reply, "s",
					     properties->header.running ? "running" : "stopped");
	if (!strcmp(property, "Source"))
		return sd_bus_message_append(reply, "s", properties->header.source);
	if (!strcmp(property, "SharesSource"))
		return sd_bus_message_append(reply, "b", (int)properties->shared);
	if (!strcmp(property, "PhysicalAddresses"))
		return sd_bus_message_append(reply, "b", (int)properties->physical);
	if (!strcmp(property, "Backend"))
		return sd_bus_message_append(reply, "s",
					     bus_backend_name(properties->header.backend));
	if (!strcmp(property, "CPUs"))
		return sd_bus_message_append(reply, "u", properties->header.cpus);
	if (!strcmp(property, "IntervalUSec"))
		return sd_bus_message_append(reply, "t", properties->header.interval_ns / 1000);
	if (!strcmp(property, "BufferSize"))
		return sd_bus_message_append(reply, "t", properties->flight_bytes);
	if (!strcmp(property, "Filter"))
		return sd_bus_message_append(reply, "s", properties->expression);
	if (!strcmp(property, "FilterParts"))
		return append_parts(reply, properties);
	return sd_bus_message_append_strv(reply, properties->cgroups);
}

void bus_drop_session_properties(struct bus_service *bus)
{
	if (bus->session)
		properties_clear(bus->session);
	free(bus->session);
	bus->session = NULL;
}

/* Get the properties of the session @name, from the cache if that is valid. */
static int find_properties(struct bus_service *bus, const char *name,
			   const struct session_properties **ret_properties)
{
	struct session_properties *properties = bus->session;
	int r;

	if (properties && property_cache_is_fresh(bus->session_ns) &&
	    !strcmp(properties->name, name)) {
		*ret_properties = properties;
		return 0;
	}
	bus_drop_session_properties(bus);
	properties = calloc(1, sizeof(*properties));
	if (!properties)
		return -ENOMEM;
	snprintf(properties->name, sizeof(properties->name), "%s", name);
	r = worker_call_readonly(bus->worker, read_properties, properties);
	bus->session = properties;
	bus->session_ns = time_now_ns();
	if (r < 0)
		bus_drop_session_properties(bus);
	else
		*ret_properties = properties;
	return r;
}

static int get_property(sd_bus *b __attribute__((unused)), const char *path,
			const char *interface __attribute__((unused)), const char *property,
			sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	const struct session_properties *properties;
	char name[SESSION_NAME_SIZE];
	int r;

	bus_path_to_session_name(path, name);
	r = find_properties(userdata, name, &properties);
	return r < 0 ? bus_set_session_error(error, r, name, NULL) :
		       append_property(reply, property, properties);
}

static int session_object_find(sd_bus *b __attribute__((unused)), const char *path,
			       const char *interface __attribute__((unused)), void *userdata,
			       void **ret_found, sd_bus_error *error __attribute__((unused)))
{
	struct bus_service *bus = userdata;
	char name[SESSION_NAME_SIZE];

	if (bus_path_to_session_name(path, name) < 0 ||
	    !property_cache_has_session(&bus->property_cache, bus->worker, name))
		return 0;
	*ret_found = bus;
	return 1;
}

static int list_session_paths(struct worker_state *state, void *arg)
{
	char **paths = arg;
	struct session *session = NULL;

	while ((session = worker_get_next_session(state, session)))
		if (asprintf(paths++, BUS_SESSIONS "/%s", session->name) < 0)
			return -ENOMEM;
	return 0;
}

static int list_session_objects(sd_bus *b __attribute__((unused)),
				const char *prefix __attribute__((unused)), void *userdata,
				char ***ret_nodes, sd_bus_error *error __attribute__((unused)))
{
	struct bus_service *bus = userdata;
	char **paths = calloc(WORKER_SESSIONS + 1, sizeof(*paths));
	int r;

	if (!paths)
		return -ENOMEM;
	r = worker_call_readonly(bus->worker, list_session_paths, paths);
	if (r < 0) {
		for (u32 i = 0; i < WORKER_SESSIONS; i++)
			free(paths[i]);
		free(paths);
		return r;
	}
	*ret_nodes = paths;
	return 0;
}

/* The table must agree with daemon/data/org.speprof1.xml; tests/service compares them. */
const sd_bus_vtable bus_counting_vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_METHOD("Start", NULL, NULL, bus_dispatch_method, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("Stop", NULL, NULL, bus_dispatch_method, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("Reset", NULL, NULL, bus_dispatch_method, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("GetView", SD_BUS_ARGS("s", group, "s", sort, "u", limit),
				SD_BUS_RESULT("a{sv}", header, "aa{sv}", rows), bus_dispatch_method,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("GetWindow",
				SD_BUS_ARGS("s", period, "s", group, "s", sort, "u", limit),
				SD_BUS_RESULT("a{sv}", header, "aa{sv}", rows), bus_dispatch_method,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("Query", SD_BUS_ARGS("a{sv}", query),
				SD_BUS_RESULT("a{sv}", header, "h", json), bus_dispatch_method,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("DumpHot", SD_BUS_ARGS("u", limit), SD_BUS_RESULT("h", json),
				bus_dispatch_method, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("GetHistogram", SD_BUS_ARGS("s", kind),
				SD_BUS_RESULT("t", count, "t", sum, "a(ut)", buckets),
				bus_dispatch_method, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("GetFigures", SD_BUS_ARGS("s", period, "a{sv}", of),
				SD_BUS_RESULT("a{sv}", figures), bus_dispatch_method,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("DumpSummary", SD_BUS_NO_ARGS, SD_BUS_RESULT("h", json),
				bus_dispatch_method, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_VTABLE_END,
};

/*
 * Counters are not properties, because reading them drains the rings, and because they change all
 * the time.
 */
static const sd_bus_vtable vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_METHOD("Remove", NULL, NULL, bus_dispatch_method, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("SetFilter", SD_BUS_ARGS("s", expression), SD_BUS_NO_RESULT,
				bus_dispatch_method, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("SetCgroups", SD_BUS_ARGS("as", cgroups), SD_BUS_NO_RESULT,
				bus_dispatch_method, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("SetInterval", SD_BUS_ARGS("t", interval_usec), SD_BUS_NO_RESULT,
				bus_dispatch_method, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("GetLedgers", SD_BUS_NO_ARGS, SD_BUS_RESULT("a{sv}", header),
				bus_dispatch_method, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("Snapshot", SD_BUS_NO_ARGS, SD_BUS_RESULT("h", recording),
				bus_dispatch_method, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_PROPERTY("Name", "s", get_property, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("State", "s", get_property, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Source", "s", get_property, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("SharesSource", "b", get_property, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("PhysicalAddresses", "b", get_property, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Backend", "s", get_property, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("CPUs", "u", get_property, 0, 0),
	SD_BUS_PROPERTY("IntervalUSec", "t", get_property, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("BufferSize", "t", get_property, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Filter", "s", get_property, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("FilterParts", "a(ss)", get_property, 0,
			SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Cgroups", "as", get_property, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_VTABLE_END,
};

int bus_register_sessions(struct bus_service *bus)
{
	int r;

	r = sd_bus_add_fallback_vtable(bus->bus, NULL, BUS_SESSIONS, BUS_SESSION, vtable,
				       session_object_find, bus);
	if (r >= 0)
		r = sd_bus_add_fallback_vtable(bus->bus, NULL, BUS_SESSIONS, BUS_SESSION,
					       bus_counting_vtable, session_object_find, bus);
	if (r < 0)
		return r;
	return sd_bus_add_node_enumerator(bus->bus, NULL, BUS_SESSIONS, list_session_objects, bus);
}
