// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a window costs, and a reader that is woken: in instructions where the machine counts them
 * for its clock (SPEPROF_VM_ACCEL=icount), in nanoseconds of whatever the machine is else.
 */
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ktest.h"

#define WINDOWS 400

/* Long enough for a record or two in each window. */
static void spin(void)
{
	for (volatile unsigned int n = 0; n < 40000; n++)
		;
}

static void pin(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	check(!sched_setaffinity(0, sizeof(set), &set));
}

struct cost {
	int session;
	struct kring ring;
};

/* Of a whole round, less the part that every round has. */
static uint64_t round_ns(struct cost *cost, unsigned long command, bool is_read)
{
	uint64_t start = know_ns();

	for (unsigned int i = 0; i < WINDOWS; i++) {
		spin();
		check(!ioctl(cost->ring.fd, command, 0));
		/* The reader is on this CPU, too. */
		while (is_read && __atomic_load_n(&cost->ring.control->tail, __ATOMIC_ACQUIRE) !=
					  cost->ring.control->head)
			sched_yield();
		if (!is_read)
			__atomic_store_n(&cost->ring.control->tail, cost->ring.control->head,
					 __ATOMIC_RELEASE);
	}
	return (know_ns() - start) / WINDOWS;
}

static pid_t reader_start(struct cost *cost)
{
	struct pollfd poll_fd = { .fd = cost->ring.fd, .events = POLLIN };
	pid_t pid = fork();

	if (pid)
		return pid;
	for (;;) {
		poll(&poll_fd, 1, -1);
		__atomic_store_n(&cost->ring.control->tail,
				 __atomic_load_n(&cost->ring.control->head, __ATOMIC_ACQUIRE),
				 __ATOMIC_RELEASE);
	}
}

static void windows_cost(void)
{
	struct speprof_session_config config = ksession_config();
	struct speprof_sampling sampling = ksampling();
	struct speprof_ring_stats before, after;
	uint64_t none, windows, read;
	struct cost cost;
	pid_t reader;

	pin();
	config.max_latency_ms = 0;
	cost.session = ksession_new(&config);
	sampling.interval = 50000;
	sampling.flags = SPEPROF_SAMPLE_USER;
	check(!ioctl(cost.session, SPEPROF_SESSION_SAMPLE, &sampling));
	kring_open(cost.session, 0, &cost.ring);
	check(!ioctl(cost.session, SPEPROF_SESSION_START, 0));
	none = round_ns(&cost, SPEPROF_RING_KICK, false);
	before = kring_stats(&cost.ring);
	windows = round_ns(&cost, SPEPROF_RING_FLUSH, false);
	after = kring_stats(&cost.ring);
	check(after.windows - before.windows > WINDOWS / 2);
	reader = reader_start(&cost);
	check(reader > 0);
	read = round_ns(&cost, SPEPROF_RING_FLUSH, true);
	kburn_end(reader);
	printf("# a window, closed, armed and published: %lld, of which the SPU is off for %llu\n",
	       (long long)(windows - none),
	       (unsigned long long)((after.state_ns[SPEPROF_RING_HANDLING] -
				     before.state_ns[SPEPROF_RING_HANDLING]) /
				    (after.windows - before.windows)));
	printf("# a reader woken by it, with two context switches and its poll: %lld\n",
	       (long long)(read - windows));
	close(cost.session);
}

const struct ktest ktests_windows_cost[] = {
	{ "windows-cost", windows_cost, .on_request = true },
	{ 0 },
};
