/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the demo programs share: threads that are busy for a known part of every
 * period, until a signal, and the CPU time that this took.
 */
#ifndef SPEPROF_DEMO_DUTY_H
#define SPEPROF_DEMO_DUTY_H

/**
 * struct duty - the work of a program
 * @name: for messages
 * @prepare: once, before the threads; nonzero if memory is short
 * @work: a few tenths of a millisecond of work, by one thread
 */
struct duty {
	const char *name;
	int (*prepare)(unsigned int threads);
	void (*work)(unsigned int thread);
};

/**
 * duty_main() - main() of a demo program
 *
 * Options: -b MS busy in every period, -p MS period, -t N threads, -s SECONDS to
 * run. Prints "NAME ready" when it begins, and when it ends, for SIGTERM, SIGINT
 * or its time, "NAME cpu_ns=N user_ns=N system_ns=N" as getrusage(2) has them.
 */
int duty_main(const struct duty *duty, int argc, char **argv);

#endif
