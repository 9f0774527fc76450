/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Serialization of views for D-Bus, in both directions: type "a{sv}aa{sv}". The keys are the names
 * in header_fields and row_fields (view-bus.c).
 */
#ifndef SPEPROF_VIEW_BUS_H
#define SPEPROF_VIEW_BUS_H

#include <systemd/sd-bus.h>

#include "view.h"

/**
 * view_bus_append_header() - append only the header, of type "a{sv}"; returns negative errno on
 * failure
 */
int view_bus_append_header(sd_bus_message *message, const struct view_header *header);

/** view_bus_append() - append header and rows to a reply; returns negative errno on failure */
int view_bus_append(sd_bus_message *message, const struct view *view);

/** view_bus_read_header() - read only the header; returns as view_bus_read() */
int view_bus_read_header(sd_bus_message *message, struct view_header *ret_header);

/**
 * view_bus_read() - read header and rows of a reply
 * @message: the reply
 * @ret_view: the view; free it with view_clear()
 *
 * Unknown names are skipped and missing names stay zero, so that tools and daemons of different
 * versions work together.
 *
 * Return: 0; -EBADMSG if a known name has another type; other negative errno.
 */
int view_bus_read(sd_bus_message *message, struct view *ret_view);

#endif
