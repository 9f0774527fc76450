// SPDX-License-Identifier: GPL-2.0-only
/*
 * A deliberate failure, which the lane must report: the machine powers off in the middle of a
 * suite.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/reboot.h>

static void passes(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0, 0);
}

static void leaves(struct kunit *test)
{
	kernel_power_off();
}

static struct kunit_case planted_cases[] = {
	KUNIT_CASE(passes),
	KUNIT_CASE(leaves),
	{},
};

static struct kunit_suite planted = {
	.name = "planted",
	.test_cases = planted_cases,
};
kunit_test_suite(planted);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A result cut short, for the lane's self-test");
