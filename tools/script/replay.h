/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Replays a script of operations through an emulated SPU: its records to one file, and what
 * they must say to another.
 */
#ifndef SPEPROF_REPLAY_H
#define SPEPROF_REPLAY_H

#include <stdio.h>

#include "script.h"

/**
 * struct replay_result - what came of it
 * @stats: the SPU's ledgers
 * @windows: that ended, each by an event or the end of the script
 * @events: management events by PMBSR.EC, 64 of them; EC 0 is buffer full and not allowed
 * @output: bytes of all windows
 * @padding: of these, zeros that keep a window's start aligned after a fault within a record
 */
struct replay_result {
	struct spe_spu_stats stats;
	u64 windows;
	u64 events[64];
	u64 output;
	u64 padding;
};

/** struct replay_error - the line, from 1, where it begins, and what is wrong with it */
struct replay_error {
	u64 line;
	size_t offset;
	struct script_error at;
};

/**
 * replay_check() - whether all of the script can be understood
 *
 * Return: 0, or -EINVAL with @ret_error.
 */
int replay_check(const char *text, size_t len, struct replay_error *ret_error);

/**
 * replay_run() - a script that replay_check() has found right
 * @records: gets the records, or NULL
 * @truth: gets each operation that was recorded, as a line of a script, in their order; or NULL
 *
 * Return: 0, -ENOMEM, or -EIO if a file cannot be written.
 */
int replay_run(const char *text, size_t len, FILE *records, FILE *truth,
	       struct replay_result *ret_result);

#endif
