/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions that the instruction*.c files share. */
#ifndef SPE_CORE_INSTRUCTION_INTERNAL_H
#define SPE_CORE_INSTRUCTION_INTERNAL_H

#include "spu-internal.h"

/* Patterns of SUBCLASS (D18.2.7). */
enum spe_subclass {
	SPE_SUBCLASS_GP = 0x00,
	SPE_SUBCLASS_EXTENDED = 0x02,
	SPE_SUBCLASS_SIMD_FP = 0x04,
	SPE_SUBCLASS_SVE = 0x08,
	SPE_SUBCLASS_UNSPECIFIED = 0x10,
	SPE_SUBCLASS_TAG = 0x14,
	SPE_SUBCLASS_COPY = 0x20,
	SPE_SUBCLASS_SET = 0x25,
	SPE_SUBCLASS_SYSREG = 0x30,
	SPE_SUBCLASS_GCS = 0x40,
	SPE_SUBCLASS_SME = 0x88,
};

/*
 * instruction-type.c: set CLASS, SUBCLASS and the types to filter by. @store: whether the chosen
 * access is a store
 */
void spe_instruction_set_type(const struct spe_spu *spu, const struct spe_instruction *instruction,
			      bool store, struct spe_operation *operation);

/* instruction-type.c: check whether the instruction is treated as conditional (D17.6.5). */
bool spe_instruction_is_conditional(const struct spe_spu *spu,
				    const struct spe_instruction *instruction);

/* instruction-memory.c: choose the access to record. Return NULL if there is none. */
const struct spe_access *spe_instruction_choose_access(struct spe_spu *spu,
						       const struct spe_instruction *instruction);

/* instruction-memory.c: set what is collected about @access, and about all accesses together. */
void spe_instruction_collect_memory(const struct spe_spu *spu,
				    const struct spe_instruction *instruction,
				    const struct spe_access *access,
				    struct spe_operation *operation);

static inline bool spe_instruction_is(const struct spe_instruction *instruction, u64 flag)
{
	return instruction->flags & flag;
}

/*
 * Check whether the instruction is cache maintenance, a prefetch or an address translation. These
 * are Other operations, but some data that is otherwise only collected for loads is collected for
 * them (D17.6.8).
 */
static inline bool spe_instruction_is_other_access(const struct spe_spu *spu,
						   const struct spe_instruction *instruction)
{
	switch (instruction->kind) {
	case SPE_INSTRUCTION_SVE_PREFETCH:
	case SPE_INSTRUCTION_PREFETCH:
	case SPE_INSTRUCTION_CACHE:
	case SPE_INSTRUCTION_TRANSLATE:
		return true;
	case SPE_INSTRUCTION_ZERO:
		return spe_spu_has_choice(spu, SPE_CHOICE_ZVA_CACHE);
	default:
		return false;
	}
}

#endif
