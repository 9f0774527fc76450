/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * /proc of one task at a time, through a descriptor of its directory: what is
 * read belongs to that task, even if it dies and its number is used again.
 */
#ifndef SPEPROF_PROCFS_H
#define SPEPROF_PROCFS_H

#include "codec/env.h"

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
 * @device: of the file, as device_number() makes it
 * @path: NUL-terminated raw bytes; "" if anonymous
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
 * procfs_task() - open the directory of a process or thread
 * @proc: descriptor of /proc
 *
 * Return: a descriptor; -ENOENT if there is no such task.
 */
int procfs_task(int proc, s32 tid);

/** procfs_thread() - open the directory of @tid, a thread of the process at @dir; -ENOENT */
int procfs_thread(int dir, s32 tid);

/** procfs_has_thread() - whether @tid is a thread of the process at @dir */
bool procfs_has_thread(int dir, s32 tid);

/**
 * procfs_read() - a whole small file
 * @buf: receives at most @size - 1 bytes and a NUL
 *
 * Return: bytes; -ESRCH if the task is gone.
 */
ssize_t procfs_read(int dir, const char *file, char *buf, size_t size);

/**
 * procfs_ids() - the process of the task at @dir, and its user
 * @ret_uid: the real user id, which a process without privileges cannot change
 *
 * Return: 0; -EBADMSG if /proc shows no process; another negative errno.
 */
int procfs_ids(int dir, s32 *ret_tgid, u32 *ret_uid);

int procfs_stat(int dir, struct procfs_stat *ret_stat);

/**
 * struct procfs_maps_cost - what reading mappings came to
 * @skipped: lines that were not understood, and whatever follows after PROCFS_MAPS_BYTES
 * @bytes: read, or as good as read where the kernel answers queries
 */
struct procfs_maps_cost {
	u64 skipped;
	u64 bytes;
};

/* Above what vm.max_map_count's default of 65530 lines take, unless their paths are long. */
#define PROCFS_MAPS_BYTES (8U << 20)

/**
 * procfs_maps() - hand executable mappings to @each, in order
 * @from: an address; only mappings that end behind it
 * @each: returns false to end
 *
 * Linux 6.11 and later answer queries for executable mappings alone (PROCMAP_QUERY); the text is
 * read where they do not. Before Linux 6.17 both wait for the mmap lock of the process.
 *
 * Return: 0, or a negative errno.
 */
int procfs_maps(int dir, u64 from, bool (*each)(void *ctx, const struct procfs_map *map),
		void *ctx, struct procfs_maps_cost *ret_cost);

#endif
