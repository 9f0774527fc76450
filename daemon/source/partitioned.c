// SPDX-License-Identifier: LGPL-2.1-or-later
#include "partitioned.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/**
 * struct partitioned_source - a source that combines several sources
 * @ops: the operations that all partitions implement, and the name of the partitions
 * @partition: the sources
 * @health: health of each partition at the last source_partition_copy_health()
 * @config: the configuration in force; it is restored if a partition refuses a new one
 */
struct partitioned_source {
	struct source source;
	struct source_ops ops;
	struct source *partition[SOURCE_PARTITIONS_MAX];
	struct source_health health[SOURCE_PARTITIONS_MAX];
	struct source_config config;
};

static struct partitioned_source *to_partitioned_source(const struct source *source)
{
	return (struct partitioned_source *)source;
}

static int partitioned_source_start(struct source *source)
{
	int r = 0;
	u32 i;

	for (i = 0; i < source->partitions && r >= 0; i++)
		r = source->partition[i]->ops->start(source->partition[i]);
	while (r < 0 && i--)
		source->partition[i]->ops->stop(source->partition[i]);
	return r;
}

static int partitioned_source_get_fd(struct source *source)
{
	return source->partition[0]->ops->fd(source->partition[0]);
}

static int partitioned_source_drain(struct source *source, const struct source_sink *sink)
{
	int result = 0, r;

	for (u32 i = 0; i < source->partitions; i++) {
		r = source->partition[i]->ops->drain(source->partition[i], sink);
		result = r < 0 ? r : result;
	}
	return result;
}

static void partitioned_source_stop(struct source *source)
{
	for (u32 i = 0; i < source->partitions; i++)
		source->partition[i]->ops->stop(source->partition[i]);
}

static void partitioned_source_free(struct source *source)
{
	struct partitioned_source *p = to_partitioned_source(source);

	for (u32 i = 0; i < source->partitions; i++)
		source->partition[i]->ops->free(source->partition[i]);
	free(p);
}

/* Describe a CPU. source_config_includes_cpu() selects its partition. */
static int partitioned_source_describe_cpu(struct source *source, u32 cpu,
					   struct source_cpu *ret_cpu)
{
	struct source *partition = source->partition[cpu % source->partitions];

	return partition->ops->cpu(partition, cpu, ret_cpu);
}

static int configure_partition(struct partitioned_source *p, u32 index,
			       const struct source_config *config, const char **ret_reason)
{
	struct source_config own = *config;
	struct source *partition = p->partition[index];

	own.partition = index;
	own.partitions = p->source.partitions;
	return partition->ops->configure(partition, &own, ret_reason);
}

/*
 * A filter is usable only if all partitions support it; otherwise the daemon filters the records of
 * all of them.
 */
static void combine_filters(struct source *source)
{
	source->filters = true;
	source->filters_not = true;
	source->filters_sources = true;
	source->filters_masked = true;
	for (u32 i = 0; i < source->partitions; i++) {
		source->filters &= source->partition[i]->filters;
		source->filters_not &= source->partition[i]->filters_not;
		source->filters_sources &= source->partition[i]->filters_sources;
		source->filters_masked &= source->partition[i]->filters_masked;
	}
}

static int partitioned_source_configure(struct source *source, const struct source_config *config,
					const char **ret_reason)
{
	struct partitioned_source *p = to_partitioned_source(source);
	const char *ignored;
	int r = 0;
	u32 i;

	if (!p->partition[0]->ops->configure) {
		*ret_reason = "this source cannot change what it samples";
		return -EOPNOTSUPP;
	}
	for (i = 0; i < source->partitions && r >= 0; i++)
		r = configure_partition(p, i, config, ret_reason);
	/* On failure, restore the partitions that were changed. */
	while (r < 0 && --i)
		configure_partition(p, i - 1, &p->config, &ignored);
	if (r >= 0)
		p->config = *config;
	source->interval_ns = p->partition[0]->interval_ns;
	combine_filters(source);
	return r;
}

static int partitioned_source_tune(struct source *source, const struct source_tune *tune)
{
	struct source *partition = source->partition[tune->cpu % source->partitions];

	return partition->ops->tune(partition, tune);
}

static u32 partitioned_source_read_costs(const struct source *source, struct source_cost *ret,
					 u32 capacity)
{
	u32 n = 0;

	for (u32 i = 0; i < source->partitions; i++)
		if (source->partition[i]->ops->costs)
			n += source->partition[i]->ops->costs(source->partition[i], ret + n,
							      capacity - n);
	return n;
}

static u32 partitioned_source_count_unsampled_cpus(const struct source *source)
{
	u32 n = 0;

	for (u32 i = 0; i < source->partitions; i++)
		n += source->partition[i]->ops->unsampled(source->partition[i]);
	return n;
}

static void partitioned_source_defer_release(struct source *source, bool spill)
{
	for (u32 i = 0; i < source->partitions; i++)
		source->partition[i]->ops->persist->defer(source->partition[i], spill);
}

static u32 partitioned_source_get_positions(const struct source *source,
					    struct source_position *ret, u32 capacity)
{
	u32 n = 0;

	for (u32 i = 0; i < source->partitions; i++)
		n += source->partition[i]->ops->persist->positions(source->partition[i], ret + n,
								   capacity - n);
	return n;
}

/* Pass to the partition @index the positions of its CPUs. */
static int resume_partition(struct source *source, u32 index,
			    const struct source_position *positions, u32 count)
{
	const struct source_config own = { .partition = index, .partitions = source->partitions };
	struct source_position *own_positions = calloc(count ? count : 1, sizeof(*own_positions));
	struct source *partition = source->partition[index];
	u32 n = 0;
	int r;

	if (!own_positions)
		return -ENOMEM;
	for (u32 i = 0; i < count; i++)
		if (source_config_includes_cpu(&own, positions[i].cpu))
			own_positions[n++] = positions[i];
	r = partition->ops->persist->resume(partition, own_positions, n);
	free(own_positions);
	return r;
}

static int partitioned_source_resume(struct source *source, const struct source_position *positions,
				     u32 count)
{
	int r = 0;
	u32 i;

	for (i = 0; i < source->partitions && r >= 0; i++)
		r = resume_partition(source, i, positions, count);
	/*
	 * Reset the partitions that were changed: @resume without positions fails, and all rings of
	 * the partition start at their current tail.
	 */
	while (r < 0 && i--)
		source->partition[i]->ops->persist->resume(source->partition[i], NULL, 0);
	return r;
}

static void partitioned_source_release_rings(struct source *source)
{
	for (u32 i = 0; i < source->partitions; i++)
		source->partition[i]->ops->persist->release(source->partition[i]);
}

/*
 * A partitioned source implements neither &source_persist_ops.session nor
 * &source_persist_ops.retained. Each partition has its own descriptor and rings, so these
 * operations are called on the partitions.
 */
static const struct source_persist_ops partitioned_persist_ops = {
	.defer = partitioned_source_defer_release,
	.positions = partitioned_source_get_positions,
	.resume = partitioned_source_resume,
	.release = partitioned_source_release_rings,
};

void source_partition_copy_health(struct source *source, u32 index)
{
	if (index < source->partitions)
		to_partitioned_source(source)->health[index] = source->partition[index]->health;
}

void source_partitions_sum_health(struct source *source)
{
	struct source_health all = { 0 };
	u32 cpus = 0;

	if (!source->partitions)
		return;
	for (u32 i = 0; i < source->partitions; i++) {
		const struct source_health *one = &to_partitioned_source(source)->health[i];

		/*
		 * Read &source.cpus atomically: the thread that drains the partition changes it
		 * when CPUs go offline or come online.
		 */
		cpus += __atomic_load_n(&to_partitioned_source(source)->partition[i]->cpus,
					__ATOMIC_RELAXED);
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

int source_partitioned_new(struct source *const *partitions, u32 count,
			   const struct source_config *config, struct source **ret_source)
{
	struct partitioned_source *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->ops = (struct source_ops){
		.name = partitions[0]->ops->name,
		.start = partitioned_source_start,
		.fd = partitioned_source_get_fd,
		.drain = partitioned_source_drain,
		.stop = partitioned_source_stop,
		.free = partitioned_source_free,
		.cpu = partitions[0]->ops->cpu ? partitioned_source_describe_cpu : NULL,
		.configure = partitioned_source_configure,
		.tune = partitions[0]->ops->tune ? partitioned_source_tune : NULL,
		.costs = partitioned_source_read_costs,
		.unsampled = partitions[0]->ops->unsampled ?
				     partitioned_source_count_unsampled_cpus :
				     NULL,
		.persist = partitions[0]->ops->persist ? &partitioned_persist_ops : NULL,
	};
	p->config = *config;
	p->source = *partitions[0];
	p->source.ops = &p->ops;
	p->source.partitions = count;
	p->source.partition = p->partition;
	p->source.cpus = 0;
	p->source.cpu_end = 0;
	p->source.locked_bytes = 0;
	for (u32 i = 0; i < count; i++) {
		p->partition[i] = partitions[i];
		p->source.cpus += partitions[i]->cpus;
		if (p->source.cpu_end < partitions[i]->cpu_end)
			p->source.cpu_end = partitions[i]->cpu_end;
		p->source.locked_bytes += partitions[i]->locked_bytes;
	}
	*ret_source = &p->source;
	return 0;
}
