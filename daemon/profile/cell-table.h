/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of cells. A cell counts the samples of one program at one location, which is an offset
 * in a binary. So all processes of a program share cells, and nothing is removed when a process
 * exits. Each session has a table of its own.
 *
 * Memory, in the order in which a sample reaches it:
 *
 *	struct cell_set      one cache line: 8 ways with tag, number of the cell, rank, fill level
 *	  |
 *	struct cell          two cache lines: key, and a log of the last 13 samples, 8 bytes each
 *	  |  (the log is full)
 *	struct cell_counters two cache lines: octaves, sums, maxima, weight
 *	  |
 *	pairs                (sample class, latency bucket) -> count and latency sum; a hash table
 *	                     of 8, 16, 32 ... entries, 8 bytes each. A count that reaches its limit
 *	                     moves to a second hash table with entries of 16 bytes
 *
 * Counting a sample needs one store into the log and two increments in the set. When the log is
 * full, the counters of the cell are prefetched. After two more batches (64 samples), the log is
 * folded into the counters. A cell with few samples has no counters at all. Operations, events and
 * levels are computed from the sample classes, and the latency of each level from the pairs.
 *
 * A table with a memory budget evicts cells. If a sample has no cell, and no cell is free, a random
 * draw decides whether its new cell replaces the lightest candidate. The probability is 1 in (rank
 * of the candidate + 1), but at least 1 in CELL_ODDS. Each program has an additional cell for its
 * evicted samples, so the sums over all rows are exact.
 *
 * The number of pairs of a cell is limited. At the limit, further samples use pairs with a class
 * without events, then pairs without a class. The properties that such a pair does not store are
 * counted for the whole cell: events, operations, and levels without their latency.
 *
 * A table without a budget grows instead of evicting cells, because the counters of a recording
 * must not depend on the order of samples.
 *
 * One thread owns a table. If several threads count, each has its own table (a shard), and
 * cell_table_merge() adds the shards to the table that readers see.
 */
#ifndef SPEPROF_CELL_TABLE_H
#define SPEPROF_CELL_TABLE_H

#include "counters.h"
#include "line-pool.h"
#include "sample-class.h"
#include "util/serialize.h"

/*
 * Number of ways of a set. &cell_set.tags has a byte of the hash of each way in one word, so all
 * ways are compared at once.
 */
#define CELL_WAYS 8
/* Entries of &cell.sample, the log of a cell. */
#define CELL_LOG 13
/* Entries of each array of &struct cell_batch. */
#define CELL_BATCH 32
/* A new cell replaces the lightest candidate with a probability of at least 1 in CELL_ODDS. */
#define CELL_ODDS 8
/* Entries of &cell_table.bound, the possible random numbers of a draw. */
#define CELL_DRAWS 256
/* Entries of &cell_table.interval: a table with more different intervals must fold all logs. */
#define CELL_INTERVALS 256

/* Upper bound (exclusive) of the ids of programs. */
#define CELL_PROGRAMS_MAX (1U << 20)

/* The program of samples without a known process. It has cells like every other program. */
#define CELL_NO_PROGRAM UINT32_MAX
/* The binary of samples with a PC in no known mapping. */
#define CELL_UNMAPPED UINT32_MAX

/**
 * struct cell_set - the data to find a cell, or a cell to evict; one cache line
 * @tags: one byte per way, the lowest byte for the first way; 0 marks a free way
 * @cell: number of each way's cell
 * @rank: for each way, the number of samples of its cell and of the cells that this cell replaced.
 *	All ranks of the set are halved before a rank overflows
 * @fill: for each way, the number of samples in the log of its cell
 */
struct cell_set {
	u64 tags;
	u32 cell[CELL_WAYS];
	u16 rank[CELL_WAYS];
	u8 fill[CELL_WAYS];
} __attribute__((aligned(64)));

static_assert(sizeof(struct cell_set) == 64, "a cache line");

/**
 * struct cell - a location of a program, and a log of samples; two adjacent cache lines
 * @offset: offset in the binary; for kernel code, the address
 * @owner: program and binary, from cell_owner_make()
 * @counters: line of its struct cell_counters; 0 for none
 * @interval: number of the interval of all samples in the log
 * @restarted: the cell was added, or samples of it were evicted, since the history last read it
 * @fill: number of samples in the log, only for a cell of evicted samples: it has no &cell_set.fill
 * @sample: the log, packed by cell_sample_pack()
 */
struct cell {
	u64 offset;
	u64 owner;
	u32 counters;
	u8 interval;
	bool restarted;
	u8 fill;
	u64 sample[CELL_LOG];
} __attribute__((aligned(128)));

static_assert(sizeof(struct cell) == 128, "two cache lines");

/**
 * struct cell_batch - samples to count, as columns
 * @count: number of samples, at most CELL_BATCH
 * @hash: result of cell_hash()
 * @offset, @owner: as in &struct cell
 * @sample: the sample, packed by cell_sample_pack()
 * @interval: result of cell_table_get_interval()
 * @cell, @way: private
 */
struct cell_batch {
	u32 count;
	u64 hash[CELL_BATCH];
	u64 offset[CELL_BATCH];
	u64 owner[CELL_BATCH];
	u64 sample[CELL_BATCH];
	u8 interval[CELL_BATCH];
	u32 cell[CELL_BATCH];
	u8 way[CELL_BATCH];
};

/**
 * struct cell_table_config - the configuration of a table
 * @bytes: memory budget; at least CELL_BYTES_MIN. 0: the table grows and evicts nothing
 * @sample_class: catalog of the samples' classes, borrowed; must outlive the table
 * @seed: seed of the hash and the random draws, for tests; 0: a random seed
 */
struct cell_table_config {
	u64 bytes;
	struct sample_class_catalog *sample_class;
	u64 seed;
};

/* Minimum of &cell_table_config.bytes. */
#define CELL_BYTES_MIN (64U << 10)

/**
 * cell_table_compute_capacity() - return the maximum number of cells in a table with a budget of
 * @bytes
 *
 * The index has 2.5 to 5 ways for each cell, so that few sets overflow. Index and cells use half of
 * the budget, counters the other half.
 */
static inline u32 cell_table_compute_capacity(u64 bytes)
{
	return (u32)(bytes / 2 / (sizeof(struct cell) + 5 * sizeof(struct cell_set) / CELL_WAYS));
}

struct cell_table;

/**
 * cell_table_new() - allocate an empty table
 * @config: the configuration, copied
 * @ret_table: the table; free it with cell_table_free()
 *
 * Return: 0; -EINVAL if the budget is below CELL_BYTES_MIN or above 64 GiB; -ENOMEM if memory
 * cannot be allocated.
 */
int cell_table_new(const struct cell_table_config *config, struct cell_table **ret_table);

/** cell_table_free() - free @table, which may be NULL; returns NULL */
struct cell_table *cell_table_free(struct cell_table *table);

/** cell_table_clear() - remove all samples, and return the memory of a large table to the system */
void cell_table_clear(struct cell_table *table);

/**
 * cell_owner_make() - combine the ids of a program (program-table.h) and a binary (binary-table.h)
 */
static inline u64 cell_owner_make(u32 program, u32 binary)
{
	return (u64)program << 32 | binary;
}

static inline u64 hash_mix_bits(u64 x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	return x ^ x >> 32;
}

/**
 * cell_owner_hash() - return the hash of an owner, computed once for many samples
 * @table: the table. Its seed is secret. The profiled programs choose their offsets, and with a
 *	known seed they could choose the sets of their cells
 * @owner: result of cell_owner_make()
 */
u64 cell_owner_hash(const struct cell_table *table, u64 owner);

/** cell_hash() - return the hash of a cell, from cell_owner_hash() and its offset */
static inline u64 cell_hash(u64 salt, u64 offset)
{
	return hash_mix_bits(offset ^ salt);
}

/**
 * cell_sample_pack() - pack the data that a cell counts of a sample
 * @sample_class: id of its class
 * @total, @issue, @translation: latencies, cycles; 0 if the class has no such latency
 */
static inline u64 cell_sample_pack(u16 sample_class, u16 total, u16 issue, u16 translation)
{
	/* Store SAMPLE_CLASS_OTHERS, which does not fit in 14 bits, as 0. No class has the id 0. */
	u64 number = sample_class == SAMPLE_CLASS_OTHERS ? 0 : sample_class;

	return number << 48 | (u64)total << 32 | (u64)issue << 16 | translation;
}

/**
 * cell_table_get_interval() - return the index by which the entries of a batch refer to an interval
 * @table: the table
 * @interval: mean interval of the samples; 0: unknown
 * @unit: &enum sample_unit
 *
 * Call it only while the batch to fill next is empty. The next call may use the same index for
 * another interval.
 */
u8 cell_table_get_interval(struct cell_table *table, u32 interval, u8 unit);

/**
 * cell_table_get_batch() - return the batch to fill next
 *
 * Its &cell_batch.count is 0. The pointer is valid until cell_table_add_batch().
 */
struct cell_batch *cell_table_get_batch(struct cell_table *table);

/**
 * cell_table_add_batch() - count the samples of the batch that cell_table_get_batch() returned
 *
 * The table prefetches the cells of the samples, and counts the samples while later batches are
 * filled. After cell_table_flush() all samples are counted. A batch without samples is ignored.
 */
void cell_table_add_batch(struct cell_table *table);

/** cell_table_flush() - count all samples of previous batches; call it before any other use */
void cell_table_flush(struct cell_table *table);

/**
 * struct cell_table_stats - statistics of a table
 * @cells: number of cells in use, without the cells of evicted samples
 * @capacity: maximum number of cells
 * @bytes: memory in use
 * @limit: the memory budget; 0 for none
 * @evicted: number of evicted samples: the samples in the rows of evicted samples, plus @uncounted
 * @evictions: number of evicted cells
 * @refused: number of samples among @evicted for which no cell was replaced
 * @uncounted: number of samples among @evicted without a row, because its memory could not be
 *	allocated
 */
struct cell_table_stats {
	u64 cells;
	u64 capacity;
	u64 bytes;
	u64 limit;
	u64 evicted;
	u64 evictions;
	u64 refused;
	u64 uncounted;
};

/** cell_table_get_stats() - copy the statistics */
void cell_table_get_stats(const struct cell_table *table, struct cell_table_stats *ret_stats);

/**
 * cell_table_is_exact() - return whether the counters are independent of the order of samples
 *
 * The counters depend on the order if samples were evicted, or if the number of pairs of a cell
 * reached its limit.
 */
bool cell_table_is_exact(const struct cell_table *table);

/**
 * struct cell_row - a cell, or the evicted samples of a program
 * @program: id of the program, or CELL_NO_PROGRAM
 * @binary: id of the binary, or CELL_UNMAPPED
 * @offset: offset in the binary; for the kernel the address
 * @evicted: the row has the evicted samples of the program; @binary and @offset are 0
 * @rank: its rank; 0 for evicted samples
 * @fill: private
 * @cell: private
 */
struct cell_row {
	u32 program;
	u32 binary;
	u64 offset;
	bool evicted;
	u16 rank;
	u8 fill;
	struct cell *cell;
};

/** struct cell_cursor - a position in the rows; all zeros is the start */
struct cell_cursor {
	u32 set;
	u32 way;
	u32 program;
};

/** cell_table_get_max_rows() - return an upper bound of the number of rows */
size_t cell_table_get_max_rows(const struct cell_table *table);

/**
 * cell_table_next() - return the next row
 * @table: the table, flushed
 * @cursor: the position, which advances
 * @ret_row: the row; valid until a sample is counted
 *
 * Return: false after the last row.
 */
bool cell_table_next(const struct cell_table *table, struct cell_cursor *cursor,
		     struct cell_row *ret_row);

/**
 * cell_table_find() - find the row of a cell
 *
 * Return: false if the cell has no samples.
 */
bool cell_table_find(const struct cell_table *table, u64 owner, u64 offset,
		     struct cell_row *ret_row);

/**
 * struct cell_pair - samples of one class and latency
 * @sample_class: id of the class, or SAMPLE_CLASS_OTHERS
 * @bucket: histogram bucket of the total latency; HISTOGRAM_NONE if there is no latency
 * @count: number of samples
 * @latency_sum: sum of the total latencies of these samples, cycles
 */
struct cell_pair {
	u16 sample_class;
	u8 bucket;
	u64 count;
	u64 latency_sum;
};

/**
 * cell_row_each_pair() - call @fn for the pairs of a row
 * @table: the table
 * @row: the row
 * @fn: the callback; it may get the same class and bucket more than once
 * @ctx: its argument
 */
void cell_row_each_pair(const struct cell_table *table, const struct cell_row *row,
			void (*fn)(void *ctx, const struct cell_pair *pair), void *ctx);

/**
 * cell_row_add_counters() - add the counters of a row to @to
 *
 * Issue and translation latency have one bucket per octave, as in the counters of functions.
 */
void cell_row_add_counters(const struct cell_table *table, const struct cell_row *row,
			   struct profile_counters *to);

/**
 * struct cell_level - the loads and stores that one level served
 * @count: number of samples
 * @latency: total latencies of these samples; &histogram.count is smaller than @count if some of
 *	them have no latency
 */
struct cell_level {
	u64 count;
	struct histogram latency;
};

/**
 * cell_row_add_levels() - add the loads and stores of a row to @to, which is indexed by &enum
 * spe_level
 *
 * The maximum of each histogram is an upper bound: the end of the highest bucket in use.
 */
void cell_row_add_levels(const struct cell_table *table, const struct cell_row *row,
			 struct cell_level to[static SPE_LEVELS]);

/** cell_row_get_number() - return the cell number of a row, at most &cell_table_stats.capacity */
u32 cell_row_get_number(const struct cell_table *table, const struct cell_row *row);

/** cell_row_count_samples() - return the number of samples of a row */
u64 cell_row_count_samples(const struct cell_table *table, const struct cell_row *row);

/**
 * cell_row_sum_weight() - return the sum of the samples' intervals. Intervals in different units
 * (&enum sample_unit) are added without conversion
 */
u64 cell_row_sum_weight(const struct cell_table *table, const struct cell_row *row);

/** cell_row_sum_latency() - return the sum of the samples' total latencies, cycles */
u64 cell_row_sum_latency(const struct cell_table *table, const struct cell_row *row);

/**
 * cell_table_merge() - add all samples of @shard to @whole
 * @whole: the table that readers see
 * @shard: a flushed table, which does not change
 *
 * The ids of programs and binaries are the same in both tables; the sample classes are not. A
 * merged table without evictions has the same counters as a table that received all samples.
 */
void cell_table_merge(struct cell_table *whole, const struct cell_table *shard);

/**
 * cell_table_move_evicted() - move the evicted samples of @program to the program @to
 * @table: the table, flushed
 * @program, @to: ids of the programs
 */
void cell_table_move_evicted(struct cell_table *table, u32 program, u32 to);

/**
 * cell_table_save() - serialize all samples
 * @table: the table, flushed
 * @to: receives the samples; programs and binaries are stored as their ids
 */
void cell_table_save(struct cell_table *table, struct serializer *to);

/**
 * struct cell_translation - maps saved ids to current ids
 * @program, @binary: current ids, indexed by saved id; CELL_NO_PROGRAM or CELL_UNMAPPED if there is
 *	none
 * @programs, @binaries: number of entries
 */
struct cell_translation {
	const u32 *program;
	const u32 *binary;
	u32 programs;
	u32 binaries;
};

/**
 * cell_owner_translate() - return the current owner, as cell_owner_make() does, of a saved owner
 */
static inline u64 cell_owner_translate(const struct cell_translation *translation, u64 owner)
{
	u32 program = (u32)(owner >> 32), binary = (u32)owner;

	program = program < translation->programs ? translation->program[program] : CELL_NO_PROGRAM;
	binary = binary < translation->binaries ? translation->binary[binary] : CELL_UNMAPPED;
	return cell_owner_make(program, binary);
}

/**
 * cell_table_load() - add the samples that cell_table_save() serialized
 * @table: the table
 * @from: the bytes, which are untrusted
 * @translation: current ids; NULL: the saved ids are still valid
 *
 * Return: 0; -EBADMSG if the bytes are invalid; -ENOMEM if memory cannot be allocated. On failure
 * some samples were added: call cell_table_clear().
 */
int cell_table_load(struct cell_table *table, struct deserializer *from,
		    const struct cell_translation *translation);

#endif
