// SPDX-License-Identifier: GPL-2.0-only
/* Maps from cgroups to rings; each context switch does one lookup */
#include <linux/cgroup.h>
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "cgroups.h"

/* log2 of the entries of &speprof_cgroup_map.cache; a cached lookup does not search ancestors */
#define CACHE_BITS 4

/*
 * struct cgroup_map_slot - a slot of the hash table or of the cache
 * @id: ID of a cgroup, which the kernel never reuses; 0: the slot is free
 * @ring: the ring that samples the cgroup; NULL if no session samples it
 */
struct cgroup_map_slot {
	u64 id;
	struct speprof_ring *ring;
};

/*
 * struct speprof_cgroup_map - a hash table with open addressing, at most half full
 * @cache: results of recent lookups, indexed by the hash of the cgroup's ID
 * @top: the smallest level in the hierarchy of any cgroup in the table; no lookup searches
 * ancestors with a smaller level
 * @bits: log2 of the number of slots
 * @slots: the table
 */
struct speprof_cgroup_map {
	struct cgroup_map_slot cache[1 << CACHE_BITS];
	int top;
	unsigned int bits;
	struct cgroup_map_slot slots[];
};

struct speprof_cgroup_map *speprof_cgroup_map_new(unsigned int count, int node)
{
	unsigned int bits = order_base_2(2 * count + 2);
	struct speprof_cgroup_map *map;

	map = kvzalloc_node(struct_size(map, slots, 1UL << bits), GFP_KERNEL_ACCOUNT, node);
	if (!map)
		return NULL;
	map->top = INT_MAX;
	map->bits = bits;
	return map;
}

void speprof_cgroup_map_free(struct speprof_cgroup_map *map)
{
	kvfree(map);
}

/* Return the slot of @id; if @id is not in the table, the free slot to use for it. */
static struct cgroup_map_slot *map_find_slot(struct speprof_cgroup_map *map, u64 id)
{
	unsigned long mask = (1UL << map->bits) - 1, n = hash_64(id, map->bits);

	while (map->slots[n].id && map->slots[n].id != id)
		n = (n + 1) & mask;
	return &map->slots[n];
}

void speprof_cgroup_map_add(struct speprof_cgroup_map *map, const struct speprof_cgroup_set *set,
			    struct speprof_ring *ring)
{
	u32 i;

	for (i = 0; i < set->count; i++) {
		struct cgroup *cgroup = set->members[i];

		*map_find_slot(map, cgroup_id(cgroup)) =
			(struct cgroup_map_slot){ cgroup_id(cgroup), ring };
		map->top = min(map->top, cgroup->level);
	}
}

/* Return the ring of @cgroup, or that of its nearest ancestor that has one. */
static struct speprof_ring *map_find_nearest(struct speprof_cgroup_map *map, struct cgroup *cgroup)
{
	int level;

	for (level = cgroup->level; level >= map->top; level--) {
		struct speprof_ring *ring =
			map_find_slot(map, cgroup_id(cgroup_ancestor(cgroup, level)))->ring;

		if (ring)
			return ring;
	}
	return NULL;
}

struct speprof_ring *speprof_cgroup_map_find(struct speprof_cgroup_map *map,
					     struct task_struct *task)
{
	struct cgroup_map_slot *cached;
	struct cgroup *cgroup;
	u64 id;

	/* Idle tasks are in the root cgroup, but no session samples idle time. */
	if (is_idle_task(task))
		return NULL;
	rcu_read_lock();
	cgroup = task_dfl_cgroup(task);
	id = cgroup_id(cgroup);
	cached = &map->cache[hash_64(id, CACHE_BITS)];
	if (cached->id != id)
		*cached = (struct cgroup_map_slot){ id, map_find_nearest(map, cgroup) };
	rcu_read_unlock();
	return cached->ring;
}

bool speprof_cgroup_map_remove_ring(struct speprof_cgroup_map *map, const struct speprof_ring *ring)
{
	bool has_ring = false;
	unsigned long n;

	for (n = 0; n < 1UL << map->bits; n++) {
		if (map->slots[n].ring == ring)
			map->slots[n].ring = NULL;
		has_ring |= map->slots[n].ring != NULL;
	}
	memset(map->cache, 0, sizeof(map->cache));
	return has_ring;
}
