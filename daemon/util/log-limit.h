/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How often the same is said while it goes on: at once, then at intervals that double up to an hour,
 * and that it is over. What happens every five seconds for a year is some lines a day.
 */
#ifndef SPEPROF_LOG_LIMIT_H
#define SPEPROF_LOG_LIMIT_H

#include "codec/env.h"

#define LOG_PACE_FIRST_NS 10000000000ULL
#define LOG_PACE_MOST_NS  3600000000000ULL
/* Over is what has not happened for so long. */
#define LOG_PACE_OVER_NS 600000000000ULL

/**
 * struct log_pace - of one message id; all 0: nothing goes on
 * @count: times that nothing was said of
 * @pause_ns: until the next line at the least
 * @again: it was said more than once
 */
struct log_pace {
	u64 count;
	u64 seen_ns;
	u64 told_ns;
	u64 pause_ns;
	bool again;
};

enum log_pace_say { LOG_PACE_QUIET, LOG_PACE_TELL, LOG_PACE_OVER };

/**
 * log_pace() - to be asked every few seconds
 * @times: that it has happened since the last call
 * @now_ns: CLOCK_MONOTONIC
 * @ret_count: with TELL and OVER, how often since the last line; may be 0 with OVER
 *
 * What was said once, and did not come back, is over without a word.
 */
enum log_pace_say log_pace(struct log_pace *pace, u64 times, u64 now_ns, u64 *ret_count);

#endif
