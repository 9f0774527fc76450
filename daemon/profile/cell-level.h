/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of levels. It shows which caches and memories served the loads and stores of a
 * function, a program, a container or the machine, and with which latency.
 *
 * The caller adds up the levels of the cells with cell_row_add_levels() or cell_table_add_levels(),
 * and computes the table from the sum.
 */
#ifndef SPEPROF_CELL_LEVEL_H
#define SPEPROF_CELL_LEVEL_H

#include "cell-table.h"

/**
 * struct level_row - one level
 * @level: &enum spe_level; spe_level_name() returns the name of the level, also for filters
 * @count: loads and stores that the level served
 * @share: @count divided by all loads and stores: 0 to 1
 * @timed: number of accesses among @count that have a total latency. The members below are computed
 *	from these accesses, and are 0 if there are none
 * @mean: mean total latency, cycles
 * @p50, @p99: upper bounds of the median and the 99th percentile of the total latency, cycles
 */
struct level_row {
	enum spe_level level;
	u64 count;
	double share;
	u64 timed;
	double mean;
	u32 p50;
	u32 p99;
};

/**
 * struct level_table - the levels that served accesses, beginning with the first level cache
 * @accesses: number of loads and stores
 * @rows: number of elements of @row. The last one is SPE_LEVEL_UNKNOWN, if the level of some
 *	accesses is unknown
 */
struct level_table {
	u64 accesses;
	u32 rows;
	struct level_row row[SPE_LEVELS];
};

/**
 * cell_table_add_levels() - add the loads and stores of some programs to @to
 * @table: the table, flushed
 * @wants: callback that returns whether to add the program with an id; NULL: all programs
 * @ctx: argument of @wants
 * @to: indexed by &enum spe_level
 *
 * Evicted samples of the programs are included, so the levels of all programs add up to the levels
 * of the machine.
 */
void cell_table_add_levels(const struct cell_table *table, bool (*wants)(void *ctx, u32 program),
			   void *ctx, struct cell_level to[static SPE_LEVELS]);

/**
 * level_table_fill() - compute the table of levels
 * @levels: the loads and stores, indexed by &enum spe_level
 * @ret_table: the table
 *
 * SPE_LEVEL_BEYOND_LLC is a part of SPE_LEVEL_DRAM, as in the column DRAM and in filters
 * (spe_level_is_dram()).
 */
void level_table_fill(const struct cell_level levels[static SPE_LEVELS],
		      struct level_table *ret_table);

#endif
