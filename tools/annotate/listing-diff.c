// SPDX-License-Identifier: LGPL-2.1-or-later
#include "listing-diff.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "lib/table.h"
#include "lib/text.h"
#include "listing-print.h"
#include "query/query-names.h"

/** enum diff_column - columns of the table; those of instructions are left out of source lines */
enum diff_column {
	COLUMN_SAMPLES,
	COLUMN_SHARE,
	COLUMN_MEAN,
	COLUMN_SOURCE,
	COLUMN_OFFSET = COLUMN_SOURCE,
	COLUMN_INSTRUCTION,
	COLUMN_INSTRUCTION_SOURCE,
};

/* ---- Comparing ------------------------------------------------------------------ */

static bool have_same_build(const struct listing_function *a, const struct listing_function *b)
{
	return *a->build_id && !strcmp(a->build_id, b->build_id);
}

/* Return how well two functions of one name fit: 3 is best, 0: not at all. */
static int rate_match(const struct listing_function *a, const struct listing_function *b)
{
	if (!*a->name || strcmp(a->name, b->name) != 0)
		return 0;
	return have_same_build(a, b)					       ? 3 :
	       !strcmp(query_base_name(a->binary), query_base_name(b->binary)) ? 2 :
										 1;
}

static bool is_matched(const struct listing_diff *diff, const struct listing_function *after)
{
	for (u32 i = 0; i < diff->functions; i++)
		if (diff->function[i].side[DIFF_AFTER] == after)
			return true;
	return false;
}

static const struct listing_function *find_match(const struct listing_diff *diff,
						 const struct listing_function *before,
						 const struct listing *listing)
{
	const struct listing_function *best = NULL;
	int rate = 0;

	for (u32 i = 0; i < listing->functions; i++) {
		const struct listing_function *f = &listing->function[i];

		if (rate_match(before, f) > rate && !is_matched(diff, f)) {
			best = f;
			rate = rate_match(before, f);
		}
	}
	return best;
}

/* Read the samples of a line; @row is memory for a row. */
static struct compared_side side_read(const struct listing *listing,
				      const struct listing_line *line, struct query_row *row)
{
	const struct histogram *total = &row->counters.latency[PROFILE_TOTAL];

	if (line->row == LISTING_NO_ROW)
		return (struct compared_side){ 0 };
	listing->rows->row(listing->rows->ctx, line->row, row);
	return (struct compared_side){
		.samples = row->counters.samples,
		.part = row->part,
		.whole = row->whole,
		.latencies = total->count,
		.latency_sum = total->sum,
	};
}

static void side_add(struct compared_side *to, const struct compared_side *from)
{
	to->samples += from->samples;
	to->part += from->part;
	to->whole = from->whole ?: to->whole;
	to->latencies += from->latencies;
	to->latency_sum += from->latency_sum;
}

static int compare_offsets(const void *a, const void *b)
{
	const struct compared_line *x = a, *y = b;

	return (x->line->offset > y->line->offset) - (x->line->offset < y->line->offset);
}

/* Compare the names of files, without folders: two builds may be from different folders. */
static int compare_sources(const void *a, const void *b)
{
	const struct source_line *x = &((const struct compared_line *)a)->line->source;
	const struct source_line *y = &((const struct compared_line *)b)->line->source;
	int r = strcmp(query_base_name(x->file), query_base_name(y->file));

	return r ? r : (x->line > y->line) - (x->line < y->line);
}

/* Add up the lines that are equal by @compare. Source lines without samples are left out. */
static void lines_merge(struct compared_function *f, int (*compare)(const void *, const void *))
{
	u32 count = 0;

	if (f->lines)
		qsort(f->line, f->lines, sizeof(*f->line), compare);
	for (u32 i = 0; i < f->lines; i++) {
		const struct compared_line *from = &f->line[i];

		if (!f->instructions && !from->side[DIFF_BEFORE].samples &&
		    !from->side[DIFF_AFTER].samples)
			continue;
		if (!count || compare(&f->line[count - 1], from) != 0) {
			f->line[count++] = *from;
			continue;
		}
		for (enum diff_side side = 0; side < DIFF_SIDES; side++)
			side_add(&f->line[count - 1].side[side], &from->side[side]);
	}
	f->lines = count;
}

static int function_add(struct listing_diff *diff, const struct listing *const *listing,
			const struct listing_function *before, const struct listing_function *after,
			struct query_row *row)
{
	struct compared_function *f = &diff->function[diff->functions++];
	u32 lines = (before ? before->lines : 0) + (after ? after->lines : 0);

	*f = (struct compared_function){
		.side = { before, after },
		.instructions = !before || !after || have_same_build(before, after),
		.line = calloc((size_t)lines + 1, sizeof(*f->line)),
	};
	if (!f->line)
		return -ENOMEM;
	for (enum diff_side side = 0; side < DIFF_SIDES; side++)
		for (u32 i = 0; f->side[side] && i < f->side[side]->lines; i++) {
			const struct listing_line *line = &f->side[side]->line[i];

			f->line[f->lines].side[side] = side_read(listing[side], line, row);
			f->line[f->lines++].line = line;
		}
	lines_merge(f, f->instructions ? compare_offsets : compare_sources);
	return 0;
}

int listing_diff_init(const struct listing *const listing[static DIFF_SIDES], bool modelled,
		      struct listing_diff *ret_diff)
{
	const struct listing *before = listing[DIFF_BEFORE], *after = listing[DIFF_AFTER];
	struct query_row *row = malloc(sizeof(*row));
	int r = 0;

	*ret_diff = (struct listing_diff){
		.modelled = modelled,
		.function = calloc((size_t)before->functions + after->functions + 1,
				   sizeof(*ret_diff->function)),
	};
	if (!row || !ret_diff->function)
		r = -ENOMEM;
	for (u32 i = 0; i < before->functions && r == 0; i++)
		r = function_add(ret_diff, listing, &before->function[i],
				 find_match(ret_diff, &before->function[i], after), row);
	for (u32 i = 0; i < after->functions && r == 0; i++)
		if (!is_matched(ret_diff, &after->function[i]))
			r = function_add(ret_diff, listing, NULL, &after->function[i], row);
	free(row);
	return r;
}

void listing_diff_deinit(struct listing_diff *diff)
{
	for (u32 i = 0; i < diff->functions; i++)
		free(diff->function[i].line);
	free(diff->function);
	*diff = (struct listing_diff){ .function = NULL };
}

/* ---- Text ----------------------------------------------------------------------- */

static void columns_add(const struct listing_diff *diff, const struct compared_function *f,
			struct text_table *table)
{
	struct table_column *column;

	table_add_column(table, "SAMPLES")->right = true;
	table_add_column(table, "SHARE %")->right = true;
	table_add_column(table, diff->modelled ? "~mean" : "mean")->right = true;
	if (f->instructions) {
		table_add_column(table, "OFFSET")->right = true;
		column = table_add_column(table, "INSTRUCTION");
		column->order = 2;
		column->floor[0] = 24;
		column->floor[1] = 12;
	}
	column = table_add_column(table, "SOURCE");
	column->order = 1;
	column->floor[0] = 24;
	column->floor[1] = 12;
}

static void write_mean(const struct compared_side *side, char *to, size_t size)
{
	if (side->latencies)
		snprintf(to, size, "%.1f", (double)side->latency_sum / (double)side->latencies);
	else
		snprintf(to, size, "-");
}

static double compute_share(const struct compared_side *side)
{
	return side->whole ? (double)side->part / (double)side->whole : 0;
}

static void sides_set(struct text_table *table, u32 at, const struct compared_line *line)
{
	const struct compared_side *before = &line->side[DIFF_BEFORE];
	const struct compared_side *after = &line->side[DIFF_AFTER];
	char text[TABLE_CELL_SIZE], a[TEXT_NUMBER_SIZE], b[TEXT_NUMBER_SIZE];

	if (!before->samples && !after->samples)
		return;
	snprintf(text, sizeof(text), "%s > %s", text_format_count(a, before->samples),
		 text_format_count(b, after->samples));
	table_set_cell(table, at, COLUMN_SAMPLES, text);
	snprintf(text, sizeof(text), "%.1f > %.1f", 100 * compute_share(before),
		 100 * compute_share(after));
	table_set_cell(table, at, COLUMN_SHARE, text);
	if (!before->latencies && !after->latencies)
		return;
	write_mean(before, a, sizeof(a));
	write_mean(after, b, sizeof(b));
	snprintf(text, sizeof(text), "%s > %s", a, b);
	table_set_cell(table, at, COLUMN_MEAN, text);
}

static void lines_print(FILE *out, const struct listing_diff *diff,
			const struct compared_function *f, size_t width, bool colour)
{
	struct text_table table = { 0 };
	struct source_text source = { .text = NULL };
	char text[TABLE_CELL_SIZE];

	columns_add(diff, f, &table);
	for (u32 i = 0; i < f->lines; i++) {
		const struct listing_line *line = f->line[i].line;
		u32 at = table_add_row(&table);

		sides_set(&table, at, &f->line[i]);
		if (f->instructions) {
			snprintf(text, sizeof(text), "0x%" PRIx64, line->offset);
			table_set_cell(&table, at, COLUMN_OFFSET, text);
			table_set_cell(&table, at, COLUMN_INSTRUCTION, line->text);
			if (i && !compare_sources(&f->line[i], &f->line[i - 1]))
				continue;
		}
		listing_format_source(&source, &line->source, text);
		table_set_cell(&table, at,
			       f->instructions ? COLUMN_INSTRUCTION_SOURCE : COLUMN_SOURCE,
			       *text || f->instructions ? text : "[no source line]");
	}
	table_print(&table, out, width, colour);
	table_deinit(&table);
	source_text_deinit(&source);
}

static void side_print(FILE *out, const char *name, const struct listing_function *f)
{
	if (!f) {
		fprintf(out, "%-6s  no samples\n", name);
		return;
	}
	fprintf(out, "%-6s  %s%s%s\n", name, f->binary, *f->build_id ? ", build id " : "",
		f->build_id);
	if (*f->reason)
		fprintf(out, "        instructions are not shown: %s\n", f->reason);
}

void listing_diff_print(FILE *out, const struct listing_diff *diff, size_t width, bool colour)
{
	for (u32 i = 0; i < diff->functions; i++) {
		const struct compared_function *f = &diff->function[i];
		const char *name = (f->side[DIFF_BEFORE] ?: f->side[DIFF_AFTER])->name;

		fprintf(out, "\n%s%s\n", *name ? name : "[no function name]",
			f->instructions ? "" :
					  ", by source line: the build ids differ or are unknown");
		side_print(out, "before", f->side[DIFF_BEFORE]);
		side_print(out, "after", f->side[DIFF_AFTER]);
		lines_print(out, diff, f, width, colour);
	}
}

/* ---- JSON ----------------------------------------------------------------------- */

static json_object *make_text_json(const char *text)
{
	return *text ? json_object_new_string(text) : NULL;
}

static json_object *make_side_json(const struct compared_side *side)
{
	json_object *json = json_object_new_object();

	json_object_object_add(json, "samples", json_object_new_uint64(side->samples));
	json_object_object_add(json, "share", json_object_new_double(compute_share(side)));
	json_object_object_add(json, "mean",
			       side->latencies ? json_object_new_double((double)side->latency_sum /
									(double)side->latencies) :
						 NULL);
	return json;
}

static json_object *make_line_json(const struct compared_function *f,
				   const struct compared_line *line)
{
	const struct source_line *source = &line->line->source;
	json_object *json = json_object_new_object();
	char offset[24];

	snprintf(offset, sizeof(offset), "0x%" PRIx64, line->line->offset);
	if (f->instructions) {
		json_object_object_add(json, "offset", json_object_new_string(offset));
		json_object_object_add(json, "instruction", make_text_json(line->line->text));
	}
	json_object_object_add(json, "file", make_text_json(source->file));
	json_object_object_add(json, "line",
			       source->line ? json_object_new_uint64(source->line) : NULL);
	json_object_object_add(json, "before", make_side_json(&line->side[DIFF_BEFORE]));
	json_object_object_add(json, "after", make_side_json(&line->side[DIFF_AFTER]));
	return json;
}

static json_object *make_file_json(const struct listing_function *f)
{
	json_object *json = f ? json_object_new_object() : NULL;

	if (!f)
		return NULL;
	json_object_object_add(json, "binary", json_object_new_string(f->binary));
	json_object_object_add(json, "build_id", make_text_json(f->build_id));
	json_object_object_add(json, "reason", make_text_json(f->reason));
	return json;
}

json_object *listing_diff_make_json(const struct listing_diff *diff)
{
	json_object *array = json_object_new_array();

	for (u32 i = 0; i < diff->functions; i++) {
		const struct compared_function *f = &diff->function[i];
		json_object *json = json_object_new_object(), *lines = json_object_new_array();

		json_object_object_add(
			json, "function",
			make_text_json((f->side[DIFF_BEFORE] ?: f->side[DIFF_AFTER])->name));
		json_object_object_add(json, "before", make_file_json(f->side[DIFF_BEFORE]));
		json_object_object_add(json, "after", make_file_json(f->side[DIFF_AFTER]));
		for (u32 k = 0; k < f->lines; k++)
			json_object_array_add(lines, make_line_json(f, &f->line[k]));
		json_object_object_add(json, f->instructions ? "instructions" : "lines", lines);
		json_object_array_add(array, json);
	}
	return array;
}
