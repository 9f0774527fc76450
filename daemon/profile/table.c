// SPDX-License-Identifier: LGPL-2.1-or-later
#include "table.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "zero-pages.h"

/* For places with many traits there are as many chains as places, and these. */
#define CHAINS_LEAST 1024

/* Where a huge page may begin. */
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

/* Lines that are far apart from each other: fewer, larger pages are fewer walks. */
static void *lines_new(size_t size)
{
	size_t align = size < TABLE_ALIGN ? 64 : TABLE_ALIGN;
	/* C11 wants a multiple of the alignment, and so does ASan. */
	void *at = aligned_alloc(align, (size + align - 1) & ~(align - 1));

	/* A hint, no more. */
	if (at && align == TABLE_ALIGN)
		(void)madvise(at, size, MADV_HUGEPAGE);
	return at;
}

static size_t lines_size(const struct location_table *t)
{
	return (size_t)t->sets * sizeof(*t->entries);
}

/* The octave of a bucket of four an octave: 0, 1, 2, (2, 4], (4, 8] ... */
static unsigned int octave_of(unsigned int bucket)
{
	unsigned int octave = bucket < 2 ? bucket : (bucket + 1) / 4 + 2;

	return octave < LOCATION_OCTAVES ? octave : LOCATION_OCTAVES - 1;
}

/* Latencies that are absent add nothing. */
static void fill_octaves(struct location_table *t)
{
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
		t->octave_one[i] = 1ULL << 4 * octave_of(i);
}

int location_table_new(u32 capacity, struct traits_catalog *traits,
		       struct location_table **ret_table)
{
	struct location_table *t;
	u32 room;

	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->traits = traits;
	t->sets = 1;
	while (t->sets * LOCATION_WAYS < capacity)
		t->sets *= 2;
	room = t->sets * LOCATION_WAYS;
	/* PCs are the profiled programs' choice: they must not choose sets too. */
	if (getrandom(&t->seed, sizeof(t->seed), GRND_NONBLOCK) != sizeof(t->seed))
		t->seed = (u64)(uintptr_t)t;
	t->tags = calloc(t->sets, sizeof(*t->tags));
	t->entries = lines_new(lines_size(t));
	if (!pool_init(&t->more, sizeof(struct location_more), room) ||
	    !pool_init(&t->wide, sizeof(struct location_wide), room) ||
	    !pool_init(&t->chains, sizeof(struct location_chain), room + CHAINS_LEAST) || !t->tags ||
	    !t->entries) {
		location_table_free(t);
		return -ENOMEM;
	}
	fill_octaves(t);
	location_table_clear(t);
	*ret_table = t;
	return 0;
}

struct location_table *location_table_free(struct location_table *table)
{
	if (table) {
		free(table->tags);
		free(table->entries);
		zero_pages_free(table->more.at, pool_size(&table->more));
		zero_pages_free(table->wide.at, pool_size(&table->wide));
		zero_pages_free(table->chains.at, pool_size(&table->chains));
		free(table);
	}
	return NULL;
}

/* NULL of an entry that has carried nothing. */
static struct location_more *more_of(const struct location_table *table,
				     const struct location *entry)
{
	return entry->more ? pool_at(&table->more, entry->more) : NULL;
}

static struct location_more *more_get(struct location_table *table, struct location *entry)
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

static const struct location_wide *wide_of(const struct location_table *table,
					   const struct location_more *more)
{
	return more->wide ? pool_at(&table->wide, more->wide) : NULL;
}

/* Samples of @bucket that were counted: not those of the first one. */
static u64 entry_bucket(const struct location_table *table, const struct location *entry,
			unsigned int bucket)
{
	const struct location_more *more = more_of(table, entry);
	const struct location_wide *wide = more ? wide_of(table, more) : NULL;

	return (entry->bucket[bucket / 16] >> bucket % 16 * 4 & 0xf) +
	       (more ? more->bucket[bucket] : 0) + (wide ? 256ULL * wide->bucket[bucket] : 0);
}

static u64 entry_octave(const struct location_table *table, const struct location *entry,
			unsigned int latency, unsigned int octave)
{
	const struct location_more *more = more_of(table, entry);
	const struct location_wide *wide = more ? wide_of(table, more) : NULL;

	return (entry->detail.octave[latency] >> 4 * octave & 0xf) +
	       (more ? more->octave[latency][octave] : 0) +
	       (wide ? 256ULL * wide->octave[latency][octave] : 0);
}

static struct location_wide *wide_get(struct location_table *table, struct location_more *more)
{
	if (!more->wide)
		more->wide = pool_get(&table->wide);
	return pool_at(&table->wide, more->wide);
}

static void add_weight(struct location *entry, u32 samples)
{
	entry->weight = entry->weight < UINT32_MAX - samples ? entry->weight + samples : UINT32_MAX;
}

/* The counters of @word to those at @counts; returns those that ran over, a bit each. */
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
	struct location_more *more = more_get(table, entry);
	u32 over;

	for (unsigned int i = 0; i < LOCATION_WORDS; i++) {
		over = carry_word(entry->bucket[i], &more->bucket[16 * i]);
		if (over)
			carry_over(over, &wide_get(table, more)->bucket[16 * i]);
		entry->bucket[i] = 0;
	}
	for (unsigned int i = 0; i < LOCATION_LATENCIES; i++) {
		over = carry_word(entry->detail.octave[i], more->octave[i]);
		if (over)
			carry_over(over, wide_get(table, more)->octave[i]);
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

/* A place for @count more of @traits in @chain, or -1. */
static int chain_find(const struct location_chain *chain, u16 traits, u32 count)
{
	for (int i = 0; i < LOCATION_CHAIN; i++) {
		if (!chain->traits[i])
			return i;
		if (chain->traits[i] == traits && chain->count[i] <= UINT32_MAX - count)
			return i;
	}
	return -1;
}

/* Whether there is room, in at most @most of them. */
static bool chain_add(struct location_table *table, struct location *entry, u16 traits, u32 count,
		      unsigned int most)
{
	struct location_chain *chain = chain_at(table, entry->chain);
	unsigned int length = 0;
	u32 number;
	int i = -1;

	for (; chain && i < 0; length++) {
		i = chain_find(chain, traits, count);
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
	chain->traits[i] = traits;
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

static void lane_spill(struct location_table *table, struct location *entry, unsigned int lane)
{
	struct location_detail *detail = &entry->detail;
	u16 traits = detail->traits[lane];

	if (!detail->count[lane])
		return;
	add_weight(entry, detail->count[lane]);
	if (!chain_add(table, entry, traits, detail->count[lane], LOCATION_CHAINS_WHOLE)) {
		if (traits != TRAITS_OTHERS)
			traits = traits_coarse(table->traits, &table->traits->at[traits]);
		if (!chain_add(table, entry, traits, detail->count[lane], LOCATION_CHAINS))
			table->untold += detail->count[lane];
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

void location_restore_traits(struct location_table *table, struct location *entry, u16 traits,
			     u64 count)
{
	struct location_detail *detail = &entry->detail;

	for (unsigned int i = 0; i < LOCATION_LANES && count < LOCATION_LANE_FULL; i++) {
		if (detail->traits[i] && detail->traits[i] != traits)
			continue;
		if (detail->count[i] + count >= LOCATION_LANE_FULL)
			break;
		detail->traits[i] = traits;
		detail->count[i] += (u16)count;
		return;
	}
	while (count) {
		u32 some = count < UINT32_MAX ? (u32)count : UINT32_MAX;

		if (!chain_add(table, entry, traits, some, LOCATION_CHAINS)) {
			table->untold += count;
			return;
		}
		count -= some;
	}
}

void location_keep_traits(const struct location_table *table, const struct location *entry,
			  void (*fn)(void *ctx, u16 traits, u64 count), void *ctx)
{
	const struct location_chain *chain = chain_at(table, entry->chain);

	for (unsigned int i = 0; i < LOCATION_LANES; i++)
		if (entry->detail.traits[i])
			fn(ctx, entry->detail.traits[i], entry->detail.count[i]);
	for (; chain; chain = chain_at(table, chain->next))
		for (unsigned int i = 0; i < LOCATION_CHAIN && chain->traits[i]; i++)
			fn(ctx, chain->traits[i], chain->count[i]);
}

static void note_first(struct location *entry, const struct sample_facts *facts)
{
	unsigned int first = 0;

	for (unsigned int i = 0; i < LOCATION_LATENCIES; i++)
		if (facts->bucket[i + 1] != HISTOGRAM_NONE)
			first |= octave_of(facts->bucket[i + 1]) << 4 * i;
	entry->first_octaves = (u8)first;
	entry->first = facts->bucket[PROFILE_TOTAL] & HISTOGRAM_NONE;
}

void location_new_traits(struct location_table *table, struct location *entry,
			 const struct sample_facts *facts)
{
	struct location_detail *detail = &entry->detail;
	unsigned int lane = 0;

	/* Lanes are taken from the first on, and never given back. */
	if (!detail->traits[0] && !entry->chain)
		note_first(entry, facts);
	for (unsigned int i = 0; i < LOCATION_LANES && detail->traits[lane]; i++)
		if (!detail->traits[i] || detail->count[i] < detail->count[lane])
			lane = i;
	lane_spill(table, entry, lane);
	detail->traits[lane] = facts->traits;
	detail->count[lane] = 1;
}

/* What the traits of samples tell: figures' counts, and how many there are, with each latency. */
struct told {
	u64 sums[FIGURE_COUNTS];
	u64 samples;
	u64 latency[PROFILE_LATENCIES];
};

static void traits_add(const struct traits_catalog *catalog, u16 id, u64 count, struct told *told)
{
	const struct traits *t = traits_of(catalog, id);
	u8 ones[FIGURE_COUNTS];

	told->samples += count;
	if (!t || !count)
		return;
	memcpy(ones, t->ones, sizeof(ones));
	for (unsigned int i = 0; i < FIGURE_COUNTS; i++)
		told->sums[i] += ones[i] * count;
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++)
		told->latency[i] += t->absent[i] ? 0 : count;
}

static void all_traits_add(const struct location_table *table, const struct location *entry,
			   struct told *told)
{
	const struct location_detail *detail = &entry->detail;
	const struct location_chain *chain = chain_at(table, entry->chain);

	for (unsigned int i = 0; i < LOCATION_LANES; i++)
		if (detail->traits[i])
			traits_add(table->traits, detail->traits[i], detail->count[i], told);
	for (; chain; chain = chain_at(table, chain->next))
		for (unsigned int i = 0; i < LOCATION_CHAIN && chain->traits[i]; i++)
			traits_add(table->traits, chain->traits[i], chain->count[i], told);
}

void location_counts(const struct location_table *table, const struct location *entry,
		     struct figure_counts *ret_counts)
{
	struct told told = { 0 };

	all_traits_add(table, entry, &told);
	memcpy(ret_counts, told.sums, sizeof(*ret_counts));
}

/* The bucket, of four an octave, that ends where @octave does. */
static unsigned int octave_bucket(unsigned int octave)
{
	return octave < 3 ? octave : 4 * octave - 6;
}

/* @with: samples that have such a counter */
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

void location_figures(const struct location_table *table, const struct location *entry,
		      struct figures *to)
{
	struct told told = { 0 };

	memcpy(told.sums, &to->counts, sizeof(told.sums));
	all_traits_add(table, entry, &told);
	memcpy(&to->counts, told.sums, sizeof(told.sums));
	to->samples += told.samples;
	total_add(table, entry, told.samples, &to->latency[PROFILE_TOTAL]);
	for (unsigned int i = 0; i < LOCATION_LATENCIES; i++)
		octaves_add(table, entry, i, told.latency[i + 1], &to->latency[i + 1]);
	figures_finish(to);
}

void location_keep(const struct location_table *table, const struct location *entry,
		   struct location_kept *ret_kept)
{
	const struct location_more *more = more_of(table, entry);
	struct location_kept kept = {
		.max = { entry->max, entry->detail.max[0], entry->detail.max[1] },
		.first = entry->first,
		.first_octaves = entry->first_octaves,
		.weight = entry->weight,
	};

	for (unsigned int i = 0; i <= HISTOGRAM_NONE; i++)
		kept.bucket[i] = entry_bucket(table, entry, i);
	for (unsigned int i = 0; i < LOCATION_LATENCIES; i++)
		for (unsigned int k = 0; k < LOCATION_OCTAVES; k++)
			kept.octave[i][k] = entry_octave(table, entry, i, k);
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++)
		kept.latency_sum[i] = entry->detail.sum[i] + (more ? more->latency_sum[i] : 0);
	*ret_kept = kept;
}

/* Counters that are added to one by one: @word has what is in little, @low what was carried over. */
struct counters {
	struct location_table *table;
	struct location *entry;
	u64 *word;
	size_t low;
	size_t wide;
};

/* In little where there is room, so that few need more than that. */
static void counter_add(const struct counters *c, unsigned int i, u64 count)
{
	u64 little = c->word[i / 16] >> i % 16 * 4 & 0xf, sum;
	struct location_more *more;
	u32 *high;
	u8 *low;

	if (!count)
		return;
	if (little + count < 8) {
		c->word[i / 16] += count << i % 16 * 4;
		return;
	}
	more = more_get(c->table, c->entry);
	low = (u8 *)more + c->low + i;
	sum = *low + count;
	*low = (u8)sum;
	if (!(sum >> 8))
		return;
	high = (u32 *)((u8 *)wide_get(c->table, more) + c->wide) + i;
	*high = (sum >> 8) + *high < UINT32_MAX ? (u32)(sum >> 8) + *high : UINT32_MAX;
}

/* How many samples of @from have which latency: all that its counters do not tell. */
static struct told told_of(const struct location_table *table, const struct location *entry)
{
	struct told told = { 0 };

	all_traits_add(table, entry, &told);
	return told;
}

static void merge_total(const struct counters *c, const struct location_table *table,
			const struct location *from, u64 samples)
{
	for (unsigned int i = 0; i <= HISTOGRAM_NONE; i++) {
		u64 count = entry_bucket(table, from, i);

		samples -= count < samples ? count : samples;
		if (i != c->entry->first)
			counter_add(c, i, count);
	}
	if (from->first != c->entry->first)
		counter_add(c, from->first, samples);
}

static void merge_octaves(const struct counters *c, unsigned int latency,
			  const struct location_table *table, const struct location *from, u64 with)
{
	unsigned int first = c->entry->first_octaves >> 4 * latency & 0xf;
	unsigned int others = from->first_octaves >> 4 * latency & 0xf;

	for (unsigned int i = 0; i < LOCATION_OCTAVES; i++) {
		u64 count = entry_octave(table, from, latency, i);

		with -= count < with ? count : with;
		if (i != first)
			counter_add(c, i, count);
	}
	if (others != first)
		counter_add(c, others, with);
}

static void merge_sums(struct location_table *table, struct location *entry,
		       const struct location_table *from_table, const struct location *from)
{
	const struct location_more *theirs = more_of(from_table, from);

	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++) {
		u64 sum = from->detail.sum[i] + (theirs ? theirs->latency_sum[i] : 0);

		if (sum + entry->detail.sum[i] < 1U << 31)
			entry->detail.sum[i] += (u32)sum;
		else
			more_get(table, entry)->latency_sum[i] += sum;
	}
	if (from->max > entry->max)
		entry->max = from->max;
	for (unsigned int i = 0; i < LOCATION_LATENCIES; i++)
		if (from->detail.max[i] > entry->detail.max[i])
			entry->detail.max[i] = from->detail.max[i];
}

void location_merge(struct location_table *table, struct location *entry,
		    const struct location_table *from_table, const struct location *from)
{
	const struct told told = told_of(from_table, from);
	struct counters c = {
		.table = table,
		.entry = entry,
		.word = entry->bucket,
		.low = offsetof(struct location_more, bucket),
		.wide = offsetof(struct location_wide, bucket),
	};

	if (!entry->detail.traits[0] && !entry->chain) {
		entry->first = from->first;
		entry->first_octaves = from->first_octaves;
	}
	merge_total(&c, from_table, from, told.samples);
	for (unsigned int i = 0; i < LOCATION_LATENCIES; i++) {
		c.word = &entry->detail.octave[i];
		c.low = offsetof(struct location_more, octave) + i * LOCATION_OCTAVES;
		c.wide = offsetof(struct location_wide, octave) +
			 i * LOCATION_OCTAVES * sizeof(u32);
		merge_octaves(&c, i, from_table, from, told.latency[i + 1]);
	}
	merge_sums(table, entry, from_table, from);
}

/* @wide: where in a struct location_wide the rest belongs */
static void restore_counts(struct location_table *table, struct location_more *more,
			   const u64 *counts, unsigned int n, u8 *low, size_t wide)
{
	u32 *high;

	for (unsigned int i = 0; i < n; i++) {
		low[i] = (u8)counts[i];
		if (!(counts[i] >> 8))
			continue;
		high = (u32 *)((u8 *)wide_get(table, more) + wide) + i;
		*high = counts[i] >> 8 < UINT32_MAX ? (u32)(counts[i] >> 8) : UINT32_MAX;
	}
}

/* Whether all of it fits what a place has itself, as most do: then nothing is carried over. */
static bool is_little(const struct location_kept *kept)
{
	u64 counts = 0, sums = 0;

	for (unsigned int i = 0; i <= HISTOGRAM_NONE; i++)
		counts |= kept->bucket[i];
	for (unsigned int i = 0; i < LOCATION_LATENCIES; i++)
		for (unsigned int k = 0; k < LOCATION_OCTAVES; k++)
			counts |= kept->octave[i][k];
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++)
		sums |= kept->latency_sum[i];
	return counts < 8 && !(sums >> 31);
}

static void restore_little(struct location *entry, const struct location_kept *kept)
{
	for (unsigned int i = 0; i <= HISTOGRAM_NONE; i++)
		entry->bucket[i / 16] |= kept->bucket[i] << i % 16 * 4;
	for (unsigned int i = 0; i < LOCATION_LATENCIES; i++)
		for (unsigned int k = 0; k < LOCATION_OCTAVES; k++)
			entry->detail.octave[i] |= kept->octave[i][k] << 4 * k;
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++)
		entry->detail.sum[i] = (u32)kept->latency_sum[i];
}

void location_restore(struct location_table *table, struct location *entry,
		      const struct location_kept *kept)
{
	struct location_more *more;

	entry->weight = kept->weight;
	entry->max = kept->max[PROFILE_TOTAL];
	entry->first = kept->first & HISTOGRAM_NONE;
	entry->first_octaves = kept->first_octaves;
	for (unsigned int i = 0; i < LOCATION_LATENCIES; i++)
		entry->detail.max[i] = kept->max[i + 1];
	if (is_little(kept)) {
		restore_little(entry, kept);
		return;
	}
	more = more_get(table, entry);
	restore_counts(table, more, kept->bucket, HISTOGRAM_BUCKETS + 1, more->bucket,
		       offsetof(struct location_wide, bucket));
	for (unsigned int i = 0; i < LOCATION_LATENCIES; i++)
		restore_counts(table, more, kept->octave[i], LOCATION_OCTAVES, more->octave[i],
			       offsetof(struct location_wide, octave) +
				       i * sizeof(((struct location_wide *)0)->octave[0]));
	memcpy(more->latency_sum, kept->latency_sum, sizeof(more->latency_sum));
}

static u32 lane_samples(const struct location_detail *detail)
{
	u32 samples = 0;

	for (unsigned int i = 0; i < LOCATION_LANES; i++)
		samples += detail->count[i];
	return samples;
}

u32 location_rank(const struct location *entry)
{
	u32 samples = lane_samples(&entry->detail);

	return samples < UINT32_MAX - entry->weight ? samples + entry->weight : UINT32_MAX;
}

void location_weigh(struct location *entry, u32 rank)
{
	u32 samples = lane_samples(&entry->detail);

	entry->weight = rank > samples ? rank - samples : 0;
}

static unsigned int lightest(const struct location *set)
{
	unsigned int best = 0;
	u32 least = UINT32_MAX, r;

	for (unsigned int i = 0; i < LOCATION_WAYS; i++) {
		if (!set[i].used)
			return i;
		r = location_rank(&set[i]);
		if (r < least) {
			least = r;
			best = i;
		}
	}
	return best;
}

u64 location_samples(const struct location_table *table, const struct location *entry)
{
	const struct location_chain *chain = chain_at(table, entry->chain);
	u64 samples = lane_samples(&entry->detail);

	for (; chain; chain = chain_at(table, chain->next))
		for (unsigned int i = 0; i < LOCATION_CHAIN && chain->traits[i]; i++)
			samples += chain->count[i];
	return samples;
}

u64 location_latency(const struct location_table *table, const struct location *entry)
{
	const struct location_more *more = more_of(table, entry);

	return entry->detail.sum[PROFILE_TOTAL] + (more ? more->latency_sum[PROFILE_TOTAL] : 0);
}

struct location *location_insert(struct location_table *table, const struct location_key *key,
				 u64 *evicted)
{
	unsigned int way = lightest(table->entries[key->set]);
	struct location *entry = &table->entries[key->set][way];
	u32 weight = 0;

	if (entry->used) {
		weight = location_rank(entry);
		*evicted += location_samples(table, entry);
	}
	more_put(table, entry);
	chain_put(table, entry->chain);
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

/* What is to be there for use again, of each kind: a hundredth of all places is enough for a while. */
static u32 spare_wanted(const struct location_table *table)
{
	return table->sets * LOCATION_WAYS / 128 + 8;
}

/* A kind that has taken little of it all may still grow. */
static bool is_short(const struct location_table *table, const struct location_pool *pool, u64 bytes)
{
	return pool->used * pool->size >= bytes / LOCATION_PARTS && pool->spare < spare_wanted(table);
}

static u64 pools_bytes(const struct location_table *table)
{
	return (u64)table->more.used * table->more.size + (u64)table->wide.used * table->wide.size +
	       (u64)table->chains.used * table->chains.size;
}

/* Whether @entry has something of a kind that there is too little of. */
static bool gives(const struct location_table *table, const struct location *entry, u64 bytes)
{
	const struct location_more *more = more_of(table, entry);

	return (more && is_short(table, &table->more, bytes)) ||
	       (more && more->wide && is_short(table, &table->wide, bytes)) ||
	       (entry->chain && is_short(table, &table->chains, bytes));
}

/* As if it had just come, in the place of what it was. */
static u64 start_over(struct location_table *table, struct location *entry)
{
	u64 samples = location_samples(table, entry);
	u32 weight = location_rank(entry);

	more_put(table, entry);
	chain_put(table, entry->chain);
	*entry = (struct location){
		.place = entry->place,
		.owner = entry->owner,
		.used = true,
		.weight = weight,
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
			if (location_rank(entry) < below && gives(table, entry, bytes))
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
	memset(table->tags, 0, table->sets * sizeof(*table->tags));
	memset(table->entries, 0, lines_size(table));
	pool_clear(&table->more);
	pool_clear(&table->wide);
	pool_clear(&table->chains);
	table->untold = 0;
}
