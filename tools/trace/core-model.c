// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core-model.h"

#include <errno.h>
#include <stdlib.h>

#include "codec/packet.h"
#include "model/opmodel.h"
#include "model/spu.h"

#define LINE_SHIFT 6
#define PAGE_SHIFT 12
#define CACHE_WAYS	   16
#define RETURN_STACK_SIZE  16
#define PREDICTOR_COUNTERS 8192 /* entries of &core_model.counter, the branch predictor */
#define TARGET_ENTRIES	   2048

#define EVENT_BIT(e) SPE_BIT(SPE_EVENT_##e)

enum cache_level { LEVEL_L1, LEVEL_L2, LEVEL_SYSTEM, LEVELS };

/* Size of each cache in bytes; each cache has CACHE_WAYS ways. */
static const u64 level_bytes[LEVELS] = { 64ULL << 10, 1ULL << 20, 32ULL << 20 };

/* The levels that can serve an access. */
static const struct serving_level {
	u64 events;
	u16 source;
	u16 cycles;
} tiers[LEVELS + 1] = {
	[LEVEL_L1] = { 0, SPE_SOURCE_L1D, 4 },
	[LEVEL_L2] = { EVENT_BIT(L1D_REFILL), SPE_SOURCE_L2, 11 },
	[LEVEL_SYSTEM] = { EVENT_BIT(L1D_REFILL) | EVENT_BIT(LLC_ACCESS), SPE_SOURCE_SYSTEM_CACHE,
			   60 },
	[LEVELS] = { EVENT_BIT(L1D_REFILL) | EVENT_BIT(LLC_ACCESS) | EVENT_BIT(LLC_MISS),
		     SPE_SOURCE_DRAM, 200 },
};

/* Entries of the modelled TLB, and costs in cycles. */
#define TLB_ENTRIES	 1024
#define WALK_CYCLES	 30
#define MISPREDICT_COST	 11
#define ISSUE_CYCLES	 1
#define DIVIDE_CYCLES	 12
#define MULTIPLY_CYCLES	 3
#define FLOAT_CYCLES	 3
#define FLOAT_DIV_CYCLES 10
#define BRANCH_CYCLES	 2

/**
 * struct lru_cache - sets of CACHE_WAYS tags each, the last used tag first; a tag is a number + 1
 */
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
 * @returns: return addresses of the last calls; the next one is stored at @depth modulo
 * RETURN_STACK_SIZE
 */
struct core_model {
	struct lru_cache cache[LEVELS];
	struct lru_cache tlb;
	u8 counter[PREDICTOR_COUNTERS];
	u64 target[TARGET_ENTRIES];
	u32 history;
	u64 returns[RETURN_STACK_SIZE];
	u32 depth;
};

static bool cache_init(struct lru_cache *cache, u64 entries)
{
	cache->sets = (u32)(entries / CACHE_WAYS);
	cache->tag = calloc(entries, sizeof(*cache->tag));
	return cache->tag;
}

/*
 * Look up a number, and make it the last used one of its set. Return whether the set contained it.
 */
static bool cache_look_up(struct lru_cache *cache, u64 number)
{
	u64 *set = &cache->tag[number % cache->sets * CACHE_WAYS];
	u32 way = 0;
	bool found;

	while (way < CACHE_WAYS - 1 && set[way] != number + 1)
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

/*
 * Return the first cache that contains a line, or LEVELS if no cache does. The line is then in all
 * caches above that one, too.
 */
static int look_up_line(struct core_model *core, u64 line)
{
	int level = 0;

	while (level < LEVELS && !cache_look_up(&core->cache[level], line))
		level++;
	return level;
}

void core_model_access(struct core_model *core, u64 address, u32 bytes, bool store,
		       struct spe_access *ret_access)
{
	u64 first = address >> LINE_SHIFT, last = (address + bytes - 1) >> LINE_SHIFT;
	int level = look_up_line(core, first), other;
	const struct serving_level *tier;

	*ret_access = (struct spe_access){
		.va = address,
		.events = EVENT_BIT(L1D_ACCESS) | EVENT_BIT(TLB_ACCESS),
		.flags = SPE_ACCESS_NO_PA | (store ? SPE_ACCESS_STORE : 0),
	};
	for (u64 line = first; line != last; line++) {
		other = look_up_line(core, line + 1);
		level = other > level ? other : level;
		ret_access->events |= EVENT_BIT(MISALIGNED);
	}
	tier = &tiers[level];
	ret_access->events |= tier->events;
	ret_access->total = ISSUE_CYCLES + tier->cycles;
	if (!cache_look_up(&core->tlb, address >> PAGE_SHIFT)) {
		ret_access->events |= EVENT_BIT(TLB_WALK);
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
static bool predict_condition(struct core_model *core, u64 pc, bool taken)
{
	u8 *counter = &core->counter[(pc / 4 ^ core->history) % PREDICTOR_COUNTERS];
	bool predicted = *counter >= 2;

	if (taken && *counter < 3)
		(*counter)++;
	if (!taken && *counter)
		(*counter)--;
	core->history = core->history << 1 | taken;
	return predicted != taken;
}

bool core_model_execute_branch(struct core_model *core, u64 pc, u64 flags, bool taken, u64 target)
{
	u64 predicted = target;

	if (flags & SPE_INSTRUCTION_RETURN) {
		core->depth--;
		predicted = core->returns[core->depth % RETURN_STACK_SIZE];
	} else if (flags & SPE_INSTRUCTION_INDIRECT) {
		predicted = core->target[pc / 4 % TARGET_ENTRIES];
		core->target[pc / 4 % TARGET_ENTRIES] = target;
	}
	if (flags & SPE_INSTRUCTION_LINK) {
		core->returns[core->depth % RETURN_STACK_SIZE] = pc + 4;
		core->depth++;
	}
	if (flags & SPE_INSTRUCTION_CONDITIONAL)
		return predict_condition(core, pc, taken);
	return predicted != target;
}

u32 core_model_get_latency(const struct a64_instruction *a64, bool mispredicted)
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
