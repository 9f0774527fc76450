/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A table of the heaviest of many keys, in fixed memory. The table consists of sets of eight
 * entries. Entries are replaced as in the Space-Saving algorithm: a new entry inherits the weight
 * of the entry that it replaces. So a key that becomes heavy late still gets an entry.
 */
#ifndef SPEPROF_TOPK_H
#define SPEPROF_TOPK_H

#include "codec/env.h"

/* Entries of a set of &topk_table.entries. */
#define TOPK_WAYS 8

/**
 * struct topk_entry - the first member of each entry
 * @key: two words
 * @weight: sum of weights; 0 marks a free entry
 */
struct topk_entry {
	u64 key[2];
	u64 weight;
};

/**
 * struct topk_table - the table
 * @size: size of an entry, bytes
 * @seed: random seed of the hash, so that the profiled programs cannot choose the set of a key
 * @sets: number of sets, a power of two
 * @tags: for each set, one byte per way; 0 marks a free way
 * @entries: the entries, indexed by set and way
 * @evicted: number of entries that were replaced with other entries
 */
struct topk_table {
	size_t size;
	u64 seed;
	u32 sets;
	u64 *tags;
	u8 *entries;
	u64 evicted;
};

/**
 * topk_init() - allocate an empty table
 * @size: size of an entry, bytes; it begins with &struct topk_entry
 * @capacity: number of entries, rounded up to a power of two, at least 8
 *
 * Return: 0 or -ENOMEM.
 */
int topk_init(struct topk_table *table, size_t size, u32 capacity);

/** topk_deinit() - free the memory; @table may be all zeros */
void topk_deinit(struct topk_table *table);

/** topk_clear() - remove all entries and keep the memory */
void topk_clear(struct topk_table *table);

/** struct topk_slot - the set and the tag of a key */
struct topk_slot {
	u32 set;
	u8 tag;
};

static inline struct topk_slot topk_get_slot(const struct topk_table *table, u64 key0, u64 key1)
{
	u64 x = (key0 ^ table->seed) * 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 32 ^ key1) * 0xd6e8feb86659fd93ULL;
	x = (x ^ x >> 32) * 0x9e3779b97f4a7c15ULL;
	return (struct topk_slot){ .set = (u32)(x >> 32) & (table->sets - 1),
				   .tag = (u8)(((x & 0xffff) * 255 >> 16) + 1) };
}

#define TOPK_ONES 0x0101010101010101ULL

/*
 * Return a mask with a bit for each way of the set that may have the tag of @place. 0 means that
 * the key has no entry.
 */
static inline u64 topk_match_ways(const struct topk_table *table, struct topk_slot place)
{
	u64 differ = table->tags[place.set] ^ place.tag * TOPK_ONES;

	return (differ - TOPK_ONES) & ~differ & TOPK_ONES << 7;
}

/** topk_find() - return the entry of a key, or NULL */
struct topk_entry *topk_find(const struct topk_table *table, u64 key0, u64 key1);

/**
 * topk_add() - add @weight, at least 1, to the entry of a key
 *
 * A key without an entry replaces the lightest entry of its set; the bytes after struct
 * topk_entry are then 0.
 *
 * Return: the entry.
 */
struct topk_entry *topk_add(struct topk_table *table, u64 key0, u64 key1, u32 weight);

/** topk_next() - return the used entry after @entry, or the first for NULL */
struct topk_entry *topk_next(const struct topk_table *table, struct topk_entry *entry);

/**
 * topk_sort_entries() - return all used entries, heaviest first
 *
 * Return: an allocated array that the caller frees; NULL if memory cannot be allocated.
 */
struct topk_entry **topk_sort_entries(const struct topk_table *table, u32 *ret_count);

#endif
