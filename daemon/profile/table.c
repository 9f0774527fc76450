// SPDX-License-Identifier: LGPL-2.1-or-later
#include "table.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

/*
 * Eight entries a set: their tags fill one cache line, so that a hit costs one
 * line of tags and the lines of its entry.
 */
#define WAYS 8

struct location_table {
	u64 seed;
	u32 sets;
	u64 (*tags)[WAYS];
	struct location (*entries)[WAYS];
};

/* The event is architected; the source's value 0xe is DRAM on Arm's own cores. */
#define MIDR_IMPLEMENTER(midr) ((midr) >> 24 & 0xff)
#define IMPLEMENTER_ARM 0x41
#define NEOVERSE_SOURCE_DRAM 0x0e

bool sample_is_dram(const struct spe_sample *sample, u64 midr)
{
	if (spe_sample_event(sample, SPE_EVENT_LLC_MISS))
		return true;
	return spe_sample_has(sample, SPE_HAS_SOURCE) && MIDR_IMPLEMENTER(midr) == IMPLEMENTER_ARM &&
	       (sample->source & 0xf) == NEOVERSE_SOURCE_DRAM;
}

void tally_add(struct tally *tally, const struct spe_sample *sample, u64 midr)
{
	enum spe_op_kind kind = spe_sample_kind(sample);

	tally->samples++;
	if (kind == SPE_KIND_LOAD || kind == SPE_KIND_STORE) {
		tally->memory++;
		tally->dram += sample_is_dram(sample, midr);
	} else if (kind == SPE_KIND_BRANCH) {
		tally->branches++;
		tally->mispredicted += spe_sample_event(sample, SPE_EVENT_MISPREDICTED);
	}
	if (spe_sample_has(sample, SPE_HAS_COUNTER(SPE_COUNTER_TOTAL))) {
		tally->latency_sum += sample->counter[SPE_COUNTER_TOTAL];
		histogram_add(&tally->total, sample->counter[SPE_COUNTER_TOTAL]);
	}
}

void tally_merge(struct tally *to, const struct tally *from)
{
	to->samples += from->samples;
	to->latency_sum += from->latency_sum;
	to->memory += from->memory;
	to->dram += from->dram;
	to->branches += from->branches;
	to->mispredicted += from->mispredicted;
	histogram_merge(&to->total, &from->total);
}

int location_table_new(u32 capacity, struct location_table **ret_table)
{
	struct location_table *t;

	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->sets = 1;
	while (t->sets * WAYS < capacity)
		t->sets *= 2;
	/* PCs are the profiled programs' choice: they must not choose sets too. */
	if (getrandom(&t->seed, sizeof(t->seed), GRND_NONBLOCK) != sizeof(t->seed))
		t->seed = (u64)(uintptr_t)t;
	t->tags = calloc(t->sets, sizeof(*t->tags));
	t->entries = calloc(t->sets, sizeof(*t->entries));
	if (!t->tags || !t->entries) {
		location_table_free(t);
		return -ENOMEM;
	}
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

struct location *location_table_get(struct location_table *table, u32 process, u32 generation,
				    u64 pc, bool kernel, u64 *ret_evicted)
{
	u64 tag = mix(mix(pc ^ table->seed) ^ ((u64)process << 32 | generation)) | 1;
	u32 set = (u32)(tag >> 32) & (table->sets - 1);
	struct location *entry;
	unsigned int i;
	u64 rank;

	*ret_evicted = 0;
	for (i = 0; i < WAYS; i++) {
		entry = &table->entries[set][i];
		if (table->tags[set][i] == tag && entry->pc == pc && entry->process == process &&
		    entry->generation == generation && entry->kernel == kernel) {
			entry->rank++;
			return entry;
		}
	}

	i = lightest(table->entries[set]);
	entry = &table->entries[set][i];
	*ret_evicted = entry->used ? entry->tally.samples : 0;
	rank = entry->used ? entry->rank : 0;
	*entry = (struct location){
		.pc = pc, .process = process, .generation = generation,
		.kernel = kernel, .used = true, .rank = rank + 1,
	};
	table->tags[set][i] = tag;
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
