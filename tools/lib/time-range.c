// SPDX-License-Identifier: LGPL-2.1-or-later
#include "time-range.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#define SECOND_US    1000000LL
#define DAY_S	     86400LL
#define LENGTH_MAX_S (100 * 366 * DAY_S)

int time_range_parse_length(const char *text, s64 *ret_us)
{
	static const struct {
		char unit;
		s64 seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', DAY_S }, { 'w', 7 * DAY_S } };
	s64 number;
	char *end;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	number = strtoll(text, &end, 10);
	if (errno || number < 1 || !*end || end[1])
		return -EINVAL;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (*end != units[i].unit)
			continue;
		if (number > LENGTH_MAX_S / units[i].seconds)
			return -EINVAL;
		*ret_us = number * units[i].seconds * SECOND_US;
		return 0;
	}
	return -EINVAL;
}

/* Return the start of the day that is @days days before the day of @now_us. */
static s64 compute_day_start(s64 now_us, int days)
{
	time_t now = (time_t)(now_us / SECOND_US);
	struct tm tm;

	localtime_r(&now, &tm);
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	tm.tm_mday -= days;
	tm.tm_isdst = -1;
	return (s64)mktime(&tm) * SECOND_US;
}

static int parse_seconds(const char *text, s64 *ret_us)
{
	s64 seconds;
	char *end;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	seconds = strtoll(text, &end, 10);
	if (errno || *end || seconds > INT64_MAX / SECOND_US)
		return -EINVAL;
	*ret_us = seconds * SECOND_US;
	return 0;
}

/* Parse a date, a time, or both. */
static int parse_date(const char *text, s64 now_us, s64 *ret_us)
{
	static const char *const formats[] = { "%Y-%m-%d %H:%M:%S",
					       "%Y-%m-%d %H:%M",
					       "%Y-%m-%dT%H:%M:%S",
					       "%Y-%m-%dT%H:%M",
					       "%Y-%m-%d",
					       "%H:%M:%S",
					       "%H:%M" };
	time_t now = (time_t)(now_us / SECOND_US);

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		struct tm tm;
		const char *end;

		localtime_r(&now, &tm);
		tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
		end = strptime(text, formats[i], &tm);
		if (!end || *end)
			continue;
		tm.tm_isdst = -1;
		*ret_us = (s64)mktime(&tm) * SECOND_US;
		if (formats[i][1] != 'H' || *ret_us <= now_us)
			return 0;
		/* The time has not passed today, so use that time of yesterday. */
		tm.tm_mday--;
		tm.tm_isdst = -1;
		*ret_us = (s64)mktime(&tm) * SECOND_US;
		return 0;
	}
	return -EINVAL;
}

int time_range_parse_point(const char *text, s64 now_us, s64 *ret_us)
{
	s64 length;
	int r;

	if (!strcmp(text, "now")) {
		*ret_us = now_us;
		return 0;
	}
	if (!strcmp(text, "today") || !strcmp(text, "yesterday")) {
		*ret_us = compute_day_start(now_us, *text == 'y');
		return 0;
	}
	if (*text == '@')
		return parse_seconds(text + 1, ret_us);
	if (*text != '-')
		return parse_date(text, now_us, ret_us);
	r = time_range_parse_length(text + 1, &length);
	if (r >= 0)
		*ret_us = now_us - length;
	return r;
}
