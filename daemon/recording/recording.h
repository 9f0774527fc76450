/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Recordings: raw SPE bytes, a perf.data with AUXTRACE, or speprof's own. All
 * that is read from one is hostile.
 */
#ifndef SPEPROF_RECORDING_H
#define SPEPROF_RECORDING_H

#include "source/source.h"

enum recording_format {
	RECORDING_RAW, /* records, nothing else */
	RECORDING_PERF, /* perf.data */
	RECORDING_NATIVE, /* windows with their headers, and task events */
};

/**
 * struct recording_error - what is wrong with a recording, and where
 * @offset: byte offset in the file, RECORDING_NO_OFFSET if it has none
 * @text: one sentence that names the field, its value and what would be right
 */
struct recording_error {
	u64 offset;
	char text[256];
};

#define RECORDING_NO_OFFSET UINT64_MAX

struct recording;

/**
 * recording_open() - open @path, or standard input for "-", and tell its format
 *
 * Return: 0; -ENOENT and the like if it cannot be opened; -ENODATA if it is
 * empty; -EBADMSG if it is no recording. @ret_error is filled on failure.
 */
int recording_open(const char *path, struct recording **ret_recording,
		   struct recording_error *ret_error);

enum recording_format recording_format(const struct recording *recording);

/**
 * recording_replay() - hand all task events and then all windows to @sink
 * @ret_error: the first damage met; what is readable is handed over all the
 *	same, and nothing else is lost
 *
 * Memory does not grow with the file. May be called again.
 *
 * Return: 0; -EBADMSG if the recording was damaged or cut short; -ENOMSG if it is sound and is a
 * perf.data of something other than SPE.
 */
int recording_replay(struct recording *recording, const struct source_sink *sink,
		     struct recording_error *ret_error);

struct recording *recording_free(struct recording *recording);

#endif
