// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * perf.data: records about tasks stand in the file as perf emptied the rings, one
 * CPU's after another's. They go on in order of time; of equal times, and of
 * those that say none, in the file's.
 */
#include "perfdata.h"

#include <stdlib.h>

#define SIZE_BITS 16
/* Beyond it nothing is in the file. */
#define OFFSET_MAX (1ULL << (64 - SIZE_BITS))

static int compare(const void *a, const void *b)
{
	const struct perfdata_queued *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static void emit(struct perfdata *perf, const struct perfdata_queued *queued)
{
	u32 size = (u32)(queued->place & ((1U << SIZE_BITS) - 1));
	struct perfdata_record record = {
		.offset = queued->place >> SIZE_BITS,
		.data = perf->order.record,
		.size = size,
	};

	/* It was there a moment ago; a file that shrinks ends here. */
	if (recording_read(perf->recording, record.offset, perf->order.record, size) < size)
		return;
	record.type = perfdata_get32(perf, record.data);
	record.misc = perfdata_get16(perf, record.data + 4);
	record.end = record.offset + size;
	if (perfdata_is_task(&record) && perfdata_get16(perf, record.data + 6) == size &&
	    perfdata_task_whole(perf, &record))
		perfdata_task(perf, &record);
}

/* The first @n of those in order go on; the rest stays. */
static void flush(struct perfdata *perf, u32 n)
{
	struct perfdata_order *order = &perf->order;

	if (!n)
		return;
	for (u32 i = 0; i < n; i++)
		emit(perf, &order->queue[i]);
	order->count -= n;
	memmove(order->queue, order->queue + n, order->count * sizeof(*order->queue));
}

static void sort(struct perfdata_order *order)
{
	if (order->count)
		qsort(order->queue, order->count, sizeof(*order->queue), compare);
}

static bool make_room(struct perfdata *perf)
{
	struct perfdata_order *order = &perf->order;
	u32 room = order->room ? 2 * order->room : 256;
	struct perfdata_queued *queue;

	if (!order->record)
		order->record = malloc(1U << SIZE_BITS);
	if (!order->record)
		return false;
	if (order->count < order->room)
		return true;
	queue = room <= PERFDATA_MAX_QUEUED ? realloc(order->queue, room * sizeof(*queue)) : NULL;
	if (queue) {
		order->queue = queue;
		order->room = room;
	} else if (order->count) {
		sort(order);
		flush(perf, (order->count + 1) / 2);
	}
	return order->count < order->room;
}

void perfdata_order_add(struct perfdata *perf, const struct perfdata_record *record)
{
	struct perfdata_order *order = &perf->order;
	u64 time;

	if (!perf->sink->task || !perfdata_task_whole(perf, record) ||
	    record->offset >= OFFSET_MAX || !make_room(perf))
		return;
	time = perfdata_task_time(perf, record);
	if (time > order->latest)
		order->latest = time;
	order->queue[order->count++] = (struct perfdata_queued){
		.time = time,
		.place = record->offset << SIZE_BITS | record->size,
	};
}

/*
 * perf empties all rings in a round. What an event of the next round can be
 * earlier than is the latest of this one, not of the one before.
 */
void perfdata_order_round(struct perfdata *perf)
{
	struct perfdata_order *order = &perf->order;
	u32 n = 0;

	sort(order);
	while (n < order->count && order->queue[n].time <= order->round)
		n++;
	flush(perf, n);
	order->round = order->latest;
}

void perfdata_order_end(struct perfdata *perf)
{
	sort(&perf->order);
	flush(perf, perf->order.count);
	free(perf->order.queue);
	free(perf->order.record);
	perf->order = (struct perfdata_order){ .count = 0 };
}
