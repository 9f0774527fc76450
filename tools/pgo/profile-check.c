// SPDX-License-Identifier: LGPL-2.1-or-later
#include "profile-check.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "lib/core-erratum.h"
#include "lib/table.h"
#include "lib/text.h"
#include "util/escape.h"

/* Standard deviations of a normal distribution on both sides of its mean that have 95 % of it */
#define DEVIATIONS_95 1.96

/* Other files with branches that the text lists */
#define OTHER_FILES_MAX 5

/** enum check_column - columns of the table */
enum check_column {
	COLUMN_SHARE,
	COLUMN_SAMPLES,
	COLUMN_EDGES,
	COLUMN_HOTTEST,
	COLUMN_VERDICT,
	COLUMN_FUNCTION,
	COLUMNS,
};

static int compare_addresses(const void *a, const void *b)
{
	const struct checked_function *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static int compare_samples(const void *a, const void *b)
{
	const struct checked_function *x = a, *y = b;

	return x->samples != y->samples ? (x->samples < y->samples ? 1 : -1) :
					  compare_addresses(a, b);
}

static bool is_branch_of_file(const struct edge_key *key, u32 file)
{
	return key->from_file == file && (key->kind == EDGE_TAKEN || key->kind == EDGE_NOT_TAKEN);
}

/* Add a function for each edge. Functions with one address are merged later. */
static void edges_add(struct profile_check *check)
{
	const struct edge_profile *profile = check->profile;
	const struct edge_table *table = &profile->edges->table;

	for (u32 i = 0; i < table->count; i++) {
		const struct counted_edge *edge = &table->edge[i];
		const struct linkage_name *name;

		if (!is_branch_of_file(&edge->key, profile->file))
			continue;
		check->samples += edge->samples;
		name = linkage_names_find(&profile->names, edge->key.from);
		if (name && *name->name)
			check->function[check->functions++] = (struct checked_function){
				.name = name->name,
				.address = name->function,
				.samples = edge->samples,
				.edges = 1,
				.hottest = edge->samples,
			};
		else
			check->unnamed += edge->samples;
	}
}

static void functions_merge(struct profile_check *check)
{
	struct checked_function *to = check->function;

	if (!check->functions)
		return;
	qsort(to, check->functions, sizeof(*to), compare_addresses);
	for (u32 i = 1; i < check->functions; i++) {
		const struct checked_function *from = &check->function[i];

		if (from->address != to->address) {
			*++to = *from;
			continue;
		}
		to->samples += from->samples;
		to->edges++;
		to->hottest = from->hottest > to->hottest ? from->hottest : to->hottest;
	}
	check->functions = (u32)(to - check->function) + 1;
	qsort(check->function, check->functions, sizeof(*to), compare_samples);
}

/* Compute the error, and how many times as many samples reduce it to CHECK_ERROR_MAX. */
static void function_judge(struct checked_function *f)
{
	double n = (double)f->samples, p = ((double)f->hottest + 2) / (n + 4);

	f->error = DEVIATIONS_95 * sqrt(p * (1 - p) / (n + 4));
	f->times = (p * (1 - p) * pow(DEVIATIONS_95 / CHECK_ERROR_MAX, 2) - 4) / n;
}

int profile_check_init(const struct edge_profile *profile, struct profile_check *ret_check)
{
	u64 covered = 0;

	*ret_check = (struct profile_check){ .profile = profile };
	ret_check->function =
		calloc((size_t)profile->edges->table.count + 1, sizeof(*ret_check->function));
	if (!ret_check->function)
		return -ENOMEM;
	edges_add(ret_check);
	functions_merge(ret_check);
	for (u32 i = 0; i < ret_check->functions; i++) {
		struct checked_function *f = &ret_check->function[i];

		function_judge(f);
		if ((double)covered >=
		    CHECK_HOT_SHARE * (double)(ret_check->samples - ret_check->unnamed))
			continue;
		covered += f->samples;
		ret_check->hot++;
		ret_check->enough += f->times <= 1;
		ret_check->times = fmax(ret_check->times, f->times);
	}
	return 0;
}

void profile_check_deinit(struct profile_check *check)
{
	free(check->function);
	*check = (struct profile_check){ .profile = NULL };
}

/* Return the seconds to record for enough samples of all hot functions; 0: unknown. */
static double compute_seconds(const struct profile_check *check)
{
	return ceil((double)check->profile->edges->duration_ns / 1e9 * fmax(check->times, 1));
}

/* ---- Text -------------------------------------------------------------------- */

static void cell_set(struct text_table *table, u32 at, enum check_column column, const char *format,
		     ...) __attribute__((__format__(__printf__, 4, 5)));

static void cell_set(struct text_table *table, u32 at, enum check_column column, const char *format,
		     ...)
{
	char text[TABLE_CELL_SIZE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	table_set_cell(table, at, column, text);
}

static void function_set(const struct profile_check *check, struct text_table *table,
			 const struct checked_function *f)
{
	u32 at = table_add_row(table);
	char text[TEXT_NUMBER_SIZE], name[TABLE_CELL_SIZE];

	table_set_cell(table, at, COLUMN_SHARE,
		       text_format_percent(text, f->samples, check->samples));
	table_set_cell(table, at, COLUMN_SAMPLES, text_format_count(text, f->samples));
	cell_set(table, at, COLUMN_EDGES, "%u", f->edges);
	cell_set(table, at, COLUMN_HOTTEST, "%.1f +- %.1f %%",
		 100.0 * (double)f->hottest / (double)f->samples, 100 * f->error);
	if (f->times <= 1)
		table_set_cell(table, at, COLUMN_VERDICT, "enough");
	else
		cell_set(table, at, COLUMN_VERDICT, "needs %.1f times as many", f->times);
	escape_string(name, sizeof(name), f->name);
	table_set_cell(table, at, COLUMN_FUNCTION, name);
}

static void functions_print(FILE *out, const struct profile_check *check, u32 number, size_t width,
			    bool colour)
{
	static const char *const headings[COLUMNS] = { "SHARE",	       "SAMPLES", "EDGES",
						       "HOTTEST EDGE", "VERDICT", "FUNCTION" };
	u32 shown = number < check->hot ? number : check->hot;
	struct text_table table = { 0 };

	for (u32 i = 0; i < COLUMNS; i++)
		table_add_column(&table, headings[i])->right = i < COLUMN_VERDICT;
	table.column[COLUMN_FUNCTION].order = 1;
	table.column[COLUMN_FUNCTION].floor[0] = table.column[COLUMN_FUNCTION].floor[1] = 12;
	for (u32 i = 0; i < shown; i++)
		function_set(check, &table, &check->function[i]);
	table_print(&table, out, width, colour);
	table_deinit(&table);
	if (shown < check->hot)
		fprintf(out, "%u more hot functions: -n %u shows all\n", check->hot - shown,
			check->hot);
}

static u64 count_all_samples(const struct edge_recording *edges)
{
	u64 samples = 0;

	for (u32 i = 0; i < edges->files; i++)
		samples += edges->file[i].samples;
	return samples;
}

static void file_print(FILE *out, const struct edge_file *file, u64 all)
{
	char id[2 * BUILD_ID_MAX + 1], path[512], share[TEXT_NUMBER_SIZE], count[TEXT_NUMBER_SIZE];

	edge_file_format_build_id(file, id);
	escape_string(path, sizeof(path), file->path);
	fprintf(out, "%s, build id %s: %s sampled branches, %s of the recording\n", path,
		*id ? id : "unknown", text_format_count(count, file->samples),
		text_format_percent(share, file->samples, all));
}

/* Print the file, and below it the other files with branches in the order of the recording. */
static void files_print(FILE *out, const struct profile_check *check)
{
	const struct edge_recording *edges = check->profile->edges;
	u64 all = count_all_samples(edges);
	u32 others = 0;

	file_print(out, &edges->file[check->profile->file], all);
	for (u32 i = 0; i < edges->files; i++)
		if (i != check->profile->file && edges->file[i].samples &&
		    others++ < OTHER_FILES_MAX) {
			fputs("not checked: ", out);
			file_print(out, &edges->file[i], all);
		}
	if (others > OTHER_FILES_MAX)
		fprintf(out, "not checked: %u more files; -j lists them\n",
			others - OTHER_FILES_MAX);
	fputc('\n', out);
}

static void warnings_print(FILE *out, const struct profile_check *check)
{
	const struct edge_recording *edges = check->profile->edges;
	char text[CORE_ERRATUM_SIZE];

	if (edges->backend == BACKEND_EMULATED)
		fputs("Warning: EMULATED SPU: branches are true, mispredictions are modelled\n",
		      out);
	for (u32 i = 0; i < edges->hardware.cores; i++)
		if (core_erratum_describe(edges->hardware.midr[i], text))
			fprintf(out,
				"Warning: %s; more samples do not help, r4p1 of the core is "
				"corrected\n",
				text);
	if (check->unnamed)
		fprintf(out, "Warning: %s of the file's sampled branches are in no function\n",
			text_format_percent(text, check->unnamed, check->samples));
}

static void verdict_print(FILE *out, const struct profile_check *check)
{
	char text[TEXT_NUMBER_SIZE];
	double seconds = compute_seconds(check);

	if (check->times <= 1) {
		fprintf(out, "All %u hot functions have enough samples.\n", check->hot);
		return;
	}
	fprintf(out,
		"%u of %u hot functions have enough samples: for all, record %.1f times as "
		"long",
		check->enough, check->hot, check->times);
	if (seconds > 0)
		fprintf(out, ", which is %s s at this rate", text_format_count(text, (u64)seconds));
	fputs(".\n", out);
}

void profile_check_print(FILE *out, const struct profile_check *check, u32 number, size_t width,
			 bool colour)
{
	files_print(out, check);
	functions_print(out, check, number, width, colour);
	fprintf(out,
		"\nHot functions together have %.0f %% of the branches in functions. A function "
		"has "
		"enough samples if the\n"
		"error of each edge's share is at most %.0f %% with 95 %% confidence: 1.96 sqrt(p "
		"(1 - p) / (n + 4)),\n"
		"where p = (k + 2) / (n + 4), for k of the function's n samples.\n",
		100 * CHECK_HOT_SHARE, 100 * CHECK_ERROR_MAX);
	warnings_print(out, check);
	verdict_print(out, check);
}

/* ---- JSON -------------------------------------------------------------------- */

static void add_text(json_object *json, const char *key, const char *text)
{
	char escaped[1024];

	escape_string(escaped, sizeof(escaped), text);
	json_object_object_add(json, key, *escaped ? json_object_new_string(escaped) : NULL);
}

static void add_u64(json_object *json, const char *key, u64 value)
{
	json_object_object_add(json, key, json_object_new_uint64(value));
}

static void add_double(json_object *json, const char *key, double value)
{
	json_object_object_add(json, key, json_object_new_double(value));
}

static json_object *make_file_json(const struct edge_file *file, bool checked)
{
	json_object *json = json_object_new_object();
	char id[2 * BUILD_ID_MAX + 1];

	edge_file_format_build_id(file, id);
	add_text(json, "binary", file->path);
	add_text(json, "build_id", id);
	add_u64(json, "samples", file->samples);
	json_object_object_add(json, "checked", json_object_new_boolean(checked));
	return json;
}

static json_object *make_function_json(const struct profile_check *check,
				       const struct checked_function *f)
{
	json_object *json = json_object_new_object();

	add_text(json, "function", f->name);
	add_u64(json, "samples", f->samples);
	add_double(json, "share", (double)f->samples / (double)check->samples);
	add_u64(json, "edges", f->edges);
	add_double(json, "hottest_share", (double)f->hottest / (double)f->samples);
	add_double(json, "error", f->error);
	json_object_object_add(json, "enough", json_object_new_boolean(f->times <= 1));
	add_double(json, "times", fmax(f->times, 1));
	return json;
}

static json_object *make_errata_json(const struct recorded_hardware *hardware)
{
	json_object *array = json_object_new_array();
	char text[CORE_ERRATUM_SIZE];

	for (u32 i = 0; i < hardware->cores; i++)
		if (core_erratum_describe(hardware->midr[i], text))
			json_object_array_add(array, json_object_new_string(text));
	return array;
}

json_object *profile_check_make_json(const struct profile_check *check, u32 number)
{
	const struct edge_recording *edges = check->profile->edges;
	json_object *json = json_object_new_object(), *files = json_object_new_array(),
		    *functions = json_object_new_array();
	double seconds = compute_seconds(check);

	json_object_object_add(json, "schema_version", json_object_new_int(1));
	json_object_object_add(json, "modelled",
			       json_object_new_boolean(edges->backend == BACKEND_EMULATED));
	json_object_object_add(json, "errata", make_errata_json(&edges->hardware));
	for (u32 i = 0; i < edges->files; i++)
		if (edges->file[i].samples)
			json_object_array_add(
				files, make_file_json(&edges->file[i], i == check->profile->file));
	json_object_object_add(json, "files", files);
	add_u64(json, "samples", check->samples);
	add_u64(json, "unnamed", check->unnamed);
	add_double(json, "error_max", CHECK_ERROR_MAX);
	for (u32 i = 0; i < check->hot && i < number; i++)
		json_object_array_add(functions, make_function_json(check, &check->function[i]));
	json_object_object_add(json, "functions", functions);
	add_u64(json, "hot", check->hot);
	add_u64(json, "hot_enough", check->enough);
	add_double(json, "times", fmax(check->times, 1));
	json_object_object_add(json, "seconds",
			       seconds > 0 ? json_object_new_double(seconds) : NULL);
	return json;
}
