// SPDX-License-Identifier: LGPL-2.1-or-later
#include "query-table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "bus-json.h"
#include "codec/payload.h"
#include "query/query-names.h"
#include "row-names.h"
#include "text.h"

/**
 * struct query_columns - the columns of a table
 * @first_key: number of the first column of a key
 * @known_share, @value: numbers of columns; 0: not shown
 * @dram, @latency: numbers of columns
 */
struct query_columns {
	u32 first_key;
	u32 known_share;
	u32 value;
	u32 dram;
	u32 latency;
};

static const struct {
	const char *heading;
	unsigned int order;
	size_t floor[2];
} key_columns[QUERY_KEYS] = {
	[QUERY_CONTAINER] = { "CONTAINER", 3, { 16, 9 } },
	[QUERY_PROGRAM] = { "PROGRAM", 4, { 12, 7 } },
	[QUERY_COMM] = { "COMM", 7, { 15, 8 } },
	[QUERY_PID] = { "PID", 0, { 0, 0 } },
	[QUERY_CPU] = { "CPU", 0, { 0, 0 } },
	[QUERY_NODE] = { "NODE", 0, { 0, 0 } },
	[QUERY_BINARY] = { "BINARY", 1, { 16, 8 } },
	[QUERY_BUILD_ID] = { "BUILD ID", 2, { 12, 8 } },
	[QUERY_FUNCTION] = { "FUNCTION", 5, { 24, 12 } },
	[QUERY_LINE] = { "SOURCE", 6, { 16, 12 } },
	[QUERY_INSTRUCTION] = { "INSTRUCTION", 0, { 0, 0 } },
	[QUERY_MODE] = { "MODE", 0, { 0, 0 } },
	[QUERY_OP] = { "OP", 0, { 0, 0 } },
	[QUERY_EVENT] = { "EVENT", 0, { 0, 0 } },
	[QUERY_LEVEL] = { "LEVEL", 0, { 0, 0 } },
	[QUERY_TYPE] = { "TYPE", 1, { 24, 12 } },
	[QUERY_FIELD] = { "FIELD", 2, { 24, 12 } },
};

/* Write only the name of the file, because the directories are less specific. */
static void format_source_line(const struct query_row *row, char *to)
{
	if (row->line)
		snprintf(to, TABLE_CELL_SIZE, "%.128s:%u", query_base_name(row->file), row->line);
	else
		snprintf(to, TABLE_CELL_SIZE, "-");
}

void query_table_format_key(const struct query_row *row, enum query_key key, char *to)
{
	const char *text = "";

	switch (key) {
	case QUERY_CONTAINER:
		text = row->container;
		break;
	case QUERY_PROGRAM:
		text = row->program;
		break;
	case QUERY_COMM:
		text = row->comm;
		break;
	case QUERY_PID:
		snprintf(to, TABLE_CELL_SIZE, row->pid ? "%d" : "-", row->pid);
		return;
	case QUERY_CPU:
		snprintf(to, TABLE_CELL_SIZE, row->cpu_known ? "%u" : "-", row->cpu);
		return;
	case QUERY_NODE:
		snprintf(to, TABLE_CELL_SIZE, row->node_known ? "%u" : "-", row->node);
		return;
	case QUERY_BINARY:
		text = query_base_name(row->binary);
		break;
	case QUERY_BUILD_ID:
		text = *row->build_id ? row->build_id : "-";
		break;
	case QUERY_FUNCTION:
		text = row->function;
		break;
	case QUERY_LINE:
		format_source_line(row, to);
		return;
	case QUERY_INSTRUCTION:
		snprintf(to, TABLE_CELL_SIZE, "0x%" PRIx64, row->instruction);
		return;
	case QUERY_MODE:
		text = row->evicted ? "[evicted]" : row->kernel ? "kernel" : "user";
		break;
	case QUERY_OP:
		text = sample_kind_name(row->op) ?: "unknown";
		break;
	case QUERY_EVENT:
		text = query_row_event_name(row);
		break;
	case QUERY_LEVEL:
		text = query_row_level_name(row);
		break;
	case QUERY_TYPE:
		text = row->type;
		break;
	case QUERY_FIELD:
		text = row->field;
		break;
	default:
		break;
	}
	snprintf(to, TABLE_CELL_SIZE, "%s", text);
}

static void add_key_column(struct text_table *table, enum query_key key)
{
	struct table_column *column = table_add_column(table, key_columns[key].heading);

	column->order = key_columns[key].order;
	memcpy(column->floor, key_columns[key].floor, sizeof(column->floor));
	column->right = key == QUERY_INSTRUCTION || key == QUERY_PID || key == QUERY_CPU ||
			key == QUERY_NODE;
}

/* Rows of functions have a binary even if the binary is not a key. Return the number of keys. */
static u32 choose_shown_keys(const struct query *query,
			     enum query_key ret_keys[static QUERY_GROUP_MAX + 1])
{
	u32 keys = query->groups;

	memcpy(ret_keys, query->group, keys * sizeof(ret_keys[0]));
	if (query_has_binary(query) && !query_groups_by(query, QUERY_BINARY))
		ret_keys[keys++] = QUERY_BINARY;
	return keys;
}

u32 query_table_add_keys(struct text_table *table, const struct query *query)
{
	enum query_key key[QUERY_GROUP_MAX + 1];
	u32 keys = choose_shown_keys(query, key);

	for (u32 i = 0; i < keys; i++)
		add_key_column(table, key[i]);
	return keys;
}

void query_table_set_keys(struct text_table *table, u32 at, u32 first, const struct query *query,
			  const struct query_row *row)
{
	enum query_key key[QUERY_GROUP_MAX + 1];
	u32 keys = choose_shown_keys(query, key);
	char text[TABLE_CELL_SIZE];

	for (u32 i = 0; i < keys; i++) {
		query_table_format_key(row, key[i], text);
		table_set_cell(table, at, first + i, text);
	}
}

/* Add a column of values. "~" in its heading marks values that an emulated SPU has modelled. */
static u32 add_measure_column(struct text_table *table, bool modelled, const char *heading,
			      bool right)
{
	char text[TABLE_CELL_SIZE];

	/* "~" or a blank in front aligns the slash of the heading with those of the latencies. */
	snprintf(text, sizeof(text), "%s%s", modelled ? "~" : right ? "" : " ", heading);
	table_add_column(table, text)->right = right;
	return table->columns - 1;
}

static void add_columns(struct text_table *table, const struct query *query, bool modelled,
			const struct view_format *format, struct query_columns *ret_columns)
{
	struct query_columns c = { 0 };
	struct table_column *share = table_add_column(table, "SHARE");
	char heading[MEASURE_NAME_SIZE];

	share->right = share->heading_left = true;
	share->width = 6;
	if (format->known_shares) {
		c.known_share = table->columns;
		share = table_add_column(table, "TRUTH");
		share->right = true;
		share->gap = 1;
	}
	c.first_key = table->columns;
	query_table_add_keys(table, query);
	measure_format_heading(query->sort, heading);
	if (query->sort != MEASURE_OPERATIONS)
		c.value = add_measure_column(table, modelled, heading, true);
	c.dram = add_measure_column(table, modelled, "DRAM", true);
	c.latency = add_measure_column(table, modelled, "p50/p99 cycles", false);
	*ret_columns = c;
}

static bool known_share_matches(const struct known_share *share, const struct query *query,
				const struct query_row *row)
{
	return (query_groups_by(query, QUERY_CONTAINER) && !strcmp(share->name, row->container)) ||
	       (query_groups_by(query, QUERY_PROGRAM) && !strcmp(share->name, row->program));
}

/*
 * Print a known share in the first row of its container or program, because it applies to all its
 * rows together.
 */
static void set_known_share(struct text_table *table, u32 at, u32 column, const struct query *query,
			    const struct query_row *row, const struct view_format *format,
			    bool *shown)
{
	char text[TABLE_CELL_SIZE];

	table_set_cell(table, at, column, "-");
	for (u32 i = 0; i < format->known_shares; i++) {
		if (shown[i] || !known_share_matches(&format->known_share[i], query, row))
			continue;
		snprintf(text, sizeof(text), "%.0f %%", format->known_share[i].percent);
		table_set_cell(table, at, column, text);
		shown[i] = true;
	}
}

static double get_json_real(json_object *from, const char *key)
{
	return json_object_get_double(json_get(from, key));
}

static void set_measures(struct text_table *table, u32 at, const struct query_columns *c,
			 const struct query *query, json_object *row)
{
	u64 p99 = json_number(row, "p99");
	char text[TABLE_CELL_SIZE];

	if (query->sort == MEASURE_MEAN)
		snprintf(text, sizeof(text), "%.1f", get_json_real(row, "value"));
	else
		text_format_count(text, (u64)get_json_real(row, "value"));
	if (c->value)
		table_set_cell(table, at, c->value, text);
	table_set_cell(table, at, c->dram,
		       text_format_percent_whole(text, json_number(row, "dram"),
						 json_number(row, "memory")));
	if (p99)
		snprintf(text, sizeof(text), "%4" PRIu64 "/%" PRIu64, json_number(row, "p50"), p99);
	table_set_cell(table, at, c->latency, p99 ? text : "   -");
}

/* A share that rounds to 100.0 % would be one column wider than any other value. */
static const char *write_share(json_object *of, char *to)
{
	double percent = 100 * get_json_real(of, "share");

	if (json_get(of, "share"))
		snprintf(to, TABLE_CELL_SIZE, percent >= 99.95 ? "%.0f %%" : "%.1f %%", percent);
	else
		text_format_percent(to, 0, 0);
	return to;
}

static void add_row(struct text_table *table, const struct query_columns *c,
		    const struct query *query, json_object *json, struct query_row *row,
		    const struct view_format *format, bool *shown)
{
	u32 at = table_add_row(table);
	char text[TABLE_CELL_SIZE];

	row_names_read(json, row);
	table_set_cell(table, at, 0, write_share(json, text));
	if (c->known_share)
		set_known_share(table, at, c->known_share, query, row, format, shown);
	query_table_set_keys(table, at, c->first_key, query, row);
	set_measures(table, at, c, query, json);
}

static void add_rest_row(struct text_table *table, const struct query_columns *c,
			 json_object *other)
{
	char text[TABLE_CELL_SIZE];
	u32 at;

	if (!(get_json_real(other, "share") > 0))
		return;
	at = table_add_row(table);
	table_set_cell(table, at, 0, write_share(other, text));
	table_set_cell(table, at, c->first_key, "[other]");
}

/* Entries of &unnamed_binaries.binary, the binaries that a hint names. */
#define UNNAMED_MAX 3

/** struct unnamed_binaries - the binaries without symbols in the rows of a table, the heaviest first */
struct unnamed_binaries {
	char binary[UNNAMED_MAX][64];
	u32 count;
	bool kernel;
};

/* Add the binary of a row that has an offset in the binary instead of a function name. */
static void unnamed_binaries_add(struct unnamed_binaries *unnamed, const struct query_row *row)
{
	const char *binary = query_base_name(row->binary);

	if (!row_names_unnamed(row))
		return;
	if (strcmp(binary, "[kernel]") == 0) {
		unnamed->kernel = true;
		return;
	}
	/* No package has symbols for [vdso] or [anon]. */
	if (*binary == '[')
		return;
	for (u32 i = 0; i < unnamed->count; i++)
		if (strncmp(unnamed->binary[i], binary, sizeof(unnamed->binary[i]) - 1) == 0)
			return;
	if (unnamed->count < UNNAMED_MAX)
		snprintf(unnamed->binary[unnamed->count++], sizeof(unnamed->binary[0]), "%.63s",
			 binary);
}

/* Print how to get the missing names. */
static void unnamed_binaries_print(FILE *out, const struct unnamed_binaries *unnamed, bool recorded)
{
	for (u32 i = 0; i < unnamed->count; i++)
		fprintf(out, "%s%s", i ? ", " : "No symbols for ", unnamed->binary[i]);
	if (unnamed->count)
		fprintf(out,
			": install their debug symbols (packages *-dbgsym or *-debuginfo)%s.\n",
			recorded ? ", with the recorded build id, or give --symfs, --debug-dir or "
				   "--debuginfod" :
				   "");
	if (unnamed->kernel)
		fprintf(out, "No names for the kernel: --kallsyms FILE reads a copy of "
			     "/proc/kallsyms of the recorded boot.\n");
}

static int print_rows(FILE *out, const struct query *query, json_object *json,
		      const struct view_format *format)
{
	bool modelled = !strcmp(json_text(json, "backend"), "emulated");
	json_object *rows = json_get(json, "rows"), *other = json_get(json, "other");
	struct query_row *row;
	bool shown[KNOWN_SHARES_MAX] = { false };
	struct query_columns columns;
	struct unnamed_binaries unnamed = { 0 };
	struct text_table table = { 0 };

	if (!json_object_is_type(rows, json_type_array))
		return -EBADMSG;
	/* No row matches. */
	if (!other)
		return 0;
	row = malloc(sizeof(*row));
	if (!row)
		return -ENOMEM;
	add_columns(&table, query, modelled, format, &columns);
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		add_row(&table, &columns, query, json_object_array_get_idx(rows, i), row, format,
			shown);
		unnamed_binaries_add(&unnamed, row);
	}
	add_rest_row(&table, &columns, other);
	table_print(&table, out, format->width, format->colour);
	if (query_groups_by(query, QUERY_EVENT))
		fprintf(out, "Rows overlap: a sample is in the row of each of its events.\n");
	if (query_has_sums_only(query))
		fprintf(out,
			"Rows of a period have no p50 and p99, because a period stores only the "
			"sum of the latencies of a location: -G container has both, as has the "
			"profile without --last %s.\n",
			view_span_name(query->period));
	unnamed_binaries_print(out, &unnamed, query->recording != NULL);
	table_deinit(&table);
	free(row);
	return 0;
}

int query_table_print(FILE *out, const struct query *query, const char *text,
		      const struct view_format *format)
{
	json_object *json = json_tokener_parse(text);
	int r = json ? print_rows(out, query, json, format) : -EBADMSG;

	json_object_put(json);
	return r;
}
