/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pages of text in the live view: the help, the details of a row, and the instructions of a
 * function.
 */
#ifndef SPEPROF_LIVE_PAGE_H
#define SPEPROF_LIVE_PAGE_H

#include <json-c/json.h>

#include "lib/terminal.h"
#include "live-state.h"

/* Size of &live_line.text in bytes. */
#define LIVE_LINE_SIZE 256

/** struct live_line - a line of a page; @text may contain untrusted names */
struct live_line {
	enum term_style ink;
	char text[LIVE_LINE_SIZE];
};

/**
 * struct live_page - a page
 * @line: @count lines, with space for @capacity lines
 * @heaviest: number of the line of the instruction with most samples; 0 if there is none
 */
struct live_page {
	struct live_line *line;
	u32 count;
	u32 capacity;
	u32 heaviest;
};

/**
 * struct live_histograms - the histograms of a row
 * @json: an object of GetFigures; NULL: not received yet, or refused
 * @error: why there are no histograms; "": there are, or none were received yet
 * @period: period of the histograms
 */
struct live_histograms {
	json_object *json;
	char error[512];
	enum view_span period;
};

/**
 * struct live_instructions - the instructions of a function
 * @json: an array of listing_json(); NULL: not received yet, or refused
 * @error: why there are no instructions; "": there are, or none were received yet
 */
struct live_instructions {
	json_object *json;
	char error[512];
};

/** live_page_add_help() - append the keys of the live view to @page */
void live_page_add_help(struct live_page *page);

/**
 * live_page_add_details() - append the details of a row to @page
 * @row: the row, with names, levels and events of the shown period
 * @header: header of the view that has the row
 * @histograms: histograms of the row
 * @period: the shown period, for the heading
 * @width: columns of the page
 */
void live_page_add_details(struct live_page *page, const struct view_row *row,
			   const struct view_header *header,
			   const struct live_histograms *histograms, u32 period, u32 width);

/**
 * live_page_add_instructions() - append the source and the instructions of a function to @page
 * @instructions: the instructions
 * @width: columns of the page. Below 60, the samples are in the line after an instruction
 */
void live_page_add_instructions(struct live_page *page,
				const struct live_instructions *instructions, u32 width);

/**
 * live_page_write_heading() - write the heading of the instructions
 * @modelled: whether an emulated SPU models latencies and levels
 * @width: columns of the page
 * @ret: the heading, LIVE_LINE_SIZE bytes
 */
void live_page_write_heading(bool modelled, u32 width, char ret[static LIVE_LINE_SIZE]);

/** live_page_clear() - free the lines */
void live_page_clear(struct live_page *page);

#endif
