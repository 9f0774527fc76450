// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include <time.h>
#include <unistd.h>

#include "demo-truth.h"

static void test_busy(void **state)
{
	static const struct {
		struct truth_machine grew;
		u64 want;
	} rows[] = {
		/* Nothing stolen: what is measured, whatever the ticks met. */
		{ { 1000, 0, 900 }, 1000 },
		{ { 1000, 0, 1100 }, 1000 },
		/* From programs, from nobody, from both. */
		{ { 1000, 200, 780 }, 800 },
		{ { 1000, 200, 1010 }, 1000 },
		{ { 1000, 200, 870 }, 870 },
		/* More than was not idle: all of that, and more, from nobody. */
		{ { 100, 200, 90 }, 90 },
		{ { 100, 200, 0 }, 0 },
	};
	const struct truth_machine from = { 5000, 300, 4000 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct truth_machine to = { from.awake_ns + rows[i].grew.awake_ns,
						  from.stolen_ns + rows[i].grew.stolen_ns,
						  from.worked_ns + rows[i].grew.worked_ns };

		test_row("row %zu", i);
		assert_int_equal(truth_busy(&from, &to), rows[i].want);
	}
}

/* Of this machine: a process that ran is in both, and the machine has no more than all CPUs. */
static void test_here(void **state)
{
	struct truth_machine from, to;
	u64 mine, mine_to, began;
	struct timespec ts;

	(void)state;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	began = (u64)ts.tv_sec * 1000000000 + (u64)ts.tv_nsec;
	assert_int_equal(truth_machine(&from), 0);
	assert_int_equal(truth_process(getpid(), &mine), 0);
	do
		assert_int_equal(truth_process(getpid(), &mine_to), 0);
	while (mine_to - mine < 200000000);
	assert_int_equal(truth_machine(&to), 0);
	clock_gettime(CLOCK_MONOTONIC, &ts);
	/* Idle time is in ticks of ten milliseconds, of each CPU. */
	assert_true(truth_busy(&from, &to) > 100000000);
	assert_true(truth_busy(&from, &to) <=
		    (u64)sysconf(_SC_NPROCESSORS_ONLN) *
			    ((u64)ts.tv_sec * 1000000000 + (u64)ts.tv_nsec - began + 20000000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_here),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
