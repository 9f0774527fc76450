// SPDX-License-Identifier: LGPL-2.1-or-later
#include "log-limit.h"

static enum log_limit_action limit_report(struct log_limit *limit, u64 now, u64 *ret_count)
{
	u64 pause = limit->pause_ns * 2;

	limit->repeated = limit->pause_ns != 0;
	limit->pause_ns = pause > LOG_LIMIT_PAUSE_MAX_NS ? LOG_LIMIT_PAUSE_MAX_NS :
			 pause				? pause :
							  LOG_LIMIT_PAUSE_MIN_NS;
	limit->logged_ns = now;
	*ret_count = limit->count;
	limit->count = 0;
	return LOG_LIMIT_REPORT;
}

enum log_limit_action log_limit_check(struct log_limit *limit, u64 times, u64 now_ns, u64 *ret_count)
{
	bool notable;

	limit->count += times;
	if (times)
		limit->seen_ns = now_ns;
	if (!limit->pause_ns)
		return times ? limit_report(limit, now_ns, ret_count) : LOG_LIMIT_SILENT;
	if (now_ns - limit->seen_ns >= LOG_LIMIT_RESOLVED_NS) {
		notable = limit->repeated || limit->count;
		*ret_count = limit->count;
		*limit = (struct log_limit){ 0 };
		return notable ? LOG_LIMIT_RESOLVED : LOG_LIMIT_SILENT;
	}
	if (limit->count && now_ns - limit->logged_ns >= limit->pause_ns)
		return limit_report(limit, now_ns, ret_count);
	return LOG_LIMIT_SILENT;
}
