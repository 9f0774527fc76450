// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Test event routing: every row of tables D17-5 to D17-10 (event-routing-tables.h) with its
 * don't-cares expanded, then rules that the tables do not contain.
 */
#include "codec/registers.h"
#include "model/event-routing.h"
#include "event-routing-tables.h"
#include "suites.h"

/* Columns of the left side of a table; set_controls() sets the controls to their values. */
enum control_field {
	F_PMSEE,
	F_SCR_GPF,
	F_SCR_EA,
	F_EL2_EE,
	F_EL2_KE,
	F_E2PB,
	F_HCR_GPF,
	F_TEA,
	F_TGE,
	F_EL1_EE,
	F_EL1_KE,
	F_PM,
	FIELDS,
};

static const u8 widths[FIELDS] = {
	[F_PMSEE] = 2,	[F_SCR_GPF] = 1, [F_SCR_EA] = 1,  [F_EL2_EE] = 2,
	[F_EL2_KE] = 1, [F_E2PB] = 2,	 [F_HCR_GPF] = 1, [F_TEA] = 1,
	[F_TGE] = 1,	[F_EL1_EE] = 2,	 [F_EL1_KE] = 1,  [F_PM] = 1,
};

struct routing_table {
	const struct routing_table_row *rows;
	size_t count;
	u8 fields;
	u8 field[6];
};

#define TABLE(rows, ...)                                               \
	{                                                              \
		rows, ARRAY_SIZE(rows), sizeof((u8[]){ __VA_ARGS__ }), \
		{                                                      \
			__VA_ARGS__                                    \
		}                                                      \
	}

static const struct routing_table d17_5 =
	TABLE(report_d17_5, F_PMSEE, F_SCR_GPF, F_EL2_EE, F_E2PB, F_HCR_GPF);
static const struct routing_table d17_6 =
	TABLE(report_d17_6, F_PMSEE, F_SCR_EA, F_EL2_EE, F_E2PB, F_TEA);
static const struct routing_table d17_7 = TABLE(report_d17_7, F_PMSEE, F_EL2_EE, F_E2PB);
static const struct routing_table d17_8 =
	TABLE(report_d17_8, F_PMSEE, F_EL2_EE, F_TGE, F_EL1_EE, F_EL1_KE, F_PM);
static const struct routing_table d17_9 =
	TABLE(report_d17_9, F_PMSEE, F_EL2_EE, F_EL2_KE, F_TGE, F_PM);
static const struct routing_table d17_10 = TABLE(report_d17_10, F_PMSEE, F_TGE);

/* Find the row that fits the values; NULL for reserved values that no row has (E2PB 0b01). */
static const struct routing_table_row *
find_row(struct spe_check *check, const struct routing_table *table, const u8 value[FIELDS])
{
	const struct routing_table_row *found = NULL;

	for (size_t i = 0; i < table->count; i++) {
		bool fits = true;

		for (u8 f = 0; f < table->fields; f++)
			fits = fits &&
			       table_cell_fits(table->rows[i].in[f], widths[table->field[f]],
					       value[table->field[f]]);
		if (!fits)
			continue;
		SPE_CHECK(check, !found);
		found = &table->rows[i];
	}
	return found;
}

static void set_controls(struct spe_controls *controls, const u8 value[FIELDS])
{
	*controls = (struct spe_controls){
		.exc = true,
		.el2 = true,
		.el3 = true,
		.ns = true,
		.pmsee = value[F_PMSEE],
		.scr_gpf = value[F_SCR_GPF],
		.scr_ea = value[F_SCR_EA],
		.el2_ee = value[F_EL2_EE],
		.el2_ke = value[F_EL2_KE],
		.e2pb = value[F_E2PB],
		.hcr_gpf = value[F_HCR_GPF],
		.tea = value[F_TEA],
		.tge = value[F_TGE],
		.el1_ee = value[F_EL1_EE],
		.el1_ke = value[F_EL1_KE],
	};
}

/* Iterate over all values of all fields, including fields that are not in the table. */
static bool advance_values(u8 value[FIELDS])
{
	for (unsigned int f = 0; f < FIELDS; f++) {
		if (++value[f] < 1U << widths[f])
			return true;
		value[f] = 0;
	}
	return false;
}

static u8 cell_get_el(const char *cell)
{
	return cell[0] == 'E' ? (u8)(cell[2] - '0') : 0;
}

/* Run @test for each combination of values, and pass the row that it matches. */
static void walk_table(struct spe_check *check, const struct routing_table *table,
		       void (*test)(struct spe_check *check, const struct routing_table_row *row,
				    const struct spe_controls *controls, bool pm))
{
	u8 value[FIELDS] = { 0 };
	u32 used = 0;

	do {
		const struct routing_table_row *row = find_row(check, table, value);
		struct spe_controls controls;

		if (!row) {
			SPE_CHECK_EQ(check, value[F_E2PB], 1);
			continue;
		}
		used |= 1U << (row - table->rows);
		set_controls(&controls, value);
		test(check, row, &controls, value[F_PM]);
		/* Secure EL2 routes events like Non-secure EL2. */
		controls.ns = false;
		controls.eel2 = true;
		test(check, row, &controls, value[F_PM]);
	} while (advance_values(value));
	SPE_CHECK_EQ(check, used, (1U << table->count) - 1);
}

/* Check a cell of the right side. @event appears in the message of a failure. */
static void check_target_column(struct spe_check *check, const struct routing_table_row *row,
				const struct spe_controls *controls, unsigned int column,
				enum spe_routing_event event)
{
	SPE_CHECK_EQ(check, event << 8 | spe_routing_target(controls, event),
		     event << 8 | cell_get_el(row->out[column]));
}

static void check_row_of_d17_5(struct spe_check *check, const struct routing_table_row *row,
			       const struct spe_controls *controls, bool pm)
{
	(void)pm;
	check_target_column(check, row, controls, 0, SPE_ROUTING_GPF_STAGE1);
	check_target_column(check, row, controls, 1, SPE_ROUTING_GPF_STAGE2);
	check_target_column(check, row, controls, 2, SPE_ROUTING_GPC);
}

static void check_row_of_d17_6(struct spe_check *check, const struct routing_table_row *row,
			       const struct spe_controls *controls, bool pm)
{
	(void)pm;
	check_target_column(check, row, controls, 0, SPE_ROUTING_EXTERNAL_STAGE1);
	check_target_column(check, row, controls, 1, SPE_ROUTING_EXTERNAL_STAGE2);
}

static void check_row_of_d17_7(struct spe_check *check, const struct routing_table_row *row,
			       const struct spe_controls *controls, bool pm)
{
	(void)pm;
	check_target_column(check, row, controls, 0, SPE_ROUTING_ABORT_STAGE1);
	check_target_column(check, row, controls, 1, SPE_ROUTING_ABORT_STAGE2);
	check_target_column(check, row, controls, 2, SPE_ROUTING_OTHER_EVENT);
}

static u8 cell_get_state(const char *cell)
{
	switch (cell[0]) {
	case 'N':
		return SPE_EXCEPTION_DISABLED;
	case 'B':
		return SPE_EXCEPTION_MASKED_PM;
	case 'C':
		return SPE_EXCEPTION_MASKED;
	default:
		return SPE_EXCEPTION_TAKEN;
	}
}

static void check_exception_columns(struct spe_check *check, const char *const cells[4],
				    const struct spe_controls *controls, bool pm, unsigned int x)
{
	for (u8 el = 0; el < 4; el++) {
		struct spe_pe_state pe = { .el = el, .owning = true, .pm = pm };
		struct spe_exception exception;

		if (cells[el][0] == 'n')
			continue;
		exception = spe_routing_get_exception(controls, &pe, x);
		SPE_CHECK_EQ(check, el << 8 | exception.state, el << 8 | cell_get_state(cells[el]));
		if (cells[el][0] == 'E')
			SPE_CHECK_EQ(check, el << 8 | exception.target,
				     el << 8 | cell_get_el(cells[el]));
	}
}

static void check_row_of_d17_8(struct spe_check *check, const struct routing_table_row *row,
			       const struct spe_controls *controls, bool pm)
{
	SPE_CHECK_EQ(check, spe_routing_irq_enabled(controls), row->out[0][0] == 'H');
	check_exception_columns(check, row->out + 1, controls, pm, 1);
}

static void check_row_of_d17_9(struct spe_check *check, const struct routing_table_row *row,
			       const struct spe_controls *controls, bool pm)
{
	check_exception_columns(check, row->out, controls, pm, 2);
}

static void check_row_of_d17_10(struct spe_check *check, const struct routing_table_row *row,
				const struct spe_controls *controls, bool pm)
{
	check_exception_columns(check, row->out, controls, pm, 3);
}

static void test_table_d17_5(struct spe_check *check)
{
	walk_table(check, &d17_5, check_row_of_d17_5);
}

static void test_table_d17_6(struct spe_check *check)
{
	walk_table(check, &d17_6, check_row_of_d17_6);
}

static void test_table_d17_7(struct spe_check *check)
{
	walk_table(check, &d17_7, check_row_of_d17_7);
}

static void test_table_d17_8(struct spe_check *check)
{
	walk_table(check, &d17_8, check_row_of_d17_8);
}

static void test_table_d17_9(struct spe_check *check)
{
	walk_table(check, &d17_9, check_row_of_d17_9);
}

static void test_table_d17_10(struct spe_check *check)
{
	walk_table(check, &d17_10, check_row_of_d17_10);
}

/* Test RHJXHT beyond its tables: absent Exception levels and features. */
static void test_target_beyond_tables(struct spe_check *check)
{
	static const struct {
		struct spe_controls c;
		u8 target[SPE_ROUTING_EVENTS];
	} rows[] = {
/*
 * other event; GPF at stage 1, at stage 2; GPC; External abort at stage 1, at stage 2; other abort
 * at stage 1, at stage 2
 */
#define ALL(el) { el, el, el, el, el, el, el, el }
		/* Without FEAT_SPE_EXC all events are recorded in PMBSR_EL1. */
		{ { .el2 = true, .el3 = true, .ns = true, .pmsee = 3, .el2_ee = 3 }, ALL(1) },
		/* Without EL3 PMSEE has no effect. */
		{ { .exc = true, .el2 = true, .ns = true, .pmsee = 3, .el2_ee = 3 }, ALL(2) },
		{ { .exc = true, .el2 = true, .ns = true, .pmsee = 0, .el2_ee = 3 }, ALL(2) },
		{ { .exc = true, .el2 = true, .ns = true, .el2_ee = 2, .e2pb = 3 },
		  { 1, 1, 2, 2, 1, 2, 1, 2 } },
		{ { .exc = true,
		    .el2 = true,
		    .ns = true,
		    .el2_ee = 2,
		    .scr_gpf = true,
		    .scr_ea = true,
		    .e2pb = 3 },
		  { 1, 1, 2, 2, 1, 2, 1, 2 } },
		/* no EL2, or EL2 disabled in Secure state */
		{ { .exc = true, .el3 = true, .ns = true, .pmsee = 1, .el2_ee = 3 }, ALL(1) },
		{ { .exc = true, .el2 = true, .el3 = true, .pmsee = 1, .el2_ee = 3 }, ALL(1) },
		{ { .exc = true, .el2 = true, .el3 = true, .pmsee = 2, .el2_ee = 3 },
		  { 1, 1, 1, 3, 1, 1, 1, 1 } },
		{ { .exc = true, .el2 = true, .el3 = true, .eel2 = true, .pmsee = 1, .el2_ee = 3 },
		  ALL(2) },
		{ { .exc = true }, ALL(1) },
#undef ALL
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (unsigned int event = 0; event < SPE_ROUTING_EVENTS; event++)
			SPE_CHECK_EQ(check,
				     i << 16 | event << 8 | spe_routing_target(&rows[i].c, event),
				     i << 16 | event << 8 | rows[i].target[event]);
}

/* Test RMYXZK, IGMBMC and RTSJRP beyond their tables. */
static void test_exception_beyond_tables(struct spe_check *check)
{
	enum { D = SPE_EXCEPTION_DISABLED, C = SPE_EXCEPTION_MASKED, T = SPE_EXCEPTION_TAKEN };
	static const struct {
		struct spe_controls c;
		struct spe_pe_state pe;
		u8 x;
		u8 state;
		u8 target;
		bool irq;
	} rows[] = {
		/* Without FEAT_SPE_EXC there is only the interrupt. */
		{ { .el2 = true, .el3 = true, .ns = true, .pmsee = 3, .el2_ee = 3, .el1_ee = 3 },
		  { .owning = true },
		  1,
		  D,
		  0,
		  true },
		/* Without EL3 and EL2: PMSCR_EL1 alone decides. */
		{ { .exc = true, .el1_ee = 3 }, { .owning = true }, 1, T, 1, false },
		{ { .exc = true, .el1_ee = 3, .pmsee = 0 },
		  { .owning = true, .el = 1 },
		  1,
		  C,
		  1,
		  false },
		{ { .exc = true, .el1_ee = 3, .el1_ke = true },
		  { .owning = true, .el = 1 },
		  1,
		  T,
		  1,
		  false },
		{ { .exc = true, .el1_ee = 0 }, { .owning = true }, 1, D, 0, true },
		{ { .exc = true, .el1_ee = 3, .el2_ee = 3 }, { .owning = true }, 2, D, 0, false },
		{ { .exc = true, .el1_ee = 3, .pmsee = 3 }, { .owning = true }, 3, D, 0, false },
		/*
		 * If EL2 is disabled in this Security state, its EE forbids nothing and TGE
		 * redirects nothing.
		 */
		{ { .exc = true, .el2 = true, .el3 = true, .pmsee = 1, .el1_ee = 3, .tge = true },
		  { .owning = true },
		  1,
		  T,
		  1,
		  false },
		{ { .exc = true, .el2 = true, .el3 = true, .pmsee = 1, .el2_ee = 3, .el1_ee = 3 },
		  { .owning = true },
		  2,
		  D,
		  0,
		  false },
		/*
		 * In another Security state the exception is pending and masked. An exception to
		 * EL3 is taken.
		 */
		{ { .exc = true,
		    .el2 = true,
		    .el3 = true,
		    .ns = true,
		    .pmsee = 1,
		    .el2_ee = 3,
		    .el1_ee = 3 },
		  { .el = 0 },
		  1,
		  C,
		  1,
		  false },
		{ { .exc = true,
		    .el2 = true,
		    .el3 = true,
		    .ns = true,
		    .pmsee = 1,
		    .el2_ee = 3,
		    .el2_ke = true },
		  { .el = 2 },
		  2,
		  C,
		  2,
		  true },
		{ { .exc = true, .el3 = true, .pmsee = 2 }, { .el = 2 }, 3, T, 3, true },
		/* The PE is in Debug state. */
		{ { .exc = true, .el1_ee = 3, .el1_ke = true },
		  { .owning = true, .debug = true },
		  1,
		  C,
		  1,
		  false },
		{ { .exc = true, .el2 = true, .ns = true, .el2_ee = 3 },
		  { .owning = true, .debug = true },
		  2,
		  C,
		  2,
		  true },
		{ { .exc = true, .el3 = true, .pmsee = 3 },
		  { .owning = true, .debug = true },
		  3,
		  C,
		  3,
		  true },
		/* A reserved PMSCR_EL1.EE behaves according to the wording of RMYXZK and RTSJRP. */
		{ { .exc = true, .el1_ee = 1, .strict_ee = true },
		  { .owning = true },
		  1,
		  D,
		  0,
		  false },
		{ { .exc = true, .el1_ee = 2, .strict_ee = true },
		  { .owning = true },
		  1,
		  D,
		  0,
		  false },
		{ { .exc = true, .el1_ee = 3, .strict_ee = true },
		  { .owning = true },
		  1,
		  T,
		  1,
		  false },
		{ { .exc = true, .el1_ee = 0, .strict_ee = true },
		  { .owning = true },
		  1,
		  D,
		  0,
		  true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct spe_exception exception =
			spe_routing_get_exception(&rows[i].c, &rows[i].pe, rows[i].x);

		SPE_CHECK_EQ(check, i << 8 | exception.state, i << 8 | rows[i].state);
		SPE_CHECK_EQ(check, i << 8 | exception.target, i << 8 | rows[i].target);
		SPE_CHECK_EQ(check, i << 8 | spe_routing_irq_enabled(&rows[i].c),
			     i << 8 | rows[i].irq);
	}
}

/* Test the columns that D17.8 defines, by EC and FSC. */
static void test_classify_events(struct spe_check *check)
{
	static const struct {
		u8 ec;
		u8 first;
		u8 last;
		u8 event;
	} rows[] = {
		{ 0x00, 0x00, 0x3f, SPE_ROUTING_OTHER_EVENT },
		{ 0x1f, 0x00, 0x3f, SPE_ROUTING_OTHER_EVENT },
		{ 0x1e, 0x00, 0x3f, SPE_ROUTING_GPC },
		{ 0x24, 0x00, 0x0f, SPE_ROUTING_ABORT_STAGE1 },
		{ 0x24, 0x10, 0x17, SPE_ROUTING_EXTERNAL_STAGE1 },
		{ 0x24, 0x18, 0x21, SPE_ROUTING_ABORT_STAGE1 },
		{ 0x24, 0x22, 0x28, SPE_ROUTING_GPF_STAGE1 },
		{ 0x24, 0x29, 0x3f, SPE_ROUTING_ABORT_STAGE1 },
		{ 0x25, 0x00, 0x0f, SPE_ROUTING_ABORT_STAGE2 },
		{ 0x25, 0x10, 0x17, SPE_ROUTING_EXTERNAL_STAGE2 },
		{ 0x25, 0x18, 0x21, SPE_ROUTING_ABORT_STAGE2 },
		{ 0x25, 0x22, 0x28, SPE_ROUTING_GPF_STAGE2 },
		{ 0x25, 0x29, 0x3f, SPE_ROUTING_ABORT_STAGE2 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (u32 code = rows[i].first; code <= rows[i].last; code++) {
			u32 fault = (u32)rows[i].ec << 26 | code;

			SPE_CHECK_EQ(check, fault | (u64)spe_routing_classify(fault) << 32,
				     fault | (u64)rows[i].event << 32);
			/* TopLevel and AssuredOnly do not change the column. */
			SPE_CHECK_EQ(check, spe_routing_classify(fault | 0xffc0), rows[i].event);
		}
}

static const struct spe_case cases[] = {
	{ "table D17-5", test_table_d17_5 },
	{ "table D17-6", test_table_d17_6 },
	{ "table D17-7", test_table_d17_7 },
	{ "table D17-8", test_table_d17_8 },
	{ "table D17-9", test_table_d17_9 },
	{ "table D17-10", test_table_d17_10 },
	{ "RHJXHT beyond the tables", test_target_beyond_tables },
	{ "RMYXZK and RTSJRP beyond the tables", test_exception_beyond_tables },
	{ "events by EC and FSC", test_classify_events },
};

const struct spe_suite spe_suite_event_routing = { "event-routing", cases, ARRAY_SIZE(cases) };
