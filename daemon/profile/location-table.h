/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is kept of a set of samples, and the table of places they were taken at: of fixed
 * capacity, set-associative. Who comes to a full set replaces its lightest by a draw.
 */
#ifndef SPEPROF_LOCATION_TABLE_H
#define SPEPROF_LOCATION_TABLE_H

#include "counters.h"
#include "sample-class.h"

/* A latency in each lane, by &enum profile_latency; the last is 0. */
typedef u32 latency_lanes __attribute__((vector_size(16)));

/**
 * struct sample_facts - what a location counts of a sample, worked out once
 * @latency: cycles, 0 where there is no such counter
 * @sample_class: id of what it is
 * @bucket: of latencies, HISTOGRAM_NONE where there is no such counter
 * @excess: its interval less the table's, modulo 2^64
 */
struct sample_facts {
	latency_lanes latency;
	u16 sample_class;
	u8 bucket[PROFILE_LATENCIES];
	u64 excess;
};

/*
 * Counters of a location's histograms have four bits, sixteen in a word. Where one has its
 * highest bit set all of them are carried over: what they are carried to is in no cache, mostly.
 */
#define LOCATION_WORDS ((HISTOGRAM_BUCKETS + 1) / 16)
#define LOCATION_FULL  0x8888888888888888ULL

/* Issue and translation latency: sixteen buckets, an octave each, the last without an end. */
#define LOCATION_LATENCIES (PROFILE_LATENCIES - 1)
#define LOCATION_OCTAVES   16

typedef u16 location_lanes __attribute__((vector_size(16)));
#define LOCATION_LANES 8

/**
 * struct location_detail - of a location, what its samples were: one cache line
 * @sample_class: ids, each in one lane at most; 0 in lanes that are free. An instruction has few
 * @count: samples of them, below LOCATION_LANE_FULL
 * @octave: of the latencies behind PROFILE_TOTAL, modulo what was carried over
 * @sum: of all latencies, modulo that
 * @max: of those behind PROFILE_TOTAL; where @sum has no latency
 */
struct location_detail {
	location_lanes sample_class;
	location_lanes count;
	u64 octave[LOCATION_LATENCIES];
	union {
		latency_lanes sum;
		struct {
			u32 unused[PROFILE_LATENCIES];
			u16 max[LOCATION_LATENCIES];
		};
	};
} __attribute__((aligned(64)));

static_assert(sizeof(struct location_detail) == 64, "a cache line");

/**
 * struct location - a PC in a process, and its figures in little: two cache lines side by side
 * @place: the PC and whether the kernel's, by location_pc_key()
 * @owner: process and its generation, by location_owner()
 * @bucket: of total latency, modulo what was carried over to the table's struct
 *	location_more; what of the samples is in no other bucket is in @first
 * @more: number of its struct location_more; 0 for none
 * @chain: number of the first struct location_chain, which has what found no lane; 0 for none
 * @restarted: it came, or gave way and came again, since that was taken note of (history-view.c)
 * @max: total latency
 * @first: the bucket of its first sample: most are there, and they need not be counted
 * @first_octaves: and those of the other latencies, a nibble each
 * @used: whether there is one
 * @detail: what its samples were
 */
struct location {
	u64 place;
	u64 owner;
	u64 bucket[LOCATION_WORDS];
	u32 more;
	u32 chain;
	bool restarted;
	u16 max;
	u8 first : 7;
	u8 used : 1;
	u8 first_octaves;
	struct location_detail detail;
} __attribute__((aligned(128)));

static_assert(sizeof(struct location) == 128, "two cache lines");

/* The highest bit of a lane: it is carried over. */
#define LOCATION_LANE_FULL 0x8000U

#define LOCATION_CHAIN 10

/**
 * struct location_chain - more of a location's traits
 * @next: number of the next one, 0 for none
 * @sample_class: ids; 0 is free. One that is full may be there again
 */
struct location_chain {
	u32 next;
	u16 sample_class[LOCATION_CHAIN];
	u32 count[LOCATION_CHAIN];
};

/* How many of them a location may have for whole traits, and in all. */
#define LOCATION_CHAINS_WHOLE 32
#define LOCATION_CHAINS	      64

/**
 * struct location_more - what a location's small counters could not hold
 * @latency_sum: by &enum profile_latency
 * @wide: number of its struct location_wide; 0 for none
 * @bucket, @octave: modulo what that has
 */
struct location_more {
	u64 latency_sum[PROFILE_LATENCIES];
	u32 wide;
	u8 bucket[HISTOGRAM_BUCKETS + 1];
	u8 octave[LOCATION_LATENCIES][LOCATION_OCTAVES];
};

/**
 * struct location_wide - what a location_more could not hold
 * @bucket, @octave: in units of 256; saturates, at 10^12
 */
struct location_wide {
	u32 bucket[HISTOGRAM_BUCKETS + 1];
	u32 octave[LOCATION_LATENCIES][LOCATION_OCTAVES];
};

/**
 * struct location_pool - entries of one size, handed out from the first on: those that
 * never were take no memory
 * @at: entries by number, from 1 on
 * @size: of one
 * @room: the highest number
 * @used: the highest number that was handed out
 * @free: the first of those that came back, which say the next one; 0 for none
 * @spare: how many did
 */
struct location_pool {
	u8 *at;
	size_t size;
	u32 room;
	u32 used;
	u32 free;
	u32 spare;
};

/*
 * One of so many samples that find their set full replaces its lightest place, however heavy that
 * is: those of a program that has ended are not to keep out what runs now.
 */
#define LOCATION_ODDS 8

/* Numbers that are drawn. */
#define LOCATION_DRAWS 256

/* Ways of a set: a byte of each one's hash makes a word that is searched at once. */
#define LOCATION_WAYS 8

/**
 * struct location_set - what is looked at to find a place, or to make room for one
 * @tags: a byte for each way, the lowest for the first; 0 is free
 * @rank: of each: its samples, and those of what it replaced; all are halved before one runs over
 */
struct location_set {
	u64 tags;
	u16 rank[LOCATION_WAYS];
} __attribute__((aligned(32)));

/**
 * struct location_table - open, so that what a sample does is inline
 * @set: by number
 * @octave_one: by bucket, what is added to &location_detail.octave
 * @more, @wide: of struct location_more and struct location_wide: with room for one for
 *	each entry, so that they never run out, and packed by need, so that few are few
 * @sample_class: of what locations count
 * @chains: of struct location_chain
 * @untold: samples that are in none of its entries, as there was no room for what they were
 * @interval: what a sample stands for that has no excess; 0 before the first
 * @excess: by entry, the sum of its samples': mostly all have one interval, and none is touched
 * @uneven: there was one
 * @evicted_weight: what samples that are in no entry any more stood for
 * @draws: what location_admits() draws from
 * @bound: by what was drawn, the rank from which on a place stays where it is
 */
struct location_table {
	struct sample_class_catalog *sample_class;
	u64 seed;
	u32 sets;
	struct location_set *set;
	struct location (*entries)[LOCATION_WAYS];
	u64 octave_one[HISTOGRAM_BUCKETS + 1];
	struct location_pool more;
	struct location_pool wide;
	struct location_pool chains;
	u64 untold;
	u32 interval;
	bool uneven;
	u64 *excess;
	u64 evicted_weight;
	u64 draws;
	u16 bound[LOCATION_DRAWS];
};

/**
 * struct location_key - which entry, and where it is looked for
 * @admitted: there was none, and one may be replaced for it
 */
struct location_key {
	u64 place;
	u64 owner;
	u32 set;
	u8 tag;
	bool admitted;
};

/* Addresses are sign-extended from bit 55: one of the bits above can tell something else. */
#define LOCATION_KERNEL 62

static inline u64 location_pc_key(u64 pc, bool kernel)
{
	return pc ^ (u64)kernel << LOCATION_KERNEL;
}

static inline u64 location_pc(const struct location *entry)
{
	return (u64)((s64)(entry->place << 8) >> 8);
}

static inline bool location_kernel(const struct location *entry)
{
	return (entry->place ^ location_pc(entry)) >> LOCATION_KERNEL & 1;
}

static inline u64 location_owner(u32 process, u32 generation)
{
	return (u64)process << 32 | generation;
}

static inline u32 location_process(const struct location *entry)
{
	return (u32)(entry->owner >> 32);
}

static inline u32 location_generation(const struct location *entry)
{
	return (u32)entry->owner;
}

#define LOCATION_ONES 0x0101010101010101ULL

static inline u64 location_mix(u64 x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	return x ^ x >> 32;
}

/* A bit for each way that may have @tag: for the first of them it is sure, as is none. */
static inline u64 location_candidates(u64 tags, u8 tag)
{
	u64 differ = tags ^ tag * LOCATION_ONES;

	return (differ - LOCATION_ONES) & ~differ & LOCATION_ONES << 7;
}

/* The way that makes room: a free one, whose rank is 0, or the lightest. */
static inline unsigned int location_lightest(const struct location_set *set)
{
	unsigned int least = 0;

	for (unsigned int i = 1; i < LOCATION_WAYS; i++)
		least = set->rank[i] < set->rank[least] ? i : least;
	return least;
}

/** location_salt() - of an owner, for location_prepare(): worked out once for many places */
static inline u64 location_salt(const struct location_table *table, u64 owner)
{
	return location_mix(owner ^ table->seed);
}

/** location_prepare() - fill @key, and fetch its set's tags into the cache */
static inline void location_prepare(const struct location_table *table, u64 place, u64 owner,
				    u64 salt, struct location_key *ret_key)
{
	u64 hash = location_mix(place ^ salt);
	u32 set = (u32)(hash >> 32) & (table->sets - 1);

	*ret_key = (struct location_key){
		.place = place,
		.owner = owner,
		.set = set,
		/* 0 is of free ways. */
		.tag = (u8)(((hash & 0xffff) * 255 >> 16) + 1),
	};
	__builtin_prefetch(&table->set[set], 1);
}

/* Both halves, or'ed: whether a lane has one of @bits. */
static inline u64 location_lanes_any(location_lanes lanes, u16 bits)
{
	typedef u64 halves __attribute__((vector_size(16)));
	halves h = (halves)lanes;

	return (h[0] | h[1]) & bits * 0x0001000100010001ULL;
}

/*
 * Whether @count samples of a place that is not in @set replace its lightest, by a draw: as if each
 * one did with 1 in its rank and one more. In the mean a place then is there once it had as many as
 * the one that goes, and what comes once seldom costs another its counters. A free way has rank 0.
 */
static inline bool location_admits(struct location_table *table, const struct location_set *set,
				   u32 count)
{
	location_lanes ranks, bounds = { 0 };
	u32 bound;

	/* Of such a generator's numbers the highest bits are the best. */
	table->draws = table->draws * 6364136223846793005ULL + 1442695040888963407ULL;
	bound = table->bound[table->draws >> 56] * count;
	memcpy(&ranks, set->rank, sizeof(ranks));
	bounds += (u16)(bound < UINT16_MAX ? bound : UINT16_MAX);
	return location_lanes_any((location_lanes)(ranks < bounds), 1);
}

/** location_draw_victim() - the entry that a sample with @key may replace, by a draw; NULL for none */
const struct location *location_draw_victim(struct location_table *table, struct location_key *key);

/**
 * location_likely() - what is most likely the entry of a sample with @key, once its tags are there
 *
 * To be fetched by the caller: a function that does no more than fetch has no effect,
 * as compilers see it, and is left out.
 *
 * Return: NULL if it has none, and is to have none.
 */
static inline const struct location *location_likely(struct location_table *table,
						     struct location_key *key)
{
	u64 ways = location_candidates(table->set[key->set].tags, key->tag);

	/* What is foreseen keeps its registers: a place that is there is the more usual sample. */
	if (__builtin_expect(ways != 0, 1))
		return &table->entries[key->set][__builtin_ctzll(ways) / 8];
	return location_draw_victim(table, key);
}

/** location_insert() - the entry of @key, which is not there yet: see location_get() */
struct location *location_insert(struct location_table *table, const struct location_key *key,
				 u64 *evicted);

/** location_find() - the entry of a prepared key, NULL for none. It stays until another comes */
static inline struct location *location_find(const struct location_table *table,
					     const struct location_key *key)
{
	u64 ways = location_candidates(table->set[key->set].tags, key->tag);
	struct location *entry;

	for (; ways; ways &= ways - 1) {
		entry = &table->entries[key->set][__builtin_ctzll(ways) / 8];
		if (entry->place == key->place && entry->owner == key->owner)
			return entry;
	}
	return NULL;
}

/**
 * location_get() - the entry of a prepared key, replacing the lightest of its set
 * where there is no room. It stays where it is until the next call.
 * @evicted: grows by the samples that the replaced entry held
 */
static inline struct location *location_get(struct location_table *table,
					    const struct location_key *key, u64 *evicted)
{
	struct location *entry = location_find(table, key);

	return entry ? entry : location_insert(table, key, evicted);
}

/**
 * location_get_admitted() - as location_get() for @count samples at once, where they get room
 *
 * Return: NULL if they do not: they are the caller's to count.
 */
static inline struct location *location_get_admitted(struct location_table *table,
						     const struct location_key *key, u32 count,
						     u64 *evicted)
{
	struct location *entry = location_find(table, key);

	if (!entry && location_admits(table, &table->set[key->set], count))
		entry = location_insert(table, key, evicted);
	return entry;
}

static inline u16 *location_rank(const struct location_table *table, const struct location *entry)
{
	size_t index = (size_t)(entry - table->entries[0]);

	return &table->set[index / LOCATION_WAYS].rank[index % LOCATION_WAYS];
}

/** location_age() - halve the ranks of @entry's set */
void location_age(struct location_table *table, const struct location *entry);

static inline u64 *location_excess(const struct location_table *table, const struct location *entry)
{
	return &table->excess[entry - table->entries[0]];
}

/* Whether a sum has its highest bit set. Maxima are where a fourth one would be. */
static inline u64 location_sums_full(const struct location_detail *detail)
{
	typedef u64 halves __attribute__((vector_size(16)));
	halves full = (halves)(detail->sum & (latency_lanes){ 1U << 31, 1U << 31, 1U << 31 });

	return full[0] | full[1];
}

/** location_carry() - make room in all counters of @entry */
void location_carry(struct location_table *table, struct location *entry);

/** location_add_class() - count a sample whose traits are in no lane; notes the first's buckets */
void location_add_class(struct location_table *table, struct location *entry,
			const struct sample_facts *facts);

/** location_add() - count a sample in @entry of @table */
static inline void location_add(struct location_table *table, struct location *entry,
				const struct sample_facts *facts)
{
	struct location_detail *detail = &entry->detail;
	location_lanes wanted = (location_lanes){ 0 } + facts->sample_class;
	location_lanes there = (location_lanes)(detail->sample_class == wanted);
	unsigned int bucket = facts->bucket[PROFILE_TOTAL];
	u64 full;

	if (++*location_rank(table, entry) == UINT16_MAX)
		location_age(table, entry);

	/* All ones where it is: 1 is added there. */
	detail->count -= there;
	if (!location_lanes_any(there, 1))
		location_add_class(table, entry, facts);
	full = location_lanes_any(detail->count, LOCATION_LANE_FULL);

	entry->bucket[bucket / 16] += (u64)(bucket != entry->first) << bucket % 16 * 4;
	full |= entry->bucket[bucket / 16] & LOCATION_FULL;
	for (unsigned int i = 0; i < LOCATION_LATENCIES; i++) {
		u64 first = 1ULL << 4 * (entry->first_octaves >> 4 * i & 0xf);

		detail->octave[i] += table->octave_one[facts->bucket[i + 1]] & ~first;
		full |= detail->octave[i] & LOCATION_FULL;
	}

	detail->sum += facts->latency;
	full |= location_sums_full(detail);
	if (facts->latency[PROFILE_TOTAL] > entry->max)
		entry->max = (u16)facts->latency[PROFILE_TOTAL];
	for (unsigned int i = 0; i < LOCATION_LATENCIES; i++)
		if (facts->latency[i + 1] > detail->max[i])
			detail->max[i] = (u16)facts->latency[i + 1];
	if (full)
		location_carry(table, entry);
	if (facts->excess) {
		table->uneven = true;
		*location_excess(table, entry) += facts->excess;
	}
}

/** location_counters() - add all that @entry has counted, but for weights, which have no unit here */
void location_counters(const struct location_table *table, const struct location *entry,
		       struct counters *to);

/** location_samples(), location_latency() - a figure of it alone; latency is the total's sum */
u64 location_samples(const struct location_table *table, const struct location *entry);
u64 location_latency(const struct location_table *table, const struct location *entry);

/** location_weight() - the sum of its samples' intervals */
u64 location_weight(const struct location_table *table, const struct location *entry);

/** location_counts() - of its figures the counts alone */
void location_counts(const struct location_table *table, const struct location *entry,
		     struct sample_counts *ret_counts);

/**
 * struct location_image - all that a location has but its traits, as numbers that run over nothing
 */
struct location_image {
	u64 bucket[HISTOGRAM_BUCKETS + 1];
	u64 octave[LOCATION_LATENCIES][LOCATION_OCTAVES];
	u64 latency_sum[PROFILE_LATENCIES];
	u16 max[PROFILE_LATENCIES];
	u8 first;
	u8 first_octaves;
	u16 rank;
	u64 excess;
};

void location_export(const struct location_table *table, const struct location *entry,
		     struct location_image *ret_kept);

/** location_each_class() - calls @fn for each traits it has, some maybe more than once */
void location_each_class(const struct location_table *table, const struct location *entry,
			 void (*fn)(void *ctx, u16 sample_class, u64 count), void *ctx);

/** location_restore() - @entry, which is new, is as it was when it was kept */
void location_restore(struct location_table *table, struct location *entry,
		      const struct location_image *kept);

/** location_restore_class() - and @count more of its samples were @sample_class */
void location_restore_class(struct location_table *table, struct location *entry, u16 sample_class,
			    u64 count);

/* Of the bytes of location_table_trim(): what a kind of counters has before it is asked to give. */
#define LOCATION_PARTS 8

/**
 * location_table_trim() - places give way, the lightest first, where counters have outgrown @bytes
 *
 * Of memory that counters were carried to, and a quarter more at the most: what was taken is not given back, but used again. To be
 * called often enough that what comes in between does not matter. Entries move nowhere; those that
 * give way are as if they had just come.
 *
 * Return: samples that they held.
 */
u64 location_table_trim(struct location_table *table, u64 bytes);

/**
 * location_merge() - what @from, of another table, has counted is added to @entry, but for its traits:
 * those follow, by location_restore_class() and with the numbers that they have in @table
 */
void location_merge(struct location_table *table, struct location *entry,
		    const struct location_table *from_table, const struct location *from);

/**
 * location_table_new() - @capacity is rounded up to a power of two, at least 8
 * @sample_class: whose ids samples will have; outlives it
 */
int location_table_new(u32 capacity, struct sample_class_catalog *sample_class,
		       struct location_table **ret_table);
struct location_table *location_table_free(struct location_table *table);

/** location_table_next() - the used entry after @location, or the first for NULL */
struct location *location_table_next(struct location_table *table, struct location *location);

void location_table_clear(struct location_table *table);

#endif
