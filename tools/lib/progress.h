/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shows on a terminal how far a long operation is: one line, from two seconds after the start on,
 * which is erased at the end. A thread prints it, so that an operation has to report only what it
 * does.
 */
#ifndef SPEPROF_PROGRESS_H
#define SPEPROF_PROGRESS_H

#include "codec/env.h"

#include <pthread.h>
#include <stdio.h>

/* Size of a line with its NUL. */
#define PROGRESS_SIZE 80

/**
 * struct progress - an operation; all zeros is none
 * @out: where the line is printed; NULL: nowhere
 * @what: what is being done, such as "counting samples"; a static string
 * @done, @total: how much of it, in any unit; @total is 0 if that is not known
 * @shown: whether a line is on the terminal
 * @lock: protects @ended
 * @changed: signalled at the end
 * @ended: the thread has to end
 * @thread: the thread
 */
struct progress {
	FILE *out;
	const char *what;
	u64 done;
	u64 total;
	bool shown;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool ended;
	pthread_t thread;
};

/**
 * progress_begin() - begin an operation
 * @progress: the operation; end it with progress_end()
 * @out: standard error; nothing is shown if it is no terminal
 */
void progress_begin(struct progress *progress, FILE *out);

/**
 * progress_set() - report what is being done, and how much of it is done
 * @progress, @what, @done, @total: as in &struct progress
 *
 * Only the thread that began the operation calls it. It takes a few nanoseconds.
 */
void progress_set(struct progress *progress, const char *what, u64 done, u64 total);

/** progress_end() - end the operation and erase its line, if there is one */
void progress_end(struct progress *progress);

/**
 * progress_show() - print the line, if the operation takes long
 * @progress: the operation
 * @elapsed_ns: time since its start
 */
void progress_show(struct progress *progress, u64 elapsed_ns);

/** progress_erase() - erase the line, if there is one */
void progress_erase(struct progress *progress);

#endif
