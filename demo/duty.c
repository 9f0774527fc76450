// SPDX-License-Identifier: LGPL-2.1-or-later
/* Busy for a known part of every period. */
#include "duty.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 1024

struct options {
	uint64_t busy_ns;
	uint64_t period_ns;
	unsigned int threads;
	unsigned int seconds;
};

struct thread {
	pthread_t id;
	unsigned int index;
	const struct duty *duty;
	const struct options *options;
};

static volatile sig_atomic_t ended;

static void on_signal(int signal)
{
	(void)signal;
	ended = 1;
}

static uint64_t now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
	struct timespec ts = { .tv_sec = (time_t)(ns / 1000000000),
			       .tv_nsec = (long)(ns % 1000000000) };

	while (!ended && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

/*
 * Busy in CPU time, so that who shares the CPU does not change the figure; at
 * a period's end what could not be had is given up.
 */
static void *thread_run(void *arg)
{
	const struct thread *thread = arg;
	const struct options *options = thread->options;
	uint64_t period = now(CLOCK_MONOTONIC);

	while (!ended) {
		uint64_t start = now(CLOCK_THREAD_CPUTIME_ID);

		period += options->period_ns;
		while (!ended && now(CLOCK_THREAD_CPUTIME_ID) - start < options->busy_ns &&
		       now(CLOCK_MONOTONIC) < period)
			thread->duty->work(thread->index);
		sleep_until(period);
	}
	return NULL;
}

static unsigned long number(const char *name, int option, const char *text, unsigned long max)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || value > max) {
		fprintf(stderr, "%s: -%c: \"%s\" is not a number from 0 to %lu\n", name, option,
			text, max);
		exit(2);
	}
	return value;
}

static void options_read(struct options *options, const char *name, int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "b:p:t:s:")) != -1) {
		switch (option) {
		case 'b':
			options->busy_ns = number(name, option, optarg, 60000) * 1000000;
			break;
		case 'p':
			options->period_ns = number(name, option, optarg, 60000) * 1000000;
			break;
		case 't':
			options->threads = (unsigned int)number(name, option, optarg, THREADS_MAX);
			break;
		case 's':
			options->seconds = (unsigned int)number(name, option, optarg, 86400);
			break;
		default:
			exit(2);
		}
	}
	if (optind == argc && options->threads && options->period_ns)
		return;
	fprintf(stderr, "usage: %s [-b BUSY_MS] [-p PERIOD_MS] [-t THREADS] [-s SECONDS]\n", name);
	exit(2);
}

static void report(const char *name)
{
	struct rusage usage;
	uint64_t user, system;

	getrusage(RUSAGE_SELF, &usage);
	user = (uint64_t)usage.ru_utime.tv_sec * 1000000000 +
	       (uint64_t)usage.ru_utime.tv_usec * 1000;
	system = (uint64_t)usage.ru_stime.tv_sec * 1000000000 +
		 (uint64_t)usage.ru_stime.tv_usec * 1000;
	printf("%s cpu_ns=%llu user_ns=%llu system_ns=%llu\n", name,
	       (unsigned long long)(user + system), (unsigned long long)user,
	       (unsigned long long)system);
	fflush(stdout);
}

int duty_main(const struct duty *duty, int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct options options = { .busy_ns = 50000000, .period_ns = 100000000, .threads = 1 };
	static struct thread threads[THREADS_MAX];
	unsigned int started = 0;

	options_read(&options, duty->name, argc, argv);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	if (duty->prepare(options.threads)) {
		fprintf(stderr, "%s: out of memory\n", duty->name);
		return 1;
	}
	printf("%s ready\n", duty->name);
	fflush(stdout);
	alarm(options.seconds);

	/* The first is this thread itself. */
	for (unsigned int i = 0; i < options.threads; i++)
		threads[i] = (struct thread){ .index = i, .duty = duty, .options = &options };
	while (++started < options.threads) {
		if (pthread_create(&threads[started].id, NULL, thread_run, &threads[started])) {
			fprintf(stderr, "%s: no more than %u threads\n", duty->name, started);
			break;
		}
	}
	thread_run(&threads[0]);
	while (--started)
		pthread_join(threads[started].id, NULL);
	report(duty->name);
	return 0;
}
