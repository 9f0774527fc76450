// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * speprof timeline: print a measure over time, from the daemon's history on disk. A single series
 * is printed as a table with bars. Of several series, each is printed as one line of blocks.
 */
#include <getopt.h>
#include <inttypes.h>
#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lib/bus-json.h"
#include "lib/message.h"
#include "lib/statistics-text.h"
#include "lib/terminal.h"
#include "lib/text.h"
#include "lib/time-range.h"
#include "verb.h"

#define SECOND_US   1000000LL
#define MINUTE_US   (60 * SECOND_US)
#define LAST_DEFAULT_US (60 * MINUTE_US)
#define SERIES_DEFAULT	20 /* number of lines that are printed by default */
#define POINTS_DEFAULT	60 /* number of points of a series, if no step is given */
#define BAR_COLUMNS	40 /* columns of the longest bar */
#define LABEL_WIDTH 32

/* Positions of values in a point of GetTimeline. */
enum timeline_field {
	FIELD_SERIES,
	FIELD_START,
	FIELD_END,
	FIELD_SAMPLED,
	FIELD_SAMPLES,
	FIELD_OPERATIONS,
	FIELD_LATENCY,
	FIELD_MEMORY,
	FIELD_DRAM,
	FIELD_REMOTE,
	FIELD_BRANCHES,
	FIELD_MISPREDICTED,
	FIELD_P50,
	FIELD_P99,
	FIELDS,
};

static const char *const field_names[FIELDS] = {
	[FIELD_START] = "start_usec",
	[FIELD_END] = "end_usec",
	[FIELD_SAMPLED] = "sampled_usec",
	[FIELD_SAMPLES] = "samples",
	[FIELD_OPERATIONS] = "operations",
	[FIELD_LATENCY] = "latency",
	[FIELD_MEMORY] = "memory",
	[FIELD_DRAM] = "dram",
	[FIELD_REMOTE] = "remote",
	[FIELD_BRANCHES] = "branches",
	[FIELD_MISPREDICTED] = "mispredicted",
	[FIELD_P50] = "p50",
	[FIELD_P99] = "p99",
};

/**
 * struct timeline_measure - a measure
 * @name: name on the command line
 * @heading: heading of the values
 * @field: position of the value in a point
 * @mean: divide by the number of samples
 * @rate: divide by the time in seconds
 */
static const struct timeline_measure {
	const char *name;
	const char *heading;
	enum timeline_field field;
	bool mean;
	bool rate;
} measures[] = {
	{ "operations", "operations per second", FIELD_OPERATIONS, false, true },
	{ "samples", "samples per second", FIELD_SAMPLES, false, true },
	{ "latency", "cycles of latency of the samples per second", FIELD_LATENCY, false, true },
	{ "mean", "mean latency of a sample, cycles", FIELD_LATENCY, true, false },
	{ "p50", "median latency, cycles", FIELD_P50, false, false },
	{ "p99", "99th percentile of the latency, cycles", FIELD_P99, false, false },
	{ "memory", "sampled loads and stores per second", FIELD_MEMORY, false, true },
	{ "dram", "sampled accesses to DRAM per second", FIELD_DRAM, false, true },
	{ "remote", "sampled accesses to another chip per second", FIELD_REMOTE, false, true },
	{ "branches", "sampled branches per second", FIELD_BRANCHES, false, true },
	{ "mispredicted", "sampled mispredicted branches per second", FIELD_MISPREDICTED, false,
	  true },
};

#define MEASURES_TEXT                                                                      \
	"operations, samples, latency, mean, p50, p99, memory, dram, remote, branches or " \
	"mispredicted"

/** struct timeline_options - the command line; times are CLOCK_REALTIME in microseconds */
struct timeline_options {
	const char *group;
	const char *container;
	const char *program;
	const struct timeline_measure *measure;
	s64 since_us;
	s64 until_us;
	s64 step_us;
	u32 number;
	bool json;
};

/* ---- The command line --------------------------------------------------------- */

static int parse_measure(const char *name, const struct timeline_measure **ret_measure)
{
	for (size_t i = 0; i < ARRAY_SIZE(measures); i++) {
		if (strcmp(measures[i].name, name) != 0)
			continue;
		*ret_measure = &measures[i];
		return STATUS_OK;
	}
	return message_fail(STATUS_USAGE, "timeline: -s \"%s\": should be " MEASURES_TEXT, name);
}

static int parse_group(const char *name, const char **ret_group)
{
	if (strcmp(name, "machine") != 0 && strcmp(name, "container") != 0 &&
	    strcmp(name, "program") != 0)
		return message_fail(STATUS_USAGE,
				    "timeline: -G \"%s\": should be machine, container or program",
				    name);
	*ret_group = name;
	return STATUS_OK;
}

static int parse_point(const char *option, const char *text, s64 now_us, s64 *ret_us)
{
	if (time_range_parse_point(text, now_us, ret_us) < 0)
		return message_fail(STATUS_USAGE,
				    "timeline: %s \"%s\": should be " TIME_RANGE_POINTS, option,
				    text);
	return STATUS_OK;
}

static int parse_length(const char *option, const char *text, s64 *ret_us)
{
	if (time_range_parse_length(text, ret_us) < 0)
		return message_fail(STATUS_USAGE,
				    "timeline: %s \"%s\": should be " TIME_RANGE_LENGTHS, option,
				    text);
	return STATUS_OK;
}

static int parse_number(const char *text, u32 *ret_number)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (*text < '1' || *text > '9' || *end || number > BUS_ROWS_MAX)
		return message_fail(STATUS_USAGE,
				    "timeline: -n \"%s\": should be a number from 1 to %u", text,
				    BUS_ROWS_MAX);
	*ret_number = (u32)number;
	return STATUS_OK;
}

static int parse_option(int c, s64 now_us, s64 *last_us, struct timeline_options *o)
{
	switch (c) {
	case 'j':
		o->json = true;
		return STATUS_OK;
	case 'G':
		return parse_group(optarg, &o->group);
	case 's':
		return parse_measure(optarg, &o->measure);
	case 'n':
		return parse_number(optarg, &o->number);
	case 'c':
		o->container = optarg;
		return STATUS_OK;
	case 'P':
		o->program = optarg;
		return STATUS_OK;
	case 'S':
		return parse_point("--since", optarg, now_us, &o->since_us);
	case 'U':
		return parse_point("--until", optarg, now_us, &o->until_us);
	case 'L':
		return parse_length("--last", optarg, last_us);
	case 'T':
		return parse_length("--step", optarg, &o->step_us);
	default:
		return message_fail(STATUS_USAGE,
				    "timeline: unknown option, or an option without its value; try "
				    "\"speprof help timeline\"");
	}
}

/* Return the smallest usual step with which a series has at most POINTS_DEFAULT points. */
static s64 choose_step(s64 length_us)
{
	static const s64 minutes[] = { 1, 2, 5, 10, 20, 30, 60, 120, 180, 360, 720, 1440 };
	s64 step = MINUTE_US;

	for (size_t i = 0; i < ARRAY_SIZE(minutes); i++) {
		step = minutes[i] * MINUTE_US;
		if (step * POINTS_DEFAULT >= length_us)
			return step;
	}
	while (step * POINTS_DEFAULT < length_us)
		step += minutes[ARRAY_SIZE(minutes) - 1] * MINUTE_US;
	return step;
}

static int check_times(s64 last_us, struct timeline_options *o)
{
	if (last_us && (o->since_us != INT64_MIN))
		return message_fail(STATUS_USAGE,
				    "timeline: --last and --since cannot be combined; --until can");
	if (o->since_us == INT64_MIN)
		o->since_us = o->until_us - (last_us ? last_us : LAST_DEFAULT_US);
	if (o->since_us < 0)
		o->since_us = 0;
	if (o->since_us >= o->until_us)
		return message_fail(STATUS_USAGE, "timeline: --since should be before --until");
	if (!o->step_us)
		o->step_us = choose_step(o->until_us - o->since_us);
	if (o->step_us < MINUTE_US)
		return message_fail(STATUS_USAGE, "timeline: --step should be at least 1m");
	/*
	 * Steps begin at whole multiples of their length, so that each period of the history is
	 * within one step.
	 */
	o->since_us -= o->since_us % o->step_us;
	return STATUS_OK;
}

static int parse_options(int argc, char **argv, struct timeline_options *o)
{
	static const struct option long_options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "group", required_argument, NULL, 'G' },
		{ "sort", required_argument, NULL, 's' },
		{ "number", required_argument, NULL, 'n' },
		{ "container", required_argument, NULL, 'c' },
		{ "program", required_argument, NULL, 'P' },
		{ "since", required_argument, NULL, 'S' },
		{ "until", required_argument, NULL, 'U' },
		{ "last", required_argument, NULL, 'L' },
		{ "step", required_argument, NULL, 'T' },
		{ 0 },
	};
	s64 now_us = (s64)time(NULL) * SECOND_US, last_us = 0;
	int c, status = STATUS_OK;

	*o = (struct timeline_options){
		.group = "machine",
		.measure = &measures[0],
		.since_us = INT64_MIN,
		.until_us = now_us,
		.number = SERIES_DEFAULT,
	};
	opterr = 0;
	optind = 1;
	while (!status && (c = getopt_long(argc, argv, "jG:s:n:c:", long_options, NULL)) >= 0)
		status = parse_option(c, now_us, &last_us, o);
	if (!status && optind < argc)
		status = message_fail(STATUS_USAGE, "timeline \"%.40s\": no argument is expected",
				      argv[optind]);
	if (!status && !strcmp(o->group, "program") && o->measure->name[0] == 'p')
		status = message_fail(
			STATUS_USAGE,
			"timeline: the history has no percentiles of programs; -s mean "
			"is their mean latency");
	return status ? status : check_times(last_us, o);
}

/* ---- Values ------------------------------------------------------------------- */

static u64 get_point_field(json_object *point, enum timeline_field field)
{
	return json_object_get_uint64(json_object_array_get_idx(point, field));
}

static double compute_point_value(json_object *point, const struct timeline_measure *measure)
{
	double value = (double)get_point_field(point, measure->field);
	u64 samples = get_point_field(point, FIELD_SAMPLES);
	u64 sampled = get_point_field(point, FIELD_SAMPLED);

	if (measure->mean)
		return samples ? value / (double)samples : 0;
	if (measure->rate)
		return sampled ? value * SECOND_US / (double)sampled : 0;
	return value;
}

/**
 * struct timeline_series - a series of the answer
 * @container, @program: its names
 * @first, @count: index of the first point, and number of points
 * @least, @most, @mean: smallest, largest and mean value of the series
 * @weight: number of samples, by which series are sorted
 */
struct timeline_series {
	const char *container;
	const char *program;
	size_t first;
	size_t count;
	double least;
	double most;
	double mean;
	u64 weight;
};

static void series_read(json_object *names, json_object *points,
			const struct timeline_measure *measure, struct timeline_series *series,
			size_t count)
{
	for (size_t i = 0; i < count; i++) {
		json_object *name = json_object_array_get_idx(names, i);

		series[i].container = json_object_get_string(json_object_array_get_idx(name, 0));
		series[i].program = json_object_get_string(json_object_array_get_idx(name, 1));
	}
	for (size_t i = 0; i < json_object_array_length(points); i++) {
		json_object *point = json_object_array_get_idx(points, i);
		u64 number = get_point_field(point, FIELD_SERIES);
		double value = compute_point_value(point, measure);
		struct timeline_series *s;

		if (number >= count)
			continue;
		s = &series[number];
		if (!s->count)
			s->first = i;
		s->least = !s->count || value < s->least ? value : s->least;
		s->most = value > s->most ? value : s->most;
		s->mean += (value - s->mean) / (double)++s->count;
		s->weight += get_point_field(point, FIELD_SAMPLES);
	}
}

static int compare_series(const void *a, const void *b)
{
	const struct timeline_series *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return (x->first > y->first) - (x->first < y->first);
}

/* ---- Output ------------------------------------------------------------------- */

static void print_time(s64 us, const char *format)
{
	time_t seconds = (time_t)(us / SECOND_US);
	struct tm tm;
	char text[64];

	localtime_r(&seconds, &tm);
	strftime(text, sizeof(text), format, &tm);
	fputs(text, stdout);
}

static void print_value(double value)
{
	char text[TEXT_NUMBER_SIZE];

	if (value < 100)
		printf("%14.1f", value);
	else
		printf("%14s", text_format_count(text, (u64)(value + 0.5)));
}

static void print_header(const struct timeline_options *o, bool modelled)
{
	char step[TEXT_NUMBER_SIZE];

	if (modelled)
		puts(STATISTICS_MODELLED);
	printf("%s, ", o->measure->heading);
	print_time(o->since_us, "%Y-%m-%d %H:%M");
	print_time(o->until_us, " to %Y-%m-%d %H:%M");
	printf(", steps of %s\n", text_format_seconds(step, (u64)o->step_us * 1000));
}

static void print_table(json_object *points, const struct timeline_series *s,
			const struct timeline_measure *measure)
{
	for (size_t i = s->first; i < s->first + s->count; i++) {
		json_object *point = json_object_array_get_idx(points, i);
		double value = compute_point_value(point, measure);
		int bar = s->most > 0 ? (int)(value / s->most * BAR_COLUMNS + 0.5) : 0;

		print_time((s64)get_point_field(point, FIELD_START), "%Y-%m-%d %H:%M ");
		print_value(value);
		printf("%s%.*s\n", bar ? "  " : "", bar,
		       "########################################");
	}
}

/*
 * Return the character that represents a value: a block or, unless the charset is UTF-8, an ASCII
 * character.
 */
static const char *get_block_character(double value, double most)
{
	static const char *const utf8[] = { "\u2581", "\u2582", "\u2583", "\u2584",
					    "\u2585", "\u2586", "\u2587", "\u2588" };
	static const char *const ascii[] = { "_", ".", ":", "-", "=", "+", "*", "#" };
	int level = most > 0 ? (int)(value / most * 7.999) : 0;

	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0 ? utf8[level] : ascii[level];
}

static void print_line(json_object *points, const struct timeline_series *s, double most,
		       const struct timeline_options *o)
{
	size_t steps = (size_t)((o->until_us - o->since_us + o->step_us - 1) / o->step_us), at = 0;
	char label[TEXT_SIZE], name[TEXT_SIZE];

	snprintf(name, sizeof(name), "%s%s%s", s->container, *s->program ? " " : "", s->program);
	text_clean(name);
	text_fit(name, LABEL_WIDTH, false, label);
	printf("%s ", label);
	for (size_t i = s->first; i < s->first + s->count; i++) {
		json_object *point = json_object_array_get_idx(points, i);
		s64 start = (s64)get_point_field(point, FIELD_START);
		size_t step =
			start < o->since_us ? 0 : (size_t)((start - o->since_us) / o->step_us);

		for (; at < step && at < steps; at++)
			putchar(' ');
		fputs(get_block_character(compute_point_value(point, o->measure), most), stdout);
		at++;
	}
	for (; at < steps; at++)
		putchar(' ');
	print_value(s->least);
	print_value(s->mean);
	print_value(s->most);
	putchar('\n');
}

static void print_lines(json_object *points, const struct timeline_series *series, size_t count,
			const struct timeline_options *o)
{
	size_t steps = (size_t)((o->until_us - o->since_us + o->step_us - 1) / o->step_us);
	size_t shown = count < o->number ? count : o->number;
	double most = 0;

	for (size_t i = 0; i < shown; i++)
		most = series[i].most > most ? series[i].most : most;
	printf("%-*s %*s%14s%14s%14s\n", LABEL_WIDTH,
	       strcmp(o->group, "program") ? "CONTAINER" : "CONTAINER, PROGRAM", (int)steps, "",
	       "LEAST", "MEAN", "MOST");
	for (size_t i = 0; i < shown; i++)
		print_line(points, &series[i], most, o);
	if (shown < count)
		printf("%zu of %zu; -n shows more\n", shown, count);
}

static json_object *make_point_json(json_object *point, const struct timeline_measure *measure)
{
	json_object *object = json_object_new_object();

	for (enum timeline_field i = FIELD_START; i < FIELDS; i++)
		json_object_object_add(object, field_names[i],
				       json_object_new_uint64(get_point_field(point, i)));
	json_object_object_add(object, "value",
			       json_object_new_double(compute_point_value(point, measure)));
	return object;
}

static json_object *make_series_json(json_object *points, const struct timeline_series *s,
				     const struct timeline_measure *measure)
{
	json_object *object = json_object_new_object(), *array = json_object_new_array();

	json_object_object_add(object, "container", json_object_new_string(s->container));
	json_object_object_add(object, "program", json_object_new_string(s->program));
	for (size_t i = s->first; i < s->first + s->count; i++)
		json_object_array_add(
			array, make_point_json(json_object_array_get_idx(points, i), measure));
	json_object_object_add(object, "points", array);
	return object;
}

static void print_json(json_object *answer, const struct timeline_series *series, size_t count,
		       const struct timeline_options *o)
{
	json_object *object = json_object_new_object(), *array = json_object_new_array();
	json_object *points = json_object_array_get_idx(answer, 4);

	json_object_object_add(object, "measure", json_object_new_string(o->measure->name));
	json_object_object_add(object, "unit",
			       json_object_get(json_object_array_get_idx(answer, 0)));
	json_object_object_add(object, "backend",
			       json_object_get(json_object_array_get_idx(answer, 1)));
	json_object_object_add(object, "truncated",
			       json_object_get(json_object_array_get_idx(answer, 2)));
	json_object_object_add(object, "since_usec", json_object_new_int64(o->since_us));
	json_object_object_add(object, "until_usec", json_object_new_int64(o->until_us));
	json_object_object_add(object, "step_usec", json_object_new_int64(o->step_us));
	for (size_t i = 0; i < count && i < o->number; i++)
		json_object_array_add(array, make_series_json(points, &series[i], o->measure));
	json_object_object_add(object, "series", array);
	json_print_and_free(object);
}

static void print_text(json_object *answer, const struct timeline_series *series, size_t count,
		       const struct timeline_options *o)
{
	json_object *points = json_object_array_get_idx(answer, 4);

	print_header(o, !strcmp(json_object_get_string(json_object_array_get_idx(answer, 1)),
				"emulated"));
	if (strcmp(o->group, "machine"))
		print_lines(points, series, count, o);
	else
		print_table(points, &series[0], o->measure);
	if (json_object_get_boolean(json_object_array_get_idx(answer, 2)))
		puts("Points are missing, as there are too many: choose a longer --step or a "
		     "shorter time.");
}

static int print_answer(json_object *answer, const struct timeline_options *o)
{
	json_object *names = json_object_array_get_idx(answer, 3);
	json_object *points = json_object_array_get_idx(answer, 4);
	size_t count = json_object_array_length(names);
	struct timeline_series *series = calloc(count ? count : 1, sizeof(*series));

	if (!series)
		return message_fail(STATUS_FAILED, "out of memory");
	series_read(names, points, o->measure, series, count);
	qsort(series, count, sizeof(*series), compare_series);
	if (o->json)
		print_json(answer, series, count, o);
	else if (count)
		print_text(answer, series, count, o);
	free(series);
	if (count)
		return STATUS_OK;
	return message_fail(STATUS_STATE,
			    "timeline: the history has no samples of this selection in this time");
}

static int timeline_query(struct bus_connection *bus, const struct timeline_options *o)
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
	status = bus_call_to_json(bus, "", "Manager", "GetTimeline", &answer, "suttta{sv}",
				  o->group, (u32)BUS_ROWS_MAX, (u64)o->since_us, (u64)o->until_us,
				  (u64)o->step_us, keys, key[0], "s", value[0], key[1], "s",
				  value[1]);
	if (status)
		return status;
	status = print_answer(answer, o);
	json_object_put(answer);
	return status;
}

int timeline_run(int argc, char **argv)
{
	struct timeline_options options;
	struct bus_connection *bus = NULL;
	int status = parse_options(argc, argv, &options);

	if (!status)
		status = bus_new(&bus);
	if (status)
		return status;
	status = timeline_query(bus, &options);
	bus_free(bus);
	return status;
}
