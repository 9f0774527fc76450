/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows in their order, independent of their origin: a profile in memory, or rows that were read
 * from a file or a reply of the daemon.
 */
#ifndef SPEPROF_QUERY_ROWS_H
#define SPEPROF_QUERY_ROWS_H

#include "query-result.h"

/**
 * struct query_rows - rows of a query
 * @count: number of rows
 * @row: computes row @index, which is below @count
 * @rest: computes the samples that are in no row; @shown_samples is the sum of the samples of all
 *	rows
 * @ctx: first argument of both functions
 */
struct query_rows {
	u32 count;
	void (*row)(const void *ctx, u32 index, struct query_row *ret_row);
	void (*rest)(const void *ctx, u64 shown_samples, struct query_rest *ret_rest);
	const void *ctx;
};

/**
 * query_row_get_latencies() - get the histogram of the total latencies of a row
 * @row: the row
 * @ret_latencies: for a row that is &query_row.brief, the latencies that are known of its samples;
 *	its sum is 0, and its maximum is the largest value of the highest bucket in use
 */
void query_row_get_latencies(const struct query_row *row, struct histogram *ret_latencies);

/** query_rows_get() - return the rows of @result, which must outlive them */
struct query_rows query_rows_get(const struct query_result *result);

#endif
