// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Sort the task records of a perf.data by time. perf reads the rings of the CPUs one after the
 * other, so the file is not in order of time. Records with equal times, or without a time, stay in
 * the order of the file.
 */
#include "perfdata.h"

#include <stdlib.h>

#include "util/array.h"

#define SIZE_BITS 16
/* Larger offsets do not fit in &perfdata_queued_task.location. */
#define OFFSET_MAX (1ULL << (64 - SIZE_BITS))

static int queued_compare(const void *a, const void *b)
{
	const struct perfdata_queued_task *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->location < y->location ? -1 : x->location > y->location;
}

static void record_emit(struct perfdata_reader *perf, const struct perfdata_queued_task *queued)
{
	u32 size = (u32)(queued->location & ((1U << SIZE_BITS) - 1));
	struct perfdata_record record = {
		.offset = queued->location >> SIZE_BITS,
		.data = perf->order.record,
		.size = size,
	};

	/* If the file was truncated after the record was queued, skip the record. */
	if (recording_read(perf->recording, record.offset, perf->order.record, size) < size)
		return;
	record.type = perfdata_get32(perf, record.data);
	record.misc = perfdata_get16(perf, record.data + 4);
	record.end = record.offset + size;
	if (perfdata_record_is_task(&record) && perfdata_get16(perf, record.data + 6) == size &&
	    perfdata_task_check(perf, &record))
		perfdata_task_emit(perf, &record);
}

/* Pass the first @n records of the sorted queue to the sink. */
static void queue_emit_first(struct perfdata_reader *perf, u32 n)
{
	struct perfdata_task_queue *order = &perf->order;

	if (!n)
		return;
	for (u32 i = 0; i < n; i++)
		record_emit(perf, &order->queue[i]);
	order->count -= n;
	memmove(order->queue, order->queue + n, order->count * sizeof(*order->queue));
}

static void queue_sort(struct perfdata_task_queue *order)
{
	if (order->queue)
		qsort(order->queue, order->count, sizeof(*order->queue), queued_compare);
}

/* Ensure that the queue has a free entry. If it is full, pass its earlier half to the sink. */
static bool queue_reserve(struct perfdata_reader *perf)
{
	struct perfdata_task_queue *order = &perf->order;
	struct perfdata_queued_task *queue;

	if (!order->record)
		order->record = malloc(1U << SIZE_BITS);
	if (!order->record)
		return false;
	queue = array_reserve(order->queue, &order->capacity, order->count + 1, sizeof(*queue),
			      PERFDATA_MAX_QUEUED);
	if (queue) {
		order->queue = queue;
	} else {
		queue_sort(order);
		queue_emit_first(perf, (order->count + 1) / 2);
	}
	return order->count < order->capacity;
}

void perfdata_task_queue_add(struct perfdata_reader *perf, const struct perfdata_record *record)
{
	struct perfdata_task_queue *order = &perf->order;
	u64 time;

	if (!perf->sink->task || !perfdata_task_check(perf, record) ||
	    record->offset >= OFFSET_MAX || !queue_reserve(perf))
		return;
	time = perfdata_task_get_time(perf, record);
	if (time > order->latest)
		order->latest = time;
	order->queue[order->count++] = (struct perfdata_queued_task){
		.time = time,
		.location = record->offset << SIZE_BITS | record->size,
	};
}

/*
 * perf empties all rings in each round. A record of the next round may be earlier than the latest
 * record of this round. It cannot be earlier than the latest record of the previous round. So pass
 * all records up to that time to the sink.
 */
void perfdata_task_queue_end_round(struct perfdata_reader *perf)
{
	struct perfdata_task_queue *order = &perf->order;
	u32 n = 0;

	queue_sort(order);
	while (n < order->count && order->queue[n].time <= order->round)
		n++;
	queue_emit_first(perf, n);
	order->round = order->latest;
}

void perfdata_task_queue_flush(struct perfdata_reader *perf)
{
	queue_sort(&perf->order);
	queue_emit_first(perf, perf->order.count);
	free(perf->order.queue);
	free(perf->order.record);
	perf->order = (struct perfdata_task_queue){ .count = 0 };
}
