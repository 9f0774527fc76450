/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writing recordings: what a source brings, to a file that recording_open()
 * reads back, or that perf does.
 */
#ifndef SPEPROF_RECORDER_H
#define SPEPROF_RECORDER_H

#include "source/source.h"

enum recorder_format {
	RECORDER_NATIVE, /* windows with their headers, nothing is lost */
	RECORDER_PERF, /* perf.data */
};

/**
 * struct recorder_config - what is said of a recording as a whole
 * @format: &enum recorder_format
 * @backend: &enum backend of the source: a perf.data has one place for it
 * @cpus: CPUs sampled
 * @command: how it was made, for people; hostile bytes, NUL-terminated
 */
struct recorder_config {
	enum recorder_format format;
	u8 backend;
	u32 cpus;
	const char *command;
};

struct recorder;

/**
 * recorder_new() - begin a recording
 * @fd: an empty file, duplicated; RECORDER_PERF seeks in it
 *
 * Return: 0; -ESPIPE if @fd cannot seek and the format needs it.
 */
int recorder_new(int fd, const struct recorder_config *config, struct recorder **ret_recorder);

/** recorder_sink() - takes windows and task events; errors are kept for the end */
struct source_sink recorder_sink(struct recorder *recorder);

/** recorder_error() - the negative errno of the first write that failed, 0 so far */
int recorder_error(const struct recorder *recorder);

/** recorder_bytes() - of records taken so far */
u64 recorder_bytes(const struct recorder *recorder);

/** recorder_omitted_bytes() - of these, bytes that the format has no way to mark as suspect */
u64 recorder_omitted_bytes(const struct recorder *recorder);

/** recorder_finish() - write what the end of the file has; negative errno of any write */
int recorder_finish(struct recorder *recorder);

/** recorder_free() - a recording that is not finished is cut short */
struct recorder *recorder_free(struct recorder *recorder);

#endif
