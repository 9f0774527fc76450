// SPDX-License-Identifier: LGPL-2.1-or-later
#include "records.h"

#include <stdio.h>
#include <stdlib.h>

#define BASE 0x100000ULL
#define ROOM (1U << 20)

static u32 write_record(void *ctx, u64 addr, const u8 *data, size_t len)
{
	struct record_generator *records = ctx;

	(void)addr;
	memcpy(records->at, data, len);
	records->at += len;
	return 0;
}

static void buffer_rearm(struct spe_spu *spu)
{
	spe_spu_write(spu, SPE_REG_PMBPTR, BASE);
	spe_spu_write(spu, SPE_REG_PMBLIMITR, (BASE + ROOM) | SPE_PMBLIMITR_E);
	spe_spu_write(spu, SPE_REG_PMBSR, 0);
}

void record_generator_init(struct record_generator *records, u64 seed)
{
	const struct spe_spu_io io = { .write = write_record, .ctx = records };
	struct spe_spu_config config;
	const char *reason;

	spe_spu_config_default(&config);
	if (spe_spu_init(&records->spu, &config, &io, &reason)) {
		fprintf(stderr, "records: %s\n", reason);
		exit(EXIT_FAILURE);
	}
	spe_opmodel_init(&records->model, seed);
	records->random = seed;
	records->time = 1000000;
	spe_spu_write(&records->spu, SPE_REG_PMSCR, SPE_PMSCR_E0SPE | SPE_PMSCR_CX | SPE_PMSCR_TS);
	spe_spu_write(&records->spu, SPE_REG_PMSIRR, 1024 << 8);
	buffer_rearm(&records->spu);
}

static u64 next_random(u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/*
 * Give each task one profile of the operation model, so that the events and latencies of all
 * profiles appear.
 */
static void make_operation(struct record_generator *records, struct spe_operation *op)
{
	u64 place = next_random(&records->random) % RECORDS_PCS;

	op->pc = RECORDS_PC + 4 * place;
	op->timestamp = records->time += 1000;
	op->valid = SPE_OPERATION_CONTEXT1;
	op->contextidr_el1 = RECORDS_TID + (u32)(place % RECORDS_TIDS);
	spe_opmodel_complete_operation(&records->model,
				       (enum spe_profile)(place % (SPE_PROFILE_BRANCHY + 1)), op);
}

void record_generator_fill(struct record_generator *records, u8 *buf, u32 count)
{
	u8 *end = buf + (size_t)count * RECORDS_STRIDE;
	struct spe_operation op = { 0 };

	records->at = buf;
	while (records->at < end) {
		if (!spe_spu_profiling_enabled(&records->spu, 0))
			buffer_rearm(&records->spu);
		if (!spe_spu_count_operations(&records->spu,
					      spe_spu_operations_until_sample(&records->spu)))
			continue;
		make_operation(records, &op);
		spe_spu_sample_operation(&records->spu, &op);
	}
}

void record_generator_scatter_pcs(struct record_generator *records, u8 *buf, u32 count, u32 pcs)
{
	for (u8 *record = buf; count--; record += RECORDS_STRIDE)
		spe_put_le32(record + RECORDS_AT_PC,
			     (u32)(RECORDS_PC + 4 * (next_random(&records->random) % pcs)));
}
