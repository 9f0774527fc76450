/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Errors and warnings: one sentence on standard error, and the exit status.
 */
#ifndef SPEPROF_MESSAGE_H
#define SPEPROF_MESSAGE_H

#include "exit-status.h"
#include "recording/recording.h"

/** message_print() - "speprof: " and one sentence, cleaned of control characters */
void message_print(const char *format, ...) __attribute__((__format__(__printf__, 1, 2)));

/** message_fail() - message_print(), and return @status */
int message_fail(enum status status, const char *format, ...)
	__attribute__((__format__(__printf__, 2, 3)));

/**
 * message_fail_recording(), message_fail_replay() - what recording_open() or recording_replay()
 * reported
 * @r: the negative errno it returned
 *
 * Return: the &enum status for it.
 */
int message_fail_recording(const char *path, int r, const struct recording_error *error);
int message_fail_replay(const char *path, int r, const struct recording_error *error);

/**
 * message_finish_output() - flush standard output at the end of a verb
 *
 * A closed pipe is no error: its reader has seen enough.
 *
 * Return: @status, or STATUS_FAILED (said) if output was lost and @status is OK.
 */
int message_finish_output(int status);

#endif
