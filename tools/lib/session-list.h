/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Query the sessions of the daemon. */
#ifndef SPEPROF_SESSION_LIST_H
#define SPEPROF_SESSION_LIST_H

#include "bus-json.h"

#define SESSION_OBJECTS BUS_PATH "/session/"

/**
 * session_list() - query all sessions
 * @ret_sessions: an array with an object of each session's properties; the caller frees it by
 * json_object_put()
 *
 * Return: &enum status; errors are printed, or stored for bus_error().
 */
int session_list(struct bus *bus, json_object **ret_sessions);

/**
 * session_require() - print an error that lists all sessions if a session does not exist
 * @name: name of the session
 * @advice: text that follows the name in the error, e.g. a command that creates the session; "" for
 *	none
 *
 * Return: &enum status; STATUS_STATE if the session does not exist. Errors are printed.
 */
int session_require(struct bus *bus, const char *name, const char *advice);

/**
 * session_list_running() - name the sessions beside "machine" that sample now
 * @ret_names: with ", " between them, cut at @size bytes; "" for none
 *
 * Return: &enum status; errors are printed, or stored for bus_error().
 */
int session_list_running(struct bus *bus, char *ret_names, size_t size);

#endif
