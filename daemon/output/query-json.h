/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Convert headers and rows to JSON (Documentation/reference/json.md). The command and the daemon
 * write the same text.
 */
#ifndef SPEPROF_QUERY_JSON_H
#define SPEPROF_QUERY_JSON_H

#include <json-c/json.h>
#include <stdio.h>

#include "query/query-rows.h"

/** view_header_json() - convert a header; the caller frees the object with json_object_put() */
json_object *view_header_json(const struct view_header *header);

/** view_add_measures_json() - add all numbers of a row to @json */
void view_add_measures_json(json_object *json, const struct view_row *row);

/**
 * view_inlines_json() - convert names that are separated by newlines to an array; the caller frees
 * the object with json_object_put()
 */
json_object *view_inlines_json(const char *names);

/** query_add_keys_json() - add the names of a row to @json */
void query_add_keys_json(json_object *json, const struct query_row *row, const struct query *query);

/**
 * query_json_write() - write the rows of a query as one line of JSON
 * @out: receives the line
 * @header: the ledgers of the session or recording
 * @query: the query
 * @rows: the rows; NULL: none
 *
 * Documentation/reference/report.schema.json describes the JSON.
 *
 * Return: 0 or -ENOMEM.
 */
int query_json_write(FILE *out, const struct view_header *header, const struct query *query,
		     const struct query_rows *rows);

#endif
