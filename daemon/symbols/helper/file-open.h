/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files with names, opened with the rights of this process: as their process sees them, and
 * never out of its root. A file system may let an open() wait for as long as it likes.
 */
#ifndef SPEPROF_FILE_OPEN_H
#define SPEPROF_FILE_OPEN_H

#include "symbols/symbol-message.h"

/**
 * struct file_request - which file is wanted
 * @pid: a process that has it mapped, 0 if none lives
 * @path: raw bytes
 * @inode: that it must have, 0 for any
 * @has_id: a build id is known: a file that is found by its path alone will be told by that
 * @live: @pid and @path are of this machine, now
 */
struct file_request {
	const char *path;
	u64 inode;
	s32 pid;
	bool has_id;
	bool live;
};

/** file_system_is_allowed() - whether programs may lie on a file system: @kind as statfs() has it */
bool file_system_is_allowed(u64 kind);

/** file_open() - a descriptor, or a negative errno */
int file_open(const struct file_request *file);

/**
 * file_open_debug() - separate debug information of @file
 * @known: its build id, or the name that it links to
 * @next: which of the places to try: 0 at first; set to the next one
 *
 * Return: a descriptor; -ENOENT when there are no more. Whether it is of that build,
 * the helper tells.
 */
int file_open_debug(const struct file_request *file, const struct symbol_object *known, u32 *next);

/** file_open_alt() - what debug information shares with others, by its build id */
int file_open_alt(const struct file_request *file, const u8 *id, u8 size);

/**
 * file_open_perf_map() - what a runtime tells of the code it made
 * @pid: of the initial namespace; the file has its number in its own
 *
 * It must belong to who runs the process, or to root, as anybody may write to /tmp.
 */
int file_open_perf_map(s32 pid);

#endif
