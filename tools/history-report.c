// SPDX-License-Identifier: LGPL-2.1-or-later
#include "history-report.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lib/bus-json.h"
#include "lib/message.h"
#include "lib/statistics-text.h"
#include "lib/text.h"
#include "lib/time-range.h"

#define SECOND_US 1000000LL
#define ROWS_DEFAULT 40

/** struct history_options - the command line; times are CLOCK_REALTIME in microseconds */
struct history_options {
	enum view_group group;
	enum view_sort sort;
	const char *container;
	const char *program;
	s64 since_us;
	s64 until_us;
	s64 last_us;
	u32 number;
	bool json;
};

/* ---- The command line --------------------------------------------------------- */

/*
 * Return the value of the option at @argv[@i] if its name is @name; NULL if it is another option.
 */
static const char *option_value(int argc, char **argv, int i, const char *name)
{
	size_t len = strlen(name);

	if (strncmp(argv[i], name, len) != 0)
		return NULL;
	if (argv[i][len] == '=')
		return argv[i] + len + 1;
	return argv[i][len] ? NULL : i + 1 < argc ? argv[i + 1] : "";
}

bool history_report_is_selected(int argc, char **argv)
{
	enum view_span span;
	s64 length;

	for (int i = 1; i < argc; i++) {
		const char *last = option_value(argc, argv, i, "--last");

		if (option_value(argc, argv, i, "--since") ||
		    option_value(argc, argv, i, "--until"))
			return true;
		/* The history has no shorter periods than a minute. */
		if (last && view_span_parse(last, &span) < 0 &&
		    time_range_parse_length(last, &length) == 0 && length >= 60 * SECOND_US)
			return true;
	}
	return false;
}

static int parse_group(const char *name, enum view_group *ret_group)
{
	if (view_group_parse(name, ret_group) < 0 || *ret_group == VIEW_PROCESS)
		return message_fail(
			STATUS_USAGE,
			"report: -G \"%s\": the history on disk has function, line, "
			"program, container and binary; sessions and recordings have more",
			name);
	return STATUS_OK;
}

static int parse_sort(const char *name, enum view_sort *ret_sort)
{
	/* The order "samples" sorts by weight, which is the number of operations. */
	if (!strcmp(name, "operations"))
		name = "samples";
	if (view_sort_parse(name, ret_sort) < 0)
		return message_fail(STATUS_USAGE,
				    "report: -s \"%s\": should be operations, "
				    "latency, dram, remote, memory, branches or mispredicted",
				    name);
	return STATUS_OK;
}

static int parse_point(const char *option, s64 *ret_us)
{
	if (time_range_parse_point(optarg, (s64)time(NULL) * SECOND_US, ret_us) < 0)
		return message_fail(STATUS_USAGE, "report: %s \"%s\": should be " TIME_RANGE_POINTS,
				    option, optarg);
	return STATUS_OK;
}

static int parse_last(s64 *ret_us)
{
	if (time_range_parse_length(optarg, ret_us) < 0)
		return message_fail(STATUS_USAGE,
				    "report: --last \"%s\": should be " TIME_RANGE_LENGTHS, optarg);
	return STATUS_OK;
}

static int parse_number(u32 *ret_number)
{
	char *end;
	unsigned long number = strtoul(optarg, &end, 10);

	if (*optarg < '1' || *optarg > '9' || *end || number > BUS_ROWS_MAX)
		return message_fail(STATUS_USAGE,
				    "report: -n \"%s\": should be a number from 1 to %u", optarg,
				    BUS_ROWS_MAX);
	*ret_number = (u32)number;
	return STATUS_OK;
}

static int parse_option(int c, struct history_options *o)
{
	switch (c) {
	case 'j':
		o->json = true;
		return STATUS_OK;
	case 'G':
		return parse_group(optarg, &o->group);
	case 'l':
		o->group = VIEW_LINE;
		return STATUS_OK;
	case 's':
		return parse_sort(optarg, &o->sort);
	case 'n':
		return parse_number(&o->number);
	case 'c':
		o->container = optarg;
		return STATUS_OK;
	case 'P':
		o->program = optarg;
		return STATUS_OK;
	case 'S':
		return parse_point("--since", &o->since_us);
	case 'U':
		return parse_point("--until", &o->until_us);
	case 'L':
		return parse_last(&o->last_us);
	default:
		return message_fail(
			STATUS_USAGE,
			"report: of the history on disk only -j, -G, --srcline, -s, -n, "
			"-c, --program, --since, --until and --last can be given");
	}
}

static int check_times(struct history_options *o)
{
	if (o->last_us && o->since_us != INT64_MIN)
		return message_fail(STATUS_USAGE,
				    "report: --last and --since cannot be combined; --until can");
	if (o->last_us)
		o->since_us = o->until_us - o->last_us;
	if (o->since_us < 0)
		o->since_us = 0;
	if (o->since_us >= o->until_us)
		return message_fail(STATUS_USAGE, "report: --since should be before --until");
	return STATUS_OK;
}

static int parse_options(int argc, char **argv, struct history_options *o)
{
	static const struct option long_options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "group", required_argument, NULL, 'G' },
		{ "srcline", no_argument, NULL, 'l' },
		{ "sort", required_argument, NULL, 's' },
		{ "number", required_argument, NULL, 'n' },
		{ "container", required_argument, NULL, 'c' },
		{ "program", required_argument, NULL, 'P' },
		{ "since", required_argument, NULL, 'S' },
		{ "until", required_argument, NULL, 'U' },
		{ "last", required_argument, NULL, 'L' },
		{ 0 },
	};
	int c, status = STATUS_OK;

	*o = (struct history_options){
		.since_us = INT64_MIN,
		.until_us = (s64)time(NULL) * SECOND_US,
		.number = ROWS_DEFAULT,
	};
	opterr = 0;
	optind = 1;
	while (!status && (c = getopt_long(argc, argv, "jG:s:n:c:", long_options, NULL)) >= 0)
		status = parse_option(c, o);
	if (!status && optind < argc)
		status = message_fail(STATUS_USAGE,
				      "report \"%.40s\": a recording has no history; use --last, "
				      "--since and --until without it",
				      argv[optind]);
	if (!status && !view_sort_is_supported(o->sort, VIEW_SPAN_1M, o->group))
		status = message_fail(STATUS_USAGE,
				      "report: the history on disk has \"%s\" only by container",
				      view_sort_name(o->sort));
	return status ? status : check_times(o);
}

/* ---- Output ------------------------------------------------------------------- */

/*
 * Return the name of the member with the weight of a row: operations if all periods have one unit,
 * else samples.
 */
static const char *find_weight_key(json_object *header)
{
	static const char *const keys[] = { "weight", "weight_micro_ops", "weight_instructions" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (json_number(header, keys[i]))
			return keys[i];
	return "samples";
}

static const char *get_sort_key(const struct history_options *o, json_object *header)
{
	if (o->sort == VIEW_SORT_SAMPLES)
		return find_weight_key(header);
	return o->sort == VIEW_SORT_LATENCY ? "latency_sum" : view_sort_name(o->sort);
}

static void print_time(const char *format, s64 us)
{
	time_t seconds = (time_t)(us / SECOND_US);
	char text[64];
	struct tm tm;

	localtime_r(&seconds, &tm);
	strftime(text, sizeof(text), format, &tm);
	fputs(text, stdout);
}

static void print_header(json_object *header, json_object *covered)
{
	char samples[TEXT_NUMBER_SIZE], length[TEXT_NUMBER_SIZE];

	fputs("history on disk, ", stdout);
	print_time("%Y-%m-%d %H:%M", (s64)json_number(covered, "since_usec"));
	print_time(" to %Y-%m-%d %H:%M", (s64)json_number(covered, "until_usec"));
	printf(", in periods of up to %s: %s samples\n",
	       text_format_seconds(length, json_number(covered, "longest_s") * 1000000000ULL),
	       text_format_count(samples, json_number(header, "records")));
	if (json_number(header, "backend") == BACKEND_EMULATED)
		puts(STATISTICS_MODELLED);
}

static void print_row_name(json_object *row, const struct history_options *o)
{
	char text[1024], line[16] = "";
	bool function = o->group == VIEW_FUNCTION || o->group == VIEW_LINE;

	if (o->group == VIEW_LINE && json_number(row, "line"))
		snprintf(line, sizeof(line), ":%" PRIu64, json_number(row, "line"));
	snprintf(text, sizeof(text), "%s%s%s%s%s%s%s%s%s%s",
		 o->group == VIEW_BINARY ? "" : json_text(row, "container"),
		 o->group == VIEW_PROGRAM || function ? "  " : "",
		 o->group == VIEW_PROGRAM || function ? json_text(row, "process") : "",
		 function ? "  " : "", function ? json_text(row, "function") : "",
		 function && *json_text(row, "binary") ? "  " : "",
		 function || o->group == VIEW_BINARY ? json_text(row, "binary") : "",
		 o->group == VIEW_LINE && *line ? "  " : "",
		 o->group == VIEW_LINE && *line ? json_text(row, "file") : "", line);
	text_clean(text);
	puts(text);
}

static const char *get_heading(enum view_group group)
{
	switch (group) {
	case VIEW_CONTAINER:
		return "CONTAINER";
	case VIEW_PROGRAM:
		return "CONTAINER  PROGRAM";
	case VIEW_BINARY:
		return "BINARY";
	case VIEW_LINE:
		return "CONTAINER  PROGRAM  FUNCTION  BINARY  LINE";
	default:
		return "CONTAINER  PROGRAM  FUNCTION  BINARY";
	}
}

static void print_row(json_object *row, u64 part, u64 whole, const struct history_options *o)
{
	char share[TEXT_NUMBER_SIZE], samples[TEXT_NUMBER_SIZE], mean[TEXT_NUMBER_SIZE],
		dram[TEXT_NUMBER_SIZE];
	u64 count = json_number(row, "samples");

	printf("%7s %12s %12s %8s  ", text_format_percent(share, part, whole),
	       text_format_count(samples, count),
	       text_format_count(mean, count ? json_number(row, "latency_sum") / count : 0),
	       text_format_percent_whole(dram, json_number(row, "dram"),
					 json_number(row, "memory")));
	print_row_name(row, o);
}

static void print_text(json_object *header, json_object *rows, json_object *covered,
		       const struct history_options *o)
{
	const char *key = get_sort_key(o, header);
	size_t count = json_object_array_length(rows);
	bool modelled = json_number(header, "backend") == BACKEND_EMULATED;
	u64 whole = 0;

	/* Percentiles cannot be added up, so they have no share. */
	for (size_t i = 0; i < count && o->sort < VIEW_SORT_P99; i++)
		whole += json_number(json_object_array_get_idx(rows, i), key);
	print_header(header, covered);
	printf("%7s %12s %12s %8s  %s\n", "SHARE", "SAMPLES", modelled ? "~MEAN" : "MEAN",
	       modelled ? "~DRAM" : "DRAM", get_heading(o->group));
	for (size_t i = 0; i < count && i < o->number; i++) {
		json_object *row = json_object_array_get_idx(rows, i);

		print_row(row, json_number(row, key), whole, o);
	}
	if (count > o->number)
		printf("%u of %zu rows; -n shows more\n", o->number, count);
}

static void print_json(json_object *header, json_object *rows, json_object *covered,
		       const struct history_options *o)
{
	json_object *object = json_object_new_object(), *some = json_object_new_array();

	json_object_object_add(object, "group", json_object_new_string(view_group_name(o->group)));
	json_object_object_add(object, "sort", json_object_new_string(view_sort_name(o->sort)));
	json_object_object_add(object, "covered", json_object_get(covered));
	json_object_object_add(object, "header", json_object_get(header));
	for (size_t i = 0; i < json_object_array_length(rows) && i < o->number; i++)
		json_object_array_add(some, json_object_get(json_object_array_get_idx(rows, i)));
	json_object_object_add(object, "rows", some);
	json_print_and_free(object);
}

static int history_print(json_object *answer, const struct history_options *o)
{
	json_object *header = json_object_array_get_idx(answer, 0);
	json_object *rows = json_object_array_get_idx(answer, 1);
	json_object *covered = json_object_array_get_idx(answer, 2);

	if (o->json)
		print_json(header, rows, covered, o);
	else if (json_object_array_length(rows))
		print_text(header, rows, covered, o);
	if (json_object_array_length(rows))
		return STATUS_OK;
	return message_fail(STATUS_STATE,
			    "report: the history has no samples of this selection in this time");
}

static int history_query(struct bus_connection *bus, const struct history_options *o)
{
	const char *key[2] = { "", "" }, *value[2] = { "", "" };
	json_object *answer = NULL;
	unsigned int keys = 0;
	int status;

	if (o->container) {
		key[keys] = "container";
		value[keys++] = o->container;
	}
	if (o->program) {
		key[keys] = "program";
		value[keys++] = o->program;
	}
	/* Add up all rows: a share is relative to their sum. */
	status = bus_call_to_json(bus, "", "Manager", "GetHistory", &answer, "ssutta{sv}",
				  view_group_name(o->group), view_sort_name(o->sort),
				  (u32)BUS_ROWS_MAX, (u64)o->since_us, (u64)o->until_us, keys,
				  key[0], "s", value[0], key[1], "s", value[1]);
	if (status)
		return status;
	status = history_print(answer, o);
	json_object_put(answer);
	return status;
}

int history_report_run(int argc, char **argv)
{
	struct history_options options;
	struct bus_connection *bus = NULL;
	int status = parse_options(argc, argv, &options);

	if (!status)
		status = bus_new(&bus);
	if (status)
		return status;
	status = history_query(bus, &options);
	bus_free(bus);
	return status;
}
