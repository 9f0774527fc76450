/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A source that consists of several sources, each of which samples a partition of the CPUs. A
 * separate thread may drain each partition. All other operations use the whole source, and must not
 * run while a thread drains a partition.
 */
#ifndef SPEPROF_PARTITIONED_H
#define SPEPROF_PARTITIONED_H

#include "source.h"

/* Maximum number of partitions of a source: one for each drain thread. */
#define SOURCE_PARTITIONS_MAX 16

/**
 * source_partitioned_new() - combine sources
 * @partitions: the sources, created with their &source_config.partition; owned by the new source
 *	on success
 * @count: number of sources, at least 2
 * @config: the configuration of the whole source
 * @ret_source: the new source
 *
 * Return: 0; -ENOMEM.
 */
int source_partitioned_new(struct source *const *partitions, u32 count,
			   const struct source_config *config, struct source **ret_source);

/**
 * source_partition_copy_health() - copy the health of a partition for
 * source_partitions_sum_health()
 * @source: the source; does nothing if it is not partitioned
 * @index: the partition
 *
 * Context: the thread that drains the partition, or any thread while the partition is not drained.
 */
void source_partition_copy_health(struct source *source, u32 index);

/**
 * source_partitions_sum_health() - set the health of the source to the sum of the copies
 * @source: the source; does nothing if it is not partitioned
 *
 * Context: no concurrent source_partition_copy_health().
 */
void source_partitions_sum_health(struct source *source);

/**
 * source_get_partition() - get a partition of a source
 * @source: the source; if it is not partitioned, partition 0 is the source itself
 * @index: the partition
 *
 * Return: the partition; NULL if @index is too large.
 */
static inline struct source *source_get_partition(struct source *source, u32 index)
{
	if (!source->partitions)
		return index ? NULL : source;
	return index < source->partitions ? source->partition[index] : NULL;
}

#endif
