/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Print the rows of a query as a table. */
#ifndef SPEPROF_QUERY_TABLE_H
#define SPEPROF_QUERY_TABLE_H

#include "format.h"
#include "query/query-result.h"
#include "table.h"

/** query_table_format_key() - write the text of a key of a row, TABLE_CELL_SIZE bytes */
void query_table_format_key(const struct query_row *row, enum query_key key, char *to);

/** query_table_add_keys() - add a column for each key of a query; return the number of columns */
u32 query_table_add_keys(struct text_table *table, const struct query *query);

/**
 * query_table_set_keys() - set the cells of query_table_add_keys()
 * @at: number of the row in the table
 * @first: number of the first column
 */
void query_table_set_keys(struct text_table *table, u32 at, u32 first, const struct query *query,
			  const struct query_row *row);

/**
 * query_table_print() - print the headings, the rows, and a line about samples that are in no row
 * @query: keys and measure of the rows
 * @text: the rows in the format of query_json_write()
 * @format: how to print; its fields name, group and sort are not used
 *
 * The table is filled from the same text that "-j" prints, so that both agree.
 *
 * Return: 0; -EBADMSG if @text cannot be parsed.
 */
int query_table_print(FILE *out, const struct query *query, const char *text,
		      const struct view_format *format);

#endif
