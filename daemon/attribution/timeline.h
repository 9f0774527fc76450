/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What held from when on: whose a TID was, or which task ran on a CPU. A
 * recording's events are all known before its samples, so that these ask back.
 */
#ifndef SPEPROF_TIMELINE_H
#define SPEPROF_TIMELINE_H

#include "codec/env.h"

#define TIMELINE_ALWAYS 0	   /* from the beginning, or nobody knows when */
#define TIMELINE_LAST	UINT64_MAX /* at the end */

/** struct timeline_entry - from @from on, @key has @value and @extra */
struct timeline_entry {
	u64 from;
	u32 key;
	u32 order;
	u32 value;
	u32 extra;
};

/* An answer, and the time for which it holds: @from to @to - 1. */
struct timeline_span {
	u64 from;
	u64 to;
	u32 key;
	u32 value;
	u32 extra;
	u32 found;
};

/**
 * struct timeline - zeroes, but for @max, are an empty one
 * @max: entries it may have; set by its owner
 * @end: the earliest time for which there was no room, if it is @full
 * @sorted: @entries are in order, and @recent is in use
 * @recent: the last answers, by key
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
	TIMELINE_NO_KEY = 1, /* nothing was ever said of it */
	TIMELINE_NOT_YET, /* nothing that early, or it did not fit */
	TIMELINE_FOUND,
};

void timeline_deinit(struct timeline *timeline);

/** timeline_add() - in any order of times; of equal ones the last one counts */
void timeline_add(struct timeline *timeline, u32 key, u64 from, u32 value, u32 extra);

/** timeline_find() - what @key has at @time; @ret_span is valid until the next call */
enum timeline_found timeline_find(struct timeline *timeline, u32 key, u64 time,
				  const struct timeline_span **ret_span);

/** timeline_memory() - bytes held */
u64 timeline_memory(const struct timeline *timeline);

#endif
