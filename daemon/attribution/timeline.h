/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A timeline stores values with the time from which they are valid: the process of a TID, or the
 * task that ran on a CPU. All events of a recording are added before the first lookup.
 */
#ifndef SPEPROF_TIMELINE_H
#define SPEPROF_TIMELINE_H

#include "codec/env.h"

#define TIMELINE_ALWAYS 0 /* valid from the beginning, or from an unknown time */
#define TIMELINE_LAST	UINT64_MAX /* time that makes a lookup return the last value */

/**
 * struct timeline_entry - an entry: from time @from on, @key has the values @value and @extra
 * @order: position of the entry: in the order of insertion, and after sorting in sorted order
 */
struct timeline_entry {
	u64 from;
	u32 key;
	u32 order;
	u32 value;
	u32 extra;
};

/**
 * struct timeline_span - the result of a lookup of @key, valid from @from to @to - 1
 * @value, @extra: as in the entry
 * @found: &enum timeline_found; 0 if the structure is not in use
 */
struct timeline_span {
	u64 from;
	u64 to;
	u32 key;
	u32 value;
	u32 extra;
	u32 found;
};

/**
 * struct timeline - a timeline; an empty one is all zeros except @max
 * @entries: the entries, @count of them, with memory for @capacity
 * @recent: results of recent lookups, indexed by key modulo their number; allocated by the first
 *	lookup
 * @end: if @full, the earliest time of an entry that did not fit
 * @max: maximum number of entries; set by the owner
 * @full: whether an entry did not fit
 * @sorted: whether @entries are sorted by key and time, and @recent is valid
 * @borrowed: whether @entries belong to another timeline
 */
struct timeline {
	struct timeline_entry *entries;
	struct timeline_span *recent;
	u64 end;
	u32 max;
	u32 count;
	u32 capacity;
	bool full;
	bool sorted;
	bool borrowed;
};

enum timeline_found {
	TIMELINE_NO_KEY = 1, /* the key has no entry */
	TIMELINE_TOO_EARLY, /* all entries of the key are later, or an entry may be missing */
	TIMELINE_FOUND,
};

/** timeline_deinit() - free the memory of @timeline, which cannot be used again */
void timeline_deinit(struct timeline *timeline);

/**
 * timeline_add() - add an entry to @timeline: from time @from on, @key has the values @value and
 * @extra
 *
 * Entries may be added in any order of times. Of entries with the same key and time, the last one
 * is valid. If the timeline is full, lookups from time @from on fail.
 */
void timeline_add(struct timeline *timeline, u32 key, u64 from, u32 value, u32 extra);

/**
 * timeline_find() - find the value of @key at @time in @timeline
 * @ret_span: for TIMELINE_FOUND: the value, and the times from which and until which it is valid.
 * The span is valid until the next call of timeline_find() or timeline_add() for @timeline
 *
 * Return: TIMELINE_TOO_EARLY also if memory cannot be allocated, or if the timeline is full and
 * @time is not before @timeline->end.
 */
enum timeline_found timeline_find(struct timeline *timeline, u32 key, u64 time,
				  const struct timeline_span **ret_span);

/**
 * timeline_init_shared() - create a timeline with the entries of another one, for lookups of one
 * thread
 * @timeline: the other timeline. It stays valid and gets no more entries
 * @ret_shared: a timeline to which no entry can be added; call timeline_deinit()
 */
void timeline_init_shared(struct timeline *timeline, struct timeline *ret_shared);

/** timeline_get_memory() - return the bytes that @timeline uses */
u64 timeline_get_memory(const struct timeline *timeline);

#endif
