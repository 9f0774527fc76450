// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Serve the D-Bus interface of speprofd with fixed replies, so that the output of tools can be
 * compared byte for byte. usage: fake-daemon ADDRESS MODE; it prints "ready".
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "output/query-json.h"
#include "speprof-version.h"
#include "view/view-bus.h"

static struct view_row functions[] = {
	{
		.samples = 111548,
		.memory = 40000,
		.dram = 32400,
		.branches = 20000,
		.mispredicted = 100,
		.latency_sum = 25000000,
		.p50 = 210,
		.p99 = 640,
		.pid = 100,
		.container = "demo-chase",
		.process = "chase",
		.function = "walk",
		.binary = "/usr/bin/chase",
	},
	{
		.samples = 48103,
		.memory = 30000,
		.dram = 3600,
		.branches = 9000,
		.mispredicted = 9,
		.latency_sum = 900000,
		.p50 = 18,
		.p99 = 95,
		.pid = 101,
		.container = "demo-stream",
		.process = "stream",
		.function = "triad",
		.binary = "/usr/bin/stream",
	},
	{
		/*
		 * A name with wide, combining and control characters; neither memory accesses nor
		 * latencies
		 */
		.samples = 161,
		.pid = 102,
		.container = "\u5bb9\u5668-\u00e9te\u0301",
		.process = "caf\u00e9",
		.binary = "/usr/bin/caf\u00e9",
		.function = "std::vector<std::pair<std::string, \u03bb>>::emplace_back"
			    "<\u03bb&>(\x1b[31m\n\u03bb&)",
	},
};

static struct view_header header = {
	.source = "emulated",
	.backend = BACKEND_EMULATED,
	.running = true,
	.cpus = 16,
	.duration_ns = 10000000000,
	.enabled_ns = 160000000000,
	.blind_ns = 320000000,
	.interval_ns = 1000000,
	.records = 159812,
	.sort_whole = 159812,
	.bytes = 10227968,
	.decoded = 10227968,
	.written = 159812,
	.unattributed = 479,
	.cost_ns = 60000000,
	.memory = 22020096,
};

static const char summary[] =
	"{\"schema_version\":1,\"backend\":\"emulated\",\"totals\":{\"records\":159812,"
	"\"bytes\":10227968,\"suspect_bytes\":0,\"lost_bytes\":0,\"ops\":{\"load\":59812,"
	"\"store\":10000,\"branch\":30000,\"other\":60000},\"simd\":5,\"events\":{\"retired\":"
	"159812,\"llc_miss\":12},\"latency\":{\"total\":{\"count\":159812,\"sum\":1598120,"
	"\"max\":700},\"issue\":{\"count\":0,\"sum\":0,\"max\":0}},\"data_source\":{\"0x0\":59812},"
	"\"contexts\":{\"el1\":{\"100\":111548},\"el2\":{}}},\"processes\":[{\"pid\":100,"
	"\"comm\":\"chase\",\"records\":111548}]}";

struct fake {
	const char *mode;
	u64 calls;
};

static bool mode_is(const struct fake *fake, const char *mode)
{
	return strcmp(fake->mode, mode) == 0;
}

/*
 * Return whether the session "machine" is stopped. In mode "stopped-beside" another session runs.
 */
static bool is_stopped(const struct fake *fake)
{
	return mode_is(fake, "stopped") || mode_is(fake, "stopped-beside");
}

static int set_refusal(const struct fake *fake, sd_bus_error *error)
{
	if (mode_is(fake, "denied"))
		return sd_bus_error_set(error, SD_BUS_ERROR_ACCESS_DENIED, "no");
	if (mode_is(fake, "no-module"))
		return sd_bus_error_set(error, "org.speprof1.NoModule",
					"speprof.ko is not loaded; \"modprobe speprof\"");
	if (mode_is(fake, "mute"))
		return sd_bus_error_set(error, "org.speprof1.Mute", "");
	if (mode_is(fake, "no-spe"))
		return sd_bus_error_set(error, "org.speprof1.NoSPE", "there is no SPE here");
	return 0;
}

/* Simulate that the caller's terminal is resized while it waits for the reply. */
static void resize_caller(sd_bus_message *m)
{
	sd_bus_creds *creds = NULL;
	pid_t pid;

	if (sd_bus_query_sender_creds(m, SD_BUS_CREDS_PID, &creds) >= 0 &&
	    sd_bus_creds_get_pid(creds, &pid) >= 0)
		kill(pid, SIGWINCH);
	sd_bus_creds_unref(creds);
}

/* Change the header as the mode demands. */
static void header_set_mode(const struct fake *fake, struct view_header *h)
{
	if (mode_is(fake, "module"))
		snprintf(h->source, sizeof(h->source), "module");
	if (mode_is(fake, "hardware") || mode_is(fake, "old") || mode_is(fake, "lacking") ||
	    is_stopped(fake)) {
		h->backend = BACKEND_HARDWARE;
		strcpy(h->source, "module");
		strcpy(h->tasks, "bpf");
	}
	if (mode_is(fake, "perf")) {
		h->backend = BACKEND_HARDWARE;
		strcpy(h->source, "perf");
	}
	if (is_stopped(fake))
		h->running = false;
	if (mode_is(fake, "lacking")) {
		strcpy(h->source_reason, "the module speprof is not loaded (no /dev/speprof)");
		strcpy(h->tasks_reason, "no BPF: CAP_BPF is missing");
		strcpy(h->names_reason, "the symbol helper has ended");
	}
	if (mode_is(fake, "switches")) {
		strcpy(h->source, "module");
		strcpy(h->tasks, "bpf");
		strcpy(h->task_ids, "bpf");
		h->backend = BACKEND_HARDWARE;
		h->switches = 1234567;
	}
	if (mode_is(fake, "lossy")) {
		h->lost = 2048;
		h->suspect = 64;
		h->evicted = 1600;
		h->running = false;
	}
	if (mode_is(fake, "evicting")) {
		h->evicted = 1600;
		h->memory_budget = 64 << 20;
	}
	if (mode_is(fake, "held")) {
		h->cpus_held = 12;
		h->interval_longest_ns = 4000000;
	}
	if (mode_is(fake, "measured") || mode_is(fake, "unmeasured")) {
		h->overhead = 1000;
		h->overhead_cost = mode_is(fake, "measured") ? 310 : 0;
	}
	if (mode_is(fake, "untimed")) {
		h->ledgers_unknown = true;
		h->written = WINDOW_WRITTEN_UNKNOWN;
		h->cost_ns = 0;
	}
}

/* Number of functions in mode "many". */
#define MANY 1234

/* Fill in function @i of mode "many". Rows of one container and program are adjacent. */
static void fill_function(struct view_row *row, u32 i)
{
	const char *container = i < 800 ? "web" : i < 1200 ? "db" : "cache";
	const char *program = i < 500 ? "nginx" : i < 800 ? "php" : i < 1200 ? "postgres" : "redis";
	u64 samples = 2000000 / (i + 1);

	*row = (struct view_row){
		.samples = samples,
		.memory = samples / 2,
		.loads = samples / 4,
		.stores = samples / 4,
		.dram = i % 7 ? samples / 20 : samples / 3,
		.latency_sum = samples * (20 + i % 50),
		.p50 = 20 + i % 50,
		.p99 = 200 + i % 50,
	};
	row->level[SPE_LEVEL_L1] = row->memory - row->dram;
	row->level[SPE_LEVEL_DRAM] = row->dram;
	row->event[SPE_EVENT_L1D_REFILL] = row->dram;
	row->event[SPE_EVENT_RETIRED] = samples;
	strcpy(row->container, container);
	strcpy(row->process, program);
	snprintf(row->binary, sizeof(row->binary), "/usr/bin/%s", program);
	snprintf(row->function, sizeof(row->function), "fn_%04u", i);
}

/* Remove the names that rows of @group do not have. */
static void keep_names(struct view_row *row, enum view_group group)
{
	bool has_function = group == VIEW_FUNCTION || group == VIEW_LINE;

	if (group == VIEW_BINARY)
		strcpy(row->container, "");
	if (group == VIEW_CONTAINER || group == VIEW_BINARY)
		strcpy(row->process, "");
	if (!has_function)
		strcpy(row->function, "");
	if (!has_function && group != VIEW_BINARY)
		strcpy(row->binary, "");
	if (group == VIEW_PROCESS)
		row->pid = 100 + row->process[0];
	if (group == VIEW_LINE) {
		snprintf(row->file, sizeof(row->file), "src/%s.c", row->process);
		row->line = (u32)strtoul(row->function + strlen("fn_"), NULL, 10) + 1;
	}
}

static bool is_same_row(const struct view_row *a, const struct view_row *b)
{
	return !strcmp(a->container, b->container) && !strcmp(a->process, b->process) &&
	       !strcmp(a->function, b->function) && !strcmp(a->binary, b->binary);
}

static void add_row(struct view_row *to, const struct view_row *row)
{
	to->samples += row->samples;
	to->memory += row->memory;
	to->loads += row->loads;
	to->stores += row->stores;
	to->dram += row->dram;
	to->latency_sum += row->latency_sum;
	to->level[SPE_LEVEL_L1] += row->level[SPE_LEVEL_L1];
	to->level[SPE_LEVEL_DRAM] += row->level[SPE_LEVEL_DRAM];
	to->event[SPE_EVENT_L1D_REFILL] += row->event[SPE_EVENT_L1D_REFILL];
	to->event[SPE_EVENT_RETIRED] += row->event[SPE_EVENT_RETIRED];
}

/* Make the rows of mode "many": of the session "idle" the first three, else all. */
static void fill_many(struct view *view, enum view_group group, bool idle)
{
	static struct view_row rows[MANY];
	struct view_row row;

	view->rows = rows;
	view->count = 0;
	view->header.records = 0;
	for (u32 i = 0; i < (idle ? 3 : MANY); i++) {
		fill_function(&row, i);
		keep_names(&row, group);
		view->header.records += row.samples;
		if (view->count && is_same_row(&rows[view->count - 1], &row))
			add_row(&rows[view->count - 1], &row);
		else
			rows[view->count++] = row;
	}
}

/* Whether the daemon of mode "slow" replies. SIGUSR1 changes that. */
static volatile sig_atomic_t is_slow;

static void change_speed(int sig)
{
	(void)sig;
	is_slow = !is_slow;
}

/* Append a row with names that could disturb a terminal; one has 4 KiB. */
static int append_hostile(sd_bus_message *reply)
{
	char marks[4096] = "mark";

	for (size_t i = 4; i + 2 < sizeof(marks); i += 2)
		memcpy(marks + i, "\u0301", 3);
	return sd_bus_message_append(
		reply, "aa{sv}", 2, 5, "samples", "t", (uint64_t)5000, "container", "s",
		"\x1b[2J\x1b[31mred\x1b]0;title\x07", "process", "s", "a\nb\rc\td\x7f", "function",
		"s", marks, "binary", "s", "\u202etxt.exe", 5, "samples", "t", (uint64_t)4000,
		"container", "s", "\u0301\u0301", "process", "s", "\xc2\x9b", "function", "s",
		"\U0001f600\u200b\u5bb9\u5668", "binary", "s", "plain");
}

static int reply_hostile(sd_bus_message *m, struct view *view)
{
	sd_bus_message *reply = NULL;
	int r = sd_bus_message_new_method_return(m, &reply);

	strcpy(view->header.fault, "fault \x1b[2J\x1b[Hof an SPU");
	view->header.faults = 1;
	if (r >= 0)
		r = view_bus_append_header(reply, &view->header);
	if (r >= 0)
		r = append_hostile(reply);
	if (r >= 0)
		r = sd_bus_send(NULL, reply, NULL);
	sd_bus_message_unref(reply);
	return r;
}

/* Read the arguments of GetView, or of GetWindow, which has a period before them. */
static int read_arguments(sd_bus_message *m, enum view_group *ret_group, u32 *ret_limit)
{
	const char *period, *group, *sort;
	int r;

	if (!strcmp(sd_bus_message_get_member(m), "GetWindow"))
		r = sd_bus_message_read(m, "sssu", &period, &group, &sort, ret_limit);
	else
		r = sd_bus_message_read(m, "ssu", &group, &sort, ret_limit);
	return r < 0 ? r : view_group_parse(group, ret_group);
}

static int get_view(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	struct fake *fake = userdata;
	struct view view = { .header = header, .count = ARRAY_SIZE(functions), .rows = functions };
	bool idle = !strcmp(sd_bus_message_get_path(m), "/org/speprof1/session/idle");
	enum view_group group = VIEW_FUNCTION;
	sd_bus_message *reply;
	u32 limit;
	int r = set_refusal(fake, error);

	if (r < 0)
		return r;
	r = read_arguments(m, &group, &limit);
	if (r < 0)
		return r;
	if (mode_is(fake, "resizing"))
		resize_caller(m);
	if (mode_is(fake, "malformed"))
		return sd_bus_reply_method_return(m, "a{sv}aa{sv}", 1, "records", "s", "many", 0);
	if (mode_is(fake, "hostile"))
		return reply_hostile(m, &view);
	while (is_slow)
		usleep(10000);
	if (mode_is(fake, "many") || mode_is(fake, "slow")) {
		fill_many(&view, group, idle);
		view.header.cpus_held = 12;
		view.header.interval_longest_ns = 4000000;
		view.header.lost = 2048;
	}
	if (mode_is(fake, "empty"))
		view.count = 0;
	header_set_mode(fake, &view.header);
	if (mode_is(fake, "growing")) {
		fake->calls++;
		view.header.duration_ns += fake->calls * 1000000000;
		view.header.records += fake->calls * 1000;
		functions[1].samples += 1000;
	}
	if (view.count > limit)
		view.count = limit;
	r = sd_bus_message_new_method_return(m, &reply);
	if (r >= 0)
		r = view_bus_append(reply, &view);
	if (r >= 0)
		r = sd_bus_send(NULL, reply, NULL);
	sd_bus_message_unref(reply);
	return r;
}

/** struct fake_query - the options of a query that the fake respects */
struct fake_query {
	const char *container;
	const char *function;
	const char *group;
	const char *sort;
	u32 limit;
};

static int read_query(sd_bus_message *m, struct fake_query *query)
{
	const char *key, *text;
	int r = sd_bus_message_enter_container(m, 'a', "{sv}");

	while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
		r = sd_bus_message_read(m, "s", &key);
		if (r >= 0 && !strcmp(key, "Limit"))
			r = sd_bus_message_read(m, "v", "u", &query->limit);
		else if (r >= 0)
			r = sd_bus_message_read(m, "v", "s", &text);
		if (r >= 0 && !strcmp(key, "Container"))
			query->container = text;
		if (r >= 0 && !strcmp(key, "Function"))
			query->function = text;
		if (r >= 0 && !strcmp(key, "Group"))
			query->group = text;
		if (r >= 0 && !strcmp(key, "Sort"))
			query->sort = text;
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
	}
	return r;
}

static json_object *make_function_json(const struct view_row *row, const struct fake_query *query)
{
	bool latency = !strcmp(query->sort, "latency");
	u64 whole = latency ? 25900000 : header.records;
	u64 value = latency ? row->latency_sum : row->samples;
	json_object *json = json_object_new_object();

	json_object_object_add(json, "container", json_object_new_string(row->container));
	json_object_object_add(json, "program", json_object_new_string(row->process));
	json_object_object_add(json, "function", json_object_new_string(row->function));
	json_object_object_add(json, "binary", json_object_new_string(row->binary));
	json_object_object_add(json, "share",
			       json_object_new_double((double)value / (double)whole));
	json_object_object_add(json, "value", json_object_new_double((double)value));
	view_add_measures_json(json, row);
	/* The rows have only sums, as those of a period, and neither lines nor operations. */
	json_object_object_add(json, "loads", NULL);
	json_object_object_add(json, "file", NULL);
	json_object_object_add(json, "line", NULL);
	json_object_object_add(json, "op", NULL);
	return json;
}

static json_object *make_keys_json(const char *group)
{
	json_object *keys = json_object_new_array();
	struct query query = { .groups = 0 };
	struct query_error error;

	query_parse_group(group, &query, &error);
	for (u32 i = 0; i < query.groups; i++)
		json_object_array_add(keys, json_object_new_string(query_key_name(query.group[i])));
	return keys;
}

/* Return the rows of the functions. Of the options, only container and limit select rows. */
static json_object *query_json(const struct view_header *h, const struct fake_query *query)
{
	json_object *json = view_header_json(h), *rows = json_object_new_array();
	json_object *other = json_object_new_object();
	double rest = 1;

	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		const struct view_row *row = &functions[i];
		json_object *one;

		if ((query->container && strcmp(query->container, row->container) != 0) ||
		    (query->limit && json_object_array_length(rows) == query->limit))
			continue;
		one = make_function_json(row, query);
		rest -= json_object_get_double(json_object_object_get(one, "share"));
		json_object_array_add(rows, one);
	}
	json_object_object_add(json, "keys", make_keys_json(query->group));
	json_object_object_add(json, "rows", rows);
	json_object_object_add(other, "share", json_object_new_double(rest > 1e-9 ? rest : 0));
	json_object_object_add(json, "other", other);
	return json;
}

static int reply_query(sd_bus_message *m, const struct view_header *h, json_object *json)
{
	const char *text = json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN);
	int fd = memfd_create("query", MFD_CLOEXEC), r;
	sd_bus_message *reply = NULL;

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		return -EIO;
	r = sd_bus_message_new_method_return(m, &reply);
	if (r >= 0)
		r = view_bus_append_header(reply, h);
	if (r >= 0)
		r = sd_bus_message_append(reply, "h", fd);
	if (r >= 0)
		r = sd_bus_send(NULL, reply, NULL);
	sd_bus_message_unref(reply);
	close(fd);
	return r;
}

/* Reply with the rows of the file $FAKE_ROWS to a query for the function "fn_0000". */
static int reply_rows_of_file(sd_bus_message *m, const char *function, sd_bus_error *error)
{
	json_object *json;
	int r;

	if (strcmp(function, "fn_0000") != 0)
		return sd_bus_error_setf(error, "org.speprof1.NothingSelected",
					 "no samples of function \"%s\"", function);
	json = json_object_from_file(getenv("FAKE_ROWS"));
	r = json ? reply_query(m, &header, json) : -EIO;
	json_object_put(json);
	return r;
}

static int query_fake(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	struct fake_query query = { .sort = "operations", .group = "" };
	struct view_header h = header;
	struct fake *fake = userdata;
	json_object *json;
	int r = set_refusal(fake, error);

	if (r >= 0)
		r = read_query(m, &query);
	if (r < 0)
		return r;
	if (getenv("FAKE_ROWS") && query.function)
		return reply_rows_of_file(m, query.function, error);
	/* Names are known at the second call. */
	if (mode_is(fake, "pending") && !fake->calls++)
		return sd_bus_error_set(error, "org.speprof1.NamesPending", "retry later");
	if (query.container && !strcmp(query.container, "nosuch"))
		return sd_bus_error_set(error, "org.speprof1.NothingSelected",
					"no samples of container \"nosuch\"; there are: demo-chase.");
	header_set_mode(fake, &h);
	json = query_json(&h, &query);
	r = reply_query(m, &h, json);
	json_object_put(json);
	return r;
}

static int get_containers(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	(void)userdata;
	(void)error;
	return sd_bus_reply_method_return(m, "taa{sv}", (uint64_t)1, 1, 2, "name", "s", "web",
					  "samples", "t", (uint64_t)5);
}

static int get_container(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	(void)userdata;
	(void)error;
	return sd_bus_reply_method_return(m, "a{sv}", 2, "name", "s", "web", "samples", "t",
					  (uint64_t)5);
}

static int dump_summary(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	struct fake *fake = userdata;
	const char *text = mode_is(fake, "malformed") ? "{\"totals\":" : summary;
	int fd, r = set_refusal(fake, error);

	if (r < 0)
		return r;
	fd = memfd_create("summary", MFD_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		return -EIO;
	r = sd_bus_reply_method_return(m, "h", fd);
	close(fd);
	return r;
}

static int control_fake(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	struct fake *fake = userdata;
	int r = set_refusal(fake, error);

	if (r < 0)
		return r;
	if (strcmp(sd_bus_message_get_member(m), "Start") == 0)
		return sd_bus_error_set(error, "org.speprof1.AlreadyDone",
					"Sampling is already running.");
	return sd_bus_reply_method_return(m, NULL);
}

static int get_version(sd_bus *bus, const char *path, const char *interface, const char *property,
		       sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	(void)bus;
	(void)path;
	(void)interface;
	(void)property;
	(void)error;
	return sd_bus_message_append(reply, "s",
				     mode_is(userdata, "old") ? "0.0.9" : SPEPROF_VERSION);
}

/* Reply with the same histograms for each row. */
static int get_figures(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	if (!mode_is(userdata, "many"))
		return sd_bus_error_set(error, "org.speprof1.NoSuchFunction",
					"There is no such function with samples.");
	return sd_bus_reply_method_return(
		m, "a{sv}", 3, "backend", "s", "emulated", "latency_total", "(tta(ut))",
		(uint64_t)1000, (uint64_t)55000, 3, 15, (uint64_t)600, 63, (uint64_t)300, 511,
		(uint64_t)100, "latency_issue", "(tta(ut))", (uint64_t)10, (uint64_t)70, 1, 7,
		(uint64_t)10);
}

static int get_session(sd_bus *bus, const char *path, const char *interface, const char *property,
		       sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	const char *name = strrchr(path, '/') + 1;
	const struct fake *fake = userdata;

	(void)bus;
	(void)interface;
	(void)error;
	if (!strcmp(property, "Name"))
		return sd_bus_message_append(reply, "s", name);
	return sd_bus_message_append(reply, "s",
				     !strcmp(name, "idle") ||
						     (!strcmp(name, "machine") && is_stopped(fake)) ?
					     "stopped" :
					     "running");
}

static const sd_bus_vtable session_vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_PROPERTY("Name", "s", get_session, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("State", "s", get_session, 0, 0),
	SD_BUS_METHOD("GetView", "ssu", "a{sv}aa{sv}", get_view, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("GetWindow", "sssu", "a{sv}aa{sv}", get_view, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("GetFigures", "sa{sv}", "a{sv}", get_figures, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("Query", "a{sv}", "a{sv}h", query_fake, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_VTABLE_END,
};

static int add_sessions(sd_bus *bus, struct fake *fake)
{
	static const char *const paths[] = { "/org/speprof1/session/machine",
					     "/org/speprof1/session/idle",
					     "/org/speprof1/session/beside" };
	size_t count = mode_is(fake, "stopped-beside") ? ARRAY_SIZE(paths) : 2;
	int r = sd_bus_add_object_manager(bus, NULL, "/org/speprof1");

	for (size_t i = 0; i < count && r >= 0; i++)
		r = sd_bus_add_object_vtable(bus, NULL, paths[i], "org.speprof1.Session",
					     session_vtable, fake);
	return r;
}

/*
 * Reply to GetTimes. Depending on the mode, the second of two CPUs is offline, or the daemon does
 * not reply for it.
 */
static int get_times(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	const struct fake *fake = userdata;
	bool is_second = !strcmp(sd_bus_message_get_path(m), "/org/speprof1/cpu/1");

	if (mode_is(fake, "cpu-leaves") && is_second)
		return sd_bus_error_set(error, SD_BUS_ERROR_UNKNOWN_OBJECT, "There is no CPU.");
	if (mode_is(fake, "cpu-fails") && is_second)
		return sd_bus_error_set(error, SD_BUS_ERROR_FAILED, "no memory for times");
	return sd_bus_reply_method_return(m, "a{sv}", 2, "armed_ns", "t", (uint64_t)3, "windows",
					  "t", (uint64_t)7);
}

static int get_number(sd_bus *bus, const char *path, const char *interface, const char *property,
		      sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	(void)bus;
	(void)interface;
	(void)property;
	(void)userdata;
	(void)error;
	return sd_bus_message_append(reply, "u", (uint32_t)(strrchr(path, '/')[1] - '0'));
}

static const sd_bus_vtable cpu_vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_METHOD("GetTimes", NULL, "a{sv}", get_times, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_PROPERTY("Number", "u", get_number, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_VTABLE_END,
};

static int add_cpus(sd_bus *bus, struct fake *fake)
{
	static const char *const paths[] = { "/org/speprof1/cpu/0", "/org/speprof1/cpu/1" };
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(paths) && r >= 0 && !strncmp(fake->mode, "cpu-", 4); i++)
		r = sd_bus_add_object_vtable(bus, NULL, paths[i], "org.speprof1.CPU", cpu_vtable,
					     fake);
	return r;
}

static const sd_bus_vtable vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_PROPERTY("Version", "s", get_version, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_METHOD("Start", NULL, NULL, control_fake, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("Stop", NULL, NULL, control_fake, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("GetView", "ssu", "a{sv}aa{sv}", get_view, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("Query", "a{sv}", "a{sv}h", query_fake, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("DumpSummary", NULL, "h", dump_summary, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("GetContainers", "suu", "taa{sv}", get_containers, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("GetContainer", "s", "a{sv}", get_container, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_VTABLE_END,
};

int main(int argc, char **argv)
{
	struct fake fake = { .mode = argc > 2 ? argv[2] : "" };
	sd_bus *bus = NULL;
	int r;

	if (argc < 2)
		return 2;
	sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = change_speed }, NULL);
	r = sd_bus_new(&bus);
	if (r >= 0)
		r = sd_bus_set_address(bus, argv[1]);
	if (r >= 0)
		r = sd_bus_set_bus_client(bus, true);
	if (r >= 0)
		r = sd_bus_start(bus);
	if (r >= 0)
		r = sd_bus_add_object_vtable(bus, NULL, "/org/speprof1", "org.speprof1.Manager",
					     vtable, &fake);
	if (r >= 0)
		r = add_sessions(bus, &fake);
	if (r >= 0)
		r = add_cpus(bus, &fake);
	if (r >= 0)
		r = sd_bus_request_name(bus, "org.speprof1", 0);
	if (r < 0) {
		fprintf(stderr, "fake-daemon: %s\n", strerror(-r));
		return 1;
	}
	puts("ready");
	fflush(stdout);
	while (r >= 0) {
		r = sd_bus_process(bus, NULL);
		if (r == 0)
			r = sd_bus_wait(bus, UINT64_MAX);
		if (r == -EINTR)
			r = 0;
	}
	sd_bus_flush_close_unref(bus);
	return 0;
}
