// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Test faults of translations and descriptors that the SPU updates (table D17-11, D17.8.3.1),
 * aborts of table walks (D17.8.4), and the signals to PMU and CTI (D17.3.7, D17.8).
 */
#include "model/impdef.h"
#include "spu-fixture.h"
#include "suites.h"

#define S	     SPE_PMBSR_S
#define DL	     SPE_PMBSR_DL
#define EA	     SPE_PMBSR_EA
#define EC(ec, code) ((u64)(ec) << 26 | (code) | S)
#define TOP	     (1ULL << 40)
#define ASSURED	     (1ULL << 39)
#define FULL	     EC(0, 1)

static const struct spe_descriptor good = {
	.level = 3, .valid = true, .af = true, .tables_af = true, .writable = true
};

/* Start an SPU, and map its buffer page by page, at both stages. */
static bool start_spu(struct spe_check *check, const struct spe_spu_config *config)
{
	if (!fixture_init(check, config))
		return false;
	for (size_t page = 0; page < ARRAY_SIZE(fixture.pages[0]); page++)
		fixture.pages[0][page] = fixture.pages[1][page] = good;
	fixture.walks = true;
	fixture_arm(FIXTURE_SIZE);
	return true;
}

static struct spe_spu_config make_config(u8 pmsver, u64 choices)
{
	struct spe_spu_config config;

	spe_spu_config_default(&config);
	config.pmsver = pmsver;
	config.choices = choices;
	return config;
}

#define GOOD .valid = true, .af = true, .writable = true

/* Test table D17-11 row by row: the descriptor, and the value of PMBSR for each stage. */
static void test_translation_faults(struct spe_check *check)
{
	static const struct {
		struct spe_descriptor descriptor;
		u8 fsc;
	} rows[] = {
		/* Translation */
		{ { .level = 0 }, 0x04 },
		{ { .level = 2, .af = true, .writable = true }, 0x06 },
		/* Address Size */
		{ { GOOD, .level = 1, .address_size = true }, 0x01 },
		/*
		 * Permission fault: DBM has no effect without hardware management of dirty state.
		 */
		{ { .level = 3, .valid = true, .af = true }, 0x0f },
		{ { .level = 2, .valid = true, .af = true, .dbm = true }, 0x0e },
		/* Access flag */
		{ { .level = 3, .valid = true, .writable = true }, 0x0b },
		{ { .level = 1, .valid = true }, 0x09 },
		/* TLB Conflict; unsupported atomic hardware update */
		{ { GOOD, .conflict = true }, 0x30 },
		/* External abort on a walk at level 1, at level -1 */
		{ { GOOD, .walk_abort = 0x15 }, 0x15 },
		{ { GOOD, .walk_abort = 0x13 }, 0x13 },
	};

	for (size_t i = 0; i < 2 * ARRAY_SIZE(rows); i++) {
		unsigned int stage = 1 + (i & 1);
		struct spe_spu_config config = make_config(3, 0);

		if (!start_spu(check, &config))
			return;
		fixture.pages[stage - 1][0] = rows[i >> 1].descriptor;
		SPE_CHECK(check, fixture_sample(&op_load));
		SPE_CHECK_EQ(check, i << 40 | fixture_read_reg(SPE_REG_PMBSR),
			     i << 40 | EC(stage == 1 ? 0x24U : 0x25U, rows[i >> 1].fsc));
		SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBPTR), FIXTURE_BASE);
		SPE_CHECK_EQ(check, fixture.writes, 0);
	}
}

/*
 * D17.8.3.1: test whether the SPU updates descriptors. This depends on the version or a choice, on
 * TCR_ELx.HA and HD, and on the stage.
 */
static void test_managed_descriptors(struct spe_check *check)
{
	static const struct {
		u8 pmsver;
		bool choice;
		bool manages;
	} spus[] = { { 1, false, false }, { 3, false, false }, { 3, true, true },
		     { 4, false, true },  { 6, false, true },  { 6, true, true } };

	for (unsigned int i = 0; i < ARRAY_SIZE(spus) * 32; i++) {
		const unsigned int spu = i >> 5, stage = 1 + (i & 1);
		const bool ha = i & 2, hd = i & 4, no_af = i & 8, no_write = i & 16;
		const bool manages = spus[spu].manages;
		struct spe_spu_config config =
			make_config(spus[spu].pmsver, spus[spu].choice ? SPE_CHOICE_MANAGES : 0);
		struct spe_translation_regime regime = { 0 };
		struct spe_descriptor *page;
		u64 expected = 0;

		if (config.pmsver < 2)
			config.sampled_events = 2;
		if (!start_spu(check, &config))
			return;
		page = &fixture.pages[stage - 1][0];
		SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBIDR) >> 5 & 1, manages);
		regime.ha[stage - 1] = ha;
		regime.hd[stage - 1] = hd;
		spe_spu_set_regime(&fixture.spu, &regime);
		page->af = !no_af;
		page->writable = !no_write;
		page->dbm = true;
		if (no_af && !(manages && ha))
			expected = EC(stage == 1 ? 0x24U : 0x25U, 0x0b);
		else if (no_write && !(manages && hd))
			expected = EC(stage == 1 ? 0x24U : 0x25U, 0x0f);
		SPE_CHECK(check, fixture_sample(&op_load));
		SPE_CHECK_EQ(check, (u64)i << 40 | fixture_read_reg(SPE_REG_PMBSR),
			     (u64)i << 40 | expected);
		/* A fault updates no descriptor. A write leaves the page accessed and dirty. */
		SPE_CHECK_EQ(check, page->af, !no_af || !expected);
		SPE_CHECK_EQ(check, page->writable, !no_write || !expected);
	}
}

/*
 * Table D17-11: an update that is not atomic; a descriptor with DBM clear; a write that needs no
 * update.
 */
static void test_descriptor_updates(struct spe_check *check)
{
	static const struct {
		struct spe_descriptor descriptor;
		u64 pmbsr;
	} rows[] = {
		{ { .level = 3, .valid = true, .af = true, .dbm = true, .no_atomic = true },
		  EC(0x24, 0x31) },
		{ { .level = 3, .valid = true, .writable = true, .no_atomic = true },
		  EC(0x24, 0x31) },
		{ { .level = 3, GOOD, .no_atomic = true }, 0 },
		{ { .level = 3, .valid = true, .af = true }, EC(0x24, 0x0f) },
	};
	const struct spe_translation_regime regime = { .ha = { true }, .hd = { true } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct spe_spu_config config = make_config(4, 0);

		if (!start_spu(check, &config))
			return;
		spe_spu_set_regime(&fixture.spu, &regime);
		fixture.pages[0][0] = rows[i].descriptor;
		SPE_CHECK(check, fixture_sample(&op_load));
		SPE_CHECK_EQ(check, i << 40 | fixture_read_reg(SPE_REG_PMBSR),
			     i << 40 | rows[i].pmbsr);
	}
}

/* D17.8.3.1, FEAT_HAFT: test the Access flags of Table descriptors. */
static void test_table_access_flags(struct spe_check *check)
{
	for (unsigned int i = 0; i < 8; i++) {
		struct spe_spu_config config = make_config(i & 1 ? 4 : 3, 0);
		const struct spe_translation_regime regime = { .haft = { i & 4 } };

		config.pe |= i & 2 ? SPE_PE_HAFT : 0;
		if (!start_spu(check, &config))
			return;
		spe_spu_set_regime(&fixture.spu, &regime);
		fixture.pages[0][0].tables_af = false;
		SPE_CHECK(check, fixture_sample(&op_load));
		SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR), 0);
		SPE_CHECK_EQ(check, i << 8 | fixture.pages[0][0].tables_af, i << 8 | (i == 7));
	}
}

/*
 * D17.8.3.1: the SPU may mark a page dirty before it writes to it, but never a page beyond the
 * limit.
 */
static void test_early_updates(struct spe_check *check)
{
	for (unsigned int early = 0; early < 2; early++) {
		struct spe_spu_config config = make_config(4, early ? SPE_CHOICE_DIRTY_EARLY : 0);
		const struct spe_translation_regime regime = { .ha = { true, true },
							       .hd = { true, true } };

		if (!start_spu(check, &config))
			return;
		spe_spu_set_regime(&fixture.spu, &regime);
		for (size_t page = 0; page < ARRAY_SIZE(fixture.pages[0]); page++) {
			fixture.pages[0][page].writable = false;
			fixture.pages[0][page].dbm = true;
		}
		fixture_arm(3 * 4096);
		SPE_CHECK(check, fixture_sample(&op_load));
		SPE_CHECK(check, fixture.pages[0][0].writable);
		SPE_CHECK_EQ(check, fixture.pages[0][1].writable, early);
		SPE_CHECK(check, !fixture.pages[0][2].writable);
		/* This also holds if an event stops the SPU before it reaches the page. */
		while (fixture_sample(&op_load))
			;
		SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR), FULL);
		SPE_CHECK(check, fixture.pages[0][2].writable && !fixture.pages[0][3].writable);
	}
}

/* D17.8.3: a record crosses two pages, and the second one faults: check DL and the address. */
static void test_fault_at_second_page(struct spe_check *check)
{
	struct spe_spu_config config = make_config(3, 0);

	config.layout = SPE_SPU_LAYOUT_PACKED;
	config.align = 0;
	if (!start_spu(check, &config))
		return;
	fixture.pages[0][1].valid = false;
	while (fixture_sample(&op_load))
		;
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBPTR), FIXTURE_BASE + 4096);
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR), EC(0x24, 7) | DL);
	SPE_CHECK_EQ(check, fixture.mem[4096], 0xa5);
	SPE_CHECK_EQ(check, fixture.spu.stats.bytes + fixture.spu.stats.cut, 4096);
}

/* D17.8.3, FEAT_THE: only stage 2 Permission faults set TopLevel and AssuredOnly. */
static void test_permission_attributes(struct spe_check *check)
{
	for (unsigned int i = 0; i < 16; i++) {
		const bool the = i & 1, top = i & 2, assured = i & 4;
		const unsigned int stage = 1 + (i >> 3);
		struct spe_spu_config config = make_config(6, 0);
		u64 expected = 0;

		config.pe |= the ? SPE_PE_THE : 0;
		if (!start_spu(check, &config))
			return;
		fixture.pages[stage - 1][0].top_level = top;
		fixture.pages[stage - 1][0].assured_only = assured;
		if (the && stage == 2 && top)
			expected = EC(0x25, 0x0f) | TOP;
		else if (the && stage == 2 && assured)
			expected = EC(0x25, 0x0f) | ASSURED;
		/* Another event clears these bits. */
		spe_spu_write(&fixture.spu, SPE_REG_PMBSR, TOP | ASSURED);
		SPE_CHECK(check, fixture_sample(&op_load));
		SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR),
			     expected ? expected :
			     the      ? TOP | ASSURED :
					0);
		spe_spu_write(&fixture.spu, SPE_REG_PMBSR, ~0ULL);
		SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR) >> 32, the ? 0x180 : 0);
	}
}

/*
 * RJFYNW, D17.8.4.3: test each permitted behaviour for an External abort on a walk, and EA for an
 * MMU fault.
 */
static void test_walk_aborts(struct spe_check *check)
{
	static const struct {
		u8 pmsver;
		u8 way;
		u64 choices;
		u64 pmbsr;
		u8 serrors;
	} rows[] = {
		{ 3, SPE_SPU_WALK_ABORT_FAULT, 0, EC(0x24, 0x16), 0 },
		{ 6, SPE_SPU_WALK_ABORT_FAULT, 0, EC(0x24, 0x16), 0 },
		{ 6, SPE_SPU_WALK_ABORT_FAULT, SPE_CHOICE_WALK_EA, EC(0x24, 0x16) | EA, 0 },
		{ 3, SPE_SPU_WALK_ABORT_IGNORED, 0, 0, 0 },
		{ 3, SPE_SPU_WALK_ABORT_SERROR, 0, 0, 1 },
		{ 6, SPE_SPU_WALK_ABORT_SERROR, 0, 0, 1 },
		/* RBPFPN: it is reported as any other External abort, with EA. */
		{ 3, SPE_SPU_WALK_ABORT_REPORTED, 0, EC(0x24, 0x16) | EA, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct spe_spu_config config = make_config(rows[i].pmsver, rows[i].choices);

		config.walk_abort = rows[i].way;
		if (!start_spu(check, &config))
			return;
		fixture.pages[0][0].walk_abort = 0x16;
		SPE_CHECK(check, fixture_sample(&op_load));
		SPE_CHECK_EQ(check, i << 40 | fixture_read_reg(SPE_REG_PMBSR),
			     i << 40 | rows[i].pmbsr);
		SPE_CHECK_EQ(check, i << 8 | fixture.serrors, i << 8 | rows[i].serrors);
		SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBPTR) - FIXTURE_BASE,
			     rows[i].pmbsr ? 0 : 64);
	}
}

/* FSC of levels -2 to 3 are aborts on a walk; the parity errors that follow them are not. */
static void test_walk_abort_codes(struct spe_check *check)
{
	for (u32 fsc = 0x10; fsc < 0x1a; fsc++) {
		const bool walk = fsc >= 0x12 && fsc <= 0x17;
		struct spe_spu_config config = make_config(6, 0);

		config.walk_abort = SPE_SPU_WALK_ABORT_IGNORED;
		config.abort = SPE_SPU_ABORT_SERROR;
		if (!start_spu(check, &config))
			return;
		spe_spu_inject_fault(&fixture.spu, spe_fault_make(SPE_PMBSR_EC_STAGE1, fsc));
		SPE_CHECK(check, fixture_sample(&op_load));
		SPE_CHECK_EQ(check, (u64)fsc << 40 | fixture_read_reg(SPE_REG_PMBSR),
			     (u64)fsc << 40 | (fsc < 0x12 || walk ? 0 : EC(0x24, fsc)));
		SPE_CHECK_EQ(check, fixture.serrors, fsc < 0x12);
	}
}

/* An abort that arrives late and is not reported has no further effect. */
static void test_late_serror(struct spe_check *check)
{
	struct spe_spu_config config = make_config(3, 0);

	config.abort = SPE_SPU_ABORT_SERROR;
	if (!start_spu(check, &config))
		return;
	spe_spu_write(&fixture.spu, SPE_REG_PMBSR, FULL);
	spe_spu_inject_fault(&fixture.spu,
			     spe_fault_make(SPE_PMBSR_EC_STAGE1, SPE_FSC_EXTERNAL_ASYNC));
	SPE_CHECK(check, fixture.serrors == 1 && fixture_read_reg(SPE_REG_PMBSR) == FULL);
	spe_spu_write(&fixture.spu, SPE_REG_PMBSR, 0);
	SPE_CHECK(check, fixture_sample(&op_load));
	SPE_CHECK(check, fixture.serrors == 1 && fixture.spu.stats.written == 1);
}

/*
 * RPGGHS, RHXSYK, D17.8.5: test a PMBPTR outside of the buffer, with each behaviour that the model
 * has.
 */
static void test_access_not_allowed(struct spe_check *check)
{
	static const u64 pmbsr[] = { EC(0, 0) | DL, FULL, 0 };

	for (unsigned int way = 0; way < SPE_SPU_NOT_ALLOWEDS; way++)
		for (unsigned int high = 0; high < 2; high++) {
			struct spe_spu_config config = make_config(2, 0);
			u64 ptr = high ? FIXTURE_BASE ^ 1ULL << 63 : FIXTURE_BASE + 8192;

			config.not_allowed = (u8)way;
			if (!start_spu(check, &config))
				return;
			fixture_arm(8192);
			spe_spu_write(&fixture.spu, SPE_REG_PMBPTR, ptr);
			for (unsigned int i = 0; i < 3; i++)
				fixture_sample(&op_load);
			SPE_CHECK_EQ(check, way << 8 | fixture_read_reg(SPE_REG_PMBSR),
				     way << 8 | pmbsr[way]);
			SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBPTR), ptr);
			SPE_CHECK_EQ(check, fixture.writes, 0);
			SPE_CHECK_EQ(check, fixture.spu.stats.discarded, pmbsr[way] ? 1 : 3);
			SPE_CHECK_EQ(check, fixture.events[SPE_SPU_EVENT_FULL], way == 1);
		}
}

/*
 * RWVKFM: from SPEv1p5 on, sampling may continue for some operations after the one with the
 * faulting record.
 */
static void test_sampling_after_fault(struct spe_check *check)
{
	for (u8 lag = 0; lag < 4; lag++) {
		struct spe_spu_config config = make_config(6, 0);
		unsigned int sampled = 0, in_flight = 0;

		config.fault_lag = lag;
		config.in_flight = 8;
		if (!start_spu(check, &config))
			return;
		fixture.pages[0][0].valid = false;
		SPE_CHECK(check, fixture_sample(&op_load));
		SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR), EC(0x24, 7));
		SPE_CHECK(check, fixture.irq);
		while (spe_spu_operations_until_sample(&fixture.spu)) {
			sampled++;
			if (!spe_spu_count_operations(&fixture.spu, 1))
				continue;
			in_flight++;
			spe_spu_sample_operation(&fixture.spu, &op_load);
		}
		/* All of these samples are discarded. Neither PMBSR nor PMBPTR changes. */
		SPE_CHECK_EQ(check, sampled, lag);
		/*
		 * The last operation is discarded when it is selected, because no further operation
		 * may be selected.
		 */
		SPE_CHECK_EQ(check, in_flight, lag ? lag - 1U : 0);
		SPE_CHECK_EQ(check, fixture.spu.stats.selected, 1 + lag);
		SPE_CHECK_EQ(check, fixture.spu.stats.discarded, 1 + lag);
		SPE_CHECK_EQ(check, fixture.spu.in_flight, 0);
		SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR), EC(0x24, 7));
		SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBPTR), FIXTURE_BASE);
		SPE_CHECK_EQ(check, fixture.writes, 0);
		/* A buffer full event stops sampling at once in any case. */
		fixture.pages[0][0].valid = true;
		spe_spu_write(&fixture.spu, SPE_REG_PMBSR, 0);
		while (fixture_sample(&op_load))
			;
		SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR), FULL);
		SPE_CHECK_EQ(check, spe_spu_operations_until_sample(&fixture.spu), 0);
	}
}

/*
 * Samples of operations that were selected after a faulting record (RWVKFM) stay discarded when
 * software clears PMBSR_EL1.S.
 */
static void test_sampling_after_fault_ends(struct spe_check *check)
{
	struct spe_spu_config config = make_config(6, 0);

	config.fault_lag = 200;
	config.in_flight = 8;
	if (!start_spu(check, &config))
		return;
	fixture.pages[0][0].valid = false;
	SPE_CHECK(check, fixture_sample(&op_load));
	SPE_CHECK(check, spe_spu_count_operations(&fixture.spu, 1) &&
				 spe_spu_count_operations(&fixture.spu, 1));
	SPE_CHECK(check, spe_spu_profiling_enabled(&fixture.spu, 0));
	spe_spu_write(&fixture.spu, SPE_REG_PMBLIMITR, 0);
	SPE_CHECK(check, !spe_spu_profiling_enabled(&fixture.spu, 0));
	SPE_CHECK_EQ(check, fixture.spu.in_flight, 0);
	fixture.pages[0][0].valid = true;
	fixture_arm(FIXTURE_SIZE);
	spe_spu_write(&fixture.spu, SPE_REG_PMBSR, 0);
	spe_spu_sample_operation(&fixture.spu, &op_load);
	SPE_CHECK_EQ(check, fixture.spu.stats.written, 0);
	SPE_CHECK_EQ(check, fixture.spu.stats.discarded, 3);
	SPE_CHECK(check, fixture_sample(&op_load));
	SPE_CHECK_EQ(check, fixture.spu.stats.written, 1);
}

/*
 * D17.3.7, D17.8, D17.8.2: test SAMPLE_POP, SAMPLE_FEED, SAMPLE_FILTRATE, SAMPLE_COLLISION,
 * SAMPLE_BUFFER_FULL, and the trigger of the CTI.
 */
static void test_pmu_and_cti_signals(struct spe_check *check)
{
	struct spe_spu_config config = make_config(2, 0);
	const u64 *events = fixture.events;

	if (!start_spu(check, &config))
		return;
	spe_spu_write(&fixture.spu, SPE_REG_PMSFCR, SPE_PMSFCR_FT | SPE_PMSFCR_LD);
	fixture_arm(4096);
	SPE_CHECK(check, fixture_sample(&op_load) && fixture_sample(&op_store));
	SPE_CHECK(check, events[SPE_SPU_EVENT_FEED] == 2 && events[SPE_SPU_EVENT_FILTRATE] == 1);
	SPE_CHECK_EQ(check, events[SPE_SPU_EVENT_TRIGGER], 1);
	/* A collision counts as no sample. */
	SPE_CHECK(check, spe_spu_count_operations(&fixture.spu, 1) &&
				 !spe_spu_count_operations(&fixture.spu, 1));
	SPE_CHECK_EQ(check, events[SPE_SPU_EVENT_COLLISION], 1);
	SPE_CHECK_EQ(check, events[SPE_SPU_EVENT_FEED], 2);
	spe_spu_sample_operation(&fixture.spu, &op_load);
	SPE_CHECK_EQ(check, events[SPE_SPU_EVENT_FEED], 3);
	/*
	 * If a fault prevents the write of a record, its sample signals SAMPLE_FILTRATE and the
	 * trigger all the same, but not SAMPLE_BUFFER_FULL.
	 */
	fixture.pages[0][0].valid = false;
	SPE_CHECK(check, fixture_sample(&op_load));
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR) & S, S);
	SPE_CHECK(check, events[SPE_SPU_EVENT_FILTRATE] == 3 && events[SPE_SPU_EVENT_TRIGGER] == 3);
	SPE_CHECK_EQ(check, events[SPE_SPU_EVENT_FULL], 0);
	fixture.pages[0][0].valid = true;
	spe_spu_write(&fixture.spu, SPE_REG_PMBSR, 0);
	while (fixture_sample(&op_load))
		;
	SPE_CHECK_EQ(check, events[SPE_SPU_EVENT_FULL], 1);
	SPE_CHECK_EQ(check, fixture.spu.stats.full, 1);
	SPE_CHECK_EQ(check, events[SPE_SPU_EVENT_FEED], fixture.spu.stats.selected);
	SPE_CHECK_EQ(check, events[SPE_SPU_EVENT_FILTRATE], fixture.spu.stats.passed);
	SPE_CHECK_EQ(check, fixture.spu.stats.operations, fixture.spu.stats.selected + 1);
	SPE_CHECK_EQ(check, fixture.spu.stats.passed,
		     fixture.spu.stats.written + fixture.spu.stats.discarded);
}

/*
 * Discard mode (PMBLIMITR_EL1.FM): PMU events count samples after the filters, and COLL is set as
 * usual.
 */
static void test_signals_in_discard_mode(struct spe_check *check)
{
	struct spe_spu_config config = make_config(3, 0);

	if (!start_spu(check, &config))
		return;
	spe_spu_write(&fixture.spu, SPE_REG_PMSFCR, SPE_PMSFCR_FT | SPE_PMSFCR_LD);
	/* PMBPTR may have any value. */
	spe_spu_write(&fixture.spu, SPE_REG_PMBPTR, ~0ULL);
	spe_spu_write(&fixture.spu, SPE_REG_PMBLIMITR, 2 << 1 | SPE_PMBLIMITR_E);
	for (unsigned int i = 0; i < 10; i++)
		SPE_CHECK(check, fixture_sample(i & 1 ? &op_load : &op_store));
	SPE_CHECK(check, spe_spu_count_operations(&fixture.spu, 1) &&
				 !spe_spu_count_operations(&fixture.spu, 1));
	SPE_CHECK_EQ(check, fixture.events[SPE_SPU_EVENT_FEED], 10);
	SPE_CHECK_EQ(check, fixture.events[SPE_SPU_EVENT_FILTRATE], 5);
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR), SPE_PMBSR_COLL);
	SPE_CHECK_EQ(check, fixture.writes, 0);
}

/* PMBLIMITR_EL1.PMFZ, FEAT_SPEv1p2: the PMU's counters stop while profiling is stopped. */
static void test_pmu_freezes(struct spe_check *check)
{
	for (unsigned int i = 0; i < 16; i++) {
		struct spe_spu_config config = make_config(i & 8 ? 3 : 2, 0);
		u64 limit = FIXTURE_BASE + 4096;

		if (!start_spu(check, &config))
			return;
		limit |= (i & 1 ? SPE_PMBLIMITR_E : 0) | (i & 2 ? SPE_PMBLIMITR_PMFZ : 0);
		spe_spu_write(&fixture.spu, SPE_REG_PMBLIMITR, limit);
		spe_spu_write(&fixture.spu, SPE_REG_PMBSR, i & 4 ? S : SPE_PMBSR_COLL);
		SPE_CHECK_EQ(check, i << 8 | spe_spu_freezes_pmu(&fixture.spu), i << 8 | (i == 15));
	}
}

/* D18.1.2: the size of a write may vary, and a fault may leave an incomplete record. */
static void test_granule_varies(struct spe_check *check)
{
	unsigned int cuts = 0, last = 0;

	for (unsigned int i = 0; i < 200; i++) {
		struct spe_spu_config config = make_config(3, SPE_CHOICE_GRANULE_VARIES);
		u64 cut;

		config.seed = i;
		if (!start_spu(check, &config))
			return;
		fixture.fault = spe_fault_make(SPE_PMBSR_EC_STAGE1, 7);
		fixture.fault_from = FIXTURE_BASE + 40;
		SPE_CHECK(check, fixture_sample(&op_load));
		cut = fixture_read_reg(SPE_REG_PMBPTR) - FIXTURE_BASE;
		SPE_CHECK(check, cut <= 40 && cut % 2 == 0);
		SPE_CHECK_EQ(check, !!(fixture_read_reg(SPE_REG_PMBSR) & DL), cut != 0);
		cuts += cut != last;
		last = (unsigned int)cut;
	}
	SPE_CHECK(check, cuts > 50);
}

static const struct spe_case cases[] = {
	{ "table D17-11", test_translation_faults },
	{ "managed descriptors", test_managed_descriptors },
	{ "updates", test_descriptor_updates },
	{ "Table descriptors", test_table_access_flags },
	{ "early updates", test_early_updates },
	{ "second page", test_fault_at_second_page },
	{ "TopLevel and AssuredOnly", test_permission_attributes },
	{ "aborts of walks", test_walk_aborts },
	{ "codes of aborts of walks", test_walk_abort_codes },
	{ "late SError", test_late_serror },
	{ "access not allowed", test_access_not_allowed },
	{ "lag after a fault", test_sampling_after_fault },
	{ "lag ends", test_sampling_after_fault_ends },
	{ "PMU and CTI", test_pmu_and_cti_signals },
	{ "PMU in discard mode", test_signals_in_discard_mode },
	{ "PMU freezes", test_pmu_freezes },
	{ "granule varies", test_granule_varies },
};

const struct spe_suite spe_suite_spu_translation = { "spu-translation", cases, ARRAY_SIZE(cases) };
