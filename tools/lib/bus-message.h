/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Method calls that return the message, for callers that read the reply themselves. The functions
 * of bus.h are based on them.
 */
#ifndef SPEPROF_BUS_MESSAGE_H
#define SPEPROF_BUS_MESSAGE_H

#include <stdarg.h>
#include <systemd/sd-bus.h>

#include "bus.h"

#define BUS_NAME      "org.speprof1"
#define BUS_PATH      "/org/speprof1"
#define BUS_INTERFACE "org.speprof1.Manager"

/**
 * bus_call_object() - call a method of any object of any service interface
 * @bus: a connection of bus_new()
 * @path: the object
 * @interface: its interface
 * @method: name of the method
 * @ret_reply: the caller unreferences it
 * @types: types of @args, as for sd_bus_call_methodv()
 *
 * Return: &enum verb_exit_status; an error was printed, or is available from bus_get_error().
 */
int bus_call_object(struct bus_connection *bus, const char *path, const char *interface,
		    const char *method, sd_bus_message **ret_reply, const char *types,
		    va_list args);

/**
 * bus_message_new() - create a method call without arguments
 * @bus: a connection of bus_new()
 * @path: the object
 * @interface: its interface
 * @method: name of the method
 * @ret_message: the caller appends arguments, sends and unreferences it
 *
 * Return: &enum verb_exit_status.
 */
int bus_message_new(struct bus_connection *bus, const char *path, const char *interface,
		    const char *method, sd_bus_message **ret_message);

/**
 * bus_profile_message_new() - create a call of a method that reads the profile of the session in
 * use
 * @method: name of the method, such as "GetFigures"
 *
 * Return: &enum verb_exit_status.
 */
int bus_profile_message_new(struct bus_connection *bus, const char *method,
			    sd_bus_message **ret_message);

/**
 * bus_message_call_and_discard() - send a call, wait for its reply and discard it; returns &enum
 * verb_exit_status
 */
int bus_message_call_and_discard(struct bus_connection *bus, sd_bus_message *message);

/**
 * bus_message_call() - send a call and wait for its reply, which the caller unreferences
 *
 * Return: &enum verb_exit_status.
 */
int bus_message_call(struct bus_connection *bus, sd_bus_message *message,
		     sd_bus_message **ret_reply);

#endif
