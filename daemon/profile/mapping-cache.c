// SPDX-License-Identifier: LGPL-2.1-or-later
#include "mapping-cache.h"

#include <errno.h>
#include <stdlib.h>

#include "util/memory.h"

/* Bytes of addresses that an entry covers at most. */
#define BLOCK_SIZE (1ULL << MAPPING_CACHE_SHIFT)

static size_t compute_entries_size(const struct mapping_cache *cache)
{
	return sizeof(*cache->entry) << (64 - cache->shift);
}

int mapping_cache_new(const struct attributor *attributor, struct binary_table *binaries,
		      const struct cell_table *table, unsigned int bits,
		      struct mapping_cache **ret_cache)
{
	struct mapping_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return -ENOMEM;
	cache->attributor = attributor;
	cache->binaries = binaries;
	cache->table = table;
	cache->shift = 64 - bits;
	cache->entry = zero_pages_new(compute_entries_size(cache));
	if (!cache->entry) {
		free(cache);
		return -ENOMEM;
	}
	*ret_cache = cache;
	return 0;
}

struct mapping_cache *mapping_cache_free(struct mapping_cache *cache)
{
	if (cache)
		zero_pages_free(cache->entry, compute_entries_size(cache));
	free(cache);
	return NULL;
}

void mapping_cache_clear(struct mapping_cache *cache)
{
	memset(cache->entry, 0, compute_entries_size(cache));
}

void mapping_cache_sync(struct mapping_cache *cache)
{
	u64 changes = attributor_get_map_changes(cache->attributor);

	if (changes == cache->changes)
		return;
	cache->changes = changes;
	cache->epoch++;
	/*
	 * After 2^32 epochs the number wraps around. Remove old entries, which would otherwise seem
	 * valid.
	 */
	if (!cache->epoch)
		mapping_cache_clear(cache);
}

/*
 * Return whether the entry is still valid although mappings of some process have changed since its
 * epoch.
 */
static bool entry_revalidate(struct mapping_cache *cache, struct mapping_entry *e, u64 process,
			     u32 program, u64 pc, bool kernel, u64 time_ns)
{
	if (e->process != process || e->owner >> 32 != program || pc - e->start >= e->length ||
	    time_ns < e->from_ns ||
	    e->version != (u32)attributor_get_map_version(cache->attributor, (u32)process, kernel))
		return false;
	e->epoch = cache->epoch;
	return true;
}

static u32 mapping_get_binary(struct mapping_cache *cache, const struct attribute_mapping *m,
			      u64 process)
{
	const struct binary_identity binary = {
		.path = m->binary,
		.inode = m->inode,
		.device = m->device,
		.build_id = m->build_id,
		.build_id_size = m->build_id_size,
		.process = m->anonymous ? process : 0,
	};

	return binary_table_find_or_add(cache->binaries, &binary);
}

/* Fill an entry with the part of a mapping that is in the block of @pc. */
static void entry_fill(const struct mapping_cache *cache, const struct attribute_mapping *m,
		       u64 process, u64 owner, u64 pc, struct mapping_entry *e)
{
	u64 start = pc & ~(BLOCK_SIZE - 1), last = start + BLOCK_SIZE - 1;

	if (m->start > start)
		start = m->start;
	if (m->end - 1 < last)
		last = m->end - 1;
	*e = (struct mapping_entry){
		.start = start,
		.process = process,
		.bias = m->bias,
		.owner = owner,
		.salt = cell_owner_hash(cache->table, owner),
		.from_ns = m->span.from,
		.length = (u32)(last - start + 1),
		.version = (u32)m->version,
		.epoch = cache->epoch,
	};
}

bool mapping_cache_find_slow(struct mapping_cache *cache, u64 process, u32 program, u64 pc,
			     bool kernel, u64 time_ns, struct mapped_pc *ret_pc)
{
	struct mapping_entry *e = mapping_cache_get_slot(cache, process, pc), found;
	struct attribute_mapping m;

	if (entry_revalidate(cache, e, process, program, pc, kernel, time_ns)) {
		mapping_entry_map_pc(e, pc, ret_pc);
		return true;
	}
	cache->stats.lookups++;
	if (!(cache->data ? attributor_find_data_mapping(cache->attributor, (u32)process, pc,
							 time_ns, &m) :
			    attributor_find_mapping(cache->attributor, (u32)process, pc, kernel,
						    time_ns, &m))) {
		cache->stats.unmapped++;
		return false;
	}
	entry_fill(cache, &m, process,
		   cell_owner_make(program, mapping_get_binary(cache, &m, process)), pc, &found);
	mapping_entry_map_pc(&found, pc, ret_pc);
	/*
	 * Do not cache a mapping that has been replaced, because samples from before the
	 * replacement are rare.
	 */
	if (m.span.to == ATTRIBUTE_AT_END) {
		cache->stats.replaced += e->length && e->process != process;
		*e = found;
	}
	return true;
}

void mapping_cache_get_unmapped(const struct mapping_cache *cache, u32 program, u64 offset,
				struct mapped_pc *ret_pc)
{
	u64 owner = cell_owner_make(program, CELL_UNMAPPED);

	*ret_pc = (struct mapped_pc){
		.owner = owner,
		.offset = offset,
		.hash = cell_hash(cell_owner_hash(cache->table, owner), offset),
	};
}
