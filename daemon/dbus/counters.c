// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Methods that return latency histograms, and all counters of the machine, or of a container,
 * process or function, which the caller selects by the fields of a row of a view.
 */
#include "objects.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "cgroup-owner.h"
#include "codec/payload.h"
#include "profile/profile-query.h"
#include "profile/profile-read.h"
#include "query/query-names.h"
#include "util/time.h"

/* ---- Parts of answers ---------------------------------------------------------- */

static int append_histogram(sd_bus_message *reply, const struct histogram *h)
{
	int r;

	r = sd_bus_message_append(reply, "tt", h->count, h->sum);
	if (r >= 0)
		r = sd_bus_message_open_container(reply, 'a', "(ut)");
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS && r >= 0; i++)
		if (h->bucket[i])
			r = sd_bus_message_append(reply, "(ut)", histogram_get_upper_bound(i),
						  (u64)h->bucket[i]);
	return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int append_counts(sd_bus_message *reply, const char *key, const u64 *counts, u32 count,
			 const char *(*name)(u32 i))
{
	int r = sd_bus_message_open_container(reply, 'e', "sv");

	if (r >= 0)
		r = sd_bus_message_append(reply, "s", key);
	if (r >= 0)
		r = sd_bus_message_open_container(reply, 'v', "a{st}");
	if (r >= 0)
		r = sd_bus_message_open_container(reply, 'a', "{st}");
	for (u32 i = 0; i < count && r >= 0; i++)
		if (counts[i] && name(i))
			r = sd_bus_message_append(reply, "{st}", name(i), counts[i]);
	for (int i = 0; i < 3 && r >= 0; i++)
		r = sd_bus_message_close_container(reply);
	return r;
}

static int append_latency(sd_bus_message *reply, const char *key, const struct histogram *h)
{
	int r = sd_bus_message_open_container(reply, 'e', "sv");

	if (r >= 0)
		r = sd_bus_message_append(reply, "s", key);
	if (r >= 0)
		r = sd_bus_message_open_container(reply, 'v', "(tta(ut))");
	if (r >= 0)
		r = sd_bus_message_open_container(reply, 'r', "tta(ut)");
	if (r >= 0)
		r = append_histogram(reply, h);
	for (int i = 0; i < 3 && r >= 0; i++)
		r = sd_bus_message_close_container(reply);
	return r;
}

static const char *get_event_name(u32 i)
{
	return spe_event_name((u8)i);
}

static const char *get_level_name(u32 i)
{
	return spe_level_name((enum spe_level)i);
}

int bus_append_counters(sd_bus_message *reply, u8 backend, const struct profile_counters *f)
{
	int r;

	r = sd_bus_message_append(reply, "{sv}{sv}{sv}{sv}{sv}", "backend", "s",
				  bus_backend_name(backend), "samples", "t", f->samples, "simd",
				  "t", f->counts.simd, "mispredicted", "t", f->counts.mispredicted,
				  "remote", "t",
				  counters_get_origin_accesses(f, SPE_ORIGIN_REMOTE));
	if (r >= 0)
		r = append_counts(reply, "operations", f->counts.kind, SPE_KINDS, sample_kind_name);
	if (r >= 0)
		r = append_counts(reply, "events", f->counts.event, SAMPLE_EVENTS, get_event_name);
	if (r >= 0)
		r = append_counts(reply, "levels", f->counts.level, SPE_LEVELS, get_level_name);
	if (r >= 0)
		r = append_latency(reply, "latency_total", &f->latency[PROFILE_TOTAL]);
	if (r >= 0)
		r = append_latency(reply, "latency_issue", &f->latency[PROFILE_ISSUE]);
	if (r >= 0)
		r = append_latency(reply, "latency_translation", &f->latency[PROFILE_TRANSLATION]);
	return r;
}

/* ---- The machine's histograms ---------------------------------------------------- */

struct histogram_request {
	const char *session;
	enum profile_latency latency;
	struct histogram histogram;
};

static int read_histogram(struct worker_state *state, void *arg)
{
	struct histogram_request *request = arg;
	struct session *session = worker_find_session(state, request->session);

	if (!session)
		return -ENOENT;
	request->histogram = *profile_get_histogram(session->profile, request->latency);
	return 0;
}

int bus_handle_get_histogram(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
	static const char *const kinds[PROFILE_LATENCIES] = {
		[PROFILE_TOTAL] = "total",
		[PROFILE_ISSUE] = "issue",
		[PROFILE_TRANSLATION] = "translation",
	};
	char session[SESSION_NAME_SIZE];
	struct histogram_request request = { .session = session };
	sd_bus_message *reply = NULL;
	struct bus_service *bus = userdata;
	const char *kind;
	int r;

	r = sd_bus_message_read(message, "s", &kind);
	if (r < 0)
		return r;
	while (request.latency < PROFILE_LATENCIES && strcmp(kinds[request.latency], kind))
		request.latency++;
	if (request.latency == PROFILE_LATENCIES)
		return bus_set_invalid_argument(error, "kind", kind, "total, issue or translation");
	bus_path_to_session_name(sd_bus_message_get_path(message), session);
	r = worker_call_readonly(bus->worker, read_histogram, &request);
	if (r < 0)
		return bus_set_session_error(error, r, session, NULL);
	r = sd_bus_message_new_method_return(message, &reply);
	if (r >= 0)
		r = append_histogram(reply, &request.histogram);
	if (r >= 0)
		r = sd_bus_send(NULL, reply, NULL);
	sd_bus_message_unref(reply);
	return r;
}

/* ---- Counters of a selected row --------------------------------------------------- */

/**
 * struct counters_request - argument of read_counters()
 * @uid: select only containers of this user; (uid_t)-1: of all users
 * @mount: mount point of cgroups, to look up owners
 * @searched: number of cgroups for which the owner was looked up
 * @pending: number of locations that have no name yet
 */
struct counters_request {
	const char *session;
	enum view_span span;
	struct profile_query wanted;
	uid_t uid;
	int mount;
	u32 searched;
	u8 backend;
	u64 pending;
	struct profile_counters counters;
};

static bool is_container_of_caller(void *ctx, const struct attribute_container *container)
{
	struct counters_request *request = ctx;

	request->searched++;
	return cgroup_is_owned_by(request->mount, container->cgroup, request->uid);
}

static int read_counters(struct worker_state *state, void *arg)
{
	struct counters_request *request = arg;
	struct session *session = worker_find_session(state, request->session);
	struct symbols_stats stats;
	int r;

	if (!session)
		return -ENXIO;
	worker_drain_session(state, session);
	request->backend = session->shared_source->source->backend;
	r = profile_query_counters(session->profile, state->symbols, true, request->span,
				   session->running ? time_now_ns() : 0, &request->wanted,
				   &request->counters);
	symbols_get_stats(state->symbols, &stats);
	request->pending = stats.pending;
	return r;
}

/* Read the next variant into the field @key of @wanted. A second value for a field is an error. */
static int read_field(sd_bus_message *m, const char *key, struct profile_query *wanted,
		      sd_bus_error *error)
{
	const struct {
		const char *key;
		const char **to;
	} texts[] = {
		{ "container", &wanted->container },
		{ "process", &wanted->process },
		{ "function", &wanted->function },
		{ "binary", &wanted->binary },
	};
	int r = -EINVAL;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (strcmp(texts[i].key, key) != 0)
			continue;
		if (*texts[i].to)
			return bus_set_invalid_argument(error, "field", key, "given once");
		r = sd_bus_message_read(m, "v", "s", texts[i].to);
		return r == -ENXIO ? bus_set_invalid_argument(error, "field", key, "a string") : r;
	}
	if (!strcmp(key, "globs")) {
		int globs = 0;

		r = sd_bus_message_read(m, "v", "b", &globs);
		if (r >= 0)
			wanted->matches = globs ? query_name_matches : NULL;
		return r == -ENXIO ? bus_set_invalid_argument(error, "field", key, "a boolean") : r;
	}
	if (strcmp(key, "pid") != 0)
		return bus_set_invalid_argument(
			error, "field", key, "container, process, pid, function, binary or globs");
	if (wanted->pid_given)
		return bus_set_invalid_argument(error, "field", key, "given once");
	wanted->pid_given = true;
	r = sd_bus_message_read(m, "v", "i", &wanted->pid);
	return r == -ENXIO ? bus_set_invalid_argument(error, "field", key,
						      "an int32, as in the rows of views") :
			     r;
}

static int read_query(sd_bus_message *m, struct profile_query *wanted, sd_bus_error *error)
{
	const char *key;
	int r = sd_bus_message_enter_container(m, 'a', "{sv}");

	while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
		r = sd_bus_message_read(m, "s", &key);
		if (r >= 0)
			r = read_field(m, key, wanted, error);
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
	}
	return r;
}

static int set_counters_error(const struct counters_request *request, int r, sd_bus_error *error)
{
	const struct profile_query *wanted = &request->wanted;

	if (r == -ENXIO)
		return bus_set_session_error(error, -ENOENT, request->session, NULL);
	if (r == -EOPNOTSUPP)
		return sd_bus_error_set(
			error, SD_BUS_ERROR_NOT_SUPPORTED,
			"Only the machine and containers have counters for a period. For the rest, "
			"query \"start\" twice and subtract.");
	if (r != -ENOENT)
		return bus_set_session_error(error, r, request->session, NULL);
	switch (profile_query_get_group(wanted)) {
	case VIEW_FUNCTION:
		return sd_bus_error_setf(
			error, BUS_NAME ".NoSuchFunction",
			"There is no such function with samples%s.",
			request->pending ? ", or its name is still being resolved: retry later" :
					   "");
	case VIEW_PROCESS:
		return sd_bus_error_set(error, BUS_NAME ".NoSuchProcess",
					"There is no such process with samples.");
	default:
		return bus_set_no_such_container(error, wanted->container,
						 request->uid != (uid_t)-1);
	}
}

static int reply_counters(sd_bus_message *message, const struct counters_request *request)
{
	sd_bus_message *reply = NULL;
	int r = sd_bus_message_new_method_return(message, &reply);

	if (r >= 0)
		r = sd_bus_message_open_container(reply, 'a', "{sv}");
	if (r >= 0)
		r = bus_append_counters(reply, request->backend, &request->counters);
	if (r >= 0)
		r = sd_bus_message_close_container(reply);
	if (r >= 0)
		r = sd_bus_send(NULL, reply, NULL);
	sd_bus_message_unref(reply);
	return r;
}

/*
 * Any caller may query its own container, if the query has no other field. If the arguments cannot
 * be read, return the stricter level; the method then reports the error.
 */
enum access_level bus_determine_counters_access(sd_bus_message *message,
						void *bus __attribute__((unused)))
{
	struct profile_query wanted = { 0 };
	sd_bus_error error = SD_BUS_ERROR_NULL;
	const char *window;
	bool alone;

	sd_bus_message_rewind(message, true);
	alone = !strcmp(sd_bus_message_get_path(message), BUS_PATH) &&
		sd_bus_message_read(message, "s", &window) >= 0 &&
		read_query(message, &wanted, &error) >= 0 &&
		profile_query_get_group(&wanted) == VIEW_CONTAINER;
	sd_bus_message_rewind(message, true);
	sd_bus_error_free(&error);
	return alone ? ACCESS_ANYONE : ACCESS_READ;
}

int bus_handle_get_figures(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
	char session[SESSION_NAME_SIZE];
	struct counters_request request = { .session = session, .uid = (uid_t)-1, .mount = -1 };
	struct bus_service *bus = userdata;
	const char *window;
	int r;

	r = sd_bus_message_read(message, "s", &window);
	if (r < 0)
		return r;
	if (view_span_parse(window, &request.span) < 0)
		return bus_set_invalid_argument(error, "period", window, "start, 10s, 1m or 10m");
	r = read_query(message, &request.wanted, error);
	if (r < 0)
		return r;
	if (request.wanted.pid_given && profile_query_get_group(&request.wanted) == VIEW_FUNCTION)
		return sd_bus_error_set(error, SD_BUS_ERROR_NOT_SUPPORTED,
					"Functions are counted by program. For one process, create a "
					"session with its pid in the filter, or use a recording.");
	bus_path_to_session_name(sd_bus_message_get_path(message), session);
	if (!bus->caller.owner && !bus->caller.reads) {
		request.uid = bus->caller.uid;
		request.mount = cgroup_owner_open_mount();
		request.wanted.admits = is_container_of_caller;
		request.wanted.ctx = &request;
	}
	r = worker_call_readonly(bus->worker, read_counters, &request);
	bus_add_answer_rows(bus, request.searched);
	if (request.mount >= 0)
		close(request.mount);
	return r < 0 ? set_counters_error(&request, r, error) : reply_counters(message, &request);
}
