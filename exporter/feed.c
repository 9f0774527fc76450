// SPDX-License-Identifier: LGPL-2.1-or-later
#include "feed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-bus.h>
#include <time.h>
#include <unistd.h>

#define DAEMON_NAME	 "org.speprof1"
#define DAEMON_PATH	 "/org/speprof1"
#define DAEMON_INTERFACE "org.speprof1.Manager"

/* A daemon that has not answered by then is asked again. */
#define ANSWER_USEC  5000000
#define PROFILE_USEC 60000000 /* after the profile's end: symbols are read then */

struct feed {
	struct feed_config config;
	sd_event *event;
	sd_event_source *timer;
	sd_bus *bus;
	sd_bus_slot *call;
	sd_bus_slot *profile;
};

static void take_none(struct feed *feed, enum feed_fault fault, int error, const char *why)
{
	feed->config.take(feed->config.ctx, NULL, FEED_CAUSE(fault, error), why);
}

static void take_file(struct feed *feed, int fd)
{
	struct metrics metrics = { 0 };
	const char *why = "there is no memory";
	int r = metrics_load(fd, &metrics, &why);

	if (r < 0)
		take_none(feed, FEED_SNAPSHOT, -r, why);
	else
		feed->config.take(feed->config.ctx, &metrics, 0, NULL);
}

static void read_file(struct feed *feed)
{
	char why[160];
	int fd = open(feed->config.file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0) {
		int error = errno;

		snprintf(why, sizeof(why), "%.100s: %s", feed->config.file, strerror(error));
		take_none(feed, FEED_FILE, error, why);
		return;
	}
	take_file(feed, fd);
	close(fd);
}

static int answered(sd_bus_message *m, void *userdata, sd_bus_error *error __attribute__((unused)))
{
	struct feed *feed = userdata;
	const sd_bus_error *refusal = sd_bus_message_get_error(m);
	char why[160];
	int fd;

	feed->call = sd_bus_slot_unref(feed->call);
	if (refusal) {
		snprintf(why, sizeof(why), "%.140s", refusal->message ? refusal->message : refusal->name);
		take_none(feed, FEED_REFUSED, sd_bus_error_get_errno(refusal), why);
	} else if (sd_bus_message_read(m, "h", &fd) < 0) {
		take_none(feed, FEED_ANSWER, 0, "no descriptor in its answer");
	} else {
		/* The descriptor is the message's. */
		take_file(feed, fd);
	}
	return 0;
}

/* Where there is no daemon metrics are not answered either, which is said there. */
static bool is_absence(const sd_bus_error *error)
{
	return sd_bus_error_has_name(error, SD_BUS_ERROR_SERVICE_UNKNOWN) ||
	       sd_bus_error_has_name(error, SD_BUS_ERROR_NAME_HAS_NO_OWNER);
}

static bool has_patterns(const struct labels *labels)
{
	return labels->allows || labels->denies;
}

static void take_no_profile(struct feed *feed, enum feed_fault fault, int error, const char *why)
{
	feed->config.take_profile(feed->config.ctx, -1, "", FEED_CAUSE(fault, error), why);
}

static int profile_answered(sd_bus_message *m, void *userdata,
			    sd_bus_error *error __attribute__((unused)))
{
	struct feed *feed = userdata;
	const sd_bus_error *refusal = sd_bus_message_get_error(m);
	const char *backend;
	char why[160];
	int fd;

	feed->profile = sd_bus_slot_unref(feed->profile);
	if (refusal && is_absence(refusal))
		return 0;
	if (refusal && sd_bus_error_has_name(refusal, SD_BUS_ERROR_UNKNOWN_METHOD) &&
	    has_patterns(feed->config.labels)) {
		take_no_profile(feed, FEED_TOO_OLD, 0,
				"the daemon is of a version that leaves no containers out, as Allow= "
				"and Deny= want it");
	} else if (refusal) {
		snprintf(why, sizeof(why), "%.140s", refusal->message ? refusal->message : refusal->name);
		take_no_profile(feed, FEED_REFUSED, sd_bus_error_get_errno(refusal), why);
	} else if (sd_bus_message_read(m, "hs", &fd, &backend) < 0) {
		take_no_profile(feed, FEED_ANSWER, 0, "no descriptor in the answer");
	} else {
		feed->config.take_profile(feed->config.ctx, fd, backend, 0, NULL);
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

static int append_options(sd_bus_message *m, const struct labels *labels)
{
	int r = sd_bus_message_open_container(m, 'a', "{sv}");

	if (r >= 0)
		r = append_patterns(m, "Allow", labels->allow, labels->allows);
	if (r >= 0)
		r = append_patterns(m, "Deny", labels->deny, labels->denies);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

/* Whom patterns keep back the daemon leaves out: a profile cannot be taken apart here. */
static int ask_profile(struct feed *feed)
{
	u64 usec = feed->config.profile_seconds * 1000000ULL + PROFILE_USEC;
	bool with = has_patterns(feed->config.labels);
	sd_bus_message *m = NULL;
	int r;

	r = sd_bus_message_new_method_call(feed->bus, &m, DAEMON_NAME, DAEMON_PATH,
					   DAEMON_INTERFACE,
					   with ? "DumpProfileWithOptions" : "DumpProfile");
	if (r >= 0)
		r = sd_bus_message_append(m, "u", feed->config.profile_seconds);
	if (r >= 0 && with)
		r = append_options(m, feed->config.labels);
	if (r >= 0)
		r = sd_bus_message_set_auto_start(m, 0);
	if (r >= 0)
		r = sd_bus_call_async(feed->bus, &feed->profile, m, profile_answered, feed, usec);
	sd_bus_message_unref(m);
	return r;
}

static int connect_bus(struct feed *feed)
{
	sd_bus *bus = NULL;
	int r;

	if (!feed->config.address) {
		r = sd_bus_open_system(&bus);
	} else {
		r = sd_bus_new(&bus);
		if (r >= 0)
			r = sd_bus_set_address(bus, feed->config.address);
		if (r >= 0)
			r = sd_bus_set_bus_client(bus, 1);
		if (r >= 0)
			r = sd_bus_start(bus);
	}
	if (r >= 0)
		r = sd_bus_attach_event(bus, feed->event, SD_EVENT_PRIORITY_NORMAL);
	if (r < 0) {
		sd_bus_unref(bus);
		return r;
	}
	feed->bus = bus;
	return 0;
}

static void drop_bus(struct feed *feed)
{
	feed->call = sd_bus_slot_unref(feed->call);
	feed->profile = sd_bus_slot_unref(feed->profile);
	if (feed->bus)
		sd_bus_detach_event(feed->bus);
	feed->bus = sd_bus_close_unref(feed->bus);
}

static int ask(struct feed *feed)
{
	sd_bus_message *m = NULL;
	int r = 0;

	if (feed->bus && sd_bus_is_open(feed->bus) <= 0)
		drop_bus(feed);
	if (!feed->bus)
		r = connect_bus(feed);
	if (r >= 0)
		r = sd_bus_message_new_method_call(feed->bus, &m, DAEMON_NAME, DAEMON_PATH,
						   DAEMON_INTERFACE, "DumpMetrics");
	/* A daemon that was stopped on purpose is not started by being asked. */
	if (r >= 0)
		r = sd_bus_message_set_auto_start(m, 0);
	if (r >= 0)
		r = sd_bus_call_async(feed->bus, &feed->call, m, answered, feed, ANSWER_USEC);
	sd_bus_message_unref(m);
	return r;
}

static int look(sd_event_source *source, uint64_t now __attribute__((unused)), void *userdata)
{
	struct feed *feed = userdata;
	char why[96];
	int r;

	/* Not from when this one was due: what a suspended machine missed is not made up for. */
	sd_event_source_set_time_relative(source, feed->config.interval * 1000000ULL);
	sd_event_source_set_enabled(source, SD_EVENT_ON);
	if (feed->config.file) {
		read_file(feed);
		return 0;
	}
	/* One question at a time. */
	if (feed->call)
		return 0;
	r = ask(feed);
	if (r >= 0 && feed->config.profile_seconds && !feed->profile)
		r = ask_profile(feed);
	if (r < 0) {
		drop_bus(feed);
		snprintf(why, sizeof(why), "no bus: %s", strerror(-r));
		take_none(feed, FEED_BUS, -r, why);
	}
	return 0;
}

int feed_new(const struct feed_config *config, sd_event *event, struct feed **ret_feed)
{
	struct feed *feed = calloc(1, sizeof(*feed));
	int r;

	if (!feed)
		return -ENOMEM;
	feed->config = *config;
	feed->event = sd_event_ref(event);
	r = sd_event_add_time_relative(event, &feed->timer, CLOCK_MONOTONIC, 0, 10000, look,
				       feed);
	if (r < 0) {
		feed_free(feed);
		return r;
	}
	*ret_feed = feed;
	return 0;
}

struct feed *feed_free(struct feed *feed)
{
	if (feed) {
		drop_bus(feed);
		sd_event_source_unref(feed->timer);
		sd_event_unref(feed->event);
		free(feed);
	}
	return NULL;
}
