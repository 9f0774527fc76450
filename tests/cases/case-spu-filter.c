// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Test later filters of PMSFCR_EL1: types with masks (FEAT_SPE_EFT), and data sources
 * (FEAT_SPE_FDS).
 */
#include "spu-fixture.h"
#include "suites.h"

/* types in the order of PMSFCR's bits: branch, load, store, floating-point, SIMD */
enum { B = 1, LD = 2, ST = 4, FP = 8, SIMD = 16 };

static const struct {
	u8 op_class;
	u8 op_subclass;
	u32 valid;
	u8 types;
} kinds[] = {
	{ 0, 0x00, 0, 0 },
	{ 0, 0x01, 0, 0 },
	{ 0, 0x02, 0, FP },
	{ 0, 0x04, 0, SIMD },
	{ 0, 0x06, 0, FP | SIMD },
	/* SVE data processing, without and with FP */
	{ 0, 0x08, 0, SIMD },
	{ 0, 0x0a, 0, FP | SIMD },
	/* SME data processing, without and with FP */
	{ 0, 0x88, 0, SIMD },
	{ 0, 0x8a, 0, FP | SIMD },
	/* SVE load and store */
	{ 1, 0x08, 0, LD | SIMD },
	{ 1, 0x09, 0, ST | SIMD },
	/*
	 * general-purpose registers; SIMD&FP registers, which are SIMD if the packet has that bit
	 */
	{ 1, 0x00, 0, LD },
	{ 1, 0x01, 0, ST },
	{ 1, 0x04, 0, LD },
	{ 1, 0x04, SPE_OPERATION_FP, LD | FP },
	{ 1, 0x05, SPE_OPERATION_SIMD, ST | SIMD },
	/* atomic operations: one that returns a value is both; a load-acquire is only a load */
	{ 1, 0x06, 0, LD | ST },
	{ 1, 0x07, 0, ST },
	{ 1, 0x12, 0, LD },
	{ 2, 0x00, 0, B },
	{ 2, 0x03, 0, B },
};

static bool is_recorded(const struct spe_operation *op)
{
	u64 before = fixture.spu.stats.written;

	spe_spu_write(&fixture.spu, SPE_REG_PMBPTR, FIXTURE_BASE);
	fixture_sample(op);
	return fixture.spu.stats.written != before;
}

/* Test every setting of types and masks for every kind of operation. */
static void test_all_type_masks(struct spe_check *check)
{
	struct spe_spu_config config;

	spe_spu_config_default(&config);
	config.features |= SPE_PMSIDR_EFT | SPE_PMSIDR_FPF;
	if (!fixture_init(check, &config))
		return;
	fixture_arm(4096);
	for (u64 set = 0; set < 1024; set++) {
		u64 bits = set & 31, masks = set >> 5;

		spe_spu_write(&fixture.spu, SPE_REG_PMSFCR,
			      SPE_PMSFCR_FT | bits << 16 | masks << 48);
		for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
			struct spe_operation op = op_other;
			bool all = true, any = false, alternatives = false;

			op.op_class = kinds[i].op_class;
			op.op_subclass = kinds[i].op_subclass;
			op.valid |= kinds[i].valid;
			for (unsigned int type = 0; type < 5; type++) {
				bool is = kinds[i].types >> type & 1;
				bool want = bits >> type & 1;

				if (masks >> type & 1)
					all = all && is == want;
				else if (want) {
					alternatives = true;
					any = any || is;
				}
			}
			SPE_CHECK_EQ(check, set << 16 | i << 8 | is_recorded(&op),
				     set << 16 | i << 8 | (all && (any || !alternatives)));
		}
	}
}

/* Test the typical settings of FEAT_SPE_EFT. The expected results are written by hand. */
static void test_typical_type_masks(struct spe_check *check)
{
	static const struct {
		u8 bits;
		u8 masks;
		u8 op_class;
		u8 op_subclass;
		bool records;
	} rows[] = {
		/* stores that are SIMD */
		{ ST | SIMD, ST | SIMD, 1, 0x09, true },
		{ ST | SIMD, ST | SIMD, 1, 0x01, false },
		{ ST | SIMD, ST | SIMD, 1, 0x08, false },
		/* all but branches */
		{ 0, B, 2, 0x00, false },
		{ 0, B, 1, 0x00, true },
		{ 0, B, 0, 0x00, true },
		/* loads and stores that are not SIMD */
		{ LD | ST, SIMD, 1, 0x00, true },
		{ LD | ST, SIMD, 1, 0x08, false },
		{ LD | ST, SIMD, 0, 0x00, false },
		/* loads, but no atomic operations that also store */
		{ LD, ST, 1, 0x06, false },
		{ LD, ST, 1, 0x00, true },
	};
	struct spe_spu_config config;

	spe_spu_config_default(&config);
	config.features |= SPE_PMSIDR_EFT;
	if (!fixture_init(check, &config))
		return;
	fixture_arm(4096);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct spe_operation op = op_other;

		op.op_class = rows[i].op_class;
		op.op_subclass = rows[i].op_subclass;
		spe_spu_write(&fixture.spu, SPE_REG_PMSFCR,
			      SPE_PMSFCR_FT | (u64)rows[i].bits << 16 | (u64)rows[i].masks << 48);
		SPE_CHECK_EQ(check, i << 8 | is_recorded(&op), i << 8 | rows[i].records);
	}
}

/* Test PMSDSFR_EL1: it filters loads by bits 5:0 of their data source, and nothing else. */
static void test_data_source_filter(struct spe_check *check)
{
	struct spe_spu_config config;

	spe_spu_config_default(&config);
	config.pmsver = 5;
	config.features |= SPE_PMSIDR_FDS;
	config.source_size = 2;
	if (!fixture_init(check, &config))
		return;
	fixture_arm(4096);
	spe_spu_write(&fixture.spu, SPE_REG_PMSFCR, SPE_PMSFCR_FDS);
	for (unsigned int bit = 0; bit < 64; bit++) {
		spe_spu_write(&fixture.spu, SPE_REG_PMSDSFR, SPE_BIT(bit));
		for (u32 source = 0; source < 256; source += bit % 8 + 1) {
			struct spe_operation op = op_load;

			op.source = (u16)source;
			SPE_CHECK_EQ(check, bit << 8 | is_recorded(&op),
				     bit << 8 | ((source & 63) == bit));
		}
	}
	/* A load without a data source, a store with one, and a branch are not filtered. */
	spe_spu_write(&fixture.spu, SPE_REG_PMSDSFR, 0);
	SPE_CHECK(check, !is_recorded(&op_load));
	SPE_CHECK(check, is_recorded(&op_store));
	SPE_CHECK(check, is_recorded(&op_branch));
	{
		struct spe_operation op = op_load;

		op.valid &= ~SPE_OPERATION_SOURCE;
		SPE_CHECK(check, is_recorded(&op));
	}
	/* If the filter is disabled PMSDSFR has no effect. */
	spe_spu_write(&fixture.spu, SPE_REG_PMSFCR, 0);
	SPE_CHECK(check, is_recorded(&op_load));
}

static const struct spe_case cases[] = {
	{ "type masks", test_all_type_masks },
	{ "type masks by hand", test_typical_type_masks },
	{ "data sources", test_data_source_filter },
};

const struct spe_suite spe_suite_spu_filter = { "spu-filter", cases, ARRAY_SIZE(cases) };
