// SPDX-License-Identifier: LGPL-2.1-or-later
#include "measure.h"

#include "codec/payload.h"

#include <errno.h>
#include <stdio.h>

static const struct {
	const char *name;
	const char *heading;
} named[MEASURES_NAMED] = {
	[MEASURE_OPERATIONS] = { "operations", "OPERATIONS" },
	[MEASURE_SAMPLES] = { "samples", "SAMPLES" },
	[MEASURE_LATENCY] = { "latency", "CYCLES" },
	[MEASURE_MEAN] = { "mean", "MEAN" },
	[MEASURE_P50] = { "p50", "p50" },
	[MEASURE_P99] = { "p99", "p99" },
	[MEASURE_ISSUE] = { "issue", "ISSUE CYCLES" },
	[MEASURE_ISSUE_P99] = { "issue_p99", "ISSUE p99" },
	[MEASURE_TRANSLATION] = { "translation", "TRANSLATION CYCLES" },
	[MEASURE_TRANSLATION_P99] = { "translation_p99", "TRANSLATION p99" },
	[MEASURE_MEMORY] = { "memory", "MEMORY OPS" },
	[MEASURE_LOADS] = { "loads", "LOADS" },
	[MEASURE_STORES] = { "stores", "STORES" },
	[MEASURE_BRANCHES] = { "branches", "BRANCHES" },
	[MEASURE_MISPREDICTED] = { "mispredicted", "MISPREDICTED" },
	[MEASURE_SIMD] = { "simd", "SIMD OPS" },
	[MEASURE_DRAM] = { "dram", "DRAM OPS" },
	[MEASURE_REMOTE] = { "remote", "REMOTE OPS" },
	[MEASURE_SNOOPED] = { "snooped", "SNOOPED" },
	[MEASURE_PEER] = { "peer", "FROM PEERS" },
	[MEASURE_MODIFIED] = { "modified", "MODIFIED" },
};

/* Find a level by its plain name. event_parse() below does the same for events. */
static int level_parse(const char *name, enum measure *ret_measure)
{
	for (unsigned int i = 0; i < SPE_LEVELS; i++) {
		if (strcmp(name, spe_level_name(i)) == 0) {
			*ret_measure = MEASURE_LEVEL + i;
			return 0;
		}
	}
	return -EINVAL;
}

static int event_parse(const char *name, enum measure *ret_measure)
{
	for (u8 i = 0; i < SAMPLE_EVENTS; i++) {
		if (spe_event_name(i) && strcmp(name, spe_event_name(i)) == 0) {
			*ret_measure = MEASURE_EVENT + i;
			return 0;
		}
	}
	return -EINVAL;
}

int measure_parse(const char *name, enum measure *ret_measure)
{
	if (strncmp(name, "level.", 6) == 0)
		return level_parse(name + 6, ret_measure);
	if (strncmp(name, "event.", 6) == 0)
		return event_parse(name + 6, ret_measure);
	for (unsigned int i = 0; i < MEASURES_NAMED; i++) {
		if (strcmp(name, named[i].name) == 0) {
			*ret_measure = i;
			return 0;
		}
	}
	/*
	 * Accept SPE_LEVEL_UNKNOWN only as "level.unknown": the plain name does not say what is
	 * unknown.
	 */
	if (strcmp(name, spe_level_name(SPE_LEVEL_UNKNOWN)) != 0 && !level_parse(name, ret_measure))
		return 0;
	return event_parse(name, ret_measure);
}

/*
 * Return the name of a measure without "level." or "event." in front of it; "" for an event without
 * a name.
 */
static const char *get_plain_name(enum measure measure)
{
	if (measure < MEASURES_NAMED)
		return named[measure].name;
	if (measure < MEASURE_EVENT)
		return spe_level_name(measure - MEASURE_LEVEL);
	return spe_event_name((u8)(measure - MEASURE_EVENT)) ?: "";
}

void measure_format_name(enum measure measure, char *to)
{
	const char *kind = measure < MEASURE_EVENT ? "level." : "event.";
	enum measure same;

	if (measure_parse(get_plain_name(measure), &same) == 0 && same == measure)
		kind = "";
	snprintf(to, MEASURE_NAME_SIZE, "%s%s", kind, get_plain_name(measure));
}

void measure_format_heading(enum measure measure, char *to)
{
	if (measure < MEASURES_NAMED) {
		snprintf(to, MEASURE_NAME_SIZE, "%s", named[measure].heading);
		return;
	}
	snprintf(to, MEASURE_NAME_SIZE, "%s", get_plain_name(measure));
	for (; *to; to++) {
		if (*to >= 'a' && *to <= 'z')
			*to = (char)(*to - 'a' + 'A');
		else if (*to == '_')
			*to = ' ';
	}
}

bool measure_is_sum(enum measure measure)
{
	switch (measure) {
	case MEASURE_MEAN:
	case MEASURE_P50:
	case MEASURE_P99:
	case MEASURE_ISSUE_P99:
	case MEASURE_TRANSLATION_P99:
		return false;
	default:
		return true;
	}
}

bool measure_is_issue_or_translation(enum measure measure)
{
	return measure >= MEASURE_ISSUE && measure <= MEASURE_TRANSLATION_P99;
}

bool measure_is_known_for_period(enum measure measure)
{
	switch (measure) {
	case MEASURE_OPERATIONS:
	case MEASURE_SAMPLES:
	case MEASURE_LATENCY:
	case MEASURE_MEMORY:
	case MEASURE_BRANCHES:
	case MEASURE_MISPREDICTED:
	case MEASURE_DRAM:
	case MEASURE_REMOTE:
		return true;
	default:
		return false;
	}
}

static double compute_latency_value(enum measure measure, const struct profile_counters *c)
{
	const struct histogram *total = &c->latency[PROFILE_TOTAL];

	switch (measure) {
	case MEASURE_LATENCY:
		return (double)total->sum;
	case MEASURE_MEAN:
		return total->count ? (double)total->sum / (double)total->count : 0;
	case MEASURE_P50:
		return histogram_get_quantile(total, 500);
	case MEASURE_P99:
		return histogram_get_quantile(total, 990);
	case MEASURE_ISSUE:
		return (double)c->latency[PROFILE_ISSUE].sum;
	case MEASURE_ISSUE_P99:
		return histogram_get_quantile(&c->latency[PROFILE_ISSUE], 990);
	case MEASURE_TRANSLATION:
		return (double)c->latency[PROFILE_TRANSLATION].sum;
	default:
		return histogram_get_quantile(&c->latency[PROFILE_TRANSLATION], 990);
	}
}

static u64 compute_count_value(enum measure measure, const struct profile_counters *c)
{
	switch (measure) {
	case MEASURE_MEMORY:
		return counters_get_memory_accesses(c);
	case MEASURE_LOADS:
		return c->counts.kind[SPE_KIND_LOAD];
	case MEASURE_STORES:
		return c->counts.kind[SPE_KIND_STORE];
	case MEASURE_BRANCHES:
		return c->counts.kind[SPE_KIND_BRANCH];
	case MEASURE_MISPREDICTED:
		return c->counts.mispredicted;
	case MEASURE_SIMD:
		return c->counts.simd;
	case MEASURE_DRAM:
		return counters_get_dram_accesses(c);
	case MEASURE_REMOTE:
		return counters_get_origin_accesses(c, SPE_ORIGIN_REMOTE);
	case MEASURE_SNOOPED:
		return counters_get_origin_accesses(c, SPE_ORIGIN_SNOOPED);
	case MEASURE_PEER:
		return counters_get_origin_accesses(c, SPE_ORIGIN_PEER);
	case MEASURE_MODIFIED:
		return counters_get_origin_accesses(c, SPE_ORIGIN_MODIFIED);
	default:
		return c->samples;
	}
}

double measure_compute(enum measure measure, const struct profile_counters *c, unsigned int unit)
{
	if (measure >= MEASURE_EVENT)
		return (double)c->counts.event[measure - MEASURE_EVENT];
	if (measure >= MEASURE_LEVEL)
		return (double)c->counts.level[measure - MEASURE_LEVEL];
	if (measure == MEASURE_OPERATIONS && unit < UNITS)
		return (double)c->weight[unit];
	if (measure >= MEASURE_LATENCY && measure <= MEASURE_TRANSLATION_P99)
		return compute_latency_value(measure, c);
	return (double)compute_count_value(measure, c);
}
