// SPDX-License-Identifier: LGPL-2.1-or-later
/* speprof session: list, create, change and remove sessions of the daemon. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/bus-json.h"
#include "lib/bus-message.h"
#include "lib/message.h"
#include "lib/output.h"
#include "lib/session-list.h"
#include "lib/text.h"
#include "verb.h"

/* maximum bytes of a name; the daemon has the same limit */
#define NAME_MAX_LENGTH 63
#define CGROUPS_MAX	256

/** struct session_request - arguments of a verb of "speprof session" */
struct session_request {
	const char *filter;
	char *cgroups[CGROUPS_MAX + 1];
	u32 cgroup_count;
	u64 interval_us;
	u64 buffer;
	const char *output;
	bool everywhere; /* --everywhere: sample all cgroups again */
	bool own;
	bool shared;
	bool stopped;
	bool physical;
	bool json;
	u32 given; /* the options that were given, by get_option_bit() */
};

static void print_line(const char *label, const char *value)
{
	char *clean = strdup(value);

	if (clean)
		text_clean(clean);
	if (clean && *clean)
		printf("  %-10s %s\n", label, clean);
	free(clean);
}

static void print_filter_parts(json_object *parts)
{
	char line[600];

	for (size_t i = 0; parts && i < json_object_array_length(parts); i++) {
		json_object *part = json_object_array_get_idx(parts, i);

		snprintf(line, sizeof(line), "%s: %s", json_text(part, "acts"),
			 json_text(part, "text"));
		print_line(i ? "" : "acts", line);
	}
}

static void print_session(json_object *session)
{
	json_object *cgroups = json_get(session, "cgroups");
	json_object *shared = json_get(session, "shares_source");
	char line[300];

	printf("%s: %s\n", json_text(session, "name"), json_text(session, "state"));
	snprintf(line, sizeof(line), "%s, %s SPU%s%s", json_text(session, "source"),
		 json_text(session, "backend"),
		 shared && json_object_get_boolean(shared) ? ", shared with machine" : "",
		 json_object_get_boolean(json_get(session, "physical_addresses")) ?
			 ", physical addresses" :
			 "");
	print_line("source", line);
	snprintf(line, sizeof(line), "%llu us",
		 (unsigned long long)json_number(session, "interval_usec"));
	print_line("interval", line);
	print_line("filter", json_text(session, "filter"));
	for (size_t i = 0; cgroups && i < json_object_array_length(cgroups); i++)
		print_line(i ? "" : "cgroups",
			   json_object_get_string(json_object_array_get_idx(cgroups, i)));
	print_filter_parts(json_get(session, "filter_parts"));
}

/* Convert the pairs ["op == load", "spu"] to objects with named members. */
static void convert_filter_parts(json_object *session)
{
	json_object *parts = json_get(session, "filter_parts"), *named = json_object_new_array();

	for (size_t i = 0; parts && i < json_object_array_length(parts); i++) {
		json_object *part = json_object_array_get_idx(parts, i);
		json_object *object = json_object_new_object();

		json_object_object_add(object, "text",
				       json_object_get(json_object_array_get_idx(part, 0)));
		json_object_object_add(object, "acts",
				       json_object_get(json_object_array_get_idx(part, 1)));
		json_object_array_add(named, object);
	}
	json_object_object_add(session, "filter_parts", named);
}

static int print_sessions(struct bus_connection *bus, const struct session_request *request)
{
	json_object *sessions, *object;
	int status = session_get_list(bus, &sessions);

	if (status)
		return status;
	for (size_t i = 0; i < json_object_array_length(sessions); i++)
		convert_filter_parts(json_object_array_get_idx(sessions, i));
	if (request->json) {
		object = json_object_new_object();
		json_object_object_add(object, "sessions", sessions);
		json_print_and_free(object);
		return STATUS_OK;
	}
	for (size_t i = 0; i < json_object_array_length(sessions); i++)
		print_session(json_object_array_get_idx(sessions, i));
	json_object_put(sessions);
	return STATUS_OK;
}

static int append_options(sd_bus_message *m, const struct session_request *request)
{
	int r = sd_bus_message_open_container(m, 'a', "{sv}");

	if (r >= 0 && request->filter)
		r = sd_bus_message_append(m, "{sv}", "Filter", "s", request->filter);
	if (r >= 0 && request->interval_us)
		r = sd_bus_message_append(m, "{sv}", "IntervalUSec", "t", request->interval_us);
	if (r >= 0 && (request->own || request->shared))
		r = sd_bus_message_append(m, "{sv}", "Source", "s",
					  request->own ? "own" : "shared");
	if (r >= 0 && request->buffer)
		r = sd_bus_message_append(m, "{sv}", "BufferSize", "t", request->buffer);
	if (r >= 0 && request->physical)
		r = sd_bus_message_append(m, "{sv}", "PhysicalAddresses", "b", 1);
	if (r >= 0 && request->stopped)
		r = sd_bus_message_append(m, "{sv}", "Start", "b", 0);
	if (r < 0 || !request->cgroup_count)
		return r < 0 ? r : sd_bus_message_close_container(m);
	r = sd_bus_message_open_container(m, 'e', "sv");
	if (r >= 0)
		r = sd_bus_message_append(m, "s", "Cgroups");
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'v', "as");
	if (r >= 0)
		r = sd_bus_message_append_strv(m, (char **)request->cgroups);
	for (int i = 0; i < 3 && r >= 0; i++)
		r = sd_bus_message_close_container(m);
	return r;
}

static int session_create(struct bus_connection *bus, const char *name,
			  const struct session_request *request)
{
	sd_bus_message *m = NULL;
	int status = bus_message_new(bus, BUS_PATH, BUS_INTERFACE, "CreateSession", &m);

	if (!status && (sd_bus_message_append(m, "s", name) < 0 || append_options(m, request) < 0))
		status = message_fail(STATUS_FAILED, "out of memory");
	if (!status)
		status = bus_message_call_and_discard(bus, m);
	sd_bus_message_unref(m);
	return status;
}

static int set_cgroups(struct bus_connection *bus, const char *object,
		       const struct session_request *request)
{
	sd_bus_message *m = NULL;
	int status = bus_message_new(bus, object, BUS_NAME ".Session", "SetCgroups", &m);

	if (!status && sd_bus_message_append_strv(m, (char **)request->cgroups) < 0)
		status = message_fail(STATUS_FAILED, "out of memory");
	if (!status)
		status = bus_message_call_and_discard(bus, m);
	sd_bus_message_unref(m);
	return status;
}

static int session_set(struct bus_connection *bus, const char *name,
		       const struct session_request *request)
{
	char object[sizeof(SESSION_PATH_PREFIX) + NAME_MAX_LENGTH];
	int status;

	if (!request->filter && !request->cgroup_count && !request->everywhere &&
	    !request->interval_us)
		return message_fail(
			STATUS_USAGE,
			"session set: needs --filter, --cgroup, --everywhere or --interval");
	status = session_require(bus, name, "");
	snprintf(object, sizeof(object), SESSION_PATH_PREFIX "%s", name);
	if (!status && request->filter)
		status = bus_call_to_json(bus, object, "Session", "SetFilter", NULL, "s",
					  request->filter);
	if (!status && (request->cgroup_count || request->everywhere))
		status = set_cgroups(bus, object, request);
	if (!status && request->interval_us)
		status = bus_call_to_json(bus, object, "Session", "SetInterval", NULL, "t",
					  request->interval_us);
	return status;
}

static int call_method(struct bus_connection *bus, const char *name, const char *method)
{
	char object[sizeof(SESSION_PATH_PREFIX) + NAME_MAX_LENGTH];
	int status = session_require(bus, name, "");

	snprintf(object, sizeof(object), SESSION_PATH_PREFIX "%s", name);
	return status ? status : bus_call_to_json(bus, object, "Session", method, NULL, NULL);
}

enum {
	OPT_FILTER = 256,
	OPT_CGROUP,
	OPT_INTERVAL,
	OPT_EVERYWHERE,
	OPT_OWN,
	OPT_SHARED,
	OPT_BUFFER,
	OPT_PHYSICAL,
	OPT_STOPPED
};

static const struct option long_options[] = {
	{ "filter", required_argument, NULL, OPT_FILTER },
	{ "cgroup", required_argument, NULL, OPT_CGROUP },
	{ "interval", required_argument, NULL, OPT_INTERVAL },
	{ "everywhere", no_argument, NULL, OPT_EVERYWHERE },
	{ "buffer", required_argument, NULL, OPT_BUFFER },
	{ "output", required_argument, NULL, 'o' },
	{ "own", no_argument, NULL, OPT_OWN },
	{ "shared", no_argument, NULL, OPT_SHARED },
	{ "physical-addresses", no_argument, NULL, OPT_PHYSICAL },
	{ "stopped", no_argument, NULL, OPT_STOPPED },
	{ "json", no_argument, NULL, 'j' },
	{ 0 },
};

static int parse_interval(const char *text, u64 *ret_us)
{
	char *end;

	errno = 0;
	*ret_us = strtoull(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || !*ret_us)
		return message_fail(STATUS_USAGE,
				    "--interval \"%s\": should be microseconds, 10 to 1000000",
				    text);
	return STATUS_OK;
}

static int parse_buffer(const char *text, u64 *ret_bytes)
{
	char *end;
	u64 unit = 1;

	errno = 0;
	*ret_bytes = strtoull(text, &end, 10);
	if (*end == 'K' || *end == 'M')
		unit = *end++ == 'K' ? 1024 : 1048576;
	if (errno || *text < '0' || *text > '9' || *end || !*ret_bytes || *ret_bytes > 1ULL << 40)
		return message_fail(STATUS_USAGE, "--buffer \"%s\": should be bytes, 64K to 64M",
				    text);
	*ret_bytes *= unit;
	return STATUS_OK;
}

static int parse_option(int c, struct session_request *request)
{
	switch (c) {
	case OPT_FILTER:
		request->filter = optarg;
		return STATUS_OK;
	case OPT_CGROUP:
		if (request->cgroup_count == CGROUPS_MAX)
			return message_fail(STATUS_USAGE, "--cgroup: at most %u of them",
					    CGROUPS_MAX);
		request->cgroups[request->cgroup_count++] = optarg;
		return STATUS_OK;
	case OPT_INTERVAL:
		return parse_interval(optarg, &request->interval_us);
	case OPT_BUFFER:
		return parse_buffer(optarg, &request->buffer);
	case 'o':
		request->output = optarg;
		return STATUS_OK;
	case OPT_EVERYWHERE:
		request->everywhere = true;
		return STATUS_OK;
	case OPT_OWN:
		request->own = true;
		return STATUS_OK;
	case OPT_SHARED:
		request->shared = true;
		return STATUS_OK;
	case OPT_PHYSICAL:
		request->physical = true;
		return STATUS_OK;
	case OPT_STOPPED:
		request->stopped = true;
		return STATUS_OK;
	case 'j':
		request->json = true;
		return STATUS_OK;
	default:
		return message_fail(STATUS_USAGE, "session: unknown option, or an option without "
						  "its value; try \"speprof help session\"");
	}
}

static u32 get_option_bit(int option)
{
	return option == 'j' ? 1U << 0 : option == 'o' ? 1U << 1 : 1U << (option - OPT_FILTER + 2);
}

static int parse_request(int argc, char **argv, struct session_request *ret_request)
{
	int c, status = STATUS_OK;

	opterr = 0;
	optind = 1;
	while (!status && (c = getopt_long(argc, argv, "jo:", long_options, NULL)) >= 0) {
		status = parse_option(c, ret_request);
		if (!status)
			ret_request->given |= get_option_bit(c);
	}
	return status;
}

/* Reject options that have no effect on the verb. */
static int check_options(const char *what, const struct session_request *request)
{
	static const struct {
		const char *what;
		int options[10];
	} accepted_options[] = {
		{ "list", { 'j' } },
		{ "create",
		  { OPT_FILTER, OPT_CGROUP, OPT_INTERVAL, OPT_OWN, OPT_SHARED, OPT_BUFFER,
		    OPT_PHYSICAL, OPT_STOPPED } },
		{ "set", { OPT_FILTER, OPT_CGROUP, OPT_INTERVAL, OPT_EVERYWHERE } },
		{ "snapshot", { 'o' } },
	};
	u32 accepted = 0;

	for (size_t i = 0; i < ARRAY_SIZE(accepted_options); i++)
		for (const int *o = accepted_options[i].options;
		     !strcmp(accepted_options[i].what, what) && *o; o++)
			accepted |= get_option_bit(*o);
	for (size_t i = 0; long_options[i].name; i++)
		if (request->given & ~accepted & get_option_bit(long_options[i].val))
			return message_fail(
				STATUS_USAGE,
				"session %.40s: has no option --%s; try \"speprof help session\"",
				what, long_options[i].name);
	if (request->cgroup_count && request->everywhere)
		return message_fail(STATUS_USAGE,
				    "session set: --cgroup and --everywhere contradict each other");
	if (request->own && request->shared)
		return message_fail(STATUS_USAGE,
				    "session create: --own and --shared contradict each other");
	return STATUS_OK;
}

static int session_write_snapshot(struct bus_connection *bus, const char *name,
				  const struct session_request *request)
{
	int fd = -1, status, r;
	char advice[200];

	if (!request->output)
		return message_fail(STATUS_USAGE, "snapshot: needs -o FILE");
	snprintf(advice, sizeof(advice),
		 ": create it with \"speprof session create %s --buffer 2M\"", name);
	status = session_require(bus, name, advice);
	if (!status)
		status = bus_get_snapshot(bus, name, &fd);
	if (status)
		return status;
	r = output_write_from_fd(request->output, 0600, fd);
	close(fd);
	return r < 0 ? message_fail(STATUS_FAILED, "%s: %s", request->output, strerror(-r)) :
		       STATUS_OK;
}

/* Reject invalid names here, because in an object path they would cause a confusing error. */
static int check_name(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	if (n && !name[n] && n <= NAME_MAX_LENGTH)
		return STATUS_OK;
	return message_fail(
		STATUS_USAGE,
		"session \"%.80s\": a name is a letter and up to 62 letters, digits and \"_\"",
		name);
}

static int run_verb(struct bus_connection *bus, const char *what, const char *name,
		    const struct session_request *request)
{
	static const struct {
		const char *word;
		const char *method;
	} acts[] = {
		{ "start", "Start" },
		{ "stop", "Stop" },
		{ "reset", "Reset" },
		{ "remove", "Remove" },
	};

	if (!strcmp(what, "create"))
		return session_create(bus, name, request);
	if (!strcmp(what, "set"))
		return session_set(bus, name, request);
	if (!strcmp(what, "snapshot"))
		return session_write_snapshot(bus, name, request);
	for (size_t i = 0; i < ARRAY_SIZE(acts); i++)
		if (!strcmp(what, acts[i].word))
			return call_method(bus, name, acts[i].method);
	return message_fail(
		STATUS_USAGE,
		"session \"%.40s\": should be list, create, set, snapshot, start, stop, "
		"reset or remove",
		what);
}

/* The session that "speprof snapshot" uses if no name is given. */
#define SNAPSHOT_SESSION "recorder"

int snapshot_run(int argc, char **argv)
{
	struct session_request request = { 0 };
	struct bus_connection *bus = NULL;
	const char *name;
	int status = parse_request(argc, argv, &request);

	if (status)
		return status;
	if (argc - optind > 1)
		return message_fail(STATUS_USAGE, "snapshot %.40s: one session at a time",
				    argv[optind + 1]);
	name = optind < argc ? argv[optind] : SNAPSHOT_SESSION;
	status = check_name(name);
	if (!status)
		status = bus_new(&bus);
	if (status)
		return status;
	bus_allow_password(bus);
	status = session_write_snapshot(bus, name, &request);
	bus_free(bus);
	return status;
}

int session_run(int argc, char **argv)
{
	struct session_request request = { 0 };
	struct bus_connection *bus = NULL;
	const char *what;
	int status = parse_request(argc, argv, &request);
	int words = argc - optind;

	if (status)
		return status;
	what = words ? argv[optind] : "list";
	if (strcmp(what, "list") != 0 && words != 2)
		return message_fail(
			STATUS_USAGE,
			"session %.40s: one name should follow; try \"speprof help session\"",
			what);
	if (words == 2)
		status = check_name(argv[optind + 1]);
	if (!status)
		status = check_options(what, &request);
	if (!status)
		status = bus_new(&bus);
	if (status)
		return status;
	bus_allow_password(bus);
	status = words == 2 ? run_verb(bus, what, argv[optind + 1], &request) :
			      print_sessions(bus, &request);
	bus_free(bus);
	return status;
}
