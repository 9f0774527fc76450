// SPDX-License-Identifier: LGPL-2.1-or-later
#include "session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static u64 now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (u64)ts.tv_sec * 1000000000ULL + (u64)ts.tv_nsec;
}

int feed_new(struct source *source, struct feed **ret_feed)
{
	struct feed *feed = calloc(1, sizeof(*feed));

	if (!feed)
		return -ENOMEM;
	*feed = (struct feed){ .source = source, .references = 1 };
	*ret_feed = feed;
	return 0;
}

struct feed *feed_get(struct feed *feed)
{
	feed->references++;
	return feed;
}

struct feed *feed_put(struct feed *feed)
{
	if (!feed || --feed->references)
		return NULL;
	feed->source->ops->free(feed->source);
	free(feed);
	return NULL;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool session_name_valid(const char *name)
{
	size_t n = 0;

	if (!is_letter(*name))
		return false;
	for (; name[n]; n++)
		if (n >= SESSION_NAME_SIZE - 1 ||
		    (!is_letter(name[n]) && name[n] != '_' && (name[n] < '0' || name[n] > '9')))
			return false;
	return true;
}

int session_init(struct session *session, const struct session_config *config,
		 struct attributor *attributor)
{
	const struct profile_config profile = { .filter = config->filter };
	struct session made = { 0 };
	int r;

	if (!session_name_valid(config->name))
		return -EINVAL;
	r = profile_new(&profile, attributor, &made.profile);
	if (r < 0)
		return r;
	snprintf(made.name, sizeof(made.name), "%s", config->name);
	made.feed = config->feed;
	made.filter = config->filter;
	made.cost_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	*session = made;
	return 0;
}

void session_deinit(struct session *session)
{
	if (session->running) {
		session_disable(session);
		session_stop(session);
	}
	profile_free(session->profile);
	filter_free(session->filter);
	feed_put(session->feed);
	*session = (struct session){ 0 };
}

int session_start(struct session *session)
{
	struct feed *feed = session->feed;
	int r;

	if (session->running)
		return -EALREADY;
	if (!feed->running) {
		r = feed->source->ops->start(feed->source);
		if (r < 0)
			return r;
		feed->error = 0;
	}
	feed->running++;
	session->running = true;
	session->started_ns = now_ns(CLOCK_MONOTONIC);
	return 0;
}

void session_disable(struct session *session)
{
	struct feed *feed = session->feed;

	if (session->running && feed->running == 1)
		feed->source->ops->stop(feed->source);
}

int session_stop(struct session *session)
{
	if (!session->running)
		return -EALREADY;
	session->ran_ns = session_duration(session);
	session->running = false;
	session->feed->running--;
	return 0;
}

void session_reset(struct session *session)
{
	profile_reset(session->profile);
	session->ran_ns = 0;
	session->started_ns = now_ns(CLOCK_MONOTONIC);
	session->cost_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
}

u64 session_duration(const struct session *session)
{
	u64 now = session->running ? now_ns(CLOCK_MONOTONIC) - session->started_ns : 0;

	return session->ran_ns + now;
}

/* Resident bytes, from /proc/self/statm; 0 if that cannot be read. */
static u64 resident(void)
{
	unsigned long long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (!f)
		return 0;
	if (fscanf(f, "%*u %llu", &pages) != 1)
		pages = 0;
	fclose(f);
	return pages * (u64)sysconf(_SC_PAGESIZE);
}

static void fill_trouble(const struct feed *feed, struct view_header *h)
{
	const struct source_trouble *trouble = &feed->source->trouble;

	h->faults = trouble->faults;
	h->throttles = trouble->throttles;
	h->unread = trouble->unread;
	h->cpus_stopped = trouble->cpus_stopped;
	snprintf(h->fault, sizeof(h->fault), "%s", trouble->last);
	if (!*h->fault && feed->error)
		snprintf(h->fault, sizeof(h->fault), "reading failed: %s", strerror(-feed->error));
}

void session_header(const struct session *session, struct view_header *ret_header)
{
	const struct source *source = session->feed->source;

	snprintf(ret_header->source, sizeof(ret_header->source), "%s", source->ops->name);
	ret_header->backend = source->backend;
	ret_header->running = session->running;
	ret_header->cpus = source->cpus;
	ret_header->interval_ns = source->interval_ns;
	ret_header->duration_ns = session_duration(session);
	ret_header->cost_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID) - session->cost_ns;
	ret_header->memory = resident();
	fill_trouble(session->feed, ret_header);
}
