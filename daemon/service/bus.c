// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus-internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bus-metrics.h"
#include "bus-profile.h"
#include "bus-signal.h"
#include "escape.h"
#include "log.h"
#include "speprof-version.h"

const char *bus_backend_name(u8 backend)
{
	return backend == BACKEND_EMULATED ? "emulated" :
	       backend == BACKEND_HARDWARE ? "hardware" :
					     "unknown";
}

int bus_invalid(sd_bus_error *error, const char *argument, const char *value, const char *right)
{
	char shown[48];

	/* Cut within a character it would be no string of the bus's, and nobody would be answered. */
	escape_string(shown, sizeof(shown), value);
	return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS, "%s \"%s\": should be %s.",
				 argument, shown, right);
}

int bus_check_limit(u32 limit, sd_bus_error *error)
{
	if (limit && limit <= BUS_ROWS)
		return 0;
	return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS, "limit %u: should be 1 to %u.",
				 limit, BUS_ROWS);
}

int bus_session_of(const char *path, char ret_name[static SESSION_NAME_SIZE])
{
	static const char prefix[] = BUS_SESSIONS "/";
	const char *name = SESSION_MACHINE;

	if (!strncmp(path, prefix, strlen(prefix)))
		name = path + strlen(prefix);
	if (!session_name_valid(name))
		return -ENOENT;
	snprintf(ret_name, SESSION_NAME_SIZE, "%s", name);
	return 0;
}

int bus_session_error(sd_bus_error *error, int r, const char *session, const char *reason)
{
	if (reason)
		return sd_bus_error_setf(
			error, r == -EOPNOTSUPP ? SD_BUS_ERROR_NOT_SUPPORTED : SD_BUS_ERROR_FAILED,
			"Session \"%s\": %s.", session, reason);
	switch (r) {
	case -ENOENT:
		return sd_bus_error_setf(error, BUS_NAME ".NoSuchSession",
					 "There is no session \"%s\".", session);
	case -EEXIST:
		return sd_bus_error_setf(error, BUS_NAME ".SessionExists",
					 "There is a session \"%s\" already.", session);
	case -ENOSPC:
		return sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
					 "There are %u sessions: remove one.", WORKER_SESSIONS);
	case -EBUSY:
		return sd_bus_error_set(
			error, BUS_NAME ".Busy",
			"Another session has the SPUs: stop it, or share the machine's source.");
	default:
		return sd_bus_error_set_errnof(error, r, "Session \"%s\": %s.", session,
					       strerror(-r));
	}
}

/* The whole of @data in a memfd that nobody can change any more. */
static int memfd_sealed(const char *name, const void *data, size_t left)
{
	const char *at = data;
	ssize_t n;
	int fd, r;

	fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	for (; left; left -= (size_t)n, at += n) {
		n = write(fd, at, left);
		if (n < 0) {
			r = -errno;
			close(fd);
			return r;
		}
	}
	if (lseek(fd, 0, SEEK_SET) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0) {
		close(fd);
		return -EIO;
	}
	return fd;
}

int bus_reply_memfd(sd_bus_message *message, const char *name, const void *data, size_t size)
{
	int r, fd = memfd_sealed(name, data, size);

	if (fd < 0)
		return fd;
	r = sd_bus_reply_method_return(message, "h", fd);
	close(fd);
	return r;
}

/* ---- Methods -------------------------------------------------------------- */

/* One table for all interfaces: a method that two of them have means the same in both. */
static const struct bus_method methods[] = {
	{ "Start", ACCESS_MANAGE, BUS_COST_CHANGE, bus_start },
	{ "Stop", ACCESS_MANAGE, BUS_COST_CHANGE, bus_stop },
	{ "Reset", ACCESS_MANAGE, BUS_COST_CHANGE, bus_reset },
	{ "SetFilter", ACCESS_MANAGE, BUS_COST_CHANGE, bus_set_filter, bus_filter_level },
	{ "SetInterval", ACCESS_MANAGE, BUS_COST_CHANGE, bus_set_interval },
	{ "SetCgroups", ACCESS_MANAGE, BUS_COST_CHANGE, bus_set_cgroups, bus_cgroups_level },
	{ "CreateSession", ACCESS_MANAGE, BUS_COST_CHANGE, bus_create_session, bus_create_level },
	{ "Remove", ACCESS_MANAGE, BUS_COST_CHANGE, bus_remove_session },
	{ "Reload", ACCESS_RELOAD, BUS_COST_CHANGE, bus_reload },
	{ "GetView", ACCESS_READ, BUS_COST_TABLE, bus_get_view },
	{ "GetWindow", ACCESS_READ, BUS_COST_TABLE, bus_get_window },
	/* Shows addresses of all processes. */
	{ "DumpHot", ACCESS_RAW, BUS_COST_TABLE, bus_dump_hot },
	{ "GetHistogram", ACCESS_READ, BUS_COST_LIST, bus_get_histogram },
	{ "GetFigures", ACCESS_READ, BUS_COST_TABLE, bus_get_figures, bus_figures_level },
	{ "GetLedgers", ACCESS_READ, BUS_COST_LIST, bus_get_ledgers },
	{ "Snapshot", ACCESS_RAW, BUS_COST_PROFILE, bus_snapshot },
	{ "GetTimes", ACCESS_READ, BUS_COST_VALUE, bus_get_times },
	{ "GetContainers", ACCESS_ANYONE, BUS_COST_LIST, bus_get_containers },
	{ "GetContainer", ACCESS_ANYONE, BUS_COST_LIST, bus_get_container },
	{ "DumpSummary", ACCESS_READ, BUS_COST_TABLE, bus_dump_summary },
	{ "DumpMetrics", ACCESS_READ, BUS_COST_TABLE, bus_dump_metrics },
	{ "DumpProfile", ACCESS_READ, BUS_COST_PROFILE, bus_dump_profile },
	{ "DumpProfileWithOptions", ACCESS_READ, BUS_COST_PROFILE, bus_dump_profile_with_options },
	{ NULL },
};

/* ---- Properties of the Manager --------------------------------------------- */

static int get_string(sd_bus *b __attribute__((unused)), const char *path __attribute__((unused)),
		      const char *interface __attribute__((unused)), const char *property,
		      sd_bus_message *reply, void *userdata,
		      sd_bus_error *error __attribute__((unused)))
{
	struct bus *bus = userdata;
	const struct machine_facts *facts = bus_facts_machine(&bus->facts, bus->worker);
	const char *value = SPEPROF_VERSION;

	if (!strcmp(property, "Source"))
		value = facts->source;
	else if (!strcmp(property, "SourceReason"))
		value = facts->reason;
	else if (!strcmp(property, "Backend"))
		value = bus_backend_name(facts->backend);
	else if (!strcmp(property, "TaskEvents"))
		value = task_events_name(facts->told.kind);
	else if (!strcmp(property, "TaskEventsReason"))
		value = facts->told.reason;
	else if (!strcmp(property, "State"))
		value = facts->running ? "running" : "stopped";
	return sd_bus_message_append(reply, "s", value);
}

static int get_cpus(sd_bus *b __attribute__((unused)), const char *path __attribute__((unused)),
		    const char *interface __attribute__((unused)),
		    const char *property __attribute__((unused)), sd_bus_message *reply,
		    void *userdata, sd_bus_error *error __attribute__((unused)))
{
	struct bus *bus = userdata;
	const struct machine_facts *facts = bus_facts_machine(&bus->facts, bus->worker);

	return sd_bus_message_append(reply, "u", facts->cpus);
}

static int get_interval(sd_bus *b __attribute__((unused)), const char *path __attribute__((unused)),
			const char *interface __attribute__((unused)),
			const char *property __attribute__((unused)), sd_bus_message *reply,
			void *userdata, sd_bus_error *error __attribute__((unused)))
{
	struct bus *bus = userdata;
	const struct machine_facts *facts = bus_facts_machine(&bus->facts, bus->worker);

	return sd_bus_message_append(reply, "t", facts->interval_ns / 1000);
}

static int get_shares(sd_bus *b __attribute__((unused)), const char *path __attribute__((unused)),
		      const char *interface __attribute__((unused)),
		      const char *property __attribute__((unused)), sd_bus_message *reply,
		      void *userdata, sd_bus_error *error __attribute__((unused)))
{
	struct bus *bus = userdata;
	const u64 *share = bus_facts_machine(&bus->facts, bus->worker)->share;
	int r;

	r = sd_bus_message_open_container(reply, 'a', "{st}");
	for (enum memory_share i = 0; r >= 0 && i < MEMORY_SHARES; i++)
		r = sd_bus_message_append(reply, "{st}", memory_share_name(i), share[i]);
	return r < 0 ? r : sd_bus_message_close_container(reply);
}

/* Must agree with daemon/data/org.speprof1.xml; tests/service compares them. */
const sd_bus_vtable bus_figures_vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_METHOD("Start", NULL, NULL, bus_method, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("Stop", NULL, NULL, bus_method, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("Reset", NULL, NULL, bus_method, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("GetView", SD_BUS_ARGS("s", group, "s", sort, "u", limit),
				SD_BUS_RESULT("a{sv}", header, "aa{sv}", rows), bus_method,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("GetWindow",
				SD_BUS_ARGS("s", window, "s", group, "s", sort, "u", limit),
				SD_BUS_RESULT("a{sv}", header, "aa{sv}", rows), bus_method,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("DumpHot", SD_BUS_ARGS("u", limit), SD_BUS_RESULT("h", json),
				bus_method, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("GetHistogram", SD_BUS_ARGS("s", kind),
				SD_BUS_RESULT("t", count, "t", sum, "a(ut)", buckets), bus_method,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("GetFigures", SD_BUS_ARGS("s", window, "a{sv}", of),
				SD_BUS_RESULT("a{sv}", figures), bus_method,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("DumpSummary", SD_BUS_NO_ARGS, SD_BUS_RESULT("h", json), bus_method,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_VTABLE_END,
};

static const sd_bus_vtable vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_METHOD_WITH_ARGS("Reload", SD_BUS_NO_ARGS, SD_BUS_RESULT("s", waiting), bus_method,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("CreateSession", SD_BUS_ARGS("s", name, "a{sv}", options),
				SD_BUS_RESULT("o", session), bus_method,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("GetContainers", SD_BUS_ARGS("s", sort, "u", offset, "u", limit),
				SD_BUS_RESULT("u", total, "aa{sv}", containers), bus_method,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("GetContainer", SD_BUS_ARGS("s", container),
				SD_BUS_RESULT("a{sv}", figures), bus_method,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("DumpMetrics", SD_BUS_NO_ARGS, SD_BUS_RESULT("h", metrics),
				bus_method, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("DumpProfile", SD_BUS_ARGS("u", seconds),
				SD_BUS_RESULT("h", pprof, "s", backend), bus_method,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("DumpProfileWithOptions",
				SD_BUS_ARGS("u", seconds, "a{sv}", options),
				SD_BUS_RESULT("h", pprof, "s", backend), bus_method,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_SIGNAL_WITH_ARGS("Fault",
				SD_BUS_ARGS("s", last, "t", faults, "u", cpus_stopped, "t", left_out),
				0),
	SD_BUS_SIGNAL_WITH_ARGS("Throttled", SD_BUS_ARGS("t", times, "t", left_out), 0),
	SD_BUS_SIGNAL_WITH_ARGS(
		"ContainerAdded",
		SD_BUS_ARGS("s", name, "s", runtime, "s", path, "t", left_out), 0),
	SD_BUS_SIGNAL_WITH_ARGS(
		"ContainerRemoved",
		SD_BUS_ARGS("s", name, "s", runtime, "s", path, "t", left_out), 0),
	SD_BUS_PROPERTY("Version", "s", get_string, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Source", "s", get_string, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("SourceReason", "s", get_string, 0, 0),
	SD_BUS_PROPERTY("Backend", "s", get_string, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("TaskEvents", "s", get_string, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("TaskEventsReason", "s", get_string, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("State", "s", get_string, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("ConfigurationRefused", "s", bus_get_reloaded, 0,
			SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("ConfigurationWaiting", "s", bus_get_reloaded, 0,
			SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("CPUs", "u", get_cpus, 0, 0),
	SD_BUS_PROPERTY("IntervalUSec", "t", get_interval, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("MemoryShares", "a{st}", get_shares, 0, SD_BUS_VTABLE_PROPERTY_CONST),
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

static int on_gone(sd_bus_message *message __attribute__((unused)), void *userdata,
		   sd_bus_error *error __attribute__((unused)))
{
	const struct bus *bus = userdata;

	log_tell(LOG_ERR, LOG_ID_BUS, NULL,
		 "the bus has gone: this process saves its figures and ends, another one goes on");
	return sd_event_exit(bus->event, BUS_GONE_STATUS);
}

/* It is sd-bus that says so: there is nobody to be asked for it. */
static int follow_connection(struct bus *bus)
{
	return sd_bus_match_signal(bus->bus, NULL, "org.freedesktop.DBus.Local",
				   "/org/freedesktop/DBus/Local", "org.freedesktop.DBus.Local",
				   "Disconnected", on_gone, bus);
}

static int add_objects(struct bus *bus)
{
	int r;

	r = sd_bus_add_object_vtable(bus->bus, NULL, BUS_PATH, BUS_MANAGER, vtable, bus);
	if (r >= 0)
		r = sd_bus_add_object_vtable(bus->bus, NULL, BUS_PATH, BUS_MANAGER,
					     bus_figures_vtable, bus);
	if (r >= 0)
		r = sd_bus_add_object_manager(bus->bus, NULL, BUS_PATH);
	if (r >= 0)
		r = bus_add_sessions(bus);
	if (r >= 0)
		r = bus_add_cpus(bus);
	return r < 0 ? r : bus_add_log_control(bus);
}

int bus_init(struct bus *bus, sd_event *event, const char *address, struct worker *worker,
	     const struct config *config)
{
	int r;

	*bus = (struct bus){
		.event = event, .worker = worker, .config = config, .methods = methods
	};
	access_init(&bus->access);
	r = connect_bus(address, &bus->bus);
	if (r >= 0)
		r = add_objects(bus);
	if (r >= 0)
		r = follow_connection(bus);
	if (r >= 0)
		r = bus_filter_calls(bus);
	if (r >= 0)
		r = sd_bus_request_name(bus->bus, BUS_NAME, 0);
	if (r >= 0)
		r = sd_bus_attach_event(bus->bus, event, SD_EVENT_PRIORITY_NORMAL);
	if (r >= 0)
		r = bus_watch_new(bus, event, &bus->watch);
	if (r < 0)
		bus_deinit(bus);
	return r;
}

void bus_deinit(struct bus *bus)
{
	bus_profiles_end(bus);
	bus->watch = bus_watch_free(bus->watch);
	bus_session_forget(bus);
	access_deinit(&bus->access);
	sd_bus_flush_close_unref(bus->bus);
	bus->bus = NULL;
}
