// SPDX-License-Identifier: LGPL-2.1-or-later
#include "location-table.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "location-table-internal.h"
#include "util/memory.h"

/* Minimum number of chains, which is added to one for each location. */
#define CHAINS_MIN 1024

/* Alignment of a huge page. */
#define TABLE_ALIGN (2U << 20)

static size_t pool_size(const struct location_pool *pool)
{
	return ((size_t)pool->room + 1) * pool->size;
}

static bool pool_init(struct location_pool *pool, size_t size, u32 room)
{
	*pool = (struct location_pool){ .size = size, .room = room };
	pool->at = zero_pages(pool_size(pool));
	return pool->at;
}

/* Returns the number of an entry that is all zeros. */
static u32 pool_get(struct location_pool *pool)
{
	u32 number = pool->free;
	u8 *entry;

	if (!number)
		return ++pool->used;
	entry = pool_at(pool, number);
	memcpy(&pool->free, entry, sizeof(pool->free));
	pool->spare--;
	memset(entry, 0, pool->size);
	return number;
}

static void pool_put(struct location_pool *pool, u32 number)
{
	memcpy(pool_at(pool, number), &pool->free, sizeof(pool->free));
	pool->free = number;
	pool->spare++;
}

static void pool_clear(struct location_pool *pool)
{
	zero_pages_clear(pool->at, pool_size(pool));
	pool->used = 0;
	pool->free = 0;
	pool->spare = 0;
}

/* Memory for cache lines that are accessed at random: huge pages need fewer page table walks. */
static void *lines_new(size_t size)
{
	size_t align = size < TABLE_ALIGN ? 64 : TABLE_ALIGN;
	/* C11 and ASan require a size that is a multiple of the alignment. */
	void *at = aligned_alloc(align, (size + align - 1) & ~(align - 1));

	/* The advice may fail without harm. */
	if (at && align == TABLE_ALIGN)
		(void)madvise(at, size, MADV_HUGEPAGE);
	return at;
}

static size_t lines_size(const struct location_table *t)
{
	return (size_t)t->sets * sizeof(*t->entries);
}

static size_t excess_size(const struct location_table *t)
{
	return (size_t)t->sets * LOCATION_WAYS * sizeof(*t->excess);
}

/* Returns the octave of a bucket, where an octave has four buckets: 0, 1, 2, (2, 4], (4, 8] ... */
static unsigned int octave_of(unsigned int bucket)
{
	unsigned int octave = bucket < 2 ? bucket : (bucket + 1) / 4 + 2;

	return octave < LOCATION_OCTAVES ? octave : LOCATION_OCTAVES - 1;
}

/* Absent latencies add nothing. */
static void fill_octaves(struct location_table *t)
{
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
		t->octave_one[i] = 1ULL << 4 * octave_of(i);
}

/* For every rank, rank of (rank + 1) random numbers yield a bound below it. */
static void fill_bounds(struct location_table *t)
{
	for (unsigned int i = 0; i < LOCATION_DRAWS; i++) {
		unsigned int bound = LOCATION_DRAWS / (i + 1);

		t->bound[i] = bound < LOCATION_ODDS ? (u16)bound : UINT16_MAX;
	}
}

int location_table_new(u32 capacity, struct sample_class_catalog *sample_class,
		       struct location_table **ret_table)
{
	struct location_table *t;
	u32 room;

	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->sample_class = sample_class;
	t->sets = 1;
	while (t->sets * LOCATION_WAYS < capacity)
		t->sets *= 2;
	room = t->sets * LOCATION_WAYS;
	/*
	 * The profiled programs choose their PCs: a secret seed prevents them from choosing
	 * sets, too.
	 */
	if (getrandom(&t->seed, sizeof(t->seed), GRND_NONBLOCK) != sizeof(t->seed))
		t->seed = (u64)(uintptr_t)t;
	t->draws = t->seed;
	t->set = aligned_alloc(sizeof(*t->set), t->sets * sizeof(*t->set));
	t->entries = lines_new(lines_size(t));
	t->excess = zero_pages(excess_size(t));
	if (!pool_init(&t->more, sizeof(struct location_more), room) ||
	    !pool_init(&t->wide, sizeof(struct location_wide), room) ||
	    !pool_init(&t->chains, sizeof(struct location_chain), room + CHAINS_MIN) || !t->set ||
	    !t->entries || !t->excess) {
		location_table_free(t);
		return -ENOMEM;
	}
	fill_octaves(t);
	fill_bounds(t);
	location_table_clear(t);
	*ret_table = t;
	return 0;
}

struct location_table *location_table_free(struct location_table *table)
{
	if (table) {
		free(table->set);
		free(table->entries);
		zero_pages_free(table->more.at, pool_size(&table->more));
		zero_pages_free(table->wide.at, pool_size(&table->wide));
		zero_pages_free(table->chains.at, pool_size(&table->chains));
		zero_pages_free(table->excess, excess_size(table));
		free(table);
	}
	return NULL;
}

struct location_more *location_more_get(struct location_table *table, struct location *entry)
{
	if (!entry->more)
		entry->more = pool_get(&table->more);
	return pool_at(&table->more, entry->more);
}

static void more_put(struct location_table *table, struct location *entry)
{
	struct location_more *more = more_of(table, entry);

	if (!more)
		return;
	if (more->wide)
		pool_put(&table->wide, more->wide);
	pool_put(&table->more, entry->more);
	entry->more = 0;
}

struct location_wide *location_wide_get(struct location_table *table, struct location_more *more)
{
	if (!more->wide)
		more->wide = pool_get(&table->wide);
	return pool_at(&table->wide, more->wide);
}

/* Add the counters of @word to @counts. Returns a bit for each one that overflowed. */
static u32 carry_word(u64 word, u8 *counts)
{
	u32 over = 0;

	for (; word; word &= ~(15ULL << (__builtin_ctzll(word) & ~3))) {
		unsigned int i = (unsigned int)__builtin_ctzll(word) / 4;
		u8 more = word >> 4 * i & 0xf;

		counts[i] += more;
		over |= (u32)(counts[i] < more) << i;
	}
	return over;
}

static void carry_over(u32 over, u32 *wide)
{
	for (; over; over &= over - 1)
		wide[__builtin_ctz(over)] += wide[__builtin_ctz(over)] < UINT32_MAX;
}

static void carry_histograms(struct location_table *table, struct location *entry)
{
	struct location_more *more = location_more_get(table, entry);
	u32 over;

	for (unsigned int i = 0; i < LOCATION_WORDS; i++) {
		over = carry_word(entry->bucket[i], &more->bucket[16 * i]);
		if (over)
			carry_over(over, &location_wide_get(table, more)->bucket[16 * i]);
		entry->bucket[i] = 0;
	}
	for (unsigned int i = 0; i < LOCATION_LATENCIES; i++) {
		over = carry_word(entry->detail.octave[i], more->octave[i]);
		if (over)
			carry_over(over, location_wide_get(table, more)->octave[i]);
		entry->detail.octave[i] = 0;
	}
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++) {
		more->latency_sum[i] += entry->detail.sum[i];
		entry->detail.sum[i] = 0;
	}
}

static struct location_chain *chain_at(const struct location_table *table, u32 number)
{
	return number ? pool_at(&table->chains, number) : NULL;
}

/* Returns the index in @chain that can count @count more of @sample_class, or -1. */
static int chain_find(const struct location_chain *chain, u16 sample_class, u32 count)
{
	for (int i = 0; i < LOCATION_CHAIN; i++) {
		if (!chain->sample_class[i])
			return i;
		if (chain->sample_class[i] == sample_class && chain->count[i] <= UINT32_MAX - count)
			return i;
	}
	return -1;
}

/*
 * Count in a chain entry. Returns false if the location would need more than @most chain
 * entries.
 */
static bool chain_add(struct location_table *table, struct location *entry, u16 sample_class,
		      u32 count, unsigned int most)
{
	struct location_chain *chain = chain_at(table, entry->chain);
	unsigned int length = 0;
	u32 number;
	int i = -1;

	for (; chain && i < 0; length++) {
		i = chain_find(chain, sample_class, count);
		if (i < 0)
			chain = chain_at(table, chain->next);
	}
	if (i < 0) {
		if (length >= most ||
		    (!table->chains.free && table->chains.used == table->chains.room))
			return false;
		number = pool_get(&table->chains);
		chain = chain_at(table, number);
		chain->next = entry->chain;
		entry->chain = number;
		i = 0;
	}
	chain->sample_class[i] = sample_class;
	chain->count[i] += count;
	return true;
}

static void chain_put(struct location_table *table, u32 number)
{
	while (number) {
		u32 next = chain_at(table, number)->next;

		pool_put(&table->chains, number);
		number = next;
	}
}

/* Their excess remains with the entry that they were counted in. */
static void count_unclassified(struct location_table *table, u64 count)
{
	table->unclassified += count;
	table->evicted_weight += count * table->interval;
}

static void lane_spill(struct location_table *table, struct location *entry, unsigned int lane)
{
	struct location_detail *detail = &entry->detail;
	u16 sample_class = detail->sample_class[lane];

	if (!detail->count[lane])
		return;
	if (!chain_add(table, entry, sample_class, detail->count[lane], LOCATION_CHAINS_WHOLE)) {
		if (sample_class != SAMPLE_CLASS_OTHERS)
			sample_class = sample_class_coarse(table->sample_class,
							   &table->sample_class->at[sample_class]);
		if (!chain_add(table, entry, sample_class, detail->count[lane], LOCATION_CHAINS))
			count_unclassified(table, detail->count[lane]);
	}
	detail->count[lane] = 0;
}

void location_carry(struct location_table *table, struct location *entry)
{
	carry_histograms(table, entry);
	for (unsigned int i = 0; i < LOCATION_LANES; i++)
		if (entry->detail.count[i] & LOCATION_LANE_FULL)
			lane_spill(table, entry, i);
}

void location_restore_class(struct location_table *table, struct location *entry, u16 sample_class,
			    u64 count)
{
	struct location_detail *detail = &entry->detail;

	for (unsigned int i = 0; i < LOCATION_LANES && count < LOCATION_LANE_FULL; i++) {
		if (detail->sample_class[i] && detail->sample_class[i] != sample_class)
			continue;
		if (detail->count[i] + count >= LOCATION_LANE_FULL)
			break;
		detail->sample_class[i] = sample_class;
		detail->count[i] += (u16)count;
		return;
	}
	while (count) {
		u32 some = count < UINT32_MAX ? (u32)count : UINT32_MAX;

		if (!chain_add(table, entry, sample_class, some, LOCATION_CHAINS)) {
			count_unclassified(table, count);
			return;
		}
		count -= some;
	}
}

void location_each_class(const struct location_table *table, const struct location *entry,
			 void (*fn)(void *ctx, u16 sample_class, u64 count), void *ctx)
{
	const struct location_chain *chain = chain_at(table, entry->chain);

	for (unsigned int i = 0; i < LOCATION_LANES; i++)
		if (entry->detail.sample_class[i])
			fn(ctx, entry->detail.sample_class[i], entry->detail.count[i]);
	for (; chain; chain = chain_at(table, chain->next))
		for (unsigned int i = 0; i < LOCATION_CHAIN && chain->sample_class[i]; i++)
			fn(ctx, chain->sample_class[i], chain->count[i]);
}

static void record_first(struct location *entry, const struct sample_facts *facts)
{
	unsigned int first = 0;

	for (unsigned int i = 0; i < LOCATION_LATENCIES; i++)
		if (facts->bucket[i + 1] != HISTOGRAM_NONE)
			first |= octave_of(facts->bucket[i + 1]) << 4 * i;
	entry->first_octaves = (u8)first;
	entry->first = facts->bucket[PROFILE_TOTAL] & HISTOGRAM_NONE;
}

void location_add_class(struct location_table *table, struct location *entry,
			const struct sample_facts *facts)
{
	struct location_detail *detail = &entry->detail;
	unsigned int lane = 0;

	/* Lanes are used in ascending order and never freed. */
	if (!detail->sample_class[0] && !entry->chain)
		record_first(entry, facts);
	for (unsigned int i = 0; i < LOCATION_LANES && detail->sample_class[lane]; i++)
		if (!detail->sample_class[i] || detail->count[i] < detail->count[lane])
			lane = i;
	lane_spill(table, entry, lane);
	detail->sample_class[lane] = facts->sample_class;
	detail->count[lane] = 1;
}

static void sample_class_add(const struct sample_class_catalog *catalog, u16 id, u64 count,
			     struct location_class_sums *sums)
{
	const struct sample_class *t = sample_class_of(catalog, id);
	u8 ones[SAMPLE_COUNTS];

	sums->samples += count;
	if (!t || !count)
		return;
	memcpy(ones, t->ones, sizeof(ones));
	for (unsigned int i = 0; i < SAMPLE_COUNTS; i++)
		sums->sums[i] += ones[i] * count;
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++)
		sums->latency[i] += t->absent[i] ? 0 : count;
}

void location_sum_classes(const struct location_table *table, const struct location *entry,
			  struct location_class_sums *sums)
{
	const struct location_detail *detail = &entry->detail;
	const struct location_chain *chain = chain_at(table, entry->chain);

	for (unsigned int i = 0; i < LOCATION_LANES; i++)
		if (detail->sample_class[i])
			sample_class_add(table->sample_class, detail->sample_class[i],
					 detail->count[i], sums);
	for (; chain; chain = chain_at(table, chain->next))
		for (unsigned int i = 0; i < LOCATION_CHAIN && chain->sample_class[i]; i++)
			sample_class_add(table->sample_class, chain->sample_class[i],
					 chain->count[i], sums);
}

void location_counts(const struct location_table *table, const struct location *entry,
		     struct sample_counts *ret_counts)
{
	struct location_class_sums sums = { 0 };

	location_sum_classes(table, entry, &sums);
	memcpy(ret_counts, sums.sums, sizeof(*ret_counts));
}

/* Returns the bucket, of four per octave, at the end of @octave. */
static unsigned int octave_bucket(unsigned int octave)
{
	return octave < 3 ? octave : 4 * octave - 6;
}

/* @with: number of samples with this latency */
static void octaves_add(const struct location_table *table, const struct location *entry,
			unsigned int latency, u64 with, struct histogram *to)
{
	const struct location_detail *detail = &entry->detail;
	const struct location_more *more = more_of(table, entry);
	u64 count;

	for (unsigned int i = 0; i < LOCATION_OCTAVES; i++) {
		count = entry_octave(table, entry, latency, i);
		to->bucket[octave_bucket(i)] += count;
		with -= count < with ? count : with;
	}
	to->bucket[octave_bucket(entry->first_octaves >> 4 * latency & 0xf)] += with;
	to->sum += detail->sum[latency + 1] + (more ? more->latency_sum[latency + 1] : 0);
	if (detail->max[latency] > to->max)
		to->max = detail->max[latency];
}

static void total_add(const struct location_table *table, const struct location *entry, u64 samples,
		      struct histogram *to)
{
	u64 count;

	for (unsigned int i = 0; i <= HISTOGRAM_NONE; i++) {
		count = entry_bucket(table, entry, i);
		to->bucket[i] += count;
		samples -= count < samples ? count : samples;
	}
	to->bucket[entry->first] += samples;
	to->sum += location_latency(table, entry);
	if (entry->max > to->max)
		to->max = entry->max;
}

void location_counters(const struct location_table *table, const struct location *entry,
		       struct counters *to)
{
	struct location_class_sums sums = { 0 };

	memcpy(sums.sums, &to->counts, sizeof(sums.sums));
	location_sum_classes(table, entry, &sums);
	memcpy(&to->counts, sums.sums, sizeof(sums.sums));
	to->samples += sums.samples;
	total_add(table, entry, sums.samples, &to->latency[PROFILE_TOTAL]);
	for (unsigned int i = 0; i < LOCATION_LATENCIES; i++)
		octaves_add(table, entry, i, sums.latency[i + 1], &to->latency[i + 1]);
	counters_finish(to);
}

static u32 lane_samples(const struct location_detail *detail)
{
	u32 samples = 0;

	for (unsigned int i = 0; i < LOCATION_LANES; i++)
		samples += detail->count[i];
	return samples;
}

void location_age(struct location_table *table, const struct location *entry)
{
	u16 *rank = table->set[(entry - table->entries[0]) / LOCATION_WAYS].rank;

	for (unsigned int i = 0; i < LOCATION_WAYS; i++)
		rank[i] = (u16)((rank[i] + 1) / 2);
}

u64 location_samples(const struct location_table *table, const struct location *entry)
{
	const struct location_chain *chain = chain_at(table, entry->chain);
	u64 samples = lane_samples(&entry->detail);

	for (; chain; chain = chain_at(table, chain->next))
		for (unsigned int i = 0; i < LOCATION_CHAIN && chain->sample_class[i]; i++)
			samples += chain->count[i];
	return samples;
}

u64 location_latency(const struct location_table *table, const struct location *entry)
{
	const struct location_more *more = more_of(table, entry);

	return entry->detail.sum[PROFILE_TOTAL] + (more ? more->latency_sum[PROFILE_TOTAL] : 0);
}

u64 location_weight(const struct location_table *table, const struct location *entry)
{
	return location_samples(table, entry) * table->interval + excess_of(table, entry);
}

/* Release the counters of @entry. Returns the number of its samples. */
static u64 leave(struct location_table *table, struct location *entry)
{
	u64 samples = location_samples(table, entry);

	table->evicted_weight += samples * table->interval + excess_of(table, entry);
	if (table->uneven)
		*location_excess(table, entry) = 0;
	more_put(table, entry);
	chain_put(table, entry->chain);
	return samples;
}

const struct location *location_draw_victim(struct location_table *table, struct location_key *key)
{
	const struct location_set *set = &table->set[key->set];

	key->admitted = location_admits(table, set, 1);
	return key->admitted ? &table->entries[key->set][location_lightest(set)] : NULL;
}

struct location *location_insert(struct location_table *table, const struct location_key *key,
				 u64 *evicted)
{
	struct location_set *set = &table->set[key->set];
	unsigned int way = location_lightest(set);
	struct location *entry = &table->entries[key->set][way];

	/* A new entry inherits the rank of the entry it replaces. */
	if (entry->used)
		*evicted += leave(table, entry);
	*entry = (struct location){
		.place = key->place,
		.owner = key->owner,
		.restarted = true,
		.used = true,
	};
	set->tags &= ~(0xffULL << 8 * way);
	set->tags |= (u64)key->tag << 8 * way;
	return entry;
}

/* Target number of free entries of each pool: a hundredth of all locations suffices for a while. */
static u32 spare_target(const struct location_table *table)
{
	return table->sets * LOCATION_WAYS / 128 + 8;
}

/* A pool that has used little of the memory may still grow. */
static bool is_short(const struct location_table *table, const struct location_pool *pool, u64 bytes)
{
	return pool->used * pool->size >= bytes / LOCATION_PARTS &&
	       pool->spare < spare_target(table);
}

static u64 pools_bytes(const struct location_table *table)
{
	return (u64)table->more.used * table->more.size + (u64)table->wide.used * table->wide.size +
	       (u64)table->chains.used * table->chains.size;
}

/* Returns whether @entry uses a pool that is short of entries. */
static bool gives(const struct location_table *table, const struct location *entry, u64 bytes)
{
	const struct location_more *more = more_of(table, entry);

	return (more && is_short(table, &table->more, bytes)) ||
	       (more && more->wide && is_short(table, &table->wide, bytes)) ||
	       (entry->chain && is_short(table, &table->chains, bytes));
}

/* Reset the entry to an empty location with the same key. */
static u64 start_over(struct location_table *table, struct location *entry)
{
	u64 samples = leave(table, entry);

	*entry = (struct location){
		.place = entry->place,
		.owner = entry->owner,
		.restarted = true,
		.used = true,
	};
	return samples;
}

u64 location_table_trim(struct location_table *table, u64 bytes)
{
	struct location *entry = NULL;
	u64 evicted = 0;

	if (pools_bytes(table) < bytes)
		return 0;
	for (u64 below = 32; below <= 1ULL << 32; below *= 2) {
		if (!is_short(table, &table->more, bytes) && !is_short(table, &table->wide, bytes) &&
		    !is_short(table, &table->chains, bytes))
			break;
		while ((entry = location_table_next(table, entry)))
			if (*location_rank(table, entry) < below && gives(table, entry, bytes))
				evicted += start_over(table, entry);
	}
	return evicted;
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
	memset(table->set, 0, table->sets * sizeof(*table->set));
	memset(table->entries, 0, lines_size(table));
	pool_clear(&table->more);
	pool_clear(&table->wide);
	pool_clear(&table->chains);
	table->unclassified = 0;
	if (table->uneven)
		zero_pages_clear(table->excess, excess_size(table));
	table->uneven = false;
	table->interval = 0;
	table->evicted_weight = 0;
}
