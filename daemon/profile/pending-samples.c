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
	u32 left = 0, count = p->waiting_count;

	if (!count)
		return;
	/* Results may have arrived since. */
	p->epoch++;
	for (u32 i = 0; i < count; i++) {
		struct task_slot *task_slot =
			profile_task_slot_at(p, p->waiting[i].task, p->waiting[i].time_ns);

		if (task_slot->waits && !all)
			p->waiting[left++] = p->waiting[i];
		else
			profile_count_waiting(p, &p->waiting[i], task_slot);
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
