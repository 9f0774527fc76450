/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Add the counts of two profiles of one build, in a format that has the build id. */
#ifndef SPEPROF_PROFILE_MERGE_H
#define SPEPROF_PROFILE_MERGE_H

#include <stdio.h>

#include "attribution/maps.h"

/* Maximum number of counted lines, and bytes of them: more than EDGES_MAX edges of two profiles */
#define MERGE_LINES_MAX (1U << 22)
#define MERGE_BYTES_MAX (1ULL << 30)

/**
 * struct merged_line - a line of a profile, without its counts
 * @key: identifies and orders the line
 * @count: its counts; the second is 0 if there is only one
 */
struct merged_line {
	char *key;
	u64 count[2];
};

/**
 * struct profile_merge - the sum of profiles; all zeros: none
 * @format: the format; NULL before the first profile
 * @path: path of the first profile; borrowed
 * @header: its first line
 * @build_id: the build id in it
 * @line: @lines lines, with memory for @capacity
 * @bytes: size of all keys
 */
struct profile_merge {
	const struct merge_format *format;
	const char *path;
	char *header;
	char build_id[2 * BUILD_ID_MAX + 1];
	struct merged_line *line;
	u32 lines;
	u32 capacity;
	u64 bytes;
};

/**
 * profile_merge_read() - add a profile of --format pre-aggregated, brstack or autofdo
 * @merge: all profiles that are added have the same format and build id
 * @path: the file; borrowed until profile_merge_deinit()
 *
 * Return: &enum verb_exit_status; an error was printed.
 */
int profile_merge_read(struct profile_merge *merge, const char *path);

/** profile_merge_print() - write the sum in the format of the profiles */
void profile_merge_print(FILE *out, struct profile_merge *merge);

/** profile_merge_deinit() - free the memory */
void profile_merge_deinit(struct profile_merge *merge);

#endif
