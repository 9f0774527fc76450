// SPDX-License-Identifier: GPL-2.0-only
/*
 * speprof_cases.ko: run the cases of tests/cases in kernels without KUnit. They call the functions
 * that speprof.ko and speprof_emu.ko export, and no copies. The kernel log has the result as KTAP,
 * and loading the module fails if a case fails.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/sched.h>

#include "suites.h"

static bool plant;
module_param(plant, bool, 0);
MODULE_PARM_DESC(plant, "only a case that fails, to see that this is noticed");

static void fail_on_purpose(struct spe_check *check)
{
	SPE_CHECK_EQ(check, plant, false);
}

static const struct spe_case planted_cases[] = {
	{ "planted", fail_on_purpose },
};

static const struct spe_suite planted = { "runner", planted_cases, ARRAY_SIZE(planted_cases) };

#define SUITE_ADDRESS(name) &spe_suite_##name,

static const struct spe_suite *const suites[] = { &planted, SPE_SUITES(SUITE_ADDRESS) };

static bool run_case(const struct spe_suite *suite, size_t i)
{
	const struct spe_case *test = &suite->cases[i];
	struct spe_check check = { 0 };

	test->run(&check);
	cond_resched();
	if (!check.failures) {
		pr_info("    ok %zu %s\n", i + 1, test->name);
		return true;
	}
	pr_info("    # %s:%d: %s (%#llx, %#llx), %llu failures\n", check.file, check.line,
		check.what, check.left, check.right, check.failures);
	pr_info("    not ok %zu %s\n", i + 1, test->name);
	return false;
}

static bool run_suite(size_t number, const struct spe_suite *suite)
{
	bool ok = true;

	pr_info("    # Subtest: %s\n", suite->name);
	pr_info("    1..%zu\n", suite->count);
	for (size_t i = 0; i < suite->count; i++)
		ok &= run_case(suite, i);
	pr_info("%s %zu %s\n", ok ? "ok" : "not ok", number + 1, suite->name);
	return ok;
}

static int __init runner_init(void)
{
	const size_t count = plant ? 1 : ARRAY_SIZE(suites);
	bool ok = true;

	pr_info("KTAP version 1\n");
	pr_info("1..%zu\n", count);
	for (size_t i = 0; i < count; i++)
		ok &= run_suite(i, suites[i]);
	return ok ? 0 : -EIO;
}

static void __exit runner_exit(void)
{
}

module_init(runner_init);
module_exit(runner_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("speprof: the test cases of core, in the kernel");
MODULE_IMPORT_NS(SPE_NAMESPACE(SPEPROF_CORE));
