/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Run other programs: modprobe, modinfo, systemctl. */
#ifndef SPEPROF_PROGRAM_H
#define SPEPROF_PROGRAM_H

#include <stdio.h>
#include <sys/types.h>

/**
 * program_run() - run a program and wait until it exits
 * @argv: name of the program, which is searched in PATH and in /sbin, and its arguments;
 * NULL-terminated
 *
 * The program prints to the same files as this process.
 *
 * Return: 0 if the program exits with 0; -EIO if not; -ENOENT if it is not installed; another
 * negative errno if it cannot be started.
 */
int program_run(char **argv);

/**
 * struct program - a program, with a pipe from its output
 * @pid: PID of the program
 * @output: descriptor from which its standard output is read; its standard error is discarded
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
 * Return: 0 or a negative errno.
 */
int program_start(char **argv, struct program *ret_program);

/**
 * program_finish() - close the output and wait until the program exits
 *
 * Return: the values of program_run().
 */
int program_finish(struct program *program);

#endif
