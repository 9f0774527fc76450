/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What served the loads and stores of a row, beside its tally. Most were served by the
 * first level: these are not counted but worked out, so that what is here is touched
 * for the few others alone.
 */
#ifndef SPEPROF_PROFILE_SERVED_H
#define SPEPROF_PROFILE_SERVED_H

#include "data-source.h"
#include "table.h"

/**
 * struct served - of a process, a container, or a row
 * @level: by &enum spe_level; of SPE_LEVEL_L1 without a meaning before served_finish()
 * @remote: how many accessed another chip, whichever level it was
 */
struct served {
	u64 level[SPE_LEVELS];
	u64 remote;
};

/* In a code: SPE_ORIGIN_REMOTE, above the level. */
#define SERVED_REMOTE_SHIFT 7
#define SERVED_LEVEL	    0x7f

/* The code of what is not counted: what is no load or store has it too. */
#define SERVED_QUIET SPE_LEVEL_L1

static_assert(SPE_LEVELS <= SERVED_LEVEL, "a level and the flag make a byte");

/** served_code() - what is to be counted of a load or store */
static inline u8 served_code(const struct spe_origin *origin)
{
	return (u8)(origin->level | !!(origin->flags & SPE_ORIGIN_REMOTE) << SERVED_REMOTE_SHIFT);
}

/* Without a branch: which code comes next is hard to foresee. */
static inline void served_add(struct served *served, u8 code)
{
	served->level[code & SERVED_LEVEL]++;
	served->remote += code >> SERVED_REMOTE_SHIFT;
}

void served_merge(struct served *to, const struct served *from);

/** served_finish() - what of @memory loads and stores is left is of the first level */
void served_finish(struct served *served, u64 memory);

/* The last of the levels, BEYOND_LLC, is what of the location's TALLY_DRAM is not DRAM. */
#define SERVED_COUNTS SPE_LEVEL_BEYOND_LLC

/**
 * struct served_place - of a location, in little: one cache line
 * @count: by &enum spe_level; saturates. Where SPE_LEVEL_L1 would be: what was remote
 */
struct served_place {
	u32 count[SERVED_COUNTS];
} __attribute__((aligned(64)));

static_assert(sizeof(struct served_place) == 64, "a cache line");

/**
 * struct served_table - beside a table of locations, by the entry's place in it
 * @nowhere: where the rest is counted, so that there is no branch
 */
struct served_table {
	const struct location_table *locations;
	struct served_place *places;
	struct served_place nowhere;
};

/** served_table_init() - 0 or -ENOMEM; @locations outlives it */
int served_table_init(struct served_table *table, const struct location_table *locations);

/** served_table_deinit() - also of one that is all zeros */
void served_table_deinit(struct served_table *table);

void served_table_clear(struct served_table *table);

static inline struct served_place *served_place(const struct served_table *table,
						const struct location *entry)
{
	return &table->places[entry - table->locations->entries[0]];
}

/** served_place_add() - count @code at @entry */
static inline void served_place_add(struct served_table *table, const struct location *entry,
				    u8 code)
{
	struct served_place *place = served_place(table, entry);
	u8 level = code & SERVED_LEVEL;

	u32 *remote = &(code >> SERVED_REMOTE_SHIFT ? place : &table->nowhere)->count[SPE_LEVEL_L1];
	u32 *count = &(level == SPE_LEVEL_L1 || level >= SERVED_COUNTS ? &table->nowhere : place)
			      ->count[level % SERVED_COUNTS];

	*count += *count < UINT32_MAX;
	*remote += *remote < UINT32_MAX;
}

/** served_place_merge() - add what @from counted to @to; @dram: of its location */
void served_place_merge(struct served *to, const struct served_place *from, u64 dram);

#endif
