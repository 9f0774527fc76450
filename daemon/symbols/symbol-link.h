/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The near end of a helper: starts it, asks it, ends one that hangs or lies, and starts
 * the next one later each time. One thread's; a call blocks.
 */
#ifndef SPEPROF_SYMBOL_LINK_H
#define SPEPROF_SYMBOL_LINK_H

#include <sys/types.h>

#include "symbol-message.h"

#define SYMBOL_REASON 192

/**
 * struct symbol_link
 * @path: of the program
 * @idle: it is to run when nothing else wants to
 * @call_ms: how long a call may take
 * @stop: a descriptor that is readable when a call is to give up, -1 for none
 * @fd: -1 without a helper
 * @gone: a helper that did not end when it was killed: -1 for none
 * @life: counts helpers: what one had open, the next has not
 * @not_before_ms: when the next one may be started
 * @backoff_ms: how long after the last failure that was
 * @failures: helpers that ended, hung or lied in the middle of a call
 * @reason: why there is none, for people; "" if nothing is wrong
 */
struct symbol_link {
	bool idle;
	u32 call_ms;
	int stop;
	int fd;
	pid_t pid;
	pid_t gone;
	u32 serial;
	u32 life;
	u64 not_before_ms;
	u32 backoff_ms;
	u64 failures;
	char path[PATH_MAX];
	char reason[SYMBOL_REASON];
	u64 reply[SYMBOL_MESSAGE_MAX / sizeof(u64)];
};

/**
 * symbol_link_init() - nothing is started yet
 * @path: NULL for where it is installed: beside this program, or in libexec; the
 *	environment's SPEPROF_SYMBOLS goes before both
 */
void symbol_link_init(struct symbol_link *link, const char *path, bool idle);
void symbol_link_deinit(struct symbol_link *link);

/**
 * symbol_link_ready() - a helper is there, started if need be
 *
 * Return: 0; -EAGAIN if one failed a short while ago; another errno if none can be started.
 */
int symbol_link_ready(struct symbol_link *link);

/**
 * symbol_link_call() - ask, and wait for the answer
 * @request: its serial is set
 * @fd: handed over with it, -1 for none; stays the caller's
 * @ret_reply: checked (symbol_reply_check()), valid until the next call
 *
 * Return: 0; -EPIPE, -ETIMEDOUT or -EBADMSG if the helper ended, hung or lied, which was
 * its last word; otherwise the errno that it found in the file.
 */
int symbol_link_call(struct symbol_link *link, struct symbol_request *request, int fd,
		     const struct symbol_reply **ret_reply);

/** symbol_link_end() - let the helper go: nothing was asked of it for a while */
void symbol_link_end(struct symbol_link *link);

/** symbol_link_died() - whether an error of symbol_link_call() was the helper's end */
static inline bool symbol_link_died(int error)
{
	return error == -EPIPE || error == -ETIMEDOUT || error == -EBADMSG;
}

#endif
