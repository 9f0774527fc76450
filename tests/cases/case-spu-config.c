// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Test what an SPU may implement, and the register values that follow from it. */
#include "model/impdef.h"
#include "model/instruction.h"
#include "spu-fixture.h"
#include "suites.h"

/* A change that makes the default configuration illegal, and a word that the reason must contain */
struct config_refusal {
	const char *field;
	void (*change)(struct spe_spu_config *config);
};

#define CHANGE(name, statement)                             \
	static void change_##name(struct spe_spu_config *c) \
	{                                                   \
		statement;                                  \
	}

CHANGE(pmsver_0, c->pmsver = 0)
CHANGE(pmsver_7, c->pmsver = 7)
CHANGE(interval_1, c->interval = 1)
CHANGE(interval_9, c->interval = 9)
CHANGE(max_size_5, c->max_size = 5)
CHANGE(max_size_12, c->max_size = 12)
CHANGE(align_7, c->align = 7)
CHANGE(count_size_1, c->count_size = 1)
CHANGE(count_size_4, c->count_size = 4)
CHANGE(events_size_0, c->events_size = 0)
CHANGE(events_size_3, c->events_size = 3)
CHANGE(events_size_4, c->events_size = 4)
CHANGE(source_size_0, c->source_size = 0)
CHANGE(source_size_4, c->source_size = 4)
CHANGE(write_granule, c->write_granule = 12)
CHANGE(in_flight, c->in_flight = 0)
CHANGE(layout, c->layout = SPE_SPU_LAYOUTS)
CHANGE(zero_filter, c->zero_filter = SPE_SPU_ZERO_FILTERS)
CHANGE(misaligned, c->misaligned = SPE_SPU_MISALIGNEDS)
CHANGE(fault_dl, c->fault_dl = SPE_SPU_FAULT_DLS)
CHANGE(abort_3, c->abort = SPE_SPU_ABORTS)
CHANGE(incomplete, c->incomplete = SPE_SPU_INCOMPLETES)
CHANGE(feature, c->features |= SPE_PMSIDR_SME)
CHANGE(altclk, c->features |= SPE_PMSIDR_ALTCLK)
CHANGE(altclk_2, c->altclk = 2)
CHANGE(altclk_smcu, c->altclk = SPE_ALTCLK_SMCU)
CHANGE(no_ft, c->features &= ~SPE_PMSIDR_FT)
CHANGE(no_fl, c->features &= ~SPE_PMSIDR_FL)
CHANGE(fds_early, (c->features |= SPE_PMSIDR_FDS, c->pmsver = 4))
CHANGE(impdef_address, (c->layout = SPE_SPU_LAYOUT_PACKED, c->impdef_address = 5))
CHANGE(impdef_address_32, (c->layout = SPE_SPU_LAYOUT_PACKED, c->impdef_address = 32))
CHANGE(impdef_address_slots, c->impdef_address = 6)
CHANGE(impdef_counter, (c->layout = SPE_SPU_LAYOUT_PACKED, c->impdef_counter = 8))
CHANGE(impdef_counter_slots, c->impdef_counter = 6)
CHANGE(omit_counters, c->omit_counters = 8)
CHANGE(unconditional, c->unconditional = 64)
CHANGE(other_info, c->other_info = SPE_OPERATION_TARGET)
CHANGE(optional_events, c->optional_events |= SPE_BIT(7))
CHANGE(pe_bit, c->pe |= SPE_BIT(10))
CHANGE(pe_gcs_slots, c->pe |= SPE_PE_GCS)
CHANGE(pe_nv2, c->pe |= SPE_PE_NV2)
CHANGE(pe_rme, c->pe |= SPE_PE_RME)
CHANGE(walk_abort, c->walk_abort = SPE_SPU_WALK_ABORTS)
CHANGE(walk_abort_v1p3, (c->pmsver = 4, c->walk_abort = SPE_SPU_WALK_ABORT_REPORTED))
CHANGE(not_allowed, c->not_allowed = SPE_SPU_NOT_ALLOWEDS)
CHANGE(choices, c->choices = SPE_BIT(SPE_CHOICES))
CHANGE(choices_slots, c->choices = SPE_CHOICE_EXTENDED)
CHANGE(fault_lag, (c->pmsver = 5, c->fault_lag = 1))
CHANGE(no_optional, (c->pmsver = 5, c->optional_events = 0, c->sampled_events = SPE_BIT(8)))
CHANGE(gcs_large, (c->layout = SPE_SPU_LAYOUT_PACKED, c->pe |= SPE_PE_GCS, c->pmsver = 5,
		   c->features |= SPE_PMSIDR_PBT))
CHANGE(impdef_large, (c->layout = SPE_SPU_LAYOUT_PACKED, c->impdef_address = 6))
CHANGE(fds_no_lds, (c->pmsver = 5, c->features |= SPE_PMSIDR_FDS, c->features &= ~SPE_PMSIDR_LDS))
CHANGE(pbt_slots, (c->features |= SPE_PMSIDR_PBT, c->pbt_always = true))
CHANGE(pbt_absent, (c->layout = SPE_SPU_LAYOUT_PACKED, c->pbt_always = true))
CHANGE(pbt_large, (c->layout = SPE_SPU_LAYOUT_PACKED, c->pbt_always = true,
		   c->features |= SPE_PMSIDR_PBT, c->events_size = 8))
CHANGE(contexts_large, (c->layout = SPE_SPU_LAYOUT_PACKED, c->el2 = true, c->events_size = 8))
CHANGE(e2h_el2, c->e2h = c->el2 = true)
CHANGE(e2h_el3, c->e2h = c->el3 = true)
CHANGE(e2h_exc, c->e2h = c->exc = true)
CHANGE(strict, c->strict_ee = true)
CHANGE(fne, c->features |= SPE_PMSIDR_FNE)
CHANGE(no_filters, c->features &= ~SPE_PMSIDR_FE)
CHANGE(event_0, c->sampled_events |= SPE_BIT(0))
CHANGE(event_6, c->sampled_events |= SPE_BIT(6))
CHANGE(event_16, c->sampled_events |= SPE_BIT(16))
CHANGE(event_48, c->sampled_events |= SPE_BIT(48))
CHANGE(v1p0_event_11, c->pmsver = 1)

static const struct config_refusal refusals[] = {
	{ "pmsver", change_pmsver_0 },
	{ "pmsver", change_pmsver_7 },
	{ "interval", change_interval_1 },
	{ "interval", change_interval_9 },
	{ "max_size", change_max_size_5 },
	{ "max_size", change_max_size_12 },
	{ "align", change_align_7 },
	{ "count_size", change_count_size_1 },
	{ "count_size", change_count_size_4 },
	{ "events_size", change_events_size_0 },
	{ "events_size", change_events_size_3 },
	{ "events_size", change_events_size_4 },
	{ "source_size", change_source_size_0 },
	{ "source_size", change_source_size_4 },
	{ "write_granule", change_write_granule },
	{ "in_flight", change_in_flight },
	{ "layout", change_layout },
	{ "zero_filter", change_zero_filter },
	{ "misaligned", change_misaligned },
	{ "fault_dl", change_fault_dl },
	{ "incomplete", change_incomplete },
	{ "abort", change_abort_3 },
	{ "features", change_feature },
	{ "features", change_altclk },
	{ "altclk", change_altclk_2 },
	{ "altclk", change_altclk_smcu },
	{ "features", change_no_ft },
	{ "features", change_no_fl },
	{ "features", change_fds_early },
	{ "impdef_address", change_impdef_address },
	{ "impdef_address", change_impdef_address_32 },
	{ "impdef_address", change_impdef_address_slots },
	{ "impdef_counter", change_impdef_counter },
	{ "impdef_counter", change_impdef_counter_slots },
	{ "omit_counters", change_omit_counters },
	{ "unconditional", change_unconditional },
	{ "other_info", change_other_info },
	{ "optional_events", change_optional_events },
	{ "pe", change_pe_bit },
	{ "pe", change_pe_gcs_slots },
	{ "pe", change_pe_nv2 },
	{ "pe", change_pe_rme },
	{ "walk_abort", change_walk_abort },
	{ "walk_abort", change_walk_abort_v1p3 },
	{ "not_allowed", change_not_allowed },
	{ "choices", change_choices },
	{ "choices", change_choices_slots },
	{ "fault_lag", change_fault_lag },
	{ "sampled_events", change_no_optional },
	{ "max_size", change_gcs_large },
	{ "max_size", change_impdef_large },
	{ "features", change_fds_no_lds },
	{ "pbt_always", change_pbt_slots },
	{ "pbt_always", change_pbt_absent },
	{ "max_size", change_pbt_large },
	{ "max_size", change_contexts_large },
	{ "el2", change_e2h_el2 },
	{ "el3", change_e2h_el3 },
	{ "exc", change_e2h_exc },
	{ "strict_ee", change_strict },
	{ "features", change_fne },
	{ "features", change_no_filters },
	{ "sampled_events", change_event_0 },
	{ "sampled_events", change_event_6 },
	{ "sampled_events", change_event_16 },
	{ "sampled_events", change_event_48 },
	{ "sampled_events", change_v1p0_event_11 },
};

static u32 reject_write(void *ctx, u64 addr, const u8 *data, size_t len)
{
	(void)ctx, (void)addr, (void)data, (void)len;
	return 0;
}

static void test_illegal_configs_are_refused(struct spe_check *check)
{
	struct spe_spu_io io = { .write = reject_write };

	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		struct spe_spu_config config;
		const char *reason = NULL;
		size_t len = strlen(refusals[i].field);

		spe_spu_config_default(&config);
		refusals[i].change(&config);
		SPE_CHECK_EQ(check,
			     i << 32 | (u32)spe_spu_init(&fixture.spu, &config, &io, &reason),
			     i << 32 | (u32)-EINVAL);
		SPE_CHECK(check,
			  reason && !strncmp(reason, refusals[i].field, len) && reason[len] == ':');
		SPE_CHECK_EQ(check, spe_spu_init(&fixture.spu, &config, &io, NULL), -EINVAL);
	}
}

static void test_missing_write_is_refused(struct spe_check *check)
{
	struct spe_spu_config config;
	struct spe_spu_io io = { 0 };
	const char *reason = NULL;

	spe_spu_config_default(&config);
	SPE_CHECK_EQ(check, spe_spu_init(&fixture.spu, &config, &io, &reason), -EINVAL);
	SPE_CHECK(check, reason && !strncmp(reason, "io:", 3));
	io.write = reject_write;
	SPE_CHECK_EQ(check, spe_spu_init(&fixture.spu, &config, &io, &reason), 0);
}

static void test_identification_registers(struct spe_check *check)
{
	struct spe_spu_config config;

	if (!fixture_init(check, NULL))
		return;
	/* The default has FE, FT, FL and LDS, Interval 4, MaxSize 6 and CountSize 2. */
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMSIDR), 0x26417);
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBIDR), 0x6);
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMSVER), 2);

	spe_spu_config_default(&config);
	config.pmsver = 4;
	config.interval = 8;
	config.max_size = 11;
	config.align = 0;
	config.count_size = SPE_PMSIDR_COUNTSIZE_16;
	config.features = SPE_PMSIDR_FE | SPE_PMSIDR_FT | SPE_PMSIDR_FL | SPE_PMSIDR_ARCHINST |
			  SPE_PMSIDR_ERND | SPE_PMSIDR_FNE;
	if (!fixture_init(check, &config))
		return;
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMSIDR), 0x3b86f);
	/* PMBIDR has the fields F and EA from FEAT_SPEv1p3 on. */
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBIDR), 0x120);
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMSVER), 4);
}

/*
 * Test the events by PMSVer: those of D18.2.6 that are recorded, and those that PMSEVFR_EL1 can
 * name.
 */
static void test_events_by_pmsver(struct spe_check *check)
{
	static const u64 output[] = {
		[1] = 0xffff0000ff00f7ff, [2] = 0xffff0000ff06ffff, [3] = 0xffff0000ff06ffff,
		[4] = 0xffff0000ff06ffff, [5] = 0xffff000000feffff, [6] = 0xffff000000feffff,
	};
	static const u64 filterable[] = {
		[1] = 0xffff0000ff00f0aa, [2] = 0xffff0000ff06f8aa, [3] = 0xffff0000ff06f8ea,
		[4] = 0xffff0000ff06f8ea, [5] = 0xffff000000fefffe, [6] = 0xffff000000fefffe,
	};
	struct spe_spu_io io = { .write = reject_write };

	for (u8 pmsver = 1; pmsver <= 6; pmsver++) {
		struct spe_operation op = op_other;
		struct spe_spu_config config;
		struct spe_sample sample;

		spe_spu_config_default(&config);
		config.pmsver = pmsver;
		config.layout = SPE_SPU_LAYOUT_PACKED;
		config.events_size = 8;
		for (unsigned int event = 0; event < 64; event++) {
			config.sampled_events = SPE_BIT(event);
			SPE_CHECK_EQ(check, !spe_spu_init(&fixture.spu, &config, &io, NULL),
				     filterable[pmsver] >> event & 1);
		}
		config.sampled_events = 0;
		if (!fixture_init(check, &config))
			return;
		fixture_arm(4096);
		op.events = ~0ULL;
		if (SPE_CHECK(check, fixture_sample(&op)) &&
		    SPE_CHECK(check, spe_record_decode(fixture.mem, 64, 64, &sample) > 0))
			SPE_CHECK_EQ(check, sample.events, output[pmsver]);
	}
}

/* Check what is read back after ones, and then zeros, were written to every register. */
static void check_res0_bits(struct spe_check *check, const u64 expected[SPE_REG_COUNT])
{
	for (unsigned int reg = 0; reg < SPE_REG_COUNT; reg++) {
		u64 before = spe_spu_read(&fixture.spu, reg);
		bool read_only =
			reg == SPE_REG_PMSIDR || reg == SPE_REG_PMBIDR || reg == SPE_REG_PMSVER;

		/* PMSCR.PCT without EL2 reads as 0b01 and ignores writes. */
		bool no_el2_time =
			reg == SPE_REG_PMSCR && !fixture.spu.config.e2h && !fixture.spu.config.el2;

		spe_spu_write(&fixture.spu, reg, ~0ULL);
		SPE_CHECK_EQ(check, spe_spu_read(&fixture.spu, reg),
			     read_only ? before : expected[reg]);
		spe_spu_write(&fixture.spu, reg, 0);
		SPE_CHECK_EQ(check, spe_spu_read(&fixture.spu, reg),
			     read_only	 ? before :
			     no_el2_time ? 0x40 :
					   0);
	}
	SPE_CHECK_EQ(check, spe_spu_read(&fixture.spu, SPE_REG_COUNT), 0);
	spe_spu_write(&fixture.spu, SPE_REG_COUNT, ~0ULL);
}

static void test_res0_bits(struct spe_check *check)
{
	static const u64 v1p1[SPE_REG_COUNT] = {
		[SPE_REG_PMSCR] = 0x7b,
		[SPE_REG_PMSICR] = 0xffffffff,
		[SPE_REG_PMSIRR] = 0xffffff01,
		[SPE_REG_PMSFCR] = 0x70007,
		[SPE_REG_PMSEVFR] = 0x8aa,
		[SPE_REG_PMSLATFR] = 0xfff,
		[SPE_REG_PMBLIMITR] = 0xfffffffffffff001,
		[SPE_REG_PMBPTR] = 0xffffffffffffffff,
		[SPE_REG_PMBSR] = 0xfc0fffff,
	};
	static const u64 v1p2[SPE_REG_COUNT] = {
		[SPE_REG_PMSCR] = 0x7b,
		[SPE_REG_PMSICR] = 0xff000000ffffffff,
		[SPE_REG_PMSIRR] = 0xffffff01,
		[SPE_REG_PMSFCR] = 0x7000f,
		[SPE_REG_PMSEVFR] = 0x8ea,
		[SPE_REG_PMSNEVFR] = 0x8ea,
		[SPE_REG_PMSLATFR] = 0xffff,
		[SPE_REG_PMBLIMITR] = 0xfffffffffffff027,
		[SPE_REG_PMBPTR] = 0xffffffffffffffc0,
		[SPE_REG_PMBSR] = 0xfc0fffff,
	};
	static const u64 bare[SPE_REG_COUNT] = {
		[SPE_REG_PMSCR] = 0x7b,
		[SPE_REG_PMSICR] = 0xffffffff,
		[SPE_REG_PMSIRR] = 0xffffff01,
		[SPE_REG_PMSFCR] = 0x70007,
		[SPE_REG_PMSLATFR] = 0xfff,
		[SPE_REG_PMBLIMITR] = 0xfffffffffffff001,
		[SPE_REG_PMBPTR] = 0xffffffffffffffff,
		[SPE_REG_PMBSR] = 0xfc0fffff,
	};
	static const u64 all[SPE_REG_COUNT] = {
		[SPE_REG_PMSCR] = 0x77b,
		[SPE_REG_PMSICR] = 0xffffffff,
		[SPE_REG_PMSIRR] = 0xffffff01,
		[SPE_REG_PMSFCR] = 0x1f0000001f0017,
		[SPE_REG_PMSEVFR] = 0x8aa,
		[SPE_REG_PMSLATFR] = 0xfff,
		[SPE_REG_PMSDSFR] = 0xffffffffffffffff,
		[SPE_REG_PMBLIMITR] = 0xfffffffffffff027,
		[SPE_REG_PMBPTR] = 0xffffffffffffffff,
		[SPE_REG_PMBSR] = 0xfc0fffff,
	};
	struct spe_spu_config config;

	if (fixture_init(check, NULL))
		check_res0_bits(check, v1p1);

	spe_spu_config_default(&config);
	config.pmsver = 6;
	config.exc = true;
	config.features |= SPE_PMSIDR_EFT | SPE_PMSIDR_FDS;
	if (fixture_init(check, &config))
		check_res0_bits(check, all);

	spe_spu_config_default(&config);
	config.pmsver = 3;
	config.count_size = SPE_PMSIDR_COUNTSIZE_16;
	config.features |= SPE_PMSIDR_FNE | SPE_PMSIDR_ERND;
	config.sampled_events |= SPE_BIT(SPE_EVENT_NOT_TAKEN);
	config.misaligned = SPE_SPU_MISALIGNED_RES0;
	if (fixture_init(check, &config))
		check_res0_bits(check, v1p2);

	spe_spu_config_default(&config);
	config.pmsver = 1;
	config.features = SPE_PMSIDR_FE | SPE_PMSIDR_FT | SPE_PMSIDR_FL;
	config.sampled_events = 0;
	if (fixture_init(check, &config))
		check_res0_bits(check, bare);
}

/* PMSEVFR_EL1.E[1] is RAZ/WI if speculative operations are not sampled. */
static void test_retired_filter_is_raz(struct spe_check *check)
{
	struct spe_spu_config config;

	spe_spu_config_default(&config);
	config.pmsver = 3;
	config.features |= SPE_PMSIDR_FNE;
	for (unsigned int i = 0; i < 2; i++) {
		config.choices = i ? SPE_CHOICE_NO_MISSPECULATED : 0;
		if (!fixture_init(check, &config))
			return;
		spe_spu_write(&fixture.spu, SPE_REG_PMSEVFR, ~0ULL);
		spe_spu_write(&fixture.spu, SPE_REG_PMSNEVFR, ~0ULL);
		SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMSEVFR), i ? 0x8a8 : 0x8aa);
		SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMSNEVFR), i ? 0x8a8 : 0x8aa);
	}
}

static const struct spe_case cases[] = {
	{ "refused", test_illegal_configs_are_refused },
	{ "io refused", test_missing_write_is_refused },
	{ "identification", test_identification_registers },
	{ "events", test_events_by_pmsver },
	{ "RES0 and read-only", test_res0_bits },
	{ "speculation", test_retired_filter_is_raz },
};

const struct spe_suite spe_suite_spu_config = { "spu-config", cases, ARRAY_SIZE(cases) };
