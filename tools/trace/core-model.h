/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Models what a trace of instructions does not contain: latencies, what served each access, and
 * mispredictions. The caches, the TLB and the branch predictor have the sizes of a Neoverse N1, and
 * contain what the instructions before have accessed, so the result depends on the trace alone.
 */
#ifndef SPEPROF_CORE_MODEL_H
#define SPEPROF_CORE_MODEL_H

#include "a64.h"
#include "model/instruction.h"

struct core_model;

/** core_model_new() - create a core; returns 0 or -ENOMEM. Free it with core_model_free() */
int core_model_new(struct core_model **ret_core);

/** core_model_free() - free a core, which may be NULL; returns NULL */
struct core_model *core_model_free(struct core_model *core);

/**
 * core_model_access() - access memory
 * @core: the core
 * @address: the virtual address
 * @bytes: bytes of the access, above 0
 * @store: it writes, and does not read
 * @ret_access: address, latencies, events and data source; without a physical address
 */
void core_model_access(struct core_model *core, u64 address, u32 bytes, bool store,
		       struct spe_access *ret_access);

/**
 * core_model_branch() - execute a branch
 * @core: the core
 * @pc: its address
 * @flags: SPE_INSTRUCTION_* of the branch
 * @taken: whether it is taken
 * @target: where to
 *
 * Return: whether the branch predictor was wrong.
 */
bool core_model_branch(struct core_model *core, u64 pc, u64 flags, bool taken, u64 target);

/** core_model_latency() - return the cycles that an instruction without an access takes */
u32 core_model_latency(const struct a64 *a64, bool mispredicted);

#endif
