// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test the history on disk with a simulated clock, a full disk, and a process that is killed. */
#include "test.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faulty-vfs.h"
#include "history-store/details.h"
#include "history-store/store.h"

#define MINUTE_US  60000000LL
#define START_US   (1700000000LL * 1000000 / (3600 * 1000000LL) * 3600 * 1000000LL)
#define CONTAINERS 3
#define PROGRAMS   4 /* number of programs; two are in the last container */
#define BOOT	   "11111111-2222-3333-4444-555555555555"

/*
 * Number of changes of the disk from one that fails to the next one that fails; 1: each fails once, and
 * the simulated time is a quarter instead of twelve days.
 */
static unsigned long stride = 1;

struct fixture {
	char folder[64];
	char path[80];
	struct history_store *store;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	strcpy(f->folder, "/tmp/test-history-store.XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	snprintf(f->path, sizeof(f->path), "%s/history.sqlite", f->folder);
	faulty_vfs = (struct faulty_vfs){ 0 };
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	static const char *const names[] = { "",	 "-wal",	 "-shm",
					     ".damaged", ".damaged-wal", ".damaged-shm" };
	struct fixture *f = *state;
	char name[128];

	history_store_free(f->store);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(name, sizeof(name), "%s%s", f->path, names[i]);
		unlink(name);
	}
	assert_int_equal(rmdir(f->folder), 0);
	free(f);
	return 0;
}

static int open_store_with_limits(struct fixture *f, u64 bytes, u32 minutes, u32 tens, u32 hours)
{
	const struct history_store_config config = {
		.path = f->path,
		.bytes = bytes,
		.minutes = minutes,
		.tens = tens,
		.hours = hours,
		.vfs = FAULTY_VFS,
	};

	return history_store_open(&config, &f->store);
}

static int open_store(struct fixture *f)
{
	return open_store_with_limits(f, 64ULL << 20, 0, 0, 0);
}

/* Set the counters of a set of @samples loads, with a latency of 100 cycles each. */
static void set_counters(struct profile_counters *f, u64 samples)
{
	*f = (struct profile_counters){ .samples = samples };
	f->weight[UNIT_INSTRUCTIONS] = 1000 * samples;
	f->counts.kind[SPE_KIND_LOAD] = samples;
	f->counts.level[SPE_LEVEL_L1] = samples - samples / 4;
	f->counts.level[SPE_LEVEL_DRAM] = samples / 4;
	f->counts.event[1] = samples;
	f->latency[PROFILE_TOTAL].sum = 100 * samples;
	f->latency[PROFILE_TOTAL].bucket[histogram_get_bucket(100)] = samples;
	counters_sum_histograms(f);
}

/* Return the number of samples of a location in minute @n; container 0 has the most samples. */
static u64 compute_location_samples(u32 n, u32 program, u32 location)
{
	return 4 * ((PROGRAMS - program) * 10 + (n * 7 + location * 3) % 5);
}

static void fill_locations(struct minute_counters *m, u32 n, u32 each)
{
	for (u32 p = 0; p < PROGRAMS; p++) {
		struct minute_container *c = &m->container[m->program[p].container];
		u64 sum = 4; /* samples that belong to no location */

		for (u32 i = 0; i < each; i++) {
			struct minute_location *l = &m->location[m->locations++];
			struct profile_counters f;

			set_counters(&f, compute_location_samples(n, p, i));
			*l = (struct minute_location){ .program = p, .line = i + 1 };
			strcpy(l->binary, "/usr/bin/program");
			strcpy(l->file, "program.c");
			snprintf(l->function, sizeof(l->function), "function_%u", i);
			minute_sums_compute(&f, &l->sums);
			l->latency[histogram_get_bucket(100)] = f.samples - f.samples / 4;
			l->latency[histogram_get_bucket(3000)] = f.samples / 4;
			sum += f.samples;
		}
		set_counters(&m->machine, sum);
		minute_sums_compute(&m->machine, &m->program[p].sums);
		set_counters(&c->counters, c->counters.samples + sum);
	}
}

/* Make minute @n with @each locations of each program; free it with minute_deinit(). */
static void make_minute(u32 n, u32 each, struct minute_counters *ret)
{
	struct minute_counters m = {
		.start_us = START_US + n * MINUTE_US,
		.end_us = START_US + (n + 1) * MINUTE_US,
		.length_us = MINUTE_US,
		.boot_id = BOOT,
		.backend = BACKEND_HARDWARE,
		.unit = "instructions",
		.containers = CONTAINERS,
		.programs = PROGRAMS,
		.enabled_ns = 60000000000,
	};
	u64 sum = 0;

	m.container = calloc(CONTAINERS, sizeof(*m.container));
	m.program = calloc(PROGRAMS, sizeof(*m.program));
	m.location = calloc((size_t)PROGRAMS * each + 1, sizeof(*m.location));
	assert_true(m.container && m.program && m.location);
	for (u32 i = 0; i < CONTAINERS; i++) {
		snprintf(m.container[i].name, sizeof(m.container[i].name), "web-%u", i);
		snprintf(m.container[i].path, sizeof(m.container[i].path), "/web/%u", i);
		strcpy(m.container[i].runtime, "docker");
		m.container[i].inode = 100 + i;
	}
	for (u32 p = 0; p < PROGRAMS; p++) {
		m.program[p].container = p < CONTAINERS ? p : CONTAINERS - 1;
		snprintf(m.program[p].executable, sizeof(m.program[p].executable),
			 "/usr/bin/program-%u", p);
	}
	fill_locations(&m, n, each);
	for (u32 i = 0; i < CONTAINERS; i++)
		sum += m.container[i].counters.samples;
	set_counters(&m.machine, sum);
	*ret = m;
}

static int write_minute(struct history_store *store, u32 n, u32 each)
{
	struct minute_counters m;
	int r;

	make_minute(n, each, &m);
	r = history_store_write(store, &m);
	minute_deinit(&m);
	return r;
}

static u64 compute_minute_samples(u32 n, u32 each)
{
	struct minute_counters m;
	u64 samples;

	make_minute(n, each, &m);
	samples = m.machine.samples;
	minute_deinit(&m);
	return samples;
}

static const struct history_query everything = { .since_us = INT64_MIN, .until_us = INT64_MAX };

static u64 sum_rows(const struct view *view)
{
	u64 sum = 0;

	for (u32 i = 0; i < view->count; i++)
		sum += view->rows[i].samples;
	return sum;
}

/*
 * Check the percentiles and the latencies of a row. The samples of the four-sample rest have no
 * known latency.
 */
static void assert_latencies(const struct view *view, u32 index)
{
	const struct view_row *row = &view->rows[index];
	struct histogram h = { 0 };

	details_add_latencies(view->latencies[index], &h);
	if (!strcmp(row->function, "[other]") || !strcmp(row->binary, "[other]")) {
		assert_int_equal(h.count, 0);
		assert_int_equal(row->p99, 0);
		return;
	}
	assert_true(h.count <= row->samples && h.count % 4 == 0 && h.count);
	assert_int_equal(h.bucket[histogram_get_bucket(3000)], h.count / 4);
	assert_int_equal(row->p50, histogram_get_upper_bound(histogram_get_bucket(100)));
	assert_int_equal(row->p99, histogram_get_upper_bound(histogram_get_bucket(3000)));
}

/* Check that the rows of every group have all @samples in @periods periods. */
static void assert_sums(struct fixture *f, u64 samples, u32 periods)
{
	static const enum view_group groups[] = { VIEW_CONTAINER, VIEW_PROGRAM, VIEW_FUNCTION,
						  VIEW_LINE, VIEW_BINARY };

	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		struct history_coverage coverage;
		struct view view;

		test_row("%s", view_group_name(groups[i]));
		assert_int_equal(history_store_create_view(f->store, &everything, groups[i],
							   VIEW_SORT_SAMPLES, 0, &view, &coverage),
				 0);
		assert_row(view.header.records == samples);
		assert_row(view.header.weight[UNIT_INSTRUCTIONS] == 1000 * samples);
		assert_row(sum_rows(&view) == samples);
		assert_row(coverage.periods == periods);
		for (u32 k = 0; view.latencies && k < view.count; k++)
			assert_latencies(&view, k);
		assert_row(!view.latencies == (groups[i] == VIEW_CONTAINER));
		view_clear(&view);
	}
}

static s64 query_number(const struct fixture *f, const char *sql)
{
	sqlite3_stmt *statement;
	sqlite3 *db;
	s64 number;

	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	number = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(db);
	return number;
}

static void test_rows_of_minutes(void **state)
{
	struct fixture *f = *state;
	struct history_coverage coverage;
	struct view view;
	const struct view_row *row;

	assert_int_equal(open_store(f), 0);
	assert_int_equal(write_minute(f->store, 0, 5), 0);
	assert_sums(f, compute_minute_samples(0, 5), 1);
	assert_int_equal(history_store_create_view(f->store, &everything, VIEW_LINE,
						   VIEW_SORT_SAMPLES, 0, &view, &coverage),
			 0);
	/* Each program has five lines, and one row for the rest. */
	assert_int_equal(view.count, PROGRAMS * 6);
	row = &view.rows[0];
	assert_string_equal(row->container, "web-0");
	assert_string_equal(row->process, "program-0");
	assert_string_equal(row->binary, "/usr/bin/program");
	assert_string_equal(row->file, "program.c");
	assert_int_equal(row->latency_sum, 100 * row->samples);
	assert_int_equal(row->dram, row->samples / 4);
	assert_string_equal(view.rows[view.count - 1].function, "[other]");
	assert_int_equal(view.rows[view.count - 1].samples, 4);
	assert_int_equal(view.header.backend, BACKEND_HARDWARE);
	assert_int_equal(coverage.start_us, START_US);
	assert_int_equal(coverage.end_us, START_US + MINUTE_US);
	view_clear(&view);
	assert_int_equal(history_store_create_view(f->store, &everything, VIEW_CONTAINER,
						   VIEW_SORT_P99, 2, &view, &coverage),
			 0);
	assert_int_equal(view.count, 2);
	assert_int_equal(view.rows[0].p99, histogram_get_upper_bound(histogram_get_bucket(100)));
	assert_int_equal(view.rows[0].level[SPE_LEVEL_DRAM], view.rows[0].samples / 4);
	assert_int_equal(view.rows[0].event[1], view.rows[0].samples);
	view_clear(&view);
	assert_int_equal(history_store_create_view(f->store, &everything, VIEW_PROCESS,
						   VIEW_SORT_SAMPLES, 0, &view, &coverage),
			 -EOPNOTSUPP);
}

/* The caller owns web-1 from minute 2 on. */
static bool admits_only_second_container(void *ctx, const struct history_container_identity *c,
					 s64 *ret_from_us)
{
	(void)ctx;
	*ret_from_us = START_US + 2 * MINUTE_US;
	return c->inode == 101 && !strcmp(c->boot_id, BOOT) && !strcmp(c->path, "/web/1");
}

static void assert_selected(struct fixture *f, const struct history_query *query, u64 samples,
			    u32 rows, const char *what)
{
	struct history_coverage coverage;
	struct view view;

	test_row("%s", what);
	assert_int_equal(history_store_create_view(f->store, query, VIEW_PROGRAM, VIEW_SORT_SAMPLES,
						   0, &view, &coverage),
			 0);
	assert_row(view.count == rows);
	assert_row(sum_rows(&view) == samples);
	view_clear(&view);
}

static u64 compute_container_samples(u32 n, u32 container)
{
	struct minute_counters m;
	u64 samples;

	make_minute(n, 5, &m);
	samples = m.container[container].counters.samples;
	minute_deinit(&m);
	return samples;
}

static void test_selected_rows(void **state)
{
	struct fixture *f = *state;
	struct history_query q = everything;

	assert_int_equal(open_store(f), 0);
	for (u32 n = 0; n < 4; n++)
		assert_int_equal(write_minute(f->store, n, 5), 0);
	q.since_us = START_US + MINUTE_US;
	q.until_us = START_US + 2 * MINUTE_US;
	assert_selected(f, &q, compute_minute_samples(1, 5), PROGRAMS, "one minute");
	q.container = "web-[01]";
	assert_selected(f, &q, compute_container_samples(1, 0) + compute_container_samples(1, 1), 2,
			"by name");
	q.container = "/web/2";
	assert_selected(f, &q, compute_container_samples(1, 2), 2, "by path");
	q.program = "program-3";
	assert_selected(
		f, &q,
		compute_container_samples(1, 2) - 4 -
			(compute_location_samples(1, 2, 0) + compute_location_samples(1, 2, 1) +
			 compute_location_samples(1, 2, 2) + compute_location_samples(1, 2, 3) +
			 compute_location_samples(1, 2, 4)),
		1, "by program");
	q = everything;
	q.admits = admits_only_second_container;
	assert_selected(f, &q, compute_container_samples(2, 1) + compute_container_samples(3, 1), 1,
			"own containers");
	q.deadline_ns = 1;
	q.admits = NULL;
	assert_selected(f, &q,
			compute_minute_samples(0, 5) + compute_minute_samples(1, 5) +
				compute_minute_samples(2, 5) + compute_minute_samples(3, 5),
			PROGRAMS, "too short a query for a deadline");
}

/* Merged periods have the same sums and names as the periods before merging. */
static void test_merged_periods(void **state)
{
	struct fixture *f = *state;
	u64 samples = 0;
	u32 n;

	/* After 200 minutes: 20 minutes, 6 periods of ten minutes, and hours. */
	assert_int_equal(open_store_with_limits(f, 64ULL << 20, 20, 6, 100), 0);
	for (n = 0; n < 200; n++) {
		assert_int_equal(write_minute(f->store, n, 5), 0);
		samples += compute_minute_samples(n, 5);
	}
	assert_int_equal(query_number(f, "SELECT count(*) FROM period WHERE seconds=60"), 20);
	assert_int_equal(query_number(f, "SELECT count(*) FROM period WHERE seconds=600"), 6);
	assert_int_equal(query_number(f, "SELECT count(*) FROM period WHERE seconds=3600"), 2);
	assert_sums(f, samples, 28);
	assert_int_equal(query_number(f, "SELECT sum(json_extract(details,'$.\"op.load\"')) "
					 "FROM container_row"),
			 samples);
	assert_int_equal(query_number(f, "SELECT sum(length_us) FROM period"), 200 * MINUTE_US);
}

/* Periods keep at most MINUTE_ROWS locations; the rest is in the rows of programs. */
static void test_many_locations(void **state)
{
	struct fixture *f = *state;
	u64 samples = 0;

	assert_int_equal(open_store_with_limits(f, 64ULL << 20, 5, 100, 100), 0);
	for (u32 n = 0; n < 30; n++) {
		struct minute_counters m;

		make_minute(n, MINUTE_ROWS / PROGRAMS, &m);
		for (u32 i = 0; i < m.locations; i++)
			m.location[i].line += n * 1000;
		samples += m.machine.samples;
		assert_int_equal(history_store_write(f->store, &m), 0);
		minute_deinit(&m);
	}
	assert_int_equal(query_number(f,
				      "SELECT max(n) FROM (SELECT count(*) AS n FROM location_row "
				      "GROUP BY period)"),
			 MINUTE_ROWS);
	assert_sums(f, samples, 12);
	/* Names that only removed rows used are removed. */
	assert_int_equal(query_number(f, "SELECT count(*) FROM location WHERE id NOT IN "
					 "(SELECT location FROM location_row)"),
			 0);
}

/*
 * Simulate a quarter at a scale of 1:24 within the smallest limit: for each minute that is written,
 * there are as many periods of each length, with as many different names.
 */
static void test_size_limit_of_a_quarter(void **state)
{
	const u32 hours = stride == 1 ? 92 : 12;
	struct fixture *f = *state;
	u64 most = 0;

	assert_int_equal(open_store_with_limits(f, HISTORY_BYTES_MIN, 60, 84, hours), 0);
	for (u32 n = 0; n < hours * 60 + 84 * 10 + 60; n++) {
		struct minute_counters m;
		u64 bytes;

		make_minute(n, 4, &m);
		for (u32 i = 0; i < m.locations; i++)
			snprintf(m.location[i].function, sizeof(m.location[i].function),
				 "a_function_with_a_long_name_of_version_%u_number_%u", n / 10, i);
		assert_int_equal(history_store_write(f->store, &m), 0);
		minute_deinit(&m);
		bytes = history_store_get_bytes(f->store);
		most = bytes > most ? bytes : most;
	}
	assert_true(most <= HISTORY_BYTES_MIN);
	assert_true(query_number(f, "SELECT count(*) FROM period WHERE seconds=60") <= 60);
	assert_true(query_number(f, "SELECT count(*) FROM period WHERE seconds=600") <= 84);
	assert_true(query_number(f, "SELECT count(*) FROM period WHERE seconds=3600") <= hours);
}

/*
 * If more is written than fits, the oldest periods are removed, and the latest minute is always in
 * the history.
 */
static void test_oldest_periods_are_removed(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(open_store_with_limits(f, HISTORY_BYTES_MIN, 2000, 10, 10), 0);
	for (u32 n = 0; n < 350; n++) {
		struct minute_counters m;

		make_minute(n, MINUTE_ROWS / PROGRAMS, &m);
		for (u32 i = 0; i < m.locations; i++)
			snprintf(m.location[i].function, sizeof(m.location[i].function),
				 "a_function_with_a_long_name_of_version_%u_number_%u", n, i);
		assert_int_equal(history_store_write(f->store, &m), 0);
		minute_deinit(&m);
		assert_true(history_store_get_bytes(f->store) <= HISTORY_BYTES_MIN);
	}
	assert_int_equal(query_number(f, "SELECT max(start_us) FROM period"),
			 START_US + 349 * MINUTE_US);
	assert_true(query_number(f, "SELECT min(start_us) FROM period") > START_US);
	assert_true(query_number(f, "SELECT count(*) FROM period") > 100);
	/* The periods that remain have no gap. */
	assert_int_equal(query_number(f, "SELECT max(start_us)-min(start_us)-(count(*)-1)*60000000 "
					 "FROM period"),
			 0);
}

/* A lower limit takes effect when the history is opened. */
static void test_lower_limit(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(open_store_with_limits(f, 64ULL << 20, 2000, 10, 10), 0);
	for (u32 n = 0; n < 350; n++) {
		struct minute_counters m;

		make_minute(n, MINUTE_ROWS / PROGRAMS, &m);
		for (u32 i = 0; i < m.locations; i++)
			snprintf(m.location[i].function, sizeof(m.location[i].function),
				 "a_function_with_a_long_name_of_version_%u_number_%u", n, i);
		assert_int_equal(history_store_write(f->store, &m), 0);
		minute_deinit(&m);
	}
	assert_true(history_store_get_bytes(f->store) > HISTORY_BYTES_MIN);
	f->store = history_store_free(f->store);
	assert_int_equal(open_store_with_limits(f, HISTORY_BYTES_MIN, 2000, 10, 10), 0);
	assert_true(history_store_get_bytes(f->store) <= HISTORY_BYTES_MIN);
	assert_int_equal(query_number(f, "SELECT max(start_us) FROM period"),
			 START_US + 349 * MINUTE_US);
}

#define KILLED_MINUTES 14

/* Write minutes in a child, which is killed at change @at. Return whether it survived. */
static bool write_in_child(struct fixture *f, unsigned long at, volatile u32 *written)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		faulty_vfs = (struct faulty_vfs){ .kill_at = at };
		if (open_store_with_limits(f, 64ULL << 20, 4, 10, 10) < 0)
			_exit(2);
		for (u32 n = 0; n < KILLED_MINUTES; n++) {
			if (write_minute(f->store, n, 2) < 0)
				_exit(3);
			*written = n + 1;
		}
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status)) {
		assert_int_equal(WTERMSIG(status), SIGKILL);
		return false;
	}
	assert_int_equal(WEXITSTATUS(status), 0);
	return true;
}

static void remove_database(const struct fixture *f)
{
	char name[128];

	unlink(f->path);
	snprintf(name, sizeof(name), "%s-wal", f->path);
	unlink(name);
	snprintf(name, sizeof(name), "%s-shm", f->path);
	unlink(name);
}

/* Check that the history has the first @n minutes completely, and nothing of a later one. */
static void assert_minutes(struct fixture *f, u32 n)
{
	u64 samples = 0;

	for (u32 i = 0; i < n; i++)
		samples += compute_minute_samples(i, 2);
	assert_true((u64)query_number(f, "SELECT coalesce(sum(samples),0) FROM period") == samples);
	assert_true((u64)query_number(f, "SELECT coalesce(sum(samples),0) FROM program_row") ==
		    samples);
	assert_int_equal(query_number(f, "SELECT count(*) FROM pragma_integrity_check WHERE "
					 "integrity_check<>'ok'"),
			 0);
	assert_int_equal(query_number(f, "SELECT coalesce(sum(length_us),0) FROM period"),
			 n * MINUTE_US);
}

static void test_killed_writer_leaves_whole_minutes(void **state)
{
	struct fixture *f = *state;
	volatile u32 *written = mmap(NULL, sizeof(*written), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bool lived = false;
	unsigned long at;

	assert_true(written != MAP_FAILED);
	for (at = 1; !lived; at += stride) {
		u32 after;

		*written = 0;
		lived = write_in_child(f, at, written);
		/* Another process opens the history, and continues it. */
		assert_int_equal(open_store_with_limits(f, 64ULL << 20, 4, 10, 10), 0);
		after = (u32)(query_number(f, "SELECT coalesce(sum(length_us),0) FROM period") /
			      MINUTE_US);
		assert_true(after == *written || after == *written + 1);
		assert_minutes(f, after);
		assert_int_equal(write_minute(f->store, after, 2), 0);
		assert_minutes(f, after + 1);
		f->store = history_store_free(f->store);
		remove_database(f);
	}
	/* Each minute makes more than one change. */
	assert_true(at > KILLED_MINUTES);
	munmap((void *)written, sizeof(*written));
}

/* Write minutes with a disk that is full from change @at on. Return whether that was noticed. */
static bool write_to_full_disk(struct fixture *f, unsigned long at)
{
	bool noticed = false;
	u32 n;

	faulty_vfs = (struct faulty_vfs){ 0 };
	assert_int_equal(open_store_with_limits(f, 64ULL << 20, 4, 10, 10), 0);
	faulty_vfs.full_at = faulty_vfs.changes + at;
	for (n = 0; n < KILLED_MINUTES && !noticed; n++) {
		int r = write_minute(f->store, n, 2);

		noticed = r < 0;
		if (noticed)
			assert_int_equal(r, -ENOSPC);
	}
	n -= noticed;
	assert_minutes(f, n);
	/* When the disk has free space again, the history continues. */
	faulty_vfs.full_at = 0;
	assert_int_equal(write_minute(f->store, n, 2), 0);
	assert_minutes(f, n + 1);
	f->store = history_store_free(f->store);
	remove_database(f);
	return noticed;
}

static void test_full_disk(void **state)
{
	struct fixture *f = *state;

	unsigned long at = 1;

	while (write_to_full_disk(f, at))
		at += stride;
	assert_true(at > KILLED_MINUTES);
}

static void write_minute_at(struct fixture *f, s64 start_us, u32 n)
{
	struct minute_counters m;

	make_minute(n, 2, &m);
	m.start_us = start_us;
	m.end_us = start_us + m.length_us;
	assert_int_equal(history_store_write(f->store, &m), 0);
	minute_deinit(&m);
}

/*
 * Steps of the clock remove nothing, and each minute is found at the time that the clock showed
 * then.
 */
static void test_clock_steps(void **state)
{
	const s64 decade = 10LL * 365 * 24 * 60 * MINUTE_US, hour = 60 * MINUTE_US;
	struct history_query q = everything;
	struct fixture *f = *state;
	u64 samples = 0;
	u32 n = 0;

	assert_int_equal(open_store_with_limits(f, 64ULL << 20, 10, 50, 100), 0);
	for (; n < 30; n++)
		write_minute_at(f, START_US + n * MINUTE_US, n);
	for (; n < 40; n++) /* ten years ahead */
		write_minute_at(f, START_US + decade + n * MINUTE_US, n);
	for (; n < 80; n++) /* an hour before the correct time */
		write_minute_at(f, START_US - hour + n * MINUTE_US, n);
	for (u32 i = 0; i < n; i++)
		samples += compute_minute_samples(i, 2);
	assert_sums(f, samples, (u32)query_number(f, "SELECT count(*) FROM period"));
	samples = 0;
	for (u32 i = 30; i < 40; i++)
		samples += compute_minute_samples(i, 2);
	q.since_us = START_US + decade;
	assert_selected(f, &q, samples, PROGRAMS, "ten years ahead");
	assert_int_equal(query_number(f, "SELECT sum(length_us) FROM period"), n * MINUTE_US);
	assert_int_equal(query_number(f, "SELECT count(*) FROM period WHERE end_us-start_us>"
					 "seconds*1000000"),
			 0);
}

/* Periods of different boots are not merged. */
static void test_boots_are_not_merged(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(open_store_with_limits(f, 64ULL << 20, 2, 50, 100), 0);
	for (u32 n = 0; n < 10; n++) {
		struct minute_counters m;

		make_minute(n, 2, &m);
		if (n >= 5)
			m.boot_id[0] = '9';
		assert_int_equal(history_store_write(f->store, &m), 0);
		minute_deinit(&m);
	}
	assert_int_equal(query_number(f, "SELECT count(*) FROM boot"), 2);
	assert_int_equal(query_number(f, "SELECT count(DISTINCT boot) FROM period"), 2);
	assert_int_equal(query_number(f, "SELECT length_us/60000000 FROM period ORDER BY start_us"),
			 5);
}

static void run_sql(const struct fixture *f, const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void test_other_versions(void **state)
{
	struct fixture *f = *state;
	char damaged[96];
	struct stat st;
	FILE *file;

	assert_int_equal(open_store(f), 0);
	f->store = history_store_free(f->store);
	run_sql(f, "PRAGMA user_version=3");
	assert_int_equal(open_store(f), -ENOTSUP);
	run_sql(f, "PRAGMA user_version=2;PRAGMA application_id=7");
	assert_int_equal(open_store(f), -ENOTSUP);
	remove_database(f);
	file = fopen(f->path, "w");
	assert_non_null(file);
	for (unsigned int i = 0; i < 5000; i++)
		fputs("no database", file);
	fclose(file);
	assert_int_equal(open_store(f), 0);
	assert_int_equal(write_minute(f->store, 0, 2), 0);
	assert_minutes(f, 1);
	snprintf(damaged, sizeof(damaged), "%s.damaged", f->path);
	assert_int_equal(stat(damaged, &st), 0);
}

/* Rows of version 1 have no latencies. The history keeps these rows and adds others. */
static void test_migration(void **state)
{
	struct fixture *f = *state;
	struct history_query q = everything;
	struct history_coverage coverage;
	struct view view;

	assert_int_equal(open_store(f), 0);
	assert_int_equal(write_minute(f->store, 0, 5), 0);
	f->store = history_store_free(f->store);
	run_sql(f, "ALTER TABLE location_row DROP COLUMN latencies;PRAGMA user_version=1");
	assert_int_equal(open_store(f), 0);
	assert_int_equal(query_number(f, "PRAGMA user_version"), HISTORY_VERSION);
	assert_int_equal(write_minute(f->store, 1, 5), 0);
	q.until_us = START_US + MINUTE_US;
	assert_int_equal(history_store_create_view(f->store, &q, VIEW_LINE, VIEW_SORT_SAMPLES, 1,
						   &view, &coverage),
			 0);
	assert_int_equal(view.rows[0].samples, compute_location_samples(0, 0, 3));
	assert_int_equal(view.rows[0].p99, 0);
	assert_string_equal(view.latencies[0], "{}");
	view_clear(&view);
	assert_sums(f, compute_minute_samples(0, 5) + compute_minute_samples(1, 5), 2);
}

/* Two locations with the same names are one row with the sum of the latencies. */
static void test_same_names(void **state)
{
	struct fixture *f = *state;
	struct minute_counters m;

	assert_int_equal(open_store(f), 0);
	make_minute(0, 2, &m);
	for (u32 i = 0; i < m.locations; i++) {
		m.location[i].line = 1;
		strcpy(m.location[i].function, "same");
	}
	assert_int_equal(history_store_write(f->store, &m), 0);
	assert_int_equal(query_number(f, "SELECT count(*) FROM location_row"), PROGRAMS);
	assert_sums(f, m.machine.samples, 1);
	minute_deinit(&m);
}

static void test_timeline_of_containers(void **state)
{
	struct fixture *f = *state;
	struct history_query q = everything;
	struct history_timeline t;

	assert_int_equal(open_store(f), 0);
	for (u32 n = 0; n < 10; n++)
		assert_int_equal(write_minute(f->store, n, 5), 0);
	q.since_us = START_US;
	assert_int_equal(
		history_store_create_timeline(f->store, &q, VIEW_GROUPS, 5 * MINUTE_US, 100, &t),
		0);
	assert_int_equal(t.series_count, 1);
	assert_int_equal(t.points, 2);
	assert_int_equal(t.point[1].start_us, START_US + 5 * MINUTE_US);
	assert_int_equal(t.point[1].end_us, START_US + 10 * MINUTE_US);
	assert_int_equal(t.point[1].sampled_us, 5 * MINUTE_US);
	assert_int_equal(t.point[0].p50, histogram_get_upper_bound(histogram_get_bucket(100)));
	assert_string_equal(t.unit, "instructions");
	history_timeline_clear(&t);
	assert_int_equal(
		history_store_create_timeline(f->store, &q, VIEW_CONTAINER, MINUTE_US, 100, &t), 0);
	assert_int_equal(t.series_count, CONTAINERS);
	assert_int_equal(t.points, CONTAINERS * 10);
	assert_string_equal(t.series[2].container, "web-2");
	assert_int_equal(t.point[29].sums.samples, compute_container_samples(9, 2));
	history_timeline_clear(&t);
	q.container = "web-2";
	assert_int_equal(
		history_store_create_timeline(f->store, &q, VIEW_PROGRAM, MINUTE_US, 15, &t), 0);
	assert_int_equal(t.series_count, 2);
	assert_string_equal(t.series[1].program, "/usr/bin/program-3");
	assert_int_equal(t.points, 15);
	assert_true(t.truncated);
	history_timeline_clear(&t);
	/* Two programs of one container form one series, and their time counts once. */
	q.program = "program-*";
	assert_int_equal(
		history_store_create_timeline(f->store, &q, VIEW_CONTAINER, 10 * MINUTE_US, 15, &t),
		0);
	assert_int_equal(t.points, 1);
	assert_int_equal(t.point[0].sampled_us, 10 * MINUTE_US);
	history_timeline_clear(&t);
}

/* A hostile JSON object ends the parsing, and never causes an access beyond an array. */
static void test_hostile_details(void **state)
{
	static const char *const hostile[] = {
		"",
		"{",
		"{\"",
		"{\"op.load\"",
		"{\"op.load\":",
		"{\"op.load\":x}",
		"{\"event.99999999999\":1,\"latency.99999999999\":2,\"level.nothing\":3}",
		"{\"latency.\":1,\"event.\":2,\"event.-1\":3}",
		"{\"a_key_that_is_longer_than_any_that_was_ever_written_to_a_history\":1}",
	};
	struct profile_counters f, back = { 0 };
	char text[DETAILS_SIZE];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++)
		details_add(hostile[i], &back);
	back = (struct profile_counters){ 0 };
	set_counters(&f, 44);
	details_write(&f, text);
	details_add(text, &back);
	counters_sum_histograms(&back);
	assert_memory_equal(&back.counts, &f.counts, sizeof(f.counts));
	assert_int_equal(back.latency[PROFILE_TOTAL].sum, 4400);
	assert_int_equal(back.latency[PROFILE_TOTAL].count, 44);
	details_write(&(struct profile_counters){ 0 }, text);
	assert_string_equal(text, "{}");
}

/* Usage: test-history-store [STRIDE] */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hostile_details),
		cmocka_unit_test_setup_teardown(test_rows_of_minutes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_selected_rows, setup, teardown),
		cmocka_unit_test_setup_teardown(test_timeline_of_containers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_merged_periods, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_locations, setup, teardown),
		cmocka_unit_test_setup_teardown(test_size_limit_of_a_quarter, setup, teardown),
		cmocka_unit_test_setup_teardown(test_oldest_periods_are_removed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lower_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_killed_writer_leaves_whole_minutes, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_full_disk, setup, teardown),
		cmocka_unit_test_setup_teardown(test_clock_steps, setup, teardown),
		cmocka_unit_test_setup_teardown(test_boots_are_not_merged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_versions, setup, teardown),
		cmocka_unit_test_setup_teardown(test_migration, setup, teardown),
		cmocka_unit_test_setup_teardown(test_same_names, setup, teardown),
	};

	if (argc > 1)
		stride = strtoul(argv[1], NULL, 10);
	faulty_vfs_register();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
