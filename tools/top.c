// SPDX-License-Identifier: LGPL-2.1-or-later
/* speprof top, and speprof without a verb: show the live view. */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "lib/bus.h"
#include "lib/delta.h"
#include "lib/live-session.h"
#include "lib/message.h"
#include "lib/options.h"
#include "lib/rows.h"
#include "lib/terminal.h"
#include "lib/text.h"
#include "verb.h"

#define TOP_ROWS 40

/**
 * struct live - the live view
 * @before, @now: the profile in the last two replies, of one group
 * @shown: the rows on the screen
 * @message: the last error; "": none
 * @first: index of the first row on the screen
 * @left: remaining iterations; 0: no limit
 * @whole: whether rows count the period of @options, or since sampling began; otherwise the last
 * interval
 */
struct live {
	struct options options;
	struct bus *bus;
	struct view before;
	struct view now;
	struct view shown;
	char message[512];
	u32 first;
	u32 left;
	bool paused;
	bool whole;
};

static struct format live_format(const struct options *options)
{
	return (struct format){
		.known_share = options->known_share,
		.known_shares = options->known_shares,
		.group = options->group,
		.sort = options->sort,
		.colour = term_colour(),
	};
}

static int top_view(struct bus *bus, const struct options *options, u32 limit, struct view *ret)
{
	if (options->period != VIEW_SPAN_START)
		return bus_view_period(bus, options->period, options->group, options->sort, limit,
				       ret);
	return bus_get_view(bus, options->group, options->sort, limit, ret);
}

/* Compute the rows to show: the growth from @before to @now, or all of @now. */
static void live_refresh(struct live *live)
{
	static const struct view nothing;
	bool whole = live->whole || live->options.period != VIEW_SPAN_START ||
		     !live->now.header.running;
	struct view view;

	if (delta_view(&live->now, whole ? &nothing : &live->before,
		       !whole && live->before.count == BUS_ROWS, live->options.sort, &view) < 0) {
		snprintf(live->message, sizeof(live->message), "out of memory");
		return;
	}
	rows_filter(&view, &live->options, 0);
	view_clear(&live->shown);
	live->shown = view;
}

/* Request all rows, as a row that is light since the start may be heavy in the last interval. */
static int live_fetch(struct live *live)
{
	struct view view;
	int status;

	status = top_view(live->bus, &live->options, BUS_ROWS, &view);
	if (status) {
		snprintf(live->message, sizeof(live->message), "%s", bus_error(live->bus));
		return status;
	}
	live->message[0] = 0;
	view_clear(&live->before);
	live->before = live->now;
	live->now = view;
	live_refresh(live);
	return STATUS_OK;
}

static void live_deinit(struct live *live)
{
	view_clear(&live->before);
	view_clear(&live->now);
	view_clear(&live->shown);
}

/*
 * Choose a sort order that exists: a period of the history can be sorted by fewer columns than the
 * whole profile.
 */
static void live_fit_sort(struct live *live)
{
	const struct options *o = &live->options;

	while (!view_sort_holds(o->sort, o->period, o->group))
		live->options.sort = (o->sort + 1) % VIEW_SORTS;
}

/* Switch to another group: an interval needs two replies of that group. */
static void live_regroup(struct live *live)
{
	live->options.group = (live->options.group + 1) % VIEW_GROUPS;
	live_fit_sort(live);
	live->first = 0;
	view_clear(&live->before);
	view_clear(&live->now);
}

/* Switch from the last interval to the whole profile, then to each period, then back. */
static void live_next_period(struct live *live, bool *ret_fetch)
{
	live->first = 0;
	if (!live->whole) {
		live->whole = true;
		live_refresh(live);
		return;
	}
	live->options.period = (live->options.period + 1) % VIEW_SPANS;
	live->whole = live->options.period != VIEW_SPAN_START;
	live_fit_sort(live);
	view_clear(&live->before);
	view_clear(&live->now);
	*ret_fetch = true;
}

static void live_hints(const struct live *live, FILE *out, const struct format *format)
{
	char text[256], fitted[TEXT_SIZE];

	snprintf(text, sizeof(text),
		 "q quit  g group: %s  s sort: %s  w %s  p %s  up/down scroll%s",
		 view_group_name(live->options.group), view_sort_name(live->options.sort),
		 live->options.period != VIEW_SPAN_START ? view_span_name(live->options.period) :
		 live->whole				 ? "since start" :
							   "last interval",
		 live->paused ? "resume" : "pause", live->paused ? "  PAUSED" : "");
	text_fit(*live->message ? live->message : text, format->width, false, fitted);
	term_ink(out, format->colour, *live->message ? TERM_BAD : TERM_FAINT, fitted);
}

/* Render the header, and the table from row @first on, as lines. */
static char *live_frame(const struct live *live, const struct format *format)
{
	struct view part = live->shown;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (*part.header.source) {
		part.rows += live->first;
		part.count -= live->first;
		format_header(out, &part.header, format);
		format_table(out, &part, format);
	}
	fclose(out);
	return text;
}

static void live_draw(struct live *live)
{
	struct format format = live_format(&live->options);
	size_t height, line = 0;
	char *text, *rest, *next;

	if (live->first >= live->shown.count)
		live->first = live->shown.count ? live->shown.count - 1 : 0;
	term_size(&format.width, &height);
	text = rest = live_frame(live, &format);
	/* Overwrite each line and erase its rest: clearing the screen would flicker. */
	fputs("\033[H", stdout);
	while (rest && line + 1 < height && (next = strchr(rest, '\n'))) {
		*next = 0;
		printf("%s\033[K\r\n", rest);
		rest = next + 1;
		line++;
	}
	for (; line + 1 < height; line++)
		fputs("\033[K\r\n", stdout);
	live_hints(live, stdout, &format);
	fputs("\033[K", stdout);
	fflush(stdout);
	free(text);
}

/* Handle a key. Return false to quit; set *ret_fetch if the profile has to be requested again. */
static bool live_key(struct live *live, int key, bool *ret_fetch)
{
	switch (key) {
	case 'q':
	case 'Q':
	case -EIO:
		return false;
	case 'g':
		live_regroup(live);
		*ret_fetch = true;
		break;
	case 's':
		live->options.sort = (live->options.sort + 1) % VIEW_SORTS;
		live_fit_sort(live);
		live->first = 0;
		live_refresh(live);
		break;
	case 'w':
		live_next_period(live, ret_fetch);
		break;
	case 'p':
	case ' ':
		live->paused = !live->paused;
		*ret_fetch = !live->paused;
		break;
	case 'k':
	case TERM_KEY_UP:
		live->first -= live->first > 0;
		break;
	case 'j':
	case TERM_KEY_DOWN:
		live->first++;
		break;
	default:
		break;
	}
	return true;
}

static u64 now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ULL + ts.tv_nsec / 1000000;
}

static void live_loop(struct live *live)
{
	/*
	 * The first screen shows the whole profile; the first interval ends after at most a second.
	 */
	u64 period = live->options.delay * 1000, due = now_ms() + (period < 1000 ? period : 1000);
	bool fetch = false;
	int key = 0, wait;

	while (live_key(live, key, &fetch)) {
		u64 now = now_ms();

		if (fetch || (!live->paused && now >= due)) {
			live_fetch(live);
			now = now_ms();
			due = now + period;
			fetch = false;
		}
		live_draw(live);
		if (live->left && key == 0 && --live->left == 0)
			return;
		wait = live->paused ? -1 : due > now ? (int)(due - now) : 0;
		key = term_key(wait);
	}
}

static int live_show(struct options *options, struct bus *bus)
{
	struct live live = { .options = *options, .bus = bus, .left = options->number };
	int status, r;

	live.options.number = 0;
	/* If the first request fails, its error is printed before the screen is switched. */
	status = live_fetch(&live);
	if (status)
		return status;
	bus_quiet(bus);
	r = term_raw();
	if (r == 0)
		live_loop(&live);
	term_restore();
	live_deinit(&live);
	if (r < 0)
		return message_fail(STATUS_FAILED, "the terminal refuses raw mode: %s",
				    strerror(-r));
	return STATUS_OK;
}

static int batch_once(struct options *options, struct bus *bus, bool *found)
{
	struct format format = live_format(options);
	struct view view;
	size_t height;
	int status = options->period != VIEW_SPAN_START ?
			     top_view(bus, options, rows_limit(options, BUS_ROWS), &view) :
			     bus_view_named(bus, options->group, options->sort, rows_limit(options, BUS_ROWS),
					    &view);

	if (status)
		return status;
	rows_filter(&view, options, TOP_ROWS);
	*found |= view.count > 0;
	if (options->json) {
		rows_json(stdout, &view, options);
	} else {
		term_size(&format.width, &height);
		format_header(stdout, &view.header, &format);
		format_table(stdout, &view, &format);
	}
	view_clear(&view);
	return STATUS_OK;
}

static int batch_show(struct options *options, struct bus *bus)
{
	u32 iterations = options->number;
	int status = STATUS_OK;
	bool found = false;

	options->number = 0;
	for (u32 i = 0; status == STATUS_OK && (!iterations || i < iterations); i++) {
		if (i) {
			struct timespec delay = {
				.tv_sec = options->delay,
				.tv_nsec = (options->delay - (time_t)options->delay) * 1e9,
			};

			fputs(options->json ? "" : "\n", stdout);
			nanosleep(&delay, NULL);
		}
		status = batch_once(options, bus, &found);
		/* The reader has closed the pipe. */
		if (fflush(stdout) < 0)
			break;
	}
	if (!status && !found && (options->container || options->pid))
		status = rows_missing("top", options);
	return status;
}

int top_run(int argc, char **argv)
{
	struct options options;
	struct bus *bus;
	int status = options_parse(argc, argv, "bdnGspcjTSWNL", &options);

	if (status)
		return status;
	if (options.json)
		options.batch = true;
	if (!options.batch && !(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))) {
		filter_free(options.filter);
		return message_fail(STATUS_USAGE, "top: not on a terminal; -b prints instead");
	}
	status = bus_new(&bus);
	if (status) {
		filter_free(options.filter);
		return status;
	}
	status = live_session_choose("top", bus, &options, false);
	if (!status)
		status = options.batch ? batch_show(&options, bus) : live_show(&options, bus);
	bus_free(bus);
	filter_free(options.filter);
	return status;
}

int live_run(int argc, char **argv)
{
	char name[] = "top";

	(void)argc;
	(void)argv;
	return top_run(1, (char *[]){ name, NULL });
}
