// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus.h"

#include <stdarg.h>
#include <stdio.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bus-message.h"
#include "message.h"
#include "query/measure.h"
#include "password-agent.h"
#include "view/view-bus.h"

/*
 * Maximum size of a summary that is read; a summary has some hundred counters, and a line for each
 * process.
 */
#define BUS_SUMMARY_MAX (64 << 20)

/* Pause between two requests of bus_get_view_with_names(). */
#define NAMES_PAUSE_MS 50

/*
 * The D-Bus error with which the daemon answers a query for a function while names are being
 * resolved.
 */
#define NAMES_PENDING_ERROR "org.speprof1.NamesPending"

#define NO_SESSION_TEXT "there is no session \"%.63s\"; \"speprof session\" lists them"

/* The characters that the name of a session may contain. */
#define SESSION_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

struct bus_connection {
	sd_bus *bus;
	bool quiet;
	pid_t agent; /* PID of the agent of password-agent.h; 0: none */
	char error[512];
	char profile[sizeof(BUS_PATH) + 80]; /* path of the session's object; "": the Manager */
};

static int bus_report_error(struct bus_connection *bus, enum verb_exit_status status,
			    const char *format, ...) __attribute__((__format__(__printf__, 3, 4)));

static int bus_report_error(struct bus_connection *bus, enum verb_exit_status status,
			    const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(bus->error, sizeof(bus->error), format, args);
	va_end(args);
	return bus->quiet ? (int)status : message_fail(status, "%s", bus->error);
}

/*
 * The exit status of each D-Bus error, and a sentence that replaces its message; NULL: print its
 * message
 */
static const struct {
	const char *name;
	enum verb_exit_status status;
	const char *text;
} bus_errors[] = {
	{ SD_BUS_ERROR_SERVICE_UNKNOWN, STATUS_NO_DAEMON,
	  "speprofd is not running; start it with \"systemctl start speprofd\"" },
	{ SD_BUS_ERROR_NAME_HAS_NO_OWNER, STATUS_NO_DAEMON,
	  "speprofd is not running; start it with \"systemctl start speprofd\"" },
	{ SD_BUS_ERROR_NO_REPLY, STATUS_NO_DAEMON,
	  "speprofd does not answer; see \"journalctl -u speprofd\"" },
	{ SD_BUS_ERROR_ACCESS_DENIED, STATUS_NO_RIGHT,
	  "speprofd denies this call to your user: run it as root, or, to read, join the group "
	  "speprof" },
	{ SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED, STATUS_NO_RIGHT,
	  "speprofd requires authentication for this call: run it as root" },
	{ "org.speprof1.NoSuchSession", STATUS_STATE, NULL },
	{ "org.speprof1.SessionExists", STATUS_STATE, NULL },
	{ "org.speprof1.NoSuchContainer", STATUS_STATE, NULL },
	{ "org.speprof1.NoSuchProcess", STATUS_STATE, NULL },
	{ "org.speprof1.NoSuchFunction", STATUS_STATE, NULL },
	{ "org.speprof1.NothingSelected", STATUS_STATE, NULL },
	{ NAMES_PENDING_ERROR, STATUS_STATE, NULL },
	{ SD_BUS_ERROR_UNKNOWN_METHOD, STATUS_FAILED,
	  "speprofd does not know this call: install speprof and speprofd of the same version" },
	{ "org.speprof1.Busy", STATUS_STATE, NULL },
	{ SD_BUS_ERROR_INVALID_ARGS, STATUS_USAGE, NULL },
	/* Sessions and CPUs are objects; the called object does not exist. */
	{ SD_BUS_ERROR_UNKNOWN_OBJECT, STATUS_STATE, NULL },
	{ "org.speprof1.NoModule", STATUS_NO_MODULE, NULL },
	{ "org.speprof1.NoSPE", STATUS_NO_SPE, NULL },
	{ "org.speprof1.AlreadyDone", STATUS_STATE, NULL },
	{ "org.speprof1.WrongConfiguration", STATUS_FAILED, NULL },
};

/*
 * Return whether the daemon wrote the message. Messages of the daemon name the missing permission;
 * messages of the bus do not.
 */
static bool is_daemon_message(const sd_bus_error *error)
{
	return (sd_bus_error_has_name(error, SD_BUS_ERROR_ACCESS_DENIED) ||
		sd_bus_error_has_name(error, SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED)) &&
	       error->message &&
	       (!strncmp(error->message, "Only root", strlen("Only root")) ||
		!strncmp(error->message, "polkit", strlen("polkit")));
}

static int bus_report_failed_call(struct bus_connection *bus, const char *method, int r,
				  sd_bus_error *error)
{
	const char *message = error->message ? error->message : strerror(-r);
	int status = STATUS_FAILED;
	bool known = false;

	if (*bus->profile && sd_bus_error_has_name(error, SD_BUS_ERROR_UNKNOWN_OBJECT)) {
		known = true;
		status = bus_report_error(bus, STATUS_STATE, NO_SESSION_TEXT,
					  strrchr(bus->profile, '/') + 1);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bus_errors) && !known; i++) {
		const char *text = bus_errors[i].text;

		if (!sd_bus_error_has_name(error, bus_errors[i].name))
			continue;
		known = true;
		if (is_daemon_message(error))
			text = NULL;
		status = bus_report_error(bus, bus_errors[i].status, "%s", text ? text : message);
	}
	if (!known && (r == -ECONNRESET || r == -ENOTCONN || r == -EPIPE)) {
		status = bus_report_error(bus, STATUS_NO_BUS, "the bus closed the connection");
		bus->bus = sd_bus_unref(bus->bus);
	} else if (!known && r == -ETIMEDOUT)
		status = bus_report_error(bus, STATUS_NO_DAEMON,
					  "speprofd does not answer; see "
					  "\"journalctl -u speprofd\"");
	else if (!known)
		status = bus_report_error(bus, STATUS_FAILED, "speprofd refuses %s: %s", method,
					  message);
	sd_bus_error_free(error);
	return status;
}

static int bus_report_malformed_reply(struct bus_connection *bus, const char *method)
{
	return bus_report_error(bus, STATUS_FAILED,
				"speprofd's reply to %s has an unknown format: install speprof and "
				"speprofd of the same version",
				method);
}

/*
 * Address that "speprof --bus" sets; NULL: the system bus, or the address in
 * DBUS_SYSTEM_BUS_ADDRESS.
 */
static const char *bus_address;

void bus_set_address(const char *address)
{
	bus_address = address;
}

static int bus_connect(struct bus_connection *bus, const char *address)
{
	int r;

	if (!address)
		return sd_bus_open_system(&bus->bus);
	r = sd_bus_new(&bus->bus);
	if (r >= 0)
		r = sd_bus_set_address(bus->bus, address);
	if (r >= 0)
		r = sd_bus_set_bus_client(bus->bus, true);
	if (r >= 0)
		r = sd_bus_start(bus->bus);
	return r;
}

/* Connect if there is no connection. A live view connects again if the bus was restarted. */
static int bus_connect_if_needed(struct bus_connection *bus)
{
	int r;

	if (bus->bus)
		return STATUS_OK;
	r = bus_connect(bus, bus_address);
	if (r < 0) {
		bus->bus = sd_bus_unref(bus->bus);
		return bus_report_error(
			bus, r == -EACCES || r == -EPERM ? STATUS_NO_RIGHT : STATUS_NO_BUS,
			"cannot reach %s: %s%s", bus_address ? bus_address : "the system bus",
			strerror(-r),
			bus_address ? "" :
				      "; \"systemctl start dbus speprofd\" starts it and the daemon");
	}
	/*
	 * The daemon replies from memory, which may take seconds on a busy machine. After 20 s it
	 * is considered hung.
	 */
	sd_bus_set_method_call_timeout(bus->bus, 20000000);
	/* Permit polkit to request a password if an agent is already running. */
	sd_bus_set_allow_interactive_authorization(bus->bus, 1);
	return STATUS_OK;
}

/*
 * Open a connection. *ret_bus is also set on failure, for bus_get_error(), unless memory cannot be
 * allocated.
 */
static int bus_open(bool quiet, struct bus_connection **ret_bus)
{
	struct bus_connection *bus = calloc(1, sizeof(*bus));

	*ret_bus = bus;
	if (!bus)
		return message_fail(STATUS_FAILED, "out of memory");
	bus->quiet = quiet;
	return bus_connect_if_needed(bus);
}

int bus_call_object(struct bus_connection *bus, const char *path, const char *interface,
		    const char *method, sd_bus_message **ret_reply, const char *types, va_list args)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	int status = bus_connect_if_needed(bus), r;

	if (status)
		return status;
	r = sd_bus_call_methodv(bus->bus, BUS_NAME, path, interface, method, &error, ret_reply,
				types, args);
	return r < 0 ? bus_report_failed_call(bus, method, r, &error) : STATUS_OK;
}

/* Call a method of the Manager. */
static int bus_call_manager(struct bus_connection *bus, const char *method,
			    sd_bus_message **ret_reply, const char *types, ...)
{
	va_list args;
	int status;

	va_start(args, types);
	status = bus_call_object(bus, BUS_PATH, BUS_INTERFACE, method, ret_reply, types, args);
	va_end(args);
	return status;
}

/* Call a method that reads a profile. */
static int bus_call_profile(struct bus_connection *bus, const char *method,
			    sd_bus_message **ret_reply, const char *types, ...)
{
	va_list args;
	int status;

	va_start(args, types);
	status = bus_call_object(bus, *bus->profile ? bus->profile : BUS_PATH,
				 *bus->profile ? BUS_NAME ".Session" : BUS_INTERFACE, method,
				 ret_reply, types, args);
	va_end(args);
	return status;
}

int bus_profile_message_new(struct bus_connection *bus, const char *method,
			    sd_bus_message **ret_message)
{
	return bus_message_new(bus, *bus->profile ? bus->profile : BUS_PATH,
			       *bus->profile ? BUS_NAME ".Session" : BUS_INTERFACE, method,
			       ret_message);
}

int bus_use_session(struct bus_connection *bus, const char *session)
{
	if (strlen(session) >= 64 || !*session ||
	    strspn(session, SESSION_LETTERS) != strlen(session))
		return bus_report_error(bus, STATUS_STATE, NO_SESSION_TEXT, session);
	snprintf(bus->profile, sizeof(bus->profile), BUS_PATH "/session/%s", session);
	return STATUS_OK;
}

const char *bus_get_session_name(const struct bus_connection *bus)
{
	return *bus->profile ? bus->profile + strlen(BUS_PATH "/session/") : "machine";
}

int bus_new(struct bus_connection **ret_bus)
{
	struct bus_connection *bus;
	int status = bus_open(false, &bus);

	if (status)
		bus_free(bus);
	else
		*ret_bus = bus;
	return status;
}

int bus_new_quiet(struct bus_connection **ret_bus)
{
	return bus_open(true, ret_bus);
}

struct bus_connection *bus_free(struct bus_connection *bus)
{
	if (bus) {
		sd_bus_flush_close_unref(bus->bus);
		password_agent_stop(bus->agent);
	}
	free(bus);
	return NULL;
}

void bus_set_quiet(struct bus_connection *bus)
{
	bus->quiet = true;
}

const char *bus_get_error(const struct bus_connection *bus)
{
	return bus ? bus->error : "out of memory";
}

int bus_message_new(struct bus_connection *bus, const char *path, const char *interface,
		    const char *method, sd_bus_message **ret_message)
{
	int status = bus_connect_if_needed(bus);

	if (status)
		return status;
	if (sd_bus_message_new_method_call(bus->bus, ret_message, BUS_NAME, path, interface,
					   method) < 0)
		return bus_report_error(bus, STATUS_FAILED, "out of memory");
	return STATUS_OK;
}

int bus_message_call_and_discard(struct bus_connection *bus, sd_bus_message *message)
{
	return bus_message_call(bus, message, NULL);
}

int bus_message_call(struct bus_connection *bus, sd_bus_message *message,
		     sd_bus_message **ret_reply)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	int r = sd_bus_call(bus->bus, message, 0, &error, ret_reply);

	return r < 0 ? bus_report_failed_call(bus, sd_bus_message_get_member(message), r, &error) :
		       STATUS_OK;
}

void bus_allow_password(struct bus_connection *bus)
{
	sd_bus_set_method_call_timeout(bus->bus, 120000000);
	if (!bus->agent)
		bus->agent = password_agent_start();
}

int bus_call_without_arguments(struct bus_connection *bus, const char *method)
{
	return bus_call_manager(bus, method, NULL, NULL);
}

int bus_reload(struct bus_connection *bus, char **ret_waiting)
{
	sd_bus_message *reply = NULL;
	int status = bus_call_manager(bus, "Reload", &reply, NULL);
	const char *waiting;

	if (status)
		return status;
	if (sd_bus_message_read(reply, "s", &waiting) < 0)
		status = bus_report_malformed_reply(bus, "Reload");
	else
		*ret_waiting = strdup(waiting);
	sd_bus_message_unref(reply);
	return status;
}

/* Read a view from @reply of @method; the function owns @reply. */
static int bus_view_read(struct bus_connection *bus, const char *method, sd_bus_message *reply,
			 struct view *ret_view)
{
	struct view view;
	int r = view_bus_read(reply, &view);

	sd_bus_message_unref(reply);
	if (r < 0)
		return bus_report_malformed_reply(bus, method);
	*ret_view = view;
	return STATUS_OK;
}

int bus_get_view(struct bus_connection *bus, enum view_group group, enum view_sort sort, u32 limit,
		 struct view *ret_view)
{
	sd_bus_message *reply = NULL;
	int status = bus_call_profile(bus, "GetView", &reply, "ssu", view_group_name(group),
				      view_sort_name(sort), limit);

	return status ? status : bus_view_read(bus, "GetView", reply, ret_view);
}

int bus_get_period_view(struct bus_connection *bus, enum view_span span, enum view_group group,
			enum view_sort sort, u32 limit, struct view *ret_view)
{
	sd_bus_message *reply = NULL;
	int status = bus_call_profile(bus, "GetWindow", &reply, "sssu", view_span_name(span),
				      view_group_name(group), view_sort_name(sort), limit);

	return status ? status : bus_view_read(bus, "GetWindow", reply, ret_view);
}

/* Call a method of a session. */
static int bus_call_session(struct bus_connection *bus, const char *session, const char *method,
			    sd_bus_message **ret_reply, const char *types, ...)
{
	char path[sizeof(BUS_PATH) + 80];
	va_list args;
	int status;

	snprintf(path, sizeof(path), BUS_PATH "/session/%s", session);
	va_start(args, types);
	status = bus_call_object(bus, path, BUS_NAME ".Session", method, ret_reply, types, args);
	va_end(args);
	return status;
}

int bus_get_session_view(struct bus_connection *bus, const char *session, enum view_span span,
			 enum view_group group, enum view_sort sort, u32 limit,
			 struct view *ret_view)
{
	const char *method = span == VIEW_SPAN_START ? "GetView" : "GetWindow";
	sd_bus_message *reply = NULL;
	int status;

	if (span == VIEW_SPAN_START)
		status = bus_call_session(bus, session, method, &reply, "ssu",
					  view_group_name(group), view_sort_name(sort), limit);
	else
		status = bus_call_session(bus, session, method, &reply, "sssu",
					  view_span_name(span), view_group_name(group),
					  view_sort_name(sort), limit);
	return status ? status : bus_view_read(bus, method, reply, ret_view);
}

int bus_get_view_with_names(struct bus_connection *bus, enum view_group group, enum view_sort sort,
			    u32 limit, struct view *ret_view)
{
	const struct timespec pause = { .tv_nsec = NAMES_PAUSE_MS * 1000000L };
	int status = bus_get_view(bus, group, sort, limit, ret_view);

	for (u32 ms = 0;
	     status == STATUS_OK && ret_view->header.names_pending && ms < BUS_NAMES_WAIT_MS;
	     ms += NAMES_PAUSE_MS) {
		view_clear(ret_view);
		nanosleep(&pause, NULL);
		status = bus_get_view(bus, group, sort, limit, ret_view);
	}
	return status;
}

/* Read all of @fd by pread(), because the daemon shares its file offset. */
static int fd_read(int fd, char **ret_text)
{
	struct stat st;
	size_t size, done = 0;
	char *text;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size <= 0 || st.st_size > BUS_SUMMARY_MAX)
		return -EBADMSG;
	size = st.st_size;
	text = malloc(size + 1);
	if (!text)
		return -ENOMEM;
	while (done < size) {
		ssize_t n = pread(fd, text + done, size - done, done);

		if (n <= 0) {
			free(text);
			return n < 0 ? -errno : -EBADMSG;
		}
		done += n;
	}
	text[size] = 0;
	*ret_text = text;
	return 0;
}

/* Read a text from @reply of @method; the function owns @reply. */
static int bus_text_read(struct bus_connection *bus, const char *method, sd_bus_message *reply,
			 char **ret_json)
{
	char *json = NULL;
	int r, fd;

	r = sd_bus_message_read(reply, "h", &fd);
	if (r >= 0)
		r = fd_read(fd, &json);
	sd_bus_message_unref(reply);
	if (r < 0)
		return bus_report_malformed_reply(bus, method);
	*ret_json = json;
	return STATUS_OK;
}

static int query_append(sd_bus_message *m, const struct query *query)
{
	const struct query_select *select = &query->select;
	char group[256], sort[MEASURE_NAME_SIZE];
	const char *const texts[][2] = {
		{ "Period", view_span_name(query->period) },
		{ "Group", group },
		{ "Sort", sort },
		{ "Container", select->container },
		{ "Program", select->program },
		{ "Binary", select->binary },
		{ "Function", select->function },
	};
	int r = sd_bus_message_open_container(m, 'a', "{sv}");

	query_format_group(query, group, sizeof(group));
	measure_format_name(query->sort, sort);
	for (size_t i = 0; i < ARRAY_SIZE(texts) && r >= 0; i++)
		if (texts[i][1])
			r = sd_bus_message_append(m, "{sv}", texts[i][0], "s", texts[i][1]);
	if (r >= 0 && query->limit)
		r = sd_bus_message_append(m, "{sv}", "Limit", "u", query->limit);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

/* Read the answer to a query; the function owns @reply. */
static int query_read(struct bus_connection *bus, sd_bus_message *reply,
		      struct view_header *ret_header, char **ret_json)
{
	int r = view_bus_read_header(reply, ret_header);

	if (r >= 0)
		return bus_text_read(bus, "Query", reply, ret_json);
	sd_bus_message_unref(reply);
	return bus_report_malformed_reply(bus, "Query");
}

/*
 * Send a query once. The daemon refuses a query while names are being resolved: if @last is true,
 * report this error, else set @ret_pending.
 */
static int send_query_once(struct bus_connection *bus, const struct query *query, bool last,
			   bool *ret_pending, sd_bus_message **ret_reply)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	sd_bus_message *message = NULL;
	int status, r;

	*ret_pending = false;
	status = bus_profile_message_new(bus, "Query", &message);
	if (status)
		return status;
	r = query_append(message, query);
	if (r >= 0)
		r = sd_bus_call(bus->bus, message, 0, &error, ret_reply);
	*ret_pending = r < 0 && !last && sd_bus_error_has_name(&error, NAMES_PENDING_ERROR);
	if (*ret_pending)
		sd_bus_error_free(&error);
	else if (r < 0)
		status = bus_report_failed_call(bus, "Query", r, &error);
	sd_bus_message_unref(message);
	return status;
}

int bus_run_query(struct bus_connection *bus, const struct query *query,
		  struct view_header *ret_header, char **ret_json)
{
	const struct timespec pause = { .tv_nsec = NAMES_PAUSE_MS * 1000000L };
	struct view_header header = { 0 };
	char *json = NULL;
	bool pending = true;
	int status = STATUS_OK;

	for (u32 ms = 0; !status && pending; ms += NAMES_PAUSE_MS) {
		sd_bus_message *reply = NULL;
		bool last = ms >= BUS_NAMES_WAIT_MS;

		free(json);
		json = NULL;
		if (ms)
			nanosleep(&pause, NULL);
		status = send_query_once(bus, query, last, &pending, &reply);
		if (!status && reply)
			status = query_read(bus, reply, &header, &json);
		pending |= !last && header.names_pending && (query_has_binary(query) ||
							     query->select.function);
	}
	if (status) {
		free(json);
		return status;
	}
	*ret_header = header;
	*ret_json = json;
	return STATUS_OK;
}

int bus_get_summary(struct bus_connection *bus, char **ret_json)
{
	sd_bus_message *reply = NULL;
	int status = bus_call_profile(bus, "DumpSummary", &reply, NULL);

	return status ? status : bus_text_read(bus, "DumpSummary", reply, ret_json);
}

int bus_get_hot_memory(struct bus_connection *bus, u32 limit, char **ret_json)
{
	sd_bus_message *reply = NULL;
	int status = bus_call_profile(bus, "DumpHot", &reply, "u", limit);

	return status ? status : bus_text_read(bus, "DumpHot", reply, ret_json);
}

int bus_get_snapshot(struct bus_connection *bus, const char *session, int *ret_fd)
{
	char path[sizeof(BUS_PATH) + 80];
	sd_bus_message *message = NULL, *reply = NULL;
	sd_bus_error error = SD_BUS_ERROR_NULL;
	int status, r, fd;

	snprintf(path, sizeof(path), BUS_PATH "/session/%s", session);
	status = bus_message_new(bus, path, BUS_NAME ".Session", "Snapshot", &message);
	if (status)
		return status;
	r = sd_bus_call(bus->bus, message, 0, &error, &reply);
	if (r < 0)
		status = bus_report_failed_call(bus, "Snapshot", r, &error);
	else if (sd_bus_message_read(reply, "h", &fd) < 0)
		status = bus_report_malformed_reply(bus, "Snapshot");
	else
		*ret_fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	sd_bus_message_unref(message);
	sd_bus_message_unref(reply);
	return status || *ret_fd >= 0 ? status : bus_report_error(bus, STATUS_FAILED, "%m");
}

int bus_get_pprof(struct bus_connection *bus, u32 seconds, int *ret_fd)
{
	sd_bus_message *reply = NULL;
	int r, fd, status = bus_connect_if_needed(bus);

	if (status)
		return status;
	/* The reply comes after @seconds, and resolving symbols may take some seconds more. */
	sd_bus_set_method_call_timeout(bus->bus, (seconds + 30) * 1000000ULL);
	status = bus_call_manager(bus, "DumpProfile", &reply, "u", seconds);
	if (status)
		return status;
	r = sd_bus_message_read(reply, "hs", &fd, NULL);
	if (r >= 0)
		r = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	sd_bus_message_unref(reply);
	if (r < 0)
		return bus_report_malformed_reply(bus, "DumpProfile");
	*ret_fd = r;
	return STATUS_OK;
}
