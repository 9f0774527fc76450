// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus-json.h"

#include <stdio.h>
#include <systemd/sd-bus.h>

#include "bus-message.h"
#include "message.h"
#include "text.h"

/* Maximum nesting of containers in a reply; no reply of speprofd is nested deeper. */
#define DEPTH_MAX 8

static int read_any(sd_bus_message *m, u32 depth, json_object **ret);

/* Convert "IntervalUSec" to interval_usec, and "CPUs" to cpus; lower-case names do not change. */
static void to_snake_case(const char *name, char *to, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; name[i] && n + 2 < size; i++) {
		bool upper = name[i] >= 'A' && name[i] <= 'Z';

		if (upper && i && name[i - 1] >= 'a' && name[i - 1] <= 'z')
			to[n++] = '_';
		to[n++] = (char)(upper ? name[i] - 'A' + 'a' : name[i]);
	}
	to[n] = '\0';
}

static int read_basic(sd_bus_message *m, char type, json_object **ret)
{
	union {
		const char *s;
		u64 t;
		u32 u;
		s32 i;
		u8 y;
		double d;
	} value;
	int boolean = 0;
	int r;

	r = type == 'b' ? sd_bus_message_read_basic(m, type, &boolean) :
			  sd_bus_message_read_basic(m, type, &value);
	if (r < 0)
		return r;
	switch (type) {
	case 's':
	case 'o':
	case 'g':
		*ret = json_object_new_string(value.s);
		break;
	case 't':
		*ret = json_object_new_uint64(value.t);
		break;
	case 'u':
		*ret = json_object_new_uint64(value.u);
		break;
	case 'i':
		*ret = json_object_new_int64(value.i);
		break;
	case 'y':
		*ret = json_object_new_uint64(value.y);
		break;
	case 'b':
		*ret = json_object_new_boolean(boolean);
		break;
	case 'd':
		*ret = json_object_new_double(value.d);
		break;
	default:
		return -EBADMSG;
	}
	return 0;
}

/* Keys of a dictionary must be strings, because they become names of members. */
static int read_member(sd_bus_message *m, const char *contents, u32 depth, json_object *to)
{
	json_object *value = NULL;
	char name[128];
	const char *key;
	int r;

	r = sd_bus_message_enter_container(m, 'e', contents);
	if (r >= 0)
		r = sd_bus_message_read_basic(m, contents[0], &key);
	if (r >= 0)
		r = read_any(m, depth, &value);
	if (r < 0)
		return r;
	to_snake_case(key, name, sizeof(name));
	json_object_object_add(to, *key == '/' ? key : name, value);
	return sd_bus_message_exit_container(m);
}

static int read_array(sd_bus_message *m, const char *contents, u32 depth, json_object **ret)
{
	bool dictionary = contents[0] == '{';
	json_object *array = dictionary ? json_object_new_object() : json_object_new_array();
	json_object *value;
	char inner[64];
	int r;

	*ret = array;
	snprintf(inner, sizeof(inner), "%s", contents + dictionary);
	if (dictionary && *inner)
		inner[strlen(inner) - 1] = '\0';
	if (dictionary && inner[0] != 's' && inner[0] != 'o')
		return -EBADMSG;
	r = sd_bus_message_enter_container(m, 'a', contents);
	while (r >= 0 && !sd_bus_message_at_end(m, 0)) {
		value = NULL;
		r = dictionary ? read_member(m, inner, depth, array) : read_any(m, depth, &value);
		if (!dictionary && value)
			json_object_array_add(array, value);
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int read_struct(sd_bus_message *m, const char *contents, u32 depth, json_object **ret)
{
	json_object *value;
	int r;

	*ret = json_object_new_array();
	r = sd_bus_message_enter_container(m, 'r', contents);
	while (r >= 0 && !sd_bus_message_at_end(m, 0)) {
		value = NULL;
		r = read_any(m, depth, &value);
		json_object_array_add(*ret, value);
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

/* Read the next value of any type, nested at most @depth deep. NOLINTNEXTLINE(misc-no-recursion) */
static int read_any(sd_bus_message *m, u32 depth, json_object **ret)
{
	const char *contents;
	char type;
	int r;

	r = sd_bus_message_peek_type(m, &type, &contents);
	if (r <= 0)
		return r < 0 ? r : -EBADMSG;
	if (!depth--)
		return -EBADMSG;
	switch (type) {
	case 'a':
		return read_array(m, contents, depth, ret);
	case 'r':
		return read_struct(m, contents, depth, ret);
	case 'v':
		r = sd_bus_message_enter_container(m, 'v', contents);
		if (r >= 0)
			r = read_any(m, depth, ret);
		return r < 0 ? r : sd_bus_message_exit_container(m);
	default:
		return read_basic(m, type, ret);
	}
}

int bus_message_to_json(sd_bus_message *message, json_object **ret_json)
{
	json_object *all = json_object_new_array(), *value;
	int r = 0;

	while (r >= 0 && !sd_bus_message_at_end(message, 1)) {
		value = NULL;
		r = read_any(message, DEPTH_MAX, &value);
		json_object_array_add(all, value);
	}
	if (r < 0) {
		json_object_put(all);
		return r;
	}
	*ret_json = all;
	return 0;
}

static int read_reply(sd_bus_message *reply, const char *method, json_object **ret_json)
{
	return bus_message_to_json(reply, ret_json) < 0 ?
		       message_fail(STATUS_FAILED,
				    "speprofd's reply to %s has an unknown format: install speprof "
				    "and speprofd of the same version",
				    method) :
		       STATUS_OK;
}

int bus_call_to_json(struct bus_connection *bus, const char *object, const char *interface,
		     const char *method, json_object **ret_json, const char *types, ...)
{
	char path[256], name[128];
	sd_bus_message *reply = NULL;
	va_list args;
	int status;

	if (*object == '/')
		snprintf(path, sizeof(path), "%s", object);
	else
		snprintf(path, sizeof(path), BUS_PATH "%s%s", *object ? "/" : "", object);
	snprintf(name, sizeof(name), "%s%s", strchr(interface, '.') ? "" : BUS_NAME ".", interface);
	va_start(args, types);
	status = bus_call_object(bus, path, name, method, &reply, types, args);
	va_end(args);
	if (!status && ret_json)
		status = read_reply(reply, method, ret_json);
	sd_bus_message_unref(reply);
	return status;
}

int bus_message_call_to_json(struct bus_connection *bus, sd_bus_message *message,
			     json_object **ret_json)
{
	sd_bus_message *reply = NULL;
	int status = bus_message_call(bus, message, &reply);

	if (!status)
		status = read_reply(reply, sd_bus_message_get_member(message), ret_json);
	sd_bus_message_unref(reply);
	return status;
}

json_object *json_get(json_object *object, const char *key)
{
	json_object *value = NULL;

	return json_object_object_get_ex(object, key, &value) ? value : NULL;
}

const char *json_text(json_object *object, const char *key)
{
	json_object *value = json_get(object, key);

	return value ? json_object_get_string(value) : "";
}

u64 json_number(json_object *object, const char *key)
{
	json_object *value = json_get(object, key);

	return value ? json_object_get_uint64(value) : 0;
}

void json_print_and_free(json_object *object)
{
	json_object *line = json_object_new_object();

	json_object_object_add(line, "schema_version", json_object_new_int(1));
	json_object_object_foreach(object, key, value)
		json_object_object_add(line, key, json_object_get(value));
	puts(json_object_to_json_string_ext(line, JSON_C_TO_STRING_PLAIN |
							  JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(line);
	json_object_put(object);
}
