// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Check every method call before it runs: its size, its sender's permission and its sender's rate.
 * Methods of the daemon are called by bus_dispatch_method(). Calls that sd-bus itself answers
 * (properties, managed objects, introspection) pass a filter first.
 */
#include "bus-core.h"

#include <errno.h>

#include "message-limits.h"

/* number of rows that the sender is charged for each CPU object in the answer */
#define ROWS_PER_OBJECT 4

void bus_invalidate_properties(struct bus_service *bus)
{
	property_cache_invalidate(&bus->property_cache);
	/* Make session-object.c read all properties from the worker at the next query. */
	bus->session_ns = 0;
}

static int method_run(struct bus_service *bus, const struct bus_method_info *method,
		      sd_bus_message *message, sd_bus_error *error)
{
	int r;

	/* Drop the cached values, so that a signal about the change has the new values. */
	if (method->level >= ACCESS_MANAGE)
		bus_invalidate_properties(bus);
	bus->answer_rows = 0;
	r = method->run(message, bus, error);
	if (method->level >= ACCESS_MANAGE)
		bus_invalidate_properties(bus);
	access_charge_rows(&bus->access, &bus->caller, bus->answer_rows);
	return r;
}

int bus_dispatch_method(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
	const char *member = sd_bus_message_get_member(message);
	struct bus_service *bus = userdata;
	const struct bus_method_info *method = bus->methods;
	struct access_requirement need;
	int r;

	while (method->member && strcmp(method->member, member))
		method++;
	if (!method->member)
		return -EBADRQC;
	need = (struct access_requirement){ method->level, method->cost, method->level_of };
	r = access_check(&bus->access, message, &need, bus_dispatch_method, bus, &bus->caller,
			 error);
	if (r < 0)
		return r;
	return r ? method_run(bus, method, message, error) : 1;
}

/* ---- Calls that sd-bus itself answers -------------------------------------- */

/**
 * struct builtin_interface - an interface that sd-bus implements with the daemon's vtables
 * @objects: true if the answer contains all objects (GetManagedObjects)
 */
struct builtin_interface {
	const char *interface;
	enum access_level level;
	enum bus_cost cost;
	bool objects;
};

static const struct builtin_interface answered[] = {
	{ "org.freedesktop.DBus.Properties", ACCESS_READ, BUS_COST_VALUE, false },
	{ "org.freedesktop.DBus.ObjectManager", ACCESS_READ, BUS_COST_LIST, true },
	/* Introspection shows only names of objects, methods and properties, and no values. */
	{ "org.freedesktop.DBus.Introspectable", ACCESS_ANYONE, BUS_COST_VALUE, false },
};

static const struct builtin_interface *find_builtin_interface(sd_bus_message *message)
{
	for (size_t i = 0; i < ARRAY_SIZE(answered); i++)
		if (sd_bus_message_is_method_call(message, answered[i].interface, NULL) > 0)
			return &answered[i];
	return NULL;
}

/*
 * Dispatch @message again, because its sender is known now. sd-bus starts with the filter again.
 */
static int retry_dispatch(sd_bus_message *message, void *userdata __attribute__((unused)),
			  sd_bus_error *error __attribute__((unused)))
{
	return sd_bus_enqueue_for_read(sd_bus_message_get_bus(message), message);
}

/* Reject long messages before they are queued: over a thousand calls may wait in memory. */
static int check_message_size(sd_bus_message *message, sd_bus_error *error)
{
	int r;

	if (sd_bus_message_is_method_call(message, NULL, NULL) <= 0)
		return 0;
	r = bus_check_message_size(message, BUS_MESSAGE_MAX);
	if (r != -E2BIG)
		return r;
	return sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
				 "The call's arguments exceed %lu KiB.", BUS_MESSAGE_MAX >> 10);
}

/*
 * Check a call. Return: 0 if sd-bus should dispatch it; 1 if it waits for the bus driver or polkit;
 * negative errno with @error set if it is refused.
 */
static int on_message(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
	const struct builtin_interface *found;
	struct bus_service *bus = userdata;
	struct access_requirement need;
	int r;

	r = check_message_size(message, error);
	if (r < 0)
		return r;
	found = find_builtin_interface(message);
	if (!found)
		return 0;
	need = (struct access_requirement){ .level = found->level, .tokens = found->cost };
	r = access_check(&bus->access, message, &need, retry_dispatch, NULL, &bus->caller, error);
	if (r < 0)
		return r;
	if (!r)
		return 1;
	if (found->objects)
		access_charge_rows(&bus->access, &bus->caller,
				   ROWS_PER_OBJECT * (u64)cpu_list_get_end(&bus->cpus));
	return 0;
}

int bus_install_call_filter(struct bus_service *bus)
{
	return sd_bus_add_filter(bus->bus, NULL, on_message, bus);
}
