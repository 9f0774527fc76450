/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of cache lines that several threads use. Each entry counts loads and stores that the
 * first level cache did not serve. It distinguishes users by CPU and thread. The offsets within the
 * line distinguish true from false sharing.
 */
#ifndef SPEPROF_CACHE_LINES_H
#define SPEPROF_CACHE_LINES_H

#include "topk.h"

/*
 * Sizes of a cache line that the table supports, bytes, each a power of two. Most server cores have
 * 64; the last level cache of some has 128, and the A64FX has 256.
 */
#define LINE_SIZE_MIN 64
#define LINE_SIZE_MAX 256
/*
 * Number of offsets that are distinguished within a line. In a line of 128 bytes, an offset is two
 * bytes.
 */
#define LINE_OFFSETS 64
#define LINE_SHARERS 8
#define LINE_CPUS    256 /* higher CPU numbers wrap around */
/*
 * Number of samples with false sharing after which a line is raised. A few such samples occur when
 * threads start, or by chance in memory that is reused.
 */
#define LINE_RAISE_SAMPLES 64
/* Number of raised lines that are kept for the reader, which comes once a second. */
#define LINES_RAISED 16

/*
 * Values of &line_sample.owner for addresses that belong to no process: LINE_PHYSICAL for a
 * physical address, LINE_KERNEL for a virtual address of the kernel.
 */
#define LINE_PHYSICAL UINT64_MAX
#define LINE_KERNEL   (UINT64_MAX - 1)

enum line_sharing {
	LINE_PRIVATE,	/* one thread or one CPU */
	LINE_READ,	/* several threads; none of their stores was sampled */
	LINE_FALSE,	/* several threads with disjoint offsets, and stores */
	LINE_TRUE,	/* several threads use one offset, and stores write to it */
	LINE_SHARINGS,
};

/**
 * struct line_sample - a load or store that missed its first level cache
 * @address: address of the data, virtual or physical
 * @owner: address space of @address: result of location_owner_make(), LINE_PHYSICAL or LINE_KERNEL
 * @place, @pc_owner: location of the instruction: results of location_make_pc_key() and
 *	location_owner_make()
 * @thread: a number that identifies the thread
 * @cpu: number of the CPU that took the sample
 * @latency: total latency, cycles
 * @store: true for a store, false for a load
 * @snooped: another core's cache served the access
 */
struct line_sample {
	u64 address;
	u64 owner;
	u64 place;
	u64 pc_owner;
	u64 thread;
	u32 cpu;
	u16 latency;
	bool store;
	bool snooped;
};

/**
 * struct line_sharer - an instruction on a CPU that uses a line
 * @place, @owner: location of the instruction
 * @samples: number of samples; 0 marks a free entry
 * @stores: stores among @samples
 * @cpu: number of the CPU
 * @offset: offset of its last access within the line, bytes
 */
struct line_sharer {
	u64 place;
	u64 owner;
	u32 samples;
	u32 stores;
	u16 cpu;
	u8 offset;
};

/**
 * struct hot_line - the counters of one cache line
 * @head: the key: address divided by the size of a line, and owner
 * @samples: loads and stores of the line
 * @stores: stores among @samples
 * @snooped: accesses among @samples that another core's cache served
 * @latency_sum: sum of total latencies, cycles
 * @turns: samples of another thread than the previous sample
 * @clashes: samples at an offset that another thread accessed last, if a store to this offset was
 *	sampled
 * @stored: bit mask of the offsets (LINE_OFFSETS) that were stored to
 * @cpus: bit mask of the CPUs that used the line
 * @last: hash of the thread of the last sample
 * @false_samples: samples that found the line with false sharing, at most LINE_RAISE_SAMPLES
 * @thread: indexed by offset (LINE_OFFSETS): hash of the thread that used it last; 0 for none
 * @sharer: the instructions that use the line
 */
struct hot_line {
	struct topk_entry head;
	u64 samples;
	u64 stores;
	u64 snooped;
	u64 latency_sum;
	u64 turns;
	u64 clashes;
	u64 stored;
	u64 cpus[LINE_CPUS / 64];
	u16 last;
	u8 false_samples;
	u16 thread[LINE_OFFSETS];
	struct line_sharer sharer[LINE_SHARERS];
};

/**
 * struct line_key - what identifies a line
 * @address: address divided by the size of a line
 * @owner: as &line_sample.owner
 */
struct line_key {
	u64 address;
	u64 owner;
};

/**
 * struct hot_lines - the table of hot cache lines
 * @table: the table; its entries are &struct hot_line
 * @unsnooped_stores: number of stores seen; every LINE_ADMIT_EVERY-th one may add a line
 * @size_order: binary logarithm of the size of a line in bytes
 * @raised_count: number of lines that were raised since hot_lines_init()
 * @raised: the last of them; line number n is at n % LINES_RAISED
 */
struct hot_lines {
	struct topk_table table;
	u64 raised_count;
	struct line_key raised[LINES_RAISED];
	u32 unsnooped_stores;
	u8 size_order;
};

/**
 * hot_lines_init() - allocate an empty table of lines of LINE_SIZE_MIN bytes
 * @capacity: number of lines, rounded up to a power of two
 *
 * Return: 0 or -ENOMEM.
 */
int hot_lines_init(struct hot_lines *lines, u32 capacity);

/**
 * hot_lines_set_size() - set the size of a line
 * @lines: the table, which must be empty
 * @bytes: the size; a size that is not supported is ignored
 */
void hot_lines_set_size(struct hot_lines *lines, u32 bytes);

/** hot_lines_get_size() - return the size of a line, bytes */
static inline u32 hot_lines_get_size(const struct hot_lines *lines)
{
	return 1U << lines->size_order;
}

/**
 * hot_lines_read_size() - return the size of the largest cache line of this machine, bytes
 * @sys: where sysfs is mounted
 *
 * Caches keep lines coherent between cores as a whole, so the largest line decides which data is
 * shared. Many virtual machines describe no caches in sysfs.
 *
 * Return: the size; 0 if it is unknown.
 */
u32 hot_lines_read_size(const char *sys);

/** hot_lines_deinit() - free the memory of the table; @lines may be all zeros */
void hot_lines_deinit(struct hot_lines *lines);

/** hot_lines_clear() - remove all lines and keep the memory */
void hot_lines_clear(struct hot_lines *lines);

#define LINE_ADMIT_EVERY 16

/**
 * hot_lines_should_add() - decide whether to call hot_lines_add() for an access
 * @lines: the table; &hot_lines.unsnooped_stores may increase
 * @address, @owner, @store, @snooped: as in &struct line_sample
 *
 * A snooped access adds its line to the table. A store is not marked as snooped, because records of
 * stores have no data source. Many cores report no data source for loads either. So one in
 * LINE_ADMIT_EVERY stores adds its line, too. The function is inline because most accesses need
 * only this check. After a hash collision, which is rare, it may return true for a line without an
 * entry; the only effect is that the line gets an entry.
 *
 * Return: true if the caller must call hot_lines_add().
 */
static inline bool hot_lines_should_add(struct hot_lines *lines, u64 address, u64 owner, bool store,
					bool snooped)
{
	struct topk_slot place = topk_get_slot(&lines->table, address >> lines->size_order, owner);

	/* Combine without branches: the outcome is hard to predict. */
	lines->unsnooped_stores += store;
	return snooped | (topk_match_ways(&lines->table, place) != 0) |
	       (store & (lines->unsnooped_stores % LINE_ADMIT_EVERY == 0));
}

/**
 * hot_lines_add() - count a sample; the line gets an entry if it has none
 *
 * Context: the caller holds &profile_shared_data.lock.
 *
 * Return: line_classify_sharing() of the line, with this sample.
 */
enum line_sharing hot_lines_add(struct hot_lines *lines, const struct line_sample *sample);

/**
 * hot_lines_get_raised() - get the next line with LINE_RAISE_SAMPLES samples with false sharing
 * @lines: the table
 * @seen: number of raised lines that the reader got or missed; updated
 * @missed: incremented by the lines that later ones replaced before the reader came
 * @ret_key: key of the line, which may have been evicted since
 *
 * A line is raised once while it is in the table.
 *
 * Context: the caller holds &profile_shared_data.lock.
 *
 * Return: true; false if there is no further line.
 */
bool hot_lines_get_raised(const struct hot_lines *lines, u64 *seen, u64 *missed,
			  struct line_key *ret_key);

/** line_count_cpus() - return the number of CPUs that used the line */
unsigned int line_count_cpus(const struct hot_line *line);

/** line_classify_sharing() - return how threads share the line, as far as the samples show it */
enum line_sharing line_classify_sharing(const struct hot_line *line);

/**
 * line_is_unsnooped() - return whether no sample of the line was snooped, so that its sharing is
 * not proven
 */
static inline bool line_is_unsnooped(const struct hot_line *line)
{
	return !line->snooped;
}

/** line_sharing_name() - return the name of @sharing as in JSON, a static string */
const char *line_sharing_name(enum line_sharing sharing);

#endif
