// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test statistics of processes and containers: entries exist for those with samples, up to a limit.
 * The resident memory of bus sessions is compared with the plan.
 */
#include "test.h"

#include "engine/budget.h"
#include "filter/filter.h"
#include "profile/profile-internal.h"
#include "profile/profile-shard.h"
#include "tasks/task-event.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#define PROCESSES  3000
#define CONTAINERS 600
#define RECORDS	   24
#define KIB	   (1ULL << 10)
#define MIB	   (1ULL << 20)

/* A sanitizer keeps freed memory, which stays resident. */
static bool is_sanitized(void)
{
	return dlsym(RTLD_DEFAULT, "__asan_init");
}

static struct attributor *make_full_attributor(const struct memory_plan *plan)
{
	const struct attributor_config config = {
		.processes = plan->processes,
		.threads = plan->threads,
		.containers = plan->containers,
	};
	struct attributor *a;
	char name[64];

	assert_int_equal(attributor_new(&config, &a), 0);
	for (s32 i = 0; i < PROCESSES; i++) {
		struct task_event event = { .type = TASK_COMM, .pid = i + 10, .tid = i + 10 };

		event.name = i % 40 == 1 ? "wanted" : "other";
		attributor_apply_event(a, &event);
		snprintf(name, sizeof(name), "/lxc/c%d", i % CONTAINERS);
		event = (struct task_event){ .type = TASK_CGROUP, .pid = i + 10, .name = name };
		attributor_apply_event(a, &event);
	}
	return a;
}

/* Add a few samples of most processes, and many more of the first ones. */
static void add_samples_of_processes(struct profile *p, u32 rounds)
{
	static u8 records[RECORDS * 128];

	for (u32 n = 0; n < rounds * PROCESSES / RECORDS; n++) {
		struct source_window window = { .data = records,
						.tid = -1,
						.end_ns = n + 1,
						.start_ns = n,
						.interval = 1000,
						.unit = UNIT_INSTRUCTIONS };

		for (u32 i = 0; i < RECORDS; i++) {
			u32 number = (n * RECORDS + i) % PROCESSES;
			struct spe_sample s = {
				.present = SPE_HAS_ADDRESS(SPE_ADDRESS_PC) | SPE_HAS_EVENTS |
					   SPE_HAS_OP | SPE_HAS_COUNTER(SPE_COUNTER_TOTAL) |
					   SPE_HAS_CONTEXT(SPE_CONTEXT_EL1),
				.address = { [SPE_ADDRESS_PC] = 0x400000 + n % 16 * 4 },
				.op_class = SPE_OP_OTHER,
				.events = 2,
				.events_size = 2,
				.counter = { (u16)(n % 500) },
				.context = { [SPE_CONTEXT_EL1] =
						     i % 4 ? number + 10 : (n + i) % 8 + 10 },
			};
			int r = spe_record_encode(&s, records + window.len,
						  sizeof(records) - window.len);

			assert_true(r > 0);
			window.len += (size_t)r;
		}
		window.written = RECORDS;
		profile_add_window(p, &window);
	}
}

static u64 read_resident_bytes(void)
{
	unsigned long long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%*u %llu", &pages), 1);
	fclose(f);
	return pages * (u64)sysconf(_SC_PAGESIZE);
}

static struct memory_plan make_usual_plan(struct memory_plan *ret_session)
{
	const struct memory_request request = { .budget = 64 * MIB,
						.cpus = 2,
						.page = 4096,
						.bpf = true,
						.side_band = true,
						.sources = MEMORY_MODULE | MEMORY_PERF };
	struct memory_plan plan;
	u64 least;

	assert_int_equal(budget_make_plan(&request, &plan, &least), 0);
	budget_plan_session(&plan, 0, false, ret_session);
	return plan;
}

static struct profile *make_profile_with_plan(const struct memory_plan *plan, struct attributor *a,
					      const struct filter *filter)
{
	struct profile_config config = budget_get_profile_config(plan);
	struct profile *p;

	config.filter = filter;
	assert_int_equal(profile_new(&config, a, &p), 0);
	return p;
}

static u32 count_processes(const struct profile *p)
{
	struct profile_counters counters;
	u32 n = 0;

	for (u32 i = 0; i < profile_get_process_bound(p); i++)
		n += profile_sum_process_counters(p, i, &counters);
	return n;
}

static u64 sum_container_samples(const struct profile *p)
{
	u64 sum = 0;

	for (u32 i = 0; i < profile_get_container_bound(p); i++)
		sum += profile_get_container_samples(p, i);
	return sum;
}

/*
 * For any number of processes each sample is counted, and the heaviest processes keep their
 * entries.
 */
static void test_heaviest_processes_keep_entries(void **state)
{
	struct memory_plan session, plan = make_usual_plan(&session);
	struct attributor *a = make_full_attributor(&plan);
	struct profile *whole = make_profile_with_plan(&plan, a, NULL),
		       *p = make_profile_with_plan(&session, a, NULL);
	struct profile_counters counters, same;

	(void)state;
	add_samples_of_processes(whole, 4);
	add_samples_of_processes(p, 4);
	profile_flush(whole);
	profile_flush(p);
	assert_true(count_processes(whole) > PROCESSES / 2);
	assert_in_range(count_processes(p), session.counters / 4, session.counters / 2);
	assert_true(p->tally.used[TALLY_PROCESS] <= session.counters / 2 &&
		    p->tally.used[TALLY_EXITED] <= session.counters / 4 + 1 &&
		    p->tally.used[TALLY_CONTAINER] <= session.counters / 4 + 1);
	assert_true(profile_get_machine_counters(p)->samples ==
			    profile_get_machine_counters(whole)->samples &&
		    profile_get_machine_counters(p)->samples == 4 * PROCESSES);
	assert_int_equal(sum_container_samples(p), 4 * PROCESSES);
	for (s32 i = 0; i < 8; i++) {
		u32 index = attributor_find_process(a, i + 10);

		assert_true(profile_sum_process_counters(p, index, &counters) &&
			    profile_sum_process_counters(whole, index, &same));
		assert_true(counters.samples > 100 && counters.samples == same.samples);
	}
	profile_reset(p);
	assert_true(!p->tally.used[TALLY_PROCESS] && !p->tally.used[TALLY_EXITED]);
	profile_free(p);
	profile_free(whole);
	attributor_free(a);
}

/* Samples for which a shard has no entry are in the merged profile, which has its own limit. */
static void test_merged_profile_has_own_limit(void **state)
{
	struct memory_plan session, plan = make_usual_plan(&session);
	struct attributor *a = make_full_attributor(&plan);
	struct profile *whole = make_profile_with_plan(&session, a, NULL), *shard;
	const struct profile_config config = { .whole = whole,
					       .cell_bytes = session.cell_bytes,
					       .counters = session.counters };

	(void)state;
	assert_int_equal(profile_new(&config, a, &shard), 0);
	for (u32 i = 0; i < 3; i++) {
		add_samples_of_processes(shard, 1);
		profile_merge_shard(whole, shard, NULL);
		assert_int_equal(shard->tally.used[TALLY_PROCESS], 0);
	}
	profile_flush(whole);
	assert_int_equal(profile_get_machine_counters(whole)->samples, 3 * PROCESSES);
	assert_int_equal(sum_container_samples(whole), 3 * PROCESSES);
	assert_true(whole->tally.used[TALLY_PROCESS] <= session.counters / 2);
	profile_free(shard);
	profile_free(whole);
	attributor_free(a);
}

static u64 measure_memory_growth(const struct memory_plan *plan, struct attributor *a,
				 const char *expression, u32 *ret_processes)
{
	struct filter_error error;
	struct filter *filter = NULL;
	u64 before = read_resident_bytes();
	struct profile *p;
	u64 grown;

	if (expression)
		assert_int_equal(filter_new(expression, &filter, &error), 0);
	p = make_profile_with_plan(plan, a, filter);
	add_samples_of_processes(p, 8);
	profile_flush(p);
	grown = read_resident_bytes() - before;
	*ret_processes = count_processes(p);
	profile_free(p);
	filter_free(filter);
	malloc_trim(0);
	return grown;
}

/* On a machine with thousands of processes a session uses memory only for those that it counts. */
static void test_memory_follows_counted_processes(void **state)
{
	struct memory_plan session, plan = make_usual_plan(&session);
	struct attributor *a;
	static const char *const filters[] = { "process == \"wanted\"", "container == \"c7\"",
					       "op == store", NULL };
	u32 processes;
	u64 grown;

	(void)state;
	if (is_sanitized())
		skip();
	a = make_full_attributor(&plan);
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
	measure_memory_growth(&session, a, NULL, &processes);
	for (size_t i = 0; i < ARRAY_SIZE(filters); i++) {
		grown = measure_memory_growth(&session, a, filters[i], &processes);
		print_message("%s: %u processes, %llu KiB of %llu\n",
			      filters[i] ? filters[i] : "everything", processes,
			      (unsigned long long)(grown / KIB),
			      (unsigned long long)(session.bytes / KIB));
		assert_true(grown <= session.bytes);
		/*
		 * 75 processes are more than the table can hold, but most of them keep their
		 * entries.
		 */
		if (!i)
			assert_in_range(processes, session.counters / 3, session.counters / 2);
	}
	attributor_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heaviest_processes_keep_entries),
		cmocka_unit_test(test_merged_profile_has_own_limit),
		cmocka_unit_test(test_memory_follows_counted_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
