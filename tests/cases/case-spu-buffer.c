// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Test profiling buffer management (D17.8): buffer full, faults, aborts, accesses that are not
 * allowed, and the interrupt.
 */
#include "spu-fixture.h"
#include "suites.h"

#define S	     SPE_PMBSR_S
#define DL	     SPE_PMBSR_DL
#define EA	     SPE_PMBSR_EA
#define COLL	     SPE_PMBSR_COLL
#define EC(ec, code) ((u64)(ec) << 26 | (code) | S)

#define FULL	    EC(SPE_PMBSR_EC_BUFFER, SPE_PMBSR_BSC_FULL)
#define NOT_ALLOWED (EC(SPE_PMBSR_EC_BUFFER, SPE_PMBSR_BSC_NOT_ALLOWED) | DL)

static void check_ledgers(struct spe_check *check, u64 advanced)
{
	const struct spe_spu_stats *stats = &fixture.spu.stats;

	SPE_CHECK_EQ(check, stats->selected,
		     stats->filtered + stats->discarded + stats->written + fixture.spu.in_flight);
	SPE_CHECK_EQ(check, advanced, stats->bytes + stats->cut);
	SPE_CHECK_EQ(check, fixture.strays, 0);
}

static u64 get_written_bytes(void)
{
	return fixture_read_reg(SPE_REG_PMBPTR) - FIXTURE_BASE;
}

/* D17.8.2, RFJDLW, RNXZXG, RWVKFM: the SPU samples nothing after a buffer full event. */
static void test_buffer_full(struct spe_check *check)
{
	/*
	 * MaxSize, and the number of records of 64 bytes that fit into 4096 bytes with this MaxSize
	 */
	static const struct {
		u8 max_size;
		u64 records;
	} rows[] = { { 6, 64 }, { 7, 63 }, { 9, 57 }, { 11, 33 } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct spe_spu_config config;

		spe_spu_config_default(&config);
		config.max_size = rows[i].max_size;
		if (!fixture_init(check, &config))
			return;
		fixture_arm(4096);
		for (u64 n = 0; n < rows[i].records; n++) {
			SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR), 0);
			SPE_CHECK(check, fixture_sample(&op_load));
		}
		SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR), FULL);
		SPE_CHECK_EQ(check, get_written_bytes(), rows[i].records * 64);
		SPE_CHECK(check, fixture.irq);
		SPE_CHECK(check, !spe_spu_profiling_enabled(&fixture.spu, 0));
		SPE_CHECK(check, !fixture_sample(&op_load));
		SPE_CHECK_EQ(check, fixture.spu.stats.written, rows[i].records);
		SPE_CHECK_EQ(check, fixture.spu.stats.discarded, 0);
		check_ledgers(check, get_written_bytes());
	}
}

/*
 * D17.8.2, "the other fields are unchanged": test that DL, EA and COLL remain set, and that EC and
 * MSS are replaced and not combined.
 */
static void test_buffer_full_keeps_fields(struct spe_check *check)
{
	if (!fixture_init(check, NULL))
		return;
	fixture_arm(4096);
	spe_spu_write(&fixture.spu, SPE_REG_PMBPTR, FIXTURE_BASE + 4096 - 64);
	spe_spu_write(&fixture.spu, SPE_REG_PMBSR,
		      (EC(SPE_PMBSR_EC_STAGE1, 0xfff6) & ~S) | DL | EA | COLL);
	SPE_CHECK(check, fixture_sample(&op_load));
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR), FULL | DL | EA | COLL);
}

/* RTSJRP, IGRLRX: test that the level of PMBIRQ is equal to PMBSR_EL1.S. */
static void test_interrupt_level(struct spe_check *check)
{
	if (!fixture_init(check, NULL))
		return;
	spe_spu_write(&fixture.spu, SPE_REG_PMBSR, COLL);
	SPE_CHECK(check, !fixture.irq && fixture.irq_changes == 0);
	spe_spu_write(&fixture.spu, SPE_REG_PMBSR, S);
	SPE_CHECK(check, fixture.irq && fixture.irq_changes == 1);
	spe_spu_write(&fixture.spu, SPE_REG_PMBSR, S | DL);
	spe_spu_write(&fixture.spu, SPE_REG_PMSCR, 3);
	SPE_CHECK(check, fixture.irq && fixture.irq_changes == 1);
	spe_spu_write(&fixture.spu, SPE_REG_PMBSR, 0);
	SPE_CHECK(check, !fixture.irq && fixture.irq_changes == 2);
}

static u32 write_nothing(void *ctx, u64 addr, const u8 *data, size_t len)
{
	(void)ctx, (void)addr, (void)data, (void)len;
	return 0;
}

/* Acknowledge the event inside the callback, as an interrupt handler may do. */
static void acknowledge_interrupt(void *ctx, bool level)
{
	struct spu_fixture *f = ctx;

	f->irq_changes++;
	if (!level)
		return;
	spe_spu_write(&f->spu, SPE_REG_PMBPTR, FIXTURE_BASE);
	spe_spu_write(&f->spu, SPE_REG_PMBSR, 0);
}

static void test_interrupt_handler_reenters(struct spe_check *check)
{
	struct spe_spu_io io = {
		.write = write_nothing,
		.irq = acknowledge_interrupt,
		.ctx = &fixture,
	};
	struct spe_spu_config config;

	spe_spu_config_default(&config);
	memset(&fixture, 0, sizeof(fixture));
	if (!SPE_CHECK_EQ(check, spe_spu_init(&fixture.spu, &config, &io, NULL), 0))
		return;
	fixture_arm(4096);
	for (unsigned int i = 0; i < 64 * 10; i++)
		SPE_CHECK(check, fixture_sample(&op_load));
	SPE_CHECK_EQ(check, fixture.irq_changes, 20);
	SPE_CHECK_EQ(check, fixture.spu.stats.written, 640);
	SPE_CHECK_EQ(check, get_written_bytes(), 0);
	/* A callback for the interrupt is optional. */
	io.irq = NULL;
	SPE_CHECK_EQ(check, spe_spu_init(&fixture.spu, &config, &io, NULL), 0);
	spe_spu_write(&fixture.spu, SPE_REG_PMBSR, S);
}

/* D17.8.5, RTHGCR: test a PMBPTR at which the SPU must not write. */
static void test_access_not_allowed(struct spe_check *check)
{
	static const struct {
		u64 ptr;
		u64 limit;
	} rows[] = {
		{ 4096, 4096 },	     { 4096 + 64, 4096 }, { 8192, 4096 },
		{ 4096 - 64, 4096 }, { 1ULL << 40, 0 },	  { 4096 - 128 + 64, 4096 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct spe_spu_config config;

		spe_spu_config_default(&config);
		/* A record of 64 bytes would fit, but not one of the maximum size. */
		config.max_size = 7;
		if (!fixture_init(check, &config))
			return;
		fixture_arm(rows[i].limit);
		spe_spu_write(&fixture.spu, SPE_REG_PMBPTR, FIXTURE_BASE + rows[i].ptr);
		SPE_CHECK(check, fixture_sample(&op_load));
		SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR), NOT_ALLOWED);
		SPE_CHECK_EQ(check, get_written_bytes(), rows[i].ptr);
		SPE_CHECK_EQ(check, fixture.writes, 0);
		SPE_CHECK_EQ(check, fixture.spu.stats.discarded, 1);
		SPE_CHECK(check, fixture.irq);
	}
}

/* Test Alignment of table D17-11, and the other permitted behaviour: the low bits do not exist. */
static void test_misaligned_pmbptr(struct spe_check *check)
{
	struct spe_spu_config config;

	if (!fixture_init(check, NULL))
		return;
	fixture_arm(4096);
	spe_spu_write(&fixture.spu, SPE_REG_PMBPTR, FIXTURE_BASE + 65);
	SPE_CHECK(check, fixture_sample(&op_load));
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR),
		     EC(SPE_PMBSR_EC_STAGE1, SPE_FSC_ALIGNMENT));
	SPE_CHECK_EQ(check, get_written_bytes(), 65);
	SPE_CHECK_EQ(check, fixture.writes, 0);

	spe_spu_config_default(&config);
	config.misaligned = SPE_SPU_MISALIGNED_RES0;
	if (!fixture_init(check, &config))
		return;
	fixture_arm(4096);
	spe_spu_write(&fixture.spu, SPE_REG_PMBPTR, FIXTURE_BASE + 65);
	SPE_CHECK_EQ(check, get_written_bytes(), 64);
	SPE_CHECK(check, fixture_sample(&op_load));
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR), 0);
	SPE_CHECK_EQ(check, get_written_bytes(), 128);
}

/**
 * struct fault_row - a fault while the third record is written
 * @fault: result of the write, from spe_fault_make(); S may be set and is ignored
 * @before: PMBSR before the write
 * @pmsver: PMSVer of the SPU
 * @fault_dl: &enum spe_spu_fault_dl, the value of DL for a fault at the first byte of a record
 * @granule: log2 of the write granule; 0: whole records
 * @at: the byte of the record that faults
 * @after: PMBSR afterwards
 * @ptr: PMBPTR afterwards, minus the address of the record
 */
struct fault_row {
	u32 fault;
	u64 before;
	u8 pmsver;
	u8 fault_dl;
	u8 granule;
	u8 at;
	u64 after;
	u64 ptr;
};

#define STAGE1(fsc)	((u32)EC(SPE_PMBSR_EC_STAGE1, fsc) | 1U << 25)
#define STAGE2(fsc)	((u32)EC(SPE_PMBSR_EC_STAGE2, fsc) | 1U << 25)
#define GPC(fsc)	((u32)EC(SPE_PMBSR_EC_GPC, fsc) | 1U << 25)
#define AS_EVENT(fault) ((fault) & ~(1ULL << 25))
#define TRANSLATION	(SPE_FSC_TRANSLATION | 3)

static const struct fault_row fault_rows[] = {
	/* D17.8.3: if the first byte of the record faults, DL is unchanged with either choice. */
	{ STAGE1(TRANSLATION), 0, 2, 0, 0, 0, AS_EVENT(STAGE1(TRANSLATION)), 0 },
	{ STAGE1(TRANSLATION), DL | COLL, 2, 0, 0, 0, AS_EVENT(STAGE1(TRANSLATION)) | DL | COLL,
	  0 },
	/* RYZJQX: the other permitted behaviour is to write DL. */
	{ STAGE1(TRANSLATION), DL, 2, SPE_SPU_FAULT_DL_CLEAR, 0, 0, AS_EVENT(STAGE1(TRANSLATION)),
	  0 },
	{ STAGE1(TRANSLATION), 0, 2, SPE_SPU_FAULT_DL_SET, 0, 0, AS_EVENT(STAGE1(TRANSLATION)) | DL,
	  0 },
	/* If a later byte of the record faults, PMBPTR is the faulting address and DL is 1. */
	{ STAGE1(TRANSLATION), 0, 2, 0, 4, 16, AS_EVENT(STAGE1(TRANSLATION)) | DL, 16 },
	{ STAGE1(TRANSLATION), 0, 2, SPE_SPU_FAULT_DL_CLEAR, 4, 40,
	  AS_EVENT(STAGE1(TRANSLATION)) | DL, 32 },
	{ STAGE1(TRANSLATION), 0, 2, 0, 1, 63, AS_EVENT(STAGE1(TRANSLATION)) | DL, 62 },
	/*
	 * If records are written as a whole, a fault at the end of a record counts as one at its
	 * start.
	 */
	{ STAGE1(TRANSLATION), 0, 2, 0, 0, 63, AS_EVENT(STAGE1(TRANSLATION)), 0 },
	/* The other faults of table D17-11. */
	{ STAGE1(SPE_FSC_ADDRESS_SIZE), 0, 2, 0, 0, 0, AS_EVENT(STAGE1(SPE_FSC_ADDRESS_SIZE)), 0 },
	{ STAGE1(SPE_FSC_ACCESS_FLAG | 3), 0, 2, 0, 0, 0, AS_EVENT(STAGE1(SPE_FSC_ACCESS_FLAG | 3)),
	  0 },
	{ STAGE1(SPE_FSC_PERMISSION | 2), 0, 2, 0, 0, 0, AS_EVENT(STAGE1(SPE_FSC_PERMISSION | 2)),
	  0 },
	{ STAGE2(TRANSLATION), 0, 2, 0, 0, 0, AS_EVENT(STAGE2(TRANSLATION)), 0 },
	/* A GPC fault has no FSC: its MSS is RES0. */
	{ GPC(SPE_FSC_PERMISSION), 0, 2, 0, 4, 16, AS_EVENT(GPC(0)) | DL, 16 },
	/* RBPFPN: a synchronous abort sets EA, and DL only if it is within a record. */
	{ STAGE1(SPE_FSC_EXTERNAL_SYNC), 0, 3, 0, 0, 0,
	  AS_EVENT(STAGE1(SPE_FSC_EXTERNAL_SYNC)) | EA, 0 },
	{ STAGE1(SPE_FSC_EXTERNAL_SYNC), 0, 3, SPE_SPU_FAULT_DL_SET, 0, 0,
	  AS_EVENT(STAGE1(SPE_FSC_EXTERNAL_SYNC)) | EA, 0 },
	{ STAGE1(SPE_FSC_EXTERNAL_SYNC), 0, 3, 0, 5, 32,
	  AS_EVENT(STAGE1(SPE_FSC_EXTERNAL_SYNC)) | EA | DL, 32 },
	/* An asynchronous abort sets EA and DL, and PMBPTR has advanced. */
	{ STAGE1(SPE_FSC_EXTERNAL_ASYNC), 0, 3, 0, 0, 0,
	  AS_EVENT(STAGE1(SPE_FSC_EXTERNAL_ASYNC)) | EA | DL, 64 },
	{ STAGE2(SPE_FSC_EXTERNAL_ASYNC), 0, 2, 0, 4, 16,
	  AS_EVENT(STAGE2(SPE_FSC_EXTERNAL_ASYNC)) | EA | DL, 64 },
	/* RJFYNW, D17.8.4, D17.8.4.1, ITCPLL: from SPEv1p3 on External aborts are not reported. */
	{ STAGE1(SPE_FSC_EXTERNAL_SYNC), 0, 4, 0, 0, 0, 0, 64 },
	{ STAGE1(SPE_FSC_EXTERNAL_ASYNC), 0, 4, 0, 0, 0, 0, 64 },
	/* An MMU fault is reported in every version. */
	{ STAGE1(TRANSLATION), 0, 6, 0, 0, 0, AS_EVENT(STAGE1(TRANSLATION)), 0 },
	/* D17.8.4.3: an abort on a table walk is an MMU fault; EA is unchanged. */
	{ STAGE1(0x17), 0, 2, 0, 0, 0, AS_EVENT(STAGE1(0x17)), 0 },
	/* D17.8.5, D17.8.6: the data is lost, and PMBPTR does not move. */
	{ 1U << 25, 0, 2, 0, 0, 0, NOT_ALLOWED, 0 },
	{ 0x1fU << 26 | 1U << 25 | 0x123, 0, 2, 0, 0, 0, (0x1fULL << 26 | 0x123 | S) | DL, 0 },
};

static void check_fault(struct spe_check *check, const struct fault_row *row, u64 index)
{
	u64 record = FIXTURE_BASE + 128;
	bool recorded = !row->after;
	struct spe_spu_config config;

	spe_spu_config_default(&config);
	config.pmsver = row->pmsver;
	config.fault_dl = row->fault_dl;
	config.write_granule = row->granule;
	if (!fixture_init(check, &config))
		return;
	fixture_arm(4096);
	spe_spu_write(&fixture.spu, SPE_REG_PMBSR, row->before);
	SPE_CHECK(check, fixture_sample(&op_load) && fixture_sample(&op_load));
	/*
	 * S in @fault only marks it as a result of spe_fault_make(); S in PMBSR is set by the
	 * event.
	 */
	fixture.fault = row->fault & ~(u32)S;
	fixture.fault_from = record + row->at;
	SPE_CHECK(check, fixture_sample(&op_load));
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR) | index << 32,
		     row->after | index << 32);
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBPTR) - record, row->ptr);
	SPE_CHECK_EQ(check, fixture.spu.stats.written, recorded ? 3 : 2);
	SPE_CHECK_EQ(check, fixture.spu.stats.discarded, !recorded);
	SPE_CHECK_EQ(check, fixture.irq, !recorded);
	check_ledgers(check, get_written_bytes());
}

static void test_faults_of_third_record(struct spe_check *check)
{
	for (size_t i = 0; i < ARRAY_SIZE(fault_rows); i++)
		check_fault(check, &fault_rows[i], i);
	SPE_CHECK_EQ(check, spe_fault_make(SPE_PMBSR_EC_STAGE2, 7), STAGE2(7) & ~S);
	/* The code of "Access not allowed" is zero, yet spe_fault_make() must not return 0. */
	SPE_CHECK(check, spe_fault_make(SPE_PMBSR_EC_BUFFER, SPE_PMBSR_BSC_NOT_ALLOWED));
}

/*
 * D17.8.1, RDTGVZ: if the last record that fits faults, the SPU reports the fault and not buffer
 * full.
 */
static void test_fault_precedes_buffer_full(struct spe_check *check)
{
	if (!fixture_init(check, NULL))
		return;
	fixture_arm(4096);
	spe_spu_write(&fixture.spu, SPE_REG_PMBPTR, FIXTURE_BASE + 4096 - 64);
	fixture.fault = spe_fault_make(SPE_PMBSR_EC_STAGE1, TRANSLATION);
	fixture.fault_from = 0;
	SPE_CHECK(check, fixture_sample(&op_load));
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR), EC(SPE_PMBSR_EC_STAGE1, TRANSLATION));
}

static void test_injected_faults(struct spe_check *check)
{
	if (!fixture_init(check, NULL))
		return;
	fixture_arm(4096);
	spe_spu_inject_fault(&fixture.spu, spe_fault_make(SPE_PMBSR_EC_STAGE1, TRANSLATION));
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR), 0);
	SPE_CHECK(check, fixture_sample(&op_load));
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR), EC(SPE_PMBSR_EC_STAGE1, TRANSLATION));
	SPE_CHECK_EQ(check, fixture.writes, 0);
	/* The fault occurs only once. */
	spe_spu_write(&fixture.spu, SPE_REG_PMBSR, 0);
	SPE_CHECK(check, fixture_sample(&op_load));
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR), 0);

	spe_spu_inject_fault(&fixture.spu, spe_fault_make(SPE_PMBSR_EC_BUFFER, SPE_PMBSR_BSC_FULL));
	SPE_CHECK(check, fixture_sample(&op_load));
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR), FULL);
	SPE_CHECK_EQ(check, get_written_bytes(), 128);
	SPE_CHECK_EQ(check, fixture.spu.stats.written, 2);
	check_ledgers(check, get_written_bytes());

	/*
	 * An address size fault at level 1 has the same status code as buffer full, and must not be
	 * taken for it.
	 */
	spe_spu_write(&fixture.spu, SPE_REG_PMBSR, 0);
	spe_spu_inject_fault(&fixture.spu, spe_fault_make(SPE_PMBSR_EC_STAGE1, 1));
	SPE_CHECK(check, fixture_sample(&op_load));
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR), EC(SPE_PMBSR_EC_STAGE1, 1));
	SPE_CHECK_EQ(check, fixture.spu.stats.written, 2);
}

/* RBPFPN: a second event does not change the syndrome of the first, and adds EA and DL. */
static void test_second_event(struct spe_check *check)
{
	static const struct {
		u32 fault;
		u8 pmsver;
		bool second;
	} rows[] = {
		{ STAGE1(SPE_FSC_EXTERNAL_ASYNC), 3, true },
		{ STAGE2(SPE_FSC_EXTERNAL_ASYNC), 3, true },
		{ GPC(SPE_FSC_EXTERNAL_ASYNC), 3, true },
		{ STAGE1(SPE_FSC_EXTERNAL_ASYNC), 4, false },
		/* A synchronous abort needs a write, and the SPU writes nothing while S is 1. */
		{ STAGE1(SPE_FSC_EXTERNAL_SYNC), 3, false },
		{ STAGE1(TRANSLATION), 3, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		u32 fault = rows[i].fault & ~(u32)S;
		struct spe_spu_config config;

		spe_spu_config_default(&config);
		config.pmsver = rows[i].pmsver;
		if (!fixture_init(check, &config))
			return;
		spe_spu_write(&fixture.spu, SPE_REG_PMBSR, FULL);
		spe_spu_inject_fault(&fixture.spu, fault);
		SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR),
			     FULL | (rows[i].second ? EA | DL : 0));
		/* A second event happens once. The next write does not repeat it. */
		if (!rows[i].second)
			continue;
		spe_spu_write(&fixture.spu, SPE_REG_PMBSR, 0);
		fixture_arm(4096);
		SPE_CHECK(check, fixture_sample(&op_load));
		SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR), 0);
	}
}

/*
 * D17.8.4, RJFYNW: test each permitted behaviour: the abort is ignored, reported as an SError
 * (D17.8.4.2), or reported in PMBSR.
 */
static void test_external_aborts(struct spe_check *check)
{
	static const struct {
		u8 pmsver;
		u8 abort;
		u8 ea; /* PMBIDR.EA, IKDMQG */
		u8 serrors;
		bool reported;
	} rows[] = {
		{ 3, SPE_SPU_ABORT_REPORTED, 0, 0, true },
		{ 4, SPE_SPU_ABORT_REPORTED, 1, 0, false },
		{ 3, SPE_SPU_ABORT_IGNORED, 1, 0, false },
		{ 4, SPE_SPU_ABORT_IGNORED, 1, 0, false },
		{ 3, SPE_SPU_ABORT_SERROR, 2, 1, false },
		{ 6, SPE_SPU_ABORT_SERROR, 2, 1, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (u64 code = SPE_FSC_EXTERNAL_SYNC; code <= SPE_FSC_EXTERNAL_ASYNC; code++) {
			struct spe_spu_config config;
			u32 fault = spe_fault_make(SPE_PMBSR_EC_STAGE1, (u32)code);

			spe_spu_config_default(&config);
			config.pmsver = rows[i].pmsver;
			config.abort = rows[i].abort;
			if (!fixture_init(check, &config))
				return;
			fixture_arm(4096);
			SPE_CHECK_EQ(check,
				     i << 8 | SPE_FIELD_GET(SPE_PMBIDR_EA,
							    fixture_read_reg(SPE_REG_PMBIDR)),
				     i << 8 | rows[i].ea);
			spe_spu_inject_fault(&fixture.spu, fault);
			SPE_CHECK(check, fixture_sample(&op_load));
			SPE_CHECK_EQ(check, i << 8 | fixture.serrors, i << 8 | rows[i].serrors);
			SPE_CHECK_EQ(check, i << 8 | fixture.irq, i << 8 | rows[i].reported);
			if (rows[i].reported)
				continue;
			/* The record is written as usual, and PMBSR shows nothing. */
			SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR), 0);
			SPE_CHECK_EQ(check, get_written_bytes(), 64);
			while (fixture_sample(&op_load))
				;
			SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR), FULL);
			/* Inject another asynchronous abort, after an event. */
			if (code == SPE_FSC_EXTERNAL_ASYNC)
				spe_spu_inject_fault(&fixture.spu, fault);
			SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR), FULL);
			SPE_CHECK_EQ(check, fixture.serrors,
				     code == SPE_FSC_EXTERNAL_ASYNC ? 2 * rows[i].serrors :
								      rows[i].serrors);
		}
}

/* Test discard mode (FEAT_SPEv1p2): the SPU takes samples and does not write them. */
static void test_discard_mode(struct spe_check *check)
{
	u64 fm = SPE_FIELD_PREP(SPE_PMBLIMITR_FM, SPE_PMBLIMITR_FM_DISCARD);

	for (u8 pmsver = 2; pmsver <= 3; pmsver++) {
		struct spe_spu_config config;

		spe_spu_config_default(&config);
		config.pmsver = pmsver;
		if (!fixture_init(check, &config))
			return;
		fixture_arm(4096);
		spe_spu_write(&fixture.spu, SPE_REG_PMBLIMITR,
			      (FIXTURE_BASE + 4096) | fm | SPE_PMBLIMITR_E);
		for (unsigned int i = 0; i < 10; i++)
			SPE_CHECK(check, fixture_sample(&op_load));
		SPE_CHECK_EQ(check, fixture.spu.stats.selected, 10);
		SPE_CHECK_EQ(check, fixture.spu.stats.written, pmsver == 2 ? 10 : 0);
		SPE_CHECK_EQ(check, fixture.spu.stats.discarded, pmsver == 2 ? 0 : 10);
		SPE_CHECK_EQ(check, get_written_bytes(), pmsver == 2 ? 640 : 0);
		SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR), 0);
	}
}

/* Check that the buffer up to PMBPTR decodes to the operations that were counted. */
static void check_window(struct spe_check *check, const struct spe_spu_config *config)
{
	struct spe_decoder_config decoder_config = {
		.max_size = 1U << config->max_size,
		.align = 1U << config->align,
	};
	struct spe_decoder decoder;
	struct spe_sample sample;

	spe_decoder_init(&decoder, &decoder_config, fixture.mem, (size_t)fixture.spu.stats.bytes);
	while (spe_decoder_next(&decoder, &sample, NULL) != SPE_DECODE_END)
		;
	SPE_CHECK_EQ(check, decoder.ledger.records, fixture.spu.stats.written);
	SPE_CHECK_EQ(check, decoder.ledger.suspect, 0);
	SPE_CHECK_EQ(check, decoder.ledger.decoded + decoder.ledger.padding,
		     fixture.spu.stats.bytes);
}

/*
 * RTHGCR: random SPUs, windows, filters and faults never cause a write beyond the limit, and the
 * counters add up.
 */
static void test_random_buffers(struct spe_check *check)
{
	static const struct spe_operation *const ops[] = { &op_load, &op_store, &op_branch,
							   &op_other };
	u64 seed = 0x5eed0007, full = 0, faulted = 0;

	for (unsigned int i = 0; i < 3000 && !check->failures; i++) {
		u64 r = spe_check_random(&seed);
		struct spe_spu_config config;

		spe_spu_config_default(&config);
		config.layout = r & 1;
		config.max_size = 6 + (u8)((r >> 1) % 6);
		config.align = (u8)((r >> 8) % (config.max_size + 1U));
		config.write_granule = (u8)((r >> 16) % 12);
		config.pmsver = 1 + (u8)((r >> 20) % 3);
		config.sampled_events = 0x2a;
		if (!fixture_init(check, &config))
			return;
		spe_spu_write(&fixture.spu, SPE_REG_PMSCR, r >> 32 & 0x38);
		if (r >> 24 & 1)
			spe_spu_write(&fixture.spu, SPE_REG_PMSFCR,
				      SPE_PMSFCR_FT | SPE_PMSFCR_LD | SPE_PMSFCR_B);
		fixture_arm(4096 * (1 + (r >> 40 & 3)));
		if (r >> 25 & 1) {
			fixture.fault = spe_fault_make(SPE_PMBSR_EC_STAGE1, TRANSLATION);
			fixture.fault_from = FIXTURE_BASE + (r >> 44) % FIXTURE_SIZE;
		}
		while (fixture_sample(ops[spe_check_random(&seed) & 3]))
			;
		full += fixture_read_reg(SPE_REG_PMBSR) == FULL;
		faulted += (fixture_read_reg(SPE_REG_PMBSR) & ~DL) ==
			   EC(SPE_PMBSR_EC_STAGE1, TRANSLATION);
		SPE_CHECK(check, get_written_bytes() <= (fixture_read_reg(SPE_REG_PMBLIMITR) &
							 SPE_PMBLIMITR_LIMIT) -
								FIXTURE_BASE);
		SPE_CHECK_EQ(check, !!(fixture_read_reg(SPE_REG_PMBSR) & DL),
			     fixture.spu.stats.cut != 0);
		check_ledgers(check, get_written_bytes());
		check_window(check, &config);
	}
	SPE_CHECK(check, full > 1000 && faulted > 500 && full + faulted == 3000);
}

static const struct spe_case cases[] = {
	{ "full", test_buffer_full },
	{ "full keeps other fields", test_buffer_full_keeps_fields },
	{ "interrupt", test_interrupt_level },
	{ "interrupt reenters", test_interrupt_handler_reenters },
	{ "access not allowed", test_access_not_allowed },
	{ "misaligned", test_misaligned_pmbptr },
	{ "faults", test_faults_of_third_record },
	{ "priority", test_fault_precedes_buffer_full },
	{ "injected", test_injected_faults },
	{ "second event", test_second_event },
	{ "External aborts", test_external_aborts },
	{ "discard mode", test_discard_mode },
	{ "properties", test_random_buffers },
};

const struct spe_suite spe_suite_spu_buffer = { "spu-buffer", cases, ARRAY_SIZE(cases) };
