/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Write log lines, and log conditions when they change. */
#ifndef SPEPROF_EXPORTER_LOG_H
#define SPEPROF_EXPORTER_LOG_H

#include <systemd/sd-daemon.h>

#include "util/log-limit.h"

/**
 * exporter_log() - write one line to standard error, which is the journal or a terminal
 * @level: SD_ERR, SD_WARNING, SD_NOTICE or SD_INFO
 * @format: as for printf(3); the text is cut at 511 bytes
 *
 * Bytes that are not printable UTF-8 become "\xNN", because the text may contain what a receiver
 * sent.
 *
 * Context: any thread.
 */
void exporter_log(const char *level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/**
 * struct log_condition - a condition that is good, or bad for one of several causes
 * @limit: limits the rate of log lines
 * @logged: the cause in the last log line
 * @last: the cause in the last call of log_condition_update()
 *
 * All zero: the condition is good, and was never logged.
 */
struct log_condition {
	struct log_limit limit;
	u64 logged;
	u64 last;
};

/**
 * log_condition_update() - record the present state, and decide whether to log it
 * @cause: 0 if the condition is good; otherwise a number that differs for each cause
 * @now_ns: CLOCK_MONOTONIC
 * @ret_changes: number of changes since the last line; set if the result is true
 *
 * The first change is logged at once. Further changes are logged at intervals that double up to an
 * hour.
 *
 * Return: true if the caller should log the present state.
 */
bool log_condition_update(struct log_condition *condition, u64 cause, u64 now_ns, u64 *ret_changes);

/* Size of the buffer of log_condition_format_count(). */
#define LOG_CONDITION_COUNT 64

/**
 * log_condition_format_count() - format the number of changes, as the end of a log line
 * @changes: number from log_condition_update()
 * @ret_text: LOG_CONDITION_COUNT bytes; "" for one change
 *
 * Return: @ret_text.
 */
const char *log_condition_format_count(u64 changes, char ret_text[LOG_CONDITION_COUNT]);

#endif
