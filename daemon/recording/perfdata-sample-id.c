// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * perf.data: the trailer that sample_id_all puts behind each kernel record. What
 * it holds is said by the attribute of the event that caused the record; where
 * attributes differ, its last word identifies the event.
 */
#include "perfdata.h"

#include <linux/perf_event.h>
#include <stdlib.h>

/* Fields in the order the kernel writes them, 8 bytes each. */
static const u64 trailer_order[] = {
	PERF_SAMPLE_TID,       PERF_SAMPLE_TIME, PERF_SAMPLE_ID,
	PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,	 PERF_SAMPLE_IDENTIFIER,
};

void perfdata_add_mask(struct perfdata *perf, u64 sample_type)
{
	u64 mask = 0;

	for (size_t i = 0; i < ARRAY_SIZE(trailer_order); i++)
		mask |= sample_type & trailer_order[i];
	if (!perf->attrs++)
		perf->id_mask = mask;
	else if (perf->id_mask != mask)
		perf->masks_differ = true;
	perf->last_mask = mask;
}

/* The first of the events, which are kept in order, whose id is not below @id. */
static u32 event_place(const struct perfdata *perf, u64 id)
{
	u32 low = 0, high = perf->n_events, mid;

	/* perf writes ids as the kernel counted them. */
	if (!high || perf->events[high - 1].id < id)
		return high;
	while (low < high) {
		mid = low + (high - low) / 2;
		if (perf->events[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

bool perfdata_add_id(struct perfdata *perf, u64 id)
{
	u32 room = perf->event_room ? 2 * perf->event_room : 64, place;
	struct perfdata_event *events;

	if (perf->n_events == perf->event_room) {
		events = NULL;
		if (room <= PERFDATA_MAX_EVENTS)
			events = realloc(perf->events, room * sizeof(*events));
		if (!events)
			return false;
		perf->events = events;
		perf->event_room = room;
	}
	place = event_place(perf, id);
	memmove(&perf->events[place + 1], &perf->events[place],
		(perf->n_events - place) * sizeof(*perf->events));
	perf->events[place] = (struct perfdata_event){ id, perf->last_mask };
	perf->n_events++;
	return true;
}

/* Records that perf made itself name no event, and are like the first one's. */
static u64 trailer_mask(const struct perfdata *perf, const struct perfdata_record *record)
{
	u32 place;
	u64 id;

	if (!perf->masks_differ)
		return perf->id_mask;
	if (!(perf->id_mask & PERF_SAMPLE_IDENTIFIER) || record->size < PERFDATA_HEADER + 8)
		return 0;
	id = perfdata_get64(perf, record->data + record->size - 8);
	place = event_place(perf, id);
	if (place < perf->n_events && perf->events[place].id == id)
		return perf->events[place].mask;
	return perf->id_mask;
}

struct perfdata_id perfdata_id(const struct perfdata *perf, const struct perfdata_record *record)
{
	struct perfdata_id id = { .tid = -1, .cpu = -1 };
	u64 mask = trailer_mask(perf, record);
	u32 size = 0;
	const u8 *p;

	for (size_t i = 0; i < ARRAY_SIZE(trailer_order); i++)
		size += mask & trailer_order[i] ? 8 : 0;
	if (size > record->size - PERFDATA_HEADER)
		return id;
	p = record->data + record->size - size;
	for (size_t i = 0; i < ARRAY_SIZE(trailer_order); i++) {
		if (!(mask & trailer_order[i]))
			continue;
		if (trailer_order[i] == PERF_SAMPLE_TID)
			id.tid = (s32)perfdata_get32(perf, p + 4);
		else if (trailer_order[i] == PERF_SAMPLE_TIME)
			id.time = perfdata_get64(perf, p);
		else if (trailer_order[i] == PERF_SAMPLE_CPU)
			id.cpu = (s32)perfdata_get32(perf, p);
		p += 8;
	}
	return id;
}
