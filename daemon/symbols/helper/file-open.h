/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Open files with symbols, with the privileges of this process, the opener. Paths are resolved in
 * the root directory of the process that mapped the file, or in the directory of --symfs or
 * --debug-dir, and cannot leave it. Each open() blocks forever if the file system does not answer.
 */
#ifndef SPEPROF_FILE_OPEN_H
#define SPEPROF_FILE_OPEN_H

#include "symbols/symbol-message.h"

#define FOLDER_NONE (-1)

/**
 * struct file_folders - directories for files of recordings, as descriptors; FOLDER_NONE: not given
 * @symfs, @debug_dir: as in &struct symbol_folders
 */
struct file_folders {
	int symfs;
	int debug_dir;
};

/**
 * struct file_request - a mapped file to open
 * @path: its path in the root directory of the process; raw bytes, NUL-terminated
 * @inode: inode that the file must have; 0 for any
 * @pid: a process that maps it; 0 if none exists
 * @has_id: true if its build ID is known, and the caller will compare it. Then a file with that
 * path may be opened even if it may be another file
 * @live: true if @pid and @path belong to this machine, and not to a recording
 * @folders: directories for files of recordings; NULL: none
 */
struct file_request {
	const char *path;
	u64 inode;
	s32 pid;
	bool has_id;
	bool live;
	const struct file_folders *folders;
};

/**
 * file_system_is_allowed() - return true if files of a file system may be opened; @kind is f_type
 * of statfs()
 */
bool file_system_is_allowed(u64 kind);

/** file_open_mapped() - open a mapped file; returns a descriptor or a negative errno */
int file_open_mapped(const struct file_request *file);

/**
 * file_open_debug() - open the next existing candidate for the separate debug information of a file
 * @file: the file
 * @known: the build id of @file, and the name in its .gnu_debuglink
 * @candidate: number of the first candidate to try, from 0; set to the number of the candidate
 * after the opened file
 *
 * The reader checks that the debug information belongs to the file.
 *
 * Return: a descriptor; -ENOENT if there are no more candidates.
 */
int file_open_debug(const struct file_request *file, const struct symbol_file_content *known,
		    u32 *candidate);

/**
 * file_open_shared_debug() - open the file with shared debug information (dwz) that has the build
 * id @id; returns a descriptor or a negative errno
 */
int file_open_shared_debug(const struct file_request *file, const u8 *id, u8 size);

/**
 * file_open_jit_names() - open a file in which a runtime names the code that it compiled
 * @pid: the process, in the initial PID namespace; the name of the file contains its PID in its own
 * namespace
 * @candidate: number of the first candidate to try, from 0; set to the number of the candidate after
 * the opened file. Candidates are /tmp/jit-PID.dump, /tmp/perf-PID.map, and a jit-PID.dump in another
 * directory that the process has mapped
 *
 * The file must belong to the user of the process or to root, because any user can write to /tmp.
 * Symbolic links are not followed.
 *
 * Return: a descriptor; a negative errno if there are no more candidates.
 */
int file_open_jit_names(s32 pid, u32 *candidate);

#endif
