/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Run an aarch64 program, and sample its instructions with an emulated SPU. */
#ifndef SPEPROF_TRACE_RUN_H
#define SPEPROF_TRACE_RUN_H

#include "source/source.h"

/**
 * struct trace_result - counters of a run
 * @instructions: number of executed instructions
 * @samples: number of records that the SPU wrote
 * @threads: number of threads of the program
 * @unknown: number of executed instructions that QEMU did not log as code; they count as operations
 * of no class
 * @ignored: number of malformed lines of the log
 * @status: exit status of the program, as from waitpid()
 * @executed: whether the program called execve(); the program that it executed is not sampled
 */
struct trace_result {
	u64 instructions;
	u64 samples;
	u32 threads;
	u64 unknown;
	u64 ignored;
	int status;
	bool executed;
};

/**
 * trace_run() - run a program to its end
 * @argv: path of the program, and its arguments; NULL-terminated
 * @interval: as for traced_spu_init()
 * @sink: receives the windows, and the task events before them
 * @ret_result: counters of the run; set on success
 *
 * The program is traced through a pipe, so the memory of this process does not grow with the number
 * of instructions.
 *
 * Return: 0; -ENOENT if QEMU is not installed; -EOPNOTSUPP if the program tried to create another
 * process; -ENOEXEC if it executed no instruction; -ENOSPC if it has more code than qemu-log.h
 * allows; another negative errno.
 */
int trace_run(char **argv, u32 interval, const struct source_sink *sink,
	      struct trace_result *ret_result);

#endif
