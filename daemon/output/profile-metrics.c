// SPDX-License-Identifier: LGPL-2.1-or-later
#include "profile-metrics.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "attribution/attributor.h"
#include "attribution/pods.h"
#include "profile/profile-read.h"

/* The indices of arrays in a snapshot must not change: version 1 of its format defines them. */
static_assert((int)METRICS_TOTAL == (int)PROFILE_TOTAL &&
		      (int)METRICS_ISSUE == (int)PROFILE_ISSUE &&
		      (int)METRICS_TRANSLATION == (int)PROFILE_TRANSLATION,
	      "latencies");
static_assert(SPE_LEVEL_BEYOND_LLC == 16 && SPE_LEVEL_DRAM == 10 && SPE_LEVEL_L1 == 1, "levels");
static_assert(UNIT_MICRO_OPS == 1 && UNIT_INSTRUCTIONS == 2 && UNITS <= METRICS_UNITS, "units");
static_assert((int)METRICS_BLIND_UNKNOWN == (int)SOURCE_BLIND_UNKNOWN &&
		      (int)METRICS_BLIND_HOTPLUG == (int)SOURCE_BLIND_HOTPLUG &&
		      (int)SOURCE_BLINDS <= METRICS_BLIND_SLOTS,
	      "causes");
static_assert((int)SPE_LEVELS <= METRICS_LEVELS && HISTOGRAM_BUCKETS < METRICS_BUCKETS,
	      "sizes of arrays");

static void fill_counters(const struct profile_counters *from, struct metrics_counters *to)
{
	to->samples = from->samples;
	memcpy(to->weight, from->weight, sizeof(from->weight));
	to->memory = counters_get_memory_accesses(from);
	to->remote = counters_get_origin_accesses(from, SPE_ORIGIN_REMOTE);
	to->branches = from->counts.kind[SPE_KIND_BRANCH];
	to->mispredicted = from->counts.mispredicted;
	memcpy(to->level, from->counts.level, sizeof(from->counts.level));
	for (unsigned int i = 0; i < METRICS_LATENCIES; i++) {
		to->latency[i].sum = from->latency[i].sum;
		memcpy(to->latency[i].bucket, from->latency[i].bucket,
		       HISTOGRAM_BUCKETS * sizeof(u64));
	}
}

static void fill_ledgers(const struct view_header *h, struct metrics_machine *m)
{
	m->records = h->records;
	m->written = h->written;
	m->filtered = h->filtered;
	m->bytes = h->bytes;
	m->decoded = h->decoded;
	m->padding = h->padding;
	m->suspect = h->suspect;
	m->unhandled_ns = h->unhandled_ns;
	m->lost = h->ledgers_unknown ? UINT64_MAX : h->lost;
	m->enabled_ns = h->ledgers_unknown ? UINT64_MAX : h->enabled_ns;
	memcpy(m->blind_ns, h->blind_by, sizeof(h->blind_by));
	m->unattributed = h->unattributed;
	m->evicted = h->evicted;
}

static void fill_container(const struct attributor *attributor, u32 index,
			   struct metrics_container *to)
{
	const struct attribute_container *c = attributor_get_container(attributor, index);
	struct container_details details;

	attributor_get_container_details(attributor, index, &details);
	to->id = details.id;
	to->empty_ns = details.empty_ns;
	snprintf(to->name, sizeof(to->name), "%s", c->name);
	snprintf(to->runtime, sizeof(to->runtime), "%s", c->runtime);
	snprintf(to->path, sizeof(to->path), "%s", c->path);
	snprintf(to->name_space, sizeof(to->name_space), "%s", details.pod->name_space);
	snprintf(to->pod, sizeof(to->pod), "%s", details.pod->pod);
	snprintf(to->pod_container, sizeof(to->pod_container), "%s", details.pod->container);
}

int profile_get_metrics(struct profile *profile, struct attributor *attributor,
			struct metrics_snapshot *ret_metrics)
{
	struct metrics_snapshot m = { 0 };
	const struct profile_counters *f;
	u32 bound, used = 0;

	profile_flush(profile);
	bound = profile_get_container_bound(profile);
	for (u32 i = 0; i < bound; i++)
		used += profile_get_container_counters(profile, i) != NULL;
	m.containers = calloc(used + 1, sizeof(*m.containers));
	if (!m.containers)
		return -ENOMEM;
	fill_ledgers(profile_get_header(profile), &m.machine);
	fill_counters(profile_get_machine_counters(profile), &m.machine.all);
	m.machine.false_sharing = profile_count_false_sharing(profile);
	for (u32 i = 0; i < bound && m.count < used && m.count < METRICS_CONTAINERS_MAX; i++) {
		f = profile_get_container_counters(profile, i);
		if (!f || !attributor_get_container(attributor, i))
			continue;
		fill_container(attributor, i, &m.containers[m.count]);
		fill_counters(f, &m.containers[m.count++].tally);
	}
	*ret_metrics = m;
	return 0;
}
