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

static struct attributor *attributor_full(const struct memory_plan *plan)
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
static void shared_source(struct profile *p, u32 rounds)
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
		profile_window(p, &window);
	}
}

static u64 resident_bytes(void)
{
	unsigned long long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%*u %llu", &pages), 1);
	fclose(f);
	return pages * (u64)sysconf(_SC_PAGESIZE);
}

static struct memory_plan usual_plan(struct memory_plan *ret_session)
{
	const struct memory_request request = { .budget = 64 * MIB,
						.cpus = 2,
						.page = 4096,
						.bpf = true,
						.side_band = true,
						.sources = MEMORY_MODULE | MEMORY_PERF };
	struct memory_plan plan;
	u64 least;

	assert_int_equal(budget_plan(&request, &plan, &least), 0);
	budget_session(&plan, 0, false, ret_session);
	return plan;
}

static struct profile *profile_by(const struct memory_plan *plan, struct attributor *a,
				  const struct filter *filter)
{
	struct profile_config config = budget_profile(plan);
	struct profile *p;

	config.filter = filter;
	assert_int_equal(profile_new(&config, a, &p), 0);
	return p;
}

static u32 processes_of(const struct profile *p)
{
	struct counters counters;
	u32 n = 0;

	for (u32 i = 0; i < profile_get_process_bound(p); i++)
		n += profile_process(p, i, &counters);
	return n;
}

static u64 containers_sum(const struct profile *p)
{
	u64 sum = 0;

	for (u32 i = 0; i < profile_get_container_bound(p); i++)
		sum += profile_container_samples(p, i);
	return sum;
}

/*
 * For any number of processes each sample is counted, and the heaviest processes keep their
 * entries.
 */
static void test_bound(void **state)
{
	struct memory_plan session, plan = usual_plan(&session);
	struct attributor *a = attributor_full(&plan);
	struct profile *whole = profile_by(&plan, a, NULL), *p = profile_by(&session, a, NULL);
	struct counters counters, same;

	(void)state;
	shared_source(whole, 4);
	shared_source(p, 4);
	profile_flush(whole);
	profile_flush(p);
	assert_true(processes_of(whole) > PROCESSES / 2);
	assert_in_range(processes_of(p), session.counters / 4, session.counters / 2);
	assert_true(p->room.used[TALLY_PROCESS] <= session.counters / 2 &&
		    p->room.used[TALLY_EXITED] <= session.counters / 4 + 1 &&
		    p->room.used[TALLY_CONTAINER] <= session.counters / 4 + 1);
	assert_true(profile_machine(p)->samples == profile_machine(whole)->samples &&
		    profile_machine(p)->samples == 4 * PROCESSES);
	assert_int_equal(containers_sum(p), 4 * PROCESSES);
	for (s32 i = 0; i < 8; i++) {
		u32 index = attributor_find_process(a, i + 10);

		assert_true(profile_process(p, index, &counters) &&
			    profile_process(whole, index, &same));
		assert_true(counters.samples > 100 && counters.samples == same.samples);
	}
	profile_reset(p);
	assert_true(!p->room.used[TALLY_PROCESS] && !p->room.used[TALLY_EXITED]);
	profile_free(p);
	profile_free(whole);
	attributor_free(a);
}

/* Samples for which a shard has no entry are in the merged profile, which has its own limit. */
static void test_merged(void **state)
{
	struct memory_plan session, plan = usual_plan(&session);
	struct attributor *a = attributor_full(&plan);
	struct profile *whole = profile_by(&session, a, NULL), *shard;
	const struct profile_config config = { .whole = whole,
					       .cell_bytes = session.cell_bytes,
					       .counters = session.counters };

	(void)state;
	assert_int_equal(profile_new(&config, a, &shard), 0);
	for (u32 i = 0; i < 3; i++) {
		shared_source(shard, 1);
		profile_merge(whole, shard, NULL);
		assert_int_equal(shard->room.used[TALLY_PROCESS], 0);
	}
	profile_flush(whole);
	assert_int_equal(profile_machine(whole)->samples, 3 * PROCESSES);
	assert_int_equal(containers_sum(whole), 3 * PROCESSES);
	assert_true(whole->room.used[TALLY_PROCESS] <= session.counters / 2);
	profile_free(shard);
	profile_free(whole);
	attributor_free(a);
}

static u64 grown_by(const struct memory_plan *plan, struct attributor *a, const char *expression,
		    u32 *ret_processes)
{
	struct filter_error error;
	struct filter *filter = NULL;
	u64 before = resident_bytes();
	struct profile *p;
	u64 grown;

	if (expression)
		assert_int_equal(filter_new(expression, &filter, &error), 0);
	p = profile_by(plan, a, filter);
	shared_source(p, 8);
	profile_flush(p);
	grown = resident_bytes() - before;
	*ret_processes = processes_of(p);
	profile_free(p);
	filter_free(filter);
	malloc_trim(0);
	return grown;
}

/* On a machine with thousands of processes a session uses memory only for those that it counts. */
static void test_resident(void **state)
{
	struct memory_plan session, plan = usual_plan(&session);
	struct attributor *a;
	static const char *const filters[] = { "process == \"wanted\"", "container == \"c7\"",
					       "op == store", NULL };
	u32 processes;
	u64 grown;

	(void)state;
	if (is_sanitized())
		skip();
	a = attributor_full(&plan);
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
	grown_by(&session, a, NULL, &processes);
	for (size_t i = 0; i < ARRAY_SIZE(filters); i++) {
		grown = grown_by(&session, a, filters[i], &processes);
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
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_merged),
		cmocka_unit_test(test_resident),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
