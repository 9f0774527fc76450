/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Show the progress of a long operation on a terminal: one line, which appears two seconds after
 * the start and is erased at the end. A thread prints it, so the operation only reports what it
 * does.
 */
#ifndef SPEPROF_PROGRESS_H
#define SPEPROF_PROGRESS_H

#include "codec/env.h"

#include <pthread.h>
#include <stdio.h>

/* Bytes of a line, including its NUL. */
#define PROGRESS_SIZE 80

/**
 * struct progress - an operation; all zeros: none
 * @out: where the line is printed; NULL: nowhere
 * @what: what is being done, such as "counting samples"; a static string
 * @done, @total: amount of work that is done, and of all work, in any unit; @total is 0 if it is
 * unknown
 * @shown: whether a line is on the terminal
 * @lock: protects @ended
 * @changed: signalled when the operation ends
 * @ended: whether the thread has to exit
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
 * progress_set() - report what is being done, and the amount that is done
 * @progress, @what, @done, @total: as in &struct progress
 *
 * Any thread may call this until progress_end(). The call takes a few nanoseconds.
 */
void progress_set(struct progress *progress, const char *what, u64 done, u64 total);

/** progress_end() - end the operation and erase its line, if there is one */
void progress_end(struct progress *progress);

/**
 * progress_show() - print the line, if the operation takes long
 * @progress: the operation
 * @elapsed_ns: time since the start of the operation
 */
void progress_show(struct progress *progress, u64 elapsed_ns);

/** progress_erase() - erase the line, if there is one */
void progress_erase(struct progress *progress);

#endif
