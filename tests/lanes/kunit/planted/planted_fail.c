// SPDX-License-Identifier: GPL-2.0-only
/* A deliberate failure, which the lane must report: a case that fails. */
#include <kunit/test.h>
#include <linux/module.h>

static void fails(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, strlen("planted"), 0);
}

static struct kunit_case planted_cases[] = {
	KUNIT_CASE(fails),
	{},
};

static struct kunit_suite planted = {
	.name = "planted",
	.test_cases = planted_cases,
};
kunit_test_suite(planted);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A planted failure, for the lane's self-test");
