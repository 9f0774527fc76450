// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cell-level.h"

void cell_table_add_levels(const struct cell_table *table, bool (*wants)(void *ctx, u32 program),
			   void *ctx, struct cell_level to[static SPE_LEVELS])
{
	struct cell_cursor cursor = { 0 };
	struct cell_row row;

	while (cell_table_next(table, &cursor, &row))
		if (!wants || wants(ctx, row.program))
			cell_row_add_levels(table, &row, to);
}

static void row_add(struct level_table *t, enum spe_level level, const struct cell_level *sum)
{
	const struct histogram *latency = &sum->latency;

	if (!sum->count)
		return;
	t->row[t->rows++] = (struct level_row){
		.level = level,
		.count = sum->count,
		.share = (double)sum->count / (double)t->accesses,
		.timed = latency->count,
		.mean = latency->count ? (double)latency->sum / (double)latency->count : 0,
		.p50 = histogram_get_quantile(latency, 500),
		.p99 = histogram_get_quantile(latency, 990),
	};
}

void level_table_fill(const struct cell_level levels[static SPE_LEVELS],
		      struct level_table *ret_table)
{
	struct cell_level dram = { 0 };
	struct level_table t = { 0 };

	for (unsigned int i = 0; i < SPE_LEVELS; i++) {
		t.accesses += levels[i].count;
		if (!spe_level_is_dram(i))
			continue;
		dram.count += levels[i].count;
		histogram_merge(&dram.latency, &levels[i].latency);
	}
	for (unsigned int i = SPE_LEVEL_UNKNOWN + 1; i < SPE_LEVELS; i++) {
		if (i == SPE_LEVEL_DRAM)
			row_add(&t, i, &dram);
		else if (!spe_level_is_dram(i))
			row_add(&t, i, &levels[i]);
	}
	row_add(&t, SPE_LEVEL_UNKNOWN, &levels[SPE_LEVEL_UNKNOWN]);
	*ret_table = t;
}
