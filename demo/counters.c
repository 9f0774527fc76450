// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Let several threads count, each in its own counter. All counters are in one cache line, so the
 * line moves between the CPUs at each store: false sharing. The program spends all its time in
 * count().
 */
#include "load.h"

#include <sched.h>
#include <stdbool.h>
#include <unistd.h>

/* Number of counters: as many as a cache line of 64 bytes has. */
#define COUNTERS 8
#define ROUNDS	 (1U << 16)

static struct {
	volatile long value;
} counters[COUNTERS] __attribute__((aligned(64)));

static cpu_set_t allowed; /* the CPUs that the program may use; empty: unknown */
static unsigned int words; /* bit mask of the words that the emulated SPU gives to the threads */

/* The function is not static, so that a stripped program still exports its name. */
void count(unsigned int counter);

__attribute__((noinline)) void count(unsigned int counter)
{
	for (unsigned int i = 0; i < ROUNDS; i++)
		counters[counter].value++;
}

/* Move the calling thread to a CPU of its own, so that the line is always used by several CPUs. */
static void choose_cpu(unsigned int thread)
{
	unsigned int cpus = (unsigned int)CPU_COUNT(&allowed), skip = cpus ? thread % cpus : 0;
	cpu_set_t one;
	int cpu = 0;

	if (!cpus)
		return;
	while (!CPU_ISSET(cpu, &allowed) || skip--)
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

/*
 * The emulated SPU gives each thread the word of the line that its TID modulo 8 selects. Accept a
 * thread if no other thread has that word, because two threads with one word are true sharing.
 */
static bool counters_accept(unsigned int thread)
{
	unsigned int word = 1U << gettid() % COUNTERS;

	if (words & word && thread < COUNTERS)
		return false;
	words |= word;
	choose_cpu(thread);
	return true;
}

static int counters_prepare(unsigned int threads)
{
	(void)threads;
	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		CPU_ZERO(&allowed);
	counters_accept(0);
	return 0;
}

static void counters_work(unsigned int thread)
{
	count(thread % COUNTERS);
}

int main(int argc, char **argv)
{
	static const struct load load = {
		.name = "counters",
		.prepare = counters_prepare,
		.accept = counters_accept,
		.work = counters_work,
	};

	return load_main(&load, argc, argv);
}
