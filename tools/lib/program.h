/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Run other programs: modprobe, modinfo, systemctl. */
#ifndef SPEPROF_PROGRAM_H
#define SPEPROF_PROGRAM_H

#include <stdio.h>
#include <sys/types.h>

/**
 * program_run() - run a program and wait until it exits
 * @argv: its name, which is searched in PATH and in /sbin, and its arguments; NULL-terminated
 *
 * The program prints to the same files as this process.
 *
 * Return: 0 if it exits with 0; -EIO if not; another negative errno if it cannot be started,
 * -ENOENT if it is not installed.
 */
int program_run(char **argv);

/**
 * struct program - a program, with a pipe from its output
 * @pid: its process
 * @output: its standard output; its standard error is discarded
 */
struct program {
	pid_t pid;
	FILE *output;
};

/**
 * program_start() - start a program
 * @argv: as for program_run()
 * @ret_program: on success, program_finish() must follow
 *
 * Return: 0 or negative errno.
 */
int program_start(char **argv, struct program *ret_program);

/**
 * program_finish() - close the output and wait until the program exits
 *
 * Return: as program_run().
 */
int program_finish(struct program *program);

#endif
