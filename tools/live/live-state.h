/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state of the live view: what it shows, and how keys change that. It depends neither on a
 * terminal nor on the bus.
 */
#ifndef SPEPROF_LIVE_STATE_H
#define SPEPROF_LIVE_STATE_H

#include "live-filter.h"

/** enum live_key - keys that are no characters; characters are their Unicode number */
enum live_key {
	LIVE_KEY_NONE,
	LIVE_KEY_UP = 0x110000,
	LIVE_KEY_DOWN,
	LIVE_KEY_LEFT,
	LIVE_KEY_RIGHT,
	LIVE_KEY_PAGE_UP,
	LIVE_KEY_PAGE_DOWN,
	LIVE_KEY_HOME,
	LIVE_KEY_END,
	LIVE_KEY_ENTER,
	LIVE_KEY_ESCAPE,
	LIVE_KEY_BACKSPACE,
	LIVE_KEY_RESIZE, /* the size of the terminal changed */
	LIVE_KEY_CLOSED, /* the terminal was closed */
};

/** enum live_effect - bits for what the caller has to do after a key */
enum live_effect {
	LIVE_QUIT = 1 << 0,
	LIVE_FETCH = 1 << 1, /* other rows are needed: query the daemon */
	LIVE_SELECT = 1 << 2, /* select rows from the last reply again */
	LIVE_SESSIONS = 1 << 3, /* query the names of sessions */
	LIVE_HISTOGRAMS = 1 << 4, /* query the histograms of the chosen row */
	LIVE_ANNOTATE = 1 << 5, /* query the instructions of the chosen function */
};

/* Numbers of periods: the last interval, then those of &enum view_span. */
#define LIVE_INTERVAL 0
#define LIVE_PERIODS  (1 + VIEW_SPANS)

/** enum live_fixed_names - bits for the names that all rows of a level have in common */
enum live_fixed_names {
	LIVE_CONTAINER = 1 << 0,
	LIVE_PROGRAM = 1 << 1,
	LIVE_BINARY = 1 << 2,
	LIVE_FUNCTION = 1 << 3,
	LIVE_PID = 1 << 4,
};

/**
 * struct live_level - a list of rows, or a page about one row
 * @group: what a row represents
 * @detail: whether a page about @chosen is shown instead of the rows: its details, or, if
 *	@annotated is set, the instructions of its function
 * @fixed: &enum live_fixed_names, the names that the rows of this level have in common
 * @names: a row with these names
 * @chosen: the last chosen row
 * @is_chosen: whether the user has chosen a row; the cursor then follows that row
 * @cursor: index of the chosen row
 * @first: index of the first row on the screen
 */
struct live_level {
	enum view_group group;
	bool detail;
	bool annotated;
	u32 fixed;
	struct view_row names;
	struct view_row chosen;
	bool is_chosen;
	u32 cursor;
	u32 first;
};

/*
 * Maximum number of levels: container, program, function, line, details, instructions, and one more
 * for a binary.
 */
#define LIVE_LEVELS_MAX 7

/** enum live_overlay - what is shown instead of the rows or in the last line */
enum live_overlay {
	LIVE_NO_OVERLAY,
	LIVE_HELP,
	LIVE_MENU_SORT,
	LIVE_MENU_GROUP,
	LIVE_MENU_PERIOD,
	LIVE_MENU_SESSION,
	LIVE_INPUT_SEARCH,
	LIVE_INPUT_FILTER,
};

/* Size of &live_state.session in bytes, and the maximum number of sessions in the menu. */
#define LIVE_SESSION_SIZE 64
#define LIVE_SESSIONS_MAX 64

/**
 * struct live_state - the state
 * @level: the levels from the outermost to the shown one; @levels is their number
 * @sort: order of rows
 * @period: LIVE_INTERVAL, or 1 + &enum view_span
 * @session: name of the session
 * @session_name: names of all sessions; @sessions is their number, 0 before LIVE_SESSIONS
 * @filter: the filter of rows
 * @search: the last text that was searched for; "" for none
 * @overlay: what is shown instead of the rows
 * @menu: index of the chosen item of a menu
 * @scroll: first line of help or details, or first item of a menu
 * @input: text that is being typed
 * @seeks: whether to scroll to the instruction with most samples once the instructions are known
 * @paused: whether to query no new data
 * @message: an error of the last key; "" for none
 * @page: number of lines between heading and hints, set by live_state_scroll_to_cursor()
 */
struct live_state {
	struct live_level level[LIVE_LEVELS_MAX];
	u32 levels;
	enum view_sort sort;
	u32 period;
	char session[LIVE_SESSION_SIZE];
	char session_name[LIVE_SESSIONS_MAX][LIVE_SESSION_SIZE];
	u32 sessions;
	struct live_filter filter;
	char search[LIVE_TEXT_SIZE];
	enum live_overlay overlay;
	u32 menu;
	u32 scroll;
	char input[LIVE_TEXT_SIZE];
	bool seeks;
	bool paused;
	char message[256];
	u32 page;
};

/**
 * live_state_init() - begin with one level
 * @group, @sort: what the rows represent, and their order
 * @period: LIVE_INTERVAL, or 1 + &enum view_span
 */
void live_state_init(struct live_state *state, enum view_group group, enum view_sort sort,
		     u32 period);

/** live_state_get_level() - return the shown level */
struct live_level *live_state_get_level(struct live_state *state);
const struct live_level *live_state_get_level_const(const struct live_state *state);

/**
 * live_state_handle_key() - update the state for a key
 * @key: a Unicode character, or &enum live_key
 * @rows: the shown rows, from live_rows_select()
 *
 * Return: bits of &enum live_effect.
 */
u32 live_state_handle_key(struct live_state *state, u32 key, const struct view *rows);

/** live_state_add_session() - append a name to the menu of sessions */
void live_state_add_session(struct live_state *state, const char *name);

/**
 * live_state_follow_chosen_row() - move the cursor to the chosen row after rows were selected again
 *
 * Before the user has chosen a row, the cursor stays on the first one. If the chosen row is
 * missing, the cursor stays on the same line.
 */
void live_state_follow_chosen_row(struct live_state *state, const struct view *rows);

/**
 * live_state_scroll_to_cursor() - scroll so that the cursor is on the screen
 * @page: number of lines between heading and hints
 * @count: number of rows, or of lines of help or details if these are shown
 */
void live_state_scroll_to_cursor(struct live_state *state, u32 page, u32 count);

/** live_state_has_page() - return whether lines of text such as help are shown instead of rows */
bool live_state_has_page(const struct live_state *state);

/** live_state_has_menu(), live_state_has_input() - return whether a menu, or an input, is open */
bool live_state_has_menu(const struct live_state *state);
bool live_state_has_input(const struct live_state *state);

/** live_menu_count_items() - return the number of items of the menu that is open */
u32 live_menu_count_items(const struct live_state *state);

/**
 * live_menu_get_item() - return an item of the menu that is open
 * @i: index of the item
 * @ret_current: whether the item is in use now
 */
const char *live_menu_get_item(const struct live_state *state, u32 i, bool *ret_current);

/**
 * live_get_counted_period() - return the period of pages that show no last interval: it is replaced
 * by all samples since the start
 */
u32 live_get_counted_period(const struct live_state *state);

/** live_period_name() - return a static text such as "last interval" or "since start" */
const char *live_period_name(u32 period);

/** live_group_get_plural() - return a static text such as "containers" */
const char *live_group_get_plural(enum view_group group);

/** live_row_is_same() - return whether two rows of one group have the same names */
bool live_row_is_same(const struct view_row *a, const struct view_row *b);

/**
 * live_rows_select() - select the rows of the shown level from the last replies
 * @now: the last reply
 * @before: the previous reply to the same query; without rows if there is none
 * @ret_rows: the rows, which the caller clears by view_clear(); unchanged on failure
 *
 * For the last interval, the rows are the difference of both replies, unless sampling is stopped.
 *
 * Return: 0; -ENOMEM if memory cannot be allocated.
 */
int live_rows_select(const struct live_state *state, const struct view *now,
		     const struct view *before, struct view *ret_rows);

#endif
