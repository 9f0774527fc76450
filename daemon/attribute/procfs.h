/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * /proc of one task at a time, through a descriptor of its directory: what is
 * read belongs to that task, even if it dies and its number is used again.
 */
#ifndef SPEPROF_PROCFS_H
#define SPEPROF_PROCFS_H

#include "env.h"

#include <sys/types.h>

/** PF_KTHREAD of a task's flags, kernel ABI in practice: ps depends on it */
#define PROCFS_KTHREAD 0x00200000U

/**
 * struct procfs_stat - of /proc/PID/stat
 * @comm: raw bytes; longer than 15 for some kernel threads
 * @state: 'R', 'Z', ...
 * @threads: of its thread group
 * @start_time: ticks since boot
 * @start_code, @start_stack: change with execve; 0 where they may not be seen
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
 * @path: NUL-terminated raw bytes; "" if anonymous
 */
struct procfs_map {
	u64 start;
	u64 end;
	u64 offset;
	u64 inode;
	const char *path;
};

/**
 * procfs_task() - open the directory of a process or thread
 * @proc: descriptor of /proc
 *
 * Return: a descriptor; -ENOENT if there is no such task.
 */
int procfs_task(int proc, s32 tid);

/** procfs_has_thread() - whether @tid is a thread of the process at @dir */
bool procfs_has_thread(int dir, s32 tid);

/**
 * procfs_read() - a whole small file
 * @buf: receives at most @size - 1 bytes and a NUL
 *
 * Return: bytes; -ESRCH if the task is gone.
 */
ssize_t procfs_read(int dir, const char *file, char *buf, size_t size);

/** procfs_tgid() - the process of the task at @dir; -EBADMSG if that is not told */
int procfs_tgid(int dir, s32 *ret_tgid);

int procfs_stat(int dir, struct procfs_stat *ret_stat);

/**
 * procfs_maps() - hand all executable mappings to @each, in order
 * @ret_skipped: lines that were not understood
 */
int procfs_maps(int dir, void (*each)(void *ctx, const struct procfs_map *map), void *ctx,
		u64 *ret_skipped);

#endif
