/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The data of an HTML report: what tools/html/page/data.js reads. Header, names and tables are one
 * JSON object; the rows, which may be many, are columns of variable-length integers.
 */
#ifndef SPEPROF_PAGE_DATA_H
#define SPEPROF_PAGE_DATA_H

#include "lib/input.h"
#include "page-time.h"
#include "query/query.h"

/**
 * struct page_config - what the page shows
 * @name: name of the recording on the command line; NULL: it has none
 * @time: counters of the recording over time; NULL: unknown
 * @select: which rows the page has
 * @lines: rows have file names and line numbers
 */
struct page_config {
	const char *name;
	const struct page_time *time;
	struct query_select select;
	bool lines;
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

#endif
