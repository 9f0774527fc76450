// SPDX-License-Identifier: LGPL-2.1-or-later
#include "export-rows.h"

#include <errno.h>
#include <math.h>

#include "lib/bus.h"
#include "lib/live-session.h"
#include "lib/message.h"
#include "lib/query-table.h"
#include "lib/rows.h"
#include "lib/saved-profile.h"

static const char *const backend_names[] = {
	[BACKEND_UNKNOWN] = "unknown",
	[BACKEND_HARDWARE] = "hardware",
	[BACKEND_EMULATED] = "emulated",
};

/* Keys of the daemon's rows, indexed by &enum view_group. */
static const struct {
	enum query_key key[4];
	u32 keys;
} view_keys[VIEW_GROUPS] = {
	[VIEW_FUNCTION] = { { QUERY_CONTAINER, QUERY_PROGRAM, QUERY_FUNCTION }, 3 },
	[VIEW_LINE] = { { QUERY_CONTAINER, QUERY_PROGRAM, QUERY_FUNCTION, QUERY_LINE }, 4 },
	[VIEW_CONTAINER] = { { QUERY_CONTAINER }, 1 },
	[VIEW_PROGRAM] = { { QUERY_CONTAINER, QUERY_PROGRAM }, 2 },
	[VIEW_BINARY] = { { QUERY_BINARY }, 1 },
};

static struct query make_live_query(const struct options *options)
{
	struct query query = { .groups = view_keys[options->group].keys };

	memcpy(query.group, view_keys[options->group].key, query.groups * sizeof(query.group[0]));
	return query;
}

/* List the keys, with the binary before keys within a binary. Return their number. */
static u32 order_keys(const struct query *query,
		      enum query_key ret_keys[static QUERY_GROUP_MAX + 1])
{
	bool add = query_has_binary(query) && !query_groups_by(query, QUERY_BINARY);
	u32 keys = 0;

	for (u32 i = 0; i < query->groups; i++) {
		enum query_key key = query->group[i];

		if (add &&
		    (key == QUERY_FUNCTION || key == QUERY_LINE || key == QUERY_INSTRUCTION)) {
			ret_keys[keys++] = QUERY_BINARY;
			add = false;
		}
		ret_keys[keys++] = key;
	}
	return keys;
}

static void set_columns(struct export_rows *rows, const struct query *query)
{
	struct export_columns *c = &rows->columns;
	enum query_key key[QUERY_GROUP_MAX + 1];
	u32 keys = order_keys(query, key);

	for (u32 i = 0; i < keys; i++) {
		if (key[i] == QUERY_LINE) {
			c->name[c->names++] = "file";
			c->line = c->names;
		}
		c->name[c->names++] = query_key_name(key[i]);
	}
	c->sort = query->sort;
	c->unit = view_unit_name(view_get_share_unit(&rows->header));
	c->backend = backend_names[rows->header.backend < ARRAY_SIZE(backend_names) ?
					   rows->header.backend :
					   BACKEND_UNKNOWN];
}

/* Load a recording, a saved profile, or a time of the history on disk. */
static int load_rows(struct export_rows *rows)
{
	const struct options *options = rows->options;
	int status = profile_rows_load("export", options, &options->query, false, &rows->loaded);

	if (status != STATUS_OK && status != STATUS_DAMAGED)
		return status;
	rows->header = rows->loaded.header;
	if (options->pid && !rows->header.records)
		return rows_report_missing("export", options);
	set_columns(rows, &options->query);
	return status;
}

static int load_daemon(struct export_rows *rows)
{
	const struct options *options = rows->options;
	struct query query = make_live_query(options);
	u32 limit = rows_get_limit(options, BUS_ROWS_MAX);
	struct bus_connection *bus;
	int status = bus_new(&bus);

	if (status)
		return status;
	status = live_session_choose("export", bus, options, true);
	if (!status)
		status = options->period != VIEW_SPAN_START ?
				 bus_get_period_view(bus, options->period, options->group,
						     options->sort, limit, &rows->view) :
				 bus_get_view_with_names(bus, options->group, options->sort, limit,
							 &rows->view);
	bus_free(bus);
	if (status)
		return status;
	rows_filter(&rows->view, options, options->number);
	rows->header = rows->view.header;
	if (options->sort_text && measure_parse(options->sort_text, &query.sort) < 0)
		query.sort = MEASURE_OPERATIONS;
	set_columns(rows, &query);
	return !rows->view.count && options->container ? rows_report_missing("export", options) :
							 STATUS_OK;
}

int export_rows_load(const struct options *options, struct export_rows *ret_rows)
{
	*ret_rows = (struct export_rows){ .options = options };
	ret_rows->counted = options->input || options->until_us;
	return ret_rows->counted ? load_rows(ret_rows) : load_daemon(ret_rows);
}

static const char *get_recorded_name(const struct query_row *row, enum query_key key, char *to)
{
	switch (key) {
	case QUERY_CONTAINER:
		return row->container;
	case QUERY_PROGRAM:
		return row->program;
	case QUERY_BINARY:
		return row->binary;
	case QUERY_BUILD_ID:
		return *row->build_id ? row->build_id : "-";
	case QUERY_FUNCTION:
		return row->function;
	default:
		query_table_format_key(row, key, to);
		return to;
	}
}

static const char *get_live_name(const struct view_row *row, enum query_key key)
{
	switch (key) {
	case QUERY_CONTAINER:
		return row->container;
	case QUERY_PROGRAM:
		return row->process;
	case QUERY_BINARY:
		return row->binary;
	default:
		return row->function;
	}
}

/* Set the columns of the file and the line. */
static void set_line_names(const char *file, u32 line, const char *to[static 2], char *text)
{
	snprintf(text, TABLE_CELL_SIZE, "%u", line);
	to[0] = line ? file : "-";
	to[1] = line ? text : "-";
}

/* Either @recorded or @live is the row; the other one is NULL. */
static void set_names(struct export_rows *rows, const struct query *query,
		      const struct query_row *recorded, const struct view_row *live,
		      struct export_row *row)
{
	enum query_key key[QUERY_GROUP_MAX + 1];
	u32 keys = order_keys(query, key), at = 0;

	for (u32 i = 0; i < keys; i++) {
		char *text = rows->text[at];

		if (key[i] == QUERY_LINE) {
			set_line_names(recorded ? recorded->file : live->file,
				       recorded ? recorded->line : live->line, &row->name[at],
				       text);
			at += 2;
			continue;
		}
		row->name[at++] = recorded ? get_recorded_name(recorded, key[i], text) :
					     get_live_name(live, key[i]);
	}
}

/* Percentiles of a row of the history are those of the samples with a known latency. */
static double row_compute_measure(const struct query_row *row, enum measure measure,
				  unsigned int unit)
{
	if (row->brief && (measure == MEASURE_P50 || measure == MEASURE_P99))
		return measure == MEASURE_P50 ? row->p50 : row->p99;
	return measure_compute(measure, &row->counters, unit);
}

/* Return whether rows of a recording have a measure. */
static bool recording_has_measure(const struct query *query, const struct query_row *row,
				  enum measure measure)
{
	const struct profile_counters *counters = &row->counters;

	if (row->brief && (measure == MEASURE_P50 || measure == MEASURE_P99))
		return row->p99;
	if (row->brief)
		return measure_is_known_for_period(measure) || measure == MEASURE_MEAN;
	if (measure_is_issue_or_translation(measure) && query_counts_cell_parts(query))
		return false;
	switch (measure) {
	case MEASURE_MEAN:
	case MEASURE_P50:
	case MEASURE_P99:
		return counters->latency[PROFILE_TOTAL].count;
	case MEASURE_ISSUE_P99:
		return counters->latency[PROFILE_ISSUE].count;
	case MEASURE_TRANSLATION_P99:
		return counters->latency[PROFILE_TRANSLATION].count;
	default:
		return true;
	}
}

static void get_recorded_row(struct export_rows *rows, u32 index, struct export_row *row)
{
	const struct query *query = &rows->options->query;
	unsigned int unit = view_get_share_unit(&rows->header);

	rows->loaded.rows.row(rows->loaded.rows.ctx, index, &rows->row);
	set_names(rows, query, &rows->row, NULL, row);
	row->share = rows->row.whole ? (double)rows->row.part / (double)rows->row.whole : NAN;
	for (enum measure i = 0; i < MEASURES; i++)
		row->measure[i] = recording_has_measure(query, &rows->row, i) ?
					  row_compute_measure(&rows->row, i, unit) :
					  NAN;
}

/* Find a measure in a row of the daemon. */
static double find_live_value(const struct export_rows *rows, const struct view_row *row,
			      enum measure measure)
{
	const struct options *options = rows->options;
	bool all = options->period == VIEW_SPAN_START;
	char name[MEASURE_NAME_SIZE];
	enum view_sort sort;

	measure_format_name(measure, name);
	if (measure == MEASURE_OPERATIONS)
		return (double)view_get_share_numerator(row, view_get_share_unit(&rows->header));
	if (measure == MEASURE_SAMPLES)
		return (double)row->samples;
	if (measure == MEASURE_P50)
		return row->p50 ? row->p50 : NAN;
	if (view_sort_parse(name, &sort) == 0) {
		double value = (double)view_get_sort_key(row, sort, UNITS);
		bool none = !value && sort >= VIEW_SORT_P99;

		return view_sort_is_supported(sort, options->period, options->group) && !none ?
			       value :
			       NAN;
	}
	if (measure >= MEASURE_EVENT)
		return all && measure < MEASURE_EVENT + VIEW_EVENTS ?
			       (double)row->event[measure - MEASURE_EVENT] :
			       NAN;
	if (measure >= MEASURE_LEVEL)
		return all ? (double)row->level[measure - MEASURE_LEVEL] : NAN;
	return NAN;
}

static void get_live_row(struct export_rows *rows, u32 index, struct export_row *row)
{
	const struct query query = make_live_query(rows->options);
	const struct view_row *from = &rows->view.rows[index];
	unsigned int unit = view_get_share_unit(&rows->header);
	u64 whole = view_get_share_denominator(&rows->header, unit);

	set_names(rows, &query, NULL, from, row);
	row->share = whole ? (double)view_get_share_numerator(from, unit) / (double)whole : NAN;
	for (enum measure i = 0; i < MEASURES; i++)
		row->measure[i] = find_live_value(rows, from, i);
}

bool export_rows_get(struct export_rows *rows, u32 index, struct export_row *ret_row)
{
	if (index >= (rows->counted ? rows->loaded.rows.count : rows->view.count))
		return false;
	*ret_row = (struct export_row){ 0 };
	if (rows->counted)
		get_recorded_row(rows, index, ret_row);
	else
		get_live_row(rows, index, ret_row);
	return true;
}

static bool selects_rows(const struct options *options)
{
	return options->container || options->program || options->binary || options->function;
}

double export_rows_get_rest(const struct export_rows *rows)
{
	unsigned int unit = view_get_share_unit(&rows->header);
	u64 whole = view_get_share_denominator(&rows->header, unit), shown = 0;
	struct query_rest rest;

	if (selects_rows(rows->options))
		return 0;
	if (rows->counted) {
		rows->loaded.rows.rest(rows->loaded.rows.ctx, 0, &rest);
		return (double)rest.part;
	}
	/* For the whole profile of the daemon, only the number of operations is known. */
	if (rows->columns.sort != MEASURE_OPERATIONS)
		return 0;
	for (u32 i = 0; i < rows->view.count; i++)
		shown += view_get_share_numerator(&rows->view.rows[i], unit);
	return shown < whole ? (double)(whole - shown) : 0;
}

void export_print_byte(FILE *out, char c)
{
	fputc((unsigned char)c < ' ' || c == 0x7f ? '?' : c, out);
}

void export_rows_deinit(struct export_rows *rows)
{
	profile_rows_deinit(&rows->loaded);
	view_clear(&rows->view);
}
