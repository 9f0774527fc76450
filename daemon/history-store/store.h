/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The history on disk: an SQLite database with a row for each container, program and location of
 * each period. Documentation/reference/history.md describes its tables. Old minutes are merged into
 * periods of ten minutes, and old periods of ten minutes into hours.
 *
 * One thread uses a store. Each function may wait for the disk.
 */
#ifndef SPEPROF_HISTORY_STORE_H
#define SPEPROF_HISTORY_STORE_H

#include "minute.h"
#include "view/view.h"

/* The version of the schema, PRAGMA user_version. */
#define HISTORY_VERSION 2
/* PRAGMA application_id: "SPEp". */
#define HISTORY_APPLICATION 0x53504570

/* The smallest permitted limit of the size, in bytes. */
#define HISTORY_BYTES_MIN (16ULL << 20)

/*
 * Maximum number of periods of a minute, ten minutes and an hour: a day, two weeks and three
 * months.
 */
#define HISTORY_MINUTES 1440
#define HISTORY_TENS	2016
#define HISTORY_HOURS	2208

struct history_store;

/**
 * struct history_store_config - the configuration of a store
 * @path: name of the database
 * @bytes: limit of the size of the database with its write-ahead log, at least HISTORY_BYTES_MIN
 * @minutes, @tens, @hours: maximum number of periods of each length; 0 for the defaults
 *	HISTORY_MINUTES, HISTORY_TENS, HISTORY_HOURS
 * @vfs: name of an SQLite VFS; NULL for the default one. Tests use it to inject failures
 */
struct history_store_config {
	const char *path;
	u64 bytes;
	u32 minutes;
	u32 tens;
	u32 hours;
	const char *vfs;
};

/**
 * history_store_open() - open or create a history
 * @config: the configuration, copied
 * @ret_store: the store; free it with history_store_free()
 *
 * A damaged database is renamed to "PATH.damaged", and another one is created.
 *
 * Return: 0; -ENOTSUP: another program or a newer version wrote the database; -ENOSPC: the disk is
 * full; -EACCES: the file is not accessible; -EIO: the disk failed; -ENOMEM: memory could not be
 * allocated.
 */
int history_store_open(const struct history_store_config *config, struct history_store **ret_store);

/** history_store_free() - close @store, which may be NULL; returns NULL */
struct history_store *history_store_free(struct history_store *store);

/**
 * history_store_write() - add a minute in one transaction
 * @store: the store
 * @minute: the counters
 *
 * The same transaction merges old periods, and removes the oldest ones to stay below the limit of
 * size. Even if the process is killed meanwhile, the database has either the whole minute or
 * nothing of it.
 *
 * Return: 0; -ENOSPC: the disk is full; -EBUSY: another program reads the database for so long that
 * the write-ahead log reached its limit; -EIO: the disk failed; -EBADMSG: the database is damaged;
 * -ENOMEM: memory could not be allocated. On failure nothing was added.
 */
int history_store_write(struct history_store *store, const struct minute_counters *minute);

/**
 * struct history_container_identity - a container of the history, for &history_query.admits
 * @path: path of its cgroup, escaped and truncated
 * @inode: inode of its cgroup; 0 if unknown
 * @boot_id: id of the boot in which the cgroup existed
 */
struct history_container_identity {
	const char *path;
	u64 inode;
	const char *boot_id;
};

/**
 * struct history_query - selects rows of the history
 * @since_us, @until_us: CLOCK_REALTIME in microseconds. A period that overlaps this range counts
 *	completely
 * @container: glob for the name of the container, or for its path if it begins with "/"; NULL: all
 * @program: glob for the path or the name of the executable; NULL: all
 * @admits: callback that returns whether the caller may see a container, and from which time on;
 *	NULL: the caller may see all
 * @ctx: argument of @admits
 * @deadline_ns: CLOCK_MONOTONIC at which the query ends with -ETIMEDOUT; 0: never
 */
struct history_query {
	s64 since_us;
	s64 until_us;
	const char *container;
	const char *program;
	bool (*admits)(void *ctx, const struct history_container_identity *container,
		       s64 *ret_from_us);
	void *ctx;
	u64 deadline_ns;
};

/**
 * struct history_coverage - the periods that a query found
 * @periods: number of periods
 * @start_us, @end_us: start of the first period, and end of the last one
 * @longest_s: nominal length of the longest one in seconds: 60, 600 or 3600
 */
struct history_coverage {
	u32 periods;
	s64 start_us;
	s64 end_us;
	u32 longest_s;
};

/**
 * history_store_create_view() - create a view of the samples of a range of time
 * @store: the store
 * @query: the time, and which rows
 * @group: any group except VIEW_PROCESS
 * @sort: an order that view_sort_is_supported() permits for a period
 * @limit: maximum number of rows; 0: all
 * @ret_view: the view; free it with view_clear(). Its header has only the members that the history
 *	stores
 * @ret_coverage: the periods
 *
 * The row "[other]" of a program has the samples of the program that are in no stored location.
 *
 * Return: 0; -EOPNOTSUPP: the history does not have such rows; -ETIMEDOUT: the deadline expired;
 * errors of the database as in history_store_write().
 */
int history_store_create_view(struct history_store *store, const struct history_query *query,
			      enum view_group group, enum view_sort sort, u32 limit,
			      struct view *ret_view, struct history_coverage *ret_coverage);

/**
 * struct history_point - the samples of a series in one step of time
 * @series: number of the series, from 0 on, in alphabetical order of the names
 * @start_us, @end_us: start of the first period in the step, and end of the last one
 * @sampled_us: sum of the lengths of the periods in the step
 * @sums: the counters
 * @p50, @p99: percentiles of the total latency; 0 for programs, because their rows have no
 *	histogram
 */
struct history_point {
	u32 series;
	s64 start_us;
	s64 end_us;
	s64 sampled_us;
	struct minute_sums sums;
	u32 p50;
	u32 p99;
};

/**
 * struct history_series - the names of a series; a name is "" if it does not identify the series
 */
struct history_series {
	char container[128];
	char program[256];
};

/**
 * struct history_timeline - points by series and time
 * @series, @series_count: the series
 * @point, @points: the points
 * @truncated: points are missing, because there were more points than the limit
 * @unit: unit of operations; "samples" if it is unknown, or if periods have different units
 * @backend: &enum sample_backend; BACKEND_EMULATED if an emulated SPU took some of the samples
 */
struct history_timeline {
	struct history_series *series;
	u32 series_count;
	struct history_point *point;
	u32 points;
	bool truncated;
	const char *unit;
	u8 backend;
};

/**
 * history_store_create_timeline() - get the counters of each step of a range of time
 * @store: the store
 * @query: the time, and which rows
 * @group: VIEW_CONTAINER or VIEW_PROGRAM: one series for each container or program; VIEW_GROUPS:
 *	one series with the sum of all selected containers, or of the machine if the query selects
 *	all
 * @step_us: length of a step in microseconds, at least a minute
 * @limit: maximum number of points
 * @ret_timeline: free it with history_timeline_clear()
 *
 * Return: as history_store_create_view().
 */
int history_store_create_timeline(struct history_store *store, const struct history_query *query,
				  enum view_group group, s64 step_us, u32 limit,
				  struct history_timeline *ret_timeline);

/** history_timeline_clear() - free series and points */
void history_timeline_clear(struct history_timeline *timeline);

/** history_store_get_bytes() - return the size of the database with its write-ahead log, bytes */
u64 history_store_get_bytes(const struct history_store *store);

#endif
