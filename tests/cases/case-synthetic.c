// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Test synthetic programs: the operations that they execute, and that sampling finds these
 * operations.
 */
#include "model/opmodel.h"
#include "spu-fixture.h"
#include "suites.h"
#include "model/synthetic.h"

#define MIB (1ULL << 20)

static struct spe_synthetic_program one, other;
static u8 line_owner;

static struct spe_synthetic_config make_config(enum spe_program program, u64 working_set)
{
	return (struct spe_synthetic_config){
		.program = program,
		.mispredicted = 64,
		.context = 4711,
		.pc = 0x0000aaaab0000000ULL,
		.va = 0x0000ffff80000000ULL,
		.working_set = working_set,
		.line_owner = &line_owner,
		.seed = 0x5eed0008,
	};
}

static bool start_program(struct spe_check *check, enum spe_program program, u64 working_set)
{
	struct spe_synthetic_config config = make_config(program, working_set);

	line_owner = 1;
	return SPE_CHECK_EQ(check, spe_synthetic_init(&one, &config, NULL), 0);
}

static void run_operations(u64 operations)
{
	struct spe_operation op;

	while (operations--)
		spe_synthetic_execute_next(&one, &op);
}

/* One lap of the pointer chase visits each line once, so the shares are exact. */
static void test_chase_program(struct spe_check *check)
{
	const u64 lines = 64 * MIB / SPE_SYNTHETIC_LINE;

	if (!start_program(check, SPE_PROGRAM_CHASE, 64 * MIB))
		return;
	run_operations(3 * lines);
	SPE_CHECK_EQ(check, one.truth.kind[SPE_KIND_LOAD], lines);
	SPE_CHECK_EQ(check, one.truth.kind[SPE_KIND_OTHER], lines);
	SPE_CHECK_EQ(check, one.truth.kind[SPE_KIND_BRANCH], lines);
	SPE_CHECK_EQ(check, one.truth.source[SPE_SOURCE_L1D], 1024);
	SPE_CHECK_EQ(check, one.truth.source[SPE_SOURCE_L2], 16384 - 1024);
	SPE_CHECK_EQ(check, one.truth.source[SPE_SOURCE_SYSTEM_CACHE], lines / 2 - 16384);
	SPE_CHECK_EQ(check, one.truth.source[SPE_SOURCE_DRAM], lines / 2);
	SPE_CHECK_EQ(check, one.truth.event[SPE_EVENT_LLC_MISS], lines / 2);
	SPE_CHECK_EQ(check, one.truth.event[SPE_EVENT_L1D_REFILL], lines - 1024);
}

/*
 * Three laps of 8-byte accesses: the first access of a page comes from DRAM, and the first one of a
 * line from outside of L1.
 */
static void test_stream_program(struct spe_check *check)
{
	if (!start_program(check, SPE_PROGRAM_STREAM, MIB))
		return;
	run_operations(MIB / 8 * 5);
	SPE_CHECK_EQ(check, one.truth.kind[SPE_KIND_LOAD], MIB / 8 * 2);
	SPE_CHECK_EQ(check, one.truth.kind[SPE_KIND_STORE], MIB / 8);
	SPE_CHECK_EQ(check, one.truth.event[SPE_EVENT_LLC_MISS], 3 * MIB / 4096);
	SPE_CHECK_EQ(check, one.truth.event[SPE_EVENT_L1D_REFILL], 3 * MIB / 64);
	SPE_CHECK_EQ(check, one.truth.event[SPE_EVENT_TLB_WALK], 0);
}

/* A single CPU always has the line. If two CPUs alternate, each access transfers the line. */
static void test_shared_line_program(struct spe_check *check)
{
	struct spe_synthetic_config config = make_config(SPE_PROGRAM_SHARED_LINE, 4096);
	struct spe_operation op;

	if (!start_program(check, SPE_PROGRAM_SHARED_LINE, 4096))
		return;
	run_operations(4000);
	SPE_CHECK_EQ(check, one.truth.event[SPE_EVENT_L1D_REFILL], 1);

	config.cpu = 1;
	if (!start_program(check, SPE_PROGRAM_SHARED_LINE, 4096) ||
	    !SPE_CHECK_EQ(check, spe_synthetic_init(&other, &config, NULL), 0))
		return;
	for (unsigned int i = 0; i < 4000; i++) {
		spe_synthetic_execute_next(&one, &op);
		spe_synthetic_execute_next(&other, &op);
	}
	SPE_CHECK_EQ(check, one.truth.event[SPE_EVENT_L1D_REFILL], 2000);
	SPE_CHECK_EQ(check, other.truth.event[SPE_EVENT_L1D_REFILL], 2000);
	SPE_CHECK_EQ(check, one.truth.source[SPE_SOURCE_PEER_CORE], 1000);
}

/* Both CPUs access the same word of a line. In "shared-line" each CPU accesses a different word. */
static void test_shared_word_program(struct spe_check *check)
{
	static const struct {
		enum spe_program program;
		u64 apart;
	} rows[] = { { SPE_PROGRAM_SHARED_LINE, 8 }, { SPE_PROGRAM_SHARED_WORD, 0 } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct spe_synthetic_config config = make_config(rows[i].program, 4096);
		struct spe_operation a, b;

		config.cpu = 1;
		if (!start_program(check, rows[i].program, 4096) ||
		    !SPE_CHECK_EQ(check, spe_synthetic_init(&other, &config, NULL), 0))
			return;
		spe_synthetic_execute_next(&one, &a);
		spe_synthetic_execute_next(&other, &b);
		SPE_CHECK_EQ(check, b.va - a.va, rows[i].apart);
		SPE_CHECK_EQ(check, b.source, SPE_SOURCE_PEER_CORE);
	}
}

static void check_share(struct spe_check *check, u64 part, u64 whole, u64 permille)
{
	/* For 10^5 draws 8 per mille are five standard deviations of a fair coin. */
	SPE_CHECK(check, part * 1000 > (permille - 8) * whole);
	SPE_CHECK(check, part * 1000 < (permille + 8) * whole);
}

static void test_branchy_program(struct spe_check *check)
{
	u64 decisions;

	if (!start_program(check, SPE_PROGRAM_BRANCHY, 4096))
		return;
	run_operations(1000000);
	/* Each iteration has two branches: a random decision, and the one that closes the loop. */
	decisions = one.truth.kind[SPE_KIND_BRANCH] / 2;
	check_share(check, one.truth.event[SPE_EVENT_MISPREDICTED], decisions, 250);
	check_share(check, one.truth.event[SPE_EVENT_NOT_TAKEN], decisions, 500);
}

static void test_gather_program(struct spe_check *check)
{
	if (!start_program(check, SPE_PROGRAM_GATHER, 64 * MIB))
		return;
	run_operations(400000);
	SPE_CHECK_EQ(check, one.truth.simd, 100000);
	SPE_CHECK_EQ(check, one.truth.kind[SPE_KIND_LOAD], 100000);
	check_share(check, one.truth.event[SPE_EVENT_PARTIAL_PREDICATE], 100000, 250);
	check_share(check, one.truth.source[SPE_SOURCE_DRAM], 100000, 500);
	/* The TLB covers 1024 of 16384 pages. */
	check_share(check, one.truth.event[SPE_EVENT_TLB_WALK], 100000, 937);
}

static void test_memcpy_program(struct spe_check *check)
{
	if (!start_program(check, SPE_PROGRAM_MEMCPY, MIB))
		return;
	for (unsigned int i = 0; i < 300000; i++) {
		struct spe_operation op;
		bool upper;

		spe_synthetic_execute_next(&one, &op);
		if (op.op_class != SPE_OP_LOAD_STORE)
			continue;
		upper = op.va - one.config.va >= MIB / 2;
		SPE_CHECK_EQ(check, upper, op.op_subclass & SPE_OP_LDST);
		SPE_CHECK_EQ(check, spe_op_format(op.op_class, op.op_subclass),
			     SPE_OP_FORMAT_LS_MEMCPY);
	}
	check_share(check, one.truth.kind[SPE_KIND_STORE], 100000, 500);
}

static void check_consistent_operation(struct spe_check *check, const struct spe_operation *op)
{
	const struct spe_synthetic_config *config = &one.config;
	u64 end = config->pc + 4ULL * spe_synthetic_get_loop_length(config->program);

	SPE_CHECK(check, op->pc >= config->pc && op->pc < end && op->pc % 4 == 0);
	if (op->valid & SPE_OPERATION_TARGET)
		SPE_CHECK(check, op->target >= config->pc && op->target < end);
	if (op->valid & SPE_OPERATION_VA)
		SPE_CHECK(check, op->va - config->va < config->working_set);
	SPE_CHECK(check, spe_op_format(op->op_class, op->op_subclass) != SPE_OP_FORMAT_RESERVED);
	SPE_CHECK(check, op->issue && op->issue < op->total && op->translation < op->total);
	SPE_CHECK_EQ(check, !!(op->valid & SPE_OPERATION_SOURCE),
		     op->op_class == SPE_OP_LOAD_STORE && !(op->op_subclass & SPE_OP_LDST));
}

/*
 * Test that each operation has a PC of the loop, that it determines the next PC, and that the
 * counters in spe_truth are the sums.
 */
static void test_every_program(struct spe_check *check)
{
	for (unsigned int program = 0; program < SPE_PROGRAMS; program++) {
		u64 cycles = 0, retired = 0, loads = 0, expected_pc = 0x0000aaaab0000000ULL;

		if (!start_program(check, program, 4 * MIB))
			return;
		for (unsigned int i = 0; i < 50000; i++) {
			struct spe_operation op;

			spe_synthetic_execute_next(&one, &op);
			check_consistent_operation(check, &op);
			SPE_CHECK_EQ(check, op.pc, expected_pc);
			SPE_CHECK_EQ(check, op.timestamp, cycles);
			expected_pc = op.valid & SPE_OPERATION_TARGET ? op.target : op.pc + 4;
			cycles += op.total;
			retired += op.events >> SPE_EVENT_RETIRED & 1;
			loads += !!(op.valid & SPE_OPERATION_SOURCE);
		}
		SPE_CHECK_EQ(check, one.truth.operations, 50000);
		SPE_CHECK_EQ(check, one.truth.cycles, cycles);
		SPE_CHECK_EQ(check, one.truth.event[SPE_EVENT_RETIRED], retired);
		SPE_CHECK_EQ(check, one.truth.kind[SPE_KIND_LOAD], loads);
		SPE_CHECK_EQ(check,
			     one.truth.kind[0] + one.truth.kind[1] + one.truth.kind[2] +
				     one.truth.kind[3],
			     50000);
	}
}

static void test_programs_are_reproducible(struct spe_check *check)
{
	for (unsigned int program = 0; program < SPE_PROGRAMS; program++) {
		struct spe_synthetic_config config = make_config(program, MIB);
		u8 owners[2] = { 0, 0 };

		config.line_owner = &owners[0];
		spe_synthetic_init(&one, &config, NULL);
		config.line_owner = &owners[1];
		spe_synthetic_init(&other, &config, NULL);
		for (unsigned int i = 0; i < 10000; i++) {
			struct spe_operation a, b;

			spe_synthetic_execute_next(&one, &a);
			spe_synthetic_execute_next(&other, &b);
			SPE_CHECK_EQ(check, a.pc ^ a.va ^ a.events ^ a.timestamp ^ a.source,
				     b.pc ^ b.va ^ b.events ^ b.timestamp ^ b.source);
		}
		SPE_CHECK(check, !memcmp(&one.truth, &other.truth, sizeof(one.truth)));
	}
}

/* Add up the records in the fixture's buffer. */
static void collect_records(struct spe_synthetic_counts *seen, size_t bytes)
{
	struct spe_decoder_config config = { .max_size = 64, .align = 64 };
	struct spe_decoder decoder;
	struct spe_sample sample;

	spe_decoder_init(&decoder, &config, fixture.mem, bytes);
	while (spe_decoder_next(&decoder, &sample, NULL) == SPE_DECODE_SAMPLE) {
		seen->operations++;
		seen->kind[spe_sample_kind(&sample)]++;
		for (unsigned int i = 0; i < 32; i++)
			seen->event[i] += sample.events >> i & 1;
		if (spe_sample_has(&sample, SPE_HAS_SOURCE))
			seen->source[sample.source & 15]++;
	}
}

/*
 * Check that @seen of @samples is @part of @whole, within six standard deviations of a binomial
 * distribution and one more sample for the end: it fails by chance for one seed in 10^8.
 */
static void check_estimate(struct spe_check *check, u64 seen, u64 samples, u64 part, u64 whole)
{
	u64 expected = part * samples / whole;
	u64 difference = seen > expected ? seen - expected : expected - seen;
	u64 variance = expected * (whole - part) / whole;

	SPE_CHECK(check, difference <= 1 || (difference - 1) * (difference - 1) <= 36 * variance);
}

/*
 * Test all steps of a sample: program, SPU with jitter, buffer, decoder. The shares of samples
 * equal the shares of executed operations: no kind is preferred.
 */
static void test_samples_estimate_program(struct spe_check *check)
{
	struct spe_synthetic_counts seen = { 0 };
	struct spe_spu_config config;
	const u64 members = 4000000;

	spe_spu_config_default(&config);
	config.features |= SPE_PMSIDR_ERND;
	if (!start_program(check, SPE_PROGRAM_MIX, 64 * MIB) || !fixture_init(check, &config))
		return;
	spe_spu_write(&fixture.spu, SPE_REG_PMSIRR, 1 << 8 | SPE_PMSIRR_RND);
	fixture_arm(FIXTURE_SIZE);
	for (u64 i = 0; i < members; i++) {
		struct spe_operation op;

		spe_synthetic_execute_next(&one, &op);
		spe_spu_execute_operation(&fixture.spu, &op);
		if (!fixture.irq)
			continue;
		collect_records(&seen, (size_t)(fixture_read_reg(SPE_REG_PMBPTR) - FIXTURE_BASE));
		spe_spu_write(&fixture.spu, SPE_REG_PMBPTR, FIXTURE_BASE);
		spe_spu_write(&fixture.spu, SPE_REG_PMBSR, 0);
	}
	collect_records(&seen, (size_t)(fixture_read_reg(SPE_REG_PMBPTR) - FIXTURE_BASE));

	SPE_CHECK_EQ(check, seen.operations, fixture.spu.stats.written);
	SPE_CHECK_EQ(check, fixture.spu.stats.operations, members);
	/*
	 * D17.3.4.3: one operation in 257 is sampled, and no sample is further than 255 from its
	 * mean position.
	 */
	SPE_CHECK(check, seen.operations * 257 <= members && (seen.operations + 2) * 257 > members);
	for (unsigned int i = 0; i < SPE_KINDS; i++)
		check_estimate(check, seen.kind[i], seen.operations, one.truth.kind[i], members);
	/* Compare the events that this SPU records, which are two bytes. */
	for (unsigned int i = 0; i < 16; i++)
		check_estimate(check, seen.event[i], seen.operations, one.truth.event[i], members);
	for (unsigned int i = 0; i < 16; i++)
		check_estimate(check, seen.source[i], seen.operations, one.truth.source[i],
			       members);
	SPE_CHECK(check, seen.event[SPE_EVENT_LLC_MISS] > 100);
}

static void test_invalid_configs_are_refused(struct spe_check *check)
{
	for (unsigned int i = 0; i < 9; i++) {
		struct spe_synthetic_config config = make_config(SPE_PROGRAM_SHARED_LINE, MIB);
		const char *reason = NULL;

		switch (i) {
		case 0:
			config.program = SPE_PROGRAMS;
			break;
		case 1:
			config.working_set = 0;
			break;
		case 2:
			config.working_set = 2048;
			break;
		case 3:
			config.working_set = 3 * MIB;
			break;
		case 4:
			config.working_set = 2048 * MIB;
			break;
		case 5:
			config.va = 64;
			break;
		case 6:
			config.el = 3;
			break;
		case 7:
			config.cpu = 2;
			break;
		case 8:
			config.line_owner = NULL;
			break;
		}
		SPE_CHECK_EQ(check, i << 16 | (u16)spe_synthetic_init(&one, &config, &reason),
			     i << 16 | (u16)-EINVAL);
		SPE_CHECK(check, reason && strchr(reason, ':'));
		SPE_CHECK_EQ(check, spe_synthetic_init(&one, &config, NULL), -EINVAL);
	}
}

static void test_program_names(struct spe_check *check)
{
	enum spe_program program = SPE_PROGRAMS;

	for (unsigned int i = 0; i < SPE_PROGRAMS; i++) {
		SPE_CHECK_EQ(check, spe_program_from_name(spe_program_name(i), &program), 0);
		SPE_CHECK_EQ(check, program, i);
	}
	SPE_CHECK_EQ(check, spe_program_from_name("", &program), -ENOENT);
	SPE_CHECK_EQ(check, spe_synthetic_get_loop_length(SPE_PROGRAMS), 0);
}

static const struct spe_case cases[] = {
	{ "chase", test_chase_program },
	{ "stream", test_stream_program },
	{ "shared line", test_shared_line_program },
	{ "shared word", test_shared_word_program },
	{ "branchy", test_branchy_program },
	{ "gather", test_gather_program },
	{ "memcpy", test_memcpy_program },
	{ "every program", test_every_program },
	{ "reproducible", test_programs_are_reproducible },
	{ "sampled", test_samples_estimate_program },
	{ "refused", test_invalid_configs_are_refused },
	{ "names", test_program_names },
};

const struct spe_suite spe_suite_synthetic = { "synthetic", cases, ARRAY_SIZE(cases) };
