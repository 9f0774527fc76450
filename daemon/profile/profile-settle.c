// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a profile remembers of samples, and how their counts get from there into the
 * counters: all that a sample does not do itself.
 */
#include "profile-internal.h"

#include <stdlib.h>

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

void profile_context(struct profile *p, unsigned int index, u32 value, u64 count)
{
	struct context_count *slots = p->contexts[index];
	u32 at = value * 2654435761U >> 16;

	for (u32 i = 0; i < 64 && i < p->context_slots; i++, at++) {
		struct context_count *slot = &slots[at & (p->context_slots - 1)];

		if (slot->count && slot->value != value)
			continue;
		slot->value = value;
		slot->count += count;
		return;
	}
	p->context_overflow += count;
}

void row_sum_merge(struct row_sum *to, const struct row_sum *from)
{
	tally_merge(&to->tally, &from->tally);
	served_merge(&to->served, &from->served);
}

void profile_who_flush(struct profile *p, struct who *who)
{
	unsigned int kind = (unsigned int)(who->key >> 32);

	if (!who->samples)
		return;
	if (kind <= WHO_CONTEXT_EL2)
		profile_context(p, kind, (u32)who->key, who->samples);
	who->sum->tally.samples += who->samples;
	for (unsigned int i = 0; i < TALLY_COUNTS; i++)
		who->sum->tally.count[i] += who->counts >> 8 * i & 0xff;
	who->samples = 0;
	who->counts = 0;
}

/* Before tallies move, what is still on its way there. */
static void all_who_flush(struct profile *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(p->who); i++)
		profile_who_flush(p, &p->who[i]);
}

/* Where the figures of a container belong: those of one that was evicted to "(other)". */
static u32 container_now(const struct profile *p, u32 index, u32 generation)
{
	const struct attribute_container *c = attributor_container(p->attributor, index);

	return c && c->generation == generation ? index : attributor_container_other(p->attributor);
}

static u32 container_generation(const struct profile *p, u32 index)
{
	const struct attribute_container *c = attributor_container(p->attributor, index);

	return c ? c->generation : 0;
}

/* Samples of a process that is no longer in the container of that time. */
static void gone_add(struct profile *p, u32 index, u32 generation, const struct row_sum *sum)
{
	u32 other = attributor_container_other(p->attributor);
	struct container_tally *entry;

	index = container_now(p, index, generation);
	if (!grow((void **)&p->gone, &p->gone_count, sizeof(*p->gone),
		  index > other ? index : other)) {
		row_sum_merge(&p->elsewhere, sum);
		return;
	}
	entry = &p->gone[index];
	if (index != other && entry->generation != generation) {
		row_sum_merge(&p->gone[other].sum, &entry->sum);
		*entry = (struct container_tally){ .generation = generation };
	}
	row_sum_merge(&entry->sum, sum);
}

/* What @entry counted since its last move goes to its container. */
static void container_leave(struct profile *p, const struct process_tally *entry)
{
	if (entry->sum.tally.samples)
		gone_add(p, entry->container, entry->container_generation, &entry->sum);
}

/* The process is in another container than before, as its events tell. */
static void process_move(struct profile *p, struct process_tally *entry, u32 container)
{
	container_leave(p, entry);
	if (entry->sum.tally.samples && !entry->before)
		entry->before = calloc(1, sizeof(*entry->before));
	if (entry->before)
		row_sum_merge(entry->before, &entry->sum);
	memset(&entry->sum, 0, sizeof(entry->sum));
	entry->container = container;
	entry->container_generation = container_generation(p, container);
}

/* The entry of process @index, as it is now. */
static struct process_tally *process_entry(struct profile *p, u32 index,
					   const struct attribute_process *process)
{
	struct process_tally *entry;

	if (index >= p->process_count) {
		all_who_flush(p);
		p->epoch++;
	}
	if (!grow((void **)&p->processes, &p->process_count, sizeof(*p->processes), index))
		return NULL;
	entry = &p->processes[index];
	if (entry->generation == process->generation && entry->container == process->container)
		return entry;
	all_who_flush(p);
	if (entry->generation == process->generation) {
		process_move(p, entry, process->container);
		return entry;
	}
	container_leave(p, entry);
	free(entry->before);
	*entry = (struct process_tally){
		.generation = process->generation,
		.container = process->container,
		.container_generation = container_generation(p, process->container),
	};
	return entry;
}

void profile_who(struct profile *p, struct who *slot, u64 key, u64 time_ns)
{
	const struct attribute_process *process;
	struct process_tally *entry;
	u32 index = ATTRIBUTE_NONE;

	profile_who_flush(p, slot);
	slot->key = key;
	slot->owner = location_owner(ATTRIBUTE_NONE, 0);
	slot->sum = &p->nobody;
	slot->span = (struct attribute_span){ 0, ATTRIBUTE_AT_END };
	if (key >> 32 != WHO_NOBODY && attributor_timed(p->attributor))
		index = attributor_task_during(p->attributor, (s32)(u32)key, time_ns, &slot->span);
	else if (key >> 32 != WHO_NOBODY)
		index = attributor_task(p->attributor, (s32)(u32)key);
	/* To make room for one that is new, another may have lost its entry. */
	if (p->changes != attributor_changes(p->attributor)) {
		p->changes = attributor_changes(p->attributor);
		p->epoch++;
	}
	process = index == ATTRIBUTE_NONE ? NULL : attributor_process(p->attributor, index);
	if (process) {
		entry = process_entry(p, index, process);
		slot->sum = entry ? &entry->sum : &p->elsewhere;
		slot->owner = location_owner(index, process->generation);
	}
	slot->salt = location_salt(p->locations, slot->owner);
	slot->epoch = p->epoch;
}

u32 profile_encoding(struct profile *p, const struct spe_data_sources *sources)
{
	u32 i;

	for (i = 0; i < p->encoding_count; i++)
		if (p->encodings[i] == sources)
			return i;
	if (i == ENCODINGS) {
		profile_settle(p);
		memset(p->traits, 0, sizeof(p->traits));
		i = 0;
	}
	p->encodings[i] = sources;
	p->encoding_count = i + 1;
	return i;
}

/* Into the machine's counters what @t counted. */
static void traits_flush(struct profile *p, struct traits *t)
{
	u16 source;

	p->kinds[t->flags & TRAITS_KIND] += t->count;
	if (t->flags & TRAITS_SIMD)
		p->simd += t->count;
	for (u64 events = t->events; events; events &= events - 1)
		p->events[__builtin_ctzll(events)] += t->count;
	if (traits_source(t, &source))
		p->sources[source] += t->count;
	if (t->counts & TALLY_ONE(TALLY_MEMORY)) {
		p->levels[t->origin.level] += t->count;
		for (unsigned int flags = t->origin.flags; flags; flags &= flags - 1)
			p->origins[__builtin_ctz(flags)] += t->count;
	}
	t->count = 0;
}

void profile_traits(struct profile *p, struct traits *slot, u64 events, u64 key)
{
	if (slot->count)
		traits_flush(p, slot);
	traits_fill(events, key, p->encodings[key >> TRAITS_ENCODING], slot);
}

static void container_count(struct profile *p, u32 index, u32 generation, const struct row_sum *sum)
{
	index = container_now(p, index, generation);
	if (sum->tally.samples && grow((void **)&p->containers, &p->container_count,
				       sizeof(*p->containers), index))
		row_sum_merge(&p->containers[index], sum);
}

static void containers_settle(struct profile *p)
{
	u32 other = attributor_container_other(p->attributor);
	const struct process_tally *entry;

	if (p->containers)
		memset(p->containers, 0, p->container_count * sizeof(*p->containers));
	for (u32 i = 0; i < p->gone_count; i++)
		container_count(p, i, i == other ? container_generation(p, i) : p->gone[i].generation,
				&p->gone[i].sum);
	for (u32 i = 0; i < p->process_count; i++) {
		entry = &p->processes[i];
		container_count(p, entry->container, entry->container_generation, &entry->sum);
	}
}

static void total_add(struct histogram *h, const struct tally *tally)
{
	h->sum += tally->latency_sum;
	if (tally->max > h->max)
		h->max = tally->max;
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
		h->bucket[i] += tally->bucket[i];
}

/* Every sample's total latency is in a tally once: the machine's is their sum. */
static void latencies_settle(struct profile *p)
{
	struct histogram *total = &p->latency[PROFILE_TOTAL];

	*total = (struct histogram){ 0 };
	total_add(total, &p->nobody.tally);
	total_add(total, &p->elsewhere.tally);
	for (u32 i = 0; i < p->container_count; i++)
		total_add(total, &p->containers[i].tally);
	for (size_t i = 0; i < ARRAY_SIZE(p->latency); i++) {
		p->latency[i].count = 0;
		for (unsigned int k = 0; k < HISTOGRAM_BUCKETS; k++)
			p->latency[i].count += p->latency[i].bucket[k];
	}
}

static void way_settle(struct profile *p)
{
	u64 n = p->way.count > WAY_ADD ? p->way.count - WAY_ADD : 0;

	for (; n < p->way.count; n++)
		profile_arrive(p, n);
	p->way.count = 0;
}

void profile_settle(struct profile *p)
{
	way_settle(p);
	for (size_t i = 0; i < ARRAY_SIZE(p->traits); i++)
		if (p->traits[i].count)
			traits_flush(p, &p->traits[i]);
	all_who_flush(p);
	containers_settle(p);
	latencies_settle(p);
	p->header.unattributed = p->nobody.tally.samples;
}
