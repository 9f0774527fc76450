/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Query the daemon on a separate thread, so that keys work while the daemon is slow. The thread
 * makes one query at a time.
 */
#ifndef SPEPROF_LIVE_FEED_H
#define SPEPROF_LIVE_FEED_H

#include <json-c/json.h>

#include "lib/bus.h"
#include "live-state.h"
#include "symbols/symbol-folders.h"

/**
 * struct live_query - what to query
 * @id: a number that the reply returns
 * @session: name of the session
 * @period: the period of the rows
 * @group, @sort: what a row represents, and the order of rows
 * @sessions: whether to query the sessions, too
 * @histograms: whether to query the histograms of @row, too
 * @histograms_period: the period of the histograms
 * @instructions: whether to query the instructions of the function of @row, too
 * @row: a row of @group, for the histograms and the instructions
 */
struct live_query {
	u64 id;
	char session[LIVE_SESSION_SIZE];
	enum view_span period;
	enum view_group group;
	enum view_sort sort;
	bool sessions;
	bool histograms;
	enum view_span histograms_period;
	bool instructions;
	struct view_row row;
};

/**
 * struct live_reply - what the daemon replied
 * @id: number of the query
 * @status: &enum verb_exit_status of the rows
 * @error: why there are no rows; "": there are
 * @view: the rows
 * @sessions: an array with an object for each session; NULL: not queried, or an error
 * @histograms: the histograms; NULL: not queried, or an error
 * @histograms_error: why there are no histograms; "": there are, or they were not queried
 * @instructions: an array of listing_json(); NULL: not queried, or an error
 * @instructions_error: why there are no instructions; "": there are, or they were not queried
 */
struct live_reply {
	u64 id;
	int status;
	char error[512];
	struct view view;
	json_object *sessions;
	json_object *histograms;
	char histograms_error[512];
	json_object *instructions;
	char instructions_error[512];
};

struct live_feed;

/**
 * live_feed_new() - start the thread
 * @bus: a quiet connection, which belongs to the feed from now on
 * @folders: where the files with instructions are searched; borrowed for the rest of the process
 * @ret_feed: freed by live_feed_free()
 *
 * Return: 0; on failure a negative errno, and the caller still owns @bus.
 */
int live_feed_new(struct bus_connection *bus, const struct symbol_folders *folders,
		  struct live_feed **ret_feed);

/**
 * live_feed_free() - end the thread
 *
 * A thread that waits for the daemon keeps its memory until the process exits.
 */
void live_feed_free(struct live_feed *feed);

/** live_feed_get_fd() - return a descriptor that is readable while a reply is available */
int live_feed_get_fd(const struct live_feed *feed);

/** live_feed_send() - make a query; it replaces one that has not begun */
void live_feed_send(struct live_feed *feed, const struct live_query *query);

/**
 * live_feed_receive() - get the reply
 * @ret_reply: the caller clears it by live_reply_clear()
 *
 * Return: whether there was a reply.
 */
bool live_feed_receive(struct live_feed *feed, struct live_reply *ret_reply);

/** live_reply_clear() - free what a reply has */
void live_reply_clear(struct live_reply *reply);

#endif
