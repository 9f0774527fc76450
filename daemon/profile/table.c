// SPDX-License-Identifier: LGPL-2.1-or-later
#include "table.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>

/* Where a huge page may begin. */
#define TABLE_ALIGN (2U << 20)

void tally_merge(struct tally *to, const struct tally *from)
{
	to->samples += from->samples;
	to->latency_sum += from->latency_sum;
	for (unsigned int i = 0; i < TALLY_COUNTS; i++)
		to->count[i] += from->count[i];
	if (from->max > to->max)
		to->max = from->max;
	for (unsigned int i = 0; i <= HISTOGRAM_NONE; i++)
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

/* Pages that read as zeros, and are there when they are written. */
static void *map_zeros(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		return NULL;
	(void)madvise(at, size, MADV_NOHUGEPAGE);
	return at;
}

static void clear_zeros(void *at, size_t size)
{
	/* Private anonymous pages read as zeros afterwards, and take no memory. */
	if (madvise(at, size, MADV_DONTNEED))
		memset(at, 0, size);
}

static void unmap_zeros(void *at, size_t size)
{
	if (at)
		munmap(at, size);
}

static size_t pool_size(const struct location_pool *pool)
{
	return ((size_t)pool->room + 1) * pool->size;
}

static bool pool_init(struct location_pool *pool, size_t size, u32 room)
{
	*pool = (struct location_pool){ .size = size, .room = room };
	pool->at = map_zeros(pool_size(pool));
	return pool->at;
}

static void *pool_at(const struct location_pool *pool, u32 number)
{
	return pool->at + number * pool->size;
}

/* The number of an entry of zeros. */
static u32 pool_get(struct location_pool *pool)
{
	u32 number = pool->free;
	u8 *entry;

	if (!number)
		return ++pool->used;
	entry = pool_at(pool, number);
	memcpy(&pool->free, entry, sizeof(pool->free));
	memset(entry, 0, pool->size);
	return number;
}

static void pool_put(struct location_pool *pool, u32 number)
{
	memcpy(pool_at(pool, number), &pool->free, sizeof(pool->free));
	pool->free = number;
}

static void pool_clear(struct location_pool *pool)
{
	clear_zeros(pool->at, pool_size(pool));
	pool->used = 0;
	pool->free = 0;
}

static size_t more_of_size(const struct location_table *t)
{
	return t->sets * sizeof(*t->more_of);
}

int location_table_new(u32 capacity, struct location_table **ret_table)
{
	struct location_table *t;
	size_t size, align;

	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->sets = 1;
	while (t->sets * LOCATION_WAYS < capacity)
		t->sets *= 2;
	/* PCs are the profiled programs' choice: they must not choose sets too. */
	if (getrandom(&t->seed, sizeof(t->seed), GRND_NONBLOCK) != sizeof(t->seed))
		t->seed = (u64)(uintptr_t)t;
	t->tags = calloc(t->sets, sizeof(*t->tags));
	/* C11 wants a multiple of the alignment, and so does ASan. */
	size = t->sets * sizeof(*t->entries);
	align = size < TABLE_ALIGN ? 64 : TABLE_ALIGN;
	t->entries = aligned_alloc(align, (size + align - 1) & ~(align - 1));
	t->more_of = map_zeros(more_of_size(t));
	if (!pool_init(&t->more, sizeof(struct location_more), t->sets * LOCATION_WAYS) ||
	    !pool_init(&t->wide, sizeof(struct location_wide), t->sets * LOCATION_WAYS) ||
	    !t->tags || !t->entries || !t->more_of) {
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
		unmap_zeros(table->more_of, more_of_size(table));
		unmap_zeros(table->more.at, pool_size(&table->more));
		unmap_zeros(table->wide.at, pool_size(&table->wide));
		free(table);
	}
	return NULL;
}

static size_t index_of(const struct location_table *table, const struct location *entry)
{
	return (size_t)(entry - table->entries[0]);
}

static u32 *more_number(const struct location_table *table, const struct location *entry)
{
	size_t i = index_of(table, entry);

	return &table->more_of[i / LOCATION_WAYS][i % LOCATION_WAYS];
}

/* Of an entry that has carried. */
static struct location_more *more_of(const struct location_table *table,
				     const struct location *entry)
{
	return pool_at(&table->more, *more_number(table, entry));
}

static struct location_more *more_get(struct location_table *table, struct location *entry)
{
	if (!entry->carried) {
		entry->carried = true;
		*more_number(table, entry) = pool_get(&table->more);
	}
	return more_of(table, entry);
}

static void more_put(struct location_table *table, struct location *entry)
{
	struct location_more *more = more_of(table, entry);

	if (more->wide)
		pool_put(&table->wide, more->wide);
	pool_put(&table->more, *more_number(table, entry));
	entry->carried = false;
}

/* Samples of a bucket that were carried over. */
static u64 more_bucket(const struct location_table *table, const struct location_more *more,
		       unsigned int bucket)
{
	const struct location_wide *wide;
	u64 samples = 16ULL * more->bucket[bucket];

	if (more->wide) {
		wide = pool_at(&table->wide, more->wide);
		samples += 4096ULL * wide->bucket[bucket];
	}
	return samples;
}

static void more_carry_bucket(struct location_table *table, struct location_more *more, u8 bucket)
{
	struct location_wide *wide;

	if (++more->bucket[bucket])
		return;
	if (!more->wide)
		more->wide = pool_get(&table->wide);
	wide = pool_at(&table->wide, more->wide);
	wide->bucket[bucket] += wide->bucket[bucket] < UINT32_MAX;
}

static void add_weight(struct location *entry, u32 samples)
{
	entry->weight = entry->weight < UINT32_MAX - samples ? entry->weight + samples : UINT32_MAX;
}

void location_carry_bucket(struct location_table *table, struct location *entry, u8 bucket)
{
	entry->bucket[bucket / 16] &= ~(0xfULL << bucket % 16 * 4);
	more_carry_bucket(table, more_get(table, entry), bucket);
	add_weight(entry, 16);
}

void location_carry(struct location_table *table, struct location *entry)
{
	struct location_more *more = more_get(table, entry);

	more->latency_sum += entry->latency_sum;
	for (unsigned int i = 0; i < TALLY_COUNTS; i++)
		more->count[i] += entry->counts >> 8 * i & 0xff;
	entry->latency_sum = 0;
	entry->counts = 0;
}

/* Whether all of @tally has room in the entry itself. */
static bool is_little(const struct tally *tally)
{
	bool little = !(tally->latency_sum >> 31);

	for (unsigned int i = 0; i < TALLY_COUNTS; i++)
		little &= tally->count[i] < 0x80;
	for (unsigned int i = 0; i <= HISTOGRAM_NONE; i++)
		little &= tally->bucket[i] < 16;
	return little;
}

static void more_restore(struct location_table *table, struct location_more *more,
			 const struct tally *tally)
{
	struct location_wide *wide;
	u64 samples;

	more->latency_sum = tally->latency_sum;
	memcpy(more->count, tally->count, sizeof(more->count));
	for (unsigned int i = 0; i <= HISTOGRAM_NONE; i++) {
		samples = tally->bucket[i] / 16;
		more->bucket[i] = (u8)samples;
		if (!(samples >> 8))
			continue;
		if (!more->wide)
			more->wide = pool_get(&table->wide);
		wide = pool_at(&table->wide, more->wide);
		wide->bucket[i] = samples >> 8 < UINT32_MAX ? (u32)(samples >> 8) : UINT32_MAX;
	}
}

void location_restore(struct location_table *table, struct location *entry,
		      const struct tally *tally, u32 weight)
{
	entry->weight = weight;
	entry->max = tally->max < UINT16_MAX ? (u16)tally->max : UINT16_MAX;
	for (unsigned int i = 0; i <= HISTOGRAM_NONE; i++)
		entry->bucket[i / 16] |= (tally->bucket[i] & 0xf) << i % 16 * 4;
	if (!is_little(tally)) {
		more_restore(table, more_get(table, entry), tally);
		return;
	}
	entry->latency_sum = (u32)tally->latency_sum;
	for (unsigned int i = 0; i < TALLY_COUNTS; i++)
		entry->counts += (u32)tally->count[i] << 8 * i;
}

void location_tally(const struct location_table *table, const struct location *entry,
		    struct tally *ret_tally)
{
	const struct location_more *more = entry->carried ? more_of(table, entry) : NULL;
	struct tally tally = {
		.latency_sum = entry->latency_sum + (more ? more->latency_sum : 0),
		.max = entry->max,
	};

	for (unsigned int i = 0; i < TALLY_COUNTS; i++)
		tally.count[i] = (entry->counts >> 8 * i & 0xff) + (more ? more->count[i] : 0);
	for (unsigned int i = 0; i <= HISTOGRAM_NONE; i++) {
		tally.bucket[i] = (entry->bucket[i / 16] >> i % 16 * 4 & 0xf) +
				  (more ? more_bucket(table, more, i) : 0);
		tally.samples += tally.bucket[i];
	}
	*ret_tally = tally;
}

/* Samples that @bucket still has. */
static u32 small_samples(const struct location *entry)
{
	const u64 low = 0x0f0f0f0f0f0f0f0fULL;
	u64 sum = 0;

	for (unsigned int i = 0; i < LOCATION_WORDS; i++)
		sum += (entry->bucket[i] & low) + (entry->bucket[i] >> 4 & low);
	/* Eight bytes of at most 120 each. */
	sum = (sum & 0x00ff00ff00ff00ffULL) + (sum >> 8 & 0x00ff00ff00ff00ffULL);
	return (u32)(sum * 0x0001000100010001ULL >> 48);
}

/* What replacement compares: samples, and those of what it replaced; saturates. */
static u32 rank(const struct location *entry)
{
	u32 samples = small_samples(entry);

	return samples < UINT32_MAX - entry->weight ? samples + entry->weight : UINT32_MAX;
}

static unsigned int lightest(const struct location *set)
{
	unsigned int best = 0;
	u32 least = UINT32_MAX, r;

	for (unsigned int i = 0; i < LOCATION_WAYS; i++) {
		if (!set[i].used)
			return i;
		r = rank(&set[i]);
		if (r < least) {
			least = r;
			best = i;
		}
	}
	return best;
}

u64 location_samples(const struct location_table *table, const struct location *entry)
{
	u64 samples = small_samples(entry);

	for (unsigned int i = 0; entry->carried && i <= HISTOGRAM_NONE; i++)
		samples += more_bucket(table, more_of(table, entry), i);
	return samples;
}

u64 location_latency(const struct location_table *table, const struct location *entry)
{
	return entry->latency_sum + (entry->carried ? more_of(table, entry)->latency_sum : 0);
}

u64 location_count(const struct location_table *table, const struct location *entry,
		   enum tally_count count)
{
	return (entry->counts >> 8 * count & 0xff) +
	       (entry->carried ? more_of(table, entry)->count[count] : 0);
}

struct location *location_insert(struct location_table *table, const struct location_key *key,
				 u64 *evicted)
{
	unsigned int way = lightest(table->entries[key->set]);
	struct location *entry = &table->entries[key->set][way];
	u32 weight = 0;

	if (entry->used) {
		weight = rank(entry);
		*evicted += location_samples(table, entry);
	}
	if (entry->carried)
		more_put(table, entry);
	*entry = (struct location){
		.place = key->place,
		.owner = key->owner,
		.used = true,
		.weight = weight,
	};
	table->tags[key->set] &= ~(0xffULL << 8 * way);
	table->tags[key->set] |= (u64)key->tag << 8 * way;
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
	clear_zeros(table->more_of, more_of_size(table));
	pool_clear(&table->more);
	pool_clear(&table->wide);
}
