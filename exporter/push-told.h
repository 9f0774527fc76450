/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the journal says of a receiver, or of anything else that is well or fails in one way or
 * another: a line when that changes, at the pace of log-pace.h, however often it changes.
 */
#ifndef SPEPROF_PUSH_TOLD_H
#define SPEPROF_PUSH_TOLD_H

#include "log-pace.h"

/**
 * struct push_told - all 0: all is well, and nothing was said
 * @said: how it was when something was said last
 * @last: how it was last
 */
struct push_told {
	struct log_pace pace;
	u64 said;
	u64 last;
};

/**
 * push_told() - to be asked after each try
 * @how: 0 for well; else a number for each way to fail
 * @now_ns: CLOCK_MONOTONIC
 * @ret_changes: if so, how often it changed since the last line
 *
 * Return: whether to say how it is.
 */
bool push_told(struct push_told *told, u64 how, u64 now_ns, u64 *ret_changes);

/* What to say behind that line: "", or that it was not so all the time. */
#define PUSH_CHANGES 64
const char *push_changes(u64 changes, char text[PUSH_CHANGES]);

#endif
