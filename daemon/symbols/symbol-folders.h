/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The directories in which the opener searches files of a recording instead of "/". */
#ifndef SPEPROF_SYMBOL_FOLDERS_H
#define SPEPROF_SYMBOL_FOLDERS_H

/**
 * struct symbol_folders - directories of the options --symfs and --debug-dir; all zeros: none
 * @symfs: root directory of the recorded machine: binaries and debug data of recordings are opened
 *	below it, and nowhere else. NULL: "/"
 * @debug_dir: directory with separate debug files, which is searched first; NULL: none
 *
 * Neither ".." nor symbolic links lead outside these directories. The strings are borrowed.
 */
struct symbol_folders {
	const char *symfs;
	const char *debug_dir;
};

#endif
