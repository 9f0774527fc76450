/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows of a view: selecting those that options ask for, and JSON. */
#ifndef SPEPROF_ROWS_H
#define SPEPROF_ROWS_H

#include <stdio.h>

#include "options.h"

/**
 * rows_limit() - how many rows to request from a view
 * @options: -n, -p and -c
 * @all: limit if rows are selected afterwards, or no number is given
 *
 * Return: the number of rows, so that @options->number are left after rows_filter().
 */
u32 rows_limit(const struct options *options, u32 all);

/**
 * rows_filter() - remove rows that -p and -c do not name, and all but the first @limit of the
 * others
 */
void rows_filter(struct view *view, const struct options *options, u32 limit);

/**
 * rows_missing() - print an error because no row is of what -p and -c name
 * @verb: for the message
 * @options: -p and -c
 *
 * Without the error, a misspelt name would look like an idle container.
 *
 * Return: STATUS_STATE.
 */
int rows_missing(const char *verb, const struct options *options);

/** rows_json() - print @view as one line of JSON, with "schema_version":1 */
void rows_json(FILE *out, const struct view *view, const struct options *options);

/** rows_header_json() - print a header without rows, in the same schema */
void rows_header_json(FILE *out, const struct view_header *header);

#endif
