/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Read /proc of one task, through a descriptor of the task's directory. So all results belong to
 * that task, even if it exits and its PID is reused.
 */
#ifndef SPEPROF_PROCFS_H
#define SPEPROF_PROCFS_H

#include "codec/env.h"

#include <sys/types.h>

struct source_sink;

/**
 * PROCFS_KTHREAD - the value of PF_KTHREAD in &procfs_stat.flags. The kernel cannot change it,
 * because ps depends on it
 */
#define PROCFS_KTHREAD 0x00200000U

/**
 * struct procfs_stat - the contents of /proc/PID/stat
 * @comm: raw name of the task; kernel threads may have more than 15 bytes
 * @state: 'R', 'Z', ...
 * @flags: the kernel's PF_ flags
 * @threads: number of threads in the process
 * @start_time: time of the fork in ticks since the boot
 * @start_code, @start_stack: addresses, which change with execve(); 0 if the caller may not see
 *	them
 */
struct procfs_stat {
	char comm[64];
	char state;
	u32 flags;
	u32 threads;
	u64 start_time;
	u64 start_code;
	u64 start_stack;
};

/**
 * struct procfs_map - an executable mapping
 * @start, @end: the addresses from @start to @end - 1
 * @offset: file offset of @start
 * @inode: inode number of the file
 * @device: device of the file, as device_number() returns it
 * @path: raw path, NUL-terminated; "" for anonymous memory
 */
struct procfs_map {
	u64 start;
	u64 end;
	u64 offset;
	u64 inode;
	u32 device;
	const char *path;
};

/**
 * procfs_open_task() - open the directory of the process or thread @tid
 * @proc: descriptor of /proc
 *
 * Return: a descriptor; -ENOENT if the task does not exist; another negative errno.
 */
int procfs_open_task(int proc, s32 tid);

/**
 * procfs_open_thread() - open the directory of the thread @tid of a process
 * @dir: descriptor of the process's directory
 *
 * Return: a descriptor; -ENOENT if @tid is no thread of that process; another negative errno.
 */
int procfs_open_thread(int dir, s32 tid);

/** procfs_has_thread() - return whether @tid is a thread of the process at @dir */
bool procfs_has_thread(int dir, s32 tid);

/**
 * procfs_read_file() - read @file of a task's directory from its start
 * @dir: descriptor of the directory
 * @buf: receives at most @size - 1 bytes and a NUL; a longer file is truncated
 *
 * Return: number of bytes; -ESRCH if the task exited; another negative errno.
 */
ssize_t procfs_read_file(int dir, const char *file, char *buf, size_t size);

/**
 * procfs_read_ids() - read the process and the user of a task
 * @dir: descriptor of the task's directory
 * @ret_tgid: thread group id
 * @ret_uid: real user id, which a process without privileges cannot change
 *
 * Return: 0; -EBADMSG if the status file has no valid thread group id; another negative errno.
 */
int procfs_read_ids(int dir, s32 *ret_tgid, u32 *ret_uid);

/**
 * procfs_read_stat() - read the stat file of a task
 * @dir: descriptor of the task's directory
 * @ret_stat: the parsed fields
 *
 * Return: 0; -EBADMSG if the file cannot be parsed; another negative errno.
 */
int procfs_read_stat(int dir, struct procfs_stat *ret_stat);

/**
 * struct procfs_maps_cost - the cost of reading mappings
 * @skipped: number of lines that were too long or could not be parsed, plus 1 if there was more
 * than PROCFS_MAPS_BYTES
 * @bytes: bytes read; a query of the kernel counts as MAP_QUERY_BYTES
 */
struct procfs_maps_cost {
	u64 skipped;
	u64 bytes;
};

/*
 * Limit of the bytes of /proc/PID/maps that are read. It suffices for 65530 lines, the default of
 * vm.max_map_count, unless the paths are long
 */
#define PROCFS_MAPS_BYTES (8U << 20)

/**
 * procfs_read_maps() - call @each for the executable mappings of a task, in order of addresses
 * @dir: descriptor of the task's directory
 * @from: report only mappings that end after this address
 * @each: called with @ctx; returns false to end the walk
 * @ret_cost: number of bytes read, and of lines skipped
 *
 * The function uses PROCMAP_QUERY, which Linux 6.11 and later have. On other kernels it parses the
 * text of maps. Before Linux 6.17 both ways wait for the mmap lock of the process.
 *
 * Return: 0, or a negative errno.
 */
int procfs_read_maps(int dir, u64 from, bool (*each)(void *ctx, const struct procfs_map *map),
		     void *ctx, struct procfs_maps_cost *ret_cost);

/**
 * procfs_scan_tasks() - report all tasks in /proc, and the kernel, as task events of a recording
 * @sink: receives names, cgroups and executable mappings as task events
 * @time_ns: time of the events
 *
 * Tasks that exit during the scan are skipped.
 *
 * Return: 0, or a negative errno if /proc cannot be read.
 */
int procfs_scan_tasks(const struct source_sink *sink, u64 time_ns);

/**
 * procfs_scan_kernel() - report the kernel's mapping to @sink as a task event at @time_ns
 *
 * It reports nothing if /proc/kallsyms hides addresses.
 */
void procfs_scan_kernel(const struct source_sink *sink, u64 time_ns);

#endif
