// SPDX-License-Identifier: LGPL-2.1-or-later
#include "id-table.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "util/hash.h"

int id_table_init(struct id_table *table, u32 capacity, u64 bytes)
{
	u32 heads = 16;

	while (heads < capacity)
		heads *= 2;
	*table = (struct id_table){
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.limit = bytes,
		.entry = calloc(capacity + 1ULL, sizeof(struct id_entry *)),
		.marked = calloc(capacity + 1ULL, sizeof(bool)),
		.free = calloc(capacity + 1ULL, sizeof(u32)),
		.heads = calloc(heads, sizeof(u32)),
		.mask = heads - 1,
		.fresh = 1,
		.stats = { .capacity = capacity },
	};
	if (getrandom(table->key, sizeof(table->key), GRND_NONBLOCK) != sizeof(table->key))
		table->key[0] = (u64)(uintptr_t)table->entry;
	if (table->entry && table->marked && table->free && table->heads)
		return 0;
	id_table_deinit(table);
	return -ENOMEM;
}

void id_table_deinit(struct id_table *table)
{
	for (u32 i = 1; table->entry && i < table->fresh; i++)
		free(table->entry[i]);
	free(table->entry);
	free(table->marked);
	free(table->free);
	free(table->heads);
	*table = (struct id_table){ 0 };
}

static u64 entry_get_size(u32 key_size, u32 value_size)
{
	return sizeof(struct id_entry) + key_size + value_size;
}

static u32 entry_find(const struct id_table *t, u64 hash, const void *key, u32 key_size)
{
	u32 id = t->heads[hash & t->mask];

	while (id && (t->entry[id]->hash != hash || t->entry[id]->key_size != key_size ||
		      memcmp(t->entry[id]->bytes, key, key_size) != 0))
		id = t->entry[id]->next;
	return id;
}

static u32 entry_add(struct id_table *t, u64 hash, const void *key, u32 key_size, const void *value,
		     u32 value_size)
{
	u64 bytes = entry_get_size(key_size, value_size);
	u32 *head = &t->heads[hash & t->mask], id;
	struct id_entry *e;

	if (bytes > t->limit - t->memory || (!t->free_count && t->fresh > t->stats.capacity))
		return ID_OTHER;
	e = malloc(bytes);
	if (!e)
		return ID_OTHER;
	*e = (struct id_entry){
		.hash = hash, .next = *head, .key_size = key_size, .value_size = value_size
	};
	memcpy(e->bytes, key, key_size);
	memcpy(e->bytes + key_size, value, value_size);
	id = t->free_count ? t->free[--t->free_count] : t->fresh++;
	t->entry[id] = e;
	*head = id;
	t->memory += bytes;
	t->stats.used++;
	return id;
}

u32 id_table_find_or_add(struct id_table *table, const void *key, u32 key_size, const void *value,
			 u32 value_size)
{
	u64 hash = siphash(table->key, key, key_size);
	u32 id;

	pthread_mutex_lock(&table->lock);
	id = entry_find(table, hash, key, key_size);
	if (!id)
		id = entry_add(table, hash, key, key_size, value, value_size);
	/*
	 * Mark the id, because the owner may be marking the ids of its cells for a sweep, and no
	 * cell contains this id yet.
	 */
	table->marked[id] = true;
	table->stats.refused += id == ID_OTHER;
	pthread_mutex_unlock(&table->lock);
	return id;
}

const void *id_table_get_value(struct id_table *table, u32 id)
{
	const struct id_entry *e = NULL;

	pthread_mutex_lock(&table->lock);
	if (id < table->fresh)
		e = table->entry[id];
	pthread_mutex_unlock(&table->lock);
	return e ? e->bytes + e->key_size : NULL;
}

u32 id_table_get_next(struct id_table *table, u32 id)
{
	pthread_mutex_lock(&table->lock);
	do {
		id++;
	} while (id < table->fresh && !table->entry[id]);
	id = id < table->fresh ? id : 0;
	pthread_mutex_unlock(&table->lock);
	return id;
}

void id_table_mark(struct id_table *table, u32 id)
{
	pthread_mutex_lock(&table->lock);
	if (id < table->fresh)
		table->marked[id] = true;
	pthread_mutex_unlock(&table->lock);
}

void id_table_clear_marks(struct id_table *table)
{
	pthread_mutex_lock(&table->lock);
	memset(table->marked, 0, (table->stats.capacity + 1ULL) * sizeof(*table->marked));
	pthread_mutex_unlock(&table->lock);
}

bool id_table_is_nearly_full(struct id_table *table)
{
	bool full;

	pthread_mutex_lock(&table->lock);
	full = table->stats.used >= table->stats.capacity - table->stats.capacity / 8 ||
	       table->memory >= table->limit - table->limit / 8;
	pthread_mutex_unlock(&table->lock);
	return full;
}

static void entry_free(struct id_table *t, u32 id)
{
	struct id_entry *e = t->entry[id];
	u32 *link = &t->heads[e->hash & t->mask];

	while (*link != id)
		link = &t->entry[*link]->next;
	*link = e->next;
	t->memory -= entry_get_size(e->key_size, e->value_size);
	t->entry[id] = NULL;
	t->free[t->free_count++] = id;
	t->stats.used--;
	t->stats.freed++;
	free(e);
}

u32 id_table_sweep(struct id_table *table)
{
	u32 freed = 0;

	pthread_mutex_lock(&table->lock);
	for (u32 id = 1; id < table->fresh; id++) {
		if (table->entry[id] && !table->marked[id]) {
			entry_free(table, id);
			freed++;
		}
		table->marked[id] = false;
	}
	table->sweeps += freed != 0;
	pthread_mutex_unlock(&table->lock);
	return freed;
}

u64 id_table_get_sweeps(struct id_table *table)
{
	u64 sweeps;

	pthread_mutex_lock(&table->lock);
	sweeps = table->sweeps;
	pthread_mutex_unlock(&table->lock);
	return sweeps;
}

void id_table_get_stats(struct id_table *table, struct id_table_stats *ret_stats)
{
	pthread_mutex_lock(&table->lock);
	*ret_stats = table->stats;
	ret_stats->bytes = table->memory + (table->mask + 1ULL) * sizeof(u32) +
			   (table->stats.capacity + 1ULL) *
				   (sizeof(struct id_entry *) + sizeof(bool) + sizeof(u32));
	pthread_mutex_unlock(&table->lock);
}

/*
 * Enlarge the map of saved ids so that it contains @id. Return false if memory cannot be allocated.
 */
static bool id_map_reserve(u32 **ids, u32 *capacity, u32 id)
{
	u32 new_capacity = *capacity ? *capacity : 64, *map;

	if (id < *capacity)
		return true;
	while (new_capacity <= id)
		new_capacity *= 2;
	map = realloc(*ids, new_capacity * sizeof(*map));
	if (!map)
		return false;
	memset(map + *capacity, 0, (new_capacity - *capacity) * sizeof(*map));
	*ids = map;
	*capacity = new_capacity;
	return true;
}

int id_table_load(struct deserializer *from, id_load_fn load, void *ctx, u32 **ret_ids,
		  u32 *ret_count)
{
	u32 capacity = 0, *ids = NULL, id;

	while ((id = (u32)deserialize_u64_below(from, ID_LIMIT))) {
		if (!id_map_reserve(&ids, &capacity, id)) {
			free(ids);
			return -ENOMEM;
		}
		ids[id] = load(ctx, from, id);
	}
	if (from->bad) {
		free(ids);
		return -EBADMSG;
	}
	*ret_ids = ids;
	*ret_count = capacity;
	return 0;
}
