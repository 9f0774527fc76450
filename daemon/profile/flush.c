// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Flushes the cached counts of a profile into its counters. Counting a sample updates only the
 * caches.
 */
#include "profile-internal.h"

#include <errno.h>
#include <stdlib.h>

/*
 * Enlarge @array so that it has index @want. The capacities of the attributor limit the size of
 * @array.
 */
static bool array_grow(void **array, u32 *count, size_t size, u32 want)
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

/*
 * Add @count to the slot of @value, or to a free slot near the hash of @value. Return false if
 * there is no such slot.
 */
static bool context_add(struct profile *p, unsigned int index, u32 value, u64 count)
{
	u32 mask = p->context_size[index] - 1, at = value * 2654435761U >> 16;

	for (u32 i = 0; i < 64 && i < p->context_size[index]; i++, at++) {
		struct context_count *slot = &p->contexts[index][at & mask];

		if (slot->count && slot->value != value)
			continue;
		p->context_used[index] += !slot->count;
		slot->value = value;
		slot->count += count;
		return true;
	}
	return false;
}

/*
 * Double the table if it is half full and below its maximum size. If memory cannot be allocated,
 * the table is unchanged.
 */
static void contexts_grow(struct profile *p, unsigned int index)
{
	struct context_count *old = p->contexts[index], *slots;
	u32 size = p->context_size[index], more = size ? 2 * size : 64;

	more = more < p->context_slots ? more : p->context_slots;
	if (more == size || 2 * p->context_used[index] < size)
		return;
	slots = calloc(more, sizeof(*slots));
	if (!slots)
		return;
	p->contexts[index] = slots;
	p->context_size[index] = more;
	p->context_used[index] = 0;
	for (u32 i = 0; i < size; i++)
		if (old[i].count && !context_add(p, index, old[i].value, old[i].count))
			p->context_overflow += old[i].count;
	free(old);
}

void profile_count_context(struct profile *p, unsigned int index, u32 value, u64 count)
{
	contexts_grow(p, index);
	if (!context_add(p, index, value, count))
		p->context_overflow += count;
}

static void counts_add_ones(struct sample_counts *counts, const sample_class_lanes *ones)
{
	u64 sum[SAMPLE_COUNTS];
	u8 more[SAMPLE_COUNTS];

	memcpy(sum, counts, sizeof(sum));
	memcpy(more, ones, sizeof(more));
	for (unsigned int i = 0; i < SAMPLE_COUNTS; i++)
		sum[i] += more[i];
	memcpy(counts, sum, sizeof(sum));
}

static struct profile_counters *process_get_counters(struct profile *p,
						     struct process_tally *entry);

/*
 * Return the counters of the process of @task_slot. Allocate them at the first sample of the
 * process.
 */
static struct profile_counters *task_slot_get_counters(struct profile *p,
						       struct task_slot *task_slot)
{
	struct profile_counters *sum =
		task_slot->entry ? process_get_counters(p, task_slot->entry) : task_slot->sum;

	return sum ? sum : &p->overflow;
}

void profile_flush_task_slot(struct profile *p, struct task_slot *task_slot)
{
	unsigned int kind = (unsigned int)(task_slot->key >> 32);
	struct profile_counters *sum;

	if (!task_slot->samples)
		return;
	sum = task_slot_get_counters(p, task_slot);
	if (kind <= TASK_KEY_CONTEXT_EL2)
		profile_count_context(p, kind, (u32)task_slot->key, task_slot->samples);
	sum->samples += task_slot->samples;
	sum->weight[p->unit] += (u64)task_slot->samples * p->interval;
	if (!p->interval)
		p->header.unweighed += task_slot->samples;
	counts_add_ones(&sum->counts, task_slot->ones);
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++) {
		struct histogram *h = &sum->latency[i];

		h->sum += task_slot->latency_sum[i];
		if (task_slot->latency_max[i] > h->max)
			h->max = task_slot->latency_max[i];
		for (unsigned int k = 0; k < ARRAY_SIZE(h->bucket); k++)
			h->bucket[k] += task_slot->bucket[i][k];
	}
	memset(task_slot->bucket, 0, sizeof(task_slot->bucket));
	memset(task_slot->ones, 0, sizeof(task_slot->ones));
	task_slot->latency_sum = (latency_lanes){ 0 };
	task_slot->latency_max = (latency_lanes){ 0 };
	task_slot->samples = 0;
}

/*
 * Flush and invalidate all task slots. Call it before counters are moved or freed, because task
 * slots point to counters.
 */
static void flush_task_slots(struct profile *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(p->task_slot); i++) {
		profile_flush_task_slot(p, &p->task_slot[i]);
		p->task_slot[i].version = 0;
	}
}

void profile_set_weight(struct profile *p, u32 interval, u8 unit)
{
	if (p->interval == interval && p->unit == unit)
		return;
	flush_task_slots(p);
	p->interval = interval;
	p->unit = unit < UNITS ? unit : UNIT_UNKNOWN;
	cell_counter_set_interval(&p->cells, p->interval, p->unit);
}

/*
 * Return the index of the container that counts the samples of a container. If the container was
 * evicted, this is "(other)".
 */
static u32 find_counting_container(const struct profile *p, u32 index, u32 generation)
{
	const struct attribute_container *c = attributor_get_container(p->attributor, index);

	return c && c->generation == generation ? index :
						  attributor_get_other_container(p->attributor);
}

static u32 container_get_generation(const struct profile *p, u32 index)
{
	const struct attribute_container *c = attributor_get_container(p->attributor, index);

	return c ? c->generation : 0;
}

/*
 * Return the entry for samples of exited processes of a container, or the entry of "(other)" if the
 * limit of counters is reached. Return NULL if memory cannot be allocated. If another container had
 * the index before, the samples of that container move to "(other)".
 */
static struct container_tally *get_exited_entry(struct profile *p, u32 index, u32 generation)
{
	u32 other = attributor_get_other_container(p->attributor);
	struct container_tally *entry;

	if (!array_grow((void **)&p->exited, &p->exited_count, sizeof(*p->exited),
			index > other ? index : other))
		return NULL;
	entry = &p->exited[index];
	if (index != other && entry->generation != generation) {
		if (entry->sum) {
			if (!p->exited[other].sum)
				p->exited[other].sum = tally_new(&p->tally, TALLY_EXITED);
			counters_merge(p->exited[other].sum ? p->exited[other].sum : &p->overflow,
				       entry->sum);
			tally_free(&p->tally, TALLY_EXITED, entry->sum);
		}
		*entry = (struct container_tally){ .generation = generation };
	}
	if (!entry->sum && index != other && tally_limit_is_reached(&p->tally, TALLY_EXITED))
		entry = &p->exited[other];
	if (!entry->sum)
		entry->sum = tally_new(&p->tally, TALLY_EXITED);
	return entry->sum ? entry : NULL;
}

/*
 * Count samples for the container in which they were taken, because the process has exited or moved
 * to another container.
 */
static void exited_add_samples(struct profile *p, u32 index, u32 generation,
			       const struct profile_counters *sum)
{
	const struct container_tally *entry =
		get_exited_entry(p, find_counting_container(p, index, generation), generation);

	counters_merge(entry ? entry->sum : &p->overflow, sum);
}

int profile_restore_exited(struct profile *p, u32 container, u32 generation,
			   const struct profile_counters *sum)
{
	const struct container_tally *entry;

	if (!sum->samples)
		return 0;
	entry = get_exited_entry(p, container, generation);
	if (!entry)
		return -ENOMEM;
	counters_merge(entry->sum, sum);
	return 0;
}

static struct profile_counters *tally_copy(struct profile *p, const struct profile_counters *from)
{
	struct profile_counters *copy = tally_new(&p->tally, TALLY_PROCESS);

	if (copy)
		*copy = *from;
	return copy;
}

int profile_restore_process(struct profile *p, u32 index, const struct process_tally *entry)
{
	struct process_tally *to;

	if (tally_limit_is_reached(&p->tally, TALLY_PROCESS))
		return profile_restore_exited(p, entry->container, entry->container_generation,
					      entry->sum);
	if (!array_grow((void **)&p->processes, &p->process_count, sizeof(*p->processes), index))
		return -ENOMEM;
	to = &p->processes[index];
	tally_free(&p->tally, TALLY_PROCESS, to->sum);
	tally_free(&p->tally, TALLY_PROCESS, to->moved_from);
	*to = *entry;
	to->sum = entry->sum->samples ? tally_copy(p, entry->sum) : NULL;
	to->moved_from = entry->moved_from ? tally_copy(p, entry->moved_from) : NULL;
	return (entry->sum->samples && !to->sum) || (entry->moved_from && !to->moved_from) ?
		       -ENOMEM :
		       0;
}

void profile_merge_exited(struct profile *p, u32 index, const struct container_tally *from)
{
	if (from->sum)
		exited_add_samples(p, index, from->generation, from->sum);
}

/*
 * Add the samples of a process since its last move to the samples of exited processes of its
 * container.
 */
static void process_add_to_exited(struct profile *p, const struct process_tally *entry)
{
	if (entry->sum)
		exited_add_samples(p, entry->container, entry->container_generation, entry->sum);
}

/* Free the counters of a process, after adding its samples to its container. */
static void process_free_counters(struct profile *p, struct process_tally *entry)
{
	process_add_to_exited(p, entry);
	entry->sum = tally_free(&p->tally, TALLY_PROCESS, entry->sum);
	entry->moved_from = tally_free(&p->tally, TALLY_PROCESS, entry->moved_from);
	entry->restarted = true;
}

/*
 * Evict about an eighth of the processes, those with the fewest samples. Evicting many at once
 * makes evictions rare.
 */
static void evict_lightest_processes(struct profile *p)
{
	u32 want = p->tally.used[TALLY_PROCESS] / 8 + 1, had = p->tally.used[TALLY_PROCESS];

	for (u64 most = 1; most; most *= 2) {
		for (u32 i = 0; i < p->process_count; i++) {
			struct process_tally *entry = &p->processes[i];

			if ((!entry->sum && !entry->moved_from) || tally_get_samples(entry) > most)
				continue;
			process_free_counters(p, entry);
			if (had - p->tally.used[TALLY_PROCESS] >= want)
				return;
		}
	}
}

static struct profile_counters *process_get_counters(struct profile *p, struct process_tally *entry)
{
	if (!entry->sum && tally_limit_is_reached(&p->tally, TALLY_PROCESS))
		evict_lightest_processes(p);
	if (!entry->sum)
		entry->sum = tally_new(&p->tally, TALLY_PROCESS);
	return entry->sum;
}

static void process_add_moved_samples(struct profile *p, struct process_tally *entry,
				      const struct profile_counters *sum)
{
	if (sum->samples && !entry->moved_from && !tally_limit_is_reached(&p->tally, TALLY_PROCESS))
		entry->moved_from = tally_new(&p->tally, TALLY_PROCESS);
	if (entry->moved_from)
		counters_merge(entry->moved_from, sum);
}

/* Move a process to the container that its task events report. */
static void process_move(struct profile *p, struct process_tally *entry, u32 container,
			 u32 generation)
{
	process_add_to_exited(p, entry);
	if (entry->sum && !entry->moved_from) {
		entry->moved_from = entry->sum;
		entry->sum = NULL;
	} else if (entry->sum) {
		counters_merge(entry->moved_from, entry->sum);
		entry->sum = tally_free(&p->tally, TALLY_PROCESS, entry->sum);
	}
	entry->container = container;
	entry->container_generation = generation;
}

void profile_merge_process(struct profile *p, u32 index, const struct process_tally *from)
{
	struct process_tally *to;

	struct profile_counters *sum;

	if (!from->sum && !from->moved_from)
		return;
	/* A larger table moves, and task slots point into it. */
	if (index >= p->process_count)
		flush_task_slots(p);
	if (!array_grow((void **)&p->processes, &p->process_count, sizeof(*p->processes), index)) {
		if (from->sum)
			counters_merge(&p->overflow, from->sum);
		return;
	}
	to = &p->processes[index];
	/*
	 * If another shard has already merged a later process with this index, add the samples of
	 * the earlier process only to its container.
	 */
	if ((s32)(from->generation - to->generation) < 0) {
		process_add_to_exited(p, from);
		return;
	}
	if (to->generation != from->generation) {
		process_free_counters(p, to);
		*to = (struct process_tally){
			.generation = from->generation,
			.container = from->container,
			.container_generation = from->container_generation,
		};
	} else if (to->container != from->container ||
		   to->container_generation != from->container_generation) {
		process_move(p, to, from->container, from->container_generation);
	}
	sum = from->sum ? process_get_counters(p, to) : NULL;
	if (from->sum)
		counters_merge(sum ? sum : &p->overflow, from->sum);
	if (from->moved_from)
		process_add_moved_samples(p, to, from->moved_from);
}

/* Return the entry of process @index in its current generation. */
static struct process_tally *process_get_entry(struct profile *p, u32 index,
					       const struct attribute_process *process)
{
	struct process_tally *entry;

	if (index >= p->process_count) {
		flush_task_slots(p);
	}
	if (!array_grow((void **)&p->processes, &p->process_count, sizeof(*p->processes), index))
		return NULL;
	entry = &p->processes[index];
	if (entry->generation == process->generation && entry->container == process->container)
		return entry;
	flush_task_slots(p);
	if (entry->generation == process->generation) {
		process_move(p, entry, process->container,
			     container_get_generation(p, process->container));
		return entry;
	}
	process_free_counters(p, entry);
	*entry = (struct process_tally){
		.generation = process->generation,
		.container = process->container,
		.container_generation = container_get_generation(p, process->container),
	};
	return entry;
}

void profile_fill_task_slot(struct profile *p, struct task_slot *slot,
			    const struct resolved_task *answer)
{
	u64 task = answer->task, owner = answer->owner;
	const struct attribute_process *process = answer->process;
	struct process_tally *entry =
		process ? process_get_entry(p, (u32)(owner >> 32), process) : NULL;
	struct profile_counters *sum = entry ? NULL : process ? &p->overflow : &p->unattributed;

	/* Flush the slot only if the task has changed, which is rare. */
	if (slot->key != task || slot->entry != entry || slot->sum != sum)
		profile_flush_task_slot(p, slot);
	cell_counter_find_program(&p->cells, process, (u32)(owner >> 32), &slot->program);
	slot->key = task;
	slot->owner = owner;
	slot->entry = entry;
	slot->sum = sum;
	slot->version = answer->version;
}

u32 profile_get_encoding_index(struct profile *p, const struct spe_data_sources *sources)
{
	u32 i;

	for (i = 0; i < p->encoding_count; i++)
		if (p->encodings[i] == sources)
			return i;
	/*
	 * Known cores have fewer encodings. If there are more encodings, use the first encoding for
	 * them.
	 */
	if (i == ENCODINGS_MAX) {
		p->encodings_full = true;
		return 0;
	}
	p->encodings[i] = sources;
	p->encoding_count = i + 1;
	return i;
}

/* Add the samples of the class @t to the machine's counters. */
static void sample_class_flush(struct profile *p, struct sample_class *t)
{
	u16 source;

	p->kinds[t->flags & SAMPLE_CLASS_KIND] += t->count;
	if (t->flags & SAMPLE_CLASS_SIMD)
		p->simd += t->count;
	for (u64 events = t->events; events; events &= events - 1)
		p->events[__builtin_ctzll(events)] += t->count;
	if (sample_class_get_source(t, &source)) {
		p->sources[source] += t->count;
		p->source_end = source >= p->source_end ? source + 1U : p->source_end;
	}
	if ((t->flags & SAMPLE_CLASS_KIND) == SPE_KIND_LOAD ||
	    (t->flags & SAMPLE_CLASS_KIND) == SPE_KIND_STORE) {
		p->levels[t->origin.level] += t->count;
		for (unsigned int flags = t->origin.flags; flags; flags &= flags - 1)
			p->origins[__builtin_ctz(flags)] += t->count;
	}
	t->count = 0;
}

struct sample_class *profile_get_sample_class(struct profile *p, u64 events, u64 key)
{
	const struct spe_data_sources *sources = p->encodings[key >> SAMPLE_CLASS_ENCODING];
	u16 number = sample_class_find(&p->sample_class, events, key, sources);
	struct sample_class *t = &p->sample_class.at[number];

	if (number)
		return t;
	if (t->count)
		sample_class_flush(p, t);
	sample_class_fill(events, key, sources, t);
	t->id = sample_class_find_coarse(&p->sample_class, t);
	return t;
}

static struct profile_counters *container_get_counters(struct profile *p, u32 index)
{
	bool other = index == attributor_get_other_container(p->attributor);

	if (!array_grow((void **)&p->containers, &p->container_count, sizeof(*p->containers),
			index))
		return NULL;
	if (!p->containers[index] && (other || !tally_limit_is_reached(&p->tally, TALLY_CONTAINER)))
		p->containers[index] = tally_new(&p->tally, TALLY_CONTAINER);
	return p->containers[index];
}

static void container_add_counters(struct profile *p, u32 index, u32 generation,
				   const struct profile_counters *sum)
{
	struct profile_counters *to;

	if (!sum)
		return;
	to = container_get_counters(p, find_counting_container(p, index, generation));
	if (!to)
		to = container_get_counters(p, attributor_get_other_container(p->attributor));
	if (to)
		counters_merge(to, sum);
}

static void containers_sum_counters(struct profile *p)
{
	u32 other = attributor_get_other_container(p->attributor);
	const struct process_tally *entry;

	for (u32 i = 0; i < p->container_count; i++)
		if (p->containers[i])
			memset(p->containers[i], 0, sizeof(*p->containers[i]));
	for (u32 i = 0; i < p->exited_count; i++)
		container_add_counters(
			p, i, i == other ? container_get_generation(p, i) : p->exited[i].generation,
			p->exited[i].sum);
	for (u32 i = 0; i < p->process_count; i++) {
		entry = &p->processes[i];
		container_add_counters(p, entry->container, entry->container_generation,
				       entry->sum);
	}
	for (u32 i = 0; i < p->container_count; i++) {
		if (p->containers[i] && !p->containers[i]->samples)
			p->containers[i] = tally_free(&p->tally, TALLY_CONTAINER, p->containers[i]);
		if (p->containers[i])
			counters_sum_histograms(p->containers[i]);
	}
}

/* Sum the counters of the machine. Each sample is in exactly one of the counters that are added. */
static void machine_sum_counters(struct profile *p)
{
	memset(&p->machine, 0, sizeof(p->machine));
	counters_merge(&p->machine, &p->unattributed);
	counters_merge(&p->machine, &p->overflow);
	for (u32 i = 0; i < p->container_count; i++)
		if (p->containers[i])
			counters_merge(&p->machine, p->containers[i]);
	counters_sum_histograms(&p->machine);
}

/* Update the number of evicted samples from the table of cells. */
static void update_evicted_ledger(struct profile *p)
{
	struct cell_table_stats stats;
	struct cell_cursor cursor = { 0 };
	struct cell_row row;

	cell_counter_flush(&p->cells);
	cell_table_get_stats(p->cells.table, &stats);
	p->header.evicted = stats.evicted;
	p->header.evicted_weight = 0;
	while (stats.evicted && cell_table_next(p->cells.table, &cursor, &row))
		if (row.evicted)
			p->header.evicted_weight +=
				cell_row_sum_weight(p->cells.table, &row);
}

void profile_flush_caches(struct profile *p)
{
	profile_retry_waiting_samples(p);
	update_evicted_ledger(p);
	for (u32 i = 0; i <= p->sample_class.used; i++)
		if (p->sample_class.at[i].count)
			sample_class_flush(p, &p->sample_class.at[i]);
	flush_task_slots(p);
}

void profile_flush(struct profile *p)
{
	profile_flush_caches(p);
	counters_sum_histograms(&p->unattributed);
	containers_sum_counters(p);
	machine_sum_counters(p);
	p->header.unattributed = p->unattributed.samples;
	p->header.unattributed_weight = 0;
	for (unsigned int i = 0; i < UNITS; i++) {
		p->header.weight[i] = p->machine.weight[i];
		p->header.unattributed_weight += p->unattributed.weight[i];
	}
}
