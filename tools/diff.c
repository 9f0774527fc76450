// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * speprof diff: compare two profiles. Each is a recording, a saved profile, or the daemon's profile of
 * a session, a period or a time in the past. Both are rows of the same query.
 */
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>

#include "html-report.h"
#include "html/page-data.h"
#include "lib/diff-words.h"
#include "lib/format.h"
#include "lib/message.h"
#include "lib/options.h"
#include "lib/output.h"
#include "lib/profile-rows.h"
#include "lib/query-table.h"
#include "lib/table.h"
#include "lib/terminal.h"
#include "lib/text.h"
#include "output/query-json.h"
#include "verb.h"

#define DIFF_ROWS_DEFAULT 20

/* Maximum number of rows of the HTML page: the most changed ones. */
#define DIFF_HTML_ROWS 10000

/**
 * struct diff_recording - a profile
 * @options: which profile it is, and which rows of it
 * @loaded: its rows
 */
struct diff_recording {
	struct options options;
	struct profile_rows loaded;
};

/**
 * struct diff_comparison - two profiles
 * @options: the options that apply to the output: those of the first side
 * @query: the keys of the rows that are shown
 * @containers_differ: no container is on both sides, so rows match without their containers
 * @row: memory for a row
 */
struct diff_comparison {
	const struct options *options;
	struct query query;
	struct diff_recording side[DIFF_SIDES];
	struct diff *diff;
	bool containers_differ;
	struct query_row *row;
};

/* Size of the key of a row in bytes: its names, one in each line, and a NUL. */
#define KEY_SIZE (QUERY_GROUP_MAX * TABLE_CELL_SIZE)

/*
 * Write the names of a row, the container first, separated by line breaks. Paths, and addresses of
 * unnamed functions, are not shortened, so that different rows have different names.
 */
static void row_format_key(const struct query *query, const struct query_row *row, char *to)
{
	size_t length = 0;
	char text[TABLE_CELL_SIZE];

	*to = 0;
	if (query_groups_by(query, QUERY_CONTAINER))
		length = (size_t)snprintf(to, KEY_SIZE, "%s", row->container);
	length += (size_t)snprintf(to + length, KEY_SIZE - length, "\n");
	if (query_has_binary(query))
		length += (size_t)snprintf(to + length, KEY_SIZE - length, "%s\n", row->binary);
	for (u32 i = 0; i < query->groups; i++) {
		if (query->group[i] == QUERY_CONTAINER || query->group[i] == QUERY_BINARY)
			continue;
		query_table_format_key(row, query->group[i], text);
		if (query->group[i] == QUERY_LINE)
			length += (size_t)snprintf(to + length, KEY_SIZE - length, "%.60s\n",
						   row->file);
		length += (size_t)snprintf(to + length, KEY_SIZE - length, "%s\n", text);
	}
}

static void counts_fill(const struct query_row *row, unsigned int unit, struct diff_counts *ret)
{
	const struct profile_counters *c = &row->counters;
	bool load = row->op == SPE_KIND_LOAD;

	*ret = (struct diff_counts){
		.samples = c->samples,
		.operations = unit < UNITS ? c->weight[unit] : c->samples,
		.value = row->part,
		.memory = counters_get_memory_accesses(c),
		.dram = counters_get_dram_accesses(c),
		.remote = counters_get_origin_accesses(c, SPE_ORIGIN_REMOTE),
		.loads = load ? c->samples : 0,
		.latency = c->latency[PROFILE_TOTAL],
		.brief = row->brief,
	};
	ret->latency.bucket[HISTOGRAM_NONE] = 0;
	if (row->brief)
		query_row_get_latencies(row, &ret->known_latency);
	if (!load)
		return;
	memcpy(ret->level, c->counts.level, sizeof(ret->level));
	ret->load_latency = ret->latency;
}

/* Add the rows of a side. */
static int add_side_rows(struct diff_comparison *c, enum diff_side side)
{
	const struct profile_rows *loaded = &c->side[side].loaded;
	unsigned int unit = view_get_share_unit(&loaded->header);
	struct diff_counts *counts = malloc(sizeof(*counts));
	char key[KEY_SIZE];
	int r = counts ? 0 : -ENOMEM;

	diff_set_denominators(c->diff, side, loaded->header.records,
			      view_get_share_denominator(&loaded->header, unit));
	for (u32 i = 0; r == 0 && i < loaded->rows.count; i++) {
		loaded->rows.row(loaded->rows.ctx, i, c->row);
		row_format_key(&c->query, c->row, key);
		counts_fill(c->row, unit, counts);
		r = diff_add_row(c->diff, side, key, i, counts);
	}
	free(counts);
	return r;
}

/* Remove the container, which is the first key. */
static void remove_container_key(struct query *query)
{
	query->groups--;
	memmove(query->group, query->group + 1, query->groups * sizeof(query->group[0]));
}

/* Loads are in separate rows, because only their latencies are compared in words. */
static int load_side(struct diff_comparison *c, enum diff_side side)
{
	struct diff_recording *s = &c->side[side];
	struct query query = s->options.query;
	int status;

	query.limit = 0;
	status = profile_rows_load("diff", &s->options, &query, true, &s->loaded);
	if (status != STATUS_OK && status != STATUS_DAMAGED)
		return status;
	if (!s->loaded.rows.count)
		return message_fail(STATUS_STATE, "diff: %s has no samples that match",
				    s->options.input ? s->options.input : "the daemon's profile");
	return status;
}

static void get_side_row(struct diff_comparison *c, enum diff_side side, u32 index)
{
	const struct query_rows *rows = &c->side[side].loaded.rows;

	rows->row(rows->ctx, index, c->row);
}

/* Return whether a container has rows on both sides. */
static bool has_common_container(struct diff_comparison *c)
{
	json_object *names = json_object_new_object();
	bool found = false;

	for (u32 i = 0; i < c->side[DIFF_BEFORE].loaded.rows.count; i++) {
		get_side_row(c, DIFF_BEFORE, i);
		json_object_object_add(names, c->row->container, NULL);
	}
	for (u32 i = 0; i < c->side[DIFF_AFTER].loaded.rows.count && !found; i++) {
		get_side_row(c, DIFF_AFTER, i);
		found = json_object_object_get_ex(names, c->row->container, NULL);
	}
	json_object_put(names);
	return found;
}

/*
 * A deployment gives pods new names, so that no row would match. Match the rows without their
 * containers then, unless -G names the keys.
 */
static void match_without_containers(struct diff_comparison *c)
{
	if (c->options->group_text || !query_groups_by(&c->query, QUERY_CONTAINER) ||
	    has_common_container(c))
		return;
	remove_container_key(&c->query);
	c->containers_differ = true;
}

/* Get the names of a row from a side that has the row. */
static void load_row_names(const struct diff_comparison *c, const struct diff_row *row)
{
	enum diff_side side = row->row[DIFF_AFTER] != UINT32_MAX ? DIFF_AFTER : DIFF_BEFORE;

	c->side[side].loaded.rows.row(c->side[side].loaded.rows.ctx, row->row[side], c->row);
}

/* Text */

static void print_side(const struct diff_comparison *c, enum diff_side side)
{
	static const char *const names[DIFF_SIDES] = { "before", "after" };
	const struct diff_recording *s = &c->side[side];
	char samples[TEXT_NUMBER_SIZE], effective[TEXT_NUMBER_SIZE], name[TABLE_CELL_SIZE];
	struct view_format format = { .colour = term_uses_colour() };
	size_t height;

	profile_rows_format_name(&s->loaded, &s->options, name, sizeof(name));
	printf("%-6s  %s: %s samples, effectively %s%s\n", names[side], name,
	       text_format_count(samples, diff_get_total(c->diff, side)->counts.samples),
	       text_format_count(effective, diff_get_total(c->diff, side)->effective),
	       s->loaded.header.backend == BACKEND_EMULATED ? ", modelled by an EMULATED SPU" : "");
	term_get_size(&format.width, &height);
	format_print_limits(stdout, &s->loaded.header, &format);
}

/* Return whether a side of a row has a value: it has none if it has no samples of that kind. */
static bool has_value(const struct diff_counts *counts, enum diff_measure measure)
{
	if (measure == DIFF_SHARE)
		return true;
	if (measure == DIFF_P99)
		return diff_get_known_latency(counts)->count;
	return measure == DIFF_DRAM || measure == DIFF_REMOTE ? counts->memory :
								counts->latency.count;
}

static void write_value_text(const struct diff_row *row, enum diff_side side,
			     enum diff_measure measure, char *to, size_t size)
{
	double value = row->value[side][measure];

	if (!has_value(&row->side[side], measure)) {
		snprintf(to, size, "-");
		return;
	}
	if (measure == DIFF_MEAN)
		snprintf(to, size, "%.1f", value);
	else if (measure == DIFF_P99)
		snprintf(to, size, "%.0f", value);
	else
		snprintf(to, size, "%.1f", 100 * value);
}

/* Write both values, and "*" if the difference exceeds chance. */
static void write_pair_text(const struct diff_row *row, enum diff_measure measure, char *to)
{
	char before[32], after[32];
	bool shown = has_value(&row->side[DIFF_BEFORE], measure) ||
		     has_value(&row->side[DIFF_AFTER], measure);

	write_value_text(row, DIFF_BEFORE, measure, before, sizeof(before));
	write_value_text(row, DIFF_AFTER, measure, after, sizeof(after));
	if (shown)
		snprintf(to, TABLE_CELL_SIZE, "%s > %s%s", before, after,
			 row->exceeds[measure] ? "*" : " ");
	else
		snprintf(to, TABLE_CELL_SIZE, "- ");
}

static void write_operations_text(const struct diff_row *row, char *to)
{
	char before[TEXT_NUMBER_SIZE], after[TEXT_NUMBER_SIZE];

	snprintf(to, TABLE_CELL_SIZE, "%s > %s ",
		 text_format_count(before, row->side[DIFF_BEFORE].operations),
		 text_format_count(after, row->side[DIFF_AFTER].operations));
}

static void print_rows(const struct diff_comparison *c)
{
	static const char *const headings[DIFF_MEASURES] = { "SHARE % ", "MEAN ", "p99 ", "DRAM % ",
							     "REMOTE % " };
	u32 shown = diff_get_row_count(c->diff) < c->options->number ? diff_get_row_count(c->diff) :
								       c->options->number;
	struct text_table table = { 0 };
	char text[TABLE_CELL_SIZE];
	size_t width, height;
	u32 keys;

	keys = query_table_add_keys(&table, &c->query);
	for (enum diff_measure m = 0; m < DIFF_MEASURES; m++)
		table_add_column(&table, headings[m])->right = true;
	table_add_column(&table, "OPERATIONS ")->right = true;
	for (u32 i = 0; i < shown; i++) {
		const struct diff_row *row = diff_get_row(c->diff, i);
		u32 at = table_add_row(&table);

		load_row_names(c, row);
		query_table_set_keys(&table, at, 0, &c->query, c->row);
		for (enum diff_measure m = 0; m < DIFF_MEASURES; m++) {
			write_pair_text(row, m, text);
			table_set_cell(&table, at, keys + m, text);
		}
		write_operations_text(row, text);
		table_set_cell(&table, at, keys + DIFF_MEASURES, text);
	}
	term_get_size(&width, &height);
	table_print(&table, stdout, width, term_uses_colour());
	table_deinit(&table);
	if (diff_get_row_count(c->diff) > shown)
		printf("%u more rows: -n %u shows all\n", diff_get_row_count(c->diff) - shown,
		       diff_get_row_count(c->diff));
}

static void print_text(const struct diff_comparison *c, struct diff_words *words)
{
	for (u32 i = 0; i < words->count; i++)
		printf("%s\n", words->line[i]);
	print_side(c, DIFF_BEFORE);
	print_side(c, DIFF_AFTER);
	if (c->containers_differ)
		puts("No container is on both sides: rows match without their containers; -G "
		     "container,program,function shows them");
	print_rows(c);
	printf("* exceeds chance: of the marked differences, at most %.0f %% are expected to be "
	       "false "
	       "(Fisher's exact test of counts, permutation test of means; Benjamini and Hochberg "
	       "for "
	       "%u tests)\n",
	       100 * DIFF_FALSE_ALARM_RATE, diff_get_test_count(c->diff));
	if (c->side[DIFF_BEFORE].loaded.brief || c->side[DIFF_AFTER].loaded.brief)
		puts("A period has only sums of its latencies, so the mean is not tested; p99 is that "
		     "of locations in the history on disk");
}

/* JSON */

static void add_number(json_object *to, const char *key, double value)
{
	json_object_object_add(to, key, json_object_new_double(value));
}

static void add_u64(json_object *to, const char *key, u64 value)
{
	json_object_object_add(to, key, json_object_new_uint64(value));
}

static json_object *make_side_json(const struct diff_comparison *c, enum diff_side side)
{
	const struct diff_recording *s = &c->side[side];
	const struct diff_total *total = diff_get_total(c->diff, side);
	json_object *json = json_object_new_object();
	const char *file = s->options.input;
	char name[TABLE_CELL_SIZE];

	profile_rows_format_name(&s->loaded, &s->options, name, sizeof(name));
	json_object_object_add(json, "recording", file ? json_object_new_string(file) : NULL);
	json_object_object_add(json, "profile", json_object_new_string(name));
	json_object_object_add(json, "sums_only", json_object_new_boolean(s->loaded.brief));
	json_object_object_add(
		json, "modelled",
		json_object_new_boolean(s->loaded.header.backend == BACKEND_EMULATED));
	json_object_object_add(
		json, "share_of",
		json_object_new_string(view_unit_name(view_get_share_unit(&s->loaded.header))));
	add_u64(json, "samples", total->counts.samples);
	add_u64(json, "effective_samples", total->effective);
	add_u64(json, "operations", total->counts.operations);
	return json;
}

static json_object *make_row_side_json(const struct diff_row *row, enum diff_side side)
{
	json_object *json = json_object_new_object();

	for (enum diff_measure m = 0; m < DIFF_MEASURES; m++)
		add_number(json, diff_measure_name(m), row->value[side][m]);
	add_u64(json, "samples", row->side[side].samples);
	add_u64(json, "operations", row->side[side].operations);
	add_u64(json, "latency_sum", row->side[side].latency.sum);
	add_u64(json, "latency_samples", row->side[side].latency.count);
	add_u64(json, "memory", row->side[side].memory);
	return json;
}

static json_object *make_row_json(const struct diff_comparison *c, const struct diff_row *row)
{
	json_object *json = json_object_new_object(), *change = json_object_new_object(),
		    *chance = json_object_new_object(), *exceeds = json_object_new_object();

	load_row_names(c, row);
	query_add_keys_json(json, c->row, &c->query);
	json_object_object_add(json, "before", make_row_side_json(row, DIFF_BEFORE));
	json_object_object_add(json, "after", make_row_side_json(row, DIFF_AFTER));
	for (enum diff_measure m = 0; m < DIFF_MEASURES; m++) {
		const char *name = diff_measure_name(m);

		add_number(change, name, row->value[DIFF_AFTER][m] - row->value[DIFF_BEFORE][m]);
		add_number(chance, name, row->chance[m]);
		json_object_object_add(exceeds, name, json_object_new_boolean(row->exceeds[m]));
	}
	json_object_object_add(json, "change", change);
	json_object_object_add(json, "chance", chance);
	json_object_object_add(json, "exceeds_chance", exceeds);
	return json;
}

static json_object *make_comparison_json(const struct diff_comparison *c, struct diff_words *words)
{
	json_object *json = json_object_new_object(), *rows = json_object_new_array(),
		    *keys = json_object_new_array(), *lines = json_object_new_array();
	char sort[MEASURE_NAME_SIZE];

	json_object_object_add(json, "schema_version", json_object_new_int(1));
	json_object_object_add(json, "before", make_side_json(c, DIFF_BEFORE));
	json_object_object_add(json, "after", make_side_json(c, DIFF_AFTER));
	add_number(json, "false_alarm_rate", DIFF_FALSE_ALARM_RATE);
	add_u64(json, "tests", diff_get_test_count(c->diff));
	for (u32 i = 0; i < words->count; i++)
		json_object_array_add(lines, json_object_new_string(words->line[i]));
	json_object_object_add(json, "words", lines);
	for (u32 i = 0; i < c->query.groups; i++)
		json_object_array_add(keys,
				      json_object_new_string(query_key_name(c->query.group[i])));
	json_object_object_add(json, "keys", keys);
	measure_format_name(c->query.sort, sort);
	json_object_object_add(json, "sort", json_object_new_string(sort));
	for (u32 i = 0; i < diff_get_row_count(c->diff) && i < c->options->number; i++)
		json_object_array_add(rows, make_row_json(c, diff_get_row(c->diff, i)));
	json_object_object_add(json, "rows", rows);
	add_u64(json, "rows_total", diff_get_row_count(c->diff));
	return json;
}

static void print_json(const struct diff_comparison *c, struct diff_words *words)
{
	json_object *json = make_comparison_json(c, words);

	puts(json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN |
							  JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(json);
}

/* HTML */

static int comparison_write_html(const struct diff_comparison *c, struct diff_words *words)
{
	const struct page_config config = { .lines = query_groups_by(&c->query, QUERY_LINE) };
	json_object *json = make_comparison_json(c, words);
	u8 *data = NULL;
	size_t size;
	int r = page_data_from_json(
		&config,
		&(struct page_json){
			.diff = json_object_to_json_string_ext(
				json, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE) },
		&data, &size);

	if (r >= 0)
		r = html_report_write_data(c->options->html, data, size);
	free(data);
	json_object_put(json);
	return r < 0 ? message_fail(STATUS_FAILED, "%s: %s", c->options->html, strerror(-r)) :
		       STATUS_OK;
}

/* Find the source line of a row, and write "function() (file:line)". */
static void write_row_location(void *ctx, const struct diff_row *row, char *to, size_t size)
{
	const struct diff_comparison *c = ctx;
	enum diff_side side = row->row[DIFF_AFTER] != UINT32_MAX ? DIFF_AFTER : DIFF_BEFORE;
	char place[300] = "", text[TABLE_CELL_SIZE];
	struct source_line line = { 0 };
	size_t length = 0;

	load_row_names(c, row);
	if (query_has_binary(&c->query))
		profile_rows_line(&c->side[side].loaded, row->row[side], &line);
	if (line.line)
		snprintf(place, sizeof(place), " (%s:%u)", line.file, line.line);
	*to = 0;
	if (query_groups_by(&c->query, QUERY_FUNCTION) || query_groups_by(&c->query, QUERY_LINE)) {
		snprintf(to, size, "%s%s%s", c->row->function, c->row->named ? "()" : "", place);
		return;
	}
	for (u32 i = 0; i < c->query.groups && length < size; i++) {
		query_table_format_key(c->row, c->query.group[i], text);
		length += (size_t)snprintf(to + length, size - length, "%s%s", i ? " " : "", text);
	}
}

static int comparison_print(struct diff_comparison *c)
{
	struct diff_words words = { 0 };
	int r = diff_words_make(c->diff, query_groups_by(&c->query, QUERY_CONTAINER),
				write_row_location, c, &words);

	if (r < 0)
		return message_fail(STATUS_FAILED, "diff: %s", strerror(-r));
	if (c->options->html)
		return comparison_write_html(c, &words);
	if (c->options->json)
		print_json(c, &words);
	else
		print_text(c, &words);
	return STATUS_OK;
}

/* ---- The verb ------------------------------------------------------------------- */

static int query_check_diff(const struct query *q)
{
	if (query_groups_by(q, QUERY_EVENT))
		return message_fail(
			STATUS_USAGE,
			"diff: rows by event overlap: use -G level or op, or --filter to "
			"compare the samples with one event");
	if (!measure_is_sum(q->sort) || measure_is_issue_or_translation(q->sort))
		return message_fail(STATUS_USAGE,
				    "diff: -s: should be a sum, such as latency, "
				    "operations, dram or the name of a level or event");
	if (q->groups == QUERY_GROUP_MAX && !query_groups_by(q, QUERY_OP))
		return message_fail(STATUS_USAGE, "diff: -G: should have at most %d keys",
				    QUERY_GROUP_MAX - 1);
	return STATUS_OK;
}

static int comparison_run(struct diff_comparison *c)
{
	int status = query_check_diff(&c->query), damaged = STATUS_OK, r;

	if (status)
		return status;
	c->row = malloc(sizeof(*c->row));
	if (!c->row || diff_new(&c->diff) < 0)
		return message_fail(STATUS_FAILED, "diff: %s", strerror(ENOMEM));
	for (enum diff_side side = 0; side < DIFF_SIDES; side++) {
		status = load_side(c, side);
		if (status == STATUS_DAMAGED)
			damaged = status;
		else if (status)
			return status;
	}
	match_without_containers(c);
	r = add_side_rows(c, DIFF_BEFORE);
	if (r == 0)
		r = add_side_rows(c, DIFF_AFTER);
	if (r == 0)
		r = diff_finish(c->diff);
	if (r < 0)
		return message_fail(STATUS_FAILED, "diff: %s", strerror(-r));
	status = comparison_print(c);
	return status ? status : damaged;
}

/* ---- The command line ----------------------------------------------------------- */

/* Options that choose a profile, or rows of it. */
#define SIDE_OPTIONS "ipcCMLUYAQ2ZKNWOdFygu"
/* Options that apply to both profiles. */
#define COMMON_OPTIONS "jGsnSH"

/* Give the second side the keys and the measure of the first one. */
static int share_query(struct diff_comparison *c)
{
	struct options *before = &c->side[DIFF_BEFORE].options;
	struct options *after = &c->side[DIFF_AFTER].options;
	struct query_error error;

	if (!before->sort_text)
		before->query.sort = MEASURE_LATENCY;
	memcpy(after->query.group, before->query.group, sizeof(after->query.group));
	after->query.groups = before->query.groups;
	after->query.sort = before->query.sort;
	for (enum diff_side side = 0; side < DIFF_SIDES; side++)
		if (query_check(&c->side[side].options.query, &error) < 0)
			return message_fail(STATUS_USAGE, "diff: %s", error.text);
	return STATUS_OK;
}

/* Rows of two containers have different names of containers, and would never match. */
static void drop_container(struct diff_comparison *c)
{
	const struct options *after = &c->side[DIFF_AFTER].options;
	struct options *before = &c->side[DIFF_BEFORE].options;
	struct query *query = &before->query;
	const char *a = before->container ?: "", *b = after->container ?: "";

	if (before->group_text || !strcmp(a, b))
		return;
	remove_container_key(query);
}

/* Parse "BEFORE -- AFTER": each side has options and at most one file of its own. */
static int parse_sides(int argc, char **argv, int separator, struct diff_comparison *c)
{
	struct options *before = &c->side[DIFF_BEFORE].options;
	struct options *after = &c->side[DIFF_AFTER].options;
	int status = options_parse_sides(argc, argv, separator, SIDE_OPTIONS COMMON_OPTIONS, before,
					 SIDE_OPTIONS, after);

	if (!status && (before->after || after->after))
		return message_fail(STATUS_USAGE,
				    "diff: \"%s\": each side of \"--\" is one profile",
				    before->after ? before->after : after->after);
	if (!status)
		drop_container(c);
	return status;
}

/* Parse "[OPTIONS] BEFORE [AFTER]": the options apply to both. Without AFTER, that is the daemon. */
static int parse_files(int argc, char **argv, struct diff_comparison *c)
{
	struct options *before = &c->side[DIFF_BEFORE].options;
	struct options *after = &c->side[DIFF_AFTER].options;
	int status = options_parse(argc, argv, SIDE_OPTIONS COMMON_OPTIONS, before);

	if (status)
		return status;
	if (!before->input)
		return message_fail(STATUS_USAGE,
				    "diff: needs two profiles: files before and after the change, "
				    "or a \"--\" between the options of both");
	*after = *before;
	after->input = after->query.recording = before->after;
	if (!after->input &&
	    (before->cpus_given || before->midr || before->kallsyms || before->pid ||
	     before->folders.symfs || before->folders.debug_dir || before->debuginfod))
		return message_fail(STATUS_USAGE,
				    "diff: -p, -C, --midr, --kallsyms, --symfs, --debug-dir and "
				    "--debuginfod apply to recordings: write \"--\" after them and "
				    "the file");
	return STATUS_OK;
}

/* Check and complete options for a page. */
static int check_html(struct options *options)
{
	int r;

	if (options->json || options->number)
		return message_fail(STATUS_USAGE,
				    "diff: --html shows all rows, and cannot be combined with -j "
				    "and -n");
	/* Before reading the profiles, report a file that cannot be written. */
	r = output_check(options->html);
	if (r < 0)
		return message_fail(STATUS_FAILED, "%s: %s", options->html, strerror(-r));
	options->number = DIFF_HTML_ROWS;
	return STATUS_OK;
}

static int comparison_parse(int argc, char **argv, struct diff_comparison *c)
{
	int separator = options_find_separator(argc, argv);
	int status = separator ? parse_sides(argc, argv, separator, c) : parse_files(argc, argv, c);

	if (!status)
		status = share_query(c);
	c->options = &c->side[DIFF_BEFORE].options;
	c->query = c->options->query;
	if (!status && c->options->html)
		status = check_html(&c->side[DIFF_BEFORE].options);
	if (!c->side[DIFF_BEFORE].options.number)
		c->side[DIFF_BEFORE].options.number = DIFF_ROWS_DEFAULT;
	return status;
}

int diff_run(int argc, char **argv)
{
	struct diff_comparison c = { 0 };
	int status = comparison_parse(argc, argv, &c);

	if (!status)
		status = comparison_run(&c);
	if (c.side[DIFF_AFTER].options.filter != c.side[DIFF_BEFORE].options.filter)
		filter_free(c.side[DIFF_AFTER].options.filter);
	filter_free(c.side[DIFF_BEFORE].options.filter);
	for (enum diff_side side = 0; side < DIFF_SIDES; side++)
		profile_rows_deinit(&c.side[side].loaded);
	diff_free(c.diff);
	free(c.row);
	return status;
}
