// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Test the Operation Type packet of each instruction (D17.6.2 to D17.6.8, D18.2.7) by version,
 * feature and choice. The payloads are transcribed from the figures of the architecture's text.
 */
#include "instruction-fixture.h"
#include "suites.h"

#define I(name)	  SPE_INSTRUCTION_##name
#define CHOICE(x) SPE_CHOICE_##x
#define SME	  SPE_PMSIDR_SME
#define STORE	  SPE_ACCESS_STORE
#define NO_RETURN SPE_INSTRUCTION_NO_RETURN
#define MICRO(n)  .micro_ops = n, .micro = true

/**
 * struct instruction_row - an instruction on an SPU, and the packet that it must cause
 * @kind: kind of the instruction
 * @flags: flags of the instruction
 * @size: size of its vector or tile, in bits
 * @vectors: number of vectors; 0 means 1
 * @pmsver: PMSVer of the SPU; 0 means 6
 * @less: features that the SPU does not have
 * @less_pe: features that the PE does not have
 * @choices: choices of the SPU
 * @micro_ops: number of micro-ops of the instruction
 * @micro: whether micro-ops are sampled
 * @access: flags of the only access
 * @op_class: expected CLASS
 * @payload: expected payload
 */
struct instruction_row {
	u8 kind;
	u64 flags;
	u32 size;
	u8 vectors;
	u8 pmsver;
	u64 less;
	u32 less_pe;
	u64 choices;
	u8 micro_ops;
	bool micro;
	u32 access;
	u8 op_class;
	u8 payload;
};

static void check_rows(struct spe_check *check, const struct instruction_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct instruction_row *row = &rows[i];
		const struct spe_access access = { .va = 0x1000, .flags = row->access };
		struct spe_instruction instruction = {
			.accesses = &access,
			.access_count = 1,
			.kind = row->kind,
			.flags = row->flags,
			.size = row->size,
			.vectors = row->vectors ? row->vectors : 1,
			.micro_ops = row->micro_ops,
		};
		struct spe_spu_config config = instruction_make_config();
		struct spe_operation op;

		config.pmsver = row->pmsver ? row->pmsver : config.pmsver;
		if (config.pmsver < 5)
			config.features &= ~SPE_PMSIDR_FDS;
		if (config.pmsver < 3)
			config.features &= ~SPE_PMSIDR_FNE;
		config.features &= ~row->less;
		if (row->micro)
			config.features &= ~SPE_PMSIDR_ARCHINST;
		config.pe &= ~row->less_pe;
		config.choices = row->choices;
		config.sampled_events = 0;
		if (row->kind == I(BRANCH) || row->kind == I(ISB))
			instruction.access_count = row->access != 0;
		if (!instruction_start(check, &config))
			return;
		op = instruction_get_operation(check, &instruction);
		SPE_CHECK_EQ(check, i << 16 | op.op_class << 8 | op.op_subclass,
			     i << 16 | row->op_class << 8 | row->payload);
	}
}

#define SVE .kind = I(SVE)

/*
 * RMDBYZ: test that EVL encodes the vector length, rounded up; with FEAT_SPE_SME, the vector length
 * multiplied by the number of vectors.
 */
static void test_sve_processing(struct spe_check *check)
{
	static const struct instruction_row rows[] = {
		{ SVE, .size = 8, .payload = 0x08 },
		{ SVE, .size = 32, .payload = 0x08 },
		{ SVE, .size = 64, .payload = 0x18 },
		{ SVE, .size = 128, .payload = 0x28 },
		{ SVE, .size = 256, .payload = 0x38 },
		{ SVE, .size = 512, .payload = 0x48 },
		{ SVE, .size = 1024, .payload = 0x58 },
		{ SVE, .size = 2048, .payload = 0x68 },
		/* The length is rounded up. */
		{ SVE, .size = 33, .payload = 0x18 },
		{ SVE, .size = 384, .payload = 0x48 },
		{ SVE, .size = 2047, .payload = 0x68 },
		/* Four vectors of 512 or 1024 bits have more than 2048 bits. */
		{ SVE, .size = 512, .vectors = 4, .payload = 0x68 },
		{ SVE, .size = 1024, .vectors = 4, .payload = 0x78 },
		{ SVE, .size = 2048, .vectors = 2, .payload = 0x78 },
		/* Without FEAT_SPE_SME, EVL has the length of one vector, and is never 0b111. */
		{ SVE, .size = 512, .vectors = 4, .less = SME, .payload = 0x48 },
		{ SVE, .size = 2048, .vectors = 4, .less = SME, .payload = 0x68 },
		/* The fields PRED and FP are set. */
		{ SVE, .flags = I(PREDICATED), .size = 256, .payload = 0x3c },
		{ SVE, .flags = I(FP), .size = 256, .payload = 0x3a },
		{ SVE, .flags = I(FP) | I(PREDICATED), .size = 256, .payload = 0x3e },
		/* D17.6.5: a predicate does not make the operation conditional. */
		{ SVE, .flags = I(CONDITIONAL) | I(PREDICATED), .size = 256, .payload = 0x3c },
		/* The SVE formats are not used by FEAT_SPE (PMSVer 1) or without SVE. */
		{ SVE, .size = 256, .pmsver = 1, .payload = 0x00 },
		{ SVE, .flags = I(FP), .size = 256, .pmsver = 1, .payload = 0x02 },
		{ SVE, .size = 256, .pmsver = 2, .payload = 0x38 },
		/* A micro-op processes a part of the vector (Example D17-4). */
		{ SVE, .size = 1024, MICRO(4), .payload = 0x38 },
		{ SVE, .size = 1024, .micro_ops = 4, .payload = 0x58 },
	};

	check_rows(check, rows, ARRAY_SIZE(rows));
}

/*
 * RDDCQB: an SVE operation may have the format of Advanced SIMD if its vector has 128 bits, it is
 * not predicated, it has an Advanced SIMD equivalent, and micro-ops are sampled.
 */
static void test_sve_as_asimd(struct spe_check *check)
{
#define EQ I(EQUIVALENT)
	static const struct instruction_row rows[] = {
		{ SVE, .flags = EQ, .size = 128, MICRO(1), .payload = 0x28 },
		{ SVE, .flags = EQ, .size = 128, MICRO(1), .choices = CHOICE(ASIMD), .payload = 4 },
		{ SVE, .flags = EQ, .size = 256, MICRO(2), .choices = CHOICE(ASIMD), .payload = 4 },
		{ SVE, .flags = EQ | I(FP), .size = 128, MICRO(1), .choices = CHOICE(ASIMD),
		  .payload = 6 },
		{ SVE, .flags = EQ, .size = 256, MICRO(1), .choices = CHOICE(ASIMD),
		  .payload = 0x38 },
		{ SVE, .size = 128, MICRO(1), .choices = CHOICE(ASIMD), .payload = 0x28 },
		{ SVE, .flags = EQ | I(PREDICATED), .size = 128, MICRO(1), .choices = CHOICE(ASIMD),
		  .payload = 0x2c },
		{ SVE, .flags = EQ, .size = 128, .micro_ops = 1, .choices = CHOICE(ASIMD),
		  .payload = 0x28 },
		/* CHOICE(ASIMD) applies to SVE loads and stores in the same way. */
		{ .kind = I(SVE_MEMORY),
		  .flags = EQ,
		  .size = 128,
		  MICRO(1),
		  .choices = CHOICE(ASIMD),
		  .op_class = 1,
		  .payload = 4 },
		{ .kind = I(SVE_MEMORY),
		  .flags = EQ,
		  .size = 128,
		  MICRO(1),
		  .access = STORE,
		  .choices = CHOICE(ASIMD),
		  .op_class = 1,
		  .payload = 5 },
	};
#undef EQ

	check_rows(check, rows, ARRAY_SIZE(rows));
}

/* RMZJMH: test ZT registers and several vectors without FEAT_SPE_SME. */
static void test_sve_multivector(struct spe_check *check)
{
#define OTHER .choices = CHOICE(MULTIVECTOR_OTHER)
	static const struct instruction_row rows[] = {
		{ SVE, .size = 256, .vectors = 2, .less = SME, .payload = 0x38 },
		{ SVE, .size = 256, .vectors = 2, .less = SME, OTHER, .payload = 0 },
		{ SVE, .flags = I(ZT), .size = 256, .less = SME, OTHER, .payload = 0 },
		{ SVE, .flags = I(ZT), .size = 256, .less = SME, .payload = 0x38 },
		{ SVE, .size = 256, .less = SME, OTHER, .payload = 0x38 },
		/* With FEAT_SPE_SME the SPU has no choice. */
		{ SVE, .size = 256, .vectors = 2, OTHER, .payload = 0x48 },
		{ SVE, .flags = I(ZT), .size = 256, OTHER, .payload = 0x38 },
	};
#undef OTHER

	check_rows(check, rows, ARRAY_SIZE(rows));
}

#define TILE   .kind = I(SME_TILE)
#define VECTOR .kind = I(SME_VECTOR)

/* RCYBGV, RLQXZR: ETS[3:1] is in bits 6:4 of the payload, ETS[0] in bit 2. */
static void test_sme_processing(struct spe_check *check)
{
	static const struct instruction_row rows[] = {
		{ TILE, .size = 64, .payload = 0x88 },
		{ TILE, .size = 128, .payload = 0x88 },
		{ TILE, .size = 256, .payload = 0x8c },
		{ TILE, .size = 512, .payload = 0x98 },
		{ TILE, .size = 1024, .payload = 0x9c },
		{ TILE, .size = 2048, .payload = 0xa8 },
		{ TILE, .size = 4096, .payload = 0xac },
		{ TILE, .size = 8192, .payload = 0xb8 },
		{ TILE, .size = 16384, .payload = 0xbc },
		{ TILE, .size = 32768, .payload = 0xc8 },
		{ TILE, .size = 65536, .payload = 0xcc },
		{ TILE, .size = 131072, .payload = 0xd8 },
		{ TILE, .size = 262144, .payload = 0xdc },
		{ TILE, .size = 262145, .payload = 0xfc },
		{ TILE, .size = 129, .payload = 0x8c },
		{ TILE, .flags = I(WHOLE_ZA), .size = 512, .payload = 0xfc },
		{ TILE, .flags = I(FP), .size = 512, .payload = 0x9a },
		/* The format does not record whether the operation was predicated. */
		{ TILE, .flags = I(PREDICATED), .size = 512, .payload = 0x98 },
		{ TILE, .flags = I(FP), .size = 512, .less = SME, .payload = 0x02 },
		{ TILE, .size = 512, .less = SME, .payload = 0x00 },
		{ VECTOR, .size = 512, .payload = 0x98 },
		{ VECTOR, .size = 512, .vectors = 4, .payload = 0xa8 },
		{ VECTOR, .flags = I(PREDICATED), .size = 512, .vectors = 2, .payload = 0x9c },
		{ VECTOR, .size = 512, .vectors = 4, .less = SME, .payload = 0x00 },
	};

	check_rows(check, rows, ARRAY_SIZE(rows));
}

/* RMJQCL, RJCLMP, RBHKSC: test the fields SG, EVL, PRED and LDST. */
static void test_vector_loads_and_stores(struct spe_check *check)
{
#define V   .kind = I(SVE_MEMORY), .op_class = 1
#define Z   .kind = I(SME_MEMORY), .op_class = 1
#define UNS .choices = CHOICE(SME_LS_UNSPECIFIED)
	static const struct instruction_row rows[] = {
		{ V, .size = 256, .payload = 0x38 },
		{ V, .size = 256, .access = STORE, .payload = 0x39 },
		{ V, .flags = I(GATHER), .size = 256, .payload = 0xb8 },
		{ V, .flags = I(PREDICATED), .size = 256, .payload = 0x3c },
		/*
		 * PRED is set for predicated loads from FEAT_SPEv1p2 on, for predicated stores
		 * always.
		 */
		{ V, .flags = I(PREDICATED), .size = 256, .pmsver = 2, .payload = 0x38 },
		{ V, .flags = I(PREDICATED), .size = 256, .pmsver = 3, .payload = 0x3c },
		{ V, .flags = I(PREDICATED), .size = 256, .pmsver = 2, .access = STORE,
		  .payload = 0x3d },
		/* Before FEAT_SPEv1p1 an SVE access has the format of SIMD&FP registers. */
		{ V, .size = 256, .pmsver = 1, .payload = 0x04 },
		{ V, .size = 512, .vectors = 4, .payload = 0x68 },
		{ V, .size = 1024, .vectors = 4, .payload = 0x78 },
		{ V, .size = 1024, .vectors = 4, .less = SME, .payload = 0x58 },
		{ V, .size = 8, .payload = 0x08 },
		{ Z, .size = 512, .payload = 0x48 },
		{ Z, .size = 2048, .vectors = 4, .access = STORE, .payload = 0x79 },
		{ Z, .size = 512, UNS, .payload = 0x48 },
		{ Z, .size = 512, .less = SME, .payload = 0x48 },
		{ Z, .size = 512, .vectors = 2, .less = SME, .payload = 0x48 },
		{ Z, .size = 512, .less = SME, UNS, .payload = 0x10 },
		{ Z, .size = 512, .less = SME, UNS, .access = STORE, .payload = 0x11 },
	};
#undef V
#undef Z
#undef UNS

	check_rows(check, rows, ARRAY_SIZE(rows));
}

/* Test the load and store formats (D18.2.7), and the features that each needs. */
static void test_load_and_store_formats(struct spe_check *check)
{
#define M .op_class = 1
	static const struct instruction_row rows[] = {
		{ M, .kind = I(MEMORY), .payload = 0x00 },
		{ M, .kind = I(MEMORY), .access = STORE, .payload = 0x01 },
		{ M, .kind = I(MEMORY), .flags = I(SIMD_FP), .payload = 0x04 },
		{ M, .kind = I(MEMORY), .flags = I(UNSPECIFIED), .access = STORE, .payload = 0x11 },
		{ M, .kind = I(MEMORY), .flags = I(UNSPECIFIED), .pmsver = 1, .payload = 0x00 },
		{ M, .kind = I(MEMORY), .flags = I(UNSPECIFIED), .pmsver = 2, .payload = 0x10 },
		/* acquire, release, exclusive, atomic; an atomic that returns a value also reads */
		{ M, .kind = I(EXTENDED), .flags = I(ORDERED), .payload = 0x12 },
		{ M, .kind = I(EXTENDED), .flags = I(ORDERED), .access = STORE, .payload = 0x13 },
		{ M, .kind = I(EXTENDED), .flags = I(EXCLUSIVE), .payload = 0x0a },
		{ M, .kind = I(EXTENDED), .flags = I(EXCLUSIVE) | I(ORDERED), .access = STORE,
		  .payload = 0x1b },
		{ M, .kind = I(EXTENDED), .flags = I(ATOMIC), .access = STORE, .payload = 0x06 },
		{ M, .kind = I(EXTENDED), .flags = I(ATOMIC) | NO_RETURN, .access = STORE,
		  .payload = 0x07 },
		{ M, .kind = I(EXTENDED), .flags = I(ATOMIC) | I(ORDERED), .access = STORE,
		  .payload = 0x16 },
		/* D17.6.4.4: LD64B is a load; ST64B, ST64BV and ST64BV0 are stores. */
		{ M, .kind = I(LS64), .payload = 0x00 },
		{ M, .kind = I(LS64), .access = STORE, .payload = 0x01 },
		{ M, .kind = I(LS64), .flags = I(STATUS), .access = STORE, .payload = 0x01 },
		/*
		 * D17.6.4.1: the format for Allocation Tags exists from FEAT_SPEv1p3 on; an access
		 * that also stores data is an ordinary store.
		 */
		{ M, .kind = I(TAG), .payload = 0x14 },
		{ M, .kind = I(TAG), .access = STORE, .payload = 0x15 },
		{ M, .kind = I(TAG), .pmsver = 3, .access = STORE, .payload = 0x01 },
		{ M, .kind = I(TAG), .pmsver = 4, .access = STORE, .payload = 0x15 },
		{ M, .kind = I(TAG), .less_pe = SPE_PE_MTE2, .payload = 0x00 },
		{ M, .kind = I(TAG), .flags = I(DATA), .access = STORE, .payload = 0x01 },
		{ M, .kind = I(TAG), .flags = I(DATA) | I(UNSPECIFIED), .access = STORE,
		  .payload = 0x11 },
		/* D17.6.4.2 */
		{ M, .kind = I(SYSREG), .payload = 0x30 },
		{ M, .kind = I(SYSREG), .access = STORE, .payload = 0x31 },
		/* D17.6.4.3: the format needs FEAT_SPEv1p3 and FEAT_MOPS. */
		{ M, .kind = I(COPY), .payload = 0x20 },
		{ M, .kind = I(COPY), .access = STORE, .payload = 0x21 },
		{ M, .kind = I(COPY), .pmsver = 3, .payload = 0x10 },
		{ M, .kind = I(COPY), .pmsver = 4, .payload = 0x20 },
		{ M, .kind = I(COPY), .less_pe = SPE_PE_MOPS, .access = STORE, .payload = 0x11 },
		{ M, .kind = I(SET), .access = STORE, .payload = 0x25 },
		{ M, .kind = I(SET), .pmsver = 4, .access = STORE, .payload = 0x25 },
		{ M, .kind = I(SET), .pmsver = 3, .access = STORE, .payload = 0x11 },
		/*
		 * D17.6.4.5: the format needs FEAT_SPEv1p4 and FEAT_GCS; COMM is 0 if the access
		 * belongs to a branch.
		 */
		{ M, .kind = I(GCS), .payload = 0x44 },
		{ M, .kind = I(GCS), .access = STORE, .payload = 0x45 },
		{ M, .kind = I(GCS), .flags = I(LINK), .access = STORE, .payload = 0x41 },
		{ M, .kind = I(GCS), .flags = I(RETURN), .payload = 0x40 },
		{ M, .kind = I(GCS), .pmsver = 4, .payload = 0x10 },
		{ M, .kind = I(GCS), .pmsver = 5, .payload = 0x44 },
		/* D17.6.4: DC ZVA is recorded as a store, or as cache maintenance. */
		{ M, .kind = I(ZERO), .access = STORE, .payload = 0x11 },
		{ .kind = I(ZERO), .access = STORE, .choices = CHOICE(ZVA_CACHE), .payload = 0x00 },
	};
#undef M

	check_rows(check, rows, ARRAY_SIZE(rows));
}

/* Test the formats of branches (D17.6.3) and Other operations (D17.6.8). */
static void test_branch_and_other_formats(struct spe_check *check)
{
#define B .kind = I(BRANCH), .op_class = 2
	static const struct instruction_row rows[] = {
		{ B, .payload = 0x18 },
		{ B, .flags = I(CONDITIONAL), .payload = 0x19 },
		{ B, .flags = I(INDIRECT), .payload = 0x1a },
		{ B, .flags = I(LINK), .payload = 0x08 },
		{ B, .flags = I(LINK) | I(INDIRECT), .payload = 0x0a },
		{ B, .flags = I(RETURN) | I(INDIRECT), .payload = 0x12 },
		/* a branch with a GCS access, if the PE has FEAT_GCS */
		{ B, .flags = I(LINK), .access = STORE, .payload = 0x0c },
		{ B, .flags = I(LINK), .access = STORE, .pmsver = 4, .payload = 0x08 },
		{ B, .flags = I(LINK), .access = STORE, .less_pe = SPE_PE_GCS, .payload = 0x08 },
		{ .kind = I(ISB), .payload = 0x00 },
		{ .kind = I(ISB), .choices = CHOICE(ISB_BRANCH), .op_class = 2, .payload = 0x18 },
		{ .kind = I(OTHER), .payload = 0x00 },
		{ .kind = I(OTHER), .flags = I(FP), .payload = 0x02 },
		{ .kind = I(OTHER), .flags = I(ASE) | I(FP), .payload = 0x06 },
		{ .kind = I(OTHER), .flags = I(CONDITIONAL), .payload = 0x01 },
		{ .kind = I(WAIT), .payload = 0x00 },
		{ .kind = I(PREFETCH), .payload = 0x00 },
		{ .kind = I(CACHE), .payload = 0x00 },
		{ .kind = I(TRANSLATE), .payload = 0x00 },
		/*
		 * Filters treat an SVE prefetch as Other; the packet describes it as an SVE
		 * operation.
		 */
		{ .kind = I(SVE_PREFETCH), .size = 256, .payload = 0x38 },
		{ .kind = I(SVE_PREFETCH),
		  .size = 256,
		  .choices = CHOICE(SVE_PREFETCH_OTHER),
		  .payload = 0x00 },
		{ .kind = I(SVE_PREFETCH), .size = 256, .pmsver = 1, .payload = 0x00 },
	};
#undef B

	check_rows(check, rows, ARRAY_SIZE(rows));
}

/*
 * D17.6.5: test each kind of conditional operation, with the choice to treat it as conditional or
 * not.
 */
static void test_conditional_operations(struct spe_check *check)
{
	for (unsigned int condition = 0; condition < SPE_CONDITIONS; condition++)
		for (unsigned int i = 0; i < 4; i++) {
			bool treated = i & 1, passed = i & 2;
			struct spe_instruction instruction = {
				.kind = I(OTHER),
				.flags = I(CONDITIONAL) | (passed ? I(PASSED) : 0),
				.condition = (u8)condition,
			};
			struct spe_spu_config config = instruction_make_config();
			struct spe_sample s = { 0 };

			config.unconditional =
				(u8)(treated ? 0x3f & ~(1 << condition) : 1 << condition);
			if (!instruction_start(check, &config) ||
			    !instruction_record(check, &instruction, &s))
				return;
			SPE_CHECK_EQ(check, s.op_subclass, treated);
			SPE_CHECK_EQ(check, spe_sample_has_event(&s, SPE_EVENT_NOT_TAKEN),
				     treated && !passed);
		}
}

/*
 * D17.6.5: E[17] and E[18] are only set for operations with a predicate, and only for SVE and SME.
 */
static void test_predicate_events(struct spe_check *check)
{
	static const struct {
		u8 kind;
		u64 flags;
		u8 events; /* E[18:17] */
	} rows[] = {
		{ I(SVE), I(PREDICATED), 0 },
		{ I(SVE), I(PREDICATED) | I(PARTIAL), 1 },
		{ I(SVE), I(PREDICATED) | I(EMPTY), 3 },
		{ I(SVE), I(PARTIAL) | I(EMPTY), 0 },
		{ I(SVE_MEMORY), I(PREDICATED) | I(EMPTY), 3 },
		{ I(SME_TILE), I(PREDICATED) | I(PARTIAL), 1 },
		{ I(OTHER), I(PREDICATED) | I(EMPTY), 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (unsigned int sve = 0; sve < 2; sve++) {
			const struct spe_instruction instruction = { .kind = rows[i].kind,
								     .flags = rows[i].flags,
								     .size = 128,
								     .vectors = 1 };
			struct spe_spu_config config = instruction_make_config();
			struct spe_sample s = { 0 };

			if (!sve)
				config.pe &= ~(SPE_PE_SVE | SPE_PE_SME);
			if (!sve)
				config.features &= ~SPE_PMSIDR_SME;
			if (!instruction_start(check, &config) ||
			    !instruction_record(check, &instruction, &s))
				return;
			SPE_CHECK_EQ(check, i << 8 | (s.events >> 17 & 3),
				     i << 8 | (sve ? rows[i].events : 0));
		}
}

/*
 * D17.6.2, D17.2, RLMHHC: the population consists of instructions or of micro-ops. Its size does
 * not depend on sampling.
 */
static void test_sample_population(struct spe_check *check)
{
	for (unsigned int i = 0; i < 2; i++)
		for (u8 micro_ops = 0; micro_ops < 5; micro_ops++) {
			const struct spe_instruction instruction = { .kind = I(OTHER),
								     .micro_ops = micro_ops };
			struct spe_spu_config config = instruction_make_config();
			u64 members = i ? 1 : micro_ops;

			if (!i)
				config.features &= ~SPE_PMSIDR_ARCHINST;
			if (!instruction_start(check, &config))
				return;
			/*
			 * With an interval of 257 most operations are not selected, but all are
			 * counted.
			 */
			spe_spu_write(&fixture.spu, SPE_REG_PMSIRR, 1 << 8);
			for (unsigned int n = 0; n < 1000; n++) {
				SPE_CHECK_EQ(check,
					     spe_spu_count_members(&fixture.spu, &instruction),
					     members);
				spe_spu_execute_instruction(&fixture.spu, &instruction);
			}
			SPE_CHECK_EQ(check, fixture.spu.stats.operations, 1000 * members);
			/*
			 * The first operation is selected immediately, because PMSICR was zero when
			 * profiling was enabled.
			 */
			SPE_CHECK_EQ(check, fixture.spu.stats.selected,
				     members ? (1000 * members - 1) / 257 + 1 : 0);
		}
}

/* Test types of PMSFCR_EL1 (D17.5.1) that are not visible in the Operation Type packet. */
static void test_filter_types(struct spe_check *check)
{
	static const struct {
		u8 kind;
		u64 flags;
		u8 pmsver;
		u32 access;
		u8 types; /* expected types, from bit 4 to bit 0: SIMD, FP, ST, LD, B */
	} rows[] = {
		{ I(SVE_MEMORY), 0, 6, 0, 0x12 },
		{ I(SVE_MEMORY), 0, 1, 0, 0x12 },
		{ I(SME_MEMORY), 0, 1, STORE, 0x14 },
		{ I(SVE), 0, 1, 0, 0x10 },
		{ I(SVE), I(FP), 6, 0, 0x18 },
		{ I(SVE), I(FP), 1, 0, 0x18 },
		{ I(SME_TILE), 0, 6, 0, 0x10 },
		{ I(MEMORY), 0, 6, 0, 0x02 },
		{ I(MEMORY), I(SIMD_FP) | I(SCALAR), 6, 0, 0x0a },
		{ I(MEMORY), I(SIMD_FP), 6, STORE, 0x14 },
		{ I(EXTENDED), I(ATOMIC), 6, STORE, 0x06 },
		{ I(EXTENDED), I(ATOMIC) | NO_RETURN, 6, STORE, 0x04 },
		{ I(GCS), 0, 6, 0, 0x02 },
		{ I(GCS), 0, 6, STORE, 0x04 },
		{ I(BRANCH), I(RETURN), 6, 0, 0x03 },
		{ I(BRANCH), I(LINK), 6, STORE, 0x05 },
		{ I(BRANCH), I(LINK), 4, STORE, 0x01 },
		{ I(SVE_PREFETCH), 0, 6, 0, 0x10 },
		{ I(OTHER), I(FP) | I(ASE), 6, 0, 0x18 },
		{ I(OTHER), 0, 6, 0, 0x00 },
	};

	for (size_t i = 0; i < 5 * ARRAY_SIZE(rows); i++) {
		const size_t row = i / 5, type = i % 5;
		const struct spe_access access = { .flags = rows[row].access };
		const struct spe_instruction instruction = {
			.accesses = &access,
			.access_count = 1,
			.kind = rows[row].kind,
			.flags = rows[row].flags,
			.size = 256,
			.vectors = 1,
		};
		struct spe_spu_config config = instruction_make_config();

		config.pmsver = rows[row].pmsver;
		config.sampled_events = 0;
		if (config.pmsver < 5)
			config.features &= ~(SPE_PMSIDR_FDS | SPE_PMSIDR_FNE);
		if (config.pmsver < 2)
			config.features &= ~SME;
		if (!instruction_start(check, &config))
			return;
		/* Record only operations of this type. */
		spe_spu_write(&fixture.spu, SPE_REG_PMSFCR,
			      SPE_PMSFCR_FT | SPE_BIT(16 + type) | SPE_BIT(48 + type));
		spe_spu_execute_instruction(&fixture.spu, &instruction);
		SPE_CHECK_EQ(check, i << 8 | fixture.spu.stats.written,
			     i << 8 | (rows[row].types >> type & 1));
	}
}

/*
 * Example D17-2: test that the micro-op that generates the address does not count as a load, and
 * the other micro-op does.
 */
static void test_micro_ops(struct spe_check *check)
{
	const struct spe_access access = { .va = 0x1000, .pa = 0x2000 };
	const struct spe_instruction load = {
		.accesses = &access,
		.access_count = 1,
		.kind = I(MEMORY),
		.flags = I(ADDRESS_OP),
		.micro_ops = 2,
	};
	const struct spe_instruction single = {
		.accesses = &access,
		.access_count = 1,
		.kind = I(MEMORY),
		.flags = I(ADDRESS_OP),
		.micro_ops = 1,
	};
	struct spe_spu_config config = instruction_make_config();
	struct spe_operation op;

	for (unsigned int arch = 0; arch < 2; arch++) {
		if (!arch)
			config.features &= ~SPE_PMSIDR_ARCHINST;
		else
			config.features |= SPE_PMSIDR_ARCHINST;
		if (!instruction_start(check, &config))
			return;
		for (unsigned int member = 0; member < 2 - arch; member++) {
			bool is_load = arch || member;

			SPE_CHECK(check,
				  spe_spu_describe_instruction(&fixture.spu, &load, member, &op));
			SPE_CHECK_EQ(check, op.op_class, is_load);
			SPE_CHECK_EQ(check, !!(op.valid & SPE_OPERATION_VA), is_load);
		}
	}
	config.features &= ~SPE_PMSIDR_ARCHINST;
	if (!instruction_start(check, &config))
		return;
	/*
	 * If there is only one micro-op, it counts as the load even if it also computes the
	 * address.
	 */
	if (SPE_CHECK(check, spe_spu_describe_instruction(&fixture.spu, &single, 0, &op)))
		SPE_CHECK_EQ(check, op.op_class, 1);
	/* Filters use the same types: 10 of 20 micro-ops are loads. */
	spe_spu_write(&fixture.spu, SPE_REG_PMSFCR, SPE_PMSFCR_FT | SPE_PMSFCR_LD);
	for (unsigned int i = 0; i < 10; i++)
		spe_spu_execute_instruction(&fixture.spu, &load);
	SPE_CHECK_EQ(check, fixture.spu.stats.written, 10);
	SPE_CHECK_EQ(check, fixture.spu.stats.filtered, 10);
}

static const struct spe_case cases[] = {
	{ "SVE processing", test_sve_processing },
	{ "SVE as Advanced SIMD", test_sve_as_asimd },
	{ "SVE multi-vector", test_sve_multivector },
	{ "SME processing", test_sme_processing },
	{ "SVE and SME loads and stores", test_vector_loads_and_stores },
	{ "load and store formats", test_load_and_store_formats },
	{ "branch and other formats", test_branch_and_other_formats },
	{ "conditional operations", test_conditional_operations },
	{ "predicates", test_predicate_events },
	{ "types", test_filter_types },
	{ "population", test_sample_population },
	{ "micro-ops", test_micro_ops },
};

const struct spe_suite spe_suite_instruction = { "instruction", cases, ARRAY_SIZE(cases) };
