// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test how the times of --since, --until and --last are parsed. */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "lib/time-range.h"

#define SECOND_US 1000000LL
/* 2026-11-27 12:00:00 in UTC+1, which has summer time until October */
#define NOW_US (1795777200LL * SECOND_US)

static void test_parse_lengths(void **state)
{
	static const struct {
		const char *text;
		s64 seconds; /* 0: the text is invalid */
	} rows[] = {
		{ "1s", 1 },	   { "30m", 1800 }, { "2h", 7200 }, { "7d", 604800 }, { "2w", 1209600 },
		{ "", 0 },	   { "5", 0 },	    { "m", 0 },	    { "0m", 0 },      { "-1m", 0 },
		{ "1mm", 0 },	   { "1y", 0 },	    { " 1m", 0 },   { "1.5h", 0 },    { "+1h", 0 },
		{ "9999999w", 0 }, { "99999999999999999999s", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		s64 us = 0;
		int r = time_range_parse_length(rows[i].text, &us);

		test_row("%s", rows[i].text);
		assert_row(r == (rows[i].seconds ? 0 : -EINVAL));
		assert_row(us == rows[i].seconds * SECOND_US);
	}
}

static void test_parse_points_in_time(void **state)
{
	static const struct {
		const char *text;
		s64 before; /* seconds before NOW_US; -1: the text is invalid */
	} rows[] = {
		{ "now", 0 },
		{ "today", 12 * 3600 },
		{ "yesterday", 36 * 3600 },
		{ "11:30", 1800 },
		{ "12:00", 0 },
		{ "12:00:01", 86399 },
		{ "23:00", 13 * 3600 },
		{ "2026-11-27", 12 * 3600 },
		{ "2026-11-26 12:00", 86400 },
		{ "2026-11-26T12:00:30", 86370 },
		{ "2026-10-24 12:00", 34 * 86400 + 3600 }, /* summer time */
		{ "-2h", 7200 },
		{ "@1795777190", 10 },
		{ "", -1 },
		{ "noon", -1 },
		{ "25:00", -1 },
		{ "11:30x", -1 },
		{ "2026-13-01", -1 },
		{ "-", -1 },
		{ "-2", -1 },
		{ "@", -1 },
		{ "@-5", -1 },
		{ "@99999999999999999999", -1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		s64 us = 0;
		int r = time_range_parse_point(rows[i].text, NOW_US, &us);

		test_row("%s", rows[i].text);
		assert_row(r == (rows[i].before < 0 ? -EINVAL : 0));
		assert_row(r < 0 || us == NOW_US - rows[i].before * SECOND_US);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse_lengths),
		cmocka_unit_test(test_parse_points_in_time),
	};

	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
