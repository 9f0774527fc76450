/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Print errors and warnings: one sentence on standard error, and the exit status. */
#ifndef SPEPROF_MESSAGE_H
#define SPEPROF_MESSAGE_H

#include "exit-status.h"
#include "recording/recording.h"

/**
 * message_print() - print "speprof: " and one sentence on standard error
 * @format: as for printf(); control characters in the result become "?", because other users choose
 * the names of files and containers
 */
void message_print(const char *format, ...) __attribute__((__format__(__printf__, 1, 2)));

/**
 * message_fail() - print an error like message_print(), and return @status
 * @status: an &enum verb_exit_status
 *
 * This is a macro so that compilers and analyzers know the returned value.
 */
#define message_fail(status, ...) (message_print(__VA_ARGS__), (int)(status))

/**
 * message_print_recording_error(), message_print_replay_error() - print an error of
 * recording_open(), or of recording_replay()
 * @path: file name of the recording
 * @r: the negative errno that the function returned
 * @error: the details that the function returned
 *
 * Return: the &enum verb_exit_status of that error.
 */
int message_print_recording_error(const char *path, int r, const struct recording_error *error);
int message_print_replay_error(const char *path, int r, const struct recording_error *error);

/**
 * message_finish_output() - flush standard output at the end of a verb
 * @status: exit status of the verb
 *
 * A closed pipe is no error, because its reader needs no more output.
 *
 * Return: @status; STATUS_FAILED, after printing an error, if output was lost and @status is
 * STATUS_OK.
 */
int message_finish_output(int status);

#endif
