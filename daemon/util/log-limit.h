/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How often the same is said while it goes on: at once, then at intervals that double up to an hour,
 * and that it is over. What happens every five seconds for a year is some lines a day.
 */
#ifndef SPEPROF_LOG_LIMIT_H
#define SPEPROF_LOG_LIMIT_H

#include "codec/env.h"

#define LOG_LIMIT_PAUSE_MIN_NS 10000000000ULL
#define LOG_LIMIT_PAUSE_MAX_NS 3600000000000ULL
/* Over is what has not happened for so long. */
#define LOG_LIMIT_OVER_NS 600000000000ULL

/**
 * struct log_limit - of one message id; all 0: nothing goes on
 * @count: times that nothing was said of
 * @pause_ns: until the next line at the least
 * @repeated: it was said more than once
 */
struct log_limit {
	u64 count;
	u64 seen_ns;
	u64 logged_ns;
	u64 pause_ns;
	bool repeated;
};

enum log_limit_action { LOG_LIMIT_SILENT, LOG_LIMIT_REPORT, LOG_LIMIT_RESOLVED };

/**
 * log_limit_check() - to be asked every few seconds
 * @times: that it has happened since the last call
 * @now_ns: CLOCK_MONOTONIC
 * @ret_count: with TELL and OVER, how often since the last line; may be 0 with OVER
 *
 * What was said once, and did not come back, is over without a word.
 */
enum log_limit_action log_limit_check(struct log_limit *pace, u64 times, u64 now_ns,
				      u64 *ret_count);

#endif
