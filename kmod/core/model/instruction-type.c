// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Build the Operation Type packet of an instruction (D17.6.3 to D17.6.8, D18.2.7). */
#include "instruction-internal.h"

static bool has_sme(const struct spe_spu *spu)
{
	return spu->config.features & SPE_PMSIDR_SME;
}

/* Before FEAT_SPEv1p1 there are no formats for SVE. */
static bool has_sve(const struct spe_spu *spu)
{
	return spu->config.pmsver >= SPE_PMSVER_V1P1 && spu->config.pe & (SPE_PE_SVE | SPE_PE_SME);
}

/*
 * Return the number of bits of the vector that the sampled operation processes. If the instruction
 * is split into micro-ops, the operation processes a fraction of the vector (Example D17-4).
 */
static u64 get_sampled_vector_size(const struct spe_spu *spu,
				   const struct spe_instruction *instruction)
{
	if (spu->config.features & SPE_PMSIDR_ARCHINST || instruction->micro_ops < 2)
		return instruction->size;
	return instruction->size / instruction->micro_ops;
}

/* Return log2(@size / @min), rounded up, which is the encoding of a length. */
static u8 compute_log2_of_quotient(u64 size, u64 min)
{
	u8 n = 0;

	while (min < size) {
		min *= 2;
		n++;
	}
	return n;
}

/*
 * Return the field EVL, the encoded vector length. With FEAT_SPE_SME it is the sum of the lengths
 * of all vectors; without FEAT_SPE_SME it is the length of one vector (RMDBYZ, RBHKSC).
 */
static u8 evl_encode(const struct spe_spu *spu, const struct spe_instruction *instruction)
{
	u64 size = get_sampled_vector_size(spu, instruction);
	u8 evl = compute_log2_of_quotient(has_sme(spu) ? size * instruction->vectors : size, 32);
	u8 most = has_sme(spu) ? 7 : 6;

	return (u8)SPE_FIELD_PREP(SPE_OP_EVL, evl < most ? evl : most);
}

/*
 * Return the field ETS, the encoded tile size. 0b1111 means the whole ZA array; 0b1011 is the
 * largest other size (RCYBGV, RLQXZR).
 */
static u8 ets_encode(const struct spe_spu *spu, const struct spe_instruction *instruction)
{
	u8 ets = compute_log2_of_quotient(
		get_sampled_vector_size(spu, instruction) * instruction->vectors, 128);

	if (spe_instruction_is(instruction, SPE_INSTRUCTION_WHOLE_ZA) || ets > 11)
		ets = 15;
	return (u8)(SPE_FIELD_PREP(SPE_OP_EVL, ets >> 1) | (ets & 1 ? SPE_OP_PRED : 0));
}

/*
 * Check whether an SVE operation is recorded as Advanced SIMD. RDDCQB permits that only for sampled
 * micro-operations of 128 bits, without predicate, that have an Advanced SIMD equivalent.
 */
static bool is_recorded_as_asimd(const struct spe_spu *spu,
				 const struct spe_instruction *instruction)
{
	return spe_spu_has_choice(spu, SPE_CHOICE_ASIMD) &&
	       !(spu->config.features & SPE_PMSIDR_ARCHINST) &&
	       get_sampled_vector_size(spu, instruction) == 128 &&
	       !spe_instruction_is(instruction, SPE_INSTRUCTION_PREDICATED) &&
	       spe_instruction_is(instruction, SPE_INSTRUCTION_EQUIVALENT);
}

bool spe_instruction_is_conditional(const struct spe_spu *spu,
				    const struct spe_instruction *instruction)
{
	if (!spe_instruction_is(instruction, SPE_INSTRUCTION_CONDITIONAL))
		return false;
	switch (instruction->kind) {
	case SPE_INSTRUCTION_BRANCH:
		return true;
	case SPE_INSTRUCTION_OTHER:
		return !(spu->config.unconditional >> instruction->condition & 1);
	default:
		/* An SVE predicate does not make an operation conditional (D17.6.5). */
		return false;
	}
}

/*
 * Set the type of an operation that has no specific format. @simd: whether it is a SIMD operation;
 * only the filters use this, because the packet has no bit for it.
 */
static void set_other_type(const struct spe_spu *spu, const struct spe_instruction *instruction,
			   bool simd, struct spe_operation *operation)
{
	operation->op_class = SPE_OP_OTHER;
	if (spe_instruction_is_conditional(spu, instruction))
		operation->op_subclass |= SPE_OP_COND;
	if (spe_instruction_is(instruction, SPE_INSTRUCTION_FP))
		operation->op_subclass |= SPE_OP_FP;
	if (spe_instruction_is(instruction, SPE_INSTRUCTION_ASE))
		operation->op_subclass |= SPE_OP_ASE;
	if (simd)
		operation->valid |= SPE_OPERATION_SIMD;
}

static u8 branch_cr_encode(const struct spe_instruction *instruction)
{
	if (spe_instruction_is(instruction, SPE_INSTRUCTION_LINK))
		return SPE_FIELD_PREP(SPE_OP_BR_CR, 1);
	if (spe_instruction_is(instruction, SPE_INSTRUCTION_RETURN))
		return SPE_FIELD_PREP(SPE_OP_BR_CR, 2);
	return SPE_FIELD_PREP(SPE_OP_BR_CR, 3);
}

/*
 * Set the type of a branch. A branch with a GCS access also has the format of a branch, but the
 * filters treat it as a load or store too (D17.6.3).
 */
static void set_branch_type(const struct spe_spu *spu, const struct spe_instruction *instruction,
			    bool store, struct spe_operation *operation)
{
	operation->op_class = SPE_OP_BRANCH;
	operation->op_subclass = branch_cr_encode(instruction);
	if (spe_instruction_is_conditional(spu, instruction))
		operation->op_subclass |= SPE_OP_COND;
	if (spe_instruction_is(instruction, SPE_INSTRUCTION_INDIRECT))
		operation->op_subclass |= SPE_OP_BR_IND;
	if (instruction->access_count && spu->gcs) {
		operation->op_subclass |= SPE_OP_BR_GCS;
		operation->valid |= store ? SPE_OPERATION_STORE : SPE_OPERATION_LOAD;
	}
}

static u8 get_unspecified_subclass(const struct spe_spu *spu)
{
	return spu->config.pmsver >= SPE_PMSVER_V1P1 ? SPE_SUBCLASS_UNSPECIFIED : SPE_SUBCLASS_GP;
}

static u8 make_memory_subclass(const struct spe_spu *spu, const struct spe_instruction *instruction)
{
	if (spe_instruction_is(instruction, SPE_INSTRUCTION_SIMD_FP))
		return SPE_SUBCLASS_SIMD_FP;
	if (spe_instruction_is(instruction, SPE_INSTRUCTION_UNSPECIFIED))
		return get_unspecified_subclass(spu);
	return SPE_SUBCLASS_GP;
}

static u8 make_extended_subclass(const struct spe_instruction *instruction)
{
	u8 subclass = SPE_SUBCLASS_EXTENDED;

	if (spe_instruction_is(instruction, SPE_INSTRUCTION_ATOMIC))
		subclass |= SPE_OP_AT;
	if (spe_instruction_is(instruction, SPE_INSTRUCTION_EXCLUSIVE))
		subclass |= SPE_OP_EXCL;
	if (spe_instruction_is(instruction, SPE_INSTRUCTION_ORDERED))
		subclass |= SPE_OP_AR;
	return subclass;
}

/* Return the SUBCLASS of an SVE load or store (RMJQCL, RJCLMP). */
static u8 make_vector_subclass(const struct spe_spu *spu, const struct spe_instruction *instruction,
			       bool store)
{
	u8 subclass = SPE_SUBCLASS_SVE | evl_encode(spu, instruction);

	if (spe_instruction_is(instruction, SPE_INSTRUCTION_GATHER))
		subclass |= (u8)SPE_OP_SG;
	/* Before FEAT_SPEv1p2 the packet of a load has no bit for predication. */
	if (spe_instruction_is(instruction, SPE_INSTRUCTION_PREDICATED) &&
	    (store || spu->config.pmsver >= SPE_PMSVER_V1P2))
		subclass |= SPE_OP_PRED;
	return subclass;
}

static u8 make_sve_subclass(const struct spe_spu *spu, const struct spe_instruction *instruction,
			    bool store)
{
	if (!has_sve(spu) || is_recorded_as_asimd(spu, instruction))
		return SPE_SUBCLASS_SIMD_FP;
	return make_vector_subclass(spu, instruction, store);
}

static u8 make_sme_subclass(const struct spe_spu *spu, const struct spe_instruction *instruction,
			    bool store)
{
	if (!has_sve(spu) ||
	    (!has_sme(spu) && spe_spu_has_choice(spu, SPE_CHOICE_SME_LS_UNSPECIFIED)))
		return get_unspecified_subclass(spu);
	return make_vector_subclass(spu, instruction, store);
}

/*
 * Return the SUBCLASS of a load or store. If the SPU does not implement the feature that defines
 * the format, return the SUBCLASS of an unspecified load or store.
 */
static u8 make_subclass(const struct spe_spu *spu, const struct spe_instruction *instruction,
			bool store)
{
	const struct spe_spu_config *config = &spu->config;

	switch (instruction->kind) {
	case SPE_INSTRUCTION_EXTENDED:
		return make_extended_subclass(instruction);
	case SPE_INSTRUCTION_TAG:
		if (config->pmsver >= SPE_PMSVER_V1P3 && config->pe & SPE_PE_MTE2 &&
		    !spe_instruction_is(instruction, SPE_INSTRUCTION_DATA))
			return SPE_SUBCLASS_TAG;
		return make_memory_subclass(spu, instruction);
	case SPE_INSTRUCTION_SYSREG:
		return config->pe & SPE_PE_NV2 ? SPE_SUBCLASS_SYSREG :
						 get_unspecified_subclass(spu);
	case SPE_INSTRUCTION_COPY:
		return config->pmsver >= SPE_PMSVER_V1P3 && config->pe & SPE_PE_MOPS ?
			       SPE_SUBCLASS_COPY :
			       get_unspecified_subclass(spu);
	case SPE_INSTRUCTION_SET:
		return config->pmsver >= SPE_PMSVER_V1P3 && config->pe & SPE_PE_MOPS ?
			       SPE_SUBCLASS_SET :
			       get_unspecified_subclass(spu);
	case SPE_INSTRUCTION_GCS:
		if (!spu->gcs)
			return get_unspecified_subclass(spu);
		return spe_instruction_is(instruction,
					  SPE_INSTRUCTION_LINK | SPE_INSTRUCTION_RETURN) ?
			       SPE_SUBCLASS_GCS :
			       SPE_SUBCLASS_GCS | SPE_OP_GCS_COMM;
	case SPE_INSTRUCTION_ZERO:
		return get_unspecified_subclass(spu);
	case SPE_INSTRUCTION_SVE_MEMORY:
		return make_sve_subclass(spu, instruction, store);
	case SPE_INSTRUCTION_SME_MEMORY:
		return make_sme_subclass(spu, instruction, store);
	default:
		return make_memory_subclass(spu, instruction);
	}
}

static bool reads_and_writes_memory(const struct spe_instruction *instruction)
{
	u32 seen = 0;

	for (unsigned int i = 0; i < instruction->access_count; i++)
		seen |= instruction->accesses[i].flags & SPE_ACCESS_STORE ? 2 : 1;
	return seen == 3;
}

static void set_load_store_type(const struct spe_spu *spu,
				const struct spe_instruction *instruction, bool store,
				struct spe_operation *operation)
{
	bool simd = instruction->kind == SPE_INSTRUCTION_SVE_MEMORY ||
		    instruction->kind == SPE_INSTRUCTION_SME_MEMORY;

	operation->op_class = SPE_OP_LOAD_STORE;
	operation->op_subclass = make_subclass(spu, instruction, store);
	/* D18.2.7: an atomic that returns a value reads memory. */
	if (spe_instruction_is(instruction, SPE_INSTRUCTION_ATOMIC))
		store = spe_instruction_is(instruction, SPE_INSTRUCTION_NO_RETURN);
	if (store)
		operation->op_subclass |= SPE_OP_LDST;
	if ((instruction->kind == SPE_INSTRUCTION_COPY ||
	     instruction->kind == SPE_INSTRUCTION_GCS) &&
	    reads_and_writes_memory(instruction))
		operation->valid |= SPE_OPERATION_LOAD | SPE_OPERATION_STORE;
	if (spe_instruction_is(instruction, SPE_INSTRUCTION_SIMD_FP))
		operation->valid |= spe_instruction_is(instruction, SPE_INSTRUCTION_SCALAR) ?
					    SPE_OPERATION_FP :
					    SPE_OPERATION_SIMD;
	if (simd)
		operation->valid |= SPE_OPERATION_SIMD;
}

/* Set the Operation Type of an SVE data-processing operation (RMDBYZ, RMZJMH). */
static void set_sve_type(const struct spe_spu *spu, const struct spe_instruction *instruction,
			 struct spe_operation *operation)
{
	bool multi =
		instruction->vectors > 1 || spe_instruction_is(instruction, SPE_INSTRUCTION_ZT);

	if (!has_sve(spu) ||
	    (multi && !has_sme(spu) && spe_spu_has_choice(spu, SPE_CHOICE_MULTIVECTOR_OTHER))) {
		set_other_type(spu, instruction, true, operation);
		return;
	}
	if (is_recorded_as_asimd(spu, instruction)) {
		set_other_type(spu, instruction, true, operation);
		operation->op_subclass |= SPE_OP_ASE;
		return;
	}
	operation->op_class = SPE_OP_OTHER;
	operation->op_subclass = SPE_SUBCLASS_SVE | evl_encode(spu, instruction);
	if (spe_instruction_is(instruction, SPE_INSTRUCTION_PREDICATED))
		operation->op_subclass |= SPE_OP_PRED;
	if (spe_instruction_is(instruction, SPE_INSTRUCTION_FP))
		operation->op_subclass |= SPE_OP_FP;
}

/*
 * Set the Operation Type of an SME data-processing operation. The packet does not record whether
 * the operation was predicated (RCYBGV, RLQXZR).
 */
static void set_sme_type(const struct spe_spu *spu, const struct spe_instruction *instruction,
			 struct spe_operation *operation)
{
	if (!has_sme(spu)) {
		set_other_type(spu, instruction, true, operation);
		return;
	}
	operation->op_class = SPE_OP_OTHER;
	operation->op_subclass = SPE_SUBCLASS_SME | ets_encode(spu, instruction);
	if (spe_instruction_is(instruction, SPE_INSTRUCTION_FP))
		operation->op_subclass |= SPE_OP_FP;
}

void spe_instruction_set_type(const struct spe_spu *spu, const struct spe_instruction *instruction,
			      bool store, struct spe_operation *operation)
{
	switch (instruction->kind) {
	case SPE_INSTRUCTION_BRANCH:
		set_branch_type(spu, instruction, store, operation);
		return;
	case SPE_INSTRUCTION_ISB:
		if (spe_spu_has_choice(spu, SPE_CHOICE_ISB_BRANCH))
			set_branch_type(spu, instruction, store, operation);
		return;
	case SPE_INSTRUCTION_SVE:
		set_sve_type(spu, instruction, operation);
		return;
	case SPE_INSTRUCTION_SVE_PREFETCH:
		if (spe_spu_has_choice(spu, SPE_CHOICE_SVE_PREFETCH_OTHER))
			return;
		set_sve_type(spu, instruction, operation);
		return;
	case SPE_INSTRUCTION_SME_VECTOR:
	case SPE_INSTRUCTION_SME_TILE:
		set_sme_type(spu, instruction, operation);
		return;
	case SPE_INSTRUCTION_OTHER:
	case SPE_INSTRUCTION_WAIT:
		set_other_type(spu, instruction, false, operation);
		return;
	default:
		if (!spe_instruction_is_other_access(spu, instruction))
			set_load_store_type(spu, instruction, store, operation);
	}
}
