// SPDX-License-Identifier: LGPL-2.1-or-later
#include "table.h"

#include <stdlib.h>

#include "terminal.h"
#include "text.h"
#include "util/array.h"

struct table_column *table_add_column(struct text_table *table, const char *heading)
{
	struct table_column *column = &table->column[table->columns++];

	*column = (struct table_column){ .gap = table->columns > 1 ? 2 : 0 };
	snprintf(column->heading, sizeof(column->heading), "%s", heading);
	return column;
}

u32 table_add_row(struct text_table *table)
{
	u32 size = table->columns * sizeof(char *);
	char **grown = array_reserve(table->cell, &table->capacity, table->rows + 1, size,
				     UINT32_MAX / size);

	if (!grown)
		return UINT32_MAX;
	table->cell = grown;
	memset(&grown[table->rows * table->columns], 0, size);
	return table->rows++;
}

void table_set_cell(struct text_table *table, u32 row, u32 column, const char *text)
{
	char **cell;

	if (row == UINT32_MAX)
		return;
	cell = &table->cell[row * table->columns + column];
	free(*cell);
	*cell = strndup(text, TABLE_CELL_SIZE - 1);
}

static const char *get_cell(const struct text_table *table, u32 row, u32 column)
{
	return table->cell[row * table->columns + column] ?: "";
}

static size_t sum_widths(const struct text_table *table, const size_t *width)
{
	size_t total = 0;

	for (u32 c = 0; c < table->columns; c++)
		total += table->column[c].gap + width[c];
	return total;
}

/*
 * Return the column with the next higher order than @after; the number of columns if there is none.
 */
static u32 find_next_column(const struct text_table *table, unsigned int after)
{
	u32 next = table->columns;

	for (u32 c = 0; c < table->columns; c++) {
		unsigned int order = table->column[c].order;

		if (order > after && (next == table->columns || order < table->column[next].order))
			next = c;
	}
	return next;
}

/* Shorten columns until the table fits into @limit, but no column below its minimum. */
static void widths_shrink(const struct text_table *table, size_t limit, size_t *width)
{
	for (unsigned int pass = 0; pass < 2; pass++) {
		u32 c = find_next_column(table, 0);

		for (; c < table->columns; c = find_next_column(table, table->column[c].order)) {
			size_t total = sum_widths(table, width);
			size_t floor = table->column[c].floor[pass];
			size_t spare = floor && width[c] > floor ? width[c] - floor : 0;

			if (total <= limit)
				return;
			width[c] -= total - limit < spare ? total - limit : spare;
		}
	}
}

static void compute_widths(const struct text_table *table, size_t limit, size_t *width)
{
	for (u32 c = 0; c < table->columns; c++) {
		width[c] = table->column[c].width ?: text_get_width(table->column[c].heading);
		for (u32 row = 0; row < table->rows; row++) {
			size_t cell = text_get_width(get_cell(table, row, c));

			if (cell > width[c])
				width[c] = cell;
		}
	}
	if (limit)
		widths_shrink(table, limit, width);
}

/* Print one row, or the headings if @row is UINT32_MAX. */
static void print_line(const struct text_table *table, FILE *out, size_t limit, bool colour,
		       const size_t *width, u32 row)
{
	char line[TABLE_COLUMNS_MAX * TEXT_SIZE], fitted[TEXT_SIZE];
	bool headings = row == UINT32_MAX;
	char *end = line;

	*end = 0;
	for (u32 c = 0; c < table->columns; c++) {
		const struct table_column *column = &table->column[c];
		bool right = column->right && !(headings && column->heading_left);

		text_fit(headings ? column->heading : get_cell(table, row, c), width[c], right,
			 fitted);
		end += sprintf(end, "%*s%s", (int)column->gap, "", fitted);
	}
	while (end > line && end[-1] == ' ')
		*--end = 0;
	/* Truncate the line if the terminal is too narrow even for the numbers. */
	if (limit && text_get_width(line) > limit && limit < TEXT_WIDTH_MAX) {
		text_fit(line, limit, false, fitted);
		snprintf(line, sizeof(line), "%s", fitted);
	}
	term_print(out, colour, headings ? TERM_STRONG : TERM_PLAIN, line);
	fputc('\n', out);
}

void table_print(const struct text_table *table, FILE *out, size_t width, bool colour)
{
	size_t widths[TABLE_COLUMNS_MAX];

	compute_widths(table, width, widths);
	print_line(table, out, width, colour, widths, UINT32_MAX);
	for (u32 row = 0; row < table->rows; row++)
		print_line(table, out, width, colour, widths, row);
}

void table_deinit(struct text_table *table)
{
	for (u32 i = 0; i < table->rows * table->columns; i++)
		free(table->cell[i]);
	free(table->cell);
	*table = (struct text_table){ 0 };
}
