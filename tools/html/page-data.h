/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The data of an HTML report: what tools/html/page/data.js reads. Header, names and tables are one
 * JSON object; the rows of a recording, which may be many, are columns of variable-length integers.
 */
#ifndef SPEPROF_PAGE_DATA_H
#define SPEPROF_PAGE_DATA_H

#include <json-c/json.h>

#include "lib/input.h"
#include "lib/sampled-pages.h"
#include "page-time.h"
#include "query/query.h"

/* Maximum number of shared cache lines, and of memory pages, on the HTML page. */
#define PAGE_HOT_MAX 100

/* Maximum number of containers with sets of pages on the HTML page, and of ranges of each set. */
#define PAGE_SETS_MAX 20

/**
 * struct page_config - what the page shows
 * @name: name of the recording or profile; NULL: it has none
 * @time: counters of the recording over time; NULL: unknown
 * @pages: pages of the recording after sampled_pages_finish(); not used by page_data_from_json()
 * @select: which rows the page has
 * @lines: rows have file names and line numbers
 * @code: an array with an object for each --annotate: "glob", and "functions" of listing_json();
 *	NULL: none. It is not changed
 */
struct page_config {
	const char *name;
	const struct page_time *time;
	const struct sampled_pages *pages;
	struct query_select select;
	bool lines;
	json_object *code;
};

/**
 * page_data_new() - collect the data of a page
 * @input: result of input_load()
 * @config: what to show
 * @ret_data: the data; the caller frees it by free()
 * @ret_size: bytes of the data
 * @ret_error: set if the result is -ENOENT
 *
 * The rows of one recording are always the same bytes. Cache lines and memory pages may differ,
 * because tables of fixed size keep only the most frequent ones.
 *
 * Return: 0; -ENOENT if a selection matches nothing; -E2BIG if the recording has too many names or
 * rows; -ENOMEM if memory cannot be allocated.
 */
int page_data_new(struct input_recording *input, const struct page_config *config, u8 **ret_data,
		  size_t *ret_size, struct query_error *ret_error);

/**
 * struct page_json - parts of a page that are JSON already
 * @report: an object of "report -j" by container, program, binary and function, and perhaps line
 *	and level, sorted by operations; NULL: none
 * @diff: an object of "diff -j"; NULL: none. Either @report or @diff is set
 * @memory: the members of the objects of "sharing -j" and "report --pages -j"; NULL: unknown
 */
struct page_json {
	const char *report;
	const char *diff;
	const char *memory;
};

/**
 * page_data_from_json() - collect the data of a page about rows that are JSON
 * @config: what to show; &page_config.time is not used
 * @json: the rows
 * @ret_data: the data; the caller frees it by free()
 * @ret_size: bytes of the data
 *
 * Return: 0; -E2BIG or -ENOMEM if the data is too large for memory.
 */
int page_data_from_json(const struct page_config *config, const struct page_json *json,
			u8 **ret_data, size_t *ret_size);

#endif
