/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables D17-5 to D17-10 as the text prints them, cell by cell. They were transcribed without
 * reading the implementation, and must stay so.
 */
#ifndef SPE_CASES_EVENT_ROUTING_TABLES_H
#define SPE_CASES_EVENT_ROUTING_TABLES_H

#include "codec/env.h"

/* Return whether @value, of @width bits, matches the printed cell. */
static inline bool table_cell_fits(const char *cell, u8 width, u8 value)
{
	bool not = cell[0] == '!';
	bool fits = true;

	if (not )
		cell += 2;
	if (cell[0] == '0' && cell[1] == 'b')
		cell += 2;
	for (u8 i = 0; i < width; i++) {
		char bit = value >> (width - 1 - i) & 1 ? '1' : '0';

		fits = fits && (cell[i] == 'X' || cell[i] == bit);
	}
	return fits != not ;
}

/**
 * struct routing_table_row - a row of a table
 * @in: cells of the left side: 0bNN with X for any bit, X, XX, or !=0bNN
 * @out: cells of the right side
 */
struct routing_table_row {
	const char *in[6];
	const char *out[5];
};

/*
 * Table D17-5. Columns: PMSEE, SCR_EL3.GPF, PMSCR_EL2.EE, E2PB, HCR_EL2.GPF; then the target of a
 * GPF at stage 1, of a GPF at stage 2, of a GPC fault.
 */
static const struct routing_table_row report_d17_5[] = {
	{ { "0b00", "X", "XX", "XX", "X" }, { "EL1", "EL1", "EL1" } },
	{ { "0b01", "X", "0b0X", "XX", "X" }, { "EL1", "EL1", "EL1" } },
	{ { "0b01", "X", "0b10", "0b00", "X" }, { "EL2", "EL2", "EL2" } },
	{ { "0b01", "X", "0b10", "0b1X", "0b0" }, { "EL1", "EL2", "EL2" } },
	{ { "0b01", "X", "0b10", "0b1X", "0b1" }, { "EL2", "EL2", "EL2" } },
	{ { "0b01", "X", "0b11", "XX", "X" }, { "EL2", "EL2", "EL2" } },
	{ { "0b10", "0b0", "0b0X", "XX", "X" }, { "EL1", "EL1", "EL3" } },
	{ { "0b10", "0b0", "0b10", "0b00", "X" }, { "EL2", "EL2", "EL3" } },
	{ { "0b10", "0b0", "0b10", "0b1X", "0b0" }, { "EL1", "EL2", "EL3" } },
	{ { "0b10", "0b0", "0b10", "0b1X", "0b1" }, { "EL2", "EL2", "EL3" } },
	{ { "0b10", "0b0", "0b11", "XX", "X" }, { "EL2", "EL2", "EL3" } },
	{ { "0b10", "0b1", "XX", "XX", "X" }, { "EL3", "EL3", "EL3" } },
	{ { "0b11", "X", "XX", "XX", "X" }, { "EL3", "EL3", "EL3" } },
};

/*
 * Table D17-6. Columns: PMSEE, SCR_EL3.EA, PMSCR_EL2.EE, E2PB, HCR_EL2.TEA; then the target of an
 * External abort at stage 1, at stage 2.
 */
static const struct routing_table_row report_d17_6[] = {
	{ { "0b00", "X", "XX", "XX", "X" }, { "EL1", "EL1" } },
	{ { "0b01", "X", "0b0X", "XX", "X" }, { "EL1", "EL1" } },
	{ { "0b01", "X", "0b10", "0b00", "X" }, { "EL2", "EL2" } },
	{ { "0b01", "X", "0b10", "0b1X", "0b0" }, { "EL1", "EL2" } },
	{ { "0b01", "X", "0b10", "0b1X", "0b1" }, { "EL2", "EL2" } },
	{ { "0b01", "X", "0b11", "XX", "X" }, { "EL2", "EL2" } },
	{ { "0b10", "0b0", "0b0X", "XX", "X" }, { "EL1", "EL1" } },
	{ { "0b10", "0b0", "0b10", "0b00", "X" }, { "EL2", "EL2" } },
	{ { "0b10", "0b0", "0b10", "0b1X", "0b0" }, { "EL1", "EL2" } },
	{ { "0b10", "0b0", "0b10", "0b1X", "0b1" }, { "EL2", "EL2" } },
	{ { "0b10", "0b0", "0b11", "XX", "X" }, { "EL2", "EL2" } },
	{ { "0b10", "0b1", "XX", "XX", "X" }, { "EL3", "EL3" } },
	{ { "0b11", "X", "XX", "XX", "X" }, { "EL3", "EL3" } },
};

/*
 * Table D17-7. Columns: PMSEE, PMSCR_EL2.EE, E2PB; then the target of another abort at stage 1, at
 * stage 2, of another event.
 */
static const struct routing_table_row report_d17_7[] = {
	{ { "0b00", "XX", "XX" }, { "EL1", "EL1", "EL1" } },
	{ { "0b01", "0b0X", "XX" }, { "EL1", "EL1", "EL1" } },
	{ { "0b01", "0b10", "0b00" }, { "EL2", "EL2", "EL1" } },
	{ { "0b01", "0b10", "0b1X" }, { "EL1", "EL2", "EL1" } },
	{ { "0b01", "0b11", "XX" }, { "EL2", "EL2", "EL2" } },
	{ { "0b10", "0b0X", "XX" }, { "EL1", "EL1", "EL1" } },
	{ { "0b10", "0b10", "0b00" }, { "EL2", "EL2", "EL1" } },
	{ { "0b10", "0b10", "0b1X" }, { "EL1", "EL2", "EL1" } },
	{ { "0b10", "0b11", "XX" }, { "EL2", "EL2", "EL2" } },
	{ { "0b11", "XX", "XX" }, { "EL3", "EL3", "EL3" } },
};

/*
 * Table D17-8. Columns: PMSEE, PMSCR_EL2.EE, TGE, PMSCR_EL1.EE, PMSCR_EL1.KE, PM; then the
 * interrupt, and the exception from EL0 to EL3.
 */
static const struct routing_table_row report_d17_8[] = {
	{ { "0b00", "XX", "0b0", "XX", "X", "X" }, { "HIGH", "None", "None", "None", "None" } },
	{ { "0b00", "XX", "0b1", "XX", "X", "X" }, { "HIGH", "None", "n/a", "None", "None" } },
	{ { "!=0b00", "0b00", "0b0", "XX", "X", "X" }, { "HIGH", "None", "None", "None", "None" } },
	{ { "!=0b00", "0b00", "0b1", "XX", "X", "X" }, { "HIGH", "None", "n/a", "None", "None" } },
	{ { "!=0b00", "!=0b00", "0b0", "0b0X", "X", "X" },
	  { "HIGH", "None", "None", "None", "None" } },
	{ { "!=0b00", "!=0b00", "0b0", "0b1X", "0b0", "X" }, { "LOW", "EL1", "C", "C", "C" } },
	{ { "!=0b00", "!=0b00", "0b0", "0b1X", "0b1", "0b0" }, { "LOW", "EL1", "EL1", "C", "C" } },
	{ { "!=0b00", "!=0b00", "0b0", "0b1X", "0b1", "0b1" }, { "LOW", "EL1", "B", "C", "C" } },
	{ { "!=0b00", "!=0b00", "0b1", "0b0X", "X", "X" },
	  { "HIGH", "None", "n/a", "None", "None" } },
	{ { "!=0b00", "!=0b00", "0b1", "0b1X", "X", "X" }, { "LOW", "EL2", "n/a", "C", "C" } },
};

/*
 * Table D17-9. Columns: PMSEE, PMSCR_EL2.EE, PMSCR_EL2.KE, TGE, PM; then the exception from EL0 to
 * EL3.
 */
static const struct routing_table_row report_d17_9[] = {
	{ { "0b00", "XX", "X", "0b0", "X" }, { "None", "None", "None", "None" } },
	{ { "0b00", "XX", "X", "0b1", "X" }, { "None", "n/a", "None", "None" } },
	{ { "!=0b00", "0b0X", "X", "0b0", "X" }, { "None", "None", "None", "None" } },
	{ { "!=0b00", "0b0X", "X", "0b1", "X" }, { "None", "n/a", "None", "None" } },
	{ { "!=0b00", "0b10", "X", "0b0", "X" }, { "EL2", "EL2", "C", "C" } },
	{ { "!=0b00", "0b10", "X", "0b1", "X" }, { "EL2", "n/a", "C", "C" } },
	{ { "!=0b00", "0b11", "0b0", "0b0", "X" }, { "EL2", "EL2", "C", "C" } },
	{ { "!=0b00", "0b11", "0b0", "0b1", "X" }, { "EL2", "n/a", "C", "C" } },
	{ { "!=0b00", "0b11", "0b1", "0b0", "0b0" }, { "EL2", "EL2", "EL2", "C" } },
	{ { "!=0b00", "0b11", "0b1", "0b0", "0b1" }, { "EL2", "EL2", "B", "C" } },
	{ { "!=0b00", "0b11", "0b1", "0b1", "0b0" }, { "EL2", "n/a", "EL2", "C" } },
	{ { "!=0b00", "0b11", "0b1", "0b1", "0b1" }, { "EL2", "n/a", "B", "C" } },
};

/* Table D17-10. Columns: PMSEE, TGE; then the exception from EL0 to EL3. */
static const struct routing_table_row report_d17_10[] = {
	{ { "0b0X", "0b0" }, { "None", "None", "None", "None" } },
	{ { "0b0X", "0b1" }, { "None", "n/a", "None", "None" } },
	{ { "0b10", "0b0" }, { "EL3", "EL3", "EL3", "C" } },
	{ { "0b10", "0b1" }, { "EL3", "n/a", "EL3", "C" } },
	{ { "0b11", "0b0" }, { "EL3", "EL3", "EL3", "C" } },
	{ { "0b11", "0b1" }, { "EL3", "n/a", "EL3", "C" } },
};

#endif
