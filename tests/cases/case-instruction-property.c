// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Test random instructions on random SPUs (D17.6), with all choices: a record contains nothing that
 * the SPU's version, features, controls or secrets forbid, and the counters add up.
 */
#include "instruction-fixture.h"
#include "suites.h"

#define MOST_ACCESSES 8

struct instruction_run {
	struct spe_check *check;
	struct spe_spu_config config;
	struct spe_access accesses[MOST_ACCESSES];
	struct spe_instruction instruction;
	u64 pmscr;
	u64 random;
	u64 number;
};

static struct instruction_run run;

static u64 draw_random(void)
{
	return spe_check_random(&run.random);
}

static void check_condition(bool cond, int line, const char *what)
{
	spe_check_that(run.check, cond, __FILE__, line, what, run.number, run.instruction.kind);
}

#define HOLDS(cond) check_condition(cond, __LINE__, #cond)

static void draw_config(void)
{
	struct spe_spu_config *config = &run.config;
	static const u64 optional[] = { SPE_PMSIDR_LDS, SPE_PMSIDR_PBT,	     SPE_PMSIDR_CRR,
					SPE_PMSIDR_FPF, SPE_PMSIDR_ARCHINST, SPE_PMSIDR_EFT };

	*config = instruction_make_config();
	config->pmsver = (u8)(1 + draw_random() % 6);
	config->features &= ~(SPE_PMSIDR_FDS | SPE_PMSIDR_FNE);
	for (size_t i = 0; i < ARRAY_SIZE(optional); i++)
		config->features ^= draw_random() & 1 ? optional[i] : 0;
	config->pe &= (u32)draw_random() | (u32)draw_random();
	if (!(config->pe & SPE_PE_SME))
		config->features &= ~SPE_PMSIDR_SME;
	config->altclk = config->features & SPE_PMSIDR_SME ? draw_random() & 1 : 0;
	config->pbt_always = config->features & SPE_PMSIDR_PBT && draw_random() & 1;
	config->choices = draw_random() & draw_random() & SPE_CHOICE_ALL;
	config->incomplete = (u8)(draw_random() % SPE_SPU_INCOMPLETES);
	config->other_info &= (u32)draw_random();
	config->omit_counters = draw_random() & 1 ? 0 : draw_random() & 7;
	config->unconditional = draw_random() & 63;
	config->impdef_address = draw_random() & 1 ? 17 : 0;
	config->sampled_events = 0;
	config->seed = draw_random();
}

static void draw_instruction(void)
{
	struct spe_instruction *instruction = &run.instruction;

	*instruction = (struct spe_instruction){
		.accesses = run.accesses,
		.pc = draw_random(),
		.target = draw_random(),
		.timestamp = draw_random(),
		.finished = draw_random(),
		.events = draw_random(),
		.impdef_address = draw_random(),
		.flags = draw_random() & draw_random() & SPE_MASK(33, 0),
		.valid = (u32)draw_random(),
		.contextidr_el1 = (u32)draw_random(),
		.contextidr_el2 = (u32)draw_random(),
		.total = (u32)draw_random(),
		.issue = (u32)draw_random() & 0xfff,
		.alt_issue = (u32)draw_random() & 0xfff,
		.size = (u32)(1 + draw_random() % 300000),
		.access_count = (u16)(draw_random() % (MOST_ACCESSES + 1)),
		.vectors = (u8)(1 + draw_random() % 4),
		.micro_ops = draw_random() & 7,
		.kind = (u8)(draw_random() % SPE_INSTRUCTION_KINDS),
		.outcome = (u8)(draw_random() & 1 ? SPE_OUTCOME_RETIRED :
						    draw_random() % SPE_OUTCOMES),
		.condition = (u8)(draw_random() % SPE_CONDITIONS),
		.el = (u8)(draw_random() % 3),
		.target_top = 0x80,
	};
	for (size_t i = 0; i < instruction->access_count; i++)
		run.accesses[i] = (struct spe_access){
			.va = draw_random(),
			.pa = draw_random(),
			.events = draw_random(),
			.total = (u32)draw_random(),
			.translation = (u32)draw_random() & 0xff,
			.flags = (u32)(draw_random() & draw_random() & SPE_MASK(11, 0)),
			.source = (u16)draw_random(),
			.tag = (u8)draw_random(),
		};
}

static bool has_flag(u64 flag)
{
	return run.instruction.flags & flag;
}

/* D18.2.7: the SPU's features permit the format, and each field has a possible value. */
static void check_type(const struct spe_sample *s)
{
	const u8 payload = s->op_subclass;
	const bool sme = run.config.features & SPE_PMSIDR_SME;
	const u8 evl = payload >> 4 & 7;

	switch (spe_op_format(s->op_class, payload)) {
	case SPE_OP_FORMAT_OTHER:
		HOLDS(run.config.features & SPE_PMSIDR_FPF || !(payload & 6));
		break;
	case SPE_OP_FORMAT_SVE:
	case SPE_OP_FORMAT_LS_SVE:
		HOLDS(run.config.pmsver >= 2 && run.config.pe & (SPE_PE_SVE | SPE_PE_SME));
		HOLDS(evl < 7 || sme);
		break;
	case SPE_OP_FORMAT_SME:
		HOLDS(sme && (evl < 6 || (evl == 7 && payload & 4)));
		break;
	case SPE_OP_FORMAT_LS_UNSPECIFIED:
		HOLDS(run.config.pmsver >= 2);
		break;
	case SPE_OP_FORMAT_LS_TAG:
		HOLDS(run.config.pmsver >= 4 && run.config.pe & SPE_PE_MTE2);
		break;
	case SPE_OP_FORMAT_LS_SYSREG:
		HOLDS(run.config.pe & SPE_PE_NV2);
		break;
	case SPE_OP_FORMAT_LS_MEMCPY:
	case SPE_OP_FORMAT_LS_MEMSET:
		HOLDS(run.config.pmsver >= 4 && run.config.pe & SPE_PE_MOPS);
		break;
	case SPE_OP_FORMAT_LS_GCS:
		HOLDS(run.config.pmsver >= 5 && run.config.pe & SPE_PE_GCS);
		break;
	case SPE_OP_FORMAT_BRANCH:
		HOLDS(!(payload & 0x18) == !(run.config.features & SPE_PMSIDR_CRR));
		HOLDS(!(payload & 4) || (run.config.pmsver >= 5 && run.config.pe & SPE_PE_GCS));
		break;
	case SPE_OP_FORMAT_LS_GP:
	case SPE_OP_FORMAT_LS_SIMD_FP:
	case SPE_OP_FORMAT_LS_EXTENDED:
		break;
	default:
		HOLDS(false);
		break;
	}
}

static void check_addresses(const struct spe_sample *s)
{
	const bool va = s->present & SPE_HAS_ADDRESS(2), pa = s->present & SPE_HAS_ADDRESS(3);
	const u64 top = s->address[3] >> 56;

	/*
	 * D17.6.4: a physical address implies a virtual address, except in the record of an
	 * operation with an exception.
	 */
	HOLDS(!pa || va || run.config.incomplete == SPE_SPU_INCOMPLETE_SOME);
	HOLDS(!pa || run.pmscr & SPE_PMSCR_PA);
	HOLDS(!(top & 0x20) && (run.config.pe & SPE_PE_MTE2 || !(top & 0x4f)));
	HOLDS(!(s->address[0] >> 60 & 1));
	HOLDS(!(va || pa) || !has_flag(SPE_INSTRUCTION_SECRET_ADDRESS));
	HOLDS(!(s->present & SPE_HAS_ADDRESS(1)) || !has_flag(SPE_INSTRUCTION_SECRET_TARGET));
	HOLDS(!(s->present & SPE_HAS_ADDRESS(4)) || run.config.features & SPE_PMSIDR_PBT);
	/*
	 * D17.6.4.2: EL1 owns the buffer, so EL2 is not sampled, and its addresses are not
	 * recorded.
	 */
	HOLDS(run.instruction.kind != SPE_INSTRUCTION_SYSREG || !va);
}

static void check_events(const struct spe_sample *s)
{
	const u64 conditions = SPE_MASK(7, 6) | SPE_MASK(18, 17);
	const u64 memory = SPE_MASK(5, 2) | SPE_MASK(11, 8) | SPE_MASK(23, 19);

	HOLDS(!(s->events & ~fixture.spu.events));
	HOLDS(!has_flag(SPE_INSTRUCTION_SECRET_CONDITION) || !(s->events & conditions));
	if (run.instruction.outcome == SPE_OUTCOME_MISSPECULATED ||
	    run.instruction.outcome == SPE_OUTCOME_NONARCH)
		HOLDS(!(s->events & 3));
	if (run.instruction.outcome == SPE_OUTCOME_RETIRED)
		HOLDS((s->events & 3) == 2);
	HOLDS(run.instruction.access_count || !(s->events & memory));
	HOLDS(run.instruction.kind == SPE_INSTRUCTION_BRANCH || !(s->events & 0x80));
	HOLDS(!(s->events & SPE_BIT(18)) || s->events & SPE_BIT(17));
}

static void check_other_packets(const struct spe_sample *s)
{
	const bool issue = s->present & SPE_HAS_COUNTER(1), other = s->present & SPE_HAS_COUNTER(4);

	HOLDS(!(issue && other) && (!other || run.config.altclk));
	HOLDS(!(s->present & SPE_HAS_SOURCE) || run.config.features & SPE_PMSIDR_LDS);
	HOLDS(!(s->present & SPE_HAS_TIMESTAMP) == !(run.pmscr & SPE_PMSCR_TS));
	HOLDS(!(s->present & SPE_HAS_CONTEXT(0)) || run.pmscr & SPE_PMSCR_CX);
	HOLDS(!(s->present & SPE_HAS_CONTEXT(1)) || run.pmscr & SPE_PMSCR_CX);
	for (unsigned int i = 0; i < 3; i++)
		HOLDS(!(s->present & SPE_HAS_COUNTER(i)) || !(run.config.omit_counters >> i & 1));
}

static void check_records(u64 records)
{
	u64 end = fixture_read_reg(SPE_REG_PMBPTR) - FIXTURE_BASE, at = 0;

	for (u64 n = 0; n < records && !run.check->failures; n++) {
		struct spe_sample s = { 0 };
		int size = spe_record_decode(fixture.mem + at, (size_t)(end - at), 256, &s);

		HOLDS(size > 0);
		if (size <= 0)
			return;
		at += (u64)size;
		if (s.present & SPE_HAS_OP)
			check_type(&s);
		check_addresses(&s);
		check_events(&s);
		check_other_packets(&s);
	}
	HOLDS(at == end);
}

static void execute_instruction(void)
{
	const struct spe_spu_stats *stats = &fixture.spu.stats;
	u64 written = stats->written;
	unsigned int members = spe_spu_count_members(&fixture.spu, &run.instruction);
	u64 selected = stats->selected;

	spe_spu_write(&fixture.spu, SPE_REG_PMBPTR, FIXTURE_BASE);
	spe_spu_execute_instruction(&fixture.spu, &run.instruction);
	HOLDS(stats->selected - selected == (run.instruction.el < 2 ? members : 0));
	HOLDS(stats->selected ==
	      stats->filtered + stats->discarded + stats->uncaptured + stats->written);
	HOLDS(!fixture.strays && !fixture_read_reg(SPE_REG_PMBSR));
	check_records(stats->written - written);
}

static void test_random_instructions(struct spe_check *check)
{
	u64 kinds = 0, written = 0;

	run = (struct instruction_run){ .check = check, .random = 0x5eed0012 };
	for (unsigned int spu = 0; spu < 300 && !check->failures; spu++) {
		draw_config();
		if (!instruction_start(check, &run.config))
			return;
		run.pmscr = SPE_PMSCR_E0SPE | SPE_PMSCR_E1SPE |
			    (draw_random() & (SPE_PMSCR_CX | SPE_PMSCR_PA | SPE_PMSCR_TS));
		spe_spu_write(&fixture.spu, SPE_REG_PMSCR, run.pmscr);
		spe_spu_write_at(&fixture.spu, SPE_REG_PMSCR, 2,
				 run.pmscr & (SPE_PMSCR_CX | SPE_PMSCR_PA));
		for (unsigned int i = 0; i < 60 && !check->failures; i++) {
			run.number++;
			draw_instruction();
			execute_instruction();
			kinds |= SPE_BIT(run.instruction.kind);
		}
		written += fixture.spu.stats.written;
	}
	SPE_CHECK_EQ(check, kinds, SPE_MASK(SPE_INSTRUCTION_KINDS - 1, 0));
	SPE_CHECK(check, written > 10000);
}

static const struct spe_case cases[] = {
	{ "random instructions", test_random_instructions },
};

const struct spe_suite spe_suite_instruction_property = { "instruction-property", cases,
							  ARRAY_SIZE(cases) };
