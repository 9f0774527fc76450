/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * speprof's own recordings: a file header, then windows as the module's ABI has
 * them (uapi/linux/speprof.h), and task events under a kind of their own, which
 * readers of the ABI skip. Little-endian; everything begins at multiples of 64.
 */
#ifndef SPEPROF_NATIVE_FORMAT_H
#define SPEPROF_NATIVE_FORMAT_H

#include <linux/speprof.h>

#include "source/source.h"

/* Not text, not the first byte of a record's usual packets, not a perf.data. */
#define NATIVE_MAGIC   "\x89SPEPROF"
#define NATIVE_VERSION 1
/* As the writer has it in memory: tells the byte order. */
#define NATIVE_ORDER 0x01020304U

/**
 * struct native_header - the first bytes of a file
 * @header_size: bytes up to the first window, a multiple of 64
 * @backend: SPEPROF_BACKEND_* of the source
 * @command_size: bytes of the command line that made it, behind this, NUL included
 */
struct native_header {
	u8 magic[8];
	u32 version;
	u32 order;
	u32 header_size;
	u32 backend;
	u32 cpus;
	u32 command_size;
	u64 reserved[4];
};

/* A command line that is longer is cut. */
#define NATIVE_COMMAND_MAX 4096
#define NATIVE_HEADER_MAX  (sizeof(struct native_header) + NATIVE_COMMAND_MAX)

/* Places for causes of blind time. */
#define NATIVE_BLINDS 8

/* Bytes of struct native_window that every file has. */
#define NATIVE_WINDOW_FIRST 64

/**
 * struct native_window - what the ABI's header has no field for; between header and records
 * @clock_*: &struct tick_clock of the source
 * @lost_bytes: known to be lost before it
 * @interval: mean operations between samples
 * @tid: the only task it can belong to, or -1
 * @align, @max_record: of records, 0 if unknown
 * @unit: &enum sample_unit, of @interval
 * @blind_by: nanoseconds of the window's blind time by &enum source_blind; a file of before has none
 */
struct native_window {
	u64 clock_zero;
	u32 clock_mult;
	u32 clock_shift;
	u64 lost_bytes;
	u32 interval;
	s32 tid;
	u32 align;
	u32 max_record;
	u32 unit;
	u32 reserved0;
	u64 reserved[2];
	u64 blind_by[NATIVE_BLINDS];
};

/* speprof_window.kind of a task event: the common 64 bytes, this, the name. */
#define NATIVE_KIND_TASK 0x8000

/**
 * struct native_task - a &struct task_event
 * @name_size: bytes of the name behind this, NUL included
 */
struct native_task {
	u64 time_ns;
	u64 start;
	u64 size;
	u64 offset;
	u64 cgroup;
	u64 inode;
	s32 pid;
	s32 tid;
	s32 parent_pid;
	u8 type;
	u8 exec;
	u8 build_id_size;
	u8 reserved;
	u8 build_id[20];
	u32 name_size;
	u64 reserved2[5];
};

#define NATIVE_NAME_MAX 65536

_Static_assert(sizeof(struct native_header) == 64, "the header is one unit");
_Static_assert(sizeof(struct native_window) == 128, "records stay aligned");
_Static_assert(SOURCE_BLINDS <= NATIVE_BLINDS, "each cause of blind time has a place");
_Static_assert(sizeof(struct native_task) == 128, "a task event's fields are two units");

#endif
