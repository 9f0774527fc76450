// SPDX-License-Identifier: LGPL-2.1-or-later
#include "query-rows.h"

static void get_row(const void *ctx, u32 index, struct query_row *ret_row)
{
	query_result_get_row(ctx, index, ret_row);
}

static void get_rest(const void *ctx, u64 shown_samples, struct query_rest *ret_rest)
{
	query_result_get_rest(ctx, shown_samples, ret_rest);
}

struct query_rows query_rows_of(const struct query_result *result)
{
	return (struct query_rows){
		.count = query_result_get_row_count(result),
		.row = get_row,
		.rest = get_rest,
		.ctx = result,
	};
}
