/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rows of an export in one form, from a recording or from the daemon's profile:
 *
 *	status = export_rows_load(&options, &rows);
 *	for (u32 i = 0; export_rows_get(&rows, i, &row); i++)
 *		...
 *	export_rows_deinit(&rows);
 */
#ifndef SPEPROF_EXPORT_ROWS_H
#define SPEPROF_EXPORT_ROWS_H

#include <stdio.h>

#include "lib/profile-rows.h"
#include "lib/table.h"
#include "query/query-result.h"

/*
 * Maximum number of columns of names: those of the keys, the binary, and a second one for a line.
 */
#define EXPORT_NAMES_MAX (QUERY_GROUP_MAX + 2)

/**
 * struct export_columns - what all rows of an export have
 * @name: headings of the columns of names, in their order
 * @names: number of @name
 * @line: number of the column of line numbers, which follows the column of files; 0: there is none
 * @sort: the measure that rows are sorted by
 * @unit: unit of operations, from view_unit_name()
 * @backend: what wrote the samples: "hardware", "emulated" or "unknown"
 */
struct export_columns {
	const char *name[EXPORT_NAMES_MAX];
	u32 names;
	u32 line;
	enum measure sort;
	const char *unit;
	const char *backend;
};

/**
 * struct export_row - a row
 * @name: escaped names, indexed by column; "-": none; valid until the next export_rows_get()
 * @share: share of the row in the sort measure of all samples or, if that measure is no sum, in the
 *	operations; 0 to 1; NAN: unknown
 * @measure: the measures; NAN: the measure is unknown, or no sample has it
 */
struct export_row {
	const char *name[EXPORT_NAMES_MAX];
	double share;
	double measure[MEASURES];
};

/**
 * struct export_rows - the rows
 * @columns: the columns of all rows
 * @header: the ledgers
 * @options: borrowed
 * @counted: @loaded is set, else @view
 * @loaded: rows of a recording, a saved profile or the history on disk
 * @view: rows that the daemon counts now
 * @row: the row of @loaded that export_rows_get() returned last
 * @text: names of that row
 */
struct export_rows {
	struct export_columns columns;
	struct view_header header;
	const struct options *options;
	bool counted;
	struct profile_rows loaded;
	struct view view;
	struct query_row row;
	char text[EXPORT_NAMES_MAX][TABLE_CELL_SIZE];
};

/**
 * export_rows_load() - read the rows that options select
 * @options: options of the verb; must outlive the rows
 * @ret_rows: call export_rows_deinit(), also on failure. With STATUS_OK and STATUS_DAMAGED it has
 *	all rows that were readable
 *
 * Return: &enum verb_exit_status; an error was printed.
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
 * export_rows_get_rest() - return the sort measure of all samples that are in no row
 *
 * Return: the measure; 0 if options select containers, programs, binaries or functions, or if it is
 * unknown, which is so for most measures of the daemon.
 */
double export_rows_get_rest(const struct export_rows *rows);

/** export_print_byte() - print a byte of a name; a control character becomes "?" */
void export_print_byte(FILE *out, char c);

/** export_rows_deinit() - free the memory */
void export_rows_deinit(struct export_rows *rows);

#endif
