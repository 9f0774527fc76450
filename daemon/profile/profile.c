// SPDX-License-Identifier: LGPL-2.1-or-later
/* The way of a sample from its window into the tables. */
#include "profile-internal.h"

#include <errno.h>
#include <stdlib.h>

#define DEFAULT_LOCATIONS 32768
#define DEFAULT_CONTEXTS 65536
#define SOURCES 65536

/* What an Operation Type packet counts as does not change: looked up, not matched. */
static void fill_op_flags(struct profile *p)
{
	struct spe_sample sample = { .present = SPE_HAS_OP };

	for (unsigned int i = 0; i < 4 * 256; i++) {
		sample.op_class = (u8)(i >> 8);
		sample.op_subclass = (u8)i;
		p->op_flags[i >> 8][i & 0xff] =
			(u8)(spe_sample_kind(&sample) | (spe_sample_is_simd(&sample) ? OP_SIMD : 0));
	}
}

int profile_new(const struct profile_config *config, struct attributor *attributor,
		struct profile **ret_profile)
{
	u32 locations = config && config->locations ? config->locations : DEFAULT_LOCATIONS;
	struct profile *p;
	int r;

	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->attributor = attributor;
	p->midr = config ? config->midr : 0;
	p->context_slots = config && config->contexts ? config->contexts : DEFAULT_CONTEXTS;
	fill_op_flags(p);
	r = location_table_new(locations, &p->locations);
	if (r < 0) {
		profile_free(p);
		return r;
	}
	p->sources = calloc(SOURCES, sizeof(*p->sources));
	for (unsigned int i = 0; i < CONTEXTS; i++)
		p->contexts[i] = calloc(p->context_slots, sizeof(struct context_count));
	for (unsigned int i = 0; i < CONTEXTS; i++) {
		if (!p->contexts[i] || !p->sources) {
			profile_free(p);
			return -ENOMEM;
		}
	}
	*ret_profile = p;
	return 0;
}

struct profile *profile_free(struct profile *profile)
{
	if (profile) {
		location_table_free(profile->locations);
		free(profile->processes);
		free(profile->containers);
		free(profile->sources);
		for (unsigned int i = 0; i < CONTEXTS; i++)
			free(profile->contexts[i]);
		free(profile);
	}
	return NULL;
}

void profile_reset(struct profile *profile)
{
	location_table_clear(profile->locations);
	if (profile->processes)
		memset(profile->processes, 0, profile->process_count * sizeof(*profile->processes));
	if (profile->containers)
		memset(profile->containers, 0,
		       profile->container_count * sizeof(*profile->containers));
	memset(profile->sources, 0, SOURCES * sizeof(*profile->sources));
	for (unsigned int i = 0; i < CONTEXTS; i++)
		memset(profile->contexts[i], 0,
		       profile->context_slots * sizeof(struct context_count));
	memset(&profile->header, 0, sizeof(profile->header));
	memset(profile->kinds, 0, sizeof(profile->kinds));
	memset(profile->events, 0, sizeof(profile->events));
	memset(profile->levels, 0, sizeof(profile->levels));
	memset(profile->origins, 0, sizeof(profile->origins));
	memset(profile->latency, 0, sizeof(profile->latency));
	profile->simd = 0;
	profile->context_overflow = 0;
}

/* Make @array hold index @want; the attributor's capacities bound how far. */
static bool grow(void **array, u32 *count, size_t size, u32 want)
{
	u32 n = *count ? *count : 64;
	void *p;

	if (want < *count)
		return true;
	while (n <= want)
		n *= 2;
	p = realloc(*array, n * size);
	if (!p)
		return false;
	memset((char *)p + *count * size, 0, (n - *count) * size);
	*array = p;
	*count = n;
	return true;
}

static void context_add(struct profile *p, unsigned int index, u32 value)
{
	struct context_count *slots = p->contexts[index];
	u32 at = value * 2654435761U >> 16;

	for (u32 i = 0; i < 64 && i < p->context_slots; i++, at++) {
		struct context_count *slot = &slots[at & (p->context_slots - 1)];

		if (slot->count && slot->value != value)
			continue;
		slot->value = value;
		slot->count++;
		return;
	}
	p->context_overflow++;
}

static void latency_add(struct profile *p, const struct spe_sample *s)
{
	static const u8 counters[PROFILE_LATENCIES] = {
		[PROFILE_TOTAL] = SPE_COUNTER_TOTAL,
		[PROFILE_ISSUE] = SPE_COUNTER_ISSUE,
		[PROFILE_TRANSLATION] = SPE_COUNTER_TRANSLATION,
	};

	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++)
		if (spe_sample_has(s, SPE_HAS_COUNTER(counters[i])))
			histogram_add(&p->latency[i], s->counter[counters[i]]);
}

/* Count where a load or store was served; whether that is memory, as far as is known. */
static bool origin_add(struct profile *p, const struct spe_sample *s,
		       const struct spe_data_sources *sources)
{
	struct spe_origin origin = spe_sample_origin(sources, s);

	p->levels[origin.level]++;
	for (unsigned int flags = origin.flags; flags; flags &= flags - 1)
		p->origins[__builtin_ctz(flags)]++;
	return origin.level == SPE_LEVEL_DRAM || origin.level == SPE_LEVEL_BEYOND_LLC;
}

/* Count for the machine, and note what the other rows count. */
static struct sample_facts machine_add(struct profile *p, const struct spe_sample *s,
				       const struct spe_data_sources *sources)
{
	u8 flags = spe_sample_has(s, SPE_HAS_OP) ? p->op_flags[s->op_class][s->op_subclass] :
						   SPE_KIND_NONE;
	u8 kind = flags & OP_KIND;
	struct sample_facts facts = {
		.latency = s->counter[SPE_COUNTER_TOTAL],
		.bucket = NO_BUCKET,
		.memory = kind == SPE_KIND_LOAD || kind == SPE_KIND_STORE,
		.branch = kind == SPE_KIND_BRANCH,
	};

	p->kinds[kind]++;
	p->simd += (flags & OP_SIMD) != 0;
	for (u64 events = s->events; events; events &= events - 1)
		p->events[__builtin_ctzll(events)]++;
	latency_add(p, s);
	if (spe_sample_has(s, SPE_HAS_SOURCE))
		p->sources[s->source]++;
	for (unsigned int i = 0; i < CONTEXTS; i++)
		if (spe_sample_has(s, SPE_HAS_CONTEXT(i)))
			context_add(p, i, s->context[i]);

	facts.dram = facts.memory && origin_add(p, s, sources);
	facts.mispredicted = facts.branch && spe_sample_event(s, SPE_EVENT_MISPREDICTED);
	if (spe_sample_has(s, SPE_HAS_COUNTER(SPE_COUNTER_TOTAL)))
		facts.bucket = (u8)histogram_bucket(facts.latency);
	return facts;
}

/*
 * When @s was taken, on the clock of the window's source: the end of its tick, as
 * an event within the tick may have come before it.
 */
static u64 sample_time(const struct spe_sample *s, const struct tick_clock *clock)
{
	if (!clock->mult || !spe_sample_has(s, SPE_HAS_TIMESTAMP))
		return ATTRIBUTE_AT_END;
	return clock->zero +
	       (u64)((unsigned __int128)(s->timestamp + 1) * clock->mult >> clock->shift);
}

/*
 * The TID: CONTEXTIDR_EL1, or under VHE the same register of the kernel's under
 * index 1 (D17.6.9, DESIGN); else what the window says; else, @timed, who ran then.
 */
static u32 sample_process(struct profile *p, const struct spe_sample *s,
			  const struct source_window *window, bool timed)
{
	u64 time = timed ? sample_time(s, &window->clock) : ATTRIBUTE_AT_END;
	s32 tid = window->tid;

	if (spe_sample_has(s, SPE_HAS_CONTEXT(SPE_CONTEXT_EL1)))
		tid = (s32)s->context[SPE_CONTEXT_EL1];
	else if (spe_sample_has(s, SPE_HAS_CONTEXT(SPE_CONTEXT_EL2)))
		tid = (s32)s->context[SPE_CONTEXT_EL2];
	else if (tid < 0 && time != ATTRIBUTE_AT_END)
		tid = attributor_running(p->attributor, window->cpu, time);
	if (tid < 0)
		return ATTRIBUTE_NONE;
	return timed ? attributor_task_at(p->attributor, tid, time) :
		       attributor_task(p->attributor, tid);
}

/* What is kept at @index is of a container that was evicted: it counts to "(other)". */
static void container_fold(struct profile *p, u32 index, u32 generation)
{
	u32 other = attributor_container_other(p->attributor);
	struct container_tally *entry;

	if (!grow((void **)&p->containers, &p->container_count, sizeof(*p->containers), other))
		return;
	entry = &p->containers[index];
	tally_merge(&p->containers[other].tally, &entry->tally);
	*entry = (struct container_tally){ .generation = generation };
}

void profile_settle(struct profile *p)
{
	for (u32 i = 0; i < p->container_count; i++) {
		const struct attribute_container *c = attributor_container(p->attributor, i);

		if (p->containers[i].tally.samples &&
		    (!c || c->generation != p->containers[i].generation))
			container_fold(p, i, 0);
	}
}

static void container_add(struct profile *p, u32 index, const struct sample_facts *facts)
{
	const struct attribute_container *c = attributor_container(p->attributor, index);

	if (!c || !grow((void **)&p->containers, &p->container_count, sizeof(*p->containers), index))
		return;
	if (p->containers[index].generation != c->generation)
		container_fold(p, index, c->generation);
	tally_add(&p->containers[index].tally, facts);
}

static u32 process_add(struct profile *p, u32 index, const struct sample_facts *facts)
{
	const struct attribute_process *process = attributor_process(p->attributor, index);
	struct process_tally *entry;

	if (!process ||
	    !grow((void **)&p->processes, &p->process_count, sizeof(*p->processes), index))
		return 0;
	entry = &p->processes[index];
	if (entry->generation != process->generation)
		*entry = (struct process_tally){ .generation = process->generation };
	tally_add(&entry->tally, facts);

	container_add(p, process->container, facts);
	return process->generation;
}

/*
 * Samples go through in batches: where they count is asked for a whole batch
 * before it is written, so that the tables' cache misses overlap.
 */
#define BATCH 32

struct batch {
	const struct spe_data_sources *sources;
	bool timed;
	struct sample_facts facts[BATCH];
	struct location_key key[BATCH];
	unsigned int count;
};

static void batch_add(struct profile *p, struct batch *batch, const struct spe_sample *s,
		      const struct source_window *window)
{
	struct sample_facts *facts = &batch->facts[batch->count];
	struct location_key *key = &batch->key[batch->count++];
	u64 pc = s->address[SPE_ADDRESS_PC];

	*facts = machine_add(p, s, batch->sources);
	*key = (struct location_key){
		.pc = spe_address_va(pc),
		.process = sample_process(p, s, window, batch->timed),
		.kernel = spe_address_el(pc) != 0,
	};
	if (key->process == ATTRIBUTE_NONE)
		p->header.unattributed++;
	else
		key->generation = process_add(p, key->process, facts);
	location_table_prepare(p->locations, key);
}

static void batch_flush(struct profile *p, struct batch *batch)
{
	struct location *location;
	u64 evicted;

	for (unsigned int i = 0; i < batch->count; i++)
		location_table_fetch(p->locations, &batch->key[i], batch->facts[i].bucket);
	for (unsigned int i = 0; i < batch->count; i++) {
		location = location_table_get(p->locations, &batch->key[i], &evicted);
		p->header.evicted += evicted;
		tally_add(&location->tally, &batch->facts[i]);
	}
	batch->count = 0;
}

static void ledger_add(struct view_header *h, const struct source_window *w,
		       const struct spe_ledger *ledger)
{
	h->records += ledger->records;
	h->bytes += w->len;
	h->decoded += ledger->decoded;
	h->padding += ledger->padding;
	h->suspect += ledger->suspect;
	h->lost += w->lost_bytes;
	h->blind_ns += w->blind_ns;
	h->enabled_ns += w->blind_ns + (w->armed_ns ? w->armed_ns : w->end_ns - w->start_ns);
	h->backend = w->backend;
	if (w->written == WINDOW_WRITTEN_UNKNOWN)
		h->written = WINDOW_WRITTEN_UNKNOWN;
	else if (h->written != WINDOW_WRITTEN_UNKNOWN)
		h->written += w->written;
}

void profile_window(struct profile *profile, const struct source_window *window)
{
	const struct spe_decoder_config config = {
		.max_size = window->max_record,
		.align = window->align,
	};
	struct spe_decoder decoder;
	struct batch batch = {
		.sources = spe_data_sources_find(window->midr ? window->midr : profile->midr),
		.timed = attributor_timed(profile->attributor),
	};
	struct spe_sample sample;
	enum spe_decode r;

	spe_decoder_init(&decoder, &config, window->data, window->len);
	if (window->flags & WINDOW_SUSPECT) {
		/* D17.8.4.4: nothing in it may be taken for valid. */
		decoder.ledger.suspect = window->len;
	} else {
		while ((r = spe_decoder_next_fast(&decoder, &profile->layouts, &sample, NULL)) !=
		       SPE_DECODE_END) {
			if (r == SPE_DECODE_SAMPLE)
				batch_add(profile, &batch, &sample, window);
			if (batch.count == BATCH)
				batch_flush(profile, &batch);
		}
		batch_flush(profile, &batch);
	}
	ledger_add(&profile->header, window, &decoder.ledger);
}

static void sink_window(void *ctx, const struct source_window *window)
{
	profile_window(ctx, window);
}

static void sink_task(void *ctx, const struct task_event *event)
{
	struct profile *profile = ctx;

	attributor_event(profile->attributor, event);
}

struct source_sink profile_sink(struct profile *profile)
{
	return (struct source_sink){
		.window = sink_window, .task = sink_task, .ctx = profile,
	};
}

const struct histogram *profile_histogram(const struct profile *profile,
					  enum profile_latency latency)
{
	return &profile->latency[latency];
}
