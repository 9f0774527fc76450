/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An SPU with all features, and its record of one instruction. */
#ifndef SPE_CASES_INSTRUCTION_FIXTURE_H
#define SPE_CASES_INSTRUCTION_FIXTURE_H

#include "model/impdef.h"
#include "model/instruction.h"
#include "spu-fixture.h"

/* PMSCR that samples EL0 and EL1, with contexts, physical addresses and timestamps */
#define INSTRUCTION_PMSCR \
	(SPE_PMSCR_E0SPE | SPE_PMSCR_E1SPE | SPE_PMSCR_CX | SPE_PMSCR_PA | SPE_PMSCR_TS)

/*
 * Return a configuration with every feature, with instructions as the population, and without
 * padding between records.
 */
struct spe_spu_config instruction_make_config(void);

/* Reset an SPU of @config, and arm it so that it samples each operation of the population. */
bool instruction_start(struct spe_check *check, const struct spe_spu_config *config);

/*
 * Execute @instruction. Return: true if it caused exactly one record, which is then in @ret_sample.
 */
bool instruction_record(struct spe_check *check, const struct spe_instruction *instruction,
			struct spe_sample *ret_sample);

/*
 * Execute @instruction on a new SPU that makes @choices where the architecture permits several
 * behaviours.
 */
bool instruction_record_with_choices(struct spe_check *check, u64 choices,
				     const struct spe_instruction *instruction,
				     struct spe_sample *ret_sample);

/* Return the operation that is sampled if the first operation of @instruction is selected. */
struct spe_operation instruction_get_operation(struct spe_check *check,
					       const struct spe_instruction *instruction);

#endif
