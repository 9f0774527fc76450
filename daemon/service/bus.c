// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bus-metrics.h"
#include "bus-profile.h"
#include "view-bus.h"

#define MAX_ROWS 10000

/* What properties show; read on the worker's thread as all of its state. */
struct facts {
	const char *source;
	char reason[256];
	const char *backend;
	struct task_events_status told;
	bool running;
	u32 cpus;
	u64 interval_ns;
};

static const char *backend_name(u8 backend)
{
	return backend == BACKEND_EMULATED ? "emulated" :
	       backend == BACKEND_HARDWARE ? "hardware" : "unknown";
}

static int read_facts(struct worker_state *state, void *arg)
{
	const struct session *machine = worker_session(state, NULL);
	const struct source *source = machine->feed->source;
	struct facts *facts = arg;

	*facts = (struct facts){
		.source = source->ops->name,
		.backend = backend_name(source->backend),
		.told = state->told,
		.running = machine->running,
		.cpus = source->cpus,
		.interval_ns = source->interval_ns,
	};
	memcpy(facts->reason, source->reason, sizeof(facts->reason));
	return 0;
}

/*
 * Who may start and stop: root, and on a private bus whoever runs the daemon.
 * The bus policy lets the group read, and nobody else in.
 */
static int check_owner(sd_bus_message *m, sd_bus_error *error)
{
	sd_bus_creds *creds = NULL;
	uid_t uid;
	int r;

	r = sd_bus_query_sender_creds(m, SD_BUS_CREDS_EUID, &creds);
	if (r >= 0)
		r = sd_bus_creds_get_euid(creds, &uid);
	sd_bus_creds_unref(creds);
	if (r < 0)
		return r;
	if (uid && uid != geteuid())
		return sd_bus_error_set(error, SD_BUS_ERROR_ACCESS_DENIED,
					"Only root may start, stop or reset sampling.");
	return 0;
}

static int control(sd_bus_message *m, struct bus *bus, worker_fn fn, sd_bus_error *error)
{
	int r;

	r = check_owner(m, error);
	if (r < 0)
		return r;
	r = worker_call(bus->worker, fn, NULL);
	if (r == -EALREADY)
		return sd_bus_error_setf(error, BUS_NAME ".AlreadyDone", "Sampling %s already.",
					 fn == worker_start ? "runs" : "is stopped");
	if (r < 0)
		return sd_bus_error_set_errnof(error, r, "Sampling could not be changed: %s.",
					       strerror(-r));
	sd_bus_emit_properties_changed(bus->bus, BUS_PATH, BUS_INTERFACE, "State", NULL);
	return sd_bus_reply_method_return(m, NULL);
}

static int method_start(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	return control(m, userdata, worker_start, error);
}

static int method_stop(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	return control(m, userdata, worker_stop, error);
}

static int method_reset(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	return control(m, userdata, worker_reset, error);
}

static int invalid(sd_bus_error *error, const char *argument, const char *value, const char *right)
{
	return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS, "%s \"%.40s\": should be %s.",
				 argument, value, right);
}

static int method_get_view(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	struct bus *bus = userdata;
	struct worker_view request = { 0 };
	sd_bus_message *reply = NULL;
	const char *group, *sort;
	int r;

	r = sd_bus_message_read(m, "ssu", &group, &sort, &request.limit);
	if (r < 0)
		return r;
	if (view_group_parse(group, &request.group) < 0)
		return invalid(error, "group", group, "function, process or container");
	if (view_sort_parse(sort, &request.sort) < 0)
		return invalid(error, "sort", sort, "samples, latency, dram or remote");
	if (!request.limit || request.limit > MAX_ROWS)
		return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
					 "limit %u: should be 1 to %u.", request.limit, MAX_ROWS);

	r = worker_call(bus->worker, worker_view, &request);
	if (r < 0)
		return r;
	r = sd_bus_message_new_method_return(m, &reply);
	if (r >= 0)
		r = view_append(reply, &request.view);
	if (r >= 0)
		r = sd_bus_send(NULL, reply, NULL);
	sd_bus_message_unref(reply);
	view_clear(&request.view);
	return r;
}

struct histogram_request {
	enum profile_latency latency;
	struct histogram histogram;
};

static int read_histogram(struct worker_state *state, void *arg)
{
	struct histogram_request *request = arg;

	struct session *machine = worker_session(state, NULL);

	request->histogram = *profile_histogram(machine->profile, request->latency);
	return 0;
}

static int append_histogram(sd_bus_message *reply, const struct histogram *h)
{
	int r;

	r = sd_bus_message_append(reply, "tt", h->count, h->sum);
	if (r >= 0)
		r = sd_bus_message_open_container(reply, 'a', "(ut)");
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS && r >= 0; i++)
		if (h->bucket[i])
			r = sd_bus_message_append(reply, "(ut)", histogram_upper(i),
						  (u64)h->bucket[i]);
	return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int method_get_histogram(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	static const char *const kinds[PROFILE_LATENCIES] = {
		[PROFILE_TOTAL] = "total",
		[PROFILE_ISSUE] = "issue",
		[PROFILE_TRANSLATION] = "translation",
	};
	struct histogram_request request = { 0 };
	sd_bus_message *reply = NULL;
	struct bus *bus = userdata;
	const char *kind;
	int r;

	r = sd_bus_message_read(m, "s", &kind);
	if (r < 0)
		return r;
	while (request.latency < PROFILE_LATENCIES && strcmp(kinds[request.latency], kind))
		request.latency++;
	if (request.latency == PROFILE_LATENCIES)
		return invalid(error, "kind", kind, "total, issue or translation");
	worker_call(bus->worker, read_histogram, &request);

	r = sd_bus_message_new_method_return(m, &reply);
	if (r >= 0)
		r = append_histogram(reply, &request.histogram);
	if (r >= 0)
		r = sd_bus_send(NULL, reply, NULL);
	sd_bus_message_unref(reply);
	return r;
}

struct containers_request {
	u32 offset;
	u32 limit;
	u32 total;
	u32 count;
	struct container_row {
		struct attribute_container container;
		u64 samples;
	} *rows;
};

static int read_containers(struct worker_state *state, void *arg)
{
	struct profile *profile = worker_session(state, NULL)->profile;
	struct containers_request *request = arg;
	u32 left;

	request->total = profile_containers(profile);
	left = request->offset < request->total ? request->total - request->offset : 0;
	if (left > request->limit)
		left = request->limit;
	request->rows = calloc(left + 1, sizeof(*request->rows));
	if (!request->rows)
		return -ENOMEM;
	for (; request->count < left; request->count++) {
		u32 index = request->offset + request->count;
		struct container_row *row = &request->rows[request->count];
		const struct attribute_container *c =
			attributor_container(state->attributor, index);

		/* The entry of one that was evicted, and is free: an empty row keeps the pages. */
		if (c)
			row->container = *c;
		row->samples = profile_container_samples(profile, index);
	}
	return 0;
}

static int append_containers(sd_bus_message *reply, const struct containers_request *request)
{
	int r;

	r = sd_bus_message_append(reply, "u", request->total);
	if (r >= 0)
		r = sd_bus_message_open_container(reply, 'a', "(ssst)");
	for (u32 i = 0; i < request->count && r >= 0; i++) {
		const struct container_row *row = &request->rows[i];

		r = sd_bus_message_append(reply, "(ssst)", row->container.name,
					  row->container.runtime, row->container.path,
					  row->samples);
	}
	return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int method_get_containers(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	struct containers_request request = { 0 };
	sd_bus_message *reply = NULL;
	struct bus *bus = userdata;
	int r;

	r = sd_bus_message_read(m, "uu", &request.offset, &request.limit);
	if (r < 0)
		return r;
	if (!request.limit || request.limit > MAX_ROWS)
		return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
					 "limit %u: should be 1 to %u.", request.limit, MAX_ROWS);
	r = worker_call(bus->worker, read_containers, &request);
	if (r >= 0)
		r = sd_bus_message_new_method_return(m, &reply);
	if (r >= 0)
		r = append_containers(reply, &request);
	if (r >= 0)
		r = sd_bus_send(NULL, reply, NULL);
	sd_bus_message_unref(reply);
	free(request.rows);
	return r;
}

static int read_summary(struct worker_state *state, void *arg)
{
	const struct session *machine = worker_session(state, NULL);

	return profile_summary_json(machine->profile, backend_name(machine->feed->source->backend),
				    true, arg);
}

/* The whole of @text in a memfd that nobody can change any more. */
static int memfd_sealed(const char *text)
{
	size_t left = strlen(text);
	ssize_t n;
	int fd;

	fd = memfd_create("speprof-summary", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	for (; left; left -= (size_t)n, text += n) {
		n = write(fd, text, left);
		if (n < 0) {
			n = -errno;
			close(fd);
			return (int)n;
		}
	}
	if (lseek(fd, 0, SEEK_SET) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0) {
		close(fd);
		return -EIO;
	}
	return fd;
}

static int method_dump_summary(sd_bus_message *m, void *userdata,
			       sd_bus_error *error __attribute__((unused)))
{
	struct bus *bus = userdata;
	char *text = NULL;
	int fd, r;

	r = worker_call(bus->worker, read_summary, &text);
	if (r < 0)
		return r;
	fd = memfd_sealed(text);
	free(text);
	if (fd < 0)
		return fd;
	r = sd_bus_reply_method_return(m, "h", fd);
	close(fd);
	return r;
}

static int get_string(sd_bus *b __attribute__((unused)), const char *path __attribute__((unused)),
		      const char *interface __attribute__((unused)), const char *property,
		      sd_bus_message *reply, void *userdata,
		      sd_bus_error *error __attribute__((unused)))
{
	struct bus *bus = userdata;
	const char *value = SPEPROF_VERSION;
	struct facts facts;

	worker_call(bus->worker, read_facts, &facts);
	if (!strcmp(property, "Source"))
		value = facts.source;
	else if (!strcmp(property, "SourceReason"))
		value = facts.reason;
	else if (!strcmp(property, "Backend"))
		value = facts.backend;
	else if (!strcmp(property, "TaskEvents"))
		value = task_events_name(facts.told.kind);
	else if (!strcmp(property, "TaskEventsReason"))
		value = facts.told.reason;
	else if (!strcmp(property, "State"))
		value = facts.running ? "running" : "stopped";
	return sd_bus_message_append(reply, "s", value);
}

static int get_cpus(sd_bus *b __attribute__((unused)), const char *path __attribute__((unused)),
		    const char *interface __attribute__((unused)),
		    const char *property __attribute__((unused)), sd_bus_message *reply,
		    void *userdata, sd_bus_error *error __attribute__((unused)))
{
	struct bus *bus = userdata;
	struct facts facts;

	worker_call(bus->worker, read_facts, &facts);
	return sd_bus_message_append(reply, "u", facts.cpus);
}

static int get_interval(sd_bus *b __attribute__((unused)), const char *path __attribute__((unused)),
			const char *interface __attribute__((unused)),
			const char *property __attribute__((unused)), sd_bus_message *reply,
			void *userdata, sd_bus_error *error __attribute__((unused)))
{
	struct bus *bus = userdata;
	struct facts facts;

	worker_call(bus->worker, read_facts, &facts);
	return sd_bus_message_append(reply, "t", facts.interval_ns / 1000);
}

/* Must agree with daemon/data/org.speprof1.xml; tests/service compares them. */
static const sd_bus_vtable vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_METHOD("Start", NULL, NULL, method_start, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("Stop", NULL, NULL, method_stop, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("Reset", NULL, NULL, method_reset, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("GetView",
				SD_BUS_ARGS("s", group, "s", sort, "u", limit),
				SD_BUS_RESULT("a{sv}", header, "aa{sv}", rows), method_get_view,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("GetHistogram", SD_BUS_ARGS("s", kind),
				SD_BUS_RESULT("t", count, "t", sum, "a(ut)", buckets),
				method_get_histogram, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("GetContainers", SD_BUS_ARGS("u", offset, "u", limit),
				SD_BUS_RESULT("u", total, "a(ssst)", containers),
				method_get_containers, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("DumpSummary", SD_BUS_NO_ARGS, SD_BUS_RESULT("h", json),
				method_dump_summary, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("DumpMetrics", SD_BUS_NO_ARGS, SD_BUS_RESULT("h", metrics),
				bus_dump_metrics, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("DumpProfile", SD_BUS_ARGS("u", seconds),
				SD_BUS_RESULT("h", pprof, "s", backend), bus_dump_profile,
				SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_PROPERTY("Version", "s", get_string, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Source", "s", get_string, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("SourceReason", "s", get_string, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Backend", "s", get_string, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("TaskEvents", "s", get_string, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("TaskEventsReason", "s", get_string, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("State", "s", get_string, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("CPUs", "u", get_cpus, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("IntervalUSec", "t", get_interval, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_VTABLE_END,
};

static int connect_bus(const char *address, sd_bus **ret_bus)
{
	sd_bus *bus = NULL;
	int r;

	if (!address)
		return sd_bus_open_system(ret_bus);
	r = sd_bus_new(&bus);
	if (r >= 0)
		r = sd_bus_set_address(bus, address);
	if (r >= 0)
		r = sd_bus_set_bus_client(bus, 1);
	if (r >= 0)
		r = sd_bus_start(bus);
	if (r < 0) {
		sd_bus_unref(bus);
		return r;
	}
	*ret_bus = bus;
	return 0;
}

int bus_init(struct bus *bus, sd_event *event, const char *address, struct worker *worker)
{
	int r;

	*bus = (struct bus){ .worker = worker };
	r = connect_bus(address, &bus->bus);
	if (r >= 0)
		r = sd_bus_add_object_vtable(bus->bus, &bus->slot, BUS_PATH, BUS_INTERFACE, vtable,
					     bus);
	if (r >= 0)
		r = sd_bus_request_name(bus->bus, BUS_NAME, 0);
	if (r >= 0)
		r = sd_bus_attach_event(bus->bus, event, SD_EVENT_PRIORITY_NORMAL);
	if (r < 0)
		bus_deinit(bus);
	return r;
}

void bus_deinit(struct bus *bus)
{
	bus_profiles_end(bus);
	sd_bus_slot_unref(bus->slot);
	sd_bus_flush_close_unref(bus->bus);
	*bus = (struct bus){ 0 };
}
