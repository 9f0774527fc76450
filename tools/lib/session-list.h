/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Query the sessions of the daemon. */
#ifndef SPEPROF_SESSION_LIST_H
#define SPEPROF_SESSION_LIST_H

#include "bus-json.h"

#define SESSION_PATH_PREFIX BUS_PATH "/session/"

/**
 * session_list_from_objects() - select the sessions of a reply to GetManagedObjects
 * @answer: the reply, as bus_message_to_json() returns it
 *
 * Return: an array with an object for each session, which has its properties; the caller frees it
 * by json_object_put().
 */
json_object *session_list_from_objects(json_object *answer);

/**
 * session_get_list() - query all sessions
 * @ret_sessions: an array with an object for each session, which has its properties; the caller
 *	frees it by json_object_put()
 *
 * Return: &enum verb_exit_status; errors are printed, or stored for bus_get_error().
 */
int session_get_list(struct bus_connection *bus, json_object **ret_sessions);

/**
 * session_require() - check that a session exists; if not, print an error that lists all sessions
 * @name: name of the session
 * @advice: text that follows the name in the error, e.g. a command that creates the session; "" for
 *	none
 *
 * Return: &enum verb_exit_status; STATUS_STATE if the session does not exist. Errors are printed.
 */
int session_require(struct bus_connection *bus, const char *name, const char *advice);

/**
 * session_get_running_names() - list the names of running sessions other than "machine"
 * @ret_names: the names, separated by ", " and truncated to @size bytes; "": none
 *
 * Return: &enum verb_exit_status; errors are printed, or stored for bus_get_error().
 */
int session_get_running_names(struct bus_connection *bus, char *ret_names, size_t size);

#endif
