// SPDX-License-Identifier: LGPL-2.1-or-later
/* Create views and timelines of a past period. */
#include "store-internal.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "details.h"
#include "util/time.h"

/* Number of SQLite instructions between two checks of the deadline. */
#define DEADLINE_STEPS 10000

/* ---- Selection ---------------------------------------------------------------- */

static int deadline_has_passed(void *ctx)
{
	const struct history_query *query = ctx;

	return query->deadline_ns && time_now_ns() > query->deadline_ns;
}

static bool name_matches_glob(const char *glob, const char *name)
{
	return !strcmp(glob, name) || !fnmatch(glob, name, 0);
}

static const char *find_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] && *path == '/' ? slash + 1 : path;
}

static int insert_wanted_id(struct history_store *store, const char *sql, s64 id, s64 from)
{
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	int r = store_prepare(store, sql, &statement);

	if (r < 0)
		return r;
	sqlite3_bind_int64(statement, 1, id);
	sqlite3_bind_int64(statement, 2, from);
	return store_step(statement);
}

/*
 * Write the containers that the query selects to a temporary table. Each has the time from which on
 * the caller may see it.
 */
static int select_containers(struct history_store *store, const struct history_query *q)
{
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	int r = store_prepare(store,
			      "SELECT c.id,c.name,c.path,c.inode,b.boot_id FROM container AS c "
			      "JOIN boot AS b ON b.id=c.boot",
			      &statement);

	while (r >= 0 && (r = store_step(statement)) > 0) {
		const char *name = (const char *)sqlite3_column_text(statement, 1);
		const struct history_container_identity identity = {
			.path = (const char *)sqlite3_column_text(statement, 2),
			.inode = (u64)sqlite3_column_int64(statement, 3),
			.boot_id = (const char *)sqlite3_column_text(statement, 4),
		};
		s64 from = INT64_MIN;

		if (!name || !identity.path || !identity.boot_id)
			return -ENOMEM;
		if (q->container &&
		    !name_matches_glob(q->container, *q->container == '/' ? identity.path : name))
			continue;
		if (q->admits && !q->admits(q->ctx, &identity, &from))
			continue;
		r = insert_wanted_id(store, "INSERT INTO wanted_container VALUES(?,?)",
				     sqlite3_column_int64(statement, 0), from);
	}
	return r;
}

static int select_programs(struct history_store *store, const struct history_query *q)
{
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	int r = store_prepare(store,
			      "SELECT p.id,p.executable,w.from_us FROM program AS p "
			      "JOIN wanted_container AS w ON w.id=p.container",
			      &statement);

	while (r >= 0 && (r = store_step(statement)) > 0) {
		const char *path = (const char *)sqlite3_column_text(statement, 1);

		if (!path)
			return -ENOMEM;
		if (q->program && !name_matches_glob(q->program, path) &&
		    !name_matches_glob(q->program, find_base_name(path)))
			continue;
		r = insert_wanted_id(store, "INSERT INTO wanted_program VALUES(?,?)",
				     sqlite3_column_int64(statement, 0),
				     sqlite3_column_int64(statement, 2));
	}
	return r;
}

/* Write periods, containers and programs that the query selects to temporary tables in memory. */
static int begin_selection(struct history_store *store, const struct history_query *q)
{
	char sql[320];
	int r;

	if (q->deadline_ns)
		sqlite3_progress_handler(store->db, DEADLINE_STEPS, deadline_has_passed, (void *)q);
	r = store_run(store,
		      "BEGIN;CREATE TEMP TABLE IF NOT EXISTS wanted_period(id INTEGER PRIMARY KEY);"
		      "CREATE TEMP TABLE IF NOT EXISTS wanted_container(id INTEGER PRIMARY KEY,"
		      "from_us INTEGER);"
		      "CREATE TEMP TABLE IF NOT EXISTS wanted_program(id INTEGER PRIMARY KEY,"
		      "from_us INTEGER);DELETE FROM wanted_period;DELETE FROM wanted_container;"
		      "DELETE FROM wanted_program");
	snprintf(sql, sizeof(sql),
		 "INSERT INTO wanted_period SELECT id FROM period WHERE start_us<%" PRId64
		 " AND end_us>%" PRId64,
		 q->until_us, q->since_us);
	if (r >= 0)
		r = store_run(store, sql);
	if (r >= 0)
		r = select_containers(store, q);
	return r < 0 ? r : select_programs(store, q);
}

static void end_selection(struct history_store *store)
{
	sqlite3_progress_handler(store->db, 0, NULL, NULL);
	store_run(store, "ROLLBACK");
}

static bool query_selects_machine(const struct history_query *q)
{
	return !q->container && !q->program && !q->admits;
}

/* ---- Latencies ---------------------------------------------------------------- */

static void add_latencies(sqlite3_context *context, int count __attribute__((unused)),
			  sqlite3_value **values)
{
	struct histogram *sum = sqlite3_aggregate_context(context, sizeof(*sum));
	const char *text = (const char *)sqlite3_value_text(values[0]);

	if (!sum)
		sqlite3_result_error_nomem(context);
	else if (text)
		details_add_latencies(text, sum);
}

static void finish_latencies(sqlite3_context *context)
{
	const struct histogram *sum = sqlite3_aggregate_context(context, 0);
	char text[DETAILS_LATENCIES_SIZE] = "{}";

	if (sum)
		details_write_latencies(sum->bucket, text);
	sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

int store_create_functions(struct history_store *store)
{
	return store_result_to_errno(sqlite3_create_function(store->db, "sum_latencies", 1,
							     SQLITE_UTF8 | SQLITE_DETERMINISTIC,
							     NULL, NULL, add_latencies,
							     finish_latencies));
}

/* ---- Views -------------------------------------------------------------------- */

static unsigned int find_unit(const char *name)
{
	unsigned int unit = 0;

	while (unit < UNITS && strcmp(name, view_unit_name(unit)))
		unit++;
	return unit;
}

/* Read the total length, the unit and the ledgers of all periods. */
static int read_periods(struct history_store *store, struct view_header *ret_header,
			struct history_coverage *ret_coverage, unsigned int *ret_unit)
{
	_cleanup_statement_ sqlite3_stmt *s = NULL;
	int r = store_prepare(
		store,
		"SELECT count(*),min(start_us),max(end_us),max(seconds),sum(length_us),"
		"CASE WHEN min(unit)=max(unit) THEN min(unit) ELSE 'samples' END,min(backend),"
		"sum(samples),sum(operations),sum(unattributed),sum(unattributed_operations),"
		"sum(evicted),sum(evicted_operations),sum(enabled_ns),sum(blind_ns) "
		"FROM period WHERE id IN (SELECT id FROM wanted_period)",
		&s);
	const char *unit, *backend;

	if (r >= 0)
		r = store_step(s);
	if (r <= 0)
		return r;
	*ret_coverage = (struct history_coverage){
		.periods = (u32)sqlite3_column_int64(s, 0),
		.start_us = sqlite3_column_int64(s, 1),
		.end_us = sqlite3_column_int64(s, 2),
		.longest_s = (u32)sqlite3_column_int64(s, 3),
	};
	unit = (const char *)sqlite3_column_text(s, 5);
	backend = (const char *)sqlite3_column_text(s, 6);
	*ret_unit = unit ? find_unit(unit) : UNITS;
	*ret_header = (struct view_header){
		.backend = !backend			? BACKEND_UNKNOWN :
			   !strcmp(backend, "emulated") ? BACKEND_EMULATED :
			   !strcmp(backend, "hardware") ? BACKEND_HARDWARE :
							  BACKEND_UNKNOWN,
		.duration_ns = (u64)sqlite3_column_int64(s, 4) * 1000,
		.records = (u64)sqlite3_column_int64(s, 7),
		.unattributed = (u64)sqlite3_column_int64(s, 9),
		.evicted = (u64)sqlite3_column_int64(s, 11),
		.enabled_ns = (u64)sqlite3_column_int64(s, 13),
		.blind_ns = (u64)sqlite3_column_int64(s, 14),
	};
	if (*ret_unit == UNITS)
		return 1;
	ret_header->weight[*ret_unit] = (u64)sqlite3_column_int64(s, 8);
	ret_header->unattributed_weight = (u64)sqlite3_column_int64(s, 10);
	ret_header->evicted_weight = (u64)sqlite3_column_int64(s, 12);
	return 1;
}

/*
 * Replace the totals of @header with the sums over the selected containers, because the caller may
 * not see other containers. Shares are computed from these sums.
 */
static int read_visible_total(struct history_store *store, unsigned int unit,
			      struct view_header *header)
{
	_cleanup_statement_ sqlite3_stmt *s = NULL;
	int r = store_prepare(store,
			      "SELECT sum(r.samples),sum(r.operations) FROM container_row AS r "
			      "JOIN wanted_container AS w ON w.id=r.container "
			      "JOIN period AS t ON t.id=r.period "
			      "WHERE r.period IN (SELECT id FROM wanted_period) AND "
			      "t.start_us>=w.from_us",
			      &s);

	if (r >= 0)
		r = store_step(s);
	if (r < 0)
		return r;
	header->records = (u64)sqlite3_column_int64(s, 0);
	if (unit < UNITS)
		header->weight[unit] = (u64)sqlite3_column_int64(s, 1);
	header->unattributed = header->unattributed_weight = 0;
	header->evicted = header->evicted_weight = 0;
	header->enabled_ns = header->blind_ns = 0;
	return 0;
}

static void copy_column(sqlite3_stmt *s, int column, char *to, size_t size)
{
	const char *text = (const char *)sqlite3_column_text(s, column);

	snprintf(to, size, "%s", text ? text : "");
}

static void row_set_sums(struct view_row *row, const struct minute_sums *sums, unsigned int unit)
{
	row->samples = sums->samples;
	row->latency_sum = sums->latency;
	row->memory = sums->memory;
	row->dram = sums->dram;
	row->remote = sums->remote;
	row->branches = sums->branches;
	row->mispredicted = sums->mispredicted;
	if (unit < UNITS)
		row->weight[unit] = sums->operations;
}

/*
 * SQL for the rows of all locations, and for rows with location 0. For each program, the sum of its
 * rows with location 0 is the counters of the program minus the counters of its locations.
 */
#define LOCATIONS_AND_REST                                                                       \
	"(SELECT period,program,location," SUM_COLUMNS ",latencies FROM location_row "           \
	"WHERE period IN (SELECT id FROM wanted_period) UNION ALL "                              \
	"SELECT period,program,0," SUM_COLUMNS ",'' FROM program_row "                              \
	"WHERE period IN (SELECT id FROM wanted_period) UNION ALL "                              \
	"SELECT period,program,0,-samples,-operations,-latency,-memory,-dram,-remote,-branches," \
	"-mispredicted,'' FROM location_row WHERE period IN (SELECT id FROM wanted_period))"

/* SQL for the rows of programs. The latencies of a program are those of its stored locations. */
#define PROGRAM_ROWS                                                            \
	"(SELECT *,0 AS location,'' AS latencies FROM program_row "             \
	"WHERE period IN (SELECT id FROM wanted_period) UNION ALL "             \
	"SELECT period,program,0,0,0,0,0,0,0,0,0,latencies FROM location_row " \
	"WHERE period IN (SELECT id FROM wanted_period))"

/*
 * Write the statement for rows by @group to @sql. The first columns of the result are names, in the
 * order in which read_row() reads them.
 */
static void format_row_query(char *sql, size_t size, enum view_group group, const char *order)
{
	bool binary = group == VIEW_BINARY, program = group == VIEW_PROGRAM;
	bool line = group == VIEW_LINE;

	snprintf(sql, size,
		 "SELECT %s,%s,%s,%s,%s,%s,sum(r.samples) AS samples,"
		 "sum(r.operations) AS operations,sum(r.latency) AS latency,"
		 "sum(r.memory) AS memory,sum(r.dram) AS dram,sum(r.remote) AS remote,"
		 "sum(r.branches) AS branches,sum(r.mispredicted) AS mispredicted,"
		 "sum_latencies(r.latencies) FROM %s AS r "
		 "JOIN wanted_program AS w ON w.id=r.program JOIN program AS p ON p.id=r.program "
		 "JOIN container AS c ON c.id=p.container JOIN period AS t ON t.id=r.period "
		 "LEFT JOIN location AS l ON l.id=r.location WHERE t.start_us>=w.from_us "
		 "GROUP BY 1,2,3,4,5,6 HAVING sum(r.samples)>0 "
		 "ORDER BY %s DESC,samples DESC,1,2,3,4,5,6 LIMIT ?1",
		 binary ? "'-'" : "c.name", binary ? "''" : "p.executable",
		 binary || program ? "''" : "coalesce(l.function,'[other]')",
		 program ? "''" :
		 binary	 ? "coalesce(l.binary,'[other]')" :
			   "coalesce(l.binary,'')",
		 line ? "coalesce(l.file,'')" : "''", line ? "coalesce(l.line,0)" : "0",
		 program ? PROGRAM_ROWS : LOCATIONS_AND_REST, order);
}

static const char *get_order_column(enum view_sort sort, unsigned int unit)
{
	switch (sort) {
	case VIEW_SORT_LATENCY:
		return "latency";
	case VIEW_SORT_DRAM:
		return "dram";
	case VIEW_SORT_REMOTE:
		return "remote";
	case VIEW_SORT_MEMORY:
		return "memory";
	case VIEW_SORT_BRANCHES:
		return "branches";
	case VIEW_SORT_MISPREDICTED:
		return "mispredicted";
	default:
		return unit < UNITS ? "operations" : "samples";
	}
}

static struct view_row *view_add_row(struct view *view, u32 *capacity)
{
	struct view_row *rows;

	if (view->count == *capacity) {
		rows = realloc(view->rows, (*capacity + 64) * sizeof(*rows));
		if (!rows)
			return NULL;
		view->rows = rows;
		*capacity += 64;
	}
	memset(&view->rows[view->count], 0, sizeof(*view->rows));
	return &view->rows[view->count++];
}

static void read_row(sqlite3_stmt *s, unsigned int unit, struct view_row *row)
{
	struct minute_sums sums;
	const char *executable = (const char *)sqlite3_column_text(s, 1);

	copy_column(s, 0, row->container, sizeof(row->container));
	snprintf(row->process, sizeof(row->process), "%s",
		 find_base_name(executable ? executable : ""));
	copy_column(s, 2, row->function, sizeof(row->function));
	copy_column(s, 3, row->binary, sizeof(row->binary));
	copy_column(s, 4, row->file, sizeof(row->file));
	row->line = (u32)sqlite3_column_int64(s, 5);
	store_get_sums(s, 6, &sums);
	row_set_sums(row, &sums, unit);
}

/* Set the percentiles of the last row, and store its latencies in the view. */
static int read_row_latencies(sqlite3_stmt *s, struct view *view)
{
	const char *text = (const char *)sqlite3_column_text(s, 6 + MINUTE_SUMS);
	struct view_row *row = &view->rows[view->count - 1];
	struct histogram total = { 0 };
	char **latencies;

	latencies = reallocarray(view->latencies, view->count, sizeof(*latencies));
	if (!latencies || !text)
		return -ENOMEM;
	view->latencies = latencies;
	latencies[view->count - 1] = strdup(text);
	details_add_latencies(text, &total);
	row->p50 = histogram_get_quantile(&total, 500);
	row->p99 = histogram_get_quantile(&total, 990);
	return latencies[view->count - 1] ? 0 : -ENOMEM;
}

static int read_rows(struct history_store *store, enum view_group group, enum view_sort sort,
		     u32 limit, unsigned int unit, struct view *view)
{
	_cleanup_statement_ sqlite3_stmt *s = NULL;
	struct view_row *row;
	u32 capacity = 0;
	char sql[3072];
	int r;

	format_row_query(sql, sizeof(sql), group, get_order_column(sort, unit));
	r = store_prepare(store, sql, &s);
	if (r < 0)
		return r;
	sqlite3_bind_int64(s, 1, limit ? (s64)limit : -1);
	while ((r = store_step(s)) > 0) {
		row = view_add_row(view, &capacity);
		if (!row)
			return -ENOMEM;
		read_row(s, unit, row);
		r = read_row_latencies(s, view);
		if (r < 0)
			break;
	}
	return r;
}

static void row_set_counters(struct view_row *row, struct profile_counters *f,
			     const struct minute_sums *sums, unsigned int unit)
{
	const struct histogram *total = &f->latency[PROFILE_TOTAL];

	counters_sum_histograms(f);
	row_set_sums(row, sums, unit);
	memcpy(row->level, f->counts.level, sizeof(row->level));
	memcpy(row->event, f->counts.event, sizeof(row->event));
	row->p50 = histogram_get_quantile(total, 500);
	row->p99 = histogram_get_quantile(total, 990);
	row->loads = f->counts.kind[SPE_KIND_LOAD];
	row->stores = f->counts.kind[SPE_KIND_STORE];
	row->simd = f->counts.simd;
	row->snooped = counters_get_origin_accesses(f, SPE_ORIGIN_SNOOPED);
	row->peer = counters_get_origin_accesses(f, SPE_ORIGIN_PEER);
	row->modified = counters_get_origin_accesses(f, SPE_ORIGIN_MODIFIED);
	row->issue_sum = f->latency[PROFILE_ISSUE].sum;
	row->translation_sum = f->latency[PROFILE_TRANSLATION].sum;
}

/** struct container_order - parameters of the comparison of two rows of containers */
struct container_order {
	enum view_sort sort;
	unsigned int unit;
};

static int compare_rows(const void *a, const void *b, void *ctx)
{
	const struct view_row *x = a, *y = b;
	const struct container_order *order = ctx;
	u64 p = view_get_sort_key(x, order->sort, order->unit),
	    q = view_get_sort_key(y, order->sort, order->unit);

	return p != q ? (p < q ? 1 : -1) : strcmp(x->container, y->container);
}

/*
 * Read the rows of containers, sorted by name, and add up the rows with the same name. SQL cannot
 * add them up, because rows of containers have percentiles.
 */
static int read_containers(struct history_store *store, enum view_sort sort, u32 limit,
			   unsigned int unit, struct view *view)
{
	_cleanup_statement_ sqlite3_stmt *s = NULL;
	struct container_order order = { .sort = sort, .unit = unit };
	struct minute_sums sums = { 0 }, more;
	struct view_row *row = NULL;
	struct profile_counters f = { 0 };
	u32 capacity = 0;
	int r = store_prepare(store,
			      "SELECT c.name,r.details,r.samples,r.operations,r.latency,r.memory,"
			      "r.dram,r.remote,r.branches,r.mispredicted FROM container_row AS r "
			      "JOIN wanted_container AS w ON w.id=r.container "
			      "JOIN container AS c ON c.id=r.container "
			      "JOIN period AS t ON t.id=r.period "
			      "WHERE r.period IN (SELECT id FROM wanted_period) AND "
			      "t.start_us>=w.from_us ORDER BY c.name",
			      &s);

	while (r >= 0 && (r = store_step(s)) > 0) {
		const char *name = (const char *)sqlite3_column_text(s, 0);
		const char *details = (const char *)sqlite3_column_text(s, 1);

		if (!name || !details)
			return -ENOMEM;
		if (!row || strcmp(row->container, name) != 0) {
			if (row)
				row_set_counters(row, &f, &sums, unit);
			row = view_add_row(view, &capacity);
			if (!row)
				return -ENOMEM;
			snprintf(row->container, sizeof(row->container), "%s", name);
			f = (struct profile_counters){ 0 };
			sums = (struct minute_sums){ 0 };
		}
		store_get_sums(s, 2, &more);
		minute_sums_add(&sums, &more);
		details_add(details, &f);
	}
	if (row)
		row_set_counters(row, &f, &sums, unit);
	if (view->count)
		qsort_r(view->rows, view->count, sizeof(*view->rows), compare_rows, &order);
	if (limit && view->count > limit)
		view->count = limit;
	return r;
}

int history_store_create_view(struct history_store *store, const struct history_query *query,
			      enum view_group group, enum view_sort sort, u32 limit,
			      struct view *ret_view, struct history_coverage *ret_coverage)
{
	struct history_coverage coverage = { 0 };
	struct view view = { 0 };
	unsigned int unit = UNITS;
	int r;

	if (group == VIEW_PROCESS || group >= VIEW_GROUPS)
		return -EOPNOTSUPP;
	r = begin_selection(store, query);
	if (r >= 0)
		r = read_periods(store, &view.header, &coverage, &unit);
	if (r >= 0 && query->admits)
		r = read_visible_total(store, unit, &view.header);
	if (r >= 0 && group == VIEW_CONTAINER)
		r = read_containers(store, sort, limit, unit, &view);
	else if (r >= 0)
		r = read_rows(store, group, sort, limit, unit, &view);
	end_selection(store);
	if (r < 0) {
		view_clear(&view);
		return r;
	}
	*ret_view = view;
	*ret_coverage = coverage;
	return 0;
}

/* ---- Timelines ---------------------------------------------------------------- */

/**
 * struct timeline_builder - a timeline with a last point that is still being added up
 * @since_us, @step_us: start of the first step, and length of each step
 * @step: number of the last point's step
 * @period: id of the last row's period
 * @counters: counters of the last point
 */
struct timeline_builder {
	struct history_timeline timeline;
	u32 limit;
	u32 series_capacity;
	u32 point_capacity;
	s64 since_us;
	s64 step_us;
	s64 step;
	s64 period;
	struct profile_counters counters;
};

static void finish_point(struct timeline_builder *b)
{
	struct history_point *p;

	if (!b->timeline.points)
		return;
	p = &b->timeline.point[b->timeline.points - 1];
	counters_sum_histograms(&b->counters);
	p->p50 = histogram_get_quantile(&b->counters.latency[PROFILE_TOTAL], 500);
	p->p99 = histogram_get_quantile(&b->counters.latency[PROFILE_TOTAL], 990);
	b->counters = (struct profile_counters){ 0 };
}

static int add_series(struct timeline_builder *b, const char *container, const char *program)
{
	struct history_timeline *t = &b->timeline;
	struct history_series *series;

	if (t->series_count == b->series_capacity) {
		series = realloc(t->series, (b->series_capacity + 16) * sizeof(*series));
		if (!series)
			return -ENOMEM;
		t->series = series;
		b->series_capacity += 16;
	}
	series = &t->series[t->series_count++];
	snprintf(series->container, sizeof(series->container), "%s", container);
	snprintf(series->program, sizeof(series->program), "%s", program);
	return 0;
}

static int add_point(struct timeline_builder *b, s64 start_us, s64 step)
{
	struct history_timeline *t = &b->timeline;
	struct history_point *points;

	finish_point(b);
	if (t->points == b->point_capacity) {
		points = realloc(t->point, (b->point_capacity + 256) * sizeof(*points));
		if (!points)
			return -ENOMEM;
		t->point = points;
		b->point_capacity += 256;
	}
	t->point[t->points++] = (struct history_point){
		.series = t->series_count - 1,
		.start_us = start_us,
	};
	b->step = step;
	b->period = 0;
	return 0;
}

static bool series_is_last(const struct history_timeline *t, const char *container,
			   const char *program)
{
	const struct history_series *last;

	if (!t->series_count)
		return false;
	last = &t->series[t->series_count - 1];
	return !strcmp(last->container, container) && !strcmp(last->program, program);
}

/*
 * Add a row to the last point, or to a new point. Return 1; 0 if there are too many points; -ENOMEM
 * if memory cannot be allocated.
 */
static int add_row(struct timeline_builder *b, sqlite3_stmt *s)
{
	struct history_timeline *t = &b->timeline;
	const char *container = (const char *)sqlite3_column_text(s, 0);
	const char *program = (const char *)sqlite3_column_text(s, 1);
	const char *details = (const char *)sqlite3_column_text(s, 6);
	s64 start = sqlite3_column_int64(s, 3), end = sqlite3_column_int64(s, 4);
	s64 step = start < b->since_us ? 0 : (start - b->since_us) / b->step_us;
	bool known = container && program && series_is_last(t, container, program);
	struct minute_sums more;
	struct history_point *p;

	if (!container || !program || !details)
		return -ENOMEM;
	if (!known || step != b->step) {
		if (t->points == b->limit)
			return 0;
		if (!known && add_series(b, container, program) < 0)
			return -ENOMEM;
		if (add_point(b, start, step) < 0)
			return -ENOMEM;
	}
	p = &t->point[t->points - 1];
	if (b->period != sqlite3_column_int64(s, 2))
		p->sampled_us += sqlite3_column_int64(s, 5);
	b->period = sqlite3_column_int64(s, 2);
	if (end > p->end_us)
		p->end_us = end;
	store_get_sums(s, 7, &more);
	minute_sums_add(&p->sums, &more);
	details_add(details, &b->counters);
	return 1;
}

/*
 * Write the statement for a timeline to @sql. The columns of the result are: container, program,
 * period, start, end, length, details, sums.
 */
static void format_timeline_query(char *sql, size_t size, const struct history_query *q,
				  enum view_group group)
{
	bool program = q->program || group == VIEW_PROGRAM;

	if (group == VIEW_GROUPS && query_selects_machine(q)) {
		snprintf(sql, size,
			 "SELECT '','',id,start_us,end_us,length_us,details," SUM_COLUMNS
			 " FROM period WHERE id IN (SELECT id FROM wanted_period) "
			 "ORDER BY start_us,id");
		return;
	}
	snprintf(sql, size,
		 "SELECT %s,%s,t.id,t.start_us,t.end_us,t.length_us,%s,r.samples,r.operations,"
		 "r.latency,r.memory,r.dram,r.remote,r.branches,r.mispredicted FROM %s AS r %s "
		 "JOIN container AS c ON c.id=%s JOIN period AS t ON t.id=r.period "
		 "WHERE r.period IN (SELECT id FROM wanted_period) AND t.start_us>=w.from_us "
		 "ORDER BY 1,2,t.start_us,t.id",
		 group == VIEW_GROUPS ? "''" : "c.name",
		 group == VIEW_PROGRAM ? "p.executable" : "''", program ? "'{}'" : "r.details",
		 program ? "program_row" : "container_row",
		 program ? "JOIN wanted_program AS w ON w.id=r.program "
			   "JOIN program AS p ON p.id=r.program" :
			   "JOIN wanted_container AS w ON w.id=r.container",
		 program ? "p.container" : "r.container");
}

static int read_points(struct history_store *store, const struct history_query *q,
		       enum view_group group, struct timeline_builder *b)
{
	_cleanup_statement_ sqlite3_stmt *s = NULL;
	char sql[1024];
	int r;

	format_timeline_query(sql, sizeof(sql), q, group);
	r = store_prepare(store, sql, &s);
	while (r >= 0 && (r = store_step(s)) > 0) {
		r = add_row(b, s);
		if (r)
			continue;
		b->timeline.truncated = true;
		break;
	}
	if (r >= 0)
		finish_point(b);
	return r;
}

int history_store_create_timeline(struct history_store *store, const struct history_query *query,
				  enum view_group group, s64 step_us, u32 limit,
				  struct history_timeline *ret_timeline)
{
	struct timeline_builder build = {
		.limit = limit,
		.since_us = query->since_us,
		.step_us = step_us,
	};
	struct history_coverage coverage = { 0 };
	struct view_header header = { 0 };
	unsigned int unit = UNITS;
	int r;

	if (group != VIEW_CONTAINER && group != VIEW_PROGRAM && group != VIEW_GROUPS)
		return -EOPNOTSUPP;
	r = begin_selection(store, query);
	if (r >= 0)
		r = read_periods(store, &header, &coverage, &unit);
	if (r >= 0)
		r = read_points(store, query, group, &build);
	end_selection(store);
	if (r < 0) {
		history_timeline_clear(&build.timeline);
		return r;
	}
	build.timeline.unit = view_unit_name(unit);
	build.timeline.backend = header.backend;
	*ret_timeline = build.timeline;
	return 0;
}

void history_timeline_clear(struct history_timeline *timeline)
{
	free(timeline->series);
	free(timeline->point);
	*timeline = (struct history_timeline){ 0 };
}
