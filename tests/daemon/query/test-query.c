// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test the rows of a query: for any grouping, they add up to all samples, and equal the counters
 * that the test computed when the samples were taken.
 */
#include "test.h"

#include "codec/payload.h"
#include "profile/profile-read.h"
#include "profile/profile-shard.h"
#include "query/query-names.h"
#include "query/query-result.h"
#include "symbols/symbols.h"
#include "tasks/task-event.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

#define PROGRAMS   4
#define CONTAINERS 3
#define PROCESSES  24
#define FIRST_PID  100
#define UNKNOWN	   PROCESSES /* a task that no event reported */
#define LOCATIONS  8
#define CPUS	   3
#define SAMPLES	   6000

#define EXECUTABLE_AT 0x400000ULL
#define LIBRARY_AT    0x7f0000000000ULL
#define UNMAPPED_AT   0x10000ULL
#define KERNEL_AT     0xffff800008000000ULL

/* The time of all samples, and a time after the end of their slot of the history. */
#define START_NS 1000000000ULL
#define LATER_NS (START_NS + 2 * HISTORY_SLOT_NS)

enum where { IN_EXECUTABLE, IN_LIBRARY, IN_KERNEL, IN_NOTHING, WHERES };

static const u64 base[WHERES] = { EXECUTABLE_AT, LIBRARY_AT, KERNEL_AT, UNMAPPED_AT };

/** struct taken_sample - a sample that the test has taken */
struct taken_sample {
	u32 process;
	enum where where;
	u32 location;
	bool store;
	bool walk; /* whether the sample has the event tlb_walk */
	bool miss; /* has the event l1d_refill: its level is beyond_l1, not l1 */
	u16 latency;
	u32 interval;
};

struct fixture {
	struct attributor *attributor;
	struct profile *profile;
	struct taken_sample taken[SAMPLES];
	struct query_row row;
};

/* Locations of a function with a name, and of its only source line. */
#define FUNCTION_LOCATIONS 2
#define FUNCTIONS	   (LOCATIONS / FUNCTION_LOCATIONS)

/* For each function of a binary, when its name was resolved: first, second and so on. */
typedef u32 name_order[FUNCTIONS];

/* NULL: no function has a name */
static const u32 *names_resolved;

bool __wrap_symbols_get_function_key(struct symbols_cache *symbols, s32 pid,
				     const struct attribute_location *location, bool live,
				     u64 *ret_key);
bool __wrap_symbols_get_line_key(struct symbols_cache *symbols, s32 pid,
				 const struct attribute_location *location, bool live,
				 u64 *ret_key);

/* As in the cache of symbols, keys follow the order in which names were resolved. */
bool __wrap_symbols_get_function_key(struct symbols_cache *symbols, s32 pid,
				     const struct attribute_location *location, bool live,
				     u64 *ret_key)
{
	(void)symbols;
	(void)pid;
	(void)live;
	if (!names_resolved)
		return false;
	*ret_key =
		1 + names_resolved[(location->offset - 0x40) / 4 / FUNCTION_LOCATIONS % FUNCTIONS];
	return true;
}

bool __wrap_symbols_get_line_key(struct symbols_cache *symbols, s32 pid,
				 const struct attribute_location *location, bool live, u64 *ret_key)
{
	return __wrap_symbols_get_function_key(symbols, pid, location, live, ret_key);
}

static u64 random_state;

static u32 draw_below(u32 below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (u32)(random_state % below);
}

static u32 get_program_of_process(u32 process)
{
	return process % PROGRAMS;
}

static u32 get_container_of_process(u32 process)
{
	return process / PROGRAMS % CONTAINERS;
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

static void process_add(struct attributor *a, u32 i)
{
	s32 pid = (s32)(FIRST_PID + i);
	char name[16], path[32], cgroup[32];

	snprintf(name, sizeof(name), "worker-%u", i);
	snprintf(path, sizeof(path), "/usr/bin/p%u", get_program_of_process(i));
	snprintf(cgroup, sizeof(cgroup), "/lxc/c%u", get_container_of_process(i));
	attributor_apply_event(
		a, &(struct task_event){ .type = TASK_COMM, .pid = pid, .tid = pid, .name = name });
	map_add(a, pid, EXECUTABLE_AT, path);
	map_add(a, pid, LIBRARY_AT + i * 0x100000ULL, "/usr/lib/libshared.so");
	attributor_apply_event(
		a, &(struct task_event){ .type = TASK_CGROUP, .pid = pid, .name = cgroup });
}

/* Return the CPU of a sample. */
static u32 get_cpu_of_sample(const struct taken_sample *t)
{
	return (t->location + t->process) % CPUS;
}

static void count_taken_sample(struct profile *profile, const struct taken_sample *t)
{
	u64 pc = base[t->where] + 0x40 + 4ULL * t->location;
	u64 events = 1ULL << SPE_EVENT_RETIRED | 1ULL << SPE_EVENT_L1D_ACCESS;
	struct spe_sample sample = {
		.present = SPE_HAS_ADDRESS(0) | SPE_HAS_EVENTS | SPE_HAS_OP |
			   SPE_HAS_COUNTER(SPE_COUNTER_TOTAL),
		.counter = { [SPE_COUNTER_TOTAL] = t->latency },
		.op_class = SPE_OP_LOAD_STORE,
		.op_subclass = t->store,
		.events_size = 2,
	};
	u8 record[64];
	int n;

	if (t->where == IN_LIBRARY)
		pc += t->process * 0x100000ULL;
	sample.address[0] = pc | (pc >= KERNEL_AT ? 1ULL << 61 : 0);
	sample.events =
		events | (u64)t->walk << SPE_EVENT_TLB_WALK | (u64)t->miss << SPE_EVENT_L1D_REFILL;
	n = spe_record_encode(&sample, record, sizeof(record));
	assert_true(n > 0);
	profile_add_window(profile, &(struct source_window){ .data = record,
							     .len = (size_t)n,
							     .tid = (s32)(FIRST_PID + t->process),
							     .cpu = get_cpu_of_sample(t),
							     .start_ns = START_NS,
							     .end_ns = START_NS + 1000,
							     .interval = t->interval,
							     .unit = UNIT_INSTRUCTIONS });
}

static void make_profile(struct attributor **ret_attributor, struct profile **ret_profile)
{
	const struct attributor_config attribution = { 0 };
	const struct profile_config config = { 0 };

	assert_int_equal(attributor_new(&attribution, ret_attributor), 0);
	assert_int_equal(profile_new(&config, *ret_attributor, ret_profile), 0);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	random_state = 88172645463325252ULL;
	make_profile(&f->attributor, &f->profile);
	for (u32 i = 0; i < PROCESSES; i++)
		process_add(f->attributor, i);
	for (u32 i = 0; i < SAMPLES; i++) {
		f->taken[i] = (struct taken_sample){
			.process = draw_below(PROCESSES + 1),
			.where = draw_below(WHERES),
			.location = draw_below(LOCATIONS),
			.store = draw_below(4) == 0,
			.walk = draw_below(5) == 0,
			.miss = draw_below(3) == 0,
			.latency = (u16)(1 + draw_below(900)),
			.interval = 1000,
		};
		count_taken_sample(f->profile, &f->taken[i]);
	}
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

static struct query make_query(const char *group)
{
	struct query query = { .recording = "x" };
	struct query_error error = { "" };

	test_row("-G %s", group);
	assert_row(query_parse_group(group, &query, &error) == 0);
	assert_row(query_check(&query, &error) == 0);
	return query;
}

static struct query_result *run_query_of_fixture(const struct fixture *f, const struct query *query)
{
	const struct query_source source = { .profile = f->profile };
	struct query_result *result = NULL;

	assert_row(query_run(&source, query, &result, NULL) == 0);
	return result;
}

/* For every list of keys, the rows add up to the machine's counters. */
static void test_rows_add_up(void **state)
{
	static const char *const groups[] = {
		"function",
		"line",
		"program",
		"container",
		"binary",
		"binary,function",
		"mode",
		"mode,container",
		"instruction",
		"build_id",
		"container,level",
		"op",
		"op,level",
		"program,op,binary",
		"level,mode",
		"program,mode,op",
		"container,op,level",
	};
	struct fixture *f = *state;
	const struct profile_counters *machine = profile_get_machine_counters(f->profile);

	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		struct query query = make_query(groups[i]);
		struct query_result *result = run_query_of_fixture(f, &query);
		u64 part = 0, samples = 0, weight = 0, latency = 0, walks = 0, misses = 0;
		struct query_rest rest;

		for (u32 k = 0; k < query_result_get_row_count(result); k++) {
			query_result_get_row(result, k, &f->row);
			part += f->row.part;
			samples += f->row.counters.samples;
			weight += f->row.counters.weight[UNIT_INSTRUCTIONS];
			latency += f->row.counters.latency[PROFILE_TOTAL].sum;
			walks += f->row.counters.counts.event[SPE_EVENT_TLB_WALK];
			misses += f->row.counters.counts.level[SPE_LEVEL_BEYOND_L1];
		}
		profile_flush(f->profile);
		assert_row(samples == SAMPLES && samples == machine->samples);
		assert_row(weight == SAMPLES * 1000ULL && part == weight);
		assert_row(latency == machine->latency[PROFILE_TOTAL].sum);
		assert_row(walks == machine->counts.event[SPE_EVENT_TLB_WALK] && walks);
		assert_row(misses == machine->counts.level[SPE_LEVEL_BEYOND_L1] && misses);
		query_result_get_rest(result, samples, &rest);
		assert_row(!rest.part && !rest.samples && !rest.rows);
		query_result_free(result);
	}
}

/* Return whether a sample belongs to a row that is grouped by the keys of the test below. */
static bool row_has_sample(const struct query *q, const struct query_row *row,
			   const struct taken_sample *t)
{
	static const char *const binaries[WHERES] = { NULL, "/usr/lib/libshared.so", "[kernel]",
						      "[unmapped]" };
	bool known = t->process != UNKNOWN;
	char container[16] = "-", program[32] = "[unattributed]", binary[48];

	if (known) {
		snprintf(container, sizeof(container), "c%u", get_container_of_process(t->process));
		snprintf(program, sizeof(program), "p%u", get_program_of_process(t->process));
	} else if (!query_groups_by(q, QUERY_PROGRAM)) {
		snprintf(container, sizeof(container), "[unattributed]");
	}
	snprintf(binary, sizeof(binary), "/usr/bin/%s", program);
	if (t->where != IN_EXECUTABLE)
		snprintf(binary, sizeof(binary), "%s", binaries[t->where]);
	if (!known && t->where != IN_KERNEL)
		snprintf(binary, sizeof(binary), "[unmapped]");
	if (query_groups_by(q, QUERY_CONTAINER) && strcmp(container, row->container))
		return false;
	if (query_groups_by(q, QUERY_PROGRAM) && strcmp(program, row->program))
		return false;
	if (query_groups_by(q, QUERY_BINARY) && strcmp(binary, row->binary))
		return false;
	if (query_groups_by(q, QUERY_MODE) && row->kernel != (t->where == IN_KERNEL))
		return false;
	if (query_groups_by(q, QUERY_OP) && row->op != (t->store ? SPE_KIND_STORE : SPE_KIND_LOAD))
		return false;
	if (query_groups_by(q, QUERY_LEVEL) &&
	    row->level != (t->miss ? SPE_LEVEL_BEYOND_L1 : SPE_LEVEL_L1))
		return false;
	if (query_groups_by(q, QUERY_EVENT))
		return row->event == SPE_EVENT_RETIRED || row->event == SPE_EVENT_L1D_ACCESS ||
		       (row->event == SPE_EVENT_TLB_WALK && t->walk) ||
		       (row->event == SPE_EVENT_L1D_REFILL && t->miss);
	return true;
}

/* Each row has exactly the samples that its keys name. */
static void test_rows_have_samples_of_keys(void **state)
{
	static const char *const groups[] = {
		"container",
		"program",
		"binary,container",
		"mode,binary",
		"op,container",
		"level",
		"level,mode",
		"event",
		"event,container",
		"program,op,event",
		"container,program,binary,mode,op,level",
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		struct query query = make_query(groups[i]);
		struct query_result *result = run_query_of_fixture(f, &query);
		double previous = 1e300;

		assert_row(query_result_get_row_count(result) > 1);
		for (u32 k = 0; k < query_result_get_row_count(result); k++) {
			const struct histogram *total = &f->row.counters.latency[PROFILE_TOTAL];
			u64 samples = 0, latency = 0, weight = 0;

			query_result_get_row(result, k, &f->row);
			for (u32 n = 0; n < SAMPLES; n++) {
				if (!row_has_sample(&query, &f->row, &f->taken[n]))
					continue;
				samples++;
				latency += f->taken[n].latency;
				weight += f->taken[n].interval;
			}
			test_row("-G %s, row %u", groups[i], k);
			assert_row(samples && f->row.counters.samples == samples);
			assert_row(total->sum == latency && total->count == samples);
			assert_row(f->row.part == weight && f->row.whole == SAMPLES * 1000ULL);
			assert_row(f->row.value <= previous);
			previous = f->row.value;
		}
		query_result_free(result);
	}
}

/*
 * The samples that are not shown complete the shares to 1, for each measure, also with a selection.
 */
static void test_rest_completes_shares(void **state)
{
	static const char *const sorts[] = { "operations", "samples", "latency",
					     "l1",	   "dram",    "tlb_walk",
					     "p99",	   "mean",    "event.retired" };
	struct fixture *f = *state;

	for (size_t i = 0; i < 2 * ARRAY_SIZE(sorts); i++) {
		struct query query = make_query(i % 2 ? "program,level" : "function");
		struct query_result *all, *result;
		struct query_rest rest;
		u64 sum = 0;

		assert_int_equal(measure_parse(sorts[i / 2], &query.sort), 0);
		all = run_query_of_fixture(f, &query);
		query.limit = 3;
		query.select.container = i % 2 ? "c[12]" : NULL;
		result = run_query_of_fixture(f, &query);
		query_result_get_rest(result, 0, &rest);
		test_row("-s %s, %zu", sorts[i / 2], i);
		assert_row(query_result_get_row_count(result) == 3);
		for (u32 k = 0; k < 3; k++) {
			query_result_get_row(result, k, &f->row);
			sum += f->row.part;
			assert_row(f->row.whole == rest.whole);
		}
		assert_row(sum + rest.part == rest.whole);
		assert_row(i % 2 || query_result_get_row_count(all) == 3 + rest.rows);
		query_result_free(all);
		query_result_free(result);
	}
}

static void assert_row_names(const struct query_row *a, const struct query_row *b)
{
	assert_row(!strcmp(a->container, b->container) && !strcmp(a->program, b->program));
	assert_row(!strcmp(a->binary, b->binary) && !strcmp(a->function, b->function));
	assert_row(a->op == b->op && a->level == b->level && a->part == b->part);
	assert_row(!memcmp(&a->counters, &b->counters, sizeof(a->counters)));
}

/* Equally heavy rows have a defined order, which does not depend on the order of the samples. */
static void test_equal_rows_have_order(void **state)
{
	struct fixture *f = *state, *other = calloc(1, sizeof(*other));
	struct query query = make_query("container,program,function,op");

	assert_non_null(other);
	make_profile(&other->attributor, &other->profile);
	for (u32 i = PROCESSES; i-- > 0;)
		process_add(other->attributor, i);
	for (u32 i = SAMPLES; i-- > 0;)
		count_taken_sample(other->profile, &f->taken[i]);
	for (enum measure sort = 0; sort < MEASURES; sort++) {
		struct query_result *a, *b;

		query.sort = sort;
		if (measure_is_issue_or_translation(sort))
			continue;
		a = run_query_of_fixture(f, &query);
		b = run_query_of_fixture(other, &query);
		test_row("sort %d", sort);
		assert_row(query_result_get_row_count(a) == query_result_get_row_count(b));
		for (u32 k = 0; k < query_result_get_row_count(a); k++) {
			query_result_get_row(a, k, &f->row);
			query_result_get_row(b, k, &other->row);
			assert_row_names(&f->row, &other->row);
		}
		query_result_free(a);
		query_result_free(b);
	}
	teardown((void **)&other);
}

#define THREADS_MAX 16

/* Count one sample of each location of two processes, with @threads shards. */
static struct profile *count_in_shards(struct attributor *attributor, u32 threads)
{
	struct profile *whole, *shard[THREADS_MAX];
	struct profile_config config = { 0 };
	u32 n = 0;

	assert_int_equal(profile_new(&config, attributor, &whole), 0);
	config.whole = whole;
	for (u32 i = 0; i < threads; i++)
		assert_int_equal(profile_new(&config, attributor, &shard[i]), 0);
	for (u32 process = 0; process < 2; process++)
		for (enum where where = 0; where < IN_NOTHING; where++)
			for (u32 i = 0; i < LOCATIONS; i++)
				count_taken_sample(shard[n++ % threads], &(struct taken_sample){
										 .process = process,
										 .where = where,
										 .location = i,
										 .latency = 10,
										 .interval = 1000,
									 });
	for (u32 i = 0; i < threads; i++)
		profile_merge_and_free_shard(whole, shard[i]);
	return whole;
}

/*
 * Rows of equal weight have the same order for any number of threads, also if functions and lines
 * have names: the order in which the threads resolved them does not matter.
 */
static void test_order_of_names(void **state)
{
	static const char *const groups[] = { "function", "line", "container,program,function,op" };
	static const struct {
		u32 threads;
		name_order resolved;
	} rows[] = {
		{ 1, { 0, 1, 2, 3 } },
		{ 2, { 3, 2, 1, 0 } },
		{ THREADS_MAX, { 2, 0, 3, 1 } },
	};
	struct fixture *f = *state;
	struct query_row *first = calloc(1, sizeof(*first));

	assert_non_null(first);
	for (size_t i = 0; i < ARRAY_SIZE(groups) * ARRAY_SIZE(rows); i++) {
		struct query query = make_query(groups[i / ARRAY_SIZE(rows)]);
		struct query_source source = { 0 };
		struct query_result *expected = NULL, *result = NULL;
		struct profile *alone = count_in_shards(f->attributor, rows[0].threads);

		source.profile = alone;
		names_resolved = rows[0].resolved;
		assert_row(query_run(&source, &query, &expected, NULL) == 0);
		source.profile = count_in_shards(f->attributor, rows[i % ARRAY_SIZE(rows)].threads);
		names_resolved = rows[i % ARRAY_SIZE(rows)].resolved;
		assert_row(query_run(&source, &query, &result, NULL) == 0);
		assert_row(query_result_get_row_count(result) ==
			   query_result_get_row_count(expected));
		assert_row(query_result_get_row_count(result) >= (IN_NOTHING - 1) * FUNCTIONS);
		for (u32 k = 0; k < query_result_get_row_count(result); k++) {
			query_result_get_row(expected, k, first);
			query_result_get_row(result, k, &f->row);
			test_row("-G %s, %u threads, row %u", groups[i / ARRAY_SIZE(rows)],
				 rows[i % ARRAY_SIZE(rows)].threads, k);
			assert_row_names(first, &f->row);
			assert_row(first->instruction == f->row.instruction);
		}
		names_resolved = NULL;
		query_result_free(result);
		query_result_free(expected);
		profile_free(source.profile);
		profile_free(alone);
	}
	free(first);
}

/* Names are globs. If a glob matches nothing, the error lists the names that exist. */
static void test_names_are_globs(void **state)
{
	static const struct {
		struct query_select select;
		const char *group;
		const char *names[3];
	} rows[] = {
		{ { .container = "c1" }, "container", { "c1" } },
		{ { .container = "c[02]" }, "container", { "c0", "c2" } },
		{ { .container = "/lxc/c2" }, "container", { "c2" } },
		{ { .container = "/lxc/c[01]" }, "container", { "c0", "c1" } },
		{ { .program = "p3" }, "program", { "p3" } },
		{ { .program = "/usr/bin/p[!12]" }, "program", { "p0", "p3" } },
		{ { .binary = "libshared*" }, "binary", { "/usr/lib/libshared.so" } },
		{ { .binary = "/usr/bin/*", .container = "c0" }, "container", { "c0" } },
		{ { .function = "p2+0x4*" }, "program", { "p2" } },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct query query = make_query(rows[i].group);
		struct query_result *result;
		bool found[3] = { false };

		query.select = rows[i].select;
		test_row("selection %zu", i);
		result = run_query_of_fixture(f, &query);
		assert_row(query_result_get_row_count(result));
		for (u32 k = 0; k < query_result_get_row_count(result); k++) {
			bool known = false;

			query_result_get_row(result, k, &f->row);
			for (u32 n = 0; n < 3 && rows[i].names[n]; n++) {
				const char *name = rows[i].names[n];

				if (strcmp(f->row.container, name) &&
				    strcmp(f->row.program, name) && strcmp(f->row.binary, name))
					continue;
				known = found[n] = true;
			}
			assert_row(known);
		}
		for (u32 n = 0; n < 3; n++)
			assert_row(found[n] == (rows[i].names[n] != NULL));
		query_result_free(result);
	}
}

static void test_select_nothing(void **state)
{
	static const struct {
		struct query_select select;
		const char *words[3];
	} rows[] = {
		{ { .container = "c9" }, { "container \"c9\"", "c0", "c2" } },
		{ { .program = "q*" }, { "program \"q*\"", "p0", "[unattributed]" } },
		{ { .binary = "libc.so" },
		  { "binary \"libc.so\"", "/usr/lib/libshared.so", "p3" } },
		{ { .function = "main" }, { "function \"main\"", "more", "0x" } },
		{ { .container = "c0", .program = "main" }, { "program \"main\"", "p1", "" } },
		{ { .program = "p1", .binary = "p2" }, { "match all", "", "" } },
	};
	const struct fixture *f = *state;
	const struct query_source source = { .profile = f->profile };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct query query = make_query("function");
		struct query_result *result = NULL;
		struct query_error error = { "" };

		query.select = rows[i].select;
		assert_int_equal(query_run(&source, &query, &result, &error), -ENOENT);
		test_row("selection %zu: %.90s", i, error.text);
		for (size_t k = 0; k < ARRAY_SIZE(rows[i].words); k++)
			assert_row(strstr(error.text, rows[i].words[k]));
	}
}

/* The nodes of the first two CPUs, plus 1; the nodes of the others are unknown. */
static const u8 cpu_nodes[] = { 1, 4 };

/* Return the node of a CPU plus 1; 0 if it is unknown. */
static u32 get_node_of_cpu(u32 cpu)
{
	return cpu < ARRAY_SIZE(cpu_nodes) ? cpu_nodes[cpu] : 0;
}

/* Return whether a sample belongs to a row by process, CPU and node. */
static bool row_has_task(const struct query *q, const struct query_row *row,
			 const struct taken_sample *t)
{
	bool known = t->process != UNKNOWN;
	char comm[16];

	snprintf(comm, sizeof(comm), "worker-%u", t->process);
	if (query_groups_by(q, QUERY_PID) &&
	    row->pid != (known ? (s32)(FIRST_PID + t->process) : 0))
		return false;
	if (query_groups_by(q, QUERY_COMM) &&
	    strcmp(row->comm, known ? comm : "[unattributed]") != 0)
		return false;
	if (query_groups_by(q, QUERY_NODE) &&
	    (row->node_known ? row->node + 1 : 0) != get_node_of_cpu(get_cpu_of_sample(t)))
		return false;
	if (query_groups_by(q, QUERY_CPU) && (!row->cpu_known || row->cpu != get_cpu_of_sample(t)))
		return false;
	return row_has_sample(q, row, t);
}

/* In a recording, processes and CPUs can be distinguished; other rows stay the same. */
static void test_split_by_process_and_cpu(void **state)
{
	static const char *const groups[] = {
		"pid",	       "comm,mode", "cpu",	    "cpu,pid,op", "container,cpu,binary",
		"program,pid", "container", "program,mode", "node",	  "node,cpu,op"
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		struct query query = make_query(groups[i]);
		const struct profile_config config = { .split = query_get_split_flags(&query) };
		struct query_source source = { .cpu_node = cpu_nodes,
					       .cpus = ARRAY_SIZE(cpu_nodes) };
		struct query_result *result = NULL;
		u64 all = 0;

		assert_int_equal(profile_new(&config, f->attributor, &source.profile), 0);
		for (u32 n = 0; n < SAMPLES; n++)
			count_taken_sample(source.profile, &f->taken[n]);
		assert_int_equal(query_run(&source, &query, &result, NULL), 0);
		for (u32 k = 0; k < query_result_get_row_count(result); k++) {
			u64 samples = 0;

			query_result_get_row(result, k, &f->row);
			for (u32 n = 0; n < SAMPLES; n++)
				samples += row_has_task(&query, &f->row, &f->taken[n]);
			test_row("-G %s, row %u", groups[i], k);
			assert_row(samples && f->row.counters.samples == samples);
			all += samples;
		}
		assert_row(all == SAMPLES);
		query_result_free(result);
		profile_free(source.profile);
	}
}

/*
 * The result of matching a glob equals that of fnmatch(), and the time does not grow exponentially.
 */
static void test_glob(void **state)
{
	static const struct {
		const char *glob;
		const char *name;
		bool match;
	} rows[] = {
		{ "c[0-2]", "c1", true },
		{ "c[!0-2]", "c1", false },
		{ "c[]x]", "c]", true },
		{ "c[^a]*", "cb/d", true },
		{ "a\\*", "a*", true },
		{ "a\\*", "ab", false },
		{ "[", "[", true },
		{ "x?z", "x\u00e9z", true },
		{ "*\u00e9", "caf\u00e9", true },
		{ "", "", true },
		{ "*", "", true },
		{ "?", "", false },
	};
	char glob[12], name[12], long_name[129];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("%s, %s", rows[i].glob, rows[i].name);
		assert_row(query_name_matches(rows[i].glob, rows[i].name) == rows[i].match);
	}
	random_state = 1;
	for (u32 i = 0; i < 20000; i++) {
		for (u32 k = 0; k < sizeof(glob) - 1; k++) {
			glob[k] = "ab*?"[draw_below(4)];
			name[k] = "ab"[draw_below(2)];
		}
		glob[draw_below(sizeof(glob))] = 0;
		name[draw_below(sizeof(name))] = 0;
		glob[sizeof(glob) - 1] = name[sizeof(name) - 1] = 0;
		test_row("%s, %s", glob, name);
		assert_row(query_name_matches(glob, name) == !fnmatch(glob, name, 0));
	}
	memset(long_name, 'a', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = 0;
	assert_false(query_name_matches("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", long_name));
}

/* Return the number of samples of a container, or of a program in it. */
static u64 count_samples_of(const struct fixture *f, const char *container, const char *program)
{
	u64 count = 0;

	for (u32 i = 0; i < SAMPLES; i++) {
		u32 process = f->taken[i].process;
		char c[16], p[16];

		snprintf(c, sizeof(c), "c%u", get_container_of_process(process));
		snprintf(p, sizeof(p), "p%u", get_program_of_process(process));
		if (process == UNKNOWN)
			snprintf(c, sizeof(c), "[unattributed]");
		count += !strcmp(c, container) && (!program || !strcmp(p, program));
	}
	return count;
}

/* Count the samples of the fixture in a profile with a history. */
static struct profile *make_profile_with_history(struct fixture *f)
{
	const struct profile_config config = { .cell_bytes = 4 << 20,
					       .programs = 64,
					       .history = true };
	struct profile *profile;

	assert_int_equal(profile_new(&config, f->attributor, &profile), 0);
	for (u32 i = 0; i < SAMPLES; i++)
		count_taken_sample(profile, &f->taken[i]);
	return profile;
}

/* A period has only its heaviest locations; the samples of the others complete the shares to 1. */
static void test_rest_of_period(void **state)
{
	static const char *const groups[] = { "program", "binary,function", "mode",
					      "container,binary", "instruction" };
	struct fixture *f = *state;
	struct profile *profile = make_profile_with_history(f);
	const struct query_source source = { .profile = profile, .now_ns = LATER_NS };

	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		struct query query = make_query(groups[i]);
		struct query_result *result = NULL;
		struct query_rest rest;
		u64 part = 0, samples = 0;

		query.period = VIEW_SPAN_10S;
		assert_row(query_run(&source, &query, &result, NULL) == 0);
		for (u32 k = 0; k < query_result_get_row_count(result); k++) {
			query_result_get_row(result, k, &f->row);
			assert_row(f->row.brief && f->row.whole == SAMPLES * 1000ULL);
			part += f->row.part;
			samples += f->row.counters.samples;
			if (!strcmp(groups[i], "program"))
				assert_row(f->row.counters.samples <=
						   count_samples_of(f, f->row.container,
								    f->row.program) ||
					   f->row.program[0] == '[');
		}
		query_result_get_rest(result, samples, &rest);
		assert_row(samples > SAMPLES / 4 && samples + rest.samples == SAMPLES);
		assert_row(part + rest.part == SAMPLES * 1000ULL && !rest.rows);
		query_result_free(result);
	}
	profile_free(profile);
}

/* Containers of a period have all counters. */
static void test_period_containers(void **state)
{
	struct query query = { .period = VIEW_SPAN_10S, .group = { QUERY_CONTAINER }, .groups = 1 };
	struct fixture *f = *state;
	struct profile *profile = make_profile_with_history(f);
	const struct query_source source = { .profile = profile, .now_ns = LATER_NS };
	struct query_result *result = NULL;
	u64 samples = 0;

	assert_int_equal(query_run(&source, &query, &result, NULL), 0);
	assert_int_equal(query_result_get_row_count(result), CONTAINERS + 1);
	for (u32 i = 0; i < query_result_get_row_count(result); i++) {
		query_result_get_row(result, i, &f->row);
		test_row("container %.60s", f->row.container);
		assert_row(f->row.counters.samples == count_samples_of(f, f->row.container, NULL));
		assert_row(f->row.brief == (f->row.container[0] == '['));
		assert_row(f->row.brief || f->row.counters.counts.kind[SPE_KIND_STORE]);
		samples += f->row.counters.samples;
	}
	assert_int_equal(samples, SAMPLES);
	query_result_free(result);
	query.select.container = "c[12]";
	assert_int_equal(query_run(&source, &query, &result, NULL), 0);
	assert_int_equal(query_result_get_row_count(result), 2);
	query_result_free(result);
	profile_free(profile);
}

static bool admits_only_c1(void *ctx, const struct attribute_container *container)
{
	u32 *calls = ctx;

	++*calls;
	return !strcmp(container->name, "c1");
}

/*
 * A user who may read one container gets neither rows nor shares of other containers, nor their
 * names in errors.
 */
static void test_other_containers_are_hidden(void **state)
{
	static const char *const groups[] = { "container", "mode,op", "level", "container,level" };
	struct fixture *f = *state;
	u64 own = count_samples_of(f, "c1", NULL);
	u32 calls = 0;
	const struct query_source source = { .profile = f->profile,
					     .admits = admits_only_c1,
					     .ctx = &calls };
	struct query other = make_query("container");
	struct query_result *result = NULL;
	struct query_error error = { "" };

	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		struct query query = make_query(groups[i]);
		u64 samples = 0;

		assert_row(query_run(&source, &query, &result, NULL) == 0);
		for (u32 k = 0; k < query_result_get_row_count(result); k++) {
			query_result_get_row(result, k, &f->row);
			assert_row(!strcmp(f->row.container, "c1") && f->row.whole == own * 1000);
			samples += f->row.counters.samples;
		}
		assert_row(samples == own && query_result_get_admitted(result)->samples == own);
		query_result_free(result);
	}
	/* The owner is looked up once for each program of a query. */
	assert_int_equal(calls, ARRAY_SIZE(groups) * PROGRAMS * CONTAINERS);
	other.select.container = "c0";
	assert_int_equal(query_run(&source, &other, &result, &error), -ENOENT);
	assert_non_null(strstr(error.text, "there are: c1"));
	assert_null(strstr(error.text, "c2"));
}

/* For wrong keys, the error is one sentence with the accepted keys, and nothing is changed. */
static void test_wrong_keys_are_refused(void **state)
{
	static const struct {
		const char *text;
		const char *word;
	} wrong[] = {
		{ "pod", "container, program" },
		{ "", "container, program" },
		{ "binary,", "container, program" },
		{ "binary,,op", "container, program" },
		{ "process,op", "\"process\": should be" },
		{ "op,binary,op", "op twice" },
		{ "container,program,comm,pid,binary,build_id,function,line,mode", "at most 8" },
	};
	char name[256];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct query query = { .group = { QUERY_CPU }, .groups = 1 };
		struct query_error error = { "" };

		test_row("\"%s\"", wrong[i].text);
		assert_row(query_parse_group(wrong[i].text, &query, &error) == -EINVAL);
		assert_row(strstr(error.text, wrong[i].word));
		assert_row(query.groups == 1 && query.group[0] == QUERY_CPU);
	}
	for (enum query_key key = 0; key < QUERY_KEYS; key++) {
		struct query query = { .groups = 0 };
		struct query_error error;

		test_row("%s", query_key_name(key));
		assert_row(query_parse_group(query_key_name(key), &query, &error) == 0);
		query_format_group(&query, name, sizeof(name));
		assert_row(!strcmp(name, query_key_name(key)));
	}
	for (enum measure i = 0; i < MEASURES; i++) {
		enum measure same;

		measure_format_name(i, name);
		test_row("measure %d, %.60s", i, name);
		if (i >= MEASURE_EVENT && !spe_event_name((u8)(i - MEASURE_EVENT)))
			continue;
		assert_row(measure_parse(name, &same) == 0 && same == i);
	}
}

/* Check that rows of the history on disk, of any keys, are sorted by each measure that they have. */
static void test_measures_of_the_past(void **state)
{
	static const char *const groups[] = { "container", "program", "binary", "function", "line" };
	static const enum measure refused[] = { MEASURE_LOADS, MEASURE_ISSUE, MEASURE_ISSUE_P99 };
	static const enum measure accepted[] = { MEASURE_P50, MEASURE_P99, MEASURE_MEAN,
						 MEASURE_DRAM };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		struct query query = { .since_us = 1, .until_us = 2 };
		struct query_error error;

		test_row("-G %s", groups[i]);
		assert_row(query_parse_group(groups[i], &query, &error) == 0);
		query.select.container = "web-*";
		for (size_t j = 0; j < ARRAY_SIZE(accepted); j++) {
			query.sort = accepted[j];
			assert_row(query_check(&query, &error) == 0);
		}
		for (size_t j = 0; j < ARRAY_SIZE(refused); j++) {
			query.sort = refused[j];
			assert_row(query_check(&query, &error) == -EOPNOTSUPP);
			assert_row(strstr(error.text, "mean, p50 and p99"));
		}
	}
}

/*
 * The levels of a row are those of its samples. Rows that are sorted by keys have equal containers
 * next to each other.
 */
static void test_levels_of_rows(void **state)
{
	struct fixture *f = *state;
	struct query query = make_query("container,program,binary");
	struct query_result *result = run_query_of_fixture(f, &query);
	char previous[sizeof(f->row.container)] = "", seen[1024] = "", marked[160];

	query_result_order_by_keys(result);
	for (u32 k = 0; k < query_result_get_row_count(result); k++) {
		struct cell_level level[SPE_LEVELS] = { 0 };
		u64 misses = 0, latency = 0;

		query_result_get_row(result, k, &f->row);
		query_result_add_levels(result, k, level);
		for (u32 n = 0; n < SAMPLES; n++) {
			if (!f->taken[n].miss || !row_has_sample(&query, &f->row, &f->taken[n]))
				continue;
			misses++;
			latency += f->taken[n].latency;
		}
		test_row("row %u", k);
		assert_row(level[SPE_LEVEL_BEYOND_L1].count == misses);
		assert_row(level[SPE_LEVEL_BEYOND_L1].latency.sum == latency);
		assert_row(level[SPE_LEVEL_L1].count == f->row.counters.samples - misses);
		if (strcmp(previous, f->row.container) == 0)
			continue;
		snprintf(previous, sizeof(previous), "%s", f->row.container);
		snprintf(marked, sizeof(marked), "<%s>", previous);
		assert_row(!strstr(seen, marked));
		strcat(seen, marked);
	}
	query_result_free(result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_rows_add_up, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rows_have_samples_of_keys, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rest_completes_shares, setup, teardown),
		cmocka_unit_test_setup_teardown(test_equal_rows_have_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_order_of_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_levels_of_rows, setup, teardown),
		cmocka_unit_test_setup_teardown(test_names_are_globs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_select_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_split_by_process_and_cpu, setup, teardown),
		cmocka_unit_test(test_glob),
		cmocka_unit_test_setup_teardown(test_rest_of_period, setup, teardown),
		cmocka_unit_test_setup_teardown(test_period_containers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_containers_are_hidden, setup, teardown),
		cmocka_unit_test(test_wrong_keys_are_refused),
		cmocka_unit_test(test_measures_of_the_past),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
