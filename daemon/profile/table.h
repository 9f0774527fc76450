/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is kept of a set of samples, and the table of places they were taken at:
 * of fixed capacity, set-associative, with space-saving replacement.
 */
#ifndef SPEPROF_PROFILE_TABLE_H
#define SPEPROF_PROFILE_TABLE_H

#include "histogram.h"
#include "record.h"

/* What rows count of samples beside their latency. */
enum tally_count {
	TALLY_MEMORY,
	TALLY_DRAM,
	TALLY_BRANCHES,
	TALLY_MISPREDICTED,
	TALLY_COUNTS,
};

/* One of @count in the bytes of a word: several are added at once. */
#define TALLY_ONE(count) (1U << 8 * (count))

/**
 * struct sample_facts - what the rows of a profile count of a sample, worked out once
 * @counts: a byte for each &enum tally_count, 0 or 1; dram where memory served it for
 *	all that is known: the core's data source says DRAM, or events say that the last
 *	level cache missed
 * @latency: total latency in cycles, 0 where there is no such counter
 * @bucket: its histogram bucket, HISTOGRAM_NONE where there is no such counter
 */
struct sample_facts {
	u32 counts;
	u16 latency;
	u8 bucket;
};

/** struct tally - the figures of one row, whatever it groups */
struct tally {
	u64 samples;
	u64 latency_sum;
	u64 count[TALLY_COUNTS];
	u32 max;
	u64 bucket[HISTOGRAM_BUCKETS + 1];
};

void tally_merge(struct tally *to, const struct tally *from);

/** tally_quantile() - total latency below which @permille of the samples are */
u32 tally_quantile(const struct tally *tally, u32 permille);

/* Counters of a location's histogram have four bits, sixteen in a word. */
#define LOCATION_WORDS ((HISTOGRAM_BUCKETS + 1) / 16)

/**
 * struct location - a PC in a process, and its tally in little: one cache line
 * @place: the PC and whether the kernel's, by location_place()
 * @owner: process and its generation, by location_owner()
 * @bucket, @counts, @latency_sum: as in &struct tally, modulo what was carried over to
 *	the table's struct location_more
 * @weight: samples that @bucket does not have any more, and those that had the place
 *	before: for replacement; saturates
 * @carried: whether there is a struct location_more
 */
struct location {
	u64 place;
	u64 owner;
	u64 bucket[LOCATION_WORDS];
	u32 counts;
	u32 latency_sum;
	u32 weight;
	u16 max;
	bool used;
	bool carried;
} __attribute__((aligned(64)));

static_assert(sizeof(struct location) == 64, "a cache line");

/**
 * struct location_more - what a location's small counters could not hold
 * @wide: number of its struct location_wide; 0 for none
 * @bucket: in units of 16
 */
struct location_more {
	u64 latency_sum;
	u64 count[TALLY_COUNTS];
	u32 wide;
	u8 bucket[HISTOGRAM_BUCKETS + 1];
};

/**
 * struct location_wide - what a location_more could not hold
 * @bucket: in units of 4096; saturates
 */
struct location_wide {
	u32 bucket[HISTOGRAM_BUCKETS + 1];
};

/**
 * struct location_pool - entries of one size, handed out from the first on: those that
 * never were take no memory
 * @at: entries by number, from 1 on
 * @size: of one
 * @room: the highest number
 * @used: the highest number that was handed out
 * @free: the first of those that came back, which say the next one; 0 for none
 */
struct location_pool {
	u8 *at;
	size_t size;
	u32 room;
	u32 used;
	u32 free;
};

/* Ways of a set: a byte of each one's hash makes a word that is searched at once. */
#define LOCATION_WAYS 8

/**
 * struct location_table - open, so that what a sample does is inline
 * @tags: for each set, a byte for each way, the lowest for the first; 0 is free
 * @more_of: beside @entries, the number in @more of those that have carried
 * @more, @wide: of struct location_more and struct location_wide: with room for one for
 *	each entry, so that they never run out, and packed by need, so that few are few
 */
struct location_table {
	u64 seed;
	u32 sets;
	u64 *tags;
	struct location (*entries)[LOCATION_WAYS];
	u32 (*more_of)[LOCATION_WAYS];
	struct location_pool more;
	struct location_pool wide;
};

/** struct location_key - which entry, and where it is looked for */
struct location_key {
	u64 place;
	u64 owner;
	u32 set;
	u8 tag;
};

/* Addresses are sign-extended from bit 55: one of the bits above can tell something else. */
#define LOCATION_KERNEL 62

static inline u64 location_place(u64 pc, bool kernel)
{
	return pc ^ (u64)kernel << LOCATION_KERNEL;
}

static inline u64 location_pc(const struct location *entry)
{
	return (u64)((s64)(entry->place << 8) >> 8);
}

static inline bool location_kernel(const struct location *entry)
{
	return (entry->place ^ location_pc(entry)) >> LOCATION_KERNEL & 1;
}

static inline u64 location_owner(u32 process, u32 generation)
{
	return (u64)process << 32 | generation;
}

static inline u32 location_process(const struct location *entry)
{
	return (u32)(entry->owner >> 32);
}

static inline u32 location_generation(const struct location *entry)
{
	return (u32)entry->owner;
}

#define LOCATION_ONES 0x0101010101010101ULL

static inline u64 location_mix(u64 x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	return x ^ x >> 32;
}

/* A bit for each way that may have @tag: for the first of them it is sure, as is none. */
static inline u64 location_candidates(u64 tags, u8 tag)
{
	u64 differ = tags ^ tag * LOCATION_ONES;

	return (differ - LOCATION_ONES) & ~differ & LOCATION_ONES << 7;
}

/** location_salt() - of an owner, for location_prepare(): worked out once for many places */
static inline u64 location_salt(const struct location_table *table, u64 owner)
{
	return location_mix(owner ^ table->seed);
}

/** location_prepare() - fill @key, and fetch its set's tags into the cache */
static inline void location_prepare(const struct location_table *table, u64 place, u64 owner,
				    u64 salt, struct location_key *ret_key)
{
	u64 hash = location_mix(place ^ salt);
	u32 set = (u32)(hash >> 32) & (table->sets - 1);

	*ret_key = (struct location_key){
		.place = place,
		.owner = owner,
		.set = set,
		/* 0 is of free ways. */
		.tag = (u8)(((hash & 0xffff) * 255 >> 16) + 1),
	};
	__builtin_prefetch(&table->tags[set]);
}

/**
 * location_likely() - what is most likely the entry of @key, once its tags are there
 *
 * To be fetched by the caller: a function that does no more than fetch has no effect,
 * as compilers see it, and is left out.
 */
static inline const struct location *location_likely(const struct location_table *table,
						     const struct location_key *key)
{
	u64 ways = location_candidates(table->tags[key->set], key->tag);

	/* Of none, the first: it may be the one to be replaced. */
	return &table->entries[key->set][ways ? __builtin_ctzll(ways) / 8 : 0];
}

/** location_insert() - the entry of @key, which is not there yet: see location_get() */
struct location *location_insert(struct location_table *table, const struct location_key *key,
				 u64 *evicted);

/**
 * location_get() - the entry of a prepared key, replacing the lightest of its set
 * where there is no room. It stays where it is until the next call.
 * @evicted: grows by the samples that the replaced entry held
 */
static inline struct location *location_get(struct location_table *table,
					    const struct location_key *key, u64 *evicted)
{
	u64 ways = location_candidates(table->tags[key->set], key->tag);
	struct location *entry;

	for (; ways; ways &= ways - 1) {
		entry = &table->entries[key->set][__builtin_ctzll(ways) / 8];
		if (entry->place == key->place && entry->owner == key->owner)
			return entry;
	}
	return location_insert(table, key, evicted);
}

/* Any of these set, and a counter of @counts or @latency_sum is to be carried over. */
#define LOCATION_FULL 0x80808080U

/** location_carry(), location_carry_bucket() - make room in the counters of @entry */
void location_carry(struct location_table *table, struct location *entry);
void location_carry_bucket(struct location_table *table, struct location *entry, u8 bucket);

/** location_add() - count a sample in @entry of @table */
static inline void location_add(struct location_table *table, struct location *entry,
				const struct sample_facts *facts)
{
	unsigned int shift = facts->bucket % 16 * 4;
	u64 *word = &entry->bucket[facts->bucket / 16];

	entry->counts += facts->counts;
	entry->latency_sum += facts->latency;
	if (facts->latency > entry->max)
		entry->max = facts->latency;
	if ((*word >> shift & 0xf) == 0xf)
		location_carry_bucket(table, entry, facts->bucket);
	else
		*word += 1ULL << shift;
	if (entry->counts & LOCATION_FULL || entry->latency_sum >> 31)
		location_carry(table, entry);
}

/** location_tally() - the whole tally of @entry */
void location_tally(const struct location_table *table, const struct location *entry,
		    struct tally *ret_tally);

/** location_restore() - @entry, which is new, has the figures of @tally; @weight as it was */
void location_restore(struct location_table *table, struct location *entry,
		      const struct tally *tally, u32 weight);

/** location_samples(), location_latency(), location_count() - a figure of its tally alone */
u64 location_samples(const struct location_table *table, const struct location *entry);
u64 location_latency(const struct location_table *table, const struct location *entry);
u64 location_count(const struct location_table *table, const struct location *entry,
		   enum tally_count count);

/** location_table_new() - @capacity is rounded up to a power of two, at least 8 */
int location_table_new(u32 capacity, struct location_table **ret_table);
struct location_table *location_table_free(struct location_table *table);

/** location_table_next() - the used entry after @location, or the first for NULL */
struct location *location_table_next(struct location_table *table, struct location *location);

void location_table_clear(struct location_table *table);

#endif
