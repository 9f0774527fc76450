// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test hot cache lines, pages and NUMA nodes, for simulated programs and machines. */
#include "test.h"

#include "model/synthetic.h"
#include "output/profile-json.h"
#include "output/profile-metrics.h"
#include "profile/profile-read.h"
#include "tasks/task-event.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define NEOVERSE_N1 0x413fd0c1
#define VA	    0x500000ULL
#define PC	    0x400000ULL

struct fixture {
	char sys[64];
	struct numa_nodes nodes;
	struct attributor *attributor;
	struct profile *profile;
};

static void write_sys_file(const char *sys, const char *name, const char *text)
{
	char path[256], *slash;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", sys, name);
	for (slash = strchr(path + strlen(sys) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
		*slash = '/';
	}
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/*
 * Make a /sys with two NUMA nodes of one CPU each, in blocks of 256 MiB: memory of node 1 is before
 * and after that of node 0.
 */
static void make_sys(const char *sys)
{
	write_sys_file(sys, "devices/system/memory/block_size_bytes", "10000000\n");
	write_sys_file(sys, "devices/system/node/node0/cpu0/online", "1\n");
	write_sys_file(sys, "devices/system/node/node0/memory4/phys_index", "00000004\n");
	write_sys_file(sys, "devices/system/node/node0/memory5/phys_index", "00000005\n");
	write_sys_file(sys, "devices/system/node/node1/cpu1/online", "1\n");
	write_sys_file(sys, "devices/system/node/node1/cpumap", "2\n");
	write_sys_file(sys, "devices/system/node/node1/memory3/phys_index", "00000003\n");
	write_sys_file(sys, "devices/system/node/node1/memory6/phys_index", "00000006\n");
	write_sys_file(sys, "devices/system/node/node99/memory7/phys_index", "00000007\n");
	write_sys_file(sys, "devices/system/node/possible", "0-1\n");
}

static int setup(void **state)
{
	const struct attributor_config attribution = { 0 };
	struct fixture *f = calloc(1, sizeof(*f));
	struct profile_config config = { .nodes = &f->nodes };

	assert_non_null(f);
	strcpy(f->sys, "/tmp/speprof-sys-XXXXXX");
	assert_non_null(mkdtemp(f->sys));
	make_sys(f->sys);
	assert_int_equal(numa_nodes_read(f->sys, &f->nodes), 0);
	assert_int_equal(attributor_new(&attribution, &f->attributor), 0);
	assert_int_equal(profile_new(&config, f->attributor, &f->profile), 0);
	for (s32 pid = 10; pid < 13; pid++)
		attributor_apply_event(f->attributor, &(struct task_event){ .type = TASK_COMM,
									    .pid = 10,
									    .tid = pid,
									    .name = "sharer" });
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char command[128];

	profile_free(f->profile);
	attributor_free(f->attributor);
	numa_nodes_deinit(&f->nodes);
	snprintf(command, sizeof(command), "rm -r %s", f->sys);
	assert_int_equal(system(command), 0);
	free(f);
	return 0;
}

/* Add the record of an operation as a window of its CPU. */
static void add_record(struct profile *profile, const struct spe_operation *op, u32 cpu, u64 midr)
{
	const struct spe_sample sample = {
		.present = SPE_HAS_ADDRESS(SPE_ADDRESS_PC) | SPE_HAS_EVENTS | SPE_HAS_OP |
			   SPE_HAS_COUNTER(SPE_COUNTER_TOTAL) | SPE_HAS_CONTEXT(SPE_CONTEXT_EL1) |
			   (op->valid & SPE_OPERATION_VA ? SPE_HAS_ADDRESS(SPE_ADDRESS_VA) : 0) |
			   (op->valid & SPE_OPERATION_PA ? SPE_HAS_ADDRESS(SPE_ADDRESS_PA) : 0) |
			   (op->valid & SPE_OPERATION_SOURCE ? SPE_HAS_SOURCE : 0),
		.address = { [SPE_ADDRESS_PC] = op->pc,
			     [SPE_ADDRESS_VA] = op->va | 0xa5ULL << 56,
			     [SPE_ADDRESS_PA] = op->pa | SPE_BIT(63) },
		.counter = { [SPE_COUNTER_TOTAL] = (u16)op->total },
		.context = { op->contextidr_el1 },
		.op_class = op->op_class,
		.op_subclass = op->op_subclass,
		.events = op->events,
		.events_size = 4,
		.source = op->source,
		.source_size = 1,
	};
	struct source_window window = { .cpu = cpu, .tid = -1, .midr = midr };
	u8 record[64];
	int n = spe_record_encode(&sample, record, sizeof(record));

	assert_true(n > 0);
	window.data = record;
	window.len = (size_t)n;
	profile_add_window(profile, &window);
}

/*
 * Let two CPUs run @program alternately. @physical: whether records have physical addresses, as
 * with PMSCR.PA.
 */
static void run_alternately(struct profile *profile, enum spe_program program, u64 midr,
			    bool physical, u32 operations)
{
	struct spe_synthetic_program cpus[2];
	struct spe_operation op;
	u8 owner = 0;

	for (u8 i = 0; i < 2; i++) {
		const struct spe_synthetic_config config = {
			.program = program,
			.cpu = i,
			.context = 10 + i,
			.pc = PC + 0x1000 * i,
			.va = VA,
			.working_set = 4096,
			.line_owner = &owner,
			.seed = i,
		};

		assert_int_equal(spe_synthetic_init(&cpus[i], &config, NULL), 0);
	}
	for (u32 i = 0; i < operations; i++) {
		spe_synthetic_execute_next(&cpus[i & 1], &op);
		if (!physical)
			op.valid &= ~(u32)SPE_OPERATION_PA;
		if (!midr)
			op.valid &= ~(u32)SPE_OPERATION_SOURCE;
		add_record(profile, &op, i & 1, midr);
	}
}

static const struct hot_line *find_only_line(const struct fixture *f, u64 address)
{
	const struct hot_line *line =
		(struct hot_line *)topk_next(&profile_get_hot_lines(f->profile)->table, NULL);

	assert_non_null(line);
	assert_int_equal(line->head.key[0], address / LINE_SIZE_MIN);
	assert_null(
		topk_next(&profile_get_hot_lines(f->profile)->table, (struct topk_entry *)line));
	return line;
}

/* Check the sharers of a line: each CPU with its load and its store, and no other CPU. */
static void assert_sharers(const struct hot_line *line, u32 apart)
{
	u32 seen = 0, samples = 0;

	for (unsigned int i = 0; i < LINE_SHARERS; i++) {
		const struct line_sharer *s = &line->sharer[i];
		u32 step = (u32)(s->place - PC - 0x1000 * s->cpu);

		if (!s->samples)
			continue;
		assert_true(s->cpu < 2 && (step == 0 || step == 8));
		assert_int_equal(s->offset, apart * s->cpu);
		assert_int_equal(s->stores, step == 8 ? s->samples : 0);
		seen |= 1U << (2 * s->cpu + (step == 8));
		samples += s->samples;
	}
	assert_int_equal(seen, 0xf);
	assert_int_equal(samples, line->samples);
}

static void test_shared_lines(void **state)
{
	static const struct {
		const char *name;
		enum spe_program program;
		u64 midr;
		bool physical;
		enum line_sharing want;
		u32 apart;
	} rows[] = {
		{ "false", SPE_PROGRAM_SHARED_LINE, NEOVERSE_N1, false, LINE_FALSE, 8 },
		{ "true", SPE_PROGRAM_SHARED_WORD, NEOVERSE_N1, false, LINE_TRUE, 0 },
		{ "false, physical", SPE_PROGRAM_SHARED_LINE, NEOVERSE_N1, true, LINE_FALSE, 8 },
		{ "false, suspected", SPE_PROGRAM_SHARED_LINE, 0, false, LINE_FALSE, 8 },
		{ "true, suspected", SPE_PROGRAM_SHARED_WORD, 0, false, LINE_TRUE, 0 },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct hot_line *line;

		test_row("%s", rows[i].name);
		profile_reset(f->profile);
		run_alternately(f->profile, rows[i].program, rows[i].midr, rows[i].physical, 8000);
		line = find_only_line(f,
				      rows[i].physical ? (VA & SPE_MASK(35, 0)) | SPE_BIT(39) : VA);
		assert_row(line_classify_sharing(line) == rows[i].want);
		assert_row(line_is_unsnooped(line) == !rows[i].midr);
		assert_row(line_count_cpus(line) == 2);
		assert_row((line->head.key[1] == LINE_PHYSICAL) == rows[i].physical);
		/*
		 * The CPUs alternate, so each access finds the line in the cache of the other CPU.
		 * Accesses before the line got its entry are missing.
		 */
		assert_row(line->samples > 3900 && line->samples <= 4000);
		assert_row(line->stores > 1950 && line->stores <= 2000);
		assert_row(line->snooped == (rows[i].midr ? line->samples - line->stores : 0));
		assert_sharers(line, rows[i].apart);
	}
}

static struct line_sample make_line_access(u64 address, u32 cpu, u64 thread, bool store)
{
	return (struct line_sample){ .address = address,
				     .owner = 1,
				     .place = 0x1000 + address % LINE_SIZE_MIN,
				     .pc_owner = 1,
				     .thread = thread,
				     .cpu = cpu,
				     .latency = 10,
				     .store = store,
				     .snooped = true };
}

/*
 * A thread that migrates does not share, readers share without a conflict, and a flag that is
 * written once is no hot word.
 */
static void test_conflicts_of_sharers(void **state)
{
	struct hot_lines lines;
	const struct hot_line *line;

	(void)state;
	assert_int_equal(hot_lines_init(&lines, 64), 0);
	for (u32 i = 0; i < 1000; i++) {
		struct line_sample moved = make_line_access(0x1000, i / 100, 7, i & 1);
		struct line_sample read =
			make_line_access(0x2000 + 8 * (i & 3), i & 3, i & 3, false);
		struct line_sample late =
			make_line_access(0x3000 + 8 * (i & 1), i & 1, i & 1, true);

		/* The access that creates the entry of a line also adds its words. */
		if (i < 4)
			late = make_line_access(0x3000 + 8 * (i & 1), 0, 0, true);
		assert_true(hot_lines_should_add(&lines, moved.address, 1, moved.store, true));
		hot_lines_add(&lines, &moved);
		hot_lines_add(&lines, &read);
		hot_lines_add(&lines, &late);
	}
	line = (struct hot_line *)topk_find(&lines.table, 0x1000 / LINE_SIZE_MIN, 1);
	assert_int_equal(line_classify_sharing(line), LINE_PRIVATE);
	assert_int_equal(line_count_cpus(line), 10);
	line = (struct hot_line *)topk_find(&lines.table, 0x2000 / LINE_SIZE_MIN, 1);
	assert_int_equal(line_classify_sharing(line), LINE_READ);
	line = (struct hot_line *)topk_find(&lines.table, 0x3000 / LINE_SIZE_MIN, 1);
	assert_int_equal(line_classify_sharing(line), LINE_FALSE);
	assert_int_equal(line->samples, 1000);
	assert_int_equal(line->latency_sum, 10000);
	hot_lines_deinit(&lines);
}

/*
 * Two threads store to addresses that are 64 bytes apart. They share a line of 128 or 256 bytes, but
 * no line of 64 bytes. Invalid sizes are ignored.
 */
static void test_line_sizes(void **state)
{
	static const struct {
		u32 bytes;
		u32 want;
		enum line_sharing sharing;
	} rows[] = {
		{ 0, 64, LINE_PRIVATE },    { 64, 64, LINE_PRIVATE },	{ 128, 128, LINE_FALSE },
		{ 256, 256, LINE_FALSE },   { 32, 64, LINE_PRIVATE },	{ 96, 64, LINE_PRIVATE },
		{ 512, 64, LINE_PRIVATE },  { 1U << 31, 64, LINE_PRIVATE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct hot_line *line;
		struct hot_lines lines;

		test_row("%u bytes", rows[i].bytes);
		assert_int_equal(hot_lines_init(&lines, 64), 0);
		hot_lines_set_size(&lines, rows[i].bytes);
		assert_row(hot_lines_get_size(&lines) == rows[i].want);
		for (u32 n = 0; n < 100; n++) {
			struct line_sample access =
				make_line_access(n & 1 ? 0x2040 : 0x2000, n & 1, n & 1, true);

			hot_lines_add(&lines, &access);
		}
		line = (struct hot_line *)topk_find(&lines.table, 0x2000 / rows[i].want, 1);
		assert_row(line && line_classify_sharing(line) == rows[i].sharing);
		/* In a larger line, CPU 1 has the second offset. */
		for (u32 k = 0; k < LINE_SHARERS && rows[i].sharing == LINE_FALSE; k++)
			assert_row(!line->sharer[k].samples ||
				   line->sharer[k].offset == 64 * line->sharer[k].cpu);
		hot_lines_deinit(&lines);
	}
}

/* The two ends of a line are different offsets, and neighbours in a large line are one. */
static void test_offsets_of_large_lines(void **state)
{
	static const struct {
		u32 distance;
		enum line_sharing sharing;
	} rows[] = { { 0, LINE_TRUE }, { 3, LINE_TRUE }, { 4, LINE_FALSE }, { 255, LINE_FALSE } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct hot_line *line;
		struct hot_lines lines;

		test_row("%u bytes apart", rows[i].distance);
		assert_int_equal(hot_lines_init(&lines, 64), 0);
		hot_lines_set_size(&lines, 256);
		for (u32 n = 0; n < 100; n++) {
			struct line_sample access = make_line_access(
				0x2000 + (n & 1 ? rows[i].distance : 0), n & 1, n & 1, true);

			hot_lines_add(&lines, &access);
		}
		line = (struct hot_line *)topk_find(&lines.table, 0x2000 / 256, 1);
		assert_row(line && line_classify_sharing(line) == rows[i].sharing);
		hot_lines_deinit(&lines);
	}
}

/* The size comes from the caches of the first CPU that has some in sysfs. */
static void test_line_size_of_machine(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(hot_lines_read_size(f->sys), 0);
	write_sys_file(f->sys, "devices/system/cpu/cpu1/cache/index0/coherency_line_size", "64\n");
	write_sys_file(f->sys, "devices/system/cpu/cpu1/cache/index3/coherency_line_size", "128\n");
	assert_int_equal(hot_lines_read_size(f->sys), 128);
	write_sys_file(f->sys, "devices/system/cpu/cpu0/cache/index0/coherency_line_size", "64\n");
	write_sys_file(f->sys, "devices/system/cpu/cpu0/cache/index1/coherency_line_size", "?\n");
	assert_int_equal(hot_lines_read_size(f->sys), 64);
}

/* Add a load that the cache of another core served, or a store, by thread @tid on @cpu. */
static void add_access(struct profile *profile, u64 va, u32 cpu, u32 tid, bool store)
{
	const struct spe_operation op = {
		.pc = PC,
		.va = va,
		.total = 100,
		.contextidr_el1 = tid,
		.op_class = SPE_OP_LOAD_STORE,
		.op_subclass = store,
		.events = 1 << 1 | 1 << 2 | 1 << 3,
		.source = 0x9,
		.valid = SPE_OPERATION_VA | (store ? 0 : SPE_OPERATION_SOURCE),
	};

	add_record(profile, &op, cpu, NEOVERSE_N1);
}

static u64 get_false_sharing(const struct fixture *f)
{
	struct metrics_snapshot metrics;
	u64 count;

	assert_int_equal(profile_get_metrics(f->profile, f->attributor, &metrics), 0);
	count = metrics.machine.false_sharing;
	metrics_clear(&metrics);
	return count;
}

/*
 * Two users load and then store alternately, ten times. The line has false sharing from the first
 * store on: before that sample, nothing shows a conflict.
 */
static void test_false_sharing_is_counted(void **state)
{
	static const struct {
		const char *name;
		u32 cpu;
		u32 tid;
		u64 offset;
		u64 want;
	} rows[] = {
		{ "two CPUs, two words", 1, 11, 8, 18 },
		{ "two CPUs, one word", 1, 11, 0, 0 },
		{ "one CPU", 0, 11, 8, 0 },
		{ "a thread that migrates", 1, 10, 8, 0 },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("%s", rows[i].name);
		profile_reset(f->profile);
		for (u32 n = 0; n < 20; n++) {
			bool other = n & 1;

			add_access(f->profile, VA + (other ? rows[i].offset : 0),
				   other ? rows[i].cpu : 0, other ? rows[i].tid : 10, n & 2);
		}
		assert_row(get_false_sharing(f) == rows[i].want);
	}
}

/* The counter never decreases: true sharing of the same line later does not change it. */
static void test_false_sharing_is_monotone(void **state)
{
	struct fixture *f = *state;
	u64 before = 0;

	for (u32 n = 0; n < 200; n++) {
		u64 va = n < 20 ? VA + 8 * (n & 1) : VA;

		add_access(f->profile, va, n & 1, 10 + (n & 1), n & 2);
		assert_true(get_false_sharing(f) >= before);
		before = get_false_sharing(f);
	}
	assert_int_equal(line_classify_sharing(find_only_line(f, VA)), LINE_TRUE);
	assert_in_range(before, 18, 30);
	profile_reset(f->profile);
	assert_int_equal(get_false_sharing(f), 0);
}

/* A line is raised after enough samples, once, and again only after a reset. */
static void test_line_is_raised_once(void **state)
{
	struct fixture *f = *state;
	u64 seen = 0, missed = 0;
	struct line_key key;

	for (u32 round = 0; round < 2; round++) {
		/* The first two samples are loads, so they show no false sharing. */
		for (u32 n = 0; n < 1000; n++) {
			add_access(f->profile, VA + 8 * (n & 1), n & 1, 10 + (n & 1), n & 2);
			assert_int_equal(profile_get_raised_line(f->profile, &seen, &missed, &key),
					 n == LINE_RAISE_SAMPLES + 1);
		}
		assert_int_equal(key.address, VA / LINE_SIZE_MIN);
		assert_ptr_equal(topk_find(&profile_get_hot_lines(f->profile)->table, key.address,
					   key.owner),
				 find_only_line(f, VA));
		profile_reset(f->profile);
	}
	assert_int_equal(missed, 0);
}

/* TIDs of the threads of planted cases: FIRST_TID and the next ones. */
#define FIRST_TID   100
#define THREADS_MAX 64
/* Accesses of each thread in a planted case: enough for its line to be raised. */
#define PLANTED_ROUNDS 50

/**
 * struct planted_case - how threads that each have a counter place them in memory
 * @line_size: size of a cache line, bytes
 * @stride: distance of two counters, bytes; 0: all threads have one counter
 * @stores: the threads store; otherwise they only load
 * @want: verdict of each line
 */
struct planted_case {
	const char *name;
	u32 line_size;
	u32 stride;
	bool stores;
	enum line_sharing want;
};

/* Count the lines that are raised. */
static u64 count_raised(const struct fixture *f, u64 *seen, u64 *missed)
{
	struct line_key key;
	u64 count = 0;

	while (profile_get_raised_line(f->profile, seen, missed, &key))
		count++;
	return count;
}

/*
 * Run a case. The threads access their counters in an order without a pattern, and run on as many
 * CPUs as there are threads. @migrating: each access is on another CPU.
 */
static void run_planted(struct fixture *f, const struct planted_case *planted, u32 threads,
			bool migrating)
{
	u64 random = 1;

	profile_reset(f->profile);
	profile_set_line_size(f->profile, planted->line_size);
	for (u32 i = 0; i < threads * PLANTED_ROUNDS; i++) {
		u32 thread, cpu;
		u64 va;

		random = random * 6364136223846793005ULL + 1442695040888963407ULL;
		thread = (u32)(random >> 33) % threads;
		cpu = migrating ? (u32)(random >> 48) % threads : thread;
		va = VA + (u64)thread * planted->stride;
		add_access(f->profile, va, cpu, FIRST_TID + thread, false);
		if (planted->stores)
			add_access(f->profile, va, cpu, FIRST_TID + thread, true);
	}
}

/* Check the verdict of each line, and that only false sharing is counted and raised. */
static void assert_planted(const struct fixture *f, const struct planted_case *planted, u32 threads,
			   u64 *seen)
{
	u64 size = planted->line_size, bytes = (u64)planted->stride * (threads - 1) + 1;
	u64 want = (bytes + size - 1) / size, lines = 0, missed = 0, raised;
	struct topk_entry *e = NULL;

	while ((e = topk_next(&profile_get_hot_lines(f->profile)->table, e))) {
		assert_row(line_classify_sharing((struct hot_line *)e) == planted->want);
		lines++;
	}
	assert_row(lines == want);
	assert_row((get_false_sharing(f) > 0) == (planted->want == LINE_FALSE));
	raised = count_raised(f, seen, &missed);
	assert_row(raised + missed == (planted->want == LINE_FALSE ? want : 0));
	assert_row(raised <= LINES_RAISED);
}

/*
 * The verdicts for 2 to 64 threads are those of the planted cases, and padded counters are silent,
 * also if the threads migrate between CPUs.
 */
static void test_planted_cases(void **state)
{
	static const struct planted_case cases[] = {
		{ "packed", 64, 8, true, LINE_FALSE },
		{ "packed, in lines of 128", 128, 8, true, LINE_FALSE },
		{ "apart by 64 in lines of 128", 128, 64, true, LINE_FALSE },
		{ "apart by 64 in lines of 256", 256, 64, true, LINE_FALSE },
		{ "padded to 64", 64, 64, true, LINE_PRIVATE },
		{ "padded to 128", 128, 128, true, LINE_PRIVATE },
		{ "padded to 256", 256, 256, true, LINE_PRIVATE },
		{ "one counter", 64, 0, true, LINE_TRUE },
		{ "one counter, in lines of 128", 128, 0, true, LINE_TRUE },
		{ "packed, only read", 64, 8, false, LINE_READ },
		{ "padded, only read", 64, 64, false, LINE_PRIVATE },
	};
	struct fixture *f = *state;
	u64 seen = 0;

	for (u32 i = 0; i < THREADS_MAX; i++)
		attributor_apply_event(f->attributor,
				       &(struct task_event){ .type = TASK_COMM,
							     .pid = FIRST_TID,
							     .tid = (s32)(FIRST_TID + i),
							     .name = "planted" });
	for (size_t i = 0; i < 2 * ARRAY_SIZE(cases); i++) {
		const struct planted_case *planted = &cases[i / 2];

		for (u32 threads = 2; threads <= THREADS_MAX; threads *= 2) {
			test_row("%s, %u threads, migrating %zu", planted->name, threads, i & 1);
			run_planted(f, planted, threads, i & 1);
			assert_planted(f, planted, threads, &seen);
		}
	}
}

/*
 * If most keys of a stream occur only once, frequent keys stay in the table, with all their
 * samples.
 */
static void test_frequent_keys_stay(void **state)
{
	struct test_entry {
		struct topk_entry head;
		u64 count;
	} * e;
	struct topk_table table;
	struct topk_entry **sorted;
	u32 count;

	(void)state;
	assert_int_equal(topk_init(&table, sizeof(*e), 256), 0);
	for (u64 i = 0; i < 200000; i++) {
		e = (struct test_entry *)topk_add(&table, i & 1 ? i : i / 2 % 8 + 1000000, 5, 1);
		e->count++;
	}
	sorted = topk_sort_entries(&table, &count);
	assert_non_null(sorted);
	assert_int_equal(count, 256);
	for (u32 i = 0; i < 8; i++) {
		e = (struct test_entry *)sorted[i];
		assert_in_range(e->head.key[0], 1000000, 1000007);
		assert_int_equal(e->count, 12500);
		assert_ptr_equal(topk_find(&table, e->head.key[0], 5), e);
	}
	assert_null(topk_find(&table, 1000000, 6));
	assert_int_equal(table.evicted, 100000 + 8 - 256);
	free(sorted);
	topk_clear(&table);
	assert_null(topk_next(&table, NULL));
	topk_deinit(&table);
}

static void test_numa_nodes_of_addresses(void **state)
{
	struct fixture *f = *state;
	struct numa_nodes none;

	assert_int_equal(f->nodes.count, 3);
	assert_int_equal(numa_nodes_find_by_address(&f->nodes, 0x2fffffff), NODE_NONE);
	assert_int_equal(numa_nodes_find_by_address(&f->nodes, 0x30000000), 1);
	assert_int_equal(numa_nodes_find_by_address(&f->nodes, 0x40000000), 0);
	assert_int_equal(numa_nodes_find_by_address(&f->nodes, 0x5fffffff), 0);
	assert_int_equal(numa_nodes_find_by_address(&f->nodes, 0x60000000), 1);
	assert_int_equal(numa_nodes_find_by_address(&f->nodes, 0x70000000), NODE_NONE);
	assert_int_equal(numa_nodes_find_by_cpu(&f->nodes, 0), 0);
	assert_int_equal(numa_nodes_find_by_cpu(&f->nodes, 1), 1);
	assert_int_equal(numa_nodes_find_by_cpu(&f->nodes, 2), NODE_NONE);
	assert_int_equal(numa_nodes_find_by_cpu(&f->nodes, 70000), NODE_NONE);
	assert_int_equal(numa_nodes_read("/nonexistent", &none), 0);
	assert_int_equal(numa_nodes_find_by_address(&none, 0), NODE_NONE);
	numa_nodes_deinit(&none);
}

/* Add a load on @cpu that DRAM served. */
static void add_load(struct profile *profile, u64 pa, u32 cpu)
{
	const struct spe_operation op = {
		.pc = PC,
		.va = VA,
		.pa = pa,
		.total = 200,
		.contextidr_el1 = 10,
		.op_class = SPE_OP_LOAD_STORE,
		.events = 1 << 1 | 1 << 2 | 1 << 3,
		.source = 0xe,
		.valid = SPE_OPERATION_VA | SPE_OPERATION_PA | SPE_OPERATION_SOURCE,
	};

	add_record(profile, &op, cpu, NEOVERSE_N1);
}

static u64 get_json_number(json_object *o, const char *key)
{
	return json_object_get_uint64(json_object_object_get(o, key));
}

static void test_pages_of_numa_nodes(void **state)
{
	struct fixture *f = *state;
	json_object *root, *list, *page;
	struct symbols_cache *symbols;
	char *text;

	for (u32 i = 0; i < 300; i++)
		add_load(f->profile, 0x40000000 + (i & 0xff8), i % 3);
	for (u32 i = 0; i < 100; i++)
		add_load(f->profile, 0x60001000 + 4096 * (i & 1), 0);
	add_load(f->profile, 0x90000000, 1);
	assert_int_equal(symbols_new(0, &symbols), 0);
	assert_int_equal(profile_hot_memory_json(f->profile, symbols, false, 2, &text), 0);
	root = json_tokener_parse(text);
	assert_non_null(root);
	list = json_object_object_get(root, "pages");
	assert_int_equal(json_object_array_length(list), 2);
	page = json_object_array_get_idx(list, 0);
	assert_string_equal(json_object_get_string(json_object_object_get(page, "address")),
			    "0x40000000");
	assert_int_equal(get_json_number(page, "node"), 0);
	assert_int_equal(get_json_number(page, "samples"), 300);
	assert_int_equal(get_json_number(page, "dram"), 300);
	/* The NUMA node of CPU 2 is unknown. */
	assert_int_equal(get_json_number(page, "other_node"), 100);
	assert_int_equal(get_json_number(page, "latency_sum"), 60000);
	assert_int_equal(get_json_number(page, "pid"), 10);
	assert_string_equal(json_object_get_string(json_object_object_get(page, "function")),
			    "0x400000");
	page = json_object_array_get_idx(list, 1);
	assert_int_equal(get_json_number(page, "node"), 1);
	assert_int_equal(get_json_number(page, "samples"), 50);
	assert_int_equal(get_json_number(page, "other_node"), 50);
	/*
	 * There are five pairs: 0 to 0, 0 to 1, 1 to 0, 1 to an unknown node, an unknown node to 0.
	 */
	list = json_object_object_get(root, "nodes");
	assert_int_equal(json_object_array_length(list), 5);
	assert_int_equal(get_json_number(json_object_array_get_idx(list, 0), "samples"), 100);
	assert_int_equal(get_json_number(json_object_array_get_idx(list, 1), "samples"), 100);
	assert_int_equal(get_json_number(json_object_array_get_idx(list, 1), "memory_node"), 1);
	assert_null(json_object_object_get(json_object_array_get_idx(list, 3), "memory_node"));
	assert_null(json_object_object_get(json_object_array_get_idx(list, 4), "cpu_node"));
	json_object_put(root);
	free(text);
	symbols_free(symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_shared_lines, setup, teardown),
		cmocka_unit_test(test_conflicts_of_sharers),
		cmocka_unit_test(test_line_sizes),
		cmocka_unit_test(test_offsets_of_large_lines),
		cmocka_unit_test_setup_teardown(test_line_size_of_machine, setup, teardown),
		cmocka_unit_test_setup_teardown(test_false_sharing_is_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_false_sharing_is_monotone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_line_is_raised_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_planted_cases, setup, teardown),
		cmocka_unit_test(test_frequent_keys_stay),
		cmocka_unit_test_setup_teardown(test_numa_nodes_of_addresses, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pages_of_numa_nodes, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
