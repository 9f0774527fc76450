// SPDX-License-Identifier: LGPL-2.1-or-later
#include "maps.h"

#include <stdlib.h>

#define HEADS 4096

int map_store_init(struct map_store *store, u32 limit)
{
	struct binary **heads = calloc(HEADS, sizeof(struct binary *));

	if (!heads)
		return -ENOMEM;
	*store = (struct map_store){
		.heads = heads,
		.mask = HEADS - 1,
		.limit = limit,
		.memory = HEADS * sizeof(struct binary *),
	};
	return 0;
}

void map_store_deinit(struct map_store *store)
{
	free(store->heads);
	store->heads = NULL;
}

u64 path_hash(const char *path)
{
	u64 h = 0xcbf29ce484222325ULL;

	for (; *path; path++)
		h = (h ^ (u8)*path) * 0x100000001b3ULL;
	return h ? h : 1;
}

static size_t binary_size(const struct binary *b)
{
	return sizeof(*b) + strlen(b->path) + 1;
}

static struct binary *binary_get(struct map_store *store, const char *path, u64 inode,
				 const u8 *build_id, u8 build_id_size)
{
	u64 whole = path_hash(path) ^ inode * 0x9e3779b97f4a7c15ULL;
	u32 hash = (u32)(whole ^ whole >> 32);
	struct binary **head = &store->heads[hash & store->mask], *b;
	size_t n = strlen(path) + 1;

	if (!build_id || build_id_size > BUILD_ID_MAX)
		build_id_size = 0;
	for (b = *head; b; b = b->next) {
		if (b->hash != hash || b->inode != inode || b->build_id_size != build_id_size ||
		    (build_id_size && memcmp(b->build_id, build_id, build_id_size)) ||
		    strcmp(b->path, path))
			continue;
		b->refs++;
		return b;
	}
	b = calloc(1, sizeof(*b) + n);
	if (!b)
		return NULL;
	b->next = *head;
	b->inode = inode;
	b->refs = 1;
	b->hash = hash;
	b->build_id_size = build_id_size;
	if (build_id_size)
		memcpy(b->build_id, build_id, build_id_size);
	memcpy(b->path, path, n);
	*head = b;
	store->memory += binary_size(b);
	return b;
}

static void binary_put(struct map_store *store, struct binary *b)
{
	struct binary **at = &store->heads[b->hash & store->mask];

	if (--b->refs)
		return;
	while (*at != b)
		at = &(*at)->next;
	*at = b->next;
	store->memory -= binary_size(b);
	free(b);
}

/* Room for @more mappings: counted as dropped, and false, if there is none. */
static bool maps_reserve(struct map_store *store, struct maps *maps, u32 more)
{
	u32 capacity = maps->capacity ? maps->capacity : 8;
	struct mapping *entry;

	if (more > MAPS_PER_PROCESS - maps->count || more > store->limit - store->mappings)
		goto dropped;
	while (capacity - maps->count < more)
		capacity *= 2;
	if (capacity == maps->capacity)
		return true;
	entry = realloc(maps->entry, capacity * sizeof(*entry));
	if (!entry)
		goto dropped;
	store->memory += (capacity - maps->capacity) * sizeof(*entry);
	maps->entry = entry;
	maps->capacity = capacity;
	return true;
dropped:
	store->dropped += more;
	return false;
}

/* The first mapping that ends after @addr. */
static u32 maps_lower(const struct maps *maps, u64 addr)
{
	u32 low = 0, high = maps->count;

	while (low < high) {
		u32 mid = low + (high - low) / 2;

		if (maps->entry[mid].end <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void maps_remove(struct map_store *store, struct maps *maps, u32 i, u32 n)
{
	if (!n)
		return;
	for (u32 k = i; k < i + n; k++)
		binary_put(store, maps->entry[k].binary);
	memmove(&maps->entry[i], &maps->entry[i + n], (maps->count - i - n) * sizeof(*maps->entry));
	maps->count -= n;
	store->mappings -= n;
}

static void maps_insert(struct map_store *store, struct maps *maps, u32 i,
			const struct mapping *map)
{
	memmove(&maps->entry[i + 1], &maps->entry[i], (maps->count - i) * sizeof(*maps->entry));
	maps->entry[i] = *map;
	maps->count++;
	store->mappings++;
}

/* Make [start, end) free; needs room for one, as it may split a mapping in two. */
static u32 maps_cut(struct map_store *store, struct maps *maps, u64 start, u64 end)
{
	u32 i = maps_lower(maps, start), n = 0;

	if (i < maps->count && maps->entry[i].start < start) {
		struct mapping *m = &maps->entry[i];
		struct mapping rest = *m;

		m->end = start;
		i++;
		if (rest.end > end) {
			rest.offset += end - rest.start;
			rest.start = end;
			rest.binary->refs++;
			maps_insert(store, maps, i, &rest);
			return i;
		}
	}
	while (i + n < maps->count && maps->entry[i + n].end <= end)
		n++;
	maps_remove(store, maps, i, n);
	if (i < maps->count && maps->entry[i].start < end) {
		maps->entry[i].offset += end - maps->entry[i].start;
		maps->entry[i].start = end;
	}
	return i;
}

void maps_add(struct map_store *store, struct maps *maps, const struct mapping *map,
	      const char *path, u64 inode, const u8 *build_id, u8 build_id_size)
{
	struct mapping m = *map;

	if (strnlen(path, BINARY_PATH_SIZE) == BINARY_PATH_SIZE)
		path = BINARY_UNNAMED;
	if (m.start >= m.end || !maps_reserve(store, maps, 2))
		return;
	m.binary = binary_get(store, path, inode, build_id, build_id_size);
	if (!m.binary) {
		store->dropped++;
		return;
	}
	maps_insert(store, maps, maps_cut(store, maps, m.start, m.end), &m);
}

void maps_copy(struct map_store *store, struct maps *to, const struct maps *from)
{
	if (!from->count || !maps_reserve(store, to, from->count))
		return;
	memcpy(to->entry, from->entry, from->count * sizeof(*to->entry));
	to->count = from->count;
	store->mappings += to->count;
	for (u32 i = 0; i < to->count; i++)
		to->entry[i].binary->refs++;
}

void maps_clear(struct map_store *store, struct maps *maps)
{
	maps_remove(store, maps, 0, maps->count);
	store->memory -= maps->capacity * sizeof(*maps->entry);
	free(maps->entry);
	*maps = (struct maps){ 0 };
}

const struct mapping *maps_find(const struct maps *maps, u64 addr)
{
	u32 i = maps_lower(maps, addr);

	return i < maps->count && maps->entry[i].start <= addr ? &maps->entry[i] : NULL;
}
