// SPDX-License-Identifier: LGPL-2.1-or-later
/* speprof top, and speprof without a verb: show the live view. */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "lib/bus.h"
#include "lib/live-session.h"
#include "lib/message.h"
#include "lib/options.h"
#include "lib/rows.h"
#include "lib/terminal.h"
#include "live/live.h"
#include "verb.h"

#define TOP_ROWS 40

static struct view_format batch_format(const struct options *options)
{
	return (struct view_format){
		.known_share = options->known_share,
		.known_shares = options->known_shares,
		.group = options->group,
		.sort = options->sort,
		.colour = term_uses_colour(),
	};
}

static int print_view_once(struct options *options, struct bus_connection *bus, bool *found)
{
	struct view_format format = batch_format(options);
	struct view view;
	size_t height;
	int status =
		options->period != VIEW_SPAN_START ?
			bus_get_period_view(bus, options->period, options->group, options->sort,
					    rows_get_limit(options, BUS_ROWS_MAX), &view) :
			bus_get_view_with_names(bus, options->group, options->sort,
						rows_get_limit(options, BUS_ROWS_MAX), &view);

	if (status)
		return status;
	rows_filter(&view, options, TOP_ROWS);
	*found |= view.count > 0;
	if (options->json) {
		rows_print_json(stdout, &view, options);
	} else {
		term_get_size(&format.width, &height);
		format_print_header(stdout, &view.header, &format);
		format_print_table(stdout, &view, &format);
	}
	view_clear(&view);
	return STATUS_OK;
}

static int print_views(struct options *options, struct bus_connection *bus)
{
	u32 iterations = options->number;
	int status = STATUS_OK;
	bool found = false;

	options->number = 0;
	for (u32 i = 0; status == STATUS_OK && (!iterations || i < iterations); i++) {
		if (i) {
			struct timespec delay = {
				.tv_sec = options->delay,
				.tv_nsec = (options->delay - (time_t)options->delay) * 1e9,
			};

			fputs(options->json ? "" : "\n", stdout);
			nanosleep(&delay, NULL);
		}
		status = print_view_once(options, bus, &found);
		/* The reader of the output has closed the pipe. */
		if (fflush(stdout) < 0)
			break;
	}
	if (!status && !found && (options->container || options->pid))
		status = rows_report_missing("top", options);
	return status;
}

int top_run(int argc, char **argv)
{
	struct options options;
	struct bus_connection *bus;
	int status = options_parse(argc, argv, "bdnGspcjTSWNL", &options);

	if (status)
		return status;
	if (options.json)
		options.batch = true;
	if (!options.batch && !(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))) {
		filter_free(options.filter);
		return message_fail(STATUS_USAGE, "top: not on a terminal; -b prints instead");
	}
	status = bus_new(&bus);
	if (status) {
		filter_free(options.filter);
		return status;
	}
	status = live_session_choose("top", bus, &options, false);
	if (!status && !options.batch) {
		status = live_show(&options, bus);
	} else {
		if (!status)
			status = print_views(&options, bus);
		bus_free(bus);
	}
	filter_free(options.filter);
	return status;
}

int live_run(int argc, char **argv)
{
	char name[] = "top";

	(void)argc;
	(void)argv;
	return top_run(1, (char *[]){ name, NULL });
}
