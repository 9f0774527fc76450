/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Access to the counters of a location, for the files that count, carry over and transfer them. */
#ifndef SPEPROF_LOCATION_TABLE_INTERNAL_H
#define SPEPROF_LOCATION_TABLE_INTERNAL_H

#include "location-table.h"

static inline void *pool_at(const struct location_pool *pool, u32 number)
{
	return pool->at + number * pool->size;
}

static inline u64 excess_of(const struct location_table *table, const struct location *entry)
{
	return table->uneven ? *location_excess(table, entry) : 0;
}

/* Returns NULL for an entry that has carried nothing over. */
static inline struct location_more *more_of(const struct location_table *table,
					    const struct location *entry)
{
	return entry->more ? pool_at(&table->more, entry->more) : NULL;
}

static inline const struct location_wide *wide_of(const struct location_table *table,
						  const struct location_more *more)
{
	return more->wide ? pool_at(&table->wide, more->wide) : NULL;
}

/* Samples counted in @bucket, without those that only &location.first implies. */
static inline u64 entry_bucket(const struct location_table *table, const struct location *entry,
			       unsigned int bucket)
{
	const struct location_more *more = more_of(table, entry);
	const struct location_wide *wide = more ? wide_of(table, more) : NULL;

	return (entry->bucket[bucket / 16] >> bucket % 16 * 4 & 0xf) +
	       (more ? more->bucket[bucket] : 0) + (wide ? 256ULL * wide->bucket[bucket] : 0);
}

static inline u64 entry_octave(const struct location_table *table, const struct location *entry,
			       unsigned int latency, unsigned int octave)
{
	const struct location_more *more = more_of(table, entry);
	const struct location_wide *wide = more ? wide_of(table, more) : NULL;

	return (entry->detail.octave[latency] >> 4 * octave & 0xf) +
	       (more ? more->octave[latency][octave] : 0) +
	       (wide ? 256ULL * wide->octave[latency][octave] : 0);
}

/** location_more_get(), location_wide_get() - return the larger counters, allocated if needed */
struct location_more *location_more_get(struct location_table *table, struct location *entry);
struct location_wide *location_wide_get(struct location_table *table, struct location_more *more);

/*
 * What the sample classes of a location add up to: counts, number of samples, and number of
 * samples with each latency.
 */
struct location_class_sums {
	u64 sums[SAMPLE_COUNTS];
	u64 samples;
	u64 latency[PROFILE_LATENCIES];
};

/** location_sum_classes() - add the counts of the sample classes of @entry to @told */
void location_sum_classes(const struct location_table *table, const struct location *entry,
			  struct location_class_sums *told);

#endif
