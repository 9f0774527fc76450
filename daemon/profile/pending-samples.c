// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The queue of samples whose task the attributor does not know yet. It has a fixed size. A
 * sample is counted when /proc has identified its task, or when the query's timeout has expired.
 * A sample that does not fit in the queue is unattributed at once.
 */
#include "profile-internal.h"

#include <stdlib.h>

bool profile_queue_sample(struct profile *p, const struct waiting_sample *w)
{
	if (!p->waiting)
		p->waiting = malloc(WAITING * sizeof(*p->waiting));
	if (!p->waiting || p->waiting_count == WAITING)
		return false;
	p->waiting[p->waiting_count++] = *w;
	return true;
}

/* @all: count samples with a pending query, too, as unattributed */
static void retry(struct profile *p, bool all)
{
	const struct stage_query query = { &p->stage, p->attributor, p->reader };
	u32 left = 0, count = p->waiting_count;

	if (!count)
		return;
	/* Results may have arrived since. */
	p->stage.epoch++;
	for (u32 i = 0; i < count; i++) {
		const struct waiting_sample *w = &p->waiting[i];
		const struct task_answer *answer = stage_find_task(&query, w->task, w->time_ns);

		if (answer->waits && !all)
			p->waiting[left++] = *w;
		else
			profile_count_waiting(p, w, answer);
	}
	p->waiting_count = left;
}

void profile_retry_queued(struct profile *p)
{
	retry(p, false);
}

void profile_finish_queued(struct profile *p)
{
	retry(p, true);
}

void profile_move_queued(struct profile *to, struct profile *from)
{
	u32 moved = 0;

	if (!from->waiting_count)
		return;
	while (moved < from->waiting_count && profile_queue_sample(to, &from->waiting[moved]))
		moved++;
	from->waiting_count -= moved;
	memmove(from->waiting, from->waiting + moved, from->waiting_count * sizeof(*from->waiting));
	profile_finish_queued(from);
}
