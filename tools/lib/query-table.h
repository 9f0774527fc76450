/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Print the rows of a query as a table. */
#ifndef SPEPROF_QUERY_TABLE_H
#define SPEPROF_QUERY_TABLE_H

#include "format.h"
#include "query/query-result.h"

/**
 * query_table_print() - print the headings, the rows, and what the rows do not have
 * @header: ledgers of the recording
 * @format: name, group and sort are not used
 */
void query_table_print(FILE *out, const struct query *query, const struct query_result *result,
		       const struct view_header *header, const struct format *format);

#endif
