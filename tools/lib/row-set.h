/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows in memory, with names and counters: of a reply of the daemon, or of a saved profile. A query
 * selects and groups them.
 *
 *	r = row_set_read(json, &set, &error);
 *	r = row_set_query(&set, &query, &grouped, &why);
 *	rows = row_set_rows(&grouped);
 */
#ifndef SPEPROF_ROW_SET_H
#define SPEPROF_ROW_SET_H

#include <json-c/json.h>

#include "query/query-rows.h"

/* Maximum of &row_set.rows, the rows of a saved profile. */
#define ROW_SET_ROWS 10000

/**
 * struct row_set - rows
 * @header: source, backend, ledgers and sums over all samples; the other members are 0
 * @query: keys and sort measure of the rows
 * @brief: rows have only the sums that &query_row.brief lists
 * @row: the rows, @rows of them
 * @whole: of a result of row_set_query(): denominator of shares
 * @limit: of a result of row_set_query(): number of rows within the limit of the query
 */
struct row_set {
	struct view_header header;
	struct query query;
	bool brief;
	struct query_row *row;
	u32 rows;
	u64 whole;
	u32 limit;
};

/** struct row_set_error - a sentence that names the place in the JSON and the accepted values */
struct row_set_error {
	char text[256];
};

/**
 * row_set_read() - read what query_json_write() wrote
 * @json: the object, which need not be valid
 * @ret_set: the rows; free them with row_set_clear()
 * @ret_error: set if the result is -EBADMSG
 *
 * Names are escaped, and sums over all rows do not overflow.
 *
 * Return: 0; -EBADMSG: the JSON is not valid; -ENOMEM.
 */
int row_set_read(json_object *json, struct row_set *ret_set, struct row_set_error *ret_error);

/**
 * row_set_from_history() - read a reply of the method GetHistory
 * @reply: as bus_call_to_json() returns it
 * @query: keys of the rows
 * @ret_set: the rows; free them with row_set_clear()
 *
 * Return: 0; -EBADMSG: the reply is not valid; -ENOMEM.
 */
int row_set_from_history(json_object *reply, const struct query *query, struct row_set *ret_set);

/**
 * row_set_query() - select and group rows
 * @set: the rows
 * @query: its keys are keys of @set; its selection, sort measure and limit are used
 * @ret_set: the rows, sorted; free them with row_set_clear()
 * @ret_error: set on failure, except if that is -ENOMEM
 *
 * Shares of operations and samples are shares of all samples; those of other sums are shares of the
 * sum over all rows of @set. The file and line of a row are those of its heaviest part.
 *
 * Return: 0; -EOPNOTSUPP: the rows do not have a key or the measure; -ENOENT: the query selects
 * nothing; -ENOMEM.
 */
int row_set_query(const struct row_set *set, const struct query *query, struct row_set *ret_set,
		  struct query_error *ret_error);

/** row_set_rows() - return the rows of a result of row_set_query(), which must outlive them */
struct query_rows row_set_rows(const struct row_set *set);

/** row_set_clear() - free the rows */
void row_set_clear(struct row_set *set);

#endif
