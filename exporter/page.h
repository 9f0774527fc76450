/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The page that shows rows of the daemon in a browser: its files, which have no data, and the
 * parameters of a query for its rows.
 */
#ifndef SPEPROF_EXPORTER_PAGE_H
#define SPEPROF_EXPORTER_PAGE_H

#include "codec/env.h"

/* path of the query for rows */
#define PAGE_QUERY_PATH "/page/query"

/*
 * The Content-Security-Policy of each answer below /page/: scripts, styles and data only of this
 * server, and no inline script or style
 */
#define PAGE_POLICY                                                                     \
	"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " \
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/**
 * struct page_file - a file of the page
 * @path: path of its URL
 * @type: its Content-Type
 * @data: its bytes
 * @size: number of bytes
 */
struct page_file {
	const char *path;
	const char *type;
	const unsigned char *data;
	size_t size;
};

/** page_find_file() - return the file with the path @path; NULL: there is none */
const struct page_file *page_find_file(const char *path);

/**
 * struct page_query - which rows to show
 * @period: "start", "10s", "1m" or "10m"
 * @group: keys of the rows, with commas between them, as the daemon's method Query reads them
 */
struct page_query {
	const char *period;
	const char *group;
};

/**
 * struct page_parameters - the parameters of a URL
 * @period: NULL: not given
 * @rows: NULL: not given
 */
struct page_parameters {
	const char *period;
	const char *rows;
};

/**
 * page_set_parameter() - accept a parameter of a query
 * @parameters: at first all NULL
 * @key: name of the parameter, @key_size bytes before its NUL; any bytes
 * @value: NULL: the URL has no "=" behind @key; else @value_size bytes before its NUL; any bytes
 * @ret_why: on failure, a static sentence
 *
 * Return: 0; -EINVAL if the parameter or its value is wrong, or it is given twice.
 */
int page_set_parameter(struct page_parameters *parameters, const char *key, size_t key_size,
		       const char *value, size_t value_size, const char **ret_why);

/**
 * page_query_from_parameters() - return the query for parameters that page_set_parameter() accepted
 *
 * Defaults are the period since the start and rows of functions.
 */
struct page_query page_query_from_parameters(const struct page_parameters *parameters);

#endif
