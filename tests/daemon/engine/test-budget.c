// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test how the memory budget determines the sizes of tables and rings. */
#include "test.h"

#include "attribution/attributor-internal.h"
#include "engine/budget.h"
#include "profile/profile-internal.h"

#include <errno.h>

#define MIB (1ULL << 20)
#define KIB (1ULL << 10)

static const u32 machines[] = { 1, 2, 8, 64, 192, 512, 4096 };
static const u32 page_sizes[] = { 4096, 16384, 65536 };

/* All configurations of sources and of task events */
static const struct memory_request requests[] = {
	{ .sources = MEMORY_MODULE | MEMORY_PERF, .bpf = true, .side_band = true },
	{ .sources = MEMORY_MODULE, .bpf = true, .side_band = true, .switches = true },
	{ .sources = MEMORY_PERF, .side_band = true },
	{ .sources = MEMORY_EMULATED },
	{ .sources = MEMORY_EMULATED, .bpf = true, .side_band = true, .switches = true },
};

static u64 round_to_page(u64 bytes, u32 page)
{
	return (bytes + page - 1) / page * page;
}

/*
 * Return the bytes that the kernel locks for &memory_request.cpus, computed from what each source
 * maps, independently of the plan.
 */
static u64 compute_locked_bytes(const struct memory_request *a, const struct memory_plan *p)
{
	u64 cpu = 0, module, perf, emulated;

	module = round_to_page(p->ring, a->page) + round_to_page(64 * 64ULL, a->page) + a->page;
	perf = round_to_page(p->ring, a->page) + round_to_page(p->ring / 4, a->page) + a->page;
	emulated = round_to_page(p->ring, a->page) + a->page + 64 * KIB;
	if (a->sources & MEMORY_MODULE)
		cpu = module;
	if (a->sources & MEMORY_PERF && perf > cpu)
		cpu = perf;
	if (a->sources & MEMORY_EMULATED)
		cpu = emulated;
	if (a->side_band)
		cpu += round_to_page(p->side_band, a->page) + a->page;
	return a->cpus * cpu + (a->bpf ? p->bpf : 0) + (a->switches ? p->switches : 0);
}

/* The overhead of one allocation, in bytes */
#define OWN 8ULL

/*
 * Return the bytes of tables from the number of entries and the sizes of structures; a structure
 * that exists only for a fraction of the entries counts with that fraction.
 */
static u64 compute_table_bytes(const struct memory_plan *p)
{
	const struct attributor *a = NULL;
	u64 counters = sizeof(struct profile_counters) + OWN, cells, program, process, container;
	struct cell_table_stats stats;
	struct sample_class_catalog classes;
	const struct cell_table_config config = { .bytes = p->cell_bytes, .sample_class = &classes };
	struct cell_table *table;

	/* The budget of a table determines its capacity, and the capacity of its cache. */
	assert_row(cell_table_new(&config, &table) == 0);
	cell_table_get_stats(table, &stats);
	cell_table_free(table);
	assert_row(stats.capacity == cell_table_compute_capacity(p->cell_bytes));
	cells = p->cell_bytes + stats.capacity * sizeof(struct history_row) +
		(sizeof(struct mapping_entry) << cell_counter_get_cache_bits(p->cell_bytes));
	program = 2 * (CELL_PATH_BYTES + sizeof(void *) + sizeof(bool) + 3 * sizeof(u32)) +
		  sizeof(struct cell) + sizeof(void *) + sizeof(s32) + 10 * 64;
	process = counters + counters / 25 + sizeof(struct process_tally) +
		  sizeof(struct process_table_entry) + sizeof(*a->stamp) +
		  sizeof(*a->sample_flags) + sizeof(*a->valid_from_ns) + sizeof(u32) +
		  sizeof(struct history_row);
	container = 3 * counters + sizeof(struct container_tally) +
		    sizeof(struct profile_counters *) + sizeof(struct container_table_entry) +
		    sizeof(u32) + 256;
	return cells + p->programs * program + p->processes * process + p->map_bytes +
	       p->containers * container + p->cgroup_bytes + p->threads * 32ULL +
	       p->contexts * PROFILE_CONTEXTS * sizeof(struct context_count) +
	       p->lines * sizeof(struct hot_line) + p->pages * sizeof(struct hot_page);
}

static void check_plan(const struct memory_request *request, const struct memory_plan *plan)
{
	u64 sum = 0;

	for (u32 i = 0; i < MEMORY_SHARES; i++) {
		assert_row(plan->share[i] <= request->budget);
		sum += plan->share[i];
	}
	assert_row(sum == plan->bytes && sum <= request->budget && plan->budget == request->budget);
	assert_row(compute_locked_bytes(request, plan) <=
		   plan->share[MEMORY_RINGS] + plan->share[MEMORY_TASKS]);
	assert_row(compute_table_bytes(plan) <= plan->share[MEMORY_TABLES]);
	assert_row(plan->names <= plan->share[MEMORY_NAMES]);
	assert_row(cell_table_compute_capacity(plan->cell_bytes) >= 4096 &&
		   plan->processes >= 1024);
	assert_row(plan->programs >= 256 && plan->programs <= CELL_PROGRAMS_MAX);
	assert_row(plan->map_bytes >= plan->processes * 384ULL);
	/* Two copies of a checkpoint exist. The mappings in it are limited to that many bytes. */
	assert_row(plan->saved_map_bytes >= plan->processes * 160ULL);
	assert_row(plan->share[MEMORY_CHECKPOINT] >=
		   2 * (plan->saved_map_bytes + plan->cell_bytes / 8 * 3 +
			plan->processes * 128ULL + plan->containers * 512ULL));
	assert_row(plan->cgroup_bytes >= plan->containers * 256ULL);
	assert_row(plan->containers >= 256 && plan->lines >= 128);
	assert_row(plan->ring >= 64 * KIB && plan->ring <= 256 * KIB);
	assert_row(plan->side_band >= 16 * KIB && plan->side_band <= 128 * KIB);
	assert_row(plan->bpf >= 256 * KIB && plan->bpf <= MIB);
	assert_row(!(plan->ring & (plan->ring - 1)) && !(plan->side_band & (plan->side_band - 1)));
	assert_row(!(plan->bpf & (plan->bpf - 1)));
}

/*
 * For each configuration, the plan never exceeds the budget, a larger budget never gives smaller
 * tables, and the smallest budget works.
 */
static void check_budgets(struct memory_request request)
{
	struct memory_plan plan, before = { 0 };
	u64 least = 0, same;

	assert_row(budget_make_plan(&request, &plan, &least) == -ENOSPC);
	request.budget = least - 1;
	assert_row(budget_make_plan(&request, &plan, &same) == -ENOSPC && same == least);
	for (request.budget = least; request.budget < 4096 * MIB;
	     request.budget += request.budget / 7) {
		assert_row(budget_make_plan(&request, &plan, &same) == 0);
		check_plan(&request, &plan);
		assert_row(plan.ring >= before.ring && plan.side_band >= before.side_band);
		before = plan;
	}
	/* With a large budget the tables are larger than without a configured budget. */
	if (request.cpus <= 512)
		assert_row(cell_table_compute_capacity(plan.cell_bytes) > 32768 &&
			   plan.processes > 8192 && plan.ring == 256 * KIB);
}

static void test_plans_fit_budgets(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
		for (size_t n = 0; n < ARRAY_SIZE(requests); n++) {
			for (size_t k = 0; k < ARRAY_SIZE(page_sizes); k++) {
				struct memory_request request = requests[n];

				request.cpus = machines[i];
				request.page = page_sizes[k];
				test_row("%u CPUs, ask %zu, pages of %u", request.cpus, n,
					 request.page);
				check_budgets(request);
			}
		}
	}
}

static struct memory_request make_request(u64 budget, u32 cpus)
{
	struct memory_request request = requests[0];

	request.budget = budget;
	request.cpus = cpus;
	request.page = 4096;
	return request;
}

/* Test the rows of the table in Documentation/explanation/tables.md. */
static void test_documented_table_sizes(void **state)
{
	static const struct {
		u64 budget;
		u32 cpus;
		u32 ring;
		u32 side_band;
		u32 cells;
		u32 processes;
		u32 containers;
	} rows[] = {
		{ 64 * MIB, 2, 256 << 10, 128 << 10, 23405, 3072, 768 },
		{ 64 * MIB, 64, 128 << 10, 64 << 10, 15603, 2048, 512 },
		{ 64 * MIB, 192, 64 << 10, 32 << 10, 12678, 1664, 416 },
		{ 128 * MIB, 192, 128 << 10, 64 << 10, 32182, 4224, 1056 },
		{ 256 * MIB, 192, 256 << 10, 128 << 10, 71192, 9344, 2336 },
	};
	struct memory_plan plan;
	struct memory_request request;
	u64 least;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("%llu MiB, %u CPUs", (unsigned long long)(rows[i].budget / MIB),
			 rows[i].cpus);
		request = make_request(rows[i].budget, rows[i].cpus);
		assert_row(budget_make_plan(&request, &plan, &least) == 0);
		assert_row(plan.ring == rows[i].ring && plan.side_band == rows[i].side_band);
		assert_row(cell_table_compute_capacity(plan.cell_bytes) == rows[i].cells);
		assert_row(plan.processes == rows[i].processes);
		assert_row(plan.containers == rows[i].containers);
	}
	request = make_request(32 * MIB, 192);
	assert_int_equal(budget_make_plan(&request, &plan, &least), -ENOSPC);
	assert_int_equal((least + MIB - 1) / MIB, 49);
}

/*
 * Tables of a session that the bus creates are smaller. Its smallest budget is the one into which
 * these tables fit.
 */
static void test_plans_of_bus_sessions(void **state)
{
	struct memory_request request = make_request(64 * MIB, 2);
	struct memory_plan plan, session, larger, own;
	u64 least;

	(void)state;
	assert_int_equal(budget_make_plan(&request, &plan, &least), 0);
	budget_plan_session(&plan, 0, false, &session);
	assert_true(session.cell_bytes < plan.cell_bytes && session.processes == plan.processes);
	assert_true(session.bytes > session.cell_bytes + session.counters * 2144ULL);
	/*
	 * Documentation/explanation/tables.md guarantees that two sessions fit into the default
	 * budget.
	 */
	assert_true(!plan.counters && session.counters == 120);
	assert_true(2 * session.bytes <= plan.share[MEMORY_SESSIONS]);
	budget_plan_session(&plan, 0, true, &own);
	assert_true(own.bytes - session.bytes >= compute_locked_bytes(&request, &own) -
							 compute_locked_bytes(&request, &plan) +
							 plan.ring * request.cpus);
	budget_plan_session(&plan, 64 * MIB, false, &larger);
	assert_int_equal(larger.bytes, session.bytes + 64 * MIB);
	request.budget = budget_compute_needed(&plan, 3 * MIB, 64 * MIB, false);
	assert_int_equal(budget_make_plan(&request, &plan, &least), 0);
	budget_plan_session(&plan, 64 * MIB, false, &larger);
	assert_true(plan.share[MEMORY_SESSIONS] >= larger.bytes + 3 * MIB);
	request.budget -= MIB;
	assert_int_equal(budget_make_plan(&request, &plan, &least), 0);
	budget_plan_session(&plan, 64 * MIB, false, &larger);
	assert_true(plan.share[MEMORY_SESSIONS] < larger.bytes + 3 * MIB);
}

/* Plans may change slightly: the documented number of entries is approximate. */
static void assert_pprof_entries(u64 *left, u32 entries)
{
	struct pprof_limits limits;

	test_row("%llu bytes left", (unsigned long long)*left);
	assert_row(budget_limit_pprof(*left, &limits));
	assert_row(limits.entries >= entries - entries / 20 &&
		   limits.entries <= entries + entries / 20);
	assert_row(limits.names >= limits.entries * 192ULL);
	assert_row(pprof_get_max_bytes(&limits) <= *left);
	*left -= pprof_get_max_bytes(&limits);
}

/*
 * Check that profiles for pprof use the memory that sessions leave
 * (Documentation/explanation/tables.md).
 */
static void test_pprof_uses_remaining_memory(void **state)
{
	struct memory_request request = make_request(64 * MIB, 2);
	struct memory_plan plan, session;
	struct pprof_limits limits;
	u64 least, left;

	(void)state;
	assert_int_equal(budget_make_plan(&request, &plan, &least), 0);
	left = plan.share[MEMORY_SESSIONS];
	for (u32 i = 0; i < PPROF_CONCURRENT_MAX; i++) {
		assert_true(budget_limit_pprof(left, &limits));
		assert_true(limits.entries >= 512 && pprof_get_max_bytes(&limits) <= left);
		left -= pprof_get_max_bytes(&limits);
	}
	left = plan.share[MEMORY_SESSIONS];
	assert_pprof_entries(&left, 11947);
	assert_pprof_entries(&left, 5388);
	/* With two sessions the smallest profile still fits. */
	budget_plan_session(&plan, 0, false, &session);
	left = plan.share[MEMORY_SESSIONS] - 2 * session.bytes;
	assert_true(budget_limit_pprof(left, &limits));
	request.cpus = 192;
	assert_int_equal(budget_make_plan(&request, &plan, &least), 0);
	left = plan.share[MEMORY_SESSIONS];
	assert_pprof_entries(&left, 3843);
	/* The limits never exceed those without a memory budget, and are 0 if no memory is free. */
	assert_true(budget_limit_pprof(4096 * MIB, &limits));
	assert_int_equal(limits.entries, PPROF_ENTRIES_MAX);
	for (left = 0; !budget_limit_pprof(left, &limits); left += KIB)
		;
	assert_true(limits.entries >= 512 && pprof_get_max_bytes(&limits) <= left && left < MIB);
	request.budget = budget_compute_pprof_needed(&plan, plan.share[MEMORY_SESSIONS]);
	least = plan.share[MEMORY_SESSIONS];
	assert_int_equal(budget_make_plan(&request, &plan, &left), 0);
	assert_true(budget_limit_pprof(plan.share[MEMORY_SESSIONS] - least, &limits));
}

/*
 * Each drain thread has its own tables. The plan includes them, and makes the common tables
 * smaller.
 */
static void test_plans_of_drain_threads(void **state __attribute__((unused)))
{
	struct memory_request request = { .budget = 256 * MIB,
					  .cpus = 64,
					  .page = 4096,
					  .sources = MEMORY_MODULE,
					  .bpf = true,
					  .side_band = true };
	struct memory_plan plan, fewer = { 0 };
	u64 least, own;

	for (u32 workers = 1; workers <= 16; workers *= 2) {
		request.workers = workers;
		test_row("%u workers", workers);
		assert_row(budget_make_plan(&request, &plan, &least) == 0);
		assert_row(plan.workers == workers && plan.bytes == request.budget);
		own = workers < 2 ? 0 :
				    (workers + 1) *
					    (budget_divide_entries((u32)plan.cell_bytes, workers) +
					     plan.processes * 2200ULL + 3 * MIB);
		assert_row(plan.share[MEMORY_TABLES] >=
			   plan.cell_bytes + plan.processes * 2880ULL + own);
		assert_row(workers == 1 || plan.processes < fewer.processes);
		fewer = plan;
	}
	request.budget = 64 * MIB;
	assert_int_equal(budget_make_plan(&request, &plan, &least), -ENOSPC);
	assert_true(least > request.budget);
	assert_int_equal(budget_divide_entries(0, 4), 0);
	assert_int_equal(budget_divide_entries(4096, 3), 1024);
	/*
	 * At the default rate one drain thread suffices for any machine. At the highest rate 192
	 * CPUs need four.
	 */
	assert_int_equal(budget_choose_workers(192, 1000), 1);
	assert_int_equal(budget_choose_workers(4096, 1000), 1);
	assert_int_equal(budget_choose_workers(192, 100000), 4);
	assert_int_equal(budget_choose_workers(2, 100000), 1);
	assert_int_equal(budget_choose_workers(4096, 100000), 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plans_fit_budgets),
		cmocka_unit_test(test_documented_table_sizes),
		cmocka_unit_test(test_plans_of_bus_sessions),
		cmocka_unit_test(test_pprof_uses_remaining_memory),
		cmocka_unit_test(test_plans_of_drain_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
