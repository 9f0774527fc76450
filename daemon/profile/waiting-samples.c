// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The queue of samples that wait for /proc, because the attributor does not have their task,
 * executable or mapping yet. The queue has a fixed size. A sample is counted when /proc has been
 * read, or after one second. A sample that does not fit in the queue is counted at once as
 * unattributed or unmapped.
 */
#include "profile-internal.h"

#include <stdlib.h>

#include "util/time.h"

bool profile_queue_sample(struct profile *p, const struct waiting_sample *w)
{
	if (!p->waiting)
		p->waiting = malloc(WAITING_SAMPLES_MAX * sizeof(*p->waiting));
	if (!p->waiting || p->waiting_count == WAITING_SAMPLES_MAX)
		return false;
	if (w->since_ns && p->waiting_mapped == WAITING_MAPPED_MAX)
		return false;
	p->waiting_mapped += w->since_ns != 0;
	p->waiting[p->waiting_count++] = *w;
	return true;
}

bool profile_wait_for_mapping(struct profile *p, struct waiting_sample *w, u64 owner)
{
	u32 index = (u32)(owner >> 32);
	u64 now = time_now_ns();

	if (!w->since_ns) {
		bool timed = attributor_has_event_times(p->attributor) && w->time_ns < now;

		w->since_ns = timed ? w->time_ns : now;
		w->until_ns = now + WAITING_TIMEOUT_NS;
	}
	w->owner = owner;
	w->version = attributor_get_map_version(p->attributor, index, false);
	return now < w->until_ns &&
	       attributor_request_mappings(p->attributor, index, (u32)owner, w->since_ns);
}

/*
 * Return whether a sample must continue to wait for its mapping. Request another read of /proc if
 * the last read began too early.
 */
static bool mapping_is_awaited(struct profile *p, const struct waiting_sample *w, u64 now_ns)
{
	u32 index = (u32)(w->owner >> 32);

	return w->since_ns && now_ns < w->until_ns &&
	       attributor_request_mappings(p->attributor, index, (u32)w->owner, w->since_ns) &&
	       attributor_get_map_version(p->attributor, index, false) == w->version;
}

/* Count a sample, unless it still has to wait. Return whether the sample was counted. */
static bool sample_retry(const struct stage_query *query, struct profile *p,
			 struct waiting_sample *w)
{
	const struct resolved_task *answer = stage_find_task(query, w->task, w->time_ns);

	return !answer->waits && profile_count_waiting_sample(p, w, answer, true);
}

/*
 * Count the waiting samples that have a known task and mapping now. If @all is true, count the
 * other samples as unattributed or unmapped.
 */
static void retry_waiting_samples(struct profile *p, bool all)
{
	const struct stage_query query = { &p->stage, p->attributor, p->reader };
	u32 left = 0, count = p->waiting_count, mapped = 0;
	u64 now = count ? time_now_ns() : 0;

	if (!count)
		return;
	/* /proc may have been read since the last query, so cached tasks are invalid. */
	p->stage.epoch++;
	for (u32 i = 0; i < count; i++) {
		struct waiting_sample *w = &p->waiting[i];

		if (!all && (mapping_is_awaited(p, w, now) || !sample_retry(&query, p, w))) {
			mapped += w->since_ns != 0;
			p->waiting[left++] = *w;
		} else if (all) {
			profile_count_waiting_sample(
				p, w, stage_find_task(&query, w->task, w->time_ns), false);
		}
	}
	p->waiting_count = left;
	p->waiting_mapped = mapped;
}

void profile_retry_waiting_samples(struct profile *p)
{
	retry_waiting_samples(p, false);
}

void profile_finish_waiting_samples(struct profile *p)
{
	retry_waiting_samples(p, true);
}

void profile_move_waiting_samples(struct profile *to, struct profile *from)
{
	u32 moved = 0;

	if (!from->waiting_count)
		return;
	while (moved < from->waiting_count && profile_queue_sample(to, &from->waiting[moved]))
		moved++;
	from->waiting_count -= moved;
	memmove(from->waiting, from->waiting + moved, from->waiting_count * sizeof(*from->waiting));
	profile_finish_waiting_samples(from);
}
