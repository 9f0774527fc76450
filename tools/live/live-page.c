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
		{ "a", "instructions of a function" },
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

/* ---- Instructions ---------------------------------------------------------------- */

/*
 * Columns of the numbers before an instruction: share, samples, mean and 99th percentile of the
 * latency. They have space for "100 %", 10^8 samples with commas, and 10^6 cycles.
 */
#define SHARE_WIDTH   6
#define SAMPLES_WIDTH 11
#define MEAN_WIDTH    8
#define P99_WIDTH     7
/* Below this width, in columns, the samples are in the line after the instruction. */
#define NARROW_WIDTH 60
/*
 * Maximum number of instructions of a page. With the lines of the source and of the levels, it has
 * at most UINT16_MAX lines.
 */
#define PAGE_INSTRUCTIONS_MAX 20000

/** struct instruction_cells - the texts of an instruction's columns */
struct instruction_cells {
	char share[TEXT_NUMBER_SIZE];
	char samples[TEXT_NUMBER_SIZE];
	char mean[TEXT_NUMBER_SIZE];
	char p99[TEXT_NUMBER_SIZE];
	const char *text;
};

static void write_cells(const struct instruction_cells *cells, u32 width,
			char ret[static LIVE_LINE_SIZE])
{
	if (width < NARROW_WIDTH)
		snprintf(ret, LIVE_LINE_SIZE, "%*s %*s %*s  %s", SHARE_WIDTH, cells->share,
			 MEAN_WIDTH - 2, cells->mean, P99_WIDTH - 2, cells->p99, cells->text);
	else
		snprintf(ret, LIVE_LINE_SIZE, "%*s %*s %*s %*s  %s", SHARE_WIDTH, cells->share,
			 SAMPLES_WIDTH, cells->samples, MEAN_WIDTH, cells->mean, P99_WIDTH,
			 cells->p99, cells->text);
}

void live_page_write_heading(bool modelled, u32 width, char ret[static LIVE_LINE_SIZE])
{
	struct instruction_cells cells = { .share = "SHARE",
					   .samples = "SAMPLES",
					   .text = "INSTRUCTION" };

	snprintf(cells.mean, sizeof(cells.mean), "%smean", modelled ? "~" : "");
	snprintf(cells.p99, sizeof(cells.p99), "%sp99", modelled ? "~" : "");
	write_cells(&cells, width, ret);
}

/*
 * Write the share of each level in the accesses of an instruction, the most frequent first. Return
 * the number of bytes written.
 */
static size_t write_levels(json_object *instruction, char *ret, size_t size)
{
	json_object *levels = json_get(instruction, "levels");
	u64 level[SPE_LEVELS], memory = json_number(instruction, "memory");
	char share[TEXT_NUMBER_SIZE];
	size_t used = 0;

	*ret = '\0';
	for (u32 i = 0; i < SPE_LEVELS; i++)
		level[i] = json_number(levels, get_level_name(i));
	for (;;) {
		u32 most = 0;

		for (u32 i = 1; i < SPE_LEVELS; i++)
			most = level[i] > level[most] ? i : most;
		if (!level[most] || used >= size)
			break;
		used += (size_t)snprintf(ret + used, size - used, "  %s %s", get_level_name(most),
					 text_format_percent_whole(share, level[most], memory));
		level[most] = 0;
	}
	return used < size ? used : size - 1;
}

/* Append a line with the levels and mispredictions of an instruction, if it has some. */
static void add_levels(struct live_page *page, json_object *instruction, u32 width)
{
	bool narrow = width < NARROW_WIDTH;
	u64 branches = json_number(instruction, "branches");
	char text[LIVE_LINE_SIZE] = "", number[TEXT_NUMBER_SIZE];
	size_t used = 0;

	if (narrow)
		used = (size_t)snprintf(
			text, sizeof(text), "  %s samples",
			text_format_count(number, json_number(instruction, "samples")));
	used += write_levels(instruction, text + used, sizeof(text) - used);
	if (branches)
		snprintf(text + used, sizeof(text) - used, "  mispredicted %s",
			 text_format_percent_whole(number, json_number(instruction, "mispredicted"),
						   branches));
	if (*text)
		page_add_line(page, TERM_FAINT, "%*s%s",
			      narrow ? SHARE_WIDTH - 2 :
				       SHARE_WIDTH + SAMPLES_WIDTH + MEAN_WIDTH + P99_WIDTH + 3,
			      "", text);
}

static double get_double(json_object *json, const char *key)
{
	return json_object_get_double(json_get(json, key));
}

static void add_instruction(struct live_page *page, json_object *instruction, u64 whole, u32 width)
{
	u64 samples = json_number(instruction, "samples");
	struct instruction_cells cells = { .text = json_text(instruction, "instruction") };
	double part = whole ? (double)samples / (double)whole : 0;
	char line[LIVE_LINE_SIZE], offset[64];

	if (!*cells.text) {
		snprintf(offset, sizeof(offset), "[at %s]", json_text(instruction, "offset"));
		cells.text = offset;
	}
	if (samples) {
		snprintf(cells.share, sizeof(cells.share), "%.1f %%",
			 100 * get_double(instruction, "share"));
		text_format_count(cells.samples, samples);
		if (json_get(instruction, "mean"))
			snprintf(cells.mean, sizeof(cells.mean), "%.1f",
				 get_double(instruction, "mean"));
		if (json_get(instruction, "p99"))
			snprintf(cells.p99, sizeof(cells.p99), "%.0f",
				 get_double(instruction, "p99"));
	}
	write_cells(&cells, width, line);
	page_add_line(page,
		      part >= 0.2  ? TERM_HOT :
		      part >= 0.05 ? TERM_WARM :
				     TERM_PLAIN,
		      "%s", line);
	if (samples)
		add_levels(page, instruction, width);
}

static void add_source_line(struct live_page *page, json_object *instruction)
{
	const char *file = json_text(instruction, "file"), *slash = strrchr(file, '/');

	page_add_line(page, TERM_STRONG, "%.60s:%llu  %.160s", slash ? slash + 1 : file,
		      (unsigned long long)json_number(instruction, "line"),
		      json_text(instruction, "source"));
}

static bool have_same_line(json_object *a, json_object *b)
{
	return json_number(a, "line") == json_number(b, "line") &&
	       !strcmp(json_text(a, "file"), json_text(b, "file"));
}

/* Append the instructions of a function. Return the largest number of samples of one. */
static void add_function(struct live_page *page, json_object *function, u32 width, u64 *most)
{
	json_object *lines = json_get(function, "instructions"), *previous = NULL;
	size_t count = json_object_array_length(lines);
	u64 whole = 0, samples;

	for (size_t i = 0; i < count; i++)
		whole += json_number(json_object_array_get_idx(lines, i), "samples");
	add_name(page, width, "function", json_text(function, "function"));
	add_name(page, width, "binary", json_text(function, "binary"));
	add_name(page, width, "no text", json_text(function, "reason"));
	for (size_t i = 0; i < count && i < PAGE_INSTRUCTIONS_MAX; i++) {
		json_object *line = json_object_array_get_idx(lines, i);

		if (json_number(line, "line") && (!previous || !have_same_line(line, previous)))
			add_source_line(page, line);
		previous = line;
		samples = json_number(line, "samples");
		if (samples > *most) {
			*most = samples;
			page->heaviest = page->count;
		}
		add_instruction(page, line, whole, width);
	}
	if (count > PAGE_INSTRUCTIONS_MAX)
		page_add_line(page, TERM_WARN, "%zu more; see \"speprof annotate\".",
			      count - PAGE_INSTRUCTIONS_MAX);
}

void live_page_add_instructions(struct live_page *page,
				const struct live_instructions *instructions, u32 width)
{
	u64 most = 0;

	if (*instructions->error) {
		add_name(page, width, "none:", instructions->error);
		page_add_line(page, TERM_FAINT, "%s", "a queries them again.");
		return;
	}
	if (!instructions->json) {
		page_add_line(page, TERM_FAINT, "%s", "The instructions are being read.");
		return;
	}
	for (size_t i = 0; i < json_object_array_length(instructions->json); i++) {
		if (i)
			page_add_line(page, TERM_PLAIN, "%s", "");
		add_function(page, json_object_array_get_idx(instructions->json, i), width, &most);
	}
}
