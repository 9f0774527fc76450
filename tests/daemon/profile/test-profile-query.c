// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test that statistics selected by any subset of the fields of a row equal those of the rows with
 * these fields.
 */
#include "test.h"

#include "profile/profile-query.h"
#include "profile/profile-read.h"
#include "tasks/task-event.h"

#include <errno.h>
#include <stdlib.h>

#define NS	1000000000ULL
#define TASKS	4 /* number of processes, from PID 10 on; the last one has no container */
#define NOBODY	TASKS /* an unknown task */
#define SECONDS 30
#define BINARY	0x10000
#define LIBRARY 0x20000
#define KERNEL	0xffff800000000000ULL

struct fixture {
	struct attributor *attributor;
	struct symbols_cache *symbols;
	struct profile *profile;
};

static void report_task(struct attributor *a, s32 pid, const char *name, const char *cgroup)
{
	attributor_apply_event(
		a, &(struct task_event){ .type = TASK_COMM, .pid = pid, .tid = pid, .name = name });
	attributor_apply_event(a, &(struct task_event){ .type = TASK_MMAP,
							.pid = pid,
							.tid = pid,
							.start = BINARY,
							.size = 0x1000,
							.name = "/bin/work\033" });
	attributor_apply_event(a, &(struct task_event){ .type = TASK_MMAP,
							.pid = pid,
							.tid = pid,
							.start = LIBRARY,
							.size = 0x1000,
							.name = "/lib/shared" });
	if (cgroup)
		attributor_apply_event(
			a, &(struct task_event){ .type = TASK_CGROUP, .pid = pid, .name = cgroup });
}

/* Add @count loads and stores of a task at @pc, with different latencies. */
static void add_samples(struct fixture *f, u32 task, u64 pc, u32 second, u32 count)
{
	u8 records[64 * 64];
	size_t len = 0;

	for (u32 i = 0; i < count; i++) {
		const struct spe_sample sample = {
			.present = SPE_HAS_ADDRESS(0) | SPE_HAS_EVENTS | SPE_HAS_OP |
				   SPE_HAS_COUNTER(SPE_COUNTER_TOTAL) |
				   SPE_HAS_COUNTER(SPE_COUNTER_ISSUE) |
				   SPE_HAS_COUNTER(SPE_COUNTER_TRANSLATION),
			.address = { pc | (pc >= KERNEL ? 1ULL << 61 : 0) },
			.counter = { [SPE_COUNTER_TOTAL] = (u16)(10 + 37 * task + 11 * i),
				     [SPE_COUNTER_ISSUE] = (u16)(3 + i),
				     [SPE_COUNTER_TRANSLATION] = (u16)(1 + task) },
			.op_class = SPE_OP_LOAD_STORE,
			.op_subclass = (u8)(i & 1),
			.events = 1 << 1 | 1 << 9,
			.events_size = 2,
		};
		int n = spe_record_encode(&sample, records + len, sizeof(records) - len);

		assert_true(n > 0);
		len += (size_t)n;
	}
	profile_add_window(f->profile, &(struct source_window){
					       .data = records,
					       .len = len,
					       .tid = (s32)task + 10,
					       .start_ns = (second - 1) * NS,
					       .end_ns = second * NS,
					       .interval = 1000,
					       .unit = UNIT_INSTRUCTIONS,
				       });
}

static int setup(void **state)
{
	static const char *const cgroups[TASKS] = { "/lxc/web", "/lxc/web", "/lxc/db", NULL };
	const struct attributor_config attribution = { 0 };
	const struct profile_config config = { .cell_bytes = 1 << 20, .history = true };
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	assert_int_equal(attributor_new(&attribution, &f->attributor), 0);
	assert_int_equal(symbols_new(0, &f->symbols), 0);
	assert_int_equal(profile_new(&config, f->attributor, &f->profile), 0);
	attributor_apply_event(f->attributor,
			       &(struct task_event){ .type = TASK_MMAP,
						     .pid = -1,
						     .tid = -1,
						     .start = KERNEL,
						     .size = 0x100000,
						     .name = "[kernel.kallsyms]_text" });
	for (u32 i = 0; i < TASKS; i++)
		report_task(f->attributor, (s32)i + 10, i ? "work" : "main", cgroups[i]);
	for (u32 second = 1; second <= SECONDS; second++)
		for (u32 task = 0; task <= TASKS; task++) {
			add_samples(f, task, BINARY + 0x40, second, 1 + task);
			add_samples(f, task, BINARY + 0x80, second, 2);
			add_samples(f, task, LIBRARY + 0x40, second, 3);
			add_samples(f, task, KERNEL + 0x40, second, 1);
		}
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	profile_free(f->profile);
	symbols_free(f->symbols);
	attributor_free(f->attributor);
	free(f);
	return 0;
}

static int sum_query(struct fixture *f, enum view_span span, const struct profile_query *wanted,
		     struct profile_counters *ret)
{
	return profile_query_counters(f->profile, f->symbols, false, span, SECONDS * NS, wanted,
				      ret);
}

static struct profile_counters sum_counters(struct fixture *f, const struct profile_query *wanted)
{
	struct profile_counters counters;

	assert_int_equal(sum_query(f, VIEW_SPAN_START, wanted, &counters), 0);
	return counters;
}

/* Check all statistics that a row shows. */
static void assert_row_has_counters(const struct view_row *row, const struct profile_counters *f)
{
	assert_row(row->samples == f->samples);
	assert_row(row->memory == counters_get_memory_accesses(f));
	assert_row(row->loads == f->counts.kind[SPE_KIND_LOAD]);
	assert_row(row->latency_sum == f->latency[PROFILE_TOTAL].sum);
	assert_row(row->issue_sum == f->latency[PROFILE_ISSUE].sum);
	assert_row(row->translation_sum == f->latency[PROFILE_TRANSLATION].sum);
	assert_row(row->p99 == histogram_get_quantile(&f->latency[PROFILE_TOTAL], 990));
	assert_row(row->issue_p50 == histogram_get_quantile(&f->latency[PROFILE_ISSUE], 500));
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++) {
		u64 count = 0;

		for (unsigned int k = 0; k < HISTOGRAM_BUCKETS; k++)
			count += f->latency[i].bucket[k];
		assert_row(count == f->latency[i].count && count == f->samples);
	}
}

static struct profile_query make_query_of_row(const struct view_row *row, enum view_group group)
{
	struct profile_query wanted = { .container = row->container };

	if (group == VIEW_CONTAINER)
		return wanted;
	wanted.process = row->process;
	if (group == VIEW_FUNCTION) {
		wanted.function = row->function;
		wanted.binary = row->binary;
		return wanted;
	}
	wanted.pid = row->pid;
	wanted.pid_given = true;
	return wanted;
}

/* All fields together select exactly one row. */
static void test_all_fields_select_one_row(void **state)
{
	static const enum view_group groups[] = { VIEW_CONTAINER, VIEW_PROCESS, VIEW_FUNCTION };
	struct fixture *f = *state;
	u32 rows = 0;

	for (size_t g = 0; g < ARRAY_SIZE(groups); g++) {
		struct view view;

		assert_int_equal(profile_create_view(f->profile, f->symbols, false, groups[g],
						     VIEW_SORT_SAMPLES, 0, &view),
				 0);
		for (u32 i = 0; i < view.count; i++) {
			const struct view_row *row = &view.rows[i];
			struct profile_query wanted = make_query_of_row(row, groups[g]);
			struct profile_counters counters = sum_counters(f, &wanted);

			test_row("%s of %d: %.60s", view_group_name(groups[g]), row->pid,
				 row->function);
			assert_row(profile_query_get_group(&wanted) == groups[g]);
			assert_row_has_counters(row, &counters);
		}
		rows += view.count;
		view_clear(&view);
	}
	/*
	 * Containers web, db and none; four processes and the unknown task; four locations of the
	 * program in each container, and those of the unknown task in the kernel and outside it.
	 */
	assert_int_equal(rows, 3 + 5 + 3 * 4 + 2);
}

/* Some fields select the sum of all rows that have them. */
static void test_some_fields_select_sum(void **state)
{
	const struct profile_query all = { 0 }, web = { .container = "web" },
				   path = { .container = "/lxc/web" },
				   works = { .process = "work" },
				   in_web = { .container = "web", .process = "work" },
				   library = { .binary = "/lib/shared" },
				   of_web = { .container = "/lxc/web", .binary = "/lib/shared" },
				   eleven = { .pid = 11, .pid_given = true };
	struct fixture *f = *state;

	/* Each task has seven samples a second, plus its number. */
	assert_int_equal(sum_counters(f, &all).samples, SECONDS * (5 * 7 + 10));
	assert_int_equal(sum_counters(f, &web).samples, SECONDS * (2 * 7 + 1));
	assert_int_equal(sum_counters(f, &path).samples, SECONDS * (2 * 7 + 1));
	assert_int_equal(sum_counters(f, &works).samples, SECONDS * (3 * 7 + 1 + 2 + 3));
	assert_int_equal(sum_counters(f, &in_web).samples, SECONDS * (7 + 1));
	assert_int_equal(sum_counters(f, &eleven).samples, SECONDS * (7 + 1));
	assert_int_equal(sum_counters(f, &library).samples, SECONDS * TASKS * 3);
	assert_int_equal(sum_counters(f, &of_web).samples, SECONDS * 2 * 3);
}

static bool container_is_db(void *ctx, const struct attribute_container *container)
{
	++*(u32 *)ctx;
	return !strcmp(container->name, "db");
}

static void test_query_matches_nothing(void **state)
{
	struct fixture *f = *state;
	u32 calls = 0;
	const struct profile_query none[] = {
		{ .container = "we" },
		{ .container = "/lxc" },
		{ .process = "main", .pid = 11, .pid_given = true },
		{ .function = "main" },
		{ .binary = "/lib/shared", .container = "none" },
		/* Containers that the caller may not read are absent. */
		{ .container = "web", .admits = container_is_db, .ctx = &calls },
		{ .container = "/lxc/web", .admits = container_is_db, .ctx = &calls },
		{ .container = "-", .admits = container_is_db, .ctx = &calls },
	};
	const struct profile_query db = { .container = "db",
					  .admits = container_is_db,
					  .ctx = &calls };
	struct profile_counters counters;

	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		test_row("%zu", i);
		assert_row(sum_query(f, VIEW_SPAN_START, &none[i], &counters) == -ENOENT);
	}
	assert_int_equal(sum_counters(f, &db).samples, SECONDS * 9);
	assert_true(calls > 0);
}

static bool matches_first_letter(const char *pattern, const char *name)
{
	return *pattern == *name;
}

/* Check that names match by the callback of a query, and that a binary matches by its last part. */
static void test_names_match_patterns(void **state)
{
	struct fixture *f = *state;
	const struct profile_query exact[] = { { .container = "web" },
					       { .container = "/lxc/web" },
					       { .binary = "/lib/shared" } };
	const struct profile_query patterns[] = {
		{ .container = "w?", .matches = matches_first_letter },
		{ .container = "web", .matches = matches_first_letter },
		{ .binary = "s?", .matches = matches_first_letter },
	};
	struct profile_counters counters;

	assert_int_equal(sum_counters(f, &patterns[0]).samples,
			 sum_counters(f, &exact[0]).samples);
	assert_int_equal(sum_counters(f, &patterns[1]).samples,
			 sum_counters(f, &exact[1]).samples);
	assert_int_equal(sum_counters(f, &patterns[2]).samples,
			 sum_counters(f, &exact[2]).samples);
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		struct profile_query wanted = patterns[i];

		wanted.matches = NULL;
		test_row("%zu", i);
		assert_row((sum_query(f, VIEW_SPAN_START, &wanted, &counters) == 0) == (i == 1));
	}
}

/* A period includes only the time that is stored. */
static void test_period_has_stored_time(void **state)
{
	const struct profile_query all = { 0 }, web = { .container = "web" },
				   none = { .container = "none" }, main = { .process = "main" },
				   library = { .binary = "/lib/shared" };
	struct fixture *f = *state;
	struct profile_counters counters;
	struct view view;

	assert_int_equal(profile_create_span_view(f->profile, f->symbols, false, VIEW_SPAN_10S,
						  VIEW_CONTAINER, VIEW_SORT_SAMPLES, 0,
						  SECONDS * NS, &view),
			 0);
	assert_int_equal(sum_query(f, VIEW_SPAN_10S, &all, &counters), 0);
	assert_int_equal(counters.samples, view.header.records);
	assert_true(counters.samples < SECONDS * (5 * 7 + 10) / 2);
	for (u32 i = 0; i < view.count; i++) {
		const struct profile_query row = { .container = view.rows[i].container };

		test_row("%s", row.container);
		assert_row(sum_query(f, VIEW_SPAN_10S, &row, &counters) == 0);
		assert_row_has_counters(&view.rows[i], &counters);
	}
	assert_int_equal(view.count, 3);
	view_clear(&view);
	assert_int_equal(sum_query(f, VIEW_SPAN_1M, &web, &counters), 0);
	assert_int_equal(sum_query(f, VIEW_SPAN_10S, &none, &counters), -ENOENT);
	assert_int_equal(sum_query(f, VIEW_SPAN_10S, &main, &counters), -EOPNOTSUPP);
	assert_int_equal(sum_query(f, VIEW_SPAN_10M, &library, &counters), -EOPNOTSUPP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_all_fields_select_one_row, setup, teardown),
		cmocka_unit_test_setup_teardown(test_some_fields_select_sum, setup, teardown),
		cmocka_unit_test_setup_teardown(test_query_matches_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_names_match_patterns, setup, teardown),
		cmocka_unit_test_setup_teardown(test_period_has_stored_time, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
