/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The records that the BPF programs pass to the daemon. Programs and daemon include this file. */
#ifndef SPEPROF_TASK_RECORD_H
#define SPEPROF_TASK_RECORD_H

#include <linux/types.h>

#define TASK_RECORD_COMM 16
#define TASK_RECORD_PATH 1024 /* TRACE_CGROUP_PATH_LEN of the kernel */

/* The types of records. Names with @ are members of &struct task_record. */
enum task_record_type {
	TASK_RECORD_FORK = 1, /* a new thread; @name is the name of the parent */
	TASK_RECORD_EXEC, /* a process executes a program; @name is its new name */
	TASK_RECORD_RETID, /* in execve() a thread with the TID @other became the leader */
	TASK_RECORD_RENAME, /* a thread has the new name @name */
	TASK_RECORD_EXIT, /* a thread exited; @last: the process exited with it */
	TASK_RECORD_ATTACH, /* process @pid moved to @cgroup; @name is its path */
	TASK_RECORD_CGROUP_NEW, /* @cgroup was created at, or renamed to, the path @name */
	TASK_RECORD_CGROUP_REMOVED, /* @cgroup was removed */
	TASK_RECORD_SEED, /* the iterator found an existing task */
};

/**
 * struct task_record - an event in the ring, or a task from the iterator
 * @time_ns: bpf_ktime_get_ns(), which is CLOCK_MONOTONIC
 * @start_ns: start of the process, CLOCK_BOOTTIME; identifies the process together with @pid
 * @cgroup: ID in the default hierarchy (cgroup v2); 0: a cgroup of another hierarchy
 * @start_code: SEED: address of the code of the image; 0: kernel thread
 * @start_stack: SEED: address of the stack of the image; 0: kernel thread
 * @pid: PID in the initial namespace
 * @tid: TID in the initial namespace
 * @other: FORK: PID of the parent; RETID: the former TID
 * @threads: ATTACH: number of threads of the process
 * @type: &enum task_record_type
 * @last: EXIT: this was the last thread of the process
 * @size: bytes of @name, NUL included
 * @name: name of the task, or path of the cgroup (struct task_path_record)
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

/* A record with a path instead of a name. Only the used bytes of the path are in the ring. */
struct task_path_record {
	struct task_record head;
	char rest[TASK_RECORD_PATH - TASK_RECORD_COMM];
};

#define MAP_RECORD_NAME 256 /* the longest component, its NUL included */
#define MAP_RECORD_PATH 1024

enum map_record_kind {
	MAP_RECORD_FILE,
	MAP_RECORD_DELETED, /* a file that was deleted, or never had a name */
	MAP_RECORD_SPECIAL, /* a mapping of the kernel such as the vDSO; the path is its name */
};

/* Maximum number of processes with lost mappings; losses of other processes are unattributed. */
#define LOST_MAPS_MAX 512

/**
 * struct map_record - an executable mapping
 * @time_ns: bpf_ktime_get_ns(), which is CLOCK_MONOTONIC
 * @start: address
 * @length: bytes
 * @offset: offset in the file, in bytes
 * @inode: inode number of the file
 * @device: device of the file system of @inode: 12 bits of major, 20 bits of minor number
 * @pid: PID in the initial namespace
 * @tid: TID in the initial namespace
 * @kind: &enum map_record_kind
 * @size: bytes of @path
 * @path: the components of the path below the root directory of the task, the last one first, each
 * with NUL
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
 * struct switch_entry - a context switch of a CPU
 * @time_ns: time of the switch, CLOCK_MONOTONIC
 * @tid: the task that runs from @time_ns on; 0: the idle task; SWITCH_UNKNOWN: unknown
 */
struct switch_entry {
	__u64 time_ns;
	__u32 tid;
	__u32 pad;
};

#define SWITCH_UNKNOWN 0xffffffffU

/* The number of switches of a CPU, on a separate cache line. */
struct switch_head {
	__u64 count;
	__u64 pad[7];
};

#endif
