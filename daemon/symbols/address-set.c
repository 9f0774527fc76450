// SPDX-License-Identifier: LGPL-2.1-or-later
#include "symbols-internal.h"

#include <stdlib.h>

/* Initial number of slots of the hash table. */
#define SLOTS_MIN 32

static u64 *slot_find(const struct address_set *s, u64 address)
{
	u32 at = (u32)((address * 0x9e3779b97f4a7c15ULL) >> 32) & s->mask;

	while (s->slot[at] && s->slot[at] != address)
		at = (at + 1) & s->mask;
	return &s->slot[at];
}

static bool set_reserve_slot(struct address_set *s)
{
	u32 slots = s->slot ? s->mask + 1 : 0, more = slots ? slots * 2 : SLOTS_MIN;
	u64 *old = s->slot;

	/*
	 * Keep the table at most half full, so that each search reaches a free slot after few
	 * steps.
	 */
	if (s->count < slots / 2)
		return true;
	s->slot = calloc(more, sizeof(*s->slot));
	if (!s->slot) {
		s->slot = old;
		return false;
	}
	s->mask = more - 1;
	for (u32 i = 0; i < slots; i++)
		if (old[i])
			*slot_find(s, old[i]) = old[i];
	free(old);
	return true;
}

bool address_set_add(struct address_set *s, u64 address)
{
	u64 *slot;

	if (!address) {
		bool new = !s->zero;

		s->zero = true;
		return new;
	}
	if (!set_reserve_slot(s))
		return false;
	slot = slot_find(s, address);
	if (*slot)
		return false;
	*slot = address;
	s->count++;
	return true;
}

void address_set_clear(struct address_set *s)
{
	free(s->slot);
	*s = (struct address_set){ 0 };
}

static int address_compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

u64 *address_set_get_sorted(const struct address_set *s, u32 *ret_count)
{
	u32 slots = s->slot ? s->mask + 1 : 0, n = 0;
	u64 *list;

	*ret_count = 0;
	if (!s->count && !s->zero)
		return NULL;
	list = malloc((s->count + 1ULL) * sizeof(*list));
	if (!list)
		return NULL;
	if (s->zero)
		list[n++] = 0;
	for (u32 i = 0; i < slots; i++)
		if (s->slot[i])
			list[n++] = s->slot[i];
	qsort(list, n, sizeof(*list), address_compare);
	*ret_count = n;
	return list;
}
