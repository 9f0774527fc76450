/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A timeline stores what was true from which time on: the process of a TID, or the task that ran
 * on a CPU. All events of a recording precede its samples, so lookups go back in time.
 */
#ifndef SPEPROF_TIMELINE_H
#define SPEPROF_TIMELINE_H

#include "codec/env.h"

#define TIMELINE_ALWAYS 0	   /* from the beginning, or nobody knows when */
#define TIMELINE_LAST	UINT64_MAX /* at the end */

/** struct timeline_entry - from time @from on, @key has @value and @extra */
struct timeline_entry {
	u64 from;
	u32 key;
	u32 order;
	u32 value;
	u32 extra;
};

/* The result of a lookup, valid from @from to @to - 1. */
struct timeline_span {
	u64 from;
	u64 to;
	u32 key;
	u32 value;
	u32 extra;
	u32 found;
};

/**
 * struct timeline - the entries; all zeros, except @max, is empty
 * @entries: the entries, @count of them; capacity @room
 * @recent: the most recent results, by key
 * @end: if @full, the earliest time of an entry that did not fit
 * @max: maximum number of entries; set by the owner
 * @full: an entry did not fit
 * @sorted: @entries are sorted, and @recent is valid
 */
struct timeline {
	struct timeline_entry *entries;
	struct timeline_span *recent;
	u64 end;
	u32 max;
	u32 count;
	u32 room;
	bool full;
	bool sorted;
};

enum timeline_found {
	TIMELINE_NO_KEY = 1, /* the key has no entry */
	TIMELINE_NOT_YET, /* no entry is that early, or it did not fit */
	TIMELINE_FOUND,
};

void timeline_deinit(struct timeline *timeline);

/** timeline_add() - add an entry, in any order of times; of equal times the last one counts */
void timeline_add(struct timeline *timeline, u32 key, u64 from, u32 value, u32 extra);

/** timeline_find() - find what @key has at @time; @ret_span is valid until the next call */
enum timeline_found timeline_find(struct timeline *timeline, u32 key, u64 time,
				  const struct timeline_span **ret_span);

/** timeline_memory() - return the bytes in use */
u64 timeline_memory(const struct timeline *timeline);

#endif
