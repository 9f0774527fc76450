// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The edges of conditions that a mutant (tests/mutate) would move unseen elsewhere. */
#include "collect.h"
#include "suites.h"
#include "window.h"

/* Two records fit the cut exactly: the window begins where it may, not a granule later. */
static void window_exact(struct spe_check *check)
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
	struct spe_window window;

	if (!SPE_CHECK_EQ(check, spe_window_next(&ring, &window), 0))
		return;
	SPE_CHECK_EQ(check, window.start, 4096);
	SPE_CHECK_EQ(check, window.limit, 8192);
}

/* D17.4: only in the Security state that owns the buffer, and never in Debug state. */
static void owning_state(struct spe_check *check)
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
			i << 1 | spe_collect_at(&controls, &timers, SPE_PMSCR_E1SPE, 0, 1).sampled,
			i << 1 | expected);
	}
}

static u8 time_of(bool ts, u64 pct, bool stopped, bool unknown, bool physical)
{
	const struct spe_timers timers = { .stopped = stopped,
					   .stopped_unknown = unknown,
					   .pct_physical = physical };
	const struct spe_controls controls = { .ns = true, .e2pb = 3 };

	return spe_collect_at(&controls, &timers,
			      SPE_FIELD_PREP(SPE_PMSCR_PCT, pct) | (ts ? SPE_PMSCR_TS : 0), 0, 1)
		.time;
}

/* D17.6: the system counter is disabled; and PMSCR.PCT is reserved. */
static void timestamps(struct spe_check *check)
{
	for (u32 i = 0; i < 4; i++) {
		SPE_CHECK_EQ(check, time_of(false, 1, i & 1, i & 2, false), SPE_COLLECT_TIME_NONE);
		SPE_CHECK_EQ(check, time_of(true, 1, false, i & 2, i & 1),
			     SPE_COLLECT_TIME_PHYSICAL);
	}
	SPE_CHECK_EQ(check, time_of(true, 1, true, true, false), SPE_COLLECT_TIME_UNKNOWN);
	SPE_CHECK_EQ(check, time_of(true, 1, true, false, false), SPE_COLLECT_TIME_NONE);
	SPE_CHECK_EQ(check, time_of(true, 2, false, false, true), SPE_COLLECT_TIME_PHYSICAL);
	SPE_CHECK_EQ(check, time_of(true, 2, false, false, false), SPE_COLLECT_TIME_VIRTUAL);
}

static const struct spe_case cases[] = {
	{ "a window of exactly two records", window_exact },
	{ "the owning Security state", owning_state },
	{ "timestamps", timestamps },
};

const struct spe_suite spe_suite_edges = { "edges", cases, ARRAY_SIZE(cases) };
