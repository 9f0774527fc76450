// SPDX-License-Identifier: GPL-2.0-only
/*
 * speprof_kunit.ko: run the suites of tests/cases as KUnit suites, with a named parameter for each
 * case. They call the functions that speprof.ko and speprof_emu.ko export, and no copies. The
 * suites are in a separate module, because Linux 6.1 runs the suites of a module before its init
 * function.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/sched.h>

#include "suites.h"

static const void *get_next_case(const struct spe_suite *suite, const void *last, char *name)
{
	const struct spe_case *next = last ? (const struct spe_case *)last + 1 : suite->cases;

	if (next == suite->cases + suite->count)
		return NULL;
	strscpy(name, next->name, KUNIT_PARAM_DESC_SIZE);
	return next;
}

static void case_run(struct kunit *test)
{
	const struct spe_case *param = test->param_value;
	struct spe_check check = { 0 };

	param->run(&check);
	cond_resched();
	if (check.failures)
		KUNIT_FAIL(test, "%s: %s:%d: %s (%#llx, %#llx), %llu failures", param->name,
			   check.file, check.line, check.what, check.left, check.right,
			   check.failures);
}

#define SUITE_DEFINE(suite)                                           \
	static const void *next_##suite(const void *last, char *name) \
	{                                                             \
		return get_next_case(&spe_suite_##suite, last, name); \
	}                                                             \
	static struct kunit_case cases_##suite[] = {                  \
		KUNIT_CASE_PARAM(case_run, next_##suite),             \
		{},                                                   \
	};                                                            \
	static struct kunit_suite kunit_##suite = {                   \
		.name = "speprof_" #suite,                            \
		.test_cases = cases_##suite,                          \
	};
SPE_SUITES(SUITE_DEFINE)

#define SUITE_ADDRESS(suite) &kunit_##suite,
kunit_test_suites(SPE_SUITES(SUITE_ADDRESS));

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("speprof: the test cases of core, as KUnit suites");
MODULE_IMPORT_NS(SPE_NAMESPACE(SPEPROF_CORE));
