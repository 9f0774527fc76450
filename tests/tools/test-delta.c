// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include <stdlib.h>

#include "lib/delta.h"

static struct view_row make_row(const char *function, u64 samples, u64 latency)
{
	struct view_row row = { .samples = samples, .latency_sum = latency, .pid = 1, .p99 = 9 };

	snprintf(row.function, sizeof(row.function), "%s", function);
	return row;
}

static void test_rows_are_subtracted(void **state)
{
	struct view_row old[] = { make_row("b", 50, 500), make_row("a", 10, 100),
				  make_row("gone", 7, 7) };
	struct view_row new[] = { make_row("b", 55, 505), make_row("a", 30, 110),
				  make_row("same", 0, 0), make_row("c", 1, 900),
				  make_row("gone", 3, 3) };
	struct view before = { .count = 3, .rows = old, .header = { .records = 67, .lost = 5 } };
	struct view now = { .count = 5, .rows = new, .header = { .records = 96, .lost = 5 } };
	struct view got;

	(void)state;
	assert_int_equal(delta_compute_view(&now, &before, false, VIEW_SORT_SAMPLES, &got), 0);
	assert_int_equal(got.header.records, 29);
	assert_int_equal(got.header.lost, 5);
	assert_int_equal(got.count, 4);
	assert_string_equal(got.rows[0].function, "a");
	assert_int_equal(got.rows[0].samples, 20);
	assert_int_equal(got.rows[0].p99, 9);
	assert_string_equal(got.rows[1].function, "b");
	assert_int_equal(got.rows[1].samples, 5);
	/* The row was evicted and added again, so its count starts at 0. */
	assert_string_equal(got.rows[2].function, "gone");
	assert_int_equal(got.rows[2].samples, 3);
	assert_string_equal(got.rows[3].function, "c");
	view_clear(&got);

	/* The first view may have omitted "c", because the number of its rows is limited. */
	assert_int_equal(delta_compute_view(&now, &before, true, VIEW_SORT_SAMPLES, &got), 0);
	assert_int_equal(got.count, 3);
	assert_string_equal(got.rows[2].function, "gone");
	view_clear(&got);

	assert_int_equal(delta_compute_view(&now, &before, false, VIEW_SORT_LATENCY, &got), 0);
	assert_string_equal(got.rows[0].function, "c");
	view_clear(&got);
}

/*
 * All locations without an address have the same name. They form one row, which must not be
 * compared with another row.
 */
static void test_rows_without_address(void **state)
{
	struct view_row old[] = { make_row("[kernel]", 10, 100), make_row("a", 5, 50),
				  make_row("[kernel]", 1000, 10000) };
	struct view_row new[] = { make_row("[kernel]", 1010, 10100), make_row("[kernel]", 15, 150),
				  make_row("a", 6, 60), make_row("[kernel]", 5, 50) };
	struct view before = { .count = 3, .rows = old, .header.records = 1015 };
	struct view now = { .count = 4, .rows = new, .header.records = 1036 };
	struct view got;

	(void)state;
	assert_int_equal(delta_compute_view(&now, &before, false, VIEW_SORT_SAMPLES, &got), 0);
	assert_int_equal(got.count, 2);
	assert_string_equal(got.rows[0].function, "[kernel]");
	assert_int_equal(got.rows[0].samples, 20);
	assert_int_equal(got.rows[0].latency_sum, 200);
	assert_int_equal(got.rows[1].samples, 1);
	view_clear(&got);
}

/*
 * If a name is resolved between two views, older samples of the unnamed row are not counted for the
 * interval.
 */
static void test_name_is_resolved_between_views(void **state)
{
	static const struct {
		const char *name;
		u64 walk, old; /* rows of the later view: total, and matched in the earlier one */
		u64 expected_walk, expected_old;
	} rows[] = {
		{ "a new row", 165, 45, 15, 5 },
		{ "a row that was there", 0, 210, 0, 20 },
		{ "both", 60, 150, 0, 20 },
		{ "nothing came", 150, 40, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct view_row old[] = { make_row("w+0x10", 100, 1000),
					  make_row("w+0x20", 50, 500), make_row("old", 40, 400),
					  make_row("other", 7, 70) };
		struct view_row new[] = { make_row("walk", rows[i].walk, 10 * rows[i].walk),
					  make_row("old", rows[i].old, 10 * rows[i].old),
					  make_row("other", 9, 90) };
		struct view before = { .count = 4, .rows = old,
				       .header = { .records = 197, .names_pending = 2 } };
		struct view now = { .count = 3, .rows = new, .header.records = 199 };
		u64 walk = 0, grown = 0;
		struct view got;

		test_row("%s", rows[i].name);
		strcpy(old[3].binary, "b");
		strcpy(new[2].binary, "b");
		now.header.records += rows[i].walk + rows[i].old - 190;
		assert_row(delta_compute_view(&now, &before, false, VIEW_SORT_SAMPLES, &got) == 0);
		for (u32 k = 0; k < got.count; k++) {
			if (!strcmp(got.rows[k].function, "walk"))
				walk = got.rows[k].samples;
			else if (!strcmp(got.rows[k].function, "old"))
				grown = got.rows[k].samples;
			else
				assert_row(got.rows[k].samples == 2);
			assert_row(got.rows[k].latency_sum == 10 * got.rows[k].samples);
		}
		assert_row(walk == rows[i].expected_walk && grown == rows[i].expected_old);
		assert_row(walk + grown + 2 <= got.header.records);
		view_clear(&got);
	}
}

/* Rows are sorted by new samples, and by weight if all weights have one unit. */
static void test_rows_sorted_by_weight(void **state)
{
	struct view_row old[] = { make_row("a", 10, 0), make_row("b", 10, 0) };
	struct view_row new[] = { make_row("a", 14, 0), make_row("b", 12, 0) };
	struct view before = { .count = 2, .rows = old, .header.records = 20 };
	struct view now = { .count = 2, .rows = new, .header.records = 26 };
	struct view got;

	(void)state;
	old[0].weight[UNIT_INSTRUCTIONS] = old[1].weight[UNIT_INSTRUCTIONS] = 10000;
	before.header.weight[UNIT_INSTRUCTIONS] = 20000;
	new[0].weight[UNIT_INSTRUCTIONS] = 14000;
	new[1].weight[UNIT_INSTRUCTIONS] = 18000;
	now.header.weight[UNIT_INSTRUCTIONS] = 32000;
	assert_int_equal(delta_compute_view(&now, &before, false, VIEW_SORT_SAMPLES, &got), 0);
	assert_string_equal(got.rows[0].function, "b");
	assert_int_equal(view_get_share_numerator(&got.rows[0], view_get_share_unit(&got.header)),
			 8000);
	assert_int_equal(view_get_share_denominator(&got.header, view_get_share_unit(&got.header)),
			 12000);
	view_clear(&got);

	/* Weights of unknown unit from before the interval do not matter. */
	before.header.unweighed = now.header.unweighed = 3;
	assert_int_equal(delta_compute_view(&now, &before, false, VIEW_SORT_SAMPLES, &got), 0);
	assert_string_equal(got.rows[0].function, "b");
	view_clear(&got);
	now.header.unweighed = 4;
	assert_int_equal(delta_compute_view(&now, &before, false, VIEW_SORT_SAMPLES, &got), 0);
	assert_string_equal(got.rows[0].function, "a");
	assert_int_equal(view_get_share_denominator(&got.header, view_get_share_unit(&got.header)),
			 6);
	view_clear(&got);
}

static void test_reset_between_views(void **state)
{
	struct view_row old[] = { make_row("a", 100, 0) }, new[] = { make_row("a", 120, 0) };
	struct view before = { .count = 1, .rows = old, .header.records = 900 };
	struct view now = { .count = 1, .rows = new, .header.records = 120 };
	struct view got;

	(void)state;
	assert_int_equal(delta_compute_view(&now, &before, false, VIEW_SORT_SAMPLES, &got), 0);
	assert_int_equal(got.header.records, 120);
	assert_int_equal(got.rows[0].samples, 120);
	view_clear(&got);
}

static void test_empty_views(void **state)
{
	struct view nothing = { 0 }, got;

	(void)state;
	assert_int_equal(delta_compute_view(&nothing, &nothing, false, VIEW_SORT_DRAM, &got), 0);
	assert_int_equal(got.count, 0);
	view_clear(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_are_subtracted),
		cmocka_unit_test(test_rows_sorted_by_weight),
		cmocka_unit_test(test_rows_without_address),
		cmocka_unit_test(test_name_is_resolved_between_views),
		cmocka_unit_test(test_reset_between_views),
		cmocka_unit_test(test_empty_views),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
