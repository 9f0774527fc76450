/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pass the instructions of a trace to an emulated SPU. Branches, targets, addresses and PCs are
 * those of the trace. Latencies, levels that serve accesses, mispredictions and time are modelled.
 */
#ifndef SPEPROF_TRACED_SPU_H
#define SPEPROF_TRACED_SPU_H

#include "core-model.h"
#include "qemu-log.h"
#include "source/emulated-spu.h"

/* Intervals other than 1 must be multiples of this number (PMSIRR_EL1.INTERVAL). */
#define TRACED_INTERVAL_STEP 256
#define TRACED_INTERVAL_MAX  (0xffffffU * TRACED_INTERVAL_STEP)

/**
 * struct traced_spu - an SPU, and the core that it belongs to
 * @driver: the SPU and the driver of its buffer
 * @program: registers of the SPU
 * @core: the core
 * @now_ns: time of the next instruction: each takes 1 ns
 * @instructions: number of executed instructions
 * @each: whether every instruction is sampled
 */
struct traced_spu {
	struct emulated_spu driver;
	struct spu_program program;
	struct core_model *core;
	u64 now_ns;
	u64 instructions;
	bool each;
};

/**
 * traced_spu_init() - create an SPU that samples instructions
 * @spu: the SPU; it must not move in memory
 * @interval: instructions between two samples: 1, or a multiple of TRACED_INTERVAL_STEP up to
 *	TRACED_INTERVAL_MAX, which is perturbed at random (PMSIRR_EL1.RND)
 * @start_ns: time of the first instruction
 *
 * Return: 0; -ENOMEM if memory cannot be allocated.
 */
int traced_spu_init(struct traced_spu *spu, u32 interval, u64 start_ns);

/** traced_spu_deinit() - free what traced_spu_init() allocated; does nothing for a zeroed @spu */
void traced_spu_deinit(struct traced_spu *spu);

/**
 * traced_spu_execute() - execute an instruction of the trace
 * @spu: the SPU
 * @step: the instruction
 * @tid: the thread, for the Context packets
 * @sink: receives the window if a record fills it
 */
void traced_spu_execute(struct traced_spu *spu, const struct qemu_step *step, s32 tid,
			const struct source_sink *sink);

/** traced_spu_close() - deliver the last window */
void traced_spu_close(struct traced_spu *spu, const struct source_sink *sink);

#endif
