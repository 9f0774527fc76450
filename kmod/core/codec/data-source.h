/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Determine what served a load or store. The values of the Data Source packet are IMPLEMENTATION
 * DEFINED (D18.2.4): a table for each core translates them to common levels. For cores without a
 * table the architected events are used, which contain less detail.
 */
#ifndef SPE_CORE_DATA_SOURCE_H
#define SPE_CORE_DATA_SOURCE_H

#include "env.h"
#include "record.h"

/**
 * enum spe_level - what served a load or store
 *
 * SPE_LEVEL_BEYOND_* are determined by events, which only identify the cache that missed.
 */
enum spe_level {
	SPE_LEVEL_UNKNOWN,
	SPE_LEVEL_L1,
	SPE_LEVEL_L2,
	SPE_LEVEL_L3,
	SPE_LEVEL_SYSTEM_CACHE,		/* a cache in the interconnect, shared by the chip */
	SPE_LEVEL_PEER_CORE,		/* a private cache of a core nearby */
	SPE_LEVEL_LOCAL_CLUSTER,	/* an unspecified cache of this cluster */
	SPE_LEVEL_PEER_CLUSTER,		/* a cache of another cluster of this chip */
	SPE_LEVEL_LOCAL_CHIP,		/* a cache of this chip, or a device */
	SPE_LEVEL_REMOTE_CACHE,		/* a cache of another chip */
	SPE_LEVEL_DRAM,
	SPE_LEVEL_DEVICE,
	SPE_LEVEL_RECENT,		/* a line that was being fetched already (E[22]) */
	SPE_LEVEL_LLC,			/* the last level cache of the core (E[8]) */
	SPE_LEVEL_BEYOND_L1,
	SPE_LEVEL_BEYOND_L2,
	SPE_LEVEL_BEYOND_LLC,
	SPE_LEVELS,
};

/* More properties of the access, as bits of &spe_origin.flags */
#define SPE_ORIGIN_REMOTE	SPE_BIT(0)	/* another chip was accessed */
/* served from a cache outside this core's hierarchy */
#define SPE_ORIGIN_SNOOPED	SPE_BIT(1)
/* a cache of another core or cluster had the data */
#define SPE_ORIGIN_PEER		SPE_BIT(2)
#define SPE_ORIGIN_MODIFIED	SPE_BIT(3)	/* the cache that served it had modified the data */
/* determined by the Data Source packet; otherwise by events */
#define SPE_ORIGIN_BY_SOURCE	SPE_BIT(4)

/**
 * struct spe_origin - what served a load or store
 * @level: &enum spe_level
 * @flags: SPE_ORIGIN_*
 */
struct spe_origin {
	u8 level;
	u8 flags;
};

/**
 * struct spe_data_sources - the values of the Data Source packet on some cores
 * @name: name of the encoding
 * @origins: the origins, indexed by the value of the packet; SPE_LEVEL_UNKNOWN: the value has no
 * meaning
 * @count: number of @origins
 */
struct spe_data_sources {
	const char *name;
	const struct spe_origin *origins;
	u32 count;
};

/**
 * spe_data_sources_find() - find the encoding of a core
 * @midr: MIDR_EL1; variant and revision are ignored. 0: the core is unknown
 *
 * Return: the encoding; NULL if no table contains the core.
 */
const struct spe_data_sources *spe_data_sources_find(u64 midr);

/**
 * spe_core_name() - return the name of a core that is known to have SPE
 * @midr: as for spe_data_sources_find()
 *
 * spe_data_sources_find() may return NULL for a core with a name.
 *
 * Return: a static string; NULL if the core is not known.
 */
const char *spe_core_name(u64 midr);

/**
 * spe_sample_origin() - return what served a load or store
 * @sources: the encoding of the core that took @sample; NULL: unknown
 * @sample: an operation of class SPE_OP_LOAD_STORE
 *
 * The Data Source packet (D18.2.4) determines the level of a load. The events (D18.2.6) determine
 * the level if the operation is a store, if the record has no such packet, or if its value has no
 * meaning. In all cases, events also set the flags for remote, snooped and modified.
 *
 * Return: the level, which is SPE_LEVEL_UNKNOWN if neither the packet nor events determine it, and
 * the flags.
 */
struct spe_origin spe_sample_origin(const struct spe_data_sources *sources,
				    const struct spe_sample *sample);

/**
 * spe_level_is_dram() - check whether an access counts as served by DRAM
 * @level: &enum spe_level
 *
 * Events only show that the last level cache missed, not what served the access. Such an access
 * counts as served by DRAM. For stores there are only events.
 *
 * Return: true if @level is DRAM, or beyond the last level cache.
 */
static inline bool spe_level_is_dram(u64 level)
{
	return level == SPE_LEVEL_DRAM || level == SPE_LEVEL_BEYOND_LLC;
}

/**
 * spe_level_name() - return the name of a level, in lower case with underscores
 * @level: &enum spe_level
 *
 * Return: a static string.
 */
const char *spe_level_name(enum spe_level level);

#endif
