/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The connection below bus.h, for those who read answers themselves. */
#ifndef SPEPROF_BUS_MESSAGE_H
#define SPEPROF_BUS_MESSAGE_H

#include <stdarg.h>
#include <systemd/sd-bus.h>

#include "bus.h"

#define BUS_NAME      "org.speprof1"
#define BUS_PATH      "/org/speprof1"
#define BUS_INTERFACE "org.speprof1.Manager"

/**
 * bus_call_object() - a method of the object @path; arguments as of sd_bus_call_methodv()
 * @ret_reply: to be unreferenced
 *
 * Return: &enum status; errors are said, or kept.
 */
int bus_call_object(struct bus *bus, const char *path, const char *interface, const char *method,
		    sd_bus_message **ret_reply, const char *types, va_list args);

/** bus_message_new() - of a method, to be filled in, sent and unreferenced; &enum status */
int bus_message_new(struct bus *bus, const char *path, const char *interface, const char *method,
		    sd_bus_message **ret_message);

/** bus_message_send() - and wait for its answer, which does not matter; &enum status */
int bus_message_send(struct bus *bus, sd_bus_message *message);

/** bus_message_call() - and wait for its answer, to be unreferenced; &enum status */
int bus_message_call(struct bus *bus, sd_bus_message *message, sd_bus_message **ret_reply);

#endif
