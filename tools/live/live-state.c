// SPDX-License-Identifier: LGPL-2.1-or-later
#include "live-state.h"

#include <stdio.h>

#include "lib/bus.h"
#include "lib/delta.h"
#include "query/query-names.h"

struct live_level *live_state_get_level(struct live_state *state)
{
	return &state->level[state->levels - 1];
}

const struct live_level *live_state_get_level_const(const struct live_state *state)
{
	return &state->level[state->levels - 1];
}

static enum view_span get_view_span(u32 period)
{
	return period == LIVE_INTERVAL ? VIEW_SPAN_START : period - 1;
}

/* Rows of a period can be sorted by fewer measures than rows since the start. */
static void limit_sort_to_period(struct live_state *state)
{
	if (!view_sort_is_supported(state->sort, get_view_span(state->period),
				    live_state_get_level(state)->group))
		state->sort = VIEW_SORT_SAMPLES;
}

void live_state_init(struct live_state *state, enum view_group group, enum view_sort sort,
		     u32 period)
{
	*state = (struct live_state){ .levels = 1, .sort = sort, .period = period, .page = 1 };
	state->level[0].group = group;
	snprintf(state->session, sizeof(state->session), "machine");
	limit_sort_to_period(state);
}

u32 live_get_counted_period(const struct live_state *state)
{
	return 1 + get_view_span(state->period);
}

const char *live_period_name(u32 period)
{
	static const char *const names[LIVE_PERIODS] = {
		[LIVE_INTERVAL] = "last interval",	 [1 + VIEW_SPAN_START] = "since start",
		[1 + VIEW_SPAN_10S] = "last 10 s",	 [1 + VIEW_SPAN_1M] = "last minute",
		[1 + VIEW_SPAN_10M] = "last 10 minutes",
	};

	return names[period];
}

const char *live_group_get_plural(enum view_group group)
{
	static const char *const names[VIEW_GROUPS] = {
		[VIEW_FUNCTION] = "functions",	 [VIEW_PROCESS] = "processes",
		[VIEW_CONTAINER] = "containers", [VIEW_LINE] = "lines",
		[VIEW_PROGRAM] = "programs",	 [VIEW_BINARY] = "binaries",
	};

	return names[group];
}

bool live_row_is_same(const struct view_row *a, const struct view_row *b)
{
	return a->pid == b->pid && a->line == b->line && !strcmp(a->function, b->function) &&
	       !strcmp(a->file, b->file) && !strcmp(a->container, b->container) &&
	       !strcmp(a->process, b->process) && !strcmp(a->binary, b->binary);
}

/* ---- Rows ----------------------------------------------------------------------- */

/* Return the LIVE_* names that rows of a group have. */
static u32 get_group_names(enum view_group group)
{
	switch (group) {
	case VIEW_CONTAINER:
		return LIVE_CONTAINER;
	case VIEW_PROCESS:
		return LIVE_CONTAINER | LIVE_PID;
	case VIEW_PROGRAM:
		return LIVE_CONTAINER | LIVE_PROGRAM;
	case VIEW_BINARY:
		return LIVE_BINARY;
	default:
		return LIVE_CONTAINER | LIVE_PROGRAM | LIVE_BINARY | LIVE_FUNCTION;
	}
}

static bool row_is_in_level(const struct live_level *level, const struct view_row *row)
{
	u32 fixed = level->fixed & get_group_names(level->group);
	const struct view_row *names = &level->names;

	return !((fixed & LIVE_PID && row->pid != names->pid) ||
		 (fixed & LIVE_CONTAINER &&
		  !query_name_matches(names->container, row->container)) ||
		 (fixed & LIVE_PROGRAM && strcmp(row->process, names->process)) ||
		 (fixed & LIVE_BINARY && strcmp(row->binary, names->binary)) ||
		 (fixed & LIVE_FUNCTION && strcmp(row->function, names->function)));
}

int live_rows_select(const struct live_state *state, const struct view *now,
		     const struct view *before, struct view *ret_rows)
{
	static const struct view nothing;
	const struct live_level *level = live_state_get_level_const(state);
	bool whole = state->period != LIVE_INTERVAL || !now->header.running;
	struct view rows;
	u32 kept = 0;
	int r;

	r = delta_compute_view(now, whole ? &nothing : before,
			       !whole && before->count == BUS_ROWS_MAX, state->sort, &rows);
	if (r < 0)
		return r;
	for (u32 i = 0; i < rows.count; i++) {
		if (!row_is_in_level(level, &rows.rows[i]) ||
		    !live_filter_accepts(&state->filter, &rows.rows[i]))
			continue;
		if (kept != i)
			rows.rows[kept] = rows.rows[i];
		kept++;
	}
	rows.count = kept;
	*ret_rows = rows;
	return 0;
}

void live_state_follow_chosen_row(struct live_state *state, const struct view *rows)
{
	struct live_level *level = live_state_get_level(state);

	for (u32 i = 0; level->is_chosen && i < rows->count; i++) {
		if (!live_row_is_same(&rows->rows[i], &level->chosen))
			continue;
		level->cursor = i;
		level->chosen = rows->rows[i];
		return;
	}
	if (!level->is_chosen)
		level->cursor = 0;
	if (level->cursor >= rows->count)
		level->cursor = rows->count ? rows->count - 1 : 0;
	/*
	 * If the row has no samples now, its details stay those of the last reply that contained
	 * it.
	 */
	if (rows->count && !level->detail)
		level->chosen = rows->rows[level->cursor];
}

bool live_state_has_menu(const struct live_state *state)
{
	return state->overlay >= LIVE_MENU_SORT && state->overlay <= LIVE_MENU_SESSION;
}

bool live_state_has_input(const struct live_state *state)
{
	return state->overlay == LIVE_INPUT_SEARCH || state->overlay == LIVE_INPUT_FILTER;
}

bool live_state_has_page(const struct live_state *state)
{
	return state->overlay == LIVE_HELP ||
	       (live_state_get_level_const(state)->detail && !live_state_has_menu(state));
}

/*
 * Scroll so that @cursor is among the @page lines from *first on. Lines stay empty only if there
 * are fewer than @page rows.
 */
static void fit_scroll(u32 cursor, u32 count, u32 page, u32 *first)
{
	if (*first > cursor)
		*first = cursor;
	if (cursor >= *first + page)
		*first = cursor - page + 1;
	if (*first + page > count)
		*first = count > page ? count - page : 0;
}

void live_state_scroll_to_cursor(struct live_state *state, u32 page, u32 count)
{
	struct live_level *level = live_state_get_level(state);

	state->page = page ? page : 1;
	if (live_state_has_menu(state))
		fit_scroll(state->menu, live_menu_count_items(state), state->page, &state->scroll);
	else if (live_state_has_page(state))
		fit_scroll(state->scroll, count, state->page, &state->scroll);
	else
		fit_scroll(level->cursor, count, state->page, &level->first);
}

/* ---- Menus ---------------------------------------------------------------------- */

/*
 * Return the sort order of item @i of the menu, which has only the orders that are available for
 * the rows.
 */
static enum view_sort get_menu_sort(const struct live_state *state, u32 i)
{
	enum view_group group = live_state_get_level_const(state)->group;
	u32 at = 0;

	for (enum view_sort sort = 0; sort < VIEW_SORTS; sort++)
		if (view_sort_is_supported(sort, get_view_span(state->period), group) && at++ == i)
			return sort;
	return VIEW_SORTS;
}

u32 live_menu_count_items(const struct live_state *state)
{
	u32 count = 0;

	switch (state->overlay) {
	case LIVE_MENU_SORT:
		while (get_menu_sort(state, count) != VIEW_SORTS)
			count++;
		return count;
	case LIVE_MENU_GROUP:
		return VIEW_GROUPS;
	case LIVE_MENU_PERIOD:
		return LIVE_PERIODS;
	case LIVE_MENU_SESSION:
		return state->sessions;
	default:
		return 0;
	}
}

const char *live_menu_get_item(const struct live_state *state, u32 i, bool *ret_current)
{
	enum view_sort sort;

	switch (state->overlay) {
	case LIVE_MENU_SORT:
		sort = get_menu_sort(state, i);
		*ret_current = sort == state->sort;
		return view_sort_name(sort);
	case LIVE_MENU_GROUP:
		*ret_current = i == live_state_get_level_const(state)->group;
		return live_group_get_plural(i);
	case LIVE_MENU_PERIOD:
		*ret_current = i == state->period;
		return live_period_name(i);
	default:
		*ret_current = !strcmp(state->session_name[i], state->session);
		return state->session_name[i];
	}
}

/* Open a menu with the cursor on the item that is in use. */
static void menu_open(struct live_state *state, enum live_overlay menu)
{
	bool current = false;

	state->overlay = menu;
	state->scroll = 0;
	state->menu = 0;
	for (u32 i = 0; i < live_menu_count_items(state); i++) {
		live_menu_get_item(state, i, &current);
		if (current)
			state->menu = i;
	}
}

/* Show the rows of another group, from their top. */
static void level_set_group(struct live_level *level, enum view_group group)
{
	level->group = group;
	level->cursor = 0;
	level->first = 0;
	level->is_chosen = false;
	level->detail = false;
	level->annotated = false;
}

/*
 * Show another session, from its outermost level: the names of inner levels may not exist in its
 * rows.
 */
static void switch_session(struct live_state *state, const char *name)
{
	snprintf(state->session, sizeof(state->session), "%s", name);
	level_set_group(&state->level[0], state->level[0].group);
	state->levels = 1;
}

void live_state_add_session(struct live_state *state, const char *name)
{
	if (state->sessions == LIVE_SESSIONS_MAX)
		return;
	snprintf(state->session_name[state->sessions], LIVE_SESSION_SIZE, "%s", name);
	if (state->overlay == LIVE_MENU_SESSION && !strcmp(name, state->session))
		state->menu = state->sessions;
	state->sessions++;
}

static u32 menu_apply_item(struct live_state *state)
{
	enum live_overlay menu = state->overlay;
	u32 i = state->menu;

	if (i >= live_menu_count_items(state))
		return 0;
	if (menu == LIVE_MENU_SORT)
		state->sort = get_menu_sort(state, i);
	else if (menu == LIVE_MENU_GROUP)
		level_set_group(live_state_get_level(state), i);
	else if (menu == LIVE_MENU_PERIOD)
		state->period = i;
	else
		switch_session(state, state->session_name[i]);
	state->overlay = LIVE_NO_OVERLAY;
	limit_sort_to_period(state);
	return menu == LIVE_MENU_SORT ? LIVE_SELECT : LIVE_FETCH;
}

/* ---- Keys ----------------------------------------------------------------------- */

/*
 * Return the line to which a key moves from @at among @count lines; UINT32_MAX if the key does not
 * move.
 */
static u32 compute_moved_line(u32 key, u32 at, u32 count, u32 page)
{
	u32 last = count ? count - 1 : 0;

	switch (key) {
	case 'k':
	case LIVE_KEY_UP:
		return at - (at > 0);
	case 'j':
	case LIVE_KEY_DOWN:
		return at + (at < last);
	case LIVE_KEY_PAGE_UP:
		return at > page ? at - page : 0;
	case LIVE_KEY_PAGE_DOWN:
		return at + page < last ? at + page : last;
	case LIVE_KEY_HOME:
		return 0;
	case LIVE_KEY_END:
		return last;
	default:
		return UINT32_MAX;
	}
}

static void choose_row(struct live_state *state, u32 i, const struct view *rows)
{
	struct live_level *level = live_state_get_level(state);

	level->cursor = i;
	level->is_chosen = rows->count > 0;
	if (rows->count)
		level->chosen = rows->rows[i];
}

/*
 * Choose the next row that contains the searched text, or the previous one if @backwards is true.
 * After the last row, the search continues at the first one.
 */
static void search_row(struct live_state *state, const struct view *rows, bool backwards)
{
	u32 at = live_state_get_level(state)->cursor;

	if (!*state->search)
		return;
	for (u32 i = 0; i < rows->count; i++) {
		at = backwards ? (at ? at : rows->count) - 1 : (at + 1) % rows->count;
		if (live_row_contains(&rows->rows[at], state->search)) {
			choose_row(state, at, rows);
			return;
		}
	}
	snprintf(state->message, sizeof(state->message), "no row contains \"%s\"", state->search);
}

/* Show a page about the chosen row: its instructions if @annotated is true, else its details. */
static u32 page_open(struct live_state *state, bool annotated)
{
	struct live_level *level = live_state_get_level(state);

	level[1] = *level;
	level[1].detail = true;
	level[1].annotated = annotated;
	level[1].is_chosen = true;
	state->levels++;
	state->scroll = 0;
	state->seeks = annotated;
	return annotated ? LIVE_ANNOTATE : LIVE_HISTOGRAMS;
}

/* Show the instructions of the chosen function. If they are shown already, query them again. */
static u32 level_annotate(struct live_state *state, const struct view *rows)
{
	struct live_level *level = live_state_get_level(state);

	if (level->annotated)
		return LIVE_ANNOTATE;
	if (level->group != VIEW_FUNCTION && level->group != VIEW_LINE) {
		snprintf(state->message, sizeof(state->message),
			 "only functions have instructions; Enter or g shows functions");
		return 0;
	}
	if ((!level->detail && level->cursor >= rows->count) || state->levels == LIVE_LEVELS_MAX)
		return 0;
	if (!level->detail)
		choose_row(state, level->cursor, rows);
	return page_open(state, true);
}

/* Show the rows that the chosen row consists of; @detail: show its details instead. */
static u32 level_descend(struct live_state *state, const struct view *rows, bool detail)
{
	/*
	 * The group of the rows that Enter shows for a row of each group; VIEW_GROUPS: its details.
	 */
	static const struct {
		enum view_group group;
		u32 fixed;
	} parts[VIEW_GROUPS] = {
		[VIEW_CONTAINER] = { VIEW_PROGRAM, LIVE_CONTAINER },
		[VIEW_PROGRAM] = { VIEW_FUNCTION, LIVE_CONTAINER | LIVE_PROGRAM },
		[VIEW_BINARY] = { VIEW_FUNCTION, LIVE_BINARY },
		[VIEW_FUNCTION] = { VIEW_LINE,
				    LIVE_CONTAINER | LIVE_PROGRAM | LIVE_BINARY | LIVE_FUNCTION },
		[VIEW_LINE] = { VIEW_GROUPS, 0 },
		[VIEW_PROCESS] = { VIEW_GROUPS, 0 },
	};
	struct live_level *level = live_state_get_level(state), *below = level + 1;

	if (level->detail || level->cursor >= rows->count || state->levels == LIVE_LEVELS_MAX)
		return 0;
	choose_row(state, level->cursor, rows);
	if (detail || parts[level->group].group == VIEW_GROUPS)
		return page_open(state, false);
	*below = (struct live_level){ .fixed = level->fixed | parts[level->group].fixed,
				      .group = parts[level->group].group,
				      .names = level->chosen };
	state->levels++;
	limit_sort_to_period(state);
	return LIVE_FETCH;
}

/*
 * Show the level above. On the outermost level, show rows of the group that contains the present
 * one.
 */
static u32 level_ascend(struct live_state *state)
{
	static const enum view_group wider[VIEW_GROUPS] = {
		[VIEW_LINE] = VIEW_FUNCTION,	 [VIEW_FUNCTION] = VIEW_PROGRAM,
		[VIEW_PROGRAM] = VIEW_CONTAINER, [VIEW_PROCESS] = VIEW_CONTAINER,
		[VIEW_BINARY] = VIEW_CONTAINER,	 [VIEW_CONTAINER] = VIEW_CONTAINER,
	};
	struct live_level *level = live_state_get_level(state);
	bool detail = level->detail;

	state->scroll = 0;
	if (state->levels > 1) {
		state->levels--;
		limit_sort_to_period(state);
		return detail ? LIVE_SELECT : LIVE_FETCH;
	}
	if (level->group == VIEW_CONTAINER)
		return 0;
	level_set_group(level, wider[level->group]);
	limit_sort_to_period(state);
	return LIVE_FETCH;
}

static u32 menu_handle_key(struct live_state *state, u32 key)
{
	u32 to = compute_moved_line(key, state->menu, live_menu_count_items(state), state->page);

	if (to != UINT32_MAX)
		state->menu = to;
	else if (key == LIVE_KEY_ENTER || key == LIVE_KEY_RIGHT)
		return menu_apply_item(state);
	else if (key == LIVE_KEY_ESCAPE || key == LIVE_KEY_BACKSPACE || key == LIVE_KEY_LEFT ||
		 key == 'q')
		state->overlay = LIVE_NO_OVERLAY;
	return 0;
}

static u32 input_finish(struct live_state *state, const struct view *rows)
{
	bool filters = state->overlay == LIVE_INPUT_FILTER;

	state->overlay = LIVE_NO_OVERLAY;
	if (!filters) {
		snprintf(state->search, sizeof(state->search), "%s", state->input);
		search_row(state, rows, false);
		return 0;
	}
	live_filter_parse(state->input, &state->filter, state->message, sizeof(state->message));
	return LIVE_SELECT;
}

/* Append a character as UTF-8. */
static void input_append(char *text, size_t size, u32 c)
{
	size_t length = strlen(text), bytes = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const u8 lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	if (length + bytes >= size)
		return;
	for (size_t i = bytes; i-- > 1; c >>= 6)
		text[length + i] = (char)(0x80 | (c & 0x3f));
	text[length] = (char)(lead[bytes] | c);
	text[length + bytes] = 0;
}

static u32 input_handle_key(struct live_state *state, u32 key, const struct view *rows)
{
	size_t length = strlen(state->input);

	if (key == LIVE_KEY_ENTER)
		return input_finish(state, rows);
	if (key == LIVE_KEY_ESCAPE || (key == LIVE_KEY_BACKSPACE && !length)) {
		state->overlay = LIVE_NO_OVERLAY;
	} else if (key == LIVE_KEY_BACKSPACE) {
		while (length > 1 && (state->input[length - 1] & 0xc0) == 0x80)
			length--;
		state->input[length - 1] = 0;
	} else if (key == ('u' & 0x1f)) {
		state->input[0] = 0;
	} else if (key >= ' ' && key != 0x7f && key < LIVE_KEY_UP) {
		input_append(state->input, sizeof(state->input), key);
	}
	return 0;
}

static void input_open(struct live_state *state, enum live_overlay input)
{
	state->overlay = input;
	snprintf(state->input, sizeof(state->input), "%s",
		 input == LIVE_INPUT_FILTER ? state->filter.text : "");
}

static u32 page_handle_key(struct live_state *state, u32 key)
{
	/* live_state_scroll_to_cursor() later limits the value to the last page. */
	u32 to = compute_moved_line(key, state->scroll, UINT16_MAX, state->page);

	if (to == UINT32_MAX)
		return UINT32_MAX;
	state->scroll = to;
	state->seeks = false;
	return 0;
}

/* Handle a key that opens a menu, an input or the help. Return UINT32_MAX for any other key. */
static u32 open_overlay_by_key(struct live_state *state, u32 key)
{
	switch (key) {
	case 's':
		menu_open(state, LIVE_MENU_SORT);
		return 0;
	case 'g':
		menu_open(state, LIVE_MENU_GROUP);
		return 0;
	case 'w':
		menu_open(state, LIVE_MENU_PERIOD);
		return 0;
	case 'S':
		state->sessions = 0;
		menu_open(state, LIVE_MENU_SESSION);
		return LIVE_SESSIONS;
	case '/':
		input_open(state, LIVE_INPUT_SEARCH);
		return 0;
	case 'f':
		input_open(state, LIVE_INPUT_FILTER);
		return 0;
	case '?':
	case 'h':
		state->overlay = LIVE_HELP;
		state->scroll = 0;
		return 0;
	default:
		return UINT32_MAX;
	}
}

static u32 rows_handle_key(struct live_state *state, u32 key, const struct view *rows)
{
	struct live_level *level = live_state_get_level(state);
	u32 to = level->detail ? page_handle_key(state, key) :
				 compute_moved_line(key, level->cursor, rows->count, state->page);

	if (to != UINT32_MAX && !level->detail) {
		choose_row(state, to, rows);
		/* On the first row, the cursor follows no row: it stays on the heaviest row. */
		level->is_chosen = key != LIVE_KEY_HOME;
	}
	if (to != UINT32_MAX)
		return 0;
	switch (key) {
	case 'q':
	case 'Q':
		return LIVE_QUIT;
	case LIVE_KEY_ENTER:
	case LIVE_KEY_RIGHT:
		return level_descend(state, rows, false);
	case 'i':
		return level_descend(state, rows, true);
	case 'a':
		return level_annotate(state, rows);
	case LIVE_KEY_ESCAPE:
	case LIVE_KEY_BACKSPACE:
	case LIVE_KEY_LEFT:
		return level_ascend(state);
	case 'n':
	case 'N':
		if (!level->detail)
			search_row(state, rows, key == 'N');
		return 0;
	case 'p':
	case ' ':
		state->paused = !state->paused;
		return state->paused ? 0 : LIVE_FETCH;
	default:
		return 0;
	}
}

u32 live_state_handle_key(struct live_state *state, u32 key, const struct view *rows)
{
	u32 effects;

	if (key == LIVE_KEY_CLOSED)
		return LIVE_QUIT;
	if (key == LIVE_KEY_RESIZE || key == LIVE_KEY_NONE)
		return 0;
	state->message[0] = 0;
	if (live_state_has_menu(state))
		return menu_handle_key(state, key);
	if (live_state_has_input(state))
		return input_handle_key(state, key, rows);
	if (state->overlay == LIVE_HELP) {
		if (page_handle_key(state, key) == UINT32_MAX) {
			state->overlay = LIVE_NO_OVERLAY;
			state->scroll = 0;
		}
		return 0;
	}
	effects = open_overlay_by_key(state, key);
	return effects != UINT32_MAX ? effects : rows_handle_key(state, key, rows);
}
