/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Errors and warnings: one sentence on standard error, and the exit status.
 */
#ifndef SPEPROF_MESSAGE_H
#define SPEPROF_MESSAGE_H

#include "recording.h"
#include "exit-status.h"

/** say() - "speprof: " and one sentence, cleaned of control characters */
void say(const char *format, ...) __attribute__((__format__(__printf__, 1, 2)));

/** say_fail() - say(), and return @status */
int say_fail(enum status status, const char *format, ...)
	__attribute__((__format__(__printf__, 2, 3)));

/**
 * say_recording(), say_replay() - what recording_open() or recording_replay()
 * reported
 * @r: the negative errno it returned
 *
 * Return: the &enum status for it.
 */
int say_recording(const char *path, int r, const struct recording_error *error);
int say_replay(const char *path, int r, const struct recording_error *error);

/**
 * say_finish() - flush standard output at the end of a verb
 *
 * A closed pipe is no error: its reader has seen enough.
 *
 * Return: @status, or STATUS_FAILED (said) if output was lost and @status is OK.
 */
int say_finish(int status);

#endif
