/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Run other programs: modprobe, modinfo, systemctl. */
#ifndef SPEPROF_CHILD_PROCESS_H
#define SPEPROF_CHILD_PROCESS_H

#include <stdio.h>
#include <sys/types.h>

/**
 * child_run_and_wait() - run a program and wait until it exits
 * @argv: name of the program, which is searched in PATH and in /sbin, and its arguments;
 * NULL-terminated
 *
 * The program prints to the same files as this process.
 *
 * Return: 0 if the program exits with 0; -EIO if not; -ENOENT if it is not installed; another
 * negative errno if it cannot be started.
 */
int child_run_and_wait(char **argv);

/**
 * struct spawned_process - a program, with a pipe from its output
 * @pid: PID of the program
 * @output: descriptor from which its standard output is read; its standard error is discarded
 */
struct spawned_process {
	pid_t pid;
	FILE *output;
};

/**
 * child_start_with_output() - start a program
 * @argv: as for child_run_and_wait()
 * @ret_program: on success, child_finish() must follow
 *
 * Return: 0 or a negative errno.
 */
int child_start_with_output(char **argv, struct spawned_process *ret_program);

/**
 * child_finish() - close the output and wait until the program exits
 *
 * Return: the values of child_run_and_wait().
 */
int child_finish(struct spawned_process *program);

#endif
