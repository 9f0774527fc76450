/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Read lines of source files, which may have changed since the program was compiled. */
#ifndef SPEPROF_SOURCE_TEXT_H
#define SPEPROF_SOURCE_TEXT_H

#include "codec/env.h"

/**
 * struct source_text - the last file that was read; all zeros at first, except @shared
 * @shared: the lines are given to other users: read only files that all users may read. Debug data
 * may name any file, such as one with a password
 * @path: path of the file
 * @text: content of the file; NULL if it cannot be read
 */
struct source_text {
	bool shared;
	char path[512];
	char *text;
};

/**
 * source_text_get_line() - get a line of a file
 * @source: caches the file for the next call
 * @path: path of the file; only regular files of at most 16 MiB are read
 * @line: number of the line, from 1
 * @to: receives the line, escaped and without indentation; "" if it cannot be read
 * @size: size of @to, bytes
 */
void source_text_get_line(struct source_text *source, const char *path, u32 line, char *to,
			  size_t size);

/** source_text_deinit() - free the file */
void source_text_deinit(struct source_text *source);

#endif
