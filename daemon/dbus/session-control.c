// SPDX-License-Identifier: LGPL-2.1-or-later
/* Implement the methods that create, change, start, stop and remove sessions. */
#include "objects.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cgroup-paths.h"
#include "engine/rate-control.h"
#include "engine/source-open.h"
#include "message-limits.h"
#include "property-signals.h"
#include "temporary-session.h"

/* limits of the interval, in µs; they are equal to the limits of SamplesPerSecond= */
#define INTERVAL_MIN_US 10
#define INTERVAL_MAX_US 1000000

static int change_session_state(sd_bus_message *message, struct bus_service *bus, worker_fn fn,
				sd_bus_error *error)
{
	const char *path = sd_bus_message_get_path(message);
	char session[SESSION_NAME_SIZE];
	char object[sizeof(BUS_SESSIONS) + SESSION_NAME_SIZE];
	int r;

	bus_path_to_session_name(path, session);
	r = worker_call(bus->worker, fn, session);
	if (r == -EALREADY)
		return sd_bus_error_setf(error, BUS_NAME ".AlreadyDone", "Sampling is already %s.",
					 fn == worker_start_session ? "running" : "stopped");
	if (r < 0)
		return bus_set_session_error(error, r, session, NULL);
	snprintf(object, sizeof(object), BUS_SESSIONS "/%s", session);
	if (fn != worker_reset_session)
		sd_bus_emit_properties_changed(bus->bus, object, BUS_SESSION, "State", NULL);
	if (fn != worker_reset_session && !strcmp(session, SESSION_MACHINE))
		sd_bus_emit_properties_changed(bus->bus, BUS_PATH, BUS_MANAGER, "State", NULL);
	return sd_bus_reply_method_return(message, NULL);
}

int bus_handle_start(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
	return change_session_state(message, userdata, worker_start_session, error);
}

int bus_handle_stop(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
	return change_session_state(message, userdata, worker_stop_session, error);
}

int bus_handle_reset(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
	return change_session_state(message, userdata, worker_reset_session, error);
}

static int set_rule_error(sd_bus_error *error, int r, const struct filter_error *why)
{
	if (r != -EINVAL)
		return r;
	if (why->column)
		return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS, "filter, column %u: %s",
					 why->column, why->text);
	return sd_bus_error_set(error, SD_BUS_ERROR_INVALID_ARGS, why->text);
}

static int make_rule(const struct bus_service *bus, const char *expression, char *const *cgroups,
		     struct session_rule **ret_rule, sd_bus_error *error)
{
	struct config_container_lists lists;
	struct filter_error why = { 0 };
	int r;

	r = config_split_lists(bus->config, &lists);
	if (r < 0)
		return r;
	r = session_rule_new(&lists.lists, expression, cgroups, ret_rule, &why);
	config_container_lists_clear(&lists);
	return r < 0 ? set_rule_error(error, r, &why) : 0;
}

/* A copy of the filter and cgroups of a session, because a call changes only one of the two */
struct current_rule {
	const char *session;
	char *expression;
	char **cgroups;
};

static int copy_rule(struct worker_state *state, void *arg)
{
	struct current_rule *current = arg;
	const struct session *session = worker_find_session(state, current->session);
	size_t n = 0;

	if (!session)
		return -ENOENT;
	current->expression = strdup(session->rule->expression);
	while (session->rule->cgroups && session->rule->cgroups[n])
		n++;
	current->cgroups = calloc(n + 1, sizeof(*current->cgroups));
	for (size_t i = 0; current->cgroups && i < n; i++) {
		current->cgroups[i] = strdup(session->rule->cgroups[i]);
		if (!current->cgroups[i])
			return -ENOMEM;
	}
	return current->expression && current->cgroups ? 0 : -ENOMEM;
}

static void current_rule_clear(struct current_rule *current)
{
	for (size_t i = 0; current->cgroups && current->cgroups[i]; i++)
		free(current->cgroups[i]);
	free(current->cgroups);
	free(current->expression);
}

static int change_session(struct bus_service *bus, sd_bus_message *message,
			  struct worker_change_request *request, sd_bus_error *error)
{
	char object[sizeof(BUS_SESSIONS) + SESSION_NAME_SIZE];
	int r = worker_call(bus->worker, worker_change_session, request);

	if (r < 0) {
		session_rule_free(request->rule);
		return bus_set_session_error(error, r, request->session, request->reason);
	}
	snprintf(object, sizeof(object), BUS_SESSIONS "/%s", request->session);
	if (request->rule)
		sd_bus_emit_properties_changed(bus->bus, object, BUS_SESSION, "Filter", "Cgroups",
					       "FilterParts", NULL);
	if (request->interval_ns && !strcmp(request->session, SESSION_MACHINE))
		worker_call(bus->worker, rate_control_set_target, &request->interval_ns);
	if (request->interval_ns)
		bus_signal_interval(bus, request->session);
	return sd_bus_reply_method_return(message, NULL);
}

static int change_rule(struct bus_service *bus, sd_bus_message *message, const char *expression,
		       char *const *cgroups, sd_bus_error *error)
{
	char session[SESSION_NAME_SIZE];
	struct current_rule current = { .session = session };
	struct worker_change_request request = { .session = session };
	int r;

	bus_path_to_session_name(sd_bus_message_get_path(message), session);
	r = worker_call(bus->worker, copy_rule, &current);
	if (r < 0)
		r = bus_set_session_error(error, r, session, NULL);
	else
		r = make_rule(bus, expression ? expression : current.expression,
			      cgroups ? cgroups : current.cgroups, &request.rule, error);
	current_rule_clear(&current);
	return r < 0 ? r : change_session(bus, message, &request, error);
}

/*
 * Return true if @expression compares addresses: each such filter reveals one bit of an address.
 * Return false for an invalid expression, because the method reports that error. Return true if
 * memory cannot be allocated, because the call then needs the stricter permission.
 */
static bool compares_addresses(const char *expression)
{
	struct filter_error error;
	struct filter *filter;
	bool compares;
	int r;

	if (!expression || !*expression)
		return false;
	r = filter_new(expression, &filter, &error);
	if (r < 0)
		return r != -EINVAL;
	compares = filter_compares_addresses(filter);
	filter_free(filter);
	return compares;
}

enum access_level bus_determine_filter_access(sd_bus_message *message,
					      void *bus __attribute__((unused)))
{
	const char *expression;
	bool raw;

	sd_bus_message_rewind(message, true);
	raw = sd_bus_message_read(message, "s", &expression) >= 0 && compares_addresses(expression);
	sd_bus_message_rewind(message, true);
	return raw ? ACCESS_MANAGE_RAW : ACCESS_MANAGE;
}

/*
 * A filter that compares addresses, together with the cgroup of one program, reveals addresses of
 * that program.
 */
enum access_level bus_determine_cgroups_access(sd_bus_message *message, void *userdata)
{
	char session[SESSION_NAME_SIZE];
	struct current_rule current = { .session = session };
	struct bus_service *bus = userdata;
	bool raw;

	bus_path_to_session_name(sd_bus_message_get_path(message), session);
	raw = worker_call_readonly(bus->worker, copy_rule, &current) == -ENOMEM ||
	      compares_addresses(current.expression);
	current_rule_clear(&current);
	return raw ? ACCESS_MANAGE_RAW : ACCESS_MANAGE;
}

int bus_handle_set_filter(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
	const char *expression;
	int r = sd_bus_message_read(message, "s", &expression);

	return r < 0 ? r : change_rule(userdata, message, expression, NULL, error);
}

int bus_handle_set_cgroups(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
	char **cgroups = NULL;
	int r = bus_read_cgroups(message, &cgroups, error);

	if (r >= 0)
		r = change_rule(userdata, message, NULL, cgroups, error);
	bus_strings_free(cgroups);
	return r;
}

static int check_interval(u64 us, sd_bus_error *error)
{
	if (us >= INTERVAL_MIN_US && us <= INTERVAL_MAX_US)
		return 0;
	return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
				 "interval %llu: should be %u to %u microseconds.",
				 (unsigned long long)us, INTERVAL_MIN_US, INTERVAL_MAX_US);
}

int bus_handle_set_interval(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
	char session[SESSION_NAME_SIZE];
	struct worker_change_request request = { .session = session };
	u64 us;
	int r;

	r = sd_bus_message_read(message, "t", &us);
	if (r < 0)
		return r;
	r = check_interval(us, error);
	if (r < 0)
		return r;
	request.interval_ns = us * 1000;
	bus_path_to_session_name(sd_bus_message_get_path(message), session);
	return change_session(userdata, message, &request, error);
}

/* ---- Making and removing -------------------------------------------------- */

enum source_choice { CREATE_AUTO, CREATE_SHARED, CREATE_OWN };

/**
 * struct create_options - the options of CreateSession
 * @given: set of the options that were read; mark_option_given() numbers the bits
 * @physical: true if records have physical addresses, even if the configuration excludes them
 * @temporary: true if the session ends with the connection of its creator
 */
struct create_options {
	u32 given;
	const char *name;
	const char *expression;
	char **cgroups;
	u64 interval_us;
	u64 flight_bytes;
	enum source_choice source;
	bool stopped;
	bool physical;
	bool temporary;
};

static int read_source_option(struct create_options *c, const char *text, sd_bus_error *error)
{
	static const char *const names[] = {
		[CREATE_AUTO] = "auto", [CREATE_SHARED] = "shared", [CREATE_OWN] = "own"
	};

	for (c->source = CREATE_AUTO; c->source <= CREATE_OWN; c->source++)
		if (!strcmp(names[c->source], text))
			return 0;
	return bus_set_invalid_argument(error, "Source", text, "auto, shared or own");
}

static int check_flight_size(u64 bytes, sd_bus_error *error)
{
	if (bytes >= FLIGHT_MIN && bytes <= FLIGHT_MAX)
		return 0;
	return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
				 "BufferSize %llu: should be %lu to %lu bytes.",
				 (unsigned long long)bytes, FLIGHT_MIN, FLIGHT_MAX);
}

/*
 * Check that the option @key exists, and mark it as given. A second value for an option is an
 * error, so a message with a million options is refused early.
 */
static int mark_option_given(struct create_options *c, const char *key, sd_bus_error *error)
{
	static const char *const names[] = { "Filter", "Cgroups", "IntervalUSec",     "BufferSize",
					     "Source", "Start",	  "PhysicalAddresses",
					     "Temporary" };
	u32 i = 0;

	while (i < ARRAY_SIZE(names) && strcmp(names[i], key))
		i++;
	if (i == ARRAY_SIZE(names))
		return bus_set_invalid_argument(
			error, "option", key,
			"Filter, Cgroups, IntervalUSec, BufferSize, Source, Start, "
			"PhysicalAddresses or Temporary");
	if (c->given & 1U << i)
		return bus_set_invalid_argument(error, "option", key, "given once");
	c->given |= 1U << i;
	return 0;
}

static int read_option(sd_bus_message *m, struct create_options *c, const char *key,
		       sd_bus_error *error)
{
	const char *text;
	int flag = 1, r;

	if (!strcmp(key, "Filter"))
		return sd_bus_message_read(m, "v", "s", &c->expression);
	if (!strcmp(key, "IntervalUSec")) {
		r = sd_bus_message_read(m, "v", "t", &c->interval_us);
		return r < 0 ? r : check_interval(c->interval_us, error);
	}
	if (!strcmp(key, "BufferSize")) {
		r = sd_bus_message_read(m, "v", "t", &c->flight_bytes);
		return r < 0 ? r : check_flight_size(c->flight_bytes, error);
	}
	if (!strcmp(key, "Source")) {
		r = sd_bus_message_read(m, "v", "s", &text);
		return r < 0 ? r : read_source_option(c, text, error);
	}
	if (!strcmp(key, "Start")) {
		r = sd_bus_message_read(m, "v", "b", &flag);
		c->stopped = !flag;
		return r;
	}
	if (!strcmp(key, "PhysicalAddresses")) {
		r = sd_bus_message_read(m, "v", "b", &flag);
		c->physical = r >= 0 && flag;
		return r;
	}
	if (!strcmp(key, "Temporary")) {
		r = sd_bus_message_read(m, "v", "b", &flag);
		c->temporary = r >= 0 && flag;
		return r;
	}
	/* The only option that remains is Cgroups. */
	r = sd_bus_message_enter_container(m, 'v', "as");
	if (r >= 0)
		r = bus_read_cgroups(m, &c->cgroups, error);
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int read_create_arguments(sd_bus_message *m, struct create_options *c, sd_bus_error *error)
{
	const char *key;
	int r;

	r = sd_bus_message_read(m, "s", &c->name);
	if (r >= 0 && !session_name_valid(c->name))
		return bus_set_invalid_argument(error, "name", c->name,
						"a letter and up to 62 letters, digits and \"_\"");
	if (r >= 0)
		r = sd_bus_message_enter_container(m, 'a', "{sv}");
	while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
		r = sd_bus_message_read(m, "s", &key);
		if (r >= 0)
			r = mark_option_given(c, key, error);
		if (r >= 0)
			r = read_option(m, c, key, error);
		if (r == -ENXIO)
			return bus_set_invalid_argument(error, "option", key, "of another type");
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
	}
	return r;
}

static void create_options_clear(struct create_options *c)
{
	bus_strings_free(c->cgroups);
}

/* A session can reveal addresses through the option PhysicalAddresses, or through its filter. */
enum access_level bus_determine_create_access(sd_bus_message *message,
					      void *bus __attribute__((unused)))
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	struct create_options c = { 0 };
	bool raw;

	sd_bus_message_rewind(message, true);
	raw = read_create_arguments(message, &c, &error) >= 0 &&
	      (c.physical || compares_addresses(c.expression));
	sd_bus_message_rewind(message, true);
	create_options_clear(&c);
	sd_bus_error_free(&error);
	return raw ? ACCESS_MANAGE_RAW : ACCESS_MANAGE;
}

struct machine_source {
	struct shared_source *shared_source;
	bool running;
};

static int get_machine_source(struct worker_state *state, void *arg)
{
	const struct session *machine = worker_find_session(state, NULL);
	struct machine_source *share = arg;

	share->shared_source = shared_source_get(machine->shared_source);
	share->running = machine->running;
	return 0;
}

static int release_source(struct worker_state *state __attribute__((unused)), void *arg)
{
	shared_source_put(arg);
	return 0;
}

static int open_separate_source(const struct bus_service *bus, const struct create_options *c,
				struct session_config *session, sd_bus_error *error)
{
	struct source_config sampling = source_open_get_sampling(bus->config);
	struct source_open_result result;
	struct source *source;
	int r;

	if (c->interval_us)
		sampling.interval_ns = c->interval_us * 1000;
	sampling.physical |= c->physical;
	sampling.cgroups = session->rule->cgroups;
	/* Use the ring size that budget_plan_session() plans. */
	sampling.ring_size = MEMORY_RING_MIN;
	r = source_open(bus->config, &sampling, &source, &result);
	if (r < 0)
		return sd_bus_error_setf(error, BUS_NAME ".NoSource",
					 "A source for this session alone cannot be opened: %s.",
					 result.text);
	/* With perf, a session that samples uses its SPUs exclusively. */
	if (!source->cpus && source->health.cpus_stopped) {
		r = sd_bus_error_setf(error, BUS_NAME ".Busy",
				      "A source for this session alone has no CPU: %s. Stop that "
				      "one, or create this session with Source \"shared\".",
				      source->health.no_event_reason);
		source->ops->free(source);
		return r;
	}
	r = shared_source_new(source, &sampling, &session->shared_source);
	if (r < 0)
		source->ops->free(source);
	return r;
}

/*
 * Choose between the source of the session "machine" and a new source for this session only. The
 * module gives an SPU to only one session at a time. Unless the caller chose, a session gets its
 * own source only if it samples cgroups and "machine" is stopped, so that the session takes no SPU
 * from "machine".
 */
static int choose_source(const struct bus_service *bus, const struct create_options *c,
			 struct session_config *session, sd_bus_error *error)
{
	struct machine_source share;

	worker_call(bus->worker, get_machine_source, &share);
	session->shared = c->source == CREATE_SHARED ||
			  (c->source == CREATE_AUTO &&
			   (share.running || !session->rule->cgroups || session->temporary));
	if (session->shared && (c->interval_us || c->physical)) {
		worker_call(bus->worker, release_source, share.shared_source);
		return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
					 "%s: a session that shares the machine's source cannot "
					 "change it; create it with Source \"own\".",
					 c->interval_us ? "IntervalUSec" : "PhysicalAddresses");
	}
	if (session->shared) {
		session->shared_source = share.shared_source;
		return 0;
	}
	worker_call(bus->worker, release_source, share.shared_source);
	return open_separate_source(bus, c, session, error);
}

static int set_budget_error(const struct session_config *session, sd_bus_error *error)
{
	return sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
				 "Session \"%s\": its tables%s exceed the %llu KiB that "
				 "MemoryBudget= leaves for sessions: set MemoryBudget=%lluM or more.",
				 session->name, session->flight_bytes ? " and BufferSize" : "",
				 (unsigned long long)session->left >> 10,
				 (unsigned long long)session->wanted >> 20);
}

static int add_session(const struct bus_service *bus, const struct create_options *c,
		       struct session_config *session, sd_bus_error *error)
{
	int r = worker_call(bus->worker, worker_add_session, session);

	if (r < 0) {
		worker_call(bus->worker, release_source, session->shared_source);
		session_rule_free(session->rule);
		if (r == -EDQUOT)
			return set_budget_error(session, error);
		return bus_set_session_error(error, r, session->name, NULL);
	}
	if (c->stopped)
		return 0;
	r = worker_call(bus->worker, worker_start_session, (void *)session->name);
	if (r >= 0)
		return 0;
	worker_call(bus->worker, worker_remove_session, (void *)session->name);
	return bus_set_session_error(error, r, session->name, NULL);
}

static int create_session(struct bus_service *bus, const struct create_options *c,
			  sd_bus_error *error)
{
	struct session_config session = {
		.name = c->name, .flight_bytes = c->flight_bytes, .temporary = c->temporary
	};
	int r;

	/*
	 * A temporary session cannot have its own source: the service manager would keep the
	 * descriptor of that source after the session ends.
	 */
	if (c->temporary && (c->source == CREATE_OWN || c->flight_bytes))
		return bus_set_invalid_argument(
			error, "option", "Temporary",
			"given without BufferSize, and with Source \"shared\"");
	r = make_rule(bus, c->expression, c->cgroups, &session.rule, error);
	if (r < 0)
		return r;
	r = choose_source(bus, c, &session, error);
	if (r < 0) {
		session_rule_free(session.rule);
		return r;
	}
	return add_session(bus, c, &session, error);
}

int bus_handle_create_session(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
	struct bus_service *bus = userdata;
	struct create_options c = { 0 };
	char object[sizeof(BUS_SESSIONS) + SESSION_NAME_SIZE];
	struct bus_sharing_sessions sharers;
	int r;

	r = read_create_arguments(message, &c, error);
	if (r >= 0)
		r = create_session(bus, &c, error);
	if (r >= 0 && c.temporary) {
		r = bus_watch_session_creator(bus, message, c.name);
		if (r < 0)
			worker_call(bus->worker, worker_remove_session, (void *)c.name);
	}
	create_options_clear(&c);
	if (r < 0)
		return r;
	snprintf(object, sizeof(object), BUS_SESSIONS "/%s", c.name);
	sd_bus_emit_object_added(bus->bus, object);
	/*
	 * The new session may have changed the filters of a shared source, because such a source
	 * drops only samples that all of its sessions drop.
	 */
	bus_find_sharing_sessions(bus, c.name, &sharers);
	bus_signal_sharing_sessions(bus, &sharers, c.name, "FilterParts");
	return sd_bus_reply_method_return(message, "o", object);
}

int bus_drop_session(struct bus_service *bus, char session[static SESSION_NAME_SIZE])
{
	char object[sizeof(BUS_SESSIONS) + SESSION_NAME_SIZE];
	struct bus_sharing_sessions sharers;
	int r;

	bus_unwatch_session_creator(bus, session);
	/*
	 * Signal the removal before the session is removed: sd-bus looks up the interfaces of the
	 * object for the signal.
	 */
	snprintf(object, sizeof(object), BUS_SESSIONS "/%s", session);
	sd_bus_emit_object_removed(bus->bus, object);
	bus_find_sharing_sessions(bus, session, &sharers);
	r = worker_call(bus->worker, worker_remove_session, session);
	if (r < 0)
		return r;
	bus_invalidate_properties(bus);
	bus_signal_sharing_sessions(bus, &sharers, session, "FilterParts");
	return 0;
}

int bus_handle_remove(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
	char session[SESSION_NAME_SIZE];
	int r;

	bus_path_to_session_name(sd_bus_message_get_path(message), session);
	if (!strcmp(session, SESSION_MACHINE))
		return sd_bus_error_set(error, SD_BUS_ERROR_NOT_SUPPORTED,
					"The session \"machine\" is defined by the configuration "
					"and cannot be removed: stop it instead.");
	r = bus_drop_session(userdata, session);
	if (r < 0)
		return bus_set_session_error(error, r, session, NULL);
	return sd_bus_reply_method_return(message, NULL);
}
