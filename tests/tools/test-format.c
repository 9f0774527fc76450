// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include <stdlib.h>

#include "lib/format.h"
#include "lib/text.h"

static u32 seed = 1;

static u32 draw_below(u32 below)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

/* Return a number of random magnitude. */
static u64 draw_number(void)
{
	u64 bits = (u64)draw_below(1U << 24) << 40 | (u64)draw_below(1U << 20) << 20 |
		   draw_below(1U << 20);

	return bits >> draw_below(64);
}

/*
 * Fill @text with characters of all kinds: letters, wide characters, invalid UTF-8, control
 * characters.
 */
static void draw_text(char *text, size_t size)
{
	static const char *const parts[] = { "walk", "\u5bb9", "e\u0301", "\x1b[2J", "\n", "\xff",
					     "std::", "\xe5\xae", "\u03bb", " ", "\x7f", "\u202e" };
	size_t len = 0;

	for (u32 n = draw_below(40); n; n--) {
		const char *part = parts[draw_below(ARRAY_SIZE(parts))];

		if (strlen(part) >= size - len)
			break;
		len += snprintf(text + len, size - len, "%s", part);
	}
}

static void draw_row(struct view_row *row)
{
	*row = (struct view_row){
		.samples = draw_number(),
		.memory = draw_number(),
		.dram = draw_number(),
		.latency_sum = draw_number(),
		.p50 = draw_number(),
		.p99 = draw_number(),
		.pid = (s32)draw_number(),
		.weight = { 0, draw_below(2) * draw_number(), draw_number() },
	};
	draw_text(row->container, sizeof(row->container));
	draw_text(row->process, sizeof(row->process));
	draw_text(row->function, sizeof(row->function));
}

static void draw_view(struct view *view)
{
	struct view_header *h = &view->header;

	*h = (struct view_header){
		.backend = draw_below(5),
		.running = draw_below(2),
		.cpus = draw_number(),
		.duration_ns = draw_number(),
		.enabled_ns = draw_number(),
		.blind_ns = draw_number(),
		.records = draw_number(),
		.suspect = draw_number(),
		.lost = draw_number(),
		.unattributed = draw_number(),
		.evicted = draw_number(),
		.cost_ns = draw_number(),
		.memory = draw_number(),
		.faults = draw_below(2) * draw_number(),
		.throttles = draw_below(2) * draw_number(),
		.cpus_stopped = draw_below(2),
		.weight = { 0, draw_below(2) * draw_number(), draw_below(2) * draw_number() },
		.unweighed = draw_below(2),
		.unattributed_weight = draw_number(),
		.evicted_weight = draw_number(),
	};
	draw_text(h->fault, sizeof(h->fault));
	if (draw_below(2))
		snprintf(h->source, sizeof(h->source), "recording");
	else
		draw_text(h->source, sizeof(h->source));
	view->count = draw_below(8);
	for (u32 i = 0; i < view->count; i++)
		draw_row(&view->rows[i]);
}

/* Check that each line of @text fits @width, and that no byte moves the cursor. */
static void check_lines(char *text, size_t width)
{
	char *line;

	while ((line = strsep(&text, "\n"))) {
		assert_row(!width || text_get_width(line) <= width);
		for (const char *c = line; *c; c++)
			assert_row((u8)*c >= ' ' && *c != '\x7f');
	}
}

/* Any process can choose its name, so a row must stay one line for any bytes in the name. */
static void any_view_fits(void **state)
{
	struct view_row *rows = calloc(8, sizeof(*rows));
	struct known_share share = { .name = "walk", .percent = 70 };
	struct view view = { .rows = rows };

	(void)state;
	for (u32 round = 0; round < 5000; round++) {
		struct view_format format = {
			.known_share = &share,
			.known_shares = draw_below(2),
			.group = draw_below(VIEW_GROUPS),
			.sort = draw_below(VIEW_SORTS),
			.width = draw_below(4) ? 1 + draw_below(220) : 0,
			.name = draw_below(2) ? "a\x1b[31m\nb" : NULL,
		};
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		test_row("round %u, width %zu", round, format.width);
		draw_view(&view);
		format_print_header(out, &view.header, &format);
		format_print_table(out, &view, &format);
		fclose(out);
		check_lines(text, format.width);
		free(text);
	}
	free(rows);
}

static char *print_view(const struct view *view)
{
	const struct view_format format = { .group = VIEW_CONTAINER };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	format_print_header(out, &view->header, &format);
	format_print_table(out, view, &format);
	fclose(out);
	return text;
}

/*
 * Shares are computed from weights if there is one unit, else from samples. An unusual unit is
 * printed.
 */
static void shares(void **state)
{
	struct view_row rows[] = {
		{ .samples = 10, .weight = { 0, 0, 60000 }, .container = "long" },
		{ .samples = 80, .weight = { 0, 0, 20000 }, .container = "short" },
	};
	struct view view = { .count = 2, .rows = rows };
	struct view_header *h = &view.header;
	char *text;

	(void)state;
	*h = (struct view_header){ .records = 100, .unattributed = 10, .evicted = 1,
				   .weight = { 0, 0, 100000 }, .unattributed_weight = 20000,
				   .evicted_weight = 4000 };
	text = print_view(&view);
	assert_non_null(strstr(text, "unattributed 20.0 %  evicted 4.0 %\n"));
	assert_non_null(strstr(text, "\n60.0 %  long"));
	assert_non_null(strstr(text, "\n20.0 %  short"));
	free(text);

	h->weight[UNIT_MICRO_OPS] = 1;
	text = print_view(&view);
	assert_non_null(strstr(text, "unattributed 10.0 %  evicted 1.0 %  shares count samples:"));
	assert_non_null(strstr(text, "\n10.0 %  long"));
	free(text);

	/*
	 * The unit or the interval may be unknown: a perf.data does not contain the unit, and an
	 * old daemon sends no interval.
	 */
	h->weight[UNIT_MICRO_OPS] = h->weight[UNIT_INSTRUCTIONS] = 0;
	h->weight[UNIT_UNKNOWN] = 7;
	text = print_view(&view);
	assert_non_null(strstr(text, "unattributed 10.0 %  evicted 1.0 %\n"));
	assert_non_null(strstr(text, "\n80.0 %  short"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_view_fits),
		cmocka_unit_test(shares),
	};

	setenv("LC_ALL", "C.UTF-8", 1);
	text_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
