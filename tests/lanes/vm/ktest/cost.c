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
struct pair {
	pid_t other;
	int there[2];
	int back[2];
};

static void pair_begin(struct pair *pair)
{
	char byte;

	check(!pipe(pair->there) && !pipe(pair->back));
	cost_pin();
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

static int compare_costs(const void *a, const void *b)
{
	const struct cost *x = a, *y = b;

	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

/* Measure several rounds. Return: the median cost of a switch. */
static struct cost pair_measure(const struct pair *pair)
{
	struct cost rounds[ROUNDS];
	unsigned int round, n;
	char byte = 0;

	for (round = 0; round < ROUNDS; round++) {
		struct cost_mark start = cost_begin();

		for (n = 0; n < ROUND_SWITCHES / 2; n++)
			check(write(pair->there[1], &byte, 1) == 1 &&
			      read(pair->back[0], &byte, 1) == 1);
		rounds[round] = cost_end(&start, ROUND_SWITCHES);
	}
	qsort(rounds, ROUNDS, sizeof(rounds[0]), compare_costs);
	return rounds[ROUNDS / 2];
}

/* Describe a session that never takes a sample, so that only the cost of a switch is measured. */
static struct cost_request request_of(const struct kcgroup *cgroup, bool kernel)
{
	return (struct cost_request){ .cgroup = cgroup, .kernel = kernel, .interval = 0xffffff00 };
}

/* Measure with one or two sessions of a cgroup each; if both are NULL, with none. */
static void cost_of(const struct cost_driver *driver, const char *what, const struct pair *pair,
		    const struct cost_request *first, const struct cost_request *second, double *base)
{
	struct cost_source a, b;
	struct cost cost;

	check(!first || !driver->open(first, &a));
	if (second && driver->open(second, &b)) {
		printf("# %-44s cannot be: EBUSY\n", what);
		driver->close(&a);
		return;
	}
	cost = pair_measure(pair);
	if (!*base)
		*base = cost.ns;
	printf("# %-44s %7.0f a switch, %+7.0f, %5.1f accesses\n", what, cost.ns, cost.ns - *base,
	       cost.accesses);
	if (first)
		driver->close(&a);
	if (second)
		driver->close(&b);
}

static void switches_cost_of(const struct cost_driver *driver)
{
	struct kcgroup a, b, elsewhere;
	struct cost_request all = request_of(NULL, true), other;
	double base = 0;
	struct pair pair;

	kcgroup_make(&a, "a");
	kcgroup_make(&b, "b");
	kcgroup_make(&elsewhere, "elsewhere");
	other = request_of(&elsewhere, true);
	pair_begin(&pair);
	/*
	 * Wait until the work after boot and module loading has finished, which takes no CPU time
	 * of the guest.
	 */
	ksleep_ms(3000);
	check(kcgroup_move(&a, getpid()) && kcgroup_move(&b, pair.other));
	cost_of(driver, "no session samples", &pair, NULL, NULL, &base);
	cost_of(driver, "the whole machine is sampled", &pair, &all, NULL, &base);
	cost_of(driver, "other cgroups are", &pair, &other, NULL, &base);
	for (int kernel = 0; kernel < 2; kernel++) {
		struct cost_request of_a = request_of(&a, kernel), of_b = request_of(&b, kernel);

		printf("# sampling %s:\n", kernel ? "EL0 and EL1" : "EL0");
		check(kcgroup_move(&a, pair.other));
		cost_of(driver, "both tasks of one cgroup are", &pair, &of_a, NULL, &base);
		check(kcgroup_move(&b, pair.other));
		cost_of(driver, "one task is sampled, the other is not", &pair, &of_a, NULL, &base);
		cost_of(driver, "each by a session of its own: handover", &pair, &of_a, &of_b,
			&base);
	}
	pair_end(&pair);
}

static void switches_cost(void)
{
	switches_cost_of(&cost_ours);
}

static void peer_switches_cost(void)
{
	switches_cost_of(&cost_perf);
}

/* Keep an event of the kernel's own driver open until this process is killed. */
static void peer_holds(void)
{
	struct cost_request request = request_of(NULL, true);
	struct cost_source source;

	check(!cost_perf.open(&request, &source));
	alarm(0);
	pause();
}

const struct ktest ktests_cost[] = {
	{ "switches-cost", switches_cost, .on_request = true },
	{ "peer-switches-cost", peer_switches_cost, .on_request = true, .peer = true },
	{ "peer-holds", peer_holds, .on_request = true, .peer = true },
	{ 0 },
};
