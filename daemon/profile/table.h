/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is kept of a set of samples, and the table of places they were taken at:
 * of fixed capacity, set-associative, with space-saving replacement.
 */
#ifndef SPEPROF_PROFILE_TABLE_H
#define SPEPROF_PROFILE_TABLE_H

#include "histogram.h"
#include "record.h"

/** struct tally - the figures of one row, whatever it groups */
struct tally {
	u64 samples;
	u64 latency_sum;
	u32 memory;
	u32 dram;
	u32 branches;
	u32 mispredicted;
	struct histogram total;
};

void tally_add(struct tally *tally, const struct spe_sample *sample, u64 midr);
void tally_merge(struct tally *to, const struct tally *from);

/** sample_is_dram() - whether no cache served a load or store, as far as @midr's core says */
bool sample_is_dram(const struct spe_sample *sample, u64 midr);

/**
 * struct location - a PC in a process
 * @rank: what replacement compares: samples, and those of what it replaced
 */
struct location {
	u64 pc;
	u64 rank;
	u32 process;
	u32 generation;
	bool used;
	bool kernel;
	struct tally tally;
};

struct location_table;

/** location_table_new() - @capacity is rounded up to a power of two, at least 8 */
int location_table_new(u32 capacity, struct location_table **ret_table);
struct location_table *location_table_free(struct location_table *table);

/**
 * location_table_get() - the entry of a PC, replacing the lightest of its set
 * where there is no room
 * @ret_evicted: samples that the replaced entry held
 */
struct location *location_table_get(struct location_table *table, u32 process, u32 generation,
				    u64 pc, bool kernel, u64 *ret_evicted);

/** location_table_next() - the used entry after @location, or the first for NULL */
struct location *location_table_next(struct location_table *table, struct location *location);

void location_table_clear(struct location_table *table);

#endif
