// SPDX-License-Identifier: LGPL-2.1-or-later
/* Compare views of the last 10 s, minute and 10 minutes with statistics of each second. */
#include "test.h"

#include "profile/cell-table.h"
#include "profile/profile-read.h"
#include "tasks/task-event.h"

#include <errno.h>
#include <stdlib.h>

#define NS	1000000000ULL
#define TASKS	3
#define NOBODY	TASKS /* an unknown task */
#define SECONDS 1400
#define NEVER	(1U << 22) /* a TID that is larger than any possible one */
#define PLACES	600 /* more locations than a period keeps */
#define CELL_BYTES (1 << 20) /* memory for more cells than a test needs */

struct fixture {
	struct attributor *attributor;
	struct profile *profile;
};

/* Report a task that executes a separate program. */
static void task_add(struct attributor *a, s32 pid)
{
	char path[32];

	attributor_apply_event(a, &(struct task_event){ .type = TASK_COMM,
							.pid = pid,
							.tid = pid,
							.name = "task" });
	snprintf(path, sizeof(path), "/bin/program%d", pid);
	attributor_apply_event(a, &(struct task_event){ .type = TASK_MMAP,
							.pid = pid,
							.tid = pid,
							.start = 0x1000,
							.size = 0x10000,
							.name = path });
}

static int setup(void **state)
{
	const struct attributor_config attribution = { 0 };
	const struct profile_config config = { .cell_bytes = CELL_BYTES, .history = true };
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	assert_int_equal(attributor_new(&attribution, &f->attributor), 0);
	assert_int_equal(profile_new(&config, f->attributor, &f->profile), 0);
	for (u32 i = 0; i < TASKS; i++)
		task_add(f->attributor, (s32)i + 10);
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

/* Return the number of samples of task @task in the second that ends at @second. */
static u32 get_sample_rate(u32 task, u32 second)
{
	return second * (task + 1) % 7 + task;
}

static u64 compute_expected_samples(u32 task, u32 first, u32 last)
{
	u64 sum = 0;

	for (u32 s = first; s <= last; s++)
		sum += get_sample_rate(task, s);
	return sum;
}

/* Return the interval of a task, which runs on a separate CPU. */
static u32 get_task_interval(u32 task)
{
	return 1000 * (TASKS + 1 - task);
}

/* Add a window of one second with @count loads of a task at @pc, each with a latency of @cycles. */
static void add_window(struct fixture *f, u32 task, u64 pc, u32 second, u32 count, u16 cycles)
{
	const struct spe_sample sample = {
		.present = SPE_HAS_ADDRESS(0) | SPE_HAS_EVENTS | SPE_HAS_OP |
			   SPE_HAS_COUNTER(SPE_COUNTER_TOTAL),
		.address = { pc },
		.counter = { [SPE_COUNTER_TOTAL] = cycles },
		.op_class = SPE_OP_LOAD_STORE,
		.events = 1 << 1 | 1 << 9,
		.events_size = 2,
	};
	u8 records[32 * 64];
	size_t len = 0;

	for (u32 i = 0; i < count; i++) {
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
					       .interval = get_task_interval(task),
					       .unit = UNIT_INSTRUCTIONS,
				       });
}

static void get_view(struct fixture *f, enum view_span span, enum view_group group, u32 second,
		     struct view *ret)
{
	assert_int_equal(profile_create_span_view(f->profile, NULL, false, span, group,
						  VIEW_SORT_SAMPLES, 0, second * NS, ret),
			 0);
}

/* Return the task of a row by process or by function. */
static u32 get_task_of_row(const struct view_row *row, enum view_group group)
{
	int pid = row->pid;

	if (group != VIEW_PROCESS)
		assert_row(sscanf(row->process, "program%d", &pid) == 1);
	return (u32)pid - 10;
}

/* Check all rows of the period of @seconds before @second. */
static void assert_span(struct fixture *f, enum view_span span, u32 second, u32 seconds)
{
	u32 first = second - seconds + 1;

	for (unsigned int group = 0; group < VIEW_PROGRAM; group++) {
		u64 records = 0, samples = 0, weight = 0;
		struct view view;

		get_view(f, span, group, second, &view);
		for (u32 i = 0; i < TASKS; i++) {
			records += compute_expected_samples(i, first, second);
			weight += compute_expected_samples(i, first, second) * get_task_interval(i);
		}
		test_row("%s by %s at %u", view_span_name(span), view_group_name(group), second);
		assert_row(view.header.records == records);
		assert_row(view_get_share_unit(&view.header) == UNIT_INSTRUCTIONS);
		assert_row(view.header.weight[UNIT_INSTRUCTIONS] == weight);
		assert_row(view.header.duration_ns == seconds * NS);
		/*
		 * Recordings have no containers, so all samples are in the row without a container.
		 */
		assert_row(view.count == (group == VIEW_CONTAINER ? 1 : TASKS));
		for (u32 i = 0; i < view.count; i++) {
			const struct view_row *row = &view.rows[i];
			u32 task = group == VIEW_CONTAINER ? 0 : get_task_of_row(row, group);
			u64 want = group == VIEW_CONTAINER ?
					   records :
					   compute_expected_samples(task, first, second);

			assert_row(task < TASKS && row->samples == want);
			assert_row(row->weight[UNIT_INSTRUCTIONS] ==
				   (group == VIEW_CONTAINER ? weight :
							      want * get_task_interval(task)));
			assert_row(!i || row->weight[UNIT_INSTRUCTIONS] <=
						 view.rows[i - 1].weight[UNIT_INSTRUCTIONS]);
			assert_row(row->memory == row->samples && row->dram == row->samples);
			assert_row(group == VIEW_CONTAINER ||
				   row->latency_sum == row->samples * (100 + task));
			assert_row(group != VIEW_CONTAINER || (row->p50 >= 100 && row->p50 < 128));
			samples += row->samples;
		}
		assert_row(samples == records);
		view_clear(&view);
	}
}

static void test_rows_of_spans(void **state)
{
	struct fixture *f = *state;

	/* Slots of the history end at 2, 4, 6 ... seconds. */
	for (u32 second = 1; second <= SECONDS; second++) {
		for (u32 task = 0; task < TASKS; task++)
			add_window(f, task, 0x1000 * (task + 1), second,
				   get_sample_rate(task, second), (u16)(100 + task));
		if (second < 700 || second % 74)
			continue;
		assert_span(f, VIEW_SPAN_10S, second, 10);
		/* The period includes the present slot as far as it is filled. */
		assert_span(f, VIEW_SPAN_1M, second, 60 - (10 - second % 10) % 10);
		assert_span(f, VIEW_SPAN_10M, second, 600 - (60 - second % 60) % 60);
	}
	profile_reset(f->profile);
	for (u32 second = 1; second <= 20; second++)
		for (u32 task = 0; task < TASKS; task++)
			add_window(f, task, 0x1000 * (task + 1), second,
				   get_sample_rate(task, second), (u16)(100 + task));
	assert_span(f, VIEW_SPAN_10S, 20, 10);
}

/*
 * Return the samples without a known task in that second, which is also the number of blind
 * nanoseconds.
 */
static u32 get_unknown_samples(u32 second)
{
	return second % 5;
}

static u32 compute_expected_blind(u32 second)
{
	return 1000 + second % 11;
}

/* armed time of each window without samples that an interrupt closed, ns */
#define UNHANDLED 7

static void add_remaining_samples(struct fixture *f, u32 second)
{
	add_window(f, NOBODY, 0x9000, second, get_unknown_samples(second), 50);
	profile_add_window(f->profile,
			   &(struct source_window){
				   .start_ns = second * NS,
				   .end_ns = second * NS,
				   .armed_ns = UNHANDLED,
				   .interrupted = true,
				   .blind_ns = compute_expected_blind(second),
				   .blind_by[SOURCE_BLIND_FULL] = compute_expected_blind(second),
			   });
}

/* Check that the header has the records and times of the period. */
static void assert_ledgers(struct fixture *f, enum view_span span, u32 second, u32 seconds)
{
	u64 unattributed = 0, dark = 0;
	struct view view;

	for (u32 s = second - seconds + 1; s <= second; s++) {
		unattributed += get_unknown_samples(s);
		dark += compute_expected_blind(s);
	}
	get_view(f, span, VIEW_PROCESS, second, &view);
	test_row("%s at %u", view_span_name(span), second);
	assert_row(view.header.duration_ns == seconds * NS);
	assert_row(view.header.unattributed == unattributed);
	assert_row(view.header.unattributed_weight == unattributed * get_task_interval(NOBODY));
	assert_row(view.header.blind_ns == dark);
	assert_row(view.header.blind_by[SOURCE_BLIND_FULL] == dark);
	assert_row(view.header.unhandled_ns == seconds * UNHANDLED);
	assert_row(view.header.enabled_ns == dark + seconds * (2 * NS + UNHANDLED));
	view_clear(&view);
}

static void test_ledgers_of_spans(void **state)
{
	struct fixture *f = *state;

	for (unsigned int round = 0; round < 2; round++) {
		for (u32 second = 1; second <= 700; second++) {
			add_remaining_samples(f, second);
			add_window(f, 1, 0x1000, second, get_sample_rate(1, second), 100);
		}
		assert_ledgers(f, VIEW_SPAN_10S, 700, 10);
		assert_ledgers(f, VIEW_SPAN_1M, 700, 60);
		assert_ledgers(f, VIEW_SPAN_10M, 700, 580);
		profile_reset(f->profile);
	}
}

/* The times of queries also advance the history when there are no samples. */
static void test_history_advances_without_samples(void **state)
{
	struct fixture *f = *state;
	struct view view;

	add_window(f, 0, 0x1000, 1, 5, 100);
	add_window(f, 0, 0x1000, 3, 5, 100);
	get_view(f, VIEW_SPAN_10S, VIEW_PROCESS, 4, &view);
	assert_int_equal(view.count, 1);
	assert_int_equal(view.rows[0].samples, 10);
	view_clear(&view);
	for (u32 second = 5; second <= 20; second += 5) {
		get_view(f, VIEW_SPAN_10S, VIEW_PROCESS, second, &view);
		view_clear(&view);
	}
	get_view(f, VIEW_SPAN_10S, VIEW_PROCESS, 30, &view);
	assert_int_equal(view.count, 0);
	assert_int_equal(view.header.records, 0);
	view_clear(&view);
	get_view(f, VIEW_SPAN_1M, VIEW_PROCESS, 31, &view);
	assert_int_equal(view.count, 1);
	assert_int_equal(view.rows[0].samples, 10);
	view_clear(&view);
}

/* Time in which no session was started is in no period. */
static void test_stopped_time_is_in_no_span(void **state)
{
	struct fixture *f = *state;
	u32 second;

	/* Skip the time before the first window. */
	profile_skip_time(f->profile, 1000 * NS);
	for (second = 1; second <= 99; second++)
		for (u32 i = 0; i < TASKS; i++)
			add_window(f, i, 0x1000, second, get_sample_rate(i, second), 100);
	profile_skip_time(f->profile, 3600 * NS);
	for (; second <= 103; second++)
		for (u32 i = 0; i < TASKS; i++)
			add_window(f, i, 0x1000, second + 3600, get_sample_rate(i, second), 100);
	for (unsigned int group = 0; group < VIEW_PROGRAM; group++) {
		u64 records = 0;
		struct view view;

		get_view(f, VIEW_SPAN_10S, group, 3702, &view);
		for (u32 i = 0; i < TASKS; i++)
			records += compute_expected_samples(i, 93, 102);
		assert_int_equal(view.header.duration_ns, 10 * NS);
		assert_int_equal(view.header.records, records);
		view_clear(&view);
	}
}

/*
 * If there are more locations than can be stored the heaviest have rows, and the row of the machine
 * counts all of them.
 */
static void test_heaviest_locations_have_rows(void **state)
{
	struct fixture *f = *state;
	struct view view;
	u64 all = 0;

	add_window(f, 0, 0x1000, 1, 0, 1);
	for (u32 i = 0; i < PLACES; i++) {
		add_window(f, 1, 0x1000 + 0x10 * i, 2, 1 + i % 20, 100);
		all += 1 + i % 20;
	}
	add_window(f, 0, 0x1000, 3, 0, 1);
	get_view(f, VIEW_SPAN_10S, VIEW_FUNCTION, 3, &view);
	assert_int_equal(view.header.records, all);
	assert_int_equal(view.count, HISTORY_ROWS);
	assert_int_equal(view.rows[0].samples, 20);
	assert_true(view.rows[HISTORY_ROWS - 1].samples >= 20 - HISTORY_ROWS / (PLACES / 20));
	view_clear(&view);
	assert_int_equal(profile_create_view(f->profile, NULL, false, VIEW_FUNCTION,
					     VIEW_SORT_SAMPLES, 0, &view),
			 0);
	assert_int_equal(view.count, PLACES);
	view_clear(&view);
}

/* If all entries of processes are in use, samples without a task have no entry. */
static void test_unknown_task(void **state)
{
	/* The idle task has one of the entries. */
	const struct profile_config config = { .cell_bytes = CELL_BYTES,
					       .history = true,
					       .processes = TASKS + 1 };
	struct fixture *f = *state;
	struct view view;

	profile_free(f->profile);
	assert_int_equal(profile_new(&config, f->attributor, &f->profile), 0);
	for (u32 second = 1; second <= 40; second++)
		for (u32 i = 0; i <= NOBODY; i++)
			add_window(f, i, 0x1000, second, 2 + i, 100);
	get_view(f, VIEW_SPAN_10S, VIEW_PROCESS, 40, &view);
	assert_int_equal(view.count, TASKS + 1);
	for (u32 i = 0; i < view.count; i++) {
		u32 task = view.rows[i].pid ? (u32)view.rows[i].pid - 10 : NOBODY;

		test_row("task %u", task);
		assert_row(view.rows[i].samples == 10 * (2 + task));
	}
	view_clear(&view);
}

/* Report that the unknown process entered a cgroup at that time. */
static void move_to_cgroup(struct fixture *f, enum task_event_type type, u32 second,
			   const char *name)
{
	attributor_apply_event(f->attributor, &(struct task_event){ .type = type,
								    .pid = NEVER + 10,
								    .tid = NEVER + 10,
								    .size = 1,
								    .cgroup = 100 + second / 13,
								    .time_ns = second * NS,
								    .start_ns = 1,
								    .name = name });
}

/* The old samples of evicted containers are not in the recent period of "(other)". */
static void test_evicted_containers_leave_span(void **state)
{
	const struct attributor_config attribution = { .live = true, .containers = 4 };
	const struct profile_config config = { .cell_bytes = CELL_BYTES,
					       .history = true,
					       .containers = 4 };
	struct fixture *f = *state;
	struct view view;
	char path[32];
	u64 samples;

	profile_free(f->profile);
	attributor_free(f->attributor);
	assert_int_equal(attributor_new(&attribution, &f->attributor), 0);
	assert_int_equal(profile_new(&config, f->attributor, &f->profile), 0);
	move_to_cgroup(f, TASK_SEED, 1, "task");
	attributor_apply_event(f->attributor, &(struct task_event){ .type = TASK_SEEDED,
								    .name = "",
								    .size = TASK_REPORTS_MAPS |
									    TASK_REPORTS_CGROUPS });
	for (u32 second = 1; second <= 400; second++) {
		snprintf(path, sizeof(path), "/build/c%u", second / 13);
		attributor_apply_event(f->attributor,
				       &(struct task_event){ .type = TASK_CGROUP,
							     .cgroup = 100 + second / 13,
							     .time_ns = second * NS,
							     .name = path });
		move_to_cgroup(f, TASK_ATTACH, second, path);
		add_window(f, NEVER, 0x1000, second, 20, 100);
		get_view(f, VIEW_SPAN_10S, VIEW_CONTAINER, second, &view);
		samples = 0;
		test_row("%u", second);
		for (u32 i = 0; i < view.count; i++) {
			samples += view.rows[i].samples;
			assert_row(view.rows[i].weight[UNIT_INSTRUCTIONS] ==
				   view.rows[i].samples * get_task_interval(NEVER));
			assert_row(view.rows[i].latency_sum == view.rows[i].samples * 100);
		}
		assert_row(samples <= view.header.records);
		view_clear(&view);
	}
	profile_count_containers(f->profile);
	assert_true(profile_get_container_samples(f->profile, 3) > 20 * 100);
}

/* Check that the rows of @span have no more samples and cycles than occurred in it. */
static void assert_bounded(struct fixture *f, enum view_span span, enum view_group group,
			   u32 second, u64 cycles)
{
	u64 samples = 0, sum = 0;
	struct view view;

	get_view(f, span, group, second, &view);
	test_row("%s at %u", view_group_name(group), second);
	assert_row(view.count);
	for (u32 i = 0; i < view.count; i++) {
		/* Only the number of the evicted samples is known. */
		assert_row(view.rows[i].memory == view.rows[i].samples ||
			   !strcmp(view.rows[i].function, "[evicted]"));
		assert_row(view.rows[i].latency_sum <= cycles);
		samples += view.rows[i].samples;
		sum += view.rows[i].latency_sum;
	}
	assert_row(samples <= view.header.records && sum <= cycles);
	view_clear(&view);
}

/*
 * Cells and processes are evicted and added again, in other entries or in the same: first with few
 * samples of many cycles, then with many samples of few cycles.
 */
static void test_evicted_rows_are_bounded(void **state)
{
	const struct profile_config config = { .cell_bytes = CELL_BYTES_MIN,
					       .history = true,
					       .counters = 4 };
	struct fixture *f = *state;

	profile_free(f->profile);
	assert_int_equal(profile_new(&config, f->attributor, &f->profile), 0);
	for (u32 second = 1; second <= 400; second++) {
		bool slow = second / 2 % 2;
		u64 cycles = 0;

		for (u32 i = 0; i < 12; i++)
			add_window(f, i % TASKS, 0x1000 + 0x10 * (i * second % 1021), second,
				   slow ? 2 : 4 + second % 3, slow ? 4000 : 1);
		for (u32 s = second; s && s + 10 > second; s--)
			cycles += (u64)12 * (s / 2 % 2 ? 2 * 4000 : 4 + s % 3);
		/* A slot of the history has ended. */
		if (second % 2 || second < 4)
			continue;
		for (unsigned int group = 0; group < VIEW_PROGRAM; group++)
			assert_bounded(f, VIEW_SPAN_10S, group, second, cycles);
	}
}

/*
 * Add a slot of the history in which the location's counters reached @now. Return: its row, or
 * NULL.
 */
static const struct history_row *roll_location(struct recent_history *history, bool restarted,
					       const struct history_row *now)
{
	struct history_slot *open = history_begin_slot(history, history->start_ns + 2 * NS);

	history_add_location(history, open, 0, restarted, now, NULL);
	history_end_slot(history, open);
	return open->locations ? &open->place[0] : NULL;
}

static void test_restarted_rows(void **state)
{
	struct history_row now = { .owner = 1, .place = 2, .samples = 10, .dram = 5, .weight = 50 };
	const struct history_row *row;
	struct recent_history history;

	(void)state;
	assert_int_equal(history_init(&history, 1, 1, 1), 0);
	assert_false(history_note_window(&history, 1, NS));
	row = roll_location(&history, true, &now);
	assert_true(row && row->samples == 10 && row->dram == 5 && row->weight == 50);
	/* The location was evicted and added again: all its samples are from this slot. */
	now = (struct history_row){
		.owner = 1, .place = 2, .samples = 12, .dram = 3, .weight = 60
	};
	row = roll_location(&history, true, &now);
	assert_true(row && row->samples == 12 && row->dram == 3 && row->weight == 60);
	/* Some samples were subtracted, and none was added. */
	now.samples = 7;
	now.dram = 1;
	assert_null(roll_location(&history, false, &now));
	now.samples = 9;
	row = roll_location(&history, false, &now);
	assert_true(row && row->samples == 2 && !row->dram && !row->weight);
	history_deinit(&history);
}

#define CONTAINERS 300

/* Containers with histograms: the lightest ones, and those with reused entries, are evicted. */
static void test_lightest_containers_are_evicted(void **state)
{
	struct profile_counters now[CONTAINERS] = { 0 }, got;
	const struct history_slot *slot;
	struct recent_history history;

	(void)state;
	assert_int_equal(history_init(&history, CONTAINERS, 1, 1), 0);
	assert_false(history_note_window(&history, 1, NS));
	for (u32 round = 1; round <= 5; round++) {
		struct history_slot *open = history_begin_slot(&history, 1 + 2 * round * NS);

		for (u32 i = 0; i < CONTAINERS; i++) {
			struct histogram *h = &now[i].latency[PROFILE_ISSUE];

			now[i].samples += i + 1;
			now[i].weight[UNIT_INSTRUCTIONS] += 1000 * (i + 1);
			now[i].counts.simd += i;
			h->bucket[histogram_get_bucket(i % 100)] += i + 1;
			h->sum += (i + 1) * (i % 100);
			history_add_container(&history, open, i, i == 299 ? round : 1, &now[i]);
		}
		history_end_slot(&history, open);
	}
	slot = history_sum_span(&history, VIEW_SPAN_10S);
	assert_int_equal(slot->ns, 10 * NS);
	assert_int_equal(slot->containers, HISTORY_ROWS);
	for (u32 i = 0; i < slot->containers; i++) {
		const struct history_container *c = &slot->container[i];
		u32 rounds = c->index == 299 ? c->generation : 5;

		assert_true(c->index >= CONTAINERS - HISTORY_ROWS - 4);
		history_counters_expand(&c->counters, &got);
		/*
		 * Index 299 has a new container in each round, and all samples of that container
		 * are in one slot.
		 */
		assert_int_equal(got.samples, rounds * (c->index + 1));
		assert_int_equal(got.weight[UNIT_INSTRUCTIONS], 1000 * got.samples);
		assert_int_equal(got.counts.simd, rounds * c->index);
		assert_int_equal(got.latency[PROFILE_ISSUE].count, got.samples);
		assert_int_equal(got.latency[PROFILE_ISSUE].sum, got.samples * (c->index % 100));
		assert_true(got.latency[PROFILE_ISSUE].max >= c->index % 100);
	}
	history_deinit(&history);
}

static void test_profile_without_history(void **state)
{
	struct fixture *f = *state;
	struct profile *profile;
	struct view view;

	assert_int_equal(profile_new(NULL, f->attributor, &profile), 0);
	assert_int_equal(profile_create_span_view(profile, NULL, false, VIEW_SPAN_1M, VIEW_PROCESS,
						  VIEW_SORT_SAMPLES, 0, NS, &view),
			 -EOPNOTSUPP);
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_rows_of_spans, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ledgers_of_spans, setup, teardown),
		cmocka_unit_test_setup_teardown(test_history_advances_without_samples, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_stopped_time_is_in_no_span, setup, teardown),
		cmocka_unit_test_setup_teardown(test_heaviest_locations_have_rows, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unknown_task, setup, teardown),
		cmocka_unit_test_setup_teardown(test_evicted_rows_are_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(test_evicted_containers_leave_span, setup,
						teardown),
		cmocka_unit_test(test_restarted_rows),
		cmocka_unit_test(test_lightest_containers_are_evicted),
		cmocka_unit_test_setup_teardown(test_profile_without_history, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
