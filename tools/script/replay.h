/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Run a script of operations through an emulated SPU. One file receives the records of the SPU, and
 * another one receives the recorded operations, which are called the truth.
 */
#ifndef SPEPROF_REPLAY_H
#define SPEPROF_REPLAY_H

#include <stdio.h>

#include "script.h"

/**
 * struct replay_result - statistics of a run
 * @stats: the ledgers of the SPU
 * @windows: number of windows that ended, by a management event or the end of the script
 * @events: number of management events, indexed by PMBSR.EC; EC 0: the buffer is full, or an access
 * is not allowed
 * @output: bytes of all windows
 * @padding: zeros in @output, which align a window's start after a fault within a record
 */
struct replay_result {
	struct spe_spu_stats stats;
	u64 windows;
	u64 events[64];
	u64 output;
	u64 padding;
};

/**
 * struct replay_error - the first wrong line of a script
 * @line: number of the line, from 1
 * @offset: offset of its first byte in the script
 * @at: the position in the line, and the accepted values
 */
struct replay_error {
	u64 line;
	size_t offset;
	struct script_error at;
};

/**
 * replay_check() - parse a script without running it
 * @text: the script
 * @len: bytes of the script
 * @ret_error: set if -EINVAL is returned
 *
 * Return: 0; -EINVAL if a line is wrong.
 */
int replay_check(const char *text, size_t len, struct replay_error *ret_error);

/**
 * replay_run() - run a script that replay_check() has accepted
 * @text: the script
 * @len: bytes of the script
 * @records: file for the records; NULL: none
 * @truth: file for each recorded operation as a line of a script, in order; NULL: none
 * @ret_result: statistics of the run
 *
 * Return: 0; -ENOMEM if memory cannot be allocated; -EIO if a file cannot be written.
 */
int replay_run(const char *text, size_t len, FILE *records, FILE *truth,
	       struct replay_result *ret_result);

#endif
