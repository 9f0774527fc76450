// SPDX-License-Identifier: LGPL-2.1-or-later
#include "page-rows.h"

#include <errno.h>

/* Maximum bytes of a column: rows of a recording are limited by its size, not by a table. */
#define COLUMN_BYTES (256U << 20)

static const char *const column_names[PAGE_COLUMNS] = {
	[PAGE_CONTAINER] = "container",
	[PAGE_PROGRAM] = "program",
	[PAGE_BINARY] = "binary",
	[PAGE_FUNCTION] = "function",
	[PAGE_FILE] = "file",
	[PAGE_LINE] = "line",
	[PAGE_WEIGHT] = "weight",
	[PAGE_UNTIMED_OTHERS] = "untimed_others",
	[PAGE_LOADS] = "loads",
	[PAGE_BRANCHES] = "branches",
	[PAGE_MISPREDICTED] = "mispredicted",
	[PAGE_SIMD] = "simd",
	[PAGE_REMOTE] = "remote",
	[PAGE_SNOOPED] = "snooped",
	[PAGE_PEER] = "peer",
	[PAGE_MODIFIED] = "modified",
	[PAGE_MAX] = "max",
	[PAGE_SET] = "set",
	[PAGE_UNTIMED] = "untimed",
	[PAGE_SUM] = "sum",
	[PAGE_BUCKET] = "bucket",
	[PAGE_EXTRA] = "extra",
	[PAGE_TIME_ARMED] = "time_armed",
	[PAGE_TIME_BLIND] = "time_blind",
	[PAGE_TIME_LOST] = "time_lost",
	[PAGE_TIME_UNTIMED] = "time_untimed",
	[PAGE_TIME_SUM] = "time_sum",
	[PAGE_TIME_BUCKET] = "time_bucket",
	[PAGE_TIME_EXTRA] = "time_extra",
	[PAGE_LATE_SET] = "late_set",
	[PAGE_LATE_SUM] = "late_sum",
	[PAGE_LATE_BUCKET] = "late_bucket",
	[PAGE_LATE_EXTRA] = "late_extra",
	[PAGE_ISSUE_MAX] = "issue_max",
	[PAGE_TRANSLATION_MAX] = "translation_max",
};

const char *page_column_name(enum page_column column)
{
	return column_names[column];
}

const char *page_histogram_name(unsigned int histogram)
{
	static const char *const names[] = { "other", "issue", "translation" };

	return histogram < SPE_LEVELS ? spe_level_name(histogram) : names[histogram - SPE_LEVELS];
}

void page_rows_init(struct page_rows *rows, const struct view_header *header)
{
	*rows = (struct page_rows){ .unit = view_get_share_unit(header) };
	if (rows->unit < UNITS && header->records)
		rows->interval = header->weight[rows->unit] / header->records;
	for (unsigned int i = 0; i < PAGE_COLUMNS; i++)
		protobuf_init(&rows->column[i], COLUMN_BYTES);
}

/* Flags in numbers of PAGE_SET and PAGE_BUCKET. */
#define SET_LAST     1U
#define BUCKET_LAST  4U
#define BUCKET_EXTRA 3U

/* The columns of a list of histograms. */
struct histogram_columns {
	struct protobuf *set;
	struct protobuf *sum;
	struct protobuf *bucket;
	struct protobuf *extra;
};

static void add_bucket(const struct histogram_columns *to, unsigned int step, u64 count, bool last)
{
	u64 small = count - 1 < BUCKET_EXTRA ? count - 1 : BUCKET_EXTRA;

	protobuf_append_packed(to->bucket, step * 8 + (last ? BUCKET_LAST : 0) + small);
	if (small == BUCKET_EXTRA)
		protobuf_append_packed(to->extra, count - 1 - BUCKET_EXTRA);
}

static void add_buckets(const struct histogram_columns *to, const struct histogram *h)
{
	unsigned int last = HISTOGRAM_BUCKETS, next = 0;
	u64 estimate = 0;

	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
		if (h->bucket[i])
			last = i;
	if (last == HISTOGRAM_BUCKETS)
		protobuf_append_packed(to->bucket, BUCKET_LAST);
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (!h->bucket[i])
			continue;
		add_bucket(to, i + 1 - next, h->bucket[i], i == last);
		estimate += h->bucket[i] * histogram_get_upper_bound(i);
		next = i + 1;
	}
	protobuf_append_packed_zigzag(to->sum, (s64)(estimate - h->sum));
}

static void subtract_histogram(struct histogram *from, const struct histogram *h)
{
	from->count -= h->count;
	from->sum -= h->sum;
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
		from->bucket[i] -= h->bucket[i];
}

/* Add the numbers of the histograms in @present, a set of bits. */
static void add_sets(const struct histogram_columns *to, u32 present)
{
	unsigned int next = 0;

	if (!present)
		protobuf_append_packed(to->set, SET_LAST);
	for (; present; present &= present - 1) {
		unsigned int number = (unsigned int)__builtin_ctz(present);

		protobuf_append_packed(to->set, (number + 1 - next) * 2 +
							(present & (present - 1) ? 0 : SET_LAST));
		next = number + 1;
	}
}

static_assert(PAGE_HISTOGRAMS <= 32, "add_sets() has a bit for each");

/*
 * The total latency of a row is the sum of the latencies of its levels and of its other operations,
 * so only these are stored.
 */
static void add_total_latency(struct page_rows *rows, const struct query_row *row,
			      const struct cell_level *levels)
{
	const struct histogram_columns to = { &rows->column[PAGE_SET], &rows->column[PAGE_SUM],
					      &rows->column[PAGE_BUCKET],
					      &rows->column[PAGE_EXTRA] };
	struct histogram other = row->counters.latency[PROFILE_TOTAL];
	u64 others = row->counters.samples;
	u32 present = 0;

	for (unsigned int i = 0; i < SPE_LEVELS; i++) {
		const struct cell_level *level = &levels[i];

		if (!level->count)
			continue;
		present |= 1U << i;
		protobuf_append_packed(&rows->column[PAGE_UNTIMED],
				       level->count - level->latency.count);
		add_buckets(&to, &level->latency);
		subtract_histogram(&other, &level->latency);
		others -= level->count;
	}
	if (other.count) {
		present |= 1U << PAGE_OTHER;
		protobuf_append_packed(&rows->column[PAGE_UNTIMED], 0);
		add_buckets(&to, &other);
	}
	add_sets(&to, present);
	protobuf_append_packed(&rows->column[PAGE_UNTIMED_OTHERS], others - other.count);
}

static void add_issue_and_translation(struct page_rows *rows, const struct histogram *latency)
{
	const struct histogram_columns to = { &rows->column[PAGE_LATE_SET],
					      &rows->column[PAGE_LATE_SUM],
					      &rows->column[PAGE_LATE_BUCKET],
					      &rows->column[PAGE_LATE_EXTRA] };
	u32 present = 0;

	for (unsigned int i = PROFILE_ISSUE; i < PROFILE_LATENCIES; i++) {
		if (!latency[i].count)
			continue;
		present |= 1U << (PAGE_OTHER + i);
		add_buckets(&to, &latency[i]);
	}
	add_sets(&to, present);
}

static void add_max(struct page_rows *rows, enum page_column column, const struct histogram *h)
{
	u32 upper = 0;

	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
		if (h->bucket[i])
			upper = histogram_get_upper_bound(i);
	protobuf_append_packed_zigzag(&rows->column[column], (s64)upper - h->max);
}

static int add_name(struct page_rows *rows, enum page_column column, const char *name)
{
	s64 number = page_strings_add(&rows->strings[column], name);

	if (number < 0)
		return (int)number;
	protobuf_append_packed_zigzag(&rows->column[column], number - rows->previous[column]);
	rows->previous[column] = number;
	return 0;
}

static int add_names(struct page_rows *rows, const struct query_row *row)
{
	const char *const names[PAGE_NAMES] = {
		[PAGE_CONTAINER] = row->container, [PAGE_PROGRAM] = row->program,
		[PAGE_BINARY] = row->binary,	   [PAGE_FUNCTION] = row->function,
		[PAGE_FILE] = row->file,
	};
	int r = 0;

	for (unsigned int i = 0; i < PAGE_NAMES && r >= 0; i++)
		r = add_name(rows, i, names[i]);
	return r;
}

/* Add the counters of a row that its histograms do not include. */
static void add_counts(struct page_rows *rows, const struct query_row *row)
{
	const struct profile_counters *c = &row->counters;
	const struct {
		enum page_column column;
		u64 value;
	} values[] = {
		{ PAGE_LINE, row->line },
		{ PAGE_LOADS, c->counts.kind[SPE_KIND_LOAD] },
		{ PAGE_BRANCHES, c->counts.kind[SPE_KIND_BRANCH] },
		{ PAGE_MISPREDICTED, c->counts.mispredicted },
		{ PAGE_SIMD, c->counts.simd },
		{ PAGE_REMOTE, counters_get_origin_accesses(c, SPE_ORIGIN_REMOTE) },
		{ PAGE_SNOOPED, counters_get_origin_accesses(c, SPE_ORIGIN_SNOOPED) },
		{ PAGE_PEER, counters_get_origin_accesses(c, SPE_ORIGIN_PEER) },
		{ PAGE_MODIFIED, counters_get_origin_accesses(c, SPE_ORIGIN_MODIFIED) },
	};
	u64 weight = rows->unit < UNITS ? c->weight[rows->unit] : 0;

	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		protobuf_append_packed(&rows->column[values[i].column], values[i].value);
	protobuf_append_packed_zigzag(&rows->column[PAGE_WEIGHT],
				      (s64)(weight - c->samples * rows->interval));
}

int page_rows_add(struct page_rows *rows, const struct query_row *row,
		  const struct cell_level *level)
{
	const struct histogram *latency = row->counters.latency;

	if (rows->count == UINT32_MAX)
		return -E2BIG;
	add_counts(rows, row);
	add_max(rows, PAGE_MAX, &latency[PROFILE_TOTAL]);
	add_max(rows, PAGE_ISSUE_MAX, &latency[PROFILE_ISSUE]);
	add_max(rows, PAGE_TRANSLATION_MAX, &latency[PROFILE_TRANSLATION]);
	add_total_latency(rows, row, level);
	add_issue_and_translation(rows, latency);
	rows->count++;
	return add_names(rows, row);
}

void page_rows_add_time(struct page_rows *rows, const struct page_time *time)
{
	const struct histogram_columns to = { .sum = &rows->column[PAGE_TIME_SUM],
					      .bucket = &rows->column[PAGE_TIME_BUCKET],
					      .extra = &rows->column[PAGE_TIME_EXTRA] };

	for (u32 i = 0; i < time->slices; i++) {
		const struct time_ledger *ledger = &time->ledger[i];

		protobuf_append_packed(&rows->column[PAGE_TIME_ARMED], ledger->armed_ns);
		protobuf_append_packed(&rows->column[PAGE_TIME_BLIND], ledger->blind_ns);
		protobuf_append_packed(&rows->column[PAGE_TIME_LOST], ledger->lost_bytes);
	}
	for (u32 i = 0; i < time->programs * time->slices; i++) {
		const struct time_slice *slice =
			&time->program[i / time->slices].slice[i % time->slices];

		protobuf_append_packed(&rows->column[PAGE_TIME_UNTIMED], slice->untimed);
		add_buckets(&to, &slice->latency);
	}
}

int page_rows_finish(struct page_rows *rows)
{
	for (unsigned int i = 0; i < PAGE_COLUMNS; i++)
		if (rows->column[i].error)
			return rows->column[i].error;
	for (unsigned int i = PAGE_LATE_SET;
	     i < PAGE_COLUMNS && rows->count > PAGE_DETAILED_ROWS_MAX; i++)
		protobuf_deinit(&rows->column[i]);
	return 0;
}

void page_rows_deinit(struct page_rows *rows)
{
	for (unsigned int i = 0; i < PAGE_COLUMNS; i++)
		protobuf_deinit(&rows->column[i]);
	for (unsigned int i = 0; i < PAGE_NAMES; i++)
		page_strings_deinit(&rows->strings[i]);
}
