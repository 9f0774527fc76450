// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon-answer.h"

#include <errno.h>
#include <limits.h>
#include <time.h>
#include <unistd.h>

#include "lib/bus-json.h"
#include "lib/row-set.h"
#include "lib/session-list.h"
#include "output/query-json.h"
#include "util/escape.h"

/* Maximum points of a timeline: a step has one of the machine. */
#define TIMELINE_POINTS 1000

bool daemon_answer_is_file(const struct page_query *wanted)
{
	return wanted->answer == PAGE_ANSWER_ROWS && !wanted->past_s;
}

/* ---- Calls ---------------------------------------------------------------------- */

static int new_sessions_call(sd_bus *bus, sd_bus_message **ret_call)
{
	return sd_bus_message_new_method_call(bus, ret_call, DAEMON_NAME, DAEMON_PATH,
					      "org.freedesktop.DBus.ObjectManager",
					      "GetManagedObjects");
}

/* Append a dictionary with @key, or an empty one if there is no container to select. */
static int append_selection(sd_bus_message *m, const char *key, const struct page_query *wanted)
{
	return *wanted->container ?
		       sd_bus_message_append(m, "a{sv}", 1, key, "s", wanted->container) :
		       sd_bus_message_append(m, "a{sv}", 0);
}

/* The history has rows with all keys only by line. */
static int new_history_call(sd_bus *bus, const struct page_query *wanted, sd_bus_message **ret_call)
{
	bool timeline = wanted->answer == PAGE_ANSWER_TIMELINE;
	u64 until_s = (u64)time(NULL), since_s = until_s - wanted->past_s;
	int r = sd_bus_message_new_method_call(bus, ret_call, DAEMON_NAME, DAEMON_PATH,
					       DAEMON_INTERFACE,
					       timeline ? "GetTimeline" : "GetHistory");

	/* Steps begin at whole multiples of their length, as those of "speprof timeline" do. */
	if (timeline && r >= 0)
		r = sd_bus_message_append(*ret_call, "suttt", "machine", TIMELINE_POINTS,
					  (since_s - since_s % wanted->step_s) * 1000000,
					  until_s * 1000000, wanted->step_s * 1000000ULL);
	else if (r >= 0)
		r = sd_bus_message_append(*ret_call, "ssutt", "line", "samples",
					  DAEMON_ANSWER_PAST_ROWS, since_s * 1000000,
					  until_s * 1000000);
	return r < 0 ? r : append_selection(*ret_call, "container", wanted);
}

static int append_query(sd_bus_message *m, const struct page_query *wanted)
{
	int r = sd_bus_message_open_container(m, 'a', "{sv}");

	if (r >= 0)
		r = sd_bus_message_append(m, "{sv}{sv}{sv}{sv}", "Period", "s", wanted->period,
					  "Group", "s", wanted->group, "Sort", "s", "operations",
					  "Limit", "u", DAEMON_ANSWER_ROWS);
	if (r >= 0 && *wanted->container)
		r = sd_bus_message_append(m, "{sv}", "Container", "s", wanted->container);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

int daemon_answer_new_call(sd_bus *bus, const struct page_query *wanted, sd_bus_message **ret_call)
{
	bool machine = strcmp(wanted->session, PAGE_MACHINE) == 0;
	char path[sizeof(DAEMON_PATH "/session/") + PAGE_SESSION_SIZE];
	int r;

	if (wanted->answer == PAGE_ANSWER_SESSIONS)
		return new_sessions_call(bus, ret_call);
	if (!daemon_answer_is_file(wanted))
		return new_history_call(bus, wanted, ret_call);
	snprintf(path, sizeof(path), DAEMON_PATH "/session/%s", wanted->session);
	r = sd_bus_message_new_method_call(bus, ret_call, DAEMON_NAME, machine ? DAEMON_PATH : path,
					   machine ? DAEMON_INTERFACE : "org.speprof1.Session",
					   "Query");
	return r < 0 ? r : append_query(*ret_call, wanted);
}

/* ---- Replies -------------------------------------------------------------------- */

static int write_json(json_object *json, FILE *out)
{
	fprintf(out, "%s\n",
		json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN |
							     JSON_C_TO_STRING_NOSLASHESCAPE));
	return ferror(out) ? -ENOMEM : 0;
}

/* Write the names and states of sessions. Their filters may have addresses. */
static int write_sessions(json_object *reply, FILE *out)
{
	json_object *sessions = session_list_from_objects(reply), *shown = json_object_new_array();
	json_object *answer = json_object_new_object();
	char name[HOST_NAME_MAX + 1] = "", host[4 * sizeof(name)];
	int r;

	for (size_t i = 0; i < json_object_array_length(sessions); i++) {
		json_object *session = json_object_array_get_idx(sessions, i);
		json_object *one = json_object_new_object();

		json_object_object_add(one, "name",
				       json_object_new_string(json_text(session, "name")));
		json_object_object_add(one, "state",
				       json_object_new_string(json_text(session, "state")));
		json_object_array_add(shown, one);
	}
	gethostname(name, sizeof(name) - 1);
	escape_string(host, sizeof(host), name);
	json_object_object_add(answer, "host", json_object_new_string(host));
	json_object_object_add(answer, "sessions", shown);
	r = write_json(answer, out);
	json_object_put(answer);
	json_object_put(sessions);
	return r;
}

static int write_grouped_rows(const struct row_set *set, struct query *query, FILE *out)
{
	struct query_error error;
	struct row_set grouped;
	struct query_rows rows;
	int r = row_set_query(set, query, &grouped, &error);

	if (r < 0)
		return r;
	rows = row_set_rows(&grouped);
	r = query_json_write(out, &set->header, query, &rows);
	row_set_clear(&grouped);
	return r;
}

static int write_history_rows(const struct page_query *wanted, json_object *reply, FILE *out)
{
	json_object *covered = json_object_array_get_idx(reply, 2);
	struct query query = { .sort = MEASURE_OPERATIONS, .limit = DAEMON_ANSWER_PAST_ROWS };
	struct query keys = { 0 };
	struct query_error error;
	struct row_set set;
	int r = query_parse_group("container,program,binary,function,line", &keys, &error);

	if (r >= 0)
		r = query_parse_group(wanted->group, &query, &error);
	if (r >= 0)
		r = row_set_from_history(reply, &keys, &set);
	if (r < 0)
		return r;
	set.header.ledgers_unknown = true;
	set.header.written = WINDOW_WRITTEN_UNKNOWN;
	query.since_us = (s64)json_number(covered, "since_usec");
	query.until_us = (s64)json_number(covered, "until_usec");
	r = set.rows ? write_grouped_rows(&set, &query, out) : -ENOENT;
	row_set_clear(&set);
	return r;
}

int daemon_answer_write(const struct page_query *wanted, sd_bus_message *reply, FILE *out)
{
	json_object *json = NULL;
	int r = bus_message_to_json(reply, &json);

	if (r < 0)
		return -EBADMSG;
	if (wanted->answer == PAGE_ANSWER_SESSIONS)
		r = write_sessions(json, out);
	else if (wanted->answer == PAGE_ANSWER_TIMELINE)
		r = write_json(json, out);
	else
		r = write_history_rows(wanted, json, out);
	json_object_put(json);
	return r;
}
