/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The page that shows rows of the daemon in a browser: its files, which have no data, and the
 * parameters of its queries.
 */
#ifndef SPEPROF_EXPORTER_PAGE_H
#define SPEPROF_EXPORTER_PAGE_H

#include "codec/env.h"

/* the session that the configuration of the daemon defines, which has a history */
#define PAGE_MACHINE "machine"

/* bytes of the name of a session with its NUL; the daemon has the same limit */
#define PAGE_SESSION_SIZE 64

/* bytes of a glob for containers with its NUL; the daemon has the same limit */
#define PAGE_CONTAINER_SIZE 256

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
 * enum page_answer - what a query returns, always as JSON
 * @PAGE_ANSWER_ROWS: rows, as "speprof report -j" prints them
 * @PAGE_ANSWER_TIMELINE: the reply of the daemon's method GetTimeline as an array
 * @PAGE_ANSWER_SESSIONS: an object with the name of the host, and with the name and the state of
 * each session
 */
enum page_answer {
	PAGE_ANSWER_ROWS,
	PAGE_ANSWER_TIMELINE,
	PAGE_ANSWER_SESSIONS,
};

/** page_find_answer() - return whether @path is that of a query; then @ret_answer is set */
bool page_find_answer(const char *path, enum page_answer *ret_answer);

/**
 * struct page_query - what to query
 * @answer: what is returned
 * @period: "start", "10s", "1m" or "10m"; "1h" or "1d" of the history
 * @past_s: length of a period of the history in seconds; 0: the daemon's counters
 * @step_s: length of a step of a timeline in seconds
 * @group: keys of the rows, with commas between them, as the daemon's method Query reads them
 * @session: name of the session
 * @container: a glob that selects containers; "": all
 */
struct page_query {
	enum page_answer answer;
	const char *period;
	u32 past_s;
	u32 step_s;
	const char *group;
	char session[PAGE_SESSION_SIZE];
	char container[PAGE_CONTAINER_SIZE];
};

enum page_parameter {
	PAGE_PERIOD,
	PAGE_ROWS,
	PAGE_SESSION,
	PAGE_CONTAINER,
	PAGE_PARAMETERS,
};

/**
 * struct page_parameters - the parameters of a URL
 * @value: their texts, within the request, by &enum page_parameter; NULL: not given
 */
struct page_parameters {
	const char *value[PAGE_PARAMETERS];
};

/**
 * page_set_parameter() - accept a parameter of a query
 * @parameters: at first all NULL
 * @key: name of the parameter, @key_size bytes before its NUL; any bytes
 * @value: NULL: the URL has no "=" behind @key; else @value_size bytes before its NUL; any bytes.
 * It must outlive @parameters
 * @ret_why: on failure, a static sentence
 *
 * Return: 0; -EINVAL if the parameter or its value is wrong, or it is given twice.
 */
int page_set_parameter(struct page_parameters *parameters, const char *key, size_t key_size,
		       const char *value, size_t value_size, const char **ret_why);

/**
 * page_query_init() - make a query of parameters that page_set_parameter() accepted
 * @query: initialized on success
 * @answer: what the query returns
 * @parameters: only read during the call
 * @ret_why: on failure, a static sentence
 *
 * Defaults are the session machine, the period since its start, rows of functions and all
 * containers. A timeline needs a period of the history.
 *
 * Return: 0; -EINVAL if the daemon has no such answer.
 */
int page_query_init(struct page_query *query, enum page_answer answer,
		    const struct page_parameters *parameters, const char **ret_why);

#endif
