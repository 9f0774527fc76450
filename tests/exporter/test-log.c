// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test log lines about a receiver: one for each kind of failure, and never more than a bounded
 * number.
 */
#include "test.h"

#include "log.h"
#include "push.h"

#define SECOND 1000000000ULL
#define BEGAN  (5000 * SECOND)

/*
 * If the kind of a failure changes while the rate limit forbids a message, it is logged as soon as
 * the limit permits.
 */
static void test_new_kind_of_failure_is_logged(void **state)
{
	struct log_condition condition = { 0 };
	u64 changes, logged = 0, at = 0;

	(void)state;
	assert_false(log_condition_update(&condition, 0, BEGAN, &changes));
	assert_true(log_condition_update(&condition, 503, BEGAN, &changes));
	assert_int_equal(changes, 1);
	for (u64 s = 1; s < 100000; s++) {
		if (!log_condition_update(&condition, s < 3 ? 503 : 401, BEGAN + s * SECOND,
					  &changes))
			continue;
		logged++;
		at = s;
		assert_int_equal(changes, 1);
	}
	assert_int_equal(logged, 1);
	assert_in_range(at, 3, 20);
}

/* A failure that persists is logged once, and its end is logged once. */
static void test_lasting_failure_is_logged_once(void **state)
{
	struct log_condition condition = { 0 };
	u64 changes, logged = 0;

	(void)state;
	for (u64 s = 0; s < 100000; s++)
		logged += log_condition_update(&condition, s < 50000 ? 7 : 0, BEGAN + s * SECOND,
					       &changes);
	assert_int_equal(logged, 2);
	assert_int_equal(condition.logged, 0);
}

/*
 * A receiver alternates between 503 and 200 for a day, with several periods: a few lines count the
 * changes and report the last state.
 */
static void test_alternating_receiver(void **state)
{
	(void)state;
	for (u64 every = 1; every < 300; every += 13) {
		struct log_condition condition = { 0 };
		u64 changes, lines = 0, counted = 0, s;

		test_row("every %u s", (unsigned int)every);
		for (s = 0; s < 86400; s++) {
			bool down = s / every % 2 == 0;

			if (!log_condition_update(&condition, down ? 503 : 0, BEGAN + s * SECOND,
						  &changes))
				continue;
			lines++;
			counted += changes;
			assert_row(s > 15 || lines <= 2);
			assert_row(condition.logged == (down ? 503 : 0));
		}
		assert_row(lines <= 40);
		for (; s < 2 * 86400; s++)
			if (log_condition_update(&condition, 0, BEGAN + s * SECOND, &changes)) {
				lines++;
				counted += changes;
			}
		assert_row(condition.logged == 0 && lines <= 41);
		/* The lines count all changes except those after the last line. */
		assert_row(counted <= 86400 / every + 2 && counted + 3600 >= 86400 / every);
		/* A failure that comes long afterwards is logged as new. */
		assert_row(log_condition_update(&condition, 9, BEGAN + s * SECOND, &changes) &&
			   changes == 1);
	}
}

static void test_text_of_change_count(void **state)
{
	char text[LOG_CONDITION_COUNT];

	(void)state;
	assert_string_equal(log_condition_format_count(1, text), "");
	assert_string_equal(log_condition_format_count(12, text),
			    " (it changed 12 times since the last line)");
	assert_true(strlen(log_condition_format_count(UINT64_MAX, text)) < sizeof(text) - 1);
}

/*
 * The delay before a retry is uniform between half of its mean and one and a half times its mean.
 */
static void test_retry_delays_are_uniform(void **state)
{
	static const struct {
		long seconds;
		u32 random;
		u64 ms;
	} rows[] = {
		{ 1, 0, 500 },		{ 1, 1U << 31, 1000 }, { 1, UINT32_MAX, 1499 },
		{ PUSH_WAIT, 0, 30000 }, { PUSH_WAIT, 3U << 30, 75000 },
		{ PUSH_RETRY_AFTER, UINT32_MAX, 449999 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("%ld s, %u", rows[i].seconds, rows[i].random);
		assert_row(push_add_jitter_ms(rows[i].seconds, rows[i].random) == rows[i].ms);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_new_kind_of_failure_is_logged),
		cmocka_unit_test(test_lasting_failure_is_logged_once),
		cmocka_unit_test(test_alternating_receiver),
		cmocka_unit_test(test_text_of_change_count),
		cmocka_unit_test(test_retry_delays_are_uniform),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
