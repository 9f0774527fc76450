// SPDX-License-Identifier: LGPL-2.1-or-later
/* What one figure makes of tables and rings. */
#include "test.h"

#include "budget.h"

#include <errno.h>

#define MIB (1ULL << 20)

/* Whatever is asked for: never more than the budget, never less for more, and the least does. */
static void test_plan(void **state)
{
	static const u32 machines[] = { 1, 2, 8, 64, 192, 512, 4096 };
	struct memory_plan plan, before;
	u64 least = 0, same;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
		before = (struct memory_plan){ 0 };
		test_row("%u CPUs", machines[i]);
		assert_row(budget_plan(0, machines[i], &plan, &least) == -ENOSPC);
		assert_row(budget_plan(least - 1, machines[i], &plan, &same) == -ENOSPC);
		assert_row(same == least);
		for (u64 budget = least; budget < 4096 * MIB; budget += budget / 7) {
			assert_row(budget_plan(budget, machines[i], &plan, &same) == 0);
			assert_row(plan.bytes <= budget && plan.budget == budget);
			assert_row(plan.places >= 4096 && plan.processes >= 1024);
			assert_row(plan.containers >= 256 && plan.lines >= 128);
			assert_row(!(plan.places & (plan.places - 1)));
			assert_row(plan.ring >= 64 << 10 && plan.ring <= 256 << 10);
			assert_row(!(plan.ring & (plan.ring - 1)));
			assert_row(plan.ring >= before.ring);
			before = plan;
		}
		/* With enough of it tables are larger than where nothing is said. */
		assert_row(plan.places > 32768 && plan.processes > 8192);
	}
}

/* The rows of Documentation/profile.md. */
static void test_documented(void **state)
{
	static const struct {
		u64 budget;
		u32 cpus;
		u32 ring;
		u32 places;
		u32 processes;
		u32 containers;
	} rows[] = {
		{ 64 * MIB, 2, 256 << 10, 16384, 7168, 1792 },
		{ 64 * MIB, 64, 256 << 10, 16384, 4096, 1024 },
		{ 64 * MIB, 192, 128 << 10, 8192, 3072, 768 },
		{ 128 * MIB, 192, 256 << 10, 32768, 8192, 2048 },
		{ 256 * MIB, 192, 256 << 10, 65536, 31744, 7936 },
	};
	struct memory_plan plan;
	u64 least;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("%llu MiB, %u CPUs", (unsigned long long)(rows[i].budget / MIB),
			 rows[i].cpus);
		assert_row(budget_plan(rows[i].budget, rows[i].cpus, &plan, &least) == 0);
		assert_row(plan.ring == rows[i].ring);
		assert_row(plan.places == rows[i].places);
		assert_row(plan.processes == rows[i].processes);
		assert_row(plan.containers == rows[i].containers);
	}
	assert_int_equal(budget_plan(32 * MIB, 192, &plan, &least), -ENOSPC);
	assert_int_equal((least + MIB - 1) / MIB, 39);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plan),
		cmocka_unit_test(test_documented),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
