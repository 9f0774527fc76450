// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Modelled operations. Properties of the instruction are a hash of its PC; properties of its
 * execution are random.
 */
#include "opmodel.h"

/* Load/store SUBCLASS patterns of D18.2.7. */
#define SUBCLASS_SIMD_FP  0x04
#define SUBCLASS_EXTENDED 0x02

#define EVENT(e) SPE_BIT(SPE_EVENT_##e)

#define EVENTS_MEMORY (EVENT(L1D_ACCESS) | EVENT(TLB_ACCESS))
#define EVENTS_L2     (EVENTS_MEMORY | EVENT(L1D_REFILL))
#define EVENTS_LLC    (EVENTS_L2 | EVENT(LLC_ACCESS))
#define EVENTS_MISS   (EVENTS_LLC | EVENT(LLC_MISS))
#define EVENTS_REMOTE (EVENTS_MISS | EVENT(REMOTE_ACCESS))

/*
 * struct memory_tier - a level of the memory hierarchy that serves accesses
 * @share: number of accesses that it serves, out of 256
 * @source: value of the Data Source packet
 * @min: minimum total latency, cycles
 * @spread: maximum of a random addition to @min
 * @tail: power of the random number: 1: uniform; 3: most additions are small and few are large
 */
struct memory_tier {
	u8 share;
	u8 source;
	u8 tail;
	u16 min;
	u16 spread;
	u64 events;
};

#define TIERS 6

/*
 * struct program_profile - a kind of program; shares are in units of 1/256
 * @walk: share of loads and stores that walk the translation tables
 * @mispredicted: share of branches that are mispredicted
 */
struct program_profile {
	const char *name;
	u8 loads;
	u8 stores;
	u8 branches;
	u8 walk;
	u8 mispredicted;
	struct memory_tier tiers[TIERS];
};

static const struct program_profile profiles[SPE_PROFILES] = {
	[SPE_PROFILE_MIXED] = {
		.name = "mixed",
		.loads = 64, .stores = 31, .branches = 46, .walk = 3, .mispredicted = 8,
		.tiers = {
			{ 218, SPE_SOURCE_L1D, 1, 4, 5, EVENTS_MEMORY },
			{ 22, SPE_SOURCE_L2, 1, 11, 8, EVENTS_L2 },
			{ 8, SPE_SOURCE_SYSTEM_CACHE, 1, 40, 50, EVENTS_LLC },
			{ 6, SPE_SOURCE_DRAM, 3, 120, 480, EVENTS_MISS },
			{ 1, SPE_SOURCE_PEER_CORE, 1, 60, 60, EVENTS_LLC },
			{ 1, SPE_SOURCE_REMOTE, 3, 300, 400, EVENTS_REMOTE },
		},
	},
	[SPE_PROFILE_POINTER_CHASE] = {
		.name = "pointer_chase",
		.loads = 192, .stores = 8, .branches = 30, .walk = 80, .mispredicted = 3,
		.tiers = {
			{ 204, SPE_SOURCE_DRAM, 3, 150, 550, EVENTS_MISS },
			{ 24, SPE_SOURCE_SYSTEM_CACHE, 1, 45, 50, EVENTS_LLC },
			{ 16, SPE_SOURCE_L2, 1, 11, 8, EVENTS_L2 },
			{ 10, SPE_SOURCE_L1D, 1, 4, 5, EVENTS_MEMORY },
			{ 2, SPE_SOURCE_REMOTE, 3, 300, 400, EVENTS_REMOTE },
		},
	},
	[SPE_PROFILE_STREAM] = {
		.name = "stream",
		.loads = 128, .stores = 64, .branches = 26, .walk = 2, .mispredicted = 1,
		.tiers = {
			{ 170, SPE_SOURCE_L1D, 1, 4, 26, EVENTS_MEMORY },
			{ 40, SPE_SOURCE_L2, 1, 14, 20, EVENTS_L2 },
			{ 31, SPE_SOURCE_DRAM, 1, 45, 55, EVENTS_MISS },
			{ 15, SPE_SOURCE_SYSTEM_CACHE, 1, 30, 40, EVENTS_LLC },
		},
	},
	[SPE_PROFILE_BRANCHY] = {
		.name = "branchy",
		.loads = 52, .stores = 20, .branches = 102, .walk = 3, .mispredicted = 64,
		.tiers = {
			{ 230, SPE_SOURCE_L1D, 1, 4, 5, EVENTS_MEMORY },
			{ 18, SPE_SOURCE_L2, 1, 11, 8, EVENTS_L2 },
			{ 5, SPE_SOURCE_SYSTEM_CACHE, 1, 40, 50, EVENTS_LLC },
			{ 3, SPE_SOURCE_DRAM, 3, 120, 480, EVENTS_MISS },
		},
	},
	[SPE_PROFILE_SHARED_LINE] = {
		.name = "shared_line",
		.tiers = {
			{ 192, SPE_SOURCE_PEER_CORE, 1, 60, 120, EVENTS_LLC },
			{ 64, SPE_SOURCE_L1D, 1, 4, 5, EVENTS_MEMORY },
		},
	},
};

/* Mix bits as the last step of SplitMix64 does. */
static u64 hash_mix(u64 z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static u64 draw_random(struct spe_operation_model *model)
{
	return hash_mix(model->random += 0x9e3779b97f4a7c15ULL);
}

/*
 * Hash the page offset, which decides the kind of the instruction and which address randomisation
 * does not change.
 */
static u64 hash_instruction(const struct spe_operation *operation)
{
	return hash_mix((operation->pc & 0xfff) + 0x5bd1e995);
}

/* Return byte @n of a hash or random number, 0-255. */
static u32 extract_byte(u64 value, unsigned int n)
{
	return (u32)(value >> 8 * n & 0xff);
}

static const struct memory_tier *draw_tier(const struct program_profile *profile, u32 roll)
{
	const struct memory_tier *tier = profile->tiers;

	/* The shares of a profile add up to 256, so the search ends at the last tier. */
	for (; roll >= tier->share; tier++)
		roll -= tier->share;
	return tier;
}

/*
 * Return a number from 0 to @spread - 1: the 16-bit random number @roll, raised to the power @tail,
 * and scaled.
 */
static u32 draw_latency(u32 spread, u8 tail, u32 roll)
{
	u32 fraction = roll;

	while (--tail)
		fraction = fraction * roll >> 16;
	return spread * fraction >> 16;
}

/*
 * Return the address of the thread's word in the cache line that all threads use. The line has
 * eight words, so up to eight threads use different words.
 */
static u64 get_shared_word_address(const struct spe_operation *operation)
{
	u32 thread = operation->valid & SPE_OPERATION_CONTEXT2 ? operation->contextidr_el2 :
							       operation->contextidr_el1;

	return (thread & 7) * 8;
}

static u64 choose_data_address(struct spe_operation_model *model, enum spe_profile profile,
			       const struct spe_operation *operation, u64 kind, u64 roll)
{
	u64 space = operation->el ? 0xffff000000000000ULL : 0x0000aaaa00000000ULL;
	/* Each instruction accesses its own data. */
	u64 base = space + ((kind >> 40 & 0xff) << 28);

	switch (profile) {
	case SPE_PROFILE_SHARED_LINE:
		return space + get_shared_word_address(operation);
	case SPE_PROFILE_POINTER_CHASE:
		return base + (roll & 0xfffffc0);
	case SPE_PROFILE_STREAM:
		model->cursor += 8;
		return base + (model->cursor & 0x3fffff8);
	default:
		return base + (roll & 0x7ff8);
	}
}

/* Return the physical address. Each page is always mapped to the same frame. */
static u64 translate_address(u64 va)
{
	return (hash_mix(va >> 12) & 0xfffffff) << 12 | (va & 0xfff);
}

static u8 choose_memory_subclass(u64 kind, bool store)
{
	u8 subclass = store ? SPE_OP_LDST : 0;
	u32 roll = extract_byte(kind, 2);

	if (roll < 64)
		return subclass | SUBCLASS_SIMD_FP;
	if (roll < 68)
		return subclass | SUBCLASS_EXTENDED | SPE_OP_AT;
	if (roll < 72)
		return subclass | SUBCLASS_EXTENDED | SPE_OP_EXCL;
	if (roll < 80)
		return subclass | SUBCLASS_EXTENDED | SPE_OP_AR;
	return subclass;
}

static void model_memory(struct spe_operation_model *model, enum spe_profile profile, u64 kind,
			 bool store, struct spe_operation *operation)
{
	const struct program_profile *p = &profiles[profile];
	u64 roll = draw_random(model);
	const struct memory_tier *tier = draw_tier(p, extract_byte(roll, 0));
	bool walk = extract_byte(roll, 1) < p->walk;

	operation->op_class = SPE_OP_LOAD_STORE;
	operation->op_subclass = choose_memory_subclass(kind, store);
	operation->events |= tier->events;
	operation->total = tier->min + draw_latency(tier->spread, tier->tail, roll >> 16 & 0xffff);
	operation->issue = 1 + (extract_byte(roll, 4) & 1);
	operation->translation = extract_byte(roll, 4) >> 7;
	if (walk) {
		/*
		 * The latency of a long access already includes the time of a table walk. A short
		 * access is extended by that time.
		 */
		operation->events |= EVENT(TLB_WALK);
		operation->translation = 12 + (extract_byte(roll, 5) & 31);
		if (operation->total < operation->translation + 4)
			operation->total += operation->translation;
	}
	operation->va = choose_data_address(model, profile, operation, kind, roll >> 8);
	/* Only a few instructions access two cache lines, in half of their executions. */
	if (profile != SPE_PROFILE_SHARED_LINE && extract_byte(kind, 4) < 4 &&
	    extract_byte(roll, 6) < 128) {
		operation->events |= EVENT(MISALIGNED);
		operation->va |= 0x3c;
	}
	operation->pa = translate_address(operation->va);
	operation->valid |= SPE_OPERATION_VA | SPE_OPERATION_PA;
	/* D18.2.4: only loads have a data source. */
	if (!store) {
		operation->source = tier->source;
		operation->valid |= SPE_OPERATION_SOURCE;
	}
}

static void model_branch(struct spe_operation_model *model, const struct program_profile *profile,
			 u64 kind, struct spe_operation *operation)
{
	bool conditional = extract_byte(kind, 2) < 154;
	bool indirect = !conditional && extract_byte(kind, 2) < 192;
	u64 roll = draw_random(model);
	bool taken = !conditional || extract_byte(roll, 0) >= extract_byte(kind, 4);
	u64 distance = (kind >> 40 & 0x3ffc) + (indirect ? extract_byte(roll, 1) & 0x30 : 0);

	operation->op_class = SPE_OP_BRANCH;
	operation->op_subclass =
		(u8)((conditional ? SPE_OP_COND : 0) | (indirect ? SPE_OP_BR_IND : 0));
	operation->issue = 1 + (extract_byte(roll, 2) & 3);
	operation->total = operation->issue + 1 + (extract_byte(roll, 3) & 3);
	if (extract_byte(roll, 4) < profile->mispredicted) {
		operation->events |= EVENT(MISPREDICTED);
		operation->total += 8 + (extract_byte(roll, 5) & 15);
	}
	if (taken) {
		operation->target = operation->pc + distance - 0x2000;
		operation->valid |= SPE_OPERATION_TARGET;
	} else {
		operation->events |= EVENT(NOT_TAKEN);
	}
}

static void model_other(struct spe_operation_model *model, u64 kind,
			struct spe_operation *operation)
{
	u64 roll = draw_random(model);
	u32 cycles = 1;

	operation->op_class = SPE_OP_OTHER;
	if (extract_byte(kind, 2) < 16)
		operation->op_subclass = SPE_OP_COND;
	/* Divisions take longest, then multiplications and floating point. */
	if (extract_byte(kind, 4) < 12)
		cycles = 12 + (extract_byte(roll, 0) & 15);
	else if (extract_byte(kind, 4) < 60)
		cycles = 3 + (extract_byte(roll, 0) & 3);
	operation->issue = 1 + (extract_byte(roll, 1) & 3);
	operation->total = operation->issue + cycles;
}

void spe_opmodel_init(struct spe_operation_model *model, u64 seed)
{
	*model = (struct spe_operation_model){ .random = seed };
}
SPE_EXPORT(spe_opmodel_init);

void spe_opmodel_complete_operation(struct spe_operation_model *model, enum spe_profile profile,
				    struct spe_operation *operation)
{
	const struct program_profile *p;
	u64 kind = hash_instruction(operation);
	u32 roll = extract_byte(kind, 0);

	if ((unsigned int)profile >= SPE_PROFILES)
		profile = SPE_PROFILE_MIXED;
	p = &profiles[profile];

	operation->target = 0;
	operation->va = 0;
	operation->pa = 0;
	operation->events = EVENT(RETIRED);
	operation->valid &= SPE_OPERATION_CONTEXT1 | SPE_OPERATION_CONTEXT2;
	operation->translation = 0;
	operation->source = 0;
	operation->op_subclass = 0;

	if (profile == SPE_PROFILE_SHARED_LINE)
		model_memory(model, profile, kind, draw_random(model) & 1, operation);
	else if (roll < p->loads)
		model_memory(model, profile, kind, false, operation);
	else if (roll < (u32)p->loads + p->stores)
		model_memory(model, profile, kind, true, operation);
	else if (roll < (u32)p->loads + p->stores + p->branches)
		model_branch(model, p, kind, operation);
	else
		model_other(model, kind, operation);
}
SPE_EXPORT(spe_opmodel_complete_operation);

const char *spe_profile_name(enum spe_profile profile)
{
	return (unsigned int)profile < SPE_PROFILES ? profiles[profile].name : "invalid";
}
SPE_EXPORT(spe_profile_name);

int spe_profile_from_name(const char *name, enum spe_profile *ret_profile)
{
	for (unsigned int i = 0; i < SPE_PROFILES; i++) {
		if (strcmp(name, profiles[i].name))
			continue;
		*ret_profile = i;
		return 0;
	}
	return -ENOENT;
}
SPE_EXPORT(spe_profile_from_name);
