// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Test boundary values of conditions: a mutant (tests/mutate) that changes one of them would pass
 * all other cases.
 */
#include "model/impdef.h"
#include "model/collection.h"
#include "spu-fixture.h"
#include "suites.h"
#include "policy/window.h"

/* Exactly two records fit: the window begins at its earliest start, and not a granule later. */
static void test_window_of_two_records(struct spe_check *check)
{
	const struct spe_ring_state ring = {
		.size = 64 * 1024,
		.head = 4096 - 64,
		.tail = 4096 - 64,
		.header = 64,
		.align = 2048,
		.max_record = 2048,
		.max_window = 4096,
	};
	struct spe_window_position window;

	if (!SPE_CHECK_EQ(check, spe_window_place(&ring, &window), 0))
		return;
	SPE_CHECK_EQ(check, window.start, 4096);
	SPE_CHECK_EQ(check, window.limit, 8192);
}

/*
 * D17.4: test that only the Security state that owns the buffer is sampled, and Debug state is
 * never sampled.
 */
static void test_owning_state(struct spe_check *check)
{
	static const struct spe_timers timers;

	for (u32 i = 0; i < 32; i++) {
		const bool ns = i & 1, nse = i & 2, halted = i & 4;
		const u8 owner = (u8)(i >> 3);
		const struct spe_controls controls = {
			.el3 = true,
			.ns = ns,
			.nse = nse,
			.halted = halted,
			.owner = owner,
			.e2pb = 3,
		};
		bool expected = !halted;

		if (owner == SPE_STATE_SECURE)
			expected = expected && !ns && !nse;
		if (owner == SPE_STATE_NONSECURE)
			expected = expected && ns && !nse;
		if (owner == SPE_STATE_REALM)
			expected = expected && ns && nse;
		SPE_CHECK_EQ(
			check,
			i << 1 | spe_collection_for_el(&controls, &timers, SPE_PMSCR_E1SPE, 0, 1)
					 .sampled,
			i << 1 | expected);
	}
}

static u8 compute_collected_time(bool ts, u64 pct, bool stopped, bool unknown, bool physical)
{
	const struct spe_timers timers = { .stopped = stopped,
					   .stopped_unknown = unknown,
					   .pct_physical = physical };
	const struct spe_controls controls = { .ns = true, .e2pb = 3 };

	return spe_collection_for_el(&controls, &timers,
				     SPE_FIELD_PREP(SPE_PMSCR_PCT, pct) | (ts ? SPE_PMSCR_TS : 0),
				     0, 1)
		.time;
}

/* D17.6: test timestamps while the system counter is disabled, and with a reserved PMSCR.PCT. */
static void test_timestamps(struct spe_check *check)
{
	for (u32 i = 0; i < 4; i++) {
		SPE_CHECK_EQ(check, compute_collected_time(false, 1, i & 1, i & 2, false),
			     SPE_COLLECTION_TIME_NONE);
		SPE_CHECK_EQ(check, compute_collected_time(true, 1, false, i & 2, i & 1),
			     SPE_COLLECTION_TIME_PHYSICAL);
	}
	SPE_CHECK_EQ(check, compute_collected_time(true, 1, true, true, false),
		     SPE_COLLECTION_TIME_UNKNOWN);
	SPE_CHECK_EQ(check, compute_collected_time(true, 1, true, false, false),
		     SPE_COLLECTION_TIME_NONE);
	SPE_CHECK_EQ(check, compute_collected_time(true, 2, false, false, true),
		     SPE_COLLECTION_TIME_PHYSICAL);
	SPE_CHECK_EQ(check, compute_collected_time(true, 2, false, false, false),
		     SPE_COLLECTION_TIME_VIRTUAL);
}

/*
 * PMSCR_EL2.EE has no effect without FEAT_SPE_EXC or EL3's permission. Without EL2 it behaves like
 * 0b01.
 */
static void test_effective_ee(struct spe_check *check)
{
	for (u32 i = 0; i < 256; i++) {
		const struct spe_controls controls = {
			.exc = i & 1,
			.el3 = i & 2,
			.el2 = i & 4,
			.ns = i & 8,
			.eel2 = i & 16,
			.pmsee = i & 32 ? 1 : 0,
			.el2_ee = (u8)(i >> 6),
		};
		bool el2 = controls.el2 && (controls.ns || controls.eel2);
		u32 expected = el2 ? i >> 6 : 1;

		if (!controls.exc || (controls.el3 && !controls.pmsee))
			expected = 0;
		SPE_CHECK_EQ(check, i << 8 | spe_routing_el2_effective_ee(&controls),
			     i << 8 | expected);
	}
}

/* Test a Security state that does not exist. */
static void test_reserved_security_state(struct spe_check *check)
{
	static const struct spe_timers timers;
	struct spe_controls controls = { .ns = true, .e2pb = 3, .owner = SPE_STATES };

	if (!fixture_init(check, NULL))
		return;
	SPE_CHECK_EQ(check, spe_spu_set_controls(&fixture.spu, &controls, &timers), -EINVAL);
	controls.owner = SPE_STATE_NONSECURE;
	SPE_CHECK_EQ(check, spe_spu_set_controls(&fixture.spu, &controls, &timers), 0);
}

/*
 * PMSFCR_EL1.FnE: one event is in PMSEVFR_EL1 and in PMSNEVFR_EL1; test it with each permitted
 * behaviour.
 */
static void test_overlapping_filters(struct spe_check *check)
{
	const u64 retired = SPE_BIT(SPE_EVENT_RETIRED), refill = SPE_BIT(SPE_EVENT_L1D_REFILL);
	const u64 both = SPE_PMSFCR_FE | SPE_PMSFCR_FNE;
	const struct {
		u64 on;
		u64 events;
		u64 events_not;
		bool applied; /* whether it is recorded if the filters apply */
		bool off; /* whether it is recorded if overlapping filters have no effect */
	} rows[] = {
		{ both, retired, retired, false, true },
		{ both, refill, refill, false, true },
		{ both, retired, refill, true, true },
		{ both, refill, retired, false, false },
		{ SPE_PMSFCR_FE, refill, refill, false, false },
		{ SPE_PMSFCR_FNE, retired, retired, false, false },
		{ 0, retired, retired, true, true },
	};
	struct spe_spu_config config;

	spe_spu_config_default(&config);
	config.pmsver = 3;
	config.features |= SPE_PMSIDR_FNE;
	for (size_t i = 0; i < 2 * ARRAY_SIZE(rows); i++) {
		config.choices = i & 1 ? SPE_CHOICE_FILTER_OVERLAP_OFF : 0;
		if (!fixture_init(check, &config))
			return;
		fixture_arm(4096);
		spe_spu_write(&fixture.spu, SPE_REG_PMSFCR, rows[i >> 1].on);
		spe_spu_write(&fixture.spu, SPE_REG_PMSEVFR, rows[i >> 1].events);
		spe_spu_write(&fixture.spu, SPE_REG_PMSNEVFR, rows[i >> 1].events_not);
		fixture_sample(&op_other);
		SPE_CHECK_EQ(check, i << 1 | fixture.spu.stats.written,
			     i << 1 | (i & 1 ? rows[i >> 1].off : rows[i >> 1].applied));
	}
}

/* Test a register and an Exception level that do not exist. */
static void test_registers_out_of_range(struct spe_check *check)
{
	static struct spe_spu before;

	if (!fixture_init(check, NULL))
		return;
	fixture_arm(4096);
	before = fixture.spu;
	spe_spu_write(&fixture.spu, SPE_REG_COUNT, ~0ULL);
	SPE_CHECK(check, !memcmp(&before, &fixture.spu, sizeof(before)));
	SPE_CHECK_EQ(check, spe_spu_read(&fixture.spu, SPE_REG_COUNT), 0);
	SPE_CHECK(check, !spe_spu_profiling_enabled(&fixture.spu, 3));
	SPE_CHECK(check, !spe_spu_profiling_enabled(&fixture.spu, 255));
}

/* Test register names in each Security state that owns the buffer, and invalid names. */
static void test_register_names(struct spe_check *check)
{
	static const struct spe_timers timers;
	struct spe_spu_config config;

	spe_spu_config_default(&config);
	config.el2 = true;
	config.el3 = true;
	config.pe |= SPE_PE_RME;
	config.max_size = 7;
	config.layout = SPE_SPU_LAYOUT_PACKED;
	for (u32 i = 0; i < 3; i++) {
		const struct spe_controls controls = {
			.el2 = true,
			.el3 = true,
			.ns = i & 1 || i == 2,
			.nse = i == 2,
			.eel2 = true,
			.e2pb = 3,
		};

		if (!fixture_init(check, &config))
			return;
		SPE_CHECK_EQ(check, spe_spu_set_controls(&fixture.spu, &controls, &timers), 0);
		for (unsigned int el = 1; el <= 3; el++)
			SPE_CHECK_EQ(check,
				     i << 8 | spe_spu_resolve_name(&fixture.spu, SPE_REG_PMSFCR, el,
								   false),
				     i << 8 | 1);
		SPE_CHECK_EQ(check, spe_spu_resolve_name(&fixture.spu, SPE_REG_PMSFCR, 4, false),
			     0);
		SPE_CHECK_EQ(check, spe_spu_resolve_name(&fixture.spu, SPE_REG_COUNT, 1, false), 0);
		/* An index of 256 or more is refused even if its lowest byte is valid. */
		SPE_CHECK_EQ(check,
			     spe_spu_resolve_name(&fixture.spu, 256 + SPE_REG_PMSFCR, 1, false), 0);
		SPE_CHECK_EQ(check, spe_spu_resolve_name(&fixture.spu, SPE_REG_PMSFCR, 257, false),
			     0);
	}
}

/* RJFYNW: test which fault codes are External aborts on a walk, which an SPU may ignore. */
static void test_aborts_on_walks(struct spe_check *check)
{
	static const struct {
		u8 fsc;
		bool ignored;
	} rows[] = { { 0x12, true }, { 0x17, true }, { 0x18, false }, { 0x0f, false } };
	struct spe_spu_config config;

	spe_spu_config_default(&config);
	config.walk_abort = SPE_SPU_WALK_ABORT_IGNORED;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!fixture_init(check, &config))
			return;
		fixture_arm(4096);
		spe_spu_inject_fault(&fixture.spu,
				     spe_fault_make(SPE_PMBSR_EC_STAGE1, rows[i].fsc));
		fixture_sample(&op_load);
		SPE_CHECK_EQ(check, i << 1 | !(fixture_read_reg(SPE_REG_PMBSR) & SPE_PMBSR_S),
			     i << 1 | rows[i].ignored);
	}
}

/* ITCPLL: an abort that arrives while S is 1 and is not reported has no later effect. */
static void test_late_abort(struct spe_check *check)
{
	struct spe_spu_config config;
	u64 writes;

	spe_spu_config_default(&config);
	config.pmsver = 4;
	if (!fixture_init(check, &config))
		return;
	fixture_arm(4096);
	spe_spu_inject_fault(&fixture.spu, spe_fault_make(SPE_PMBSR_EC_BUFFER, SPE_PMBSR_BSC_FULL));
	fixture_sample(&op_load);
	SPE_CHECK(check, fixture_read_reg(SPE_REG_PMBSR) & SPE_PMBSR_S);
	spe_spu_inject_fault(&fixture.spu,
			     spe_fault_make(SPE_PMBSR_EC_STAGE1, SPE_FSC_EXTERNAL_ASYNC));
	spe_spu_write(&fixture.spu, SPE_REG_PMBSR, 0);
	writes = fixture.writes;
	fixture_sample(&op_load);
	SPE_CHECK(check, fixture.writes > writes);
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR), 0);
}

static const struct spe_case cases[] = {
	{ "a window of exactly two records", test_window_of_two_records },
	{ "the owning Security state", test_owning_state },
	{ "timestamps", test_timestamps },
	{ "effective EE", test_effective_ee },
	{ "no such Security state", test_reserved_security_state },
	{ "filters that overlap", test_overlapping_filters },
	{ "out of range", test_registers_out_of_range },
	{ "names of registers", test_register_names },
	{ "aborts of walks", test_aborts_on_walks },
	{ "an abort that comes late", test_late_abort },
};

const struct spe_suite spe_suite_edges = { "edges", cases, ARRAY_SIZE(cases) };
