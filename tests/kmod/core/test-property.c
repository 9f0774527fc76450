// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test the properties of tests/cases with more seeds: SPEPROF_PROPERTY_RUNS (400) of them, from
 * SPEPROF_PROPERTY_SEED (1) on. The seed suffices to reproduce a failure.
 */
#include <inttypes.h>

#include "case-runner.h"
#include "cases/property.h"

static uint64_t read_environment_number(const char *name, uint64_t usual)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 0) : usual;
}

static void test_properties_of_random_spus(void **state)
{
	uint64_t first = read_environment_number("SPEPROF_PROPERTY_SEED", 1);
	uint64_t runs = read_environment_number("SPEPROF_PROPERTY_RUNS", 400);
	struct property_sum sum = { 0 };

	(void)state;
	for (uint64_t i = 0; i < runs; i++) {
		struct spe_check check = { 0 };

		property_run(&check, first + i, &sum);
		if (check.failures)
			fail_msg("seed %" PRIu64 ": %s:%d: %s, operation %" PRIu64, first + i,
				 check.file, check.line, check.what, check.left);
	}
	print_message("seeds %" PRIu64 " to %" PRIu64 ": %" PRIu64 " operations, %" PRIu64
		      " records, %" PRIu64 " filtered, %" PRIu64 " events, %" PRIu64
		      " collisions\n",
		      first, first + runs - 1, sum.operations, sum.records, sum.filtered,
		      sum.events, sum.collisions);
	assert_true(sum.records || runs < 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_properties_of_random_spus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
