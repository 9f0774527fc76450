/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rows of a query over any profile: a recording, a saved profile, the daemon's history on disk,
 * or the profile that the daemon counts now.
 */
#ifndef SPEPROF_PROFILE_ROWS_H
#define SPEPROF_PROFILE_ROWS_H

#include "bus.h"
#include "input.h"
#include "row-set.h"

/**
 * struct profile_rows - the rows
 * @rows: the rows, sorted
 * @query: the query that they answer. Of the history, its time is that of the periods that were
 *	found
 * @header: the ledgers
 * @brief: rows have only the sums that &query_row.brief lists
 * @making: one line about the origin of the profile; "": nothing is known
 * @input, @symbols, @result: of a recording
 * @set: rows that were read, selected and grouped
 */
struct profile_rows {
	struct query_rows rows;
	struct query query;
	struct view_header header;
	bool brief;
	char making[512];
	struct input_recording input;
	struct symbols_cache *symbols;
	struct query_result *result;
	struct row_set set;
};

/**
 * profile_rows_load() - run a query
 * @verb: name of the verb, for errors
 * @options: options of the verb: which profile, and how to read it
 * @query: the query, which query_check() has accepted
 * @split_ops: add the key op, if the profile has it and the query has less than QUERY_GROUP_MAX keys
 * @ret_rows: the rows; call profile_rows_deinit(), also on failure. With STATUS_OK and
 *	STATUS_DAMAGED it has all rows that were readable
 *
 * Return: &enum verb_exit_status; an error was printed. STATUS_STATE if the query selects nothing.
 */
int profile_rows_load(const char *verb, const struct options *options, const struct query *query,
		      bool split_ops, struct profile_rows *ret_rows);

/**
 * profile_rows_load_bus() - run a query over what the daemon has counted
 * @bus: a connection of bus_new(); bus_use_session() has selected the session
 * @query: the query, which query_check() has accepted
 * @ret_rows: the rows; call profile_rows_deinit(), also on failure
 * @ret_error: why the reply cannot be used; "" if the call failed: the error is then that of @bus
 *
 * It prints nothing, and blocks until the daemon replies. The rows have no symbols.
 *
 * Return: &enum verb_exit_status. STATUS_STATE if the query selects nothing.
 */
int profile_rows_load_bus(struct bus_connection *bus, const struct query *query,
			  struct profile_rows *ret_rows, struct query_error *ret_error);

/**
 * profile_rows_line() - get the source line of the heaviest part of a row
 * @index: number of the row, below &query_rows.count
 * @ret_line: all zeros if the line is unknown
 */
void profile_rows_line(const struct profile_rows *rows, u32 index, struct source_line *ret_line);

/**
 * profile_rows_format_name() - write a name of a profile: the file, or the session and the period
 * @rows: the rows
 * @options: the options with which they were loaded
 * @to: receives the name
 * @size: size of @to, bytes
 */
void profile_rows_format_name(const struct profile_rows *rows, const struct options *options,
			      char *to, size_t size);

/** profile_rows_deinit() - free the rows */
void profile_rows_deinit(struct profile_rows *rows);

#endif
