// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "instruction-fixture.h"

struct spe_spu_config instruction_make_config(void)
{
	struct spe_spu_config config;

	spe_spu_config_default(&config);
	config.pmsver = 6;
	config.layout = SPE_SPU_LAYOUT_PACKED;
	config.max_size = 8;
	config.align = 0;
	config.events_size = 8;
	config.el2 = true;
	config.el3 = true;
	config.pe = SPE_PE_ALL;
	config.features |= SPE_PMSIDR_ARCHINST | SPE_PMSIDR_FNE | SPE_PMSIDR_FDS | SPE_PMSIDR_PBT |
			   SPE_PMSIDR_CRR | SPE_PMSIDR_EFT | SPE_PMSIDR_FPF | SPE_PMSIDR_SME;
	return config;
}

bool instruction_start(struct spe_check *check, const struct spe_spu_config *config)
{
	if (!fixture_init(check, config))
		return false;
	spe_spu_write_at(&fixture.spu, SPE_REG_PMSCR, 2, SPE_PMSCR_CX | SPE_PMSCR_PA);
	spe_spu_write(&fixture.spu, SPE_REG_PMSCR, INSTRUCTION_PMSCR);
	fixture_arm(FIXTURE_SIZE);
	return true;
}

bool instruction_record(struct spe_check *check, const struct spe_instruction *instruction,
			struct spe_sample *ret_sample)
{
	u64 at = fixture_read_reg(SPE_REG_PMBPTR) - FIXTURE_BASE;
	u64 written = fixture.spu.stats.written;
	int size;

	spe_spu_execute_instruction(&fixture.spu, instruction);
	if (!SPE_CHECK_EQ(check, fixture.spu.stats.written, written + 1))
		return false;
	size = spe_record_decode(fixture.mem + at, 256, 256, ret_sample);
	return SPE_CHECK_EQ(check, (u64)size, fixture_read_reg(SPE_REG_PMBPTR) - FIXTURE_BASE - at);
}

bool instruction_record_with_choices(struct spe_check *check, u64 choices,
				     const struct spe_instruction *instruction,
				     struct spe_sample *ret_sample)
{
	struct spe_spu_config config = instruction_make_config();

	config.choices = choices;
	return instruction_start(check, &config) &&
	       instruction_record(check, instruction, ret_sample);
}

struct spe_operation instruction_get_operation(struct spe_check *check,
					       const struct spe_instruction *instruction)
{
	struct spe_operation operation = { 0 };

	SPE_CHECK(check, spe_spu_describe_instruction(&fixture.spu, instruction, 0, &operation));
	return operation;
}
