// SPDX-License-Identifier: LGPL-2.1-or-later
/* Implement the method Reload, and the properties for the result of the last reload. */
#include "objects.h"

#include <stdio.h>

int bus_handle_reload(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
	struct bus_service *bus = userdata;
	int r;

	r = bus->reload(bus->ctx);
	if (r < 0)
		return sd_bus_error_setf(error, BUS_NAME ".WrongConfiguration",
					 "The new configuration is refused, and the previous one "
					 "stays in force: %s.",
					 bus->reloaded->refused);
	return sd_bus_reply_method_return(message, "s", bus->reloaded->waiting);
}

int bus_get_reload_property(sd_bus *b __attribute__((unused)),
			    const char *path __attribute__((unused)),
			    const char *interface __attribute__((unused)), const char *property,
			    sd_bus_message *reply, void *userdata,
			    sd_bus_error *error __attribute__((unused)))
{
	const struct bus_service *bus = userdata;

	return sd_bus_message_append(reply, "s",
				     strcmp(property, "ConfigurationRefused") ?
					     bus->reloaded->waiting :
					     bus->reloaded->refused);
}

void bus_fill_reload_status(const struct bus_service *bus, struct view_header *header)
{
	snprintf(header->config_refused, sizeof(header->config_refused), "%s",
		 bus->reloaded->refused);
	snprintf(header->config_waiting, sizeof(header->config_waiting), "%s",
		 bus->reloaded->waiting);
}
