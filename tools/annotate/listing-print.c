// SPDX-License-Identifier: LGPL-2.1-or-later
#include "listing-print.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "lib/text.h"

enum listing_column {
	COLUMN_SAMPLES,
	COLUMN_SHARE,
	COLUMN_MEAN,
	COLUMN_P99,
	COLUMN_LEVELS,
	COLUMN_MISPREDICTED,
	COLUMN_OFFSET,
	COLUMN_INSTRUCTION,
	COLUMN_SOURCE,
	COLUMNS,
};

static const struct {
	const char *heading;
	bool modelled;
	bool right;
	unsigned int order;
} columns[COLUMNS] = {
	[COLUMN_SAMPLES] = { "SAMPLES", false, true, 0 },
	[COLUMN_SHARE] = { "SHARE", false, true, 0 },
	[COLUMN_MEAN] = { "mean", true, true, 0 },
	[COLUMN_P99] = { "p99", true, true, 0 },
	[COLUMN_LEVELS] = { "LEVELS", true, false, 0 },
	[COLUMN_MISPREDICTED] = { "MISPREDICTED", true, true, 0 },
	[COLUMN_OFFSET] = { "OFFSET", false, true, 0 },
	[COLUMN_INSTRUCTION] = { "INSTRUCTION", false, false, 2 },
	[COLUMN_SOURCE] = { "SOURCE", false, false, 1 },
};

/**
 * struct listing_printer - a listing that is printed
 * @row: memory for a row of the query
 * @source: the source file that was read last
 */
struct listing_printer {
	FILE *out;
	const struct listing *listing;
	bool modelled;
	size_t width;
	bool colour;
	struct query_row *row;
	struct source_text source;
};

static void columns_add(const struct listing_printer *p, struct text_table *table)
{
	char heading[TABLE_CELL_SIZE];

	for (int i = 0; i < COLUMNS; i++) {
		struct table_column *column;

		snprintf(heading, sizeof(heading), "%s%s",
			 p->modelled && columns[i].modelled ? "~" : "", columns[i].heading);
		column = table_add_column(table, heading);
		column->right = columns[i].right;
		column->order = columns[i].order;
		column->floor[0] = columns[i].order ? 24 : 0;
		column->floor[1] = columns[i].order ? 12 : 0;
	}
}

static void cell_set(struct text_table *table, u32 at, enum listing_column column,
		     const char *format, ...) __attribute__((__format__(__printf__, 4, 5)));

static void cell_set(struct text_table *table, u32 at, enum listing_column column,
		     const char *format, ...)
{
	char text[TABLE_CELL_SIZE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	table_set_cell(table, at, column, text);
}

static double compute_percent(u64 part, u64 whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Write the levels that served the accesses of an instruction, the most frequent first. */
static void levels_set(struct text_table *table, u32 at, const struct profile_counters *counters)
{
	u64 level[SPE_LEVELS], memory = counters_get_memory_accesses(counters);
	char text[TABLE_CELL_SIZE] = "";
	size_t len = 0;

	memcpy(level, counters->counts.level, sizeof(level));
	for (;;) {
		u32 most = 0;

		for (u32 i = 1; i < SPE_LEVELS; i++)
			most = level[i] > level[most] ? i : most;
		if (!level[most] || len >= sizeof(text))
			break;
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s %.0f %%",
					len ? ", " : "", spe_level_name(most),
					compute_percent(level[most], memory));
		level[most] = 0;
	}
	table_set_cell(table, at, COLUMN_LEVELS, text);
}

static double get_p99(const struct query_row *row)
{
	return row->brief ? row->p99 : measure_compute(MEASURE_P99, &row->counters, UNITS);
}

static void counters_set(struct text_table *table, u32 at, const struct query_row *row)
{
	const struct profile_counters *c = &row->counters;
	char text[TEXT_NUMBER_SIZE];

	cell_set(table, at, COLUMN_SAMPLES, "%s", text_format_count(text, c->samples));
	cell_set(table, at, COLUMN_SHARE, "%.1f %%", compute_percent(row->part, row->whole));
	if (c->latency[PROFILE_TOTAL].count) {
		cell_set(table, at, COLUMN_MEAN, "%.1f", measure_compute(MEASURE_MEAN, c, UNITS));
		if (!row->brief || row->p99)
			cell_set(table, at, COLUMN_P99, "%.0f", get_p99(row));
	}
	if (counters_get_memory_accesses(c))
		levels_set(table, at, c);
	if (c->counts.kind[SPE_KIND_BRANCH])
		cell_set(table, at, COLUMN_MISPREDICTED, "%.1f %%",
			 compute_percent(c->counts.mispredicted, c->counts.kind[SPE_KIND_BRANCH]));
}

void listing_format_source(struct source_text *source, const struct source_line *line,
			   char to[static TABLE_CELL_SIZE])
{
	const char *slash = strrchr(line->file, '/');
	char text[TABLE_CELL_SIZE];

	*to = '\0';
	if (!line->line)
		return;
	source_text_get_line(source, line->file, line->line, text, sizeof(text));
	snprintf(to, TABLE_CELL_SIZE, "%.60s:%u  %.80s", slash ? slash + 1 : line->file, line->line,
		 text);
}

static void source_set(struct listing_printer *p, struct text_table *table, u32 at,
		       const struct source_line *source)
{
	char text[TABLE_CELL_SIZE];

	listing_format_source(&p->source, source, text);
	table_set_cell(table, at, COLUMN_SOURCE, text);
}

static void targets_add(struct text_table *table, const struct listing_line *line)
{
	char samples[TEXT_NUMBER_SIZE];

	for (u32 i = 0; i < line->targets; i++) {
		const struct listing_target *target = &line->target[i];
		u32 at = table_add_row(table);

		text_format_count(samples, target->samples);
		cell_set(table, at, COLUMN_INSTRUCTION, "  -> 0x%" PRIx64 " %.80s%s%.40s: %s",
			 target->offset, target->function, *target->binary ? " in " : "",
			 target->binary, samples);
	}
	if (line->other_targets)
		cell_set(table, table_add_row(table), COLUMN_INSTRUCTION, "  -> other targets: %s",
			 text_format_count(samples, line->other_targets));
}

static bool have_same_source(const struct source_line *a, const struct source_line *b)
{
	return a->line == b->line && !strcmp(a->file, b->file);
}

static void line_add(struct listing_printer *p, struct text_table *table,
		     const struct listing_line *line, const struct listing_line *previous)
{
	u32 at = table_add_row(table);

	if (line->row != LISTING_NO_ROW) {
		p->listing->rows->row(p->listing->rows->ctx, line->row, p->row);
		counters_set(table, at, p->row);
	}
	cell_set(table, at, COLUMN_OFFSET, "0x%" PRIx64, line->offset);
	table_set_cell(table, at, COLUMN_INSTRUCTION, line->text);
	if (!previous || !have_same_source(&line->source, &previous->source))
		source_set(p, table, at, &line->source);
	targets_add(table, line);
}

static void function_print(struct listing_printer *p, const struct listing_function *f)
{
	struct text_table table = { 0 };

	fprintf(p->out, "\n%s in %s%s%s\n", *f->name ? f->name : "[no function name]", f->binary,
		*f->build_id ? ", build id " : "", f->build_id);
	if (*f->reason)
		fprintf(p->out, "instructions are not shown: %s\n", f->reason);
	columns_add(p, &table);
	for (u32 i = 0; i < f->lines; i++)
		line_add(p, &table, &f->line[i], i ? &f->line[i - 1] : NULL);
	table_print(&table, p->out, p->width, p->colour);
	table_deinit(&table);
}

void listing_print(FILE *out, const struct listing *listing, bool modelled, size_t width,
		   bool colour)
{
	struct listing_printer p = {
		.out = out,
		.listing = listing,
		.modelled = modelled,
		.width = width,
		.colour = colour,
		.row = malloc(sizeof(*p.row)),
	};

	for (u32 i = 0; p.row && i < listing->functions; i++)
		function_print(&p, &listing->function[i]);
	source_text_deinit(&p.source);
	free(p.row);
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static json_object *make_text_json(const char *text)
{
	return *text ? json_object_new_string(text) : NULL;
}

static json_object *make_offset_json(u64 offset)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, offset);
	return json_object_new_string(text);
}

static void add_u64(json_object *json, const char *name, u64 value)
{
	json_object_object_add(json, name, json_object_new_uint64(value));
}

static json_object *make_targets_json(const struct listing_line *line)
{
	json_object *array = json_object_new_array();

	for (u32 i = 0; i < line->targets; i++) {
		const struct listing_target *target = &line->target[i];
		json_object *json = json_object_new_object();

		json_object_object_add(json, "offset", make_offset_json(target->offset));
		json_object_object_add(json, "binary", make_text_json(target->binary));
		json_object_object_add(json, "function", make_text_json(target->function));
		add_u64(json, "samples", target->samples);
		json_object_array_add(array, json);
	}
	return array;
}

static void add_counters(json_object *json, const struct query_row *row)
{
	const struct profile_counters *c = &row->counters;
	const struct histogram *total = &c->latency[PROFILE_TOTAL];
	json_object *levels = json_object_new_object();

	json_object_object_add(
		json, "share",
		row->whole ? json_object_new_double((double)row->part / (double)row->whole) : NULL);
	json_object_object_add(
		json, "mean",
		total->count ? json_object_new_double(measure_compute(MEASURE_MEAN, c, UNITS)) :
			       NULL);
	json_object_object_add(json, "p99",
			       total->count && (!row->brief || row->p99) ?
				       json_object_new_double(get_p99(row)) :
				       NULL);
	add_u64(json, "memory", counters_get_memory_accesses(c));
	add_u64(json, "branches", c->counts.kind[SPE_KIND_BRANCH]);
	add_u64(json, "mispredicted", c->counts.mispredicted);
	json_object_object_add(json, "not_taken",
			       row->brief ? NULL :
					    json_object_new_uint64(
						    c->counts.event[SPE_EVENT_NOT_TAKEN]));
	for (u32 i = 0; i < SPE_LEVELS; i++)
		if (c->counts.level[i])
			add_u64(levels, spe_level_name(i), c->counts.level[i]);
	json_object_object_add(json, "levels", levels);
}

static void add_source(json_object *json, const struct source_line *line,
		       struct source_text *source)
{
	char text[TABLE_CELL_SIZE] = "";

	if (line->line)
		source_text_get_line(source, line->file, line->line, text, sizeof(text));
	json_object_object_add(json, "file", make_text_json(line->file));
	json_object_object_add(json, "line",
			       line->line ? json_object_new_uint64(line->line) : NULL);
	json_object_object_add(json, "source", make_text_json(text));
}

static json_object *make_line_json(const struct listing *listing, const struct listing_line *line,
				   struct query_row *row, struct source_text *source)
{
	json_object *json = json_object_new_object();
	bool counted = line->row != LISTING_NO_ROW;

	if (counted)
		listing->rows->row(listing->rows->ctx, line->row, row);
	json_object_object_add(json, "offset", make_offset_json(line->offset));
	json_object_object_add(json, "instruction", make_text_json(line->text));
	add_source(json, &line->source, source);
	add_u64(json, "samples", counted ? row->counters.samples : 0);
	if (!counted)
		return json;
	add_counters(json, row);
	json_object_object_add(json, "targets", make_targets_json(line));
	add_u64(json, "other_targets", line->other_targets);
	return json;
}

json_object *listing_json(const struct listing *listing, bool shared)
{
	struct source_text source = { .shared = shared };
	json_object *array = json_object_new_array();
	struct query_row *row = malloc(sizeof(*row));

	for (u32 i = 0; row && i < listing->functions; i++) {
		const struct listing_function *f = &listing->function[i];
		json_object *json = json_object_new_object(), *lines = json_object_new_array();

		json_object_object_add(json, "function", make_text_json(f->name));
		json_object_object_add(json, "binary", json_object_new_string(f->binary));
		json_object_object_add(json, "build_id", make_text_json(f->build_id));
		json_object_object_add(json, "reason", make_text_json(f->reason));
		for (u32 k = 0; k < f->lines; k++)
			json_object_array_add(lines,
					      make_line_json(listing, &f->line[k], row, &source));
		json_object_object_add(json, "instructions", lines);
		json_object_array_add(array, json);
	}
	source_text_deinit(&source);
	free(row);
	return array;
}
