/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Call the daemon over D-Bus. An error is printed where it occurs or, after bus_set_quiet(), stored
 * for bus_get_error(), and is returned as an exit status.
 */
#ifndef SPEPROF_BUS_H
#define SPEPROF_BUS_H

#include "query/query.h"

/* maximum number of rows of a view that one call may request */
#define BUS_ROWS_MAX 10000

struct bus_connection;

/**
 * bus_set_address() - use a private bus instead of the system bus
 * @address: address of D-Bus, such as "unix:path=/run/speprof/bus"; borrowed for the rest of the
 * process
 *
 * Call it before bus_new().
 */
void bus_set_address(const char *address);

/**
 * bus_new() - connect to the bus
 * @ret_bus: the caller frees it by bus_free()
 *
 * Return: &enum verb_exit_status; an error was printed.
 */
int bus_new(struct bus_connection **ret_bus);

/**
 * bus_new_quiet() - connect to the bus; errors of this connection are never printed
 * @ret_bus: also set on failure, for bus_get_error(); the caller frees it by bus_free() in any case
 *
 * Return: &enum verb_exit_status.
 */
int bus_new_quiet(struct bus_connection **ret_bus);

/** bus_free() - close the connection, if @bus is not NULL; returns NULL */
struct bus_connection *bus_free(struct bus_connection *bus);

/**
 * bus_use_session() - select the session for later calls that read a profile
 * @bus: a connection of bus_new()
 * @session: name of the session; before the first call of this function, "machine" is selected
 *
 * Return: &enum verb_exit_status; STATUS_STATE if the name is not valid.
 */
int bus_use_session(struct bus_connection *bus, const char *session);

/**
 * bus_get_session_name() - return the name of the session that bus_use_session() has set, or
 * "machine"
 */
const char *bus_get_session_name(const struct bus_connection *bus);

/** bus_set_quiet() - store errors for bus_get_error() instead of printing them */
void bus_set_quiet(struct bus_connection *bus);

/**
 * bus_allow_password() - permit polkit to request a password during the following calls
 * @bus: connection; from now on its calls wait for up to two minutes
 *
 * On a terminal this starts an agent that requests the password; bus_free() ends the agent.
 */
void bus_allow_password(struct bus_connection *bus);

/**
 * bus_get_error() - return the last error as one sentence; "": none
 *
 * The text is valid until the next call of @bus.
 */
const char *bus_get_error(const struct bus_connection *bus);

/**
 * bus_call_without_arguments() - call a method of the Manager without arguments: "Start", "Stop",
 * "Reset"
 */
int bus_call_without_arguments(struct bus_connection *bus, const char *method);

/**
 * bus_reload() - make the daemon read its configuration again
 * @bus: a connection of bus_new()
 * @ret_waiting: names of changed settings that need a restart of the daemon; "": none; the caller
 * frees it
 *
 * Return: &enum verb_exit_status; STATUS_FAILED if the configuration is wrong.
 */
int bus_reload(struct bus_connection *bus, char **ret_waiting);

/* maximum milliseconds for which bus_get_view_with_names() waits for names */
#define BUS_NAMES_WAIT_MS 5000

/**
 * bus_get_view() - request the profile since sampling began
 * @bus: a connection of bus_new()
 * @group: what a row represents
 * @sort: order of rows
 * @limit: maximum number of rows, 1 to BUS_ROWS_MAX
 * @ret_view: the caller clears it by view_clear()
 *
 * Return: &enum verb_exit_status.
 */
int bus_get_view(struct bus_connection *bus, enum view_group group, enum view_sort sort, u32 limit,
		 struct view *ret_view);

/**
 * bus_get_view_with_names() - get a view as bus_get_view() does, but wait up to BUS_NAMES_WAIT_MS
 * for names of functions
 */
int bus_get_view_with_names(struct bus_connection *bus, enum view_group group, enum view_sort sort,
			    u32 limit, struct view *ret_view);

/** bus_get_period_view() - get a view as bus_get_view() does, for the period @span that ends now */
int bus_get_period_view(struct bus_connection *bus, enum view_span span, enum view_group group,
			enum view_sort sort, u32 limit, struct view *ret_view);

/**
 * bus_run_query() - request the rows of a query
 * @bus: a connection of bus_new()
 * @query: a query of the daemon, which query_check() has accepted
 * @ret_header: ledgers of the profile
 * @ret_json: the rows in the format of query_json_write(); the caller frees it
 *
 * It waits up to BUS_NAMES_WAIT_MS for names of functions.
 *
 * Return: &enum verb_exit_status; STATUS_STATE if nothing is selected.
 */
int bus_run_query(struct bus_connection *bus, const struct query *query,
		  struct view_header *ret_header, char **ret_json);

/**
 * bus_get_session_view() - request a profile of any session
 * @bus: a connection of bus_new()
 * @session: name of the session
 * @span: VIEW_SPAN_START for the profile since sampling began, or a period that ends now
 * @group: what a row represents
 * @sort: order of rows
 * @limit: maximum number of rows, 1 to BUS_ROWS_MAX
 * @ret_view: the caller clears it by view_clear()
 *
 * Return: &enum verb_exit_status.
 */
int bus_get_session_view(struct bus_connection *bus, const char *session, enum view_span span,
			 enum view_group group, enum view_sort sort, u32 limit,
			 struct view *ret_view);

/**
 * bus_get_hot_memory() - request shared cache lines, hot pages and NUMA nodes as JSON
 * @bus: a connection of bus_new()
 * @limit: maximum number of entries of each kind, 1 to BUS_ROWS_MAX
 * @ret_json: text of one JSON object; the caller frees it
 *
 * Return: &enum verb_exit_status; STATUS_NO_RIGHT if this user may not read addresses.
 */
int bus_get_hot_memory(struct bus_connection *bus, u32 limit, char **ret_json);

/**
 * bus_get_summary() - request the summary as JSON
 * @ret_json: the text; the caller frees it
 *
 * Return: &enum verb_exit_status.
 */
int bus_get_summary(struct bus_connection *bus, char **ret_json);

/**
 * bus_get_snapshot() - request the last windows of a session that has a buffer
 * @bus: a connection of bus_new()
 * @session: name of the session
 * @ret_fd: a sealed memfd with a recording; the caller closes it
 *
 * Return: &enum verb_exit_status.
 */
int bus_get_snapshot(struct bus_connection *bus, const char *session, int *ret_fd);

/**
 * bus_get_pprof() - request a profile for pprof from the daemon, and wait until it is complete
 * @bus: a connection of bus_new()
 * @seconds: duration of the profile
 * @ret_fd: a sealed memfd with a gzipped profile; the caller closes it
 *
 * Return: &enum verb_exit_status.
 */
int bus_get_pprof(struct bus_connection *bus, u32 seconds, int *ret_fd);

#endif
