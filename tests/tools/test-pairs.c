// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test pairs of runs with given times: their order, median and confidence interval. */
#include "test.h"

#include <errno.h>

#include "lib/pairs.h"

#define RUNS 64

/** struct planned_runs - the times of the runs, and the runs so far */
struct planned_runs {
	u64 ns[2][RUNS]; /* [0]: times of the first way, [1]: of the second one */
	u32 done[2];
	char order[2 * RUNS];
	u32 runs;
	u32 fails_at;
};

static int run_once(void *ctx, bool second, u64 *ret_ns)
{
	struct planned_runs *plan = ctx;

	if (plan->fails_at && plan->runs == plan->fails_at)
		return 3;
	plan->order[plan->runs++] = second ? '2' : '1';
	*ret_ns = plan->ns[second][plan->done[second]++];
	return 0;
}

/*
 * The first run, which is ignored, takes very long. After that, the second way takes 1 %, 2 %,
 * ... longer.
 */
static struct planned_runs make_plan(u32 pairs)
{
	struct planned_runs plan = { .ns[0][0] = 1000000 };

	for (u32 i = 0; i < pairs; i++) {
		plan.ns[0][i + 1] = 1000;
		plan.ns[1][i] = 1000 + 10 * (u64)(i * 7 % pairs + 1);
	}
	return plan;
}

static void check_ratio(double got, double want)
{
	assert_true(got > want - 1e-9 && got < want + 1e-9);
}

static void pairs_alternate(void **state)
{
	struct planned_runs plan = make_plan(6);
	struct pairs_result result;

	(void)state;
	assert_int_equal(pairs_measure(6, run_once, &plan, &result), 0);
	assert_string_equal(plan.order, "1122112211221");
}

/* The expected ranks are from tables of the sign test, for a confidence of at least 95 %. */
static void interval_is_that_of_the_sign_test(void **state)
{
	static const struct {
		u32 pairs;
		double median, low, high, confidence;
	} rows[] = {
		{ 6, 1.035, 1.01, 1.06, 0.96875 },
		{ 8, 1.045, 1.01, 1.08, 0.9921875 },
		{ 9, 1.05, 1.02, 1.08, 0.9609375 },
		{ 20, 1.105, 1.06, 1.15, 0.95861053 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct planned_runs plan = make_plan(rows[i].pairs);
		struct pairs_result result;

		test_row("%u pairs", rows[i].pairs);
		assert_int_equal(pairs_measure(rows[i].pairs, run_once, &plan, &result), 0);
		check_ratio(result.ratio, rows[i].median);
		check_ratio(result.low, rows[i].low);
		check_ratio(result.high, rows[i].high);
		assert_true(result.confidence > rows[i].confidence - 1e-7);
		assert_true(result.confidence < rows[i].confidence + 1e-7);
		check_ratio(result.first_ns, 1000);
		check_ratio(result.second_ns, 1000 * rows[i].median);
		assert_false(pairs_interval_includes_one(&result));
	}
}

/* One extreme run changes median and interval only slightly. */
static void one_extreme_run_does_not_count(void **state)
{
	struct planned_runs plan = make_plan(20);
	struct pairs_result result;

	(void)state;
	plan.ns[1][3] = 1000000000;
	assert_int_equal(pairs_measure(20, run_once, &plan, &result), 0);
	assert_true(result.ratio < 1.12);
	assert_true(result.high < 1.17);
}

static void noise_includes_one(void **state)
{
	struct planned_runs plan = { 0 };
	struct pairs_result result;

	(void)state;
	for (u32 i = 0; i < RUNS; i++) {
		plan.ns[0][i] = 1000;
		plan.ns[1][i] = i % 2 ? 1100 : 910;
	}
	assert_int_equal(pairs_measure(20, run_once, &plan, &result), 0);
	assert_true(pairs_interval_includes_one(&result));
}

static void error_ends_measurement(void **state)
{
	struct planned_runs plan = make_plan(6);
	struct pairs_result result = { .ratio = 42 };

	(void)state;
	plan.fails_at = 4;
	assert_int_equal(pairs_measure(6, run_once, &plan, &result), 3);
	assert_int_equal(plan.runs, 4);
	check_ratio(result.ratio, 42);
}

static int run_same(void *ctx, bool second, u64 *ret_ns)
{
	(void)second;
	*ret_ns = 1000 + ++*(u32 *)ctx;
	return 0;
}

/* The probabilities for many pairs do not underflow. */
static void test_maximum_of_pairs(void **state)
{
	struct pairs_result result;
	u32 runs = 0;

	(void)state;
	assert_int_equal(pairs_measure(PAIRS_MAX, run_same, &runs, &result), 0);
	assert_int_equal(runs, 1 + 2 * PAIRS_MAX);
	assert_true(result.confidence >= 0.95 && result.confidence < 0.96);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs_alternate),
		cmocka_unit_test(interval_is_that_of_the_sign_test),
		cmocka_unit_test(one_extreme_run_does_not_count),
		cmocka_unit_test(noise_includes_one),
		cmocka_unit_test(error_ends_measurement),
		cmocka_unit_test(test_maximum_of_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
