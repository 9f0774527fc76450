// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon-client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <systemd/sd-bus.h>
#include <time.h>
#include <unistd.h>

#include "daemon-answer.h"

/*
 * maximum microseconds from the end of a profile to the reply: the daemon reads symbols in that
 * time
 */
#define PROFILE_USEC 60000000

/**
 * struct rows_query - a query for rows that waits for its reply
 * @slot: the call; NULL: the entry is free
 * @wanted: the query
 * @on_rows: gets the reply
 * @ctx: argument for @on_rows
 */
struct rows_query {
	sd_bus_slot *slot;
	struct page_query wanted;
	daemon_rows_function on_rows;
	void *ctx;
};

struct daemon_client {
	struct daemon_client_config config;
	sd_event *event;
	sd_event_source *timer;
	sd_bus *bus;
	sd_bus_slot *call;
	sd_bus_slot *profile;
	struct rows_query queries[DAEMON_CLIENT_QUERIES];
};

static void report_metrics_failure(struct daemon_client *client, enum daemon_client_fault fault,
				   int error, const char *why)
{
	client->config.on_metrics(client->config.ctx, NULL, DAEMON_CLIENT_CAUSE(fault, error), why);
}

static void load_metrics(struct daemon_client *client, int fd)
{
	struct metrics_snapshot metrics = { 0 };
	const char *why = "out of memory";
	int r = metrics_load(fd, &metrics, &why);

	if (r < 0)
		report_metrics_failure(client, CLIENT_FAULT_SNAPSHOT, -r, why);
	else
		client->config.on_metrics(client->config.ctx, &metrics, 0, NULL);
}

static void read_metrics_file(struct daemon_client *client)
{
	char why[160];
	int fd = open(client->config.file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0) {
		int error = errno;

		snprintf(why, sizeof(why), "%.100s: %s", client->config.file, strerror(error));
		report_metrics_failure(client, CLIENT_FAULT_FILE, error, why);
		return;
	}
	load_metrics(client, fd);
	close(fd);
}

/* Return why the daemon refused a call. A message may be missing or empty; the name never is. */
static const char *get_refusal_text(const sd_bus_error *refusal)
{
	return refusal->message && *refusal->message ? refusal->message : refusal->name;
}

static int on_metrics_reply(sd_bus_message *m, void *userdata,
			    sd_bus_error *error __attribute__((unused)))
{
	struct daemon_client *client = userdata;
	const sd_bus_error *refusal = sd_bus_message_get_error(m);
	char why[160];
	int fd;

	client->call = sd_bus_slot_unref(client->call);
	if (refusal) {
		snprintf(why, sizeof(why), "%.140s", get_refusal_text(refusal));
		report_metrics_failure(client, CLIENT_FAULT_REFUSED,
				       sd_bus_error_get_errno(refusal), why);
	} else if (sd_bus_message_read(m, "h", &fd) < 0) {
		report_metrics_failure(client, CLIENT_FAULT_ANSWER, 0,
				       "its reply has no file descriptor");
	} else {
		/* The message owns the descriptor, so it must not be closed here. */
		load_metrics(client, fd);
	}
	return 0;
}

/*
 * Return true if no daemon runs. The query for metrics logs that, so the query for the profile need
 * not.
 */
static bool is_daemon_absent(const sd_bus_error *error)
{
	return sd_bus_error_has_name(error, SD_BUS_ERROR_SERVICE_UNKNOWN) ||
	       sd_bus_error_has_name(error, SD_BUS_ERROR_NAME_HAS_NO_OWNER);
}

static bool has_patterns(const struct label_config *labels)
{
	return labels->allows || labels->denies;
}

static void report_profile_failure(struct daemon_client *client, enum daemon_client_fault fault,
				   int error, const char *why)
{
	client->config.on_profile(client->config.ctx, -1, "", DAEMON_CLIENT_CAUSE(fault, error),
				  why);
}

static int on_profile_reply(sd_bus_message *m, void *userdata,
			    sd_bus_error *error __attribute__((unused)))
{
	struct daemon_client *client = userdata;
	const sd_bus_error *refusal = sd_bus_message_get_error(m);
	const char *backend;
	char why[160];
	int fd;

	client->profile = sd_bus_slot_unref(client->profile);
	if (refusal && is_daemon_absent(refusal))
		return 0;
	if (refusal && sd_bus_error_has_name(refusal, SD_BUS_ERROR_UNKNOWN_METHOD) &&
	    has_patterns(client->config.labels)) {
		report_profile_failure(
			client, CLIENT_FAULT_TOO_OLD, 0,
			"the daemon is too old to omit containers from a profile, as Allow= or "
			"Deny= demands: upgrade it");
	} else if (refusal) {
		snprintf(why, sizeof(why), "%.140s", get_refusal_text(refusal));
		report_profile_failure(client, CLIENT_FAULT_REFUSED,
				       sd_bus_error_get_errno(refusal), why);
	} else if (sd_bus_message_read(m, "hs", &fd, &backend) < 0) {
		report_profile_failure(client, CLIENT_FAULT_ANSWER, 0,
				       "the daemon's reply has no file descriptor");
	} else {
		client->config.on_profile(client->config.ctx, fd, backend, 0, NULL);
	}
	return 0;
}

static int append_patterns(sd_bus_message *m, const char *key,
			   const char (*patterns)[LABEL_PATTERN_SIZE], unsigned int count)
{
	int r = sd_bus_message_open_container(m, 'e', "sv");

	if (r >= 0)
		r = sd_bus_message_append(m, "s", key);
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'v', "as");
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "s");
	for (unsigned int i = 0; r >= 0 && i < count; i++)
		r = sd_bus_message_append(m, "s", patterns[i]);
	for (unsigned int i = 0; r >= 0 && i < 3; i++)
		r = sd_bus_message_close_container(m);
	return r;
}

static int append_options(sd_bus_message *m, const struct label_config *labels)
{
	int r = sd_bus_message_open_container(m, 'a', "{sv}");

	if (r >= 0)
		r = append_patterns(m, "Allow", labels->allow, labels->allows);
	if (r >= 0)
		r = append_patterns(m, "Deny", labels->deny, labels->denies);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

/*
 * Query a profile. The daemon omits containers that Allow= and Deny= do not admit, so that the
 * exporter need not parse the profile.
 */
static int query_profile(struct daemon_client *client)
{
	u64 usec = client->config.profile_seconds * 1000000ULL + PROFILE_USEC;
	bool with = has_patterns(client->config.labels);
	sd_bus_message *m = NULL;
	int r;

	r = sd_bus_message_new_method_call(client->bus, &m, DAEMON_NAME, DAEMON_PATH,
					   DAEMON_INTERFACE,
					   with ? "DumpProfileWithOptions" : "DumpProfile");
	if (r >= 0)
		r = sd_bus_message_append(m, "u", client->config.profile_seconds);
	if (r >= 0 && with)
		r = append_options(m, client->config.labels);
	if (r >= 0)
		r = sd_bus_message_set_auto_start(m, 0);
	if (r >= 0)
		r = sd_bus_call_async(client->bus, &client->profile, m, on_profile_reply, client,
				      usec);
	sd_bus_message_unref(m);
	return r;
}

/* End a query for rows. @fd: owned by the function that gets it. */
static void finish_rows(struct rows_query *query, int fd, size_t size, int error, const char *why)
{
	struct rows_query ended = *query;

	/* The function may start another query, which may use this entry. */
	*query = (struct rows_query){ 0 };
	sd_bus_slot_unref(ended.slot);
	ended.on_rows(ended.ctx, fd, size, error, why);
}

/*
 * Copy the descriptor of a reply. A file that can become shorter is refused: the server would send
 * fewer bytes than it has announced. Return: the copy, or -EINVAL.
 */
static int copy_rows_file(sd_bus_message *m, size_t *ret_size)
{
	struct stat st;
	int fd, copy;

	if (sd_bus_message_skip(m, "a{sv}") < 0 || sd_bus_message_read(m, "h", &fd) < 0 ||
	    fstat(fd, &st) < 0 || st.st_size <= 0 || st.st_size > DAEMON_CLIENT_ROWS ||
	    !(fcntl(fd, F_GET_SEALS) & F_SEAL_SHRINK))
		return -EINVAL;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (copy < 0)
		return -EINVAL;
	*ret_size = (size_t)st.st_size;
	return copy;
}

/* Convert a reply without a descriptor. Return: a file with JSON, or a negative errno. */
static int write_answer_file(const struct page_query *wanted, sd_bus_message *m, size_t *ret_size)
{
	int fd = memfd_create("speprof-page", MFD_CLOEXEC), r;
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	struct stat st;
	int copy = -1;

	if (!out) {
		r = -errno;
		if (fd >= 0)
			close(fd);
		return r;
	}
	r = daemon_answer_write(wanted, m, out);
	if (r >= 0 && fflush(out) == 0 && fstat(fd, &st) == 0 && st.st_size > 0 &&
	    st.st_size <= DAEMON_CLIENT_ROWS) {
		copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		*ret_size = (size_t)st.st_size;
	}
	fclose(out);
	return r < 0 ? r : copy < 0 ? -ENOMEM : copy;
}

static void finish_rows_refused(struct rows_query *query, const sd_bus_error *refusal)
{
	char why[300];

	if (is_daemon_absent(refusal)) {
		finish_rows(query, -1, 0, -ESRCH, "speprofd is not running");
	} else if (sd_bus_error_has_name(refusal, SD_BUS_ERROR_NO_REPLY)) {
		finish_rows(query, -1, 0, -ETIMEDOUT,
			    "speprofd did not reply within 20 s, or was stopped before it did");
	} else {
		snprintf(why, sizeof(why), "speprofd: %.280s", get_refusal_text(refusal));
		finish_rows(query, -1, 0, -EIO, why);
	}
}

static int on_rows_reply(sd_bus_message *m, void *userdata,
			 sd_bus_error *error __attribute__((unused)))
{
	const sd_bus_error *refusal = sd_bus_message_get_error(m);
	struct rows_query *query = userdata;
	const char *why;
	size_t size = 0;
	int fd;

	if (refusal) {
		finish_rows_refused(query, refusal);
		return 0;
	}
	if (!daemon_answer_is_file(&query->wanted)) {
		fd = write_answer_file(&query->wanted, m, &size);
		if (fd == -ENOENT)
			why = "the history has no samples of this period";
		else
			why = "speprofd has replied in an unknown format: install speprofd and "
			      "speprof-exporter of the same version";
	} else {
		fd = copy_rows_file(m, &size);
		why = "speprofd replied without a sealed file of at most 64 MiB of rows";
	}
	if (fd < 0)
		finish_rows(query, -1, 0, -EIO, why);
	else
		finish_rows(query, fd, size, 0, NULL);
	return 0;
}

static int connect_bus(struct daemon_client *client)
{
	sd_bus *bus = NULL;
	int r;

	if (!client->config.address) {
		r = sd_bus_open_system(&bus);
	} else {
		r = sd_bus_new(&bus);
		if (r >= 0)
			r = sd_bus_set_address(bus, client->config.address);
		if (r >= 0)
			r = sd_bus_set_bus_client(bus, 1);
		if (r >= 0)
			r = sd_bus_start(bus);
	}
	if (r >= 0)
		r = sd_bus_attach_event(bus, client->event, SD_EVENT_PRIORITY_NORMAL);
	if (r < 0) {
		sd_bus_unref(bus);
		return r;
	}
	client->bus = bus;
	return 0;
}

static void close_bus(struct daemon_client *client, const char *why)
{
	for (unsigned int i = 0; i < DAEMON_CLIENT_QUERIES; i++)
		if (client->queries[i].slot)
			finish_rows(&client->queries[i], -1, 0, -ESRCH, why);
	client->call = sd_bus_slot_unref(client->call);
	client->profile = sd_bus_slot_unref(client->profile);
	if (client->bus)
		sd_bus_detach_event(client->bus);
	client->bus = sd_bus_close_unref(client->bus);
}

static int ensure_bus(struct daemon_client *client)
{
	if (client->bus && sd_bus_is_open(client->bus) <= 0)
		close_bus(client, "the connection to the bus was closed");
	return client->bus ? 0 : connect_bus(client);
}

static int query_metrics(struct daemon_client *client)
{
	sd_bus_message *m = NULL;
	int r = ensure_bus(client);

	if (r >= 0)
		r = sd_bus_message_new_method_call(client->bus, &m, DAEMON_NAME, DAEMON_PATH,
						   DAEMON_INTERFACE, "DumpMetrics");
	/* A query must not start a daemon that was stopped on purpose. */
	if (r >= 0)
		r = sd_bus_message_set_auto_start(m, 0);
	if (r >= 0)
		r = sd_bus_call_async(client->bus, &client->call, m, on_metrics_reply, client,
				      DAEMON_CLIENT_REPLY_USEC);
	sd_bus_message_unref(m);
	return r;
}

static struct rows_query *find_free_query(struct daemon_client *client)
{
	for (unsigned int i = 0; i < DAEMON_CLIENT_QUERIES; i++)
		if (!client->queries[i].slot)
			return &client->queries[i];
	return NULL;
}

static int send_rows_query(struct daemon_client *client, const struct page_query *wanted,
			   struct rows_query *query)
{
	sd_bus_message *m = NULL;
	int r = daemon_answer_new_call(client->bus, wanted, &m);

	if (r >= 0)
		r = sd_bus_message_set_auto_start(m, 0);
	if (r >= 0)
		r = sd_bus_call_async(client->bus, &query->slot, m, on_rows_reply, query,
				      DAEMON_CLIENT_ROWS_USEC);
	sd_bus_message_unref(m);
	return r;
}

int daemon_client_query_rows(struct daemon_client *client, const struct page_query *wanted,
			     daemon_rows_function on_rows, void *ctx, const char **ret_why)
{
	struct rows_query *query;

	if (!client || client->config.file) {
		*ret_why =
			client ?
				"the exporter reads a file instead of speprofd, so it has no rows" :
				"the exporter is being started or stopped";
		return -ESRCH;
	}
	query = find_free_query(client);
	if (!query) {
		*ret_why = "speprofd has not replied to 4 other queries: retry later";
		return -EBUSY;
	}
	if (ensure_bus(client) < 0 || send_rows_query(client, wanted, query) < 0) {
		*ret_why = "there is no connection to the bus";
		return -ESRCH;
	}
	query->wanted = *wanted;
	query->on_rows = on_rows;
	query->ctx = ctx;
	return 0;
}

static int on_timer(sd_event_source *source, uint64_t now __attribute__((unused)), void *userdata)
{
	struct daemon_client *client = userdata;
	char why[96];
	int r;

	/*
	 * Set the timer relative to the present time, so that queries that a suspended machine
	 * missed are skipped.
	 */
	sd_event_source_set_time_relative(source, client->config.interval * 1000000ULL);
	sd_event_source_set_enabled(source, SD_EVENT_ON);
	if (client->config.file) {
		read_metrics_file(client);
		return 0;
	}
	/* At most one query may be pending. */
	if (client->call)
		return 0;
	r = query_metrics(client);
	if (r >= 0 && client->config.profile_seconds && !client->profile)
		r = query_profile(client);
	if (r < 0) {
		close_bus(client, "the connection to the bus was closed");
		snprintf(why, sizeof(why), "cannot connect to the bus: %s", strerror(-r));
		report_metrics_failure(client, CLIENT_FAULT_BUS, -r, why);
	}
	return 0;
}

int daemon_client_new(const struct daemon_client_config *config, sd_event *event,
		      struct daemon_client **ret_client)
{
	struct daemon_client *client = calloc(1, sizeof(*client));
	int r;

	if (!client)
		return -ENOMEM;
	client->config = *config;
	client->event = sd_event_ref(event);
	r = sd_event_add_time_relative(event, &client->timer, CLOCK_MONOTONIC, 0, 10000, on_timer,
				       client);
	if (r < 0) {
		daemon_client_free(client);
		return r;
	}
	*ret_client = client;
	return 0;
}

struct daemon_client *daemon_client_free(struct daemon_client *client)
{
	if (client) {
		close_bus(client, "the exporter is being stopped");
		sd_event_source_unref(client->timer);
		sd_event_unref(client->event);
		free(client);
	}
	return NULL;
}
