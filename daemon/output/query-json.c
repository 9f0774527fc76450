// SPDX-License-Identifier: LGPL-2.1-or-later
/* Write headers and rows as JSON (Documentation/reference/json.md). */
#include "query-json.h"

#include <errno.h>
#include <stdlib.h>

#include "codec/payload.h"
#include "profile/profile-read.h"

static const char *const backend_names[] = {
	[BACKEND_UNKNOWN] = "unknown",
	[BACKEND_HARDWARE] = "hardware",
	[BACKEND_EMULATED] = "emulated",
};

static void json_add_u64(json_object *to, const char *key, u64 value)
{
	json_object_object_add(to, key, json_object_new_uint64(value));
}

/* Add a value, or null if the value is unknown. */
static void add_value_or_null(json_object *to, const char *key, u64 value, bool known)
{
	json_object_object_add(to, key, known ? json_object_new_uint64(value) : NULL);
}

static void add_text(json_object *to, const char *key, const char *text)
{
	json_object_object_add(to, key, json_object_new_string(text));
}

/*
 * Convert the weights of each unit separately, because instructions and micro-operations cannot be
 * added up.
 */
static json_object *make_weight_json(const u64 *weight)
{
	json_object *json = json_object_new_object();

	for (unsigned int i = 0; i < UNITS; i++)
		if (weight[i])
			json_add_u64(json, view_unit_name(i), weight[i]);
	return json;
}

static json_object *make_totals_json(const struct view_header *h, bool live)
{
	json_object *json = json_object_new_object();

	json_add_u64(json, "records", h->records);
	add_value_or_null(json, "written", h->written, h->written != WINDOW_WRITTEN_UNKNOWN);
	json_add_u64(json, "bytes", h->bytes);
	json_add_u64(json, "decoded_bytes", h->decoded);
	json_add_u64(json, "padding_bytes", h->padding);
	json_add_u64(json, "suspect_bytes", h->suspect);
	add_value_or_null(json, "lost_bytes", h->lost, !h->ledgers_unknown);
	json_add_u64(json, "truncated_windows", h->truncated);
	json_add_u64(json, "windows_with_gaps", h->gaps);
	json_add_u64(json, "filtered", h->filtered);
	json_add_u64(json, "unattributed", h->unattributed);
	json_add_u64(json, "names_pending", h->names_pending);
	json_add_u64(json, "evicted", h->evicted);
	if (!live) {
		json_add_u64(json, "processes_evicted", h->processes_evicted);
		json_add_u64(json, "mappings_dropped", h->mappings_dropped);
	}
	json_object_object_add(json, "weight", make_weight_json(h->weight));
	json_add_u64(json, "unweighed", h->unweighed);
	json_add_u64(json, "unattributed_weight", h->unattributed_weight);
	json_add_u64(json, "evicted_weight", h->evicted_weight);
	return json;
}

static json_object *make_problems_json(const struct view_header *h)
{
	json_object *json = json_object_new_object();

	json_add_u64(json, "cpus_stopped", h->cpus_stopped);
	json_add_u64(json, "faults", h->faults);
	json_add_u64(json, "throttles", h->throttles);
	json_add_u64(json, "unread", h->unread);
	json_add_u64(json, "task_events_lost", h->task_events_lost);
	json_add_u64(json, "mappings_lost", h->mappings_lost);
	add_text(json, "last", h->fault);
	return json;
}

static json_object *make_memory_shares_json(const struct view_header *h)
{
	json_object *json = json_object_new_object();

	for (enum memory_share i = 0; i < MEMORY_SHARES; i++)
		json_add_u64(json, memory_share_name(i), h->memory_share[i]);
	return json;
}

/*
 * Convert the blind time of each cause. The sum is the key blind_ns. Causes that did not occur have
 * no key.
 */
static json_object *make_blind_causes_json(const struct view_header *h)
{
	json_object *json = json_object_new_object();

	for (unsigned int i = 0; i < SOURCE_BLINDS; i++)
		if (h->blind_by[i])
			json_add_u64(json, view_blind_name(i), h->blind_by[i]);
	return json;
}

json_object *view_header_json(const struct view_header *h)
{
	bool live = view_is_live(h);
	json_object *json = json_object_new_object();

	json_object_object_add(json, "schema_version", json_object_new_int(2));
	add_text(json, "source", h->source);
	add_text(json, "backend",
		 h->backend < ARRAY_SIZE(backend_names) ? backend_names[h->backend] : "unknown");
	json_object_object_add(json, "modelled",
			       json_object_new_boolean(h->backend == BACKEND_EMULATED));
	if (live)
		add_text(json, "state", h->running ? "running" : "stopped");
	if (live) {
		add_text(json, "source_reason", h->source_reason);
		add_text(json, "task_events", h->tasks);
		add_text(json, "task_events_reason", h->tasks_reason);
		add_text(json, "task_ids", h->task_ids);
		json_add_u64(json, "switches", h->switches);
		add_text(json, "configuration_refused", h->config_refused);
		add_text(json, "configuration_waiting", h->config_waiting);
	}
	add_value_or_null(json, "cpus", h->cpus, live);
	add_value_or_null(json, "duration_ns", h->duration_ns, !h->ledgers_unknown);
	add_value_or_null(json, "enabled_ns", h->enabled_ns, !h->ledgers_unknown);
	add_value_or_null(json, "blind_ns", h->blind_ns, !h->ledgers_unknown);
	json_object_object_add(json, "blind_by_cause",
			       h->ledgers_unknown ? NULL : make_blind_causes_json(h));
	add_value_or_null(json, "interval_ns", h->interval_ns, live);
	if (live) {
		json_add_u64(json, "unhandled_ns", h->unhandled_ns);
		json_add_u64(json, "interval_longest_ns", h->interval_longest_ns);
		json_add_u64(json, "cpus_held", h->cpus_held);
		/* overhead and overhead_cost are in thousandths of a percent. */
		json_add_u64(json, "overhead", h->overhead);
		json_add_u64(json, "overhead_cost", h->overhead_cost);
		add_value_or_null(json, "cost_ns", h->cost_ns, h->cost_ns);
		add_value_or_null(json, "memory_bytes", h->memory, h->memory);
		json_add_u64(json, "memory_locked_bytes", h->memory_locked);
		if (h->memory_budget) {
			json_add_u64(json, "memory_budget_bytes", h->memory_budget);
			json_object_object_add(json, "memory_shares", make_memory_shares_json(h));
		}
		json_object_object_add(json, "trouble", make_problems_json(h));
	}
	add_text(json, "share_of", view_unit_name(view_get_share_unit(h)));
	json_object_object_add(json, "totals", make_totals_json(h, live));
	return json;
}

/* Convert loads by the level that served them; levels that did not occur have no key. */
static json_object *make_levels_json(const struct view_row *row)
{
	json_object *json = json_object_new_object();

	for (unsigned int i = 0; i < SPE_LEVELS; i++)
		if (row->level[i])
			json_add_u64(json, spe_level_name(i), row->level[i]);
	return json;
}

static json_object *make_latency_json(u64 sum, u32 p50, u32 p99)
{
	json_object *json = json_object_new_object();

	json_add_u64(json, "sum", sum);
	json_add_u64(json, "p50", p50);
	json_add_u64(json, "p99", p99);
	return json;
}

/*
 * Convert a histogram to the counts of its buckets, by the largest value of each. Buckets without
 * samples have no key.
 */
static json_object *make_buckets_json(const struct histogram *h)
{
	json_object *json = json_object_new_object();
	char upper[16];

	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (!h->bucket[i])
			continue;
		snprintf(upper, sizeof(upper), "%u", histogram_get_upper_bound(i));
		json_add_u64(json, upper, h->bucket[i]);
	}
	return json;
}

static json_object *make_events_json(const struct view_row *row)
{
	json_object *json = json_object_new_object();

	for (u8 i = 0; i < VIEW_EVENTS; i++)
		if (row->event[i] && spe_event_name(i))
			json_add_u64(json, spe_event_name(i), row->event[i]);
	return json;
}

json_object *view_inlines_json(const char *names)
{
	json_object *json = json_object_new_array();

	while (*names) {
		size_t n = strcspn(names, "\n");

		json_object_array_add(json, json_object_new_string_len(names, (int)n));
		names += n + (names[n] == '\n');
	}
	return json;
}

void view_add_measures_json(json_object *json, const struct view_row *row)
{
	json_add_u64(json, "samples", row->samples);
	json_add_u64(json, "memory", row->memory);
	json_add_u64(json, "dram", row->dram);
	json_add_u64(json, "branches", row->branches);
	json_add_u64(json, "mispredicted", row->mispredicted);
	json_add_u64(json, "latency_sum", row->latency_sum);
	json_add_u64(json, "p50", row->p50);
	json_add_u64(json, "p99", row->p99);
	json_add_u64(json, "remote", row->remote);
	json_object_object_add(json, "levels", make_levels_json(row));
	json_add_u64(json, "loads", row->loads);
	json_add_u64(json, "stores", row->stores);
	json_add_u64(json, "simd", row->simd);
	json_add_u64(json, "snooped", row->snooped);
	json_add_u64(json, "peer", row->peer);
	json_add_u64(json, "modified", row->modified);
	json_object_object_add(json, "issue",
			       make_latency_json(row->issue_sum, row->issue_p50, row->issue_p99));
	json_object_object_add(json, "translation",
			       make_latency_json(row->translation_sum, row->translation_p50,
						 row->translation_p99));
	json_object_object_add(json, "weight", make_weight_json(row->weight));
	json_object_object_add(json, "events", make_events_json(row));
}

/* Return the text as a JSON string; null if @none is true. */
static json_object *make_text_or_null(const char *text, bool none)
{
	return none ? NULL : json_object_new_string(text);
}

static void add_key(json_object *json, const struct query_row *row, enum query_key key)
{
	char instruction[24];

	switch (key) {
	case QUERY_CONTAINER:
		add_text(json, "container", row->container);
		break;
	case QUERY_PROGRAM:
		add_text(json, "program", row->program);
		break;
	case QUERY_COMM:
		add_text(json, "comm", row->comm);
		break;
	case QUERY_PID:
		json_add_u64(json, "pid", (u64)row->pid);
		break;
	case QUERY_CPU:
		add_value_or_null(json, "cpu", row->cpu, row->cpu_known);
		break;
	case QUERY_NODE:
		add_value_or_null(json, "node", row->node, row->node_known);
		break;
	case QUERY_BINARY:
		add_text(json, "binary", row->binary);
		break;
	case QUERY_BUILD_ID:
		json_object_object_add(json, "build_id",
				       make_text_or_null(row->build_id, !*row->build_id));
		break;
	case QUERY_FUNCTION:
		add_text(json, "function", row->function);
		break;
	case QUERY_LINE:
		json_object_object_add(json, "file", make_text_or_null(row->file, !row->line));
		add_value_or_null(json, "line", row->line, row->line);
		json_object_object_add(json, "inlines", view_inlines_json(row->inlines));
		break;
	case QUERY_INSTRUCTION:
		snprintf(instruction, sizeof(instruction), "0x%llx",
			 (unsigned long long)row->instruction);
		add_text(json, "instruction", instruction);
		break;
	case QUERY_MODE:
		json_object_object_add(
			json, "mode",
			make_text_or_null(row->kernel ? "kernel" : "user", row->evicted));
		break;
	case QUERY_OP:
		json_object_object_add(
			json, "op",
			make_text_or_null(sample_kind_name(row->op), !sample_kind_name(row->op)));
		break;
	case QUERY_EVENT:
		json_object_object_add(
			json, "event",
			make_text_or_null(query_row_event_name(row), row->event == QUERY_NONE));
		break;
	case QUERY_LEVEL:
		json_object_object_add(
			json, "level",
			make_text_or_null(query_row_level_name(row), row->level == QUERY_NONE));
		break;
	case QUERY_TYPE:
		add_text(json, "type", row->type);
		break;
	case QUERY_FIELD:
		add_text(json, "field", row->field);
		break;
	default:
		break;
	}
}

/* Add keys that rows of functions had in earlier versions, because old readers need these keys. */
static void add_old_keys(json_object *json, const struct query_row *row, const struct query *query)
{
	if (!query_groups_by(query, QUERY_PROGRAM) || !query_groups_by(query, QUERY_FUNCTION))
		return;
	add_text(json, "process", row->program);
	if (!query_groups_by(query, QUERY_PID))
		json_add_u64(json, "pid", 0);
}

static json_object *make_share_json(u64 part, u64 whole)
{
	return whole ? json_object_new_double((double)part / (double)whole) : NULL;
}

void query_add_keys_json(json_object *json, const struct query_row *row, const struct query *query)
{
	for (u32 i = 0; i < query->groups; i++)
		add_key(json, row, query->group[i]);
	if (query_has_binary(query) && !query_groups_by(query, QUERY_BINARY))
		add_text(json, "binary", row->binary);
}

/* Set those keys to null that cannot be computed from the sums of a period. */
static void set_unknown_to_null(json_object *json)
{
	static const char *const unknown[] = { "mean",	 "p50",		  "p99",   "levels",
					       "loads",	 "stores",	  "simd",  "snooped",
					       "peer",	 "modified",	  "issue", "translation",
					       "events", "latency_counts" };

	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++)
		json_object_object_add(json, unknown[i], NULL);
}

static json_object *query_row_json(const struct query_row *row, const struct query *query)
{
	const struct histogram *total = &row->counters.latency[PROFILE_TOTAL];
	json_object *json = json_object_new_object();
	struct view_row measures = { 0 };

	query_add_keys_json(json, row, query);
	add_old_keys(json, row, query);
	json_object_object_add(json, "share", make_share_json(row->part, row->whole));
	json_object_object_add(json, "value", json_object_new_double(row->value));
	json_object_object_add(json, "mean", make_share_json(total->sum, total->count));
	view_row_set_counters(&measures, &row->counters);
	view_add_measures_json(json, &measures);
	json_object_object_add(json, "latency_counts", make_buckets_json(total));
	if (query_counts_cell_parts(query)) {
		json_object_object_add(json, "issue", NULL);
		json_object_object_add(json, "translation", NULL);
	}
	if (row->brief)
		set_unknown_to_null(json);
	if (row->brief && total->count)
		json_object_object_add(json, "mean", make_share_json(total->sum, total->count));
	if (row->brief && row->p99) {
		json_add_u64(json, "p50", row->p50);
		json_add_u64(json, "p99", row->p99);
	}
	return json;
}

static json_object *make_rest_json(const struct query_rows *rows, u64 shown_samples)
{
	json_object *json = json_object_new_object();
	struct query_rest rest;

	rows->rest(rows->ctx, shown_samples, &rest);
	json_object_object_add(json, "share",
			       rest.overlaps ? NULL : make_share_json(rest.part, rest.whole));
	add_value_or_null(json, "samples", rest.samples, !rest.overlaps);
	json_add_u64(json, "rows", rest.rows);
	return json;
}

/* Write the text of @json, and free @json. */
static void write_and_free_json(FILE *out, json_object *json)
{
	fputs(json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN |
							   JSON_C_TO_STRING_NOSLASHESCAPE),
	      out);
	json_object_put(json);
}

/* Write the text of @json without its last brace, so that members can follow, and free @json. */
static void write_members_and_free_json(FILE *out, json_object *json)
{
	const char *text = json_object_to_json_string_ext(
		json, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);

	fwrite(text, 1, strlen(text) - 1, out);
	json_object_put(json);
}

static json_object *query_head_json(const struct view_header *header, const struct query *query)
{
	json_object *json = view_header_json(header), *keys = json_object_new_array();
	char text[256];

	add_text(json, "window", query_is_past(query) ? "history" : view_span_name(query->period));
	if (query_is_past(query)) {
		json_add_u64(json, "since_usec", (u64)query->since_us);
		json_add_u64(json, "until_usec", (u64)query->until_us);
	}
	if (query->session)
		add_text(json, "session", query->session);
	query_format_group(query, text, sizeof(text));
	add_text(json, "group", text);
	for (u32 i = 0; i < query->groups; i++)
		json_object_array_add(keys,
				      json_object_new_string(query_key_name(query->group[i])));
	json_object_object_add(json, "keys", keys);
	measure_format_name(query->sort, text);
	add_text(json, "sort", text);
	return json;
}

/*
 * Convert one row at a time, because ten thousand JSON objects take much more memory than their
 * text.
 */
int query_json_write(FILE *out, const struct view_header *header, const struct query *query,
		     const struct query_rows *rows)
{
	struct query_row *row = malloc(sizeof(*row));
	u64 samples = 0;

	if (!row)
		return -ENOMEM;
	write_members_and_free_json(out, query_head_json(header, query));
	fputs(",\"rows\":[", out);
	for (u32 i = 0; rows && i < rows->count; i++) {
		rows->row(rows->ctx, i, row);
		samples += row->counters.samples;
		fputs(i ? "," : "", out);
		write_and_free_json(out, query_row_json(row, query));
	}
	fputs("],\"other\":", out);
	if (rows)
		write_and_free_json(out, make_rest_json(rows, samples));
	else
		fputs("null", out);
	fputs("}\n", out);
	free(row);
	return 0;
}
