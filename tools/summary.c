// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * speprof summary: print totals of a recording, or of the daemon's profile. The text is printed
 * from the same JSON that -j prints, so that both agree.
 */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/bus-json.h"
#include "lib/bus-message.h"
#include "lib/input.h"
#include "lib/live-session.h"
#include "lib/message.h"
#include "lib/options.h"
#include "lib/statistics-text.h"
#include "lib/text.h"
#include "output/profile-json.h"
#include "profile/profile-query.h"
#include "query/query-names.h"
#include "verb.h"

static u64 get_json_u64(json_object *from, const char *key)
{
	return json_object_get_uint64(json_object_object_get(from, key));
}

static void print_line(const char *name, u64 count, u64 whole)
{
	char figure[TEXT_NUMBER_SIZE], share[TEXT_NUMBER_SIZE];

	printf("  %-20s %15s  %7s\n", name, text_format_count(figure, count),
	       text_format_percent(share, count, whole));
}

/* Print every counter of @object that is not zero, and its share of @whole. */
static void print_counters(const char *title, json_object *object, u64 whole)
{
	if (!object || json_object_get_type(object) != json_type_object)
		return;
	printf("%s\n", title);
	json_object_object_foreach(object, key, value)
	{
		if (json_object_get_uint64(value))
			print_line(key, json_object_get_uint64(value), whole);
	}
}

static void print_latencies(json_object *latencies)
{
	char count[TEXT_NUMBER_SIZE], max[TEXT_NUMBER_SIZE];

	if (!latencies || json_object_get_type(latencies) != json_type_object)
		return;
	printf("latency (cycles)               count      mean       max\n");
	json_object_object_foreach(latencies, key, latency)
	{
		u64 n = get_json_u64(latency, "count");

		printf("  %-20s %13s", key, text_format_count(count, n));
		if (n)
			printf("  %8.1f  %8s\n", (double)get_json_u64(latency, "sum") / n,
			       text_format_count(max, get_json_u64(latency, "max")));
		else
			printf("  %8s  %8s\n", "-", "-");
	}
}

#define SUMMARY_LINES 20

/*
 * Print the first contexts, in the order of PIDs, and the number of the others, because a machine
 * may have thousands.
 */
static void print_contexts(json_object *contexts, u64 whole)
{
	if (!contexts || json_object_get_type(contexts) != json_type_object)
		return;
	json_object_object_foreach(contexts, level, counts)
	{
		u32 lines = 0;

		if (json_object_get_type(counts) != json_type_object ||
		    json_object_object_length(counts) == 0)
			continue;
		printf("context %s\n", level);
		json_object_object_foreach(counts, key, count)
		{
			if (lines++ < SUMMARY_LINES)
				print_line(key, json_object_get_uint64(count), whole);
		}
		if (lines > SUMMARY_LINES)
			printf("  and %u more\n", lines - SUMMARY_LINES);
	}
}

static void print_processes(json_object *processes, u64 whole)
{
	size_t count = processes ? json_object_array_length(processes) : 0;

	if (count)
		printf("processes\n");
	for (size_t i = 0; i < count && i < SUMMARY_LINES; i++) {
		json_object *process = json_object_array_get_idx(processes, i);
		const char *comm = json_object_get_string(json_object_object_get(process, "comm"));
		char name[TEXT_SIZE], fitted[TEXT_SIZE];

		snprintf(name, sizeof(name), "%s (%d)", comm ? comm : "?",
			 json_object_get_int(json_object_object_get(process, "pid")));
		text_fit(name, 20, false, fitted);
		print_line(fitted, get_json_u64(process, "records"), whole);
	}
	if (count > SUMMARY_LINES)
		printf("  and %zu more\n", count - SUMMARY_LINES);
}

/*
 * Print which levels served loads and stores. If there is no table of data sources for the core,
 * levels are derived from events, and the heading states that.
 */
static void print_levels(json_object *totals, u64 whole)
{
	json_object *levels = json_object_object_get(totals, "levels");
	json_object *origin = json_object_object_get(totals, "origin");
	json_object *values = json_object_object_get(totals, "data_source");
	u64 by_source = origin ? get_json_u64(origin, "by_source") : 0;
	u64 events = 0;

	/* An older daemon does not report levels. */
	if (!levels || json_object_get_type(levels) != json_type_object ||
	    json_object_object_length(levels) == 0)
		return;
	print_counters(by_source ? "loads and stores served by" :
				   "loads and stores served by (from events)",
		       levels, whole);
	if (origin) {
		json_object_object_foreach(origin, key, count)
		{
			(void)key;
			events += json_object_get_uint64(count);
		}
	}
	if (events)
		print_counters("of them", origin, whole);
	if (!by_source && values && json_object_get_type(values) == json_type_object &&
	    json_object_object_length(values))
		printf("  the core's data sources are unknown: speprof has no table for this "
		       "core\n");
}

/* Print the latencies of the loads and stores of each level, if the profile has them. */
static void print_level_latency(json_object *levels)
{
	if (!levels || json_object_get_type(levels) != json_type_object ||
	    json_object_object_length(levels) == 0)
		return;
	printf("%-26s%10s  %8s  %8s  %8s  %8s\n", "latency by level (cycles)", "count", "share",
	       "mean", "p50", "p99");
	json_object_object_foreach(levels, level, of)
	{
		char count[TEXT_NUMBER_SIZE], p50[TEXT_NUMBER_SIZE], p99[TEXT_NUMBER_SIZE];
		json_object *mean = json_object_object_get(of, "mean");

		printf("  %-20s  %12s  %6.1f %%", level,
		       text_format_count(count, get_json_u64(of, "samples")),
		       100 * json_object_get_double(json_object_object_get(of, "share")));
		if (mean)
			printf("  %8.1f  %8s  %8s\n", json_object_get_double(mean),
			       text_format_count(p50, get_json_u64(of, "p50")),
			       text_format_count(p99, get_json_u64(of, "p99")));
		else
			printf("  %8s  %8s  %8s\n", "-", "-", "-");
	}
}

static void print_summary_text(json_object *json)
{
	json_object *totals = json_object_object_get(json, "totals");
	const char *backend = json_object_get_string(json_object_object_get(json, "backend"));
	char records[TEXT_NUMBER_SIZE], bytes[TEXT_NUMBER_SIZE], suspect[TEXT_NUMBER_SIZE],
		lost[TEXT_NUMBER_SIZE];
	u64 whole = get_json_u64(totals, "records");
	bool modelled = backend && strcmp(backend, "emulated") == 0;

	printf("%s  %s record%s in %s  lost %s  suspect %s\n",
	       modelled ? "EMULATED SPU: process, PC and time are real, the rest is modelled" : backend,
	       text_format_count(records, whole), whole == 1 ? "" : "s",
	       text_format_bytes(bytes, get_json_u64(totals, "bytes")),
	       json_object_object_get(totals, "lost_bytes") ?
		       text_format_bytes(lost, get_json_u64(totals, "lost_bytes")) :
		       "not known",
	       text_format_bytes(suspect, get_json_u64(totals, "suspect_bytes")));
	if (get_json_u64(totals, "truncated_windows") || get_json_u64(totals, "windows_with_gaps"))
		printf("windows truncated: %llu, with gaps: %llu\n",
		       (unsigned long long)get_json_u64(totals, "truncated_windows"),
		       (unsigned long long)get_json_u64(totals, "windows_with_gaps"));
	print_counters("operations", json_object_object_get(totals, "ops"), whole);
	print_line("of them SVE or SME", get_json_u64(totals, "simd"), whole);
	print_counters("events", json_object_object_get(totals, "events"), whole);
	print_latencies(json_object_object_get(totals, "latency"));
	print_counters("data source", json_object_object_get(totals, "data_source"), whole);
	print_levels(totals, whole);
	print_level_latency(json_object_object_get(totals, "level_latency"));
	print_contexts(json_object_object_get(totals, "contexts"), whole);
	print_processes(json_object_object_get(json, "processes"), whole);
}

static int summary_print(const char *text, bool as_json)
{
	json_object *json, *totals;

	if (as_json) {
		puts(text);
		return STATUS_OK;
	}
	json = json_tokener_parse(text);
	if (!json || !json_object_object_get_ex(json, "totals", &totals)) {
		json_object_put(json);
		return message_fail(STATUS_FAILED, "summary: the totals are not valid JSON");
	}
	print_summary_text(json);
	json_object_put(json);
	return STATUS_OK;
}

static const char *get_backend_name(const struct input_recording *input)
{
	return input->backend == BACKEND_EMULATED ? "emulated" :
	       input->backend == BACKEND_HARDWARE ? "hardware" :
						    "recording";
}

static int get_recording_summary(const struct options *options, char **ret_text)
{
	const struct input_request request = input_request_from_options(options);
	struct input_recording input;
	int status, r;

	status = input_load(&request, &input);
	if (status == STATUS_OK || status == STATUS_DAMAGED) {
		r = profile_summary_json(input.profile, get_backend_name(&input),
					 input.format != RECORDING_RAW, ret_text);
		if (r < 0)
			status =
				message_fail(STATUS_FAILED, "%s: %s", options->input, strerror(-r));
	}
	input_deinit(&input);
	return status;
}

static int get_daemon_summary(const struct options *options, char **ret_text)
{
	struct bus_connection *bus;
	int status = bus_new(&bus);

	if (status)
		return status;
	status = live_session_choose("summary", bus, options, true);
	if (!status)
		status = bus_get_summary(bus, ret_text);
	if (!status && !options->json)
		live_session_print_limits(bus);
	bus_free(bus);
	return status;
}

/* ---- Statistics of a container, process or function ------------------------------ */

static bool selects_part(const struct options *options)
{
	return options->container || options->pid || options->function || options->binary ||
	       options->period != VIEW_SPAN_START;
}

static bool selects_names(const struct options *options)
{
	return options->container || options->function || options->binary;
}

/* Make a query that selects the same names; its error lists names that exist. */
static struct query make_query_of_names(const struct options *options)
{
	return (struct query){ .session = options->session,
			       .period = options->period,
			       .group = { options->function || options->binary ? QUERY_FUNCTION :
										 QUERY_CONTAINER },
			       .groups = 1,
			       .limit = 1,
			       .select = { .container = options->container,
					   .function = options->function,
					   .binary = options->binary } };
}

static int append_selection(sd_bus_message *m, const struct options *options)
{
	const char *const texts[][2] = {
		{ "container", options->container },
		{ "function", options->function },
		{ "binary", options->binary },
	};
	int r = sd_bus_message_append(m, "s", view_span_name(options->period));

	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "{sv}");
	for (size_t i = 0; i < ARRAY_SIZE(texts) && r >= 0; i++)
		if (texts[i][1])
			r = sd_bus_message_append(m, "{sv}", texts[i][0], "s", texts[i][1]);
	if (r >= 0 && selects_names(options))
		r = sd_bus_message_append(m, "{sv}", "globs", "b", true);
	if (r >= 0 && options->pid)
		r = sd_bus_message_append(m, "{sv}", "pid", "i", options->pid);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

/*
 * Call GetFigures. If no row has the names, print the error of a query for them, which lists names
 * that exist; a caller that may read only its own containers gets the error of GetFigures.
 */
static int call_for_counters(struct bus_connection *bus, const struct options *options,
			     sd_bus_message *m, json_object **ret_answer)
{
	const struct query query = make_query_of_names(options);
	struct view_header header;
	char text[512], *rows = NULL;
	int status;

	bus_set_quiet(bus);
	status = bus_message_call_to_json(bus, m, ret_answer);
	if (!status)
		return status;
	snprintf(text, sizeof(text), "%s", bus_get_error(bus));
	if (status == STATUS_STATE && selects_names(options) &&
	    bus_run_query(bus, &query, &header, &rows) == STATUS_STATE)
		snprintf(text, sizeof(text), "%s", bus_get_error(bus));
	free(rows);
	return message_fail(status, "%s", text);
}

static int query_daemon_counters(const struct options *options, json_object **ret_counters)
{
	json_object *answer = NULL;
	sd_bus_message *m = NULL;
	struct bus_connection *bus;
	int status = bus_new(&bus);

	if (status)
		return status;
	status = live_session_choose("summary", bus, options, true);
	if (!status)
		status = bus_profile_message_new(bus, "GetFigures", &m);
	if (!status && append_selection(m, options) < 0)
		status = message_fail(STATUS_FAILED, "out of memory");
	if (!status)
		status = call_for_counters(bus, options, m, &answer);
	if (!status)
		*ret_counters = json_object_get(json_object_array_get_idx(answer, 0));
	if (!status && !options->json)
		live_session_print_limits(bus);
	json_object_put(answer);
	sd_bus_message_unref(m);
	bus_free(bus);
	return status;
}

/* Describe which name of a recording matches nothing, and which names exist. */
static void explain_no_match(const struct input_recording *input, struct symbols_cache *symbols,
			     const struct options *options, struct query_error *ret_error)
{
	const struct query query = make_query_of_names(options);
	const struct query_source source = { .profile = input->profile, .symbols = symbols };
	struct query_result *result = NULL;

	snprintf(ret_error->text, sizeof(ret_error->text), "no samples of process %d%s",
		 options->pid, selects_names(options) ? " and these names" : "");
	if (selects_names(options) &&
	    input_run_query(&source, &query, &result, ret_error) == 0)
		query_result_free(result);
}

static int get_input_counters(const struct options *options, struct input_recording *input,
			      json_object **ret_counters)
{
	const struct profile_query wanted = {
		.container = options->container,
		.function = options->function,
		.binary = options->binary,
		.pid = options->pid,
		/* For functions, the samples were already selected by PID. */
		.pid_given = options->pid && !options->function && !options->binary,
		.matches = query_name_matches,
	};
	struct symbols_cache *symbols = NULL;
	struct query_error error = { "" };
	struct profile_counters counters;
	int r = input_new_symbols(input, &symbols);

	if (r >= 0)
		r = profile_query_counters(input->profile, symbols, false, VIEW_SPAN_START, 0,
					   &wanted, &counters);
	if (r == -ENOENT)
		explain_no_match(input, symbols, options, &error);
	symbols_free(symbols);
	if (r == -ENOENT)
		return message_fail(STATUS_STATE, "%s: %s", options->input, error.text);
	if (r < 0)
		return message_fail(STATUS_FAILED, "%s: %s", options->input, strerror(-r));
	*ret_counters = statistics_json(&counters, get_backend_name(input));
	return STATUS_OK;
}

static int get_recording_counters(const struct options *options, json_object **ret_counters)
{
	const struct input_request request = input_request_from_options(options);
	struct input_recording input;
	int status, shown;

	if (options->period != VIEW_SPAN_START)
		return message_fail(
			STATUS_USAGE,
			"summary: --last applies to the daemon's profile, not to a recording");
	status = input_load(&request, &input);
	if (status == STATUS_OK || status == STATUS_DAMAGED) {
		shown = get_input_counters(options, &input, ret_counters);
		status = shown ? shown : status;
	}
	input_deinit(&input);
	return status;
}

static json_object *selection_to_json(const struct options *options)
{
	json_object *of = json_object_new_object();

	if (options->container)
		json_object_object_add(of, "container", json_object_new_string(options->container));
	if (options->pid)
		json_object_object_add(of, "pid", json_object_new_int(options->pid));
	if (options->function)
		json_object_object_add(of, "function", json_object_new_string(options->function));
	if (options->binary)
		json_object_object_add(of, "binary", json_object_new_string(options->binary));
	return of;
}

static void print_selected_counters(json_object *of, const struct options *options,
				    json_object *counters)
{
	if (!strcmp(json_text(counters, "backend"), "emulated"))
		puts(STATISTICS_MODELLED);
	json_object_object_foreach(of, key, value)
	{
		char *text = strdup(json_object_get_string(value));

		if (text)
			text_clean(text);
		printf("%-10s %s\n", key, text ? text : "");
		free(text);
	}
	if (options->period != VIEW_SPAN_START)
		printf("%-10s %s\n", "period", view_span_name(options->period));
	statistics_print(counters);
	statistics_print_histograms(counters);
}

static int run_for_selection(const struct options *options)
{
	json_object *counters = NULL, *object, *of;
	int status = options->input ? get_recording_counters(options, &counters) :
				      query_daemon_counters(options, &counters);

	if (!counters)
		return status;
	of = selection_to_json(options);
	if (options->json) {
		object = json_object_new_object();
		json_object_object_add(object, "window",
				       json_object_new_string(view_span_name(options->period)));
		json_object_object_add(object, "of", json_object_get(of));
		json_object_object_add(object, "figures", json_object_get(counters));
		json_print_and_free(object);
	} else {
		print_selected_counters(of, options, counters);
	}
	json_object_put(of);
	json_object_put(counters);
	return status;
}

int summary_run(int argc, char **argv)
{
	struct options options;
	char *text = NULL;
	int status = options_parse(argc, argv, "ijCMFLcpUYWZNdygu", &options);

	if (status)
		return status;
	if (selects_part(&options)) {
		status = run_for_selection(&options);
		filter_free(options.filter);
		return status;
	}
	status = options.input ? get_recording_summary(&options, &text) :
				 get_daemon_summary(&options, &text);
	if (text) {
		int printed = summary_print(text, options.json);

		if (status == STATUS_OK)
			status = printed;
	}
	free(text);
	filter_free(options.filter);
	return status;
}
