/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parse the times of the options --since, --until, --last and --step. */
#ifndef SPEPROF_TIME_RANGE_H
#define SPEPROF_TIME_RANGE_H

#include "codec/env.h"

/* The accepted values, for error messages. */
#define TIME_RANGE_POINTS \
	"HH:MM, YYYY-MM-DD, \"YYYY-MM-DD HH:MM\", now, today, yesterday, -2h or @SECONDS"
#define TIME_RANGE_LENGTHS "a number with s, m, h, d or w, such as 30m or 7d"

/**
 * time_range_parse_length() - parse a length of time
 * @text: a value that TIME_RANGE_LENGTHS describes
 * @ret_us: microseconds, at least 1 s and at most 100 years
 *
 * Return: 0; -EINVAL for any other text.
 */
int time_range_parse_length(const char *text, s64 *ret_us);

/**
 * time_range_parse_point() - parse a point in time, in the local time zone
 * @text: a value that TIME_RANGE_POINTS describes; a time without a date is the latest such time
 * before @now_us
 * @now_us: the present time, CLOCK_REALTIME in microseconds
 * @ret_us: the time, CLOCK_REALTIME in microseconds
 *
 * Return: 0; -EINVAL for any other text.
 */
int time_range_parse_point(const char *text, s64 now_us, s64 *ret_us);

#endif
