// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Synthetic programs. Each program is a loop of a few instructions, and a table has one row for
 * each instruction. Each line of memory is always in the same cache.
 */
#include "synthetic.h"

#include "opmodel.h"

#define EVENT(e) SPE_BIT(SPE_EVENT_##e)

/* Operation Type payloads of D18.2.7. */
#define LOAD	    0x00
#define STORE	    0x01
#define GATHER	    0xac /* SVE, scatter/gather, predicated, 128 bits */
#define MEMCPY_LOAD 0x20

#define PAGE	  4096
#define TLB_PAGES 1024

/* The kind of operation that an instruction is */
enum step_kind {
	ACT_COMPUTE,
	ACT_CHASE,
	ACT_READ,
	ACT_WRITE,
	ACT_RANDOM,
	ACT_DECIDE, /* a branch on random data, which may skip the next instruction */
	ACT_SHARED_READ,
	ACT_SHARED_WRITE,
	ACT_GATHER,
	ACT_COPY,
	ACT_LOOP, /* back to the first one */
};

#define STEPS 12

struct program_loop {
	const char *name;
	u8 length;
	u8 steps[STEPS];
};

static const struct program_loop programs[SPE_PROGRAMS] = {
	[SPE_PROGRAM_CHASE] = { "chase", 3, { ACT_CHASE, ACT_COMPUTE, ACT_LOOP } },
	[SPE_PROGRAM_STREAM] = { "stream",
				 5,
				 { ACT_READ, ACT_READ, ACT_COMPUTE, ACT_WRITE, ACT_LOOP } },
	[SPE_PROGRAM_RANDOM] = { "random", 4, { ACT_COMPUTE, ACT_RANDOM, ACT_COMPUTE, ACT_LOOP } },
	[SPE_PROGRAM_BRANCHY] = { "branchy",
				  5,
				  { ACT_COMPUTE, ACT_DECIDE, ACT_COMPUTE, ACT_COMPUTE, ACT_LOOP } },
	[SPE_PROGRAM_SHARED_LINE] = { "shared_line",
				      4,
				      { ACT_SHARED_READ, ACT_COMPUTE, ACT_SHARED_WRITE,
					ACT_LOOP } },
	[SPE_PROGRAM_SHARED_WORD] = { "shared_word",
				      4,
				      { ACT_SHARED_READ, ACT_COMPUTE, ACT_SHARED_WRITE,
					ACT_LOOP } },
	[SPE_PROGRAM_GATHER] = { "gather", 4, { ACT_COMPUTE, ACT_GATHER, ACT_COMPUTE, ACT_LOOP } },
	[SPE_PROGRAM_MEMCPY] = { "memcpy", 3, { ACT_COMPUTE, ACT_COPY, ACT_LOOP } },
	[SPE_PROGRAM_MIX] = { "mix",
			      12,
			      { ACT_CHASE, ACT_COMPUTE, ACT_READ, ACT_WRITE, ACT_RANDOM, ACT_DECIDE,
				ACT_COMPUTE, ACT_GATHER, ACT_COPY, ACT_COMPUTE, ACT_COMPUTE,
				ACT_LOOP } },
};

struct tier_latency {
	u64 events;
	u16 source;
	u16 min;
	u16 spread; /* a power of two */
};

enum tier_name { TIER_L1, TIER_L2, TIER_SYSTEM, TIER_DRAM, TIER_PEER };

static const struct tier_latency tiers[] = {
	[TIER_L1] = { 0, SPE_SOURCE_L1D, 4, 2 },
	[TIER_L2] = { EVENT(L1D_REFILL), SPE_SOURCE_L2, 12, 8 },
	[TIER_SYSTEM] = { EVENT(L1D_REFILL) | EVENT(LLC_ACCESS), SPE_SOURCE_SYSTEM_CACHE, 50, 32 },
	[TIER_DRAM] = { EVENT(L1D_REFILL) | EVENT(LLC_ACCESS) | EVENT(LLC_MISS), SPE_SOURCE_DRAM,
			180, 256 },
	[TIER_PEER] = { EVENT(L1D_REFILL) | EVENT(LLC_ACCESS), SPE_SOURCE_PEER_CORE, 70, 64 },
};

static u64 draw_random(struct spe_synthetic_program *s)
{
	u64 z = s->random += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/*
 * The number of lines is a power of two, so multiplication by an odd factor permutes them, and each
 * cache has exactly its share of the lines.
 */
static enum tier_name get_tier_of_line(const struct spe_synthetic_program *s, u64 offset)
{
	u64 lines = s->config.working_set / SPE_SYNTHETIC_LINE;
	u64 slot = (offset / SPE_SYNTHETIC_LINE * 0x9e3779b1ULL) & (lines - 1);

	if (slot < SPE_SYNTHETIC_L1D / SPE_SYNTHETIC_LINE)
		return TIER_L1;
	if (slot < SPE_SYNTHETIC_L2 / SPE_SYNTHETIC_LINE)
		return TIER_L2;
	if (slot < SPE_SYNTHETIC_SYSTEM / SPE_SYNTHETIC_LINE)
		return TIER_SYSTEM;
	return TIER_DRAM;
}

/*
 * Return the tier of a sequential access: the first access to a page comes from DRAM, and the other
 * lines of the page were prefetched.
 */
static enum tier_name get_prefetched_tier(u64 offset)
{
	if (offset % SPE_SYNTHETIC_LINE)
		return TIER_L1;
	return offset % PAGE ? TIER_L2 : TIER_DRAM;
}

static void make_memory_access(struct spe_synthetic_program *s, u64 offset, enum tier_name name,
			       u8 subclass, bool walk, struct spe_operation *op)
{
	const struct tier_latency *tier = &tiers[name];
	u64 r = draw_random(s);

	op->op_class = SPE_OP_LOAD_STORE;
	op->op_subclass = subclass;
	op->events |= EVENT(L1D_ACCESS) | EVENT(TLB_ACCESS) | tier->events;
	op->issue = 1;
	op->total = op->issue + tier->min + (u32)(r & (tier->spread - 1U));
	if (walk) {
		op->events |= EVENT(TLB_WALK);
		op->translation = 20 + (u32)(r >> 32 & 31);
		op->total += op->translation;
	}
	op->va = s->config.va + offset;
	op->pa = (op->va & SPE_MASK(35, 0)) | SPE_BIT(39);
	op->valid |= SPE_OPERATION_VA | SPE_OPERATION_PA;
	if (!(subclass & SPE_OP_LDST)) {
		op->source = tier->source;
		op->valid |= SPE_OPERATION_SOURCE;
	}
}

static u64 draw_random_offset(struct spe_synthetic_program *s)
{
	return draw_random(s) & (s->config.working_set - 1) & ~7ULL;
}

static u64 advance_sequential_offset(struct spe_synthetic_program *s)
{
	s->cursor += 8;
	return (s->cursor - 8) & (s->config.working_set - 1);
}

/* Draw whether a random access misses the TLB, given the number of pages and of TLB entries. */
static bool misses_tlb(struct spe_synthetic_program *s)
{
	u64 pages = s->config.working_set / PAGE;

	return pages > TLB_PAGES && (draw_random(s) & (pages - 1)) >= TLB_PAGES;
}

static void model_pointer_chase(struct spe_synthetic_program *s, struct spe_operation *op)
{
	u64 lines = s->config.working_set / SPE_SYNTHETIC_LINE;
	u64 offset;

	/*
	 * A linear congruential generator visits every line once for any power of two, if its
	 * factor is 1 modulo 4 and its increment is odd.
	 */
	s->line = (s->line * 0x5851f42d4c957f2dULL + 0x14057b7ef767814fULL) & (lines - 1);
	offset = s->line * SPE_SYNTHETIC_LINE;
	make_memory_access(s, offset, get_tier_of_line(s, offset), LOAD, misses_tlb(s), op);
}

static void model_shared_line(struct spe_synthetic_program *s, u8 subclass,
			      struct spe_operation *op)
{
	bool away = *s->config.line_owner != s->config.cpu;

	*s->config.line_owner = s->config.cpu;
	/* Access the CPU's own word of the line, or the word that all CPUs use. */
	make_memory_access(s,
			   s->config.program == SPE_PROGRAM_SHARED_WORD ? 0 : 8ULL * s->config.cpu,
			   away ? TIER_PEER : TIER_L1, subclass, false, op);
}

static void model_gather(struct spe_synthetic_program *s, struct spe_operation *op)
{
	u64 offset = draw_random_offset(s);

	make_memory_access(s, offset, get_tier_of_line(s, offset), GATHER, misses_tlb(s), op);
	if (!(draw_random(s) & 3))
		op->events |= EVENT(PARTIAL_PREDICATE);
}

/* Copy from one half of the data to the other half (D17.6.4.3). */
static void model_copy(struct spe_synthetic_program *s, struct spe_operation *op)
{
	bool store = draw_random(s) & 1;
	u64 half = s->config.working_set / 2;
	u64 offset = advance_sequential_offset(s) & (half - 1);

	make_memory_access(s, store ? half + offset : offset, get_prefetched_tier(offset),
			   (u8)(MEMCPY_LOAD | (store ? SPE_OP_LDST : 0)), false, op);
}

static void make_branch(struct spe_operation *op, u8 subclass, u32 cycles)
{
	op->op_class = SPE_OP_BRANCH;
	op->op_subclass = subclass;
	op->issue = 1;
	op->total = 1 + cycles;
}

/* Return the next step. */
static u32 make_random_branch(struct spe_synthetic_program *s, struct spe_operation *op)
{
	u64 r = draw_random(s);
	bool taken = r & 1;

	make_branch(op, SPE_OP_COND, 2);
	if ((r >> 8 & 0xff) < s->config.mispredicted) {
		op->events |= EVENT(MISPREDICTED);
		op->total += 12;
	}
	if (!taken) {
		op->events |= EVENT(NOT_TAKEN);
		return s->step + 1;
	}
	op->target = op->pc + 8;
	op->valid |= SPE_OPERATION_TARGET;
	return s->step + 2;
}

/* Return the next step. */
static u32 make_operation(struct spe_synthetic_program *s, enum step_kind act,
			  struct spe_operation *op)
{
	u64 offset;

	switch (act) {
	case ACT_COMPUTE:
		op->op_class = SPE_OP_OTHER;
		op->issue = 1;
		op->total = 2;
		break;
	case ACT_CHASE:
		model_pointer_chase(s, op);
		break;
	case ACT_READ:
	case ACT_WRITE:
		offset = advance_sequential_offset(s);
		make_memory_access(s, offset, get_prefetched_tier(offset),
				   act == ACT_READ ? LOAD : STORE, false, op);
		break;
	case ACT_RANDOM:
		offset = draw_random_offset(s);
		make_memory_access(s, offset, get_tier_of_line(s, offset), LOAD, misses_tlb(s), op);
		break;
	case ACT_DECIDE:
		return make_random_branch(s, op);
	case ACT_SHARED_READ:
		model_shared_line(s, LOAD, op);
		break;
	case ACT_SHARED_WRITE:
		model_shared_line(s, STORE, op);
		break;
	case ACT_GATHER:
		model_gather(s, op);
		break;
	case ACT_COPY:
		model_copy(s, op);
		break;
	case ACT_LOOP:
		make_branch(op, SPE_OP_COND, 1);
		op->target = s->config.pc;
		op->valid |= SPE_OPERATION_TARGET;
		return 0;
	}
	return s->step + 1;
}

static void counts_add_operation(struct spe_synthetic_counts *truth, const struct spe_operation *op)
{
	u64 events = op->events;

	truth->operations++;
	truth->cycles += op->total;
	switch (op->op_class) {
	case SPE_OP_LOAD_STORE:
		truth->kind[op->op_subclass & SPE_OP_LDST ? SPE_KIND_STORE : SPE_KIND_LOAD]++;
		break;
	case SPE_OP_BRANCH:
		truth->kind[SPE_KIND_BRANCH]++;
		break;
	default:
		truth->kind[SPE_KIND_OTHER]++;
		break;
	}
	truth->simd += op->op_class == SPE_OP_LOAD_STORE && op->op_subclass == GATHER;
	for (; events; events &= events - 1)
		truth->event[__builtin_ctzll(events)]++;
	if (op->valid & SPE_OPERATION_SOURCE)
		truth->source[op->source & 15]++;
}

static const char *find_config_error(const struct spe_synthetic_config *config)
{
	u64 size = config->working_set;

	if (config->program >= SPE_PROGRAMS)
		return "program: no such program";
	if (size < PAGE || size > 1ULL << 30 || size & (size - 1))
		return "working_set: not a power of two from 4 KiB to 1 GiB";
	if (config->va & (PAGE - 1))
		return "va: not a multiple of 4 KiB";
	if (config->el > 2)
		return "el: above 2";
	if (config->cpu > 1)
		return "cpu: neither 0 nor 1";
	if ((config->program == SPE_PROGRAM_SHARED_LINE ||
	     config->program == SPE_PROGRAM_SHARED_WORD) && !config->line_owner)
		return "line_owner: missing, the program shares a line";
	return NULL;
}

int spe_synthetic_init(struct spe_synthetic_program *synthetic,
		       const struct spe_synthetic_config *config, const char **ret_reason)
{
	const char *reason = find_config_error(config);

	if (reason) {
		if (ret_reason)
			*ret_reason = reason;
		return -EINVAL;
	}
	*synthetic = (struct spe_synthetic_program){ .config = *config, .random = config->seed };
	return 0;
}
SPE_EXPORT(spe_synthetic_init);

void spe_synthetic_execute_next(struct spe_synthetic_program *synthetic,
				struct spe_operation *ret_operation)
{
	struct spe_synthetic_program *s = synthetic;
	const struct program_loop *program = &programs[s->config.program];
	struct spe_operation op = {
		.pc = s->config.pc + 4ULL * s->step,
		.timestamp = s->now,
		.events = EVENT(RETIRED),
		.valid = SPE_OPERATION_CONTEXT1 | SPE_OPERATION_CONTEXT2,
		.contextidr_el1 = s->config.context,
		.contextidr_el2 = s->config.context,
		.el = s->config.el,
		.ns = true,
	};

	s->step = make_operation(s, program->steps[s->step], &op);
	s->now += op.total;
	counts_add_operation(&s->truth, &op);
	*ret_operation = op;
}
SPE_EXPORT(spe_synthetic_execute_next);

u32 spe_synthetic_get_loop_length(enum spe_program program)
{
	return (unsigned int)program < SPE_PROGRAMS ? programs[program].length : 0;
}
SPE_EXPORT(spe_synthetic_get_loop_length);

const char *spe_program_name(enum spe_program program)
{
	return (unsigned int)program < SPE_PROGRAMS ? programs[program].name : "invalid";
}
SPE_EXPORT(spe_program_name);

int spe_program_from_name(const char *name, enum spe_program *ret_program)
{
	for (unsigned int i = 0; i < SPE_PROGRAMS; i++) {
		if (strcmp(name, programs[i].name))
			continue;
		*ret_program = i;
		return 0;
	}
	return -ENOENT;
}
SPE_EXPORT(spe_program_from_name);
