// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test the control loops of the interval, on simulated machines. */
#include "test.h"

#include "engine/rate-controller.h"

#define PERIOD 5000000000ULL
#define CPUS   8

/**
 * struct simulated_machine - a simulated machine
 * @operations: operations per nanosecond, in percent
 * @fixed_ns: CPU time of the drain threads in a period without samples
 * @sample_ns: their additional CPU time for a sample
 * @drain_ns: CPU time that a sample costs its CPU in interrupts
 * @busy: percent of the period in which CPUs are busy
 * @noise: percent by which samples and the fixed cost vary
 * @hot: the only busy CPU; -1: all CPUs are busy
 * @switch_ns: time that each CPU spends on its SPU in a period without samples
 * @called: percent of the windows that are drained in bus calls
 */
struct simulated_machine {
	u32 operations;
	u64 fixed_ns;
	u64 sample_ns;
	u64 drain_ns;
	u32 busy;
	u32 noise;
	int hot;
	u64 switch_ns;
	u32 called;
};

static u64 seed = 1;

static u64 add_noise(u64 value, u32 percent)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return value * (100 - percent + (seed >> 33) % (2 * percent + 1)) / 100;
}

/*
 * The real cost of the last period without measurement error, as a fraction of
 * RATE_CONTROLLER_WHOLE
 */
static u64 cost;
static u64 rate;
static struct rate_controller_scale scales[CPUS];

static enum rate_change simulate_period(struct rate_controller *g,
					const struct simulated_machine *m)
{
	struct rate_controller_drain drain = { .ns = add_noise(m->fixed_ns, m->noise) };
	u64 daemon = drain.ns, sum = 0;
	struct rate_controller_cpu cpu[CPUS] = { 0 };

	for (u32 i = 0; i < CPUS; i++) {
		cpu[i].handling_ns = m->switch_ns;
		sum += m->switch_ns;
		if (m->hot >= 0 && i != (u32)m->hot)
			continue;
		cpu[i].busy_ns = PERIOD * m->busy / 100;
		cpu[i].samples = add_noise(cpu[i].busy_ns * m->operations / 100 /
						   rate_controller_get_cpu_interval(g, i),
					   m->noise);
		cpu[i].bytes = 64 * cpu[i].samples;
		cpu[i].interrupts = cpu[i].samples / 100;
		cpu[i].handling_ns += cpu[i].samples * m->drain_ns;
		drain.ns += cpu[i].samples * (100 - m->called) / 100 * m->sample_ns;
		drain.bytes += 64 * (cpu[i].samples * (100 - m->called) / 100);
		daemon += cpu[i].samples * m->sample_ns;
		sum += cpu[i].samples * m->drain_ns;
		rate = cpu[i].busy_ns ? cpu[i].samples * 1000000000 / cpu[i].busy_ns : 0;
	}
	cost = (sum + daemon) * RATE_CONTROLLER_WHOLE / (PERIOD * CPUS);
	return rate_controller_step(g, cpu, &drain, PERIOD);
}

static u64 get_longest_interval(const struct rate_controller *g)
{
	u64 most = 0;

	for (u32 i = 0; i < CPUS; i++)
		if (rate_controller_get_cpu_interval(g, i) > most)
			most = rate_controller_get_cpu_interval(g, i);
	return most;
}

/*
 * Run @periods periods. Return: the number of the last @of periods in which the interval changed.
 */
static u32 run_periods(struct rate_controller *g, const struct simulated_machine *m, u32 periods,
		       u32 of)
{
	u32 changes = 0;

	for (u32 i = 0; i < periods; i++)
		changes += simulate_period(g, m) != RATE_CONTROLLER_STAYS && i >= periods - of;
	return changes;
}

static void test_interval_reaches_rate(void **state __attribute__((unused)))
{
	static const u32 operations[] = { 10, 50, 100, 115, 400, 1200, 5000 };
	const struct rate_controller_config config = { .nominal_ns = 1000000,
						       .overhead = 1000,
						       .rate = true };
	struct rate_controller g;

	for (size_t i = 0; i < ARRAY_SIZE(operations); i++) {
		const struct simulated_machine m = {
			.operations = operations[i], .busy = 80, .noise = 8, .hot = -1
		};

		test_row("%u operations in 100 ns", operations[i]);
		rate_controller_init(&g, &config, scales, CPUS);
		assert_row(run_periods(&g, &m, 60, 40) == 0);
		assert_row(rate * 100 >= 1000 * 70 && rate * 100 <= 1000 * 130);
	}
}

/*
 * Check that the interval does not change on an idle machine: its samples do not show how many
 * operations a busy machine executes.
 */
static void test_idle_machine_keeps_interval(void **state __attribute__((unused)))
{
	const struct rate_controller_config config = { .nominal_ns = 1000000,
						       .overhead = 1000,
						       .rate = true };
	const struct simulated_machine idle = { .operations = 100, .busy = 3, .hot = -1 };
	struct rate_controller g;

	rate_controller_init(&g, &config, scales, CPUS);
	assert_int_equal(run_periods(&g, &idle, 50, 50), 0);
	assert_int_equal(rate_controller_get_interval(&g), 1000000);
}

/* If a filter drops most samples, the interval must not become shorter and shorter. */
static void test_filter_does_not_shorten_interval(void **state __attribute__((unused)))
{
	struct rate_controller_config config = { .nominal_ns = 1000000,
						 .rate = true,
						 .filtered = true };
	const struct simulated_machine few = { .operations = 5, .busy = 90, .hot = -1 };
	const struct simulated_machine many = { .operations = 800, .busy = 90, .hot = -1 };
	struct rate_controller g;

	rate_controller_init(&g, &config, scales, CPUS);
	run_periods(&g, &few, 50, 0);
	assert_int_equal(rate_controller_get_interval(&g), 1000000);
	run_periods(&g, &many, 50, 0);
	assert_true(rate <= 1300);
}

static void test_interval_fits_budget(void **state __attribute__((unused)))
{
	static const struct {
		const char *name;
		struct simulated_machine machine;
		u32 overhead;
		bool limited; /* whether the interval was lengthened to fit the budget */
	} rows[] = {
		{ "cheap", { 100, 1000000, 500, 200, 90, 8, -1 }, 1000, false },
		{ "daemon", { 100, 1000000, 30000, 200, 90, 8, -1 }, 1000, true },
		{ "interrupts", { 100, 1000000, 500, 60000, 90, 8, -1 }, 1000, true },
		{ "little allowed", { 100, 1000000, 2000, 2000, 90, 8, -1 }, 100, true },
		{ "one hot CPU", { 100, 1000000, 100, 70000, 95, 8, 3 }, 1000, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct rate_controller_config config = { .nominal_ns = 1000000,
							       .overhead = rows[i].overhead };
		struct rate_controller g;
		u64 most = 0;

		test_row("%s", rows[i].name);
		rate_controller_init(&g, &config, scales, CPUS);
		assert_row(run_periods(&g, &rows[i].machine, 60, 30) <= 1);
		for (u32 k = 0; k < 20; k++) {
			simulate_period(&g, &rows[i].machine);
			most = cost > most ? cost : most;
		}
		assert_row(most * 100 <= rows[i].overhead * 112ULL);
		assert_row((get_longest_interval(&g) > 1000000) == rows[i].limited);
		/*
		 * The interval is not longer than necessary: at least half of the budget is used.
		 */
		assert_row(!rows[i].limited || rows[i].machine.hot >= 0 ||
			   cost * 2 >= rows[i].overhead);
		assert_row(!g.exhausted);
	}
}

/*
 * Simulate a period in which all CPUs are equally busy, with different costs of interrupts per
 * sample.
 */
static void simulate_interrupt_costs(struct rate_controller *g, const u64 drain_ns[static CPUS])
{
	struct rate_controller_cpu cpu[CPUS] = { 0 };
	struct rate_controller_drain drain = { .ns = 1000000 };
	u64 sum = 0;

	for (u32 i = 0; i < CPUS; i++) {
		cpu[i].busy_ns = PERIOD;
		cpu[i].samples = PERIOD / rate_controller_get_cpu_interval(g, i);
		cpu[i].bytes = 64 * cpu[i].samples;
		cpu[i].interrupts = cpu[i].samples / 50;
		cpu[i].handling_ns = cpu[i].samples * drain_ns[i];
		drain.ns += cpu[i].samples * 100;
		drain.bytes += cpu[i].bytes;
		sum += cpu[i].handling_ns;
	}
	cost = (sum + drain.ns) * RATE_CONTROLLER_WHOLE / (PERIOD * CPUS);
	rate_controller_step(g, cpu, &drain, PERIOD);
}

/*
 * With several drain threads only a CPU with expensive samples gets a longer interval. With one,
 * all CPUs do.
 */
static void test_cpus_have_own_intervals(void **state __attribute__((unused)))
{
	static const u64 drain_ns[CPUS] = { 100, 200000, 100, 3000, 100, 100, 100000, 100 };
	struct rate_controller_config config = { .nominal_ns = 1000000, .overhead = 1000 };
	struct rate_controller g;

	rate_controller_init(&g, &config, scales, CPUS);
	for (u32 i = 0; i < 60; i++)
		simulate_interrupt_costs(&g, drain_ns);
	assert_true(cost <= 1000 && cost >= 500);
	for (u32 i = 0; i < CPUS; i++) {
		test_row("CPU %u", i);
		assert_row((rate_controller_get_cpu_interval(&g, i) > 1000000) ==
			   (drain_ns[i] >= 100000));
		/*
		 * Four times the budget of a CPU is 40 ms per second. The throttle permits twice
		 * that time.
		 */
		assert_row(scales[i].interrupts >= 128 && scales[i].bytes >= 2 << 20);
		assert_row(!(scales[i].interrupts & (scales[i].interrupts - 1)));
	}
	assert_int_equal(rate_controller_count_limited_cpus(&g), 2);
	assert_true(rate_controller_get_cpu_interval(&g, 1) >
		    rate_controller_get_cpu_interval(&g, 6));
	/*
	 * A sample of CPU 1 takes 200 us, so an interrupt for 50 samples takes 10 ms. The throttle
	 * permits 80 ms per second, that is 8 interrupts, which is below the minimum of 128.
	 */
	assert_int_equal(scales[1].interrupts, 128);
	assert_true(scales[0].interrupts > 10000);
	config.single = true;
	rate_controller_init(&g, &config, scales, CPUS);
	for (u32 i = 0; i < 60; i++)
		simulate_interrupt_costs(&g, drain_ns);
	assert_int_equal(rate_controller_get_cpu_interval(&g, 0),
			 rate_controller_get_cpu_interval(&g, 1));
	assert_true(cost <= 1000 && rate_controller_count_limited_cpus(&g) == CPUS);
	/* Without a budget there is no throttle. */
	config.overhead = 0;
	rate_controller_change(&g, &config);
	assert_true(!scales[1].interrupts && !scales[1].bytes &&
		    !rate_controller_count_limited_cpus(&g));
}

/*
 * Offline CPUs use no budget, and their share is not given to others. A CPU that comes online
 * starts with the initial interval.
 */
static void test_offline_cpus_use_no_budget(void **state __attribute__((unused)))
{
	const struct rate_controller_config config = { .nominal_ns = 1000000, .overhead = 1000 };
	const struct rate_controller_drain quiet = { .ns = 1000 };
	struct rate_controller_cpu cpu[CPUS] = { 0 };
	struct rate_controller_drain drain;
	struct rate_controller g;

	rate_controller_init(&g, &config, scales, CPUS);
	for (u32 i = 0; i < 60; i++) {
		cost = 0;
		drain = (struct rate_controller_drain){ 0 };
		for (u32 n = 0; n < CPUS; n++) {
			cpu[n] = (struct rate_controller_cpu){ .offline = n % 4 != 0 };
			if (cpu[n].offline)
				continue;
			cpu[n].busy_ns = PERIOD;
			cpu[n].samples = PERIOD / rate_controller_get_cpu_interval(&g, n);
			cpu[n].bytes = 64 * cpu[n].samples;
			cpu[n].handling_ns = cpu[n].samples * 20000;
			drain.ns += cpu[n].samples * 10000;
			drain.bytes += cpu[n].bytes;
			cost += cpu[n].handling_ns;
		}
		cost = (cost + drain.ns) * RATE_CONTROLLER_WHOLE / (PERIOD * CPUS / 4);
		rate_controller_step(&g, cpu, &drain, PERIOD);
	}
	assert_int_equal(g.online, CPUS / 4);
	assert_true(cost <= 1000 && cost >= 500);
	assert_true(g.cost <= cost + 20 && g.cost + 20 >= cost);
	assert_int_equal(rate_controller_count_limited_cpus(&g), CPUS / 4);
	assert_true(rate_controller_get_cpu_interval(&g, 0) > 1000000);
	for (u32 n = 0; n < CPUS; n++)
		cpu[n].offline = n % 4 == 0;
	rate_controller_step(&g, cpu, &quiet, PERIOD);
	assert_int_equal(rate_controller_count_limited_cpus(&g), 0);
	assert_int_equal(rate_controller_get_cpu_interval(&g, 0), 1000000);
	/* All CPUs are offline. */
	for (u32 n = 0; n < CPUS; n++)
		cpu[n].offline = true;
	rate_controller_step(&g, cpu, &quiet, PERIOD);
	assert_int_equal(g.cost, 0);
}

/* A longer interval becomes shorter when the budget grows. */
static void test_larger_budget_shortens_interval(void **state __attribute__((unused)))
{
	const struct rate_controller_config config = { .nominal_ns = 1000000, .overhead = 1000 };
	const struct simulated_machine dear = { 100, 1000000, 80000, 0, 95, 5, -1 };
	const struct simulated_machine cheap = { 100, 1000000, 100, 0, 95, 5, -1 };
	struct rate_controller g;
	u64 longest_ns;

	rate_controller_init(&g, &config, scales, CPUS);
	run_periods(&g, &dear, 40, 0);
	longest_ns = get_longest_interval(&g);
	assert_true(longest_ns > 4000000);
	run_periods(&g, &cheap, 80, 0);
	assert_int_equal(get_longest_interval(&g), 1000000);
	assert_int_equal(run_periods(&g, &dear, 40, 20), 0);
}

#define BUDGET (PERIOD * CPUS / 100)
/* Samples of a period in which all CPUs are busy and the interval is the configured one */
#define SAMPLES (PERIOD * CPUS / 1000000)
#define ONE_BUSY .operations = 100, .busy = 100
#define BUSY	 ONE_BUSY, .hot = -1

/*
 * If the cost is fixed, the loop tries a longer interval once, measures no reduction, and reverts
 * it.
 */
static void test_fixed_cost_reverts_interval(void **state __attribute__((unused)))
{
	static const struct {
		const char *name;
		struct simulated_machine machine;
	} rows[] = {
		{ "drain threads", { BUSY, .fixed_ns = 9 * BUDGET, .sample_ns = 100 } },
		{ "noise", { BUSY, .fixed_ns = 9 * BUDGET, .sample_ns = 100, .noise = 8 } },
		{ "a bit too much", { BUSY, .fixed_ns = BUDGET * 11 / 10, .sample_ns = 100, .noise = 8 } },
		{ "interrupts", { BUSY, .switch_ns = 2 * BUDGET / CPUS, .drain_ns = 100 } },
		{ "one CPU", { ONE_BUSY, .hot = 3, .fixed_ns = 2 * BUDGET, .sample_ns = 100, .noise = 4 } },
		{ "no samples", { .fixed_ns = 2 * BUDGET, .hot = -1 } },
	};
	const struct rate_controller_config config = { .nominal_ns = 1000000, .overhead = 1000 };
	struct rate_controller g;
	u32 tried;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("%s", rows[i].name);
		rate_controller_init(&g, &config, scales, CPUS);
		tried = 0;
		for (u32 k = 0; k < 400; k++) {
			simulate_period(&g, &rows[i].machine);
			assert_row(get_longest_interval(&g) <= 2 * config.nominal_ns);
			tried += get_longest_interval(&g) > config.nominal_ns;
			assert_row(k < 10 || get_longest_interval(&g) > config.nominal_ns ||
				   g.exhausted == (g.cost > config.overhead));
		}
		/* Simulate an hour: a try takes some seconds every five minutes. */
		assert_row(tried < 60);
	}
}

/*
 * The cost has a fixed and a proportional component: the loop lengthens the interval as long as
 * that reduces the cost noticeably.
 */
static void test_fixed_and_proportional_cost(void **state __attribute__((unused)))
{
	static const struct {
		const char *name;
		struct simulated_machine machine;
		u64 least, most; /* bounds of the final cost */
	} rows[] = {
		{ "half", { BUSY, .fixed_ns = BUDGET / 2, .sample_ns = BUDGET / SAMPLES }, 750, 1000 },
		{ "interrupts", { BUSY, .switch_ns = BUDGET / 2 / CPUS, .drain_ns = BUDGET / SAMPLES }, 750, 1000 },
		{ "four fifths", { BUSY, .fixed_ns = BUDGET * 4 / 5, .sample_ns = 4 * BUDGET / SAMPLES }, 1000, 1300 },
		{ "above", { BUSY, .fixed_ns = 2 * BUDGET, .sample_ns = 4 * BUDGET / SAMPLES }, 2500, 3200 },
		{ "none", { BUSY, .sample_ns = 20 * BUDGET / SAMPLES }, 750, 1000 },
		{ "calls drain", { BUSY, .sample_ns = 20 * BUDGET / SAMPLES, .called = 90 }, 750, 1000 },
	};
	const struct rate_controller_config config = { .nominal_ns = 1000000, .overhead = 1000 };

	for (u32 noise = 0; noise <= 6; noise += 3) {
		for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
			struct simulated_machine machine = rows[i].machine;
			struct rate_controller g;

			test_row("%s, noise %u", rows[i].name, noise);
			machine.noise = noise;
			rate_controller_init(&g, &config, scales, CPUS);
			run_periods(&g, &machine, 59, 0);
			assert_row(cost >= rows[i].least && cost <= rows[i].most);
			assert_row(get_longest_interval(&g) > config.nominal_ns);
		}
	}
}

/*
 * A fixed cost may disappear or become proportional: the loop then tries a longer interval again.
 */
static void test_changed_cost_is_tried_again(void **state __attribute__((unused)))
{
	const struct rate_controller_config config = { .nominal_ns = 1000000, .overhead = 1000 };
	const struct simulated_machine fixed = { BUSY, .fixed_ns = 5 * BUDGET, .sample_ns = 100,
						 .noise = 3 };
	const struct simulated_machine dear = { BUSY, .sample_ns = 5 * BUDGET / SAMPLES,
						.noise = 3 };
	const struct simulated_machine cheap = { BUSY, .sample_ns = 100, .noise = 3 };
	struct rate_controller g;

	rate_controller_init(&g, &config, scales, CPUS);
	run_periods(&g, &fixed, 40, 0);
	assert_int_equal(get_longest_interval(&g), 1000000);
	/* Only the composition of the cost differs, which the next try detects. */
	run_periods(&g, &dear, 100, 0);
	assert_true(cost <= 1000 && cost >= 500);
	run_periods(&g, &fixed, 100, 0);
	assert_true(get_longest_interval(&g) <= 2000000);
	run_periods(&g, &cheap, 40, 0);
	assert_int_equal(get_longest_interval(&g), 1000000);
	assert_false(g.exhausted);
	assert_true(run_periods(&g, &dear, 40, 20) <= 2);
	assert_true(cost <= 1000 && cost >= 500);
}

/*
 * If both loops run at once, each reaches its interval, and neither reverts the result of the
 * other.
 */
static void test_both_loops_together(void **state __attribute__((unused)))
{
	const struct rate_controller_config config = { .nominal_ns = 1000000,
						       .overhead = 1000,
						       .rate = true };
	const struct simulated_machine m = { 700, 1000000, 40000, 1000, 90, 6, -1 };
	struct rate_controller g;
	u32 changes;

	rate_controller_init(&g, &config, scales, CPUS);
	changes = run_periods(&g, &m, 120, 40);
	print_message("rate %llu, cost %llu, %u changes at the end\n", (unsigned long long)rate,
		      (unsigned long long)cost, changes);
	assert_true(changes <= 1);
	assert_true(cost <= 1120 && cost >= 500);
	assert_true(rate < 500);
}

/*
 * After a change of the configuration the loop starts from the present interval, unless the change
 * sets another one.
 */
static void test_configuration_change(void **state __attribute__((unused)))
{
	struct rate_controller_config config = { .nominal_ns = 1000000,
						 .overhead = 1000,
						 .rate = true };
	const struct simulated_machine m = { 400, 1000000, 100, 10, 90, 5, -1 };
	struct rate_controller g;

	rate_controller_init(&g, &config, scales, CPUS);
	run_periods(&g, &m, 40, 0);
	assert_true(rate_controller_get_interval(&g) > 3000000);
	config.nominal_ns = 2000000;
	rate_controller_change(&g, &config);
	assert_true(rate_controller_get_interval(&g) > 6000000);
	assert_int_equal(run_periods(&g, &m, 20, 20), 0);
	config.rate = false;
	config.overhead = 0;
	rate_controller_change(&g, &config);
	assert_int_equal(rate_controller_get_interval(&g), 2000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interval_reaches_rate),
		cmocka_unit_test(test_idle_machine_keeps_interval),
		cmocka_unit_test(test_filter_does_not_shorten_interval),
		cmocka_unit_test(test_interval_fits_budget),
		cmocka_unit_test(test_larger_budget_shortens_interval),
		cmocka_unit_test(test_both_loops_together),
		cmocka_unit_test(test_configuration_change),
		cmocka_unit_test(test_cpus_have_own_intervals),
		cmocka_unit_test(test_offline_cpus_use_no_budget),
		cmocka_unit_test(test_fixed_cost_reverts_interval),
		cmocka_unit_test(test_fixed_and_proportional_cost),
		cmocka_unit_test(test_changed_cost_is_tried_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
