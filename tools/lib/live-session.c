// SPDX-License-Identifier: LGPL-2.1-or-later
#include "live-session.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "bus-message.h"
#include "format.h"
#include "message.h"
#include "terminal.h"

/* Maximum bytes of the name of a session, including the NUL; the daemon has the same limit. */
#define SESSION_NAME_SIZE 64

static int session_create(struct bus_connection *bus, const char *name, const char *filter)
{
	sd_bus_message *m = NULL;
	int status;

	/* Creating a session needs more privileges than reading one. */
	bus_allow_password(bus);
	status = bus_message_new(bus, BUS_PATH, BUS_INTERFACE, "CreateSession", &m);
	if (!status && sd_bus_message_append(m, "sa{sv}", name, 3, "Filter", "s", filter, "Source",
					     "s", "shared", "Temporary", "b", 1) < 0)
		status = message_fail(STATUS_FAILED, "out of memory");
	if (!status)
		status = bus_message_call_and_discard(bus, m);
	sd_bus_message_unref(m);
	return status;
}

static int check_options(const char *verb, const struct options *options)
{
	if (options->session && options->filter)
		return message_fail(STATUS_USAGE,
				    "%s: --session shows a session with its own filter, and "
				    "--filter makes one: use one of them",
				    verb);
	if (options->filter && options->period != VIEW_SPAN_START)
		return message_fail(STATUS_USAGE,
				    "%s: --filter samples from now on: -d SEC says how long, not "
				    "--last",
				    verb);
	return STATUS_OK;
}

/* Wait for some time, or for @interrupt, which is blocked. */
static void wait_for_samples(const struct options *options, const sigset_t *interrupt)
{
	double seconds = options->delay_given ? options->delay : LIVE_SESSION_SECONDS;
	const struct timespec time = {
		.tv_sec = (time_t)seconds,
		.tv_nsec = (long)((seconds - floor(seconds)) * 1e9),
	};

	if (isatty(STDERR_FILENO))
		message_print("sampling for %g s; Ctrl-C shows what there is", seconds);
	sigtimedwait(interrupt, NULL, &time);
}

static int session_create_for_filter(struct bus_connection *bus, const struct options *options,
				     bool wait)
{
	char name[SESSION_NAME_SIZE];
	sigset_t interrupt, before;
	struct timespec now;
	int status;

	/*
	 * The name also has the time, because a process in another PID namespace may have the same
	 * PID.
	 */
	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(name, sizeof(name), "look_%d_%ld", getpid(), now.tv_nsec);
	/* From the first sample on, SIGINT ends the wait, and the samples so far are shown. */
	sigemptyset(&interrupt);
	if (wait)
		sigaddset(&interrupt, SIGINT);
	sigprocmask(SIG_BLOCK, &interrupt, &before);
	status = session_create(bus, name, options->filter_text);
	if (!status)
		status = bus_use_session(bus, name);
	if (!status && wait)
		wait_for_samples(options, &interrupt);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return status;
}

int live_session_choose(const char *verb, struct bus_connection *bus, const struct options *options,
			bool wait)
{
	int status = check_options(verb, options);

	if (status || options->session)
		return status ? status : bus_use_session(bus, options->session);
	return options->filter ? session_create_for_filter(bus, options, wait) : STATUS_OK;
}

void live_session_print_limits(struct bus_connection *bus)
{
	struct view_format format = { .colour = term_uses_colour() };
	struct view view;
	size_t height;

	bus_set_quiet(bus);
	if (bus_get_view(bus, VIEW_CONTAINER, VIEW_SORT_SAMPLES, 1, &view))
		return;
	term_get_size(&format.width, &height);
	format_print_limits(stdout, &view.header, &format);
	view_clear(&view);
}
