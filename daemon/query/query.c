// SPDX-License-Identifier: LGPL-2.1-or-later
#include "query.h"

#include "profile/cell-counter.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

static const char *const key_names[QUERY_KEYS] = {
	[QUERY_CONTAINER] = "container",
	[QUERY_PROGRAM] = "program",
	[QUERY_COMM] = "comm",
	[QUERY_PID] = "pid",
	[QUERY_BINARY] = "binary",
	[QUERY_BUILD_ID] = "build_id",
	[QUERY_FUNCTION] = "function",
	[QUERY_LINE] = "line",
	[QUERY_INSTRUCTION] = "instruction",
	[QUERY_MODE] = "mode",
	[QUERY_OP] = "op",
	[QUERY_EVENT] = "event",
	[QUERY_LEVEL] = "level",
	[QUERY_TYPE] = "type",
	[QUERY_FIELD] = "field",
	[QUERY_CPU] = "cpu",
	[QUERY_NODE] = "node",
};

static const struct {
	const char *name;
	enum query_key group[4];
	u32 groups;
} short_words[] = {
	{ "function", { QUERY_CONTAINER, QUERY_PROGRAM, QUERY_FUNCTION }, 3 },
	{ "line", { QUERY_CONTAINER, QUERY_PROGRAM, QUERY_FUNCTION, QUERY_LINE }, 4 },
	{ "program", { QUERY_CONTAINER, QUERY_PROGRAM }, 2 },
	{ "process", { QUERY_CONTAINER, QUERY_COMM, QUERY_PID }, 3 },
};

static int set_error(int r, struct query_error *ret_error, const char *format, ...)
	__attribute__((__format__(__printf__, 3, 4)));

static int set_error(int r, struct query_error *ret_error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(ret_error->text, sizeof(ret_error->text), format, args);
	va_end(args);
	return r;
}

const char *query_get_build_id_glob(const char *glob)
{
	static const char prefix[] = "build-id:";

	return strncmp(glob, prefix, sizeof(prefix) - 1) ? NULL : glob + sizeof(prefix) - 1;
}

const char *query_key_name(enum query_key key)
{
	return key_names[key];
}

bool query_groups_by(const struct query *query, enum query_key key)
{
	for (u32 i = 0; i < query->groups; i++)
		if (query->group[i] == key)
			return true;
	return false;
}

static bool key_find(const char *name, size_t size, enum query_key *ret_key)
{
	for (enum query_key key = 0; key < QUERY_KEYS; key++) {
		if (strlen(key_names[key]) == size && memcmp(name, key_names[key], size) == 0) {
			*ret_key = key;
			return true;
		}
	}
	return false;
}

int query_parse_group(const char *text, struct query *query, struct query_error *ret_error)
{
	struct query parsed = { .groups = 0 };
	const char *at = text;

	for (size_t i = 0; i < ARRAY_SIZE(short_words); i++) {
		if (strcmp(text, short_words[i].name) != 0)
			continue;
		memcpy(query->group, short_words[i].group, sizeof(short_words[i].group));
		query->groups = short_words[i].groups;
		return 0;
	}
	for (;; at++) {
		size_t size = strcspn(at, ",");
		enum query_key key;

		if (!key_find(at, size, &key))
			return set_error(-EINVAL, ret_error,
					 "\"%.*s\": should be " QUERY_KEY_LIST
					 ", or several of them with commas",
					 (int)size, at);
		if (query_groups_by(&parsed, key))
			return set_error(-EINVAL, ret_error, "\"%s\": has the key %s twice", text,
					 key_names[key]);
		if (parsed.groups == QUERY_GROUP_MAX)
			return set_error(-EINVAL, ret_error, "\"%s\": should have at most %d keys",
					 text, QUERY_GROUP_MAX);
		parsed.group[parsed.groups++] = key;
		at += size;
		if (!*at)
			break;
	}
	memcpy(query->group, parsed.group, sizeof(query->group));
	query->groups = parsed.groups;
	return 0;
}

void query_format_group(const struct query *query, char *to, size_t size)
{
	size_t length = 0;

	for (size_t i = 0; i < ARRAY_SIZE(short_words); i++) {
		if (query->groups == short_words[i].groups &&
		    !memcmp(query->group, short_words[i].group,
			    query->groups * sizeof(query->group[0]))) {
			snprintf(to, size, "%s", short_words[i].name);
			return;
		}
	}
	*to = 0;
	for (u32 i = 0; i < query->groups && length < size; i++)
		length += (size_t)snprintf(to + length, size - length, "%s%s", i ? "," : "",
					   key_names[query->group[i]]);
}

bool query_has_binary(const struct query *query)
{
	return query_groups_by(query, QUERY_BINARY) || query_groups_by(query, QUERY_FUNCTION) ||
	       query_groups_by(query, QUERY_LINE) || query_groups_by(query, QUERY_INSTRUCTION);
}

bool query_counts_cell_parts(const struct query *query)
{
	return query_groups_by(query, QUERY_OP) || query_groups_by(query, QUERY_EVENT) ||
	       query_groups_by(query, QUERY_LEVEL);
}

bool query_has_data(const struct query *query)
{
	return query_groups_by(query, QUERY_TYPE) || query_groups_by(query, QUERY_FIELD);
}

u8 query_get_split_flags(const struct query *query)
{
	bool process = query_groups_by(query, QUERY_PID) || query_groups_by(query, QUERY_COMM);
	bool cpu = query_groups_by(query, QUERY_CPU) || query_groups_by(query, QUERY_NODE);

	return (process ? CELL_SPLIT_PROCESS : 0) | (cpu ? CELL_SPLIT_CPU : 0) |
	       (query_has_data(query) ? CELL_BY_DATA : 0);
}

bool query_has_sums_only(const struct query *query)
{
	const struct query_select *select = &query->select;

	return query->period != VIEW_SPAN_START &&
	       (query->groups != 1 || query->group[0] != QUERY_CONTAINER || select->program ||
		select->binary || select->function);
}

/* Return a key or option of the query that is about code; NULL for none. */
static const char *find_code_part(const struct query *query)
{
	for (u32 i = 0; i < query->groups; i++) {
		enum query_key key = query->group[i];

		if (key == QUERY_BINARY || key == QUERY_BUILD_ID || key == QUERY_FUNCTION ||
		    key == QUERY_LINE || key == QUERY_INSTRUCTION || key == QUERY_MODE)
			return key_names[key];
	}
	return query->select.binary ? "--binary" : query->select.function ? "--function" : NULL;
}

static int check_query_of_recording(const struct query *query, struct query_error *ret_error)
{
	if (query->period != VIEW_SPAN_START)
		return set_error(-EOPNOTSUPP, ret_error,
				 "--last applies to the daemon's profile, not to a recording");
	if (query_has_data(query) && find_code_part(query))
		return set_error(-EOPNOTSUPP, ret_error,
				 "type and field are of data, so they cannot be combined with %s, "
				 "which is of code; --filter selects samples by PC",
				 find_code_part(query));
	return 0;
}

/* Reject keys and measures that need more than the sums that a period has of each location. */
static int check_query_of_period(const struct query *query, struct query_error *ret_error)
{
	const char *period = view_span_name(query->period);
	char name[MEASURE_NAME_SIZE];

	if (query_counts_cell_parts(query))
		return set_error(-EOPNOTSUPP, ret_error,
				 "the counters of a period have no op, event and level: leave out "
				 "--last %s, or make a recording with \"speprof record -d SEC\"",
				 period);
	measure_format_name(query->sort, name);
	if (query_has_sums_only(query) && !measure_is_known_for_period(query->sort))
		return set_error(
			-EOPNOTSUPP, ret_error,
			"-s %s: locations of a period have " MEASURE_PERIOD_LIST
			"; -G container has all measures, as has the profile without --last %s",
			name, period);
	return 0;
}

bool query_is_past(const struct query *query)
{
	return query->until_us != 0;
}

/* Return whether rows of the history on disk have a measure. */
static bool is_in_past(enum measure measure)
{
	return measure == MEASURE_MEAN || measure == MEASURE_P50 || measure == MEASURE_P99 ||
	       measure_is_known_for_period(measure);
}

/* Reject keys and measures that the history on disk does not have. */
static int check_past(const struct query *query, struct query_error *ret_error)
{
	char name[MEASURE_NAME_SIZE];

	if (query->recording)
		return set_error(
			-EOPNOTSUPP, ret_error,
			"\"%.100s\" has no history: --since, --until and --last apply to the "
			"daemon",
			query->recording);
	if (query->session)
		return set_error(
			-EOPNOTSUPP, ret_error,
			"--session: the history on disk has only the session machine; --last "
			"10s, 1m or 10m is a period of a session");
	for (u32 i = 0; i < query->groups; i++) {
		enum query_key key = query->group[i];

		if (key != QUERY_CONTAINER && key != QUERY_PROGRAM && key != QUERY_BINARY &&
		    key != QUERY_FUNCTION && key != QUERY_LINE)
			return set_error(
				-EOPNOTSUPP, ret_error,
				"-G %s: the history on disk has container, program, binary, "
				"function and line; sessions and recordings have more",
				key_names[key]);
	}
	measure_format_name(query->sort, name);
	if (!is_in_past(query->sort))
		return set_error(-EOPNOTSUPP, ret_error,
				 "-s %s: the history on disk has " MEASURE_PERIOD_LIST
				 ", and mean, p50 and p99",
				 name);
	return 0;
}

static int check_query_of_daemon(const struct query *query, struct query_error *ret_error)
{
	if (query_groups_by(query, QUERY_COMM) || query_groups_by(query, QUERY_PID))
		return set_error(
			-EOPNOTSUPP, ret_error,
			"the daemon counts functions by program: -G process has the totals of "
			"each process, and a session with --filter 'pid == PID' the functions "
			"of one");
	if (query_has_data(query))
		return set_error(
			-EOPNOTSUPP, ret_error,
			"the daemon counts by code, not by data: a recording of \"speprof record\" "
			"has type and field");
	if (query_groups_by(query, QUERY_CPU) || query_groups_by(query, QUERY_NODE))
		return set_error(
			-EOPNOTSUPP, ret_error,
			"the daemon counts all CPUs together: a session with --filter 'cpu == "
			"N' has one of them, and a recording of \"speprof record\" all");
	return query->period == VIEW_SPAN_START ? 0 : check_query_of_period(query, ret_error);
}

int query_check(const struct query *query, struct query_error *ret_error)
{
	char name[MEASURE_NAME_SIZE];
	int r = query_is_past(query) ? check_past(query, ret_error) :
		query->recording     ? check_query_of_recording(query, ret_error) :
				       check_query_of_daemon(query, ret_error);

	if (r < 0)
		return r;
	measure_format_name(query->sort, name);
	if (query_counts_cell_parts(query) && measure_is_issue_or_translation(query->sort))
		return set_error(
			-EOPNOTSUPP, ret_error,
			"-s %s: rows by op, event or level have the total latency alone; "
			"\"--filter\" selects operations, events and levels for other rows",
			name);
	return 0;
}
