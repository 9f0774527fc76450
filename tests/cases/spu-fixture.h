/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An SPU with a buffer; its write function checks each write */
#ifndef SPE_CASES_SPU_FIXTURE_H
#define SPE_CASES_SPU_FIXTURE_H

#include "check.h"
#include "codec/record.h"
#include "model/spu.h"

#define FIXTURE_BASE 0xffff000012340000ULL
#define FIXTURE_SIZE 16384

/**
 * struct spu_fixture - one SPU under test
 * @fault_from: writes to this address and above end in @fault
 * @strays: number of writes outside the buffer, beyond PMBLIMITR.LIMIT or across a granule
 * @irq: level of PMBIRQ
 * @irq_changes: number of changes of @irq
 * @serrors: number of SError exceptions
 * @events: number of events, indexed by &enum spe_spu_event
 * @pages: descriptors, indexed by stage - 1 and by page; used if @walks is set
 */
struct spu_fixture {
	struct spe_spu spu;
	u8 mem[FIXTURE_SIZE];
	u64 fault_from;
	u32 fault;
	u64 strays;
	u64 writes;
	u64 irq_changes;
	u64 serrors;
	u64 events[SPE_SPU_EVENTS];
	struct spe_descriptor pages[2][FIXTURE_SIZE / 4096];
	bool walks;
	bool irq;
};

/* One variable suffices, because cases run one at a time. */
extern struct spu_fixture fixture;

/*
 * Reset an SPU of @config (NULL: the default configuration). Return: false if @config was refused.
 */
bool fixture_init(struct spe_check *check, const struct spe_spu_config *config);

/* Arm a window of @size bytes at the start of the buffer and enable EL0 and EL1 (EL2 with E2H). */
void fixture_arm(size_t size);

/*
 * Execute operations until the SPU selects one, and sample it as @operation. Return: false if
 * profiling is disabled.
 */
bool fixture_sample(const struct spe_operation *operation);

static inline u64 fixture_read_reg(enum spe_reg reg)
{
	return spe_spu_read(&fixture.spu, reg);
}

/* A load, a store, a taken branch, an addition. */
extern const struct spe_operation op_load;
extern const struct spe_operation op_store;
extern const struct spe_operation op_branch;
extern const struct spe_operation op_other;

#endif
