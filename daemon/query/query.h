/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A query describes rows: which samples are counted, by which keys they are grouped, and by which
 * measure rows are sorted. query-result.h computes the rows.
 */
#ifndef SPEPROF_QUERY_H
#define SPEPROF_QUERY_H

#include "measure.h"
#include "view/view.h"

/** enum query_key - a property by which samples are grouped into rows */
enum query_key {
	QUERY_CONTAINER,
	QUERY_PROGRAM, /* an executable */
	QUERY_COMM, /* name of a process */
	QUERY_PID,
	QUERY_BINARY, /* the file that has the code: the executable, a library, "[kernel]" */
	QUERY_BUILD_ID,
	QUERY_FUNCTION,
	QUERY_LINE, /* file and line of the source */
	QUERY_INSTRUCTION, /* offset in the binary */
	QUERY_MODE, /* user or kernel */
	QUERY_OP,
	QUERY_EVENT,
	QUERY_LEVEL, /* the cache or memory that served a load or store */
	QUERY_TYPE, /* type of the variable that a load or store accesses */
	QUERY_FIELD, /* field in this type */
	QUERY_CPU,
	QUERY_NODE,
	QUERY_KEYS,
};

/* Entries of &query.group: the maximum number of keys by which a query groups. */
#define QUERY_GROUP_MAX 8

/* All keys, for error messages about an unknown key. */
#define QUERY_KEY_LIST                                                                             \
	"container, program, comm, pid, binary, build_id, function, line, instruction, mode, op, " \
	"event, level, type, field, cpu or node"

/**
 * struct query_select - selects samples; a member that is NULL selects all
 * @container: glob for the name of the container; if it begins with "/", for its cgroup path
 * @program: glob for the name or path of the executable
 * @binary: glob for the path or the file name of the binary; after "build-id:", for its build ID
 * @function: glob for the name of the function
 */
struct query_select {
	const char *container;
	const char *program;
	const char *binary;
	const char *function;
};

/**
 * struct query - a query
 * @recording: file name of a recording; NULL: the daemon
 * @session: name of the daemon's session; NULL: "machine"
 * @period: the period; VIEW_SPAN_START for all samples
 * @since_us, @until_us: CLOCK_REALTIME in microseconds: the samples of this time in the daemon's
 *	history on disk; @until_us is 0 for other samples
 * @select: the selected samples
 * @group: the keys, in the order of columns; @groups of them, at least 1
 * @sort: the measure that rows are sorted by, the largest first
 * @limit: maximum number of rows; 0: all
 */
struct query {
	const char *recording;
	const char *session;
	enum view_span period;
	s64 since_us;
	s64 until_us;
	struct query_select select;
	enum query_key group[QUERY_GROUP_MAX];
	u32 groups;
	enum measure sort;
	u32 limit;
};

/* Size of &query_error.text in bytes. */
#define QUERY_ERROR_SIZE 512

/** struct query_error - one sentence that describes the error and lists the accepted values */
struct query_error {
	char text[QUERY_ERROR_SIZE];
};

/**
 * query_get_build_id_glob() - return the glob for a build ID in &query_select.binary @glob; NULL if
 * @glob is for a path
 */
const char *query_get_build_id_glob(const char *glob);

/** query_key_name() - return the name of a key, the same on the command line and in JSON */
const char *query_key_name(enum query_key key);

/**
 * query_parse_group() - set the keys of a query
 * @text: keys separated by commas, as in "binary,function". Each of the following words, if it is
 * the whole text, means a list of keys: "function" for container,program,function; "line" for
 * container,program,function,line; "program" for container,program; "process" for
 * container,comm,pid
 * @query: the function sets &query.group and &query.groups; they are unchanged on failure
 * @ret_error: set on failure
 *
 * Return: 0 or -EINVAL.
 */
int query_parse_group(const char *text, struct query *query, struct query_error *ret_error);

/**
 * query_format_group() - write the keys of a query in the form that query_parse_group() accepts
 * @to: receives the text: a short word such as "function" if one means the same keys
 * @size: size of @to in bytes
 */
void query_format_group(const struct query *query, char *to, size_t size);

/** query_is_past() - return whether a query is about the history on disk */
bool query_is_past(const struct query *query);

/** query_groups_by() - return whether the rows of a query have a key */
bool query_groups_by(const struct query *query, enum query_key key);

/** query_has_binary() - return whether the rows of a query have a binary */
bool query_has_binary(const struct query *query);

/**
 * query_counts_cell_parts() - return whether a row may count only a part of the samples of a
 * location: the keys include op, event or level
 */
bool query_counts_cell_parts(const struct query *query);

/**
 * query_has_data() - return whether the rows of a query have the type or the field of data; the
 * cells then have locations of data
 */
bool query_has_data(const struct query *query);

/**
 * query_get_split_flags() - return which flags a recording needs for the rows of a query:
 * CELL_SPLIT_* and CELL_BY_DATA
 */
u8 query_get_split_flags(const struct query *query);

/**
 * query_has_sums_only() - return whether the query has a period, and its rows have only sums
 * (&query_row.brief)
 *
 * Rows of a period by container have all counters.
 */
bool query_has_sums_only(const struct query *query);

/**
 * query_check() - check whether the recording or daemon of a query has the keys and the measure of
 * the query
 * @ret_error: set on failure
 *
 * Return: 0; -EOPNOTSUPP if it has not.
 */
int query_check(const struct query *query, struct query_error *ret_error);

#endif
