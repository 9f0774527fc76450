/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Internals of a store, for the files that write, merge and read periods. */
#ifndef SPEPROF_STORE_INTERNAL_H
#define SPEPROF_STORE_INTERNAL_H

#include "store.h"

#include <sqlite3.h>

/* The columns of each table for &struct minute_sums, in the order of its members. */
#define SUM_COLUMNS "samples,operations,latency,memory,dram,remote,branches,mispredicted"
/* The sums of the same columns over several rows. */
#define SUM_TOTALS                                                                     \
	"sum(samples),sum(operations),sum(latency),sum(memory),sum(dram),sum(remote)," \
	"sum(branches),sum(mispredicted)"

/* SQL that adds up JSON objects of numbers. The result is one object with the sum for each key. */
#define SUM_OF_DETAILS(from)                                                           \
	"(SELECT json_group_object(key,n) FROM (SELECT key,sum(value) AS n FROM " from \
	" GROUP BY key))"

/** enum store_statement - statements that are prepared when the store is opened */
enum store_statement {
	STORE_PUT_BOOT,
	STORE_GET_BOOT,
	STORE_PUT_CONTAINER,
	STORE_GET_CONTAINER,
	STORE_PUT_PROGRAM,
	STORE_GET_PROGRAM,
	STORE_PUT_LOCATION,
	STORE_GET_LOCATION,
	STORE_PUT_PERIOD,
	STORE_PUT_CONTAINER_ROW,
	STORE_PUT_PROGRAM_ROW,
	STORE_PUT_LOCATION_ROW,
	STORE_STATEMENTS,
};

/** enum store_period_length - the lengths of periods, the shortest first */
enum store_period_length {
	STORE_MINUTES,
	STORE_TENS,
	STORE_HOURS,
	STORE_AGES,
};

/**
 * struct history_store - an open database
 * @db: the connection
 * @statement: prepared statements, reset between uses
 * @path: name of the database
 * @kept: maximum number of stored periods, indexed by &enum store_period_length
 * @pages: maximum number of pages of the database
 * @log_bytes: limit of the write-ahead log in bytes
 */
struct history_store {
	sqlite3 *db;
	sqlite3_stmt *statement[STORE_STATEMENTS];
	char *path;
	u32 kept[STORE_AGES];
	s64 pages;
	u64 log_bytes;
};

/** store_result_to_errno() - return the negative errno of a result code of SQLite; 0 for success */
int store_result_to_errno(int result);

/** store_run() - run statements without parameters and rows; returns 0 or negative errno */
int store_run(struct history_store *store, const char *sql);

/**
 * store_prepare() - prepare a statement
 * @ret_statement: call sqlite3_finalize(), also on failure
 *
 * Return: 0 or negative errno.
 */
int store_prepare(struct history_store *store, const char *sql, sqlite3_stmt **ret_statement);

/** store_step() - get the next row; returns 1, 0 after the last one, or negative errno */
int store_step(sqlite3_stmt *statement);

/**
 * store_query_number() - run a query without parameters that returns one number; returns 0 or
 * negative errno
 */
int store_query_number(struct history_store *store, const char *sql, s64 *ret_number);

/**
 * store_create_functions() - define the functions that statements of this program use
 *
 * sum_latencies() is an aggregate: it adds up objects of details_write_latencies().
 *
 * Return: 0 or negative errno.
 */
int store_create_functions(struct history_store *store);

/**
 * store_merge_old_periods() - merge or remove the oldest periods of each length if their number
 * exceeds the limit
 *
 * Context: within a transaction.
 *
 * Return: 0 or negative errno.
 */
int store_merge_old_periods(struct history_store *store);

/** store_remove_unused_names() - remove the names that no row uses; returns 0 or negative errno */
int store_remove_unused_names(struct history_store *store);

/**
 * store_trim() - remove the oldest periods while the database is larger than its limit allows
 *
 * Context: within a transaction.
 *
 * Return: 0; 1: the database is still too large: commit, and call the function again in another
 * transaction; negative errno.
 */
int store_trim(struct history_store *store);

/* Read &struct minute_sums from the columns from @first on. */
static inline void store_get_sums(sqlite3_stmt *statement, int first, struct minute_sums *ret_sums)
{
	u64 sums[MINUTE_SUMS];

	for (unsigned int i = 0; i < MINUTE_SUMS; i++)
		sums[i] = (u64)sqlite3_column_int64(statement, first + (int)i);
	memcpy(ret_sums, sums, sizeof(sums));
}

static inline void statement_finalize(sqlite3_stmt **statement)
{
	sqlite3_finalize(*statement);
}

#define _cleanup_statement_ __attribute__((cleanup(statement_finalize)))

#endif
