/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the BPF programs hand to the daemon; both sides are built from this file. */
#ifndef SPEPROF_TASK_RECORD_H
#define SPEPROF_TASK_RECORD_H

#include <linux/types.h>

#define TASK_RECORD_COMM 16
#define TASK_RECORD_PATH 1024 /* TRACE_CGROUP_PATH_LEN of the kernel */

enum task_record_type {
	TASK_RECORD_FORK = 1, /* @name: as of now */
	TASK_RECORD_EXEC, /* @name: the new one */
	TASK_RECORD_RETID, /* a thread that was @other executes as its leader */
	TASK_RECORD_RENAME, /* @name: the new one */
	TASK_RECORD_EXIT, /* @last: the process ended with it */
	TASK_RECORD_ATTACH, /* process @pid moved to @cgroup at path @name */
	TASK_RECORD_CGROUP_NEW, /* @cgroup was made at, or renamed to, path @name */
	TASK_RECORD_CGROUP_REMOVED, /* @cgroup was removed */
	TASK_RECORD_SEED, /* of the iterator: a task that is there */
};

/**
 * struct task_record - an event of the ring, or a task of the iterator
 * @time_ns: bpf_ktime_get_ns(), which is CLOCK_MONOTONIC
 * @start_ns: when the process was born, CLOCK_BOOTTIME: with @pid, who it is
 * @cgroup: id in the default hierarchy (version 2); 0: of another hierarchy
 * @start_code, @start_stack: SEED, of the image; 0 for kernel threads
 * @pid: thread group, @tid: thread, both of the initial PID namespace
 * @other: FORK: the parent's @pid; RETID: the former @tid
 * @size: bytes of @name that follow, its NUL included
 * @threads: ATTACH: of the process
 */
struct task_record {
	__u64 time_ns;
	__u64 start_ns;
	__u64 cgroup;
	__u64 start_code;
	__u64 start_stack;
	__s32 pid;
	__s32 tid;
	__s32 other;
	__u32 threads;
	__u16 type;
	__u16 last;
	__u32 size;
	char name[TASK_RECORD_COMM];
};

/* The same with a path for a name: as much of it is in the ring as is used. */
struct task_path_record {
	struct task_record head;
	char rest[TASK_RECORD_PATH - TASK_RECORD_COMM];
};

#define MAP_RECORD_NAME 256 /* the longest component, its NUL included */
#define MAP_RECORD_PATH 1024

enum map_record_kind {
	MAP_RECORD_FILE,
	MAP_RECORD_DELETED, /* a file without a name any more, or that never had one */
	MAP_RECORD_SPECIAL, /* the kernel's own: @path is its whole name */
};

/* Processes whose lost mappings are told by number; of more, that any may have lost some. */
#define MAP_DOUBTS 512

/**
 * struct map_record - executable memory, in a ring of its own
 * @time_ns: as of struct task_record
 * @offset: bytes, in the file
 * @device: of the file system of @inode: 12 bits of major, 20 of minor number
 * @kind: &enum map_record_kind
 * @size: bytes of @path that follow
 * @path: the components below the task's root, the last one first, each with its NUL
 */
struct map_record {
	__u64 time_ns;
	__u64 start;
	__u64 length;
	__u64 offset;
	__u64 inode;
	__u32 device;
	__s32 pid;
	__s32 tid;
	__u32 kind;
	__u32 size;
	char path[MAP_RECORD_PATH + MAP_RECORD_NAME];
};

/**
 * struct switch_entry - who runs on a CPU from then on
 * @time_ns: CLOCK_MONOTONIC, taken just before
 * @tid: SWITCH_UNKNOWN where that turned out not to be known
 */
struct switch_entry {
	__u64 time_ns;
	__u32 tid;
	__u32 pad;
};

#define SWITCH_UNKNOWN 0xffffffffU

/* How many switches there were; on a cache line of its own. */
struct switch_head {
	__u64 count;
	__u64 pad[7];
};

#endif
