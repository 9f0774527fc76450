// SPDX-License-Identifier: LGPL-2.1-or-later
#include "load.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 1024

static const struct load *load;
static uint64_t busy_ns = 50000000, period_ns = 100000000;
static unsigned int threads = 1, seconds;
static volatile sig_atomic_t ended;
static sem_t decided; /* a new thread has set @accepted */
static bool accepted;

static void on_signal(int signal)
{
	(void)signal;
	ended = 1;
}

static uint64_t get_now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
	const struct timespec ts = { .tv_sec = (time_t)(ns / 1000000000),
				     .tv_nsec = (long)(ns % 1000000000) };

	while (!ended && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

/*
 * Run work for busy_ns nanoseconds of CPU time in each period, so that other programs on the CPU do
 * not change the result. If a thread does not get all of that CPU time in a period, the rest is not
 * added to later periods.
 */
static void *thread_run(void *arg)
{
	unsigned int thread = (unsigned int)(uintptr_t)arg;
	uint64_t period = get_now_ns(CLOCK_MONOTONIC);

	while (!ended) {
		uint64_t start = get_now_ns(CLOCK_THREAD_CPUTIME_ID);

		period += period_ns;
		while (!ended && get_now_ns(CLOCK_THREAD_CPUTIME_ID) - start < busy_ns &&
		       get_now_ns(CLOCK_MONOTONIC) < period)
			load->work(thread);
		sleep_until(period);
	}
	return NULL;
}

static void *thread_start(void *arg)
{
	bool runs = !load->accept || load->accept((unsigned int)(uintptr_t)arg);

	accepted = runs;
	sem_post(&decided);
	return runs ? thread_run(arg) : NULL;
}

/* Start threads until the load accepts one. Return false if no thread can be started. */
static bool thread_add(unsigned int thread, pthread_t *ret_id)
{
	do {
		if (pthread_create(ret_id, NULL, thread_start, (void *)(uintptr_t)thread))
			return false;
		while (sem_wait(&decided))
			;
		if (!accepted)
			pthread_join(*ret_id, NULL);
	} while (!accepted);
	return true;
}

static unsigned long parse_number(int option, const char *text, unsigned long max)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || value > max) {
		fprintf(stderr, "%s: -%c \"%s\": should be a number from 0 to %lu\n", load->name,
			option, text, max);
		exit(2);
	}
	return value;
}

static void parse_options(int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "b:p:t:s:")) != -1) {
		switch (option) {
		case 'b':
			busy_ns = parse_number(option, optarg, 60000) * 1000000;
			break;
		case 'p':
			period_ns = parse_number(option, optarg, 60000) * 1000000;
			break;
		case 't':
			threads = (unsigned int)parse_number(option, optarg, THREADS_MAX);
			break;
		case 's':
			seconds = (unsigned int)parse_number(option, optarg, 86400);
			break;
		default:
			exit(2);
		}
	}
	if (optind == argc && threads && period_ns)
		return;
	fprintf(stderr, "usage: %s [-b BUSY_MS] [-p PERIOD_MS] [-t THREADS] [-s SECONDS]\n",
		load->name);
	exit(2);
}

static void print_usage_times(void)
{
	struct rusage usage;
	uint64_t user, system;

	getrusage(RUSAGE_SELF, &usage);
	user = (uint64_t)usage.ru_utime.tv_sec * 1000000000 +
	       (uint64_t)usage.ru_utime.tv_usec * 1000;
	system = (uint64_t)usage.ru_stime.tv_sec * 1000000000 +
		 (uint64_t)usage.ru_stime.tv_usec * 1000;
	printf("%s cpu_ns=%llu user_ns=%llu system_ns=%llu\n", load->name,
	       (unsigned long long)(user + system), (unsigned long long)user,
	       (unsigned long long)system);
}

int load_main(const struct load *what, int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = on_signal };
	static pthread_t ids[THREADS_MAX];
	unsigned int started = 0;

	load = what;
	parse_options(argc, argv);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	if (load->prepare(threads)) {
		fprintf(stderr, "%s: out of memory\n", load->name);
		return 1;
	}
	printf("%s ready\n", load->name);
	fflush(stdout);
	alarm(seconds);
	sem_init(&decided, 0, 0);

	/* Thread 0 is the main thread. */
	while (++started < threads) {
		if (!thread_add(started, &ids[started])) {
			fprintf(stderr, "%s: only %u threads could be started\n", load->name,
				started);
			break;
		}
	}
	thread_run(NULL);
	while (--started)
		pthread_join(ids[started], NULL);
	print_usage_times();
	return 0;
}
