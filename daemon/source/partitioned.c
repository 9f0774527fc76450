// SPDX-License-Identifier: LGPL-2.1-or-later
#include "partitioned.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* A CPU of a part: the part's @index'th. */
struct part_cpu {
	u32 cpu;
	u32 part;
	u32 index;
};

/**
 * struct parts
 * @ops: with the parts' name
 * @health: of each, when it was noted
 * @config: what holds, for all of them, if one refuses another
 * @part_cpus: of all CPUs, in order of their numbers, when they were last gone through
 */
struct parts {
	struct source source;
	struct source_ops ops;
	struct source *part[SOURCE_PARTS];
	struct source_health health[SOURCE_PARTS];
	struct source_config config;
	struct part_cpu *part_cpus;
	u32 part_cpu_count;
};

static struct parts *partitioned_of(const struct source *source)
{
	return (struct parts *)source;
}

static int partitioned_start(struct source *source)
{
	int r = 0;
	u32 i;

	for (i = 0; i < source->parts && r >= 0; i++)
		r = source->part[i]->ops->start(source->part[i]);
	while (r < 0 && i--)
		source->part[i]->ops->stop(source->part[i]);
	return r;
}

static int partitioned_fd(struct source *source)
{
	return source->part[0]->ops->fd(source->part[0]);
}

static int partitioned_drain(struct source *source, const struct source_sink *sink)
{
	int result = 0, r;

	for (u32 i = 0; i < source->parts; i++) {
		r = source->part[i]->ops->drain(source->part[i], sink);
		result = r < 0 ? r : result;
	}
	return result;
}

static void partitioned_stop(struct source *source)
{
	for (u32 i = 0; i < source->parts; i++)
		source->part[i]->ops->stop(source->part[i]);
}

static void partitioned_free(struct source *source)
{
	struct parts *p = partitioned_of(source);

	for (u32 i = 0; i < source->parts; i++)
		source->part[i]->ops->free(source->part[i]);
	free(p->part_cpus);
	free(p);
}

static int compare_part_cpus(const void *a, const void *b)
{
	const struct part_cpu *x = a, *y = b;

	return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

/* Anew whenever somebody begins with the first. */
static void list_part_cpus(struct parts *p)
{
	struct part_cpu *part_cpus;
	struct source_cpu cpu;

	p->part_cpu_count = 0;
	for (u32 i = 0; i < p->source.parts; i++) {
		struct source *part = p->part[i];

		for (u32 k = 0; part->ops->cpu(part, k, &cpu) >= 0; k++) {
			part_cpus = reallocarray(p->part_cpus, p->part_cpu_count + 1,
						 sizeof(*part_cpus));
			if (!part_cpus)
				return;
			p->part_cpus = part_cpus;
			part_cpus[p->part_cpu_count++] =
				(struct part_cpu){ .cpu = cpu.cpu, .part = i, .index = k };
		}
	}
	if (p->part_cpu_count)
		qsort(p->part_cpus, p->part_cpu_count, sizeof(*p->part_cpus), compare_part_cpus);
}

static int partitioned_cpu(struct source *source, u32 index, struct source_cpu *ret_cpu)
{
	struct parts *p = partitioned_of(source);
	struct source *part;

	if (!index)
		list_part_cpus(p);
	if (index >= p->part_cpu_count)
		return -ENOENT;
	part = p->part[p->part_cpus[index].part];
	return part->ops->cpu(part, p->part_cpus[index].index, ret_cpu);
}

/* A number alone says whose it is. */
static int partitioned_cpu_by_id(struct source *source, u32 cpu, struct source_cpu *ret_cpu)
{
	struct source *part = source->part[cpu % source->parts];

	return part->ops->cpu_by_id(part, cpu, ret_cpu);
}

static int configure_part(struct parts *p, u32 index, const struct source_config *config,
			  const char **ret_reason)
{
	struct source_config own = *config;
	struct source *part = p->part[index];

	own.part = index;
	own.parts = p->source.parts;
	return part->ops->configure(part, &own, ret_reason);
}

/* What one of them does not do is the daemon's for all. */
static void gather_filters(struct source *source)
{
	source->filters = true;
	source->filters_not = true;
	source->filters_sources = true;
	for (u32 i = 0; i < source->parts; i++) {
		source->filters &= source->part[i]->filters;
		source->filters_not &= source->part[i]->filters_not;
		source->filters_sources &= source->part[i]->filters_sources;
	}
}

static int partitioned_configure(struct source *source, const struct source_config *config,
				 const char **ret_reason)
{
	struct parts *p = partitioned_of(source);
	const char *ignored;
	int r = 0;
	u32 i;

	if (!p->part[0]->ops->configure) {
		*ret_reason = "this source cannot change what it samples";
		return -EOPNOTSUPP;
	}
	for (i = 0; i < source->parts && r >= 0; i++)
		r = configure_part(p, i, config, ret_reason);
	/* All as before, or all as is wanted. */
	while (r < 0 && --i)
		configure_part(p, i - 1, &p->config, &ignored);
	if (r >= 0)
		p->config = *config;
	source->interval_ns = p->part[0]->interval_ns;
	gather_filters(source);
	return r;
}

static int partitioned_tune(struct source *source, const struct source_tune *tune)
{
	struct source *part = source->part[tune->cpu % source->parts];

	return part->ops->tune(part, tune);
}

static u32 partitioned_costs(const struct source *source, struct source_cost *ret, u32 capacity)
{
	u32 n = 0;

	for (u32 i = 0; i < source->parts; i++)
		if (source->part[i]->ops->costs)
			n += source->part[i]->ops->costs(source->part[i], ret + n, capacity - n);
	return n;
}

static u32 partitioned_unsampled(const struct source *source)
{
	u32 n = 0;

	for (u32 i = 0; i < source->parts; i++)
		n += source->part[i]->ops->unsampled(source->part[i]);
	return n;
}

static void partitioned_defer(struct source *source, bool spill)
{
	for (u32 i = 0; i < source->parts; i++)
		source->part[i]->ops->persist->defer(source->part[i], spill);
}

static u32 partitioned_positions(const struct source *source, struct source_position *ret,
				 u32 capacity)
{
	u32 n = 0;

	for (u32 i = 0; i < source->parts; i++)
		n += source->part[i]->ops->persist->positions(source->part[i], ret + n,
							      capacity - n);
	return n;
}

/* Of @positions those that are of part @index; no other CPU is its. */
static int resume_part(struct source *source, u32 index, const struct source_position *positions,
		       u32 count)
{
	const struct source_config own = { .part = index, .parts = source->parts };
	struct source_position *of_part = calloc(count ? count : 1, sizeof(*of_part));
	struct source *part = source->part[index];
	u32 n = 0;
	int r;

	if (!of_part)
		return -ENOMEM;
	for (u32 i = 0; i < count; i++)
		if (source_owns_cpu(&own, positions[i].cpu))
			of_part[n++] = positions[i];
	r = part->ops->persist->resume(part, of_part, n);
	free(of_part);
	return r;
}

static int partitioned_resume(struct source *source, const struct source_position *positions,
			      u32 count)
{
	int r = 0;
	u32 i;

	for (i = 0; i < source->parts && r >= 0; i++)
		r = resume_part(source, i, positions, count);
	/* No position is of no session that has a ring: as they were. */
	while (r < 0 && i--)
		source->part[i]->ops->persist->resume(source->part[i], NULL, 0);
	return r;
}

static void partitioned_release(struct source *source)
{
	for (u32 i = 0; i < source->parts; i++)
		source->part[i]->ops->persist->release(source->part[i]);
}

/* Descriptors and rings are each part's own: who stores or drains one asks it. */
static const struct source_persist_ops partitioned_persist_ops = {
	.defer = partitioned_defer,
	.positions = partitioned_positions,
	.resume = partitioned_resume,
	.release = partitioned_release,
};

void source_partition_update(struct source *source, u32 index)
{
	if (index < source->parts)
		partitioned_of(source)->health[index] = source->part[index]->health;
}

void source_partitions_sum(struct source *source)
{
	struct source_health all = { 0 };
	u32 cpus = 0;

	if (!source->parts)
		return;
	for (u32 i = 0; i < source->parts; i++) {
		const struct source_health *one = &partitioned_of(source)->health[i];

		/* Of its worker's, who follows CPUs. */
		cpus += __atomic_load_n(&partitioned_of(source)->part[i]->cpus, __ATOMIC_RELAXED);
		all.faults += one->faults;
		all.throttles += one->throttles;
		all.unread += one->unread;
		all.cpus_stopped += one->cpus_stopped;
		if (*one->no_event_reason)
			snprintf(all.no_event_reason, sizeof(all.no_event_reason), "%s",
				 one->no_event_reason);
		if (*one->last)
			snprintf(all.last, sizeof(all.last), "%s", one->last);
	}
	source->health = all;
	source->cpus = cpus;
}

int source_partitioned_new(struct source *const *parts, u32 count,
			   const struct source_config *config, struct source **ret_source)
{
	struct parts *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->ops = (struct source_ops){
		.name = parts[0]->ops->name,
		.start = partitioned_start,
		.fd = partitioned_fd,
		.drain = partitioned_drain,
		.stop = partitioned_stop,
		.free = partitioned_free,
		.cpu = parts[0]->ops->cpu ? partitioned_cpu : NULL,
		.cpu_by_id = parts[0]->ops->cpu_by_id ? partitioned_cpu_by_id : NULL,
		.configure = partitioned_configure,
		.tune = parts[0]->ops->tune ? partitioned_tune : NULL,
		.costs = partitioned_costs,
		.unsampled = parts[0]->ops->unsampled ? partitioned_unsampled : NULL,
		.persist = parts[0]->ops->persist ? &partitioned_persist_ops : NULL,
	};
	p->config = *config;
	p->source = *parts[0];
	p->source.ops = &p->ops;
	p->source.parts = count;
	p->source.part = p->part;
	p->source.cpus = 0;
	p->source.locked = 0;
	for (u32 i = 0; i < count; i++) {
		p->part[i] = parts[i];
		p->source.cpus += parts[i]->cpus;
		p->source.locked += parts[i]->locked;
	}
	*ret_source = &p->source;
	return 0;
}
