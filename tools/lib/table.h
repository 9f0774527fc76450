/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A table of text for terminals. A column is as wide as its longest cell, but columns of names are
 * shortened if the terminal is too narrow.
 *
 *	table_add_column(&table, "SHARE")->right = true;
 *	row = table_add_row(&table);
 *	table_set_cell(&table, row, 0, "69.8 %");
 *	table_print(&table, stdout, width, colour);
 *	table_deinit(&table);
 */
#ifndef SPEPROF_TABLE_H
#define SPEPROF_TABLE_H

#include <stdio.h>

#include "codec/env.h"

/* Size of the text of a cell with its NUL, in bytes; a longer text is truncated. */
#define TABLE_CELL_SIZE 160
/* Entries of &text_table.column. */
#define TABLE_COLUMNS_MAX 20

/**
 * struct table_column - a column
 * @heading: text of the heading
 * @right: whether cells are aligned to the right
 * @heading_left: whether the heading is aligned to the left although the cells are not
 * @gap: number of spaces in front of the column
 * @width: minimum width; 0: the width of the heading
 * @floor: minimum widths. All columns are shortened to their first value and, if that is not
 *	enough, to their second value. 0: the column is not shortened
 * @order: columns with a smaller number are shortened first; no two columns have the same number.
 *	0: never shortened
 */
struct table_column {
	char heading[TABLE_CELL_SIZE];
	bool right;
	bool heading_left;
	size_t gap;
	size_t width;
	size_t floor[2];
	unsigned int order;
};

/**
 * struct text_table - the table
 * @column: the columns; @columns is their number
 * @cell: the texts, row by row; NULL: an empty cell
 */
struct text_table {
	struct table_column column[TABLE_COLUMNS_MAX];
	u32 columns;
	char **cell;
	u32 rows;
	u32 capacity;
};

/** table_add_column() - append a column, and return it. Add all columns before the first row */
struct table_column *table_add_column(struct text_table *table, const char *heading);

/**
 * table_add_row() - append an empty row; return its number, or UINT32_MAX if memory cannot be
 * allocated
 */
u32 table_add_row(struct text_table *table);

/** table_set_cell() - set the text of a cell; does nothing if @row is UINT32_MAX */
void table_set_cell(struct text_table *table, u32 row, u32 column, const char *text);

/**
 * table_print() - print headings and rows
 * @width: columns of the terminal; 0: lines of any length
 * @colour: whether to print colours by escape sequences
 */
void table_print(const struct text_table *table, FILE *out, size_t width, bool colour);

/** table_deinit() - free the memory */
void table_deinit(struct text_table *table);

#endif
