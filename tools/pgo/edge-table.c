// SPDX-License-Identifier: LGPL-2.1-or-later
#include "edge-table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/hash.h"

/* Initial number of slots of the hash table. */
#define SLOTS_MIN 1024

static_assert(sizeof(struct edge_key) == 32, "memcmp() compares keys, which have no padding");

/* Return the slot of an edge, or the free slot where it belongs. */
static u32 *find_slot(const struct edge_table *table, const struct edge_key *key)
{
	u64 hash = hash_bytes(key, sizeof(*key));
	u32 at = (u32)(hash ^ hash >> 32) & (table->slots - 1);

	while (table->slot[at] &&
	       memcmp(&table->edge[table->slot[at] - 1].key, key, sizeof(*key)) != 0)
		at = (at + 1) & (table->slots - 1);
	return &table->slot[at];
}

/* Ensure that at most half of the slots are in use after one more edge. */
static int reserve_slots(struct edge_table *table)
{
	u32 slots = table->slots ? table->slots * 2 : SLOTS_MIN, *slot;

	if (table->count + 1 <= table->slots / 2)
		return 0;
	slot = calloc(slots, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	free(table->slot);
	table->slot = slot;
	table->slots = slots;
	for (u32 i = 0; i < table->count; i++)
		*find_slot(table, &table->edge[i].key) = i + 1;
	return 0;
}

int edge_table_add(struct edge_table *table, const struct edge_key *key, u64 count,
		   u64 mispredicted)
{
	struct counted_edge *grown;
	u32 *slot;
	int r = reserve_slots(table);

	if (r < 0)
		return r;
	slot = find_slot(table, key);
	if (!*slot && table->count == table->max) {
		table->dropped += count;
		return 0;
	}
	if (!*slot) {
		grown = array_reserve(table->edge, &table->capacity, table->count + 1,
				      sizeof(*grown), table->max);
		if (!grown)
			return -ENOMEM;
		table->edge = grown;
		grown[table->count] = (struct counted_edge){ .key = *key };
		*slot = ++table->count;
	}
	table->edge[*slot - 1].count += count;
	table->edge[*slot - 1].mispredicted += mispredicted;
	table->edge[*slot - 1].samples++;
	return 0;
}

static int compare_numbers(u64 a, u64 b)
{
	return (a > b) - (a < b);
}

static int compare_edges(const void *a, const void *b)
{
	const struct edge_key *x = &((const struct counted_edge *)a)->key,
			      *y = &((const struct counted_edge *)b)->key;
	int r = compare_numbers(x->from_file, y->from_file);

	if (!r)
		r = compare_numbers(x->kind, y->kind);
	if (!r)
		r = compare_numbers(x->from, y->from);
	if (!r)
		r = compare_numbers(x->to_file, y->to_file);
	return r ? r : compare_numbers(x->to, y->to);
}

void edge_table_sort(struct edge_table *table)
{
	free(table->slot);
	table->slot = NULL;
	table->slots = 0;
	if (table->count)
		qsort(table->edge, table->count, sizeof(*table->edge), compare_edges);
}

void edge_table_clear(struct edge_table *table)
{
	free(table->slot);
	free(table->edge);
	*table = (struct edge_table){ .max = table->max };
}
