/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The recording format of speprof: a file header, then windows as the module's ABI defines them
 * (uapi/linux/speprof.h). Task events, functions of the kernel and facts are windows of other
 * kinds, which readers of the ABI skip. All fields are little-endian; headers begin at multiples of
 * 64 bytes.
 */
#ifndef SPEPROF_NATIVE_FORMAT_H
#define SPEPROF_NATIVE_FORMAT_H

#include <linux/speprof.h>

#include "source/source.h"

/*
 * The first byte is not ASCII, and differs from the headers of the packets with which SPE records
 * usually begin.
 */
#define NATIVE_MAGIC   "\x89SPEPROF"
#define NATIVE_VERSION 1
/* A number in the byte order of the writer, so that the reader can detect another byte order. */
#define NATIVE_ORDER 0x01020304U

/**
 * struct native_header - the first bytes of a file; the command line of the program that wrote the
 * file follows
 * @magic: NATIVE_MAGIC
 * @version: NATIVE_VERSION
 * @order: NATIVE_ORDER
 * @header_size: offset of the first window, bytes: a multiple of 64
 * @backend: SPEPROF_BACKEND_* of the source
 * @cpus: number of sampled CPUs
 * @command_size: length of the command line, bytes, including its NUL
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

/* Size of a command line with its NUL; a longer one is truncated. */
#define NATIVE_COMMAND_MAX 4096
#define NATIVE_HEADER_MAX  (sizeof(struct native_header) + NATIVE_COMMAND_MAX)

/* Entries of &native_window.blind_by; at least SOURCE_BLINDS, so that causes can be added. */
#define NATIVE_BLINDS 8

/* Size of struct native_window in its first version, which ends before &native_window.blind_by. */
#define NATIVE_WINDOW_MIN 64

/**
 * struct native_window - fields that the ABI's header lacks. They follow that header, before the
 * records
 * @clock_zero, @clock_mult, @clock_shift: &struct timestamp_clock of the source
 * @lost_bytes: bytes that were lost before this window
 * @interval: mean number of operations between samples
 * @tid: the task of all records; -1 if the records may belong to several tasks
 * @align: alignment of records, bytes; 0 if unknown
 * @max_record: maximum size of a record, bytes; 0 if unknown
 * @unit: &enum sample_unit of @interval
 * @blind_by: blind time, ns, indexed by &enum source_blind. The first version of this struct does
 * not have this member
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

/*
 * speprof_window.kind of a task event: the first 64 bytes of &struct speprof_window, then &struct
 * native_task, then the name. For a TASK_SWITCH, speprof_window.cpu is the CPU of the switch.
 */
#define NATIVE_KIND_TASK 0x8000

/**
 * struct native_task - the fields of &struct task_event
 * @name_size: length of the name that follows, bytes, including its NUL
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

/* Maximum size of the name in a window of a task event in bytes, with its NUL. */
#define NATIVE_NAME_MAX 65536

/*
 * speprof_window.kind of functions of the kernel: the first 64 bytes of &struct speprof_window,
 * then for each function &struct native_function and its name. The functions are written at the end
 * of a recording, because it is then known which functions have samples.
 */
#define NATIVE_KIND_FUNCTIONS 0x8001

/* Maximum number of bytes of names in one window of functions. */
#define NATIVE_FUNCTIONS_MAX 65536

/**
 * struct native_function - a function of the kernel or of a module
 * @start: address of its first instruction
 * @size: its size, bytes
 * @name_size: length of the name that follows, bytes, including its NUL
 */
struct native_function {
	u64 start;
	u32 size;
	u32 name_size;
};

/*
 * speprof_window.kind of facts about the creation of the file: the first 64 bytes of &struct
 * speprof_window, then pairs of a key and a value. Each key and value ends with a NUL. The keys are
 * "host", "kernel", "machine", "version", "time" (CLOCK_REALTIME in decimal ns), "line_size" (bytes
 * of the largest cache line, decimal), and for each NUMA node "node" with its number and the list of
 * its CPUs, and "memory" with its number and its physical addresses: ranges such as
 * "40000000-80000000" in hexadecimal, without the end, with commas between them. This window is the
 * first one of a file. Older files have no such window, no "line_size", no nodes or no memory.
 */
#define NATIVE_KIND_FACTS 0x8002
/* Start of the key of a node, before its decimal number. */
#define NATIVE_FACT_NODE "node"
/* Start of the key of the memory of a node, before its decimal number. */
#define NATIVE_FACT_MEMORY "memory"

/* Maximum number of bytes of the pairs of names and values in a window of facts. */
#define NATIVE_FACTS_MAX 4096

_Static_assert(sizeof(struct native_header) == 64, "windows begin at a multiple of 64 bytes");
_Static_assert(sizeof(struct native_window) == 128, "records begin at a multiple of 64 bytes");
_Static_assert(offsetof(struct native_window, blind_by) == NATIVE_WINDOW_MIN,
	       "the first version ends before @blind_by");
_Static_assert(SOURCE_BLINDS <= NATIVE_BLINDS, "the format holds every cause of blind time");
_Static_assert(sizeof(struct native_task) == 128, "no compiler adds padding");
_Static_assert(sizeof(struct native_function) == 16, "no compiler adds padding");

#endif
