// SPDX-License-Identifier: LGPL-2.1-or-later
#include "session-list.h"

#include <stdio.h>

#include "bus-message.h"
#include "message.h"
#include "verb.h"

json_object *session_list_from_objects(json_object *answer)
{
	json_object *objects = json_object_array_get_idx(answer, 0);
	json_object *sessions = json_object_new_array();

	if (!json_object_is_type(objects, json_type_object))
		return sessions;
	json_object_object_foreach(objects, path, interfaces)
	{
		json_object *session = json_get(interfaces, "org.speprof1.session");

		if (!strncmp(path, SESSION_PATH_PREFIX, strlen(SESSION_PATH_PREFIX)) && session)
			json_object_array_add(sessions, json_object_get(session));
	}
	return sessions;
}

int session_get_list(struct bus_connection *bus, json_object **ret_sessions)
{
	json_object *answer = NULL;
	int status = bus_call_to_json(bus, "", "org.freedesktop.DBus.ObjectManager",
				      "GetManagedObjects", &answer, NULL);

	if (status)
		return status;
	*ret_sessions = session_list_from_objects(answer);
	json_object_put(answer);
	return STATUS_OK;
}

int session_require(struct bus_connection *bus, const char *name, const char *advice)
{
	json_object *sessions = NULL;
	int status = session_get_list(bus, &sessions);
	bool exists = false;
	char names[400] = "";
	size_t used = 0;

	for (size_t i = 0; !status && i < json_object_array_length(sessions); i++) {
		const char *other = json_text(json_object_array_get_idx(sessions, i), "name");

		exists = exists || !strcmp(other, name);
		if (used < sizeof(names))
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
						 used ? ", " : "", other);
	}
	json_object_put(sessions);
	if (!status && !exists)
		status = message_fail(STATUS_STATE, "there is no session \"%s\"%s; sessions: %s",
				      name, advice, *names ? names : "none");
	return status;
}

int session_get_running_names(struct bus_connection *bus, char *ret_names, size_t size)
{
	json_object *sessions = NULL;
	int status = session_get_list(bus, &sessions);
	size_t used = 0;

	*ret_names = '\0';
	for (size_t i = 0; !status && i < json_object_array_length(sessions); i++) {
		json_object *session = json_object_array_get_idx(sessions, i);
		const char *name = json_text(session, "name");

		if (strcmp(name, "machine") && !strcmp(json_text(session, "state"), "running") &&
		    used < size)
			used += (size_t)snprintf(ret_names + used, size - used, "%s%s",
						 used ? ", " : "", name);
	}
	json_object_put(sessions);
	return status;
}
