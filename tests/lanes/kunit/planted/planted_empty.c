// SPDX-License-Identifier: GPL-2.0-only
/* A deliberate failure, which the lane must report: a suite without any case. */
#include <kunit/test.h>
#include <linux/module.h>

static const void *no_param(const void *last, char *name)
{
	return NULL;
}

static void never(struct kunit *test)
{
	KUNIT_FAIL(test, "ran without a parameter");
}

static struct kunit_case planted_cases[] = {
	KUNIT_CASE_PARAM(never, no_param),
	{},
};

static struct kunit_suite planted = {
	.name = "planted",
	.test_cases = planted_cases,
};
kunit_test_suite(planted);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A suite that runs nothing, for the lane's self-test");
