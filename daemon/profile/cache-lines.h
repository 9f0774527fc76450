/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cache lines that several threads use: of loads and stores that their first level cache did
 * not serve, by the line's address. Who uses it is told by CPU and thread, what is
 * shared of it by offsets within the line.
 */
#ifndef SPEPROF_CACHE_LINES_H
#define SPEPROF_CACHE_LINES_H

#include "topk.h"

#define LINE_SIZE    64
#define LINE_SHARERS 8
#define LINE_CPUS    256 /* CPUs beyond count as one of these */

/* The owner of lines that are known by their physical address, and of the kernel's. */
#define LINE_PHYSICAL UINT64_MAX
#define LINE_KERNEL   (UINT64_MAX - 1)

enum line_sharing {
	LINE_PRIVATE,	/* one thread, or one CPU: it has moved, or was evicted */
	LINE_READ,	/* several, and no store of theirs was sampled */
	LINE_FALSE,	/* several, each with offsets of its own, and stores */
	LINE_TRUE,	/* several use the same offset, and stores are to it */
	LINE_SHARINGS,
};

/**
 * struct line_sample - a load or store that missed its first level cache
 * @address: of the data, virtual or physical
 * @owner: whose virtual address: as &location.owner, or LINE_PHYSICAL, LINE_KERNEL
 * @place, @pc_owner: of the instruction, as in struct location
 * @thread: which thread: any number that tells them apart
 * @latency: total, cycles
 * @store: or a load
 * @snooped: another core's cache had it
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

/** struct line_sharer - an instruction on a CPU; @samples 0 is free; @offset: of its last access */
struct line_sharer {
	u64 place;
	u64 owner;
	u32 samples;
	u32 stores;
	u16 cpu;
	u8 offset;
};

/**
 * struct hot_line
 * @head: key: address / LINE_SIZE, owner
 * @snooped: of @samples
 * @turns: samples whose thread was not that of the one before
 * @clashes: those at an offset that another thread had used the last time, one of them to store
 * @stored: a bit for each offset that was stored to
 * @cpus: a bit for each
 * @last: the thread of the last sample
 * @thread: by offset, of whose last use it was; 0 for none
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
	u16 thread[LINE_SIZE];
	struct line_sharer sharer[LINE_SHARERS];
};

/** struct lines - @unsnooped_stores: of stores that no snoop vouches for, when to let one in */
struct lines {
	struct topk_table table;
	u32 unsnooped_stores;
};

/** lines_init() - 0 or -ENOMEM */
int lines_init(struct lines *lines, u32 capacity);
void lines_deinit(struct lines *lines);
void lines_clear(struct lines *lines);

#define LINE_ADMIT_EVERY 16

/**
 * lines_admit() - whether lines_add() is to be called for an access
 *
 * A line gets its entry by a snooped load or store, or, as stores have no data source and
 * many cores none at all, by one in LINE_ADMIT_EVERY of other stores. Of most this is all that is
 * asked, so that it is inline. Of a line without an entry it may be wrong, seldom.
 */
static inline bool lines_admit(struct lines *lines, u64 address, u64 owner, bool store,
			       bool snooped)
{
	struct topk_slot place = topk_slot_of(&lines->table, address / LINE_SIZE, owner);

	/* No branch: what comes next is hard to foresee. */
	lines->unsnooped_stores += store;
	return snooped | (topk_ways(&lines->table, place) != 0) |
	       (store & (lines->unsnooped_stores % LINE_ADMIT_EVERY == 0));
}

/** lines_add() - count a sample */
void lines_add(struct lines *lines, const struct line_sample *sample);

/** line_cpus() - how many CPUs have used it */
unsigned int line_cpus(const struct hot_line *line);

/** line_sharing() - how it is shared, as far as samples tell */
enum line_sharing line_sharing(const struct hot_line *line);

/** line_suspected() - no sample of it says that another cache had the line */
static inline bool line_suspected(const struct hot_line *line)
{
	return !line->snooped;
}

const char *line_sharing_name(enum line_sharing sharing);

#endif
