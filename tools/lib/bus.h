/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls of the daemon over D-Bus. An error is printed where it occurs, or kept for bus_error()
 * after bus_quiet(), and is returned as an exit status.
 */
#ifndef SPEPROF_BUS_H
#define SPEPROF_BUS_H

#include "view/view.h"

/* Rows of a view that one call may request. */
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
 * bus_new_quiet() - connect to the bus, and print no error from the start
 * @ret_bus: set on failure too, for bus_error(); the caller frees it by bus_free() in any case
 *
 * Return: &enum status.
 */
int bus_new_quiet(struct bus **ret_bus);

/** bus_free() - close the connection, if @bus is not NULL; returns NULL */
struct bus *bus_free(struct bus *bus);

/** bus_quiet() - keep errors for bus_error() instead of printing them */
void bus_quiet(struct bus *bus);

/**
 * bus_allow_password() - let polkit ask for a password during the following calls
 * @bus: calls wait up to two minutes from now on
 *
 * On a terminal an agent is started that asks there; bus_free() ends it.
 */
void bus_allow_password(struct bus *bus);

/** bus_error() - the last error as one sentence, "" for none; valid until the next call of @bus */
const char *bus_error(const struct bus *bus);

/** bus_call() - call a method of the Manager that has no arguments: "Start", "Stop", "Reset" */
int bus_call(struct bus *bus, const char *method);

/**
 * bus_reload() - have the daemon read its configuration again
 * @bus: a connection of bus_new()
 * @ret_waiting: settings that need a restart, "" for none; the caller frees it
 *
 * Return: &enum status; STATUS_FAILED if the configuration is wrong.
 */
int bus_reload(struct bus *bus, char **ret_waiting);

/* How long bus_view_named() waits for names, in milliseconds. */
#define BUS_NAMES_MS 5000

/**
 * bus_get_view() - request the profile since sampling began
 * @bus: a connection of bus_new()
 * @group: what a row stands for
 * @sort: order of rows
 * @limit: 1 to BUS_ROWS rows
 * @ret_view: the caller clears it by view_clear()
 *
 * Return: &enum status.
 */
int bus_get_view(struct bus *bus, enum view_group group, enum view_sort sort, u32 limit,
		 struct view *ret_view);

/**
 * bus_view_named() - as bus_get_view(), but wait up to BUS_NAMES_MS until functions have their names
 */
int bus_view_named(struct bus *bus, enum view_group group, enum view_sort sort, u32 limit,
		   struct view *ret_view);

/** bus_view_period() - as bus_get_view(), for the period @span that ends now */
int bus_view_period(struct bus *bus, enum view_span span, enum view_group group,
		    enum view_sort sort, u32 limit, struct view *ret_view);

/**
 * bus_dump_memory() - request shared cache lines, hot pages and NUMA nodes as JSON
 * @bus: a connection of bus_new()
 * @limit: 1 to BUS_ROWS entries of each kind
 * @ret_json: text of one object; the caller frees it
 *
 * Return: &enum status; STATUS_NO_RIGHT without the right to read addresses.
 */
int bus_dump_memory(struct bus *bus, u32 limit, char **ret_json);

/**
 * bus_summary() - request the summary as JSON in @ret_json, which the caller frees; &enum status
 */
int bus_summary(struct bus *bus, char **ret_json);

/**
 * bus_snapshot() - request the last windows of a session that has a buffer
 * @bus: a connection of bus_new()
 * @session: its name
 * @ret_fd: a sealed memfd with a recording; the caller closes it
 *
 * Return: &enum status.
 */
int bus_snapshot(struct bus *bus, const char *session, int *ret_fd);

/**
 * bus_profile() - have the daemon profile for pprof, and wait for the result
 * @bus: a connection of bus_new()
 * @seconds: how long
 * @ret_fd: a sealed memfd with a gzipped profile; the caller closes it
 *
 * Return: &enum status.
 */
int bus_profile(struct bus *bus, u32 seconds, int *ret_fd);

#endif
