/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Print a listing as text and as JSON. */
#ifndef SPEPROF_LISTING_PRINT_H
#define SPEPROF_LISTING_PRINT_H

#include <json-c/json.h>
#include <stdio.h>

#include "lib/table.h"
#include "listing.h"
#include "source-text.h"

/**
 * listing_print() - print source and instructions side by side
 * @out: the output
 * @listing: the functions
 * @modelled: whether an emulated SPU wrote the recording: then headings of modelled values have a
 * "~"
 * @width: columns of the terminal; 0: lines of any length
 * @colour: whether to print colours by escape sequences
 */
void listing_print(FILE *out, const struct listing *listing, bool modelled, size_t width,
		   bool colour);

/**
 * listing_format_source() - write "FILE:LINE  TEXT" of a source line
 * @source: caches the file for the next call
 * @line: the line
 * @to: receives the text; "" if @line is unknown
 */
void listing_format_source(struct source_text *source, const struct source_line *line,
			   char to[static TABLE_CELL_SIZE]);

/**
 * listing_json() - return the functions as an array
 * @listing: the functions
 * @shared: the result is given to other users: it has no text of source files that not all users
 * may read
 */
json_object *listing_json(const struct listing *listing, bool shared);

#endif
