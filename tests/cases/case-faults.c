// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Test table D17-11 row by row: from the fault of a buffer write to the verdict for the driver.
 * scripts/rule-index compares the names of the rows with the architecture's text.
 */
#include "spu-fixture.h"
#include "suites.h"
#include "policy/syndrome.h"

#define S	 SPE_PMBSR_S
#define STAGE1	 SPE_PMBSR_EC_STAGE1
#define STAGE2	 SPE_PMBSR_EC_STAGE2
#define NO_STAGE 0

/**
 * struct fault_case - a row of table D17-11
 * @name: the name in the table
 * @first: the lowest Fault Status Code of the row
 * @last: the highest Fault Status Code of the row
 * @stage: the only possible EC, or NO_STAGE where both stages are possible
 * @class: the verdict for the driver
 */
struct fault_case {
	const char *name;
	u8 first;
	u8 last;
	u8 stage;
	u8 class;
};

static const struct fault_case d17_11[] = {
	{ "Translation", 0x04, 0x07, NO_STAGE, SPE_SYNDROME_FAULT },
	{ "Address Size", 0x00, 0x03, NO_STAGE, SPE_SYNDROME_FAULT },
	{ "Alignment", 0x21, 0x21, STAGE1, SPE_SYNDROME_FAULT },
	{ "Permission", 0x0c, 0x0f, NO_STAGE, SPE_SYNDROME_FAULT },
	{ "Access flag", 0x08, 0x0b, NO_STAGE, SPE_SYNDROME_FAULT },
	{ "TLB Conflict fault", 0x30, 0x30, NO_STAGE, SPE_SYNDROME_FAULT },
	{ "Unsupported atomic hardware update fault", 0x31, 0x31, NO_STAGE, SPE_SYNDROME_FAULT },
	{ "External abort on translation table walk, translation table update, or GPT walk", 0x13,
	  0x17, NO_STAGE, SPE_SYNDROME_EXTERNAL_SYNC },
	{ "Granule Protection Check", 0x00, 0x00, SPE_PMBSR_EC_GPC, SPE_SYNDROME_GPC },
};

/*
 * The write of the second record faults: the SPU sets S and the syndrome and changes nothing else.
 * PMBPTR does not move.
 */
static void check_fault(struct spe_check *check, u8 ec, u8 fsc, u8 class)
{
	u64 row = (u64)ec << 40 | (u64)fsc << 32;
	u64 start;

	if (!fixture_init(check, NULL))
		return;
	fixture_arm(FIXTURE_SIZE);
	fixture_sample(&op_load);
	start = fixture_read_reg(SPE_REG_PMBPTR);
	fixture.fault_from = start;
	fixture.fault = spe_fault_make(ec, fsc);
	fixture_sample(&op_load);
	SPE_CHECK_EQ(check, row | fixture_read_reg(SPE_REG_PMBSR),
		     row | S | SPE_FIELD_PREP(SPE_PMBSR_EC, ec) | fsc);
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBPTR), start);
	SPE_CHECK_EQ(check, row | fixture.spu.stats.written, row | 1);
	SPE_CHECK_EQ(check, row | spe_syndrome_interpret(fixture_read_reg(SPE_REG_PMBSR)).class,
		     row | class);
	/* The SPU writes nothing until S is cleared. Then it continues. */
	fixture.fault = 0;
	SPE_CHECK(check, !fixture_sample(&op_load));
	spe_spu_write(&fixture.spu, SPE_REG_PMBSR, 0);
	SPE_CHECK(check, fixture_sample(&op_load));
	SPE_CHECK_EQ(check, fixture.spu.stats.written, 2);
}

static void test_table_d17_11(struct spe_check *check)
{
	for (size_t row = 0; row < ARRAY_SIZE(d17_11); row++) {
		const struct fault_case *fault = &d17_11[row];

		for (u8 fsc = fault->first; fsc <= fault->last; fsc++) {
			if (fault->stage) {
				check_fault(check, fault->stage, fsc, fault->class);
				continue;
			}
			check_fault(check, STAGE1, fsc, fault->class);
			check_fault(check, STAGE2, fsc, fault->class);
		}
	}
}

static const struct spe_case cases[] = {
	{ "table D17-11", test_table_d17_11 },
};

const struct spe_suite spe_suite_faults = { "faults", cases, ARRAY_SIZE(cases) };
