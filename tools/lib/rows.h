/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Select rows of a view by options, and convert rows to JSON. */
#ifndef SPEPROF_ROWS_H
#define SPEPROF_ROWS_H

#include <stdio.h>

#include "options.h"

/**
 * rows_get_limit() - return the number of rows to request from a view
 * @options: its options -n, -p and -c are used
 * @all: the result if -p or -c selects rows afterwards, or if -n is not given
 *
 * Return: @options->number, or @all.
 */
u32 rows_get_limit(const struct options *options, u32 all);

/** rows_filter() - remove rows that -p and -c do not select, then all but the first @limit rows */
void rows_filter(struct view *view, const struct options *options, u32 limit);

/**
 * rows_report_missing() - print the error that no row matches -p and -c
 * @verb: verb, for the message
 * @options: options -p and -c
 *
 * Without the error, a misspelt name would look like an idle container.
 *
 * Return: STATUS_STATE.
 */
int rows_report_missing(const char *verb, const struct options *options);

/**
 * rows_print_json() - print @view as one line of JSON, in the format of
 * Documentation/reference/json.md
 */
void rows_print_json(FILE *out, const struct view *view, const struct options *options);

/** rows_print_header_json() - print a header without rows, in the same schema */
void rows_print_header_json(FILE *out, const struct view_header *header);

#endif
