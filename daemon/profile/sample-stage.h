/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decodes the records of a window and finds their tasks, once for all profiles that count the
 * window. The profiles get the samples in batches. A batch stays in the first level cache of the
 * CPU while each profile filters and counts its samples.
 */
#ifndef SPEPROF_SAMPLE_STAGE_H
#define SPEPROF_SAMPLE_STAGE_H

#include "attribution/attributor.h"
#include "attribution/reader-lock.h"
#include "codec/layout.h"
#include "location-key.h"
#include "sample-class.h"
#include "source/source.h"

/* The upper half of &resolved_task.task: the kind of value that identifies a sample's task. */
enum task_key_kind {
	TASK_KEY_CONTEXT_EL1,
	TASK_KEY_CONTEXT_EL2,
	TASK_KEY_WINDOW,
	TASK_KEY_NONE,
};

#define TASK_SLOT_BITS 8

/**
 * task_get_slot_index() - return the slot index of @task in a cache of 1 << TASK_SLOT_BITS entries
 */
static inline u32 task_get_slot_index(u64 task)
{
	return (u32)(task * 0x9e3779b97f4a7c15ULL >> (64 - TASK_SLOT_BITS));
}

/**
 * struct resolved_task - cached result: the process of all samples with one task key
 * @task: &enum task_key_kind << 32 | value
 * @epoch: &sample_stage.epoch when the result was stored; in another epoch it is invalid
 * @version: a number that is unique among the results of all stages
 * @span: the times for which the result is valid
 * @owner: location_owner_make() of the process
 * @process: the process, NULL for none; @container: its container
 * @waits: a query of /proc is pending; @owner and @process are the last known process
 */
struct resolved_task {
	u64 task;
	u64 epoch;
	u64 version;
	struct attribute_span span;
	u64 owner;
	const struct attribute_process *process;
	const struct attribute_container *container;
	bool waits;
};

/* Flag in the result of staged_sample_get_slot(): &resolved_task.waits is true. */
#define STAGE_WAITS 0x8000

/**
 * struct staged_sample - the fields of a sample that are counted, and its task
 * @traits: sample_class_make_key() without an encoding
 * @events: payload of the Events packet
 * @place: location_make_pc_key() of the PC
 * @version: &resolved_task.version of the sample's task
 * @packed: 16 bits each: latencies in the order of &enum profile_latency, then
 *	staged_sample_get_slot(). They are one member, because the CPU stalls if one load reads data
 *	of several recent stores
 */
struct staged_sample {
	u64 traits;
	u64 events;
	u64 place;
	u64 version;
	u64 packed;
};

#define STAGE_SLOT_SHIFT (16 * PROFILE_LATENCIES)

/**
 * staged_sample_get_slot() - return the index of the sample's task in &sample_stage.answer, and the
 * flag STAGE_WAITS
 */
static inline u32 staged_sample_get_slot(const struct staged_sample *s)
{
	return (u32)(s->packed >> STAGE_SLOT_SHIFT);
}

/** staged_sample_get_latency() - return a latency in cycles; 0 if there is none */
static inline u16 staged_sample_get_latency(const struct staged_sample *s, unsigned int latency)
{
	return (u16)(s->packed >> 16 * latency);
}

/**
 * struct sample_stage - the decoder and its batch; one for each thread
 * @layouts: layouts of records that were learned
 * @answer: cache of tasks
 * @epoch: incremented to make all entries of @answer invalid
 * @version: &resolved_task.version of the newest entry of @answer
 * @changes: attributor_get_creation_count() at the last query
 * @run: the records that are decoded now
 * @first: index in @run of the first sample of the batch
 * @last_ns: time of the last sample of the window, on the clock of the window's source; 0: unknown
 * @unknown: the batch is one record without a known layout, decoded in @whole
 * @sample: the batch, @count of them
 * @time_ns: times with which the tasks of the samples were found; 0 if task events have no times
 * @whole: samples of the batch with all fields; valid if their bit in @decoded is set
 */
struct sample_stage {
	struct spe_layouts layouts;
	struct resolved_task answer[1 << TASK_SLOT_BITS];
	u64 epoch;
	u64 version;
	u64 changes;
	struct spe_layout_run run;
	u32 first;
	u32 count;
	u32 decoded;
	u64 last_ns;
	bool unknown;
	struct staged_sample sample[SPE_RUN];
	u64 time_ns[SPE_RUN];
	struct spe_sample whole[SPE_RUN];
};

/**
 * struct stage_query - how a stage finds tasks
 * @stage: the stage
 * @attributor: finds the tasks
 * @reader: reader lock slot of this thread, which holds the lock; NULL if only one thread uses
 *	@attributor
 */
struct stage_query {
	struct sample_stage *stage;
	struct attributor *attributor;
	struct attribute_reader *reader;
};

/** stage_init() - initialize @stage, which must be all zeros; there is no function to free it */
void stage_init(struct sample_stage *stage);

/**
 * staged_sample_fill() - set the fields of @ret that are counted, and @slot, but not the version
 */
static inline void staged_sample_fill(const struct spe_sample *s, u32 slot,
				      struct staged_sample *ret)
{
	u64 pc = s->address[SPE_ADDRESS_PC];

	ret->traits = sample_class_make_key(s->present, s->op_class, s->op_subclass, s->source, 0);
	ret->events = s->events;
	ret->place = location_make_pc_key(spe_address_va(pc), spe_address_el(pc) != 0);
	ret->packed = (u64)s->counter[SPE_COUNTER_TOTAL] << 16 * PROFILE_TOTAL |
		      (u64)s->counter[SPE_COUNTER_ISSUE] << 16 * PROFILE_ISSUE |
		      (u64)s->counter[SPE_COUNTER_TRANSLATION] << 16 * PROFILE_TRANSLATION |
		      (u64)slot << STAGE_SLOT_SHIFT;
}

/** stage_get_task() - return the task of @s, a sample of the batch */
static inline const struct resolved_task *stage_get_task(const struct sample_stage *stage,
							 const struct staged_sample *s)
{
	return &stage->answer[staged_sample_get_slot(s) & ~STAGE_WAITS];
}

/** stage_resolve_task() - find the process of @task at @time_ns and store it in @answer */
void stage_resolve_task(const struct stage_query *query, struct resolved_task *answer, u64 task,
			u64 time_ns);

/** stage_find_task() - return the process of @task at @time_ns, valid until its next call */
const struct resolved_task *stage_find_task(const struct stage_query *query, u64 task, u64 time_ns);

/**
 * stage_get_sample() - return sample @i of the batch with all fields, valid until the next batch
 */
const struct spe_sample *stage_get_sample(struct sample_stage *stage, u32 i);

/**
 * stage_decode_window() - decode a window
 * @query: the stage and its attributor
 * @window: the window
 * @decoder: decoder of the window; its ledger and &sample_stage.last_ns are updated
 * @count: called for each batch, which has at least one sample
 * @ctx: argument of @count
 */
void stage_decode_window(const struct stage_query *query, const struct source_window *window,
			 struct spe_decoder *decoder, void (*count)(void *ctx), void *ctx);

#endif
