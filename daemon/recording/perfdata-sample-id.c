// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reads the trailers of a perf.data: with sample_id_all, the kernel appends a trailer to each
 * record. The attribute of the record's event selects the fields of the trailer. If attributes
 * differ, the last word of the trailer is the id of the event.
 */
#include "perfdata.h"

#include <linux/perf_event.h>
#include <stdlib.h>

#include "util/array.h"

/* The fields of a trailer in the order in which the kernel writes them. Each field has 8 bytes. */
static const u64 trailer_order[] = {
	PERF_SAMPLE_TID,       PERF_SAMPLE_TIME, PERF_SAMPLE_ID,
	PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,	 PERF_SAMPLE_IDENTIFIER,
};

void perfdata_add_attr(struct perfdata_reader *perf, u64 sample_type)
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

/* Returns the index of the first event with an id of @id or more. */
static u32 event_lower_bound(const struct perfdata_reader *perf, u64 id)
{
	u32 events = perf->n_events;

	/* perf writes ids in ascending order, so most ids are appended. */
	if (!events || perf->events[events - 1].id < id)
		return events;
	return ARRAY_COUNT_LEADING(events, i, perf->events[i].id < id);
}

bool perfdata_add_id(struct perfdata_reader *perf, u64 id)
{
	struct perfdata_event *events =
		array_reserve(perf->events, &perf->event_capacity, perf->n_events + 1,
			      sizeof(*events), PERFDATA_MAX_EVENTS);
	u32 index;

	if (!events)
		return false;
	perf->events = events;
	index = event_lower_bound(perf, id);
	memmove(&events[index + 1], &events[index], (perf->n_events - index) * sizeof(*events));
	events[index] = (struct perfdata_event){ id, perf->last_mask };
	perf->n_events++;
	return true;
}

/*
 * Return the sample_type bits of a record's trailer. Records that perf itself writes have no known
 * event id; their trailers have the fields of the first event.
 */
static u64 record_get_trailer_mask(const struct perfdata_reader *perf,
				   const struct perfdata_record *record)
{
	u32 index;
	u64 id;

	if (!perf->masks_differ)
		return perf->id_mask;
	if (!(perf->id_mask & PERF_SAMPLE_IDENTIFIER) || record->size < PERFDATA_HEADER_SIZE + 8)
		return 0;
	id = perfdata_get64(perf, record->data + record->size - 8);
	index = event_lower_bound(perf, id);
	if (index < perf->n_events && perf->events[index].id == id)
		return perf->events[index].mask;
	return perf->id_mask;
}

struct perfdata_trailer perfdata_read_trailer(const struct perfdata_reader *perf,
					      const struct perfdata_record *record)
{
	struct perfdata_trailer trailer = { .tid = -1, .cpu = -1 };
	u64 mask = record_get_trailer_mask(perf, record);
	u32 size = 0;
	const u8 *p;

	for (size_t i = 0; i < ARRAY_SIZE(trailer_order); i++)
		size += mask & trailer_order[i] ? 8 : 0;
	if (size > record->size - PERFDATA_HEADER_SIZE)
		return trailer;
	p = record->data + record->size - size;
	for (size_t i = 0; i < ARRAY_SIZE(trailer_order); i++) {
		if (!(mask & trailer_order[i]))
			continue;
		if (trailer_order[i] == PERF_SAMPLE_TID)
			trailer.tid = (s32)perfdata_get32(perf, p + 4);
		else if (trailer_order[i] == PERF_SAMPLE_TIME)
			trailer.time = perfdata_get64(perf, p);
		else if (trailer_order[i] == PERF_SAMPLE_CPU)
			trailer.cpu = (s32)perfdata_get32(perf, p);
		p += 8;
	}
	return trailer;
}
