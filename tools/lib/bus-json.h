/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convert replies of the daemon to JSON, for verbs that print objects and statistics unchanged. */
#ifndef SPEPROF_BUS_JSON_H
#define SPEPROF_BUS_JSON_H

#include <json-c/json.h>

#include "bus.h"

struct sd_bus_message;

/**
 * bus_call_to_json() - call a method of any object and convert its reply
 * @bus: a connection of bus_new()
 * @object: a whole path, or one relative to "/org/speprof1/"; "" for the Manager's object
 * @interface: "Manager", "Session", "CPU", or a whole name
 * @method: name of the method
 * @ret_json: an array with each value of the reply, which the caller frees by json_object_put();
 * NULL to discard the reply. "IntervalUSec" becomes "interval_usec"
 * @types: types of the arguments that follow, as for sd_bus_message_append()
 *
 * Return: &enum verb_exit_status; an error was printed, or is available from bus_get_error().
 */
int bus_call_to_json(struct bus_connection *bus, const char *object, const char *interface,
		     const char *method, json_object **ret_json, const char *types, ...);

/**
 * bus_message_call_to_json() - send a method call and convert its reply
 * @bus: a connection of bus_new()
 * @message: a call of bus_message_new() with all its arguments; the caller still owns it
 * @ret_json: as for bus_call_to_json()
 *
 * Return: &enum verb_exit_status; an error was printed, or is available from bus_get_error().
 */
int bus_message_call_to_json(struct bus_connection *bus, struct sd_bus_message *message,
			     json_object **ret_json);

/**
 * bus_message_to_json() - convert the values of a message, from the current position
 * @message: a reply that is no error
 * @ret_json: an array with each value, which the caller frees by json_object_put()
 *
 * Return: 0, or a negative errno if the message has values that replies of speprofd do not have.
 */
int bus_message_to_json(struct sd_bus_message *message, json_object **ret_json);

/**
 * json_text(), json_number(), json_get() - return member @key of @object; "", 0 or NULL if missing
 */
const char *json_text(json_object *object, const char *key);
u64 json_number(json_object *object, const char *key);
json_object *json_get(json_object *object, const char *key);

/**
 * json_print_and_free() - print @object as one line on standard output, with "schema_version":1
 * @object: this function frees it by json_object_put()
 */
void json_print_and_free(json_object *object);

#endif
