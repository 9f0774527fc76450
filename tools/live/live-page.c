// SPDX-License-Identifier: LGPL-2.1-or-later
#include "live-page.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "codec/payload.h"
#include "lib/bus-json.h"
#include "lib/statistics-text.h"
#include "lib/text.h"
#include "util/array.h"

static void page_add_line(struct live_page *page, enum term_style ink, const char *format, ...)
	__attribute__((__format__(__printf__, 3, 4)));

static void page_add_line(struct live_page *page, enum term_style ink, const char *format, ...)
{
	struct live_line *lines = array_reserve(page->line, &page->capacity, page->count + 1,
						sizeof(*lines), UINT16_MAX);
	va_list args;

	if (!lines)
		return;
	page->line = lines;
	va_start(args, format);
	vsnprintf(lines[page->count].text, LIVE_LINE_SIZE, format, args);
	va_end(args);
	lines[page->count++].ink = ink;
}

void live_page_clear(struct live_page *page)
{
	free(page->line);
	*page = (struct live_page){ 0 };
}

void live_page_add_help(struct live_page *page)
{
	static const char *const keys[][2] = {
		{ "Up Down k j", "choose a row" },
		{ "PgUp PgDn", "choose a row, a page away" },
		{ "Home End", "first and last row" },
		{ "Enter Right", "show what a row consists of" },
		{ "Esc Left", "back, or to wider rows" },
		{ "i", "details of a row" },
		{ "/ n N", "search names; next, previous" },
		{ "f", "filter rows; empty: all" },
		{ "s", "menu: sort order" },
		{ "g", "menu: group" },
		{ "w", "menu: period" },
		{ "S", "menu: session" },
		{ "p Space", "pause and resume" },
		{ "? h", "this help" },
		{ "q", "quit" },
	};
	static const char *const filters[] = {
		"web*              a name matches",    "walk              a name contains it",
		"container=web*    this name matches", "binary!=*libc*    it does not",
		"dram>1000         a measure",	       "!walk             the opposite",
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		page_add_line(page, TERM_PLAIN, "%-11s %s", keys[i][0], keys[i][1]);
	page_add_line(page, TERM_PLAIN, "%s", "");
	page_add_line(page, TERM_STRONG, "Words of a filter; all must hold");
	for (size_t i = 0; i < ARRAY_SIZE(filters); i++)
		page_add_line(page, TERM_PLAIN, "%s", filters[i]);
	page_add_line(page, TERM_PLAIN, "%s", "");
	page_add_line(page, TERM_FAINT, "~ marks what an emulated SPU models.");
}

/* Append a line with a label, a count, its share of @whole and, if @width has space, a bar. */
static void page_add_bar_line(struct live_page *page, u32 width, const char *label, u64 count,
			      u64 whole, u64 most)
{
	static const char full[] = "################################################";
	char number[TEXT_NUMBER_SIZE], share[TEXT_NUMBER_SIZE], fitted[TEXT_SIZE];
	u32 label_width = width < 60 ? 16 : 24, used = 2 + label_width + 1 + 12 + 1 + 7 + 2;
	u64 columns = width > used ? width - used : 0;

	if (columns > sizeof(full) - 1)
		columns = sizeof(full) - 1;
	columns = most ? ((unsigned __int128)count * columns + most - 1) / most : 0;
	text_fit(label, label_width, false, fitted);
	page_add_line(page, TERM_PLAIN, "  %s %12s %7s  %.*s", fitted,
		      text_format_count(number, count), text_format_percent(share, count, whole),
		      (int)columns, full);
}

/**
 * struct count_table - a table of counts
 * @name: returns the name of the count with the given index; NULL if it has no name
 */
struct count_table {
	const u64 *count;
	u32 size;
	const char *(*name)(u32 i);
};

static const char *get_level_name(u32 i)
{
	return spe_level_name((enum spe_level)i);
}

static const char *get_event_name(u32 i)
{
	return spe_event_name((u8)i);
}

static void add_counts(struct live_page *page, u32 width, const char *heading,
		       const struct count_table *counts, u64 whole)
{
	u64 most = 0;

	for (u32 i = 0; i < counts->size; i++)
		most = counts->count[i] > most ? counts->count[i] : most;
	if (!most)
		return;
	page_add_line(page, TERM_PLAIN, "%s", "");
	page_add_line(page, TERM_STRONG, "%s", heading);
	for (u32 i = 0; i < counts->size; i++)
		if (counts->count[i] && counts->name(i))
			page_add_bar_line(page, width, counts->name(i), counts->count[i], whole,
					  most);
}

/* Return the number of bytes of @text that fit into @width columns, at least one character. */
static size_t count_fitting_bytes(const char *text, size_t width)
{
	char part[LIVE_LINE_SIZE];
	size_t bytes = 0, next = 0;

	while (text[next]) {
		do
			next++;
		while ((text[next] & 0xc0) == 0x80);
		snprintf(part, sizeof(part), "%.*s", (int)next, text);
		if (bytes && text_get_width(part) > width)
			break;
		bytes = next;
	}
	return bytes;
}

/* Append a name, in several lines if it is wider than @width. */
static void add_name(struct live_page *page, u32 width, const char *label, const char *name)
{
	const char *first = label;

	while (*name) {
		size_t bytes = count_fitting_bytes(name, width > 11 ? width - 11 : 1);

		page_add_line(page, TERM_PLAIN, "%-10s %.*s", first, (int)bytes, name);
		name += bytes;
		first = "";
	}
}

static void add_names(struct live_page *page, u32 width, const struct view_row *row)
{
	char line[sizeof(row->file) + 16];

	add_name(page, width, "container", row->container);
	add_name(page, width, row->pid <= 0 ? "program" : "process", row->process);
	if (row->pid > 0)
		page_add_line(page, TERM_PLAIN, "%-10s %d", "pid", row->pid);
	add_name(page, width, "function", row->function);
	add_name(page, width, "binary", row->binary);
	snprintf(line, sizeof(line), "%s:%u", row->file, row->line);
	add_name(page, width, "line", row->line ? line : "");
}

static u64 get_bucket_number(json_object *buckets, size_t i, size_t which)
{
	return json_object_get_uint64(
		json_object_array_get_idx(json_object_array_get_idx(buckets, i), which));
}

static void add_histogram(struct live_page *page, u32 width, const char *label,
			  json_object *latency)
{
	json_object *buckets = latency ? json_object_array_get_idx(latency, 2) : NULL;
	u64 count = latency ? json_object_get_uint64(json_object_array_get_idx(latency, 0)) : 0;
	size_t n = buckets ? json_object_array_length(buckets) : 0;
	char bucket[TEXT_NUMBER_SIZE + 4], number[TEXT_NUMBER_SIZE];
	u64 most = 0;

	if (!count)
		return;
	for (size_t i = 0; i < n; i++)
		most = get_bucket_number(buckets, i, 1) > most ? get_bucket_number(buckets, i, 1) :
								 most;
	page_add_line(page, TERM_PLAIN, "%s", "");
	page_add_line(page, TERM_STRONG, "%s latency, cycles", label);
	page_add_line(
		page, TERM_PLAIN, "  mean %llu  p50 %llu  p99 %llu  p99.9 %llu",
		(unsigned long long)(json_object_get_uint64(json_object_array_get_idx(latency, 1)) /
				     count),
		(unsigned long long)statistics_find_quantile(latency, 500),
		(unsigned long long)statistics_find_quantile(latency, 990),
		(unsigned long long)statistics_find_quantile(latency, 999));
	for (size_t i = 0; i < n; i++) {
		snprintf(bucket, sizeof(bucket), "<= %s",
			 text_format_count(number, get_bucket_number(buckets, i, 0)));
		page_add_bar_line(page, width, bucket, get_bucket_number(buckets, i, 1), count,
				  most);
	}
}

static void add_histograms(struct live_page *page, u32 width,
			   const struct live_histograms *histograms)
{
	static const char *const latencies[][2] = {
		{ "Total", "latency_total" },
		{ "Issue", "latency_issue" },
		{ "Translation", "latency_translation" },
	};

	page_add_line(page, TERM_PLAIN, "%s", "");
	if (*histograms->error) {
		page_add_line(page, TERM_WARN, "No histograms: %s", histograms->error);
		return;
	}
	if (!histograms->json) {
		page_add_line(page, TERM_FAINT, "Histograms are being queried.");
		return;
	}
	page_add_line(page, TERM_FAINT, "Histograms: %s", live_period_name(1 + histograms->period));
	for (size_t i = 0; i < ARRAY_SIZE(latencies); i++)
		add_histogram(page, width, latencies[i][0],
			      json_get(histograms->json, latencies[i][1]));
}

void live_page_add_details(struct live_page *page, const struct view_row *row,
			   const struct view_header *header,
			   const struct live_histograms *histograms, u32 period, u32 width)
{
	const u64 operations[] = { row->loads, row->stores, row->branches, row->mispredicted,
				   row->simd };
	const char *const operation_names[] = { "loads", "stores", "branches", "mispredicted",
						"SVE and SME" };
	struct count_table levels = { row->level, SPE_LEVELS, get_level_name };
	struct count_table events = { row->event, VIEW_EVENTS, get_event_name };
	unsigned int unit = view_get_share_unit(header);
	char number[TEXT_NUMBER_SIZE], share[TEXT_NUMBER_SIZE];

	add_names(page, width, row);
	page_add_line(page, TERM_PLAIN, "%s", "");
	if (header->backend == BACKEND_EMULATED)
		page_add_line(page, TERM_WARN, "All but names and samples is modelled.");
	page_add_line(page, TERM_STRONG, "Operations, %s", live_period_name(period));
	page_add_line(page, TERM_PLAIN, "  %s samples, %s of all",
		      text_format_count(number, row->samples),
		      text_format_percent(share, view_get_share_numerator(row, unit),
					  view_get_share_denominator(header, unit)));
	for (size_t i = 0; i < ARRAY_SIZE(operations); i++)
		if (operations[i])
			page_add_bar_line(page, width, operation_names[i], operations[i],
					  row->samples, row->samples);
	add_counts(page, width, "Loads and stores served by", &levels, row->memory);
	add_counts(page, width, "Events", &events, row->samples);
	add_histograms(page, width, histograms);
}
