/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the daemon answers, as JSON: for verbs that show objects and figures as they are. */
#ifndef SPEPROF_BUS_JSON_H
#define SPEPROF_BUS_JSON_H

#include <json-c/json.h>

#include "bus.h"

struct sd_bus_message;

/**
 * bus_invoke() - a method of any object, and all that it answers
 * @object: a path, or what is below "/org/speprof1/"; "" for the Manager's
 * @interface: "Manager", "Session", "CPU", or a whole name
 * @ret_json: an array of what it answers, to be put; NULL if that does not matter. Names
 *	of members are in lower case with "_"
 * @types: of the arguments that follow, as of sd_bus_message_append()
 *
 * Return: &enum status; errors are said.
 */
int bus_invoke(struct bus *bus, const char *object, const char *interface, const char *method,
	       json_object **ret_json, const char *types, ...);

/** bus_invoke_message() - the same, of a message that is filled in (bus-message.h) */
int bus_invoke_message(struct bus *bus, struct sd_bus_message *message, json_object **ret_json);

/** json_text(), json_number(), json_get() - members of @object; "", 0 and NULL if there is none */
const char *json_text(json_object *object, const char *key);
u64 json_number(json_object *object, const char *key);
json_object *json_get(json_object *object, const char *key);

/** json_print() - a line: @object with schema_version 1; puts it */
void json_print(json_object *object);

#endif
