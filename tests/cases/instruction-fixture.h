/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An SPU with all features, and its record of one instruction. */
#ifndef SPE_CASES_INSTRUCTION_FIXTURE_H
#define SPE_CASES_INSTRUCTION_FIXTURE_H

#include "model/impdef.h"
#include "model/instruction.h"
#include "spu-fixture.h"

/* Sampling at EL0 and EL1, with contexts, physical addresses and timestamps. */
#define INSTRUCTION_PMSCR \
	(SPE_PMSCR_E0SPE | SPE_PMSCR_E1SPE | SPE_PMSCR_CX | SPE_PMSCR_PA | SPE_PMSCR_TS)

/* Every feature, instructions as the population, packed records. */
struct spe_spu_config instruction_config(void);

/* Reset an SPU of @config, and arm it so that each member of the population is selected. */
bool instruction_start(struct spe_check *check, const struct spe_spu_config *config);

/* Execute @instruction. Return: whether it made one record, which is then in @ret_sample. */
bool instruction_record(struct spe_check *check, const struct spe_instruction *instruction,
			struct spe_sample *ret_sample);

/* The same on a new SPU that makes @choices where the text leaves them. */
bool instruction_chosen(struct spe_check *check, u64 choices,
			const struct spe_instruction *instruction, struct spe_sample *ret_sample);

/* Return: the operation that is sampled for @instruction's first member. */
struct spe_operation instruction_operation(struct spe_check *check,
					   const struct spe_instruction *instruction);

#endif
