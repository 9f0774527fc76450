/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The counters of cells, for the files that count, fold, read and transfer them. */
#ifndef SPEPROF_CELL_TABLE_INTERNAL_H
#define SPEPROF_CELL_TABLE_INTERNAL_H

#include "cell-table.h"

/* Issue and translation latency have sixteen buckets of one octave each; the last is unbounded. */
#define CELL_LATENCIES (PROFILE_LATENCIES - 1)
#define CELL_OCTAVES   16

/* The key of a pair consists of a sample class and a histogram bucket. */
#define PAIR_BUCKET_BITS 6
#define PAIR_KEY_BITS	 20

static_assert(SAMPLE_CLASS_MAX < 1U << (PAIR_KEY_BITS - PAIR_BUCKET_BITS), "a class fits in a key");
static_assert(HISTOGRAM_NONE < 1U << PAIR_BUCKET_BITS, "a bucket fits in a key");

static inline u32 pair_key_make(u16 sample_class, unsigned int bucket)
{
	return (u32)sample_class << PAIR_BUCKET_BITS | bucket;
}

#define SMALL_COUNT_BITS 12
#define SMALL_COUNT_MAX	 ((1U << SMALL_COUNT_BITS) - 1)

/**
 * struct small_pair - an entry of the first hash table of a cell's counters
 * @head: key and, in the lower SMALL_COUNT_BITS bits, the number of samples; 0 if the entry is free
 * @sum: sum of the total latencies of these samples, cycles; it cannot overflow with the maximum
 *	number of samples
 */
struct small_pair {
	u32 head;
	u32 sum;
};

static_assert((u64)SMALL_COUNT_MAX *UINT16_MAX <= UINT32_MAX, "a sum does not overflow");

#define LARGE_COUNT_BITS 40

/* First key of the octaves; there is a key for each latency and octave. */
#define LARGE_OCTAVES (1U << PAIR_KEY_BITS)
/* First key of the counters of &struct sample_counts; there is a key for each counter. */
#define LARGE_COUNTS (LARGE_OCTAVES * (CELL_LATENCIES + 1))
#define LARGE_KEYS   (LARGE_COUNTS + SAMPLE_COUNTS)

static_assert(LARGE_KEYS <= 1U << (64 - LARGE_COUNT_BITS), "a key fits in a head");

/**
 * struct large_pair - an entry of the second hash table
 * @head: key and, in the lower LARGE_COUNT_BITS bits, the number of samples; 0 if the entry is
 *	free. The number would overflow after twelve days with a million samples a second at one
 *	location. So an entry is full at half of the maximum number, and further samples use another
 *	entry with the same key
 * @sum: sum of the total latencies of these samples, cycles; 0 for octaves and for &struct
 *	sample_counts
 */
struct large_pair {
	u64 head;
	u64 sum;
};

#define LARGE_COUNT_MAX	 ((1ULL << LARGE_COUNT_BITS) - 1)
#define LARGE_COUNT_FULL (1ULL << (LARGE_COUNT_BITS - 1))

/* Binary logarithm of the number of entries of the smallest hash table, which is one cache line. */
#define SMALL_LEAST_BITS 3
#define LARGE_LEAST_BITS 2

/**
 * struct cell_counters - folded samples of a cell; two cache lines
 * @octave: histograms of issue and translation latency, without the samples that moved to large
 *	pairs
 * @latency_sum: sums of the latencies, cycles
 * @weight: sum of the samples' intervals, indexed by &enum sample_unit
 * @small, @large: first lines of the hash tables of pairs; 0 for none
 * @max: maxima, indexed by &enum profile_latency
 * @small_used, @large_used: number of used entries of the hash tables
 * @small_order, @large_order: the hash tables have 2^order lines
 */
struct cell_counters {
	u16 octave[CELL_LATENCIES][CELL_OCTAVES];
	u64 latency_sum[CELL_LATENCIES];
	u64 weight[UNITS];
	u32 small;
	u32 large;
	u16 max[PROFILE_LATENCIES];
	u16 small_used;
	u16 large_used;
	u8 small_order : 4;
	u8 large_order : 4;
} __attribute__((aligned(64)));

static_assert(sizeof(struct cell_counters) == 128, "two cache lines");

#define COUNTERS_ORDER 1

/* &cell_table.bucket has the histogram buckets of latencies below this value. */
#define CELL_BUCKET_VALUES 4096

/** struct cell_interval - an interval and its unit (&enum sample_unit) */
struct cell_interval {
	u32 interval;
	u8 unit;
};

/**
 * struct full_log - a cell with a full log, and its position in the index when the log became full
 *
 * Meanwhile, another cell may have got this position.
 */
struct full_log {
	u32 set;
	u32 cell;
	u8 way;
};

/**
 * struct fold_queue - cells to fold
 * @log: the cells, @count of them
 */
struct fold_queue {
	u32 count;
	struct full_log log[CELL_BATCH];
};

/*
 * Number of batches. The caller fills one batch. Meanwhile the sets of the second batch are being
 * prefetched, and the cells of the third batch.
 */
#define CELL_BATCHES 3

/**
 * struct cell_table - the table
 * @sample_class, @seed: as in &struct cell_table_config
 * @set: the index, an array of @sets sets; @sets is a power of two
 * @cells: the cells, indexed by number; the first number is 1
 * @capacity: highest possible number of a cell
 * @fresh: highest number that was ever used
 * @free: number of the first free cell; 0 for none. In a free cell, &cell.counters is the number of
 *	the next free cell
 * @used: number of cells in use
 * @lines: memory of counters and pairs
 * @lines_limit: maximum number of lines in use, without those of evicted samples
 * @grows: the table has no budget, so it grows without limit
 * @batch: the batches, used as a ring; @batches is the number of batches added so far
 * @queue: cells to fold, in two steps: the first prefetches the pairs, the second folds
 * @evicted: indexed by evicted_get_index(): cell of the evicted samples of a program; NULL for
 *	none. The first entry is never NULL
 * @evicted_programs: number of entries of @evicted
 * @evicted_used: number of entries of @evicted that are not NULL
 * @interval: the intervals, indexed by number; @intervals of them
 * @draws: state of the random numbers
 * @bound: indexed by random number: only cells with a lower rank are replaced
 * @hand_insert: index of the set that is searched next for a cell to replace
 * @hand_reclaim: index of the set that is searched next for a cell with counters to evict
 * @stats: statistics that are counted; cell_table_get_stats() computes the others
 * @inexact: the pairs of a cell reached their limit
 * @ranks_aged: ranks may differ from the number of samples of their cells, even if the table has no
 *	budget
 * @bucket: histogram buckets, indexed by latency
 */
struct cell_table {
	struct sample_class_catalog *sample_class;
	u64 seed;
	struct cell_set *set;
	u32 sets;
	struct cell *cells;
	u32 capacity;
	u32 fresh;
	u32 free;
	u32 used;
	struct line_pool lines;
	u32 lines_limit;
	bool grows;
	struct cell_batch batch[CELL_BATCHES];
	u64 batches;
	struct fold_queue queue[2];
	struct cell **evicted;
	u32 evicted_programs;
	u32 evicted_used;
	struct cell_interval interval[CELL_INTERVALS];
	u32 intervals;
	u64 draws;
	u16 bound[CELL_DRAWS];
	u32 hand_insert;
	u32 hand_reclaim;
	struct cell_table_stats stats;
	bool inexact;
	bool ranks_aged;
	u8 bucket[CELL_BUCKET_VALUES];
};

static inline struct cell_counters *counters_at(const struct cell_table *t, u32 line)
{
	return line_pool_at(&t->lines, line);
}

/** cell_get_counters() - return the counters of @c; NULL if it has none */
static inline struct cell_counters *cell_get_counters(const struct cell_table *t,
						      const struct cell *c)
{
	return c->counters ? counters_at(t, c->counters) : NULL;
}

static inline u32 get_small_capacity(const struct cell_counters *n)
{
	return n->small ? 1U << (SMALL_LEAST_BITS + n->small_order) : 0;
}

static inline u32 get_large_capacity(const struct cell_counters *n)
{
	return n->large ? 1U << (LARGE_LEAST_BITS + n->large_order) : 0;
}

static inline struct small_pair *get_small_pairs(const struct cell_table *t,
						 const struct cell_counters *n)
{
	return line_pool_at(&t->lines, n->small);
}

static inline struct large_pair *get_large_pairs(const struct cell_table *t,
						 const struct cell_counters *n)
{
	return line_pool_at(&t->lines, n->large);
}

/* The functions below unpack the fields of cell_sample_pack(). */
static inline u16 sample_unpack_class(u64 sample)
{
	return (u16)(sample >> 48);
}

static inline u16 sample_unpack_latency(u64 sample, enum profile_latency latency)
{
	return (u16)(sample >> (32 - 16 * latency));
}

/* Return the id of a class. In packed samples and pairs, the number 0 means SAMPLE_CLASS_OTHERS. */
static inline u16 class_number_to_id(u16 number)
{
	return number ? number : SAMPLE_CLASS_OTHERS;
}

static inline unsigned int latency_get_bucket(const struct cell_table *t, u16 value)
{
	return value < CELL_BUCKET_VALUES ? t->bucket[value] : histogram_get_bucket(value);
}

/* Return the octave of a latency. The octaves are 0, 1, 2, (2, 4], (4, 8] and so on. */
static inline unsigned int latency_get_octave(u16 value)
{
	unsigned int octave = value < 2 ? value : 33 - (unsigned int)__builtin_clz(value - 1U);

	return octave < CELL_OCTAVES ? octave : CELL_OCTAVES - 1;
}

/*
 * Return whether a packed sample has a latency. SAMPLE_CLASS_OTHERS does not define which latencies
 * exist; for its samples a latency of 0 counts as absent.
 */
static inline bool sample_has_latency(const struct cell_table *t, u64 sample,
				      enum profile_latency latency)
{
	u16 number = sample_unpack_class(sample);

	return number ? !t->sample_class->at[number].absent[latency] :
			sample_unpack_latency(sample, latency) != 0;
}

static inline unsigned int sample_get_bucket(const struct cell_table *t, u64 sample)
{
	return sample_has_latency(t, sample, PROFILE_TOTAL) ?
		       latency_get_bucket(t, sample_unpack_latency(sample, PROFILE_TOTAL)) :
		       HISTOGRAM_NONE;
}

static inline u32 evicted_get_index(u32 program)
{
	return program == CELL_NO_PROGRAM ? 0 : program + 1;
}

static inline u32 cell_get_program(const struct cell *c)
{
	return (u32)(c->owner >> 32);
}

static inline u32 cell_get_binary(const struct cell *c)
{
	return (u32)c->owner;
}

/** cell_fold() - add the first @count samples of the log of @c to its counters */
void cell_fold(struct cell_table *t, struct cell *c, unsigned int count);

/**
 * cell_counters_prefetch() - prefetch the pairs of a cell; its counters should be in the CPU's
 * cache
 */
void cell_counters_prefetch(const struct cell_table *t, const struct cell *c);

/** cell_log_prefetch() - prefetch the pairs of the samples in a full log */
void cell_log_prefetch(const struct cell_table *t, const struct cell *c);

/**
 * cell_counters_get_or_add() - return the counters of @c; NULL if it has none and memory for them
 * cannot be allocated
 */
struct cell_counters *cell_counters_get_or_add(struct cell_table *t, struct cell *c);

/**
 * cell_pair_add() - add @count samples to a pair of @c
 * @n: counters of @c, from cell_counters_get_or_add()
 * @key: key of the pair, from pair_key_make()
 * @sum: sum of the samples' total latencies
 *
 * If memory for the pair cannot be allocated, the samples count as evicted.
 */
void cell_pair_add(struct cell_table *t, struct cell *c, struct cell_counters *n, u32 key,
		   u64 count, u64 sum);

/** cell_octave_add() - add @count samples to an octave of a latency after PROFILE_TOTAL */
void cell_octave_add(struct cell_table *t, struct cell *c, struct cell_counters *n,
		     unsigned int latency, unsigned int octave, u64 count);

/**
 * cell_property_add() - add @count samples to a counter of &struct sample_counts
 * @index: the counter's index in the struct
 *
 * Most of these counters are computed from the pairs. Use this function for samples if their pair
 * does not store their complete class.
 */
void cell_property_add(struct cell_table *t, struct cell *c, struct cell_counters *n,
		       unsigned int index, u64 count);

/** cell_counters_count_samples() - return the number of samples in the pairs of @n */
u64 cell_counters_count_samples(const struct cell_table *t, const struct cell_counters *n);

/** cell_counters_free() - free all counters of @c */
void cell_counters_free(struct cell_table *t, struct cell *c);

/**
 * cell_add_counters() - add the counters at @from to those of @c
 * @c: a cell of @t, or the cell of a program's evicted samples
 * @from_table: the table of @from, which may be @t
 * @numbers: class numbers of @t, indexed by those of @from_table; NULL if both have the same
 *	numbers
 */
void cell_add_counters(struct cell_table *t, struct cell *c, const struct cell_table *from_table,
		       const struct cell_counters *from, const u16 *numbers);

/** cell_is_for_evicted() - return whether @c counts the evicted samples of a program */
bool cell_is_for_evicted(const struct cell_table *t, const struct cell *c);

/** cell_get_for_evicted() - return the cell of the evicted samples of @program */
struct cell *cell_get_for_evicted(struct cell_table *t, u32 program);

/** cell_log_evicted_sample() - count a sample as evicted */
void cell_log_evicted_sample(struct cell_table *t, u32 program, u64 sample, u8 interval);

/**
 * cell_lines_alloc() - allocate a block of lines for the counters of @c
 *
 * If the budget is exhausted, cells are evicted that are lighter than @c. A random draw decides
 * whether heavier cells are evicted.
 *
 * Return: the first line of the block; 0 if no memory could be freed. The caller then counts the
 * samples as evicted.
 */
u32 cell_lines_alloc(struct cell_table *t, const struct cell *c, unsigned int order);

/** struct cell_slot - the position of a cell in the index */
struct cell_slot {
	struct cell_set *set;
	unsigned int way;
};

/**
 * cell_insert() - return the cell of @owner and @offset; create it if it does not exist
 * @hash: result of cell_hash()
 * @count: number of samples for the cell, at least 1
 * @ret_slot: position of the cell in the index
 *
 * Return: the cell; NULL if a new cell is not admitted.
 */
struct cell *cell_insert(struct cell_table *t, u64 hash, u64 owner, u64 offset, u32 count,
			 struct cell_slot *ret_slot);

/** cell_index_prefetch() - prefetch the set of a hash */
void cell_index_prefetch(const struct cell_table *t, u64 hash);

/**
 * cell_prefetch() - return and prefetch the probable cell of a hash; its set should be in the CPU's
 * cache
 */
const struct cell *cell_prefetch(const struct cell_table *t, u64 hash);

/** cell_log_add() - count a sample in @c, the cell at @slot */
void cell_log_add(struct cell_table *t, struct cell *c, struct cell_slot slot, u64 sample,
		  u8 interval);

/** cell_rank_add() - add @count to the rank of the cell at @slot */
void cell_rank_add(struct cell_table *t, struct cell_slot slot, u32 count);

/** cell_fold_logs() - fold the logs of all cells */
void cell_fold_logs(struct cell_table *t);

#endif
