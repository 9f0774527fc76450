// SPDX-License-Identifier: LGPL-2.1-or-later
/* Moves locations from one table to another: for the checkpoint, and when a shard is merged. */
#include "location-table-internal.h"

#include <stddef.h>

void location_export(const struct location_table *table, const struct location *entry,
		     struct location_image *ret_image)
{
	const struct location_more *more = more_of(table, entry);
	struct location_image image = {
		.max = { entry->max, entry->detail.max[0], entry->detail.max[1] },
		.first = entry->first,
		.first_octaves = entry->first_octaves,
		.rank = *location_rank(table, entry),
		.excess = excess_of(table, entry),
	};

	for (unsigned int i = 0; i <= HISTOGRAM_NONE; i++)
		image.bucket[i] = entry_bucket(table, entry, i);
	for (unsigned int i = 0; i < LOCATION_LATENCIES; i++)
		for (unsigned int k = 0; k < LOCATION_OCTAVES; k++)
			image.octave[i][k] = entry_octave(table, entry, i, k);
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++)
		image.latency_sum[i] = entry->detail.sum[i] + (more ? more->latency_sum[i] : 0);
	*ret_image = image;
}

/* Counters that are incremented one by one: @word has the small counters, @low the larger ones. */
struct counter_arrays {
	struct location_table *table;
	struct location *entry;
	u64 *word;
	size_t low;
	size_t wide;
};

/* Use the small counter if the count fits, so that few locations need larger ones. */
static void counter_add(const struct counter_arrays *c, unsigned int i, u64 count)
{
	u64 little = c->word[i / 16] >> i % 16 * 4 & 0xf, sum;
	struct location_more *more;
	u32 *high;
	u8 *low;

	if (!count)
		return;
	if (little + count < 8) {
		c->word[i / 16] += count << i % 16 * 4;
		return;
	}
	more = location_more_get(c->table, c->entry);
	low = (u8 *)more + c->low + i;
	sum = *low + count;
	*low = (u8)sum;
	if (!(sum >> 8))
		return;
	high = (u32 *)((u8 *)location_wide_get(c->table, more) + c->wide) + i;
	*high = (sum >> 8) + *high < UINT32_MAX ? (u32)(sum >> 8) + *high : UINT32_MAX;
}

static void add_excess(struct location_table *table, struct location *entry, u64 excess)
{
	if (!excess)
		return;
	table->uneven = true;
	*location_excess(table, entry) += excess;
}

/* Number of samples of @from with each latency, which its histograms do not contain. */
static struct location_class_sums class_sums_of(const struct location_table *table,
						const struct location *entry)
{
	struct location_class_sums sums = { 0 };

	location_sum_classes(table, entry, &sums);
	return sums;
}

static void merge_total(const struct counter_arrays *c, const struct location_table *table,
			const struct location *from, u64 samples)
{
	for (unsigned int i = 0; i <= HISTOGRAM_NONE; i++) {
		u64 count = entry_bucket(table, from, i);

		samples -= count < samples ? count : samples;
		if (i != c->entry->first)
			counter_add(c, i, count);
	}
	if (from->first != c->entry->first)
		counter_add(c, from->first, samples);
}

static void merge_octaves(const struct counter_arrays *c, unsigned int latency,
			  const struct location_table *table, const struct location *from, u64 with)
{
	unsigned int first = c->entry->first_octaves >> 4 * latency & 0xf;
	unsigned int others = from->first_octaves >> 4 * latency & 0xf;

	for (unsigned int i = 0; i < LOCATION_OCTAVES; i++) {
		u64 count = entry_octave(table, from, latency, i);

		with -= count < with ? count : with;
		if (i != first)
			counter_add(c, i, count);
	}
	if (others != first)
		counter_add(c, others, with);
}

static void merge_sums(struct location_table *table, struct location *entry,
		       const struct location_table *from_table, const struct location *from)
{
	const struct location_more *theirs = more_of(from_table, from);

	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++) {
		u64 sum = from->detail.sum[i] + (theirs ? theirs->latency_sum[i] : 0);

		if (sum + entry->detail.sum[i] < 1U << 31)
			entry->detail.sum[i] += (u32)sum;
		else
			location_more_get(table, entry)->latency_sum[i] += sum;
	}
	if (from->max > entry->max)
		entry->max = from->max;
	for (unsigned int i = 0; i < LOCATION_LATENCIES; i++)
		if (from->detail.max[i] > entry->detail.max[i])
			entry->detail.max[i] = from->detail.max[i];
}

void location_merge(struct location_table *table, struct location *entry,
		    const struct location_table *from_table, const struct location *from)
{
	const struct location_class_sums sums = class_sums_of(from_table, from);
	struct counter_arrays c = {
		.table = table,
		.entry = entry,
		.word = entry->bucket,
		.low = offsetof(struct location_more, bucket),
		.wide = offsetof(struct location_wide, bucket),
	};

	if (!entry->detail.sample_class[0] && !entry->chain) {
		entry->first = from->first;
		entry->first_octaves = from->first_octaves;
	}
	merge_total(&c, from_table, from, sums.samples);
	for (unsigned int i = 0; i < LOCATION_LATENCIES; i++) {
		c.word = &entry->detail.octave[i];
		c.low = offsetof(struct location_more, octave) + i * LOCATION_OCTAVES;
		c.wide = offsetof(struct location_wide, octave) +
			 i * LOCATION_OCTAVES * sizeof(u32);
		merge_octaves(&c, i, from_table, from, sums.latency[i + 1]);
	}
	merge_sums(table, entry, from_table, from);
	add_excess(table, entry,
		   location_weight(from_table, from) - sums.samples * table->interval);
}

/* @wide: offset in struct location_wide for the remainder */
static void restore_counts(struct location_table *table, struct location_more *more,
			   const u64 *counts, unsigned int n, u8 *low, size_t wide)
{
	u32 *high;

	for (unsigned int i = 0; i < n; i++) {
		low[i] = (u8)counts[i];
		if (!(counts[i] >> 8))
			continue;
		high = (u32 *)((u8 *)location_wide_get(table, more) + wide) + i;
		*high = counts[i] >> 8 < UINT32_MAX ? (u32)(counts[i] >> 8) : UINT32_MAX;
	}
}

/*
 * Return whether all counters fit in the small counters of struct location, as they usually do.
 * Then they need no struct location_more.
 */
static bool is_small(const struct location_image *image)
{
	u64 counts = 0, sums = 0;

	for (unsigned int i = 0; i <= HISTOGRAM_NONE; i++)
		counts |= image->bucket[i];
	for (unsigned int i = 0; i < LOCATION_LATENCIES; i++)
		for (unsigned int k = 0; k < LOCATION_OCTAVES; k++)
			counts |= image->octave[i][k];
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++)
		sums |= image->latency_sum[i];
	return counts < 8 && !(sums >> 31);
}

static void restore_small(struct location *entry, const struct location_image *image)
{
	for (unsigned int i = 0; i <= HISTOGRAM_NONE; i++)
		entry->bucket[i / 16] |= image->bucket[i] << i % 16 * 4;
	for (unsigned int i = 0; i < LOCATION_LATENCIES; i++)
		for (unsigned int k = 0; k < LOCATION_OCTAVES; k++)
			entry->detail.octave[i] |= image->octave[i][k] << 4 * k;
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++)
		entry->detail.sum[i] = (u32)image->latency_sum[i];
}

void location_restore(struct location_table *table, struct location *entry,
		      const struct location_image *image)
{
	struct location_more *more;

	add_excess(table, entry, image->excess);
	*location_rank(table, entry) = image->rank;
	entry->max = image->max[PROFILE_TOTAL];
	entry->first = image->first & HISTOGRAM_NONE;
	entry->first_octaves = image->first_octaves;
	for (unsigned int i = 0; i < LOCATION_LATENCIES; i++)
		entry->detail.max[i] = image->max[i + 1];
	if (is_small(image)) {
		restore_small(entry, image);
		return;
	}
	more = location_more_get(table, entry);
	restore_counts(table, more, image->bucket, HISTOGRAM_BUCKETS + 1, more->bucket,
		       offsetof(struct location_wide, bucket));
	for (unsigned int i = 0; i < LOCATION_LATENCIES; i++)
		restore_counts(table, more, image->octave[i], LOCATION_OCTAVES, more->octave[i],
			       offsetof(struct location_wide, octave) +
				       i * sizeof(((struct location_wide *)0)->octave[0]));
	memcpy(more->latency_sum, image->latency_sum, sizeof(more->latency_sum));
}
