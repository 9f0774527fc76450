/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Write files that commands create with -o. An existing file is not changed until the new one is
 * complete: the new one is written under a temporary name in the same directory, and renamed.
 * Devices and pipes are written directly, and "-" is standard output.
 */
#ifndef SPEPROF_OUTPUT_H
#define SPEPROF_OUTPUT_H

#include <sys/stat.h>

#include "codec/env.h"

/**
 * struct output_file - a file that is being written
 * @fd: descriptor to write to; -1 if none is open
 * @temporary_path: temporary name of the file; NULL if it is written directly
 * @path: name of the complete file, with symbolic links resolved
 */
struct output_file {
	int fd;
	char *temporary_path;
	char *path;
};

/* An output that is not open: for it, all functions except output_open() do nothing. */
#define OUTPUT_NONE ((struct output_file){ .fd = -1 })

/**
 * output_open() - open a file for writing
 * @path: name of the file; "-" is standard output
 * @mode: access bits of a new file, reduced by the umask; an existing file keeps its access bits
 * @ret_output: the caller finishes it by output_commit(), output_keep_temporary() or output_drop()
 *
 * A signal that ends the process removes the temporary file.
 *
 * Return: 0 or a negative errno.
 */
int output_open(const char *path, mode_t mode, struct output_file *ret_output);

/**
 * output_check() - return the result that output_open() would have, without creating a file
 *
 * Call it before work that takes long.
 */
int output_check(const char *path);

/**
 * output_write_from_fd() - write a file with the content of another one
 * @path: name of the file; "-" is standard output
 * @mode: as for output_open()
 * @from: descriptor of the content, which is read from its start; its file offset is neither used
 * nor changed
 *
 * Return: 0 or a negative errno.
 */
int output_write_from_fd(const char *path, mode_t mode, int from);

/**
 * output_commit() - give a complete file its name
 * @output: closed by this function
 *
 * Return: 0; a negative errno if data could not be written; the file is then removed, as by
 * output_drop().
 */
int output_commit(struct output_file *output);

/**
 * output_keep_temporary() - close an incomplete file, which keeps its temporary name
 */
void output_keep_temporary(struct output_file *output);

/** output_drop() - remove an incomplete file; does nothing after output_commit() */
void output_drop(struct output_file *output);

#endif
