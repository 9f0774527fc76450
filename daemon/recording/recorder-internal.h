/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A recording that is being written, as its formats see it. */
#ifndef SPEPROF_RECORDER_INTERNAL_H
#define SPEPROF_RECORDER_INTERNAL_H

#include <stdio.h>

#include "perfdata.h"
#include "recorder.h"
#include "tasks/task-event.h"

/* An AUXTRACE record, for the index that perf finds it by. */
struct recorder_index {
	u64 offset;
	u64 size;
};

/**
 * struct recorder_core - a CPU of a perf.data
 * @aux: bytes of its buffer so far
 * @midr: of its windows
 * @any: it had a window with bytes
 * @stopped: an AUX record says that a fault ended the last window
 */
struct recorder_core {
	u64 aux;
	u64 midr;
	bool any;
	bool stopped;
};

#define RECORDER_BUILDS 4096 /* a machine maps some hundreds of files */

/* A file that was mapped; @two builds had its path. */
struct recorder_build {
	char *path;
	u8 id[BUILD_ID_MAX_BYTES];
	u8 size;
	bool two;
};

/**
 * struct recorder - an open recording
 * @pos: of the next byte in the file
 * @bytes: of records taken
 * @omitted: RECORDER_PERF: of them, in windows that are suspect
 * @error: the first failure, negative errno
 * @seq: RECORDER_NATIVE: windows and task events so far
 * @first: RECORDER_PERF: what the first window said, which stands for all
 * @index, @indexed, @index_room: RECORDER_PERF: AUXTRACE records
 * @cores: RECORDER_PERF: by CPU
 * @builds: RECORDER_PERF: of mapped files
 */
struct recorder {
	FILE *file;
	struct recorder_config config;
	char *command;
	u64 pos;
	u64 bytes;
	u64 omitted;
	int error;
	u64 seq;
	struct source_window first;
	bool any;
	struct recorder_index *index;
	u32 indexed;
	u32 index_room;
	struct recorder_core *cores;
	u32 core_count;
	struct recorder_build *builds;
	u32 build_count;
};

/** recorder_write() - append bytes; nothing more is written after a failure */
void recorder_write(struct recorder *recorder, const void *bytes, size_t len);

/** recorder_pad() - zeros up to a multiple of @align in the file */
void recorder_pad(struct recorder *recorder, u32 align);

/** recorder_fail() - keep the first error */
void recorder_fail(struct recorder *recorder, int error);

/* native-write.c */
void native_write_begin(struct recorder *recorder);
void native_write_window(struct recorder *recorder, const struct source_window *window);
void native_write_task(struct recorder *recorder, const struct task_event *event);

/* perfdata-write.c */
void perfdata_write_begin(struct recorder *recorder);
void perfdata_write_window(struct recorder *recorder, const struct source_window *window);
void perfdata_write_task(struct recorder *recorder, const struct task_event *event);
void perfdata_write_end(struct recorder *recorder);

/* perfdata-write-build-ids.c */
void recorder_build_add(struct recorder *recorder, const struct task_event *event);
void recorder_builds_write(struct recorder *recorder);
void recorder_builds_free(struct recorder *recorder);

#endif
