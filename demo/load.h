/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The common part of the programs: threads that are busy for a fixed share of every period */
#ifndef SPEPROF_DEMO_LOAD_H
#define SPEPROF_DEMO_LOAD_H

#include <stdbool.h>

/**
 * struct load - the work of a program
 * @name: name that is printed before messages
 * @prepare: called once before the threads start; returns nonzero if memory cannot be allocated
 * @accept: called by each new thread, one after the other; if it returns false, the thread ends,
 *	and another one starts in its place. NULL: all threads are accepted
 * @work: does one thread's work for some tenths of a millisecond
 */
struct load {
	const char *name;
	int (*prepare)(unsigned int threads);
	bool (*accept)(unsigned int thread);
	void (*work)(unsigned int thread);
};

/**
 * load_main() - implement main() of a load
 * @load: the work
 * @argc: number of arguments of main()
 * @argv: arguments of main(): -b MS of CPU time in every period (50), -p MS a period (100), -t
 * THREADS (1), -s SECONDS until it exits (0: never)
 *
 * The program prints "NAME ready" when the threads start. It ends after SIGTERM or SIGINT, or after
 * the time of -s, and then prints "NAME cpu_ns=N user_ns=N system_ns=N", the CPU time from
 * getrusage(2).
 *
 * Return: the exit status: 0; 1 if memory cannot be allocated; 2 for a wrong option.
 */
int load_main(const struct load *load, int argc, char **argv);

#endif
