/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The common part of both loads: threads that are busy for a given share of every period. */
#ifndef SPEPROF_DEMO_LOAD_H
#define SPEPROF_DEMO_LOAD_H

/**
 * struct load - the work of a program
 * @name: printed before messages
 * @prepare: called once before the threads start; nonzero if memory is short
 * @work: a few tenths of a millisecond of work of one thread
 */
struct load {
	const char *name;
	int (*prepare)(unsigned int threads);
	void (*work)(unsigned int thread);
};

/**
 * load_main() - the main() of a load
 * @load: the work
 * @argc: of main()
 * @argv: of main(): -b MS of CPU time in every period (50), -p MS a period (100), -t THREADS (1),
 *	-s SECONDS until it exits (0: never)
 *
 * Prints "NAME ready" when the threads start. SIGTERM, SIGINT and the end of -s end it, and it prints
 * "NAME cpu_ns=N user_ns=N system_ns=N", its CPU time by getrusage(2).
 *
 * Return: the exit status: 0; 1 if memory is short; 2 for a wrong option.
 */
int load_main(const struct load *load, int argc, char **argv);

#endif
