// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "spu.h"
#include "translation.h"

static u32 make_stage_fault(unsigned int stage, u32 fsc)
{
	return spe_fault_make(stage == 2 ? SPE_PMBSR_EC_STAGE2 : SPE_PMBSR_EC_STAGE1, fsc);
}

/*
 * Check the row "Permission" of table D17-11. The Dirty Bit Modifier counts only if the SPU manages
 * the dirty state. PSTATE.PAN is always ignored.
 */
static u32 check_permission(const struct spe_translation *translation, unsigned int stage,
			    const struct spe_descriptor *descriptor, bool dirties)
{
	u32 fault = make_stage_fault(stage, SPE_FSC_PERMISSION | (descriptor->level & 3));

	if (translation->the && stage == 2) {
		if (descriptor->top_level)
			return fault | (u32)SPE_FAULT_TOP_LEVEL;
		if (descriptor->assured_only)
			return fault | (u32)SPE_FAULT_ASSURED_ONLY;
	}
	return descriptor->writable || dirties ? 0 : fault;
}

u32 spe_translation_write(const struct spe_translation *translation,
			  const struct spe_translation_regime *regime, unsigned int stage,
			  struct spe_descriptor *descriptor)
{
	bool ha = translation->manages && regime->ha[stage - 1];
	bool hd = translation->manages && regime->hd[stage - 1];
	bool dirties = hd && descriptor->dbm && !descriptor->writable;
	u32 level = descriptor->level & 3, fault;

	if (descriptor->walk_abort)
		return make_stage_fault(stage, descriptor->walk_abort);
	if (descriptor->conflict)
		return make_stage_fault(stage, SPE_FSC_TLB_CONFLICT);
	if (!descriptor->valid)
		return make_stage_fault(stage, SPE_FSC_TRANSLATION | level);
	if (descriptor->address_size)
		return make_stage_fault(stage, SPE_FSC_ADDRESS_SIZE | level);
	if (!descriptor->af && !ha)
		return make_stage_fault(stage, SPE_FSC_ACCESS_FLAG | level);
	fault = check_permission(translation, stage, descriptor, dirties);
	if (fault)
		return fault;
	if (descriptor->no_atomic && (!descriptor->af || dirties))
		return make_stage_fault(stage, SPE_FSC_ATOMIC_UPDATE);

	descriptor->af = true;
	descriptor->writable = descriptor->writable || dirties;
	if (translation->haft && translation->manages && regime->haft[stage - 1])
		descriptor->tables_af = true;
	return 0;
}
SPE_EXPORT(spe_translation_write);
