/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is kept of a set of samples, and the table of places they were taken at:
 * of fixed capacity, set-associative, with space-saving replacement.
 */
#ifndef SPEPROF_PROFILE_TABLE_H
#define SPEPROF_PROFILE_TABLE_H

#include "histogram.h"
#include "record.h"

/**
 * struct sample_facts - what the rows of a profile count of a sample, worked out once
 * @latency: total latency in cycles
 * @bucket: its histogram bucket, NO_BUCKET where there is no such counter
 * @memory, @dram, @branch, @mispredicted: 0 or 1; @dram where memory served it
 *	for all that is known: the core's data source says DRAM, or events say
 *	that the last level cache missed
 */
struct sample_facts {
	u16 latency;
	u8 bucket;
	u8 memory;
	u8 dram;
	u8 branch;
	u8 mispredicted;
};

#define NO_BUCKET UINT8_MAX

/** struct tally - the figures of one row, whatever it groups */
struct tally {
	u64 samples;
	u64 latency_sum;
	u32 memory;
	u32 dram;
	u32 branches;
	u32 mispredicted;
	u32 max;
	u32 bucket[HISTOGRAM_BUCKETS];
};

static inline void tally_add(struct tally *tally, const struct sample_facts *facts)
{
	tally->samples++;
	tally->memory += facts->memory;
	tally->dram += facts->dram;
	tally->branches += facts->branch;
	tally->mispredicted += facts->mispredicted;
	if (facts->bucket == NO_BUCKET)
		return;
	tally->latency_sum += facts->latency;
	tally->bucket[facts->bucket]++;
	if (facts->latency > tally->max)
		tally->max = facts->latency;
}

void tally_merge(struct tally *to, const struct tally *from);

/** tally_quantile() - total latency below which @permille of the samples are */
u32 tally_quantile(const struct tally *tally, u32 permille);

/**
 * struct location - a PC in a process
 * @rank: what replacement compares: samples, and those of what it replaced;
 *	saturates
 *
 * What every sample touches fills the first cache line, but for one bucket; the
 * whole is five of them.
 */
struct location {
	u64 pc;
	u32 rank;
	u32 process;
	u32 generation;
	bool used;
	bool kernel;
	struct tally tally;
} __attribute__((aligned(64)));

static_assert(offsetof(struct location, tally.bucket) <= 64, "a line, and that of one bucket");
static_assert(sizeof(struct location) == 5 * 64, "locations are whole cache lines");

struct location_table;

/** struct location_key - which entry, with its hash in @tag */
struct location_key {
	u64 pc;
	u64 tag;
	u32 process;
	u32 generation;
	bool kernel;
};

/** location_table_new() - @capacity is rounded up to a power of two, at least 8 */
int location_table_new(u32 capacity, struct location_table **ret_table);
struct location_table *location_table_free(struct location_table *table);

/** location_table_prepare() - fill @key.tag, and fetch its set into the cache */
void location_table_prepare(const struct location_table *table, struct location_key *key);

/** location_table_fetch() - once its set is there, fetch the entry and its @bucket too */
void location_table_fetch(const struct location_table *table, const struct location_key *key,
			  u8 bucket);

/**
 * location_table_get() - the entry of a prepared key, replacing the lightest of
 * its set where there is no room. It stays where it is until the next call.
 * @ret_evicted: samples that the replaced entry held
 */
struct location *location_table_get(struct location_table *table, const struct location_key *key,
				    u64 *ret_evicted);

/** location_table_next() - the used entry after @location, or the first for NULL */
struct location *location_table_next(struct location_table *table, struct location *location);

void location_table_clear(struct location_table *table);

#endif
