// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Test the SPU and Exception levels (FEAT_SPE_EXC): registers and their names, the register in
 * which an event is recorded, whether an event causes an interrupt or an exception, and second
 * events.
 */
#include "spu-fixture.h"
#include "suites.h"

#define S	     SPE_PMBSR_S
#define DL	     SPE_PMBSR_DL
#define EA	     SPE_PMBSR_EA
#define EC(ec, code) ((u64)(ec) << 26 | (code) | S)
#define EE(v)	     ((u64)(v) << 8)
#define KE	     SPE_PMSCR_KE

static const struct spe_timers no_timers;

static u64 read_register_at_level(enum spe_reg reg, unsigned int x)
{
	return spe_spu_read_at(&fixture.spu, reg, x);
}

static bool start_spu(struct spe_check *check, u8 pmsver, bool el2, bool el3, bool exc)
{
	struct spe_spu_config config;

	spe_spu_config_default(&config);
	config.pmsver = pmsver;
	config.el2 = el2;
	config.el3 = el3;
	config.exc = exc;
	return fixture_init(check, &config);
}

/* Enable sampling for both owners. */
static void enable_both_owners(u64 el1, u64 el2)
{
	spe_spu_write_at(&fixture.spu, SPE_REG_PMSCR, 2, 3 | el2);
	spe_spu_write(&fixture.spu, SPE_REG_PMSCR, el1);
	fixture_arm(4096);
}

static void test_registers_of_levels(struct spe_check *check)
{
	for (unsigned int i = 0; i < 8; i++) {
		bool el2 = i & 1, el3 = i & 2, exc = i & 4;
		const struct spe_controls owner = { .ns = true };

		if (!start_spu(check, 2, el2, el3, exc))
			return;
		for (unsigned int x = 0; x < 5; x++)
			for (unsigned int reg = 0; reg < SPE_REG_COUNT; reg++)
				if (x != 1)
					spe_spu_write_at(&fixture.spu, reg, x, ~0ULL);
		SPE_CHECK_EQ(check, i << 16 | read_register_at_level(SPE_REG_PMSCR, 2),
			     i << 16 | (el2 ? exc ? 0x7f8 : 0xf8 : 0));
		SPE_CHECK_EQ(check, read_register_at_level(SPE_REG_PMBSR, 2),
			     el2 && exc ? 0xfc0fffff : 0);
		SPE_CHECK_EQ(check, read_register_at_level(SPE_REG_PMBSR, 3),
			     el3 && exc ? 0xfc0fffff : 0);
		SPE_CHECK_EQ(check, read_register_at_level(SPE_REG_PMSCR, 3), 0);
		SPE_CHECK_EQ(check, read_register_at_level(SPE_REG_PMSIRR, 2), 0);
		SPE_CHECK_EQ(check, read_register_at_level(SPE_REG_PMBSR, 0), 0);
		SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMSCR), el2 ? 0 : 0x40);
		SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR), 0);
		spe_spu_write_at(&fixture.spu, SPE_REG_PMSCR, 1, ~0ULL);
		SPE_CHECK_EQ(check, read_register_at_level(SPE_REG_PMSCR, 1),
			     (exc ? 0x77bU : 0x7bU) | (el2 ? 0x80U : 0U));
		SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMSCR),
			     read_register_at_level(SPE_REG_PMSCR, 1));
		/* E2SPE and E0HSPE exist while EL2 owns the buffer. */
		SPE_CHECK_EQ(check, spe_spu_set_controls(&fixture.spu, &owner, &no_timers), 0);
		spe_spu_write_at(&fixture.spu, SPE_REG_PMSCR, 2, 3);
		SPE_CHECK_EQ(check, read_register_at_level(SPE_REG_PMSCR, 2), el2 ? 3 : 0);
	}
}

/* Test the redirection of E2H, and the _EL12 names. */
static void test_redirected_names(struct spe_check *check)
{
	static const struct {
		bool exc;
		bool ns;
		bool e2h;
		u8 reg;
		u8 el;
		bool el12;
		u8 x;
	} rows[] = {
		{ true, true, false, SPE_REG_PMSCR, 1, false, 1 },
		{ true, true, false, SPE_REG_PMSCR, 2, false, 1 },
		{ true, true, false, SPE_REG_PMSCR, 2, true, 0 },
		{ true, true, true, SPE_REG_PMSCR, 1, false, 1 },
		{ true, true, true, SPE_REG_PMSCR, 1, true, 0 },
		{ true, true, true, SPE_REG_PMSCR, 2, false, 2 },
		{ true, true, true, SPE_REG_PMSCR, 2, true, 1 },
		{ true, true, true, SPE_REG_PMSCR, 3, false, 1 },
		{ true, true, true, SPE_REG_PMSCR, 3, true, 1 },
		{ true, true, true, SPE_REG_PMBSR, 2, false, 2 },
		{ true, true, true, SPE_REG_PMBSR, 2, true, 1 },
		/* Without FEAT_SPE_EXC there is only one PMBSR. */
		{ false, true, true, SPE_REG_PMBSR, 2, false, 1 },
		{ false, true, true, SPE_REG_PMBSR, 2, true, 0 },
		{ false, true, true, SPE_REG_PMSCR, 2, false, 2 },
		/* Registers that all Exception levels share have no other name. */
		{ true, true, true, SPE_REG_PMSIRR, 2, false, 1 },
		{ true, true, true, SPE_REG_PMSIRR, 2, true, 0 },
		/* EL2 is disabled, or the register or Exception level does not exist. */
		{ true, false, true, SPE_REG_PMSCR, 2, false, 1 },
		{ true, true, true, SPE_REG_COUNT, 2, false, 0 },
		{ true, true, true, SPE_REG_PMSCR, 0, false, 0 },
		{ true, true, true, SPE_REG_PMSCR, 4, false, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct spe_controls c = { .ns = rows[i].ns, .e2h = rows[i].e2h, .pmsee = 1 };

		if (!start_spu(check, 2, true, true, rows[i].exc))
			return;
		SPE_CHECK_EQ(check, spe_spu_set_controls(&fixture.spu, &c, &no_timers), 0);
		spe_spu_write_at(&fixture.spu, SPE_REG_PMSCR, 2, EE(1));
		SPE_CHECK_EQ(check,
			     i << 8 | spe_spu_resolve_name(&fixture.spu, rows[i].reg, rows[i].el,
							   rows[i].el12),
			     i << 8 | rows[i].x);
	}

	/*
	 * While PMSCR_EL2.EE is 0b00, the name PMBSR_EL1 at EL2 ignores E2H, and PMBSR_EL12 does
	 * not.
	 */
	spe_spu_set_controls(&fixture.spu, &(const struct spe_controls){ .ns = true, .e2h = true },
			     &no_timers);
	SPE_CHECK_EQ(check, spe_spu_resolve_name(&fixture.spu, SPE_REG_PMBSR, 2, false), 1);
	SPE_CHECK_EQ(check, spe_spu_resolve_name(&fixture.spu, SPE_REG_PMBSR, 2, true), 1);
	SPE_CHECK_EQ(check, spe_spu_resolve_name(&fixture.spu, SPE_REG_PMSCR, 2, false), 2);
}

/*
 * Under VHE, a host accesses PMSCR_EL2, which controls its sampling, by both of its names. The name
 * PMSCR_EL12 accesses the PMSCR_EL1 of a guest, which retains its value but has no effect while TGE
 * is 1. PMBSR has only one name.
 */
static void test_names_of_vhe_host(struct spe_check *check)
{
	struct spe_spu_config config;
	unsigned int own, guest;

	spe_spu_config_default(&config);
	config.e2h = true;
	if (!fixture_init(check, &config))
		return;
	own = spe_spu_resolve_name(&fixture.spu, SPE_REG_PMSCR, 2, false);
	guest = spe_spu_resolve_name(&fixture.spu, SPE_REG_PMSCR, 2, true);
	SPE_CHECK_EQ(check, own << 4 | guest, 0x21);
	for (unsigned int x = 0; x < 5; x++) {
		fixture_arm(4096);
		spe_spu_write(&fixture.spu, SPE_REG_PMSCR, 0);
		spe_spu_write_at(&fixture.spu, SPE_REG_PMSCR, guest, 0);
		spe_spu_write_at(&fixture.spu, SPE_REG_PMSCR, x, SPE_PMSCR_E1SPE | SPE_PMSCR_TS);
		SPE_CHECK_EQ(check, x << 8 | read_register_at_level(SPE_REG_PMSCR, x),
			     x << 8 | (x == own || x == guest ? 0x22U : 0));
		SPE_CHECK_EQ(check, x << 8 | fixture_read_reg(SPE_REG_PMSCR),
			     x << 8 | (x == own ? 0x22U : 0));
		SPE_CHECK_EQ(check, x << 1 | !spe_spu_operations_until_sample(&fixture.spu),
			     x << 1 | (x != own));
	}
	/* Test that both registers retain their values, in either order of writes. */
	spe_spu_write(&fixture.spu, SPE_REG_PMSCR, SPE_PMSCR_E0SPE);
	spe_spu_write_at(&fixture.spu, SPE_REG_PMSCR, guest, SPE_PMSCR_PA);
	SPE_CHECK_EQ(check, read_register_at_level(SPE_REG_PMSCR, own), SPE_PMSCR_E0SPE);
	SPE_CHECK_EQ(check, read_register_at_level(SPE_REG_PMSCR, guest), SPE_PMSCR_PA);
	spe_spu_write_at(&fixture.spu, SPE_REG_PMBSR, 2, S);
	SPE_CHECK_EQ(check, read_register_at_level(SPE_REG_PMBSR, 1), 0);
	SPE_CHECK_EQ(check, read_register_at_level(SPE_REG_PMBSR, 2), 0);
}

static void test_invalid_controls_are_refused(struct spe_check *check)
{
	struct spe_controls c = { .ns = true, .pmsee = 4 };
	struct spe_spu_config config;

	if (!start_spu(check, 2, true, true, true))
		return;
	SPE_CHECK_EQ(check, spe_spu_set_controls(&fixture.spu, &c, &no_timers), -EINVAL);
	c = (struct spe_controls){ .ns = true, .e2pb = 4 };
	SPE_CHECK_EQ(check, spe_spu_set_controls(&fixture.spu, &c, &no_timers), -EINVAL);
	spe_spu_config_default(&config);
	config.e2h = true;
	if (!fixture_init(check, &config))
		return;
	c = (struct spe_controls){ .ns = true };
	SPE_CHECK_EQ(check, spe_spu_set_controls(&fixture.spu, &c, &no_timers), -EINVAL);
}

/* RHJXHT: one PMBSR_ELx gets the syndrome and the others do not change. RTSJRP: PMBIRQ. */
static void test_events_of_levels(struct spe_check *check)
{
	static const struct {
		struct spe_controls c;
		u64 el1;
		u64 el2;
		u32 fault; /* injected fault; 0: a full window */
		u64 pmbsr;
		u8 x;
		bool irq;
		u8 from_el0; /* Exception level to which an exception at EL0 is taken; 0: none */
	} rows[] = {
#define FAULT(ec, code) ((ec) << 26 | (code))
#define NS		.ns = true
		/*
		 * FEAT_SPE_EXC is not enabled: all events are recorded for EL1 and cause the
		 * interrupt.
		 */
		{ { NS, .e2pb = 3 }, 0, 0, 0, EC(0, 1), 1, true, 0 },
		/* While PMSEE is 0, EE of EL2 and EL1 have no effect. */
		{ { NS, .e2pb = 3 }, EE(3), EE(3), 0, EC(0, 1), 1, true, 0 },
		/* EL3 leaves the choice to EL2, and EL2 to EL1. */
		{ { NS, .e2pb = 3, .pmsee = 1 }, EE(0), EE(2), 0, EC(0, 1), 1, true, 0 },
		{ { NS, .e2pb = 3, .pmsee = 1 }, EE(3), EE(2), 0, EC(0, 1), 1, false, 1 },
		{ { NS, .e2pb = 3, .pmsee = 1 }, EE(3), EE(0), 0, EC(0, 1), 1, true, 0 },
		/* All events are recorded for EL2. */
		{ { NS, .e2pb = 3, .pmsee = 1 }, EE(3), EE(3), 0, EC(0, 1), 2, false, 2 },
		{ { NS, .e2pb = 3, .pmsee = 1 }, EE(0), EE(3), 0, EC(0, 1), 2, false, 2 },
		{ { NS, .pmsee = 1 }, EE(0), EE(3), FAULT(0x24, 7), EC(0x24, 7), 2, false, 2 },
		/* EL2 records the events for which a store would take a Data Abort to EL2. */
		{ { NS, .e2pb = 3, .pmsee = 1 },
		  EE(3),
		  EE(2),
		  FAULT(0x24, 7),
		  EC(0x24, 7),
		  1,
		  false,
		  1 },
		{ { NS, .e2pb = 3, .pmsee = 1 },
		  EE(3),
		  EE(2),
		  FAULT(0x25, 7),
		  EC(0x25, 7),
		  2,
		  false,
		  2 },
		{ { NS, .pmsee = 1 }, EE(3), EE(2), FAULT(0x24, 7), EC(0x24, 7), 2, false, 2 },
		{ { NS, .pmsee = 1 }, EE(3), EE(2), FAULT(0x1f, 9), EC(0x1f, 9) | DL, 1, false, 1 },
		{ { NS, .e2pb = 3, .pmsee = 1, .hcr_gpf = true },
		  EE(3),
		  EE(2),
		  FAULT(0x24, 0x28),
		  EC(0x24, 0x28),
		  2,
		  false,
		  2 },
		{ { NS, .e2pb = 3, .pmsee = 1, .tea = true },
		  EE(3),
		  EE(2),
		  FAULT(0x24, 0x10),
		  EC(0x24, 0x10) | EA,
		  2,
		  false,
		  2 },
		/* An asynchronous abort of a stage 1 write sets DL. */
		{ { NS, .e2pb = 3, .pmsee = 1, .tea = true },
		  EE(3),
		  EE(2),
		  FAULT(0x24, 0x11),
		  EC(0x24, 0x11) | EA | DL,
		  2,
		  false,
		  2 },
		/* Events are recorded for EL3. */
		{ { NS, .e2pb = 3, .pmsee = 2 },
		  EE(3),
		  EE(2),
		  FAULT(0x1e, 4),
		  EC(0x1e, 0),
		  3,
		  false,
		  3 },
		{ { NS, .e2pb = 3, .pmsee = 2 },
		  EE(3),
		  EE(2),
		  FAULT(0x24, 0x10),
		  EC(0x24, 0x10) | EA,
		  1,
		  false,
		  1 },
		{ { NS, .e2pb = 3, .pmsee = 2, .scr_ea = true },
		  EE(3),
		  EE(2),
		  FAULT(0x24, 0x10),
		  EC(0x24, 0x10) | EA,
		  3,
		  false,
		  3 },
		{ { NS, .e2pb = 3, .pmsee = 3 }, EE(3), EE(2), 0, EC(0, 1), 3, false, 3 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct spe_pe_state pe = { .owning = true };
		u8 taken = 0;

		if (!start_spu(check, 2, true, true, true))
			return;
		SPE_CHECK_EQ(check, spe_spu_set_controls(&fixture.spu, &rows[i].c, &no_timers), 0);
		enable_both_owners(rows[i].el1, rows[i].el2);
		if (rows[i].fault)
			spe_spu_inject_fault(&fixture.spu, rows[i].fault);
		for (unsigned int n = 0; n < 64 && fixture_sample(&op_load); n++)
			;
		/* Profiling stops for any Exception level that is notified. */
		SPE_CHECK_EQ(check, i << 8 | spe_spu_operations_until_sample(&fixture.spu), i << 8);
		for (unsigned int x = 1; x < 4; x++) {
			struct spe_exception exception =
				spe_spu_get_exception(&fixture.spu, &pe, x);

			SPE_CHECK_EQ(check,
				     i << 48 | (u64)x << 40 |
					     read_register_at_level(SPE_REG_PMBSR, x),
				     i << 48 | (u64)x << 40 | (x == rows[i].x ? rows[i].pmbsr : 0));
			if (exception.state == SPE_EXCEPTION_TAKEN)
				taken = exception.target;
		}
		SPE_CHECK_EQ(check, i << 8 | fixture.irq, i << 8 | (rows[i].irq && rows[i].x == 1));
		SPE_CHECK_EQ(check, i << 8 | taken, i << 8 | rows[i].from_el0);
		/* Profiling continues once S is cleared. */
		spe_spu_write(&fixture.spu, SPE_REG_PMBPTR, FIXTURE_BASE);
		spe_spu_write_at(&fixture.spu, SPE_REG_PMBSR, rows[i].x, 0);
		SPE_CHECK(check, spe_spu_operations_until_sample(&fixture.spu) > 0);
		SPE_CHECK(check, !fixture.irq);
	}
#undef NS
#undef FAULT
}

/* IGRLRX: writes of S and of the controls change PMBIRQ. An S that is ignored does not. */
static void test_irq_follows_pmbsr(struct spe_check *check)
{
	struct spe_controls c = { .ns = true, .e2pb = 3, .pmsee = 1 };

	if (!start_spu(check, 2, true, true, true))
		return;
	spe_spu_set_controls(&fixture.spu, &c, &no_timers);
	enable_both_owners(0, EE(2));
	spe_spu_write(&fixture.spu, SPE_REG_PMBSR, S);
	SPE_CHECK(check, fixture.irq);
	spe_spu_write(&fixture.spu, SPE_REG_PMSCR, 3 | EE(3));
	SPE_CHECK(check, !fixture.irq);
	c.pmsee = 0;
	spe_spu_set_controls(&fixture.spu, &c, &no_timers);
	SPE_CHECK(check, fixture.irq);
	c.pmsee = 1;
	spe_spu_set_controls(&fixture.spu, &c, &no_timers);
	SPE_CHECK(check, !fixture.irq);
	spe_spu_write_at(&fixture.spu, SPE_REG_PMSCR, 2, 3 | EE(0));
	SPE_CHECK(check, fixture.irq);
	spe_spu_write(&fixture.spu, SPE_REG_PMBSR, 0);
	SPE_CHECK(check, !fixture.irq);

	/* PMBSR_EL2.S is ignored while EE is 0, and PMBSR_EL3.S while PMSEE is 1. */
	spe_spu_write_at(&fixture.spu, SPE_REG_PMBSR, 2, S);
	spe_spu_write_at(&fixture.spu, SPE_REG_PMBSR, 3, S);
	SPE_CHECK(check, !fixture.irq);
	SPE_CHECK(check, fixture_sample(&op_load));
	spe_spu_write_at(&fixture.spu, SPE_REG_PMSCR, 2, 3 | EE(2));
	SPE_CHECK(check, !fixture_sample(&op_load));
	spe_spu_write_at(&fixture.spu, SPE_REG_PMBSR, 2, 0);
	SPE_CHECK(check, fixture_sample(&op_load));
	c.pmsee = 2;
	spe_spu_set_controls(&fixture.spu, &c, &no_timers);
	SPE_CHECK(check, !fixture_sample(&op_load));
}

/*
 * RNXPMV: when S becomes 1, for any reason, the exception is pending at once. It would be too late
 * after a Context synchronization event and one more instruction.
 */
static void test_exception_is_not_late(struct spe_check *check)
{
	const struct spe_controls c = { .ns = true, .e2pb = 3, .pmsee = 1 };
	const struct spe_pe_state pe = { .owning = true };

	for (unsigned int i = 0; i < 4; i++) {
		unsigned int x = 1 + (i & 1);

		if (!start_spu(check, 2, true, true, true))
			return;
		spe_spu_set_controls(&fixture.spu, &c, &no_timers);
		enable_both_owners(EE(3), EE(x == 2 ? 3 : 1));
		SPE_CHECK_EQ(check, spe_spu_get_exception(&fixture.spu, &pe, x).state,
			     SPE_EXCEPTION_DISABLED);
		/*
		 * S is set by a direct write, or by a profiling operation that PSB CSYNC
		 * synchronizes.
		 */
		if (i & 2)
			spe_spu_write_at(&fixture.spu, SPE_REG_PMBSR, x, S);
		else
			spe_spu_inject_fault(&fixture.spu, spe_fault_make(0, SPE_PMBSR_BSC_FULL));
		if (!(i & 2))
			SPE_CHECK(check, fixture_sample(&op_load));
		SPE_CHECK(check, read_register_at_level(SPE_REG_PMBSR, x) & S);
		SPE_CHECK_EQ(check, spe_spu_get_exception(&fixture.spu, &pe, x).state,
			     SPE_EXCEPTION_TAKEN);
		spe_spu_write_at(&fixture.spu, SPE_REG_PMBSR, x, 0);
		SPE_CHECK_EQ(check, spe_spu_get_exception(&fixture.spu, &pe, x).state,
			     SPE_EXCEPTION_DISABLED);
	}
}

/*
 * RBPFPN, IXPWQC: test an asynchronous abort after an event, recorded in the same PMBSR_ELx and in
 * another.
 */
static void test_second_event(struct spe_check *check)
{
	u32 abort = spe_fault_make(SPE_PMBSR_EC_STAGE1, SPE_FSC_EXTERNAL_ASYNC);

	for (u8 pmsver = 3; pmsver <= 4; pmsver++)
		for (unsigned int tea = 0; tea < 2; tea++) {
			struct spe_controls c = { .ns = true, .e2pb = 3, .pmsee = 1, .tea = tea };
			struct spe_pe_state pe = { .owning = true, .el = 1 };
			u64 el1 = EC(0, 1), el2 = 0;

			if (!start_spu(check, pmsver, true, true, true))
				return;
			spe_spu_set_controls(&fixture.spu, &c, &no_timers);
			enable_both_owners(EE(3), EE(2));
			while (fixture_sample(&op_load))
				;
			SPE_CHECK_EQ(check, read_register_at_level(SPE_REG_PMBSR, 1), EC(0, 1));
			spe_spu_inject_fault(&fixture.spu, abort);
			/* ITCPLL: from SPEv1p3 on the abort is not reported. */
			if (pmsver < 4 && tea)
				el2 = EC(0x24, 0x11) | EA | DL;
			else if (pmsver < 4)
				el1 |= EA | DL;
			SPE_CHECK_EQ(check, read_register_at_level(SPE_REG_PMBSR, 1), el1);
			SPE_CHECK_EQ(check, read_register_at_level(SPE_REG_PMBSR, 2), el2);
			SPE_CHECK_EQ(check, read_register_at_level(SPE_REG_PMBSR, 3), 0);
			/*
			 * Both exceptions are pending. The exception of EL1 is masked because KE is
			 * 0; the exception of EL2 is not masked.
			 */
			SPE_CHECK_EQ(check, spe_spu_get_exception(&fixture.spu, &pe, 1).state,
				     SPE_EXCEPTION_MASKED);
			SPE_CHECK_EQ(check, spe_spu_get_exception(&fixture.spu, &pe, 2).state,
				     el2 ? SPE_EXCEPTION_TAKEN : SPE_EXCEPTION_DISABLED);
		}
}

/* D17.3.7: COLL is reported at the same Exception level as any other event. */
static void test_collision_of_owner(struct spe_check *check)
{
	for (unsigned int x = 1; x < 4; x++) {
		struct spe_controls c = { .ns = true, .e2pb = 3, .pmsee = x == 3 ? 3 : 1 };

		if (!start_spu(check, 2, true, true, true))
			return;
		spe_spu_set_controls(&fixture.spu, &c, &no_timers);
		enable_both_owners(EE(3), EE(x == 2 ? 3 : 2));
		SPE_CHECK(check,
			  spe_spu_count_operations(&fixture.spu,
						   spe_spu_operations_until_sample(&fixture.spu)));
		SPE_CHECK(check,
			  !spe_spu_count_operations(&fixture.spu,
						    spe_spu_operations_until_sample(&fixture.spu)));
		for (unsigned int y = 1; y < 4; y++)
			SPE_CHECK_EQ(check, read_register_at_level(SPE_REG_PMBSR, y),
				     y == x ? SPE_PMBSR_COLL : 0);
		/* COLL alone does not stop profiling. */
		spe_spu_sample_operation(&fixture.spu, &op_load);
		SPE_CHECK_EQ(check, fixture.spu.stats.written, 1);
	}
}

/*
 * Test a record under each of two owners: contexts, physical address, and the timestamp less its
 * offset.
 */
static void test_record_of_owner(struct spe_check *check)
{
	static const struct {
		u8 e2pb;
		u64 el1;
		u64 el2;
		u64 timestamp; /* expected timestamp; 0: an End packet */
		bool context1;
		bool context2;
		bool pa;
	} rows[] = {
		{ 3, 0x38, 0x18, 0x1122334455666688, true, true, true },
		{ 3, 0x38, 0x08, 0x1122334455666688, true, true, false },
		{ 3, 0x78, 0x50, 0x1122334455667788, true, false, true },
		{ 3, 0x78, 0x10, 0x1122334455666688, true, false, true },
		{ 3, 0xf8, 0x40, 0x1122334455667778, true, false, false },
		{ 3, 0x18, 0x38, 0, true, true, true },
		{ 0, 0x18, 0x20, 0x1122334455666688, true, false, false },
		{ 0, 0x00, 0x78, 0x1122334455667788, false, true, true },
		{ 0, 0x38, 0x00, 0, true, false, false },
	};
	struct spe_timers timers = {
		.cntvoff = 0x1100, .cntpoff = 0x10, .poff = true, .ecv = true, .ecven = true
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct spe_controls c = { .ns = true, .e2pb = rows[i].e2pb };
		struct spe_sample s = { 0 };

		if (!start_spu(check, 2, true, true, false))
			return;
		spe_spu_set_controls(&fixture.spu, &c, &timers);
		enable_both_owners(rows[i].el1, rows[i].el2);
		if (!SPE_CHECK(check, fixture_sample(&op_load)) ||
		    !SPE_CHECK(check, spe_record_decode(fixture.mem, 64, 64, &s) > 0))
			return;
		SPE_CHECK_EQ(check, i << 8 | ((s.present & SPE_HAS_CONTEXT(0)) ? 1U : 0U),
			     i << 8 | rows[i].context1);
		SPE_CHECK_EQ(check, i << 8 | ((s.present & SPE_HAS_CONTEXT(1)) ? 1U : 0U),
			     i << 8 | rows[i].context2);
		SPE_CHECK_EQ(check, i << 8 | ((s.present & SPE_HAS_ADDRESS(3)) ? 1U : 0U),
			     i << 8 | rows[i].pa);
		SPE_CHECK_EQ(check, ((s.present & SPE_HAS_TIMESTAMP) ? 1U : 0U),
			     rows[i].timestamp != 0);
		SPE_CHECK_EQ(check, s.timestamp, rows[i].timestamp);
	}
}

static struct spe_controls make_random_controls(u64 r)
{
	return (struct spe_controls){
		.ns = r & 1,
		.eel2 = r >> 1 & 1,
		.scr_gpf = r >> 2 & 1,
		.scr_ea = r >> 3 & 1,
		.pmsee = r >> 4 & 3,
		.e2pb = r >> 6 & 3,
		.hcr_gpf = r >> 8 & 1,
		.tea = r >> 9 & 1,
		.tge = r >> 10 & 1,
		.e2h = r >> 11 & 1,
	};
}

/* Check that each event with each target is recorded in one register and notified in one way. */
static void check_event_notification(struct spe_check *check, const struct spe_controls *c,
				     u32 fault)
{
	unsigned int x = spe_routing_target(c, spe_routing_classify(fault));
	struct spe_pe_state pe = { .owning = true };
	bool irq = x == 1 && spe_routing_irq_enabled(c);
	unsigned int pending = 0;

	for (unsigned int y = 1; y < 4; y++) {
		u64 pmbsr = read_register_at_level(SPE_REG_PMBSR, y);

		SPE_CHECK_EQ(check, (u64)y << 40 | ((pmbsr & S) ? 1U : 0U),
			     (u64)y << 40 | (y == x ? 1U : 0U));
		if (y != x)
			SPE_CHECK_EQ(check, pmbsr, 0);
		if (spe_spu_get_exception(&fixture.spu, &pe, y).state != SPE_EXCEPTION_DISABLED)
			pending++;
	}
	SPE_CHECK_EQ(check, read_register_at_level(SPE_REG_PMBSR, x) & (0x3fULL << 26 | 0xffff),
		     fault & (fault >> 26 == 0x1e ? 0x3fULL << 26 : 0x3fULL << 26 | 0xffff));
	SPE_CHECK_EQ(check, fixture.irq, irq);
	/* Exactly one of the two must occur, because EE is valid. */
	SPE_CHECK_EQ(check, pending + irq, 1);
}

/* Test random PEs, owners and events: only the register that RHJXHT selects changes. */
static void test_random_events(struct spe_check *check)
{
	static const u32 faults[] = { EC(0x24, 7), EC(0x25, 7),	   EC(0x24, 0x28), EC(0x25, 0x24),
				      EC(0x1e, 4), EC(0x24, 0x10), EC(0x25, 0x14), EC(0x1f, 3) };
	u64 seed = 0x5eed0007, heard[4] = { 0 };

	for (unsigned int i = 0; i < 5000 && !check->failures; i++) {
		u64 r = spe_check_random(&seed);
		struct spe_controls c = make_random_controls(r);
		struct spe_operation op = op_load;
		struct spe_sample s = { 0 };
		u32 fault = faults[r >> 20 & 7];
		bool el2;

		/* Use only valid values of EE: 0b00 and 0b11 for EL1; for EL2 0b01 is reserved. */
		if (!start_spu(check, 2, r >> 12 & 1, r >> 13 & 1, true) ||
		    !SPE_CHECK_EQ(check, spe_spu_set_controls(&fixture.spu, &c, &no_timers), 0))
			return;
		enable_both_owners((r >> 24 & 0xf8) | EE(r >> 14 & 1 ? 3 : 0),
				   (r >> 32 & 0xf8) | EE(r >> 16 & 3 ? r >> 16 & 3 : 0));
		c = fixture.spu.controls;
		el2 = c.el2 && (c.ns || c.eel2);
		op.el = r >> 40 & 1;
		if (!fixture_sample(&op)) {
			/*
			 * Sampling is only forbidden everywhere if TGE is 1 and EL1 owns the
			 * buffer.
			 */
			SPE_CHECK(check, el2 && c.tge && c.e2pb);
			continue;
		}
		if (!SPE_CHECK(check, spe_record_decode(fixture.mem, 64, 64, &s) > 0))
			return;
		SPE_CHECK(check, el2 || !(s.present & SPE_HAS_CONTEXT(1)));
		SPE_CHECK(check, !(s.present & SPE_HAS_CONTEXT(0)) || !(el2 && c.tge));
		/* EL2, if it is enabled, must permit physical addresses. */
		SPE_CHECK(check, !(s.present & SPE_HAS_ADDRESS(3)) || !el2 ||
					 read_register_at_level(SPE_REG_PMSCR, 2) & SPE_PMSCR_PA);
		spe_spu_inject_fault(&fixture.spu, fault & ~(u32)S);
		SPE_CHECK(check, fixture_sample(&op));
		SPE_CHECK(check, !fixture_sample(&op));
		check_event_notification(check, &c, fault & ~(u32)S);
		heard[spe_routing_target(&c, spe_routing_classify(fault & ~(u32)S))]++;
	}
	SPE_CHECK(check, heard[1] > 300 && heard[2] > 300 && heard[3] > 300);
}

static const struct spe_case cases[] = {
	{ "registers", test_registers_of_levels },
	{ "names", test_redirected_names },
	{ "names of a host", test_names_of_vhe_host },
	{ "controls refused", test_invalid_controls_are_refused },
	{ "events", test_events_of_levels },
	{ "interrupt follows", test_irq_follows_pmbsr },
	{ "exception is not late", test_exception_is_not_late },
	{ "second event", test_second_event },
	{ "collision", test_collision_of_owner },
	{ "record by owner", test_record_of_owner },
	{ "properties", test_random_events },
};

const struct spe_suite spe_suite_spu_levels = { "spu-levels", cases, ARRAY_SIZE(cases) };
