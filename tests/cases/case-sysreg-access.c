// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Test the effect of an MRS or MSR of an SPE register against the accessor descriptions as printed
 * (DDI 0487, D24.7), and against tables of D17.4 and D17.7.
 */
#include "model/sysreg-access.h"
#include "spu-fixture.h"
#include "suites.h"

/* The possible outcomes in the descriptions */
enum { UNDEF, EL2_TRAP, EL3_TRAP, MEMORY, REG };

/* The state on which the descriptions depend */
struct access_state {
	struct spe_controls c;
	struct spe_sysreg_traps t;
	struct spe_sysreg_features s;
	struct spe_sysreg_access a;
};

static bool el2_is_enabled(const struct access_state *w)
{
	return w->c.el2 && (w->c.ns || w->c.eel2);
}

static bool traps_by_nspb(const struct access_state *w)
{
	return !(w->t.nspb & 1) || (w->t.nspb >> 1 & 1) != (w->c.ns ? 1 : 0) ||
	       (w->s.rme && w->t.nspb >> 2 != (w->c.nse ? 1 : 0));
}

/* Implement EffectivePMSCR_EL2_EE() of the architecture. */
static u8 get_effective_ee(const struct access_state *w)
{
	if (!w->c.exc || (w->c.el3 && w->c.pmsee == 0))
		return 0;
	return el2_is_enabled(w) ? w->c.el2_ee : 1;
}

static bool el1_accesses_memory(const struct access_state *w)
{
	bool nv1x1 = w->t.nv == 5 || w->t.nv == 7;

	switch (w->a.reg) {
	case SPE_REG_PMSCR:
		return w->t.nv == 7;
	case SPE_REG_PMBSR:
		return nv1x1 && (get_effective_ee(w) == 0 || w->c.el1_ee == 0 || w->t.nv == 7);
	case SPE_REG_PMSFCR:
	case SPE_REG_PMSIDR:
	case SPE_REG_PMBIDR:
	case SPE_REG_PMSVER:
		return false;
	default:
		return nv1x1;
	}
}

/* Return the outcome of the _EL1 name at EL1, in the printed order of conditions. */
static int expect_el1_name_at_el1(const struct access_state *w)
{
	bool buffer = w->a.reg == SPE_REG_PMBLIMITR || w->a.reg == SPE_REG_PMBPTR ||
		      w->a.reg == SPE_REG_PMBSR;
	bool en = (w->a.reg == SPE_REG_PMSNEVFR && !w->t.en_pmsn) ||
		  (w->a.reg == SPE_REG_PMSDSFR && !w->t.en_pms3);
	u32 fgt = w->a.write ? w->t.fgt_write : w->t.fgt_read;

	if (w->a.reg == SPE_REG_PMSVER)
		return REG;
	if (w->a.reg == SPE_REG_PMBIDR)
		return el2_is_enabled(w) && fgt >> w->a.reg & 1 ? EL2_TRAP : REG;
	if (w->c.el3 && w->t.sdd && w->t.sdd_first && (traps_by_nspb(w) || en))
		return UNDEF;
	if (el2_is_enabled(w) && fgt >> w->a.reg & 1)
		return EL2_TRAP;
	if (el2_is_enabled(w) && !buffer && w->t.tpms)
		return EL2_TRAP;
	if (el2_is_enabled(w) && buffer && (w->c.e2pb == 0 || w->c.e2pb == 2))
		return EL2_TRAP;
	if (w->c.el3 && (traps_by_nspb(w) || en))
		return w->t.sdd ? UNDEF : EL3_TRAP;
	return el1_accesses_memory(w) ? MEMORY : REG;
}

static int expect_at_el1(const struct access_state *w)
{
	switch (w->a.suffix) {
	case SPE_SUFFIX_EL1:
		return expect_el1_name_at_el1(w);
	case SPE_SUFFIX_EL12:
		if (w->t.nv == 5)
			return MEMORY;
		return w->t.nv & 1 ? EL2_TRAP : UNDEF;
	case SPE_SUFFIX_EL2:
		return w->t.nv & 1 ? EL2_TRAP : UNDEF;
	default:
		return UNDEF;
	}
}

/* Return the outcome of an access at EL2: REG + x means PMxxx_ELx. */
static int expect_at_el2(const struct access_state *w)
{
	bool host = el2_is_enabled(w) && w->c.e2h;
	bool en = (w->a.reg == SPE_REG_PMSNEVFR && !w->t.en_pmsn) ||
		  (w->a.reg == SPE_REG_PMSDSFR && !w->t.en_pms3) ||
		  (w->a.reg == SPE_REG_PMBSR && w->a.suffix == SPE_SUFFIX_EL2 && !w->c.pmsee);

	if (w->a.suffix == SPE_SUFFIX_EL3 || (w->a.suffix == SPE_SUFFIX_EL12 && !host))
		return UNDEF;
	if (w->c.el3 && w->a.reg != SPE_REG_PMBIDR && w->a.reg != SPE_REG_PMSVER &&
	    (traps_by_nspb(w) || en))
		return w->t.sdd ? UNDEF : EL3_TRAP;
	if (w->a.suffix == SPE_SUFFIX_EL2)
		return REG + 2;
	if (w->a.suffix == SPE_SUFFIX_EL12)
		return REG + 1;
	if (w->a.reg == SPE_REG_PMSCR && host)
		return REG + 2;
	if (w->a.reg == SPE_REG_PMBSR && host && get_effective_ee(w) != 0)
		return REG + 2;
	return REG + 1;
}

static int expect_outcome(const struct access_state *w)
{
	bool two = w->a.suffix == SPE_SUFFIX_EL2 || w->a.suffix == SPE_SUFFIX_EL12;
	bool id = w->a.reg == SPE_REG_PMSIDR || w->a.reg == SPE_REG_PMBIDR ||
		  w->a.reg == SPE_REG_PMSVER;

	if (two && w->a.reg != SPE_REG_PMSCR && !(w->a.reg == SPE_REG_PMBSR && w->c.exc))
		return UNDEF;
	if (w->a.suffix == SPE_SUFFIX_EL3 && !(w->a.reg == SPE_REG_PMBSR && w->c.exc && w->c.el3))
		return UNDEF;
	if ((id && w->a.write) || (w->a.reg == SPE_REG_PMSNEVFR && !w->s.fne) ||
	    (w->a.reg == SPE_REG_PMSDSFR && !w->s.fds) || w->a.el == 0)
		return UNDEF;
	if (w->a.el == 1) {
		int how = expect_at_el1(w);

		return how == REG ? REG + 1 : how;
	}
	if (w->a.el == 2)
		return expect_at_el2(w);
	switch (w->a.suffix) {
	case SPE_SUFFIX_EL12:
		return el2_is_enabled(w) && w->c.e2h ? REG + 1 : UNDEF;
	case SPE_SUFFIX_EL2:
		return REG + 2;
	case SPE_SUFFIX_EL3:
		return REG + 3;
	default:
		return REG + 1;
	}
}

static int resolve_outcome(const struct access_state *w)
{
	struct spe_sysreg_result reach = spe_sysreg_access_resolve(&w->c, &w->t, &w->s, &w->a);

	switch (reach.how) {
	case SPE_SYSREG_TRAP_EL2:
		return EL2_TRAP;
	case SPE_SYSREG_TRAP_EL3:
		return EL3_TRAP;
	case SPE_SYSREG_MEMORY:
		return MEMORY;
	case SPE_SYSREG_REGISTER:
		return REG + reach.x;
	default:
		return UNDEF;
	}
}

static struct access_state make_random_state(u64 *seed)
{
	u64 r = spe_check_random(seed), q = spe_check_random(seed);
	/*
	 * Controls often get the value that permits an access; otherwise most accesses would trap.
	 */
	struct access_state w = {
		.c = {
			.exc = r & 1, .el2 = r >> 1 & 3, .el3 = r >> 3 & 1, .ns = r >> 4 & 1,
			.nse = r >> 5 & 1, .eel2 = r >> 6 & 1, .pmsee = r >> 7 & 3,
			.e2pb = r >> 9 & 3, .e2h = r >> 11 & 1, .el2_ee = r >> 12 & 3,
			.el1_ee = r >> 14 & 3,
		},
		.t = {
			.fgt_read = r >> 16 & 1 ? (u32)q & 0x3fff : 0,
			.fgt_write = r >> 17 & 1 ? (u32)(q >> 14) & 0x3fff : 0,
			.nspb = r >> 18 & 7, .nv = r >> 21 & 1 ? r >> 22 & 7 : 0,
			.tpms = (r >> 25 & 3) == 0, .en_pmsn = r >> 27 & 1,
			.en_pms3 = r >> 28 & 1, .sdd = (r >> 29 & 3) == 0,
			.sdd_first = r >> 31 & 1,
		},
		.s = { .fne = r >> 32 & 3, .fds = r >> 34 & 3, .rme = r >> 36 & 1 },
		.a = {
			.reg = (u8)((r >> 40 & 0xff) % SPE_REG_COUNT),
			.suffix = (u8)(q >> 40 & 3), .el = q >> 44 & 3, .write = q >> 48 & 1,
		},
	};

	/* Half of the accesses use the usual name of a register. */
	if (q >> 49 & 1)
		w.a.suffix = SPE_SUFFIX_EL1;
	if (q >> 50 & 1)
		w.t.nspb = (u8)(1 | (w.c.ns ? 2 : 0) | (w.c.nse ? 4 : 0));
	return w;
}

/* Test 100,000 accesses, each in a random state: the outcome is that of the printed conditions. */
static void test_random_accesses(struct spe_check *check)
{
	unsigned int seen[REG + 4] = { 0 };
	u64 seed = 0x5eed0011;

	for (u64 i = 0; i < 100000 && !check->failures; i++) {
		const struct access_state w = make_random_state(&seed);

		SPE_CHECK_EQ(check, i << 8 | (u64)resolve_outcome(&w),
			     i << 8 | (u64)expect_outcome(&w));
		seen[expect_outcome(&w)]++;
	}
	for (int how = 0; how < REG + 4; how++)
		SPE_CHECK(check, how == REG || seen[how] > 20);
}

/* Test a register, a name, and an Exception level that do not exist. */
static void test_registers_out_of_range(struct spe_check *check)
{
	static const struct spe_sysreg_access none[] = {
		{ .reg = SPE_REG_COUNT, .el = 3 },
		{ .reg = 255, .el = 2 },
		{ .suffix = SPE_SUFFIXES, .el = 3 },
		{ .el = 0 },
		{ .el = 4 },
	};
	const struct spe_controls c = { .el2 = true, .el3 = true, .ns = true, .exc = true };
	const struct spe_sysreg_traps t = { .nspb = 3 };
	const struct spe_sysreg_features s = { .fne = true, .fds = true };

	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		struct spe_sysreg_result reach = spe_sysreg_access_resolve(&c, &t, &s, &none[i]);

		SPE_CHECK(check, reach.how == SPE_SYSREG_UNDEFINED && !reach.x && !reach.offset);
	}
}

/* Test the offsets in the memory of VNCR_EL2, and registers that have none. */
static void test_vncr_offsets(struct spe_check *check)
{
	static const u16 offsets[SPE_REG_COUNT] = {
		[SPE_REG_PMBLIMITR] = 0x800, [SPE_REG_PMBPTR] = 0x810,	 [SPE_REG_PMBSR] = 0x820,
		[SPE_REG_PMSCR] = 0x828,     [SPE_REG_PMSEVFR] = 0x830,	 [SPE_REG_PMSICR] = 0x838,
		[SPE_REG_PMSIRR] = 0x840,    [SPE_REG_PMSLATFR] = 0x848, [SPE_REG_PMSNEVFR] = 0x850,
		[SPE_REG_PMSDSFR] = 0x858,
	};
	const struct spe_controls c = { .el2 = true, .ns = true, .e2pb = 3 };
	const struct spe_sysreg_traps t = { .nv = 7 };
	const struct spe_sysreg_features s = { .fne = true, .fds = true };

	for (u8 reg = 0; reg < SPE_REG_COUNT; reg++) {
		const struct spe_sysreg_access access = { .reg = reg, .el = 1 };
		struct spe_sysreg_result reach = spe_sysreg_access_resolve(&c, &t, &s, &access);

		SPE_CHECK_EQ(check, (u64)reg << 16 | reach.offset, (u64)reg << 16 | offsets[reg]);
		SPE_CHECK_EQ(check, reach.how,
			     offsets[reg] ? SPE_SYSREG_MEMORY : SPE_SYSREG_REGISTER);
	}
}

/* PMBIDR_EL1.P is 1 if a higher Exception level or another Security state owns the buffer. */
static void test_pmbidr_p(struct spe_check *check)
{
	static const struct {
		struct spe_controls c;
		bool p[4]; /* expected P by Exception level; EL0 cannot read it */
	} rows[] = {
		{ { .ns = true, .e2pb = 3 }, { 0 } },
		{ { .el2 = true, .ns = true, .e2pb = 3 }, { 0 } },
		{ { .el2 = true, .ns = true }, { [1] = true } },
		/* Without Secure EL2, Secure EL1 owns the buffer. */
		{ { .el2 = true }, { 0 } },
		{ { .el2 = true, .eel2 = true }, { [1] = true } },
		/*
		 * Another Security state owns the buffer, whatever Exception level owns it there.
		 */
		{ { .el2 = true, .ns = true, .e2pb = 3, .owner = SPE_STATE_SECURE },
		  { [1] = true, [2] = true } },
		{ { .el2 = true, .ns = true, .e2pb = 3, .owner = SPE_STATE_REALM },
		  { [1] = true, [2] = true } },
		{ { .el2 = true, .ns = true, .e2pb = 3, .owner = SPE_STATE_NONSECURE }, { 0 } },
		{ { .el2 = true, .ns = true, .nse = true, .e2pb = 3, .owner = SPE_STATE_REALM },
		  { 0 } },
		{ { .el2 = true, .ns = true, .nse = true, .owner = SPE_STATE_REALM },
		  { [1] = true } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (unsigned int el = 1; el < 4; el++)
			SPE_CHECK_EQ(check, i << 8 | el << 4 | spe_sysreg_pmbidr_p(&rows[i].c, el),
				     i << 8 | el << 4 | rows[i].p[el]);
}

/* Test the owning Security state by MDCR_EL3.{NSPBE, NSPB} (D17.7.5). */
static void test_buffer_owners(struct spe_check *check)
{
	static const u8 states[] = { SPE_STATE_SECURE,	  SPE_STATE_SECURE, SPE_STATE_NONSECURE,
				     SPE_STATE_NONSECURE, SPE_STATE_SECURE, SPE_STATE_SECURE,
				     SPE_STATE_REALM,	  SPE_STATE_REALM };
	const struct spe_controls with = { .el3 = true }, without = { .el3 = false };

	for (u8 nspb = 0; nspb < 8; nspb++) {
		SPE_CHECK_EQ(check, spe_sysreg_buffer_owner(&with, nspb), states[nspb]);
		SPE_CHECK_EQ(check, spe_sysreg_buffer_owner(&without, nspb), SPE_STATE_CURRENT);
	}
}

/*
 * Table D17-1 (D17.4). Columns: NSE, NS, the owning state by NSPBE and NSPB, E2PB, EEL2, TGE; then
 * whether EL2, EL1 and EL0 are sampled, and by which enable bit. x is a don't-care. A blank cell of
 * the printed table has the value of the cell above it. Reserved NSPBE and NSPB ("1, 0b0x") are
 * left out, because they select no owner.
 */
static const struct {
	const char *in; /* NSE NS owner(S, N, R) E2PB[1] EEL2 TGE */
	const char
		*out; /* EL2, EL1, EL0: D, 2 (E2SPE), 1 (E1SPE), 0 (E0SPE), H (E0HSPE), - (n/a) */
} by_state[] = {
	{ "01N1x0", "D10" }, { "01N1x1", "D-D" }, { "01N0x0", "210" }, { "01N0x1", "2-H" },
	{ "01Sxxx", "DDD" }, { "01Rxxx", "DDD" }, { "00Nxxx", "DDD" }, { "00Rxxx", "DDD" },
	{ "00Sx0x", "-10" }, { "00S110", "D10" }, { "00S111", "D-D" }, { "00S010", "210" },
	{ "00S011", "2-H" }, { "11Nxxx", "DDD" }, { "11Sxxx", "DDD" }, { "11R1x0", "D10" },
	{ "11R1x1", "D-D" }, { "11R0x0", "210" }, { "11R0x1", "2-H" },
};

static bool row_matches(const char *cells, const char *values)
{
	for (; *cells; cells++, values++)
		if (*cells != 'x' && *cells != *values)
			return false;
	return true;
}

static bool cell_is_enabled(char cell, u64 pmscr_el1, u64 pmscr_el2)
{
	switch (cell) {
	case '2':
		return pmscr_el2 & 2;
	case '1':
		return pmscr_el1 & 2;
	case '0':
		return pmscr_el1 & 1;
	case 'H':
		return pmscr_el2 & 1;
	default:
		return false;
	}
}

static void check_row(struct spe_check *check, const struct spe_controls *c, const char *out,
		      u64 enables)
{
	const struct spe_timers timers = { 0 };
	u64 pmscr_el1 = enables & 3, pmscr_el2 = enables >> 2;

	for (unsigned int el = 0; el < 3; el++) {
		char cell = out[2 - el];

		if (cell != '-')
			SPE_CHECK_EQ(
				check,
				enables << 8 | el << 4 |
					spe_collection_for_el(c, &timers, pmscr_el1, pmscr_el2, el)
						.sampled,
				enables << 8 | el << 4 |
					cell_is_enabled(cell, pmscr_el1, pmscr_el2));
	}
}

static void test_table_d17_1(struct spe_check *check)
{
	static const u8 owner[] = { SPE_STATE_SECURE, SPE_STATE_NONSECURE, SPE_STATE_REALM };
	unsigned int met = 0;

	for (unsigned int i = 0; i < 3 * 96; i++) {
		unsigned int state = i % 3, own = i / 3 % 3, rest = i / 9;
		const char values[] = { "001"[state],
					"011"[state],
					"SNR"[own],
					rest & 1 ? '1' : '0',
					rest & 2 ? '1' : '0',
					rest & 4 ? '1' : '0',
					0 };
		const struct spe_controls c = {
			.el2 = true,
			.el3 = true,
			.nse = state == 2,
			.ns = state > 0,
			.owner = owner[own],
			.e2pb = rest & 1 ? 2 | (rest & 8 ? 1 : 0) : 0,
			.eel2 = rest & 2,
			.tge = rest & 4,
		};
		unsigned int rows = 0;

		for (size_t row = 0; row < ARRAY_SIZE(by_state); row++) {
			if (!row_matches(by_state[row].in, values))
				continue;
			rows++;
			for (u64 enables = 0; enables < 16; enables++)
				check_row(check, &c, by_state[row].out, enables);
		}
		SPE_CHECK_EQ(check, rows, 1);
		met += rows;
	}
	SPE_CHECK_EQ(check, met, 3 * 96);
}

/*
 * Table D17-2 (D17.4). Columns: PMBSR_EL1.S, PMSEE, PMBSR_EL3.S, PMSCR_EL2.EE, PMBSR_EL2.S. The
 * last column is True if, by RTWFRY and SPEProfilingStopped(), profiling is not stopped.
 */
static void test_table_d17_2(struct spe_check *check)
{
	static const struct {
		const char *in; /* S1, PMSEE[1:0], S3, EE[1:0], S2 */
		bool stopped;
	} rows[] = {
		{ "000xxxx", false }, { "001x0xx", false }, { "001x1x0", false },
		{ "001x1x1", true },  { "01x00xx", false }, { "01x01x0", false },
		{ "01x01x1", true },  { "01x1xxx", true },  { "1xxxxxx", true },
	};

	for (unsigned int i = 0; i < 128; i++) {
		const struct spe_controls c = { .ns = true, .e2pb = 3, .pmsee = i >> 4 & 3 };
		const struct spe_timers timers = { 0 };
		struct spe_spu_config config;
		char values[8] = { 0 };
		unsigned int met = 0;

		for (unsigned int bit = 0; bit < 7; bit++)
			values[bit] = i >> (6 - bit) & 1 ? '1' : '0';
		spe_spu_config_default(&config);
		config.el2 = config.el3 = config.exc = true;
		if (!fixture_init(check, &config))
			return;
		SPE_CHECK_EQ(check, spe_spu_set_controls(&fixture.spu, &c, &timers), 0);
		spe_spu_write_at(&fixture.spu, SPE_REG_PMSCR, 2, (u64)(i >> 1 & 3) << 8);
		fixture_arm(4096);
		spe_spu_write_at(&fixture.spu, SPE_REG_PMBSR, 1, i >> 6 & 1 ? SPE_PMBSR_S : 0);
		spe_spu_write_at(&fixture.spu, SPE_REG_PMBSR, 2, i & 1 ? SPE_PMBSR_S : 0);
		spe_spu_write_at(&fixture.spu, SPE_REG_PMBSR, 3, i >> 3 & 1 ? SPE_PMBSR_S : 0);
		for (size_t row = 0; row < ARRAY_SIZE(rows); row++) {
			if (!row_matches(rows[row].in, values))
				continue;
			met++;
			SPE_CHECK_EQ(check,
				     i << 8 |
					     (spe_spu_profiling_enabled(&fixture.spu, 0) ? 0U : 1U),
				     i << 8 | rows[row].stopped);
		}
		SPE_CHECK_EQ(check, met, 1);
	}
}

/* Test an SPU through its accessors: redirection, PMBIDR.P, and traps. */
static void test_spu_accesses(struct spe_check *check)
{
	const struct spe_sysreg_traps open = { .nspb = 3, .en_pmsn = true, .en_pms3 = true };
	const struct spe_sysreg_traps tpms = { .nspb = 3, .tpms = true };
	struct spe_controls c = { .ns = true, .e2h = true };
	const struct spe_timers timers = { 0 };
	struct spe_sysreg_access access = { .reg = SPE_REG_PMSCR, .el = 2, .write = true };
	struct spe_spu_config config;
	u64 value = 3;

	spe_spu_config_default(&config);
	config.el2 = config.el3 = true;
	if (!fixture_init(check, &config))
		return;
	SPE_CHECK_EQ(check, spe_spu_set_controls(&fixture.spu, &c, &timers), 0);
	SPE_CHECK_EQ(check, spe_spu_access_sysreg(&fixture.spu, &open, &access, &value).x, 2);
	SPE_CHECK_EQ(check, spe_spu_read_at(&fixture.spu, SPE_REG_PMSCR, 2), 3);
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMSCR), 0);
	access.suffix = SPE_SUFFIX_EL12;
	value = 1;
	SPE_CHECK_EQ(check, spe_spu_access_sysreg(&fixture.spu, &open, &access, &value).x, 1);
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMSCR), 1);

	access = (struct spe_sysreg_access){ .reg = SPE_REG_PMBIDR, .el = 1 };
	SPE_CHECK_EQ(check, spe_spu_access_sysreg(&fixture.spu, &tpms, &access, &value).how,
		     SPE_SYSREG_REGISTER);
	SPE_CHECK_EQ(check, value, 0x16);
	access.el = 2;
	spe_spu_access_sysreg(&fixture.spu, &tpms, &access, &value);
	SPE_CHECK_EQ(check, value, 0x6);

	access = (struct spe_sysreg_access){ .reg = SPE_REG_PMSIRR, .el = 1, .write = true };
	value = 0x300;
	SPE_CHECK_EQ(check, spe_spu_access_sysreg(&fixture.spu, &tpms, &access, &value).how,
		     SPE_SYSREG_TRAP_EL2);
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMSIRR), 0);
	access.reg = SPE_REG_PMSNEVFR;
	SPE_CHECK_EQ(check, spe_spu_access_sysreg(&fixture.spu, &open, &access, &value).how,
		     SPE_SYSREG_UNDEFINED);
}

static const struct spe_case cases[] = {
	{ "accessors", test_random_accesses },
	{ "nowhere", test_registers_out_of_range },
	{ "memory", test_vncr_offsets },
	{ "PMBIDR.P", test_pmbidr_p },
	{ "owning Security state", test_buffer_owners },
	{ "enables by state", test_table_d17_1 },
	{ "profiling stopped", test_table_d17_2 },
	{ "through the SPU", test_spu_accesses },
};

const struct spe_suite spe_suite_sysreg_access = { "sysreg-access", cases, ARRAY_SIZE(cases) };
