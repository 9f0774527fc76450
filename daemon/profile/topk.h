/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The heaviest of many keys in fixed memory: sets of eight entries with space-saving
 * replacement. What replaces another has its weight for a start, so that a heavy key that comes
 * late gets its place.
 */
#ifndef SPEPROF_TOPK_H
#define SPEPROF_TOPK_H

#include "codec/env.h"

#define HEAVY_WAYS 8

/**
 * struct heavy - embedded first in each entry
 * @key: two words
 * @weight: 0 of one that is free
 */
struct heavy {
	u64 key[2];
	u64 weight;
};

/**
 * struct heavy_table
 * @size: of an entry
 * @tags: for each set, a byte for each way; 0 is free
 * @evicted: entries that others replaced
 */
struct heavy_table {
	size_t size;
	u64 seed;
	u32 sets;
	u64 *tags;
	u8 *entries;
	u64 evicted;
};

/** heavy_init() - @capacity is rounded up to a power of two, at least 8; 0 or -ENOMEM */
int heavy_init(struct heavy_table *table, size_t size, u32 capacity);

/** heavy_deinit() - also of one that is all zeros */
void heavy_deinit(struct heavy_table *table);

void heavy_clear(struct heavy_table *table);

/** struct heavy_place - where the entry of a key is looked for */
struct heavy_place {
	u32 set;
	u8 tag;
};

static inline struct heavy_place heavy_place(const struct heavy_table *table, u64 key0, u64 key1)
{
	u64 x = (key0 ^ table->seed) * 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 32 ^ key1) * 0xd6e8feb86659fd93ULL;
	x = (x ^ x >> 32) * 0x9e3779b97f4a7c15ULL;
	return (struct heavy_place){ .set = (u32)(x >> 32) & (table->sets - 1),
				     .tag = (u8)(((x & 0xffff) * 255 >> 16) + 1) };
}

#define HEAVY_ONES 0x0101010101010101ULL

/* A bit for each way that may have the tag; none: the key has no entry. */
static inline u64 heavy_ways(const struct heavy_table *table, struct heavy_place place)
{
	u64 differ = table->tags[place.set] ^ place.tag * HEAVY_ONES;

	return (differ - HEAVY_ONES) & ~differ & HEAVY_ONES << 7;
}

/** heavy_find() - the entry of a key, or NULL */
struct heavy *heavy_find(const struct heavy_table *table, u64 key0, u64 key1);

/**
 * heavy_add() - add @weight, at least 1, to an entry, which may be new: then all behind
 * its struct heavy is 0
 */
struct heavy *heavy_add(struct heavy_table *table, u64 key0, u64 key1, u32 weight);

/** heavy_next() - the used entry after @entry, or the first for NULL */
struct heavy *heavy_next(const struct heavy_table *table, struct heavy *entry);

/** heavy_sorted() - all of them, by weight; allocated; NULL without memory */
struct heavy **heavy_sorted(const struct heavy_table *table, u32 *ret_count);

#endif
