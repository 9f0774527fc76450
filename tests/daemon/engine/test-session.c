// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test the sessions of one worker, with their own sources and with a shared source. */
#include "test.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "dbus/property-cache.h"
#include "engine/container-filter.h"
#include "engine/rate-control.h"
#include "engine/worker.h"
#include "filter/filter-internal.h"
#include "tasks/task-events.h"

/*
 * A source that delivers, at each drain while it is enabled, one load of 100 cycles and one of 300
 */
struct scripted_source {
	struct source source;
	int fd;
	bool enabled;
	u32 starts;
	u32 frees;
	int error; /* result of start() */
	bool fixed; /* whether configure() fails */
	u32 configure_count;
	struct source_config config; /* the last configuration */
};

static int script_start(struct source *source)
{
	struct scripted_source *script = (struct scripted_source *)source;

	if (script->error)
		return script->error;
	assert_false(script->enabled);
	script->enabled = true;
	script->starts++;
	return 0;
}

static int script_get_fd(struct source *source)
{
	return ((struct scripted_source *)source)->fd;
}

static size_t put_load(u8 *record, size_t size, u16 latency)
{
	const struct spe_sample sample = {
		.present = SPE_HAS_ADDRESS(0) | SPE_HAS_EVENTS | SPE_HAS_OP | SPE_HAS_COUNTER(0),
		.address = { 0x400000 },
		.counter = { latency },
		.op_class = SPE_OP_LOAD_STORE,
		.events = 1 << 1,
		.events_size = 4,
	};
	int n = spe_record_encode(&sample, record, size);

	assert_true(n > 0);
	return (size_t)n;
}

static int script_drain(struct source *source, const struct source_sink *sink)
{
	struct scripted_source *script = (struct scripted_source *)source;
	struct source_window window = { .tid = -1, .written = 2 };
	u8 bytes[128];

	if (!script->enabled)
		return 0;
	window.len = put_load(bytes, sizeof(bytes), 100);
	window.len += put_load(bytes + window.len, sizeof(bytes) - window.len, 300);
	window.data = bytes;
	sink->window(sink->ctx, &window);
	return 0;
}

static void script_stop(struct source *source)
{
	struct scripted_source *script = (struct scripted_source *)source;

	assert_true(script->enabled);
	script->enabled = false;
}

static void script_free(struct source *source)
{
	struct scripted_source *script = (struct scripted_source *)source;

	assert_false(script->enabled);
	script->frees++;
}

static int script_configure(struct source *source, const struct source_config *config,
			    const char **ret_reason)
{
	struct scripted_source *script = (struct scripted_source *)source;

	if (config->interval_ns == 1) {
		*ret_reason = "too often";
		return -ERANGE;
	}
	if (script->fixed) {
		*ret_reason = "not now";
		return -EIO;
	}
	script->configure_count++;
	script->config = *config;
	return 0;
}

static const struct source_ops script_ops = {
	.name = "script",
	.start = script_start,
	.fd = script_get_fd,
	.drain = script_drain,
	.stop = script_stop,
	.free = script_free,
	.configure = script_configure,
};

/* ---- Stubs: task events, of which only the deliveries are counted ------------------ */

static u32 deliveries;

void __wrap_task_events_deliver(struct task_events *t, u64 until_ns, const struct task_sink *sink);
struct task_events *__wrap_task_events_free(struct task_events *t);
int __wrap_task_events_get_fd(const struct task_events *t);
u64 __wrap_task_events_get_locked_bytes(const struct task_events *t);
enum task_events_kind __wrap_task_events_get_switch_kind(const struct task_events *t);
struct switch_ring *__wrap_task_events_get_switch_rings(struct task_events *t, u32 *ret_cpus);
void __wrap_task_events_follow_hotplug(struct task_events *t);

void __wrap_task_events_deliver(struct task_events *t, u64 until_ns, const struct task_sink *sink)
{
	(void)t;
	(void)until_ns;
	(void)sink;
	__atomic_add_fetch(&deliveries, 1, __ATOMIC_RELAXED);
}

struct task_events *__wrap_task_events_free(struct task_events *t)
{
	(void)t;
	return NULL;
}

int __wrap_task_events_get_fd(const struct task_events *t)
{
	(void)t;
	return -1;
}

u64 __wrap_task_events_get_locked_bytes(const struct task_events *t)
{
	(void)t;
	return 0;
}

enum task_events_kind __wrap_task_events_get_switch_kind(const struct task_events *t)
{
	(void)t;
	return TASK_EVENTS_PROC;
}

struct switch_ring *__wrap_task_events_get_switch_rings(struct task_events *t, u32 *ret_cpus)
{
	(void)t;
	*ret_cpus = 0;
	return NULL;
}

void __wrap_task_events_follow_hotplug(struct task_events *t)
{
	(void)t;
}

struct fixture {
	struct scripted_source script;
	struct worker *worker;
	struct shared_source *shared_source;
};

static int setup_with_tasks(void **state, struct task_events *tasks)
{
	static struct fixture f;
	const struct source_config sampling = { .interval_ns = 1000000 };
	const struct task_events_status task_status = { 0 };

	f = (struct fixture){ .script.source = { .ops = &script_ops, .cpus = 1 } };
	f.script.fd = eventfd(0, EFD_CLOEXEC);
	assert_true(f.script.fd >= 0);
	assert_int_equal(shared_source_new(&f.script.source, &sampling, &f.shared_source), 0);
	assert_int_equal(worker_new(NULL, tasks, &task_status, &f.worker), 0);
	*state = &f;
	return 0;
}

static int setup(void **state)
{
	return setup_with_tasks(state, NULL);
}

/* The stubs ignore the pointer; the worker only compares it with NULL. */
static int setup_task_events(void **state)
{
	deliveries = 0;
	return setup_with_tasks(state, (struct task_events *)&deliveries);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	worker_free(f->worker);
	shared_source_put(f->shared_source);
	assert_int_equal(f->script.frees, 1);
	close(f->script.fd);
	return 0;
}

static int add_session(struct fixture *f, const char *name, const char *expression)
{
	struct session_config config = {
		.name = name,
		.shared_source = shared_source_get(f->shared_source),
		.shared = strcmp(name, SESSION_MACHINE) != 0,
	};
	struct filter_error error;
	int r;

	assert_int_equal(session_rule_new(NULL, expression, NULL, &config.rule, &error), 0);
	r = worker_call(f->worker, worker_add_session, &config);
	if (r < 0) {
		shared_source_put(config.shared_source);
		session_rule_free(config.rule);
	}
	return r;
}

/*
 * Get the number of records of a session, and the number of records that its filter dropped. The
 * query drains once.
 */
static void get_counts(struct fixture *f, const char *session, u64 *ret_records, u64 *ret_filtered)
{
	struct worker_view_request view = { .session = session,
					    .group = VIEW_PROCESS,
					    .limit = 10 };

	assert_int_equal(worker_call(f->worker, worker_make_view, &view), 0);
	*ret_records = view.view.header.records;
	*ret_filtered = view.view.header.filtered;
	view_clear(&view.view);
}

static void test_session_names(void **state)
{
	char longest[SESSION_NAME_SIZE + 1];

	(void)state;
	memset(longest, 'a', sizeof(longest));
	longest[SESSION_NAME_SIZE - 1] = '\0';
	assert_true(session_name_valid(longest));
	longest[SESSION_NAME_SIZE - 1] = 'a';
	longest[SESSION_NAME_SIZE] = '\0';
	assert_false(session_name_valid(longest));
	assert_true(session_name_valid("machine"));
	assert_true(session_name_valid("Web_2"));
	assert_false(session_name_valid(""));
	assert_false(session_name_valid("2web"));
	assert_false(session_name_valid("_web"));
	assert_false(session_name_valid("a/b"));
	assert_false(session_name_valid("a-b"));
	assert_false(session_name_valid("a\xc3\xa4"));
}

/*
 * Two sessions with different filters share a source: each counts its matches, and what its filter
 * dropped.
 */
static void test_sessions_have_own_filters(void **state)
{
	struct fixture *f = *state;
	u64 all, slow, left, none;

	assert_int_equal(add_session(f, SESSION_MACHINE, NULL), 0);
	assert_int_equal(add_session(f, "slow", "latency.total > 200"), 0);
	assert_int_equal(worker_call(f->worker, worker_start_session, NULL), 0);
	assert_int_equal(worker_call(f->worker, worker_start_session, "slow"), 0);
	assert_int_equal(f->script.starts, 1);
	get_counts(f, NULL, &all, &none);
	get_counts(f, "slow", &slow, &left);
	/* The source was drained when the second session started, and for both views. */
	assert_int_equal(all, 4);
	assert_int_equal(none, 0);
	assert_int_equal(slow, 2);
	assert_int_equal(left, 2);
}

/* The source is enabled while any session runs, and drained before it is disabled. */
static void test_source_follows_session_states(void **state)
{
	struct fixture *f = *state;
	u64 records, after, filtered;

	assert_int_equal(add_session(f, SESSION_MACHINE, NULL), 0);
	assert_int_equal(add_session(f, "other", NULL), 0);
	assert_int_equal(worker_call(f->worker, worker_start_session, NULL), 0);
	assert_int_equal(worker_call(f->worker, worker_start_session, "other"), 0);
	assert_int_equal(worker_call(f->worker, worker_start_session, "other"), -EALREADY);
	assert_int_equal(worker_call(f->worker, worker_stop_session, NULL), 0);
	assert_int_equal(worker_call(f->worker, worker_stop_session, NULL), -EALREADY);
	assert_true(f->script.enabled);
	get_counts(f, NULL, &records, &filtered);
	get_counts(f, "other", &after, &filtered);
	get_counts(f, NULL, &after, &filtered);
	assert_int_equal(records, after);
	assert_int_equal(worker_call(f->worker, worker_remove_session, "other"), 0);
	assert_false(f->script.enabled);
	assert_int_equal(worker_call(f->worker, worker_stop_session, "other"), -ENOENT);
	assert_int_equal(worker_call(f->worker, worker_reset_session, NULL), 0);
	get_counts(f, NULL, &records, &filtered);
	assert_int_equal(records, 0);
}

/* A failed call changes nothing. */
static void test_failed_calls_change_nothing(void **state)
{
	struct fixture *f = *state;
	char name[16];

	assert_int_equal(add_session(f, "a b", NULL), -EINVAL);
	assert_int_equal(add_session(f, SESSION_MACHINE, NULL), 0);
	assert_int_equal(add_session(f, SESSION_MACHINE, "op == load"), -EEXIST);
	for (u32 i = 1; i < WORKER_SESSIONS; i++) {
		snprintf(name, sizeof(name), "s%u", i);
		assert_int_equal(add_session(f, name, NULL), 0);
	}
	assert_int_equal(add_session(f, "more", "op == load"), -ENOSPC);
	assert_int_equal(worker_call(f->worker, worker_remove_session, "s3"), 0);
	assert_int_equal(add_session(f, "more", "op == load"), 0);
	assert_int_equal(worker_call(f->worker, worker_start_session, "s3"), -ENOENT);
	f->script.error = -EBUSY;
	assert_int_equal(worker_call(f->worker, worker_start_session, "more"), -EBUSY);
	f->script.error = 0;
	assert_int_equal(worker_call(f->worker, worker_start_session, "more"), 0);
	assert_int_equal(f->script.starts, 1);
}

static int change_session(struct fixture *f, const char *name, const char *expression,
			  u64 interval_ns)
{
	struct worker_change_request change = { .session = name, .interval_ns = interval_ns };
	struct filter_error error;
	int r;

	if (expression)
		assert_int_equal(session_rule_new(NULL, expression, NULL, &change.rule, &error), 0);
	r = worker_call(f->worker, worker_change_session, &change);
	if (r < 0) {
		assert_non_null(change.reason ?: r == -ENOENT ? "" : NULL);
		session_rule_free(change.rule);
	}
	return r;
}

/*
 * Check that the SPU filters records that the only session does not need, and filters nothing for
 * two sessions.
 */
static void test_hardware_filters_for_one_session(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(add_session(f, SESSION_MACHINE, "latency.total > 200"), 0);
	assert_int_equal(f->script.configure_count, 1);
	assert_int_equal(f->script.config.filter_latency, 201);
	assert_int_equal(add_session(f, "all", NULL), 0);
	assert_int_equal(f->script.config.filter_latency, 0);
	assert_int_equal(worker_call(f->worker, worker_remove_session, "all"), 0);
	assert_int_equal(f->script.config.filter_latency, 201);
	assert_int_equal(f->script.config.interval_ns, 1000000);
	assert_int_equal(f->script.configure_count, 3);
}

struct seen_session {
	const char *session;
	char text[256];
	bool has_cgroups; /* whether the source samples only the cgroups of the session's rule */
};

static int read_state(struct worker_state *state, void *arg)
{
	struct seen_session *seen = arg;
	const struct session *session = worker_find_session(state, seen->session);

	snprintf(seen->text, sizeof(seen->text), "%s",
		 session->rule->filter ? session->rule->filter->text : "");
	seen->has_cgroups = session->shared_source->sampling.cgroups == session->rule->cgroups;
	return 0;
}

/* If the SPU cannot stop filtering, a session that needs the filtered records is refused. */
static void test_unchangeable_hardware_filter(void **state)
{
	struct seen_session machine = { .session = SESSION_MACHINE };
	struct fixture *f = *state;

	assert_int_equal(add_session(f, SESSION_MACHINE, NULL), 0);
	f->script.fixed = true;
	/* The daemon's filter may be stricter than the SPU's. */
	assert_int_equal(change_session(f, SESSION_MACHINE, "latency.total > 200", 0), 0);
	f->script.fixed = false;
	assert_int_equal(change_session(f, SESSION_MACHINE, "latency.total > 300", 0), 0);
	assert_int_equal(f->script.config.filter_latency, 301);
	f->script.fixed = true;
	assert_int_equal(change_session(f, SESSION_MACHINE, "latency.total > 100", 0), -EIO);
	assert_int_equal(worker_call(f->worker, read_state, &machine), 0);
	assert_string_equal(machine.text, "latency.total > 300");
	assert_int_equal(add_session(f, "all", NULL), -EIO);
	assert_int_equal(worker_call(f->worker, worker_start_session, "all"), -ENOENT);
	f->script.fixed = false;
	assert_int_equal(add_session(f, "all", NULL), 0);
	assert_int_equal(f->script.config.filter_latency, 0);
}

/*
 * A drain uses the filter that the session has at that time. Only the session "machine" may change
 * the interval, because the other session uses its source.
 */
static void test_filter_changes_between_drains(void **state)
{
	struct fixture *f = *state;
	u64 records, filtered;

	assert_int_equal(add_session(f, SESSION_MACHINE, NULL), 0);
	assert_int_equal(add_session(f, "slow", "latency.total > 200"), 0);
	assert_int_equal(worker_call(f->worker, worker_start_session, "slow"), 0);
	get_counts(f, "slow", &records, &filtered);
	assert_int_equal(records, 1);
	assert_int_equal(change_session(f, "slow", "latency.total > 400", 0), 0);
	get_counts(f, "slow", &records, &filtered);
	/* change_session() drained with the former filter, and get_counts() with the new one. */
	assert_int_equal(records, 2);
	assert_int_equal(filtered, 4);
	assert_int_equal(change_session(f, "slow", NULL, 5000), -EOPNOTSUPP);
	assert_int_equal(change_session(f, SESSION_MACHINE, NULL, 5000), 0);
	assert_int_equal(f->script.config.interval_ns, 5000);
	assert_int_equal(change_session(f, SESSION_MACHINE, "op == load", 1), -ERANGE);
	assert_int_equal(f->script.config.interval_ns, 5000);
	assert_int_equal(change_session(f, "none", "op == load", 0), -ENOENT);
}

/*
 * The first delivery of task events lists all tasks. It must come after the checkpoint was loaded,
 * and thus after a session runs, although a source is drained earlier when its SPUs get a filter.
 */
static void test_tasks_are_listed_after_start(void **state)
{
	struct fixture *f = *state;
	u64 records, filtered;

	assert_int_equal(add_session(f, SESSION_MACHINE, NULL), 0);
	assert_int_equal(change_session(f, SESSION_MACHINE, "latency.total > 200", 0), 0);
	assert_int_equal(f->script.config.filter_latency, 201);
	get_counts(f, SESSION_MACHINE, &records, &filtered);
	assert_int_equal(__atomic_load_n(&deliveries, __ATOMIC_RELAXED), 0);
	assert_int_equal(worker_call(f->worker, worker_start_session, NULL), 0);
	get_counts(f, SESSION_MACHINE, &records, &filtered);
	assert_int_not_equal(__atomic_load_n(&deliveries, __ATOMIC_RELAXED), 0);
}

static char *const secret[] = { (char *)"*-secret", NULL };
static const struct filter_lists excluding = { .excluded = secret };

static void make_relist_request(const struct filter_lists *lists, const char *expression,
				struct container_filter_change *ret)
{
	struct filter_error error;

	*ret = (struct container_filter_change){ .lists = lists };
	assert_int_equal(session_rule_new(lists, expression, NULL, &ret->change.rule, &error), 0);
}

static void check_session_rule(struct fixture *f, const char *session, const char *text)
{
	struct seen_session seen = { .session = session };

	assert_int_equal(worker_call(f->worker, read_state, &seen), 0);
	assert_string_equal(seen.text, text);
}

/* Add a session of cgroups with its own source, which gets the cgroups by their index. */
static void add_session_with_own_source(struct fixture *f, struct scripted_source *own,
					const char *name)
{
	static char *const cgroups[] = { (char *)"/web", NULL };
	struct session_config config = { .name = name };
	struct source_config sampling = { .interval_ns = 1000000 };
	struct filter_error error;

	*own = (struct scripted_source){
		.source = { .ops = &script_ops, .cpus = 1, .cgroups = true }, .fd = f->script.fd
	};
	assert_int_equal(session_rule_new(NULL, "remote", cgroups, &config.rule, &error), 0);
	sampling.cgroups = config.rule->cgroups;
	assert_int_equal(shared_source_new(&own->source, &sampling, &config.shared_source), 0);
	assert_int_equal(worker_call(f->worker, worker_add_session, &config), 0);
}

/* New lists of containers are combined with the filter of each session, whatever its source. */
static void test_relist_changes_filters(void **state)
{
	struct seen_session own_seen = { .session = "own" };
	struct fixture *f = *state;
	struct container_filter_change request;
	struct scripted_source own;
	u64 records, filtered;

	assert_int_equal(add_session(f, SESSION_MACHINE, NULL), 0);
	assert_int_equal(add_session(f, "slow", "latency.total > 200"), 0);
	add_session_with_own_source(f, &own, "own");
	assert_int_equal(worker_call(f->worker, worker_start_session, "slow"), 0);
	make_relist_request(&excluding, NULL, &request);
	assert_int_equal(worker_call(f->worker, container_filter_apply, &request), 0);
	check_session_rule(f, SESSION_MACHINE, "!(container =~ \"*-secret\")");
	check_session_rule(f, "slow", "!(container =~ \"*-secret\") && (latency.total > 200)");
	check_session_rule(
		f, "own",
		"!(container =~ \"*-secret\") && (cgroup == \"/web\" || cgroup =~ \"/web/*\") && "
		"(remote)");
	assert_int_equal(worker_call(f->worker, read_state, &own_seen), 0);
	assert_true(own_seen.has_cgroups);
	/* The session counts with the new filter. Samples without a container are not excluded. */
	get_counts(f, "slow", &records, &filtered);
	assert_true(records > 0 && records == filtered);
	/* Without Containers= and ExcludeContainers=, only Filter= of the configuration applies. */
	make_relist_request(NULL, "op == load", &request);
	assert_int_equal(worker_call(f->worker, container_filter_apply, &request), 0);
	check_session_rule(f, SESSION_MACHINE, "op == load");
	check_session_rule(f, "slow", "!(container =~ \"*-secret\") && (latency.total > 200)");
	assert_int_equal(worker_call(f->worker, worker_remove_session, "own"), 0);
	assert_int_equal(own.frees, 1);
}

/*
 * If lists make the filter of one session too long they are refused for all sessions. An invalid
 * interval is refused, too.
 */
static void test_too_long_lists_are_refused(void **state)
{
	const struct source_config too_often = { .interval_ns = 1 };
	struct fixture *f = *state;
	char longest[64 * 12] = "remote";
	struct container_filter_change request;

	for (u32 i = 1; i < 64; i++)
		strcat(longest, " || remote");
	assert_int_equal(add_session(f, SESSION_MACHINE, NULL), 0);
	assert_int_equal(add_session(f, "slow", "latency.total > 200"), 0);
	assert_int_equal(add_session(f, "longest", longest), 0);
	make_relist_request(&excluding, NULL, &request);
	assert_int_equal(worker_call(f->worker, container_filter_apply, &request), -EINVAL);
	assert_string_equal(
		request.why,
		"the filter of session \"longest\": together with the cgroups and the lists "
		"of containers it is too long");
	session_rule_free(request.change.rule);
	check_session_rule(f, SESSION_MACHINE, "");
	check_session_rule(f, "slow", "latency.total > 200");
	assert_int_equal(worker_call(f->worker, worker_remove_session, "longest"), 0);
	make_relist_request(&excluding, NULL, &request);
	request.change.sampling = &too_often;
	assert_int_equal(worker_call(f->worker, container_filter_apply, &request), -ERANGE);
	session_rule_free(request.change.rule);
	check_session_rule(f, "slow", "latency.total > 200");
}

/* The error of an invalid filter contains its position. */
static void test_invalid_filter_has_position(void **state)
{
	char *const relative[] = { (char *)"/a", (char *)"b", NULL };
	char *const good[] = { (char *)"/a*", (char *)"/b \"c\\", NULL };
	char *const web[] = { (char *)"web-*", NULL };
	const struct filter_lists lists = { .containers = web };
	struct session_rule *rule;
	char text[SESSION_TEXT + 1] = "";
	char *const overlong[] = { text, NULL };
	struct filter_error error;

	(void)state;
	assert_int_equal(session_rule_new(&lists, "op == lod", NULL, &rule, &error), -EINVAL);
	assert_int_equal(error.column, 7);
	assert_int_equal(session_rule_new(NULL, NULL, relative, &rule, &error), -EINVAL);
	assert_int_equal(error.column, 0);
	/* A longer filter could not be restored from a checkpoint. */
	memset(text, ' ', sizeof(text) - 1);
	assert_int_equal(session_rule_new(NULL, text, NULL, &rule, &error), -EINVAL);
	assert_int_equal(error.column, SESSION_TEXT);
	memset(text, '/', sizeof(text) - 1);
	assert_int_equal(session_rule_new(NULL, NULL, overlong, &rule, &error), -EINVAL);
	assert_non_null(strstr(error.text, "at most 4095 bytes"));
	text[SESSION_TEXT - 1] = '\0';
	assert_int_equal(session_rule_new(NULL, NULL, overlong, &rule, &error), 0);
	session_rule_free(rule);
	assert_int_equal(session_rule_new(&lists, "op == load || remote", good, &rule, &error), 0);
	assert_string_equal(rule->expression, "op == load || remote");
	assert_string_equal(rule->cgroups[1], good[1]);
	assert_string_equal(rule->filter->text, "(container =~ \"web-*\") && "
						"(cgroup == \"/a*\" || cgroup =~ \"/a\\\\*/*\" || "
						"cgroup == \"/b \\\"c\\\\\" || "
						"cgroup =~ \"/b \\\"c\\\\\\\\/*\") && "
						"(op == load || remote)");
	session_rule_free(rule);
}

/* Any user may query any session at any rate: the worker is queried once. */
static void test_session_lookups_are_cached(void **state)
{
	struct fixture *f = *state;
	static struct property_cache facts;

	facts = (struct property_cache){ 0 };
	assert_int_equal(add_session(f, SESSION_MACHINE, NULL), 0);
	assert_true(property_cache_has_session(&facts, f->worker, SESSION_MACHINE));
	assert_false(property_cache_has_session(&facts, f->worker, "other"));
	assert_int_equal(add_session(f, "other", NULL), 0);
	/* Use the oldest possible time. */
	facts.names_ns = 1;
	assert_false(property_cache_has_session(&facts, f->worker, "other"));
	property_cache_invalidate(&facts);
	assert_true(property_cache_has_session(&facts, f->worker, "other"));
}

/* ---- Which session decides the interval ----------------------------------------- */

struct rate_control_run {
	struct rate_control *rate_control;
	u64 now;
	u64 interval_ns; /* configured interval */
	u64 target_ns;
	struct view_header header;
};

/* Run a period of rate control with the simulated clock, on the worker's thread. */
static int run_rate_control_period(struct worker_state *state, void *arg)
{
	struct rate_control_run *run = arg;

	state->rate_control = run->rate_control;
	run->now += 5000000000ULL;
	rate_control_tick(state, run->now);
	rate_control_fill_header(state, &run->header);
	state->rate_control = NULL;
	return 0;
}

static int follow_tasks(struct worker_state *state, void *arg)
{
	struct rate_control_run *run = arg;

	state->rate_control = run->rate_control;
	if (run->interval_ns)
		rate_control_set_target(state, &run->interval_ns);
	run->target_ns = rate_control_get_target(state);
	state->rate_control = NULL;
	return 0;
}

/* If a filter is set, at the start or later, a low rate is not attributed to the interval. */
static void test_rate_control_considers_filter(void **state)
{
	struct fixture *f = *state;
	struct rate_control_run g = { .now = 0 };

	assert_int_equal(rate_control_new(4, &g.rate_control), 0);
	assert_int_equal(add_session(f, SESSION_MACHINE, NULL), 0);
	assert_int_equal(worker_call(f->worker, worker_start_session, NULL), 0);
	assert_int_equal(worker_call(f->worker, run_rate_control_period, &g), 0);
	assert_false(g.rate_control->rate_controller.config.filtered);
	assert_int_equal(change_session(f, SESSION_MACHINE, "latency.total > 200", 0), 0);
	assert_int_equal(worker_call(f->worker, run_rate_control_period, &g), 0);
	assert_true(g.rate_control->rate_controller.config.filtered);
	assert_int_equal(change_session(f, SESSION_MACHINE, "", 0), 0);
	assert_int_equal(worker_call(f->worker, run_rate_control_period, &g), 0);
	assert_false(g.rate_control->rate_controller.config.filtered);
	rate_control_free(g.rate_control);
}

/* A configured interval applies at once, even after rate control had changed the interval. */
static void test_configured_interval_applies_at_once(void **state)
{
	struct fixture *f = *state;
	struct rate_control_run g = { .now = 0 };

	assert_int_equal(rate_control_new(4, &g.rate_control), 0);
	assert_int_equal(add_session(f, SESSION_MACHINE, NULL), 0);
	g.rate_control->rate_controller.rate_scale = 2 * RATE_CONTROLLER_ONE;
	assert_int_equal(change_session(f, SESSION_MACHINE, NULL, 2000000), 0);
	assert_int_equal(worker_call(f->worker, follow_tasks, &g), 0);
	assert_int_equal(g.target_ns, 1000000);
	g.interval_ns = 2000000;
	assert_int_equal(worker_call(f->worker, follow_tasks, &g), 0);
	assert_int_equal(g.target_ns, 2000000);
	assert_int_equal(rate_controller_get_interval(&g.rate_control->rate_controller), 2000000);
	rate_control_free(g.rate_control);
}

/* the CPU time that a call uses on the worker's thread, in nanoseconds */
#define CALL_NS 50000000ULL

static int burn_time(struct worker_state *state __attribute__((unused)),
		     void *arg __attribute__((unused)))
{
	u64 began = time_clock_ns(CLOCK_THREAD_CPUTIME_ID);

	while (time_clock_ns(CLOCK_THREAD_CPUTIME_ID) - began < CALL_NS)
		;
	return 0;
}

/*
 * Calls use CPU time and drain windows, but do not change the interval: Overhead= counts only
 * sampling.
 */
static void test_calls_do_not_change_interval(void **state)
{
	const struct rate_controller_config config = { .nominal_ns = 1000000, .overhead = 1 };
	struct fixture *f = *state;
	struct rate_control_run g = { .now = 0 };
	u64 records, filtered;

	assert_int_equal(rate_control_new(4, &g.rate_control), 0);
	rate_controller_change(&g.rate_control->rate_controller, &config);
	assert_int_equal(add_session(f, SESSION_MACHINE, NULL), 0);
	assert_int_equal(worker_call(f->worker, worker_start_session, NULL), 0);
	assert_int_equal(worker_call(f->worker, run_rate_control_period, &g), 0);
	/* The first period has only begun, so its cost is unknown. */
	assert_int_equal(g.header.overhead_cost, 0);
	for (u32 i = 0; i < 8; i++) {
		assert_int_equal(worker_call(f->worker, burn_time, NULL), 0);
		get_counts(f, NULL, &records, &filtered);
		assert_int_equal(worker_call(f->worker, run_rate_control_period, &g), 0);
	}
	assert_true(records > 0);
	assert_int_equal(g.rate_control->rate_controller.cost, 0);
	assert_int_equal(g.header.overhead_cost, 1);
	assert_int_equal(f->script.configure_count, 0);
	assert_int_equal(rate_controller_count_limited_cpus(&g.rate_control->rate_controller), 0);
	rate_control_free(g.rate_control);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_session_names),
		cmocka_unit_test_setup_teardown(test_sessions_have_own_filters, setup, teardown),
		cmocka_unit_test_setup_teardown(test_source_follows_session_states, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_failed_calls_change_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hardware_filters_for_one_session, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_unchangeable_hardware_filter, setup, teardown),
		cmocka_unit_test_setup_teardown(test_filter_changes_between_drains, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_tasks_are_listed_after_start,
						setup_task_events, teardown),
		cmocka_unit_test_setup_teardown(test_relist_changes_filters, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_long_lists_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_session_lookups_are_cached, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rate_control_considers_filter, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_configured_interval_applies_at_once, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_calls_do_not_change_interval, setup, teardown),
		cmocka_unit_test(test_invalid_filter_has_position),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
