// SPDX-License-Identifier: LGPL-2.1-or-later
#include "timeline.h"

#include <stdlib.h>

/* Samples of a CPU are in order, so that a task's last answer mostly holds again. */
#define RECENT 1024

void timeline_deinit(struct timeline *t)
{
	free(t->entries);
	free(t->recent);
	*t = (struct timeline){ .entries = NULL };
}

u64 timeline_memory(const struct timeline *t)
{
	return t->room * sizeof(*t->entries) + (t->recent ? RECENT * sizeof(*t->recent) : 0);
}

static bool timeline_grow(struct timeline *t)
{
	u32 room = t->room ? 2 * t->room : 64;
	struct timeline_entry *entries;

	if (t->count < t->room)
		return true;
	entries = room <= t->max ? realloc(t->entries, room * sizeof(*entries)) : NULL;
	if (!entries)
		return false;
	t->entries = entries;
	t->room = room;
	return true;
}

void timeline_add(struct timeline *t, u32 key, u64 from, u32 value, u32 extra)
{
	t->sorted = false;
	if (!timeline_grow(t)) {
		if (!t->full || from < t->end)
			t->end = from;
		t->full = true;
		return;
	}
	t->entries[t->count] = (struct timeline_entry){ from, key, t->count, value, extra };
	t->count++;
}

static int compare(const void *a, const void *b)
{
	const struct timeline_entry *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Whether it is ready to be asked. */
static bool timeline_sort(struct timeline *t)
{
	if (t->sorted)
		return true;
	if (!t->recent)
		t->recent = malloc(RECENT * sizeof(*t->recent));
	if (!t->recent)
		return false;
	memset(t->recent, 0, RECENT * sizeof(*t->recent));
	if (t->count)
		qsort(t->entries, t->count, sizeof(*t->entries), compare);
	for (u32 i = 0; i < t->count; i++)
		t->entries[i].order = i;
	t->sorted = true;
	return true;
}

/* The first entry that is behind @key at @time. */
static u32 place(const struct timeline *t, u32 key, u64 time)
{
	u32 low = 0, high = t->count, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (t->entries[mid].key < key ||
		    (t->entries[mid].key == key && t->entries[mid].from <= time))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool is_of(const struct timeline *t, u32 i, u32 key)
{
	return i < t->count && t->entries[i].key == key;
}

static struct timeline_span timeline_search(const struct timeline *t, u32 key, u64 time)
{
	u32 next = place(t, key, time);
	struct timeline_span span = {
		.key = key,
		.to = is_of(t, next, key) ? t->entries[next].from : UINT64_MAX,
		.found = is_of(t, next, key) ? TIMELINE_NOT_YET : TIMELINE_NO_KEY,
	};

	if (next && is_of(t, next - 1, key)) {
		span.from = t->entries[next - 1].from;
		span.value = t->entries[next - 1].value;
		span.extra = t->entries[next - 1].extra;
		span.found = TIMELINE_FOUND;
	}
	return span;
}

enum timeline_found timeline_find(struct timeline *t, u32 key, u64 time,
				  const struct timeline_span **ret_span)
{
	struct timeline_span *span;

	/* So that there is always an end behind it. */
	time -= time == TIMELINE_LAST;
	if (!timeline_sort(t) || (t->full && time >= t->end))
		return TIMELINE_NOT_YET;
	span = &t->recent[key % RECENT];
	if (!span->found || span->key != key || time < span->from || time >= span->to)
		*span = timeline_search(t, key, time);
	*ret_span = span;
	return span->found;
}
