// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus-queue.h"

#include <errno.h>
#include <time.h>

/*
 * So long, and so many times what the last one took, the bus is read before those who wait are
 * late: whoever does not wait here is not kept from it by them.
 */
#define LATE_USEC  1000000
#define LATE_TIMES 3

static struct bus_waiting take_at(struct bus_queue *queue, u32 i)
{
	struct bus_waiting taken = queue->waiting[i];

	queue->count--;
	memmove(&queue->waiting[i], &queue->waiting[i + 1],
		(queue->count - i) * sizeof(queue->waiting[0]));
	return taken;
}

/* The first of who reads after one of who does not, else of another user than the last one's. */
static struct bus_waiting take(struct bus_queue *queue)
{
	u32 i = 0;

	if (!queue->last_reads) {
		while (i < queue->count && !queue->waiting[i].caller.reads)
			i++;
		if (i < queue->count)
			return take_at(queue, i);
		i = 0;
	}
	while (i < queue->count && queue->waiting[i].caller.uid == queue->last)
		i++;
	return take_at(queue, i < queue->count ? i : 0);
}

static u64 now_usec(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000000 + (u64)ts.tv_nsec / 1000;
}

/* Its turn comes while there is anything in it, and late at the latest. */
static int arm(struct bus_queue *queue, u64 took_usec)
{
	int r;

	if (!queue->count) {
		sd_event_source_set_enabled(queue->late, SD_EVENT_OFF);
		return sd_event_source_set_enabled(queue->source, SD_EVENT_OFF);
	}
	/* Not sd-event's own time: that is of before this turn of the loop. */
	r = sd_event_source_set_time(queue->late, now_usec() + LATE_USEC + LATE_TIMES * took_usec);
	if (r >= 0)
		r = sd_event_source_set_enabled(queue->late, SD_EVENT_ONESHOT);
	return r < 0 ? r : sd_event_source_set_enabled(queue->source, SD_EVENT_ON);
}

static int on_idle(sd_event_source *source __attribute__((unused)), void *userdata)
{
	struct bus_queue *queue = userdata;
	struct bus_waiting next;
	u64 begun = now_usec();

	if (queue->count) {
		next = take(queue);
		queue->last = next.caller.uid;
		queue->last_reads = next.caller.reads;
		queue->run(queue->ctx, &next);
		sd_bus_message_unref(next.message);
	}
	arm(queue, now_usec() - begun);
	return 0;
}

static int on_late(sd_event_source *source, uint64_t usec __attribute__((unused)), void *userdata)
{
	return on_idle(source, userdata);
}

int bus_queue_init(struct bus_queue *queue, sd_event *event,
		   void (*run)(void *ctx, const struct bus_waiting *waiting),
		   void (*refuse)(void *ctx, const struct bus_waiting *waiting), void *ctx)
{
	int r;

	*queue = (struct bus_queue){ .run = run, .refuse = refuse, .ctx = ctx, .last = (uid_t)-1 };
	r = sd_event_add_defer(event, &queue->source, on_idle, queue);
	/* After the bus has nothing more to be read, and before what is done at leisure. */
	if (r >= 0)
		r = sd_event_source_set_priority(queue->source, SD_EVENT_PRIORITY_NORMAL + 1);
	if (r >= 0)
		r = sd_event_add_time(event, &queue->late, CLOCK_MONOTONIC, UINT64_MAX, 1, on_late,
				      queue);
	/* Before the bus, which has something to be read for as long as somebody floods it. */
	if (r >= 0)
		r = sd_event_source_set_priority(queue->late, SD_EVENT_PRIORITY_NORMAL - 1);
	return r < 0 ? r : arm(queue, 0);
}

void bus_queue_deinit(struct bus_queue *queue)
{
	while (queue->count)
		sd_bus_message_unref(queue->waiting[--queue->count].message);
	queue->source = sd_event_source_unref(queue->source);
	queue->late = sd_event_source_unref(queue->late);
}

/* Calls that wait: of @uid alone, or of all who are not in the group. */
static u32 count_of(const struct bus_queue *queue, uid_t uid)
{
	u32 count = 0;

	for (u32 i = 0; i < queue->count; i++)
		count += queue->waiting[i].caller.uid == uid;
	return count;
}

static u32 count_others(const struct bus_queue *queue)
{
	u32 count = 0;

	for (u32 i = 0; i < queue->count; i++)
		count += !queue->waiting[i].caller.reads;
	return count;
}

/*
 * The last call of whoever has the most gives way, if that leaves it as many as who has @own then
 * has. Of two who have as many, it is that of who is not in the group.
 * @others: of those alone
 */
static bool make_room(struct bus_queue *queue, u32 own, bool others)
{
	u32 most = own + 2, at = queue->count;
	struct bus_waiting taken;

	for (u32 i = 0; i < queue->count; i++) {
		const struct bus_caller *caller = &queue->waiting[i].caller;
		u32 count = count_of(queue, caller->uid);

		if ((others && caller->reads) || count < most)
			continue;
		/* Of as many, the last; of those who read only where nobody else has as many. */
		if (count == most && caller->reads && at < queue->count &&
		    !queue->waiting[at].caller.reads)
			continue;
		most = count;
		at = i;
	}
	if (at == queue->count)
		return false;
	taken = take_at(queue, at);
	queue->refuse(queue->ctx, &taken);
	sd_bus_message_unref(taken.message);
	return true;
}

int bus_queue_add(struct bus_queue *queue, sd_bus_message *message, const void *what,
		  const struct bus_caller *caller)
{
	bool others = !caller->reads && count_others(queue) >= BUS_QUEUE_OTHERS;
	u32 own = count_of(queue, caller->uid);

	if (own >= BUS_QUEUE_USER)
		return -ENOBUFS;
	if ((others || queue->count >= BUS_QUEUE) && !make_room(queue, own, others))
		return -ENOBUFS;
	queue->waiting[queue->count++] = (struct bus_waiting){
		.message = sd_bus_message_ref(message), .what = what, .caller = *caller
	};
	return queue->count > 1 ? 0 : arm(queue, 0);
}
