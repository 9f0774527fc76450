// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test views of the cells of a profile: processes of a program share their rows, and the rows of
 * every group add up to the machine's counters.
 */
#include "test.h"

#include "attribution/attributor-save.h"
#include "attribution/attributor.h"
#include "profile/profile-query.h"
#include "profile/profile-read.h"
#include "profile/profile-save.h"
#include "profile/profile-shard.h"
#include "tasks/task-event.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define NS	   1000000000ULL
#define PROGRAMS   5
#define CONTAINERS 2
#define PROCESSES  60
#define FIRST_PID  100
#define LOCATIONS  40
#define SAMPLES	   20000
#define UNKNOWN	   PROCESSES /* a task that no event reported */

#define EXECUTABLE_AT 0x400000ULL
#define LIBRARY_AT    0x7f0000000000ULL
#define UNMAPPED_AT   0x10000ULL
#define KERNEL_AT     0xffff800008000000ULL

enum where { IN_EXECUTABLE, IN_LIBRARY, IN_KERNEL, IN_NOTHING, WHERES };

static const u64 base[WHERES] = { EXECUTABLE_AT, LIBRARY_AT, KERNEL_AT, UNMAPPED_AT };

struct fixture {
	struct attributor *attributor;
	struct profile *profile;
	u64 samples[PROGRAMS][CONTAINERS][WHERES];
	u64 unattributed;
};

/* The start of the next window. */
static u64 now_ns = 1;

static u64 random_state = 88172645463325252ULL;

static u32 draw_below(u32 below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (u32)(random_state % below);
}

static void map_add(struct attributor *a, s32 pid, u64 start, const char *name)
{
	attributor_apply_event(a, &(struct task_event){ .type = TASK_MMAP,
							.pid = pid,
							.tid = pid,
							.start = start,
							.size = 0x10000,
							.name = name });
}

/* Process @i executes program @i % PROGRAMS in one of the containers. */
static void process_add(struct attributor *a, u32 i)
{
	s32 pid = (s32)(FIRST_PID + i);
	char name[16], path[32], cgroup[32];

	snprintf(name, sizeof(name), "worker-%u", i);
	snprintf(path, sizeof(path), "/usr/bin/p%u", i % PROGRAMS);
	snprintf(cgroup, sizeof(cgroup), "/lxc/c%u", i / PROGRAMS % CONTAINERS);
	attributor_apply_event(
		a, &(struct task_event){ .type = TASK_COMM, .pid = pid, .tid = pid, .name = name });
	map_add(a, pid, EXECUTABLE_AT, path);
	map_add(a, pid, LIBRARY_AT + i * 0x100000ULL, "/usr/lib/libshared.so");
	attributor_apply_event(
		a, &(struct task_event){ .type = TASK_CGROUP, .pid = pid, .name = cgroup });
}

static void count_sample(struct profile *const *profiles, u32 count, u32 process, u64 pc, u32 i)
{
	u32 interval = draw_below(2) ? 1000 : 3000;
	const struct spe_sample sample = {
		.present = SPE_HAS_ADDRESS(0) | SPE_HAS_EVENTS | SPE_HAS_OP |
			   SPE_HAS_COUNTER(SPE_COUNTER_TOTAL),
		.address = { pc | (pc >= KERNEL_AT ? 1ULL << 61 : 0) },
		.counter = { [SPE_COUNTER_TOTAL] = (u16)draw_below(3000) },
		.op_class = SPE_OP_LOAD_STORE,
		.op_subclass = (u8)(i & 1),
		.events = 1 << 1 | (u64)draw_below(2) << 5,
		.events_size = 2,
	};
	u8 record[64];
	int n = spe_record_encode(&sample, record, sizeof(record));

	assert_row(n > 0);
	while (count--)
		profile_add_window(profiles[count],
				   &(struct source_window){ .data = record,
							    .len = (size_t)n,
							    .tid = (s32)(FIRST_PID + process),
							    .start_ns = now_ns,
							    .end_ns = now_ns + NS,
							    .interval = interval,
							    .unit = UNIT_INSTRUCTIONS });
}

/* Count random samples in the profile of the fixture, and if @other is not NULL there, too. */
static void count_random_samples(struct fixture *f, u32 count, struct profile *other)
{
	struct profile *const profiles[] = { f->profile, other };

	for (u32 i = 0; i < count; i++) {
		u32 process = draw_below(PROCESSES + 1);
		enum where where = draw_below(WHERES);
		u64 pc = base[where] + 0x40 + 4ULL * draw_below(LOCATIONS);

		if (where == IN_LIBRARY)
			pc += process * 0x100000ULL;
		count_sample(profiles, other ? 2 : 1, process, pc, i);
		if (process == UNKNOWN)
			f->unattributed++;
		else
			f->samples[process % PROGRAMS][process / PROGRAMS % CONTAINERS][where]++;
	}
}

/*
 * The tables of tasks are small, because allocating them takes most of the time in a test with many
 * fixtures.
 */
static struct fixture *fixture_new_empty(u64 cell_bytes)
{
	const struct attributor_config attribution = {
		.processes = 1024, .threads = 1024, .containers = 64
	};
	const struct profile_config config = { .cell_bytes = cell_bytes, .history = cell_bytes };
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	assert_int_equal(attributor_new(&attribution, &f->attributor), 0);
	assert_int_equal(profile_new(&config, f->attributor, &f->profile), 0);
	return f;
}

static struct fixture *fixture_new(u64 cell_bytes)
{
	struct fixture *f = fixture_new_empty(cell_bytes);

	for (u32 i = 0; i < PROCESSES; i++)
		process_add(f->attributor, i);
	return f;
}

static int setup(void **state)
{
	struct fixture *f = fixture_new(0);

	count_random_samples(f, SAMPLES, NULL);
	*state = f;
	return 0;
}

static int setup_empty(void **state)
{
	*state = fixture_new(0);
	return 0;
}

static int setup_large(void **state)
{
	*state = fixture_new(4 << 20);
	return 0;
}

/* The budget has space for about a tenth of the cells. */
static int setup_small(void **state)
{
	struct fixture *f = fixture_new(64 << 10);

	count_random_samples(f, SAMPLES, NULL);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	profile_free(f->profile);
	attributor_free(f->attributor);
	free(f);
	return 0;
}

static void get_view(struct fixture *f, enum view_group group, enum view_sort sort, u32 limit,
		     struct view *ret_view)
{
	assert_int_equal(profile_create_view(f->profile, NULL, false, group, sort, limit, ret_view),
			 0);
}

static void row_add(struct view_row *sum, const struct view_row *row)
{
	sum->samples += row->samples;
	sum->loads += row->loads;
	sum->stores += row->stores;
	sum->latency_sum += row->latency_sum;
	sum->weight[UNIT_INSTRUCTIONS] += row->weight[UNIT_INSTRUCTIONS];
	for (unsigned int i = 0; i < SPE_LEVELS; i++)
		sum->level[i] += row->level[i];
}

/* Samples without a process are in no row by container. */
static void test_rows_add_up(void **state)
{
	const struct profile_counters *machine, *rest;
	struct fixture *f = *state;
	struct view view;

	for (enum view_group group = 0; group < VIEW_GROUPS; group++) {
		bool all = group != VIEW_CONTAINER;
		struct view_row sum = { 0 };

		get_view(f, group, VIEW_SORT_SAMPLES, 0, &view);
		for (u32 i = 0; i < view.count; i++)
			row_add(&sum, &view.rows[i]);
		machine = profile_get_machine_counters(f->profile);
		rest = profile_get_unattributed_counters(f->profile);
		test_row("by %s: %u rows", view_group_name(group), view.count);
		assert_row(sum.samples == SAMPLES - (all ? 0 : rest->samples));
		assert_row(sum.loads + sum.stores == sum.samples);
		assert_row(sum.latency_sum == machine->latency[PROFILE_TOTAL].sum -
						      (all ? 0 : rest->latency[PROFILE_TOTAL].sum));
		assert_row(sum.weight[UNIT_INSTRUCTIONS] ==
			   machine->weight[UNIT_INSTRUCTIONS] -
				   (all ? 0 : rest->weight[UNIT_INSTRUCTIONS]));
		for (unsigned int i = 0; i < SPE_LEVELS; i++)
			assert_row(sum.level[i] == machine->counts.level[i] -
							   (all ? 0 : rest->counts.level[i]));
		view_clear(&view);
	}
}

/* For each order, the parts of all rows add up to the whole that shares are computed with. */
static void test_shares_add_up(void **state)
{
	struct fixture *f = *state;
	struct view view;

	for (enum view_sort sort = 0; sort < VIEW_SORTS; sort++) {
		for (enum view_group group = 0; group < VIEW_GROUPS; group++) {
			u64 sum = 0;

			get_view(f, group, sort, 0, &view);
			for (u32 i = 0; i < view.count; i++)
				sum += view_get_sort_numerator(&view.rows[i], sort,
							       view_get_share_unit(&view.header));
			test_row("by %s, %s", view_group_name(group), view_sort_name(sort));
			/* Samples without a process are in no row. */
			assert_row(group == VIEW_CONTAINER ? sum <= view.header.sort_whole :
							     sum == view.header.sort_whole);
			view_clear(&view);
		}
	}
}

static u64 get_samples_of_row(const struct fixture *f, const struct view_row *row)
{
	u32 program, container;
	u64 sum = 0;

	if (!strcmp(row->process, "[unattributed]"))
		return f->unattributed;
	assert_row(sscanf(row->process, "p%u", &program) == 1 && program < PROGRAMS);
	assert_row(sscanf(row->container, "c%u", &container) == 1 && container < CONTAINERS);
	for (u32 i = 0; i < WHERES; i++)
		sum += f->samples[program][container][i];
	return sum;
}

/* The evicted samples are in separate rows, and equal those in the header. */
static void test_evicted_rows_equal_header(void **state)
{
	struct fixture *f = *state;
	u64 samples = 0, weight = 0;
	struct view view;

	get_view(f, VIEW_FUNCTION, VIEW_SORT_SAMPLES, 0, &view);
	for (u32 i = 0; i < view.count; i++) {
		if (strcmp(view.rows[i].function, "[evicted]"))
			continue;
		samples += view.rows[i].samples;
		weight += view.rows[i].weight[UNIT_INSTRUCTIONS];
	}
	assert_in_range(samples, 1, SAMPLES - 1);
	assert_int_equal(samples, view.header.evicted);
	assert_int_equal(weight, view.header.evicted_weight);
	view_clear(&view);
}

static const struct view_row *row_find(const struct view *view, const struct view_row *row)
{
	for (u32 i = 0; i < view->count; i++)
		if (!strcmp(view->rows[i].container, row->container) &&
		    !strcmp(view->rows[i].process, row->process) &&
		    !strcmp(view->rows[i].function, row->function) &&
		    !strcmp(view->rows[i].binary, row->binary) && view->rows[i].pid == row->pid)
			return &view->rows[i];
	return NULL;
}

static void assert_same_rows(struct profile *a, struct profile *b, enum view_group group)
{
	struct view x, y;

	assert_int_equal(profile_create_view(a, NULL, false, group, VIEW_SORT_SAMPLES, 0, &x), 0);
	assert_int_equal(profile_create_view(b, NULL, false, group, VIEW_SORT_SAMPLES, 0, &y), 0);
	assert_int_equal(x.count, y.count);
	for (u32 i = 0; i < x.count; i++) {
		const struct view_row *row = row_find(&y, &x.rows[i]);

		test_row("by %s, row %u", view_group_name(group), i);
		assert_row(row && !memcmp(row, &x.rows[i], sizeof(*row)));
	}
	view_clear(&x);
	view_clear(&y);
}

/*
 * The rows of a period, including the row of its evicted samples, add up to the samples that were
 * taken in the period, even if older cells are evicted in it.
 */
static void test_rows_of_period_add_up(void **state)
{
	struct fixture *f = *state;
	u64 taken[40] = { 0 };

	for (u32 second = 0; second < ARRAY_SIZE(taken); second++) {
		u64 sum = 0, want = 0;
		struct view view;

		taken[second] = draw_below(20);
		count_random_samples(f, (u32)taken[second], NULL);
		now_ns += NS;
		if (second < 12)
			continue;
		assert_int_equal(profile_create_span_view(f->profile, NULL, false, VIEW_SPAN_10S,
							  VIEW_FUNCTION, VIEW_SORT_SAMPLES, 0,
							  now_ns, &view),
				 0);
		for (u32 i = 0; i < view.count; i++)
			sum += view.rows[i].samples;
		assert_int_equal(sum, view.header.records);
		/* The period ends with the last slot, which has an even number of seconds. */
		for (u32 i = 0; i < view.header.duration_ns / NS; i++)
			want += taken[second / 2 * 2 - 1 + second % 2 * 2 - i];
		test_row("second %u: %u rows", second, view.count);
		assert_row(view.header.records == want);
		view_clear(&view);
	}
}

/* Load the saved profile into @f, which is empty. Return the result of profile_load(). */
static int load_table(struct fixture *f, const u8 *at, size_t len)
{
	struct deserializer from = { .at = at, .len = len };
	struct attribute_translation translation;
	int r = attributor_load(f->attributor, &from, &translation);

	if (r >= 0)
		r = profile_load(f->profile, &from, &translation);
	attribute_translation_deinit(&translation);
	return r;
}

#define SAVED (4 << 20)

static void get_period_view(struct fixture *f, struct view *ret_view)
{
	assert_int_equal(profile_create_span_view(f->profile, NULL, false, VIEW_SPAN_10S,
						  VIEW_FUNCTION, VIEW_SORT_SAMPLES, 0, 0, ret_view),
			 0);
}

/* A profile that was saved and loaded has the same rows, also those of a period. */
static void test_restored_profile_has_same_rows(void **state)
{
	struct serializer to = { .at = malloc(SAVED), .capacity = SAVED };
	struct fixture *f = *state, *restored = fixture_new_empty(4 << 20);
	struct view a, b;

	assert_non_null(to.at);
	for (u32 i = 0; i < 20; i++) {
		count_random_samples(f, 20, NULL);
		now_ns += NS;
	}
	attributor_save(f->attributor, &to);
	profile_save(f->profile, &to);
	assert_false(to.full);
	assert_int_equal(load_table(restored, to.at, to.len), 0);
	for (enum view_group group = 0; group < VIEW_GROUPS; group++)
		assert_same_rows(f->profile, restored->profile, group);
	get_period_view(f, &a);
	get_period_view(restored, &b);
	assert_int_equal(a.count, b.count);
	assert_int_not_equal(a.count, 0);
	for (u32 i = 0; i < a.count; i++) {
		const struct view_row *row = row_find(&b, &a.rows[i]);

		test_row("row %u of the period", i);
		assert_row(row && !memcmp(row, &a.rows[i], sizeof(*row)));
	}
	view_clear(&a);
	view_clear(&b);
	teardown((void **)&restored);
	free(to.at);
}

/*
 * Loading bytes that profile_save() did not write has an error or any result, but no other effect.
 */
static void test_hostile_checkpoint(void **state)
{
	struct serializer to = { .at = malloc(SAVED), .capacity = SAVED };
	struct fixture *f = *state;

	assert_non_null(to.at);
	count_random_samples(f, 300, NULL);
	attributor_save(f->attributor, &to);
	profile_save(f->profile, &to);
	for (u32 round = 0; round < 300; round++) {
		struct fixture *other = fixture_new_empty(64 << 10);
		u32 at = draw_below((u32)to.len);
		u8 was = to.at[at];

		to.at[at] ^= (u8)(1 << draw_below(8));
		if (load_table(other, to.at, round % 3 ? to.len : at) < 0)
			profile_reset(other->profile);
		to.at[at] = was;
		count_random_samples(other, 3, NULL);
		teardown((void **)&other);
	}
	free(to.at);
}

#define SHARDS 3

/* Shards that are merged at random times have the same rows as a profile without shards. */
static void test_merged_shards_have_same_rows(void **state)
{
	struct profile_config config = { 0 };
	struct profile *merged, *shard[SHARDS];
	struct fixture *f = *state;

	assert_int_equal(profile_new(&config, f->attributor, &merged), 0);
	config.whole = merged;
	for (u32 i = 0; i < SHARDS; i++)
		assert_int_equal(profile_new(&config, f->attributor, &shard[i]), 0);
	for (u32 round = 0; round < 100; round++) {
		count_random_samples(f, draw_below(200), shard[draw_below(SHARDS)]);
		if (!draw_below(3))
			profile_merge_shard(merged, shard[draw_below(SHARDS)], NULL);
	}
	for (u32 i = 0; i < SHARDS; i++)
		profile_merge_shard(merged, shard[i], NULL);
	for (enum view_group group = 0; group < VIEW_GROUPS; group++)
		assert_same_rows(f->profile, merged, group);
	for (u32 i = 0; i < SHARDS; i++)
		profile_free(shard[i]);
	profile_free(merged);
}

/* All processes of a program in a container are in one row, even if their names differ. */
static void test_processes_share_program_row(void **state)
{
	struct fixture *f = *state;
	struct view view;

	get_view(f, VIEW_PROGRAM, VIEW_SORT_SAMPLES, 0, &view);
	assert_int_equal(view.count, PROGRAMS * CONTAINERS + 1);
	for (u32 i = 0; i < view.count; i++) {
		test_row("row %u", i);
		assert_row(view.rows[i].samples == get_samples_of_row(f, &view.rows[i]));
		assert_row(view.rows[i].pid == 0);
	}
	view_clear(&view);
	/*
	 * There is one row for each location of the executable, the library and the kernel, and one
	 * for no mapping.
	 */
	get_view(f, VIEW_FUNCTION, VIEW_SORT_SAMPLES, 0, &view);
	assert_in_range(view.count, 1, (PROGRAMS * CONTAINERS + 1) * WHERES * LOCATIONS);
	view_clear(&view);
}

static void test_rows_of_binaries(void **state)
{
	struct fixture *f = *state;
	u64 kernel = 0, library = 0;
	struct view view;

	for (u32 i = 0; i < PROGRAMS * CONTAINERS; i++)
		library += f->samples[i % PROGRAMS][i / PROGRAMS][IN_LIBRARY];
	get_view(f, VIEW_BINARY, VIEW_SORT_SAMPLES, 0, &view);
	/* There is one row for each executable, the library, the kernel, and "[unmapped]". */
	assert_int_equal(view.count, PROGRAMS + 3);
	for (u32 i = 0; i < view.count; i++) {
		test_row("row %u", i);
		if (!strcmp(view.rows[i].binary, "/usr/lib/libshared.so"))
			assert_row(view.rows[i].samples == library);
		kernel += !strcmp(view.rows[i].binary, "[kernel]");
	}
	assert_int_equal(kernel, 1);
	view_clear(&view);
}

/* In any order, the first rows are those of the complete view. */
static void test_limit_keeps_first_rows(void **state)
{
	struct fixture *f = *state;
	struct view all, few;

	for (enum view_sort sort = 0; sort < VIEW_SORTS; sort++) {
		unsigned int unit;

		get_view(f, VIEW_FUNCTION, sort, 0, &all);
		get_view(f, VIEW_FUNCTION, sort, 7, &few);
		unit = view_get_share_unit(&all.header);
		assert_int_equal(few.count, 7);
		for (u32 i = 0; i < few.count; i++) {
			test_row("%s, row %u", view_sort_name(sort), i);
			assert_row(view_get_sort_key(&few.rows[i], sort, unit) ==
				   view_get_sort_key(&all.rows[i], sort, unit));
		}
		view_clear(&all);
		view_clear(&few);
	}
}

/* A query for a function or binary has the sum of its rows. */
static void test_query_sums_rows(void **state)
{
	struct fixture *f = *state;
	struct view view;

	get_view(f, VIEW_FUNCTION, VIEW_SORT_SAMPLES, 20, &view);
	for (u32 i = 0; i < view.count; i++) {
		const struct profile_query wanted = {
			.container = view.rows[i].container,
			.process = view.rows[i].process,
			.function = view.rows[i].function,
			.binary = view.rows[i].binary,
		};
		struct profile_counters counters;

		test_row("row %u", i);
		assert_row(!profile_query_counters(f->profile, NULL, false, VIEW_SPAN_START, 0,
						   &wanted, &counters));
		assert_row(counters.samples == view.rows[i].samples);
		assert_row(counters.latency[PROFILE_TOTAL].sum == view.rows[i].latency_sum);
	}
	view_clear(&view);
}

/* A function of this process; the views have to find its name. */
__attribute__((noinline, used)) static int walk_the_line(int n)
{
	for (int i = 0; i < n; i++)
		__asm__ volatile("" : "+r"(i));
	return n;
}

static const struct view_row *find_row_of_binary(const struct view *view, const char *binary)
{
	for (u32 i = 0; i < view->count; i++)
		if (!strcmp(view->rows[i].binary, binary))
			return &view->rows[i];
	return NULL;
}

/*
 * On this machine a program's functions have names, and addresses of memory without a file are
 * offsets.
 */
static void test_live_function_names(void **state)
{
	const struct attributor_config attribution = { .live = true };
	const struct profile_config config = { .cell_bytes = 1 << 20 };
	const struct symbols_config waiting = { .wait_ms = 60000 };
	u8 *code = mmap(NULL, 1 << 16, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct fixture f = { 0 };
	const struct view_row *row;
	struct symbols_cache *symbols;
	struct view view;

	(void)state;
	assert_int_equal(walk_the_line(3), 3);
	assert_ptr_not_equal(code, MAP_FAILED);
	assert_int_equal(attributor_new(&attribution, &f.attributor), 0);
	assert_int_equal(symbols_new(&waiting, &symbols), 0);
	assert_int_equal(profile_new(&config, f.attributor, &f.profile), 0);
	count_sample(&f.profile, 1, (u32)getpid() - FIRST_PID, (u64)(uintptr_t)walk_the_line + 1,
		     0);
	count_sample(&f.profile, 1, (u32)getpid() - FIRST_PID, (u64)(uintptr_t)code + 0x40, 0);
	count_sample(&f.profile, 1, (u32)getpid() - FIRST_PID, KERNEL_AT + 0x40, 0);
	assert_int_equal(profile_create_view(f.profile, symbols, true, VIEW_FUNCTION,
					     VIEW_SORT_SAMPLES, 0, &view),
			 0);
	assert_int_equal(view.count, 3);
	for (u32 i = 0; i < view.count; i++)
		assert_string_equal(view.rows[i].process, "test-cell-view");
	row = find_row_of_binary(&view, "[anon]");
	assert_non_null(row);
	assert_string_equal(row->function, "[anon]+0x40");
	row = find_row_of_binary(&view, "[kernel]");
	assert_non_null(row);
	assert_null(strstr(row->function, "+0x"));
	for (u32 i = 0; i < view.count && strcmp(view.rows[i].function, "walk_the_line"); i++)
		assert_int_not_equal(i, view.count - 1);
	view_clear(&view);
	profile_free(f.profile);
	symbols_free(symbols);
	attributor_free(f.attributor);
	munmap(code, 1 << 16);
}

/* Names of a program's processes may change, and a profile can be emptied. */
static void test_reset_empties_profile(void **state)
{
	struct fixture *f = *state;
	struct view view;

	profile_reset(f->profile);
	get_view(f, VIEW_FUNCTION, VIEW_SORT_SAMPLES, 0, &view);
	assert_int_equal(view.count, 0);
	view_clear(&view);
	count_sample(&f->profile, 1, 3, EXECUTABLE_AT + 0x40, 0);
	get_view(f, VIEW_FUNCTION, VIEW_SORT_SAMPLES, 0, &view);
	assert_int_equal(view.count, 1);
	assert_int_equal(view.rows[0].samples, 1);
	assert_string_equal(view.rows[0].process, "p3");
	assert_string_equal(view.rows[0].function, "p3+0x40");
	view_clear(&view);
}

/*
 * While programs start and exit for months, their ids are freed, so that a new program always has a
 * name.
 */
static void test_unused_ids_are_freed(void **state)
{
	const struct attributor_config attribution = { 0 };
	const struct profile_config config = { .cell_bytes = 64 << 10,
					       .programs = 256,
					       .history = true };
	struct view view;
	struct fixture f = { 0 };
	u64 sum = 0, swept = 0, now = 0;
	char path[32];

	(void)state;
	assert_int_equal(attributor_new(&attribution, &f.attributor), 0);
	assert_int_equal(profile_new(&config, f.attributor, &f.profile), 0);
	for (u32 i = 0; i < 3000; i++) {
		s32 pid = (s32)(FIRST_PID + i);

		snprintf(path, sizeof(path), "/usr/bin/q%u", i);
		attributor_apply_event(f.attributor, &(struct task_event){ .type = TASK_COMM,
									   .pid = pid,
									   .tid = pid,
									   .name = "q" });
		map_add(f.attributor, pid, EXECUTABLE_AT, path);
		for (u32 k = 0; k < 3; k++)
			count_sample(&f.profile, 1, i, EXECUTABLE_AT + 0x40, k);
		now += 20 * NS;
		if (!profile_ids_are_full(f.profile, now))
			continue;
		assert_int_equal(profile_sweep_ids(f.profile, NULL, 0, now), 0);
		assert_false(profile_ids_are_full(f.profile, now + NS));
		swept++;
	}
	assert_true(swept > 5);
	get_view(&f, VIEW_PROGRAM, VIEW_SORT_SAMPLES, 0, &view);
	/* Samples of freed programs are one row, and no other row lacks a name. */
	assert_true(view.count > 20);
	for (u32 i = 0; i < view.count; i++) {
		bool other = !strcmp(view.rows[i].process, "(other)");

		assert_true(other || view.rows[i].samples == 3 || view.rows[i].samples == 2 ||
			    view.rows[i].samples == 1);
		assert_true(other || view.rows[i].process[0] == 'q');
		sum += view.rows[i].samples;
	}
	assert_int_equal(sum, 9000);
	view_clear(&view);
	profile_free(f.profile);
	attributor_free(f.attributor);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_rows_add_up, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rows_add_up, setup_small, teardown),
		cmocka_unit_test_setup_teardown(test_shares_add_up, setup, teardown),
		cmocka_unit_test_setup_teardown(test_shares_add_up, setup_small, teardown),
		cmocka_unit_test_setup_teardown(test_evicted_rows_equal_header, setup_small,
						teardown),
		cmocka_unit_test_setup_teardown(test_rows_of_period_add_up, setup_small, teardown),
		cmocka_unit_test_setup_teardown(test_rows_of_period_add_up, setup_large, teardown),
		cmocka_unit_test_setup_teardown(test_restored_profile_has_same_rows, setup_large,
						teardown),
		cmocka_unit_test_setup_teardown(test_hostile_checkpoint, setup_large, teardown),
		cmocka_unit_test_setup_teardown(test_merged_shards_have_same_rows, setup_empty,
						teardown),
		cmocka_unit_test_setup_teardown(test_processes_share_program_row, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rows_of_binaries, setup, teardown),
		cmocka_unit_test_setup_teardown(test_limit_keeps_first_rows, setup, teardown),
		cmocka_unit_test_setup_teardown(test_query_sums_rows, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reset_empties_profile, setup, teardown),
		cmocka_unit_test(test_live_function_names),
		cmocka_unit_test(test_unused_ids_are_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
