// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus-queue.h"

#include <errno.h>

/* The first of another user than the last one's, else the first. */
static struct bus_waiting take(struct bus_queue *queue)
{
	struct bus_waiting taken;
	u32 i = 0;

	while (i < queue->count && queue->waiting[i].caller.uid == queue->last)
		i++;
	if (i == queue->count)
		i = 0;
	taken = queue->waiting[i];
	queue->count--;
	memmove(&queue->waiting[i], &queue->waiting[i + 1],
		(queue->count - i) * sizeof(queue->waiting[0]));
	return taken;
}

static int on_idle(sd_event_source *source, void *userdata)
{
	struct bus_queue *queue = userdata;
	struct bus_waiting next;

	if (queue->count) {
		next = take(queue);
		queue->last = next.caller.uid;
		queue->run(queue->ctx, &next);
		sd_bus_message_unref(next.message);
	}
	if (!queue->count)
		sd_event_source_set_enabled(source, SD_EVENT_OFF);
	return 0;
}

int bus_queue_init(struct bus_queue *queue, sd_event *event,
		   void (*run)(void *ctx, const struct bus_waiting *waiting), void *ctx)
{
	int r;

	*queue = (struct bus_queue){ .run = run, .ctx = ctx, .last = (uid_t)-1 };
	r = sd_event_add_defer(event, &queue->source, on_idle, queue);
	if (r >= 0)
		r = sd_event_source_set_enabled(queue->source, SD_EVENT_OFF);
	/* After the bus has nothing more to be read, and before what is done at leisure. */
	if (r >= 0)
		r = sd_event_source_set_priority(queue->source, SD_EVENT_PRIORITY_NORMAL + 1);
	return r;
}

void bus_queue_deinit(struct bus_queue *queue)
{
	while (queue->count)
		sd_bus_message_unref(queue->waiting[--queue->count].message);
	queue->source = sd_event_source_unref(queue->source);
}

int bus_queue_add(struct bus_queue *queue, sd_bus_message *message, const void *what,
		  const struct bus_caller *caller)
{
	u32 own = 0;

	for (u32 i = 0; i < queue->count; i++)
		own += queue->waiting[i].caller.uid == caller->uid;
	if (own >= BUS_QUEUE_USER || queue->count >= BUS_QUEUE)
		return -ENOBUFS;
	queue->waiting[queue->count++] = (struct bus_waiting){
		.message = sd_bus_message_ref(message), .what = what, .caller = *caller
	};
	return sd_event_source_set_enabled(queue->source, SD_EVENT_ON);
}
