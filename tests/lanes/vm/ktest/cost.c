// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Measure the cost of a context switch: without sampling, with a session on another CPU, and with
 * the SPU paused or handed over at each switch. Measure the same for arm_spe_pmu with perf's cgroup
 * events.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cost.h"

#define ROUND_SWITCHES 4000
#define ROUNDS 5

/* Two processes on CPU 0 that wake each other through pipes: each round is two switches */
struct switching_pair {
	pid_t other;
	int there[2];
	int back[2];
};

static void pair_begin(struct switching_pair *pair)
{
	char byte;

	check(!pipe(pair->there) && !pipe(pair->back));
	cost_pin_process();
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

static void pair_end(struct switching_pair *pair)
{
	kchild_end(pair->other);
	close(pair->there[0]);
	close(pair->there[1]);
	close(pair->back[0]);
	close(pair->back[1]);
}

static int compare_costs(const void *a, const void *b)
{
	const struct sampling_cost *x = a, *y = b;

	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

/* Measure several rounds. Return: the median cost of a switch. */
static struct sampling_cost measure_switches_of_pair(const struct switching_pair *pair)
{
	struct sampling_cost rounds[ROUNDS];
	unsigned int round, n;
	char byte = 0;

	for (round = 0; round < ROUNDS; round++) {
		struct cost_mark start = cost_mark_begin();

		for (n = 0; n < ROUND_SWITCHES / 2; n++)
			check(write(pair->there[1], &byte, 1) == 1 &&
			      read(pair->back[0], &byte, 1) == 1);
		rounds[round] = cost_since_mark(&start, ROUND_SWITCHES);
	}
	qsort(rounds, ROUNDS, sizeof(rounds[0]), compare_costs);
	return rounds[ROUNDS / 2];
}

/* Describe a session that never takes a sample, so that only the cost of a switch is measured. */
static struct cost_request make_request(const struct kcgroup *cgroup, bool kernel)
{
	return (struct cost_request){ .cgroup = cgroup, .kernel = kernel, .interval = 0xffffff00 };
}

/*
 * Measure and print the cost of a switch with the sessions @first and @second, each of one cgroup;
 * NULL: no session.
 */
static void measure_cost(const struct cost_driver *driver, const char *what,
			 const struct switching_pair *pair, const struct cost_request *first,
			 const struct cost_request *second, double *base)
{
	struct cost_source a, b;
	struct sampling_cost cost;

	check(!first || !driver->open(first, &a));
	if (second && driver->open(second, &b)) {
		printf("# %-44s cannot be: EBUSY\n", what);
		driver->close(&a);
		return;
	}
	cost = measure_switches_of_pair(pair);
	if (!*base)
		*base = cost.ns;
	printf("# %-44s %7.0f a switch, %+7.0f, %5.1f accesses\n", what, cost.ns, cost.ns - *base,
	       cost.accesses);
	if (first)
		driver->close(&a);
	if (second)
		driver->close(&b);
}

static void measure_switches(const struct cost_driver *driver)
{
	struct kcgroup a, b, elsewhere;
	struct cost_request all = make_request(NULL, true), other;
	double base = 0;
	struct switching_pair pair;

	kcgroup_make(&a, "a");
	kcgroup_make(&b, "b");
	kcgroup_make(&elsewhere, "elsewhere");
	other = make_request(&elsewhere, true);
	pair_begin(&pair);
	/*
	 * Wait until the work after boot and module loading has finished, which takes no CPU time
	 * of the guest.
	 */
	ksleep_ms(3000);
	check(kcgroup_move(&a, getpid()) && kcgroup_move(&b, pair.other));
	measure_cost(driver, "no session samples", &pair, NULL, NULL, &base);
	measure_cost(driver, "the whole machine is sampled", &pair, &all, NULL, &base);
	measure_cost(driver, "other cgroups are", &pair, &other, NULL, &base);
	for (int kernel = 0; kernel < 2; kernel++) {
		struct cost_request of_a = make_request(&a, kernel),
				    of_b = make_request(&b, kernel);

		printf("# sampling %s:\n", kernel ? "EL0 and EL1" : "EL0");
		check(kcgroup_move(&a, pair.other));
		measure_cost(driver, "both tasks of one cgroup are", &pair, &of_a, NULL, &base);
		check(kcgroup_move(&b, pair.other));
		measure_cost(driver, "one task is sampled, the other is not", &pair, &of_a, NULL,
			     &base);
		measure_cost(driver, "each by a session of its own: handover", &pair, &of_a, &of_b,
			     &base);
	}
	pair_end(&pair);
}

static void measure_switches_of_module(void)
{
	measure_switches(&cost_ours);
}

static void measure_switches_of_peer(void)
{
	measure_switches(&cost_perf);
}

/* Open an event of the kernel's arm_spe_pmu driver, and wait to be killed. */
static void hold_event_of_peer(void)
{
	struct cost_request request = make_request(NULL, true);
	struct cost_source source;

	check(!cost_perf.open(&request, &source));
	alarm(0);
	pause();
}

const struct ktest ktests_cost[] = {
	{ "switches-cost", measure_switches_of_module, .on_request = true },
	{ "peer-switches-cost", measure_switches_of_peer, .on_request = true, .peer = true },
	{ "peer-holds", hold_event_of_peer, .on_request = true, .peer = true },
	{ 0 },
};
