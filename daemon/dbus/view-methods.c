// SPDX-License-Identifier: LGPL-2.1-or-later
/* Implement the methods for views, ledgers and summaries of a session. */
#include "objects.h"

#include <errno.h>
#include <stdlib.h>

#include "output/profile-json.h"
#include "view/view-bus.h"

static int reply_view(sd_bus_message *message, struct bus_service *bus,
		      struct worker_view_request *request, const char *group, const char *sort,
		      sd_bus_error *error)
{
	char session[SESSION_NAME_SIZE];
	sd_bus_message *reply = NULL;
	int r;

	if (view_group_parse(group, &request->group) < 0)
		return bus_set_invalid_argument(error, "group", group, VIEW_GROUP_LIST);
	if (view_sort_parse(sort, &request->sort) < 0)
		return bus_set_invalid_argument(error, "sort", sort, VIEW_SORT_LIST);
	if (!view_sort_is_supported(request->sort, request->span, request->group))
		return bus_set_invalid_argument(error, "sort of a period", sort,
						VIEW_SORT_PERIOD_LIST);
	r = bus_check_limit(request->limit, error);
	if (r < 0)
		return r;
	bus_path_to_session_name(sd_bus_message_get_path(message), session);
	request->session = session;
	r = worker_call_readonly(bus->worker, worker_make_view, request);
	if (r < 0)
		return bus_set_session_error(error, r, session, NULL);
	bus_fill_reload_status(bus, &request->view.header);
	bus_add_answer_rows(bus, request->view.count);
	r = sd_bus_message_new_method_return(message, &reply);
	if (r >= 0)
		r = view_bus_append(reply, &request->view);
	if (r >= 0)
		r = sd_bus_send(NULL, reply, NULL);
	sd_bus_message_unref(reply);
	view_clear(&request->view);
	return r;
}

int bus_handle_get_view(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
	struct worker_view_request request = { .span = VIEW_SPAN_START };
	const char *group, *sort;
	int r;

	r = sd_bus_message_read(message, "ssu", &group, &sort, &request.limit);
	return r < 0 ? r : reply_view(message, userdata, &request, group, sort, error);
}

int bus_handle_get_window(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
	const char *span, *group, *sort;
	struct worker_view_request request;
	int r;

	r = sd_bus_message_read(message, "sssu", &span, &group, &sort, &request.limit);
	if (r < 0)
		return r;
	if (view_span_parse(span, &request.span) < 0)
		return bus_set_invalid_argument(error, "period", span, "start, 10s, 1m or 10m");
	return reply_view(message, userdata, &request, group, sort, error);
}

int bus_handle_dump_hot(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
	struct bus_service *bus = userdata;
	char session[SESSION_NAME_SIZE];
	struct worker_hot_request request = { .session = session };
	int r;

	r = sd_bus_message_read(message, "u", &request.limit);
	if (r >= 0)
		r = bus_check_limit(request.limit, error);
	if (r < 0)
		return r;
	bus_path_to_session_name(sd_bus_message_get_path(message), session);
	r = worker_call(bus->worker, worker_write_hot_json, &request);
	if (r < 0)
		return bus_set_session_error(error, r, session, NULL);
	bus_add_answer_rows(bus, strlen(request.text) / 1024);
	r = bus_reply_memfd(message, "speprof-hot", request.text, strlen(request.text));
	free(request.text);
	return r;
}

int bus_handle_get_ledgers(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
	struct bus_service *bus = userdata;
	char session[SESSION_NAME_SIZE];
	struct worker_view_request request = { .session = session,
					       .group = VIEW_CONTAINER,
					       .limit = 1 };
	sd_bus_message *reply = NULL;
	int r;

	bus_path_to_session_name(sd_bus_message_get_path(message), session);
	r = worker_call_readonly(bus->worker, worker_make_view, &request);
	if (r < 0)
		return bus_set_session_error(error, r, session, NULL);
	bus_fill_reload_status(bus, &request.view.header);
	r = sd_bus_message_new_method_return(message, &reply);
	if (r >= 0)
		r = view_bus_append_header(reply, &request.view.header);
	if (r >= 0)
		r = sd_bus_send(NULL, reply, NULL);
	sd_bus_message_unref(reply);
	view_clear(&request.view);
	return r;
}

struct summary_request {
	const char *session;
	char *text;
};

static int read_summary(struct worker_state *state, void *arg)
{
	struct summary_request *request = arg;
	const struct session *session = worker_find_session(state, request->session);

	if (!session)
		return -ENOENT;
	return profile_summary_json(session->profile,
				    bus_backend_name(session->shared_source->source->backend), true,
				    &request->text);
}

int bus_handle_dump_summary(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
	struct bus_service *bus = userdata;
	char session[SESSION_NAME_SIZE];
	struct summary_request request = { .session = session };
	int r;

	bus_path_to_session_name(sd_bus_message_get_path(message), session);
	r = worker_call_readonly(bus->worker, read_summary, &request);
	if (r < 0)
		return bus_set_session_error(error, r, session, NULL);
	bus_add_answer_rows(bus, strlen(request.text) / 1024);
	r = bus_reply_memfd(message, "speprof-summary", request.text, strlen(request.text));
	free(request.text);
	return r;
}
