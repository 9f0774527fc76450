// SPDX-License-Identifier: LGPL-2.1-or-later
#include "push-told.h"

#include <inttypes.h>
#include <stdio.h>

bool push_told(struct push_told *told, u64 how, u64 now_ns, u64 *ret_changes)
{
	bool changed = how != told->last;
	enum log_pace_say say = log_pace(&told->pace, changed, now_ns, ret_changes);

	told->last = how;
	/* What came and went is worth a line, too, unless it has not for long. */
	if (say == LOG_PACE_QUIET || (how == told->said && say == LOG_PACE_OVER))
		return false;
	told->said = how;
	return true;
}

const char *push_changes(u64 changes, char text[PUSH_CHANGES])
{
	*text = 0;
	if (changes > 1)
		snprintf(text, PUSH_CHANGES, " (it changed %" PRIu64 " times since the last line)", changes);
	return text;
}
