/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The link to two helpers, one that opens files and one that reads them. It starts both, sends
 * requests, and ends both where one hangs, dies or lies. One thread uses it; a call blocks until
 * its deadline.
 */
#ifndef SPEPROF_HELPER_LINK_H
#define SPEPROF_HELPER_LINK_H

#include <sys/types.h>

#include "open-message.h"
#include "symbol-message.h"

#define SYMBOL_REASON 192
#define SYMBOL_STUCK  16 /* helpers that could not be ended, and are remembered */

/** struct symbol_end - of one helper; @fd and @pid are -1 without one */
struct symbol_end {
	int fd;
	pid_t pid;
};

/** struct symbol_stuck - a helper of @life that did not end when it was killed; @pid 0: none */
struct symbol_stuck {
	pid_t pid;
	u32 life;
	u64 owner;
};

/**
 * struct symbol_link
 * @path: of the program
 * @idle: it is to run when nothing else wants to
 * @call_ms, @open_ms: how long a call of the reader and of the opener may take
 * @stop: a descriptor that is readable when a call is to give up, -1 for none
 * @owner: whose files are read now (job_owner())
 * @life: counts pairs of helpers: what one had open, the next has not
 * @started_ms: when they were
 * @not_before_ms: when the next ones may be started, after a start that failed
 * @backoff_ms: how long after that it was
 * @failures: pairs of which one ended, hung or lied
 * @reason: why there is none, for people; "" if nothing is wrong
 */
struct symbol_link {
	bool idle;
	u32 call_ms;
	u32 open_ms;
	int stop;
	struct symbol_end reader;
	struct symbol_end opener;
	struct symbol_stuck stuck[SYMBOL_STUCK];
	u64 owner;
	u32 serial;
	u32 life;
	u64 started_ms;
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
 * symbol_link_ready() - both helpers are there, started if need be
 *
 * Return: 0; -EAGAIN if they could not be started a short while ago; another errno if they
 * cannot be.
 */
int symbol_link_ready(struct symbol_link *link);

/**
 * symbol_link_renew() - end helpers that are old, or that one of which died since the last call
 *
 * To be called before a file is begun, so that no file is blamed for it.
 *
 * Return: whether one had died.
 */
bool symbol_link_renew(struct symbol_link *link);

/** symbol_link_stuck() - helpers that hang in files of @owner and could not be ended */
u32 symbol_link_stuck(struct symbol_link *link, u64 owner);

/**
 * symbol_link_open() - have the opener open a file, or hand it to the reader
 * @request: its serial is set
 *
 * Return: 0; -EPIPE, -ETIMEDOUT or -EBADMSG if the opener ended, hung or lied, which was the end
 * of both helpers; otherwise the errno of the file.
 */
int symbol_link_open(struct symbol_link *link, struct open_request *request,
		     struct open_reply *ret_reply);

/**
 * symbol_link_call() - ask the reader, and wait for the answer
 * @request: its serial is set
 * @fd: handed over with it, -1 for none; stays the caller's
 * @ret_reply: checked (symbol_reply_check()), valid until the next call
 *
 * Return: 0; -EPIPE, -ETIMEDOUT or -EBADMSG if the reader ended, hung or lied, which was
 * the end of both helpers; otherwise the errno that it found in the file.
 */
int symbol_link_call(struct symbol_link *link, struct symbol_request *request, int fd,
		     const struct symbol_reply **ret_reply);

/** symbol_link_end() - end both helpers: nothing was asked of them for a while */
void symbol_link_end(struct symbol_link *link);

/** symbol_link_died() - whether an error of symbol_link_call() was the helpers' end */
static inline bool symbol_link_died(int error)
{
	return error == -EPIPE || error == -ETIMEDOUT || error == -EBADMSG;
}

#endif
