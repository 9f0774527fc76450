/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a load's data came from. The Data Source packet's values are
 * IMPLEMENTATION DEFINED (D18.2.4): tables by core bring them to one scheme, and
 * where there is no table the architected events say less, but the same on all
 * cores.
 */
#ifndef SPE_CORE_DATA_SOURCE_H
#define SPE_CORE_DATA_SOURCE_H

#include "env.h"
#include "record.h"

/**
 * enum spe_level - what served a load or store
 *
 * The first are what a Data Source packet can say, the SPE_LEVEL_BEYOND_* what
 * only events can: that a cache did not serve it, and nothing of what did.
 */
enum spe_level {
	SPE_LEVEL_UNKNOWN,
	SPE_LEVEL_L1,
	SPE_LEVEL_L2,
	SPE_LEVEL_L3,
	SPE_LEVEL_SYSTEM_CACHE,		/* the interconnect's, shared by the chip */
	SPE_LEVEL_PEER_CORE,		/* a private cache of a core nearby */
	SPE_LEVEL_LOCAL_CLUSTER,	/* a cache of this cluster, which one is not said */
	SPE_LEVEL_PEER_CLUSTER,		/* a cache of another cluster of this chip */
	SPE_LEVEL_LOCAL_CHIP,		/* a cache of this chip, or a device */
	SPE_LEVEL_REMOTE_CACHE,		/* a cache of another chip */
	SPE_LEVEL_DRAM,
	SPE_LEVEL_DEVICE,
	SPE_LEVEL_RECENT,		/* a line that was being fetched (E[22]) */
	SPE_LEVEL_LLC,			/* the last level cache, whichever that is (E[8]) */
	SPE_LEVEL_BEYOND_L1,
	SPE_LEVEL_BEYOND_L2,
	SPE_LEVEL_BEYOND_LLC,
	SPE_LEVELS,
};

/* What else is known of it, as bits of &spe_origin.flags. */
#define SPE_ORIGIN_REMOTE	SPE_BIT(0)	/* another chip was accessed */
#define SPE_ORIGIN_SNOOPED	SPE_BIT(1)	/* from a cache outside this core's hierarchy */
#define SPE_ORIGIN_PEER		SPE_BIT(2)	/* another core's or cluster's cache had it */
#define SPE_ORIGIN_MODIFIED	SPE_BIT(3)	/* and had modified it */
#define SPE_ORIGIN_BY_SOURCE	SPE_BIT(4)	/* the Data Source packet says so, else events */

/** struct spe_origin - what served an operation: &enum spe_level, SPE_ORIGIN_* */
struct spe_origin {
	u8 level;
	u8 flags;
};

/**
 * struct spe_data_sources - the Data Source packet of some cores
 * @name: of the encoding
 * @origins: by the packet's value; SPE_LEVEL_UNKNOWN is a value without a meaning
 * @count: how many of them
 */
struct spe_data_sources {
	const char *name;
	const struct spe_origin *origins;
	u32 count;
};

/**
 * spe_data_sources_find() - the encoding of a core
 * @midr: MIDR_EL1; variant and revision do not matter. 0 is an unknown core
 *
 * Return: the encoding, NULL if the core is in no table.
 */
const struct spe_data_sources *spe_data_sources_find(u64 midr);

/**
 * spe_core_name() - of a core that is known to have SPE, whether or not its Data Source is
 * @midr: as above
 *
 * Return: the name, NULL if it is not known to.
 */
const char *spe_core_name(u64 midr);

/**
 * spe_sample_origin() - what served a load or store
 * @sources: the encoding of the core that took @sample, NULL if not known
 * @sample: an operation of class SPE_OP_LOAD_STORE
 *
 * The Data Source packet tells where the data of a load came from (D18.2.4); a
 * store, a sample without the packet, and a value without a meaning go by the
 * events of D18.2.6. Events of an operation are additions in any case: what the
 * packet does not say of remote, snooped and modified, they may.
 */
struct spe_origin spe_sample_origin(const struct spe_data_sources *sources,
				    const struct spe_sample *sample);

/** spe_level_name() - a level in lower case, words joined by underscores */
const char *spe_level_name(enum spe_level level);

#endif
