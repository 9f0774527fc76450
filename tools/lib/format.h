/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Print a view as text: state and ledgers in some lines, then the table. "~" marks columns with
 * modelled values of an emulated SPU.
 */
#ifndef SPEPROF_FORMAT_H
#define SPEPROF_FORMAT_H

#include <stdio.h>

#include "table.h"
#include "terminal.h"
#include "view/view.h"

/**
 * struct known_share - the share that a demonstration expects of a container or process
 * @name: name of the container or process; the value is printed in the first row with that name
 * @percent: 0 to 100
 */
struct known_share {
	const char *name;
	double percent;
};

/* entries of &options.known_share: the maximum number of options --truth */
#define KNOWN_SHARES_MAX 8

/** enum format_column - the columns of a table of rows, in their order */
enum format_column {
	FORMAT_COLUMN_SHARE,
	FORMAT_COLUMN_TRUTH,
	FORMAT_COLUMN_CONTAINER,
	FORMAT_COLUMN_PROCESS, /* a process, or a program */
	FORMAT_COLUMN_PID,
	FORMAT_COLUMN_FUNCTION,
	FORMAT_COLUMN_BINARY,
	FORMAT_COLUMN_SOURCE, /* file and line */
	FORMAT_COLUMN_WEIGHT, /* the measure that rows are sorted by, unless that is the share */
	FORMAT_COLUMN_DRAM,
	FORMAT_COLUMN_LATENCY,
	FORMAT_COLUMNS,
};

/**
 * struct view_format - how a view is printed
 * @name: name of the recording; NULL: the daemon's profile
 * @making: one line about how the recording was made; NULL or "": not printed
 * @known_share: known shares, from options --truth
 * @known_shares: number of @known_share
 * @width: columns of the terminal; 0: lines of any length
 * @group: what a row represents
 * @sort: the order of rows
 * @hidden: a bit for each &enum format_column that is never shown
 * @colour: whether to print colours by escape sequences
 */
struct view_format {
	const char *name;
	const char *making;
	const struct known_share *known_share;
	u32 known_shares;
	size_t width;
	enum view_group group;
	enum view_sort sort;
	u32 hidden;
	bool colour;
};

/** format_print_header() - print the state and the ledgers of @header */
void format_print_header(FILE *out, const struct view_header *header,
			 const struct view_format *format);

/**
 * format_item_fn - a function that receives an item of a header; @text is valid only during the
 * call
 */
typedef void (*format_item_fn)(void *ctx, enum term_style ink, const char *text);

/**
 * format_pass_header_items() - pass the items that format_print_header() prints to a function
 * @item: called for each item, in the order of format_print_header()
 * @ctx: its first argument
 */
void format_pass_header_items(const struct view_header *header, format_item_fn item, void *ctx);

/**
 * format_print_status() - print what format_print_header() prints, and also memory, task events and
 * configuration
 */
void format_print_status(FILE *out, const struct view_header *header,
			 const struct view_format *format);

/**
 * format_print_held_cpus() - print the interval, and the CPUs that sample less often, if there are
 * such CPUs
 */
void format_print_held_cpus(FILE *out, const struct view_header *header,
			    const struct view_format *format);

/**
 * format_print_limits() - print what the daemon's limits took from a view: the share of evicted
 * samples and a larger MemoryBudget=, and the CPUs that sample less often; nothing if there are none
 */
void format_print_limits(FILE *out, const struct view_header *header,
			 const struct view_format *format);

/**
 * format_fill_table() - fill a table with all rows of @view
 * @table: an empty table; the caller frees it by table_deinit()
 *
 * Return: a bit for each &enum format_column that the table has.
 */
u32 format_fill_table(const struct view *view, const struct view_format *format,
		      struct text_table *table);

/**
 * format_print_table() - print headings and all rows of @view; only the headings if it has no rows
 */
void format_print_table(FILE *out, const struct view *view, const struct view_format *format);

#endif
