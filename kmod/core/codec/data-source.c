// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tables of the data sources of each core. The encodings are those that Linux 6.19 publishes:
 * tools/perf/util/arm-spe-decoder/arm-spe-decoder.h (enum arm_spe_*_data_source) and the lists of
 * cores in tools/perf/util/arm-spe.c. For other cores the decoder uses only the events.
 */
#include "data-source.h"

#define FROM_CACHE (SPE_ORIGIN_SNOOPED | SPE_ORIGIN_PEER)

static const struct spe_origin arm_origins[] = {
	[0x0] = { SPE_LEVEL_L1, 0 },
	[0x8] = { SPE_LEVEL_L2, 0 },
	[0x9] = { SPE_LEVEL_PEER_CORE, FROM_CACHE },
	[0xa] = { SPE_LEVEL_LOCAL_CLUSTER, FROM_CACHE },
	[0xb] = { SPE_LEVEL_SYSTEM_CACHE, 0 },
	[0xc] = { SPE_LEVEL_PEER_CLUSTER, FROM_CACHE },
	[0xd] = { SPE_LEVEL_REMOTE_CACHE, FROM_CACHE | SPE_ORIGIN_REMOTE },
	[0xe] = { SPE_LEVEL_DRAM, 0 },
};

static const struct spe_origin ampereone_origins[] = {
	[0x0] = { SPE_LEVEL_LOCAL_CHIP, 0 },
	[0x3] = { SPE_LEVEL_SYSTEM_CACHE, 0 },
	[0x5] = { SPE_LEVEL_REMOTE_CACHE, FROM_CACHE | SPE_ORIGIN_REMOTE },
	[0x7] = { SPE_LEVEL_DRAM, 0 },
	[0x8] = { SPE_LEVEL_L1, 0 },
	[0x9] = { SPE_LEVEL_L2, 0 },
};

static const struct spe_origin hip_origins[] = {
	[0] = { SPE_LEVEL_PEER_CORE, FROM_CACHE },
	[1] = { SPE_LEVEL_PEER_CORE, FROM_CACHE | SPE_ORIGIN_MODIFIED },
	[2] = { SPE_LEVEL_L3, 0 },
	[3] = { SPE_LEVEL_L3, SPE_ORIGIN_MODIFIED },
	[4] = { SPE_LEVEL_PEER_CLUSTER, FROM_CACHE },
	[5] = { SPE_LEVEL_PEER_CLUSTER, FROM_CACHE | SPE_ORIGIN_MODIFIED },
	[6] = { SPE_LEVEL_REMOTE_CACHE, FROM_CACHE | SPE_ORIGIN_REMOTE },
	[7] = { SPE_LEVEL_REMOTE_CACHE, FROM_CACHE | SPE_ORIGIN_REMOTE | SPE_ORIGIN_MODIFIED },
	[8] = { SPE_LEVEL_DRAM, 0 },
	[9] = { SPE_LEVEL_DRAM, SPE_ORIGIN_REMOTE },
	[13] = { SPE_LEVEL_DEVICE, 0 },
	[16] = { SPE_LEVEL_L2, 0 },
	[17] = { SPE_LEVEL_L2, SPE_ORIGIN_MODIFIED },
	[18] = { SPE_LEVEL_L1, 0 },
};

#define SOURCES(of, origins_of)                                                        \
	{                                                                              \
		.name = (of), .origins = (origins_of), .count = ARRAY_SIZE(origins_of) \
	}

enum source_encoding { ENCODING_ARM, ENCODING_AMPEREONE, ENCODING_HIP, ENCODINGS };

/* a core with SPE for which no public document lists the Data Source values */
#define ENCODING_NONE ENCODINGS

static const struct spe_data_sources encodings[ENCODINGS] = {
	[ENCODING_ARM] = SOURCES("arm", arm_origins),
	[ENCODING_AMPEREONE] = SOURCES("ampereone", ampereone_origins),
	[ENCODING_HIP] = SOURCES("hisilicon-hip", hip_origins),
};

/* Implementer and PartNum of MIDR_EL1 */
#define MIDR_CORE		(SPE_MASK(31, 24) | SPE_MASK(15, 4))
#define CORE(implementer, part) ((u32)(implementer) << 24 | (u32)(part) << 4)

/* Cores with SPE, according to their manuals or to perf's lists */
static const struct core_identity {
	u32 midr;
	u8 encoding;
	const char *name;
} cores[] = {
	{ CORE(0x41, 0xd0c), ENCODING_ARM, "Neoverse N1" },
	{ CORE(0x41, 0xd40), ENCODING_ARM, "Neoverse V1" },
	{ CORE(0x41, 0xd49), ENCODING_ARM, "Neoverse N2" },
	{ CORE(0x41, 0xd4c), ENCODING_ARM, "Cortex-X1C" },
	{ CORE(0x41, 0xd4e), ENCODING_ARM, "Cortex-X3" },
	{ CORE(0x41, 0xd4f), ENCODING_ARM, "Neoverse V2" },
	{ CORE(0x41, 0xd81), ENCODING_ARM, "Cortex-A720" },
	{ CORE(0x41, 0xd83), ENCODING_NONE, "Neoverse V3AE" },
	{ CORE(0x41, 0xd84), ENCODING_NONE, "Neoverse V3" },
	{ CORE(0x41, 0xd85), ENCODING_ARM, "Cortex-X925" },
	{ CORE(0x41, 0xd87), ENCODING_ARM, "Cortex-A725" },
	{ CORE(0x41, 0xd89), ENCODING_ARM, "Cortex-A720AE" },
	{ CORE(0x41, 0xd8e), ENCODING_NONE, "Neoverse N3" },
	{ CORE(0x48, 0xd01), ENCODING_NONE, "Kunpeng 920" },
	{ CORE(0x48, 0xd06), ENCODING_HIP, "HiSilicon HIP12" },
	{ CORE(0x4e, 0x010), ENCODING_ARM, "NVIDIA Olympus" },
	{ CORE(0xc0, 0xac4), ENCODING_AMPEREONE, "AmpereOne" },
};

static const struct core_identity *core_find_by_midr(u64 midr)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cores); i++)
		if (cores[i].midr == (midr & MIDR_CORE))
			return &cores[i];
	return NULL;
}

const char *spe_core_name(u64 midr)
{
	const struct core_identity *core = core_find_by_midr(midr);

	return core ? core->name : NULL;
}
SPE_EXPORT(spe_core_name);

const struct spe_data_sources *spe_data_sources_find(u64 midr)
{
	const struct core_identity *core = core_find_by_midr(midr);

	return core && core->encoding < ENCODINGS ? &encodings[core->encoding] : NULL;
}
SPE_EXPORT(spe_data_sources_find);

#define EVENT(name) SPE_BIT(SPE_EVENT_##name)

/* Return true if a cache served the access: @events has bit @access and not bit @miss. */
static bool cache_has_served(u64 events, u64 access, u64 miss)
{
	return (events & (access | miss)) == access;
}

/*
 * Return the innermost cache that served the access; if none did, the level beyond the outermost
 * cache that missed. E[22] is checked first, because an access to a line that is still being
 * fetched has an access event without a miss (E[3]).
 */
static u8 events_get_level(u64 events)
{
	if (events & EVENT(RECENTLY_FETCHED))
		return SPE_LEVEL_RECENT;
	if (cache_has_served(events, EVENT(L1D_ACCESS), EVENT(L1D_REFILL)))
		return SPE_LEVEL_L1;
	if (cache_has_served(events, EVENT(L2D_ACCESS), EVENT(L2D_MISS)))
		return SPE_LEVEL_L2;
	if (cache_has_served(events, EVENT(LLC_ACCESS), EVENT(LLC_MISS)))
		return SPE_LEVEL_LLC;
	if (events & EVENT(LLC_MISS))
		return SPE_LEVEL_BEYOND_LLC;
	if (events & EVENT(L2D_MISS))
		return SPE_LEVEL_BEYOND_L2;
	if (events & EVENT(L1D_REFILL))
		return SPE_LEVEL_BEYOND_L1;
	return SPE_LEVEL_UNKNOWN;
}

static u8 events_get_origin_flags(u64 events)
{
	u8 flags = 0;

	if (events & EVENT(REMOTE_ACCESS))
		flags |= SPE_ORIGIN_REMOTE;
	if (events & EVENT(DATA_SNOOPED))
		flags |= SPE_ORIGIN_SNOOPED;
	if (events & EVENT(CACHE_DATA_MODIFIED))
		flags |= SPE_ORIGIN_MODIFIED;
	return flags;
}

struct spe_origin spe_sample_origin(const struct spe_data_sources *sources,
				    const struct spe_sample *sample)
{
	struct spe_origin origin = { .flags = events_get_origin_flags(sample->events) };

	if (sources && spe_sample_has(sample, SPE_HAS_SOURCE) &&
	    !(sample->op_subclass & SPE_OP_LDST) && sample->source < sources->count &&
	    sources->origins[sample->source].level != SPE_LEVEL_UNKNOWN) {
		origin.level = sources->origins[sample->source].level;
		origin.flags |= sources->origins[sample->source].flags | SPE_ORIGIN_BY_SOURCE;
		return origin;
	}
	origin.level = events_get_level(sample->events);
	return origin;
}
SPE_EXPORT(spe_sample_origin);

const char *spe_level_name(enum spe_level level)
{
	static const char *const names[SPE_LEVELS] = {
		[SPE_LEVEL_UNKNOWN] = "unknown",
		[SPE_LEVEL_L1] = "l1",
		[SPE_LEVEL_L2] = "l2",
		[SPE_LEVEL_L3] = "l3",
		[SPE_LEVEL_SYSTEM_CACHE] = "system_cache",
		[SPE_LEVEL_PEER_CORE] = "peer_core",
		[SPE_LEVEL_LOCAL_CLUSTER] = "local_cluster",
		[SPE_LEVEL_PEER_CLUSTER] = "peer_cluster",
		[SPE_LEVEL_LOCAL_CHIP] = "local_chip",
		[SPE_LEVEL_REMOTE_CACHE] = "remote_cache",
		[SPE_LEVEL_DRAM] = "dram",
		[SPE_LEVEL_DEVICE] = "device",
		[SPE_LEVEL_RECENT] = "recently_fetched",
		[SPE_LEVEL_LLC] = "llc",
		[SPE_LEVEL_BEYOND_L1] = "beyond_l1",
		[SPE_LEVEL_BEYOND_L2] = "beyond_l2",
		[SPE_LEVEL_BEYOND_LLC] = "beyond_llc",
	};

	return level < SPE_LEVELS ? names[level] : names[SPE_LEVEL_UNKNOWN];
}
SPE_EXPORT(spe_level_name);
