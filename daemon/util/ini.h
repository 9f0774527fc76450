/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files of "[Section]" and "Key=value" lines, line by line: what they mean is the reader's. */
#ifndef SPEPROF_INI_H
#define SPEPROF_INI_H

#include <stdbool.h>
#include <stddef.h>

/**
 * typedef ini_line_fn - take a line, without the blanks around it; neither empty nor a comment
 *
 * Return: 0, or a negative errno, which ends the reading.
 */
typedef int (*ini_line_fn)(void *ctx, char *line);

/**
 * ini_read() - hand each line of a file to @take
 * @ret_line: of the line that @take refused, 1 and up; 0 where it is the file itself
 *
 * Return: 0; what @take returned; -ENOENT and other negative errno of the file.
 */
int ini_read(const char *path, ini_line_fn take, void *ctx, unsigned int *ret_line);

/** typedef ini_file_fn - read a file; negative errno, -ENOENT for none, ends the reading */
typedef int (*ini_file_fn)(void *ctx, const char *path);

/**
 * ini_read_files() - hand all files of a configuration to @read: @path, then "@path.d" / "*.conf"
 * by name, then the credential @credential; what comes later wins
 * @must: whether @path must be there
 * @ret_path: the file that @read refused
 *
 * Return: 0, or what @read returned.
 */
int ini_read_files(const char *path, bool must, const char *credential, ini_file_fn read, void *ctx,
		   char *ret_path, size_t size);

/**
 * ini_split() - part "Key = value" in place
 *
 * Return: the value, and @line is the key then; NULL if there is no "=".
 */
char *ini_split(char *line);

#endif
