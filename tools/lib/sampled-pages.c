// SPDX-License-Identifier: LGPL-2.1-or-later
#include "sampled-pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/hash.h"

/* Initial number of slots of the hash table. */
#define SLOTS_MIN 1024

static_assert(sizeof(struct sampled_page_key) == 24, "memcmp() compares keys, without padding");

/* Return the slot of a key, or the free slot where it belongs. */
static u32 *find_slot(const struct sampled_pages *pages, const struct sampled_page_key *key)
{
	u64 hash = hash_bytes(key, sizeof(*key));
	u32 at = (u32)(hash ^ hash >> 32) & (pages->slots - 1);

	while (pages->slot[at] &&
	       memcmp(&pages->page[pages->slot[at] - 1].key, key, sizeof(*key)) != 0)
		at = (at + 1) & (pages->slots - 1);
	return &pages->slot[at];
}

/* Ensure that at most half of the slots are in use after one more entry. */
static int reserve_slots(struct sampled_pages *pages)
{
	u32 slots = pages->slots ? pages->slots * 2 : SLOTS_MIN, *slot;

	if (pages->count + 1 <= pages->slots / 2)
		return 0;
	slot = calloc(slots, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	free(pages->slot);
	pages->slot = slot;
	pages->slots = slots;
	for (u32 i = 0; i < pages->count; i++)
		*find_slot(pages, &pages->page[i].key) = i + 1;
	return 0;
}

/* Set *ret_counts to the counts of a key; NULL if the table is full. Return 0 or -ENOMEM. */
static int find_counts(struct sampled_pages *pages, const struct sampled_page_key *key,
		       struct page_counts **ret_counts)
{
	struct sampled_page *grown;
	u32 *slot;
	int r = reserve_slots(pages);

	if (r < 0)
		return r;
	*ret_counts = NULL;
	slot = find_slot(pages, key);
	if (!*slot && pages->count == pages->max)
		return 0;
	if (!*slot) {
		grown = array_reserve(pages->page, &pages->capacity, pages->count + 1,
				      sizeof(*grown), pages->max);
		if (!grown)
			return -ENOMEM;
		pages->page = grown;
		grown[pages->count] = (struct sampled_page){ .key = *key };
		*slot = ++pages->count;
	}
	*ret_counts = &pages->page[*slot - 1].counts;
	return 0;
}

static u64 get_latency(const struct spe_sample *s, unsigned int counter)
{
	return spe_sample_has(s, SPE_HAS_COUNTER(counter)) ? s->counter[counter] : 0;
}

static bool is_remote(const struct sampled_page_key *key, const struct spe_origin *origin)
{
	if (key->cpu_node == NODE_NONE || key->memory_node == NODE_NONE)
		return origin->flags & SPE_ORIGIN_REMOTE;
	return key->cpu_node != key->memory_node;
}

static void counts_add_sample(struct page_counts *counts, const struct sampled_page_key *key,
			      const struct profile_sample *profiled)
{
	u64 latency = get_latency(profiled->sample, SPE_COUNTER_TOTAL);
	u64 accesses = profiled->window->interval ?: 1;

	counts->samples++;
	counts->accesses += accesses;
	counts->latency_sum += latency;
	counts->translation_sum += get_latency(profiled->sample, SPE_COUNTER_TRANSLATION);
	if (profiled->origin.level == SPE_LEVEL_L1)
		return;
	counts->missed += accesses;
	if (!is_remote(key, &profiled->origin))
		return;
	counts->remote++;
	counts->remote_accesses += accesses;
	counts->remote_latency_sum += latency;
}

void sampled_pages_add(struct sampled_pages *pages, const struct profile_sample *profiled)
{
	const struct spe_sample *s = profiled->sample;
	u64 va = spe_address_va(s->address[SPE_ADDRESS_VA]);
	struct sampled_page_key key = {
		.page = va >> HOT_PAGE_SHIFT,
		.process = profiled->process,
		.generation = profiled->generation,
		.cpu_node = NODE_NONE,
		.memory_node = NODE_NONE,
	};
	struct page_counts *counts;

	if (!profiled->memory || pages->error)
		return;
	if (!spe_sample_has(s, SPE_HAS_ADDRESS(SPE_ADDRESS_VA))) {
		pages->no_address++;
		return;
	}
	if ((s64)va < 0) {
		pages->kernel++;
		return;
	}
	if (pages->nodes)
		key.cpu_node = numa_nodes_find_by_cpu(pages->nodes, profiled->window->cpu);
	if (pages->nodes && spe_sample_has(s, SPE_HAS_ADDRESS(SPE_ADDRESS_PA)))
		key.memory_node = numa_nodes_find_by_address(
			pages->nodes, s->address[SPE_ADDRESS_PA] & SPE_ADDRESS_BITS);
	pages->error = find_counts(pages, &key, &counts);
	if (pages->error)
		return;
	if (counts)
		counts_add_sample(counts, &key, profiled);
	else
		pages->dropped++;
}

static void observe_sample(void *ctx, const struct profile_sample *sample)
{
	sampled_pages_add(ctx, sample);
}

int sampled_pages_watch(void *ctx, struct profile *profile)
{
	struct sampled_pages *pages = ctx;

	pages->observer = (struct profile_observer){ .sample = observe_sample, .ctx = pages };
	profile_add_observer(profile, &pages->observer);
	return 0;
}

static int compare_entries(const void *a, const void *b)
{
	const struct sampled_page_key *x = &((const struct sampled_page *)a)->key,
				      *y = &((const struct sampled_page *)b)->key;
	int r = compare_u64(x->process, y->process);

	if (!r)
		r = compare_u64(x->generation, y->generation);
	if (!r)
		r = compare_u64(x->page, y->page);
	if (!r)
		r = compare_u64(x->cpu_node, y->cpu_node);
	return r ? r : compare_u64(x->memory_node, y->memory_node);
}

int sampled_pages_finish(struct sampled_pages *pages)
{
	if (pages->observer.profile)
		profile_remove_observer(&pages->observer);
	free(pages->slot);
	pages->slot = NULL;
	pages->slots = 0;
	if (pages->count)
		qsort(pages->page, pages->count, sizeof(*pages->page), compare_entries);
	return pages->error;
}

void sampled_pages_deinit(struct sampled_pages *pages)
{
	if (pages->observer.profile)
		profile_remove_observer(&pages->observer);
	free(pages->slot);
	free(pages->page);
	*pages = (struct sampled_pages){ .max = pages->max };
}
