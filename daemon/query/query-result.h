/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rows of a query over a profile. A row is computed when it is read:
 *
 *	r = query_run(&source, &query, &result, &error);
 *	for (u32 i = 0; i < query_result_get_row_count(result); i++)
 *		query_result_get_row(result, i, &row);
 *	query_result_free(result);
 *
 * Rows and their order do not depend on the order of samples or on the number of threads that
 * counted them. Rows by event overlap: a sample counts in the row of each of its events.
 */
#ifndef SPEPROF_QUERY_RESULT_H
#define SPEPROF_QUERY_RESULT_H

#include "query-cells.h"

struct query_result;

/* Value of &query_row.op, .event and .level for samples without an operation, event or level. */
#define QUERY_NONE UINT8_MAX

/**
 * struct query_row - a row; only the names that are keys of the query are set
 * @part, @whole: the share of the row is @part / @whole of the sort measure, or of
 *	MEASURE_OPERATIONS if the sort measure is no sum
 * @value: the sort measure
 * @container: "-" for none. "[unattributed]" for samples without a process, if QUERY_PROGRAM is not
 *	a key
 * @program: last part of the path of the executable
 * @comm, @pid: name and ID of the process; "[unattributed]" and 0 for samples without one
 * @cpu_known, @cpu: the CPU; false if the recording does not name it
 * @node_known, @node: the NUMA node of the CPU; false if the recording does not name it
 * @binary: path; "[unmapped]", and "[evicted]" for evicted samples
 * @build_id: hexadecimal; "" if unknown
 * @function: name
 * @file, @inlines, @line: as in &struct source_line
 * @instruction: offset in the binary; for kernel code, the address. 0 if the caller may not see it
 * @named: @function is the name of a symbol
 * @kernel: true for code of the kernel
 * @evicted: the row has evicted samples
 * @brief: the row is from a period of which only sums are known: samples, weights, latency, loads
 *	and stores together (as loads), accesses to DRAM and to another chip, branches and
 *	mispredicted branches
 * @p50, @p99: percentiles of the total latency of a row that is @brief; 0: unknown
 * @op: &enum spe_op_kind, or QUERY_NONE
 * @event: bit of the Events packet, or QUERY_NONE
 * @level: &enum spe_level, or QUERY_NONE
 * @type, @field: as in &struct data_name; a reason in brackets if they are unknown
 * @counters: the counters of the samples. Issue and translation latency have one bucket per octave,
 *	and are 0 in rows by op, event or level
 *
 * Rows by function, line or instruction have the binary as well. All strings are escaped.
 */
struct query_row {
	u64 part;
	u64 whole;
	double value;
	char container[128];
	char program[64];
	char comm[64];
	s32 pid;
	bool cpu_known;
	u32 cpu;
	bool node_known;
	u32 node;
	char binary[256];
	char build_id[48];
	char function[128];
	char file[256];
	char inlines[512];
	u32 line;
	u64 instruction;
	bool named;
	bool kernel;
	bool evicted;
	bool brief;
	u32 p50;
	u32 p99;
	u8 op;
	u8 event;
	u8 level;
	char type[128];
	char field[128];
	struct profile_counters counters;
};

/**
 * struct query_rest - the samples that are in no shown row
 * @part, @whole: the share of these samples is @part / @whole, as in &struct query_row
 * @samples: number of these samples
 * @rows: number of rows that were cut off by the limit
 * @overlaps: rows by event share samples, so a rest cannot be computed, and @part is 0
 */
struct query_rest {
	u64 part;
	u64 whole;
	u64 samples;
	u32 rows;
	bool overlaps;
};

/**
 * query_run() - find the rows of a query
 * @source: copied
 * @query: copied; query_check() has accepted it
 * @ret_result: the rows; free it with query_result_free()
 * @ret_error: set if the result is -ENOENT; NULL: the caller needs no explanation
 *
 * Return: 0; -ENOENT if a selection matches nothing; -EOPNOTSUPP as for query_cells_init(); -ENOMEM
 * if memory cannot be allocated.
 */
int query_run(const struct query_source *source, const struct query *query,
	      struct query_result **ret_result, struct query_error *ret_error);

/** query_result_free() - free a result, which may be NULL; returns NULL */
struct query_result *query_result_free(struct query_result *result);

/**
 * query_result_get_admitted() - return the counters of all samples that the caller may see, selected or
 * not
 *
 * Return: the counters; NULL if there is no callback &query_source.admits, so that the caller may
 * see all samples.
 */
const struct profile_counters *query_result_get_admitted(const struct query_result *result);

/** query_result_get_row_count() - return the number of rows within the limit */
u32 query_result_get_row_count(const struct query_result *result);

/**
 * query_result_get_row() - compute a row
 * @index: number of the row, below query_result_get_row_count()
 */
void query_result_get_row(const struct query_result *result, u32 index, struct query_row *ret_row);

/**
 * query_result_get_source_line() - get the source line of the heaviest location of a row
 * @index: number of the row, below query_result_get_row_count()
 * @ret_line: all zeros if the line is unknown
 *
 * If the line is not known yet, the function calls symbols_wait_configured().
 */
void query_result_get_source_line(const struct query_result *result, u32 index,
				  struct source_line *ret_line);

/**
 * query_result_add_levels() - add the loads and stores of a row to @to, which is indexed by &enum
 * spe_level
 * @result: a result of a query without the keys op, event and level, so that each row has all
 *	samples of its locations
 * @index: as for query_result_get_row()
 */
void query_result_add_levels(const struct query_result *result, u32 index,
			     struct cell_level to[static SPE_LEVELS]);

/**
 * query_result_order_by_keys() - put rows that have equal keys next to each other
 *
 * For example, all rows of a container become neighbours, and among these all rows of a program.
 * The sort measure still determines which rows are within the limit of the query.
 */
void query_result_order_by_keys(struct query_result *result);

/**
 * query_row_event_name(), query_row_level_name() - return the name of the event or level of a row; "-" for
 * none
 */
const char *query_row_event_name(const struct query_row *row);
const char *query_row_level_name(const struct query_row *row);

/**
 * query_result_get_rest() - compute the sums of the samples that are in no shown row
 * @shown_samples: sum of the samples of all shown rows, as query_result_get_row() returns them
 */
void query_result_get_rest(const struct query_result *result, u64 shown_samples,
			   struct query_rest *ret_rest);

#endif
