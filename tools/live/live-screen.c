// SPDX-License-Identifier: LGPL-2.1-or-later
#include "live-screen.h"

#include <stdio.h>
#include <stdlib.h>

#include "util/array.h"

/* Entries of &header_items.text, and bytes of an entry. */
#define ITEMS_MAX 32
#define ITEM_SIZE 256

/* Bytes of a line of a table before it is fitted into the screen. */
#define ROW_SIZE (TABLE_COLUMNS_MAX * TEXT_SIZE)

/**
 * struct screen_geometry - the lines of each area; the title is line 0, the hints are the last
 * line
 */
struct screen_geometry {
	u32 header; /* number of lines of the header, which begins at line 1 */
	u32 heading; /* number of the line with the heading */
	u32 body; /* number of the first line of rows, a menu or a page */
	u32 page; /* number of these lines */
};

static struct screen_geometry compute_geometry(const struct live_screen *screen)
{
	u32 height = screen->height;
	struct screen_geometry g = { .header = height < 7  ? 0 :
					       height < 12 ? 1 :
					       height < 30 ? 2 :
					       height < 45 ? 3 :
							     4 };

	/* On a narrow screen, a line of the header has only one item, so use one more line. */
	if (height >= 15 && screen->width < 60)
		g.header++;

	/*
	 * A screen of two lines has only the title and the hints. @heading is then after the last
	 * line.
	 */
	g.heading = height < 3 ? height : 1 + g.header;
	g.body = g.heading + 1;
	g.page = height > g.body + 1 ? height - g.body - 1 : 0;
	return g;
}

void live_screen_clear(struct live_screen *screen)
{
	for (u32 i = 0; i < screen->count; i++)
		free(screen->span[i].text);
	free(screen->span);
	screen->span = NULL;
	screen->count = 0;
	screen->capacity = 0;
}

static u32 get_screen_width(const struct live_screen *screen)
{
	return screen->width < TEXT_WIDTH_MAX ? screen->width : TEXT_WIDTH_MAX - 1;
}

/* Add @text, fitted into @width columns or, if that is less, the rest of the line. */
static void screen_add_span(struct live_screen *screen, u32 row, u32 column, u32 width,
			    enum term_style ink, bool reversed, const char *text)
{
	struct live_span *spans;
	char fitted[TEXT_SIZE];

	if (row >= screen->height || column >= get_screen_width(screen) || !width)
		return;
	if (width > get_screen_width(screen) - column)
		width = get_screen_width(screen) - column;
	spans = array_reserve(screen->span, &screen->capacity, screen->count + 1, sizeof(*spans),
			      UINT16_MAX);
	if (!spans)
		return;
	screen->span = spans;
	text_fit(text, width, false, fitted);
	spans[screen->count] = (struct live_span){ .row = row,
						   .column = column,
						   .ink = ink,
						   .reversed = reversed,
						   .text = strdup(fitted) };
	screen->count += spans[screen->count].text != NULL;
}

void live_screen_get_line(const struct live_screen *screen, u32 row, char ret[static TEXT_SIZE])
{
	char *end = ret;
	u32 column = 0;

	for (u32 i = 0; i < screen->count; i++) {
		const struct live_span *span = &screen->span[i];

		if (span->row != row)
			continue;
		end += sprintf(end, "%*s%s", (int)(span->column - column), "", span->text);
		column = span->column + (u32)text_get_width(span->text);
	}
	while (end > ret && end[-1] == ' ')
		end--;
	*end = 0;
}

/* ---- Title, header and hints ----------------------------------------------------- */

/* Write the position, such as "1-19 of 1,234". */
static void write_position(const struct live_state *state, u32 first, u32 count, char *ret,
			   size_t size)
{
	char from[TEXT_NUMBER_SIZE], to[TEXT_NUMBER_SIZE], all[TEXT_NUMBER_SIZE];
	u32 last = first + state->page < count ? first + state->page : count;

	if (!count)
		snprintf(ret, size, "  %sno rows", state->paused ? "PAUSED  " : "");
	else
		snprintf(ret, size, "  %s%s-%s of %s", state->paused ? "PAUSED  " : "",
			 text_format_count(from, first + 1), text_format_count(to, last),
			 text_format_count(all, count));
}

static u32 add_crumb(const char **crumbs, u32 count, bool is_fixed, const char *name)
{
	if (is_fixed)
		crumbs[count++] = name;
	return count;
}

/* Write the names of the session and of the levels; if @width is too small, only the last ones. */
static void write_crumbs(const struct live_state *state, size_t width, char *ret, size_t size)
{
	const struct live_level *level = live_state_get_level_const(state);
	const struct view_row *names = &level->names;
	const char *crumbs[8];
	u32 count = 0, from = 0;
	int used;

	crumbs[count++] = state->session;
	count = add_crumb(crumbs, count, level->fixed & LIVE_CONTAINER, names->container);
	count = add_crumb(crumbs, count, level->fixed & LIVE_PROGRAM, names->process);
	count = add_crumb(crumbs, count, level->fixed & LIVE_FUNCTION, names->function);
	count = add_crumb(crumbs, count,
			  level->fixed & LIVE_BINARY && !(level->fixed & LIVE_FUNCTION),
			  names->binary);
	for (; from < count; from++) {
		used = snprintf(ret, size, "%s", from ? "... > " : "");
		for (u32 i = from; i < count; i++)
			used += snprintf(ret + used, size - (size_t)used, "%s%s",
					 i > from ? " > " : "", crumbs[i]);
		if (text_get_width(ret) <= width)
			return;
	}
}

static void draw_title(struct live_screen *screen, const struct live_state *state, u32 first,
		       u32 count)
{
	const struct live_level *level = live_state_get_level_const(state);
	char position[128], what[LIVE_TEXT_SIZE + 128], crumbs[1024], title[1400];
	u32 width = get_screen_width(screen), right, left;

	write_position(state, first, count, position, sizeof(position));
	right = (u32)text_get_width(position);
	left = width > right ? width - right : 0;
	if (state->overlay == LIVE_HELP)
		snprintf(what, sizeof(what), "keys of the live view");
	else if (level->annotated)
		snprintf(what, sizeof(what), "%s, %s", level->chosen.function,
			 live_period_name(live_get_counted_period(state)));
	else if (level->detail)
		snprintf(what, sizeof(what), "details, %s", live_period_name(state->period));
	else
		snprintf(what, sizeof(what), "%s by %s, %s%s%s",
			 live_group_get_plural(level->group), view_sort_name(state->sort),
			 live_period_name(state->period),
			 *state->filter.text ? ", filter " : "", state->filter.text);
	write_crumbs(state, left > text_get_width(what) + 2 ? left - text_get_width(what) - 2 : 0,
		     crumbs, sizeof(crumbs));
	snprintf(title, sizeof(title), "%s: %s", crumbs, what);
	screen_add_span(screen, 0, 0, left, TERM_STRONG, false, title);
	screen_add_span(screen, 0, left, right, state->paused ? TERM_WARN : TERM_STRONG, false,
			position);
}

/** struct header_items - items of the header that are not on the screen yet */
struct header_items {
	enum term_style ink[ITEMS_MAX];
	char text[ITEMS_MAX][ITEM_SIZE];
	u32 count;
};

static void items_add(void *ctx, enum term_style ink, const char *text)
{
	struct header_items *items = ctx;

	if (items->count == ITEMS_MAX)
		return;
	items->ink[items->count] = ink;
	snprintf(items->text[items->count++], ITEM_SIZE, "%s", text);
}

static bool ink_is_urgent(enum term_style ink)
{
	return ink == TERM_WARN || ink == TERM_BAD;
}

/* Show items that need attention first, then other items while @lines lines have space. */
static void draw_header(struct live_screen *screen, const struct view_header *header, u32 lines)
{
	struct header_items *items = calloc(1, sizeof(*items));
	u32 line = 1, column = 0;

	if (items && lines)
		format_pass_header_items(header, items_add, items);
	for (u32 i = 0; items && i < items->count * 2 && line <= lines; i++) {
		u32 at = i < items->count ? i : i - items->count, width = (u32)text_get_width(items->text[at]);

		if (ink_is_urgent(items->ink[at]) != (i < items->count))
			continue;
		if (column && column + 2 + width > get_screen_width(screen)) {
			line++;
			column = 0;
		}
		if (line > lines)
			break;
		column += column ? 2 : 0;
		screen_add_span(screen, line, column, width, items->ink[at], false,
				items->text[at]);
		column += width;
	}
	free(items);
}

static const char *const *get_hints(const struct live_state *state)
{
	static const char *const rows[] = { "? help",	 "Enter down", "Esc up",	 "/ search",
					    "f filter",	 "s sort",     "g group",	 "w period",
					    "S session", "i details",  "a instructions", "p pause",
					    "q quit",	 NULL };
	static const char *const menu[] = { "Enter choose", "Esc close", "Up Down move", NULL };
	static const char *const page[] = { "Esc back", "Up Down scroll", "? help", "q quit",
					    NULL };
	static const char *const code[] = { "Esc back", "Up Down scroll", "? help", "a query again",
					    "w period", "q quit",	  NULL };
	static const char *const help[] = { "Esc back", "Up Down scroll", NULL };

	return live_state_has_menu(state)		    ? menu :
	       state->overlay == LIVE_HELP		    ? help :
	       !live_state_has_page(state)		    ? rows :
	       live_state_get_level_const(state)->annotated ? code :
							      page;
}

static void write_hints(const struct live_state *state, u32 width, char *ret, size_t size)
{
	const char *const *hint = get_hints(state);
	size_t used = 0;

	*ret = 0;
	for (; *hint && used + strlen(*hint) + 2 <= width; hint++)
		used += (size_t)snprintf(ret + used, size - used, "%s%s", used ? "  " : "", *hint);
}

/* Show the input, or its end if it is wider than the screen. The cursor is after it. */
static void draw_input(struct live_screen *screen, const struct live_state *state)
{
	const char *prompt = state->overlay == LIVE_INPUT_SEARCH ? "search: " : "filter: ";
	const char *text = state->input;
	u32 width = get_screen_width(screen), used = (u32)strlen(prompt);
	char line[LIVE_TEXT_SIZE + 16];

	while (*text && used + text_get_width(text) + 1 > width)
		do
			text++;
		while ((*text & 0xc0) == 0x80);
	snprintf(line, sizeof(line), "%s%s", prompt, text);
	screen_add_span(screen, screen->height - 1, 0, width, TERM_STRONG, false, line);
	screen->cursor = (u32)text_get_width(line);
}

static void draw_hints(struct live_screen *screen, const struct live_content *content)
{
	const struct live_state *state = content->state;
	const char *error = *state->message ? state->message : content->fault;
	char hints[TEXT_SIZE];

	if (live_state_has_input(state)) {
		draw_input(screen, state);
		return;
	}
	write_hints(state, get_screen_width(screen), hints, sizeof(hints));
	screen_add_span(screen, screen->height - 1, 0, get_screen_width(screen),
			*error ? TERM_BAD : TERM_FAINT, false, *error ? error : hints);
}

/* ---- Rows ----------------------------------------------------------------------- */

#define COLUMN_BIT(column) (1U << FORMAT_COLUMN_##column)

/* Return the columns with the names that distinguish rows of a group. */
static u32 get_own_column(enum view_group group)
{
	static const u32 own[VIEW_GROUPS] = {
		[VIEW_FUNCTION] = COLUMN_BIT(FUNCTION),
		[VIEW_LINE] = COLUMN_BIT(SOURCE),
		[VIEW_CONTAINER] = COLUMN_BIT(CONTAINER),
		[VIEW_PROGRAM] = COLUMN_BIT(PROCESS),
		[VIEW_BINARY] = COLUMN_BIT(BINARY),
		[VIEW_PROCESS] = COLUMN_BIT(PROCESS) | COLUMN_BIT(PID),
	};

	return own[group];
}

/* Hide columns with names that the title shows and, on narrow screens, less important columns. */
static u32 choose_hidden_columns(const struct live_state *state, u32 width)
{
	const struct live_level *level = live_state_get_level_const(state);
	bool weighs = state->sort != VIEW_SORT_SAMPLES;
	u32 hidden = 0;

	if (level->fixed & LIVE_CONTAINER)
		hidden |= COLUMN_BIT(CONTAINER);
	if (level->fixed & LIVE_PROGRAM)
		hidden |= COLUMN_BIT(PROCESS);
	if (level->fixed & LIVE_FUNCTION)
		hidden |= COLUMN_BIT(FUNCTION);
	if (width < 60)
		hidden |= COLUMN_BIT(CONTAINER) | COLUMN_BIT(PROCESS) | COLUMN_BIT(LATENCY) |
			  (weighs ? COLUMN_BIT(DRAM) : 0);
	if (width < 100)
		hidden |= (weighs ? COLUMN_BIT(LATENCY) : 0) |
			  (level->group == VIEW_LINE ? COLUMN_BIT(CONTAINER) | COLUMN_BIT(PROCESS) :
						       0);
	return hidden & ~get_own_column(level->group);
}

/*
 * Columns of numbers have a fixed width, and columns of names share the rest, so that no column
 * moves when values change.
 */
static const struct {
	u32 width;
	u32 part;
} column_widths[FORMAT_COLUMNS] = {
	[FORMAT_COLUMN_SHARE] = { 6, 0 },     [FORMAT_COLUMN_TRUTH] = { 6, 0 },
	[FORMAT_COLUMN_PID] = { 7, 0 },	      [FORMAT_COLUMN_WEIGHT] = { 14, 0 },
	[FORMAT_COLUMN_DRAM] = { 5, 0 },      [FORMAT_COLUMN_LATENCY] = { 15, 0 },
	[FORMAT_COLUMN_CONTAINER] = { 0, 3 }, [FORMAT_COLUMN_PROCESS] = { 0, 2 },
	[FORMAT_COLUMN_FUNCTION] = { 0, 4 },  [FORMAT_COLUMN_BINARY] = { 0, 4 },
	[FORMAT_COLUMN_SOURCE] = { 0, 3 },
};

static void find_widths(const struct text_table *table, u32 shown, u32 width, u32 *ret_widths)
{
	u32 used = 0, parts = 0, at = 0, rest;

	for (enum format_column c = 0; c < FORMAT_COLUMNS; c++) {
		if (!(shown & 1U << c))
			continue;
		used += (u32)table->column[at++].gap + column_widths[c].width;
		parts += column_widths[c].part;
	}
	rest = width > used ? width - used : 0;
	at = 0;
	for (enum format_column c = 0; c < FORMAT_COLUMNS; c++) {
		u32 part = column_widths[c].part;

		if (!(shown & 1U << c))
			continue;
		ret_widths[at] = part ? rest * part / parts : column_widths[c].width;
		rest -= part ? ret_widths[at] : 0;
		parts -= part;
		at++;
	}
}

/* Write the cells of @row, or the headings if it is UINT32_MAX. */
static void write_row(const struct text_table *table, const u32 *widths, u32 row, char *ret)
{
	char fitted[TEXT_SIZE];

	for (u32 c = 0; c < table->columns; c++) {
		const struct table_column *column = &table->column[c];
		bool heading = row == UINT32_MAX;
		const char *cell =
			heading ? column->heading : table->cell[row * table->columns + c];

		text_fit(cell ? cell : "", widths[c],
			 column->right && !(heading && column->heading_left), fitted);
		ret += sprintf(ret, "%*s%s", (int)column->gap, "", fitted);
	}
}

/**
 * struct heat_limits - limits from which on a row is coloured as hot or warm
 * @whole: sum of the measure over all rows; for percentiles the largest
 * @hot, @warm: percent of @whole from which on a row is hot, or warm
 */
struct heat_limits {
	u64 whole;
	u32 hot;
	u32 warm;
};

static struct heat_limits compute_heat_limits(const struct live_content *content)
{
	enum view_sort sort = content->state->sort;
	bool adds = sort < VIEW_SORT_P99;
	struct heat_limits heat = { .hot = adds ? 20 : 80, .warm = adds ? 5 : 40 };
	unsigned int unit = view_get_share_unit(content->header);

	for (u32 i = 0; i < content->rows->count; i++) {
		u64 key = view_get_sort_key(&content->rows->rows[i], sort, unit);

		heat.whole = adds ? heat.whole + key : key > heat.whole ? key : heat.whole;
	}
	return heat;
}

static enum term_style choose_heat_style(const struct heat_limits *heat, u64 key)
{
	double percent = heat->whole ? 100.0 * (double)key / (double)heat->whole : 0;

	return percent >= heat->hot ? TERM_HOT : percent >= heat->warm ? TERM_WARM : TERM_PLAIN;
}

static void draw_row(struct live_screen *screen, u32 line, enum term_style ink, bool chosen,
		     const char *text)
{
	u32 width = get_screen_width(screen), share = column_widths[FORMAT_COLUMN_SHARE].width;
	char first[TEXT_NUMBER_SIZE];

	if (chosen) {
		screen_add_span(screen, line, 0, width, ink, true, text);
		return;
	}
	/* The first column contains only ASCII. */
	snprintf(first, sizeof(first), "%.*s", (int)share, text);
	screen_add_span(screen, line, 0, share, ink, false, first);
	if (strlen(text) > share)
		screen_add_span(screen, line, share, width, TERM_PLAIN, false, text + share);
}

static void draw_no_rows(struct live_screen *screen, const struct live_content *content, u32 line)
{
	const struct live_state *state = content->state;

	screen_add_span(screen, line, 0, get_screen_width(screen), TERM_FAINT, false,
			content->loading || *content->fault ? "Waiting for speprofd." :
			*state->filter.text ? "No row fulfils the filter; f changes it." :
			state->period == LIVE_INTERVAL ? "No samples in the last interval." :
							 "No samples in this period.");
}

static void draw_rows(struct live_screen *screen, const struct live_content *content,
		      const struct screen_geometry *g)
{
	const struct live_state *state = content->state;
	const struct live_level *level = live_state_get_level_const(state);
	u32 width = get_screen_width(screen), shown, widths[TABLE_COLUMNS_MAX];
	struct view part = { .header = *content->header };
	struct heat_limits heat = compute_heat_limits(content);
	struct text_table table = { 0 };
	struct view_format format = { .group = level->group,
				      .sort = state->sort,
				      .known_share = content->known_share,
				      .known_shares = content->known_shares,
				      .hidden = choose_hidden_columns(state, width) };
	char text[ROW_SIZE];

	if (level->first < content->rows->count) {
		part.rows = content->rows->rows + level->first;
		part.count = content->rows->count - level->first;
		part.count = part.count < g->page ? part.count : g->page;
	}
	shown = format_fill_table(&part, &format, &table);
	find_widths(&table, shown, width, widths);
	write_row(&table, widths, UINT32_MAX, text);
	screen_add_span(screen, g->heading, 0, width, TERM_STRONG, false, text);
	for (u32 i = 0; i < table.rows; i++) {
		write_row(&table, widths, i, text);
		draw_row(screen, g->body + i,
			 choose_heat_style(&heat,
					   view_get_sort_key(&part.rows[i], state->sort,
							     view_get_share_unit(content->header))),
			 level->first + i == level->cursor, text);
	}
	if (!part.count)
		draw_no_rows(screen, content, g->body);
	table_deinit(&table);
}

static void draw_menu(struct live_screen *screen, const struct live_state *state,
		      const struct screen_geometry *g)
{
	static const char *const headings[] = {
		[LIVE_MENU_SORT] = "Sort rows by",
		[LIVE_MENU_GROUP] = "Group rows by",
		[LIVE_MENU_PERIOD] = "Show the samples of",
		[LIVE_MENU_SESSION] = "Show the session",
	};
	u32 count = live_menu_count_items(state), width = get_screen_width(screen);
	char text[LIVE_SESSION_SIZE + 16];
	bool current = false;

	screen_add_span(screen, g->heading, 0, width, TERM_STRONG, false, headings[state->overlay]);
	for (u32 i = state->scroll; i < count && i < state->scroll + g->page; i++) {
		const char *item = live_menu_get_item(state, i, &current);

		snprintf(text, sizeof(text), "%s %s", current ? "*" : " ", item);
		screen_add_span(screen, g->body + i - state->scroll, 0, width, TERM_PLAIN,
				i == state->menu, text);
	}
	if (!count)
		screen_add_span(screen, g->body, 0, width, TERM_FAINT, false,
				"The sessions are being queried.");
}

/* Make the page that is shown instead of rows. */
static void fill_page(const struct live_screen *screen, const struct live_content *content,
		      struct live_page *page)
{
	const struct live_level *level = live_state_get_level_const(content->state);
	u32 width = get_screen_width(screen);

	if (content->state->overlay == LIVE_HELP)
		live_page_add_help(page);
	else if (level->annotated)
		live_page_add_instructions(page, content->instructions, width);
	else
		live_page_add_details(page, &level->chosen, content->header, content->histograms,
				      content->state->period, width);
}

/* Show the instruction with most samples in the middle of the page, once it is known. */
static void seek_heaviest_line(struct live_state *state, const struct live_page *page, u32 lines)
{
	if (!state->seeks || state->overlay != LIVE_NO_OVERLAY || !page->heaviest)
		return;
	state->scroll = page->heaviest > lines / 2 ? page->heaviest - lines / 2 : 0;
	state->seeks = false;
}

static void draw_page(struct live_screen *screen, const struct live_content *content,
		      const struct live_page *page, u32 first, const struct screen_geometry *g)
{
	const struct live_state *state = content->state;
	char heading[LIVE_LINE_SIZE];

	if (state->overlay != LIVE_HELP && live_state_get_level_const(state)->annotated) {
		live_page_write_heading(content->header->backend == BACKEND_EMULATED,
					get_screen_width(screen), heading);
		screen_add_span(screen, g->heading, 0, get_screen_width(screen), TERM_STRONG, false,
				heading);
	}
	for (u32 i = first; i < page->count && i < first + g->page; i++)
		screen_add_span(screen, g->body + i - first, 0, get_screen_width(screen),
				page->line[i].ink, false, page->line[i].text);
}

void live_screen_draw(struct live_screen *screen, const struct live_content *content)
{
	struct live_state *state = content->state;
	const struct live_level *level = live_state_get_level_const(state);
	struct screen_geometry g = compute_geometry(screen);
	struct live_page page = { 0 };
	u32 count = content->rows->count, first;

	live_screen_clear(screen);
	screen->cursor = UINT32_MAX;
	if (!screen->width || !screen->height)
		return;
	if (live_state_has_page(state)) {
		fill_page(screen, content, &page);
		seek_heaviest_line(state, &page, g.page);
		count = page.count;
	} else if (live_state_has_menu(state)) {
		count = live_menu_count_items(state);
	}
	live_state_scroll_to_cursor(state, g.page, count);
	first = live_state_has_page(state) || live_state_has_menu(state) ? state->scroll :
									   level->first;
	if (screen->height > 1)
		draw_title(screen, state, first, count);
	draw_header(screen, content->header, g.header);
	if (live_state_has_menu(state))
		draw_menu(screen, state, &g);
	else if (live_state_has_page(state))
		draw_page(screen, content, &page, first, &g);
	else
		draw_rows(screen, content, &g);
	draw_hints(screen, content);
	live_page_clear(&page);
}
