// SPDX-License-Identifier: LGPL-2.1-or-later
#include "minute.h"

#include <stdlib.h>

void minute_deinit(struct minute *minute)
{
	for (u32 i = 0; i < minute->containers; i++)
		free(minute->container[i].cgroup);
	free(minute->container);
	free(minute->program);
	free(minute->location);
	*minute = (struct minute){ 0 };
}

void minute_sums_get(const struct counters *counters, struct minute_sums *ret_sums)
{
	struct minute_sums sums = {
		.samples = counters->samples,
		.latency = counters->latency[PROFILE_TOTAL].sum,
		.memory = counters_memory(counters),
		.dram = counters_dram(counters),
		.remote = counters_origin(counters, SPE_ORIGIN_REMOTE),
		.branches = counters->counts.kind[SPE_KIND_BRANCH],
		.mispredicted = counters->counts.mispredicted,
	};

	for (unsigned int i = 0; i < UNITS; i++)
		sums.operations += counters->weight[i];
	*ret_sums = sums;
}
