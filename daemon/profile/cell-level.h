/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of levels: which caches and memories served the loads and stores of a function, a
 * program, a container or the machine, and how long that took.
 *
 * The caller adds up the levels of all cells concerned with cell_row_add_levels() or
 * cell_table_add_levels(), and computes the table from the sum.
 */
#ifndef SPEPROF_CELL_LEVEL_H
#define SPEPROF_CELL_LEVEL_H

#include "cell-table.h"

/**
 * struct level_row - one level
 * @level: &enum spe_level; spe_level_name() returns its name, which filters use as well
 * @count: loads and stores that it served
 * @share: @count, as a share of all loads and stores: 0 to 1
 * @timed: those of @count that have a total latency; the other members concern them alone, and
 *	are 0 without any
 * @mean: mean of their total latency, cycles
 * @p50, @p99: upper bounds of the median and of the 99th percentile, cycles
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
 * struct level_table - the levels that served anything, from the first level cache outwards
 * @accesses: number of loads and stores
 * @rows: number of elements of @row. The last one is SPE_LEVEL_UNKNOWN, if that served any
 */
struct level_table {
	u64 accesses;
	u32 rows;
	struct level_row row[SPE_LEVELS];
};

/**
 * cell_table_add_levels() - add the loads and stores of some programs to @to
 * @table: the table, flushed
 * @sessions: as in cell_row_each_pair()
 * @wants: returns whether to add a program, by its id; NULL: all programs
 * @ctx: argument of @wants
 * @to: by &enum spe_level
 *
 * Evicted samples of the programs are included, so levels of several programs add up to those of
 * the machine.
 */
void cell_table_add_levels(const struct cell_table *table, u8 sessions,
			   bool (*wants)(void *ctx, u32 program), void *ctx,
			   struct cell_level to[static SPE_LEVELS]);

/**
 * level_table_fill() - compute the table of levels
 * @levels: the loads and stores, by &enum spe_level
 * @ret_table: the table
 *
 * SPE_LEVEL_BEYOND_LLC is a part of SPE_LEVEL_DRAM, as in the column DRAM and in filters
 * (spe_level_is_dram()).
 */
void level_table_fill(const struct cell_level levels[static SPE_LEVELS],
		      struct level_table *ret_table);

#endif
