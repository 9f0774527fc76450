// SPDX-License-Identifier: LGPL-2.1-or-later
#include "page-data.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/input.h"
#include "lib/page-sets.h"
#include "lib/rows.h"
#include "output/profile-json.h"
#include "page-rows.h"
#include "profile/profile-read.h"
#include "speprof-version.h"

static void add_text(json_object *to, const char *key, const char *text)
{
	json_object_object_add(to, key, text ? json_object_new_string(text) : NULL);
}

/* Add text that is already JSON. */
static int add_json_text(json_object *to, const char *key, const char *text)
{
	json_object *value = json_tokener_parse(text);

	if (!value)
		return -ENOMEM;
	return json_object_object_add(to, key, value) < 0 ? -ENOMEM : 0;
}

/* Add the header that "report -j" prints. */
static int add_header(json_object *root, const struct view_header *header)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int r;

	if (!out)
		return -errno;
	rows_print_header_json(out, header);
	r = fclose(out) == 0 ? add_json_text(root, "header", text) : -ENOMEM;
	free(text);
	return r;
}

/* Add the sets of pages of the containers with most accesses. */
static int add_page_sets(json_object *memory, const struct input_recording *input,
			 const struct sampled_pages *pages)
{
	struct page_sets sets;
	int r = page_sets_make(pages, input->attributor, &sets);
	json_object *list;
	size_t count;

	if (r < 0)
		return r;
	r = page_sets_add_json(&sets, pages, PAGE_SETS_MAX, memory);
	page_sets_deinit(&sets);
	list = json_object_object_get(memory, "containers");
	count = json_object_array_length(list);
	if (r >= 0 && count > PAGE_SETS_MAX)
		json_object_array_del_idx(list, PAGE_SETS_MAX, count - PAGE_SETS_MAX);
	return r;
}

/*
 * Add shared cache lines, memory pages and NUMA nodes, in the formats of "sharing -j" and "report
 * --pages -j".
 */
static int add_hot_memory(json_object *root, const struct input_recording *input,
			  struct symbols_cache *symbols, const struct sampled_pages *pages)
{
	char *text = NULL;
	int r = profile_hot_memory_json(input->profile, symbols, false, PAGE_HOT_MAX, &text);

	if (r >= 0)
		r = add_json_text(root, "memory", text);
	if (r >= 0 && pages)
		r = add_page_sets(json_object_object_get(root, "memory"), input, pages);
	free(text);
	return r;
}

static void add_histogram_names(json_object *root)
{
	json_object *list = json_object_new_array(), *dram = json_object_new_array();

	for (unsigned int i = 0; i < PAGE_HISTOGRAMS; i++)
		json_object_array_add(list, json_object_new_string(page_histogram_name(i)));
	for (unsigned int i = 0; i < SPE_LEVELS; i++)
		if (spe_level_is_dram(i))
			json_object_array_add(dram, json_object_new_string(spe_level_name(i)));
	json_object_object_add(root, "histograms", list);
	json_object_object_add(root, "dram_levels", dram);
}

/* Describe the columns, in the order in which they are written. */
static int add_columns(json_object *root, const struct page_rows *rows)
{
	json_object *strings = json_object_new_object(), *columns = json_object_new_object();

	json_object_object_add(root, "strings", strings);
	json_object_object_add(root, "columns", columns);
	for (unsigned int i = 0; i < PAGE_NAMES; i++) {
		json_object *names = page_strings_json(&rows->strings[i]);

		if (!names)
			return -ENOMEM;
		json_object_object_add(strings, page_column_name(i), names);
	}
	for (unsigned int i = 0; i < PAGE_COLUMNS; i++)
		json_object_object_add(columns, page_column_name(i),
				       json_object_new_uint64(rows->column[i].size));
	json_object_object_add(root, "rows", json_object_new_uint64(rows->count));
	json_object_object_add(root, "interval", json_object_new_uint64(rows->interval));
	return 0;
}

static int collect_rows(const struct query_source *source, const struct page_config *config,
			struct page_rows *rows, struct query_error *ret_error)
{
	struct query query = {
		.recording = "",
		.select = config->select,
		.group = { QUERY_CONTAINER, QUERY_PROGRAM, QUERY_BINARY, QUERY_FUNCTION,
			   QUERY_LINE },
		.groups = config->lines ? 5 : 4,
	};
	struct query_row *row = malloc(sizeof(*row));
	struct query_result *result = NULL;
	int r = row ? input_run_query(source, &query, &result, ret_error) : -ENOMEM;

	/* Sort rows of one program next to each other, because that compresses best. */
	if (r == 0)
		query_result_order_by_keys(result);
	for (u32 i = 0; r == 0 && i < query_result_get_row_count(result); i++) {
		struct cell_level level[SPE_LEVELS] = { 0 };

		query_result_get_row(result, i, row);
		query_result_add_levels(result, i, level);
		r = page_rows_add(rows, row, level);
	}
	query_result_free(result);
	free(row);
	return r;
}

/* @format: 1 for columns of a recording, 2 for rows that are JSON */
static void add_config(json_object *root, const struct page_config *config, int format)
{
	json_object *select = json_object_new_object();

	json_object_object_add(root, "format", json_object_new_int(format));
	add_text(root, "version", SPEPROF_VERSION);
	add_text(root, "name", config->name);
	json_object_object_add(root, "lines", json_object_new_boolean(config->lines));
	json_object_object_add(root, "select", select);
	add_text(select, "container", config->select.container);
	add_text(select, "program", config->select.program);
	add_text(select, "binary", config->select.binary);
	add_text(select, "function", config->select.function);
	json_object_object_add(root, "code", json_object_get(config->code));
}

/*
 * Add the length and number of slices, and the names of the programs, in the order of their slices.
 */
static void add_time(json_object *root, const struct page_time *time)
{
	json_object *json = json_object_new_object(), *programs = json_object_new_array();

	json_object_object_add(json, "slice_ns", json_object_new_uint64(time->slice_ns));
	json_object_object_add(json, "slices", json_object_new_uint64(time->slices));
	json_object_object_add(json, "programs", programs);
	for (u32 i = 0; i < time->programs; i++) {
		json_object *names = json_object_new_object();

		json_object_array_add(programs, names);
		add_text(names, "container", time->program[i].container);
		add_text(names, "program", time->program[i].program);
	}
	json_object_object_add(root, "time", json);
}

static int add_header_memory_and_columns(json_object *root, struct input_recording *input,
					 struct symbols_cache *symbols,
					 const struct sampled_pages *pages,
					 const struct page_rows *rows)
{
	struct view_header header;
	int r;

	add_histogram_names(root);
	input_get_header(input, symbols, &header);
	r = add_header(root, &header);
	if (r >= 0)
		r = add_hot_memory(root, input, symbols, pages);
	return r < 0 ? r : add_columns(root, rows);
}

/* Write the length of the JSON, the JSON, and the columns. */
static int data_concatenate(const char *json, size_t length, const struct page_rows *rows,
			    u8 **ret_data, size_t *ret_size)
{
	struct protobuf data;

	protobuf_init(&data, SIZE_MAX / 2);
	protobuf_append_packed(&data, length);
	protobuf_write_encoded(&data, json, length);
	for (unsigned int i = 0; i < PAGE_COLUMNS; i++)
		protobuf_write_encoded(&data, rows->column[i].data, rows->column[i].size);
	if (data.error) {
		int r = data.error;

		protobuf_deinit(&data);
		return r;
	}
	*ret_data = data.data;
	*ret_size = data.size;
	return 0;
}

int page_data_new(struct input_recording *input, const struct page_config *config, u8 **ret_data,
		  size_t *ret_size, struct query_error *ret_error)
{
	struct query_source source = { .profile = input->profile,
				       .cpu_node = input->facts.cpu_node,
				       .cpus = RECORDING_CPUS };
	json_object *root = json_object_new_object();
	struct page_rows rows;
	const char *json;
	size_t length;
	int r = root ? input_new_symbols(input, &source.symbols) : -ENOMEM;

	profile_flush(input->profile);
	page_rows_init(&rows, profile_get_header(input->profile));
	if (r >= 0)
		r = collect_rows(&source, config, &rows, ret_error);
	if (r >= 0 && config->time && config->time->slices) {
		page_rows_add_time(&rows, config->time);
		add_time(root, config->time);
	}
	if (r >= 0)
		r = page_rows_finish(&rows);
	if (r >= 0) {
		add_config(root, config, 1);
		r = add_header_memory_and_columns(root, input, source.symbols, config->pages,
						  &rows);
	}
	if (r >= 0) {
		json = json_object_to_json_string_length(
			root, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &length);
		r = json ? data_concatenate(json, length, &rows, ret_data, ret_size) : -ENOMEM;
	}
	page_rows_deinit(&rows);
	symbols_free(source.symbols);
	json_object_put(root);
	return r;
}

/* Write @root and add @json as its last members, without parsing their many rows. */
static int write_with_rows(json_object *root, const struct page_json *json, char **ret_text,
			   size_t *ret_length)
{
	FILE *out = open_memstream(ret_text, ret_length);
	size_t length;
	const char *text = json_object_to_json_string_length(
		root, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &length);

	if (!out)
		return -errno;
	if (text)
		fwrite(text, 1, length - 1, out);
	fprintf(out, ",\"memory\":%s,\"report\":%s,\"diff\":%s}",
		json->memory ? json->memory : "null", json->report ? json->report : "null",
		json->diff ? json->diff : "null");
	return fclose(out) == 0 && text ? 0 : -ENOMEM;
}

int page_data_from_json(const struct page_config *config, const struct page_json *json,
			u8 **ret_data, size_t *ret_size)
{
	const struct page_rows none = { 0 };
	json_object *root = json_object_new_object();
	char *text = NULL;
	size_t length = 0;
	int r;

	if (!root)
		return -ENOMEM;
	add_config(root, config, 2);
	add_histogram_names(root);
	r = write_with_rows(root, json, &text, &length);
	if (r >= 0)
		r = data_concatenate(text, length, &none, ret_data, ret_size);
	free(text);
	json_object_put(root);
	return r;
}
