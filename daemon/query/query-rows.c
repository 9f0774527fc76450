// SPDX-License-Identifier: LGPL-2.1-or-later
#include "query-rows.h"

void query_row_get_latencies(const struct query_row *row, struct histogram *ret_latencies)
{
	const struct histogram *total = &row->counters.latency[PROFILE_TOTAL];
	struct histogram known = { 0 };

	for (unsigned int i = 0; row->brief && i < HISTOGRAM_BUCKETS; i++) {
		known.bucket[i] = total->bucket[i];
		known.count += total->bucket[i];
		if (known.bucket[i])
			known.max = histogram_get_upper_bound(i);
	}
	*ret_latencies = row->brief ? known : *total;
}

static void get_row(const void *ctx, u32 index, struct query_row *ret_row)
{
	query_result_get_row(ctx, index, ret_row);
}

static void get_rest(const void *ctx, u64 shown_samples, struct query_rest *ret_rest)
{
	query_result_get_rest(ctx, shown_samples, ret_rest);
}

struct query_rows query_rows_get(const struct query_result *result)
{
	return (struct query_rows){
		.count = query_result_get_row_count(result),
		.row = get_row,
		.rest = get_rest,
		.ctx = result,
	};
}
