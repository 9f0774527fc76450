// SPDX-License-Identifier: LGPL-2.1-or-later
#include "view-bus.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/array.h"

/*
 * One table per struct serves both directions. The letter is the D-Bus type. A sparse field is
 * omitted if it is 0, because a row has samples of few levels.
 */
struct view_field {
	const char *name;
	char type; /* t: u64, u: u32, i: s32, y: u8, b: bool, s: char[] */
	u16 offset;
	u16 size;
	bool sparse; /* of type t */
};

#define FIELD(s, f, t)                                                   \
	{                                                                \
#f, t, offsetof(struct s, f), sizeof(((struct s *)0)->f) \
	}

#define BLIND(name, cause)                                                                  \
	{                                                                                   \
		"blind_" name "_ns", 't', offsetof(struct view_header, blind_by[cause]),    \
			sizeof(u64), true                                                   \
	}

#define LEVEL(name, level_of)                                                                     \
	{                                                                                         \
		"level_" name, 't', offsetof(struct view_row, level[level_of]), sizeof(u64), true \
	}

#define WEIGHT(s, name, unit)                                                  \
	{                                                                      \
		name, 't', offsetof(struct s, weight[unit]), sizeof(u64), true \
	}

#define EVENT(name, bit)                                                                     \
	{                                                                                    \
		"event_" name, 't', offsetof(struct view_row, event[bit]), sizeof(u64), true \
	}

#define SHARE(name, share)                                                                    \
	{                                                                                     \
		"memory_share_" name, 't', offsetof(struct view_header, memory_share[share]), \
			sizeof(u64), true                                                     \
	}

static const struct view_field header_fields[] = {
	FIELD(view_header, source, 's'),
	FIELD(view_header, source_reason, 's'),
	FIELD(view_header, tasks, 's'),
	FIELD(view_header, tasks_reason, 's'),
	FIELD(view_header, task_ids, 's'),
	FIELD(view_header, switches, 't'),
	FIELD(view_header, backend, 'y'),
	FIELD(view_header, running, 'b'),
	FIELD(view_header, cpus, 'u'),
	FIELD(view_header, duration_ns, 't'),
	FIELD(view_header, enabled_ns, 't'),
	FIELD(view_header, blind_ns, 't'),
	FIELD(view_header, unhandled_ns, 't'),
	FIELD(view_header, interval_ns, 't'),
	FIELD(view_header, records, 't'),
	FIELD(view_header, interval_longest_ns, 't'),
	FIELD(view_header, interval_mean_ns, 't'),
	FIELD(view_header, overhead_cost, 't'),
	FIELD(view_header, overhead, 'u'),
	FIELD(view_header, cpus_held, 'u'),
	FIELD(view_header, bytes, 't'),
	FIELD(view_header, decoded, 't'),
	FIELD(view_header, padding, 't'),
	FIELD(view_header, suspect, 't'),
	FIELD(view_header, lost, 't'),
	FIELD(view_header, truncated, 't'),
	FIELD(view_header, gaps, 't'),
	FIELD(view_header, written, 't'),
	FIELD(view_header, filtered, 't'),
	FIELD(view_header, unattributed, 't'),
	FIELD(view_header, names_pending, 't'),
	FIELD(view_header, names_reason, 's'),
	FIELD(view_header, evicted, 't'),
	WEIGHT(view_header, "weight", UNIT_UNKNOWN),
	WEIGHT(view_header, "weight_micro_ops", UNIT_MICRO_OPS),
	WEIGHT(view_header, "weight_instructions", UNIT_INSTRUCTIONS),
	FIELD(view_header, unweighed, 't'),
	FIELD(view_header, unattributed_weight, 't'),
	FIELD(view_header, evicted_weight, 't'),
	FIELD(view_header, sort_whole, 't'),
	FIELD(view_header, ledgers_unknown, 'b'),
	FIELD(view_header, cost_ns, 't'),
	FIELD(view_header, memory, 't'),
	FIELD(view_header, memory_locked, 't'),
	FIELD(view_header, memory_budget, 't'),
	SHARE("fixed", MEMORY_FIXED),
	SHARE("tables", MEMORY_TABLES),
	SHARE("rings", MEMORY_RINGS),
	SHARE("tasks", MEMORY_TASKS),
	SHARE("names", MEMORY_NAMES),
	SHARE("checkpoint", MEMORY_CHECKPOINT),
	SHARE("sessions", MEMORY_SESSIONS),
	FIELD(view_header, faults, 't'),
	FIELD(view_header, throttles, 't'),
	FIELD(view_header, unread, 't'),
	FIELD(view_header, task_events_lost, 't'),
	FIELD(view_header, mappings_lost, 't'),
	FIELD(view_header, cpus_stopped, 'u'),
	FIELD(view_header, fault, 's'),
	FIELD(view_header, config_refused, 's'),
	BLIND("unknown", SOURCE_BLIND_UNKNOWN),
	BLIND("full", SOURCE_BLIND_FULL),
	BLIND("handling", SOURCE_BLIND_HANDLING),
	BLIND("throttle", SOURCE_BLIND_THROTTLE),
	BLIND("handover", SOURCE_BLIND_HANDOVER),
	BLIND("fault", SOURCE_BLIND_FAULT),
	BLIND("restart", SOURCE_BLIND_RESTART),
	BLIND("hotplug", SOURCE_BLIND_HOTPLUG),
	FIELD(view_header, config_waiting, 's'),
};

static const struct view_field row_fields[] = {
	FIELD(view_row, samples, 't'),
	FIELD(view_row, memory, 't'),
	FIELD(view_row, dram, 't'),
	FIELD(view_row, branches, 't'),
	FIELD(view_row, mispredicted, 't'),
	FIELD(view_row, latency_sum, 't'),
	FIELD(view_row, p50, 'u'),
	FIELD(view_row, p99, 'u'),
	FIELD(view_row, pid, 'i'),
	FIELD(view_row, container, 's'),
	FIELD(view_row, process, 's'),
	FIELD(view_row, function, 's'),
	FIELD(view_row, binary, 's'),
	FIELD(view_row, file, 's'),
	FIELD(view_row, inlines, 's'),
	FIELD(view_row, line, 'u'),
	FIELD(view_row, remote, 't'),
	LEVEL("unknown", SPE_LEVEL_UNKNOWN),
	LEVEL("l1", SPE_LEVEL_L1),
	LEVEL("l2", SPE_LEVEL_L2),
	LEVEL("l3", SPE_LEVEL_L3),
	LEVEL("system_cache", SPE_LEVEL_SYSTEM_CACHE),
	LEVEL("peer_core", SPE_LEVEL_PEER_CORE),
	LEVEL("local_cluster", SPE_LEVEL_LOCAL_CLUSTER),
	LEVEL("peer_cluster", SPE_LEVEL_PEER_CLUSTER),
	LEVEL("local_chip", SPE_LEVEL_LOCAL_CHIP),
	LEVEL("remote_cache", SPE_LEVEL_REMOTE_CACHE),
	LEVEL("dram", SPE_LEVEL_DRAM),
	LEVEL("device", SPE_LEVEL_DEVICE),
	LEVEL("recently_fetched", SPE_LEVEL_RECENT),
	LEVEL("llc", SPE_LEVEL_LLC),
	LEVEL("beyond_l1", SPE_LEVEL_BEYOND_L1),
	LEVEL("beyond_l2", SPE_LEVEL_BEYOND_L2),
	LEVEL("beyond_llc", SPE_LEVEL_BEYOND_LLC),
	FIELD(view_row, loads, 't'),
	FIELD(view_row, stores, 't'),
	FIELD(view_row, simd, 't'),
	FIELD(view_row, snooped, 't'),
	FIELD(view_row, peer, 't'),
	FIELD(view_row, modified, 't'),
	FIELD(view_row, issue_sum, 't'),
	FIELD(view_row, issue_p50, 'u'),
	FIELD(view_row, issue_p99, 'u'),
	FIELD(view_row, translation_sum, 't'),
	FIELD(view_row, translation_p50, 'u'),
	FIELD(view_row, translation_p99, 'u'),
	WEIGHT(view_row, "weight", UNIT_UNKNOWN),
	WEIGHT(view_row, "weight_micro_ops", UNIT_MICRO_OPS),
	WEIGHT(view_row, "weight_instructions", UNIT_INSTRUCTIONS),
	EVENT("exception", SPE_EVENT_EXCEPTION),
	EVENT("retired", SPE_EVENT_RETIRED),
	EVENT("l1d_access", SPE_EVENT_L1D_ACCESS),
	EVENT("l1d_refill", SPE_EVENT_L1D_REFILL),
	EVENT("tlb_access", SPE_EVENT_TLB_ACCESS),
	EVENT("tlb_walk", SPE_EVENT_TLB_WALK),
	EVENT("not_taken", SPE_EVENT_NOT_TAKEN),
	EVENT("mispredicted", SPE_EVENT_MISPREDICTED),
	EVENT("llc_access", SPE_EVENT_LLC_ACCESS),
	EVENT("llc_miss", SPE_EVENT_LLC_MISS),
	EVENT("remote_access", SPE_EVENT_REMOTE_ACCESS),
	EVENT("misaligned", SPE_EVENT_MISALIGNED),
	EVENT("transactional", SPE_EVENT_TRANSACTIONAL),
	EVENT("partial_predicate", SPE_EVENT_PARTIAL_PREDICATE),
	EVENT("empty_predicate", SPE_EVENT_EMPTY_PREDICATE),
	EVENT("l2d_access", SPE_EVENT_L2D_ACCESS),
	EVENT("l2d_miss", SPE_EVENT_L2D_MISS),
	EVENT("cache_data_modified", SPE_EVENT_CACHE_DATA_MODIFIED),
	EVENT("recently_fetched", SPE_EVENT_RECENTLY_FETCHED),
	EVENT("data_snooped", SPE_EVENT_DATA_SNOOPED),
	EVENT("streaming_sve", SPE_EVENT_STREAMING_SVE),
	EVENT("smcu", SPE_EVENT_SMCU),
};

static int append_field(sd_bus_message *m, const struct view_field *f, const void *base)
{
	const void *p = (const char *)base + f->offset;
	char type[2] = { f->type, 0 };
	int boolean;
	int r;

	r = sd_bus_message_open_container(m, 'e', "sv");
	if (r < 0)
		return r;
	r = sd_bus_message_append_basic(m, 's', f->name);
	if (r < 0)
		return r;
	r = sd_bus_message_open_container(m, 'v', type);
	if (r < 0)
		return r;
	if (f->type == 'b') {
		boolean = *(const bool *)p;
		p = &boolean;
	}
	r = sd_bus_message_append_basic(m, f->type, p);
	if (r < 0)
		return r;
	r = sd_bus_message_close_container(m);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

/* Append fields. @latencies: &view.latencies of a row; NULL: none */
static int append_fields(sd_bus_message *m, const struct view_field *fields, size_t n,
			 const void *base, const char *latencies)
{
	int r;

	r = sd_bus_message_open_container(m, 'a', "{sv}");
	for (size_t i = 0; i < n && r >= 0; i++)
		if (!fields[i].sparse || *(const u64 *)((const char *)base + fields[i].offset))
			r = append_field(m, &fields[i], base);
	if (r >= 0 && latencies)
		r = sd_bus_message_append(m, "{sv}", "latencies", "s", latencies);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

int view_bus_append_header(sd_bus_message *message, const struct view_header *header)
{
	return append_fields(message, header_fields, ARRAY_SIZE(header_fields), header,
			     NULL);
}

int view_bus_append(sd_bus_message *message, const struct view *view)
{
	int r;

	r = view_bus_append_header(message, &view->header);
	if (r < 0)
		return r;
	r = sd_bus_message_open_container(message, 'a', "a{sv}");
	for (u32 i = 0; i < view->count && r >= 0; i++)
		r = append_fields(message, row_fields, ARRAY_SIZE(row_fields), &view->rows[i],
				  view->latencies ? view->latencies[i] : NULL);
	return r < 0 ? r : sd_bus_message_close_container(message);
}

static int read_value(sd_bus_message *m, const struct view_field *f, void *base)
{
	char *p = (char *)base + f->offset, type[2] = { f->type, 0 };
	const char *string;
	int boolean = 0, r;

	r = sd_bus_message_enter_container(m, 'v', type);
	if (r <= 0)
		return r == 0 || r == -ENXIO ? -EBADMSG : r;
	if (f->type == 's') {
		r = sd_bus_message_read_basic(m, 's', &string);
		if (r > 0)
			snprintf(p, f->size, "%s", string);
	} else if (f->type == 'b') {
		r = sd_bus_message_read_basic(m, 'b', &boolean);
		*(bool *)p = boolean;
	} else {
		r = sd_bus_message_read_basic(m, f->type, p);
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int read_field(sd_bus_message *m, const struct view_field *fields, size_t n, void *base)
{
	const char *name;
	int r;

	r = sd_bus_message_read_basic(m, 's', &name);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++)
		if (!strcmp(fields[i].name, name))
			return read_value(m, &fields[i], base);
	return sd_bus_message_skip(m, "v");
}

static int read_fields(sd_bus_message *m, const struct view_field *fields, size_t n, void *base)
{
	int r;

	r = sd_bus_message_enter_container(m, 'a', "{sv}");
	if (r < 0)
		return r;
	while ((r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
		r = read_field(m, fields, n, base);
		if (r < 0)
			return r;
		r = sd_bus_message_exit_container(m);
		if (r < 0)
			return r;
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int read_rows(sd_bus_message *m, struct view *view)
{
	struct view_row *rows;
	u32 capacity = 0;
	int r;

	r = sd_bus_message_enter_container(m, 'a', "a{sv}");
	while (r >= 0 && !sd_bus_message_at_end(m, 0)) {
		rows = array_reserve(view->rows, &capacity, view->count + 1, sizeof(*rows),
				     UINT32_MAX);
		if (!rows)
			return -ENOMEM;
		view->rows = rows;
		memset(&view->rows[view->count], 0, sizeof(*view->rows));
		r = read_fields(m, row_fields, ARRAY_SIZE(row_fields), &view->rows[view->count]);
		view->count += r >= 0;
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

int view_bus_read_header(sd_bus_message *message, struct view_header *ret_header)
{
	struct view_header header = { 0 };
	int r = read_fields(message, header_fields, ARRAY_SIZE(header_fields), &header);

	if (r < 0)
		return r;
	*ret_header = header;
	return 0;
}

int view_bus_read(sd_bus_message *message, struct view *ret_view)
{
	struct view view = { 0 };
	int r;

	r = view_bus_read_header(message, &view.header);
	if (r >= 0)
		r = read_rows(message, &view);
	if (r < 0) {
		free(view.rows);
		return r;
	}
	*ret_view = view;
	return 0;
}
