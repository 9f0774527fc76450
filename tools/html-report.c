// SPDX-License-Identifier: LGPL-2.1-or-later
#include "html-report.h"

#include <errno.h>
#include <stdlib.h>

#include "annotate/annotation.h"
#include "annotate/listing-print.h"
#include "html/page-data.h"
#include "html/page.h"
#include "lib/bus.h"
#include "lib/input.h"
#include "lib/live-session.h"
#include "lib/message.h"
#include "lib/output.h"
#include "lib/profile-rows.h"
#include "lib/rows.h"
#include "lib/saved-profile.h"
#include "output/query-json.h"
#include "profile/profile-read.h"

static bool shows_lines(const struct options *options)
{
	return options->group_text && strcmp(options->group_text, "line") == 0;
}

/* Return whether the profile is a saved one or from the history on disk. */
static bool html_reads_stored(const struct options *options)
{
	return options->until_us || (options->input && saved_profile_is(options->input));
}

static int html_check_options(const struct options *options)
{
	if (options->group_text && strcmp(options->group_text, "function") != 0 &&
	    !shows_lines(options))
		return message_fail(
			STATUS_USAGE,
			"report: --html has rows of functions, or of lines with -G line; "
			"the page groups them by container, program and binary");
	if (options->json || options->number || options->known_shares || options->lines ||
	    options->pages || options->sort_text)
		return message_fail(STATUS_USAGE, "report: --html shows all rows, sorted by the "
						  "reader; it cannot be combined with -j, -n, -s, "
						  "--lines, --pages or --truth");
	if (options->annotates &&
	    (html_reads_stored(options) || (options->input && strcmp(options->input, "-") == 0)))
		return message_fail(
			STATUS_USAGE,
			"report: --annotate needs a recording in a file, or the profile "
			"that the daemon counts now: saved profiles and the history have "
			"no instructions");
	return STATUS_OK;
}

static int html_report_error(const struct options *options, int r)
{
	return message_fail(STATUS_FAILED, "%s: %s", options->html, strerror(-r));
}

int html_report_write_data(const char *path, const u8 *data, size_t size)
{
	struct output_file output = OUTPUT_NONE;
	int r = output_open(path, 0600, &output);

	if (r >= 0)
		r = page_write(output.fd, data, size);
	if (r >= 0)
		r = output_commit(&output);
	output_drop(&output);
	return r;
}

/* ---- Instructions --------------------------------------------------------------- */

/* Load the functions of one --annotate: of a recording, or, if @bus is not NULL, of the daemon. */
static int html_load_functions(const struct options *options, struct bus_connection *bus,
			       const char *glob, struct annotation *annotation)
{
	struct query_select select = options->query.select;
	struct query_error error;
	int status;

	if (!bus)
		return annotation_load("report", options, glob, true, annotation);
	select.function = glob;
	status = annotation_load_bus(bus, options->period, &select, &options->folders, annotation,
				     &error);
	return *error.text ? message_fail(status, "report: %s", error.text) : status;
}

/*
 * Load the functions of all --annotate. A page is given to others, so it has no text of source files
 * that not all users may read. Return an &enum verb_exit_status; *ret_code is NULL without --annotate.
 */
static int html_load_code(const struct options *options, struct bus_connection *bus,
			  json_object **ret_code)
{
	json_object *code = options->annotates ? json_object_new_array() : NULL;
	int status = STATUS_OK;

	for (u32 i = 0; i < options->annotates; i++) {
		struct annotation annotation;
		json_object *json;

		status = html_load_functions(options, bus, options->annotate[i], &annotation);
		if (status == STATUS_OK || status == STATUS_DAMAGED) {
			json = json_object_new_object();
			json_object_object_add(json, "glob",
					       json_object_new_string(options->annotate[i]));
			json_object_object_add(json, "functions",
					       listing_json(&annotation.listing, true));
			json_object_array_add(code, json);
			/* The rows of the page report the damage. */
			status = STATUS_OK;
		}
		annotation_deinit(&annotation);
		if (status)
			break;
	}
	*ret_code = code;
	return status;
}

/* ---- Recordings ----------------------------------------------------------------- */

/* Write the page of a recording. Return an &enum verb_exit_status. */
static int html_write_recording(const struct options *options, struct input_recording *input,
				const struct sampled_pages *pages, const struct page_time *time,
				json_object *code)
{
	const struct page_config config = {
		.name = input_get_printed_name(options->input),
		.time = time,
		.pages = pages,
		.select = options->query.select,
		.lines = shows_lines(options),
		.code = code,
	};
	struct query_error error;
	u8 *data = NULL;
	size_t size;
	int r;

	if (options->pid && !profile_get_header(input->profile)->records)
		return rows_report_missing("report", options);
	r = page_data_new(input, &config, &data, &size, &error);
	if (r == -ENOENT)
		return message_fail(STATUS_STATE, "report: %s", error.text);
	if (r >= 0)
		r = html_report_write_data(options->html, data, size);
	free(data);
	return r < 0 ? html_report_error(options, r) : STATUS_OK;
}

/* Add the counters of the recording over time, for which the file is read a second time. */
static int html_write_with_times(const struct options *options, struct input_recording *input,
				 struct sampled_pages *pages)
{
	struct page_time *time = calloc(1, sizeof(*time));
	json_object *code = NULL;
	int r = time ? sampled_pages_finish(pages) : -ENOMEM, status;

	/* Standard input cannot be read twice; the page then states that the times are unknown. */
	if (r == 0 && input_get_printed_name(options->input))
		r = page_time_read(options->input, options->cpus_given ? &options->cpus : NULL,
				   options->midr, options->filter, input, time);
	status = r < 0 ? message_fail(STATUS_FAILED, "%s: %s", options->input, strerror(-r)) :
			 html_load_code(options, NULL, &code);
	if (!status)
		status = html_write_recording(options, input, pages, time, code);
	json_object_put(code);
	if (time)
		page_time_deinit(time);
	free(time);
	return status;
}

static int html_report_recording(const struct options *options)
{
	struct input_request request = input_request_from_options(options);
	struct sampled_pages pages = { .max = SAMPLED_PAGES_MAX };
	struct input_recording input;
	int status, written;

	/* Count cache lines and memory pages, because the HTML page shows them. */
	request.memory = true;
	request.watch = sampled_pages_watch;
	request.ctx = &pages;
	pages.nodes = &input.nodes;
	status = input_load(&request, &input);
	if (status == STATUS_OK || status == STATUS_DAMAGED) {
		written = html_write_with_times(options, &input, &pages);
		/* A damaged recording is shown, too; @status reports the damage. */
		status = written ? written : status;
	}
	sampled_pages_deinit(&pages);
	input_deinit(&input);
	return status;
}

/* ---- Profiles that the daemon counted ------------------------------------------- */

/* Return the query of the rows of a page. */
static struct query html_query(const struct options *options)
{
	static const enum query_key keys[] = { QUERY_CONTAINER, QUERY_PROGRAM, QUERY_BINARY,
					       QUERY_FUNCTION, QUERY_LINE };
	struct query query = options->query;

	memcpy(query.group, keys, sizeof(keys));
	query.groups = shows_lines(options) ? 5 : 4;
	query.sort = MEASURE_OPERATIONS;
	query.limit = ROW_SET_ROWS;
	return query;
}

static int html_write_rows(const struct options *options, const char *name,
			   const struct page_json *json, json_object *code)
{
	const struct page_config config = {
		.name = name,
		.select = options->query.select,
		.lines = shows_lines(options),
		.code = code,
	};
	u8 *data = NULL;
	size_t size;
	int r = page_data_from_json(&config, json, &data, &size);

	if (r >= 0)
		r = html_report_write_data(options->html, data, size);
	free(data);
	return r < 0 ? html_report_error(options, r) : STATUS_OK;
}

/* Write a page of rows that were counted before: of a saved profile, or of the history on disk. */
static int html_report_stored(const struct options *options)
{
	const struct query query = html_query(options);
	struct profile_rows loaded;
	char *text = NULL;
	size_t size;
	FILE *out;
	int status = profile_rows_load("report", options, &query, false, &loaded), r;

	if (!status) {
		out = open_memstream(&text, &size);
		r = out ? query_json_write(out, &loaded.header, &loaded.query, &loaded.rows) :
			  -ENOMEM;
		if (out && fclose(out) != 0)
			r = -ENOMEM;
		status = r < 0 ? html_report_error(options, r) :
				 html_write_rows(options,
						 options->input ? options->input : loaded.making,
						 &(struct page_json){ .report = text }, NULL);
	}
	free(text);
	profile_rows_deinit(&loaded);
	return status;
}

/* Name a profile of the daemon. */
static void write_live_name(const struct options *options, char *to, size_t size)
{
	bool whole = options->period == VIEW_SPAN_START;

	if (options->filter)
		snprintf(to, size, "daemon, --filter '%s'", options->filter_text);
	else
		snprintf(to, size, "daemon, session %s, %s%s",
			 options->session ? options->session : "machine",
			 whole ? "since its " : "the last ", view_span_name(options->period));
}

static int html_report_live_rows(const struct options *options, struct bus_connection *bus)
{
	struct query query = html_query(options);
	char *report = NULL, *memory = NULL;
	json_object *code = NULL;
	struct view_header header;
	char name[1024];
	int status;

	/* Rows by level have the latency of each level. */
	if (query.period == VIEW_SPAN_START)
		query.group[query.groups++] = QUERY_LEVEL;
	status = bus_run_query(bus, &query, &header, &report);
	if (!status)
		status = html_load_code(options, bus, &code);
	/* Addresses need a right that the reader may not have; the page then has none. */
	bus_set_quiet(bus);
	if (!status && query.period == VIEW_SPAN_START)
		bus_get_hot_memory(bus, PAGE_HOT_MAX, &memory);
	write_live_name(options, name, sizeof(name));
	if (!status)
		status = html_write_rows(options, name,
					 &(struct page_json){ .report = report, .memory = memory },
					 code);
	json_object_put(code);
	free(report);
	free(memory);
	return status;
}

static int html_report_live(const struct options *options)
{
	struct bus_connection *bus;
	int status = bus_new(&bus);

	if (status)
		return status;
	/* Instructions need the right read-raw. */
	if (options->annotates)
		bus_allow_password(bus);
	status = live_session_choose("report", bus, options, true);
	if (!status)
		status = html_report_live_rows(options, bus);
	bus_free(bus);
	return status;
}

int html_report_write(const struct options *options)
{
	int status = html_check_options(options), r;

	if (status)
		return status;
	/* Before reading the profile, report a file that cannot be written. */
	r = output_check(options->html);
	if (r < 0)
		return html_report_error(options, r);
	if (html_reads_stored(options))
		return html_report_stored(options);
	return options->input ? html_report_recording(options) : html_report_live(options);
}
