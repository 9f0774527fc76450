// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Test when operations are selected (D17.3), and which of them pass the filters. */
#include "spu-fixture.h"
#include "suites.h"

/*
 * Arm the same buffer again after it is full, because the positions of records are not tested here.
 */
static void rearm_buffer(void)
{
	if (fixture_read_reg(SPE_REG_PMBSR) & SPE_PMBSR_S) {
		spe_spu_write(&fixture.spu, SPE_REG_PMBPTR, FIXTURE_BASE);
		spe_spu_write(&fixture.spu, SPE_REG_PMBSR, 0);
	}
}

static bool start_spu(struct spe_check *check, bool ernd, u64 pmsirr)
{
	struct spe_spu_config config;

	spe_spu_config_default(&config);
	if (ernd)
		config.features |= SPE_PMSIDR_ERND;
	config.seed = 0x5eed0003;
	if (!fixture_init(check, &config))
		return false;
	spe_spu_write(&fixture.spu, SPE_REG_PMSIRR, pmsirr);
	fixture_arm(FIXTURE_SIZE);
	return true;
}

/* Count the operations from one selection to the next, one by one. */
static u64 count_next_interval(void)
{
	u64 members = 1;

	while (!spe_spu_count_operations(&fixture.spu, 1))
		members++;
	spe_spu_sample_operation(&fixture.spu, &op_other);
	rearm_buffer();
	return members;
}

/* D17.3.1, D17.3.4.1: each interval is INTERVAL x 256 + 1. */
static void test_fixed_interval(struct spe_check *check)
{
	for (u64 interval = 0; interval < 5; interval++) {
		if (!start_spu(check, interval & 1, interval << 8))
			return;
		SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMSICR), interval << 8);
		for (unsigned int i = 0; i < 20; i++) {
			SPE_CHECK_EQ(check, count_next_interval(), interval * 256 + 1);
			SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMSICR), interval << 8);
		}
	}
}

/*
 * D17.3.2, D17.3.4.2: the mean interval is INTERVAL x 256 + 128, because the jitter is uniform from
 * 0x00 to 0xFF. The mean of 20000 uniform draws has a standard deviation of 0.52: it is off by more
 * than 3.5 for one seed in 10^9 (the note rounds 128.5 down by 0.5). The chi-square of 256 bins has
 * mean 255 and deviation 22.6: it is above 400 for one seed in 10^7.
 */
static void test_interval_jitter(struct spe_check *check)
{
	static u32 bins[256];
	const u64 draws = 20000;
	u64 sum = 0, chi = 0;

	memset(bins, 0, sizeof(bins));
	if (!start_spu(check, false, 1 << 8 | SPE_PMSIRR_RND))
		return;
	for (u64 i = 0; i < draws; i++) {
		u64 members = count_next_interval();

		if (!SPE_CHECK(check, members >= 257 && members <= 512))
			return;
		bins[members - 257]++;
		sum += members;
	}
	SPE_CHECK(check, sum > (384 - 3) * draws && sum < (384 + 4) * draws);
	/* The sum of (n - N/256)^2 / (N/256), multiplied by 256 so that it is an integer */
	for (unsigned int i = 0; i < 256; i++) {
		s64 d = (s64)bins[i] * 256 - (s64)draws;

		chi += (u64)(d * d);
	}
	SPE_CHECK(check, chi / (256 * draws) < 400);
	SPE_CHECK(check, chi / (256 * draws) > 150);
}

/*
 * D17.3.4.3: the mean interval is INTERVAL x 256 + 1. The primary counter has no jitter, so the
 * n-th sample is within 255 of n intervals for every seed.
 */
static void test_interval_jitter_with_ernd(struct spe_check *check)
{
	u64 at = 0, least = ~0ULL, most = 0;

	if (!start_spu(check, true, 2 << 8 | SPE_PMSIRR_RND))
		return;
	/* D17.3.3: without jitter the initial value has no random part. */
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMSICR), 2 << 8);
	for (u64 i = 1; i <= 5000; i++) {
		u64 members = count_next_interval();

		at += members;
		if (!SPE_CHECK(check, at >= i * 513 && at <= i * 513 + 255))
			return;
		least = members < least ? members : least;
		most = members > most ? members : most;
	}
	/*
	 * An interval differs from the mean by the difference of two draws: up to 255 in either
	 * direction.
	 */
	SPE_CHECK(check, least < 513 - 200 && most > 513 + 200);
}

/*
 * Check the registers while ECOUNT counts: first the primary counter, then ECOUNT, goes down by one
 * for each operation.
 */
static void test_registers_with_ernd(struct spe_check *check)
{
	u64 ecount;

	if (!start_spu(check, true, 1 << 8 | SPE_PMSIRR_RND))
		return;
	spe_spu_write(&fixture.spu, SPE_REG_PMSICR, 3);
	for (u64 count = 3; count; count--) {
		SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMSICR), count);
		SPE_CHECK(check, !spe_spu_count_operations(&fixture.spu, 1));
	}
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMSICR), 0);
	/*
	 * When the primary counter is zero it is reloaded, and ECOUNT gets a random value, which is
	 * not zero with this seed.
	 */
	SPE_CHECK(check, !spe_spu_count_operations(&fixture.spu, 1));
	ecount = fixture_read_reg(SPE_REG_PMSICR) >> 56;
	SPE_CHECK(check, ecount > 1);
	for (u64 passed = 0; passed < ecount; passed++) {
		SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMSICR),
			     (ecount - passed) << 56 | (256 - passed));
		SPE_CHECK_EQ(check, spe_spu_operations_until_sample(&fixture.spu), ecount - passed);
		SPE_CHECK_EQ(check, spe_spu_count_operations(&fixture.spu, 1),
			     passed + 1 == ecount);
	}
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMSICR), 256 - ecount);
}

/*
 * D17.3.4: the same operations are selected for any number of operations that is passed at a time.
 */
static void test_interval_in_pieces(struct spe_check *check)
{
	static const struct {
		bool ernd;
		u64 pmsirr;
	} cases[] = { { false, 3 << 8 },
		      { false, 3 << 8 | SPE_PMSIRR_RND },
		      { true, 1 << 8 | SPE_PMSIRR_RND },
		      { true, SPE_PMSIRR_RND },
		      { true, 3 << 8 } };
	static u64 expected[2000];
	u64 seed = 0x5eed0004;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (!start_spu(check, cases[i].ernd, cases[i].pmsirr))
			return;
		for (size_t j = 0; j < ARRAY_SIZE(expected); j++)
			expected[j] = count_next_interval();
		if (!start_spu(check, cases[i].ernd, cases[i].pmsirr))
			return;
		for (size_t j = 0; j < ARRAY_SIZE(expected); j++) {
			u64 members = 0, until, piece;
			bool selected;

			do {
				until = spe_spu_operations_until_sample(&fixture.spu);
				piece = 1 + spe_check_random(&seed) % until;
				selected = spe_spu_count_operations(&fixture.spu, piece);
				members += piece;
				SPE_CHECK_EQ(check, selected, piece == until);
			} while (!selected);
			spe_spu_sample_operation(&fixture.spu, &op_other);
			rearm_buffer();
			if (!SPE_CHECK_EQ(check, members, expected[j]))
				return;
		}
		SPE_CHECK_EQ(check, fixture.spu.stats.selected, ARRAY_SIZE(expected));
	}
}

/*
 * D17.3.3: counting continues from a nonzero counter. D17.3.5: counters do not change while
 * profiling is disabled.
 */
static void test_saved_counters_continue(struct spe_check *check)
{
	if (!start_spu(check, true, 1 << 8 | SPE_PMSIRR_RND))
		return;
	spe_spu_write(&fixture.spu, SPE_REG_PMSCR, 0);
	spe_spu_write(&fixture.spu, SPE_REG_PMSICR, 5ULL << 56 | 100);
	SPE_CHECK_EQ(check, spe_spu_operations_until_sample(&fixture.spu), 0);
	SPE_CHECK(check, !spe_spu_count_operations(&fixture.spu, 1000));
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMSICR), 5ULL << 56 | 100);
	SPE_CHECK_EQ(check, fixture.spu.stats.operations, 0);

	spe_spu_write(&fixture.spu, SPE_REG_PMSCR, SPE_PMSCR_E0SPE);
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMSICR), 5ULL << 56 | 100);
	SPE_CHECK_EQ(check, spe_spu_operations_until_sample(&fixture.spu), 5);
	SPE_CHECK(check, !spe_spu_count_operations(&fixture.spu, 2));
	/* An event disables profiling, too. Counting continues when S is cleared. */
	spe_spu_write(&fixture.spu, SPE_REG_PMBSR, SPE_PMBSR_S);
	SPE_CHECK(check, !spe_spu_count_operations(&fixture.spu, 2));
	spe_spu_write(&fixture.spu, SPE_REG_PMBSR, 0);
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMSICR), 3ULL << 56 | 98);
	/* The enable bit of the buffer has the same effect. */
	spe_spu_write(&fixture.spu, SPE_REG_PMBLIMITR, FIXTURE_BASE + 4096);
	SPE_CHECK_EQ(check, spe_spu_operations_until_sample(&fixture.spu), 0);
}

/* D17.3.3: with RND = 1 and without ERnd, COUNT[7:0] of the initial value is random. */
static void test_initial_jitter(struct spe_check *check)
{
	unsigned int values = 0;
	u64 seen = 0;

	for (unsigned int i = 0; i < 64; i++) {
		struct spe_spu_config config;

		spe_spu_config_default(&config);
		config.seed = i;
		if (!fixture_init(check, &config))
			return;
		spe_spu_write(&fixture.spu, SPE_REG_PMSIRR, 7 << 8 | SPE_PMSIRR_RND);
		SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMSICR), 0);
		fixture_arm(FIXTURE_SIZE);
		SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMSICR) >> 8, 7);
		seen |= SPE_BIT(fixture_read_reg(SPE_REG_PMSICR) >> 2 & 63);
	}
	for (; seen; seen &= seen - 1)
		values++;
	/* 64 draws out of 64 values give 40 different values on average. */
	SPE_CHECK(check, values > 25);
}

/* Test which Exception levels are sampled, by E0SPE, E1SPE and the owner of the registers. */
static void test_sampled_levels(struct spe_check *check)
{
	static const struct {
		bool e2h;
		u64 pmscr;
		bool el[3];
	} rows[] = {
		{ false, 0, { false, false, false } }, { false, 1, { true, false, false } },
		{ false, 2, { false, true, false } },  { false, 3, { true, true, false } },
		{ true, 0, { false, false, false } },  { true, 1, { true, false, false } },
		{ true, 2, { false, false, true } },   { true, 3, { true, false, true } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct spe_spu_config config;

		spe_spu_config_default(&config);
		config.e2h = rows[i].e2h;
		if (!fixture_init(check, &config))
			return;
		fixture_arm(FIXTURE_SIZE);
		spe_spu_write(&fixture.spu, SPE_REG_PMSCR, rows[i].pmscr);
		for (u8 el = 0; el < 4; el++) {
			struct spe_operation op = op_other;
			u64 written = fixture.spu.stats.written;
			bool sampled = el < 3 && rows[i].el[el];

			op.el = el;
			SPE_CHECK_EQ(check, spe_spu_profiling_enabled(&fixture.spu, el), sampled);
			spe_spu_execute_operation(&fixture.spu, &op);
			SPE_CHECK_EQ(check, fixture.spu.stats.written - written, sampled);
		}
	}
}

/* D17.3.7, RQWTQB, RLTMKQ: COLL reads as 1 as soon as a collision happens. */
static void test_collisions(struct spe_check *check)
{
	struct spe_spu_config config;

	spe_spu_config_default(&config);
	config.in_flight = 2;
	if (!fixture_init(check, &config))
		return;
	fixture_arm(FIXTURE_SIZE);
	SPE_CHECK(check, spe_spu_count_operations(&fixture.spu, 1));
	SPE_CHECK(check, spe_spu_count_operations(&fixture.spu, 1));
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR), 0);
	SPE_CHECK(check, !spe_spu_count_operations(&fixture.spu, 1));
	/* Only COLL is set: profiling continues without an interrupt. */
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR), SPE_PMBSR_COLL);
	SPE_CHECK(check, !fixture.irq);
	SPE_CHECK(check, spe_spu_profiling_enabled(&fixture.spu, 0));
	spe_spu_sample_operation(&fixture.spu, &op_other);
	SPE_CHECK(check, spe_spu_count_operations(&fixture.spu, 1));
	spe_spu_sample_operation(&fixture.spu, &op_other);
	spe_spu_sample_operation(&fixture.spu, &op_other);
	SPE_CHECK_EQ(check, fixture.spu.stats.collisions, 1);
	SPE_CHECK_EQ(check, fixture.spu.stats.selected, 3);
	SPE_CHECK_EQ(check, fixture.spu.stats.written, 3);
	SPE_CHECK_EQ(check, fixture.spu.stats.operations, 4);
	/* Reporting an operation that was not selected takes no sample. */
	spe_spu_sample_operation(&fixture.spu, &op_other);
	SPE_CHECK_EQ(check, fixture.spu.stats.written, 3);
}

/* If the buffer is disabled during a sampled operation, that sample is lost and counted as lost. */
static void test_operations_in_flight_are_lost(struct spe_check *check)
{
	if (!fixture_init(check, NULL))
		return;
	fixture_arm(FIXTURE_SIZE);
	SPE_CHECK(check, spe_spu_count_operations(&fixture.spu, 1));
	spe_spu_write(&fixture.spu, SPE_REG_PMBSR, SPE_PMBSR_S);
	SPE_CHECK_EQ(check, fixture.spu.stats.discarded, 1);
	spe_spu_write(&fixture.spu, SPE_REG_PMBSR, 0);
	spe_spu_sample_operation(&fixture.spu, &op_other);
	SPE_CHECK_EQ(check, fixture.spu.stats.written, 0);
	SPE_CHECK(check, fixture_sample(&op_other));
	SPE_CHECK_EQ(check, fixture.spu.stats.written, 1);
	SPE_CHECK_EQ(check, fixture.spu.stats.selected, 2);
}

#define LDST SPE_OP_LOAD_STORE
#define B    SPE_PMSFCR_B
#define LD   SPE_PMSFCR_LD
#define ST   SPE_PMSFCR_ST

/* PMSFCR_EL1: which of B, LD and ST passes each kind of operation */
static const struct {
	u8 op_class;
	u8 op_subclass;
	u64 types;
} filter_types[] = {
	{ SPE_OP_OTHER, 0x00, 0 },
	{ SPE_OP_OTHER, 0x01, 0 },
	/* SVE data processing */
	{ SPE_OP_OTHER, 0x38, 0 },
	{ SPE_OP_BRANCH, 0x00, B },
	{ SPE_OP_BRANCH, 0x01, B },
	{ SPE_OP_BRANCH, 0x02, B },
	{ LDST, 0x00, LD },
	{ LDST, 0x01, ST },
	{ LDST, 0x04, LD },
	{ LDST, 0x05, ST },
	/* exclusive, acquire and release */
	{ LDST, 0x0a, LD },
	{ LDST, 0x0b, ST },
	{ LDST, 0x12, LD },
	{ LDST, 0x13, ST },
	/* atomic operations: all are stores, those that return a value are also loads */
	{ LDST, 0x06, LD | ST },
	{ LDST, 0x07, ST },
	{ LDST, 0x16, LD | ST },
	/* SVE */
	{ LDST, 0x38, LD },
	{ LDST, 0x39, ST },
	{ 3, 0x00, 0 },
};

static void test_type_filter(struct spe_check *check)
{
	for (u64 mask = 1; mask < 8; mask++) {
		u64 types = mask << 16, filtered;

		if (!fixture_init(check, NULL))
			return;
		spe_spu_write(&fixture.spu, SPE_REG_PMSFCR, types | SPE_PMSFCR_FT);
		fixture_arm(FIXTURE_SIZE);
		for (size_t i = 0; i < ARRAY_SIZE(filter_types); i++) {
			struct spe_operation op = op_other;
			u64 written = fixture.spu.stats.written;
			bool let = types & filter_types[i].types;

			op.op_class = filter_types[i].op_class;
			op.op_subclass = filter_types[i].op_subclass;
			spe_spu_execute_operation(&fixture.spu, &op);
			SPE_CHECK_EQ(check,
				     mask << 16 | i << 8 | (fixture.spu.stats.written - written),
				     mask << 16 | i << 8 | let);
		}
		SPE_CHECK_EQ(check, fixture.spu.stats.written + fixture.spu.stats.filtered,
			     ARRAY_SIZE(filter_types));
		/* B, LD and ST have no effect without FT. */
		filtered = fixture.spu.stats.filtered;
		spe_spu_write(&fixture.spu, SPE_REG_PMSFCR, types);
		spe_spu_execute_operation(&fixture.spu, &op_other);
		SPE_CHECK_EQ(check, fixture.spu.stats.filtered, filtered);
	}
}

static bool is_recorded(const struct spe_operation *op)
{
	u64 written = fixture.spu.stats.written, filtered = fixture.spu.stats.filtered;

	spe_spu_execute_operation(&fixture.spu, op);
	rearm_buffer();
	return fixture.spu.stats.written > written && fixture.spu.stats.filtered == filtered;
}

static bool start_filters(struct spe_check *check, u8 zero_filter)
{
	struct spe_spu_config config;

	spe_spu_config_default(&config);
	config.pmsver = 3;
	config.features |= SPE_PMSIDR_FNE;
	config.zero_filter = zero_filter;
	if (!fixture_init(check, &config))
		return false;
	fixture_arm(FIXTURE_SIZE);
	return true;
}

/* PMSEVFR: a record must have all events of the mask. PMSNEVFR: it must have none of them. */
static void test_event_filters(struct spe_check *check)
{
	u64 seed = 0x5eed0005, let = 0;

	if (!start_filters(check, SPE_SPU_ZERO_FILTER_OFF))
		return;
	for (unsigned int i = 0; i < 4000; i++) {
		struct spe_operation op = op_load;
		u64 r = spe_check_random(&seed);
		u64 want = 0, unwanted = 0;
		bool expected = true;

		/* Use masks with few of E[1,3,5,7,11], so that both outcomes occur. */
		for (unsigned int bit = 1; bit < 12; bit += bit == 7 ? 4 : 2) {
			want |= (r >> 3 * bit & 7) == 0 ? SPE_BIT(bit) : 0;
			unwanted |= (r >> 3 * bit & 7) == 1 ? SPE_BIT(bit) : 0;
		}
		op.events = r >> 40 & 0xffe;
		for (unsigned int bit = 0; bit < 16; bit++) {
			if (want >> bit & 1 && !(op.events >> bit & 1))
				expected = false;
			if (unwanted >> bit & 1 && op.events >> bit & 1)
				expected = false;
		}
		spe_spu_write(&fixture.spu, SPE_REG_PMSEVFR, want);
		spe_spu_write(&fixture.spu, SPE_REG_PMSNEVFR, unwanted);
		spe_spu_write(&fixture.spu, SPE_REG_PMSFCR, SPE_PMSFCR_FE | SPE_PMSFCR_FNE);
		SPE_CHECK_EQ(check, is_recorded(&op), expected);
		let += expected;
		/* Disabled filters have no effect. */
		spe_spu_write(&fixture.spu, SPE_REG_PMSFCR, 0);
		SPE_CHECK(check, is_recorded(&op));
	}
	SPE_CHECK(check, let > 500 && let < 3500);
}

/* PMSLATFR: the recorded total latency must be at least MINLAT. */
static void test_latency_filter(struct spe_check *check)
{
	static const struct {
		u32 min;
		u32 total;
		bool let;
	} rows[] = {
		{ 1, 0, false },	{ 1, 1, true },		 { 100, 99, false },
		{ 100, 100, true },	{ 100, 101, true },	 { 0xfff, 0xffe, false },
		{ 0xfff, 0xfff, true }, { 0xfff, 100000, true },
	};

	if (!start_filters(check, SPE_SPU_ZERO_FILTER_OFF))
		return;
	spe_spu_write(&fixture.spu, SPE_REG_PMSFCR, SPE_PMSFCR_FL);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct spe_operation op = op_other;

		op.total = rows[i].total;
		/* The filter does not consider the issue latency. */
		op.issue = 4000;
		spe_spu_write(&fixture.spu, SPE_REG_PMSLATFR, rows[i].min);
		SPE_CHECK_EQ(check, i << 8 | is_recorded(&op), i << 8 | rows[i].let);
	}
}

/* Test an enabled filter without a condition, with both permitted behaviours. */
static void test_filters_without_condition(struct spe_check *check)
{
	static const u64 on[] = { SPE_PMSFCR_FE, SPE_PMSFCR_FT, SPE_PMSFCR_FL, SPE_PMSFCR_FNE };

	for (size_t i = 0; i < ARRAY_SIZE(on); i++) {
		if (!start_filters(check, SPE_SPU_ZERO_FILTER_OFF))
			return;
		spe_spu_write(&fixture.spu, SPE_REG_PMSFCR, on[i]);
		SPE_CHECK(check, is_recorded(&op_load));
		if (!start_filters(check, SPE_SPU_ZERO_FILTER_ALL))
			return;
		SPE_CHECK(check, is_recorded(&op_load));
		spe_spu_write(&fixture.spu, SPE_REG_PMSFCR, on[i]);
		SPE_CHECK(check, !is_recorded(&op_load));
	}
}

/* A sample must pass all enabled filters. */
static void test_all_filters_together(struct spe_check *check)
{
	if (!start_filters(check, SPE_SPU_ZERO_FILTER_OFF))
		return;
	spe_spu_write(&fixture.spu, SPE_REG_PMSEVFR, SPE_BIT(SPE_EVENT_L1D_REFILL));
	spe_spu_write(&fixture.spu, SPE_REG_PMSNEVFR, SPE_BIT(SPE_EVENT_TLB_WALK));
	spe_spu_write(&fixture.spu, SPE_REG_PMSLATFR, 100);
	spe_spu_write(&fixture.spu, SPE_REG_PMSFCR,
		      SPE_PMSFCR_FE | SPE_PMSFCR_FT | SPE_PMSFCR_FL | SPE_PMSFCR_FNE | LD);
	for (unsigned int i = 0; i < 16; i++) {
		struct spe_operation op = i & 1 ? op_load : op_store;

		op.events = SPE_BIT(SPE_EVENT_RETIRED);
		op.events |= i & 2 ? SPE_BIT(SPE_EVENT_L1D_REFILL) : 0;
		op.events |= i & 4 ? 0 : SPE_BIT(SPE_EVENT_TLB_WALK);
		op.total = i & 8 ? 100 : 99;
		SPE_CHECK_EQ(check, i << 8 | is_recorded(&op), i << 8 | (i == 15));
	}
}

static const struct spe_case cases[] = {
	{ "interval, fixed", test_fixed_interval },
	{ "interval, jitter", test_interval_jitter },
	{ "interval, jitter with ERnd", test_interval_jitter_with_ernd },
	{ "interval, counters with ERnd", test_registers_with_ernd },
	{ "interval, in pieces", test_interval_in_pieces },
	{ "interval, saved and held", test_saved_counters_continue },
	{ "interval, initial jitter", test_initial_jitter },
	{ "Exception levels", test_sampled_levels },
	{ "collisions", test_collisions },
	{ "lost in flight", test_operations_in_flight_are_lost },
	{ "filter by type", test_type_filter },
	{ "filter by event", test_event_filters },
	{ "filter by latency", test_latency_filter },
	{ "filter that names nothing", test_filters_without_condition },
	{ "filters together", test_all_filters_together },
};

const struct spe_suite spe_suite_spu_sampling = { "spu-sampling", cases, ARRAY_SIZE(cases) };
