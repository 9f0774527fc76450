// SPDX-License-Identifier: LGPL-2.1-or-later
/* speprof report: print the heaviest rows of a recording or of the daemon's profile. */
#include <stdlib.h>

#include "html-report.h"
#include "lib/bus.h"
#include "lib/input.h"
#include "lib/live-session.h"
#include "lib/message.h"
#include "lib/options.h"
#include "lib/query-table.h"
#include "lib/recording-header.h"
#include "lib/rows.h"
#include "lib/terminal.h"
#include "lib/profile-rows.h"
#include "lib/saved-profile.h"
#include "memory-access-report.h"
#include "output/query-json.h"
#include "verb.h"

#define REPORT_ROWS 40

/* @making: as in &struct view_format */
static void report_print_view(struct view *view, const struct options *options, const char *making)
{
	size_t height;
	struct view_format format = {
		.name = input_get_printed_name(options->input),
		.making = making,
		.known_share = options->known_share,
		.known_shares = options->known_shares,
		.group = options->group,
		.sort = options->sort,
		.colour = term_uses_colour(),
	};

	if (options->json) {
		rows_print_json(stdout, view, options);
		return;
	}
	term_get_size(&format.width, &height);
	format_print_header(stdout, &view->header, &format);
	format_print_table(stdout, view, &format);
}

/* Print the rows of a query from @text, which is JSON. Return an &enum verb_exit_status. */
static int report_print_rows(const struct options *options, const struct view_header *header,
			     const char *text, const char *making)
{
	struct view_format format = {
		.name = input_get_printed_name(options->input),
		.making = making,
		.known_share = options->known_share,
		.known_shares = options->known_shares,
		.colour = term_uses_colour(),
	};
	size_t height;
	int r;

	if (options->json) {
		fputs(text, stdout);
		return STATUS_OK;
	}
	term_get_size(&format.width, &height);
	format_print_header(stdout, header, &format);
	r = query_table_print(stdout, &options->query, text, &format);
	return r < 0 ? message_fail(STATUS_FAILED, "report: %s", strerror(-r)) : STATUS_OK;
}

/* Print rows, or only the ledgers of a recording in which nothing is selected. */
static int report_print_result(const struct options *options, const struct view_header *header,
			       const struct query_rows *rows, const char *making)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int status, r = out ? query_json_write(out, header, &options->query, rows) : -ENOMEM;

	if (out && fclose(out) != 0)
		r = -ENOMEM;
	status = r < 0 ? message_fail(STATUS_FAILED, "report: %s", strerror(-r)) :
			 report_print_rows(options, header, text, making);
	free(text);
	return status;
}

static int report_query(struct input_recording *input, const struct options *options)
{
	struct query_source source = { .profile = input->profile,
				       .cpu_node = input->facts.cpu_node,
				       .cpus = RECORDING_CPUS };
	struct query_result *result = NULL;
	struct query_error error;
	struct query_rows rows;
	struct view_header header;
	int status = STATUS_OK, r;

	r = input_new_symbols(input, &source.symbols);
	if (r == 0)
		r = input_run_query(&source, &options->query, &result, &error);
	if (r == 0 || r == -ENOENT) {
		input_get_header(input, source.symbols, &header);
		if (result)
			rows = query_rows_get(result);
		status = report_print_result(options, &header, result ? &rows : NULL,
					     input->summary);
	}
	if ((r == 0 || r == -ENOENT) && options->pid && !header.records)
		status = message_fail(STATUS_STATE,
				      "report: no samples of process %d; \"-G process\" without "
				      "\"-p\" lists all processes",
				      options->pid);
	else if (r == -ENOENT)
		status = message_fail(STATUS_STATE, "report: %s", error.text);
	else if (r < 0)
		status = message_fail(STATUS_FAILED, "%s: %s", options->input, strerror(-r));
	query_result_free(result);
	symbols_free(source.symbols);
	return status;
}

/* Cells have no processes, so their rows come from the counters of processes. */
static bool shows_processes(const struct options *options)
{
	return options->group_text && strcmp(options->group_text, "process") == 0;
}

static int report_processes(struct input_recording *input, struct options *options)
{
	struct view view;
	int r;

	options->group = VIEW_PROCESS;
	if (options->sort_text && view_sort_parse(options->sort_text, &options->sort) < 0)
		return message_fail(
			STATUS_USAGE,
			"report: -G process has no measure \"%s\"; it should be " VIEW_SORT_LIST,
			options->sort_text);
	r = input_make_view(input, options->group, options->sort, rows_get_limit(options, 0),
			    &view);
	if (r < 0)
		return message_fail(STATUS_FAILED, "%s: %s", options->input, strerror(-r));
	rows_filter(&view, options, options->number);
	report_print_view(&view, options, input->summary);
	r = !view.count && (options->container || options->pid) ?
		    rows_report_missing("report", options) :
		    STATUS_OK;
	view_clear(&view);
	return r;
}

static int report_print_header(struct input_recording *input, const struct options *options)
{
	int r = options->json ? recording_header_print_json(stdout, options->input, input) :
				recording_header_print(stdout, options->input, input);

	return r < 0 ? message_fail(STATUS_FAILED, "%s: %s", options->input, strerror(-r)) :
		       STATUS_OK;
}

static int report_recording(struct options *options)
{
	const struct input_request request = input_request_from_options(options);
	struct input_recording input;
	int status, shown;

	status = input_load(&request, &input);
	if (status == STATUS_OK || status == STATUS_DAMAGED) {
		shown = options->header		 ? report_print_header(&input, options) :
			shows_processes(options) ? report_processes(&input, options) :
						   report_query(&input, options);
		status = shown ? shown : status;
	}
	input_deinit(&input);
	return status;
}

static int report_live_processes(const struct options *options, struct bus_connection *bus)
{
	struct view view = { 0 };
	int status;

	if (options->period != VIEW_SPAN_START)
		status = bus_get_period_view(bus, options->period, options->group, options->sort,
					     rows_get_limit(options, BUS_ROWS_MAX), &view);
	else
		status = bus_get_view(bus, options->group, options->sort,
				      rows_get_limit(options, BUS_ROWS_MAX), &view);
	if (status == STATUS_OK) {
		rows_filter(&view, options, options->number);
		report_print_view(&view, options, NULL);
		if (!view.count && (options->container || options->pid))
			status = rows_report_missing("report", options);
	}
	view_clear(&view);
	return status;
}

static int report_live_query(const struct options *options, struct bus_connection *bus)
{
	struct view_header header;
	char *text = NULL;
	int status = bus_run_query(bus, &options->query, &header, &text);

	if (status == STATUS_OK)
		status = report_print_rows(options, &header, text, NULL);
	free(text);
	return status;
}

/* Report rows that were counted before: of a saved profile, or of the history on disk. */
static int report_stored(struct options *options)
{
	struct profile_rows loaded;
	int status = profile_rows_load("report", options, &options->query, false, &loaded);

	if (!status) {
		options->query.since_us = loaded.query.since_us;
		options->query.until_us = loaded.query.until_us;
		status = report_print_result(options, &loaded.header, &loaded.rows, loaded.making);
	}
	profile_rows_deinit(&loaded);
	return status;
}

static int report_daemon(const struct options *options)
{
	struct bus_connection *bus;
	int status = bus_new(&bus);

	if (status)
		return status;
	status = live_session_choose("report", bus, options, true);
	if (!status)
		status = shows_processes(options) ? report_live_processes(options, bus) :
						    report_live_query(options, bus);
	bus_free(bus);
	return status;
}

static int report_check_options(const struct options *options)
{
	bool hot = options->lines || options->pages;

	if (options->annotates && !options->html)
		return message_fail(
			STATUS_USAGE,
			"report: --annotate adds instructions to the page of --html FILE; "
			"\"speprof annotate\" prints them");
	if (options->until_us && hot)
		return message_fail(
			STATUS_USAGE,
			"report: the history on disk has no pages and cache lines; "
			"\"speprof record\" makes a recording, which has them");
	if (options->input && (hot || options->header) && saved_profile_is(options->input))
		return message_fail(STATUS_USAGE,
				    "report: %s is a saved profile: --lines, --pages and --header "
				    "need a recording",
				    options->input);
	if (hot && (options->container || options->pid || options->program || options->binary ||
		    options->function || options->period != VIEW_SPAN_START))
		return message_fail(STATUS_USAGE,
				    "report: --lines and --pages cover all samples and cannot be "
				    "combined with -c, -p, --program, --binary, --function or "
				    "--last");
	return STATUS_OK;
}

/* Print cache lines and pages, and the new name of --lines if that succeeded. */
static int report_memory(const struct options *options)
{
	int status = memory_access_report_print("report", options);

	if (options->lines && !status)
		message_print("report: --lines is called \"speprof sharing\" now; the old name works "
			      "for one release");
	return status;
}

static int report_choose(struct options *options)
{
	if (options->html)
		return html_report_write(options);
	if (!options->number)
		options->number = REPORT_ROWS;
	options->query.limit = options->number;
	if (options->lines || options->pages)
		return report_memory(options);
	if (options->until_us || (options->input && saved_profile_is(options->input)))
		return report_stored(options);
	return options->input ? report_recording(options) : report_daemon(options);
}

int report_run(int argc, char **argv)
{
	struct options options;
	int status;

	status = options_parse(argc, argv, "ijGsnpcCMTFLSWIPUYAQHaZNdBKOygu", &options);
	if (status)
		return status;
	status = report_check_options(&options);
	if (!status)
		status = report_choose(&options);
	filter_free(options.filter);
	return status;
}
