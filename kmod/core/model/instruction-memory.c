// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Determine the data that is collected about memory accesses (D17.6.4, D17.6.6, D17.6.8). */
#include "instruction-internal.h"

/* size of a Tag Granule (FEAT_MTE) */
#define GRANULE 16

/*
 * Events that only loads have (D18.2.6), and events that may occur after a store has finished, so
 * that they may be missing in its record.
 */
#define LOAD_EVENTS  SPE_MASK(23, 19)
#define EARLY_EVENTS (SPE_MASK(3, 2) | SPE_MASK(10, 8))

static bool accesses_vector(const struct spe_instruction *instruction)
{
	return instruction->kind == SPE_INSTRUCTION_SVE_MEMORY ||
	       instruction->kind == SPE_INSTRUCTION_SME_MEMORY;
}

static bool access_is_store(const struct spe_access *access)
{
	return access->flags & SPE_ACCESS_STORE;
}

static const struct spe_access *choose_random_access(struct spe_spu *spu,
						     const struct spe_instruction *instruction)
{
	return &instruction->accesses[spe_spu_draw_random(spu) % instruction->access_count];
}

static const struct spe_access *find_lowest_access(const struct spe_instruction *instruction)
{
	const struct spe_access *found = instruction->accesses;

	for (unsigned int i = 1; i < instruction->access_count; i++)
		if (instruction->accesses[i].va < found->va)
			found = &instruction->accesses[i];
	return found;
}

/*
 * Choose the access of a contiguous vector load or store: the lowest element, or the lowest Active
 * one (RNHSYR). Elements are in ascending order.
 */
static const struct spe_access *choose_element_access(const struct spe_spu *spu,
						      const struct spe_instruction *instruction)
{
	unsigned int i = 0;

	if (!spe_spu_has_choice(spu, SPE_CHOICE_LOWEST_ACTIVE))
		return instruction->accesses;
	while (i < instruction->access_count - 1U &&
	       instruction->accesses[i].flags & SPE_ACCESS_INACTIVE)
		i++;
	return &instruction->accesses[i];
}

/*
 * Choose one store at random, or one load if @store is false. If there is no such access, choose
 * any access.
 */
static const struct spe_access *
choose_access_by_direction(struct spe_spu *spu, const struct spe_instruction *instruction,
			   bool store)
{
	unsigned int count = 0, n;

	for (unsigned int i = 0; i < instruction->access_count; i++)
		count += access_is_store(&instruction->accesses[i]) == store;
	if (!count)
		return choose_random_access(spu, instruction);
	n = (unsigned int)(spe_spu_draw_random(spu) % count);
	for (unsigned int i = 0;; i++)
		if (access_is_store(&instruction->accesses[i]) == store && !n--)
			return &instruction->accesses[i];
}

/*
 * D17.6.4.3, D17.6.4.5: if only loads or only stores pass the filters, choose an access that
 * passes.
 */
static const struct spe_access *choose_copy_access(struct spe_spu *spu,
						   const struct spe_instruction *instruction)
{
	u64 on = spu->reg[SPE_REG_PMSFCR];
	bool load = on & SPE_PMSFCR_FT && on & SPE_PMSFCR_LD;
	bool store = on & SPE_PMSFCR_FT && on & SPE_PMSFCR_ST;

	if (load == store)
		store = spe_spu_draw_random(spu) & 1;
	return choose_access_by_direction(spu, instruction, store);
}

const struct spe_access *spe_instruction_choose_access(struct spe_spu *spu,
						       const struct spe_instruction *instruction)
{
	if (!instruction->access_count)
		return NULL;
	if (instruction->kind == SPE_INSTRUCTION_COPY || instruction->kind == SPE_INSTRUCTION_GCS)
		return choose_copy_access(spu, instruction);
	/*
	 * RMYPFF: for a gather or scatter, and for other accesses that are not contiguous, each
	 * access is equally likely.
	 */
	if (!spe_instruction_is(instruction, SPE_INSTRUCTION_CONTIGUOUS))
		return choose_random_access(spu, instruction);
	if (accesses_vector(instruction))
		return choose_element_access(spu, instruction);
	if (spe_spu_has_choice(spu, SPE_CHOICE_PART))
		return choose_random_access(spu, instruction);
	return find_lowest_access(instruction);
}

/*
 * Check whether @instruction accesses a system register through memory of EL2 (FEAT_NV2), and
 * sampling at EL2 is not permitted. Samples do not contain the address of such an access
 * (D17.6.4.2).
 */
static bool is_hidden_from_el1(const struct spe_spu *spu, const struct spe_instruction *instruction)
{
	return instruction->kind == SPE_INSTRUCTION_SYSREG && !spu->collect[2].sampled;
}

static bool outputs_address(const struct spe_spu *spu, const struct spe_instruction *instruction,
			    const struct spe_access *access)
{
	if (is_hidden_from_el1(spu, instruction) ||
	    spe_instruction_is(instruction, SPE_INSTRUCTION_SECRET_ADDRESS))
		return false;
	if (!(access->flags & SPE_ACCESS_INACTIVE))
		return true;
	return spe_instruction_is(instruction, SPE_INSTRUCTION_CONTIGUOUS) &&
	       spe_spu_has_choice(spu, SPE_CHOICE_INACTIVE_VA);
}

static bool access_is_performed(const struct spe_access *access)
{
	return !(access->flags & (SPE_ACCESS_NOT_PERFORMED | SPE_ACCESS_INACTIVE));
}

static bool access_is_translated(const struct spe_access *access)
{
	return !(access->flags & (SPE_ACCESS_NO_PA | SPE_ACCESS_INACTIVE));
}

static bool outputs_physical_address(const struct spe_spu *spu,
				     const struct spe_instruction *instruction,
				     const struct spe_access *access)
{
	if (!access_is_translated(access))
		return false;
	if (access_is_performed(access))
		return true;
	return spe_instruction_is(instruction, SPE_INSTRUCTION_EXCLUSIVE) &&
	       spe_spu_has_choice(spu, SPE_CHOICE_EXCLUSIVE_PA);
}

static void collect_addresses(const struct spe_spu *spu, const struct spe_instruction *instruction,
			      const struct spe_access *access, struct spe_operation *operation)
{
	static const struct {
		u32 access;
		u32 operation;
	} flags[] = {
		{ SPE_ACCESS_TBI, SPE_OPERATION_TBI },
		{ SPE_ACCESS_NO_TBI, SPE_OPERATION_NO_TBI },
		{ SPE_ACCESS_TAGGED, SPE_OPERATION_TAGGED },
		{ SPE_ACCESS_PA_NS, SPE_OPERATION_PA_NS },
	};
	bool tags = instruction->kind == SPE_INSTRUCTION_TAG;
	bool whole = !spe_spu_has_choice(spu, SPE_CHOICE_PART) ||
		     spe_spu_has_choice(spu, SPE_CHOICE_PART_LOWEST_VA);
	bool contiguous = spe_instruction_is(instruction, SPE_INSTRUCTION_CONTIGUOUS);

	operation->va = contiguous && whole && !accesses_vector(instruction) ?
				find_lowest_access(instruction)->va :
				access->va;
	operation->pa = access->pa;
	if (tags && spe_spu_has_choice(spu, SPE_CHOICE_TAG_GRANULE_VA))
		operation->va &= ~(u64)(GRANULE - 1);
	if (tags && spe_spu_has_choice(spu, SPE_CHOICE_TAG_GRANULE_PA))
		operation->pa &= ~(u64)(GRANULE - 1);
	operation->tag = access->tag & 15;
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		if (access->flags & flags[i].access)
			operation->valid |= flags[i].operation;
	operation->valid |= SPE_OPERATION_VA;
	if (outputs_physical_address(spu, instruction, access))
		operation->valid |= SPE_OPERATION_PA;
}

/*
 * Check whether the Address packet has CH set: the access was checked against an Allocation Tag in
 * memory (D18.2.1).
 */
static bool is_tag_checked(const struct spe_spu *spu, const struct spe_access *access)
{
	if (!(access->flags & SPE_ACCESS_CHECKED) || access->flags & SPE_ACCESS_CANONICAL)
		return false;
	return !(access->flags & SPE_ACCESS_TCF_IGNORED &&
		 spe_spu_has_choice(spu, SPE_CHOICE_TCF_UNCHECKED));
}

/*
 * Return the translation latency in cycles. If one access was chosen, return the latency of that
 * access. Otherwise return the sum over all accesses of the time in which no other access is in
 * progress.
 */
static u32 access_get_translation_latency(const struct spe_spu *spu,
					  const struct spe_instruction *instruction,
					  const struct spe_access *access)
{
	bool overlap = spe_spu_has_choice(spu, SPE_CHOICE_TRANSLATION_OVERLAP);
	u32 cycles = 0;

	if (spe_spu_has_choice(spu, SPE_CHOICE_PART))
		return access->translation + access->overlap;
	for (unsigned int i = 0; i < instruction->access_count; i++) {
		const struct spe_access *part = &instruction->accesses[i];

		cycles += part->translation + (overlap ? part->overlap : 0);
	}
	return cycles;
}

/*
 * Collect the translation latency. If the record has no address, or the access did not occur, the
 * configuration selects whether the counter is 0 or absent (D17.6.4).
 */
static void collect_translation_latency(const struct spe_spu *spu,
					const struct spe_instruction *instruction,
					const struct spe_access *access,
					struct spe_operation *operation)
{
	bool zero = spe_spu_has_choice(spu, SPE_CHOICE_TRANSLATION_ZERO);

	if (operation->valid & SPE_OPERATION_VA && access_is_performed(access)) {
		operation->translation = access_get_translation_latency(spu, instruction, access);
		return;
	}
	if (!access_is_performed(access) && !access_is_translated(access))
		zero = false;
	operation->valid |= zero ? SPE_OPERATION_TRANSLATION : SPE_OPERATION_NO_TRANSLATION;
}

static u64 access_get_events(const struct spe_spu *spu, const struct spe_instruction *instruction,
			     const struct spe_access *access)
{
	u64 events = 0;

	if (spe_spu_has_choice(spu, SPE_CHOICE_PART) &&
	    !spe_spu_has_choice(spu, SPE_CHOICE_PART_WHOLE))
		return access_is_performed(access) ? access->events : 0;
	for (unsigned int i = 0; i < instruction->access_count; i++)
		if (access_is_performed(&instruction->accesses[i]))
			events |= instruction->accesses[i].events;
	return events;
}

/*
 * D17.6.4, D18.2.6: accesses that did not occur have no events, and stores have no events of loads.
 */
static void collect_events(const struct spe_spu *spu, const struct spe_instruction *instruction,
			   const struct spe_access *access, struct spe_operation *operation)
{
	const u64 memory = SPE_MASK(5, 2) | SPE_MASK(11, 8) | LOAD_EVENTS;
	bool store = !spe_operation_is_load(operation) && operation->op_class == SPE_OP_LOAD_STORE;
	u64 events = access_get_events(spu, instruction, access) & memory;

	if (!(operation->valid & SPE_OPERATION_VA) &&
	    !spe_spu_has_choice(spu, SPE_CHOICE_HIDDEN_EVENTS))
		events = 0;
	if (store)
		events &= ~LOAD_EVENTS;
	if (store && spe_spu_has_choice(spu, SPE_CHOICE_STORE_EARLY))
		events &= ~EARLY_EVENTS;
	operation->events |= events;
}

static const struct spe_access *find_farthest_access(const struct spe_instruction *instruction)
{
	const struct spe_access *found = instruction->accesses;

	for (unsigned int i = 1; i < instruction->access_count; i++)
		if (instruction->accesses[i].total > found->total)
			found = &instruction->accesses[i];
	return found;
}

static void collect_source(const struct spe_spu *spu, const struct spe_instruction *instruction,
			   const struct spe_access *access, struct spe_operation *operation)
{
	bool any = false;

	if (spe_spu_has_choice(spu, SPE_CHOICE_SOURCE_COMBINED))
		access = find_farthest_access(instruction);
	if (!(access->flags & SPE_ACCESS_SOURCE) || !access_is_performed(access))
		return;
	if (spe_instruction_is(instruction, SPE_INSTRUCTION_ABORTED) &&
	    !spe_spu_has_choice(spu, SPE_CHOICE_ABORT_SOURCE))
		return;
	if (spe_instruction_is(instruction, SPE_INSTRUCTION_NO_RETURN))
		any = spe_spu_has_choice(spu, SPE_CHOICE_ATOMIC_SOURCE);
	else if (spe_instruction_is(instruction, SPE_INSTRUCTION_STATUS))
		any = spe_spu_has_choice(spu, SPE_CHOICE_ST64BV_SOURCE);
	else if (instruction->kind == SPE_INSTRUCTION_BRANCH)
		any = !access_is_store(access);
	operation->source = access->source;
	operation->valid |= SPE_OPERATION_SOURCE | (any ? SPE_OPERATION_ANY_SOURCE : 0);
}

/*
 * Prefetches, cache maintenance and address translation record a subset of what a load records
 * (D17.6.8).
 */
static void restrict_other_access(const struct spe_spu *spu, struct spe_operation *operation)
{
	u32 keep = spu->config.other_info;

	if (!(keep & SPE_OPERATION_VA))
		operation->valid &= ~(u32)(SPE_OPERATION_VA | SPE_OPERATION_PA);
	if (!(keep & SPE_OPERATION_PA))
		operation->valid &= ~(u32)SPE_OPERATION_PA;
	if (!(keep & SPE_OPERATION_TRANSLATION)) {
		operation->valid &= ~(u32)SPE_OPERATION_TRANSLATION;
		operation->valid |= SPE_OPERATION_NO_TRANSLATION;
	} else if (!(operation->valid & (SPE_OPERATION_VA | SPE_OPERATION_NO_TRANSLATION))) {
		operation->valid |= SPE_OPERATION_TRANSLATION;
	}
	if (!(keep & SPE_OTHER_INFO_EVENTS))
		operation->events = 0;
	if (keep & SPE_OPERATION_SOURCE)
		operation->valid |= SPE_OPERATION_ANY_SOURCE;
}

void spe_instruction_collect_memory(const struct spe_spu *spu,
				    const struct spe_instruction *instruction,
				    const struct spe_access *access,
				    struct spe_operation *operation)
{
	if (outputs_address(spu, instruction, access))
		collect_addresses(spu, instruction, access, operation);
	if (is_tag_checked(spu, access))
		operation->valid |= SPE_OPERATION_CHECKED;
	collect_translation_latency(spu, instruction, access, operation);
	collect_events(spu, instruction, access, operation);
	collect_source(spu, instruction, access, operation);
	if (spe_spu_has_choice(spu, SPE_CHOICE_PART) &&
	    !spe_spu_has_choice(spu, SPE_CHOICE_PART_WHOLE))
		operation->total = access->total;
	if (spe_instruction_is_other_access(spu, instruction))
		restrict_other_access(spu, operation);
}
