// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a context switch costs: with no session, with one elsewhere, and with the SPU paused or
 * handed over at each. A figure for each, relative to the first; in instructions where the
 * machine counts them for its clock (SPEPROF_VM_ACCEL=icount).
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kcgroup.h"

#define ROUND_SWITCHES 4000
#define ROUNDS 7

/* Two processes on CPU 0 that wake each other by pipes: each turn is two switches. */
struct pair {
	pid_t other;
	int there[2];
	int back[2];
};

static void pin(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	check(!sched_setaffinity(0, sizeof(set), &set));
}

static void pair_begin(struct pair *pair)
{
	char byte;

	check(!pipe(pair->there) && !pipe(pair->back));
	pin();
	pair->other = fork();
	check(pair->other >= 0);
	if (pair->other)
		return;
	close(pair->there[1]);
	while (read(pair->there[0], &byte, 1) == 1)
		if (write(pair->back[1], &byte, 1) != 1)
			break;
	_exit(0);
}

static void pair_end(struct pair *pair)
{
	kburn_end(pair->other);
	close(pair->there[0]);
	close(pair->there[1]);
	close(pair->back[0]);
	close(pair->back[1]);
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The median of a few rounds, in ns for each switch. */
static uint64_t pair_measure(const struct pair *pair)
{
	uint64_t rounds[ROUNDS];
	unsigned int round, n;
	char byte = 0;

	for (round = 0; round < ROUNDS; round++) {
		uint64_t start = know_ns();

		for (n = 0; n < ROUND_SWITCHES / 2; n++)
			check(write(pair->there[1], &byte, 1) == 1 &&
			      read(pair->back[0], &byte, 1) == 1);
		rounds[round] = (know_ns() - start) / ROUND_SWITCHES;
	}
	qsort(rounds, ROUNDS, sizeof(rounds[0]), compare);
	return rounds[ROUNDS / 2];
}

/* A session that never comes to a sample: what is measured is the switch. */
static int session_start(const struct kcgroup *cgroup, uint32_t flags)
{
	struct speprof_session_config config = ksession_config();
	struct speprof_sampling sampling = ksampling();
	int session;

	config.max_latency_ms = 0;
	session = cgroup ? ksession_of(config, cgroup, 1) : ksession_new(&config);
	sampling.flags = flags;
	sampling.interval = 0xffffff00;
	check(!ioctl(session, SPEPROF_SESSION_SAMPLE, &sampling));
	check(!ioctl(session, SPEPROF_SESSION_START, 0), "%s", strerror(errno));
	return session;
}

static void cost_print(const char *what, uint64_t ns, uint64_t *base)
{
	if (!*base)
		*base = ns;
	printf("# %-44s %6llu ns a switch, %+lld\n", what, (unsigned long long)ns,
	       (long long)ns - (long long)*base);
}

static void cost_of(const char *what, const struct pair *pair, const struct kcgroup *first,
		    const struct kcgroup *second, uint32_t flags, uint64_t *base)
{
	int a = first ? session_start(first, flags) : -1;
	int b = second ? session_start(second, flags) : -1;

	cost_print(what, pair_measure(pair), base);
	close(a);
	close(b);
}

static void switches_cost(void)
{
	static const struct {
		const char *name;
		uint32_t flags;
	} levels[] = {
		{ "EL0", SPEPROF_SAMPLE_USER },
		{ "EL0 and EL1", SPEPROF_SAMPLE_USER | SPEPROF_SAMPLE_KERNEL },
	};
	struct kcgroup a, b, elsewhere;
	uint64_t base = 0;
	struct pair pair;
	size_t i;
	int all;

	kcgroup_make(&a, "a");
	kcgroup_make(&b, "b");
	kcgroup_make(&elsewhere, "elsewhere");
	pair_begin(&pair);
	check(kcgroup_move(&a, getpid()) && kcgroup_move(&a, pair.other));
	cost_of("no session", &pair, NULL, NULL, 0, &base);
	all = session_start(NULL, levels[1].flags);
	cost_print("a session of the whole machine", pair_measure(&pair), &base);
	close(all);
	cost_of("a session of other cgroups", &pair, &elsewhere, NULL, levels[0].flags, &base);
	for (i = 0; i < ARRAY_SIZE(levels); i++) {
		printf("# sampling %s:\n", levels[i].name);
		check(kcgroup_move(&a, pair.other));
		cost_of("both tasks of one session", &pair, &a, NULL, levels[i].flags, &base);
		check(kcgroup_move(&b, pair.other));
		cost_of("one of a session, one nobody's", &pair, &a, NULL, levels[i].flags, &base);
		cost_of("each of its own session: handover", &pair, &a, &b, levels[i].flags, &base);
	}
	pair_end(&pair);
}

const struct ktest ktests_cost[] = {
	{ "switches-cost", switches_cost, .on_request = true },
	{ 0 },
};
