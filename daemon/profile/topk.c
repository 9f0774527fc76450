// SPDX-License-Identifier: LGPL-2.1-or-later
#include "topk.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "util/memory.h"

static size_t compute_tags_size(const struct topk_table *t)
{
	return t->sets * sizeof(*t->tags);
}

static size_t compute_entries_size(const struct topk_table *t)
{
	return (size_t)t->sets * TOPK_WAYS * t->size;
}

int topk_init(struct topk_table *table, size_t size, u32 capacity)
{
	struct topk_table t = { .size = size, .sets = 1 };

	while (t.sets * TOPK_WAYS < capacity)
		t.sets *= 2;
	/*
	 * The profiled programs choose their addresses. With a secret seed, they cannot choose the
	 * sets of their entries.
	 */
	if (getrandom(&t.seed, sizeof(t.seed), GRND_NONBLOCK) != sizeof(t.seed))
		t.seed = (u64)(uintptr_t)table;
	t.tags = zero_pages_new(compute_tags_size(&t));
	t.entries = zero_pages_new(compute_entries_size(&t));
	*table = t;
	if (t.tags && t.entries)
		return 0;
	topk_deinit(table);
	return -ENOMEM;
}

void topk_deinit(struct topk_table *table)
{
	zero_pages_free(table->tags, compute_tags_size(table));
	zero_pages_free(table->entries, compute_entries_size(table));
	*table = (struct topk_table){ 0 };
}

void topk_clear(struct topk_table *table)
{
	zero_pages_clear(table->tags, compute_tags_size(table));
	zero_pages_clear(table->entries, compute_entries_size(table));
	table->evicted = 0;
}

static struct topk_entry *get_entry(const struct topk_table *t, u32 set, unsigned int way)
{
	return (struct topk_entry *)(t->entries + ((size_t)set * TOPK_WAYS + way) * t->size);
}

static struct topk_entry *topk_entry_find(const struct topk_table *t, struct topk_slot p, u64 key0,
					  u64 key1)
{
	u64 ways = topk_match_ways(t, p);

	for (; ways; ways &= ways - 1) {
		struct topk_entry *e = get_entry(t, p.set, (unsigned int)__builtin_ctzll(ways) / 8);

		if (e->key[0] == key0 && e->key[1] == key1)
			return e;
	}
	return NULL;
}

struct topk_entry *topk_find(const struct topk_table *table, u64 key0, u64 key1)
{
	return topk_entry_find(table, topk_get_slot(table, key0, key1), key0, key1);
}

struct topk_entry *topk_add(struct topk_table *table, u64 key0, u64 key1, u32 weight)
{
	struct topk_slot p = topk_get_slot(table, key0, key1);
	struct topk_entry *e = topk_entry_find(table, p, key0, key1), *other;
	unsigned int way = 0;
	u64 before;

	if (e) {
		e->weight += weight;
		return e;
	}
	e = get_entry(table, p.set, 0);
	for (unsigned int i = 1; i < TOPK_WAYS && e->weight; i++) {
		other = get_entry(table, p.set, i);
		if (other->weight < e->weight) {
			e = other;
			way = i;
		}
	}
	before = e->weight;
	table->evicted += before != 0;
	memset(e, 0, table->size);
	*e = (struct topk_entry){ .key = { key0, key1 }, .weight = before + weight };
	table->tags[p.set] &= ~(0xffULL << 8 * way);
	table->tags[p.set] |= (u64)p.tag << 8 * way;
	return e;
}

struct topk_entry *topk_next(const struct topk_table *table, struct topk_entry *entry)
{
	u8 *at = entry ? (u8 *)entry + table->size : table->entries;
	u8 *end = table->entries + compute_entries_size(table);

	while (at < end && !((struct topk_entry *)at)->weight)
		at += table->size;
	return at < end ? (struct topk_entry *)at : NULL;
}

static int compare_entries(const void *a, const void *b)
{
	const struct topk_entry *x = *(struct topk_entry *const *)a,
				*y = *(struct topk_entry *const *)b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return (x->key[0] > y->key[0]) - (x->key[0] < y->key[0]);
}

struct topk_entry **topk_sort_entries(const struct topk_table *table, u32 *ret_count)
{
	struct topk_entry **list, *e = NULL;
	u32 count = 0;

	while ((e = topk_next(table, e)))
		count++;
	list = calloc(count + 1, sizeof(struct topk_entry *));
	if (!list)
		return NULL;
	for (count = 0; (e = topk_next(table, e));)
		list[count++] = e;
	qsort(list, count, sizeof(struct topk_entry *), compare_entries);
	*ret_count = count;
	return list;
}
