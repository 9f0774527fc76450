// SPDX-License-Identifier: LGPL-2.1-or-later
#include "view.h"

#include <stdlib.h>

static const char *const group_names[VIEW_GROUPS] = {
	[VIEW_FUNCTION] = "function",
	[VIEW_PROCESS] = "process",
	[VIEW_CONTAINER] = "container",
	[VIEW_LINE] = "line",
};

static const char *const sort_names[VIEW_SORTS] = {
	[VIEW_SORT_SAMPLES] = "samples",
	[VIEW_SORT_LATENCY] = "latency",
	[VIEW_SORT_DRAM] = "dram",
	[VIEW_SORT_REMOTE] = "remote",
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

unsigned int view_unit(const struct view_header *header)
{
	return header->unweighed ? UNITS : sample_unit_common(header->weight, UNITS);
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

u64 view_part(const struct view_row *row, unsigned int unit)
{
	return unit < UNITS ? row->weight[unit] : row->samples;
}

u64 view_whole(const struct view_header *header, unsigned int unit)
{
	return unit < UNITS ? header->weight[unit] : header->records;
}

u64 view_key(const struct view_row *row, enum view_sort sort, unsigned int unit)
{
	switch (sort) {
	case VIEW_SORT_LATENCY:
		return row->latency_sum;
	case VIEW_SORT_DRAM:
		return row->dram;
	case VIEW_SORT_REMOTE:
		return row->remote;
	default:
		return view_part(row, unit);
	}
}

void view_clear(struct view *view)
{
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
	return sort_names[sort];
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
		if (strcmp(name, sort_names[i]) == 0) {
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
