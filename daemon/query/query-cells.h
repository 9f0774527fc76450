/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The input of a query: the cells of a profile since its start, or the counters of a period. For a
 * period, the cells are either the heaviest locations, which have only some sums, or all
 * containers, which have all counters.
 */
#ifndef SPEPROF_QUERY_CELLS_H
#define SPEPROF_QUERY_CELLS_H

#include "profile/profile-cells.h"
#include "profile/profile-read.h"
#include "query.h"

/**
 * struct query_source - the data that a query reads; all pointers are borrowed
 * @profile: a profile that counts by program; the caller runs on the thread of the profile
 * @symbols: resolver of names; NULL: no names are resolved
 * @live: as in profile_create_view()
 * @raw: the caller may see addresses of this machine's kernel
 * @cpu_node: of a recording, the NUMA node of each CPU plus 1; 0: unknown. NULL: all are unknown
 * @cpus: number of entries of @cpu_node
 * @now_ns: current time on the windows' clock, for periods; 0 if unknown
 * @admits: returns whether the caller may see a container; NULL: the caller may see everything. The
 *	callback is called once for each program
 * @ctx: argument of @admits
 */
struct query_source {
	struct profile *profile;
	struct symbols_cache *symbols;
	bool live;
	bool raw;
	const u8 *cpu_node;
	u32 cpus;
	u64 now_ns;
	bool (*admits)(void *ctx, const struct attribute_container *container);
	void *ctx;
};

/**
 * struct query_cell - samples with the same program and location, or of the same container
 * @row: program and location. For a container in a period: CELL_NO_PROGRAM and CELL_UNMAPPED
 * @sums: sums over the samples of a location in a period, which has no other counters; NULL: all
 *	counters are known
 * @container: the counters of a container in a period; NULL: the cell is no container
 */
struct query_cell {
	struct cell_row row;
	const struct history_row *sums;
	const struct history_container *container;
};

/**
 * struct query_cells - the cells of a query
 * @tables: the tables of the profile
 * @slot: the counters of the period; NULL: all samples since the start
 * @by_container: the cells are the containers of @slot
 * @unit: view_get_share_unit() of the samples
 * @evicted: a row with the evicted samples of @slot
 */
struct query_cells {
	struct profile_cells tables;
	const struct history_slot *slot;
	bool by_container;
	unsigned int unit;
	struct history_row evicted;
};

/** struct query_cursor - a position; all zeros is the start */
struct query_cursor {
	struct cell_cursor cell;
	u32 index;
};

/**
 * query_cells_init() - find the cells of a query
 * @source: what to read
 * @query: the query; only its period, keys and selection are used
 * @ret_cells: the cells, valid until the next window
 *
 * Return: 0; -EOPNOTSUPP if the profile counts by process, or has no history for the period.
 */
int query_cells_init(const struct query_source *source, const struct query *query,
		     struct query_cells *ret_cells);

/** query_cells_get_max_count() - return an upper bound of the number of cells */
size_t query_cells_get_max_count(const struct query_cells *cells);

/** query_cells_next() - return the next cell with samples; false after the last */
bool query_cells_next(const struct query_cells *cells, struct query_cursor *cursor,
		      struct query_cell *ret_cell);

/** query_cell_get_container() - return the container of a cell; NULL for no container */
const struct attribute_container *query_cell_get_container(const struct query_cells *cells,
							   const struct query_cell *cell);

/** query_cell_get_samples() - return the number of samples of a cell */
u64 query_cell_get_samples(const struct query_cells *cells, const struct query_cell *cell);

/**
 * query_cell_get_weight() - return the sum of the samples' intervals. Intervals in different units
 * (&enum sample_unit) are added without conversion
 */
u64 query_cell_get_weight(const struct query_cells *cells, const struct query_cell *cell);

/** query_cell_get_latency() - return the sum of the samples' total latencies, cycles */
u64 query_cell_get_latency(const struct query_cells *cells, const struct query_cell *cell);

/**
 * query_cell_add_counters() - add the counters of a cell to @to
 *
 * A location in a period has only the sum of loads and stores, so all of them are added to the
 * loads.
 */
void query_cell_add_counters(const struct query_cells *cells, const struct query_cell *cell,
			     struct profile_counters *to);

/** query_cells_get_total() - return the counters of all samples of a period */
void query_cells_get_total(const struct query_cells *cells, struct profile_counters *ret_counters);

/** query_cells_get_sample_count() - return the number of all samples */
u64 query_cells_get_sample_count(const struct query_source *source,
				 const struct query_cells *cells);

#endif
