/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Views on the bus: "a{sv}aa{sv}" by the names of struct view's fields, both ways. */
#ifndef SPEPROF_VIEW_BUS_H
#define SPEPROF_VIEW_BUS_H

#include <systemd/sd-bus.h>

#include "view.h"

/** view_append_header() - the header alone: "a{sv}" */
int view_append_header(sd_bus_message *message, const struct view_header *header);

/** view_append() - add header and rows to a reply */
int view_append(sd_bus_message *message, const struct view *view);

/**
 * view_read() - header and rows of a reply
 *
 * Names that are not known are skipped, names that are missing stay zero, so
 * that tools and daemon of different versions understand each other.
 *
 * Return: 0; -EBADMSG if a known name has another type; other negative errno.
 */
int view_read(sd_bus_message *message, struct view *ret_view);

#endif
