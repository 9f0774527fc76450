/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files that commands write by -o: what was there stays until the whole of the new one is, which
 * has another name beside it meanwhile. Devices, pipes and the like are written as they are, and "-"
 * is standard output.
 */
#ifndef SPEPROF_OUTPUT_H
#define SPEPROF_OUTPUT_H

#include <sys/stat.h>

#include "codec/env.h"

/**
 * struct output - one that is written
 * @fd: to write to; -1 where there is none, or somebody else closes it
 * @beside: the name that it has meanwhile; NULL where it is written as it is
 * @path: the name that it is to have, no link
 */
struct output {
	int fd;
	char *beside;
	char *path;
};

#define OUTPUT_NONE ((struct output){ .fd = -1 })

/** output_open() - @mode is a new file's, the umask taken off. Return: 0 or negative errno */
int output_open(const char *path, mode_t mode, struct output *ret_output);

/** output_check() - what output_open() would return, for work that takes its time before */
int output_check(const char *path);

/**
 * output_write() - the whole of @from, a file, whose offset is shared with who sent it
 *
 * Opened and committed in one. Return: 0 or negative errno.
 */
int output_write(const char *path, mode_t mode, int from);

/** output_commit() - it is whole: it gets its name. Negative errno where it is not, as output_drop() */
int output_commit(struct output *output);

/** output_keep_temporary() - it is not whole, and keeps the name that it has */
void output_keep_temporary(struct output *output);

/** output_drop() - what was there stays; no harm behind output_commit() */
void output_drop(struct output *output);

#endif
