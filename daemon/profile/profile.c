// SPDX-License-Identifier: LGPL-2.1-or-later
/* Processes a window: decodes, attributes and counts its samples. */
#include "profile-internal.h"
#include "model/opmodel.h"
#include "tasks/task-event.h"

#include <errno.h>
#include <stdlib.h>

#define DEFAULT_CONTEXTS  65536
#define DEFAULT_LINES	  1024
#define DEFAULT_PAGES	  4096
/* Default capacities of the attributor. */
#define DEFAULT_PROCESSES  8192
#define DEFAULT_CONTAINERS 2048

static struct profile_shared_data *shared_data_free(struct profile_shared_data *shared_data)
{
	if (shared_data) {
		hot_lines_deinit(&shared_data->lines);
		hot_pages_deinit(&shared_data->pages);
		cell_id_tables_deinit(&shared_data->names);
		pthread_mutex_destroy(&shared_data->lock);
		free(shared_data);
	}
	return NULL;
}

static int shared_data_new(struct profile *p, const struct profile_config *config)
{
	u32 lines = config && config->lines ? config->lines : DEFAULT_LINES;
	u32 pages = config && config->pages ? config->pages : DEFAULT_PAGES;
	u32 programs = config ? config->programs : 0;
	struct profile_shared_data *shared_data;
	int r;

	if (p->whole) {
		p->shared_data = p->whole->shared_data;
		return 0;
	}
	shared_data = calloc(1, sizeof(*shared_data));
	if (!shared_data)
		return -ENOMEM;
	pthread_mutex_init(&shared_data->lock, NULL);
	r = hot_lines_init(&shared_data->lines, lines);
	if (config)
		hot_lines_set_size(&shared_data->lines, config->line_size);
	if (r >= 0)
		r = hot_pages_init(&shared_data->pages, pages, config ? config->nodes : NULL);
	if (r >= 0)
		r = cell_id_tables_init(programs, (u64)programs * CELL_PATH_BYTES,
					&shared_data->names);
	p->shared_data = r < 0 ? shared_data_free(shared_data) : shared_data;
	return r;
}

/* Allocate the history. The history has a mark for each cell, indexed by the number of the cell. */
static int history_new(struct profile *p, const struct profile_config *config)
{
	struct cell_table_stats stats;

	if (!config->cell_bytes)
		return -EINVAL;
	cell_table_get_stats(p->cells.table, &stats);
	return history_init(&p->history,
			    config->containers ? config->containers : DEFAULT_CONTAINERS,
			    (config->processes ? config->processes : DEFAULT_PROCESSES) + 1,
			    (u32)stats.capacity + 1);
}

static void filter_install(struct profile *p, const struct filter *filter)
{
	p->filter = filter;
	p->filter_needs = filter ? filter_needs(filter) : 0;
	p->filter_latency = filter ? filter_get_min_latency(filter) : 0;
	memset(p->verdict, 0, sizeof(p->verdict));
	memset(p->class_verdict, 0, sizeof(p->class_verdict));
}

int profile_new(const struct profile_config *config, struct attributor *attributor,
		struct profile **ret_profile)
{
	struct profile *p;
	int r;

	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->attributor = attributor;
	p->midr = config ? config->midr : 0;
	filter_install(p, config ? config->filter : NULL);
	p->whole = config ? config->whole : NULL;
	p->pending_flags = config && config->skip_memory ?
				   SAMPLE_CLASS_CONTEXTS :
				   SAMPLE_CLASS_CONTEXTS | SAMPLE_CLASS_LINE | SAMPLE_CLASS_PAGE;
	p->tally.most = config ? config->counters : 0;
	p->reader = config ? config->reader : NULL;
	p->context_slots = config && config->contexts ? config->contexts : DEFAULT_CONTEXTS;
	stage_init(&p->stage);
	for (u16 value = 0; value < BUCKET_VALUES; value++)
		p->bucket[value] = (u8)histogram_get_bucket(value);
	r = sample_class_init(&p->sample_class);
	if (r >= 0)
		r = shared_data_new(p, config);
	if (r >= 0)
		r = cell_counter_init(config ? config->cell_bytes : 0, &p->sample_class, attributor,
				      &p->shared_data->names, &p->cells);
	if (r >= 0 && config)
		r = cell_counter_set_split(&p->cells, config->split);
	if (r >= 0 && config && config->history)
		r = history_new(p, config);
	if (r < 0) {
		profile_free(p);
		return r;
	}
	p->sources = calloc(PROFILE_SOURCES, sizeof(*p->sources));
	if (!p->sources) {
		profile_free(p);
		return -ENOMEM;
	}
	*ret_profile = p;
	return 0;
}

static void tallies_clear(struct profile *p)
{
	for (u32 i = 0; i < p->process_count; i++) {
		tally_free(&p->tally, TALLY_PROCESS, p->processes[i].sum);
		tally_free(&p->tally, TALLY_PROCESS, p->processes[i].moved_from);
		p->processes[i] = (struct process_tally){ 0 };
	}
	for (u32 i = 0; i < p->exited_count; i++) {
		tally_free(&p->tally, TALLY_EXITED, p->exited[i].sum);
		p->exited[i] = (struct container_tally){ 0 };
	}
}

struct profile *profile_free(struct profile *profile)
{
	if (profile) {
		cell_counter_deinit(&profile->cells);
		for (struct profile_observer *o = profile->observer; o; o = o->next)
			o->profile = NULL;
		if (!profile->whole && profile->shared_data) {
			for (struct profile_observer *o = profile->shared_data->observers; o;
			     o = o->next)
				o->profile = NULL;
			shared_data_free(profile->shared_data);
		}
		sample_class_deinit(&profile->sample_class);
		history_deinit(&profile->history);
		tallies_clear(profile);
		free(profile->program_pid);
		free(profile->processes);
		free(profile->exited);
		for (u32 i = 0; i < profile->container_count; i++)
			free(profile->containers[i]);
		free(profile->containers);
		free(profile->sources);
		free(profile->waiting);
		for (unsigned int i = 0; i < PROFILE_CONTEXTS; i++)
			free(profile->contexts[i]);
		free(profile);
	}
	return NULL;
}

void profile_reset(struct profile *profile)
{
	profile_clear_own_counters(profile);
	sample_class_clear(&profile->sample_class);
	if (profile->whole)
		return;
	hot_lines_clear(&profile->shared_data->lines);
	hot_pages_clear(&profile->shared_data->pages);
	history_clear(&profile->history);
}

void profile_clear_own_counters(struct profile *profile)
{
	cell_counter_clear(&profile->cells);
	cell_counter_set_interval(&profile->cells, profile->interval, profile->unit);
	tallies_clear(profile);
	memset(profile->task_slot, 0, sizeof(profile->task_slot));
	memset(&profile->unattributed, 0, sizeof(profile->unattributed));
	memset(&profile->overflow, 0, sizeof(profile->overflow));
	memset(profile->sources, 0, profile->source_end * sizeof(*profile->sources));
	profile->source_end = 0;
	for (unsigned int i = 0; i < PROFILE_CONTEXTS; i++) {
		if (profile->context_used[i])
			memset(profile->contexts[i], 0,
			       profile->context_size[i] * sizeof(struct context_count));
		profile->context_used[i] = 0;
	}
	memset(&profile->header, 0, sizeof(profile->header));
	memset(profile->kinds, 0, sizeof(profile->kinds));
	memset(profile->events, 0, sizeof(profile->events));
	memset(profile->levels, 0, sizeof(profile->levels));
	memset(profile->origins, 0, sizeof(profile->origins));
	memset(&profile->machine, 0, sizeof(profile->machine));
	profile->waiting_count = 0;
	profile->began_ns = 0;
	profile->ended_ns = 0;
	profile->simd = 0;
	profile->false_sharing = 0;
	profile->context_overflow = 0;
}

/* Properties that all samples of a window share. */
struct window_context {
	const struct source_window *window;
	u32 encoding; /* index of the core's table of data sources */
	u32 cpu;
};

static inline u8 profile_find_bucket(const struct profile *p, u16 value)
{
	return value < BUCKET_VALUES ? p->bucket[value] : (u8)histogram_get_bucket(value);
}

static inline struct sample_class *
sample_class_find_and_count(struct profile *p, const struct staged_sample *b, u32 encoding)
{
	u64 key = b->traits | (u64)encoding << SAMPLE_CLASS_ENCODING;
	struct sample_class *t =
		&p->sample_class.at[p->sample_class.guess[sample_class_get_slot(b->events, key)]];

	if (t->events != b->events || t->key != key || !t->used)
		t = profile_get_sample_class(p, b->events, key);
	t->count++;
	return t;
}

/* Return the slot for samples of @answer. */
static inline struct task_slot *task_slot_find(struct profile *p,
					       const struct resolved_task *answer)
{
	struct task_slot *slot = &p->task_slot[task_get_slot_index(answer->task)];

	if (slot->version != answer->version)
		profile_fill_task_slot(p, slot, answer);
	return slot;
}

/*
 * Queue sample @i of the batch until /proc has identified its task. If @mapping_of is not NULL, the
 * sample waits for the mapping or executable of that task instead. Return false if the queue is
 * full, or if waiting is useless.
 */
static bool sample_queue_waiting(struct profile *p, const struct window_context *origin,
				 const struct sample_stage *stage, u32 i,
				 const struct task_slot *mapping_of)
{
	const u8 *raw = stage->unknown ? stage->whole[0].raw : stage->run.raw[stage->first + i];
	size_t size = stage->unknown ? stage->whole[0].size : SPE_LAYOUT_BYTES;
	struct waiting_sample w = {
		.task = stage_get_task(stage, &stage->sample[i])->task,
		.time_ns = stage->time_ns[i],
		.sources = p->encodings[origin->encoding],
		.cpu = origin->cpu,
		.interval = origin->window->interval,
		.unit = origin->window->unit,
		.written = origin->window->written != WINDOW_WRITTEN_UNKNOWN,
	};

	if (size > sizeof(w.raw))
		return false;
	memcpy(w.raw, raw, size);
	if (mapping_of && !profile_wait_for_mapping(p, &w, mapping_of->owner))
		return false;
	if (!profile_queue_sample(p, &w))
		return false;
	p->waited++;
	return true;
}

/*
 * Add a sample to the cached counters of @task_slot. Do not update the totals of the histograms:
 * profile_flush() computes them from the buckets.
 */
static inline __attribute__((__always_inline__)) void
task_slot_add(struct profile *p, struct task_slot *task_slot, const struct sample_class *t,
	      const struct staged_sample *b)
{
	typedef s32 compared __attribute__((vector_size(16)));
	const latency_lanes latency = { staged_sample_get_latency(b, 0),
					staged_sample_get_latency(b, 1),
					staged_sample_get_latency(b, 2) };
	latency_lanes more = (latency_lanes)((compared)latency > (compared)task_slot->latency_max);

	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++)
		task_slot->bucket[i][profile_find_bucket(p, staged_sample_get_latency(b, i)) |
				     t->absent[i]]++;
	task_slot->latency_sum += latency;
	task_slot->latency_max = (latency & more) | (task_slot->latency_max & ~more);
	for (unsigned int i = 0; i < SAMPLE_CLASS_LANES; i++)
		task_slot->ones[i] += t->ones[i];
	if (++task_slot->samples == SAMPLE_CLASS_FLUSH)
		profile_flush_task_slot(p, task_slot);
}

/* Count the sample in @task_slot and in the cell @at. Return its class. */
static inline __attribute__((__always_inline__)) const struct sample_class *
count_sample_in_tables(struct profile *p, const struct window_context *origin,
		       const struct staged_sample *b, const struct mapped_pc *at,
		       struct task_slot *task_slot)
{
	const struct sample_class *t = sample_class_find_and_count(p, b, origin->encoding);

	task_slot_add(p, task_slot, t, b);
	cell_counter_add(&p->cells, at,
			 cell_sample_pack(t->id, staged_sample_get_latency(b, PROFILE_TOTAL),
					  staged_sample_get_latency(b, PROFILE_ISSUE),
					  staged_sample_get_latency(b, PROFILE_TRANSLATION)));
	return t;
}

/* Count all contexts except the one that identified the task. */
static void count_contexts(struct profile *p, const struct spe_sample *s)
{
	bool first = true;

	for (unsigned int i = 0; i < PROFILE_CONTEXTS; i++) {
		if (!spe_sample_has(s, SPE_HAS_CONTEXT(i)))
			continue;
		if (!first || i > SPE_CONTEXT_EL2)
			profile_count_context(p, i, s->context[i], 1);
		first = false;
	}
}

/*
 * Flags of samples that are also counted in lines, pages or contexts. A profile may ignore some of
 * the flags (&profile.pending_flags).
 */
#define PENDING_FLAGS (SAMPLE_CLASS_CONTEXTS | SAMPLE_CLASS_LINE | SAMPLE_CLASS_PAGE)

static inline struct pending_sample pending_sample_make(const struct profile *p,
							const struct sample_class *t,
							const struct task_slot *task_slot,
							const u8 *raw, u8 layout)
{
	return (struct pending_sample){ .owner = task_slot->owner,
					.key = task_slot->key,
					.raw = raw,
					.layout = layout,
					.flags = t->flags & (p->pending_flags | (u8)~PENDING_FLAGS),
					.origin = t->origin.flags };
}

static inline bool pending_sample_is_store(const struct pending_sample *pending)
{
	return (pending->flags & SAMPLE_CLASS_KIND) == SPE_KIND_STORE;
}

static inline __attribute__((__always_inline__)) void
count_line_sample(struct profile *p, const struct window_context *origin,
		  const struct spe_sample *s, const struct pending_sample *pending)
{
	bool physical = spe_sample_has(s, SPE_HAS_ADDRESS(SPE_ADDRESS_PA));
	u64 va = spe_address_va(s->address[SPE_ADDRESS_VA]);
	u64 address = physical ? s->address[SPE_ADDRESS_PA] & SPE_ADDRESS_BITS : va;
	u64 owner = physical ? LINE_PHYSICAL : (s64)va < 0 ? LINE_KERNEL : pending->owner;
	bool snooped = pending->origin & (SPE_ORIGIN_SNOOPED | SPE_ORIGIN_PEER);
	bool unattributed = pending->key >> 32 == TASK_KEY_NONE;
	u64 pc = s->address[SPE_ADDRESS_PC];
	enum line_sharing sharing;

	if (!hot_lines_should_add(&p->shared_data->lines, address, owner,
				  pending_sample_is_store(pending), snooped))
		return;
	sharing = hot_lines_add(
		&p->shared_data->lines,
		&(struct line_sample){
			.address = address,
			.owner = owner,
			.place = location_make_pc_key(spe_address_va(pc), spe_address_el(pc) != 0),
			.pc_owner = pending->owner,
			.thread = unattributed ? pending->key + origin->cpu : pending->key,
			.cpu = origin->cpu,
			.latency = s->counter[SPE_COUNTER_TOTAL],
			.store = pending_sample_is_store(pending),
			.snooped = snooped,
		});
	p->false_sharing += sharing == LINE_FALSE;
}

static void count_page_sample(struct profile *p, const struct window_context *origin,
			      const struct spe_sample *s, const struct pending_sample *pending)
{
	u64 pc = s->address[SPE_ADDRESS_PC];

	hot_pages_add(
		&p->shared_data->pages,
		&(struct page_sample){
			.address = s->address[SPE_ADDRESS_PA] & SPE_ADDRESS_BITS,
			.owner = pending->owner,
			.place = location_make_pc_key(spe_address_va(pc), spe_address_el(pc) != 0),
			.cpu = origin->cpu,
			.latency = s->counter[SPE_COUNTER_TOTAL],
			.store = pending_sample_is_store(pending),
			.dram = pending->flags & SAMPLE_CLASS_DRAM,
			.remote = pending->origin & SPE_ORIGIN_REMOTE,
		});
}

static void count_pending_sample(struct profile *p, const struct window_context *origin,
				 const struct spe_sample *s, const struct pending_sample *pending)
{
	if (pending->flags & SAMPLE_CLASS_LINE)
		count_line_sample(p, origin, s, pending);
	if (pending->flags & SAMPLE_CLASS_CONTEXTS)
		count_contexts(p, s);
	if (pending->flags & SAMPLE_CLASS_PAGE)
		count_page_sample(p, origin, s, pending);
}

/* Count sample @s in the cell of @at. */
static void count_one_sample(struct profile *p, const struct window_context *origin,
			     const struct spe_sample *s, const struct mapped_pc *at,
			     struct task_slot *task_slot)
{
	const struct sample_class *t;
	struct pending_sample pending;
	struct staged_sample b;

	staged_sample_fill(s, 0, &b);
	t = count_sample_in_tables(p, origin, &b, at, task_slot);
	if (!(t->flags & p->pending_flags))
		return;
	pending = pending_sample_make(p, t, task_slot, NULL, 0);
	pthread_mutex_lock(&p->shared_data->lock);
	count_pending_sample(p, origin, s, &pending);
	pthread_mutex_unlock(&p->shared_data->lock);
}

/*
 * Return whether @l is still the layout of the record. Another layout may have replaced it in its
 * slot.
 */
static bool layout_matches(const struct spe_layout *l, const u8 *raw)
{
	u64 differ = 0;

	for (unsigned int i = 0; i < SPE_LAYOUT_WORDS; i++)
		differ |= (spe_get_le64(raw + 8 * i) ^ l->match[i]) & l->mask[i];
	return !differ;
}

/* Count the pending samples of a window in lines, pages and contexts. */
static void count_pending_samples(struct profile *p, struct sample_stage *stage,
				  const struct window_context *origin)
{
	if (!p->pending_count)
		return;
	pthread_mutex_lock(&p->shared_data->lock);
	for (u32 i = 0; i < p->pending_count; i++) {
		const struct pending_sample *pending = &p->pending[i];
		const struct spe_layout *l = &stage->layouts.layout[pending->layout];
		struct spe_sample s;

		if (layout_matches(l, pending->raw)) {
			spe_layout_read(l, pending->raw, &s);
			if (l->present & SPE_LAYOUT_RARE)
				spe_layout_read_rare(l, pending->raw, &s);
		} else if (spe_record_decode(pending->raw, SPE_LAYOUT_BYTES, SPE_LAYOUT_BYTES, &s) <
			   0) {
			continue;
		}
		count_pending_sample(p, origin, &s, pending);
	}
	pthread_mutex_unlock(&p->shared_data->lock);
	p->pending_count = 0;
}

/* Add the records and bytes that @d has decoded to the ledgers. */
static void header_add_decoded(struct view_header *h, const struct spe_decoder *d,
			       const struct spe_ledger *moved_from)
{
	h->records += d->ledger.records - moved_from->records;
	h->bytes += d->pos;
	h->decoded += d->ledger.decoded - moved_from->decoded;
	h->padding += d->ledger.padding - moved_from->padding;
	h->suspect += d->ledger.suspect - moved_from->suspect;
}

/*
 * Return an upper bound of the part of the armed time of @w for which the SPU had stopped, and the
 * driver had not handled its interrupt yet. The SPU does not record when it stops, but it has
 * written its last record before. @last_ns: the time of that record; 0: unknown
 */
static u64 window_get_unhandled_ns(const struct source_window *w, u64 last_ns)
{
	u64 armed = source_window_get_armed_ns(w), passed;

	if (!w->interrupted)
		return 0;
	/* The time of a record is the end of its tick, which may be later than the end. */
	passed = last_ns < w->end_ns ? w->end_ns - last_ns : 0;
	return passed < armed ? passed : armed;
}

static void header_add_window(struct view_header *h, const struct source_window *w, u64 last_ns)
{
	h->lost += w->lost_bytes;
	h->blind_ns += w->blind_ns;
	source_blind_add_window(h->blind_by, w);
	h->enabled_ns += w->blind_ns + source_window_get_armed_ns(w);
	h->unhandled_ns += window_get_unhandled_ns(w, last_ns);
	h->ledgers_unknown |= source_window_is_untimed(w);
	h->truncated += !!(w->flags & WINDOW_TRUNCATED);
	h->gaps += !!(w->flags & WINDOW_GAPS);
	/*
	 * Use the larger value of &enum sample_backend. A window that only reports lost bytes or
	 * blind time may have no backend. Counters that include modelled samples stay marked as
	 * emulated.
	 */
	if (w->backend > h->backend)
		h->backend = w->backend;
	if (w->written == WINDOW_WRITTEN_UNKNOWN)
		h->written = WINDOW_WRITTEN_UNKNOWN;
	else if (h->written != WINDOW_WRITTEN_UNKNOWN)
		h->written += w->written;
}

static struct spe_origin sample_origin(const struct profile *p, const struct window_context *origin,
				       const struct spe_sample *s)
{
	if (!spe_sample_has(s, SPE_HAS_OP) || s->op_class != SPE_OP_LOAD_STORE)
		return (struct spe_origin){ 0 };
	return spe_sample_origin(p->encodings[origin->encoding], s);
}

/* Evaluate the filter for the sample and its task. */
static bool sample_passes_filter(struct profile *p, const struct window_context *origin,
				 const struct spe_sample *s, const struct resolved_task *answer)
{
	const struct filter_subject subject = { .sample = s,
						.origin = sample_origin(p, origin, s),
						.cpu = origin->cpu,
						.process = answer->process,
						.container = answer->container };

	return filter_match(p->filter, &subject);
}

static void observers_notify(struct profile *p, const struct window_context *origin,
			     const struct spe_sample *s, const struct task_slot *task_slot)
{
	enum spe_op_kind kind = spe_sample_kind(s);
	struct profile_sample observed = {
		.sample = s,
		.window = origin->window,
		.process = (u32)(task_slot->owner >> 32),
		.generation = (u32)task_slot->owner,
		.memory = kind == SPE_KIND_LOAD || kind == SPE_KIND_STORE,
	};

	if (observed.memory)
		observed.origin = spe_sample_origin(p->encodings[origin->encoding], s);
	for (struct profile_observer *o = p->observer; o; o = o->next)
		o->sample(o->ctx, &observed);
	if (!p->shared_data->observers)
		return;
	pthread_mutex_lock(&p->shared_data->lock);
	for (struct profile_observer *o = p->shared_data->observers; o; o = o->next)
		o->sample(o->ctx, &observed);
	pthread_mutex_unlock(&p->shared_data->lock);
}

static bool profile_is_observed(const struct profile *p)
{
	return p->observer || p->shared_data->observers;
}

/* Evaluate the filter for the task of @s, a sample of the batch. */
static inline enum filter_verdict
task_get_verdict(struct profile *p, const struct sample_stage *stage, const struct staged_sample *s)
{
	struct task_verdict *v = &p->verdict[staged_sample_get_slot(s) & ~STAGE_WAITS];
	const struct resolved_task *answer;

	if (__builtin_expect(v->version != s->version, 0)) {
		answer = stage_get_task(stage, s);
		*v = (struct task_verdict){
			.version = s->version,
			.verdict = filter_match_task(p->filter, answer->process, answer->container),
		};
	}
	return v->verdict;
}

/* Evaluate the filter for the class of sample @i of the batch. */
static inline enum filter_verdict class_match(struct profile *p,
					      const struct window_context *origin,
					      struct sample_stage *stage, u32 i)
{
	const struct staged_sample *b = &stage->sample[i];
	u64 key = b->traits | (u64)origin->encoding << SAMPLE_CLASS_ENCODING;
	struct class_verdict *v = &p->class_verdict[sample_class_get_slot(b->events, key)];
	const struct spe_sample *s;

	if (__builtin_expect(v->events != b->events || v->key != (key | CLASS_VERDICT_KNOWN), 0)) {
		s = stage_get_sample(stage, i);
		*v = (struct class_verdict){
			.events = b->events,
			.key = key | CLASS_VERDICT_KNOWN,
			.verdict = filter_match_class(p->filter, s, sample_origin(p, origin, s)),
		};
	}
	return v->verdict;
}

/*
 * Return whether the filter rejects sample @i of the batch. Usually the total latency, the task or
 * the class alone decides this. Then the fields that only the filter reads need not be decoded.
 */
static inline bool sample_is_rejected(struct profile *p, const struct window_context *origin,
				      struct sample_stage *stage, u32 i)
{
	const struct staged_sample *s = &stage->sample[i];
	enum filter_verdict verdict = FILTER_DEPENDS;

	if (staged_sample_get_latency(s, PROFILE_TOTAL) < p->filter_latency)
		return true;
	if (p->filter_needs & FILTER_NEEDS_TASK)
		verdict = task_get_verdict(p, stage, s);
	if (verdict == FILTER_DEPENDS && p->filter_needs & FILTER_NEEDS_CLASS)
		verdict = class_match(p, origin, stage, i);
	if (__builtin_expect(verdict == FILTER_DEPENDS, 0))
		return !sample_passes_filter(p, origin, stage_get_sample(stage, i),
					     stage_get_task(stage, s));
	return verdict == FILTER_REJECTS;
}

/*
 * Find the cell of sample @i of the batch; the mapping or executable of the sample is not known.
 * Return false if the sample was queued to wait for the mapping or executable.
 */
static __attribute__((__noinline__)) bool cell_find_unmapped(struct profile *p,
							     struct sample_stage *stage, u32 i,
							     const struct window_context *origin,
							     struct task_slot *task_slot,
							     struct mapped_pc *ret_at)
{
	const struct staged_sample *s = &stage->sample[i];

	if (sample_queue_waiting(p, origin, stage, i, task_slot))
		return false;
	/* Without background threads, /proc was read just now. */
	mapping_cache_sync(p->cells.mappings);
	if (task_slot->program.waits)
		profile_fill_task_slot(p, task_slot, stage_get_task(stage, s));
	cell_counter_get_unmapped(&p->cells, &task_slot->program, location_key_get_pc(s->place),
				  location_key_is_kernel(s->place), stage->time_ns[i], ret_at);
	return true;
}

/*
 * Count sample @i of the batch, which the filter accepts. Return false if the sample was not
 * counted, because it waits for the mapping or executable of its task.
 */
static inline __attribute__((__always_inline__)) bool
count_staged_sample(struct profile *p, struct sample_stage *stage, u32 i,
		    const struct window_context *origin, struct task_slot *task_slot)
{
	const struct staged_sample *s = &stage->sample[i];
	const struct sample_class *t;
	u32 n = stage->first + i;
	struct mapped_pc at;

	if (__builtin_expect(p->cells.split & CELL_BY_DATA, 0))
		cell_counter_get_data(&p->cells, &task_slot->program, stage_get_sample(stage, i),
				      location_key_get_pc(s->place),
				      location_key_is_kernel(s->place), stage->time_ns[i], &at);
	else if (__builtin_expect(!cell_counter_find(&p->cells, &task_slot->program,
						     location_key_get_pc(s->place),
						     location_key_is_kernel(s->place),
						     stage->time_ns[i], &at),
				  0) &&
		 !cell_find_unmapped(p, stage, i, origin, task_slot, &at))
		return false;
	if (__builtin_expect(stage->unknown, 0)) {
		/*
		 * Count the pending samples first, so that lines and pages get samples in the order
		 * of the records.
		 */
		count_pending_samples(p, stage, origin);
		count_one_sample(p, origin, stage_get_sample(stage, i), &at, task_slot);
		return true;
	}
	t = count_sample_in_tables(p, origin, s, &at, task_slot);
	/*
	 * Store the sample without a branch, and increase the count only if it is pending. A branch
	 * would be hard to predict.
	 */
	p->pending[p->pending_count] =
		pending_sample_make(p, t, task_slot, stage->run.raw[n], stage->run.layout[n]);
	p->pending_count += (t->flags & p->pending_flags) != 0;
	return true;
}

/* Count the samples of the batch that the filter accepts, and pass them to the observers. */
static void count_filtered_batch(struct profile *p, struct sample_stage *stage,
				 const struct window_context *origin)
{
	u32 rejected = 0;

	for (u32 i = 0; i < stage->count; i++) {
		const struct staged_sample *s = &stage->sample[i];
		struct task_slot *task_slot;

		if (__builtin_expect(staged_sample_get_slot(s) & STAGE_WAITS, 0) &&
		    sample_queue_waiting(p, origin, stage, i, NULL))
			continue;
		if (p->filter && sample_is_rejected(p, origin, stage, i)) {
			rejected++;
			continue;
		}
		task_slot = task_slot_find(p, stage_get_task(stage, s));
		if (count_staged_sample(p, stage, i, origin, task_slot) && profile_is_observed(p))
			observers_notify(p, origin, stage_get_sample(stage, i), task_slot);
	}
	p->header.filtered += rejected;
	p->header.records -= rejected;
}

static void count_batch(struct profile *p, struct sample_stage *stage,
			const struct window_context *origin)
{
	for (u32 i = 0; i < stage->count; i++) {
		const struct staged_sample *s = &stage->sample[i];
		struct task_slot *task_slot =
			&p->task_slot[staged_sample_get_slot(s) & ~STAGE_WAITS];

		if (__builtin_expect(staged_sample_get_slot(s) & STAGE_WAITS, 0) &&
		    sample_queue_waiting(p, origin, stage, i, NULL))
			continue;
		if (__builtin_expect(task_slot->version != s->version, 0))
			profile_fill_task_slot(p, task_slot, stage_get_task(stage, s));
		count_staged_sample(p, stage, i, origin, task_slot);
	}
}

/* Count all bytes of the window as suspect, because none of its data is valid (D17.8.4.4). */
static void window_mark_suspect(struct spe_decoder *decoder)
{
	decoder->ledger.suspect += decoder->len - decoder->pos;
	decoder->pos = decoder->len;
}

/* Find the cell of a waiting sample. Return false if the sample continues to wait. */
static bool waiting_sample_find_cell(struct profile *p, struct waiting_sample *w,
				     const struct spe_sample *s, const struct resolved_task *answer,
				     bool may_wait, struct mapped_pc *ret_at)
{
	u64 pc = s->address[SPE_ADDRESS_PC], va = spe_address_va(pc);
	struct task_slot *task_slot = task_slot_find(p, answer);
	bool kernel = spe_address_el(pc) != 0;

	mapping_cache_sync(p->cells.mappings);
	if (cell_counter_find(&p->cells, &task_slot->program, va, kernel, w->time_ns, ret_at))
		return true;
	if (may_wait && profile_wait_for_mapping(p, w, answer->owner))
		return false;
	/* Without background threads, /proc was read just now. */
	mapping_cache_sync(p->cells.mappings);
	if (task_slot->program.waits)
		profile_fill_task_slot(p, task_slot, answer);
	cell_counter_get_unmapped(&p->cells, &task_slot->program, va, kernel, w->time_ns, ret_at);
	return true;
}

bool profile_count_waiting_sample(struct profile *p, struct waiting_sample *w,
				  const struct resolved_task *answer, bool may_wait)
{
	const struct source_window window = {
		.interval = w->interval, .unit = w->unit, .cpu = w->cpu, .tid = -1
	};
	const struct window_context origin = {
		.window = &window,
		.encoding = profile_get_encoding_index(p, w->sources),
		.cpu = w->cpu,
	};
	struct task_slot *task_slot;
	struct mapped_pc at;
	struct spe_sample s;
	bool passes;

	/* The record was decoded before, so decoding cannot fail. */
	if (spe_record_decode(w->raw, sizeof(w->raw), sizeof(w->raw), &s) < 0)
		return true;
	profile_set_weight(p, w->interval, w->unit);
	passes = !p->filter || sample_passes_filter(p, &origin, &s, answer);
	if (passes && !waiting_sample_find_cell(p, w, &s, answer, may_wait, &at))
		return false;
	p->header.records += passes;
	p->header.filtered += !passes;
	if (w->written && p->header.written != WINDOW_WRITTEN_UNKNOWN)
		p->header.written++;
	if (!passes)
		return true;
	task_slot = task_slot_find(p, answer);
	count_one_sample(p, &origin, &s, &at, task_slot);
	if (profile_is_observed(p))
		observers_notify(p, &origin, &s, task_slot);
	return true;
}

/*
 * Subtract the samples of the window that wait for /proc from the ledgers, because they are in no
 * counter yet.
 */
static void window_subtract_waiting(struct profile *p, const struct source_window *w)
{
	p->header.records -= p->waited;
	if (w->written != WINDOW_WRITTEN_UNKNOWN && p->header.written != WINDOW_WRITTEN_UNKNOWN)
		p->header.written -= p->waited;
	p->waited = 0;
}

/*
 * Return the MIDR_EL1 of the core that defines the Data Source values of the window; 0 if it is
 * unknown.
 */
static u64 window_get_midr(const struct profile *profile, const struct source_window *window)
{
	if (window->midr)
		return window->midr;
	if (profile->midr)
		return profile->midr;
	return window->backend == BACKEND_EMULATED ? SPE_OPMODEL_MIDR : 0;
}

/* Prepare @p for a window before it is decoded. */
static void window_begin(struct profile *p, const struct source_window *window)
{
	profile_retry_waiting_samples(p);
	if (!p->began_ns)
		p->began_ns = window->start_ns;
	if (window->end_ns > p->ended_ns)
		p->ended_ns = window->end_ns;
	if (history_note_window(&p->history, window->start_ns, window->end_ns))
		profile_close_slot(p, window->end_ns - 1);
	profile_set_weight(p, window->interval, window->unit);
	p->cells.cpu = window->cpu;
}

/* @last_ns: time of the last sample of the window; 0: unknown */
static void window_end(struct profile *p, const struct source_window *window,
		       const struct spe_decoder *decoder, const struct spe_ledger *moved_from,
		       u64 last_ns)
{
	header_add_decoded(&p->header, decoder, moved_from);
	if (!decoder->open)
		header_add_window(&p->header, window, last_ns);
	window_subtract_waiting(p, window);
}

/*
 * A window and the profiles that count it. The sample stage of the first profile decodes the window
 * for all of them.
 */
struct window_profiles {
	struct profile *const *profiles;
	const struct source_window *window;
	struct window_context origin[PROFILES_PER_WINDOW_MAX];
	u32 count;
};

static void window_profiles_count_batch(void *ctx)
{
	const struct window_profiles *c = ctx;
	struct sample_stage *stage = &c->profiles[0]->stage;

	for (u32 i = 0; i < c->count; i++) {
		struct profile *p = c->profiles[i];

		/*
		 * The stage may have released the reader lock before this batch, so mappings may
		 * have changed.
		 */
		mapping_cache_sync(p->cells.mappings);
		if (p->filter || profile_is_observed(p))
			count_filtered_batch(p, stage, &c->origin[i]);
		else
			count_batch(p, stage, &c->origin[i]);
		if (p->pending_count > PENDING_SAMPLES_MAX - SPE_RUN)
			count_pending_samples(p, stage, &c->origin[i]);
	}
}

static void window_profiles_begin(struct window_profiles *c)
{
	struct sample_stage *stage = &c->profiles[0]->stage;
	const struct source_window *window = c->window;

	for (u32 i = 0; i < c->count; i++)
		window_begin(c->profiles[i], window);
	/* Task events may have been applied since the previous window. */
	stage->epoch++;
	for (u32 i = 0; i < c->count; i++) {
		struct profile *p = c->profiles[i];
		u64 midr = window_get_midr(p, window);

		c->origin[i] = (struct window_context){
			.window = window,
			.encoding = profile_get_encoding_index(p, spe_data_sources_find(midr)),
			.cpu = window->cpu,
		};
	}
}

void profiles_add_window(struct profile *const *profiles, u32 count,
			 const struct source_window *window)
{
	struct profile *first = profiles[0];
	const struct stage_query query = { &first->stage, first->attributor, first->reader };
	struct window_profiles c = { .profiles = profiles, .window = window, .count = count };
	struct spe_decoder local, *decoder = source_window_get_decoder(window, &local);
	const struct spe_ledger moved_from = decoder->ledger;

	window_profiles_begin(&c);
	first->stage.last_ns = 0;
	if (window->flags & WINDOW_SUSPECT)
		window_mark_suspect(decoder);
	else
		stage_decode_window(&query, window, decoder, window_profiles_count_batch, &c);
	for (u32 i = 0; i < count; i++) {
		count_pending_samples(profiles[i], &first->stage, &c.origin[i]);
		window_end(profiles[i], window, decoder, &moved_from, first->stage.last_ns);
	}
}

void profile_add_window(struct profile *profile, const struct source_window *window)
{
	profiles_add_window(&profile, 1, window);
}

void profile_set_line_size(struct profile *profile, u32 bytes)
{
	hot_lines_set_size(&profile->shared_data->lines, bytes);
}

void profile_set_filter(struct profile *profile, const struct filter *filter)
{
	/* Count waiting samples first, with the filter that was in use when they were taken. */
	profile_finish_waiting_samples(profile);
	filter_install(profile, filter);
}

static struct profile_observer **get_observers(struct profile *p)
{
	return p->whole ? &p->observer : &p->shared_data->observers;
}

void profile_add_observer(struct profile *profile, struct profile_observer *observer)
{
	struct profile_observer **first = get_observers(profile);

	observer->profile = profile;
	observer->next = *first;
	*first = observer;
}

void profile_remove_observer(struct profile_observer *observer)
{
	struct profile_observer **at;

	if (!observer->profile)
		return;
	for (at = get_observers(observer->profile); *at && *at != observer; at = &(*at)->next)
		;
	if (*at)
		*at = observer->next;
	observer->profile = NULL;
}

static void sink_count_window(void *ctx, const struct source_window *window)
{
	profile_add_window(ctx, window);
}

static void sink_apply_task_event(void *ctx, const struct task_event *event)
{
	struct profile *profile = ctx;

	attributor_apply_event(profile->attributor, event);
}

struct source_sink profile_make_sink(struct profile *profile)
{
	return (struct source_sink){
		.window = sink_count_window,
		.task = sink_apply_task_event,
		.ctx = profile,
	};
}

void profile_assign_ids(struct profile *profile)
{
	cell_id_tables_assign(&profile->shared_data->names, profile->attributor);
}

bool profile_is_exact(const struct profile *profile)
{
	return !profile->sample_class.full && !profile->encodings_full &&
	       !profile->context_overflow && cell_table_is_exact(profile->cells.table);
}

const struct histogram *profile_get_histogram(struct profile *profile, enum profile_latency latency)
{
	profile_flush(profile);
	return &profile->machine.latency[latency];
}
