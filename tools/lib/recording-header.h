/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Print the facts in a recording about how it was made. */
#ifndef SPEPROF_RECORDING_HEADER_H
#define SPEPROF_RECORDING_HEADER_H

#include <stdio.h>

#include "input.h"

/**
 * recording_header_format_summary() - write one line: host, kernel, start and command
 * @input: a recording that was read
 * @to: receives the line; "" if all of these are unknown
 * @size: bytes of @to
 */
void recording_header_format_summary(const struct input_recording *input, char *to, size_t size);

/**
 * recording_header_print() - print all known facts, and the build ids of binaries with samples
 * @path: file name of the recording, for the first line
 *
 * Return: 0; -ENOMEM if memory cannot be allocated.
 */
int recording_header_print(FILE *out, const char *path, struct input_recording *input);

/**
 * recording_header_print_json() - print the facts of recording_header_print() as one line of JSON
 * @path: the file name
 *
 * Return: 0; -ENOMEM if memory cannot be allocated.
 */
int recording_header_print_json(FILE *out, const char *path, struct input_recording *input);

#endif
