// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "spu-fixture.h"

struct spu_fixture fixture;

const struct spe_operation op_load = {
	.pc = 0xffff800008123454ULL,
	.va = 0xffff000123456789ULL,
	.pa = 0x0000000876543789ULL,
	.timestamp = 0x1122334455667788ULL,
	.events = SPE_BIT(SPE_EVENT_RETIRED) | SPE_BIT(SPE_EVENT_L1D_ACCESS) |
		  SPE_BIT(SPE_EVENT_L1D_REFILL) | SPE_BIT(SPE_EVENT_TLB_ACCESS),
	.valid = SPE_OPERATION_VA | SPE_OPERATION_PA | SPE_OPERATION_SOURCE | SPE_OPERATION_CONTEXT1 |
	       SPE_OPERATION_CONTEXT2,
	.contextidr_el1 = 0x1001,
	.contextidr_el2 = 0x2002,
	.total = 200,
	.issue = 12,
	.translation = 7,
	.source = 0x0e,
	.op_class = SPE_OP_LOAD_STORE,
	.el = 1,
	.ns = true,
};

const struct spe_operation op_store = {
	.pc = 0x0000aaaab0001230ULL,
	.va = 0x5a00ffffc0001008ULL,
	.pa = 0x0000000812345008ULL,
	.timestamp = 0x2122334455667788ULL,
	.events = SPE_BIT(SPE_EVENT_RETIRED) | SPE_BIT(SPE_EVENT_L1D_ACCESS) |
		  SPE_BIT(SPE_EVENT_TLB_ACCESS) | SPE_BIT(SPE_EVENT_TLB_WALK),
	.valid = SPE_OPERATION_VA | SPE_OPERATION_PA | SPE_OPERATION_SOURCE | SPE_OPERATION_CONTEXT1 |
	       SPE_OPERATION_CONTEXT2,
	.contextidr_el1 = 0x1001,
	.contextidr_el2 = 0x2002,
	.total = 20,
	.issue = 2,
	.translation = 9,
	.source = 0x08,
	.op_class = SPE_OP_LOAD_STORE,
	.op_subclass = SPE_OP_LDST,
	.el = 0,
	.ns = true,
};

const struct spe_operation op_branch = {
	.pc = 0x0000aaaab0001234ULL,
	.target = 0x0000aaaab0001200ULL,
	.timestamp = 0x3122334455667788ULL,
	.events = SPE_BIT(SPE_EVENT_RETIRED) | SPE_BIT(SPE_EVENT_MISPREDICTED),
	.valid = SPE_OPERATION_TARGET | SPE_OPERATION_CONTEXT1 | SPE_OPERATION_CONTEXT2,
	.contextidr_el1 = 0x1001,
	.contextidr_el2 = 0x2002,
	.total = 16,
	.issue = 3,
	.op_class = SPE_OP_BRANCH,
	.op_subclass = SPE_OP_COND,
	.el = 0,
	.ns = true,
};

const struct spe_operation op_other = {
	.pc = 0x0000aaaab0001238ULL,
	.timestamp = 0x4122334455667788ULL,
	.events = SPE_BIT(SPE_EVENT_RETIRED),
	.valid = SPE_OPERATION_CONTEXT1 | SPE_OPERATION_CONTEXT2,
	.contextidr_el1 = 0x1001,
	.contextidr_el2 = 0x2002,
	.total = 3,
	.issue = 1,
	.op_class = SPE_OP_OTHER,
	.el = 0,
	.ns = true,
};

static u32 fixture_write(void *ctx, u64 addr, const u8 *data, size_t len)
{
	struct spu_fixture *f = ctx;
	u8 granule = f->spu.config.write_granule;
	u64 limit = spe_spu_read(&f->spu, SPE_REG_PMBLIMITR) & SPE_PMBLIMITR_LIMIT;

	f->writes++;
	if (addr < FIXTURE_BASE || addr > limit || len > limit - addr ||
	    addr - FIXTURE_BASE > FIXTURE_SIZE || len > FIXTURE_SIZE - (addr - FIXTURE_BASE)) {
		f->strays++;
		return 0;
	}
	if (granule && addr >> granule != (addr + len - 1) >> granule)
		f->strays++;
	if (f->fault && addr + len > f->fault_from)
		return f->fault;
	memcpy(f->mem + (addr - FIXTURE_BASE), data, len);
	return 0;
}

static void fixture_irq(void *ctx, bool level)
{
	struct spu_fixture *f = ctx;

	f->irq = level;
	f->irq_changes++;
}

static void fixture_serror(void *ctx)
{
	struct spu_fixture *f = ctx;

	f->serrors++;
}

static void fixture_event(void *ctx, enum spe_spu_event event)
{
	struct spu_fixture *f = ctx;

	f->events[event]++;
}

static struct spe_descriptor *fixture_walk(void *ctx, u64 addr, unsigned int stage)
{
	struct spu_fixture *f = ctx;
	u64 page = (addr - FIXTURE_BASE) / 4096;

	return f->walks && page < ARRAY_SIZE(f->pages[0]) ? &f->pages[stage - 1][page] : NULL;
}

bool fixture_init(struct spe_check *check, const struct spe_spu_config *config)
{
	struct spe_spu_io io = {
		.write = fixture_write,
		.irq = fixture_irq,
		.serror = fixture_serror,
		.event = fixture_event,
		.walk = fixture_walk,
		.ctx = &fixture,
	};
	struct spe_spu_config config_default;

	if (!config) {
		spe_spu_config_default(&config_default);
		config = &config_default;
	}
	memset(&fixture, 0, sizeof(fixture));
	memset(fixture.mem, 0xa5, sizeof(fixture.mem));
	return SPE_CHECK_EQ(check, spe_spu_init(&fixture.spu, config, &io, NULL), 0);
}

void fixture_arm(size_t size)
{
	struct spe_spu *spu = &fixture.spu;

	spe_spu_write(spu, SPE_REG_PMBPTR, FIXTURE_BASE);
	spe_spu_write(spu, SPE_REG_PMBLIMITR, (FIXTURE_BASE + size) | SPE_PMBLIMITR_E);
	spe_spu_write(spu, SPE_REG_PMSCR,
		      spe_spu_read(spu, SPE_REG_PMSCR) | SPE_PMSCR_E0SPE | SPE_PMSCR_E1SPE);
}

bool fixture_sample(const struct spe_operation *operation)
{
	u64 until = spe_spu_operations_until_sample(&fixture.spu);

	if (!until)
		return false;
	if (spe_spu_count_operations(&fixture.spu, until))
		spe_spu_sample_operation(&fixture.spu, operation);
	return true;
}
