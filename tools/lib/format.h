/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A view as people read it: the state and the ledgers in two lines, then the
 * table. "~" marks columns that an emulated SPU models.
 */
#ifndef SPEPROF_FORMAT_H
#define SPEPROF_FORMAT_H

#include <stdio.h>

#include "view/view.h"

/**
 * struct format_truth - what a share is known to be, for demos; stands in the
 * first row of its name
 * @name: of a container, or of a process
 */
struct format_truth {
	const char *name;
	double percent;
};

#define FORMAT_TRUTHS 8

/**
 * struct format - how to draw
 * @name: of the recording, or NULL
 * @width: columns of the terminal; 0 for as many as it takes
 * @colour: whether escape sequences are welcome
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

/** format_header() - state and ledgers */
void format_header(FILE *out, const struct view_header *header, const struct format *format);

/** format_status() - the same, and what tells of tasks */
void format_status(FILE *out, const struct view_header *header, const struct format *format);

/** format_table() - headings and rows; only headings where there is no row */
void format_table(FILE *out, const struct view *view, const struct format *format);

#endif
