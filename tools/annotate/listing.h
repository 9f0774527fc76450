/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The instructions of functions with their samples. Each sample of the query's rows is in exactly
 * one line, so the sums are those of the function's rows in a report.
 */
#ifndef SPEPROF_LISTING_H
#define SPEPROF_LISTING_H

#include "query/query-result.h"
#include "symbols/function-code.h"
#include "symbols/symbols.h"

/* A line without samples. */
#define LISTING_NO_ROW UINT32_MAX

/**
 * struct listing_target - a target of a branch
 * @binary: path of the file with the target, escaped; "" for the file of the branch
 * @function: name of the target's function
 * @offset: offset of the target in its file
 * @samples: samples of the branch with this target
 */
struct listing_target {
	char *binary;
	char *function;
	u64 offset;
	u64 samples;
};

/**
 * struct listing_line - an instruction
 * @offset: its offset in the file
 * @text: the instruction, escaped; "" if unknown
 * @row: index of its row in the query's result; LISTING_NO_ROW: it has no samples
 * @target: its branch targets, @targets of them, those with most samples first
 * @other_targets: samples with targets beyond LISTING_TARGETS_MAX
 * @source: its source line
 */
struct listing_line {
	u64 offset;
	char *text;
	u32 row;
	struct listing_target *target;
	u32 targets;
	u64 other_targets;
	struct source_line source;
};

/* Targets of a branch that are counted one by one */
#define LISTING_TARGETS_MAX 64

/**
 * struct listing_function - a function, or a range of instructions without a name
 * @binary: path of its file, escaped
 * @build_id: hexadecimal; "" if unknown
 * @name: escaped; "" if unknown
 * @reason: why instructions have no text; "" if they have
 * @line: its instructions, @lines of them, in the order of their offsets
 */
struct listing_function {
	char *binary;
	char *build_id;
	char *name;
	char reason[192];
	struct listing_line *line;
	u32 lines;
};

/**
 * struct listing - all functions
 * @result: the query by LISTING_KEYS
 * @function: @functions of them, by binary and offset
 */
struct listing {
	const struct query_result *result;
	struct listing_function *function;
	u32 functions;
};

/* The keys of the query, as of query_parse_group(). */
#define LISTING_KEYS "binary,build_id,instruction"

/**
 * listing_init() - read the instructions of the functions that a query has found
 * @result: rows by LISTING_KEYS without a limit; borrowed
 * @symbols: resolver of source lines, which blocks
 * @ret_listing: the listing; free it with listing_deinit(), whatever is returned
 *
 * Return: 0 or -ENOMEM.
 */
int listing_init(const struct query_result *result, struct symbols *symbols,
		 struct listing *ret_listing);

/** listing_deinit() - free a listing */
void listing_deinit(struct listing *listing);

/**
 * listing_find() - find the line of an instruction
 * @binary: path of its file, escaped
 * @offset: its offset
 *
 * Return: the line; NULL if it is in no function.
 */
struct listing_line *listing_find(const struct listing *listing, const char *binary, u64 offset);

#endif
