/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Model what a trace of instructions does not contain: latencies, the level that served each
 * access, and mispredictions. The caches, the TLB and the branch predictor have the sizes of a
 * Neoverse N1, and contain what earlier instructions have accessed. So the result depends only on
 * the trace.
 */
#ifndef SPEPROF_CORE_MODEL_H
#define SPEPROF_CORE_MODEL_H

#include "util/a64.h"
#include "model/instruction.h"

struct core_model;

/**
 * core_model_new() - create a core; return 0, or -ENOMEM if memory cannot be allocated. Free it
 * with core_model_free()
 */
int core_model_new(struct core_model **ret_core);

/** core_model_free() - free a core, which may be NULL; return NULL */
struct core_model *core_model_free(struct core_model *core);

/**
 * core_model_access() - access memory
 * @core: the core
 * @address: the virtual address
 * @bytes: bytes of the access, above 0
 * @store: whether the access writes memory; otherwise it reads
 * @ret_access: address, latencies, events and data source; without a physical address
 */
void core_model_access(struct core_model *core, u64 address, u32 bytes, bool store,
		       struct spe_access *ret_access);

/**
 * core_model_execute_branch() - execute a branch
 * @core: the core
 * @pc: address of the branch
 * @flags: SPE_INSTRUCTION_* of the branch
 * @taken: whether the branch is taken
 * @target: address to which the branch goes
 *
 * Return: whether the branch was mispredicted.
 */
bool core_model_execute_branch(struct core_model *core, u64 pc, u64 flags, bool taken, u64 target);

/** core_model_get_latency() - return the latency of an instruction without an access, in cycles */
u32 core_model_get_latency(const struct a64_instruction *a64, bool mispredicted);

#endif
