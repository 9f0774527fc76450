// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core-model.h"

#include <errno.h>
#include <stdlib.h>

#include "codec/packet.h"
#include "model/opmodel.h"
#include "model/spu.h"

#define LINE_SHIFT 6
#define PAGE_SHIFT 12
#define WAYS	   16
#define RETURNS	   16
#define COUNTERS   8192 /* number of counters of the branch predictor */
#define TARGETS	   2048

#define EVENT(e) SPE_BIT(SPE_EVENT_##e)

enum level { LEVEL_L1, LEVEL_L2, LEVEL_SYSTEM, LEVELS };

/* Size of each cache in bytes; each cache has WAYS ways. */
static const u64 level_bytes[LEVELS] = { 64ULL << 10, 1ULL << 20, 32ULL << 20 };

/* The levels that can serve an access. */
static const struct tier {
	u64 events;
	u16 source;
	u16 cycles;
} tiers[LEVELS + 1] = {
	[LEVEL_L1] = { 0, SPE_SOURCE_L1D, 4 },
	[LEVEL_L2] = { EVENT(L1D_REFILL), SPE_SOURCE_L2, 11 },
	[LEVEL_SYSTEM] = { EVENT(L1D_REFILL) | EVENT(LLC_ACCESS), SPE_SOURCE_SYSTEM_CACHE, 60 },
	[LEVELS] = { EVENT(L1D_REFILL) | EVENT(LLC_ACCESS) | EVENT(LLC_MISS), SPE_SOURCE_DRAM,
		     200 },
};

#define TLB_ENTRIES	 1024
#define WALK_CYCLES	 30
#define MISPREDICT_COST	 11
#define ISSUE_CYCLES	 1
#define DIVIDE_CYCLES	 12
#define MULTIPLY_CYCLES	 3
#define FLOAT_CYCLES	 3
#define FLOAT_DIV_CYCLES 10
#define BRANCH_CYCLES	 2

/** struct lru_cache - sets of WAYS tags each, the last used tag first; a tag is a number + 1 */
struct lru_cache {
	u64 *tag;
	u32 sets;
};

/**
 * struct core_model - the state of a core
 * @cache, @tlb: tags of the cached lines and pages
 * @counter: two-bit counters of conditional branches, indexed by PC and history
 * @target: targets of indirect branches, indexed by PC
 * @history: outcomes of the last conditional branches
 * @returns: return addresses of the last calls; @depth is the number of addresses on this stack
 */
struct core_model {
	struct lru_cache cache[LEVELS];
	struct lru_cache tlb;
	u8 counter[COUNTERS];
	u64 target[TARGETS];
	u32 history;
	u64 returns[RETURNS];
	u32 depth;
};

static bool cache_init(struct lru_cache *cache, u64 entries)
{
	cache->sets = (u32)(entries / WAYS);
	cache->tag = calloc(entries, sizeof(*cache->tag));
	return cache->tag;
}

/*
 * Look up a number, and make it the last used one of its set. Return whether the set contained it.
 */
static bool cache_use(struct lru_cache *cache, u64 number)
{
	u64 *set = &cache->tag[number % cache->sets * WAYS];
	u32 way = 0;
	bool found;

	while (way < WAYS - 1 && set[way] != number + 1)
		way++;
	found = set[way] == number + 1;
	memmove(set + 1, set, way * sizeof(*set));
	set[0] = number + 1;
	return found;
}

int core_model_new(struct core_model **ret_core)
{
	struct core_model *core = calloc(1, sizeof(*core));
	bool complete = core && cache_init(&core->tlb, TLB_ENTRIES);

	for (int i = 0; complete && i < LEVELS; i++)
		complete = cache_init(&core->cache[i], level_bytes[i] >> LINE_SHIFT);
	if (!complete) {
		core_model_free(core);
		return -ENOMEM;
	}
	*ret_core = core;
	return 0;
}

struct core_model *core_model_free(struct core_model *core)
{
	for (int i = 0; core && i < LEVELS; i++)
		free(core->cache[i].tag);
	if (core)
		free(core->tlb.tag);
	free(core);
	return NULL;
}

/* Return the cache that contains a line, or LEVELS if none does, and fill the caches above it. */
static int line_use(struct core_model *core, u64 line)
{
	int level = 0;

	while (level < LEVELS && !cache_use(&core->cache[level], line))
		level++;
	return level;
}

void core_model_access(struct core_model *core, u64 address, u32 bytes, bool store,
		       struct spe_access *ret_access)
{
	u64 first = address >> LINE_SHIFT, last = (address + bytes - 1) >> LINE_SHIFT;
	int level = line_use(core, first), other;
	const struct tier *tier;

	*ret_access = (struct spe_access){
		.va = address,
		.events = EVENT(L1D_ACCESS) | EVENT(TLB_ACCESS),
		.flags = SPE_ACCESS_NO_PA | (store ? SPE_ACCESS_STORE : 0),
	};
	for (u64 line = first; line != last; line++) {
		other = line_use(core, line + 1);
		level = other > level ? other : level;
		ret_access->events |= EVENT(MISALIGNED);
	}
	tier = &tiers[level];
	ret_access->events |= tier->events;
	ret_access->total = ISSUE_CYCLES + tier->cycles;
	if (!cache_use(&core->tlb, address >> PAGE_SHIFT)) {
		ret_access->events |= EVENT(TLB_WALK);
		ret_access->translation = WALK_CYCLES;
		ret_access->total += WALK_CYCLES;
	}
	if (!store) {
		ret_access->source = tier->source;
		ret_access->flags |= SPE_ACCESS_SOURCE;
	}
}

/*
 * Predict a conditional branch, and update the predictor. Return whether the prediction was wrong.
 */
static bool condition_learn(struct core_model *core, u64 pc, bool taken)
{
	u8 *counter = &core->counter[(pc / 4 ^ core->history) % COUNTERS];
	bool predicted = *counter >= 2;

	if (taken && *counter < 3)
		(*counter)++;
	if (!taken && *counter)
		(*counter)--;
	core->history = core->history << 1 | taken;
	return predicted != taken;
}

bool core_model_branch(struct core_model *core, u64 pc, u64 flags, bool taken, u64 target)
{
	u64 predicted = target;

	if (flags & SPE_INSTRUCTION_RETURN) {
		core->depth--;
		predicted = core->returns[core->depth % RETURNS];
	} else if (flags & SPE_INSTRUCTION_INDIRECT) {
		predicted = core->target[pc / 4 % TARGETS];
		core->target[pc / 4 % TARGETS] = target;
	}
	if (flags & SPE_INSTRUCTION_LINK) {
		core->returns[core->depth % RETURNS] = pc + 4;
		core->depth++;
	}
	if (flags & SPE_INSTRUCTION_CONDITIONAL)
		return condition_learn(core, pc, taken);
	return predicted != target;
}

u32 core_model_latency(const struct a64 *a64, bool mispredicted)
{
	static const u8 effort[] = {
		[A64_SIMPLE] = 1,
		[A64_MULTIPLY] = MULTIPLY_CYCLES,
		[A64_DIVIDE] = DIVIDE_CYCLES,
		[A64_FLOAT] = FLOAT_CYCLES,
		[A64_FLOAT_DIVIDE] = FLOAT_DIV_CYCLES,
	};

	if (a64->kind == SPE_INSTRUCTION_BRANCH)
		return ISSUE_CYCLES + BRANCH_CYCLES + (mispredicted ? MISPREDICT_COST : 0);
	return ISSUE_CYCLES + effort[a64->effort];
}
