/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Views on their way out: which rows are wanted, and JSON.
 */
#ifndef SPEPROF_ROWS_H
#define SPEPROF_ROWS_H

#include <stdio.h>

#include "options.h"

/** rows_limit() - how many rows to ask for, so that @options->number are left */
u32 rows_limit(const struct options *options, u32 all);

/** rows_filter() - keep what the options -p and -c name, and @limit of it */
void rows_filter(struct view *view, const struct options *options, u32 limit);

/**
 * rows_missing() - print that nothing is left of what the options -p and -c name
 *
 * A name that is misspelt would look like one that is idle.
 *
 * Return: STATUS_STATE.
 */
int rows_missing(const char *verb, const struct options *options);

/** rows_json() - the view as one line of JSON, schema_version 1 */
void rows_json(FILE *out, const struct view *view, const struct options *options);

/** rows_header_json() - the header alone, in the same schema */
void rows_header_json(FILE *out, const struct view_header *header);

#endif
