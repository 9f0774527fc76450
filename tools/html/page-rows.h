/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rows of a page as columns of variable-length integers. tools/html/page/data.js reads them, so
 * change both together.
 *
 * A column has one number for each row, or for each element of the lists of the rows; another
 * column then has the lengths of these lists. Columns of equal or small numbers are compressed
 * well, so a number that can be predicted is stored as the difference from the prediction.
 */
#ifndef SPEPROF_PAGE_ROWS_H
#define SPEPROF_PAGE_ROWS_H

#include "page-strings.h"
#include "page-time.h"
#include "query/query-result.h"
#include "util/protobuf.h"

/*
 * Latencies that have histograms, in addition to those of loads and stores, which are indexed by
 * &enum spe_level.
 */
enum page_histogram {
	PAGE_OTHER = SPE_LEVELS, /* total latency of operations that are no loads or stores */
	PAGE_ISSUE,
	PAGE_TRANSLATION,
	PAGE_HISTOGRAMS,
};

/** page_histogram_name() - return the name of a histogram: of &enum spe_level, or "other", ... */
const char *page_histogram_name(unsigned int histogram);

/**
 * enum page_column - the columns
 * @PAGE_CONTAINER, @PAGE_PROGRAM, @PAGE_BINARY, @PAGE_FUNCTION, @PAGE_FILE: number of a string;
 *	the difference from the previous row
 * @PAGE_LINE: line in the file; 0: unknown
 * @PAGE_WEIGHT: operations that the samples stand for; the difference from the number of samples
 *	times the mean interval
 * @PAGE_UNTIMED_OTHERS: operations other than loads and stores without a total latency
 * @PAGE_LOADS: loads; all other loads and stores that the histograms count are stores
 * @PAGE_BRANCHES: this and the following columns: numbers of samples, as in &struct
 *	query_row.counters
 * @PAGE_MAX: largest total latency, as the difference from the end of the highest bucket in use
 * @PAGE_SET: one number for each histogram of the total latency, by what served the access: twice
 *	the difference from the previous number of &enum page_histogram, which starts at -1; plus 1
 *	if it is the last one of the row. A row without histograms has the number 1
 * @PAGE_UNTIMED: for each histogram, loads and stores that the level served, without a latency
 * @PAGE_SUM: for each histogram, the sum of the latencies, as the difference from the sum of the
 *	ends of the buckets
 * @PAGE_BUCKET: one number for each bucket in use: eight times the difference from the previous
 *	number of a bucket, which starts at -1; plus 4 if it is the last one of the histogram; plus
 *	its count less 1, at most 3. A histogram without a latency has the number 4
 * @PAGE_EXTRA: for each bucket with a count of 4 or more, which @PAGE_BUCKET stores as 3: the count
 * less 4
 * @PAGE_TIME_ARMED, @PAGE_TIME_BLIND, @PAGE_TIME_LOST: one number for each slice of time, as in
 *	&struct time_ledger
 * @PAGE_TIME_UNTIMED: one number for each slice of each program, as in &struct time_slice
 * @PAGE_TIME_SUM, @PAGE_TIME_BUCKET, @PAGE_TIME_EXTRA: the histograms of these slices, as
 *	@PAGE_SUM, @PAGE_BUCKET and @PAGE_EXTRA
 * @PAGE_LATE_SET, @PAGE_LATE_SUM, @PAGE_LATE_BUCKET, @PAGE_LATE_EXTRA: the same for issue and
 *	translation latency
 * @PAGE_ISSUE_MAX, @PAGE_TRANSLATION_MAX: as @PAGE_MAX
 *
 * If there are more than PAGE_DETAILED_ROWS_MAX rows, the columns from @PAGE_LATE_SET on are empty.
 */
enum page_column {
	PAGE_CONTAINER,
	PAGE_PROGRAM,
	PAGE_BINARY,
	PAGE_FUNCTION,
	PAGE_FILE,
	PAGE_LINE,
	PAGE_WEIGHT,
	PAGE_UNTIMED_OTHERS,
	PAGE_LOADS,
	PAGE_BRANCHES,
	PAGE_MISPREDICTED,
	PAGE_SIMD,
	PAGE_REMOTE,
	PAGE_SNOOPED,
	PAGE_PEER,
	PAGE_MODIFIED,
	PAGE_MAX,
	PAGE_SET,
	PAGE_UNTIMED,
	PAGE_SUM,
	PAGE_BUCKET,
	PAGE_EXTRA,
	PAGE_TIME_ARMED,
	PAGE_TIME_BLIND,
	PAGE_TIME_LOST,
	PAGE_TIME_UNTIMED,
	PAGE_TIME_SUM,
	PAGE_TIME_BUCKET,
	PAGE_TIME_EXTRA,
	PAGE_LATE_SET,
	PAGE_LATE_SUM,
	PAGE_LATE_BUCKET,
	PAGE_LATE_EXTRA,
	PAGE_ISSUE_MAX,
	PAGE_TRANSLATION_MAX,
	PAGE_COLUMNS,
};

/* Above this number of rows, the page has no histograms of issue and translation latency. */
#define PAGE_DETAILED_ROWS_MAX 50000

/** page_column_name() - return the name by which data.js finds a column */
const char *page_column_name(enum page_column column);

/* Entries of &page_rows.strings: columns of names. They contain numbers of strings. */
#define PAGE_NAMES (PAGE_FILE + 1)

/**
 * struct page_rows - the rows so far
 * @column: the columns
 * @strings: distinct names, indexed by column
 * @previous: numbers of the names in the previous row, indexed by column
 * @count: number of rows
 * @unit: view_get_share_unit() of the recording; UNITS: no weights
 * @interval: mean number of operations between two samples, for PAGE_WEIGHT
 */
struct page_rows {
	struct protobuf column[PAGE_COLUMNS];
	struct page_strings strings[PAGE_NAMES];
	s64 previous[PAGE_NAMES];
	u32 count;
	unsigned int unit;
	u64 interval;
};

/** page_rows_init() - start without rows; @header has the weights of all samples */
void page_rows_init(struct page_rows *rows, const struct view_header *header);

/**
 * page_rows_add() - add a row
 * @row: a row by container, program, binary, function and, if the page has lines, line
 * @level: loads and stores of the row, indexed by &enum spe_level; SPE_LEVELS elements
 *
 * Return: 0; -E2BIG if a column would exceed its limit; -ENOMEM if memory cannot be allocated.
 */
int page_rows_add(struct page_rows *rows, const struct query_row *row,
		  const struct cell_level *level);

/** page_rows_add_time() - add the columns of slices of time; call it at most once */
void page_rows_add_time(struct page_rows *rows, const struct page_time *time);

/**
 * page_rows_finish() - finish the columns after the last row
 *
 * Return: 0; else the first error of all columns: -E2BIG if one exceeded its limit, -ENOMEM if
 * memory could not be allocated.
 */
int page_rows_finish(struct page_rows *rows);

/** page_rows_deinit() - free the memory */
void page_rows_deinit(struct page_rows *rows);

#endif
