// SPDX-License-Identifier: LGPL-2.1-or-later
/* speprof report: print the heaviest rows of a recording or of the daemon's profile. */
#include "lib/bus.h"
#include "lib/input.h"
#include "lib/message.h"
#include "lib/options.h"
#include "lib/rows.h"
#include "lib/terminal.h"
#include "memory-report.h"
#include "verb.h"

#define REPORT_ROWS 40

static void report_print(struct view *view, const struct options *options, const char *name)
{
	size_t height;
	struct format format = {
		.name = name,
		.truth = options->truth,
		.truths = options->truths,
		.group = options->group,
		.sort = options->sort,
		.colour = term_colour(),
	};

	if (options->json) {
		rows_json(stdout, view, options);
		return;
	}
	term_size(&format.width, &height);
	format_header(stdout, &view->header, &format);
	format_table(stdout, view, &format);
}

static int report_recording(const struct options *options, struct view *ret_view)
{
	struct input input;
	int status, r;

	status = input_load(options->input, options->cpus_given ? &options->cpus : NULL,
			    options->midr, options->filter, &input);
	if (status == STATUS_OK || status == STATUS_DAMAGED) {
		r = input_view(&input, options->group, options->sort, rows_limit(options, 0),
			       ret_view);
		if (r < 0)
			status =
				message_fail(STATUS_FAILED, "%s: %s", options->input, strerror(-r));
	}
	input_deinit(&input);
	return status;
}

static int report_daemon(const struct options *options, struct view *ret_view)
{
	struct bus *bus;
	int status = bus_new(&bus);

	if (status)
		return status;
	if (options->period != VIEW_SPAN_START)
		status = bus_view_period(bus, options->period, options->group, options->sort,
					 rows_limit(options, BUS_ROWS), ret_view);
	else
		status = bus_view_named(bus, options->group, options->sort,
					rows_limit(options, BUS_ROWS), ret_view);
	bus_free(bus);
	return status;
}

/* Return the name to print; standard input, "-", has none. */
static const char *report_name(const struct options *options)
{
	const char *slash;

	if (!options->input || strcmp(options->input, "-") == 0)
		return NULL;
	slash = strrchr(options->input, '/');
	return slash ? slash + 1 : options->input;
}

static int report_check(const struct options *options)
{
	bool hot = options->lines || options->pages;

	if (hot && (options->container || options->pid || options->period != VIEW_SPAN_START))
		return message_fail(STATUS_USAGE, "report: --lines and --pages cover all samples "
						  "and cannot be combined with -c, -p or --last");
	if (options->input && options->period != VIEW_SPAN_START)
		return message_fail(
			STATUS_USAGE,
			"report: --last applies to the daemon's profile, not to a recording");
	return STATUS_OK;
}

int report_run(int argc, char **argv)
{
	struct options options;
	struct view view = { 0 };
	int status = options_parse(argc, argv, "ijGsnpcCMTFLSWIP", &options);

	if (status)
		return status;
	if (!options.number)
		options.number = REPORT_ROWS;
	status = report_check(&options);
	if (status || options.lines || options.pages) {
		if (!status)
			status = memory_report(&options);
		filter_free(options.filter);
		return status;
	}
	status = options.input ? report_recording(&options, &view) : report_daemon(&options, &view);
	if (status == STATUS_OK || status == STATUS_DAMAGED) {
		rows_filter(&view, &options, options.number);
		report_print(&view, &options, report_name(&options));
		if (!view.count && (options.container || options.pid))
			status = rows_missing("report", &options);
	}
	view_clear(&view);
	filter_free(options.filter);
	return status;
}
