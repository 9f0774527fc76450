/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An SPU that has everything, and the record that it makes of one instruction. */
#ifndef SPE_CASES_INSTRUCTION_FIXTURE_H
#define SPE_CASES_INSTRUCTION_FIXTURE_H

#include "model/impdef.h"
#include "model/instruction.h"
#include "spu-fixture.h"

/* Sampled at EL0 and EL1; contexts, physical addresses and timestamps are collected. */
#define INSTRUCTION_PMSCR \
	(SPE_PMSCR_E0SPE | SPE_PMSCR_E1SPE | SPE_PMSCR_CX | SPE_PMSCR_PA | SPE_PMSCR_TS)

/* Every feature, instructions as the population, packed records. */
struct spe_spu_config instruction_config(void);

/* A reset SPU of @config, armed, every member of the population selected. */
bool instruction_start(struct spe_check *check, const struct spe_spu_config *config);

/* Executes @instruction; whether one record came of it, and which. */
bool instruction_record(struct spe_check *check, const struct spe_instruction *instruction,
			struct spe_sample *ret_sample);

/* The same on an SPU that makes @choices of what the text leaves open, started for it. */
bool instruction_chosen(struct spe_check *check, u64 choices,
			const struct spe_instruction *instruction, struct spe_sample *ret_sample);

/* The operation that is sampled of @instruction's first member. */
struct spe_operation instruction_operation(struct spe_check *check,
					   const struct spe_instruction *instruction);

#endif
