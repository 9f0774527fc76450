// SPDX-License-Identifier: LGPL-2.1-or-later
#include "live.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lib/bus-json.h"
#include "lib/message.h"
#include "lib/text.h"
#include "live-feed.h"
#include "live-terminal.h"

/* Milliseconds without a reply after which the view reports that. */
#define SLOW_MS 2000
/*
 * Milliseconds for which the old screen stays while other rows are queried, so that it does not
 * flicker.
 */
#define REDRAW_DELAY_MS 200

/**
 * struct live_view - the live view
 * @before, @now: the last two replies of one query
 * @rows: the rows on the screen; its header is always set
 * @period_ms: time between two queries
 * @due_ms: time of the next query
 * @id: number of the last query
 * @first_id, @histograms_id, @instructions_id: the first query for the rows, for the histograms,
 *	and for the instructions that are shown
 * @waiting: whether the reply to query @id is outstanding
 * @since_ms: time since which a reply is outstanding: a query was sent, or the last reply arrived
 * @loading: whether there is no reply yet for the rows that are shown
 * @fault: why the shown data is outdated; "": it is not
 * @left: remaining iterations; 0: no limit
 * @ended: whether all iterations are done
 */
struct live_view {
	struct live_state state;
	struct live_screen screen;
	struct live_feed *feed;
	const struct options *options;
	struct view before;
	struct view now;
	struct view rows;
	struct live_histograms histograms;
	struct live_instructions instructions;
	u64 period_ms;
	u64 due_ms;
	u64 id;
	u64 first_id;
	u64 histograms_id;
	u64 instructions_id;
	bool waiting;
	u64 since_ms;
	bool loading;
	char fault[512];
	u32 left;
	bool ended;
};

static u64 get_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000 + (u64)ts.tv_nsec / 1000000;
}

static enum view_span get_view_span(u32 period)
{
	return period == LIVE_INTERVAL ? VIEW_SPAN_START : period - 1;
}

/* Return whether the shown instructions are still to be read. They are read once, not each time. */
static bool live_needs_instructions(const struct live_view *live)
{
	return live_state_get_level_const(&live->state)->annotated && !live->instructions.json &&
	       !*live->instructions.error;
}

static struct live_query live_make_query(const struct live_view *live, u64 id)
{
	const struct live_level *level = live_state_get_level_const(&live->state);
	struct live_query query = {
		.id = id,
		.period = get_view_span(live->state.period),
		.group = level->group,
		.sort = live->state.sort,
		.histograms = level->detail && !level->annotated,
		.instructions = live_needs_instructions(live),
		.row = level->chosen,
	};

	snprintf(query.session, sizeof(query.session), "%s", live->state.session);
	/* For a period, the daemon has histograms of containers only. */
	query.histograms_period = level->group == VIEW_CONTAINER ? query.period : VIEW_SPAN_START;
	return query;
}

static void live_send_query(struct live_view *live, bool sessions)
{
	struct live_query query = live_make_query(live, ++live->id);
	u64 now = get_now_ms();

	query.sessions = sessions;
	if (!live->waiting)
		live->since_ms = now;
	live->waiting = true;
	live->due_ms = now + live->period_ms;
	live_feed_send(live->feed, &query);
}

static void live_select_rows(struct live_view *live)
{
	struct view rows;

	if (live_rows_select(&live->state, &live->now, &live->before, &rows) < 0) {
		snprintf(live->fault, sizeof(live->fault), "out of memory");
		return;
	}
	view_clear(&live->rows);
	live->rows = rows;
	live_state_follow_chosen_row(&live->state, &live->rows);
}

static void histograms_clear(struct live_histograms *histograms)
{
	json_object_put(histograms->json);
	*histograms = (struct live_histograms){ 0 };
}

static void instructions_clear(struct live_instructions *instructions)
{
	json_object_put(instructions->json);
	*instructions = (struct live_instructions){ .json = NULL };
}

/* Query other rows. The old header is shown until the reply arrives. */
static void live_query_other_rows(struct live_view *live)
{
	struct view_header header = live->rows.header;

	view_clear(&live->before);
	view_clear(&live->now);
	view_clear(&live->rows);
	live->rows.header = header;
	live->loading = true;
	instructions_clear(&live->instructions);
	live_send_query(live, false);
	live->first_id = live->id;
	live->instructions_id = live->id;
}

/* Do what the effects of a key require. Return false to quit. */
static bool live_apply_effects(struct live_view *live, u32 effects)
{
	if (effects & LIVE_QUIT)
		return false;
	if (effects & LIVE_SELECT)
		live_select_rows(live);
	if (effects & LIVE_FETCH)
		live_query_other_rows(live);
	if (effects & LIVE_SESSIONS)
		live_send_query(live, true);
	if (effects & LIVE_HISTOGRAMS) {
		histograms_clear(&live->histograms);
		live_send_query(live, false);
		live->histograms_id = live->id;
	}
	if (effects & LIVE_ANNOTATE) {
		instructions_clear(&live->instructions);
		live_send_query(live, false);
		live->instructions_id = live->id;
	}
	return true;
}

static void receive_sessions(struct live_state *state, json_object *sessions)
{
	for (size_t i = 0; sessions && i < json_object_array_length(sessions); i++)
		live_state_add_session(state,
				       json_text(json_object_array_get_idx(sessions, i), "name"));
}

static void receive_histograms(struct live_view *live, struct live_reply *reply)
{
	if (reply->id < live->histograms_id || !(reply->histograms || *reply->histograms_error))
		return;
	histograms_clear(&live->histograms);
	live->histograms.json = reply->histograms;
	live->histograms.period = live_make_query(live, 0).histograms_period;
	snprintf(live->histograms.error, sizeof(live->histograms.error), "%s",
		 reply->histograms_error);
	reply->histograms = NULL;
}

static void receive_instructions(struct live_view *live, struct live_reply *reply)
{
	if (reply->id < live->instructions_id ||
	    !(reply->instructions || *reply->instructions_error))
		return;
	instructions_clear(&live->instructions);
	live->instructions.json = reply->instructions;
	snprintf(live->instructions.error, sizeof(live->instructions.error), "%s",
		 reply->instructions_error);
	reply->instructions = NULL;
}

static void receive_rows(struct live_view *live, struct live_reply *reply)
{
	if (reply->id < live->first_id)
		return;
	live->loading = false;
	snprintf(live->fault, sizeof(live->fault), "%s", reply->error);
	if (reply->status)
		return;
	view_clear(&live->before);
	live->before = live->now;
	live->now = reply->view;
	reply->view = (struct view){ 0 };
	live_select_rows(live);
}

static void live_receive_reply(struct live_view *live, struct live_reply *reply)
{
	live->waiting = reply->id != live->id;
	live->since_ms = get_now_ms();
	receive_sessions(&live->state, reply->sessions);
	receive_rows(live, reply);
	receive_histograms(live, reply);
	receive_instructions(live, reply);
	live_reply_clear(reply);
	if (live->left && --live->left == 0)
		live->ended = true;
}

static void live_draw(struct live_view *live)
{
	const struct live_content content = {
		.state = &live->state,
		.header = &live->rows.header,
		.rows = &live->rows,
		.histograms = &live->histograms,
		.instructions = &live->instructions,
		.fault = live->fault,
		.loading = live->loading,
		.known_share = live->options->known_share,
		.known_shares = live->options->known_shares,
	};

	live_terminal_get_size(&live->screen);
	live_screen_draw(&live->screen, &content);
	live_terminal_show(&live->screen);
}

/*
 * Report a daemon that does not reply. While instructions are read, the reply may also wait for the
 * helper that reads files.
 */
static void live_check_slow_daemon(struct live_view *live, u64 now)
{
	if (live->waiting && !live_needs_instructions(live) && now - live->since_ms >= SLOW_MS)
		snprintf(live->fault, sizeof(live->fault), "speprofd has not replied for %llu s",
			 (unsigned long long)(now - live->since_ms) / 1000);
}

/* Return how long to wait for a key or a reply, in milliseconds; -1: forever. */
static int live_get_timeout_ms(const struct live_view *live, u64 now)
{
	u64 waited = now - live->since_ms;

	if (live->waiting && live->loading && waited < REDRAW_DELAY_MS)
		return (int)(REDRAW_DELAY_MS - waited);
	if (live->waiting)
		return (int)(1000 - waited % 1000);
	if (live->state.paused)
		return -1;
	return live->due_ms > now ? (int)(live->due_ms - now) : 0;
}

/* Handle the keys that were pressed. Return false to quit. */
static bool live_handle_keys(struct live_view *live)
{
	u32 key;

	while ((key = live_terminal_read_key()) != LIVE_KEY_NONE)
		if (!live_apply_effects(live,
					live_state_handle_key(&live->state, key, &live->rows)))
			return false;
	return true;
}

static void live_run_loop(struct live_view *live)
{
	struct live_reply reply;

	/*
	 * The first screen shows the whole profile; the first interval ends after at most a second.
	 */
	live->due_ms = get_now_ms() + (live->period_ms < 1000 ? live->period_ms : 1000);
	for (;;) {
		u64 now = get_now_ms();

		live_check_slow_daemon(live, now);
		if (!(live->waiting && live->loading && now - live->since_ms < REDRAW_DELAY_MS))
			live_draw(live);
		if (live->ended)
			return;
		live_terminal_wait(live_feed_get_fd(live->feed), live_get_timeout_ms(live, now));
		if (!live_handle_keys(live))
			return;
		while (live_feed_receive(live->feed, &reply))
			live_receive_reply(live, &reply);
		if (!live->waiting && !live->state.paused && get_now_ms() >= live->due_ms)
			live_send_query(live, false);
	}
}

static void live_deinit(struct live_view *live)
{
	live_feed_free(live->feed);
	live_screen_clear(&live->screen);
	histograms_clear(&live->histograms);
	instructions_clear(&live->instructions);
	view_clear(&live->before);
	view_clear(&live->now);
	view_clear(&live->rows);
}

static void live_init(struct live_view *live, const struct options *options)
{
	/* The options -c and -p select the rows of the outermost level. */
	struct live_level *level;

	*live = (struct live_view){ .options = options,
				    .period_ms = (u64)(options->delay * 1000),
				    .left = options->number };
	live_state_init(&live->state, options->group, options->sort,
			options->period == VIEW_SPAN_START ? LIVE_INTERVAL : 1 + options->period);
	level = live_state_get_level(&live->state);
	if (options->container) {
		level->fixed |= LIVE_CONTAINER;
		snprintf(level->names.container, sizeof(level->names.container), "%s",
			 options->container);
	}
	if (options->pid) {
		level->fixed |= LIVE_PID;
		level->names.pid = options->pid;
	}
}

static int live_run_terminal(struct live_view *live)
{
	char error[256];

	if (live_terminal_open(error, sizeof(error)) < 0)
		return message_fail(STATUS_FAILED, "top: %s", error);
	if (live->left && --live->left == 0)
		live->ended = true;
	live_run_loop(live);
	live_terminal_close();
	return STATUS_OK;
}

int live_show(const struct options *options, struct bus_connection *bus)
{
	struct live_view *live = malloc(sizeof(*live));
	struct live_query query;
	int status, r;

	if (!live) {
		bus_free(bus);
		return message_fail(STATUS_FAILED, "out of memory");
	}
	live_init(live, options);
	snprintf(live->state.session, sizeof(live->state.session), "%s", bus_get_session_name(bus));
	query = live_make_query(live, 0);
	/* If the first query fails, its error is printed before the screen is switched. */
	status = bus_get_session_view(bus, query.session, query.period, query.group, query.sort,
				      BUS_ROWS_MAX, &live->now);
	if (status) {
		bus_free(bus);
		free(live);
		return status;
	}
	live_select_rows(live);
	bus_set_quiet(bus);
	r = live_feed_new(bus, &options->folders, &live->feed);
	if (r < 0) {
		bus_free(bus);
		status = message_fail(STATUS_FAILED, "top: %s", strerror(-r));
	} else {
		status = live_run_terminal(live);
		live_deinit(live);
	}
	free(live);
	return status;
}
