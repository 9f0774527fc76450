// SPDX-License-Identifier: LGPL-2.1-or-later
#include "minute.h"

#include <stdlib.h>

void minute_deinit(struct minute_counters *minute)
{
	for (u32 i = 0; i < minute->containers; i++)
		free(minute->container[i].cgroup);
	free(minute->container);
	free(minute->program);
	free(minute->location);
	*minute = (struct minute_counters){ 0 };
}

void minute_sums_compute(const struct profile_counters *counters, struct minute_sums *ret_sums)
{
	struct minute_sums sums = {
		.samples = counters->samples,
		.latency = counters->latency[PROFILE_TOTAL].sum,
		.memory = counters_get_memory_accesses(counters),
		.dram = counters_get_dram_accesses(counters),
		.remote = counters_get_origin_accesses(counters, SPE_ORIGIN_REMOTE),
		.branches = counters->counts.kind[SPE_KIND_BRANCH],
		.mispredicted = counters->counts.mispredicted,
	};

	for (unsigned int i = 0; i < UNITS; i++)
		sums.operations += counters->weight[i];
	*ret_sums = sums;
}

void minute_sums_add(struct minute_sums *to, const struct minute_sums *more)
{
	u64 a[MINUTE_SUMS], b[MINUTE_SUMS];

	memcpy(a, to, sizeof(a));
	memcpy(b, more, sizeof(b));
	for (unsigned int i = 0; i < MINUTE_SUMS; i++)
		a[i] += b[i];
	memcpy(to, a, sizeof(a));
}
