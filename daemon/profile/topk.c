// SPDX-License-Identifier: LGPL-2.1-or-later
#include "topk.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "util/zero-pages.h"

static size_t tags_size(const struct heavy_table *t)
{
	return t->sets * sizeof(*t->tags);
}

static size_t entries_size(const struct heavy_table *t)
{
	return (size_t)t->sets * HEAVY_WAYS * t->size;
}

int heavy_init(struct heavy_table *table, size_t size, u32 capacity)
{
	struct heavy_table t = { .size = size, .sets = 1 };

	while (t.sets * HEAVY_WAYS < capacity)
		t.sets *= 2;
	/* Addresses are the profiled programs' choice: they must not choose sets too. */
	if (getrandom(&t.seed, sizeof(t.seed), GRND_NONBLOCK) != sizeof(t.seed))
		t.seed = (u64)(uintptr_t)table;
	t.tags = zero_pages(tags_size(&t));
	t.entries = zero_pages(entries_size(&t));
	*table = t;
	if (t.tags && t.entries)
		return 0;
	heavy_deinit(table);
	return -ENOMEM;
}

void heavy_deinit(struct heavy_table *table)
{
	zero_pages_free(table->tags, tags_size(table));
	zero_pages_free(table->entries, entries_size(table));
	*table = (struct heavy_table){ 0 };
}

void heavy_clear(struct heavy_table *table)
{
	zero_pages_clear(table->tags, tags_size(table));
	zero_pages_clear(table->entries, entries_size(table));
	table->evicted = 0;
}

static struct heavy *entry_at(const struct heavy_table *t, u32 set, unsigned int way)
{
	return (struct heavy *)(t->entries + ((size_t)set * HEAVY_WAYS + way) * t->size);
}

static struct heavy *find(const struct heavy_table *t, struct heavy_place p, u64 key0, u64 key1)
{
	u64 ways = heavy_ways(t, p);

	for (; ways; ways &= ways - 1) {
		struct heavy *e = entry_at(t, p.set, (unsigned int)__builtin_ctzll(ways) / 8);

		if (e->key[0] == key0 && e->key[1] == key1)
			return e;
	}
	return NULL;
}

struct heavy *heavy_find(const struct heavy_table *table, u64 key0, u64 key1)
{
	return find(table, heavy_place(table, key0, key1), key0, key1);
}

struct heavy *heavy_add(struct heavy_table *table, u64 key0, u64 key1, u32 weight)
{
	struct heavy_place p = heavy_place(table, key0, key1);
	struct heavy *e = find(table, p, key0, key1), *other;
	unsigned int way = 0;
	u64 before;

	if (e) {
		e->weight += weight;
		return e;
	}
	e = entry_at(table, p.set, 0);
	for (unsigned int i = 1; i < HEAVY_WAYS && e->weight; i++) {
		other = entry_at(table, p.set, i);
		if (other->weight < e->weight) {
			e = other;
			way = i;
		}
	}
	before = e->weight;
	table->evicted += before != 0;
	memset(e, 0, table->size);
	*e = (struct heavy){ .key = { key0, key1 }, .weight = before + weight };
	table->tags[p.set] &= ~(0xffULL << 8 * way);
	table->tags[p.set] |= (u64)p.tag << 8 * way;
	return e;
}

struct heavy *heavy_next(const struct heavy_table *table, struct heavy *entry)
{
	u8 *at = entry ? (u8 *)entry + table->size : table->entries;
	u8 *end = table->entries + entries_size(table);

	while (at < end && !((struct heavy *)at)->weight)
		at += table->size;
	return at < end ? (struct heavy *)at : NULL;
}

static int compare(const void *a, const void *b)
{
	const struct heavy *x = *(struct heavy *const *)a, *y = *(struct heavy *const *)b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return (x->key[0] > y->key[0]) - (x->key[0] < y->key[0]);
}

struct heavy **heavy_sorted(const struct heavy_table *table, u32 *ret_count)
{
	struct heavy **list, *e = NULL;
	u32 count = 0;

	while ((e = heavy_next(table, e)))
		count++;
	list = calloc(count + 1, sizeof(struct heavy *));
	if (!list)
		return NULL;
	for (count = 0; (e = heavy_next(table, e));)
		list[count++] = e;
	qsort(list, count, sizeof(struct heavy *), compare);
	*ret_count = count;
	return list;
}
