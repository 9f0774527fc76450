// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include <stdlib.h>

#include "delta.h"

static struct view_row row(const char *function, u64 samples, u64 latency)
{
	struct view_row row = { .samples = samples, .latency_sum = latency, .pid = 1, .p99 = 9 };

	snprintf(row.function, sizeof(row.function), "%s", function);
	return row;
}

static void difference(void **state)
{
	struct view_row old[] = { row("b", 50, 500), row("a", 10, 100), row("gone", 7, 7) };
	struct view_row new[] = { row("b", 55, 505), row("a", 30, 110), row("same", 0, 0),
				  row("c", 1, 900), row("gone", 3, 3) };
	struct view before = { .count = 3, .rows = old, .header = { .records = 67, .lost = 5 } };
	struct view now = { .count = 5, .rows = new, .header = { .records = 96, .lost = 5 } };
	struct view got;

	(void)state;
	assert_int_equal(delta_view(&now, &before, false, VIEW_SORT_SAMPLES, &got), 0);
	assert_int_equal(got.header.records, 29);
	assert_int_equal(got.header.lost, 5);
	assert_int_equal(got.count, 4);
	assert_string_equal(got.rows[0].function, "a");
	assert_int_equal(got.rows[0].samples, 20);
	assert_int_equal(got.rows[0].p99, 9);
	assert_string_equal(got.rows[1].function, "b");
	assert_int_equal(got.rows[1].samples, 5);
	/* Evicted and back: its count begins anew. */
	assert_string_equal(got.rows[2].function, "gone");
	assert_int_equal(got.rows[2].samples, 3);
	assert_string_equal(got.rows[3].function, "c");
	view_clear(&got);

	/* "c" may have been below the cut of the first view. */
	assert_int_equal(delta_view(&now, &before, true, VIEW_SORT_SAMPLES, &got), 0);
	assert_int_equal(got.count, 3);
	assert_string_equal(got.rows[2].function, "gone");
	view_clear(&got);

	assert_int_equal(delta_view(&now, &before, false, VIEW_SORT_LATENCY, &got), 0);
	assert_string_equal(got.rows[0].function, "c");
	view_clear(&got);
}

/* By what came since, and by weight where that is of one unit. */
static void weights(void **state)
{
	struct view_row old[] = { row("a", 10, 0), row("b", 10, 0) };
	struct view_row new[] = { row("a", 14, 0), row("b", 12, 0) };
	struct view before = { .count = 2, .rows = old, .header.records = 20 };
	struct view now = { .count = 2, .rows = new, .header.records = 26 };
	struct view got;

	(void)state;
	old[0].weight[UNIT_INSTRUCTIONS] = old[1].weight[UNIT_INSTRUCTIONS] = 10000;
	before.header.weight[UNIT_INSTRUCTIONS] = 20000;
	new[0].weight[UNIT_INSTRUCTIONS] = 14000;
	new[1].weight[UNIT_INSTRUCTIONS] = 18000;
	now.header.weight[UNIT_INSTRUCTIONS] = 32000;
	assert_int_equal(delta_view(&now, &before, false, VIEW_SORT_SAMPLES, &got), 0);
	assert_string_equal(got.rows[0].function, "b");
	assert_int_equal(view_part(&got.rows[0], view_unit(&got.header)), 8000);
	assert_int_equal(view_whole(&got.header, view_unit(&got.header)), 12000);
	view_clear(&got);

	/* Of samples without an interval, those of before do not matter. */
	before.header.unweighed = now.header.unweighed = 3;
	assert_int_equal(delta_view(&now, &before, false, VIEW_SORT_SAMPLES, &got), 0);
	assert_string_equal(got.rows[0].function, "b");
	view_clear(&got);
	now.header.unweighed = 4;
	assert_int_equal(delta_view(&now, &before, false, VIEW_SORT_SAMPLES, &got), 0);
	assert_string_equal(got.rows[0].function, "a");
	assert_int_equal(view_whole(&got.header, view_unit(&got.header)), 6);
	view_clear(&got);
}

static void reset_profile(void **state)
{
	struct view_row old[] = { row("a", 100, 0) }, new[] = { row("a", 120, 0) };
	struct view before = { .count = 1, .rows = old, .header.records = 900 };
	struct view now = { .count = 1, .rows = new, .header.records = 120 };
	struct view got;

	(void)state;
	assert_int_equal(delta_view(&now, &before, false, VIEW_SORT_SAMPLES, &got), 0);
	assert_int_equal(got.header.records, 120);
	assert_int_equal(got.rows[0].samples, 120);
	view_clear(&got);
}

static void empty(void **state)
{
	struct view nothing = { 0 }, got;

	(void)state;
	assert_int_equal(delta_view(&nothing, &nothing, false, VIEW_SORT_DRAM, &got), 0);
	assert_int_equal(got.count, 0);
	view_clear(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(difference),
		cmocka_unit_test(weights),
		cmocka_unit_test(reset_profile),
		cmocka_unit_test(empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
