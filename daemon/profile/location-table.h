/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of locations and their counters. It has a fixed capacity and is set-associative. In
 * a full set a new location replaces the lightest one with a certain probability.
 */
#ifndef SPEPROF_LOCATION_TABLE_H
#define SPEPROF_LOCATION_TABLE_H

#include "counters.h"
#include "sample-class.h"

/* One latency per lane, by &enum profile_latency; the last lane is 0. */
typedef u32 latency_lanes __attribute__((vector_size(16)));

/**
 * struct sample_facts - what a location counts of a sample, computed once
 * @latency: latencies, cycles; 0 without such a counter
 * @sample_class: id of the sample's class
 * @bucket: histogram bucket of each latency, HISTOGRAM_NONE without such a counter
 * @excess: the sample's interval less the table's, modulo 2^64
 */
struct sample_facts {
	latency_lanes latency;
	u16 sample_class;
	u8 bucket[PROFILE_LATENCIES];
	u64 excess;
};

/*
 * A location's histogram counters have four bits, sixteen in a word. When one of them sets its
 * highest bit, all are carried over to larger counters. Those are rarely accessed and therefore
 * usually not in a CPU's cache.
 */
#define LOCATION_WORDS ((HISTOGRAM_BUCKETS + 1) / 16)
#define LOCATION_FULL  0x8888888888888888ULL

/* Issue and translation latency have sixteen buckets of one octave each; the last is unbounded. */
#define LOCATION_LATENCIES (PROFILE_LATENCIES - 1)
#define LOCATION_OCTAVES   16

typedef u16 location_lanes __attribute__((vector_size(16)));
#define LOCATION_LANES 8

/**
 * struct location_detail - what the samples of a location were; one cache line
 * @sample_class: ids of sample classes, each in at most one lane; 0 marks a free lane. One
 *	instruction has few classes
 * @count: samples of each class, below LOCATION_LANE_FULL
 * @octave: histograms of the latencies after PROFILE_TOTAL, modulo what was carried over
 * @sum: sum of each latency, modulo what was carried over
 * @unused: overlays the lanes of @sum that are in use
 * @max: maxima of the latencies after PROFILE_TOTAL; they occupy the lane of @sum without a
 *	latency
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
 * struct location - a PC in a process, and its small counters; two adjacent cache lines
 * @place: the PC and whether it is the kernel's, by location_pc_key()
 * @owner: the process and its generation, by location_owner()
 * @bucket: histogram of total latency, modulo what was carried over to struct location_more.
 *	Samples in no other bucket are in bucket @first
 * @more: number of its struct location_more; 0 for none
 * @chain: number of its first struct location_chain, with the classes that found no lane; 0 for
 *	none
 * @restarted: the entry is new or was evicted and re-added since the history read it
 *	(history-view.c)
 * @max: maximum of total latency, cycles
 * @first: bucket of its first sample; most samples are in it, and it needs no counter
 * @first_octaves: the same for the other latencies, four bits each
 * @used: the entry is in use
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

/* The highest bit of a lane. A count that reaches it is carried over. */
#define LOCATION_LANE_FULL 0x8000U

#define LOCATION_CHAIN 10

/**
 * struct location_chain - further sample classes of a location
 * @next: number of the next chain entry, 0 for none
 * @sample_class: ids; 0 is free. An id whose count is full may occur more than once
 * @count: samples of each class
 */
struct location_chain {
	u32 next;
	u16 sample_class[LOCATION_CHAIN];
	u32 count[LOCATION_CHAIN];
};

/* Limits of a location's chain entries: for full sample classes, and in total. */
#define LOCATION_CHAINS_WHOLE 32
#define LOCATION_CHAINS	      64

/**
 * struct location_more - the larger counters of a location
 * @latency_sum: sums by &enum profile_latency, cycles
 * @wide: number of its struct location_wide; 0 for none
 * @bucket, @octave: histograms, modulo what was carried over to struct location_wide
 */
struct location_more {
	u64 latency_sum[PROFILE_LATENCIES];
	u32 wide;
	u8 bucket[HISTOGRAM_BUCKETS + 1];
	u8 octave[LOCATION_LATENCIES][LOCATION_OCTAVES];
};

/**
 * struct location_wide - the largest counters of a location
 * @bucket, @octave: histograms in units of 256 samples; they saturate at 10^12 samples
 */
struct location_wide {
	u32 bucket[HISTOGRAM_BUCKETS + 1];
	u32 octave[LOCATION_LATENCIES][LOCATION_OCTAVES];
};

/**
 * struct location_pool - entries of one size, handed out in ascending order
 *
 * Entries that were never handed out take no memory.
 * @at: the entries by number, from 1 on
 * @size: size of an entry, bytes
 * @room: the highest number
 * @used: the highest number that was handed out
 * @free: number of the first returned entry, which holds the number of the next; 0 for none
 * @spare: number of returned entries
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
 * One in LOCATION_ODDS samples whose set is full replaces the lightest location, however heavy
 * that is. So the locations of an exited program do not keep out the programs that run now.
 */
#define LOCATION_ODDS 8

/* Number of distinct random numbers. */
#define LOCATION_DRAWS 256

/* Ways of a set. One byte of each way's hash makes up a word that is searched at once. */
#define LOCATION_WAYS 8

/**
 * struct location_set - what is read to find a location, or the entry to evict
 * @tags: one byte per way, the lowest for the first; 0 is free
 * @rank: for each way, its samples and those of the entries it replaced. All are halved before
 *	one overflows
 */
struct location_set {
	u64 tags;
	u16 rank[LOCATION_WAYS];
} __attribute__((aligned(32)));

/**
 * struct location_table - the table; its fields are public so that counting a sample is inline
 * @sample_class: catalog of sample classes, borrowed
 * @seed: random seed of the hash
 * @sets: number of sets, a power of two
 * @set: tags and ranks of each set
 * @entries: the locations, by set and way
 * @octave_one: by bucket, the number that is added to &location_detail.octave
 * @more, @wide: pools of struct location_more and struct location_wide. Each has an entry for
 *	every location, so it never runs out; entries are handed out on demand
 * @chains: pool of struct location_chain
 * @unclassified: samples whose class no entry could record, because the chains were full
 * @interval: interval of a sample whose excess is 0; 0 before the first sample
 * @uneven: a sample had an excess
 * @excess: by entry, the sum of its samples' excess. Usually all samples have one interval, and
 *	this memory is never touched
 * @evicted_weight: weight of the samples whose entry was evicted
 * @draws: state of the random numbers of location_admits()
 * @bound: by random number, the lowest rank that is not evicted
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
	u64 unclassified;
	u32 interval;
	bool uneven;
	u64 *excess;
	u64 evicted_weight;
	u64 draws;
	u16 bound[LOCATION_DRAWS];
};

/**
 * struct location_key - an entry's key, and where to search for it
 * @place, @owner: as in &struct location
 * @set: number of its set
 * @tag: its tag in the set
 * @admitted: it has no entry, and may replace one
 */
struct location_key {
	u64 place;
	u64 owner;
	u32 set;
	u8 tag;
	bool admitted;
};

/* Addresses are sign-extended from bit 55, so one of the bits above can carry other information. */
#define LOCATION_KERNEL 62

static inline u64 location_pc_key(u64 pc, bool kernel)
{
	return pc ^ (u64)kernel << LOCATION_KERNEL;
}

static inline u64 location_key_pc(u64 place)
{
	return (u64)((s64)(place << 8) >> 8);
}

static inline bool location_key_kernel(u64 place)
{
	return (place ^ location_key_pc(place)) >> LOCATION_KERNEL & 1;
}

static inline u64 location_pc(const struct location *entry)
{
	return location_key_pc(entry->place);
}

static inline bool location_kernel(const struct location *entry)
{
	return location_key_kernel(entry->place);
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

/* A bit for each way that may have @tag. The first one surely has it; 0 means that none has it. */
static inline u64 location_candidates(u64 tags, u8 tag)
{
	u64 differ = tags ^ tag * LOCATION_ONES;

	return (differ - LOCATION_ONES) & ~differ & LOCATION_ONES << 7;
}

/* The way to use for a new entry: a free one, whose rank is 0, or the lightest. */
static inline unsigned int location_lightest(const struct location_set *set)
{
	unsigned int least = 0;

	for (unsigned int i = 1; i < LOCATION_WAYS; i++)
		least = set->rank[i] < set->rank[least] ? i : least;
	return least;
}

/**
 * location_salt() - return the hash of an owner, computed once for many calls of
 * location_prepare()
 */
static inline u64 location_salt(const struct location_table *table, u64 owner)
{
	return location_mix(owner ^ table->seed);
}

/** location_prepare() - fill @ret_key, and prefetch the tags of its set */
static inline void location_prepare(const struct location_table *table, u64 place, u64 owner,
				    u64 salt, struct location_key *ret_key)
{
	u64 hash = location_mix(place ^ salt);
	u32 set = (u32)(hash >> 32) & (table->sets - 1);

	*ret_key = (struct location_key){
		.place = place,
		.owner = owner,
		.set = set,
		/* Tag 0 marks free ways. */
		.tag = (u8)(((hash & 0xffff) * 255 >> 16) + 1),
	};
	__builtin_prefetch(&table->set[set], 1);
}

/* Combine both halves: the result is not 0 if a lane has one of @bits. */
static inline u64 location_lanes_any(location_lanes lanes, u16 bits)
{
	typedef u64 halves __attribute__((vector_size(16)));
	halves h = (halves)lanes;

	return (h[0] | h[1]) & bits * 0x0001000100010001ULL;
}

/*
 * Decide at random whether @count samples of a location that is not in @set replace its lightest
 * entry. Each sample replaces it with a probability of 1 in (rank + 1). On average a location
 * then enters the table when it has as many samples as the evicted one, and a location with one
 * sample rarely evicts another. A free way has rank 0.
 */
static inline bool location_admits(struct location_table *table, const struct location_set *set,
				   u32 count)
{
	location_lanes ranks, bounds = { 0 };
	u32 bound;

	/* The highest bits of a linear congruential generator are the most random ones. */
	table->draws = table->draws * 6364136223846793005ULL + 1442695040888963407ULL;
	bound = table->bound[table->draws >> 56] * count;
	memcpy(&ranks, set->rank, sizeof(ranks));
	bounds += (u16)(bound < UINT16_MAX ? bound : UINT16_MAX);
	return location_lanes_any((location_lanes)(ranks < bounds), 1);
}

/**
 * location_draw_victim() - return the entry that a sample with @key may replace; NULL for none
 *
 * The decision is random, as in location_admits(). It is stored in @key->admitted.
 */
const struct location *location_draw_victim(struct location_table *table, struct location_key *key);

/**
 * location_likely() - return the most likely entry of a sample with @key, to be prefetched
 *
 * Call it when the set's tags are in the cache. The caller itself prefetches the entry:
 * compilers remove a function whose only effect is a prefetch.
 *
 * Return: NULL if the sample has no entry and gets none.
 */
static inline const struct location *location_likely(struct location_table *table,
						     struct location_key *key)
{
	u64 ways = location_candidates(table->set[key->set].tags, key->tag);

	/* The expected branch keeps its values in registers: usually the location has an entry. */
	if (__builtin_expect(ways != 0, 1))
		return &table->entries[key->set][__builtin_ctzll(ways) / 8];
	return location_draw_victim(table, key);
}

/**
 * location_insert() - create the entry of @key, which has none yet; parameters as in
 * location_get()
 */
struct location *location_insert(struct location_table *table, const struct location_key *key,
				 u64 *evicted);

/**
 * location_find() - return the entry of a prepared key, NULL for none
 *
 * The pointer is valid until the next insertion.
 */
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
 * location_get() - return the entry of a prepared key; a new one may replace the lightest of its
 * set
 * @evicted: grows by the samples that the replaced entry held
 *
 * Return: the entry, valid until the next insertion.
 */
static inline struct location *location_get(struct location_table *table,
					    const struct location_key *key, u64 *evicted)
{
	struct location *entry = location_find(table, key);

	return entry ? entry : location_insert(table, key, evicted);
}

/**
 * location_get_admitted() - as location_get() for @count samples at once, if they are admitted
 *
 * Return: NULL if they are not: the caller has to count them as evicted.
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

/** location_age() - halve the ranks of the set of @entry */
void location_age(struct location_table *table, const struct location *entry);

static inline u64 *location_excess(const struct location_table *table, const struct location *entry)
{
	return &table->excess[entry - table->entries[0]];
}

/* Returns whether a sum has its highest bit set. The maxima occupy the fourth lane. */
static inline u64 location_sums_full(const struct location_detail *detail)
{
	typedef u64 halves __attribute__((vector_size(16)));
	halves full = (halves)(detail->sum & (latency_lanes){ 1U << 31, 1U << 31, 1U << 31 });

	return full[0] | full[1];
}

/** location_carry() - carry all small counters of @entry over to larger ones */
void location_carry(struct location_table *table, struct location *entry);

/**
 * location_add_class() - count a sample whose class is in no lane
 *
 * For the location's first sample it also stores the histogram buckets.
 */
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

	/* The matching lane is all ones (-1), so subtracting it adds 1 there. */
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

/**
 * location_counters() - add all counters of @entry to @to, except weights, whose unit is unknown
 * here
 */
void location_counters(const struct location_table *table, const struct location *entry,
		       struct counters *to);

/**
 * location_samples(), location_latency() - return the samples, or the sum of total latencies in
 * cycles
 */
u64 location_samples(const struct location_table *table, const struct location *entry);
u64 location_latency(const struct location_table *table, const struct location *entry);

/** location_weight() - return the sum of the samples' intervals */
u64 location_weight(const struct location_table *table, const struct location *entry);

/** location_counts() - compute only the counts of @entry */
void location_counts(const struct location_table *table, const struct location *entry,
		     struct sample_counts *ret_counts);

/**
 * struct location_image - all counters of a location except its sample classes, without overflow
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

/** location_export() - copy the counters of @entry, except its sample classes, to @ret_image */
void location_export(const struct location_table *table, const struct location *entry,
		     struct location_image *ret_image);

/**
 * location_each_class() - call @fn for each sample class of @entry; a class may occur several
 * times
 */
void location_each_class(const struct location_table *table, const struct location *entry,
			 void (*fn)(void *ctx, u16 sample_class, u64 count), void *ctx);

/**
 * location_restore() - set the counters of the new entry @entry to those of location_export()
 *
 * The sample classes follow by location_restore_class().
 */
void location_restore(struct location_table *table, struct location *entry,
		      const struct location_image *kept);

/**
 * location_restore_class() - count that @count more samples of @entry were of
 * class @sample_class
 */
void location_restore_class(struct location_table *table, struct location *entry, u16 sample_class,
			    u64 count);

/* Each kind of larger counters may use 1 / LOCATION_PARTS of the bytes before it is trimmed. */
#define LOCATION_PARTS 8

/**
 * location_table_trim() - evict the lightest locations if their larger counters exceed @bytes
 * @table: the table
 * @bytes: limit of the larger counters' memory; at most a quarter more is in use at any time
 *
 * Freed counters are reused and their memory is not returned. Call the function often enough
 * that the growth between two calls does not matter. Remaining entries do not move. An evicted
 * location keeps its entry, with empty counters.
 *
 * Return: number of samples that the evicted locations held.
 */
u64 location_table_trim(struct location_table *table, u64 bytes);

/**
 * location_merge() - add the counters of @from, an entry of another table, to @entry
 *
 * The sample classes follow by location_restore_class(), with the ids that they have in @table.
 */
void location_merge(struct location_table *table, struct location *entry,
		    const struct location_table *from_table, const struct location *from);

/**
 * location_table_new() - allocate an empty table
 * @capacity: number of locations, rounded up to a power of two, at least 8
 * @sample_class: catalog of the samples' class ids; must outlive the table
 * @ret_table: the table; free it with location_table_free()
 *
 * Return: 0 or -ENOMEM.
 */
int location_table_new(u32 capacity, struct sample_class_catalog *sample_class,
		       struct location_table **ret_table);

/** location_table_free() - free @table, which may be NULL; returns NULL */
struct location_table *location_table_free(struct location_table *table);

/** location_table_next() - return the used entry after @location, or the first for NULL */
struct location *location_table_next(struct location_table *table, struct location *location);

/** location_table_clear() - remove all locations */
void location_table_clear(struct location_table *table);

#endif
