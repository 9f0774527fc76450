// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Convert an instruction to the operation that is sampled (D17.2, D17.6).
 */
#include "instruction-internal.h"

static bool samples_instructions(const struct spe_spu *spu)
{
	return spu->config.features & SPE_PMSIDR_ARCHINST;
}

/*
 * Check whether operations of an instruction with this outcome belong to the sample population
 * (D17.6.7, D17.6.10.1).
 */
static bool is_in_population(const struct spe_spu *spu, const struct spe_instruction *instruction)
{
	switch (instruction->outcome) {
	case SPE_OUTCOME_MISSPECULATED:
		return !spe_spu_has_choice(spu, SPE_CHOICE_NO_MISSPECULATED);
	case SPE_OUTCOME_NONARCH:
		return spe_spu_has_choice(spu, SPE_CHOICE_NONARCH);
	case SPE_OUTCOME_IMPDEF_EXCEPTION:
		return spe_spu_has_choice(spu, SPE_CHOICE_IMPDEF_EXC);
	default:
		return true;
	}
}

static bool is_captured(const struct spe_spu *spu, const struct spe_instruction *instruction)
{
	switch (instruction->outcome) {
	case SPE_OUTCOME_MISSPECULATED:
		return !spe_spu_has_choice(spu, SPE_CHOICE_MISSPECULATED_LOST);
	case SPE_OUTCOME_NONARCH:
		return spe_spu_has_choice(spu, SPE_CHOICE_NONARCH_KEPT);
	case SPE_OUTCOME_IMPDEF_EXCEPTION:
		return spe_spu_has_choice(spu, SPE_CHOICE_IMPDEF_EXC_KEPT);
	default:
		return true;
	}
}

unsigned int spe_spu_count_members(const struct spe_spu *spu,
				   const struct spe_instruction *instruction)
{
	if (!is_in_population(spu, instruction))
		return 0;
	if (!samples_instructions(spu))
		return instruction->micro_ops;
	/* An SPU that samples instructions cannot sample an operation that belongs to none. */
	return instruction->outcome != SPE_OUTCOME_NONARCH;
}
SPE_EXPORT(spe_spu_count_members);

static bool is_taken_branch(const struct spe_spu *spu, const struct spe_instruction *instruction)
{
	if (instruction->kind == SPE_INSTRUCTION_ISB)
		return spe_spu_has_choice(spu, SPE_CHOICE_ISB_BRANCH);
	return instruction->kind == SPE_INSTRUCTION_BRANCH &&
	       (!spe_instruction_is(instruction, SPE_INSTRUCTION_CONDITIONAL) ||
		spe_instruction_is(instruction, SPE_INSTRUCTION_PASSED));
}

static u64 branch_get_target(const struct spe_instruction *instruction)
{
	return instruction->kind == SPE_INSTRUCTION_ISB ? instruction->pc + 4 : instruction->target;
}

/* Return the events E[0], exception, and E[1], retired (D17.6.7, D17.6.10, D17.6.10.1). */
static u64 outcome_get_events(const struct spe_spu *spu, const struct spe_instruction *instruction)
{
	const u64 exception = SPE_BIT(SPE_EVENT_EXCEPTION), retired = SPE_BIT(SPE_EVENT_RETIRED);

	switch (instruction->outcome) {
	case SPE_OUTCOME_RETIRED:
		return retired;
	case SPE_OUTCOME_EXCEPTION:
		return retired | exception;
	case SPE_OUTCOME_IMPDEF_EXCEPTION:
		if (spe_spu_has_choice(spu, SPE_CHOICE_IMPDEF_EXC_HANDLED))
			return retired;
		return spe_spu_has_choice(spu, SPE_CHOICE_IMPDEF_EXC_E0) ? exception : 0;
	default:
		return 0;
	}
}

static bool is_predicable(const struct spe_instruction *instruction)
{
	switch (instruction->kind) {
	case SPE_INSTRUCTION_SVE:
	case SPE_INSTRUCTION_SVE_MEMORY:
	case SPE_INSTRUCTION_SVE_PREFETCH:
	case SPE_INSTRUCTION_SME_VECTOR:
	case SPE_INSTRUCTION_SME_TILE:
	case SPE_INSTRUCTION_SME_MEMORY:
		return true;
	default:
		return false;
	}
}

/* Return all events except those of accesses (D18.2.6). */
static u64 instruction_get_events(const struct spe_spu *spu,
				  const struct spe_instruction *instruction)
{
	const u64 impdef = SPE_MASK(15, 12) | SPE_MASK(31, 24) | SPE_MASK(63, 48);
	u64 events = outcome_get_events(spu, instruction);

	events |= instruction->events & impdef;
	if (spe_instruction_is_conditional(spu, instruction) &&
	    !spe_instruction_is(instruction, SPE_INSTRUCTION_PASSED))
		events |= SPE_BIT(SPE_EVENT_NOT_TAKEN);
	if (instruction->kind == SPE_INSTRUCTION_BRANCH &&
	    spe_instruction_is(instruction, SPE_INSTRUCTION_MISPREDICTED))
		events |= SPE_BIT(SPE_EVENT_MISPREDICTED);
	if (is_predicable(instruction) &&
	    spe_instruction_is(instruction, SPE_INSTRUCTION_PREDICATED)) {
		if (spe_instruction_is(instruction,
				       SPE_INSTRUCTION_PARTIAL | SPE_INSTRUCTION_EMPTY))
			events |= SPE_BIT(SPE_EVENT_PARTIAL_PREDICATE);
		if (spe_instruction_is(instruction, SPE_INSTRUCTION_EMPTY))
			events |= SPE_BIT(SPE_EVENT_EMPTY_PREDICATE);
	}
	if (!(spu->config.features & SPE_PMSIDR_SME))
		return events;
	events &= ~(SPE_BIT(SPE_EVENT_STREAMING_SVE) | SPE_BIT(SPE_EVENT_SMCU));
	if (spe_instruction_is(instruction, SPE_INSTRUCTION_STREAMING))
		events |= SPE_BIT(SPE_EVENT_STREAMING_SVE);
	if (spe_instruction_is(instruction, SPE_INSTRUCTION_SMCU))
		events |= SPE_BIT(SPE_EVENT_SMCU);
	return events;
}

static u32 instruction_get_total_latency(const struct spe_spu *spu,
					 const struct spe_instruction *instruction)
{
	if (instruction->kind == SPE_INSTRUCTION_WAIT &&
	    !spe_spu_has_choice(spu, SPE_CHOICE_WAIT_ENTRY) &&
	    spe_spu_has_choice(spu, SPE_CHOICE_WAIT_COUNTS))
		return instruction->total + instruction->low_power;
	if (spe_instruction_is(instruction, SPE_INSTRUCTION_STATUS) &&
	    !spe_spu_has_choice(spu, SPE_CHOICE_ST64BV_EARLY))
		return instruction->total + instruction->returned;
	return instruction->total;
}

/*
 * D17.6.1: the field ALTCLK selects the clock domain in which the issue latency of this instruction
 * is counted, if that is not the main domain.
 */
static bool counts_alternate_clock(const struct spe_spu *spu,
				   const struct spe_instruction *instruction)
{
	if (!spe_instruction_is(instruction, SPE_INSTRUCTION_SMCU))
		return false;
	return spu->config.altclk == SPE_ALTCLK_IMPDEF ||
	       (spu->config.altclk == SPE_ALTCLK_SMCU &&
		spe_instruction_is(instruction, SPE_INSTRUCTION_STREAMING));
}

static void describe_branch(const struct spe_spu *spu, const struct spe_instruction *instruction,
			    struct spe_operation *operation)
{
	bool spsr = spe_instruction_is(instruction, SPE_INSTRUCTION_ILLEGAL) &&
		    spe_spu_has_choice(spu, SPE_CHOICE_ERET_SPSR);

	if (!is_taken_branch(spu, instruction) &&
	    !spe_spu_has_choice(spu, SPE_CHOICE_NOT_TAKEN_TARGET))
		return;
	operation->target = branch_get_target(instruction);
	operation->target_top = spsr ? instruction->spsr_top : instruction->target_top;
	operation->valid |= SPE_OPERATION_TARGET;
	if (instruction->kind == SPE_INSTRUCTION_BRANCH)
		operation->valid |= SPE_OPERATION_TARGET_TOP;
}

/* D17.6.7: remove data that the operation could not use, and data that would reveal it. */
static void clear_unused_data(const struct spe_instruction *instruction,
			      struct spe_operation *operation)
{
	if (spe_instruction_is(instruction, SPE_INSTRUCTION_SECRET_TARGET))
		operation->valid &= ~(u32)SPE_OPERATION_TARGET;
	if (spe_instruction_is(instruction, SPE_INSTRUCTION_SECRET_CONDITION))
		operation->events &= ~(
			SPE_BIT(SPE_EVENT_NOT_TAKEN) | SPE_BIT(SPE_EVENT_MISPREDICTED) |
			SPE_BIT(SPE_EVENT_PARTIAL_PREDICATE) | SPE_BIT(SPE_EVENT_EMPTY_PREDICATE));
}

static void describe_common_fields(const struct spe_spu *spu,
				   const struct spe_instruction *instruction,
				   struct spe_operation *operation)
{
	*operation = (struct spe_operation){
		.pc = instruction->pc,
		.timestamp = spe_spu_has_choice(spu, SPE_CHOICE_TIME_AT_END) ?
				     instruction->finished :
				     instruction->timestamp,
		.impdef_address = instruction->impdef_address,
		.valid = instruction->valid &
			 (SPE_OPERATION_CONTEXT1 | SPE_OPERATION_CONTEXT2 |
			  SPE_OPERATION_IMPDEF_ADDRESS | SPE_OPERATION_IMPDEF_COUNTER),
		.contextidr_el1 = instruction->contextidr_el1,
		.contextidr_el2 = instruction->contextidr_el2,
		.total = instruction_get_total_latency(spu, instruction),
		.issue = instruction->issue,
		.alt_issue = instruction->alt_issue,
		.impdef_counter = instruction->impdef_counter,
		.el = instruction->el,
		.ns = spu->controls.ns,
		.nse = spu->controls.nse,
	};
	if (counts_alternate_clock(spu, instruction))
		operation->valid |= SPE_OPERATION_ALT_CLOCK;
	if (spu->previous_valid && instruction->outcome == SPE_OUTCOME_RETIRED) {
		operation->prev_target = spu->previous;
		operation->prev_top = (u8)SPE_FIELD_GET(SPE_ADDRESS_TAG, spu->previous);
		operation->valid |= SPE_OPERATION_PREV_TARGET | SPE_OPERATION_PREV_TOP;
	}
}

bool spe_spu_describe_instruction(struct spe_spu *spu, const struct spe_instruction *instruction,
				  unsigned int member, struct spe_operation *ret_operation)
{
	/*
	 * Example D17-2: the micro-operation that computes the address is not recorded as a load.
	 */
	bool address = !member && !samples_instructions(spu) && instruction->micro_ops > 1 &&
		       spe_instruction_is(instruction, SPE_INSTRUCTION_ADDRESS_OP);
	const struct spe_access *access;

	if (!is_captured(spu, instruction))
		return false;
	describe_common_fields(spu, instruction, ret_operation);
	access = address ? NULL : spe_instruction_choose_access(spu, instruction);
	if (!address)
		spe_instruction_set_type(spu, instruction,
					 access && access->flags & SPE_ACCESS_STORE, ret_operation);
	if (ret_operation->op_class == SPE_OP_BRANCH)
		describe_branch(spu, instruction, ret_operation);
	if (access)
		spe_instruction_collect_memory(spu, instruction, access, ret_operation);
	ret_operation->events |= instruction_get_events(spu, instruction);
	clear_unused_data(instruction, ret_operation);
	return true;
}
SPE_EXPORT(spe_spu_describe_instruction);

/* Store the target of the branch if later records may contain it (D17.6.3.1). */
static void store_last_branch(struct spe_spu *spu, const struct spe_instruction *instruction)
{
	bool taken =
		is_taken_branch(spu, instruction) && instruction->outcome == SPE_OUTCOME_RETIRED;
	bool sync = instruction->kind == SPE_INSTRUCTION_ISB ||
		    spe_instruction_is(instruction, SPE_INSTRUCTION_SYNC) ||
		    instruction->outcome == SPE_OUTCOME_EXCEPTION;

	if (instruction->outcome != SPE_OUTCOME_RETIRED &&
	    instruction->outcome != SPE_OUTCOME_EXCEPTION)
		return;
	if (sync && !spe_spu_has_choice(spu, SPE_CHOICE_PBT_ACROSS))
		spu->previous_valid = false;
	if (!taken)
		return;
	spu->previous_valid = spe_spu_profiling_enabled(spu, instruction->el) &&
			      (!sync || spe_spu_has_choice(spu, SPE_CHOICE_PBT_SYNC));
	spu->previous = (branch_get_target(instruction) & SPE_ADDRESS_BITS) |
			SPE_FIELD_PREP(SPE_ADDRESS_TAG, instruction->target_top);
}

static void sample_operation_of_instruction(struct spe_spu *spu,
					    const struct spe_instruction *instruction,
					    unsigned int member)
{
	struct spe_operation operation;

	if (instruction->kind == SPE_INSTRUCTION_WAIT &&
	    spe_spu_has_choice(spu, SPE_CHOICE_WAIT_WAKES))
		spe_spu_signal_event(spu, SPE_SPU_EVENT_WAKE);
	if (spe_spu_describe_instruction(spu, instruction, member, &operation))
		spe_spu_sample_operation(spu, &operation);
	else
		spe_spu_drop_operation(spu);
}

void spe_spu_execute_instruction(struct spe_spu *spu, const struct spe_instruction *instruction)
{
	unsigned int members = spe_spu_count_members(spu, instruction), member = 0;

	while (member < members && spe_spu_profiling_enabled(spu, instruction->el)) {
		u64 until = spe_spu_operations_until_sample(spu);
		unsigned int left = members - member;
		unsigned int piece = until < left ? (unsigned int)until : left;

		member += piece;
		if (spe_spu_count_operations(spu, piece))
			sample_operation_of_instruction(spu, instruction, member - 1);
	}
	store_last_branch(spu, instruction);
}
SPE_EXPORT(spe_spu_execute_instruction);
