// SPDX-License-Identifier: LGPL-2.1-or-later
#include "view.h"

#include <stddef.h>
#include <stdlib.h>

static const char *const group_names[VIEW_GROUPS] = {
	[VIEW_FUNCTION] = "function",
	[VIEW_PROCESS] = "process",
	[VIEW_CONTAINER] = "container",
	[VIEW_LINE] = "line",
	[VIEW_PROGRAM] = "program",
	[VIEW_BINARY] = "binary",
};

/* @offset: offset in struct view_row of a u64, or of a u32 for percentiles */
static const struct {
	const char *name;
	const char *heading;
	size_t offset;
} sorts[VIEW_SORTS] = {
#define ROW(sort, name, heading, field) \
	[VIEW_SORT_##sort] = { name, heading, offsetof(struct view_row, field) }
	ROW(SAMPLES, "samples", "", samples),
	ROW(LATENCY, "latency", "CYCLES", latency_sum),
	ROW(DRAM, "dram", "DRAM OPS", dram),
	ROW(REMOTE, "remote", "REMOTE OPS", remote),
	ROW(MEMORY, "memory", "MEMORY OPS", memory),
	ROW(LOADS, "loads", "LOADS", loads),
	ROW(STORES, "stores", "STORES", stores),
	ROW(BRANCHES, "branches", "BRANCHES", branches),
	ROW(MISPREDICTED, "mispredicted", "MISPREDICTED", mispredicted),
	ROW(SIMD, "simd", "SIMD OPS", simd),
	ROW(SNOOPED, "snooped", "SNOOPED", snooped),
	ROW(PEER, "peer", "FROM PEERS", peer),
	ROW(MODIFIED, "modified", "MODIFIED", modified),
	ROW(L1, "l1", "L1 OPS", level[SPE_LEVEL_L1]),
	ROW(L2, "l2", "L2 OPS", level[SPE_LEVEL_L2]),
	ROW(L3, "l3", "L3 OPS", level[SPE_LEVEL_L3]),
	ROW(SYSTEM_CACHE, "system_cache", "SYSTEM CACHE", level[SPE_LEVEL_SYSTEM_CACHE]),
	ROW(LLC, "llc", "LLC OPS", level[SPE_LEVEL_LLC]),
	ROW(ISSUE, "issue", "ISSUE CYCLES", issue_sum),
	ROW(TRANSLATION, "translation", "TRANSLATION CYCLES", translation_sum),
	ROW(P99, "p99", "p99", p99),
	ROW(ISSUE_P99, "issue_p99", "ISSUE p99", issue_p99),
	ROW(TRANSLATION_P99, "translation_p99", "TRANSLATION p99", translation_p99),
#undef ROW
};

static const char *const span_names[VIEW_SPANS] = {
	[VIEW_SPAN_START] = "start",
	[VIEW_SPAN_10S] = "10s",
	[VIEW_SPAN_1M] = "1m",
	[VIEW_SPAN_10M] = "10m",
};

const char *view_span_name(enum view_span span)
{
	return span_names[span];
}

int view_span_parse(const char *name, enum view_span *ret_span)
{
	for (unsigned int i = 0; i < VIEW_SPANS; i++) {
		if (strcmp(name, span_names[i]) == 0) {
			*ret_span = i;
			return 0;
		}
	}
	return -EINVAL;
}

unsigned int view_get_share_unit(const struct view_header *header)
{
	return header->unweighed ? UNITS : sample_unit_find_common(header->weight, UNITS);
}

bool view_is_live(const struct view_header *header)
{
	return strcmp(header->source, "recording") && strcmp(header->source, "history") &&
	       strcmp(header->source, "saved");
}

const char *view_unit_name(unsigned int unit)
{
	static const char *const names[UNITS + 1] = {
		[UNIT_UNKNOWN] = "operations",
		[UNIT_MICRO_OPS] = "micro_ops",
		[UNIT_INSTRUCTIONS] = "instructions",
		[UNITS] = "samples",
	};

	return names[unit];
}

u64 view_get_share_numerator(const struct view_row *row, unsigned int unit)
{
	return unit < UNITS ? row->weight[unit] : row->samples;
}

u64 view_get_share_denominator(const struct view_header *header, unsigned int unit)
{
	return unit < UNITS ? header->weight[unit] : header->records;
}

u64 view_get_sort_numerator(const struct view_row *row, enum view_sort sort, unsigned int unit)
{
	return view_get_sort_key(row, sort < VIEW_SORT_P99 ? sort : VIEW_SORT_SAMPLES, unit);
}

u64 view_get_sort_key(const struct view_row *row, enum view_sort sort, unsigned int unit)
{
	const char *at = (const char *)row + sorts[sort].offset;
	u64 count;
	u32 cycles;

	if (sort == VIEW_SORT_SAMPLES)
		return view_get_share_numerator(row, unit);
	if (sort >= VIEW_SORT_P99) {
		memcpy(&cycles, at, sizeof(cycles));
		return cycles;
	}
	memcpy(&count, at, sizeof(count));
	return count;
}

bool view_sort_is_supported(enum view_sort sort, enum view_span span, enum view_group group)
{
	return span == VIEW_SPAN_START || group == VIEW_CONTAINER || sort <= VIEW_SORT_MEMORY ||
	       sort == VIEW_SORT_BRANCHES || sort == VIEW_SORT_MISPREDICTED;
}

const char *view_sort_heading(enum view_sort sort)
{
	return sorts[sort].heading;
}

void view_clear(struct view *view)
{
	for (u32 i = 0; view->latencies && i < view->count; i++)
		free(view->latencies[i]);
	free(view->latencies);
	free(view->rows);
	*view = (struct view){ 0 };
}

const char *view_blind_name(enum source_blind cause)
{
	static const char *const names[SOURCE_BLINDS] = {
		[SOURCE_BLIND_UNKNOWN] = "unknown",   [SOURCE_BLIND_FULL] = "full",
		[SOURCE_BLIND_HANDLING] = "handling", [SOURCE_BLIND_THROTTLE] = "throttle",
		[SOURCE_BLIND_HANDOVER] = "handover", [SOURCE_BLIND_FAULT] = "fault",
		[SOURCE_BLIND_RESTART] = "restart",   [SOURCE_BLIND_HOTPLUG] = "hotplug",
	};

	return names[cause];
}

const char *view_group_name(enum view_group group)
{
	return group_names[group];
}

const char *view_sort_name(enum view_sort sort)
{
	return sorts[sort].name;
}

int view_group_parse(const char *name, enum view_group *ret_group)
{
	for (unsigned int i = 0; i < VIEW_GROUPS; i++) {
		if (strcmp(name, group_names[i]) == 0) {
			*ret_group = i;
			return 0;
		}
	}
	return -EINVAL;
}

int view_sort_parse(const char *name, enum view_sort *ret_sort)
{
	for (unsigned int i = 0; i < VIEW_SORTS; i++) {
		if (strcmp(name, sorts[i].name) == 0) {
			*ret_sort = i;
			return 0;
		}
	}
	return -EINVAL;
}

const char *memory_share_name(enum memory_share share)
{
	static const char *const names[] = {
		[MEMORY_FIXED] = "fixed",	      [MEMORY_TABLES] = "tables",
		[MEMORY_RINGS] = "rings",	      [MEMORY_TASKS] = "tasks",
		[MEMORY_NAMES] = "names",	      [MEMORY_CHECKPOINT] = "checkpoint",
		[MEMORY_SESSIONS] = "sessions",
	};

	return names[share];
}
