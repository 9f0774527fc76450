// SPDX-License-Identifier: LGPL-2.1-or-later
/* Write the summary as JSON (Documentation/reference/json.md). */
#include "codec/payload.h"
#include "profile-json.h"
#include "profile/cell-level.h"
#include "profile/profile-internal.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>

static void json_add_u64(struct json_object *to, const char *key, u64 value)
{
	json_object_object_add(to, key, json_object_new_uint64(value));
}

static struct json_object *add_object(struct json_object *to, const char *key)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(to, key, o);
	return o;
}

static void add_ops(struct json_object *totals, const struct profile *p)
{
	struct json_object *ops = add_object(totals, "ops");

	json_add_u64(ops, "load", p->kinds[SPE_KIND_LOAD]);
	json_add_u64(ops, "store", p->kinds[SPE_KIND_STORE]);
	json_add_u64(ops, "branch", p->kinds[SPE_KIND_BRANCH]);
	json_add_u64(ops, "other", p->kinds[SPE_KIND_OTHER]);
	json_add_u64(totals, "simd", p->simd);
}

static void add_events(struct json_object *totals, const struct profile *p)
{
	struct json_object *events = add_object(totals, "events");

	for (u8 bit = 0; bit < 64; bit++)
		if (spe_event_name(bit))
			json_add_u64(events, spe_event_name(bit), p->events[bit]);
}

static void add_latency(struct json_object *totals, const struct profile *p)
{
	static const char *const keys[PROFILE_LATENCIES] = {
		[PROFILE_TOTAL] = "total",
		[PROFILE_ISSUE] = "issue",
		[PROFILE_TRANSLATION] = "translation",
	};
	struct json_object *latency = add_object(totals, "latency"), *o;

	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++) {
		o = add_object(latency, keys[i]);
		json_add_u64(o, "count", p->machine.latency[i].count);
		json_add_u64(o, "sum", p->machine.latency[i].sum);
		json_add_u64(o, "max", p->machine.latency[i].max);
	}
}

static void add_sources(struct json_object *totals, const struct profile *p)
{
	struct json_object *sources = add_object(totals, "data_source");
	char key[16];

	for (u32 i = 0; i < p->source_end; i++) {
		if (!p->sources[i])
			continue;
		snprintf(key, sizeof(key), "0x%" PRIx32, i);
		json_add_u64(sources, key, p->sources[i]);
	}
}

/* Add the levels that served loads and stores; levels that did not occur are left out. */
static void add_levels(struct json_object *totals, const struct profile *p)
{
	static const char *const keys[SAMPLE_ORIGINS] = { "remote", "snooped", "peer", "modified",
							  "by_source" };
	struct json_object *levels = add_object(totals, "levels");
	struct json_object *origin = add_object(totals, "origin");

	for (unsigned int i = 0; i < SPE_LEVELS; i++)
		if (p->levels[i])
			json_add_u64(levels, spe_level_name(i), p->levels[i]);
	for (unsigned int i = 0; i < SAMPLE_ORIGINS; i++)
		json_add_u64(origin, keys[i], p->origins[i]);
}

/* Add the latencies of each level. */
static void add_level_latency(struct json_object *totals, const struct profile *p)
{
	struct cell_level levels[SPE_LEVELS] = { 0 };
	struct level_table table;
	struct json_object *by_level, *o;

	cell_table_add_levels(p->cells.table, NULL, NULL, levels);
	level_table_fill(levels, &table);
	by_level = json_object_new_object();
	json_object_object_add(totals, "level_latency", by_level);
	for (u32 i = 0; i < table.rows; i++) {
		const struct level_row *row = &table.row[i];

		o = add_object(by_level, spe_level_name(row->level));
		json_add_u64(o, "samples", row->count);
		json_object_object_add(o, "share", json_object_new_double(row->share));
		json_object_object_add(o, "mean",
				       row->timed ? json_object_new_double(row->mean) : NULL);
		json_object_object_add(o, "p50",
				       row->timed ? json_object_new_uint64(row->p50) : NULL);
		json_object_object_add(o, "p99",
				       row->timed ? json_object_new_uint64(row->p99) : NULL);
	}
}

static int compare_contexts(const void *a, const void *b)
{
	const struct context_count *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

static int add_context(struct json_object *contexts, const struct profile *p, unsigned int index,
		       const char *name)
{
	const struct context_count *slots = p->contexts[index];
	struct json_object *o = add_object(contexts, name);
	struct context_count *sorted;
	size_t n = 0;
	char key[16];

	sorted = calloc(p->context_used[index] + 1, sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	for (u32 i = 0; i < p->context_size[index]; i++)
		if (slots[i].count)
			sorted[n++] = slots[i];
	qsort(sorted, n, sizeof(*sorted), compare_contexts);
	for (size_t i = 0; i < n; i++) {
		snprintf(key, sizeof(key), "%" PRIu32, sorted[i].value);
		json_add_u64(o, key, sorted[i].count);
	}
	free(sorted);
	return 0;
}

static int add_contexts(struct json_object *totals, const struct profile *p)
{
	static const char *const names[PROFILE_CONTEXTS] = {
		[SPE_CONTEXT_EL1] = "el1",
		[SPE_CONTEXT_EL2] = "el2",
		"reserved2",
		"reserved3",
	};
	struct json_object *contexts = add_object(totals, "contexts");
	int r = 0;

	/* Add reserved indices if a record had them (D18.2.2). */
	for (unsigned int i = 0; i < PROFILE_CONTEXTS && r >= 0; i++) {
		if (i <= SPE_CONTEXT_EL2 || p->context_used[i])
			r = add_context(contexts, p, i, names[i]);
	}
	if (p->context_overflow)
		json_add_u64(contexts, "others", p->context_overflow);
	return r;
}

static int add_processes(struct json_object *root, struct profile *p)
{
	struct json_object *list = json_object_new_array(), *o;
	struct view view;
	int r;

	json_object_object_add(root, "processes", list);
	r = profile_create_view(p, NULL, false, VIEW_PROCESS, VIEW_SORT_SAMPLES, 0, &view);
	if (r < 0)
		return r;
	for (u32 i = 0; i < view.count; i++) {
		if (!view.rows[i].pid && !strcmp(view.rows[i].process, "[unattributed]"))
			continue;
		o = json_object_new_object();
		json_object_array_add(list, o);
		json_object_object_add(o, "pid", json_object_new_int(view.rows[i].pid));
		json_object_object_add(o, "comm", json_object_new_string(view.rows[i].process));
		json_add_u64(o, "records", view.rows[i].samples);
	}
	view_clear(&view);
	return 0;
}

int profile_summary_json(struct profile *profile, const char *backend, bool processes,
			 char **ret_text)
{
	struct json_object *root = json_object_new_object(), *totals;
	const struct view_header *h = &profile->header;
	int r;

	profile_flush(profile);
	json_object_object_add(root, "schema_version", json_object_new_int(1));
	json_object_object_add(root, "backend", json_object_new_string(backend));
	totals = add_object(root, "totals");
	json_add_u64(totals, "records", h->records);
	if (profile->filter)
		json_add_u64(totals, "filtered", h->filtered);
	json_add_u64(totals, "bytes", h->bytes);
	json_add_u64(totals, "suspect_bytes", h->suspect);
	if (h->ledgers_unknown)
		json_object_object_add(totals, "lost_bytes", NULL);
	else
		json_add_u64(totals, "lost_bytes", h->lost);
	json_add_u64(totals, "truncated_windows", h->truncated);
	json_add_u64(totals, "windows_with_gaps", h->gaps);
	add_ops(totals, profile);
	add_events(totals, profile);
	add_latency(totals, profile);
	add_sources(totals, profile);
	add_levels(totals, profile);
	add_level_latency(totals, profile);
	r = add_contexts(totals, profile);
	if (r >= 0 && processes)
		r = add_processes(root, profile);
	if (r >= 0) {
		*ret_text = strdup(json_object_to_json_string_ext(
			root, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
		if (!*ret_text)
			r = -ENOMEM;
	}
	json_object_put(root);
	return r;
}
