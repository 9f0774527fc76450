/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compare the listings of two profiles: by instruction if both have the same build of a file, and
 * else by source line.
 */
#ifndef SPEPROF_LISTING_DIFF_H
#define SPEPROF_LISTING_DIFF_H

#include <json-c/json.h>
#include <stdio.h>

#include "listing.h"
#include "query/diff.h"

/**
 * struct compared_side - the samples of a line in a profile
 * @samples: number of samples
 * @part, @whole: their share of all samples is @part / @whole; @whole is 0 without samples
 * @latencies, @latency_sum: samples with a total latency, and the sum in cycles
 */
struct compared_side {
	u64 samples;
	u64 part;
	u64 whole;
	u64 latencies;
	u64 latency_sum;
};

/**
 * struct compared_line - an instruction or a source line
 * @line: instruction of a side; of its members only the source is that of a source line
 * @side: its samples in both profiles
 */
struct compared_line {
	const struct listing_line *line;
	struct compared_side side[DIFF_SIDES];
};

/**
 * struct compared_function - a function
 * @side: the function in both profiles; NULL: the profile does not have it
 * @instructions: the lines are instructions, not source lines
 * @line: @lines lines: all instructions, or source lines with samples
 */
struct compared_function {
	const struct listing_function *side[DIFF_SIDES];
	bool instructions;
	struct compared_line *line;
	u32 lines;
};

/**
 * struct listing_diff - all functions
 * @modelled: whether an emulated SPU wrote at least one of the profiles
 * @function: @functions functions, those of the first profile first
 */
struct listing_diff {
	bool modelled;
	struct compared_function *function;
	u32 functions;
};

/**
 * listing_diff_init() - compare two listings
 * @listing: the listings, before and after; they must outlive @ret_diff
 * @modelled: &listing_diff.modelled
 * @ret_diff: the functions; free them with listing_diff_deinit(), also on failure
 *
 * A function is compared with the function of the same name: that of the same build if there is
 * one, else that of a file of the same name, else any.
 *
 * Return: 0; -ENOMEM if memory cannot be allocated.
 */
int listing_diff_init(const struct listing *const listing[static DIFF_SIDES], bool modelled,
		      struct listing_diff *ret_diff);

/**
 * listing_diff_print() - print the functions as text
 * @width: columns of the terminal; 0: lines of any length
 * @colour: whether to print colours by escape sequences
 */
void listing_diff_print(FILE *out, const struct listing_diff *diff, size_t width, bool colour);

/** listing_diff_make_json() - return the functions as an array */
json_object *listing_diff_make_json(const struct listing_diff *diff);

/** listing_diff_deinit() - free the memory */
void listing_diff_deinit(struct listing_diff *diff);

#endif
