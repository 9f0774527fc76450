// SPDX-License-Identifier: LGPL-2.1-or-later
#include "maps.h"

#include <assert.h>
#include <stdlib.h>

#include "util/array.h"
#include "util/hash.h"

#define HEADS	    4096
#define ALLOC_ALIGN 16UL

int map_store_init(struct map_store *store, u64 bytes)
{
	struct mapped_binary **heads = calloc(HEADS, sizeof(struct mapped_binary *));

	if (!heads)
		return -ENOMEM;
	*store = (struct map_store){
		.heads = heads,
		.mask = HEADS - 1,
		.limit = HEADS * sizeof(struct mapped_binary *) + bytes,
		.memory = HEADS * sizeof(struct mapped_binary *),
	};
	return 0;
}

void map_store_deinit(struct map_store *store)
{
	/* All maps were cleared, so only the hash table uses memory. */
	assert(!store->heads ||
	       store->memory == (store->mask + 1) * sizeof(struct mapped_binary *));
	free(store->heads);
	store->heads = NULL;
}

u64 hash_path_nonzero(const char *path)
{
	u64 h = hash_string(path);

	return h ? h : 1;
}

/*
 * Returns the memory that a file uses. The result includes the overhead of the allocator, which is
 * not negligible because paths are short.
 */
static u64 mapped_binary_get_size(const struct mapped_binary *b)
{
	return (sizeof(*b) + b->path_size + 2 * ALLOC_ALIGN) & ~(ALLOC_ALIGN - 1);
}

static bool store_fits(const struct map_store *store, u64 bytes)
{
	return store->memory <= store->limit && bytes <= store->limit - store->memory;
}

static bool store_reserve(struct map_store *store, const struct maps *maps, u64 bytes)
{
	if (store_fits(store, bytes))
		return true;
	return store->evict && store->evict(store->ctx, maps, bytes) && store_fits(store, bytes);
}

static struct mapped_binary *mapped_binary_find(const struct map_store *store,
						const struct mapped_binary *like, const char *path)
{
	struct mapped_binary *b = store->heads[like->hash & store->mask];

	while (b && (b->hash != like->hash || b->inode != like->inode ||
		     b->device != like->device || b->build_id_size != like->build_id_size ||
		     memcmp(b->build_id, like->build_id, like->build_id_size) != 0 ||
		     strcmp(b->path, path) != 0))
		b = b->next;
	return b;
}

/* Get a reference to a file for a mapping of @maps. Returns NULL if it does not fit. */
static struct mapped_binary *mapped_binary_find_or_add(struct map_store *store,
						       const struct maps *maps,
						       const struct mapped_binary_key *file)
{
	u64 hash = hash_path_nonzero(file->path) ^
		   (file->inode ^ (u64)file->device << 40) * 0x9e3779b97f4a7c15ULL;
	struct mapped_binary like = {
		.inode = file->inode,
		.device = file->device,
		.refs = 1,
		.hash = (u32)(hash ^ hash >> 32),
		.path_size = (u16)(strlen(file->path) + 1),
	};
	u64 size = mapped_binary_get_size(&like);
	struct mapped_binary *b, **head;

	if (file->build_id && file->build_id_size && file->build_id_size <= BUILD_ID_MAX) {
		memcpy(like.build_id, file->build_id, file->build_id_size);
		like.build_id_size = file->build_id_size;
	}
	b = mapped_binary_find(store, &like, file->path);
	if (b) {
		b->refs++;
		return b;
	}
	b = store_reserve(store, maps, size) ? malloc(sizeof(*b) + like.path_size) : NULL;
	if (!b)
		return NULL;
	head = &store->heads[like.hash & store->mask];
	like.next = *head;
	*b = like;
	memcpy(b->path, file->path, like.path_size);
	*head = b;
	store->memory += size;
	return b;
}

static void mapped_binary_put(struct map_store *store, struct mapped_binary *b)
{
	struct mapped_binary **link = &store->heads[b->hash & store->mask];

	if (--b->refs)
		return;
	while (*link != b)
		link = &(*link)->next;
	*link = b->next;
	store->memory -= mapped_binary_get_size(b);
	free(b);
}

/*
 * Allocate memory for @more mappings. The call may evict other maps. Returns false at a limit, or
 * if memory cannot be allocated.
 */
static bool maps_reserve(struct map_store *store, struct maps *maps, u32 more)
{
	u32 capacity = maps->capacity ? maps->capacity : 8;
	struct mapping *entry;
	u64 bytes;

	if (more > MAPS_PER_PROCESS - maps->count)
		return false;
	while (capacity - maps->count < more)
		capacity += capacity / 2;
	bytes = (capacity - maps->capacity) * sizeof(*entry);
	if (!bytes)
		return true;
	if (!store_reserve(store, maps, bytes))
		return false;
	entry = realloc(maps->entry, capacity * sizeof(*entry));
	if (!entry)
		return false;
	store->memory += bytes;
	maps->entry = entry;
	maps->capacity = capacity;
	return true;
}

/* Returns the index of the first mapping that ends after @addr, or the number of mappings. */
static u32 maps_lower_bound(const struct maps *maps, u64 addr)
{
	return ARRAY_COUNT_LEADING(maps->count, i, maps->entry[i].end <= addr);
}

/* Remove the first @n replaced mappings. */
static void replaced_maps_drop(struct map_store *store, struct maps *maps, u32 n)
{
	if (!n)
		return;
	for (u32 i = 0; i < n; i++)
		mapped_binary_put(store, maps->replaced[i].mapping.binary);
	memmove(maps->replaced, maps->replaced + n,
		(maps->replaced_count - n) * sizeof(*maps->replaced));
	maps->replaced_count -= n;
}

static bool replaced_maps_reserve(struct map_store *store, struct maps *maps)
{
	u32 capacity = maps->replaced_capacity ? 2 * maps->replaced_capacity : 4;
	u64 bytes = (capacity - maps->replaced_capacity) * sizeof(*maps->replaced);
	struct replaced_mapping *replaced;

	if (maps->replaced_count == MAPS_REPLACED_MAX)
		replaced_maps_drop(store, maps, MAPS_REPLACED_MAX / 4);
	if (maps->replaced_count < maps->replaced_capacity)
		return true;
	if (!store_reserve(store, maps, bytes))
		return false;
	replaced = realloc(maps->replaced, capacity * sizeof(*replaced));
	if (!replaced)
		return false;
	store->memory += bytes;
	maps->replaced = replaced;
	maps->replaced_capacity = capacity;
	return true;
}

/*
 * Store the part of @m from @start to @end - 1 as a replaced mapping.
 * @until_ns: time at which it was replaced; 0 if it is unknown, and then nothing is stored
 */
static void replaced_maps_add(struct map_store *store, struct maps *maps, const struct mapping *m,
			      u64 start, u64 end, u64 until_ns)
{
	struct mapping piece = *m;
	u32 expired = 0;

	if (start > piece.start) {
		piece.offset += start - piece.start;
		piece.start = start;
	}
	piece.end = end < piece.end ? end : piece.end;
	if (until_ns <= piece.since_ns || piece.start >= piece.end)
		return;
	while (store->replaced_ns && expired < maps->replaced_count &&
	       maps->replaced[expired].until_ns + store->replaced_ns < until_ns)
		expired++;
	replaced_maps_drop(store, maps, expired);
	if (!replaced_maps_reserve(store, maps)) {
		store->dropped++;
		return;
	}
	piece.binary->refs++;
	maps->replaced[maps->replaced_count++] =
		(struct replaced_mapping){ .mapping = piece, .until_ns = until_ns };
}

static void maps_remove(struct map_store *store, struct maps *maps, u32 i, u32 n)
{
	if (!n)
		return;
	for (u32 k = i; k < i + n; k++)
		mapped_binary_put(store, maps->entry[k].binary);
	memmove(&maps->entry[i], &maps->entry[i + n], (maps->count - i - n) * sizeof(*maps->entry));
	maps->count -= n;
}

static void maps_insert(struct maps *maps, u32 i, const struct mapping *map)
{
	assert(maps->count < maps->capacity);
	memmove(&maps->entry[i + 1], &maps->entry[i], (maps->count - i) * sizeof(*maps->entry));
	maps->entry[i] = *map;
	maps->count++;
}

/*
 * Remove the mappings from @start to @end - 1, which were valid until @now_ns. Return the index for
 * a new mapping of this range. The caller has reserved one more entry, because a mapping that
 * contains the range is split in two.
 */
static u32 maps_clear_range(struct map_store *store, struct maps *maps, u64 start, u64 end,
			    u64 now_ns)
{
	u32 i = maps_lower_bound(maps, start), n = 0;

	for (u32 k = i; k < maps->count && maps->entry[k].start < end; k++)
		replaced_maps_add(store, maps, &maps->entry[k], start, end, now_ns);
	if (i < maps->count && maps->entry[i].start < start) {
		struct mapping *m = &maps->entry[i];
		struct mapping rest = *m;

		m->end = start;
		i++;
		if (rest.end > end) {
			rest.offset += end - rest.start;
			rest.start = end;
			rest.binary->refs++;
			maps_insert(maps, i, &rest);
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

/* Returns the mapping of @maps that equals @m and maps the file @key; NULL if there is none. */
static struct mapping *maps_find_equal(const struct maps *maps, const struct mapping *m,
				       const struct mapped_binary_key *key)
{
	u32 i = maps_lower_bound(maps, m->start);
	struct mapping *known = i < maps->count ? &maps->entry[i] : NULL;
	const struct mapped_binary *b = known ? known->binary : NULL;

	if (!known || known->start != m->start || known->end != m->end ||
	    known->offset != m->offset || b->inode != key->inode || b->device != key->device ||
	    b->build_id_size != (key->build_id ? key->build_id_size : 0) ||
	    (b->build_id_size && memcmp(b->build_id, key->build_id, b->build_id_size) != 0) ||
	    strcmp(b->path, key->path) != 0)
		return NULL;
	return known;
}

void maps_add(struct map_store *store, struct maps *maps, const struct mapping *map,
	      const struct mapped_binary_key *file)
{
	struct mapped_binary_key key = *file;
	struct mapping m = *map, *equal;

	if (strnlen(key.path, BINARY_PATH_SIZE) == BINARY_PATH_SIZE)
		key.path = BINARY_UNNAMED;
	if (m.start >= m.end)
		return;
	equal = maps_find_equal(maps, &m, &key);
	if (equal) {
		equal->since_ns = equal->since_ns ? equal->since_ns : m.since_ns;
		return;
	}
	m.binary =
		maps_reserve(store, maps, 2) ? mapped_binary_find_or_add(store, maps, &key) : NULL;
	if (!m.binary) {
		store->dropped++;
		return;
	}
	maps_insert(maps, maps_clear_range(store, maps, m.start, m.end, m.since_ns), &m);
	maps->version = ++store->changes;
}

const struct mapped_binary *map_store_get_next_binary(const struct map_store *store,
						      const struct mapped_binary *binary)
{
	u32 head = binary ? (binary->hash & store->mask) + 1 : 0;

	if (binary && binary->next)
		return binary->next;
	while (head <= store->mask && !store->heads[head])
		head++;
	return head <= store->mask ? store->heads[head] : NULL;
}

struct mapped_binary_key mapped_binary_get_key(const struct mapped_binary *binary)
{
	return (struct mapped_binary_key){
		.path = binary->path,
		.inode = binary->inode,
		.device = binary->device,
		.build_id = binary->build_id,
		.build_id_size = binary->build_id_size,
	};
}

void maps_copy(struct map_store *store, struct maps *to, const struct maps *from)
{
	u32 count = from->count;

	assert(!to->count);
	if (!count)
		return;
	if (!maps_reserve(store, to, count)) {
		store->dropped += count;
		return;
	}
	/* The reservation may have evicted @from. */
	if (!from->count)
		return;
	memcpy(to->entry, from->entry, count * sizeof(*to->entry));
	to->count = count;
	for (u32 i = 0; i < to->count; i++)
		to->entry[i].binary->refs++;
	to->version = ++store->changes;
}

void maps_clear(struct map_store *store, struct maps *maps)
{
	maps_remove(store, maps, 0, maps->count);
	replaced_maps_drop(store, maps, maps->replaced_count);
	store->memory -= maps->capacity * sizeof(*maps->entry) +
			 maps->replaced_capacity * sizeof(*maps->replaced);
	free(maps->entry);
	free(maps->replaced);
	*maps = (struct maps){ .version = ++store->changes };
}

void maps_clear_keep_version(struct map_store *store, struct maps *maps)
{
	u64 version = maps->version;

	maps_clear(store, maps);
	maps->version = version;
}

struct mapped_binary *mapped_binary_ref(struct mapped_binary *binary)
{
	if (binary)
		binary->refs++;
	return binary;
}

struct mapped_binary *mapped_binary_unref(struct map_store *store, struct mapped_binary *binary)
{
	if (binary)
		mapped_binary_put(store, binary);
	return NULL;
}

struct mapped_binary *maps_find_executable(const struct maps *maps)
{
	for (u32 i = 0; i < maps->count; i++)
		if (maps->entry[i].binary->path[0] == '/')
			return maps->entry[i].binary;
	return NULL;
}

u64 maps_get_memory(const struct maps *maps)
{
	u64 bytes = maps->capacity * sizeof(*maps->entry) +
		    maps->replaced_capacity * sizeof(*maps->replaced);

	for (u32 i = 0; i < maps->count; i++) {
		const struct mapped_binary *b = maps->entry[i].binary;

		bytes += mapped_binary_get_size(b) / b->refs;
	}
	return bytes;
}

const struct mapping *maps_find(const struct maps *maps, u64 addr)
{
	u32 i = maps_lower_bound(maps, addr);

	return i < maps->count && maps->entry[i].start <= addr ? &maps->entry[i] : NULL;
}

const struct mapping *maps_find_at(const struct maps *maps, u64 addr, u64 time_ns, u64 *ret_from_ns,
				   u64 *ret_until_ns)
{
	const struct mapping *now = maps_find(maps, addr);

	*ret_from_ns = now ? now->since_ns : 0;
	*ret_until_ns = UINT64_MAX;
	if (now && time_ns >= now->since_ns)
		return now;
	for (u32 i = maps->replaced_count; i--;) {
		const struct replaced_mapping *r = &maps->replaced[i];

		if (addr < r->mapping.start || addr >= r->mapping.end ||
		    time_ns < r->mapping.since_ns || time_ns >= r->until_ns)
			continue;
		*ret_from_ns = r->mapping.since_ns;
		*ret_until_ns = r->until_ns;
		return &r->mapping;
	}
	*ret_from_ns = time_ns;
	*ret_until_ns = time_ns + (time_ns != UINT64_MAX);
	return now;
}

/* Return the number of mappings that start at or below an address. */
static u32 count_starts_below(const struct maps *maps, u64 addr)
{
	return ARRAY_COUNT_LEADING(maps->count, i, maps->entry[i].start <= addr);
}

const struct mapping *maps_find_below(const struct maps *maps, u64 addr, u64 time_ns,
				      u64 *ret_from_ns, u64 *ret_until_ns, u64 *ret_end)
{
	u32 above = count_starts_below(maps, addr), at = above;
	const struct mapping *found;

	/* Skip mappings that did not exist at that time. */
	while (at && maps->entry[at - 1].since_ns > time_ns)
		at--;
	found = at ? &maps->entry[at - 1] : NULL;
	*ret_from_ns = found ? found->since_ns : 0;
	*ret_until_ns = UINT64_MAX;
	*ret_end = above < maps->count ? maps->entry[above].start : UINT64_MAX;
	for (u32 i = 0; i < maps->replaced_count; i++) {
		const struct replaced_mapping *r = &maps->replaced[i];

		if (r->mapping.start <= addr && time_ns >= r->mapping.since_ns &&
		    time_ns < r->until_ns && (!found || r->mapping.start > found->start))
			found = &r->mapping;
	}
	if (at != above || maps->replaced_count) {
		*ret_from_ns = time_ns;
		*ret_until_ns = time_ns + (time_ns != UINT64_MAX);
	}
	return found;
}

void maps_move_replaced(struct maps *to, struct maps *from)
{
	to->replaced = from->replaced;
	to->replaced_count = from->replaced_count;
	to->replaced_capacity = from->replaced_capacity;
	from->replaced = NULL;
	from->replaced_count = 0;
	from->replaced_capacity = 0;
}
