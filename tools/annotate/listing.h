/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The instructions of functions with their samples. Each sample of the query's rows is in exactly
 * one line, so the sums equal those of the function's rows in a report.
 */
#ifndef SPEPROF_LISTING_H
#define SPEPROF_LISTING_H

#include "query/query-rows.h"
#include "symbols/function-code.h"
#include "symbols/symbols.h"

/* Value of &listing_line.row for a line without samples. */
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
 * @row: index of its row in the rows of the query; LISTING_NO_ROW: it has no samples
 * @target: targets of a branch, those with most samples first; @targets is their number
 * @other_targets: samples with targets beyond LISTING_TARGETS_MAX
 * @source: source line of the instruction
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

/* Maximum number of targets of one branch that are counted separately */
#define LISTING_TARGETS_MAX 64

/**
 * struct listing_function - a function, or a range of instructions without a name
 * @binary: path of its file, escaped
 * @build_id: hexadecimal; "" if unknown
 * @name: escaped; "" if unknown
 * @reason: why instructions have no text; "" if they have text
 * @line: its instructions in the order of their offsets; @lines is their number
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
 * @rows: rows of the query with the keys LISTING_KEYS
 * @function: the functions, sorted by binary and offset; @functions is their number
 */
struct listing {
	const struct query_rows *rows;
	struct listing_function *function;
	u32 functions;
};

/* The keys of the query, in the format of query_parse_group(). */
#define LISTING_KEYS "binary,build_id,instruction"

/**
 * listing_init() - read the instructions of the functions that a query has found
 * @rows: rows with the keys LISTING_KEYS; borrowed
 * @symbols: resolver of source lines; lookups in it block
 * @folders: where the files with the instructions are searched
 * @ret_listing: the listing; free it with listing_deinit(), also on failure
 *
 * Return: 0; -ENOMEM if memory cannot be allocated.
 */
int listing_init(const struct query_rows *rows, struct symbols_cache *symbols,
		 const struct symbol_folders *folders, struct listing *ret_listing);

/** listing_deinit() - free a listing */
void listing_deinit(struct listing *listing);

/**
 * listing_find_line() - find the line of an instruction
 * @binary: path of its file, escaped
 * @offset: its offset
 *
 * Return: the line; NULL if no function of the listing has one.
 */
struct listing_line *listing_find_line(const struct listing *listing, const char *binary,
				       u64 offset);

#endif
