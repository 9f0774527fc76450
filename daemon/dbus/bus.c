// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus.h"

#include <errno.h>

#include "metrics-snapshot.h"
#include "objects.h"
#include "pprof-collection.h"
#include "signals.h"
#include "temporary-session.h"
#include "speprof-version.h"
#include "util/log.h"

/* ---- Methods -------------------------------------------------------------- */

/* All interfaces use one table, because a method that two interfaces have does the same in both. */
static const struct bus_method_info methods[] = {
	{ "Start", ACCESS_MANAGE, BUS_COST_CHANGE, bus_handle_start },
	{ "Stop", ACCESS_MANAGE, BUS_COST_CHANGE, bus_handle_stop },
	{ "Reset", ACCESS_MANAGE, BUS_COST_CHANGE, bus_handle_reset },
	{ "SetFilter", ACCESS_MANAGE, BUS_COST_CHANGE, bus_handle_set_filter,
	  bus_determine_filter_access },
	{ "SetInterval", ACCESS_MANAGE, BUS_COST_CHANGE, bus_handle_set_interval },
	{ "SetCgroups", ACCESS_MANAGE, BUS_COST_CHANGE, bus_handle_set_cgroups,
	  bus_determine_cgroups_access },
	{ "CreateSession", ACCESS_MANAGE, BUS_COST_CHANGE, bus_handle_create_session,
	  bus_determine_create_access },
	{ "Remove", ACCESS_MANAGE, BUS_COST_CHANGE, bus_handle_remove },
	{ "Reload", ACCESS_RELOAD, BUS_COST_CHANGE, bus_handle_reload },
	{ "GetView", ACCESS_READ, BUS_COST_TABLE, bus_handle_get_view },
	{ "GetWindow", ACCESS_READ, BUS_COST_TABLE, bus_handle_get_window },
	{ "Query", ACCESS_READ, BUS_COST_TABLE, bus_handle_query, bus_determine_query_access },
	{ "GetHistory", ACCESS_ANYONE, BUS_COST_TABLE, bus_handle_get_history },
	{ "GetTimeline", ACCESS_ANYONE, BUS_COST_TABLE, bus_handle_get_timeline },
	/* The result contains addresses of all processes. */
	{ "DumpHot", ACCESS_RAW, BUS_COST_TABLE, bus_handle_dump_hot },
	{ "GetHistogram", ACCESS_READ, BUS_COST_LIST, bus_handle_get_histogram },
	{ "GetFigures", ACCESS_READ, BUS_COST_TABLE, bus_handle_get_figures,
	  bus_determine_counters_access },
	{ "GetLedgers", ACCESS_READ, BUS_COST_LIST, bus_handle_get_ledgers },
	{ "Snapshot", ACCESS_RAW, BUS_COST_PROFILE, bus_handle_snapshot },
	{ "GetTimes", ACCESS_READ, BUS_COST_VALUE, bus_handle_get_times },
	{ "GetContainers", ACCESS_ANYONE, BUS_COST_LIST, bus_handle_get_containers },
	{ "GetContainer", ACCESS_ANYONE, BUS_COST_LIST, bus_handle_get_container },
	{ "DumpSummary", ACCESS_READ, BUS_COST_TABLE, bus_handle_dump_summary },
	{ "DumpMetrics", ACCESS_READ, BUS_COST_TABLE, bus_handle_dump_metrics },
	{ "DumpProfile", ACCESS_READ, BUS_COST_PROFILE, bus_handle_dump_profile },
	{ "DumpProfileWithOptions", ACCESS_READ, BUS_COST_PROFILE,
	  bus_handle_dump_profile_with_options },
	{ NULL },
};

/* ---- Properties of the Manager --------------------------------------------- */

static int property_get_string(sd_bus *b __attribute__((unused)),
			       const char *path __attribute__((unused)),
			       const char *interface __attribute__((unused)), const char *property,
			       sd_bus_message *reply, void *userdata,
			       sd_bus_error *error __attribute__((unused)))
{
	struct bus_service *bus = userdata;
	const struct machine_properties *machine =
		property_cache_get_machine(&bus->property_cache, bus->worker);
	const char *value = SPEPROF_VERSION;

	if (!strcmp(property, "Source"))
		value = machine->source;
	else if (!strcmp(property, "SourceReason"))
		value = machine->reason;
	else if (!strcmp(property, "Backend"))
		value = bus_backend_name(machine->backend);
	else if (!strcmp(property, "TaskEvents"))
		value = task_events_name(machine->task_status.kind);
	else if (!strcmp(property, "TaskEventsReason"))
		value = machine->task_status.reason;
	else if (!strcmp(property, "State"))
		value = machine->running ? "running" : "stopped";
	return sd_bus_message_append(reply, "s", value);
}

static int property_get_cpu_count(sd_bus *b __attribute__((unused)),
				  const char *path __attribute__((unused)),
				  const char *interface __attribute__((unused)),
				  const char *property __attribute__((unused)),
				  sd_bus_message *reply, void *userdata,
				  sd_bus_error *error __attribute__((unused)))
{
	struct bus_service *bus = userdata;
	const struct machine_properties *machine =
		property_cache_get_machine(&bus->property_cache, bus->worker);

	return sd_bus_message_append(reply, "u", machine->cpus);
}

static int property_get_interval(sd_bus *b __attribute__((unused)),
				 const char *path __attribute__((unused)),
				 const char *interface __attribute__((unused)),
				 const char *property __attribute__((unused)),
				 sd_bus_message *reply, void *userdata,
				 sd_bus_error *error __attribute__((unused)))
{
	struct bus_service *bus = userdata;
	const struct machine_properties *machine =
		property_cache_get_machine(&bus->property_cache, bus->worker);

	return sd_bus_message_append(reply, "t", machine->interval_ns / 1000);
}

static int property_get_memory_shares(sd_bus *b __attribute__((unused)),
				      const char *path __attribute__((unused)),
				      const char *interface __attribute__((unused)),
				      const char *property __attribute__((unused)),
				      sd_bus_message *reply, void *userdata,
				      sd_bus_error *error __attribute__((unused)))
{
	struct bus_service *bus = userdata;
	const u64 *bytes =
		property_cache_get_machine(&bus->property_cache, bus->worker)->memory_bytes;
	int r;

	r = sd_bus_message_open_container(reply, 'a', "{st}");
	for (enum memory_share i = 0; r >= 0 && i < MEMORY_SHARES; i++)
		r = sd_bus_message_append(reply, "{st}", memory_share_name(i), bytes[i]);
	return r < 0 ? r : sd_bus_message_close_container(reply);
}

/* The table must agree with daemon/data/org.speprof1.xml; tests/service compares them. */
static const sd_bus_vtable vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_METHOD_WITH_ARGS("Reload", SD_BUS_NO_ARGS, SD_BUS_RESULT("s", waiting),
				bus_dispatch_method, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("CreateSession", SD_BUS_ARGS("s", name, "a{sv}", options),
				SD_BUS_RESULT("o", session), bus_dispatch_method,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("GetContainers", SD_BUS_ARGS("s", sort, "u", offset, "u", limit),
				SD_BUS_RESULT("u", total, "aa{sv}", containers),
				bus_dispatch_method, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("GetContainer", SD_BUS_ARGS("s", container),
				SD_BUS_RESULT("a{sv}", figures), bus_dispatch_method,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("GetHistory",
				SD_BUS_ARGS("s", group, "s", sort, "u", limit, "t", since_usec, "t",
					    until_usec, "a{sv}", of),
				SD_BUS_RESULT("a{sv}", header, "aa{sv}", rows, "a{sv}", covered),
				bus_dispatch_method, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("GetTimeline",
				SD_BUS_ARGS("s", group, "u", limit, "t", since_usec, "t",
					    until_usec, "t", step_usec, "a{sv}", of),
				SD_BUS_RESULT("s", unit, "s", backend, "b", truncated, "a(ss)",
					      series, "a(utttttttttttuu)", points),
				bus_dispatch_method, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("DumpMetrics", SD_BUS_NO_ARGS, SD_BUS_RESULT("h", metrics),
				bus_dispatch_method, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("DumpProfile", SD_BUS_ARGS("u", seconds),
				SD_BUS_RESULT("h", pprof, "s", backend), bus_dispatch_method,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("DumpProfileWithOptions",
				SD_BUS_ARGS("u", seconds, "a{sv}", options),
				SD_BUS_RESULT("h", pprof, "s", backend), bus_dispatch_method,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_SIGNAL_WITH_ARGS(
		"Fault", SD_BUS_ARGS("s", last, "t", faults, "u", cpus_stopped, "t", left_out), 0),
	SD_BUS_SIGNAL_WITH_ARGS("Throttled", SD_BUS_ARGS("t", times, "t", left_out), 0),
	SD_BUS_SIGNAL_WITH_ARGS("ContainerAdded",
				SD_BUS_ARGS("s", name, "s", runtime, "s", path, "t", left_out), 0),
	SD_BUS_SIGNAL_WITH_ARGS("ContainerRemoved",
				SD_BUS_ARGS("s", name, "s", runtime, "s", path, "t", left_out), 0),
	SD_BUS_SIGNAL_WITH_ARGS("FalseSharing",
				SD_BUS_ARGS("s", container, "s", process, "as", functions, "t",
					    cycles, "t", samples, "u", cpus, "b", suspected, "t",
					    left_out),
				0),
	SD_BUS_PROPERTY("Version", "s", property_get_string, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Source", "s", property_get_string, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("SourceReason", "s", property_get_string, 0, 0),
	SD_BUS_PROPERTY("Backend", "s", property_get_string, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("TaskEvents", "s", property_get_string, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("TaskEventsReason", "s", property_get_string, 0,
			SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("State", "s", property_get_string, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("ConfigurationRefused", "s", bus_get_reload_property, 0,
			SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("ConfigurationWaiting", "s", bus_get_reload_property, 0,
			SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("CPUs", "u", property_get_cpu_count, 0, 0),
	SD_BUS_PROPERTY("IntervalUSec", "t", property_get_interval, 0,
			SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("MemoryShares", "a{st}", property_get_memory_shares, 0,
			SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_VTABLE_END,
};

static int connect_bus(const char *address, sd_bus **ret_bus)
{
	sd_bus *bus = NULL;
	int r;

	if (!address)
		return sd_bus_open_system(ret_bus);
	r = sd_bus_new(&bus);
	if (r >= 0)
		r = sd_bus_set_address(bus, address);
	if (r >= 0)
		r = sd_bus_set_bus_client(bus, 1);
	if (r >= 0)
		r = sd_bus_start(bus);
	if (r < 0) {
		sd_bus_unref(bus);
		return r;
	}
	*ret_bus = bus;
	return 0;
}

static int on_disconnected(sd_bus_message *message __attribute__((unused)), void *userdata,
			   sd_bus_error *error __attribute__((unused)))
{
	const struct bus_service *bus = userdata;

	log_write(LOG_ERR, LOG_ID_BUS, NULL,
		  "the bus closed the connection: speprofd saves its checkpoint and exits, and the "
		  "service manager restarts it");
	return sd_event_exit(bus->event, BUS_LOST_STATUS);
}

/* sd-bus itself emits this signal, so adding the match needs no call to the bus driver. */
static int watch_connection(struct bus_service *bus)
{
	return sd_bus_match_signal(bus->bus, NULL, "org.freedesktop.DBus.Local",
				   "/org/freedesktop/DBus/Local", "org.freedesktop.DBus.Local",
				   "Disconnected", on_disconnected, bus);
}

static int register_objects(struct bus_service *bus)
{
	int r;

	r = sd_bus_add_object_vtable(bus->bus, NULL, BUS_PATH, BUS_MANAGER, vtable, bus);
	if (r >= 0)
		r = sd_bus_add_object_vtable(bus->bus, NULL, BUS_PATH, BUS_MANAGER,
					     bus_counting_vtable, bus);
	if (r >= 0)
		r = sd_bus_add_object_manager(bus->bus, NULL, BUS_PATH);
	if (r >= 0)
		r = bus_register_sessions(bus);
	if (r >= 0)
		r = bus_register_cpus(bus);
	return r < 0 ? r : bus_register_log_control(bus);
}

int bus_init(struct bus_service *bus, sd_event *event, const char *address, struct worker *worker,
	     const struct config *config)
{
	int r;

	*bus = (struct bus_service){
		.event = event, .worker = worker, .config = config, .methods = methods
	};
	access_init(&bus->access);
	r = connect_bus(address, &bus->bus);
	if (r >= 0)
		r = register_objects(bus);
	if (r >= 0)
		r = watch_connection(bus);
	if (r >= 0)
		r = bus_install_call_filter(bus);
	if (r >= 0)
		r = sd_bus_request_name(bus->bus, BUS_NAME, 0);
	if (r >= 0)
		r = sd_bus_attach_event(bus->bus, event, SD_EVENT_PRIORITY_NORMAL);
	if (r >= 0)
		r = signal_watch_new(bus, event, &bus->watch);
	if (r < 0)
		bus_deinit(bus);
	return r;
}

void bus_deinit(struct bus_service *bus)
{
	bus_drop_profiles(bus);
	bus_unwatch_all_creators(bus);
	bus_detach_history(bus);
	bus->watch = signal_watch_free(bus->watch);
	bus_drop_session_properties(bus);
	access_deinit(&bus->access);
	sd_bus_flush_close_unref(bus->bus);
	bus->bus = NULL;
}
