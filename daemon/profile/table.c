// SPDX-License-Identifier: LGPL-2.1-or-later
#include "table.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>

/*
 * Eight entries a set: their tags fill one cache line, so that a hit costs one
 * line of tags and the lines of its entry.
 */
#define WAYS 8

/* Where a huge page may begin. */
#define TABLE_ALIGN (2U << 20)

struct location_table {
	u64 seed;
	u32 sets;
	u64 (*tags)[WAYS];
	struct location (*entries)[WAYS];
};

void tally_merge(struct tally *to, const struct tally *from)
{
	to->samples += from->samples;
	to->latency_sum += from->latency_sum;
	to->memory += from->memory;
	to->dram += from->dram;
	to->branches += from->branches;
	to->mispredicted += from->mispredicted;
	if (from->max > to->max)
		to->max = from->max;
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
		to->bucket[i] += from->bucket[i];
}

u32 tally_quantile(const struct tally *tally, u32 permille)
{
	struct histogram h = { .max = tally->max, .sum = tally->latency_sum };

	memcpy(h.bucket, tally->bucket, sizeof(h.bucket));
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
		h.count += h.bucket[i];
	return histogram_quantile(&h, permille);
}

int location_table_new(u32 capacity, struct location_table **ret_table)
{
	struct location_table *t;
	size_t size, align;

	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->sets = 1;
	while (t->sets * WAYS < capacity)
		t->sets *= 2;
	/* PCs are the profiled programs' choice: they must not choose sets too. */
	if (getrandom(&t->seed, sizeof(t->seed), GRND_NONBLOCK) != sizeof(t->seed))
		t->seed = (u64)(uintptr_t)t;
	t->tags = aligned_alloc(64, t->sets * sizeof(*t->tags));
	/* C11 wants a multiple of the alignment, and so does ASan. */
	size = t->sets * sizeof(*t->entries);
	align = size < TABLE_ALIGN ? 64 : TABLE_ALIGN;
	t->entries = aligned_alloc(align, (size + align - 1) & ~(align - 1));
	if (!t->tags || !t->entries) {
		location_table_free(t);
		return -ENOMEM;
	}
	/* Places are far apart: fewer, larger pages are fewer walks. A hint, no more. */
	if (align == TABLE_ALIGN)
		(void)madvise(t->entries, size, MADV_HUGEPAGE);
	location_table_clear(t);
	*ret_table = t;
	return 0;
}

struct location_table *location_table_free(struct location_table *table)
{
	if (table) {
		free(table->tags);
		free(table->entries);
		free(table);
	}
	return NULL;
}

static u64 mix(u64 x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	return x ^ x >> 32;
}

static unsigned int lightest(const struct location *set)
{
	unsigned int best = 0;

	for (unsigned int i = 0; i < WAYS; i++) {
		if (!set[i].used)
			return i;
		if (set[i].rank < set[best].rank)
			best = i;
	}
	return best;
}

static u32 set_of(const struct location_table *table, u64 tag)
{
	return (u32)(tag >> 32) & (table->sets - 1);
}

void location_table_prepare(const struct location_table *table, struct location_key *key)
{
	key->tag = mix(mix(key->pc ^ table->seed) ^ ((u64)key->process << 32 | key->generation)) | 1;
	__builtin_prefetch(table->tags[set_of(table, key->tag)]);
}

void location_table_fetch(const struct location_table *table, const struct location_key *key,
			  u8 bucket)
{
	u32 set = set_of(table, key->tag);
	const struct location *entry;

	for (unsigned int i = 0; i < WAYS; i++) {
		if (table->tags[set][i] != key->tag)
			continue;
		entry = &table->entries[set][i];
		__builtin_prefetch(entry, 1);
		if (bucket != NO_BUCKET)
			__builtin_prefetch(&entry->tally.bucket[bucket], 1);
		return;
	}
}

static bool is_entry(const struct location *entry, const struct location_key *key)
{
	return entry->pc == key->pc && entry->process == key->process &&
	       entry->generation == key->generation && entry->kernel == key->kernel;
}

struct location *location_table_get(struct location_table *table, const struct location_key *key,
				    u64 *ret_evicted)
{
	u32 set = set_of(table, key->tag);
	struct location *entry;
	unsigned int i;
	u32 rank;

	*ret_evicted = 0;
	for (i = 0; i < WAYS; i++) {
		entry = &table->entries[set][i];
		if (table->tags[set][i] == key->tag && is_entry(entry, key)) {
			entry->rank += entry->rank < UINT32_MAX;
			return entry;
		}
	}

	i = lightest(table->entries[set]);
	entry = &table->entries[set][i];
	*ret_evicted = entry->used ? entry->tally.samples : 0;
	rank = entry->used ? entry->rank : 0;
	*entry = (struct location){
		.pc = key->pc, .process = key->process, .generation = key->generation,
		.kernel = key->kernel, .used = true, .rank = rank + (rank < UINT32_MAX),
	};
	table->tags[set][i] = key->tag;
	return entry;
}

struct location *location_table_next(struct location_table *table, struct location *location)
{
	struct location *end = table->entries[table->sets];

	location = location ? location + 1 : table->entries[0];
	while (location < end && !location->used)
		location++;
	return location < end ? location : NULL;
}

void location_table_clear(struct location_table *table)
{
	memset(table->tags, 0, table->sets * sizeof(*table->tags));
	memset(table->entries, 0, table->sets * sizeof(*table->entries));
}
