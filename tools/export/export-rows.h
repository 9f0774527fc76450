/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rows of an export, of a recording or of the daemon's profile, in one form:
 *
 *	status = export_rows_load(&options, &rows);
 *	for (u32 i = 0; export_rows_get(&rows, i, &row); i++)
 *		...
 *	export_rows_deinit(&rows);
 */
#ifndef SPEPROF_EXPORT_ROWS_H
#define SPEPROF_EXPORT_ROWS_H

#include <stdio.h>

#include "lib/input.h"
#include "lib/table.h"
#include "query/query-result.h"

/* Columns of names: those of the keys, the binary, and a second one for a line. */
#define EXPORT_NAMES (QUERY_GROUP_MAX + 2)

/**
 * struct export_columns - what all rows of an export have
 * @name: names of the columns of names, in their order
 * @names: number of @name
 * @line: number of the column of line numbers, which follows that of files; 0: there is none
 * @sort: the measure that rows are sorted by
 * @unit: what operations are: view_unit_name()
 * @backend: what wrote the samples: "hardware", "emulated" or "unknown"
 */
struct export_columns {
	const char *name[EXPORT_NAMES];
	u32 names;
	u32 line;
	enum measure sort;
	const char *unit;
	const char *backend;
};

/**
 * struct export_row - a row
 * @name: by column, escaped text; "-": none; valid until the next export_rows_get()
 * @share: the share of all samples, 0 to 1, of the sort measure or, if that is no sum, of
 *	operations; NAN: unknown
 * @measure: the measures; NAN: not known, or no sample has it
 */
struct export_row {
	const char *name[EXPORT_NAMES];
	double share;
	double measure[MEASURES];
};

/**
 * struct export_rows - the rows
 * @columns: what all of them have
 * @header: the ledgers
 * @options: borrowed
 * @input, @symbols, @result: of a recording
 * @view: of the daemon
 * @row: the row that export_rows_get() returned last, of a recording
 * @text: names of that row
 */
struct export_rows {
	struct export_columns columns;
	struct view_header header;
	const struct options *options;
	struct input input;
	struct symbols *symbols;
	struct query_result *result;
	struct view view;
	struct query_row row;
	char text[EXPORT_NAMES][TABLE_CELL];
};

/**
 * export_rows_load() - read the rows that options select
 * @options: options of the verb; outlive the rows
 * @ret_rows: call export_rows_deinit(), whatever is returned. With STATUS_OK and STATUS_DAMAGED it
 *	has all rows that were readable
 *
 * Return: &enum status; an error was printed.
 */
int export_rows_load(const struct options *options, struct export_rows *ret_rows);

/**
 * export_rows_get() - get a row, the heaviest first
 * @index: number of the row
 *
 * Return: false, with @ret_row unchanged, if there is no such row.
 */
bool export_rows_get(struct export_rows *rows, u32 index, struct export_row *ret_row);

/**
 * export_rows_rest() - return the sort measure of all samples that no row has
 *
 * Return: 0 if options select containers, programs, binaries or functions, or if it is not known, as
 * for most measures of the daemon.
 */
double export_rows_rest(const struct export_rows *rows);

/** export_put() - print a byte of a name; a control character becomes "?" */
void export_put(FILE *out, char c);

/** export_rows_deinit() - free the memory */
void export_rows_deinit(struct export_rows *rows);

#endif
