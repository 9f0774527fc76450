/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Run an aarch64 program under QEMU's user emulation, with a pipe for QEMU's log. */
#ifndef SPEPROF_QEMU_PROCESS_H
#define SPEPROF_QEMU_PROCESS_H

#include <sys/types.h>

#include "codec/env.h"

/**
 * struct qemu_process - a running program
 * @pid: PID of QEMU, which is also the PID of the program
 * @log: the reading end of the pipe; the program stops while the pipe is full
 */
struct qemu_process {
	pid_t pid;
	int log;
};

/**
 * qemu_check_program() - check whether a file is an aarch64 program
 * @path: the file
 *
 * Return: 0 if it is one; -ENOEXEC if not; another negative errno if the file cannot be read.
 */
int qemu_check_program(const char *path);

/**
 * qemu_start() - start a program
 * @argv: path of the program, and its arguments; NULL-terminated
 * @ret_process: on success, qemu_finish() must follow
 *
 * Return: 0; -ENOENT if QEMU is not installed; another negative errno.
 */
int qemu_start(char **argv, struct qemu_process *ret_process);

/**
 * qemu_enlarge_pipe() - enlarge the pipe, which is small at first so that QEMU does not run far
 * ahead
 */
void qemu_enlarge_pipe(const struct qemu_process *process);

/** qemu_kill() - end the program */
void qemu_kill(const struct qemu_process *process);

/**
 * qemu_finish() - close the pipe, and wait until the program has exited
 *
 * Return: status of the program, as from waitpid().
 */
int qemu_finish(struct qemu_process *process);

#endif
