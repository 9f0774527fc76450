// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Implement the methods for the history on disk. The history's thread reads the files, because that
 * may take seconds. The main thread replies when an eventfd signals the result.
 */
#include "objects.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cgroup-owner.h"
#include "history-store/writer.h"
#include "view/view-bus.h"

/* Maximum number of waiting calls of one user. */
#define CALLS_OF_USER 4

#define STEP_MIN_US 60000000ULL

/*
 * D-Bus type of a point: the index of the series; start, end and sampled time; eight sums; two
 * percentiles.
 */
#define POINT_TYPE "utttttttttttuu"

/**
 * struct history_call - a call that waits
 * @calls: the list that contains the call
 * @message: the call; a reference
 * @caller: the sender; tokens for the answer are taken from its bucket
 * @mount: descriptor of the mount point of cgroups, if the caller gets only its own containers;
 *	else -1
 * @boot_id: ID of this boot; inodes from other boots cannot be compared with those of this one
 * @container, @program: copies of the globs; NULL: all
 * @request: the query
 * @done: true if the result is set
 * @next: the next call of the list
 */
struct history_call {
	struct bus_history_calls *calls;
	sd_bus_message *message;
	struct bus_caller caller;
	int mount;
	char boot_id[BOOT_ID_SIZE];
	char *container;
	char *program;
	struct history_request request;
	bool done;
	struct history_call *next;
};

/**
 * struct bus_history_calls - the calls that wait
 * @event: signalled by the history's thread when it has set a result
 * @source: of @event on the main loop
 * @first: the first call of the list
 */
struct bus_history_calls {
	struct bus_service *bus;
	int event;
	sd_event_source *source;
	struct history_call *first;
};

static void call_free(struct history_call *call)
{
	view_clear(&call->request.view);
	history_timeline_clear(&call->request.points);
	sd_bus_message_unref(call->message);
	if (call->mount >= 0)
		close(call->mount);
	free(call->container);
	free(call->program);
	free(call);
}

/* ---- Access ------------------------------------------------------------------- */

/* Return true if the sender owns a container of the history. This runs on the history's thread. */
static bool caller_owns_container(void *ctx, const struct history_container_identity *container,
				  s64 *ret_from_us)
{
	const struct history_call *call = ctx;
	struct cgroup_ownership ownership;

	if (call->mount < 0 || !container->inode || strcmp(container->boot_id, call->boot_id) != 0)
		return false;
	if (!cgroup_get_ownership(call->mount, container->path, call->caller.uid, &ownership) ||
	    ownership.inode != container->inode)
		return false;
	*ret_from_us = ownership.since_us;
	return true;
}

static void limit_to_own_containers(struct history_call *call)
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!file || !fgets(call->boot_id, sizeof(call->boot_id), file))
		*call->boot_id = 0;
	if (file)
		fclose(file);
	call->mount = cgroup_owner_open_mount();
	call->request.query.admits = caller_owns_container;
	call->request.query.ctx = call;
}

/* ---- Answers ------------------------------------------------------------------ */

static int reply_view(struct history_call *call)
{
	const struct history_coverage *covered = &call->request.coverage;
	sd_bus_message *reply = NULL;
	int r = sd_bus_message_new_method_return(call->message, &reply);

	if (r >= 0)
		r = view_bus_append(reply, &call->request.view);
	if (r >= 0)
		r = sd_bus_message_append(reply, "a{sv}", 4, "periods", "u", covered->periods,
					  "since_usec", "t", (u64)covered->start_us, "until_usec",
					  "t", (u64)covered->end_us, "longest_s", "u",
					  covered->longest_s);
	if (r >= 0)
		r = sd_bus_send(NULL, reply, NULL);
	sd_bus_message_unref(reply);
	return r;
}

static int append_points(sd_bus_message *reply, const struct history_timeline *t)
{
	int r = sd_bus_message_open_container(reply, 'a', "(" POINT_TYPE ")");

	for (u32 i = 0; i < t->points && r >= 0; i++) {
		const struct history_point *p = &t->point[i];

		r = sd_bus_message_append(reply, "(" POINT_TYPE ")", p->series, (u64)p->start_us,
					  (u64)p->end_us, (u64)p->sampled_us, p->sums.samples,
					  p->sums.operations, p->sums.latency, p->sums.memory,
					  p->sums.dram, p->sums.remote, p->sums.branches,
					  p->sums.mispredicted, p->p50, p->p99);
	}
	return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int reply_timeline(struct history_call *call)
{
	const struct history_timeline *t = &call->request.points;
	sd_bus_message *reply = NULL;
	int r = sd_bus_message_new_method_return(call->message, &reply);

	if (r >= 0)
		r = sd_bus_message_append(reply, "ssb", t->unit, bus_backend_name(t->backend),
					  t->truncated);
	if (r >= 0)
		r = sd_bus_message_open_container(reply, 'a', "(ss)");
	for (u32 i = 0; i < t->series_count && r >= 0; i++)
		r = sd_bus_message_append(reply, "(ss)", t->series[i].container,
					  t->series[i].program);
	if (r >= 0)
		r = sd_bus_message_close_container(reply);
	if (r >= 0)
		r = append_points(reply, t);
	if (r >= 0)
		r = sd_bus_send(NULL, reply, NULL);
	sd_bus_message_unref(reply);
	return r;
}

static void reply_failure(struct history_call *call, int r)
{
	if (r == -ETIMEDOUT)
		sd_bus_reply_method_errorf(call->message, SD_BUS_ERROR_TIMEOUT,
					   "The query took too long: choose a shorter time.");
	else
		sd_bus_reply_method_errnof(call->message, r, "The history cannot be read: %m.");
}

static void call_answer(struct bus_service *bus, struct history_call *call)
{
	const struct history_request *request = &call->request;
	int r = request->result;

	if (r >= 0)
		r = request->timeline ? reply_timeline(call) : reply_view(call);
	if (r < 0)
		reply_failure(call, r);
	access_charge_rows(&bus->access, &call->caller,
			   request->timeline ? request->points.points : request->view.count);
}

/* Reply to the calls for which the history's thread has completed the request. */
static int on_results(sd_event_source *source __attribute__((unused)), int fd,
		      uint32_t revents __attribute__((unused)), void *userdata)
{
	struct bus_history_calls *calls = userdata;
	struct history_call **at = &calls->first;
	u64 count;

	if (read(fd, &count, sizeof(count)) < 0)
		return 0;
	while (*at) {
		struct history_call *call = *at;

		if (!__atomic_load_n(&call->done, __ATOMIC_ACQUIRE)) {
			at = &call->next;
			continue;
		}
		*at = call->next;
		call_answer(calls->bus, call);
		call_free(call);
	}
	return 0;
}

/* Mark the call as done, and wake the main thread. This runs on the history's thread. */
static void signal_result(struct history_request *request)
{
	struct history_call *call = request->ctx;
	int event = call->calls->event;
	const u64 one = 1;

	/* From here on the main thread may free the call. */
	__atomic_store_n(&call->done, true, __ATOMIC_RELEASE);
	while (write(event, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

int bus_attach_history(struct bus_service *bus, struct history_writer *writer)
{
	struct bus_history_calls *calls = calloc(1, sizeof(*calls));
	int r;

	if (!calls)
		return -ENOMEM;
	calls->bus = bus;
	calls->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = calls->event < 0 ? -errno :
			       sd_event_add_io(bus->event, &calls->source, calls->event, EPOLLIN,
					       on_results, calls);
	if (r < 0) {
		if (calls->event >= 0)
			close(calls->event);
		free(calls);
		return r;
	}
	bus->history_calls = calls;
	bus->history = writer;
	return 0;
}

void bus_detach_history(struct bus_service *bus)
{
	struct bus_history_calls *calls = bus->history_calls;

	bus->history = NULL;
	bus->history_calls = NULL;
	if (!calls)
		return;
	while (calls->first) {
		struct history_call *call = calls->first;

		calls->first = call->next;
		call_free(call);
	}
	sd_event_source_unref(calls->source);
	close(calls->event);
	free(calls);
}

/* ---- The methods -------------------------------------------------------------- */

static int read_selection(sd_bus_message *m, struct history_call *call, sd_bus_error *error)
{
	const char *key, *value;
	int r = sd_bus_message_enter_container(m, 'a', "{sv}");

	while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
		char **to;

		r = sd_bus_message_read(m, "s", &key);
		if (r < 0)
			return r;
		to = !strcmp(key, "container") ? &call->container :
		     !strcmp(key, "program")   ? &call->program :
						 NULL;
		if (!to || *to)
			return bus_set_invalid_argument(error, "key", key,
							"container or program, each once");
		r = sd_bus_message_read(m, "v", "s", &value);
		if (r == -ENXIO)
			return bus_set_invalid_argument(error, "key", key, "a string");
		if (r < 0)
			return r;
		*to = strdup(value);
		if (!*to)
			return -ENOMEM;
		r = sd_bus_message_exit_container(m);
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int set_period(struct history_call *call, u64 since, u64 until, sd_bus_error *error)
{
	call->request.query.since_us = since > INT64_MAX ? INT64_MAX : (s64)since;
	call->request.query.until_us = until > INT64_MAX ? INT64_MAX : (s64)until;
	if (since < until)
		return 0;
	return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
				 "since_usec: should be before until_usec.");
}

static int read_history_arguments(sd_bus_message *m, struct history_call *call, sd_bus_error *error)
{
	struct history_request *request = &call->request;
	const char *group, *sort;
	u64 since, until;
	int r = sd_bus_message_read(m, "ssutt", &group, &sort, &request->limit, &since, &until);

	if (r < 0)
		return r;
	if (view_group_parse(group, &request->group) < 0 || request->group == VIEW_PROCESS)
		return bus_set_invalid_argument(error, "group", group,
						"function, line, program, container or binary");
	if (view_sort_parse(sort, &request->sort) < 0)
		return bus_set_invalid_argument(error, "sort", sort, VIEW_SORT_LIST);
	if (!view_sort_is_supported(request->sort, VIEW_SPAN_1M, request->group))
		return bus_set_invalid_argument(error, "sort of a period", sort,
						VIEW_SORT_PERIOD_LIST);
	return set_period(call, since, until, error);
}

static int read_timeline_arguments(sd_bus_message *m, struct history_call *call,
				   sd_bus_error *error)
{
	struct history_request *request = &call->request;
	u64 since, until, step;
	const char *group;
	int r = sd_bus_message_read(m, "suttt", &group, &request->limit, &since, &until, &step);

	if (r < 0)
		return r;
	request->timeline = true;
	if (!strcmp(group, "machine"))
		request->group = VIEW_GROUPS;
	else if (view_group_parse(group, &request->group) < 0 ||
		 (request->group != VIEW_CONTAINER && request->group != VIEW_PROGRAM))
		return bus_set_invalid_argument(error, "group", group,
						"machine, container or program");
	if (step < STEP_MIN_US || step > INT64_MAX)
		return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
					 "step_usec: should be at least 60000000, a minute.");
	request->step_us = (s64)step;
	return set_period(call, since, until, error);
}

/* Check that the history exists, and that the caller has fewer waiting calls than the limit. */
static int check_call_limit(const struct bus_service *bus, sd_bus_error *error)
{
	u32 own = 0;

	if (!bus->history)
		return sd_bus_error_setf(
			error, SD_BUS_ERROR_NOT_SUPPORTED,
			"There is no history on disk: History=no is set, or speprofd "
			"has no StateDirectory=.");
	for (const struct history_call *c = bus->history_calls->first; c; c = c->next)
		own += c->caller.uid == bus->caller.uid;
	if (own >= CALLS_OF_USER)
		return sd_bus_error_setf(
			error, SD_BUS_ERROR_LIMITS_EXCEEDED,
			"%u queries of user %u wait for the history. Retry when one "
			"of them is complete.",
			own, (unsigned int)bus->caller.uid);
	return 0;
}

static int submit_call(struct bus_service *bus, struct history_call *call, sd_bus_error *error)
{
	struct history_call **last = &bus->history_calls->first;
	int r = history_writer_submit(bus->history, &call->request);

	if (r == -EBUSY)
		return sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
					 "Too many queries wait for the history. Retry later.");
	if (r < 0)
		return r;
	while (*last)
		last = &(*last)->next;
	*last = call;
	return 1;
}

static int start_call(sd_bus_message *message, struct bus_service *bus,
		      int (*read_call)(sd_bus_message *m, struct history_call *call,
				       sd_bus_error *error),
		      sd_bus_error *error)
{
	struct history_call *call;
	int r = check_call_limit(bus, error);

	if (r < 0)
		return r;
	call = calloc(1, sizeof(*call));
	if (!call)
		return -ENOMEM;
	*call = (struct history_call){
		.calls = bus->history_calls,
		.message = sd_bus_message_ref(message),
		.caller = bus->caller,
		.mount = -1,
		.request = { .done = signal_result, .ctx = call },
	};
	r = read_call(message, call, error);
	if (r >= 0)
		r = bus_check_limit(call->request.limit, error);
	if (r >= 0)
		r = read_selection(message, call, error);
	if (r >= 0) {
		call->request.query.container = call->container;
		call->request.query.program = call->program;
		if (!bus->caller.owner && !bus->caller.reads)
			limit_to_own_containers(call);
		r = submit_call(bus, call, error);
	}
	if (r < 0)
		call_free(call);
	return r;
}

int bus_handle_get_history(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
	return start_call(message, userdata, read_history_arguments, error);
}

int bus_handle_get_timeline(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
	return start_call(message, userdata, read_timeline_arguments, error);
}
