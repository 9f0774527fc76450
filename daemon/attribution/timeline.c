// SPDX-License-Identifier: LGPL-2.1-or-later
#include "timeline.h"

#include <stdlib.h>

#include "util/array.h"

/*
 * entries of &timeline.recent; a CPU's samples are in order of time, so the last result often fits
 */
#define RECENT 1024

void timeline_deinit(struct timeline *t)
{
	if (!t->borrowed)
		free(t->entries);
	free(t->recent);
	*t = (struct timeline){ .entries = NULL };
}

u64 timeline_get_memory(const struct timeline *t)
{
	return t->capacity * sizeof(*t->entries) + (t->recent ? RECENT * sizeof(*t->recent) : 0);
}

void timeline_add(struct timeline *t, u32 key, u64 from, u32 value, u32 extra)
{
	struct timeline_entry *entries =
		array_reserve(t->entries, &t->capacity, t->count + 1, sizeof(*entries), t->max);

	t->sorted = false;
	if (!entries) {
		if (!t->full || from < t->end)
			t->end = from;
		t->full = true;
		return;
	}
	t->entries = entries;
	t->entries[t->count] = (struct timeline_entry){ from, key, t->count, value, extra };
	t->count++;
}

static int entry_compare(const void *a, const void *b)
{
	const struct timeline_entry *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void timeline_sort(struct timeline *t)
{
	if (t->sorted)
		return;
	free(t->recent);
	t->recent = NULL;
	if (t->count)
		qsort(t->entries, t->count, sizeof(*t->entries), entry_compare);
	for (u32 i = 0; i < t->count; i++)
		t->entries[i].order = i;
	t->sorted = true;
}

void timeline_init_shared(struct timeline *t, struct timeline *ret_shared)
{
	timeline_sort(t);
	*ret_shared = *t;
	ret_shared->recent = NULL;
	ret_shared->borrowed = true;
}

/* Returns the index of the first entry of @key that is later than @time, or has a greater key. */
static u32 timeline_upper_bound(const struct timeline *t, u32 key, u64 time)
{
	return ARRAY_COUNT_LEADING(t->count, i,
				   t->entries[i].key < key || (t->entries[i].key == key &&
							       t->entries[i].from <= time));
}

static bool entry_has_key(const struct timeline *t, u32 i, u32 key)
{
	return i < t->count && t->entries[i].key == key;
}

static struct timeline_span timeline_search_entries(const struct timeline *t, u32 key, u64 time)
{
	u32 next = timeline_upper_bound(t, key, time);
	struct timeline_span span = {
		.key = key,
		.to = entry_has_key(t, next, key) ? t->entries[next].from : UINT64_MAX,
		.found = entry_has_key(t, next, key) ? TIMELINE_TOO_EARLY : TIMELINE_NO_KEY,
	};

	if (next && entry_has_key(t, next - 1, key)) {
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

	/* The end of a span is exclusive, so the latest possible time is TIMELINE_LAST - 1. */
	time -= time == TIMELINE_LAST;
	timeline_sort(t);
	if (!t->recent)
		t->recent = calloc(RECENT, sizeof(*t->recent));
	if (!t->recent || (t->full && time >= t->end))
		return TIMELINE_TOO_EARLY;
	span = &t->recent[key % RECENT];
	if (!span->found || span->key != key || time < span->from || time >= span->to)
		*span = timeline_search_entries(t, key, time);
	*ret_span = span;
	return span->found;
}
