/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The daemon, asked over the bus. Errors are said where they happen and come
 * back as an exit status.
 */
#ifndef SPEPROF_BUS_H
#define SPEPROF_BUS_H

#include "view/view.h"

/* Rows of a view that one call may ask for. */
#define BUS_ROWS 10000

struct bus;

/**
 * bus_set_address() - use this bus instead of the system's
 * @address: as D-Bus has it, "unix:path=/run/speprof/bus"; borrowed for the rest of the process
 *
 * Call it before bus_new().
 */
void bus_set_address(const char *address);

/**
 * bus_new() - connect to the bus
 * @ret_bus: the caller frees it by bus_free()
 *
 * Return: &enum status; an error has been printed.
 */
int bus_new(struct bus **ret_bus);

/**
 * bus_new_quiet() - the same, with errors kept for bus_error() and not said
 * @ret_bus: to be freed whatever is returned
 */
int bus_new_quiet(struct bus **ret_bus);
struct bus *bus_free(struct bus *bus);

/** bus_quiet() - keep errors for bus_error() instead of saying them */
void bus_quiet(struct bus *bus);

/** bus_allow_password() - from now on wait until a person has been asked for a password, on this terminal if need be */
void bus_allow_password(struct bus *bus);

/** bus_error() - the last error's sentence, "" if there was none; valid until the next call */
const char *bus_error(const struct bus *bus);

/** bus_call() - a method without arguments: "Start", "Stop", "Reset" */
int bus_call(struct bus *bus, const char *method);

/** bus_reload() - Reload; @ret_waiting: what waits for a restart, allocated */
int bus_reload(struct bus *bus, char **ret_waiting);

#define BUS_NAMES_MS 5000

/** bus_view() - GetView; @limit: 1 to BUS_ROWS */
int bus_view(struct bus *bus, enum view_group group, enum view_sort sort, u32 limit,
	     struct view *ret_view);

/** bus_view_named() - the same, once names were looked up, or BUS_NAMES_MS went by */
int bus_view_named(struct bus *bus, enum view_group group, enum view_sort sort, u32 limit,
		   struct view *ret_view);

/** bus_view_period() - GetWindow */
int bus_view_period(struct bus *bus, enum view_span span, enum view_group group,
		    enum view_sort sort, u32 limit, struct view *ret_view);

/** bus_dump_memory() - DumpHot; @ret_json is allocated */
int bus_dump_memory(struct bus *bus, u32 limit, char **ret_json);

/** bus_summary() - DumpSummary; @ret_json is allocated */
int bus_summary(struct bus *bus, char **ret_json);

/** bus_snapshot() - a session's last windows, a recording; @ret_fd is the caller's to close */
int bus_snapshot(struct bus *bus, const char *session, int *ret_fd);

/** bus_profile() - DumpProfile; @ret_fd is the caller's to close */
int bus_profile(struct bus *bus, u32 seconds, int *ret_fd);

#endif
