// SPDX-License-Identifier: LGPL-2.1-or-later
#include "log-limit.h"

static enum log_pace_say tell(struct log_pace *pace, u64 now, u64 *ret_count)
{
	u64 pause = pace->pause_ns * 2;

	pace->again = pace->pause_ns != 0;
	pace->pause_ns = pause > LOG_PACE_MOST_NS ? LOG_PACE_MOST_NS :
			 pause			  ? pause :
						    LOG_PACE_FIRST_NS;
	pace->told_ns = now;
	*ret_count = pace->count;
	pace->count = 0;
	return LOG_PACE_TELL;
}

enum log_pace_say log_pace(struct log_pace *pace, u64 times, u64 now_ns, u64 *ret_count)
{
	bool worth;

	pace->count += times;
	if (times)
		pace->seen_ns = now_ns;
	if (!pace->pause_ns)
		return times ? tell(pace, now_ns, ret_count) : LOG_PACE_QUIET;
	if (now_ns - pace->seen_ns >= LOG_PACE_OVER_NS) {
		worth = pace->again || pace->count;
		*ret_count = pace->count;
		*pace = (struct log_pace){ 0 };
		return worth ? LOG_PACE_OVER : LOG_PACE_QUIET;
	}
	if (pace->count && now_ns - pace->told_ns >= pace->pause_ns)
		return tell(pace, now_ns, ret_count);
	return LOG_PACE_QUIET;
}
