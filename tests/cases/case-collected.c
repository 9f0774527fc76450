// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Test data that the record of any operation may have (D17.6, D17.6.1, D17.6.3, D17.6.7,
 * D17.6.10.1): branches, how an operation ended, time, clock domains, Security states, and packets
 * that an implementation adds.
 */
#include "instruction-fixture.h"
#include "suites.h"

#define I(name)	  SPE_INSTRUCTION_##name
#define CHOICE(x) SPE_CHOICE_##x
#define TARGET	  SPE_HAS_ADDRESS(1)
#define PREV	  SPE_HAS_ADDRESS(4)

/*
 * D17.6.3: test a branch's target and its Exception level, taken or not taken, predicted or
 * mispredicted.
 */
static void test_branch_targets(struct spe_check *check)
{
	static const struct {
		u64 flags;
		u64 choices;
		u64 events; /* expected events in addition to E[1] (retired) */
		bool target;
		u8 top;
	} rows[] = {
		{ 0, 0, 0, true, 0x80 },
		{ I(MISPREDICTED), 0, 0x80, true, 0x80 },
		{ I(CONDITIONAL) | I(PASSED), 0, 0, true, 0x80 },
		{ I(CONDITIONAL), 0, 0x40, false, 0 },
		{ I(CONDITIONAL) | I(MISPREDICTED), 0, 0xc0, false, 0 },
		/* The target of a branch that is not taken is UNKNOWN, if it is recorded. */
		{ I(CONDITIONAL), CHOICE(NOT_TAKEN_TARGET), 0x40, true, 0x80 },
		/*
		 * After an illegal exception return the target has the actual Exception level, or
		 * that of SPSR.
		 */
		{ I(ILLEGAL) | I(SYNC), 0, 0, true, 0x80 },
		{ I(ILLEGAL) | I(SYNC), CHOICE(ERET_SPSR), 0, true, 0x20 },
		{ I(SYNC), CHOICE(ERET_SPSR), 0, true, 0x80 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct spe_instruction branch = {
			.pc = 0x1000,
			.target = 0xff123456789abcdeULL,
			.kind = I(BRANCH),
			.flags = rows[i].flags,
			.el = 1,
			.target_top = 0x80,
			.spsr_top = 0x20,
		};
		struct spe_sample s = { 0 };

		if (!instruction_record_with_choices(check, rows[i].choices, &branch, &s))
			return;
		SPE_CHECK_EQ(check, i << 16 | s.events, i << 16 | 2 | rows[i].events);
		SPE_CHECK_EQ(check, i << 16 | spe_check_bit(s.present & TARGET),
			     i << 16 | rows[i].target);
		if (rows[i].target)
			SPE_CHECK_EQ(check, s.address[1],
				     (u64)rows[i].top << 56 | 0x123456789abcdeULL);
		SPE_CHECK_EQ(check, s.address[0], 0xa000000000001000ULL);
	}
}

/* If an ISB is treated as a branch, its target is the next instruction. */
static void test_isb_as_branch(struct spe_check *check)
{
	const struct spe_instruction isb = { .pc = 0x1000, .kind = I(ISB) };
	struct spe_sample s = { 0 };

	if (!instruction_record_with_choices(check, CHOICE(ISB_BRANCH), &isb, &s))
		return;
	SPE_CHECK_EQ(check, s.address[1], 0x8000000000001004ULL);
	if (!instruction_record_with_choices(check, 0, &isb, &s))
		return;
	SPE_CHECK(check, !(s.present & TARGET));
}

/* D17.6.3.1: test which previous branch a record has, and whether its target is recorded. */
static void test_previous_branch(struct spe_check *check)
{
	enum { BRANCH = 1, NOT_TAKEN, ERET, ISB, EXCEPTION, UNSAMPLED, SPECULATIVE, OTHER };
	static const struct {
		u8 before[3];
		u64 choices;
		u64 target; /* expected target; 0: the record has none */
	} rows[] = {
		{ { 0 }, 0, 0 },
		{ { BRANCH }, 0, 0x2000 },
		{ { BRANCH, OTHER, NOT_TAKEN }, 0, 0x2000 },
		/* A branch that is still speculative does not count as the previous branch. */
		{ { BRANCH, SPECULATIVE }, 0, 0x2000 },
		{ { BRANCH, ERET }, 0, 0 },
		{ { BRANCH, ERET }, CHOICE(PBT_SYNC), 0x3000 },
		{ { ERET, BRANCH }, 0, 0x2000 },
		{ { BRANCH, ISB }, 0, 0 },
		{ { BRANCH, ISB }, CHOICE(PBT_ACROSS), 0x2000 },
		{ { BRANCH, EXCEPTION }, 0, 0 },
		{ { BRANCH, EXCEPTION }, CHOICE(PBT_ACROSS), 0x2000 },
		{ { BRANCH, EXCEPTION, BRANCH }, 0, 0x2000 },
		/*
		 * A branch that was executed where profiling is disabled never counts as the
		 * previous branch.
		 */
		{ { BRANCH, UNSAMPLED }, 0, 0 },
		{ { BRANCH, UNSAMPLED }, CHOICE(PBT_ACROSS) | CHOICE(PBT_SYNC), 0 },
	};
	const struct spe_instruction sampled = { .kind = I(BRANCH), .target = 0x5000 };
	static const struct spe_instruction steps[] = {
		[BRANCH] = { .kind = I(BRANCH), .target = 0x2000, .target_top = 0x80 },
		[NOT_TAKEN] = { .kind = I(BRANCH), .flags = I(CONDITIONAL), .target = 0x9000 },
		[ERET] = { .kind = I(BRANCH),
			   .flags = I(SYNC),
			   .target = 0x3000,
			   .target_top = 0xa0 },
		[ISB] = { .kind = I(ISB) },
		[EXCEPTION] = { .kind = I(MEMORY), .outcome = SPE_OUTCOME_EXCEPTION },
		[UNSAMPLED] = { .kind = I(BRANCH), .el = 2, .target = 0x6000 },
		[SPECULATIVE] = { .kind = I(BRANCH),
				  .target = 0x7000,
				  .outcome = SPE_OUTCOME_MISSPECULATED },
		[OTHER] = { .kind = I(OTHER) },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct spe_spu_config config = instruction_make_config();
		struct spe_sample s = { 0 };

		config.choices = rows[i].choices;
		if (!instruction_start(check, &config))
			return;
		for (size_t n = 0; n < 3 && rows[i].before[n]; n++)
			spe_spu_execute_instruction(&fixture.spu, &steps[rows[i].before[n]]);
		if (!instruction_record(check, &sampled, &s))
			return;
		SPE_CHECK_EQ(check, i << 8 | spe_check_bit(s.present & PREV),
			     i << 8 | spe_check_bit(rows[i].target));
		if (rows[i].target)
			SPE_CHECK_EQ(check, s.address[4],
				     rows[i].target | (rows[i].target == 0x3000 ? 0xa0ULL << 56 :
										  0x80ULL << 56));
	}
}

/*
 * D17.6.7, D17.6.10.1: for each way in which an operation can end, test whether it is in the sample
 * population, whether it is recorded, and E[1:0].
 */
static void test_outcomes_of_operations(struct spe_check *check)
{
#define POP	 1
#define CAPTURED 2
	static const struct {
		u8 outcome;
		u64 choices;
		u8 what;
		u8 events;
	} rows[] = {
		{ SPE_OUTCOME_RETIRED, 0, POP | CAPTURED, 2 },
		{ SPE_OUTCOME_EXCEPTION, 0, POP | CAPTURED, 3 },
		{ SPE_OUTCOME_MISSPECULATED, 0, POP | CAPTURED, 0 },
		{ SPE_OUTCOME_MISSPECULATED, CHOICE(MISSPECULATED_LOST), POP, 0 },
		{ SPE_OUTCOME_MISSPECULATED, CHOICE(NO_MISSPECULATED), 0, 0 },
		{ SPE_OUTCOME_MISSPECULATED, CHOICE(NO_MISSPECULATED) | CHOICE(MISSPECULATED_LOST),
		  0, 0 },
		{ SPE_OUTCOME_NONARCH, 0, 0, 0 },
		{ SPE_OUTCOME_NONARCH, CHOICE(NONARCH), POP, 0 },
		{ SPE_OUTCOME_NONARCH, CHOICE(NONARCH) | CHOICE(NONARCH_KEPT), POP | CAPTURED, 0 },
		{ SPE_OUTCOME_IMPDEF_EXCEPTION, 0, 0, 0 },
		{ SPE_OUTCOME_IMPDEF_EXCEPTION, CHOICE(IMPDEF_EXC), POP, 0 },
		{ SPE_OUTCOME_IMPDEF_EXCEPTION, CHOICE(IMPDEF_EXC) | CHOICE(IMPDEF_EXC_KEPT),
		  POP | CAPTURED, 0 },
		{ SPE_OUTCOME_IMPDEF_EXCEPTION,
		  CHOICE(IMPDEF_EXC) | CHOICE(IMPDEF_EXC_KEPT) | CHOICE(IMPDEF_EXC_E0),
		  POP | CAPTURED, 1 },
		{ SPE_OUTCOME_IMPDEF_EXCEPTION,
		  CHOICE(IMPDEF_EXC) | CHOICE(IMPDEF_EXC_KEPT) | CHOICE(IMPDEF_EXC_HANDLED),
		  POP | CAPTURED, 2 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct spe_instruction instruction = { .kind = I(OTHER),
							     .outcome = rows[i].outcome,
							     .micro_ops = 1 };
		struct spe_spu_config config = instruction_make_config();
		const struct spe_spu_stats *stats = &fixture.spu.stats;
		struct spe_sample s = { 0 };

		/* An operation without an instruction is always a micro-op. */
		config.features &= ~SPE_PMSIDR_ARCHINST;
		config.choices = rows[i].choices;
		if (!instruction_start(check, &config))
			return;
		spe_spu_execute_instruction(&fixture.spu, &instruction);
		/*
		 * SAMPLE_POP and SAMPLE_FEED count each operation, SAMPLE_FILTRATE only those that
		 * are recorded.
		 */
		SPE_CHECK_EQ(check, i << 8 | stats->operations, i << 8 | (rows[i].what & POP));
		SPE_CHECK_EQ(check, i << 8 | stats->selected, i << 8 | (rows[i].what & POP));
		SPE_CHECK_EQ(check, i << 8 | stats->passed, i << 8 | rows[i].what >> 1);
		SPE_CHECK_EQ(check, i << 8 | stats->written, i << 8 | rows[i].what >> 1);
		SPE_CHECK_EQ(check, stats->uncaptured, stats->selected - stats->written);
		if (!(rows[i].what & CAPTURED))
			continue;
		SPE_CHECK(check, spe_record_decode(fixture.mem, 256, 256, &s) > 0);
		SPE_CHECK_EQ(check, i << 8 | s.events, i << 8 | rows[i].events);
	}
#undef POP
#undef CAPTURED
}

/*
 * D17.6.7: values that software could not access are not recorded, and cannot be inferred from a
 * record.
 */
static void test_secrets_are_not_recorded(struct spe_check *check)
{
	const struct spe_access access = { .va = 0x1000, .pa = 0x2000 };
	static const u8 kinds[] = { I(BRANCH), I(MEMORY), I(SVE) };
	struct spe_spu_config config = instruction_make_config();

	config.choices = CHOICE(NOT_TAKEN_TARGET);
	if (!instruction_start(check, &config))
		return;
	for (unsigned int i = 0; i < 8 * ARRAY_SIZE(kinds); i++) {
		const struct spe_instruction instruction = {
			.accesses = &access,
			.access_count = kinds[i >> 3] == I(MEMORY),
			.kind = kinds[i >> 3],
			.outcome = SPE_OUTCOME_MISSPECULATED,
			.flags = I(MISPREDICTED) | I(PREDICATED) | I(EMPTY) | I(CONDITIONAL) |
				 (i & 1 ? I(SECRET_ADDRESS) : 0) |
				 (i & 2 ? I(SECRET_CONDITION) : 0) | (i & 4 ? I(SECRET_TARGET) : 0),
			.target = 0x5000,
			.size = 128,
			.vectors = 1,
		};
		const u64 conditions = 0x600c0;
		struct spe_sample s = { 0 };

		if (!instruction_record(check, &instruction, &s))
			return;
		SPE_CHECK_EQ(check, i << 8 | spe_check_bit(s.present & TARGET),
			     i << 8 | (kinds[i >> 3] == I(BRANCH) && !(i & 4)));
		SPE_CHECK_EQ(check,
			     i << 8 | spe_check_bit(s.present &
						    (SPE_HAS_ADDRESS(2) | SPE_HAS_ADDRESS(3))),
			     i << 8 | (kinds[i >> 3] == I(MEMORY) && !(i & 1)));
		SPE_CHECK_EQ(check, i << 8 | spe_check_bit(s.events & conditions),
			     i << 8 | (kinds[i >> 3] != I(MEMORY) && !(i & 2)));
		SPE_CHECK_EQ(check, s.events & 3, 0);
	}
}

/*
 * D17.6, D17.6.10: the record of an operation with an exception may lack any packet but Events and
 * the last one. In 1000 records a packet appears 500 times, with a standard deviation of 15.8: 400
 * to 600 is more than 6 of them.
 */
static void test_incomplete_record_is_random(struct spe_check *check)
{
	const struct spe_instruction instruction = { .kind = I(OTHER),
						     .outcome = SPE_OUTCOME_EXCEPTION };
	struct spe_spu_config config = instruction_make_config();
	unsigned int pc = 0, op = 0, total = 0;

	config.incomplete = SPE_SPU_INCOMPLETE_SOME;
	if (!instruction_start(check, &config))
		return;
	for (unsigned int i = 0; i < 1000; i++) {
		struct spe_sample s = { 0 };

		spe_spu_write(&fixture.spu, SPE_REG_PMBPTR, FIXTURE_BASE);
		if (!instruction_record(check, &instruction, &s))
			return;
		SPE_CHECK(check, spe_sample_has(&s, SPE_HAS_EVENTS | SPE_HAS_TIMESTAMP));
		pc += s.present & 1;
		op += !!(s.present & SPE_HAS_OP);
		total += !!(s.present & SPE_HAS_COUNTER(0));
	}
	SPE_CHECK(check, pc > 400 && pc < 600 && op > 400 && op < 600);
	SPE_CHECK(check, total > 400 && total < 600);
}

/*
 * D18.2.3: test the counters of WFI and WFE, and whether the PE wakes up because such an operation
 * is sampled.
 */
static void test_wfi_and_wfe(struct spe_check *check)
{
	static const struct {
		u64 choices;
		u16 total;
	} rows[] = {
		{ 0, 20 },
		{ CHOICE(WAIT_COUNTS), 520 },
		{ CHOICE(WAIT_ENTRY), 20 },
		{ CHOICE(WAIT_ENTRY) | CHOICE(WAIT_COUNTS), 20 },
		{ CHOICE(WAIT_WAKES), 20 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct spe_instruction wait = { .kind = I(WAIT),
						      .total = 20,
						      .low_power = 500 };
		const struct spe_instruction other = { .kind = I(OTHER),
						       .total = 20,
						       .low_power = 500 };
		struct spe_sample s = { 0 };

		if (!instruction_record_with_choices(check, rows[i].choices, &wait, &s))
			return;
		SPE_CHECK_EQ(check, i << 16 | s.counter[0], i << 16 | rows[i].total);
		SPE_CHECK_EQ(check, fixture.events[SPE_SPU_EVENT_WAKE],
			     !!(rows[i].choices & CHOICE(WAIT_WAKES)));
		if (!instruction_record(check, &other, &s))
			return;
		SPE_CHECK_EQ(check, s.counter[0], 20);
		SPE_CHECK_EQ(check, fixture.events[SPE_SPU_EVENT_WAKE],
			     !!(rows[i].choices & CHOICE(WAIT_WAKES)));
	}
}

/* D17.6.1: test which clock counts the latency of units outside the PE, by PMSIDR_EL1.ALTCLK. */
static void test_clock_domains(struct spe_check *check)
{
	static const struct {
		u8 altclk;
		u64 flags;
		bool alternate;
	} rows[] = {
		{ SPE_ALTCLK_NONE, I(SMCU) | I(STREAMING), false },
		{ SPE_ALTCLK_SMCU, I(SMCU) | I(STREAMING), true },
		{ SPE_ALTCLK_SMCU, I(SMCU), false },
		{ SPE_ALTCLK_SMCU, I(STREAMING), false },
		{ SPE_ALTCLK_IMPDEF, I(SMCU), true },
		{ SPE_ALTCLK_IMPDEF, I(STREAMING), false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct spe_instruction instruction = {
			.kind = I(SME_TILE),
			.flags = rows[i].flags,
			.size = 512,
			.vectors = 1,
			.total = 90,
			.issue = 30,
			.alt_issue = 7,
		};
		struct spe_spu_config config = instruction_make_config();
		struct spe_sample s = { 0 };

		config.altclk = rows[i].altclk;
		if (!instruction_start(check, &config) ||
		    !instruction_record(check, &instruction, &s))
			return;
		SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMSIDR) >> 28 & 15, rows[i].altclk);
		SPE_CHECK_EQ(check, i << 8 | spe_check_bit(s.present & SPE_HAS_COUNTER(4)),
			     i << 8 | rows[i].alternate);
		SPE_CHECK_EQ(check, i << 8 | spe_check_bit(s.present & SPE_HAS_COUNTER(1)),
			     i << 8 | spe_check_bit(!rows[i].alternate));
		SPE_CHECK_EQ(check, s.counter[4] + s.counter[1], rows[i].alternate ? 7 : 30);
		/* The Total latency is always in the PE's clock. */
		SPE_CHECK_EQ(check, s.counter[0], 90);
		/* E[24]: in Streaming SVE mode; E[25]: executed by an SMCU. */
		SPE_CHECK_EQ(check, s.events >> 24 & 3,
			     (rows[i].flags & I(STREAMING) ? 1U : 0U) |
				     (rows[i].flags & I(SMCU) ? 2U : 0U));
	}
}

/*
 * D17.6, D18.2.9: the timestamp is the time at which the operation was selected or completed. Test
 * also a counter that is stopped.
 */
static void test_timestamps(struct spe_check *check)
{
	const struct spe_instruction instruction = { .kind = I(OTHER),
						     .timestamp = 1000,
						     .finished = 1040 };
	const struct spe_controls controls = { .ns = true, .e2pb = 3 };
	struct spe_sample s = { 0 };

	if (!instruction_record_with_choices(check, 0, &instruction, &s))
		return;
	SPE_CHECK_EQ(check, s.timestamp, 1000);
	if (!instruction_record_with_choices(check, CHOICE(TIME_AT_END), &instruction, &s))
		return;
	SPE_CHECK_EQ(check, s.timestamp, 1040);
	for (unsigned int i = 0; i < 4; i++) {
		struct spe_timers timers = { .stopped = i & 1 };
		struct spe_spu_config config = instruction_make_config();
		u64 first;

		config.choices = i & 2 ? CHOICE(TIME_UNKNOWN) : 0;
		if (!instruction_start(check, &config))
			return;
		spe_spu_set_controls(&fixture.spu, &controls, &timers);
		if (!instruction_record(check, &instruction, &s))
			return;
		SPE_CHECK_EQ(check, i << 8 | spe_check_bit(s.present & SPE_HAS_TIMESTAMP),
			     i << 8 | (i != 1));
		first = s.timestamp;
		SPE_CHECK_EQ(check, first == 1000, !(i & 1));
		if (i != 3)
			continue;
		/*
		 * An UNKNOWN timestamp must be random, so that it is not taken for a time: two
		 * consecutive timestamps differ in many bits.
		 */
		if (!instruction_record(check, &instruction, &s))
			return;
		SPE_CHECK(check, s.timestamp != first && s.timestamp - first > 1 << 20);
	}
}

/*
 * D18.2.1, D17.4: test NS and NSE for each Security state, and that only the owning state is
 * sampled.
 */
static void test_security_states(struct spe_check *check)
{
	static const struct {
		bool ns;
		bool nse;
		u8 state;
		u8 top; /* expected: top byte of an address at EL1 */
	} states[] = {
		{ false, false, SPE_STATE_SECURE, 0x20 },
		{ true, false, SPE_STATE_NONSECURE, 0xa0 },
		{ true, true, SPE_STATE_REALM, 0xb0 },
	};
	const struct spe_access access = { .va = 0x1000, .pa = 0x2000 };
	const struct spe_instruction load = {
		.accesses = &access, .access_count = 1, .kind = I(MEMORY), .pc = 0x4000, .el = 1
	};

	for (size_t i = 0; i < ARRAY_SIZE(states) * SPE_STATES; i++) {
		const size_t state = i / SPE_STATES;
		struct spe_controls controls = { .ns = states[state].ns,
						 .nse = states[state].nse,
						 .owner = i % SPE_STATES,
						 .e2pb = 3 };
		bool owning = controls.owner == SPE_STATE_CURRENT ||
			      controls.owner == states[state].state;
		struct spe_spu_config config = instruction_make_config();
		const struct spe_timers timers = { 0 };
		struct spe_sample s = { 0 };

		if (!instruction_start(check, &config))
			return;
		SPE_CHECK_EQ(check, spe_spu_set_controls(&fixture.spu, &controls, &timers), 0);
		SPE_CHECK_EQ(check, i << 8 | spe_spu_profiling_enabled(&fixture.spu, 1),
			     i << 8 | owning);
		if (!owning)
			continue;
		if (!instruction_record(check, &load, &s))
			return;
		SPE_CHECK_EQ(check, s.address[0], (u64)states[state].top << 56 | 0x4000);
		/*
		 * A physical address has the same two bits for its address space, and no Exception
		 * level.
		 */
		SPE_CHECK_EQ(check, s.address[3], (u64)(states[state].top & 0x90) << 56 | 0x2000);
		/* D17.6.9: CONTEXTIDR_EL2 is not recorded in a Security state without EL2. */
		SPE_CHECK_EQ(check, fixture.spu.collect[1].context2, states[state].ns);
		controls.halted = true;
		spe_spu_set_controls(&fixture.spu, &controls, &timers);
		SPE_CHECK(check, !spe_spu_profiling_enabled(&fixture.spu, 1));
	}
}

/* Test a Secure or Realm operation that accesses the Non-secure physical address space. */
static void test_physical_address_space(struct spe_check *check)
{
	const struct spe_access access = { .pa = 0x2000, .flags = SPE_ACCESS_PA_NS };
	const struct spe_instruction load = { .accesses = &access,
					      .access_count = 1,
					      .kind = I(MEMORY) };
	struct spe_controls controls = { .e2pb = 3 };
	struct spe_spu_config config = instruction_make_config();
	const struct spe_timers timers = { 0 };
	struct spe_sample s = { 0 };

	for (unsigned int realm = 0; realm < 2; realm++) {
		controls.ns = controls.nse = realm;
		if (!instruction_start(check, &config))
			return;
		spe_spu_set_controls(&fixture.spu, &controls, &timers);
		if (!instruction_record(check, &load, &s))
			return;
		SPE_CHECK_EQ(check, s.address[3], 0x8000000000002000ULL);
		SPE_CHECK_EQ(check, s.address[0] >> 56, realm ? 0x90 : 0);
	}
	/* There is no Realm state without FEAT_RME. */
	config.pe &= ~SPE_PE_RME;
	if (!instruction_start(check, &config))
		return;
	SPE_CHECK_EQ(check, spe_spu_set_controls(&fixture.spu, &controls, &timers), -EINVAL);
	controls = (struct spe_controls){ .ns = true, .owner = SPE_STATES };
	SPE_CHECK_EQ(check, spe_spu_set_controls(&fixture.spu, &controls, &timers), -EINVAL);
}

/*
 * D17.6, D18.1.4.2: test IMPLEMENTATION DEFINED packets with short and extended headers, and fixed
 * counters.
 */
static void test_impdef_packets(struct spe_check *check)
{
	const struct spe_instruction instruction = {
		.kind = I(OTHER),
		.pc = 0x1234,
		.total = 5,
		.issue = 2,
		.valid = SPE_OPERATION_IMPDEF_ADDRESS | SPE_OPERATION_IMPDEF_COUNTER,
		.impdef_address = 0x1122334455667788ULL,
		.impdef_counter = 0x10000,
	};
	static const u8 extended[] = {
		/* PC, Operation Type, Events */
		0x20,
		0xb0,
		0x34,
		0x12,
		0,
		0,
		0,
		0,
		0,
		0x80,
		0x48,
		0x00,
		0x52,
		0x02,
		0x00,
		/* no issue latency; total latency; counter INDEX 31, address INDEX 16; End */
		0x20,
		0x98,
		0x05,
		0x00,
		0x23,
		0x9f,
		0xff,
		0x0f,
		0x22,
		0xb0,
		0x88,
		0x77,
		0x66,
		0x55,
		0x44,
		0x33,
		0x22,
		0x11,
		0x01,
	};
	static const u8 shortened[] = {
		0xb0, 0x34, 0x12, 0,	0,    0,    0,	  0,	0x80, 0x48, 0x00,
		0x52, 0x02, 0x00, 0x99, 0x02, 0x00, 0x98, 0x05, 0x00, 0x9e, 0xff,
		0x0f, 0xb7, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0x01,
	};

	for (unsigned int i = 0; i < 2; i++) {
		const u8 *expected = i ? shortened : extended;
		size_t size = i ? sizeof(shortened) : sizeof(extended);
		struct spe_spu_config config = instruction_make_config();
		struct spe_sample s = { 0 };

		config.events_size = 2;
		config.sampled_events = 0;
		config.impdef_address = i ? 7 : 16;
		config.impdef_counter = i ? 6 : 31;
		config.choices = i ? 0 : CHOICE(EXTENDED);
		config.omit_counters = i ? 0 : 2;
		if (!instruction_start(check, &config))
			return;
		spe_spu_write(&fixture.spu, SPE_REG_PMSCR, SPE_PMSCR_E0SPE);
		spe_spu_write_at(&fixture.spu, SPE_REG_PMSCR, 2, 0);
		if (!instruction_record(check, &instruction, &s))
			return;
		SPE_CHECK_EQ(check, s.size, size);
		for (size_t n = 0; n < size; n++)
			SPE_CHECK_EQ(check, n << 8 | fixture.mem[n], n << 8 | expected[n]);
	}
}

/* Each choice has a unique name, by which it is found. */
static void test_choice_names(struct spe_check *check)
{
	for (unsigned int bit = 0; bit < SPE_CHOICES; bit++) {
		const struct spe_impdef *choice = spe_impdef_get(bit);

		if (!SPE_CHECK(check, choice && choice->name && choice->where && choice->other))
			return;
		SPE_CHECK_EQ(check, (u64)spe_impdef_find(choice->name), bit);
	}
	SPE_CHECK(check, !spe_impdef_get(SPE_CHOICES));
	SPE_CHECK_EQ(check, spe_impdef_find("no such choice"), -ENOENT);
	SPE_CHECK_EQ(check, spe_impdef_find("granule_varies"), SPE_CHOICES - 1);
}

static const struct spe_case cases[] = {
	{ "branches", test_branch_targets },
	{ "ISB as a branch", test_isb_as_branch },
	{ "previous branch", test_previous_branch },
	{ "outcomes", test_outcomes_of_operations },
	{ "secrets", test_secrets_are_not_recorded },
	{ "incomplete, some", test_incomplete_record_is_random },
	{ "WFI and WFE", test_wfi_and_wfe },
	{ "clock domains", test_clock_domains },
	{ "timestamps", test_timestamps },
	{ "Security states", test_security_states },
	{ "physical address space", test_physical_address_space },
	{ "packets", test_impdef_packets },
	{ "choices", test_choice_names },
};

const struct spe_suite spe_suite_collected = { "collected", cases, ARRAY_SIZE(cases) };
