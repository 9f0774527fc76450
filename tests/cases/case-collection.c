// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Test which data may be recorded at which Exception level (D17.6.9), and table D17-3 with its
 * don't-cares expanded.
 */
#include "model/collection.h"
#include "suites.h"

#define CX     SPE_PMSCR_CX
#define PA     SPE_PMSCR_PA
#define TS     SPE_PMSCR_TS
#define PCT(v) SPE_FIELD_PREP(SPE_PMSCR_PCT, v)

/*
 * Table D17-3. Columns: EL2 enabled ('x', 'T', 'F'); owning Exception level; PMSCR_EL2.PCT and TS;
 * PMSCR_EL1.PCT and TS; the timestamp: None, Virtual (less the virtual offset), Physical, or O
 * (physical less the physical offset). A blank cell of the printed table belongs to the merged cell
 * above it and takes its value. Blank cells of the second row have no such cell and are
 * don't-cares.
 */
static const struct {
	char el2;
	u8 owner;
	const char *pct2;
	char ts2;
	const char *pct1;
	char ts1;
	char time;
} d17_3[] = {
	{ 'x', 1, "xx", 'x', "xx", '0', 'N' }, { 'x', 1, "xx", 'x', "00", '1', 'V' },
	{ 'F', 1, "xx", 'x', "01", '1', 'P' }, { 'F', 1, "xx", 'x', "11", '1', 'O' },
	{ 'T', 1, "00", 'x', "xx", '1', 'V' }, { 'T', 1, "01", 'x', "01", '1', 'P' },
	{ 'T', 1, "01", 'x', "11", '1', 'O' }, { 'T', 1, "11", 'x', "01", '1', 'O' },
	{ 'T', 1, "11", 'x', "11", '1', 'O' }, { 'T', 2, "xx", '0', "xx", 'x', 'N' },
	{ 'T', 2, "00", '1', "xx", 'x', 'V' }, { 'T', 2, "01", '1', "xx", 'x', 'P' },
	{ 'T', 2, "11", '1', "xx", 'x', 'O' },
};

static bool bit_fits_cell(char cell, u8 bit)
{
	return cell == 'x' || cell - '0' == bit;
}

static bool pct_fits_cell(const char *cell, u8 pct)
{
	return bit_fits_cell(cell[0], pct >> 1) && bit_fits_cell(cell[1], pct & 1);
}

/*
 * Return the expected timestamp; the bits of @i are: EL2 enabled, owner, both PCT and TS. 0: the
 * table has no such row.
 */
static char find_expected_time(struct spe_check *check, unsigned int i, u32 *used)
{
	char found = 0;

	for (size_t row = 0; row < ARRAY_SIZE(d17_3); row++) {
		if ((d17_3[row].el2 != 'x' && (d17_3[row].el2 == 'T') != (i & 1)) ||
		    d17_3[row].owner != 1 + (i >> 1 & 1) ||
		    !pct_fits_cell(d17_3[row].pct2, i >> 2 & 3) ||
		    !bit_fits_cell(d17_3[row].ts2, i >> 4 & 1) ||
		    !pct_fits_cell(d17_3[row].pct1, i >> 5 & 3) ||
		    !bit_fits_cell(d17_3[row].ts1, i >> 7 & 1))
			continue;
		SPE_CHECK(check, !found || found == d17_3[row].time);
		found = d17_3[row].time;
		*used |= 1U << row;
	}
	return found;
}

static void test_table_d17_3(struct spe_check *check)
{
	static const char name[] = {
		[SPE_COLLECTION_TIME_NONE] = 'N',
		[SPE_COLLECTION_TIME_VIRTUAL] = 'V',
		[SPE_COLLECTION_TIME_PHYSICAL] = 'P',
		[SPE_COLLECTION_TIME_OFFSET] = 'O',
	};
	struct spe_timers timers = { 0 };
	u32 used = 0;

	for (unsigned int i = 0; i < 256; i++) {
		struct spe_controls c = { .el2 = true, .ns = i & 1, .e2pb = i & 2 ? 0 : 3 };
		u64 el2 = PCT(i >> 2 & 3) | (i >> 4 & 1 ? TS : 0);
		u64 el1 = PCT(i >> 5 & 3) | (i >> 7 & 1 ? TS : 0);
		char expected = find_expected_time(check, i, &used);
		struct spe_collection collect = spe_collection_for_el(&c, &timers, el1, el2, 0);

		/*
		 * The table has no row for the reserved PCT 0b10, or for EL2 as owner where it is
		 * disabled.
		 */
		if (!expected) {
			SPE_CHECK(check, (i >> 2 & 3) == 2 || (i >> 5 & 3) == 2 || (i & 3) == 2);
			continue;
		}
		SPE_CHECK_EQ(check, i << 8 | name[collect.time], i << 8 | expected);
	}
	SPE_CHECK_EQ(check, used, (1U << ARRAY_SIZE(d17_3)) - 1);
}

/*
 * Test that the reserved PCT behaves like the value that reveals the least, and that EL2 does not
 * own the buffer while it is disabled.
 */
static void test_time_beyond_table(struct spe_check *check)
{
	struct spe_controls c = { .el2 = true, .ns = true, .e2pb = 0 };
	struct spe_timers timers = { 0 };

	SPE_CHECK_EQ(check, spe_collection_for_el(&c, &timers, 0, TS | PCT(2), 0).time,
		     SPE_COLLECTION_TIME_VIRTUAL);
	SPE_CHECK_EQ(check, spe_collection_owner(&c), 2);
	c.ns = false;
	SPE_CHECK_EQ(check, spe_collection_owner(&c), 1);
	SPE_CHECK_EQ(check, spe_collection_for_el(&c, &timers, TS | PCT(1), 0, 0).time,
		     SPE_COLLECTION_TIME_PHYSICAL);
	c.eel2 = true;
	SPE_CHECK_EQ(check, spe_collection_owner(&c), 2);
	c.e2pb = 3;
	SPE_CHECK_EQ(check, spe_collection_owner(&c), 1);
	c.e2pb = 2;
	SPE_CHECK_EQ(check, spe_collection_owner(&c), 1);
}

/* Test when the offsets of table D17-3 are zero. */
static void test_timestamp_offsets(struct spe_check *check)
{
	static const struct {
		struct spe_controls c;
		struct spe_timers t;
		u8 pct;
		u8 el;
		u64 offset;
	} rows[] = {
#define T .cntvoff = 0x1000, .cntpoff = 0x77
		/* virtual count */
		{ { .ns = true, .e2pb = 3 }, { T }, 0, 0, 0 },
		{ { .el2 = true, .ns = true, .e2pb = 3 }, { T }, 0, 0, 0x1000 },
		{ { .el2 = true, .ns = true, .e2pb = 3 }, { T }, 0, 1, 0x1000 },
		{ { .el2 = true, .ns = true }, { T }, 0, 2, 0x1000 },
		{ { .el2 = true, .ns = true, .e2h = true }, { T }, 0, 2, 0 },
		{ { .el2 = true, .ns = true, .e2h = true }, { T }, 0, 0, 0x1000 },
		{ { .el2 = true, .ns = true, .e2h = true }, { T }, 0, 1, 0x1000 },
		{ { .el2 = true, .ns = true, .tge = true }, { T }, 0, 0, 0x1000 },
		{ { .el2 = true, .ns = true, .e2h = true, .tge = true }, { T }, 0, 0, 0 },
		{ { .el2 = true, .e2h = true, .tge = true }, { T }, 0, 0, 0x1000 },
		/* physical count */
		{ { .el2 = true, .ns = true }, { T, .poff = true, .ecv = true }, 1, 0, 0 },
		/* physical count less the physical offset */
		{ { .el2 = true, .ns = true }, { T, .poff = true, .ecv = true }, 3, 0, 0x77 },
		{ { .el2 = true, .ns = true }, { T, .ecv = true }, 3, 0, 0 },
		{ { .el2 = true, .ns = true }, { T, .poff = true }, 3, 0, 0 },
		{ { .ns = true }, { T, .poff = true, .ecv = true }, 3, 0, 0 },
		{ { .el2 = true, .el3 = true, .ns = true },
		  { T, .poff = true, .ecv = true },
		  3,
		  0,
		  0 },
		{ { .el2 = true, .el3 = true, .ns = true },
		  { T, .poff = true, .ecv = true, .ecven = true },
		  3,
		  0,
		  0x77 },
#undef T
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		u64 pmscr = TS | PCT(rows[i].pct);
		struct spe_collection collect =
			spe_collection_for_el(&rows[i].c, &rows[i].t, pmscr, pmscr, rows[i].el);

		SPE_CHECK_EQ(check, i << 32 | collect.offset, i << 32 | rows[i].offset);
	}
}

/* D17.6.9: test when CONTEXTIDR_EL1, CONTEXTIDR_EL2 and physical addresses are recorded. */
static void test_contexts_and_addresses(struct spe_check *check)
{
	static const struct {
		struct spe_controls c;
		u64 el1;
		u64 el2;
		u8 el;
		bool context1;
		bool context2;
		bool pa;
	} rows[] = {
		/* Without EL2, EL1 alone decides. CONTEXTIDR_EL2 is never recorded. */
		{ { .ns = true, .e2pb = 3 }, CX | PA, 0, 0, true, false, true },
		{ { .ns = true, .e2pb = 3 }, CX | PA, 0, 1, true, false, true },
		{ { .ns = true, .e2pb = 3 }, CX | PA, 0, 2, false, false, true },
		{ { .ns = true, .e2pb = 3 }, 0, CX | PA, 1, false, false, false },
		/*
		 * If EL2 is disabled in this Security state, sampling is controlled as if EL2 were
		 * absent, whatever TGE is.
		 */
		{ { .el2 = true, .e2pb = 3, .tge = true }, CX | PA, CX, 0, true, false, true },
		/* EL2 is enabled and EL1 owns the buffer: both must permit a physical address. */
		{ { .el2 = true, .ns = true, .e2pb = 3 }, CX | PA, 0, 1, true, false, false },
		{ { .el2 = true, .ns = true, .e2pb = 3 }, CX | PA, CX, 1, true, true, false },
		{ { .el2 = true, .ns = true, .e2pb = 3 }, CX | PA, PA, 1, true, false, true },
		{ { .el2 = true, .ns = true, .e2pb = 3 }, 0, CX | PA, 0, false, true, false },
		{ { .el2 = true, .ns = true, .e2pb = 3, .tge = true },
		  CX,
		  CX,
		  0,
		  false,
		  true,
		  false },
		/* EL2 owns the buffer: only PMSCR_EL2.PA applies. */
		{ { .el2 = true, .ns = true }, CX, CX | PA, 0, true, true, true },
		{ { .el2 = true, .ns = true }, CX | PA, CX, 2, false, true, false },
		{ { .el2 = true, .eel2 = true }, 0, CX | PA, 2, false, true, true },
	};
	struct spe_timers timers = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct spe_collection collect = spe_collection_for_el(
			&rows[i].c, &timers, rows[i].el1, rows[i].el2, rows[i].el);

		SPE_CHECK_EQ(check, i << 8 | collect.context1, i << 8 | rows[i].context1);
		SPE_CHECK_EQ(check, i << 8 | collect.context2, i << 8 | rows[i].context2);
		SPE_CHECK_EQ(check, i << 8 | collect.pa, i << 8 | rows[i].pa);
	}
}

/* Test StatisticalProfilingEnabled(): by owner, TGE, and the enable bit of the Exception level. */
static void test_sampled_levels(struct spe_check *check)
{
	static const struct {
		struct spe_controls c;
		u8 el1; /* E1SPE, E0SPE */
		u8 el2; /* E2SPE, E0HSPE */
		bool at[3];
	} rows[] = {
		{ { .ns = true, .e2pb = 3 }, 3, 0, { true, true, false } },
		{ { .ns = true, .e2pb = 3 }, 1, 3, { true, false, false } },
		{ { .ns = true, .e2pb = 3 }, 2, 3, { false, true, false } },
		/* An Exception level above the owner is never sampled. */
		{ { .el2 = true, .ns = true, .e2pb = 3 }, 3, 3, { true, true, false } },
		{ { .el2 = true, .ns = true }, 3, 2, { true, true, true } },
		{ { .el2 = true, .ns = true }, 3, 1, { true, true, false } },
		{ { .el2 = true, .ns = true }, 0, 3, { false, false, true } },
		/* With TGE, EL0 belongs to EL2, EL1 is not used, and EL1 cannot own the buffer. */
		{ { .el2 = true, .ns = true, .tge = true }, 3, 2, { false, false, true } },
		{ { .el2 = true, .ns = true, .tge = true }, 0, 1, { true, false, false } },
		{ { .el2 = true, .ns = true, .tge = true, .e2pb = 3 },
		  3,
		  3,
		  { false, false, false } },
		/* Secure state without Secure EL2 */
		{ { .el2 = true, .tge = true }, 3, 3, { true, true, false } },
	};
	struct spe_timers timers = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (unsigned int el = 0; el < 3; el++)
			SPE_CHECK_EQ(check,
				     i << 16 | el << 8 |
					     spe_collection_for_el(&rows[i].c, &timers, rows[i].el1,
								   rows[i].el2, el)
						     .sampled,
				     i << 16 | el << 8 | rows[i].at[el]);
}

static const struct spe_case cases[] = {
	{ "table D17-3", test_table_d17_3 },
	{ "timestamps beyond table D17-3", test_time_beyond_table },
	{ "offsets", test_timestamp_offsets },
	{ "contexts and physical addresses", test_contexts_and_addresses },
	{ "sampled Exception levels", test_sampled_levels },
};

const struct spe_suite spe_suite_collection = { "collection", cases, ARRAY_SIZE(cases) };
