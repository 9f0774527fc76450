// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Measure how many samples a second the SPU model takes on this core, with and without the cost of
 * the operation model. The target is 5 million.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "model/opmodel.h"
#include "model/spu.h"

#define BUFFER	(1 << 20)
#define BASE	0x100000ULL
#define SAMPLES 10000000ULL
#define BAR	5e6

static u8 buffer[BUFFER];

static u32 buffer_write(void *ctx, u64 addr, const u8 *data, size_t len)
{
	(void)ctx;
	memcpy(buffer + (addr - BASE), data, len);
	return 0;
}

static double get_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void buffer_rearm(struct spe_spu *spu)
{
	spe_spu_write(spu, SPE_REG_PMBPTR, BASE);
	spe_spu_write(spu, SPE_REG_PMBLIMITR, (BASE + BUFFER) | SPE_PMBLIMITR_E);
	spe_spu_write(spu, SPE_REG_PMBSR, 0);
}

/*
 * Return the samples per second of CPU time. @model: whether to model each operation, or to use one
 * operation for all samples.
 */
static double measure_sample_rate(const struct spe_spu_config *config, bool model)
{
	struct spe_spu_io io = { .write = buffer_write };
	struct spe_operation_model opmodel;
	struct spe_operation op = { .pc = 0xaaaab0001230ULL, .valid = SPE_OPERATION_CONTEXT1 };
	struct spe_spu spu;
	const char *reason;
	double start;

	if (spe_spu_init(&spu, config, &io, &reason)) {
		fprintf(stderr, "bench-spu: %s\n", reason);
		exit(EXIT_FAILURE);
	}
	spe_opmodel_init(&opmodel, 1);
	spe_opmodel_complete_operation(&opmodel, SPE_PROFILE_POINTER_CHASE, &op);
	spe_spu_write(&spu, SPE_REG_PMSCR,
		      SPE_PMSCR_E0SPE | SPE_PMSCR_CX | SPE_PMSCR_PA | SPE_PMSCR_TS);
	spe_spu_write(&spu, SPE_REG_PMSIRR, 1024 << 8 | SPE_PMSIRR_RND);
	buffer_rearm(&spu);
	start = get_time();
	while (spu.stats.written < SAMPLES) {
		if (!spe_spu_profiling_enabled(&spu, 0))
			buffer_rearm(&spu);
		if (!spe_spu_count_operations(&spu, spe_spu_operations_until_sample(&spu)))
			continue;
		if (model) {
			op.pc += 4;
			spe_opmodel_complete_operation(&opmodel, SPE_PROFILE_MIXED, &op);
		}
		op.timestamp++;
		spe_spu_sample_operation(&spu, &op);
	}
	return (double)SAMPLES / (get_time() - start);
}

int main(void)
{
	struct spe_spu_config config;
	double slots, packed, modelled;

	spe_spu_config_default(&config);
	slots = measure_sample_rate(&config, false);
	modelled = measure_sample_rate(&config, true);
	config.layout = SPE_SPU_LAYOUT_PACKED;
	packed = measure_sample_rate(&config, false);
	printf("SPU model, slots layout             %6.1f million samples/s\n", slots / 1e6);
	printf("SPU model, packed layout            %6.1f million samples/s\n", packed / 1e6);
	printf("SPU model with modelled operations  %6.1f million samples/s\n", modelled / 1e6);
	if (slots < BAR || packed < BAR || modelled < BAR) {
		printf("below the bar of %.0f million\n", BAR / 1e6);
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
