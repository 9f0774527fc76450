// SPDX-License-Identifier: LGPL-2.1-or-later
/* Implement org.freedesktop.LogControl1, which "systemctl service-log-level" uses. */
#include "objects.h"

#include <errno.h>

#include "util/log.h"

#define LOG_PATH      "/org/freedesktop/LogControl1"
#define LOG_INTERFACE "org.freedesktop.LogControl1"

static const char *const targets[LOG_TARGETS] = {
	[LOG_TARGET_AUTO] = "auto",
	[LOG_TARGET_JOURNAL] = "journal",
	[LOG_TARGET_CONSOLE] = "console",
	[LOG_TARGET_NULL] = "null",
};

static int find_target(const char *word)
{
	for (int i = 0; i < LOG_TARGETS; i++)
		if (!strcmp(targets[i], word))
			return i;
	return -EINVAL;
}

static int log_property_get(sd_bus *bus __attribute__((unused)),
			    const char *path __attribute__((unused)),
			    const char *interface __attribute__((unused)), const char *property,
			    sd_bus_message *reply, void *userdata __attribute__((unused)),
			    sd_bus_error *error __attribute__((unused)))
{
	const char *value = "speprofd";

	if (!strcmp(property, "LogLevel"))
		value = log_level_name(log_get_level());
	else if (!strcmp(property, "LogTarget"))
		value = targets[log_get_target()];
	return sd_bus_message_append(reply, "s", value);
}

static int log_property_set(sd_bus *bus __attribute__((unused)),
			    const char *path __attribute__((unused)),
			    const char *interface __attribute__((unused)), const char *property,
			    sd_bus_message *value, void *userdata __attribute__((unused)),
			    sd_bus_error *error)
{
	const char *word;
	int r;

	r = sd_bus_message_read(value, "s", &word);
	if (r < 0)
		return r;
	if (!strcmp(property, "LogLevel")) {
		r = log_level_parse(word);
		if (r < 0)
			return bus_set_invalid_argument(
				error, "LogLevel", word,
				"emerg, alert, crit, err, warning, notice, info or debug");
		log_set_level(r);
		return 0;
	}
	r = find_target(word);
	if (r < 0)
		return bus_set_invalid_argument(error, "LogTarget", word,
						"auto, journal, console or null");
	log_set_target((enum log_target)r);
	return 0;
}

/*
 * Only root may set these properties. Without SD_BUS_VTABLE_UNPRIVILEGED sd-bus would check this
 * itself with a blocking call to the bus driver. Therefore the flag is set, and
 * check_property_set() checks the sender before sd-bus uses the vtable.
 */
static const sd_bus_vtable vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_WRITABLE_PROPERTY("LogLevel", "s", log_property_get, log_property_set, 0,
				 SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_WRITABLE_PROPERTY("LogTarget", "s", log_property_get, log_property_set, 0,
				 SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_PROPERTY("SyslogIdentifier", "s", log_property_get, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_VTABLE_END,
};

/* Dispatch the message again from the beginning, because its sender is known now. */
static int retry_dispatch(sd_bus_message *message, void *userdata __attribute__((unused)),
			  sd_bus_error *error __attribute__((unused)))
{
	return sd_bus_enqueue_for_read(sd_bus_message_get_bus(message), message);
}

static int check_property_set(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
	static const struct access_requirement need = { ACCESS_OWNER, BUS_COST_VALUE };
	struct bus_service *bus = userdata;
	int r;

	/* sd-bus handles all other calls. */
	if (!sd_bus_message_is_method_call(message, "org.freedesktop.DBus.Properties", "Set"))
		return 0;
	r = access_check(&bus->access, message, &need, retry_dispatch, NULL, &bus->caller, error);
	/* sd-bus uses the vtable only if a filter returns 0. */
	return r > 0 ? 0 : r < 0 ? r : 1;
}

int bus_register_log_control(struct bus_service *bus)
{
	int r = sd_bus_add_object(bus->bus, NULL, LOG_PATH, check_property_set, bus);

	if (r >= 0)
		r = sd_bus_add_object_vtable(bus->bus, NULL, LOG_PATH, LOG_INTERFACE, vtable, NULL);
	return r;
}
