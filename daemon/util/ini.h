/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads configuration files of "[Section]" and "Key=value" lines; the caller interprets the lines. */
#ifndef SPEPROF_INI_H
#define SPEPROF_INI_H

#include <stdbool.h>
#include <stddef.h>

/**
 * typedef ini_line_fn - parse one line
 * @ctx: the argument of ini_read()
 * @line: the line without surrounding whitespace; it is neither empty nor a comment
 *
 * Return: 0, or a negative errno, which stops the reading.
 */
typedef int (*ini_line_fn)(void *ctx, char *line);

/**
 * ini_read() - read a file, and call @parse for each line
 * @path: the file
 * @parse: called for each line
 * @ctx: for @parse
 * @ret_line: number of the line for which @parse failed, from 1; 0 if the file could not be read
 *
 * Return: 0; what @parse returned; -ENOENT or another negative errno if the file cannot be read.
 */
int ini_read(const char *path, ini_line_fn parse, void *ctx, unsigned int *ret_line);

/**
 * typedef ini_file_fn - read one file
 *
 * Return: 0; -ENOENT if the file does not exist; another negative errno, which stops the reading.
 */
typedef int (*ini_file_fn)(void *ctx, const char *path);

/**
 * ini_read_files() - read all files of a configuration
 * @path: the main file, which is read first; then the files "*.conf" in the folder "@path.d",
 * sorted by name
 * @must: true if a missing @path is an error
 * @credential: name of a systemd credential, which is read last if it is set
 * @read: called for each file; settings of a later file override those of an earlier one
 * @ctx: for @read
 * @ret_path: path of the file for which @read failed
 * @size: bytes of @ret_path
 *
 * Return: 0, or what @read returned.
 */
int ini_read_files(const char *path, bool must, const char *credential, ini_file_fn read, void *ctx,
		   char *ret_path, size_t size);

/**
 * ini_split_line() - split "Key = value" in place
 * @line: becomes the key
 *
 * Return: the value, which is a part of @line; NULL if there is no "=".
 */
char *ini_split_line(char *line);

/**
 * ini_parse_bool() - parse the value of a switch: yes, true, on or 1; no, false, off or 0
 *
 * Return: 0; -EINVAL for any other value. @ret is then unchanged.
 */
int ini_parse_bool(const char *value, bool *ret);

#endif
