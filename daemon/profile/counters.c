// SPDX-License-Identifier: LGPL-2.1-or-later
#include "counters.h"

const char *sample_kind_name(u32 kind)
{
	static const char *const names[SPE_KINDS] = {
		[SPE_KIND_LOAD] = "load",
		[SPE_KIND_STORE] = "store",
		[SPE_KIND_BRANCH] = "branch",
		[SPE_KIND_OTHER] = "other",
	};

	return names[kind];
}

void counters_merge(struct profile_counters *to, const struct profile_counters *from)
{
	u64 counts[SAMPLE_COUNTS], more[SAMPLE_COUNTS];

	to->samples += from->samples;
	for (unsigned int i = 0; i < UNITS; i++)
		to->weight[i] += from->weight[i];
	memcpy(counts, &to->counts, sizeof(counts));
	memcpy(more, &from->counts, sizeof(more));
	for (unsigned int i = 0; i < SAMPLE_COUNTS; i++)
		counts[i] += more[i];
	memcpy(&to->counts, counts, sizeof(counts));
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++)
		histogram_merge(&to->latency[i], &from->latency[i]);
}

void counters_sum_histograms(struct profile_counters *counters)
{
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++) {
		struct histogram *h = &counters->latency[i];

		h->count = 0;
		for (unsigned int k = 0; k < HISTOGRAM_BUCKETS; k++)
			h->count += h->bucket[k];
	}
}
