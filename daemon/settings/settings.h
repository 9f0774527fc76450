/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files of "[Section]" and "Key=value" lines, line by line: what they mean is the reader's. */
#ifndef SPEPROF_SETTINGS_H
#define SPEPROF_SETTINGS_H

/**
 * typedef settings_fn - take a line, without the blanks around it; neither empty nor a comment
 *
 * Return: 0, or a negative errno, which ends the reading.
 */
typedef int (*settings_fn)(void *ctx, char *line);

/**
 * settings_read() - hand each line of a file to @take
 * @ret_line: of the line that @take refused, 1 and up; 0 where it is the file itself
 *
 * Return: 0; what @take returned; -ENOENT and other negative errno of the file.
 */
int settings_read(const char *path, settings_fn take, void *ctx, unsigned int *ret_line);

/**
 * settings_split() - part "Key = value" in place
 *
 * Return: the value, and @line is the key then; NULL if there is no "=".
 */
char *settings_split(char *line);

#endif
