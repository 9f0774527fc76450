// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test the state, the filter and the layout of the live view. */
#include "test.h"

#include <stdlib.h>

#include "lib/bus.h"
#include "lib/text.h"
#include "live/live-screen.h"

#define ROWS 40

static struct view_row rows[ROWS];
/* What draw_screen() shows as the instructions of the chosen function. */
static struct live_instructions instructions;

static struct view_row make_row(u32 i)
{
	struct view_row row = {
		.samples = 1000 - i, .memory = 100, .dram = i, .p50 = 20, .p99 = 90
	};

	snprintf(row.container, sizeof(row.container), i % 2 ? "web" : "db");
	snprintf(row.process, sizeof(row.process), i % 2 ? "nginx" : "postgres");
	snprintf(row.function, sizeof(row.function), "fn_%02u", i);
	snprintf(row.binary, sizeof(row.binary), "/bin/b%u", i % 3);
	return row;
}

static struct view make_view(void)
{
	struct view view = { .header = { .running = true, .records = 20000, .cpus = 4 },
			     .count = ROWS,
			     .rows = rows };

	snprintf(view.header.source, sizeof(view.header.source), "module");
	for (u32 i = 0; i < ROWS; i++)
		rows[i] = make_row(i);
	return view;
}

static void test_filter_words(void **state)
{
	static const struct {
		const char *text;
		u32 row;
		bool accepts;
	} cases[] = {
		{ "", 3, true },
		{ "   ", 3, true },
		{ "fn_0", 3, true },
		{ "FN_03", 3, true },
		{ "fn_03x", 3, false },
		{ "fn_?3", 3, true },
		{ "n_03*", 3, false },
		{ "container=web", 3, true },
		{ "container=we", 3, false },
		{ "program=ngin*", 3, true },
		{ "process=ngin*", 2, false },
		{ "binary!=*b0", 3, false },
		{ "binary!=*b0", 4, true },
		{ "!web", 3, false },
		{ "!web", 2, true },
		{ "!container!=web", 3, true },
		{ "samples>996", 3, true },
		{ "samples>997", 3, false },
		{ "dram<3", 3, false },
		{ "dram<4 container=web fn", 3, true },
		{ "dram<4 container=db fn", 3, false },
		/* The word names no measure, so "<" is a part of a C++ name. */
		{ "vector<int>", 3, false },
	};
	struct live_filter filter;
	char error[128];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct view_row row = make_row(cases[i].row);

		test_row("%s", cases[i].text);
		assert_row(live_filter_parse(cases[i].text, &filter, error, sizeof(error)) == 0);
		assert_row(live_filter_accepts(&filter, &row) == cases[i].accepts);
	}
}

static void test_filter_errors(void **state)
{
	static const char *const wrong[] = { "colour=red", "=x", "!", "a b c d e f g h i" };
	struct live_filter filter = { .text = "before" };
	char error[128];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		test_row("%s", wrong[i]);
		error[0] = 0;
		assert_row(live_filter_parse(wrong[i], &filter, error, sizeof(error)) == -EINVAL);
		assert_row(*error && !strcmp(filter.text, "before"));
	}
}

/*
 * Press keys, and return the effects of the last one. Rows are selected in the same way as in the
 * live view.
 */
static u32 press_keys(struct live_state *state, const u32 *keys, size_t count, struct view *shown)
{
	static const struct view nothing;
	u32 effects = 0;

	for (size_t i = 0; i < count; i++) {
		struct view now = make_view(), selected;

		effects = live_state_handle_key(state, keys[i], shown);
		assert_int_equal(live_rows_select(state, &now, &nothing, &selected), 0);
		view_clear(shown);
		*shown = selected;
		live_state_follow_chosen_row(state, shown);
		live_state_scroll_to_cursor(state, 10, shown->count);
	}
	return effects;
}

#define PRESS(state, shown, ...)                        \
	press_keys(state, (const u32[]){ __VA_ARGS__ }, \
		   sizeof((const u32[]){ __VA_ARGS__ }) / sizeof(u32), shown)

static void start_view(struct live_state *state, struct view *shown)
{
	static const struct view nothing;
	struct view now = make_view();

	live_state_init(state, VIEW_FUNCTION, VIEW_SORT_SAMPLES, 1 + VIEW_SPAN_START);
	assert_int_equal(live_rows_select(state, &now, &nothing, shown), 0);
	live_state_follow_chosen_row(state, shown);
	live_state_scroll_to_cursor(state, 10, shown->count);
}

static void cursor_moves(void **state)
{
	static const struct {
		u32 key;
		u32 cursor;
		u32 first;
	} steps[] = {
		{ LIVE_KEY_UP, 0, 0 },
		{ LIVE_KEY_DOWN, 1, 0 },
		{ 'j', 2, 0 },
		{ 'k', 1, 0 },
		{ LIVE_KEY_PAGE_DOWN, 11, 2 },
		{ LIVE_KEY_PAGE_UP, 1, 1 },
		{ LIVE_KEY_END, 39, 30 },
		{ LIVE_KEY_DOWN, 39, 30 },
		{ LIVE_KEY_PAGE_DOWN, 39, 30 },
		{ LIVE_KEY_UP, 38, 30 },
		{ LIVE_KEY_HOME, 0, 0 },
		{ LIVE_KEY_PAGE_UP, 0, 0 },
		{ LIVE_KEY_RESIZE, 0, 0 },
		{ 0x1f600, 0, 0 },
	};
	struct live_state live;
	struct view shown;

	(void)state;
	start_view(&live, &shown);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		test_row("step %zu", i);
		assert_row(PRESS(&live, &shown, steps[i].key) == 0);
		assert_row(live.level[0].cursor == steps[i].cursor);
		assert_row(live.level[0].first == steps[i].first);
	}
	assert_int_equal(PRESS(&live, &shown, 'q'), LIVE_QUIT);
	assert_int_equal(PRESS(&live, &shown, LIVE_KEY_CLOSED), LIVE_QUIT);
	view_clear(&shown);
}

/* The cursor stays on the chosen row or, before a row was chosen, on the first row. */
static void cursor_follows_row(void **state)
{
	static const struct view nothing;
	struct view shown, now, later;
	struct live_state live;

	(void)state;
	start_view(&live, &shown);
	now = make_view();
	rows[5].samples = 5000;
	assert_int_equal(live_rows_select(&live, &now, &nothing, &later), 0);
	live_state_follow_chosen_row(&live, &later);
	assert_int_equal(live.level[0].cursor, 0);
	assert_string_equal(live.level[0].chosen.function, "fn_05");
	live_state_handle_key(&live, LIVE_KEY_DOWN, &later);
	assert_string_equal(live.level[0].chosen.function, "fn_00");
	live_state_follow_chosen_row(&live, &shown);
	assert_int_equal(live.level[0].cursor, 0);
	live_state_follow_chosen_row(&live, &nothing);
	assert_int_equal(live.level[0].cursor, 0);
	view_clear(&later);
	view_clear(&shown);
}

static void levels_go_down_and_up(void **state)
{
	struct live_state live;
	struct view shown;

	(void)state;
	start_view(&live, &shown);
	assert_int_equal(PRESS(&live, &shown, LIVE_KEY_ESCAPE), LIVE_FETCH);
	assert_int_equal(live.level[0].group, VIEW_PROGRAM);
	assert_int_equal(PRESS(&live, &shown, LIVE_KEY_BACKSPACE), LIVE_FETCH);
	assert_int_equal(live.level[0].group, VIEW_CONTAINER);
	assert_int_equal(PRESS(&live, &shown, LIVE_KEY_LEFT), 0);
	/* The second row is a row of container "web". */
	assert_int_equal(PRESS(&live, &shown, LIVE_KEY_DOWN, LIVE_KEY_ENTER), LIVE_FETCH);
	assert_int_equal(live.level[1].group, VIEW_PROGRAM);
	assert_int_equal(shown.count, ROWS / 2);
	assert_string_equal(shown.rows[0].container, "web");
	assert_int_equal(PRESS(&live, &shown, LIVE_KEY_RIGHT), LIVE_FETCH);
	assert_int_equal(live.level[2].group, VIEW_FUNCTION);
	assert_int_equal(live.level[2].fixed, LIVE_CONTAINER | LIVE_PROGRAM);
	assert_int_equal(PRESS(&live, &shown, LIVE_KEY_DOWN, LIVE_KEY_ENTER), LIVE_FETCH);
	assert_int_equal(live.level[3].group, VIEW_LINE);
	assert_int_equal(shown.count, 1);
	assert_string_equal(shown.rows[0].function, "fn_03");
	assert_int_equal(PRESS(&live, &shown, LIVE_KEY_ENTER), LIVE_HISTOGRAMS);
	assert_true(live.level[4].detail);
	assert_string_equal(live.level[4].chosen.function, "fn_03");
	assert_true(live_state_has_page(&live));
	assert_int_equal(PRESS(&live, &shown, LIVE_KEY_ENTER), 0);
	assert_int_equal(PRESS(&live, &shown, LIVE_KEY_ESCAPE), LIVE_SELECT);
	assert_int_equal(PRESS(&live, &shown, LIVE_KEY_ESCAPE), LIVE_FETCH);
	assert_int_equal(live.levels, 3);
	assert_int_equal(live.level[2].cursor, 1);
	assert_int_equal(PRESS(&live, &shown, 'i'), LIVE_HISTOGRAMS);
	assert_int_equal(live.levels, 4);
	view_clear(&shown);
}

static void menus_choose_items(void **state)
{
	struct live_state live;
	struct view shown;

	(void)state;
	start_view(&live, &shown);
	PRESS(&live, &shown, 's');
	assert_int_equal(live_menu_count_items(&live), VIEW_SORTS);
	assert_int_equal(PRESS(&live, &shown, LIVE_KEY_DOWN, LIVE_KEY_DOWN, LIVE_KEY_ENTER),
			 LIVE_SELECT);
	assert_int_equal(live.sort, VIEW_SORT_DRAM);
	assert_string_equal(shown.rows[0].function, "fn_39");
	PRESS(&live, &shown, 's', LIVE_KEY_END, LIVE_KEY_ENTER);
	assert_int_equal(live.sort, VIEW_SORT_TRANSLATION_P99);
	/* Functions of a period have no percentiles. */
	PRESS(&live, &shown, 'w');
	assert_int_equal(live.menu, 1 + VIEW_SPAN_START);
	assert_int_equal(PRESS(&live, &shown, LIVE_KEY_DOWN, LIVE_KEY_ENTER), LIVE_FETCH);
	assert_int_equal(live.period, 1 + VIEW_SPAN_10S);
	assert_int_equal(live.sort, VIEW_SORT_SAMPLES);
	PRESS(&live, &shown, 's');
	assert_true(live_menu_count_items(&live) < VIEW_SORTS);
	PRESS(&live, &shown, LIVE_KEY_ESCAPE, 'g');
	assert_int_equal(live.menu, VIEW_FUNCTION);
	assert_int_equal(PRESS(&live, &shown, 'j', LIVE_KEY_RIGHT), LIVE_FETCH);
	assert_int_equal(live.level[0].group, VIEW_PROCESS);
	assert_int_equal(PRESS(&live, &shown, 'S'), LIVE_SESSIONS);
	assert_int_equal(PRESS(&live, &shown, LIVE_KEY_ENTER), 0);
	live_state_add_session(&live, "idle");
	live_state_add_session(&live, "machine");
	assert_int_equal(live.menu, 1);
	assert_int_equal(PRESS(&live, &shown, 'k', LIVE_KEY_ENTER), LIVE_FETCH);
	assert_string_equal(live.session, "idle");
	for (u32 i = 0; i < LIVE_SESSIONS_MAX * 2; i++)
		live_state_add_session(&live, "more");
	assert_int_equal(live.sessions, LIVE_SESSIONS_MAX);
	view_clear(&shown);
}

static void keys_edit_texts(void **state)
{
	struct live_state live;
	struct view shown;

	(void)state;
	start_view(&live, &shown);
	PRESS(&live, &shown, '/', '_', '2', 0xe9, LIVE_KEY_BACKSPACE, '1', LIVE_KEY_ENTER);
	assert_string_equal(live.search, "_21");
	assert_int_equal(live.level[0].cursor, 21);
	PRESS(&live, &shown, '/', '_', '3', LIVE_KEY_ENTER, 'n', 'n', 'N');
	assert_int_equal(live.level[0].cursor, 31);
	PRESS(&live, &shown, '/', 'z', 'z', LIVE_KEY_ENTER);
	assert_string_equal(live.message, "no row contains \"zz\"");
	assert_int_equal(PRESS(&live, &shown, 'f', '_', '3', LIVE_KEY_ENTER), LIVE_SELECT);
	assert_string_equal(live.message, "");
	assert_int_equal(shown.count, 10);
	PRESS(&live, &shown, 'f', LIVE_KEY_BACKSPACE, LIVE_KEY_BACKSPACE, 'x', LIVE_KEY_ESCAPE);
	assert_string_equal(live.filter.text, "_3");
	PRESS(&live, &shown, 'f', 'u' & 0x1f, 0x20ac, 0x1f600, LIVE_KEY_ENTER);
	assert_string_equal(live.filter.text, "\u20ac\U0001f600");
	assert_int_equal(shown.count, 0);
	/* Without rows, these keys have no effect. */
	assert_int_equal(PRESS(&live, &shown, LIVE_KEY_ENTER), 0);
	PRESS(&live, &shown, 'i', 'n', LIVE_KEY_END, LIVE_KEY_PAGE_DOWN);
	assert_int_equal(live.levels, 1);
	PRESS(&live, &shown, 'f', LIVE_KEY_BACKSPACE, LIVE_KEY_BACKSPACE, LIVE_KEY_ENTER);
	assert_int_equal(shown.count, ROWS);
	PRESS(&live, &shown, '/');
	for (u32 i = 0; i < LIVE_TEXT_SIZE * 2; i++)
		PRESS(&live, &shown, 0x1f600);
	assert_true(strlen(live.input) < LIVE_TEXT_SIZE);
	view_clear(&shown);
}

/*
 * Rows of the last interval contain the growth of the counters, and shares are relative to the
 * samples of the interval.
 */
static void interval_is_growth(void **state)
{
	struct view_row before_rows[2] = { make_row(0), make_row(1) };
	struct view_row now_rows[2] = { make_row(0), make_row(1) };
	struct view before = { .header = { .running = true, .records = 5000 },
			       .count = 2,
			       .rows = before_rows };
	struct view now = { .header = { .running = true, .records = 5100 },
			    .count = 2,
			    .rows = now_rows };
	struct live_state live;
	struct view shown;

	(void)state;
	now_rows[1].samples += 50;
	live_state_init(&live, VIEW_FUNCTION, VIEW_SORT_SAMPLES, LIVE_INTERVAL);
	assert_int_equal(live_rows_select(&live, &now, &before, &shown), 0);
	assert_int_equal(shown.count, 1);
	assert_int_equal(shown.rows[0].samples, 50);
	assert_int_equal(shown.header.records, 100);
	view_clear(&shown);
	live.period = 1 + VIEW_SPAN_START;
	assert_int_equal(live_rows_select(&live, &now, &before, &shown), 0);
	assert_int_equal(shown.count, 2);
	view_clear(&shown);
}

/*
 * Draw a screen, and check that no line is wider than the screen or contains a control character.
 */
static void draw_screen(struct live_screen *screen, struct live_state *live,
			const struct view *shown, const char *fault)
{
	static const struct live_histograms histograms;
	const struct live_content content = { .state = live,
					      .header = &shown->header,
					      .rows = shown,
					      .histograms = &histograms,
					      .instructions = &instructions,
					      .fault = fault };
	char line[TEXT_SIZE];

	live_screen_draw(screen, &content);
	for (u32 i = 0; i < screen->count; i++) {
		const struct live_span *span = &screen->span[i];

		assert_true(span->row < screen->height);
		assert_true(span->column + text_get_width(span->text) <= screen->width);
		for (const char *c = span->text; *c; c++)
			assert_true((u8)*c >= ' ' && *c != 0x7f);
	}
	for (u32 row = 0; row < screen->height; row++)
		live_screen_get_line(screen, row, line);
}

static void assert_line(const struct live_screen *screen, u32 row, const char *want)
{
	char line[TEXT_SIZE];

	live_screen_get_line(screen, row, line);
	assert_string_equal(line, want);
}

static void screen_has_rows(void **state)
{
	struct live_screen screen = { .width = 80, .height = 24 };
	struct live_state live;
	struct view shown;

	(void)state;
	start_view(&live, &shown);
	draw_screen(&screen, &live, &shown, "");
	assert_line(
		&screen, 0,
		"machine: functions by samples, since start                            1-19 of 40");
	assert_line(&screen, 1,
		    "4 CPUs  HARDWARE SPE by module  20,000 samples  lost 0 B  suspect 0 B");
	assert_line(
		&screen, 3,
		"SHARE   CONTAINER       PROGRAM     FUNCTION               DRAM   p50/p99 cycles");
	assert_line(&screen, 4,
		    " 5.0 %  db              postgres    fn_00                   0 %    20/90");
	assert_line(&screen, 23,
		    "? help  Enter down  Esc up  / search  f filter  s sort  g group  w period");
	PRESS(&live, &shown, LIVE_KEY_DOWN);
	draw_screen(&screen, &live, &shown, "speprofd is not running");
	assert_line(&screen, 23, "speprofd is not running");
	for (u32 i = 0; i < screen.count; i++)
		assert_int_equal(screen.span[i].reversed, screen.span[i].row == 5);
	PRESS(&live, &shown, '/', 'a', 'b');
	draw_screen(&screen, &live, &shown, "");
	assert_line(&screen, 23, "search: ab");
	assert_int_equal(screen.cursor, strlen("search: ab"));
	live_screen_clear(&screen);
	view_clear(&shown);
}

/* Check that any state can be drawn on a screen of any size. */
static void test_screen_of_any_size(void **state)
{
	static const u32 keys[] = { 0,
				    '?',
				    LIVE_KEY_ESCAPE,
				    's',
				    LIVE_KEY_ESCAPE,
				    'S',
				    'q',
				    '/',
				    'x',
				    LIVE_KEY_ENTER,
				    'i',
				    LIVE_KEY_END,
				    'a',
				    LIVE_KEY_END,
				    LIVE_KEY_ESCAPE,
				    LIVE_KEY_ESCAPE,
				    LIVE_KEY_ENTER,
				    'f',
				    'y',
				    LIVE_KEY_ENTER };
	static const u32 sizes[][2] = { { 0, 0 },    { 1, 1 },	   { 2, 2 },   { 7, 3 },
					{ 20, 4 },   { 40, 15 },   { 59, 15 }, { 80, 24 },
					{ 200, 60 }, { 1000, 300 } };
	struct live_screen screen = { 0 };
	struct live_state live;
	struct view shown;

	(void)state;
	start_view(&live, &shown);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		PRESS(&live, &shown, keys[i]);
		for (size_t s = 0; s < ARRAY_SIZE(sizes); s++) {
			screen.width = sizes[s][0];
			screen.height = sizes[s][1];
			draw_screen(&screen, &live, &shown, "");
		}
	}
	live_screen_clear(&screen);
	view_clear(&shown);
}

/* The most urgent items come first, so that a small screen has them. */
static void urgent_items_come_first(void **state)
{
	struct live_screen screen = { .width = 40, .height = 15 };
	struct live_state live;
	struct view shown;

	(void)state;
	start_view(&live, &shown);
	shown.header.backend = BACKEND_EMULATED;
	shown.header.lost = 2048;
	shown.header.cpus_held = 3;
	shown.header.interval_longest_ns = 4000000;
	draw_screen(&screen, &live, &shown, "");
	assert_line(&screen, 1, "EMULATED (no SPE here): process, PC, ti\u2026");
	assert_line(&screen, 2, "lost 2.0 KiB");
	assert_line(&screen, 3, "3 CPUs sample less often, every 4.00 ms\u2026");
	assert_line(&screen, 4, "SHARE   FUNCTION                   ~DRAM");
	live_screen_clear(&screen);
	view_clear(&shown);
}

/* The colour of a row's share depends on the share of the row in the sort measure. */
static void shares_have_colours(void **state)
{
	struct live_screen screen = { .width = 80, .height = 24 };
	struct live_state live;
	struct view shown;
	u32 hot = 0, warm = 0;

	(void)state;
	start_view(&live, &shown);
	shown.rows[1].samples = 40000;
	shown.rows[2].samples = 5000;
	draw_screen(&screen, &live, &shown, "");
	for (u32 i = 0; i < screen.count; i++) {
		hot += screen.span[i].ink == TERM_HOT;
		warm += screen.span[i].ink == TERM_WARM;
	}
	assert_int_equal(hot, 1);
	assert_int_equal(warm, 1);
	live_screen_clear(&screen);
	view_clear(&shown);
}

/* Names with any bytes stay within their cells. */
static void test_hostile_names(void **state)
{
	struct live_screen screen = { .width = 80, .height = 24 };
	struct live_state live;
	struct view shown;
	u32 seed = 1;

	(void)state;
	start_view(&live, &shown);
	for (u32 round = 0; round < 200; round++) {
		struct view_row *row = &shown.rows[round % ROWS];

		for (size_t i = 0; i < sizeof(row->function) - 1; i++) {
			seed = seed * 1664525 + 1013904223;
			row->function[i] = (char)(seed >> 24 ? seed >> 24 : 1);
			row->container[i] = (char)(round % 2 ? row->function[i] :
						   i % 2     ? 0x81 :
							       0xcc);
		}
		draw_screen(&screen, &live, &shown, row->function);
	}
	PRESS(&live, &shown, 'i');
	draw_screen(&screen, &live, &shown, "");
	live_screen_clear(&screen);
	view_clear(&shown);
}

/* A name that is wider than the screen continues in the next lines of the details. */
static void long_names_wrap(void **state)
{
	struct live_screen screen = { .width = 21, .height = 24 };
	struct live_state live;
	struct view shown;

	(void)state;
	start_view(&live, &shown);
	snprintf(shown.rows[0].function, sizeof(shown.rows[0].function),
		 "abcdefghi\u5bb9\u5668xyz");
	live_state_handle_key(&live, 'i', &shown);
	draw_screen(&screen, &live, &shown, "");
	assert_line(&screen, 5, "container  db");
	assert_line(&screen, 7, "function   abcdefghi");
	assert_line(&screen, 8, "           \u5bb9\u5668xyz");
	live_screen_clear(&screen);
	view_clear(&shown);
}

/* Instructions are shown of rows and of details of functions and lines; Escape goes back. */
static void keys_show_instructions(void **state)
{
	struct live_state live;
	struct view shown;

	(void)state;
	start_view(&live, &shown);
	assert_int_equal(PRESS(&live, &shown, LIVE_KEY_DOWN, 'a'), LIVE_ANNOTATE);
	assert_true(live_state_has_page(&live) && live.level[1].annotated);
	assert_string_equal(live.level[1].chosen.function, "fn_01");
	assert_int_equal(PRESS(&live, &shown, 'a'), LIVE_ANNOTATE);
	assert_int_equal(live.levels, 2);
	assert_int_equal(PRESS(&live, &shown, 'i', LIVE_KEY_ENTER), 0);
	assert_int_equal(live.levels, 2);
	assert_int_equal(PRESS(&live, &shown, LIVE_KEY_ESCAPE), LIVE_SELECT);
	assert_int_equal(live.levels, 1);
	assert_int_equal(PRESS(&live, &shown, LIVE_KEY_ENTER, 'i', 'a'), LIVE_ANNOTATE);
	assert_int_equal(live.levels, 4);
	assert_int_equal(PRESS(&live, &shown, LIVE_KEY_ESCAPE), LIVE_SELECT);
	assert_true(live.level[2].detail && !live.level[2].annotated);
	/* Another group replaces the page by rows. */
	assert_int_equal(PRESS(&live, &shown, 'a', 'g', LIVE_KEY_HOME, LIVE_KEY_ENTER), LIVE_FETCH);
	assert_false(live_state_has_page(&live));
	assert_int_equal(PRESS(&live, &shown, 'g', LIVE_KEY_END, LIVE_KEY_ENTER, 'a'), 0);
	assert_string_equal(live.message,
			    "only functions have instructions; Enter or g shows functions");
	view_clear(&shown);
}

/* Quotes of JSON are written as ' here. */
static const char shown_json[] =
	"[{'function':'fn_00','binary':'/bin/b0','reason':null,'instructions':["
	"{'offset':'0x10','instruction':'ldr x0, [x1]','file':'/src/a.c','line':7,"
	"'source':'x = *p;','samples':3000,'share':0.15,'mean':12.5,'p99':90,'memory':3000,"
	"'branches':0,'mispredicted':0,'levels':{'l1':1000,'dram':2000}},"
	"{'offset':'0x14','instruction':'b.ne fn_00+0x4','file':'/src/a.c','line':7,"
	"'source':'x = *p;','samples':50,'share':0.0025,'mean':2,'p99':null,'memory':0,"
	"'branches':50,'mispredicted':4,'levels':{}},"
	"{'offset':'0x18','instruction':null,'file':null,'line':null,'source':null,'samples':0}]},"
	"{'function':null,'binary':'[anon]','reason':'a\\u001b[2J','instructions':["
	"{'offset':'0x20','instruction':'\\u001b]0;','samples':0}]}]";

static json_object *parse_quoted(const char *text)
{
	char json[sizeof(shown_json)];

	snprintf(json, sizeof(json), "%s", text);
	for (char *c = json; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	return json_tokener_parse(json);
}

static void instructions_are_shown(void **state)
{
	struct live_screen screen = { .width = 80, .height = 24 };
	struct live_state live;
	struct view shown;

	(void)state;
	start_view(&live, &shown);
	PRESS(&live, &shown, 'a');
	draw_screen(&screen, &live, &shown, "");
	assert_line(&screen, 4, "The instructions are being read.");
	instructions.json = parse_quoted(shown_json);
	assert_non_null(instructions.json);
	draw_screen(&screen, &live, &shown, "");
	assert_line(
		&screen, 0,
		"machine: fn_00, since start                                           1-12 of 12");
	assert_line(&screen, 3, " SHARE     SAMPLES     mean     p99  INSTRUCTION");
	assert_line(&screen, 4, "function   fn_00");
	assert_line(&screen, 5, "binary     /bin/b0");
	assert_line(&screen, 6, "a.c:7  x = *p;");
	assert_line(&screen, 7, "15.0 %       3,000     12.5      90  ldr x0, [x1]");
	assert_line(&screen, 8, "                                     dram 67 %  l1 33 %");
	assert_line(&screen, 9, " 0.2 %          50      2.0          b.ne fn_00+0x4");
	assert_line(&screen, 10, "                                     mispredicted 8 %");
	assert_line(&screen, 11, "                                     [at 0x18]");
	assert_line(&screen, 13, "binary     [anon]");
	assert_line(&screen, 14, "no text    a?[2J");
	assert_line(&screen, 15, "                                     ?]0;");
	assert_line(&screen, 23,
		    "Esc back  Up Down scroll  ? help  a query again  w period  q quit");
	screen.width = 40;
	draw_screen(&screen, &live, &shown, "");
	assert_line(&screen, 4, " SHARE   mean   p99  INSTRUCTION");
	assert_line(&screen, 8, "15.0 %   12.5    90  ldr x0, [x1]");
	assert_line(&screen, 9, "      3,000 samples  dram 67 %  l1 33 %");
	shown.header.backend = BACKEND_EMULATED;
	draw_screen(&screen, &live, &shown, "");
	assert_line(&screen, 4, " SHARE  ~mean  ~p99  INSTRUCTION");
	json_object_put(instructions.json);
	instructions.json = NULL;
	snprintf(instructions.error, sizeof(instructions.error), "not permitted");
	draw_screen(&screen, &live, &shown, "");
	assert_line(&screen, 5, "none:      not permitted");
	instructions.error[0] = 0;
	live_screen_clear(&screen);
	view_clear(&shown);
}

/* The page begins near the instruction with most samples, until a key scrolls. */
static void heaviest_instruction_is_shown(void **state)
{
	struct live_screen screen = { .width = 80, .height = 24 };
	json_object *function = json_object_new_object(), *lines = json_object_new_array(), *line;
	struct live_state live;
	struct view shown;
	char text[TEXT_SIZE];

	(void)state;
	for (int i = 0; i < 100; i++) {
		snprintf(text, sizeof(text), "nop %d", i);
		line = json_object_new_object();
		json_object_object_add(line, "instruction", json_object_new_string(text));
		json_object_object_add(line, "samples", json_object_new_int(i == 60 ? 9 : i == 80));
		json_object_array_add(lines, line);
	}
	json_object_object_add(function, "instructions", lines);
	start_view(&live, &shown);
	PRESS(&live, &shown, 'a');
	draw_screen(&screen, &live, &shown, "");
	instructions.json = json_object_new_array();
	json_object_array_add(instructions.json, function);
	draw_screen(&screen, &live, &shown, "");
	assert_int_equal(live.scroll, 60 - live.page / 2);
	live_state_handle_key(&live, LIVE_KEY_HOME, &shown);
	draw_screen(&screen, &live, &shown, "");
	assert_int_equal(live.scroll, 0);
	json_object_put(instructions.json);
	instructions.json = NULL;
	live_screen_clear(&screen);
	view_clear(&shown);
}

static int set_locale(void **state)
{
	(void)state;
	setenv("LC_ALL", "C.UTF-8", 1);
	text_init();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_filter_words),
		cmocka_unit_test(test_filter_errors),
		cmocka_unit_test(cursor_moves),
		cmocka_unit_test(cursor_follows_row),
		cmocka_unit_test(levels_go_down_and_up),
		cmocka_unit_test(menus_choose_items),
		cmocka_unit_test(keys_edit_texts),
		cmocka_unit_test(interval_is_growth),
		cmocka_unit_test(screen_has_rows),
		cmocka_unit_test(test_screen_of_any_size),
		cmocka_unit_test(urgent_items_come_first),
		cmocka_unit_test(shares_have_colours),
		cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(long_names_wrap),
		cmocka_unit_test(keys_show_instructions),
		cmocka_unit_test(instructions_are_shown),
		cmocka_unit_test(heaviest_instruction_is_shown),
	};

	return cmocka_run_group_tests(tests, set_locale, NULL);
}
