// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Check that the tables of the default MemoryBudget= do not evict what a build server samples: short
 * processes of few programs beside a load, at 21,000 locations.
 */
#include "test.h"

#include "codec/record.h"
#include "engine/budget.h"
#include "tasks/task-event.h"

#include <math.h>
#include <stdlib.h>

#define CODE		0x400000ULL
#define MINUTES		3
#define PROCESSES	2000 /* short processes in a minute */
#define PROGRAMS	20 /* that these processes execute in turn */
#define PLACES		1000 /* instructions of each program that are sampled */
#define LOAD_PROCESSES	8 /* long-lived processes of one more program */
#define RECORDS		64 /* of a process in a row */
#define FIRST_SHORT_PID 10000

struct fixture {
	struct attributor *attributor;
	struct profile *profile;
	u64 random;
	s32 next_pid;
};

static u32 draw_below(struct fixture *f, u32 n)
{
	f->random = f->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (u32)((f->random >> 33) % n);
}

static void report_event(struct fixture *f, struct task_event event)
{
	event.tid = event.pid;
	attributor_apply_event(f->attributor, &event);
}

static void start_process(struct fixture *f, s32 pid, u32 program)
{
	char path[40];

	snprintf(path, sizeof(path), "/usr/bin/program%u", program);
	report_event(f, (struct task_event){
				.type = TASK_COMM, .pid = pid, .name = "task", .exec = true });
	report_event(f, (struct task_event){ .type = TASK_MMAP,
					     .pid = pid,
					     .start = CODE,
					     .size = 4 * (PLACES + 1),
					     .inode = program + 1,
					     .name = path });
}

/*
 * Draw an instruction of a program by Zipf's law: the one at place n has a share of about 1/n, as
 * in the profiles of real programs.
 */
static u32 draw_place(struct fixture *f)
{
	return (u32)exp(log(PLACES) * draw_below(f, 1 << 24) / (1 << 24));
}

/* Count a window of one process. */
static void add_window(struct fixture *f, s32 pid)
{
	u8 records[RECORDS * 64];
	struct source_window window = { .data = records, .tid = -1, .interval = 1024 };

	for (u32 i = 0; i < RECORDS; i++) {
		const struct spe_sample s = {
			.present = SPE_HAS_ADDRESS(SPE_ADDRESS_PC) | SPE_HAS_EVENTS | SPE_HAS_OP |
				   SPE_HAS_CONTEXT(SPE_CONTEXT_EL1) |
				   SPE_HAS_COUNTER(SPE_COUNTER_TOTAL),
			.address = { [SPE_ADDRESS_PC] = CODE + 4 * draw_place(f) },
			.context = { [SPE_CONTEXT_EL1] = (u32)pid },
			.op_class = SPE_OP_OTHER,
			.events = 2,
			.events_size = 2,
			.counter = { [SPE_COUNTER_TOTAL] = (u16)(1 + draw_below(f, 300)) },
		};
		int n = spe_record_encode(&s, records + window.len, sizeof(records) - window.len);

		assert_true(n > 0);
		window.len += (u32)n;
	}
	profile_add_window(f->profile, &window);
}

static void setup_tables(struct fixture *f)
{
	const struct memory_request request = {
		.budget = 64 << 20,
		.cpus = 2,
		.page = 4096,
		.sources = MEMORY_MODULE | MEMORY_PERF,
		.bpf = true,
		.side_band = true,
		.workers = 1,
	};
	struct attributor_config attribution = { 0 };
	struct profile_config config;
	struct memory_plan plan;
	u64 least;

	assert_int_equal(budget_make_plan(&request, &plan, &least), 0);
	attribution.processes = plan.processes;
	attribution.threads = plan.threads;
	attribution.containers = plan.containers;
	attribution.map_bytes = plan.map_bytes;
	attribution.cgroup_bytes = plan.cgroup_bytes;
	assert_int_equal(attributor_new(&attribution, &f->attributor), 0);
	config = budget_get_profile_config(&plan);
	assert_int_equal(profile_new(&config, f->attributor, &f->profile), 0);
}

/* Return the evicted samples of the profile, and set *ret_records to all samples. */
static u64 count_evicted(struct fixture *f, u64 *ret_records)
{
	struct view view = { 0 };
	u64 evicted;

	assert_int_equal(profile_create_view(f->profile, NULL, false, VIEW_CONTAINER,
					     VIEW_SORT_SAMPLES, 1, &view),
			 0);
	evicted = view.header.evicted;
	*ret_records = view.header.records;
	view_clear(&view);
	return evicted;
}

static void run_minute(struct fixture *f)
{
	for (u32 i = 0; i < PROCESSES; i++) {
		s32 pid = f->next_pid++;

		start_process(f, pid, i % PROGRAMS);
		add_window(f, pid);
		add_window(f, 100 + (s32)draw_below(f, LOAD_PROCESSES));
		report_event(f, (struct task_event){ .type = TASK_EXIT, .pid = pid });
	}
}

/* In each minute at most 1 % of the samples is evicted. */
static void test_short_processes_of_few_programs(void **state)
{
	struct fixture f = { .random = 42, .next_pid = FIRST_SHORT_PID };
	u64 records_before = 0, evicted_before = 0;

	(void)state;
	setup_tables(&f);
	for (s32 i = 0; i < LOAD_PROCESSES; i++)
		start_process(&f, 100 + i, PROGRAMS);
	for (u32 minute = 0; minute < MINUTES; minute++) {
		u64 records, evicted;

		run_minute(&f);
		evicted = count_evicted(&f, &records);
		test_row("minute %u: %llu of %llu samples evicted", minute,
			 (unsigned long long)(evicted - evicted_before),
			 (unsigned long long)(records - records_before));
		assert_row(records - records_before == 2ULL * RECORDS * PROCESSES);
		assert_row(100 * (evicted - evicted_before) <= records - records_before);
		records_before = records;
		evicted_before = evicted;
	}
	profile_free(f.profile);
	attributor_free(f.attributor);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_processes_of_few_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
