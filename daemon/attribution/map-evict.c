// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Evict mappings when they exceed their memory limit. Any user can create thousands of mappings of
 * files with long paths. So the mappings of the processes that use the most memory are evicted
 * first. Of processes that use a similar amount, exited ones are evicted first: the mappings of a
 * living process can be read from /proc again.
 */
#include "attributor-internal.h"

/* Each eviction frees 1/16 of the memory limit or more, because it has to visit all processes. */
#define EVICT_SHARE 16

/*
 * Compute &process_table_entry.map_bytes of all processes; 0 for @requester, which is not evicted.
 * Returns the maximum.
 */
static u64 compute_map_bytes(struct attributor *a, const struct maps *requester)
{
	u64 max = 0;

	for (u32 i = 0; i < a->processes_used; i++) {
		struct process_table_entry *p = &a->process[i];

		p->map_bytes = &p->maps == requester ? 0 : maps_get_memory(&p->maps);
		if (p->map_bytes > max)
			max = p->map_bytes;
	}
	return max;
}

/*
 * Clear maps that use at least @min_bytes, of processes in @state, until the store uses at most
 * @goal bytes. Returns whether it does.
 */
static bool evict_maps_of_state(struct attributor *a, enum process_state state, u64 min_bytes,
				u64 goal)
{
	for (u32 n = 0; n < a->processes_used && a->store.memory > goal; n++) {
		struct process_table_entry *p;

		a->maps_evict_hand =
			a->maps_evict_hand + 1 < a->processes_used ? a->maps_evict_hand + 1 : 0;
		p = &a->process[a->maps_evict_hand];
		if (p->state != state || p->map_bytes < min_bytes)
			continue;
		a->store.dropped += p->maps.count;
		/*
		 * Store the executable, so that samples do not count for another program until the
		 * mappings are read again.
		 */
		if (!p->executable)
			p->executable = mapped_binary_ref(maps_find_executable(&p->maps));
		maps_clear_keep_version(&a->store, &p->maps);
		p->map_bytes = 0;
	}
	return a->store.memory <= goal;
}

static bool evict_largest_maps(void *ctx, const struct maps *requester, u64 bytes)
{
	struct attributor *a = ctx;
	u64 own = maps_get_memory(requester) + bytes, share = a->store.limit / EVICT_SHARE, goal,
	    min_bytes;

	if (requester == a->largest_maps || bytes > a->store.limit)
		return false;
	min_bytes = compute_map_bytes(a, requester);
	if (min_bytes <= own) {
		a->largest_maps = requester;
		return false;
	}
	goal = a->store.limit - (share > bytes ? share : bytes);
	a->largest_maps = NULL;
	/*
	 * Halve the threshold in each round, but do not evict mappings of processes that use less
	 * memory than @requester.
	 */
	do {
		min_bytes = min_bytes / 2 > own ? min_bytes / 2 : own + 1;
		if (evict_maps_of_state(a, PROCESS_DEAD, min_bytes, goal) ||
		    evict_maps_of_state(a, PROCESS_LIVING, min_bytes, goal))
			break;
	} while (min_bytes > own + 1);
	return true;
}

int attributor_init_map_store(struct attributor *a, u64 bytes)
{
	int r = map_store_init(&a->store, bytes);

	/* Evict nothing in a recording: its samples follow all events, and may need any mapping. */
	if (!r && a->live) {
		a->store.evict = evict_largest_maps;
		a->store.ctx = a;
		a->store.replaced_ns = 2ULL * LATE_SAMPLE_MS * 1000000;
	}
	return r;
}
