/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A session: whose samples are kept, by which filter, in a profile of its own. Sessions
 * share what the worker knows of tasks and symbols, and may share a source: then each
 * window goes to all of them, and each leaves out what its filter does not want.
 *
 * All is of the worker's thread.
 */
#ifndef SPEPROF_SESSION_H
#define SPEPROF_SESSION_H

#include "filter.h"
#include "profile.h"
#include "source.h"

/* With its NUL. */
#define SESSION_NAME_SIZE 64

/* The one that the configuration makes, and that is meant where none is named. */
#define SESSION_MACHINE "machine"

/**
 * struct feed - a source, and how many sessions take its windows
 * @source: freed with the feed
 * @references: sessions that have it, and who makes one
 * @running: sessions that run: the source is enabled while there are any
 * @error: negative errno of the last drain that failed since it was enabled, 0 for none
 */
struct feed {
	struct source *source;
	u32 references;
	u32 running;
	int error;
};

/** feed_new() - with one reference, the caller's; takes over @source where it succeeds */
int feed_new(struct source *source, struct feed **ret_feed);

/** feed_get() - another reference */
struct feed *feed_get(struct feed *feed);

/** feed_put() - with the last reference it is freed, and its source; returns NULL */
struct feed *feed_put(struct feed *feed);

/**
 * struct session_config - what a session is made of
 * @name: by session_name_valid()
 * @feed: a reference, the session's from then on
 * @filter: what counts, NULL for everything; the session's from then on
 */
struct session_config {
	const char *name;
	struct feed *feed;
	struct filter *filter;
};

/**
 * struct session - a place in the worker's array
 * @name: "" where the place is free
 * @feed: where its windows come from
 * @filter: NULL for everything
 * @running: its windows count
 * @started_ns: when that began, CLOCK_MONOTONIC
 * @ran_ns: how long it ran before, since the last reset
 * @cost_ns: CPU time of this process at the last reset
 */
struct session {
	char name[SESSION_NAME_SIZE];
	struct feed *feed;
	struct filter *filter;
	struct profile *profile;
	bool running;
	u64 started_ns;
	u64 ran_ns;
	u64 cost_ns;
};

/**
 * session_name_valid() - whether it can stand in an object's path, a unit's name and a log
 *
 * One to 63 letters, digits and "_", a letter first.
 */
bool session_name_valid(const char *name);

/**
 * session_init() - make a session, stopped
 * @attributor: borrowed
 *
 * Return: 0; -EINVAL for a name that is not valid; -ENOMEM. Where it fails, feed
 * and filter stay the caller's.
 */
int session_init(struct session *session, const struct session_config *config,
		 struct attributor *attributor);

/** session_deinit() - stop it without a last drain and free what it has; a free place stays one */
void session_deinit(struct session *session);

/** session_start() - its windows count, and its source is enabled. -EALREADY; as the source */
int session_start(struct session *session);

/**
 * session_disable() - nothing more is sampled for it
 *
 * What was sampled before may still be drained, and session_stop() is to follow.
 */
void session_disable(struct session *session);

/** session_stop() - its windows do not count any more; -EALREADY */
int session_stop(struct session *session);

/** session_reset() - forget what was counted, as if it began now */
void session_reset(struct session *session);

/** session_duration() - for how long it ran since the last reset, ns */
u64 session_duration(const struct session *session);

/**
 * session_header() - what the profile does not know of a view's header
 * @ret_header: source, state, trouble and cost are filled in
 */
void session_header(const struct session *session, struct view_header *ret_header);

#endif
