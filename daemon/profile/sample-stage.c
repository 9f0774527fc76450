// SPDX-License-Identifier: LGPL-2.1-or-later
#include "sample-stage.h"

#define CLOCK_ANCHOR_ERROR_NS \
	1000 /* maximum delay between reading the two clocks at a window's start */
#define SWITCH_DELAY_NS 2000 /* from the event sched_switch until the other task runs */

/* Values that are equal for all samples of a window. @task: key of a sample without a context */
struct staged_window {
	const struct stage_query *query;
	u64 task;
	bool timed; /* the task depends on the sample's time */
	u32 cpu;
	u64 start_ns;
	const struct timestamp_clock *clock;
	u64 parted_ns;
	void (*count)(void *ctx);
	void *ctx;
};

/*
 * Return the time of @s on the clock of the window's source. Use the end of the tick, because an
 * event within the tick may have preceded the sample.
 */
static inline u64 sample_get_time(const struct spe_sample *s, const struct timestamp_clock *clock)
{
	u64 time;

	if (!clock->mult || !(s->present & SPE_HAS_TIMESTAMP))
		return ATTRIBUTE_AT_END - 1;
	time = clock->zero +
	       (u64)((unsigned __int128)(s->timestamp + 1) * clock->mult >> clock->shift);
	return time - (time == ATTRIBUTE_AT_END);
}

/*
 * Return the maximum error of a sample's time. If Timestamp packets count CLOCK_MONOTONIC itself,
 * only the offset of both clocks is the error. Otherwise the two clocks are equal at the start of
 * the window, and then diverge because NTP slews CLOCK_MONOTONIC. Within a window the difference
 * only grows. If the difference at the end is unknown, assume at most 500 ppm.
 */
static u64 get_time_error(const struct staged_window *r, u64 time)
{
	const struct timestamp_clock *clock = r->clock;
	u64 tick = 1 + ((u64)clock->mult >> clock->shift), zero = clock->zero;

	if ((s64)zero < 0)
		zero = -zero;
	if (tick <= 2 && zero < CLOCK_ANCHOR_ERROR_NS)
		return zero;
	if (r->parted_ns)
		return tick + CLOCK_ANCHOR_ERROR_NS + r->parted_ns;
	return tick + CLOCK_ANCHOR_ERROR_NS +
	       (time > r->start_ns ? (time - r->start_ns) / 2000 : 0);
}

/*
 * Return the TID that ran when @s was sampled, from context switches. The kernel reports a switch
 * before it switches. So a sample within a short time after the event may belong to either task.
 */
static s32 find_sample_tid(const struct staged_window *r, const struct spe_sample *s, u64 time)
{
	bool kernel = spe_address_el(s->address[SPE_ADDRESS_PC]) != 0;
	u64 error = get_time_error(r, time);

	return attributor_find_running_tid(r->query->attributor, r->cpu, time,
					   error + (kernel ? SWITCH_DELAY_NS : 0), error);
}

/*
 * Return the key of the sample's task. The key is the TID in CONTEXTIDR_EL1. With VHE, the Context
 * packet with index 1 contains this TID (D17.6.9). If the record has no such packet, the task of
 * the window is used, or else the task that ran at @time according to context switches.
 */
static inline u64 make_task_key(const struct staged_window *r, const struct spe_sample *s, u64 time)
{
	s32 tid;

	if (s->present & SPE_HAS_CONTEXT(SPE_CONTEXT_EL1))
		return (u64)TASK_KEY_CONTEXT_EL1 << 32 | s->context[SPE_CONTEXT_EL1];
	if (s->present & SPE_HAS_CONTEXT(SPE_CONTEXT_EL2))
		return (u64)TASK_KEY_CONTEXT_EL2 << 32 | s->context[SPE_CONTEXT_EL2];
	if (r->task >> 32 == TASK_KEY_WINDOW || !r->timed || time == ATTRIBUTE_AT_END - 1)
		return r->task;
	tid = find_sample_tid(r, s, time);
	return tid < 0 ? r->task : (u64)TASK_KEY_WINDOW << 32 | (u32)tid;
}

static u32 find_process(const struct stage_query *q, s32 tid, u64 time_ns,
			struct attribute_span *ret_span)
{
	if (attributor_has_event_times(q->attributor))
		return attributor_find_process_at(q->attributor, tid, time_ns, ret_span);
	return attributor_find_process(q->attributor, tid);
}

/*
 * Find a process. If several threads use the attributor, an unknown task is resolved with the write
 * lock held, because this changes tables of the attributor.
 */
static u32 find_process_locked(const struct stage_query *q, s32 tid, u64 time_ns,
			       struct attribute_span *ret_span)
{
	u32 index;

	if (!q->reader)
		return find_process(q, tid, time_ns, ret_span);
	if (attributor_find_process_cached(q->attributor, tid, time_ns, &index, ret_span))
		return index;
	attribute_lock_upgrade(q->reader);
	index = find_process(q, tid, time_ns, ret_span);
	attribute_lock_downgrade(q->reader);
	/*
	 * Other threads may have applied task events while the lock was released, so cached results
	 * are invalid.
	 */
	q->stage->epoch++;
	return index;
}

void stage_resolve_task(const struct stage_query *q, struct resolved_task *answer, u64 task,
			u64 time_ns)
{
	struct attribute_span span = { 0, ATTRIBUTE_AT_END };
	const struct attribute_process *process;
	struct sample_stage *stage = q->stage;
	u32 index = ATTRIBUTE_NONE;
	bool waits;
	u64 changes;

	if (task >> 32 != TASK_KEY_NONE)
		index = find_process_locked(q, (s32)(u32)task, time_ns, &span);
	waits = index == ATTRIBUTE_PENDING;
	if (waits)
		index = attributor_guess_process(q->attributor, (s32)(u32)task);
	/*
	 * If a process was created, it may have evicted another one from the attributor, so cached
	 * results are invalid.
	 */
	changes = attributor_get_creation_count(q->attributor);
	stage->epoch += stage->changes != changes;
	stage->changes = changes;
	process = index == ATTRIBUTE_NONE ? NULL : attributor_get_process(q->attributor, index);
	*answer = (struct resolved_task){
		.task = task,
		.epoch = stage->epoch,
		.version = ++stage->version,
		.span = span,
		.owner = process ? location_owner_make(index, process->generation) :
				   location_owner_make(ATTRIBUTE_NONE, 0),
		.process = process,
		.container = process ? attributor_get_container(q->attributor, process->container) :
				       NULL,
		.waits = waits,
	};
}

static inline bool resolved_task_is_valid(const struct sample_stage *stage,
					  const struct resolved_task *answer, u64 task, u64 time_ns)
{
	return answer->task == task && answer->epoch == stage->epoch &&
	       time_ns >= answer->span.from && time_ns < answer->span.to;
}

const struct resolved_task *stage_find_task(const struct stage_query *q, u64 task, u64 time_ns)
{
	struct resolved_task *answer = &q->stage->answer[task_get_slot_index(task)];

	if (!resolved_task_is_valid(q->stage, answer, task, time_ns))
		stage_resolve_task(q, answer, task, time_ns);
	return answer;
}

void stage_init(struct sample_stage *stage)
{
	static u32 stages;

	stage->version = (u64)__atomic_add_fetch(&stages, 1, __ATOMIC_RELAXED) << 40;
}

const struct spe_sample *stage_get_sample(struct sample_stage *stage, u32 i)
{
	if (!(stage->decoded >> i & 1)) {
		spe_run_decode_sample(&stage->layouts, &stage->run, stage->first + i,
				      &stage->whole[i]);
		stage->decoded |= 1U << i;
	}
	return &stage->whole[i];
}

static void batch_deliver(const struct staged_window *r)
{
	struct sample_stage *stage = r->query->stage;

	if (stage->count)
		r->count(r->ctx);
	stage->first += stage->count;
	stage->count = stage->decoded = 0;
}

/* Add a sample to the batch. */
static inline __attribute__((__always_inline__)) void
batch_add(const struct staged_window *r, struct sample_stage *stage, const struct spe_sample *s)
{
	u64 time = r->timed ? sample_get_time(s, r->clock) : 0;
	u64 task = make_task_key(r, s, time);
	u32 slot = task_get_slot_index(task);
	struct resolved_task *answer = &stage->answer[slot];
	struct staged_sample *staged;

	if (__builtin_expect(!resolved_task_is_valid(stage, answer, task, time), 0)) {
		/*
		 * Deliver the batch first: the query may change tables, and it replaces an entry of
		 * &sample_stage.answer that samples in the batch use.
		 */
		batch_deliver(r);
		stage_resolve_task(r->query, answer, task, time);
	}
	if (__builtin_expect(answer->waits, 0))
		slot |= STAGE_WAITS;
	stage->time_ns[stage->count] = time;
	staged = &stage->sample[stage->count++];
	staged_sample_fill(s, slot, staged);
	staged->version = answer->version;
}

/* Store the time of @s, the last sample of the window so far. */
static void stage_set_last_time(struct sample_stage *stage, const struct staged_window *r,
				const struct spe_sample *s)
{
	u64 time = sample_get_time(s, r->clock);

	stage->last_ns = time == ATTRIBUTE_AT_END - 1 ? 0 : time;
}

static void add_run(const struct staged_window *window)
{
	/* With a copy, the compiler knows that no store in the loop changes the window. */
	const struct staged_window copy = *window, *r = &copy;
	struct sample_stage *stage = r->query->stage;
	const struct spe_layout_run *run = &stage->run;
	const u32 count = run->count;
	struct spe_sample s;

	stage->first = 0;
	for (u32 i = 0; i < count; i++) {
		/* Prefetch the records of the run after the next one. */
		__builtin_prefetch(run->raw[i] + 2 * SPE_RUN * SPE_LAYOUT_BYTES);
		spe_layout_read(&stage->layouts.layout[run->layout[i]], run->raw[i], &s);
		batch_add(r, stage, &s);
	}
	if (count)
		stage_set_last_time(stage, r, &s);
	batch_deliver(r);
}

/* Deliver a record without a known layout as a separate batch. */
static void add_record(const struct staged_window *r, const struct spe_sample *s)
{
	struct sample_stage *stage = r->query->stage;

	batch_add(r, stage, s);
	stage_set_last_time(stage, r, s);
	stage->whole[0] = *s;
	stage->decoded = 1;
	stage->unknown = true;
	batch_deliver(r);
	stage->unknown = false;
}

void stage_decode_window(const struct stage_query *query, const struct source_window *window,
			 struct spe_decoder *decoder, void (*count)(void *ctx), void *ctx)
{
	const struct staged_window r = {
		.query = query,
		.task = window->tid >= 0 ? (u64)TASK_KEY_WINDOW << 32 | (u32)window->tid :
					   (u64)TASK_KEY_NONE << 32,
		.timed = attributor_has_event_times(query->attributor),
		.cpu = window->cpu,
		.start_ns = window->start_ns,
		.clock = &window->clock,
		.parted_ns = window->clock_skew_ns,
		.count = count,
		.ctx = ctx,
	};
	struct sample_stage *stage = query->stage;
	struct spe_sample sample;
	enum spe_decode_result found;

	do {
		found = spe_decoder_next_run(decoder, &stage->layouts, &stage->run, &sample, NULL);
		if (found == SPE_DECODE_RUN)
			add_run(&r);
		else if (found == SPE_DECODE_SAMPLE)
			add_record(&r, &sample);
	} while (found != SPE_DECODE_END && found != SPE_DECODE_MORE);
}
