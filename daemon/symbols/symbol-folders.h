/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where files of a recording are searched: directories instead of "/", and servers. */
#ifndef SPEPROF_SYMBOL_FOLDERS_H
#define SPEPROF_SYMBOL_FOLDERS_H

#include "codec/env.h"

/* What is downloaded by a build id. */
enum download_kind {
	DOWNLOAD_PROGRAM, /* the program or library itself */
	DOWNLOAD_DEBUG, /* its separate debug file, or a debug file that several programs share */
	DOWNLOAD_KINDS,
};

/**
 * struct file_download - downloads files by their build id; commands have it, the daemon does not
 * @fetch: download a file, unless it is on this machine already. It blocks, and symbol threads call
 *	it. @id and @size are the build id, @size from 1 to BUILD_ID_MAX bytes. It stops when the
 *	descriptor @stop becomes readable; -1: never. Returns a descriptor, which the caller closes;
 *	-ENOENT if no server has the file; another negative errno
 * @refuse: report that a file of @fetch, with the descriptor @fd, is damaged or has another build
 *	id. It is removed from this machine, and not downloaded again
 */
struct file_download {
	int (*fetch)(enum download_kind kind, const u8 *id, u8 size, int stop);
	void (*refuse)(enum download_kind kind, const u8 *id, u8 size, int fd);
};

/**
 * struct symbol_folders - where files of a recording are searched; all zeros: below "/"
 * @symfs: root directory of the recorded machine: binaries and debug data of recordings are opened
 *	below it, and nowhere else. NULL: "/"
 * @debug_dir: directory with separate debug files, which is searched first; NULL: none
 * @download: downloads files that no directory has; NULL: none. Their build id must be known
 *
 * Neither ".." nor symbolic links lead outside these directories. The pointers are borrowed.
 */
struct symbol_folders {
	const char *symfs;
	const char *debug_dir;
	const struct file_download *download;
};

#endif
