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

/** struct helper_process - of one helper; @fd and @pid are -1 without one */
struct helper_process {
	int fd;
	pid_t pid;
};

/** struct stuck_helper - a helper of @life that did not end when it was killed; @pid 0: none */
struct stuck_helper {
	pid_t pid;
	u32 life;
	u64 owner;
};

/**
 * struct helper_link
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
struct helper_link {
	bool idle;
	u32 call_ms;
	u32 open_ms;
	int stop;
	struct helper_process reader;
	struct helper_process opener;
	struct stuck_helper stuck[SYMBOL_STUCK];
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
 * helper_link_init() - nothing is started yet
 * @path: NULL for where it is installed: beside this program, or in libexec; the
 *	environment's SPEPROF_SYMBOLS goes before both
 */
void helper_link_init(struct helper_link *link, const char *path, bool idle);
void helper_link_deinit(struct helper_link *link);

/**
 * helper_link_ready() - both helpers are there, started if need be
 *
 * Return: 0; -EAGAIN if they could not be started a short while ago; another errno if they
 * cannot be.
 */
int helper_link_ready(struct helper_link *link);

/**
 * helper_link_renew() - end helpers that are old, or that one of which died since the last call
 *
 * To be called before a file is begun, so that no file is blamed for it.
 *
 * Return: whether one had died.
 */
bool helper_link_renew(struct helper_link *link);

/** helper_link_stuck() - helpers that hang in files of @owner and could not be ended */
u32 helper_link_stuck(struct helper_link *link, u64 owner);

/**
 * helper_link_open() - have the opener open a file, or hand it to the reader
 * @request: its serial is set
 *
 * Return: 0; -EPIPE, -ETIMEDOUT or -EBADMSG if the opener ended, hung or lied, which was the end
 * of both helpers; otherwise the errno of the file.
 */
int helper_link_open(struct helper_link *link, struct open_request *request,
		     struct open_reply *ret_reply);

/**
 * helper_link_call() - ask the reader, and wait for the answer
 * @request: its serial is set
 * @fd: handed over with it, -1 for none; stays the caller's
 * @ret_reply: checked (symbol_reply_check()), valid until the next call
 *
 * Return: 0; -EPIPE, -ETIMEDOUT or -EBADMSG if the reader ended, hung or lied, which was
 * the end of both helpers; otherwise the errno that it found in the file.
 */
int helper_link_call(struct helper_link *link, struct symbol_request *request, int fd,
		     const struct symbol_reply **ret_reply);

/** helper_link_end() - end both helpers: nothing was asked of them for a while */
void helper_link_end(struct helper_link *link);

/** helper_link_died() - whether an error of helper_link_call() was the helpers' end */
static inline bool helper_link_died(int error)
{
	return error == -EPIPE || error == -ETIMEDOUT || error == -EBADMSG;
}

#endif
