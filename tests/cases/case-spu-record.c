// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Test the record of an operation (D17.6, D17.6.9), byte by byte and by properties. */
#include "spu-fixture.h"
#include "suites.h"

#define PMSCR_ALL (SPE_PMSCR_E0SPE | SPE_PMSCR_E1SPE | SPE_PMSCR_CX | SPE_PMSCR_PA | SPE_PMSCR_TS)

static bool start_spu(struct spe_check *check, const struct spe_spu_config *config, u64 pmscr)
{
	if (!fixture_init(check, config))
		return false;
	fixture_arm(FIXTURE_SIZE);
	spe_spu_write(&fixture.spu, SPE_REG_PMSCR, pmscr);
	return true;
}

static void check_bytes(struct spe_check *check, const struct spe_operation *op, const u8 *expected,
			size_t size)
{
	u64 at = fixture_read_reg(SPE_REG_PMBPTR) - FIXTURE_BASE;

	SPE_CHECK(check, fixture_sample(op));
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBPTR) - FIXTURE_BASE - at, size);
	for (size_t i = 0; i < size; i++)
		SPE_CHECK_EQ(check, i << 8 | fixture.mem[at + i], i << 8 | expected[i]);
	SPE_CHECK_EQ(check, fixture.mem[at + size], 0xa5);
}

/* Check the packets against the figures of D18.2, at the offsets of records of Neoverse cores. */
static void test_slots_layout(struct spe_check *check)
{
	static const u8 load[64] = {
		/* PC with NS, EL1 and bits 55:0 */
		0xb0,
		0x54,
		0x34,
		0x12,
		0x08,
		0x00,
		0x80,
		0xff,
		0xa0,
		/* CONTEXTIDR_EL1, then zeros at the offset of CONTEXTIDR_EL2 */
		0x64,
		0x01,
		0x10,
		0x00,
		0x00,
		0,
		0,
		0,
		0,
		0,
		/* general-purpose load; Events E[1,2,3,4] */
		0x49,
		0x00,
		0x52,
		0x1e,
		0x00,
		/* issue latency 12; total latency 200 */
		0x99,
		0x0c,
		0x00,
		0x98,
		0xc8,
		0x00,
		/* virtual address with a zero top byte; translation latency 7 */
		0xb2,
		0x89,
		0x67,
		0x45,
		0x23,
		0x01,
		0x00,
		0xff,
		0x00,
		0x9a,
		0x07,
		0x00,
		/* physical address with NS; data source DRAM */
		0xb3,
		0x89,
		0x37,
		0x54,
		0x76,
		0x08,
		0x00,
		0x00,
		0x80,
		0x43,
		0x0e,
		0,
		0,
		/* timestamp */
		0x71,
		0x88,
		0x77,
		0x66,
		0x55,
		0x44,
		0x33,
		0x22,
		0x11,
	};
	static const u8 branch[64] = {
		0xb0,
		0x34,
		0x12,
		0x00,
		0xb0,
		0xaa,
		0xaa,
		0x00,
		0x80,
		0x64,
		0x01,
		0x10,
		0x00,
		0x00,
		0,
		0,
		0,
		0,
		0,
		0x4a,
		0x01,
		0x52,
		0x82,
		0x00,
		0x99,
		0x03,
		0x00,
		0x98,
		0x10,
		0x00,
		/* branch target at the same Exception level */
		0xb1,
		0x00,
		0x12,
		0x00,
		0xb0,
		0xaa,
		0xaa,
		0x00,
		0x80,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		0x71,
		0x88,
		0x77,
		0x66,
		0x55,
		0x44,
		0x33,
		0x22,
		0x31,
	};
	/* Without any optional packet, an End packet is where the Timestamp packet would begin. */
	static const u8 other[64] = {
		[0] = 0xb0, 0x38, 0x12, 0x00, 0xb0, 0xaa, 0xaa, 0x00, 0x80, [19] = 0x48, 0x00,
		0x52,	    0x02, 0x00, 0x99, 0x01, 0x00, 0x98, 0x03, 0x00, [55] = 0x01,
	};

	if (!start_spu(check, NULL, PMSCR_ALL))
		return;
	check_bytes(check, &op_load, load, sizeof(load));
	check_bytes(check, &op_branch, branch, sizeof(branch));
	spe_spu_write(&fixture.spu, SPE_REG_PMSCR, SPE_PMSCR_E0SPE);
	check_bytes(check, &op_other, other, sizeof(other));
}

static void test_packed_layout(struct spe_check *check)
{
	static const u8 store[48] = {
		0xb0,
		0x30,
		0x12,
		0x00,
		0xb0,
		0xaa,
		0xaa,
		0x00,
		0x80,
		/* CONTEXTIDR_EL2, because EL2 owns the registers */
		0x65,
		0x02,
		0x20,
		0x00,
		0x00,
		/* store; Events E[1,2,4,5] in four bytes */
		0x49,
		0x01,
		0x62,
		0x36,
		0x00,
		0x00,
		0x00,
		0x99,
		0x02,
		0x00,
		0x98,
		0x14,
		0x00,
		/* virtual address in the lower half of the address space, with its tag */
		0xb2,
		0x08,
		0x10,
		0x00,
		0xc0,
		0xff,
		0xff,
		0x00,
		0x5a,
		0x9a,
		0x09,
		0x00,
		/* no physical address; no data source, because the operation is a store */
		0x01,
	};
	struct spe_spu_config config;

	spe_spu_config_default(&config);
	config.layout = SPE_SPU_LAYOUT_PACKED;
	config.events_size = 4;
	config.align = 3;
	config.e2h = true;
	if (!start_spu(check, &config, PMSCR_ALL & ~(SPE_PMSCR_TS | SPE_PMSCR_PA)))
		return;
	check_bytes(check, &op_store, store, 40);
}

/* Decode the record that was just written to the start of the buffer. */
static bool decode_record(struct spe_check *check, struct spe_sample *ret_sample)
{
	size_t size = (size_t)fixture.spu.stats.bytes, at = 0;

	while (at < size && !fixture.mem[at])
		at++;
	return SPE_CHECK(check,
			 spe_record_decode(fixture.mem + at, size - at,
					   1U << fixture.spu.config.max_size, ret_sample) > 0);
}

static u64 get_low_address_bits(u64 address)
{
	return address & SPE_MASK(55, 0);
}

static u64 saturate_latency(const struct spe_spu_config *config, u64 cycles)
{
	u64 max = config->count_size == SPE_PMSIDR_COUNTSIZE_12 ? 0xfff : 0xffff;

	return cycles > max ? max : cycles;
}

static bool operation_is_load(const struct spe_operation *op)
{
	return op->op_class == SPE_OP_LOAD_STORE && !(op->op_subclass & 1);
}

/*
 * D17.6.3, D17.6.8, D18.2.7: return the expected SUBCLASS of @op: ASE and FP need FEAT_SPE_FPF, CR
 * needs FEAT_SPE_CRR and is then never 0b00.
 */
static u8 make_op_payload(const struct spe_spu_config *config, const struct spe_operation *op)
{
	bool fpf = config->features >> 27 & 1, crr = config->features >> 25 & 1;

	if (op->op_class == 0 && op->op_subclass < 8)
		return fpf ? op->op_subclass : op->op_subclass & 1;
	if (op->op_class == 2 && op->op_subclass < 32) {
		if (!crr)
			return op->op_subclass & 3;
		return (op->op_subclass & 0x1b) | (op->op_subclass < 8 ? 0x18 : 0);
	}
	return op->op_subclass;
}

/*
 * Return the sample that the record of @op must contain, derived from the architecture's text and
 * not from the model's code.
 */
static struct spe_sample make_expected_sample(const struct spe_spu_config *config, u64 pmscr,
					      const struct spe_operation *op)
{
	bool excepted = op->events & 1;
	bool incomplete = excepted || !(op->events & 2);
	u64 top = (u64)op->ns << 63 | (u64)op->el << 61;
	struct spe_sample e = { .present = SPE_HAS_EVENTS };

	e.events = op->events & fixture.spu.events;
	e.events_size = config->events_size;
	if (pmscr & SPE_PMSCR_TS) {
		e.present |= SPE_HAS_TIMESTAMP;
		e.timestamp = op->timestamp;
	}
	if (incomplete && config->incomplete == SPE_SPU_INCOMPLETE_EVENTS)
		return e;

	e.present |= SPE_HAS_ADDRESS(0) | SPE_HAS_OP | SPE_HAS_COUNTER(0) | SPE_HAS_COUNTER(1);
	e.address[0] = get_low_address_bits(op->pc) | top;
	e.op_class = op->op_class;
	e.op_subclass = make_op_payload(config, op);
	e.counter[0] = (u16)saturate_latency(config, op->total);
	e.counter[1] = (u16)saturate_latency(config, op->issue);
	if (pmscr & SPE_PMSCR_CX && !config->e2h && op->valid & SPE_OPERATION_CONTEXT1 &&
	    op->el != 2) {
		e.present |= SPE_HAS_CONTEXT(0);
		e.context[0] = op->contextidr_el1;
	}
	if (pmscr & SPE_PMSCR_CX && config->e2h && op->valid & SPE_OPERATION_CONTEXT2) {
		e.present |= SPE_HAS_CONTEXT(1);
		e.context[1] = op->contextidr_el2;
	}
	/*
	 * D17.6.3.1: the previous target of retired operations. Taken branches always count, other
	 * branches by the SPU's choice.
	 */
	if (config->features >> 24 & 1 && op->valid & SPE_OPERATION_PREV_TARGET && !incomplete &&
	    (config->pbt_always || (op->op_class == 2 && op->valid & SPE_OPERATION_TARGET &&
				    !(op->events >> 6 & 1)))) {
		e.present |= SPE_HAS_ADDRESS(4);
		e.address[4] = get_low_address_bits(op->prev_target) | top;
	}
	if (op->op_class == SPE_OP_BRANCH) {
		if (op->valid & SPE_OPERATION_TARGET && !excepted) {
			e.present |= SPE_HAS_ADDRESS(1);
			e.address[1] = get_low_address_bits(op->target) | top;
		}
		return e;
	}
	if (op->valid & SPE_OPERATION_VA) {
		bool tag = config->va_tag || !(op->va >> 55 & 1);

		e.present |= SPE_HAS_ADDRESS(2) | SPE_HAS_COUNTER(2);
		e.address[2] = tag ? op->va : get_low_address_bits(op->va);
		e.counter[2] = (u16)saturate_latency(config, op->translation);
	}
	if (op->valid & SPE_OPERATION_VA && op->valid & SPE_OPERATION_PA && pmscr & SPE_PMSCR_PA) {
		e.present |= SPE_HAS_ADDRESS(3);
		e.address[3] = get_low_address_bits(op->pa) | (u64)op->ns << 63;
	}
	if (operation_is_load(op) && op->valid & SPE_OPERATION_SOURCE &&
	    config->features & SPE_PMSIDR_LDS) {
		e.present |= SPE_HAS_SOURCE;
		e.source = config->source_size == 1 ? op->source & 0xff : op->source;
		e.source_size = config->source_size;
	}
	return e;
}

static void check_sample(struct spe_check *check, const struct spe_sample *s,
			 const struct spe_sample *e)
{
	SPE_CHECK_EQ(check, s->present, e->present);
	for (unsigned int i = 0; i < 8; i++) {
		SPE_CHECK_EQ(check, s->address[i], e->address[i]);
		SPE_CHECK_EQ(check, s->counter[i], e->counter[i]);
	}
	for (unsigned int i = 0; i < 4; i++)
		SPE_CHECK_EQ(check, s->context[i], e->context[i]);
	SPE_CHECK_EQ(check, s->events, e->events);
	SPE_CHECK_EQ(check, s->timestamp, e->timestamp);
	SPE_CHECK_EQ(check, s->source, e->source);
	SPE_CHECK_EQ(check, s->op_class, e->op_class);
	SPE_CHECK_EQ(check, s->op_subclass, e->op_subclass);
	SPE_CHECK_EQ(check, s->events_size, e->events_size);
	SPE_CHECK_EQ(check, s->source_size, e->source_size);
}

static bool check_one_record(struct spe_check *check, const struct spe_spu_config *config,
			     u64 pmscr, const struct spe_operation *op)
{
	struct spe_sample sample = { 0 }, expected;

	if (!start_spu(check, config, pmscr) || !SPE_CHECK(check, fixture_sample(op)) ||
	    !SPE_CHECK_EQ(check, fixture.spu.stats.written, 1) || !decode_record(check, &sample))
		return false;
	expected = make_expected_sample(config, pmscr, op);
	check_sample(check, &sample, &expected);
	return true;
}

/* D17.6.9: test each control, for each kind of operation, with both owners. */
static void test_collection_controls(struct spe_check *check)
{
	static const struct spe_operation *const ops[] = { &op_load, &op_store, &op_branch,
							   &op_other };

	for (unsigned int i = 0; i < 16 * ARRAY_SIZE(ops); i++) {
		struct spe_operation op = *ops[i >> 4];
		struct spe_spu_config config;
		u64 pmscr = SPE_PMSCR_E0SPE | SPE_PMSCR_E1SPE;

		spe_spu_config_default(&config);
		pmscr |= i & 1 ? SPE_PMSCR_TS : 0;
		pmscr |= i & 2 ? SPE_PMSCR_CX : 0;
		pmscr |= i & 4 ? SPE_PMSCR_PA : 0;
		config.e2h = i & 8;
		if (config.e2h && op.el)
			op.el = 2;
		check_one_record(check, &config, pmscr, &op);
	}
}

/* D17.6.9: CONTEXTIDR_EL1 is not recorded for an operation at EL2. */
static void test_context_of_el2(struct spe_check *check)
{
	struct spe_operation op = op_load;
	struct spe_sample sample;

	op.el = 2;
	if (!start_spu(check, NULL, PMSCR_ALL) || !fixture_sample(&op) ||
	    !decode_record(check, &sample))
		return;
	SPE_CHECK(check, !(sample.present & (SPE_HAS_CONTEXT(0) | SPE_HAS_CONTEXT(1))));
}

/*
 * D17.6.4: test that the record of an operation without an access has no virtual address, no
 * physical address and no translation latency.
 */
static void test_record_without_access(struct spe_check *check)
{
	struct spe_operation op = op_load;
	struct spe_spu_config config;
	struct spe_sample sample;

	spe_spu_config_default(&config);
	op.valid &= ~(u32)SPE_OPERATION_VA;
	if (!start_spu(check, &config, PMSCR_ALL) || !fixture_sample(&op) ||
	    !decode_record(check, &sample))
		return;
	SPE_CHECK(check, !(sample.present &
			   (SPE_HAS_ADDRESS(2) | SPE_HAS_ADDRESS(3) | SPE_HAS_COUNTER(2))));
	SPE_CHECK(check, spe_sample_has(&sample, SPE_HAS_COUNTER(0) | SPE_HAS_SOURCE));
}

/* D18.2.3: counters saturate at the implemented size. */
static void test_counters_saturate(struct spe_check *check)
{
	static const u32 values[] = { 0, 1, 0xffe, 0xfff, 0x1000, 0xfffe, 0xffff, 0x10000, ~0U };

	for (u8 count_size = 2; count_size <= 3; count_size++) {
		for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
			u64 max = count_size == 2 ? 0xfff : 0xffff;
			u64 saturated = values[i] < max ? values[i] : max;
			struct spe_operation op = op_load;
			struct spe_spu_config config;
			struct spe_sample sample;

			spe_spu_config_default(&config);
			config.count_size = count_size;
			op.total = op.issue = op.translation = values[i];
			if (!start_spu(check, &config, PMSCR_ALL) || !fixture_sample(&op) ||
			    !decode_record(check, &sample))
				return;
			SPE_CHECK_EQ(check, sample.counter[SPE_COUNTER_TOTAL], saturated);
			SPE_CHECK_EQ(check, sample.counter[SPE_COUNTER_ISSUE], saturated);
			SPE_CHECK_EQ(check, sample.counter[SPE_COUNTER_TRANSLATION], saturated);
		}
	}
}

/*
 * D17.6.7, D17.6.10: a record always has Events, and End or Timestamp. It never has a branch target
 * if the operation caused an exception.
 */
static void test_incomplete_operations(struct spe_check *check)
{
	static const u64 events[] = { 0, SPE_BIT(SPE_EVENT_EXCEPTION),
				      SPE_BIT(SPE_EVENT_EXCEPTION) | SPE_BIT(SPE_EVENT_RETIRED) };

	for (unsigned int i = 0; i < ARRAY_SIZE(events) * 4; i++) {
		struct spe_operation op = op_branch;
		struct spe_spu_config config;

		spe_spu_config_default(&config);
		config.incomplete = i & 1 ? SPE_SPU_INCOMPLETE_EVENTS : SPE_SPU_INCOMPLETE_ALL;
		op.events = events[i >> 2];
		check_one_record(check, &config, SPE_PMSCR_E0SPE | (i & 2 ? SPE_PMSCR_TS : 0), &op);
	}
}

static struct spe_spu_config make_random_config(u64 r)
{
	struct spe_spu_config config;

	spe_spu_config_default(&config);
	config.pmsver = 1 + (u8)(r % 6);
	config.layout = r >> 4 & 1;
	config.max_size = 6 + (u8)((r >> 8) % 6);
	config.align = (u8)((r >> 12) % (config.max_size + 1U));
	config.count_size = 2 + (r >> 16 & 1);
	config.events_size = (u8)(1U << (r >> 17 & 3));
	if (config.layout == SPE_SPU_LAYOUT_SLOTS && config.events_size > 2)
		config.events_size = 2;
	config.source_size = 1 + (r >> 19 & 1);
	config.incomplete = r >> 20 & 1;
	config.write_granule = (u8)((r >> 21 & 15) % 12);
	config.va_tag = r >> 25 & 1;
	config.e2h = r >> 26 & 1;
	if (r >> 27 & 1)
		config.features &= ~SPE_PMSIDR_LDS;
	config.features |= (r >> 28 & 1 ? SPE_PMSIDR_PBT : 0) | (r >> 29 & 1 ? SPE_PMSIDR_CRR : 0) |
			   (r >> 30 & 1 ? SPE_PMSIDR_FPF : 0);
	config.pbt_always = config.features & SPE_PMSIDR_PBT && config.layout && r >> 31 & 1;
	if (config.pbt_always && config.max_size == 6)
		config.max_size = 7;
	config.sampled_events &= SPE_BIT(1) | SPE_BIT(3);
	config.seed = r;
	return config;
}

static struct spe_operation make_random_operation(u64 *seed, bool e2h)
{
	u64 r = spe_check_random(seed);

	return (struct spe_operation){
		.pc = spe_check_random(seed),
		.target = spe_check_random(seed),
		.prev_target = spe_check_random(seed),
		.va = spe_check_random(seed),
		.pa = spe_check_random(seed),
		.timestamp = spe_check_random(seed),
		.events = spe_check_random(seed) | (r & 3 ? 2 : 0),
		.valid = (u32)(r >> 2) & 0x7f,
		.contextidr_el1 = (u32)spe_check_random(seed),
		.contextidr_el2 = (u32)spe_check_random(seed),
		.total = (u32)(r >> 20 & 0x1ffff),
		.issue = (u32)(r >> 10 & 0x1fff),
		.translation = (u32)(r >> 30 & 0x1fff),
		.source = (u16)(r >> 48),
		.op_class = (u8)((r >> 8) % 3),
		.op_subclass = (u8)(r >> 40),
		.el = r >> 47 & 1 ? (e2h ? 2 : 1) : 0,
		.ns = r >> 46 & 1,
	};
}

/*
 * D18.1.2: for any configuration and operation, the record has all that the operation has, and
 * nothing else.
 */
static void test_random_records(struct spe_check *check)
{
	u64 seed = 0x5eed0006;

	for (unsigned int i = 0; i < 20000 && !check->failures; i++) {
		u64 r = spe_check_random(&seed);
		struct spe_spu_config config = make_random_config(r);
		struct spe_operation op = make_random_operation(&seed, config.e2h);
		u64 pmscr = SPE_PMSCR_E0SPE | SPE_PMSCR_E1SPE |
			    (r >> 40 & (SPE_PMSCR_CX | SPE_PMSCR_PA | SPE_PMSCR_TS));
		u64 bytes;

		if (!check_one_record(check, &config, pmscr, &op))
			return;
		bytes = fixture_read_reg(SPE_REG_PMBPTR) - FIXTURE_BASE;
		SPE_CHECK_EQ(check, bytes, fixture.spu.stats.bytes);
		SPE_CHECK_EQ(check, bytes % (1U << config.align), 0);
		SPE_CHECK(check, bytes <= 1U << config.max_size);
		SPE_CHECK_EQ(check, fixture.mem[bytes], 0xa5);
		SPE_CHECK_EQ(check, fixture.strays, 0);
	}
}

static const struct spe_case cases[] = {
	{ "slots layout", test_slots_layout },
	{ "packed layout", test_packed_layout },
	{ "what is collected", test_collection_controls },
	{ "context of EL2", test_context_of_el2 },
	{ "no access", test_record_without_access },
	{ "saturation", test_counters_saturate },
	{ "incomplete operations", test_incomplete_operations },
	{ "properties", test_random_records },
};

const struct spe_suite spe_suite_spu_record = { "spu-record", cases, ARRAY_SIZE(cases) };
