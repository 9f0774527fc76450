/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A source of several, each of which samples some of the CPUs, so that each may be drained by a
 * thread of its own. All else is asked of the source as a whole, while no part is drained.
 */
#ifndef SPEPROF_PARTITIONED_H
#define SPEPROF_PARTITIONED_H

#include "source.h"

#define SOURCE_PARTS 16

/**
 * source_partitioned_new() - of @count parts, at least 2, each made with its @part and @parts
 * @config: of the whole
 *
 * Return: 0; -ENOMEM: then parts stay the caller's.
 */
int source_partitioned_new(struct source *const *parts, u32 count,
			   const struct source_config *config, struct source **ret_source);

/** source_partition_update() - how part @index does, as it is now; while that is not drained. Nothing for a whole */
void source_partition_update(struct source *source, u32 index);

/** source_partitions_sum() - its figures, of all that was noted; nothing for a whole */
void source_partitions_sum(struct source *source);

/** source_partition() - one that is whole is its own first part; NULL for others of it */
static inline struct source *source_partition(struct source *source, u32 index)
{
	if (!source->parts)
		return index ? NULL : source;
	return index < source->parts ? source->part[index] : NULL;
}

#endif
