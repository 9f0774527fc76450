// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Who gives way when mappings and their paths come to more bytes than there are. Any user can
 * have thousands of mappings of files with paths of a KiB: so those who hold most go first,
 * and of those who hold about as much, the dead. Whoever lives is read in /proc again when it
 * is asked for.
 */
#include "attributor-internal.h"

/* So much is made free at once, since all processes have to be looked at: a part of it all. */
#define ROOM_PARTS 16

/* What each process but @whose holds; returns the most. */
static u64 weigh(struct attributor *a, const struct maps *whose)
{
	u64 most = 0;

	for (u32 i = 0; i < a->fresh; i++) {
		struct process *p = &a->process[i];

		p->map_bytes = &p->maps == whose ? 0 : maps_bytes(&p->maps);
		if (p->map_bytes > most)
			most = p->map_bytes;
	}
	return most;
}

/* Drop maps of @state of at least @least bytes, in turn, until no more than @goal is used. */
static bool drop(struct attributor *a, enum process_state state, u64 least, u64 goal)
{
	for (u32 n = 0; n < a->fresh && a->store.memory > goal; n++) {
		struct process *p;

		a->hand_maps = a->hand_maps + 1 < a->fresh ? a->hand_maps + 1 : 0;
		p = &a->process[a->hand_maps];
		if (p->state != state || p->map_bytes < least)
			continue;
		a->store.dropped += p->maps.count;
		maps_clear(&a->store, &p->maps);
		p->map_bytes = 0;
	}
	return a->store.memory <= goal;
}

static bool evict_for(void *ctx, const struct maps *whose, u64 bytes)
{
	struct attributor *a = ctx;
	u64 own = maps_bytes(whose) + bytes, room = a->store.limit / ROOM_PARTS, goal, least;

	/* It was the largest a moment ago. */
	if (whose == a->refused || bytes > a->store.limit)
		return false;
	least = weigh(a, whose);
	if (least <= own) {
		a->refused = whose;
		return false;
	}
	goal = a->store.limit - (room > bytes ? room : bytes);
	a->refused = NULL;
	do {
		least = least / 2 > own ? least / 2 : own + 1;
		if (drop(a, PROCESS_DEAD, least, goal) || drop(a, PROCESS_LIVING, least, goal))
			break;
	} while (least > own + 1);
	return true;
}

int map_evict_init(struct attributor *a, u64 bytes)
{
	int r = map_store_init(&a->store, bytes);

	/* Of a recording all is told before it is asked for: nothing gives way to what comes later. */
	if (!r && a->live) {
		a->store.evict_for = evict_for;
		a->store.ctx = a;
	}
	return r;
}
