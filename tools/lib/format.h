/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A view as text: state and ledgers in some lines, then the table. "~" marks columns with
 * values that an emulated SPU models.
 */
#ifndef SPEPROF_FORMAT_H
#define SPEPROF_FORMAT_H

#include <stdio.h>

#include "view/view.h"

/**
 * struct format_truth - the share that a container or process is known to have, for demonstrations
 * @name: of the container or the process; the value is shown in the first row with that name
 * @percent: 0 to 100
 */
struct format_truth {
	const char *name;
	double percent;
};

/* How often --truth may be given. */
#define FORMAT_TRUTHS 8

/**
 * struct format - how a view is printed
 * @name: of the recording; NULL for the daemon's profile
 * @truth: @truths known shares
 * @width: columns of the terminal; 0 for lines as long as they need to be
 * @group: what a row stands for
 * @sort: by what rows are sorted
 * @colour: print colours by escape sequences
 */
struct format {
	const char *name;
	const struct format_truth *truth;
	u32 truths;
	size_t width;
	enum view_group group;
	enum view_sort sort;
	bool colour;
};

/** format_header() - print the state and the ledgers of @header */
void format_header(FILE *out, const struct view_header *header, const struct format *format);

/** format_status() - as format_header(), and also memory, task events and configuration */
void format_status(FILE *out, const struct view_header *header, const struct format *format);

/** format_table() - print headings and all rows of @view; without rows only the headings */
void format_table(FILE *out, const struct view *view, const struct format *format);

#endif
