// SPDX-License-Identifier: LGPL-2.1-or-later
#include "profile-rows.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "bus-json.h"
#include "live-session.h"
#include "message.h"
#include "saved-profile.h"
#include "text.h"

/* Add a key to a query that has fewer than the maximum. */
static void add_key(struct query *query, enum query_key key)
{
	if (!query_groups_by(query, key) && query->groups < QUERY_GROUP_MAX)
		query->group[query->groups++] = key;
}

/*
 * Run the query of @loaded over rows that were read from the profile @name. Return an
 * &enum verb_exit_status; @ret_error is set on failure.
 */
static int rows_select(const char *name, const struct row_set *set, struct profile_rows *loaded,
		       struct query_error *ret_error)
{
	struct query_error error;
	int r = row_set_query(set, &loaded->query, &loaded->set, &error);

	if (r < 0) {
		snprintf(ret_error->text, sizeof(ret_error->text), "%.100s: %.400s", name,
			 r == -ENOMEM ? strerror(-r) : error.text);
		return r == -ENOMEM ? STATUS_FAILED : r == -ENOENT ? STATUS_STATE : STATUS_USAGE;
	}
	loaded->rows = row_set_rows(&loaded->set);
	loaded->header = set->header;
	loaded->brief = set->brief;
	return STATUS_OK;
}

/* ---- Recordings ----------------------------------------------------------------- */

static int load_recording(const char *verb, const struct options *options,
			  struct profile_rows *loaded)
{
	struct input_request request = input_request_from_options(options);
	struct query_source source = { 0 };
	struct query_error error = { "" };
	int status, r;

	request.split = query_get_split_flags(&loaded->query);
	status = input_load(&request, &loaded->input);
	if (status != STATUS_OK && status != STATUS_DAMAGED)
		return status;
	r = input_new_symbols(&loaded->input, &loaded->symbols);
	source.profile = loaded->input.profile;
	source.cpu_node = loaded->input.facts.cpu_node;
	source.cpus = RECORDING_CPUS;
	source.symbols = loaded->symbols;
	if (r == 0)
		r = input_run_query(&source, &loaded->query, &loaded->result, &error);
	if (r == -ENOENT)
		return message_fail(STATUS_STATE, "%s: %s: %s", verb, options->input, error.text);
	if (r < 0)
		return message_fail(STATUS_FAILED, "%s: %s", options->input, strerror(-r));
	input_get_header(&loaded->input, loaded->symbols, &loaded->header);
	snprintf(loaded->making, sizeof(loaded->making), "%s", loaded->input.summary);
	loaded->rows = query_rows_get(loaded->result);
	return status;
}

/* ---- Saved profiles ------------------------------------------------------------- */

static int load_saved(const char *verb, const struct options *options, bool split_ops,
		      struct profile_rows *loaded)
{
	struct query_error error;
	struct row_set set;
	int status;

	if (options->filter || options->cpus_given || options->midr || options->kallsyms ||
	    options->pid || options->folders.symfs || options->folders.debug_dir ||
	    options->debuginfod)
		return message_fail(STATUS_USAGE,
				    "%s: %s is a saved profile: -p, -C, --midr, --filter, "
				    "--kallsyms, --symfs, --debug-dir and --debuginfod need a "
				    "recording",
				    verb, options->input);
	status = saved_profile_read(options->input, &set, loaded->making, sizeof(loaded->making));
	if (status)
		return status;
	if (split_ops && query_groups_by(&set.query, QUERY_OP))
		add_key(&loaded->query, QUERY_OP);
	status = rows_select(options->input, &set, loaded, &error);
	row_set_clear(&set);
	return status ? message_fail(status, "%s: %s", verb, error.text) : STATUS_OK;
}

/* ---- The history on disk -------------------------------------------------------- */

static bool needs(const struct query *query, enum query_key key, const char *glob)
{
	return glob || query_groups_by(query, key);
}

/*
 * Choose rows of GetHistory that have all keys. Rows by function are requested as lines, so that
 * each function has the line of its heaviest part.
 */
static enum view_group choose_history_group(const struct query *query, struct query *ret_keys)
{
	static const enum query_key keys[] = { QUERY_CONTAINER, QUERY_PROGRAM, QUERY_BINARY,
					       QUERY_FUNCTION, QUERY_LINE };
	const struct query_select *select = &query->select;
	bool binary = needs(query, QUERY_BINARY, select->binary);
	bool code = needs(query, QUERY_FUNCTION, select->function) ||
		    query_groups_by(query, QUERY_LINE);
	bool program = needs(query, QUERY_PROGRAM, select->program);
	bool container = needs(query, QUERY_CONTAINER, select->container);

	memcpy(ret_keys->group, keys, sizeof(keys));
	ret_keys->groups = 5;
	if (code || (binary && (program || container)))
		return VIEW_LINE;
	if (binary) {
		ret_keys->group[0] = QUERY_BINARY;
		ret_keys->groups = 1;
		return VIEW_BINARY;
	}
	ret_keys->groups = program ? 2 : 1;
	return program ? VIEW_PROGRAM : VIEW_CONTAINER;
}

/*
 * The daemon selects by paths, which the rows do not have. All else is selected here, so that shares
 * are shares of all samples.
 */
static bool is_path(const char *glob)
{
	return glob && strchr(glob, '/');
}

/* Call GetHistory. Its order decides which rows it returns if there are too many. */
static int call_get_history(struct bus_connection *bus, const struct query *query,
			    enum view_group group, json_object **ret_reply)
{
	const struct query_select *select = &query->select;
	const char *key[2] = { "", "" }, *value[2] = { "", "" };
	unsigned int keys = 0;
	char sort[MEASURE_NAME_SIZE];
	enum view_sort order;

	measure_format_name(query->sort, sort);
	if (view_sort_parse(sort, &order) < 0 ||
	    !view_sort_is_supported(order, VIEW_SPAN_1M, group))
		snprintf(sort, sizeof(sort), "samples");
	if (is_path(select->container)) {
		key[keys] = "container";
		value[keys++] = select->container;
	}
	if (is_path(select->program)) {
		key[keys] = "program";
		value[keys++] = select->program;
	}
	return bus_call_to_json(bus, "", "Manager", "GetHistory", ret_reply, "ssutta{sv}",
				view_group_name(group), sort, (u32)ROW_SET_ROWS,
				(u64)query->since_us, (u64)query->until_us, keys, key[0], "s",
				value[0], key[1], "s", value[1]);
}

static void print_time(s64 us, char *to, size_t size)
{
	time_t seconds = (time_t)(us / 1000000);
	struct tm tm;

	localtime_r(&seconds, &tm);
	strftime(to, size, "%Y-%m-%d %H:%M", &tm);
}

static void history_describe(json_object *covered, struct profile_rows *loaded)
{
	char since[40], until[40], length[TEXT_NUMBER_SIZE];

	loaded->query.since_us = (s64)json_number(covered, "since_usec");
	loaded->query.until_us = (s64)json_number(covered, "until_usec");
	print_time(loaded->query.since_us, since, sizeof(since));
	print_time(loaded->query.until_us, until, sizeof(until));
	snprintf(loaded->making, sizeof(loaded->making),
		 "history on disk, %s to %s, in periods of up to %s", since, until,
		 text_format_seconds(length, json_number(covered, "longest_s") * 1000000000ULL));
}

static int history_read(const char *verb, json_object *reply, const struct query *keys,
			struct profile_rows *loaded)
{
	struct query_error error;
	struct row_set set;
	int r = row_set_from_history(reply, keys, &set), status;

	if (r < 0)
		return message_fail(STATUS_FAILED, "%s: the reply to GetHistory: %s", verb,
				    strerror(-r));
	set.header.ledgers_unknown = true;
	set.header.written = WINDOW_WRITTEN_UNKNOWN;
	if (is_path(loaded->query.select.container))
		loaded->query.select.container = NULL;
	if (is_path(loaded->query.select.program))
		loaded->query.select.program = NULL;
	if (set.rows) {
		status = rows_select("the history on disk", &set, loaded, &error);
	} else {
		status = STATUS_STATE;
		snprintf(error.text, sizeof(error.text),
			 "the history has no samples of this selection in this time");
	}
	if (status)
		status = message_fail(status, "%s: %s", verb, error.text);
	else
		history_describe(json_object_array_get_idx(reply, 2), loaded);
	row_set_clear(&set);
	return status;
}

static int load_history(const char *verb, struct profile_rows *loaded)
{
	json_object *reply = NULL;
	struct query keys = { 0 };
	enum view_group group = choose_history_group(&loaded->query, &keys);
	struct bus_connection *bus;
	int status = bus_new(&bus);

	if (status)
		return status;
	status = call_get_history(bus, &loaded->query, group, &reply);
	if (!status)
		status = history_read(verb, reply, &keys, loaded);
	json_object_put(reply);
	bus_free(bus);
	return status;
}

/* ---- The daemon's profile ------------------------------------------------------- */

static int live_read(const char *text, struct profile_rows *loaded, struct query_error *ret_error)
{
	json_object *json = json_tokener_parse(text);
	struct view_header header = loaded->header;
	struct row_set_error error = { "" };
	struct row_set set;
	int r = row_set_read(json, &set, &error), status;

	json_object_put(json);
	if (r < 0) {
		snprintf(ret_error->text, sizeof(ret_error->text),
			 "the reply to Query: %s; install speprof and speprofd of the same version",
			 r == -EBADMSG ? error.text : strerror(-r));
		return STATUS_FAILED;
	}
	/* The daemon has selected the rows. */
	loaded->query.select = (struct query_select){ NULL, NULL, NULL, NULL };
	status = rows_select("the daemon's profile", &set, loaded, ret_error);
	loaded->header = header;
	row_set_clear(&set);
	return status;
}

int profile_rows_load_bus(struct bus_connection *bus, const struct query *query,
			  struct profile_rows *ret_rows, struct query_error *ret_error)
{
	struct query detailed = *query;
	char *text = NULL;
	int status;

	*ret_rows = (struct profile_rows){ .query = *query };
	*ret_error = (struct query_error){ "" };
	/* Each function has the line of its heaviest part. */
	if (query_groups_by(&detailed, QUERY_FUNCTION))
		add_key(&detailed, QUERY_LINE);
	detailed.limit = BUS_ROWS_MAX;
	status = bus_run_query(bus, &detailed, &ret_rows->header, &text);
	if (!status)
		status = live_read(text, ret_rows, ret_error);
	free(text);
	return status;
}

static int load_live(const char *verb, const struct options *options, bool split_ops,
		     struct profile_rows *loaded)
{
	struct query query;
	struct query_error error = { "" };
	struct bus_connection *bus;
	int status;

	if (split_ops && loaded->query.period == VIEW_SPAN_START)
		add_key(&loaded->query, QUERY_OP);
	query = loaded->query;
	status = bus_new(&bus);
	if (status)
		return status;
	/* Addresses need the right read-raw. */
	if (query_groups_by(&query, QUERY_INSTRUCTION))
		bus_allow_password(bus);
	status = live_session_choose(verb, bus, options, true);
	if (!status)
		status = profile_rows_load_bus(bus, &query, loaded, &error);
	bus_free(bus);
	return *error.text ? message_fail(status, "%s: %s", verb, error.text) : status;
}

int profile_rows_load(const char *verb, const struct options *options, const struct query *query,
		      bool split_ops, struct profile_rows *ret_rows)
{
	*ret_rows = (struct profile_rows){ .query = *query };
	if (options->input && saved_profile_is(options->input))
		return load_saved(verb, options, split_ops, ret_rows);
	if (options->input) {
		if (split_ops)
			add_key(&ret_rows->query, QUERY_OP);
		return load_recording(verb, options, ret_rows);
	}
	if (query_is_past(query))
		return load_history(verb, ret_rows);
	return load_live(verb, options, split_ops, ret_rows);
}

void profile_rows_line(const struct profile_rows *rows, u32 index, struct source_line *ret_line)
{
	const struct query_row *row;

	if (rows->result) {
		query_result_get_source_line(rows->result, index, ret_line);
		return;
	}
	row = &rows->set.row[index];
	*ret_line = (struct source_line){ .line = row->line };
	snprintf(ret_line->file, sizeof(ret_line->file), "%s", row->file);
}

void profile_rows_format_name(const struct profile_rows *rows, const struct options *options,
			      char *to, size_t size)
{
	const struct options *o = options;

	if (o->input)
		snprintf(to, size, "%s", o->input);
	else if (o->until_us)
		snprintf(to, size, "%.150s", rows->making);
	else if (o->filter)
		snprintf(to, size, "daemon, --filter '%s'", o->filter_text);
	else
		snprintf(to, size, "daemon, session %s, %s%s", o->session ? o->session : "machine",
			 o->period == VIEW_SPAN_START ? "since its " : "the last ",
			 view_span_name(o->period));
	text_clean(to);
}

void profile_rows_deinit(struct profile_rows *rows)
{
	query_result_free(rows->result);
	symbols_free(rows->symbols);
	row_set_clear(&rows->set);
	input_deinit(&rows->input);
}
