// SPDX-License-Identifier: LGPL-2.1-or-later
#include "log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/escape.h"

void exporter_log(const char *level, const char *format, ...)
{
	char text[512], line[600];
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (n < 0)
		return;
	/*
	 * A receiver's answer may be a part of the text, and line breaks in it must not start
	 * another line.
	 */
	escape_string(line, sizeof(line), text);
	/* Only the journal interprets the prefix with the level. */
	fprintf(stderr, "%sspeprof-exporter: %s\n", getenv("JOURNAL_STREAM") ? level : "", line);
}

bool log_condition_update(struct log_condition *condition, u64 cause, u64 now_ns, u64 *ret_changes)
{
	enum log_limit_action action =
		log_limit_check(&condition->limit, cause != condition->last, now_ns, ret_changes);

	condition->last = cause;
	/*
	 * If changes were not logged, the final state is logged only if it differs from the state
	 * in the last line.
	 */
	if (action == LOG_LIMIT_SILENT ||
	    (cause == condition->logged && action == LOG_LIMIT_RESOLVED))
		return false;
	condition->logged = cause;
	return true;
}

const char *log_condition_format_count(u64 changes, char ret_text[LOG_CONDITION_COUNT])
{
	*ret_text = 0;
	if (changes > 1)
		snprintf(ret_text, LOG_CONDITION_COUNT,
			 " (it changed %" PRIu64 " times since the last line)", changes);
	return ret_text;
}
