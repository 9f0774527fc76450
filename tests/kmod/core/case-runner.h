/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Run a suite of tests/cases as a cmocka group, with one test for each case. */
#ifndef CASE_RUNNER_H
#define CASE_RUNNER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cases/check.h"

static void run_case(void **state)
{
	const struct spe_case *test = *state;
	struct spe_check check = { 0 };

	test->run(&check);
	if (check.failures)
		fail_msg("%s:%d: %s (%#llx, %#llx), %llu failures", check.file, check.line,
			 check.what, (unsigned long long)check.left,
			 (unsigned long long)check.right, (unsigned long long)check.failures);
}

static inline int run_suite_of_cases(const struct spe_suite *suite)
{
	struct CMUnitTest *tests = calloc(suite->count, sizeof(*tests));
	int failed;

	if (!tests)
		return EXIT_FAILURE;
	for (size_t i = 0; i < suite->count; i++)
		tests[i] = (struct CMUnitTest){
			.name = suite->cases[i].name,
			.test_func = run_case,
			.initial_state = (void *)&suite->cases[i],
		};
	failed = _cmocka_run_group_tests(suite->name, tests, suite->count, NULL, NULL);
	free(tests);
	return failed;
}

#endif
