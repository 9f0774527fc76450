/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Limits how often a repeated event is logged: at once, then at intervals that double from 10 s up
 * to an hour. The last line reports that the event no longer occurs.
 */
#ifndef SPEPROF_LOG_LIMIT_H
#define SPEPROF_LOG_LIMIT_H

#include "codec/env.h"

#define LOG_LIMIT_PAUSE_MIN_NS 10000000000ULL
#define LOG_LIMIT_PAUSE_MAX_NS 3600000000000ULL
/* An event that has not occurred for this long counts as resolved. */
#define LOG_LIMIT_RESOLVED_NS 600000000000ULL

/**
 * struct log_limit - the state of one kind of event
 * @count: occurrences since the last line
 * @seen_ns: time of the last occurrence
 * @logged_ns: time of the last line
 * @pause_ns: minimum time between the last line and the next one; 0 if nothing was logged
 * @repeated: at least two lines were logged
 *
 * All zero: the event has not occurred.
 */
struct log_limit {
	u64 count;
	u64 seen_ns;
	u64 logged_ns;
	u64 pause_ns;
	bool repeated;
};

/** enum log_limit_action - what to log: nothing, the event, or that the event no longer occurs */
enum log_limit_action { LOG_LIMIT_SILENT, LOG_LIMIT_REPORT, LOG_LIMIT_RESOLVED };

/**
 * log_limit_check() - return what to log now about an event that may occur often
 * @limit: state of the event
 * @times: occurrences since the last call
 * @now_ns: CLOCK_MONOTONIC
 * @ret_count: occurrences since the last line; set if the result is not LOG_LIMIT_SILENT, and
 *	possibly 0 with LOG_LIMIT_RESOLVED
 *
 * Call it every few seconds, also if the event has not occurred. The end of an event is reported
 * only if at least two lines were logged, or if the event occurred again after the last line.
 */
enum log_limit_action log_limit_check(struct log_limit *limit, u64 times, u64 now_ns,
				      u64 *ret_count);

#endif
