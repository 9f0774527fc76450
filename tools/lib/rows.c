// SPDX-License-Identifier: LGPL-2.1-or-later
#include "rows.h"

#include <json-c/json.h>

#include "message.h"
#include "output/query-json.h"
#include "query/query-names.h"

u32 rows_get_limit(const struct options *options, u32 all)
{
	return options->pid || options->container || !options->number ? all : options->number;
}

void rows_filter(struct view *view, const struct options *options, u32 limit)
{
	u32 kept = 0;

	for (u32 i = 0; i < view->count && (!limit || kept < limit); i++) {
		const struct view_row *row = &view->rows[i];

		/*
		 * For other groups, the samples of a recording were selected by PID, so all rows
		 * match.
		 */
		if (options->pid && row->pid != options->pid && options->group == VIEW_PROCESS)
			continue;
		if (options->container && !query_name_matches(options->container, row->container))
			continue;
		if (kept != i)
			view->rows[kept] = *row;
		kept++;
	}
	view->count = kept;
}

int rows_report_missing(const char *verb, const struct options *options)
{
	char process[32] = "";

	if (options->pid)
		snprintf(process, sizeof(process), "process %d", options->pid);
	if (!options->container)
		return message_fail(STATUS_STATE, "%s: no samples of %s", verb, process);
	return message_fail(
		STATUS_STATE,
		"%s: no samples of container \"%s\"%s%s; \"-G container\" without \"-c\" "
		"lists all containers",
		verb, options->container, *process ? " and " : "", process);
}

static void json_add_u64(json_object *to, const char *key, u64 value)
{
	json_object_object_add(to, key, json_object_new_uint64(value));
}

static void add_text(json_object *to, const char *key, const char *text)
{
	json_object_object_add(to, key, json_object_new_string(text));
}

/* Add the names of the row. */
static void row_add_names(json_object *json, const struct view_row *row, enum view_group group)
{
	bool functions = group == VIEW_FUNCTION || group == VIEW_LINE;

	if (group != VIEW_BINARY)
		add_text(json, "container", row->container);
	if (group == VIEW_PROGRAM || functions)
		add_text(json, "program", row->process);
	if (group == VIEW_PROCESS || functions) {
		add_text(json, "process", row->process);
		json_add_u64(json, "pid", row->pid > 0 ? row->pid : 0);
	}
	if (functions)
		add_text(json, "function", row->function);
	if (functions || group == VIEW_BINARY)
		add_text(json, "binary", row->binary);
	if (group == VIEW_LINE && row->line) {
		add_text(json, "file", row->file);
		json_add_u64(json, "line", row->line);
		json_object_object_add(json, "inlines", view_inlines_json(row->inlines));
	}
}

/* Convert a share, 0 to 1, to JSON; null if the whole is 0. */
static json_object *make_share_json(u64 part, u64 whole)
{
	return whole ? json_object_new_double((double)part / (double)whole) : NULL;
}

static json_object *make_row_json(const struct view_row *row, const struct view *view,
				  const struct options *options)
{
	u64 part = view_get_sort_numerator(row, options->sort, view_get_share_unit(&view->header));
	json_object *json = json_object_new_object();

	row_add_names(json, row, options->group);
	json_object_object_add(json, "share", make_share_json(part, view->header.sort_whole));
	view_add_measures_json(json, row);
	return json;
}

/*
 * Convert the samples that are in no row of @view, so that all shares add up to 1. Return NULL if
 * there are none.
 */
static json_object *make_other_json(const struct view *view, const struct options *options)
{
	u64 samples = view->header.records, whole = view->header.sort_whole, part = whole;
	const struct view_row other = { .container = "-",
					.process = "[other]",
					.function = "[other]",
					.binary = "[other]" };
	json_object *json;

	for (u32 i = 0; i < view->count; i++) {
		u64 of_row = view_get_sort_numerator(&view->rows[i], options->sort,
						     view_get_share_unit(&view->header));

		part -= of_row < part ? of_row : part;
		samples -= view->rows[i].samples < samples ? view->rows[i].samples : samples;
	}
	if (!part && !samples)
		return NULL;
	json = json_object_new_object();
	row_add_names(json, &other, options->group);
	if (options->group == VIEW_CONTAINER)
		add_text(json, "container", "[other]");
	json_object_object_add(json, "share", make_share_json(part, whole));
	json_add_u64(json, "samples", samples);
	return json;
}

/* Print @json as one line, and free it by json_object_put(). */
static void print_json_line(FILE *out, json_object *json)
{
	fputs(json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN |
							   JSON_C_TO_STRING_NOSLASHESCAPE),
	      out);
	fputc('\n', out);
	json_object_put(json);
}

void rows_print_json(FILE *out, const struct view *view, const struct options *options)
{
	json_object *json = view_header_json(&view->header), *rows = json_object_new_array();
	json_object *other = make_other_json(view, options);

	add_text(json, "window", view_span_name(options->period));
	add_text(json, "group", view_group_name(options->group));
	add_text(json, "sort", view_sort_name(options->sort));
	for (u32 i = 0; i < view->count; i++)
		json_object_array_add(rows, make_row_json(&view->rows[i], view, options));
	if (other)
		json_object_array_add(rows, other);
	json_object_object_add(json, "rows", rows);
	print_json_line(out, json);
}

void rows_print_header_json(FILE *out, const struct view_header *header)
{
	print_json_line(out, view_header_json(header));
}
