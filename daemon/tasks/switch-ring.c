// SPDX-License-Identifier: LGPL-2.1-or-later
#include "switch-ring.h"

#include "tasks/bpf/task-record.h"

/*
 * Number of entries that are searched first: samples are in order of time, so their switch is
 * usually among the next few entries.
 */
#define NEAR 8

static u64 entry_get_time(const struct switch_ring *r, u64 at)
{
	return __atomic_load_n(&r->entries[at & r->mask].time_ns, __ATOMIC_RELAXED);
}

/*
 * Return the last entry in [@low, @high) that is not later than @time_ns. The caller has checked
 * that entry @low is not later.
 */
static u64 search_entries(const struct switch_ring *r, u64 low, u64 high, u64 time_ns)
{
	while (high - low > 1) {
		u64 middle = low + (high - low) / 2;

		if (entry_get_time(r, middle) <= time_ns)
			low = middle;
		else
			high = middle;
	}
	return low;
}

s32 switch_ring_find_tid(struct switch_ring *r, u64 from_ns, u64 to_ns)
{
	u64 count, usable, low, at, count_after;
	bool last;
	u32 tid;

	if (!r->count)
		return -1;
	count = __atomic_load_n(r->count, __ATOMIC_ACQUIRE);
	/* Ignore the oldest eighth: the writer may overwrite it during the search. */
	usable = r->mask - r->mask / 8;
	low = count > usable ? count - usable : 0;
	if (!count || entry_get_time(r, low) > from_ns)
		return -1;
	if (r->hint < low || r->hint >= count || entry_get_time(r, r->hint) > from_ns)
		at = search_entries(r, low, count, from_ns);
	else if (count - r->hint > NEAR && entry_get_time(r, r->hint + NEAR) <= from_ns)
		at = search_entries(r, r->hint + NEAR, count, from_ns);
	else
		at = search_entries(r, r->hint, count - r->hint > NEAR ? r->hint + NEAR : count,
				    from_ns);
	last = at + 1 == count;
	if (last ? r->until_ns && to_ns > r->until_ns : entry_get_time(r, at + 1) <= to_ns)
		return -1;
	tid = __atomic_load_n(&r->entries[at & r->mask].tid, __ATOMIC_RELAXED);
	/*
	 * The fence orders the reads of the entries before the second read of count. If the writer
	 * has not reached entry @low by then, no entry was overwritten while it was read.
	 */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	count_after = __atomic_load_n(r->count, __ATOMIC_RELAXED);
	if (count_after - low > r->mask)
		return -1;
	/* The CPU may have switched before @to_ns, but after the first read of count. */
	if (last && count_after != count && entry_get_time(r, count) <= to_ns)
		return -1;
	r->hint = at;
	return (s32)tid;
}
