// SPDX-License-Identifier: LGPL-2.1-or-later
/* speprof status, start, stop and reload: the daemon and its session "machine". */
#include <stdio.h>
#include <stdlib.h>

#include "kernel-module.h"
#include "lib/bus.h"
#include "lib/message.h"
#include "lib/options.h"
#include "lib/rows.h"
#include "lib/session-list.h"
#include "lib/terminal.h"
#include "verb.h"

/* If only "machine" is stopped, print the names of the sessions that still sample. */
static void print_running_sessions(struct bus_connection *bus)
{
	char names[128];

	if (session_get_running_names(bus, names, sizeof(names)) == STATUS_OK && *names)
		printf("Session \"machine\" is stopped. SPUs still sample for: %s (\"speprof "
		       "session stop NAME\").\n",
		       names);
}

int status_run(int argc, char **argv)
{
	struct options options;
	struct view_format format = { .colour = term_uses_colour() };
	struct examined_machine machine;
	struct view view = { 0 };
	struct bus_connection *bus;
	size_t height;
	int status = options_parse(argc, argv, "j", &options);

	if (status == 0)
		status = bus_new(&bus);
	if (status)
		return status;
	status = bus_get_view(bus, VIEW_CONTAINER, VIEW_SORT_SAMPLES, 1, &view);
	if (status) {
		bus_free(bus);
		return status;
	}
	if (options.json) {
		rows_print_header_json(stdout, &view.header);
	} else {
		term_get_size(&format.width, &height);
		format_print_status(stdout, &view.header, &format);
		if (!strcmp(view.header.source, "module")) {
			machine_identify(&machine, "");
			kmod_print_outdated(&machine, stdout);
		}
		bus_set_quiet(bus);
		if (!view.header.running)
			print_running_sessions(bus);
	}
	bus_free(bus);
	view_clear(&view);
	return STATUS_OK;
}

static int run_control_verb(int argc, char **argv, const char *method)
{
	struct options options;
	struct bus_connection *bus;
	int status = options_parse(argc, argv, "", &options);

	if (status == 0)
		status = bus_new(&bus);
	if (status)
		return status;
	bus_allow_password(bus);
	status = bus_call_without_arguments(bus, method);
	bus_set_quiet(bus);
	if (!status && !strcmp(method, "Stop"))
		print_running_sessions(bus);
	bus_free(bus);
	return status;
}

int start_run(int argc, char **argv)
{
	return run_control_verb(argc, argv, "Start");
}

int stop_run(int argc, char **argv)
{
	return run_control_verb(argc, argv, "Stop");
}

int reload_run(int argc, char **argv)
{
	struct options options;
	char *waiting = NULL;
	struct bus_connection *bus;
	int status = options_parse(argc, argv, "", &options);

	if (status == 0)
		status = bus_new(&bus);
	if (status)
		return status;
	bus_allow_password(bus);
	status = bus_reload(bus, &waiting);
	bus_free(bus);
	if (waiting && *waiting)
		printf("restart speprofd to apply %s\n", waiting);
	free(waiting);
	return status;
}
