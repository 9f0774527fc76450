/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The heaviest of many keys in fixed memory: sets of eight entries with space-saving
 * replacement. What replaces another has its weight for a start, so that a heavy key that comes
 * late gets its place.
 */
#ifndef SPEPROF_TOPK_H
#define SPEPROF_TOPK_H

#include "codec/env.h"

#define TOPK_WAYS 8

/**
 * struct topk_entry - embedded first in each entry
 * @key: two words
 * @weight: 0 of one that is free
 */
struct topk_entry {
	u64 key[2];
	u64 weight;
};

/**
 * struct topk_table
 * @size: of an entry
 * @tags: for each set, a byte for each way; 0 is free
 * @evicted: entries that others replaced
 */
struct topk_table {
	size_t size;
	u64 seed;
	u32 sets;
	u64 *tags;
	u8 *entries;
	u64 evicted;
};

/** topk_init() - @capacity is rounded up to a power of two, at least 8; 0 or -ENOMEM */
int topk_init(struct topk_table *table, size_t size, u32 capacity);

/** topk_deinit() - also of one that is all zeros */
void topk_deinit(struct topk_table *table);

void topk_clear(struct topk_table *table);

/** struct topk_slot - where the entry of a key is looked for */
struct topk_slot {
	u32 set;
	u8 tag;
};

static inline struct topk_slot topk_slot_of(const struct topk_table *table, u64 key0, u64 key1)
{
	u64 x = (key0 ^ table->seed) * 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 32 ^ key1) * 0xd6e8feb86659fd93ULL;
	x = (x ^ x >> 32) * 0x9e3779b97f4a7c15ULL;
	return (struct topk_slot){ .set = (u32)(x >> 32) & (table->sets - 1),
				   .tag = (u8)(((x & 0xffff) * 255 >> 16) + 1) };
}

#define TOPK_ONES 0x0101010101010101ULL

/* A bit for each way that may have the tag; none: the key has no entry. */
static inline u64 topk_ways(const struct topk_table *table, struct topk_slot place)
{
	u64 differ = table->tags[place.set] ^ place.tag * TOPK_ONES;

	return (differ - TOPK_ONES) & ~differ & TOPK_ONES << 7;
}

/** topk_find() - the entry of a key, or NULL */
struct topk_entry *topk_find(const struct topk_table *table, u64 key0, u64 key1);

/**
 * topk_add() - add @weight, at least 1, to an entry, which may be new: then all behind
 * its struct topk_entry is 0
 */
struct topk_entry *topk_add(struct topk_table *table, u64 key0, u64 key1, u32 weight);

/** topk_next() - the used entry after @entry, or the first for NULL */
struct topk_entry *topk_next(const struct topk_table *table, struct topk_entry *entry);

/** topk_sorted() - all of them, by weight; allocated; NULL without memory */
struct topk_entry **topk_sorted(const struct topk_table *table, u32 *ret_count);

#endif
