// SPDX-License-Identifier: LGPL-2.1-or-later
#include "log-limit.h"

static enum log_limit_action report(struct log_limit *pace, u64 now, u64 *ret_count)
{
	u64 pause = pace->pause_ns * 2;

	pace->repeated = pace->pause_ns != 0;
	pace->pause_ns = pause > LOG_LIMIT_PAUSE_MAX_NS ? LOG_LIMIT_PAUSE_MAX_NS :
			 pause				? pause :
							  LOG_LIMIT_PAUSE_MIN_NS;
	pace->logged_ns = now;
	*ret_count = pace->count;
	pace->count = 0;
	return LOG_LIMIT_REPORT;
}

enum log_limit_action log_limit_check(struct log_limit *pace, u64 times, u64 now_ns, u64 *ret_count)
{
	bool worth;

	pace->count += times;
	if (times)
		pace->seen_ns = now_ns;
	if (!pace->pause_ns)
		return times ? report(pace, now_ns, ret_count) : LOG_LIMIT_SILENT;
	if (now_ns - pace->seen_ns >= LOG_LIMIT_OVER_NS) {
		worth = pace->repeated || pace->count;
		*ret_count = pace->count;
		*pace = (struct log_limit){ 0 };
		return worth ? LOG_LIMIT_RESOLVED : LOG_LIMIT_SILENT;
	}
	if (pace->count && now_ns - pace->logged_ns >= pace->pause_ns)
		return report(pace, now_ns, ret_count);
	return LOG_LIMIT_SILENT;
}
