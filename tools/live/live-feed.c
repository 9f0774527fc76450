// SPDX-License-Identifier: LGPL-2.1-or-later
#include "live-feed.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "annotate/annotation.h"
#include "annotate/listing-print.h"
#include "lib/bus-message.h"
#include "lib/exit-status.h"
#include "lib/session-list.h"

/* Bytes of the glob of a name of a row: each byte may need a backslash; then "*" and a NUL. */
#define GLOB_SIZE (2 * sizeof(((struct view_row *)NULL)->function) + 2)

/**
 * struct live_feed - the thread and what it shares
 * @folders: where the files with instructions are searched
 * @lock: protects the fields below it
 * @query: the next query, if @queried is set
 * @reply: the last reply, if @replied is set
 * @busy: whether the thread is making a query
 * @event: an eventfd that is readable while @replied is set
 */
struct live_feed {
	struct bus_connection *bus;
	const struct symbol_folders *folders;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct live_query query;
	struct live_reply reply;
	bool queried;
	bool replied;
	bool busy;
	bool stop;
	int event;
};

void live_reply_clear(struct live_reply *reply)
{
	view_clear(&reply->view);
	json_object_put(reply->sessions);
	json_object_put(reply->histograms);
	json_object_put(reply->instructions);
	*reply = (struct live_reply){ 0 };
}

/*
 * Append the names that identify the row of a query: only names that rows of the query's group
 * have.
 */
static int append_row(sd_bus_message *m, const struct live_query *query)
{
	const struct view_row *row = &query->row;
	bool functions = query->group == VIEW_FUNCTION || query->group == VIEW_LINE;
	const char *const texts[][2] = {
		{ "container", query->group == VIEW_BINARY ? "" : row->container },
		{ "process", functions ? row->process : "" },
		{ "function", functions ? row->function : "" },
		{ "binary", functions || query->group == VIEW_BINARY ? row->binary : "" },
	};
	int r = sd_bus_message_append(m, "s", view_span_name(query->histograms_period));

	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "{sv}");
	for (size_t i = 0; i < ARRAY_SIZE(texts) && r >= 0; i++)
		if (*texts[i][1])
			r = sd_bus_message_append(m, "{sv}", texts[i][0], "s", texts[i][1]);
	if (r >= 0 && query->group == VIEW_PROCESS && row->pid > 0)
		r = sd_bus_message_append(m, "{sv}", "pid", "i", row->pid);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

static int query_histograms(struct bus_connection *bus, const struct live_query *query,
			    json_object **ret_histograms)
{
	char path[sizeof(SESSION_PATH_PREFIX) + LIVE_SESSION_SIZE];
	json_object *answer = NULL;
	sd_bus_message *m = NULL;
	int status;

	snprintf(path, sizeof(path), SESSION_PATH_PREFIX "%s", query->session);
	status = bus_message_new(bus, path, BUS_NAME ".Session", "GetFigures", &m);
	if (!status && append_row(m, query) < 0)
		status = STATUS_FAILED;
	if (!status)
		status = bus_message_call_to_json(bus, m, &answer);
	if (!status)
		*ret_histograms = json_object_get(json_object_array_get_idx(answer, 0));
	json_object_put(answer);
	sd_bus_message_unref(m);
	return status;
}

static void feed_query_histograms(struct bus_connection *bus, const struct live_query *query,
				  struct live_reply *reply)
{
	if (query->group == VIEW_PROGRAM)
		snprintf(reply->histograms_error, sizeof(reply->histograms_error),
			 "programs have none; choose a function");
	else if (query_histograms(bus, query, &reply->histograms))
		snprintf(reply->histograms_error, sizeof(reply->histograms_error), "%s",
			 bus_get_error(bus));
}

/*
 * Write a glob that matches only @name. Rows truncate names at @size bytes, so a glob of a name
 * that may be truncated ends in "*".
 */
static const char *write_glob(const char *name, size_t size, char ret[static GLOB_SIZE])
{
	/* Names are truncated before a character, which has up to 4 bytes. */
	bool truncated = strlen(name) + 4 >= size;
	char *to = ret;

	for (const char *c = name; *c; c++) {
		if (strchr("*?[\\", *c))
			*to++ = '\\';
		*to++ = *c;
	}
	if (truncated)
		*to++ = '*';
	*to = '\0';
	return *ret ? ret : NULL;
}

static void feed_query_instructions(struct live_feed *feed, const struct live_query *query,
				    struct live_reply *reply)
{
	const struct view_row *row = &query->row;
	char container[GLOB_SIZE], program[GLOB_SIZE], binary[GLOB_SIZE], function[GLOB_SIZE];
	const struct query_select select = {
		.container = write_glob(row->container, sizeof(row->container), container),
		.program = write_glob(row->process, sizeof(row->process), program),
		.binary = write_glob(row->binary, sizeof(row->binary), binary),
		.function = write_glob(row->function, sizeof(row->function), function),
	};
	struct query_error error = { "" };
	struct annotation annotation;
	int status = bus_use_session(feed->bus, query->session);

	if (!status) {
		status = annotation_load_bus(feed->bus, query->period, &select, feed->folders,
					     &annotation, &error);
		if (!status)
			reply->instructions = listing_json(&annotation.listing, false);
		annotation_deinit(&annotation);
	}
	if (status)
		snprintf(reply->instructions_error, sizeof(reply->instructions_error), "%s",
			 *error.text ? error.text : bus_get_error(feed->bus));
}

static void feed_run_query(struct live_feed *feed, const struct live_query *query,
			   struct live_reply *reply)
{
	struct bus_connection *bus = feed->bus;

	*reply = (struct live_reply){ .id = query->id };
	reply->status = bus_get_session_view(bus, query->session, query->period, query->group,
					     query->sort, BUS_ROWS_MAX, &reply->view);
	if (reply->status) {
		snprintf(reply->error, sizeof(reply->error), "%s", bus_get_error(bus));
		return;
	}
	if (query->sessions && session_get_list(bus, &reply->sessions))
		reply->sessions = NULL;
	if (query->histograms)
		feed_query_histograms(bus, query, reply);
	if (query->instructions)
		feed_query_instructions(feed, query, reply);
}

static void feed_publish(struct live_feed *feed, const struct live_reply *reply)
{
	if (feed->replied)
		live_reply_clear(&feed->reply);
	feed->reply = *reply;
	feed->replied = true;
	eventfd_write(feed->event, 1);
}

static void *feed_run_thread(void *arg)
{
	struct live_feed *feed = arg;
	struct live_query query;
	struct live_reply reply;

	pthread_mutex_lock(&feed->lock);
	while (!feed->stop) {
		if (!feed->queried) {
			pthread_cond_wait(&feed->changed, &feed->lock);
			continue;
		}
		query = feed->query;
		feed->queried = false;
		feed->busy = true;
		pthread_mutex_unlock(&feed->lock);
		feed_run_query(feed, &query, &reply);
		pthread_mutex_lock(&feed->lock);
		feed->busy = false;
		feed_publish(feed, &reply);
	}
	pthread_mutex_unlock(&feed->lock);
	return NULL;
}

int live_feed_new(struct bus_connection *bus, const struct symbol_folders *folders,
		  struct live_feed **ret_feed)
{
	struct live_feed *feed = calloc(1, sizeof(*feed));
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
	sigset_t all, before;
	int r;

	if (!feed)
		return -ENOMEM;
	feed->bus = bus;
	feed->folders = folders;
	pthread_mutex_init(&feed->lock, NULL);
	pthread_cond_init(&feed->changed, NULL);
	feed->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (feed->event < 0) {
		r = errno;
	} else {
		/*
		 * Block all signals except faults, so that no signal interrupts a call of the
		 * daemon. The main thread handles signals.
		 */
		sigfillset(&all);
		for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
			sigdelset(&all, faults[i]);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		r = pthread_create(&feed->thread, NULL, feed_run_thread, feed);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	if (r) {
		if (feed->event >= 0)
			close(feed->event);
		free(feed);
		return -r;
	}
	*ret_feed = feed;
	return 0;
}

void live_feed_free(struct live_feed *feed)
{
	bool busy;

	pthread_mutex_lock(&feed->lock);
	feed->stop = true;
	busy = feed->busy;
	pthread_cond_signal(&feed->changed);
	pthread_mutex_unlock(&feed->lock);
	if (busy) {
		pthread_detach(feed->thread);
		return;
	}
	pthread_join(feed->thread, NULL);
	bus_free(feed->bus);
	if (feed->replied)
		live_reply_clear(&feed->reply);
	close(feed->event);
	free(feed);
}

int live_feed_get_fd(const struct live_feed *feed)
{
	return feed->event;
}

void live_feed_send(struct live_feed *feed, const struct live_query *query)
{
	pthread_mutex_lock(&feed->lock);
	feed->query = *query;
	feed->queried = true;
	pthread_cond_signal(&feed->changed);
	pthread_mutex_unlock(&feed->lock);
}

bool live_feed_receive(struct live_feed *feed, struct live_reply *ret_reply)
{
	eventfd_t ignored;
	bool replied;

	pthread_mutex_lock(&feed->lock);
	replied = feed->replied;
	if (replied) {
		*ret_reply = feed->reply;
		feed->replied = false;
		eventfd_read(feed->event, &ignored);
	}
	pthread_mutex_unlock(&feed->lock);
	return replied;
}
