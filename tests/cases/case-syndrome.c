// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Test the verdict on each syndrome, one a line, transcribed from section D17.8. */
#include "suites.h"
#include "policy/syndrome.h"

#define S	     SPE_PMBSR_S
#define DL	     SPE_PMBSR_DL
#define EA	     SPE_PMBSR_EA
#define COLL	     SPE_PMBSR_COLL
#define EC(ec, code) ((u64)(ec) << 26 | (code) | S)

struct syndrome_row {
	u64 pmbsr;
	u8 class;
	u8 action;
	bool truncated;
	bool collided;
	bool suspect;
};

static const struct syndrome_row rows[] = {
	{ 0, SPE_SYNDROME_NONE, SPE_ACTION_CONTINUE },
	{ COLL, SPE_SYNDROME_NONE, SPE_ACTION_CONTINUE, .collided = true },
	/* EC and BSC have no meaning while S is 0. */
	{ EC(0x24, 0x04) & ~S, SPE_SYNDROME_NONE, SPE_ACTION_CONTINUE },
	/* D17.8.2 */
	{ EC(0, 1), SPE_SYNDROME_FULL, SPE_ACTION_CONTINUE },
	{ EC(0, 1) | COLL, SPE_SYNDROME_FULL, SPE_ACTION_CONTINUE, .collided = true },
	{ EC(0, 1) | DL, SPE_SYNDROME_FULL, SPE_ACTION_DROP_TAIL, .truncated = true },
	/* IXPWQC: an asynchronous abort after a buffer full event */
	{ EC(0, 1) | EA | DL, SPE_SYNDROME_FULL, SPE_ACTION_DROP_WINDOW, .truncated = true,
	  .suspect = true },
	/* D17.8.5 */
	{ EC(0, 0) | DL, SPE_SYNDROME_NOT_ALLOWED, SPE_ACTION_STOP_CPU, .truncated = true },
	/* Reserved BSC. */
	{ EC(0, 2), SPE_SYNDROME_UNKNOWN, SPE_ACTION_STOP_CPU, .suspect = true },
	{ EC(0, 0x3f), SPE_SYNDROME_UNKNOWN, SPE_ACTION_STOP_CPU, .suspect = true },
	/* Table D17-11: translation, address size, permission, access flag, alignment. */
	{ EC(0x24, 0x04), SPE_SYNDROME_FAULT, SPE_ACTION_STOP_CPU },
	{ EC(0x24, 0x07) | DL, SPE_SYNDROME_FAULT, SPE_ACTION_STOP_CPU, .truncated = true },
	{ EC(0x24, 0x00), SPE_SYNDROME_FAULT, SPE_ACTION_STOP_CPU },
	{ EC(0x24, 0x0f), SPE_SYNDROME_FAULT, SPE_ACTION_STOP_CPU },
	{ EC(0x24, 0x0b), SPE_SYNDROME_FAULT, SPE_ACTION_STOP_CPU },
	{ EC(0x24, 0x21), SPE_SYNDROME_FAULT, SPE_ACTION_STOP_CPU },
	{ EC(0x25, 0x07), SPE_SYNDROME_FAULT, SPE_ACTION_STOP_CPU },
	/* an asynchronous abort after a fault */
	{ EC(0x24, 0x07) | EA | DL, SPE_SYNDROME_FAULT, SPE_ACTION_STOP_CPU, .truncated = true,
	  .suspect = true },
	/* D17.8.4.4: a synchronous abort at the start of a record, and within it */
	{ EC(0x24, 0x10) | EA, SPE_SYNDROME_EXTERNAL_SYNC, SPE_ACTION_CONTINUE },
	{ EC(0x24, 0x10) | EA | DL, SPE_SYNDROME_EXTERNAL_SYNC, SPE_ACTION_DROP_TAIL,
	  .truncated = true },
	{ EC(0x25, 0x10) | EA, SPE_SYNDROME_EXTERNAL_SYNC, SPE_ACTION_CONTINUE },
	/* an abort on a table walk, with EA and without (D17.8.3) */
	{ EC(0x24, 0x14), SPE_SYNDROME_EXTERNAL_SYNC, SPE_ACTION_CONTINUE },
	{ EC(0x24, 0x17) | EA, SPE_SYNDROME_EXTERNAL_SYNC, SPE_ACTION_CONTINUE },
	{ EC(0x25, 0x13) | EA, SPE_SYNDROME_EXTERNAL_SYNC, SPE_ACTION_CONTINUE },
	{ EC(0x25, 0x12), SPE_SYNDROME_EXTERNAL_SYNC, SPE_ACTION_CONTINUE },
	/* D17.8.4.4: an asynchronous abort */
	{ EC(0x24, 0x11) | EA | DL, SPE_SYNDROME_EXTERNAL_ASYNC, SPE_ACTION_DROP_WINDOW,
	  .truncated = true, .suspect = true },
	{ EC(0x25, 0x11) | EA | DL, SPE_SYNDROME_EXTERNAL_ASYNC, SPE_ACTION_DROP_WINDOW,
	  .truncated = true, .suspect = true },
	/* granule protection, and External aborts of a walk of the granule protection table */
	{ EC(0x1e, 0x04), SPE_SYNDROME_GPC, SPE_ACTION_STOP_CPU },
	{ EC(0x1e, 0x10) | EA, SPE_SYNDROME_GPC, SPE_ACTION_STOP_CPU },
	{ EC(0x1e, 0x11) | EA | DL, SPE_SYNDROME_GPC, SPE_ACTION_STOP_CPU, .truncated = true,
	  .suspect = true },
	/* D17.8.6 */
	{ EC(0x1f, 0x2a), SPE_SYNDROME_IMPDEF, SPE_ACTION_STOP_CPU, .suspect = true },
	/* Reserved EC. */
	{ EC(0x01, 0x01), SPE_SYNDROME_UNKNOWN, SPE_ACTION_STOP_CPU, .suspect = true },
	{ EC(0x26, 0x04), SPE_SYNDROME_UNKNOWN, SPE_ACTION_STOP_CPU, .suspect = true },
	{ EC(0x3f, 0x3f), SPE_SYNDROME_UNKNOWN, SPE_ACTION_STOP_CPU, .suspect = true },
};

static void test_chosen_syndromes(struct spe_check *check)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct syndrome_row *row = &rows[i];
		struct spe_syndrome_verdict verdict = spe_syndrome_interpret(row->pmbsr);

		/* The message of a failure contains the syndrome of the row. */
		SPE_CHECK_EQ(check, row->pmbsr << 8 | verdict.class, row->pmbsr << 8 | row->class);
		SPE_CHECK_EQ(check, row->pmbsr << 8 | verdict.action,
			     row->pmbsr << 8 | row->action);
		SPE_CHECK_EQ(check, row->pmbsr << 1 | verdict.truncated,
			     row->pmbsr << 1 | row->truncated);
		SPE_CHECK_EQ(check, row->pmbsr << 1 | verdict.collided,
			     row->pmbsr << 1 | row->collided);
		SPE_CHECK_EQ(check, row->pmbsr << 1 | verdict.suspect,
			     row->pmbsr << 1 | row->suspect);
	}
}

/*
 * Each EC and code has a class and a name, and its verdict is as strict as DL, EA and COLL require.
 */
static void test_all_syndromes(struct spe_check *check)
{
	for (u32 i = 0; i < 1 << 15; i++) {
		u64 pmbsr = (u64)(i >> 9) << 26 | (i & 0x3f);
		struct spe_syndrome_verdict verdict;

		pmbsr |= i & 0x40 ? EA : 0;
		pmbsr |= i & 0x80 ? DL : 0;
		pmbsr |= i & 0x100 ? S : 0;
		verdict = spe_syndrome_interpret(pmbsr);
		SPE_CHECK(check, verdict.class < SPE_SYNDROMES);
		SPE_CHECK(check, (verdict.class == SPE_SYNDROME_NONE) == !(pmbsr & S));
		SPE_CHECK(check, verdict.action <= SPE_ACTION_STOP_SESSION);
		if (verdict.suspect)
			SPE_CHECK(check, verdict.action >= SPE_ACTION_DROP_WINDOW);
		if (pmbsr & DL)
			SPE_CHECK(check, verdict.action >= SPE_ACTION_DROP_TAIL);
		/* Bits of MSS above the code, and reserved bits, change nothing. */
		SPE_CHECK_EQ(check, spe_syndrome_interpret(pmbsr | 0xffc0).action, verdict.action);
	}
}

static void test_syndrome_names(struct spe_check *check)
{
	for (unsigned int i = 0; i < SPE_SYNDROMES; i++) {
		SPE_CHECK(check, spe_syndrome_name(i) && spe_syndrome_name(i)[0]);
		for (unsigned int j = 0; j < i; j++)
			SPE_CHECK(check, strcmp(spe_syndrome_name(i), spe_syndrome_name(j)));
	}
	SPE_CHECK(check, !strcmp(spe_syndrome_name(SPE_SYNDROMES), "invalid"));
}

static const struct spe_case cases[] = {
	{ "rows", test_chosen_syndromes },
	{ "every code", test_all_syndromes },
	{ "names", test_syndrome_names },
};

const struct spe_suite spe_suite_syndrome = { "syndrome", cases, ARRAY_SIZE(cases) };
