// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test the summary that the profile computes from windows. */
#include "test.h"

#include "output/profile-json.h"
#include "output/profile-metrics.h"
#include "profile/profile-read.h"
#include "tasks/task-event.h"

#include <json-c/json.h>
#include <stdlib.h>

#define NEOVERSE_N1 0x413fd0c1
#define L1_MISS	    (1 << 2 | 1 << 3)
#define LLC_MISS    (L1_MISS | 1 << 8 | 1 << 9)

struct fixture {
	struct attributor *attributor;
	struct profile *profile;
};

static int setup(void **state)
{
	const struct attributor_config config = { 0 };
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	assert_int_equal(attributor_new(&config, &f->attributor), 0);
	assert_int_equal(profile_new(NULL, f->attributor, &f->profile), 0);
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

/* Add a window of one sample. */
static void add_sample(struct profile *profile, const struct spe_sample *sample, u64 midr)
{
	struct source_window window = { .midr = midr, .tid = -1 };
	u8 record[128];
	int n = spe_record_encode(sample, record, sizeof(record));

	assert_true(n > 0);
	window.data = record;
	window.len = (size_t)n;
	profile_add_window(profile, &window);
}

/* Add a window of one load or store. @source -1: without a Data Source packet. */
static void add_access_at(struct profile *profile, u64 pc, u64 midr, u8 op, int source, u64 events)
{
	const struct spe_sample sample = {
		.present = SPE_HAS_ADDRESS(0) | SPE_HAS_EVENTS | SPE_HAS_OP |
			   (source >= 0 ? SPE_HAS_SOURCE : 0),
		.address = { pc },
		.op_class = SPE_OP_LOAD_STORE,
		.op_subclass = op,
		.events = events,
		.events_size = 4,
		.source = (u16)source,
		.source_size = 1,
	};

	add_sample(profile, &sample, midr);
}

static void add_access(struct profile *profile, u64 midr, u8 op, int source, u64 events)
{
	add_access_at(profile, 0x400000, midr, op, source, events);
}

static u64 get_summary_value(json_object *summary, const char *group, const char *key)
{
	json_object *totals, *counters, *value;

	assert_true(json_object_object_get_ex(summary, "totals", &totals));
	assert_true(json_object_object_get_ex(totals, group, &counters));
	return json_object_object_get_ex(counters, key, &value) ? json_object_get_uint64(value) : 0;
}

static json_object *make_summary(struct fixture *f)
{
	json_object *summary;
	char *text;

	assert_int_equal(profile_summary_json(f->profile, "recording", false, &text), 0);
	summary = json_tokener_parse(text);
	assert_non_null(summary);
	free(text);
	return summary;
}

/* Check the levels of the samples of test_levels_by_core(). */
static void assert_levels(const struct view_row *row)
{
	u64 want[SPE_LEVELS] = {
		[SPE_LEVEL_DRAM] = 1,
		[SPE_LEVEL_REMOTE_CACHE] = 1,
		[SPE_LEVEL_BEYOND_L1] = 2,
		[SPE_LEVEL_BEYOND_LLC] = 1,
	};

	assert_memory_equal(row->level, want, sizeof(want));
	assert_int_equal(row->remote, 1);
}

/* The same packet means DRAM on a known core, and nothing on an unknown one. */
static void test_levels_by_core(void **state)
{
	struct fixture *f = *state;
	json_object *summary;
	struct view view;

	add_access(f->profile, NEOVERSE_N1, 0, 0xe, L1_MISS);
	add_access(f->profile, NEOVERSE_N1, 0, 0xd, LLC_MISS);
	add_access(f->profile, NEOVERSE_N1, 1, 0xe, L1_MISS);
	add_access(f->profile, 0, 0, 0xe, L1_MISS);
	add_access(f->profile, 0, 0, -1, LLC_MISS);

	summary = make_summary(f);
	assert_int_equal(get_summary_value(summary, "levels", "dram"), 1);
	assert_int_equal(get_summary_value(summary, "levels", "remote_cache"), 1);
	assert_int_equal(get_summary_value(summary, "levels", "beyond_l1"), 2);
	assert_int_equal(get_summary_value(summary, "levels", "beyond_llc"), 1);
	assert_int_equal(get_summary_value(summary, "origin", "by_source"), 2);
	assert_int_equal(get_summary_value(summary, "origin", "remote"), 1);
	assert_int_equal(get_summary_value(summary, "origin", "peer"), 1);
	assert_int_equal(get_summary_value(summary, "data_source", "0xe"), 3);
	json_object_put(summary);

	/*
	 * A hit in a remote cache is no DRAM access, although the last level cache of this chip
	 * missed.
	 */
	assert_int_equal(profile_create_view(f->profile, NULL, false, VIEW_FUNCTION,
					     VIEW_SORT_SAMPLES, 0, &view),
			 0);
	assert_int_equal(view.count, 1);
	assert_int_equal(view.rows[0].memory, 5);
	assert_int_equal(view.rows[0].dram, 2);
	assert_levels(&view.rows[0]);
	view_clear(&view);
	assert_int_equal(profile_create_view(f->profile, NULL, false, VIEW_PROCESS,
					     VIEW_SORT_REMOTE, 0, &view),
			 0);
	assert_int_equal(view.count, 1);
	assert_levels(&view.rows[0]);
	view_clear(&view);

	profile_reset(f->profile);
	summary = make_summary(f);
	assert_int_equal(get_summary_value(summary, "levels", "dram"), 0);
	assert_int_equal(get_summary_value(summary, "origin", "by_source"), 0);
	json_object_put(summary);
}

/*
 * A filter for DRAM accepts exactly the samples that the column DRAM counts, whether their level is
 * from a packet or from events.
 */
static void test_level_filter(void **state)
{
	static const u64 midrs[] = { NEOVERSE_N1, 0 };
	static const u64 events[] = { 1 << 2, L1_MISS, LLC_MISS };
	struct profile_config config = { 0 };
	struct fixture *f = *state;
	struct filter_error error;
	struct profile *filtered;
	struct filter *filter;
	struct view all, dram;

	assert_int_equal(filter_new("level == dram", &filter, &error), 0);
	config.filter = filter;
	assert_int_equal(profile_new(&config, f->attributor, &filtered), 0);
	for (u32 i = 0; i < 2 * 2 * 3 * 17; i++) {
		u64 midr = midrs[i % 2];
		u8 op = i / 2 % 2;
		int source = (int)(i / 12) - 1;

		add_access(f->profile, midr, op, source, events[i / 4 % 3]);
		add_access(filtered, midr, op, source, events[i / 4 % 3]);
	}
	assert_int_equal(profile_create_view(f->profile, NULL, false, VIEW_FUNCTION,
					     VIEW_SORT_SAMPLES, 0, &all),
			 0);
	assert_int_equal(profile_create_view(filtered, NULL, false, VIEW_FUNCTION,
					     VIEW_SORT_SAMPLES, 0, &dram),
			 0);
	/*
	 * Determine the level by the packet and, for all kinds of records without a meaningful
	 * packet, by events.
	 */
	assert_int_equal(all.rows[0].level[SPE_LEVEL_DRAM], 3);
	assert_in_range(all.rows[0].level[SPE_LEVEL_BEYOND_LLC], 20, 60);
	assert_int_equal(dram.rows[0].samples, all.rows[0].dram);
	assert_int_equal(dram.rows[0].dram, all.rows[0].dram);
	view_clear(&all);
	view_clear(&dram);
	profile_free(filtered);
	filter_free(filter);
}

/*
 * Add a window with one operation of each kind, with all three latencies, sampled once in @interval
 * operations.
 */
static void add_all_kinds(struct profile *profile, s32 tid, u32 interval, u8 unit)
{
	static const struct {
		u8 class, subclass;
		u64 events;
	} ops[] = {
		{ SPE_OP_LOAD_STORE, 0, 1 << 1 | 1 << 2 },
		{ SPE_OP_LOAD_STORE, 1, 1 << 1 | 1 << 2 | 1 << 10 },
		{ SPE_OP_BRANCH, 1, 1 << 1 | 1 << 7 },
		{ SPE_OP_OTHER, 0, 1 << 1 },
	};
	u8 records[256];
	size_t len = 0;

	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		const struct spe_sample sample = {
			.present = SPE_HAS_ADDRESS(0) | SPE_HAS_EVENTS | SPE_HAS_OP |
				   SPE_HAS_COUNTER(0) | SPE_HAS_COUNTER(1) |
				   (i < 2 ? SPE_HAS_COUNTER(2) : 0),
			.address = { 0x1000 + 4 * i },
			.counter = { 100, 10, i < 2 ? 3 : 0 },
			.op_class = ops[i].class,
			.op_subclass = ops[i].subclass,
			.events = ops[i].events,
			.events_size = 2,
		};
		int n = spe_record_encode(&sample, records + len, sizeof(records) - len);

		assert_true(n > 0);
		len += (size_t)n;
	}
	profile_add_window(profile, &(struct source_window){
					    .data = records,
					    .len = len,
					    .tid = tid,
					    .interval = interval,
					    .unit = unit,
				    });
}

static void assert_kinds(const struct profile_counters *f, u64 windows)
{
	assert_int_equal(f->samples, 4 * windows);
	for (unsigned int i = 0; i < SPE_KIND_NONE; i++)
		assert_int_equal(f->counts.kind[i], windows);
	assert_int_equal(f->counts.event[1], 4 * windows);
	assert_int_equal(f->counts.event[2], 2 * windows);
	assert_int_equal(f->counts.mispredicted, windows);
	assert_int_equal(f->counts.level[SPE_LEVEL_L1], 2 * windows);
	assert_int_equal(counters_get_origin_accesses(f, SPE_ORIGIN_REMOTE), windows);
	assert_int_equal(f->latency[PROFILE_TOTAL].count, 4 * windows);
	assert_int_equal(f->latency[PROFILE_TOTAL].sum, 400 * windows);
	assert_int_equal(f->latency[PROFILE_ISSUE].max, 10);
	assert_int_equal(f->latency[PROFILE_ISSUE].bucket[histogram_get_bucket(10)], 4 * windows);
	assert_int_equal(f->latency[PROFILE_TRANSLATION].count, 2 * windows);
	assert_int_equal(f->latency[PROFILE_TRANSLATION].sum, 6 * windows);
}

#define WINDOWS 1000

/*
 * Test the statistics of machine, process and container. Weights keep their unit, even after
 * windows with another unit.
 */
static void test_statistics_by_group(void **state)
{
	struct fixture *f = *state;
	struct profile_counters process;
	u64 by_process = 0, by_container = 0;

	for (s32 tid = 1; tid <= 2; tid++)
		attributor_apply_event(f->attributor, &(struct task_event){ .type = TASK_COMM,
									    .pid = tid,
									    .tid = tid,
									    .name = "x" });
	for (s32 i = 0; i < WINDOWS; i++)
		add_all_kinds(f->profile, 1 + (i & 1), 1024 + (i & 1), UNIT_MICRO_OPS + (i & 1));
	add_all_kinds(f->profile, -1, 0, UNIT_UNKNOWN);
	profile_flush(f->profile);

	assert_kinds(profile_get_machine_counters(f->profile), WINDOWS + 1);
	assert_kinds(profile_get_unattributed_counters(f->profile), 1);
	assert_int_equal(profile_get_machine_counters(f->profile)->weight[UNIT_UNKNOWN], 0);
	for (u32 i = 0; i < profile_get_process_bound(f->profile); i++) {
		unsigned int other;

		if (!profile_sum_process_counters(f->profile, i, &process))
			continue;
		assert_kinds(&process, WINDOWS / 2);
		other = process.weight[UNIT_MICRO_OPS] ? UNIT_INSTRUCTIONS : UNIT_MICRO_OPS;
		assert_int_equal(process.weight[other], 0);
		assert_int_equal(process.weight[UNIT_MICRO_OPS + UNIT_INSTRUCTIONS - other],
				 4ULL * (WINDOWS / 2) * (other == UNIT_INSTRUCTIONS ? 1024 : 1025));
		by_process += process.samples;
	}
	assert_int_equal(by_process, 4 * WINDOWS);
	for (u32 i = 0; i < profile_get_container_bound(f->profile); i++)
		if (profile_get_container_counters(f->profile, i))
			by_container += profile_get_container_counters(f->profile, i)->samples;
	assert_int_equal(by_container, 4 * WINDOWS);
}

/* Windows of perf have neither armed time nor lost bytes, so metrics have no value instead of 0. */
static void test_unknown_metrics_are_absent(void **state)
{
	struct fixture *f = *state;
	struct metrics_snapshot metrics;

	assert_int_equal(profile_get_metrics(f->profile, f->attributor, &metrics), 0);
	assert_int_equal(metrics.machine.lost, 0);
	assert_int_equal(metrics.machine.enabled_ns, 0);
	metrics_clear(&metrics);
	add_access_at(f->profile, 0x400000, NEOVERSE_N1, 0, -1, 0);
	assert_int_equal(profile_get_metrics(f->profile, f->attributor, &metrics), 0);
	assert_int_equal(metrics.machine.records, 1);
	assert_true(metrics.machine.lost == UINT64_MAX);
	assert_true(metrics.machine.enabled_ns == UINT64_MAX);
	metrics_clear(&metrics);
}

/* If CPUs have different intervals, equal work has equal weight, however often it was sampled. */
static void test_equal_work_has_equal_weight(void **state)
{
	struct fixture *f = *state;
	struct profile_counters process;
	u32 found = 0;

	for (s32 tid = 1; tid <= 2; tid++)
		attributor_apply_event(f->attributor, &(struct task_event){ .type = TASK_COMM,
									    .pid = tid,
									    .tid = tid,
									    .name = "x" });
	/*
	 * Each executes 4,096,000 operations: TID 1 on a CPU with an interval of 1024, TID 2 on one
	 * with 4096.
	 */
	for (s32 i = 0; i < WINDOWS; i++) {
		add_all_kinds(f->profile, 1, 1024, UNIT_INSTRUCTIONS);
		if (i % 4 == 0)
			add_all_kinds(f->profile, 2, 4096, UNIT_INSTRUCTIONS);
	}
	profile_flush(f->profile);
	assert_int_equal(profile_get_machine_counters(f->profile)->samples, 5 * WINDOWS);
	assert_int_equal(profile_get_machine_counters(f->profile)->weight[UNIT_INSTRUCTIONS],
			 2 * 4096 * WINDOWS);
	for (u32 i = 0; i < profile_get_process_bound(f->profile); i++) {
		if (!profile_sum_process_counters(f->profile, i, &process) || !process.samples)
			continue;
		assert_int_equal(process.weight[UNIT_INSTRUCTIONS], 4096 * WINDOWS);
		assert_true(process.samples == 4 * WINDOWS || process.samples == WINDOWS);
		found++;
	}
	assert_int_equal(found, 2);
}

/* Add @count samples at @pc, from a CPU that samples one of @interval operations. */
static void add_weighted_samples(struct profile *profile, s32 tid, u64 pc, u32 count, u32 interval,
				 u8 unit)
{
	const struct spe_sample sample = {
		.present = SPE_HAS_ADDRESS(0) | SPE_HAS_EVENTS | SPE_HAS_OP,
		.address = { pc },
		.op_class = SPE_OP_OTHER,
		.events = 1 << 1,
		.events_size = 2,
	};
	struct source_window window = { .tid = tid, .interval = interval, .unit = unit };
	u8 record[64];
	int n = spe_record_encode(&sample, record, sizeof(record));

	assert_true(n > 0);
	window.data = record;
	window.len = (size_t)n;
	while (count--)
		profile_add_window(profile, &window);
}

/* Return the weight that no row of @group has: that of samples without a task. */
static u64 get_remaining_weight(const struct view_header *h, enum view_group group,
				unsigned int unit)
{
	if (group == VIEW_CONTAINER)
		return unit < UNITS ? h->unattributed_weight : h->unattributed;
	return 0;
}

/* Check the heaviest rows of @group: rows and rest add up to @whole, by samples or by weight. */
static void assert_rows_and_rest(const struct view *view, enum view_group group, unsigned int unit,
				 u64 whole)
{
	u64 sum = get_remaining_weight(&view->header, group, unit);

	for (u32 i = 0; i < view->count; i++) {
		assert_true(!i || view_get_share_numerator(&view->rows[i - 1], unit) >=
					  view_get_share_numerator(&view->rows[i], unit));
		sum += view_get_share_numerator(&view->rows[i], unit);
	}
	assert_int_equal(sum, whole);
}

static void assert_shares(struct profile *profile, enum view_group group, u32 limit,
			  unsigned int unit, const char *name, u64 part, u64 whole)
{
	struct view view;

	assert_int_equal(
		profile_create_view(profile, NULL, false, group, VIEW_SORT_SAMPLES, limit, &view),
		0);
	assert_int_equal(view_get_share_unit(&view.header), unit);
	assert_int_equal(view_get_share_denominator(&view.header, unit), whole);
	if (name)
		assert_string_equal(view.rows[0].function, name);
	assert_int_equal(view_get_share_numerator(&view.rows[0], unit), part);
	if (!limit)
		assert_rows_and_rest(&view, group, unit, whole);
	view_clear(&view);
}

/*
 * Two CPUs, one with a longer interval: a process on both, with a function on each, and another
 * process on the first CPU. 0x1000 has twice as many samples as 0x2000, but half the weight.
 */
static void test_shares_follow_weights(void **state)
{
	struct fixture *f = *state;
	struct view view;

	for (s32 tid = 1; tid <= 2; tid++)
		attributor_apply_event(f->attributor, &(struct task_event){ .type = TASK_COMM,
									    .pid = tid,
									    .tid = tid,
									    .name = "x" });
	add_weighted_samples(f->profile, 1, 0x1000, 400, 1024, UNIT_INSTRUCTIONS);
	add_weighted_samples(f->profile, 1, 0x2000, 200, 4096, UNIT_INSTRUCTIONS);
	add_weighted_samples(f->profile, 2, 0x3000, 300, 1024, UNIT_INSTRUCTIONS);
	add_weighted_samples(f->profile, -1, 0x4000, 50, 4096, UNIT_INSTRUCTIONS);

	assert_shares(f->profile, VIEW_FUNCTION, 1, UNIT_INSTRUCTIONS, "0x2000", 800 << 10,
		      1700 << 10);
	assert_shares(f->profile, VIEW_FUNCTION, 0, UNIT_INSTRUCTIONS, "0x2000", 800 << 10,
		      1700 << 10);
	assert_shares(f->profile, VIEW_PROCESS, 0, UNIT_INSTRUCTIONS, NULL, 1200 << 10, 1700 << 10);
	assert_shares(f->profile, VIEW_CONTAINER, 0, UNIT_INSTRUCTIONS, NULL, 1500 << 10,
		      1700 << 10);
	assert_int_equal(profile_create_view(f->profile, NULL, false, VIEW_PROCESS,
					     VIEW_SORT_SAMPLES, 0, &view),
			 0);
	assert_int_equal(view.header.unattributed, 50);
	assert_int_equal(view.header.unattributed_weight, 200 << 10);
	/*
	 * 300 samples with a short interval weigh less than 200 samples with 4096, and more than
	 * 50.
	 */
	assert_int_equal(view.count, 3);
	assert_int_equal(view.rows[1].pid, 2);
	assert_int_equal(view.rows[1].weight[UNIT_INSTRUCTIONS], 300 << 10);
	view_clear(&view);
}

/* Weights in different units cannot be added up, so shares are computed from samples. */
static void test_mixed_units_use_samples(void **state)
{
	static const struct {
		u32 interval;
		u8 unit;
	} rows[] = {
		{ 8192, UNIT_MICRO_OPS },
		{ 0, UNIT_INSTRUCTIONS },
		{ 8192, UNIT_UNKNOWN },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		profile_reset(f->profile);
		add_weighted_samples(f->profile, -1, 0x1000, 30, 1024, UNIT_INSTRUCTIONS);
		assert_shares(f->profile, VIEW_FUNCTION, 0, UNIT_INSTRUCTIONS, "0x1000", 30 << 10,
			      30 << 10);
		add_weighted_samples(f->profile, -1, 0x2000, 20, rows[i].interval, rows[i].unit);
		assert_shares(f->profile, VIEW_FUNCTION, 0, UNITS, "0x1000", 30, 50);
	}
	/*
	 * If the unit is unknown, shares are computed from samples, which gives the same shares if
	 * all samples have one interval.
	 */
	profile_reset(f->profile);
	add_weighted_samples(f->profile, -1, 0x1000, 30, 1024, UNIT_UNKNOWN);
	assert_shares(f->profile, VIEW_FUNCTION, 0, UNITS, "0x1000", 30, 30);
}

/*
 * A filter on the task is evaluated with the state of the task at the time of each sample, also if
 * another profile counts the same samples.
 */
static void test_filter_uses_task_at_sample(void **state)
{
	static const char *const cgroups[] = { "/lxc/one", "/lxc/two", "/lxc/one", "/lxc/one" };
	struct profile_config config = { 0 };
	struct fixture *f = *state;
	struct profile *filtered;
	struct filter_error error;
	struct filter *filter;
	struct task_event event = { .type = TASK_COMM, .pid = 7, .tid = 7, .name = "x" };

	assert_int_equal(filter_new("container == one && op != branch", &filter, &error), 0);
	config.filter = filter;
	assert_int_equal(profile_new(&config, f->attributor, &filtered), 0);
	attributor_apply_event(f->attributor, &event);
	for (size_t i = 0; i < ARRAY_SIZE(cgroups); i++) {
		event = (struct task_event){ .type = TASK_CGROUP, .pid = 7, .name = cgroups[i] };
		attributor_apply_event(f->attributor, &event);
		add_all_kinds(f->profile, 7, 0, UNIT_UNKNOWN);
		add_all_kinds(filtered, 7, 0, UNIT_UNKNOWN);
		add_all_kinds(filtered, 8, 0, UNIT_UNKNOWN);
	}
	profile_flush(f->profile);
	profile_flush(filtered);
	/* The filter accepts three windows of four samples each, except their branch. */
	assert_int_equal(profile_get_machine_counters(f->profile)->samples,
			 4 * ARRAY_SIZE(cgroups));
	assert_int_equal(profile_get_machine_counters(filtered)->samples, 3 * 3);
	assert_int_equal(profile_get_machine_counters(filtered)->counts.kind[SPE_KIND_BRANCH], 0);
	assert_int_equal(profile_get_header(filtered)->records, 3 * 3);
	assert_int_equal(profile_get_header(filtered)->filtered,
			 2 * 4 * ARRAY_SIZE(cgroups) - 3 * 3);
	profile_free(filtered);
	filter_free(filter);
}

/*
 * The results of a filter that are cached for classes of samples are those of the filter that is in
 * force, and of each sample.
 */
static void test_class_filter(void **state)
{
	static const struct {
		const char *text;
		u64 accepted; /* samples of add_all_kinds() */
	} rows[] = {
		{ "op == load", 1 },
		{ "op != load", 3 },
		{ "l1d_access && op == store", 1 },
		{ "!l1d_access", 2 },
		{ "op == branch && latency.total == 100 || mispredicted && pid == 1", 1 },
		{ "op == other || latency.translation == 3", 3 },
		{ "latency.issue > 10", 0 },
		{ "latency.total > 99 && op == store", 1 },
		{ "latency.total > 100", 0 },
		{ "latency.total > 100 || op == load", 1 },
	};
	struct profile_config config = { 0 };
	struct fixture *f = *state;
	struct profile *filtered;
	u64 seen = 0, taken = 0;

	assert_int_equal(profile_new(&config, f->attributor, &filtered), 0);
	for (size_t i = 0; i < 2 * ARRAY_SIZE(rows); i++) {
		struct filter_error error;
		struct filter *filter;

		test_row("%s", rows[i % ARRAY_SIZE(rows)].text);
		assert_row(filter_new(rows[i % ARRAY_SIZE(rows)].text, &filter, &error) == 0);
		profile_set_filter(filtered, filter);
		for (u32 k = 0; k < 3; k++)
			add_all_kinds(filtered, 7, 0, UNIT_UNKNOWN);
		seen += 3 * rows[i % ARRAY_SIZE(rows)].accepted;
		taken += 3 * 4;
		profile_flush(filtered);
		assert_row(profile_get_machine_counters(filtered)->samples == seen);
		assert_row(profile_get_header(filtered)->records == seen);
		assert_row(profile_get_header(filtered)->filtered == taken - seen);
		profile_set_filter(filtered, NULL);
		filter_free(filter);
	}
	profile_free(filtered);
}

/*
 * Add many locations, each of which is the heaviest in another sort order, by a hash of its number.
 */
static void add_many_locations(struct profile *profile)
{
	static const u8 sources[] = { 0x0, 0x8, 0x9, 0xa, 0xb, 0xc, 0xd, 0xe };
	static const u64 events[] = { 1 << 2, 1 << 7, L1_MISS, 1 << 8, LLC_MISS };
	u64 random = 1;

	for (u32 i = 0; i < 8000; i++) {
		struct spe_sample sample = {
			.present = SPE_HAS_ADDRESS(0) | SPE_HAS_EVENTS | SPE_HAS_OP |
				   SPE_HAS_COUNTER(SPE_COUNTER_TOTAL) |
				   SPE_HAS_COUNTER(SPE_COUNTER_ISSUE) |
				   SPE_HAS_COUNTER(SPE_COUNTER_TRANSLATION),
			.events_size = 4,
			.source_size = 1,
		};

		random = random * 6364136223846793005ULL + 1442695040888963407ULL;
		sample.address[0] = 0x1000 + 16 * (random >> 60);
		sample.op_class = random >> 58 & 1 ? SPE_OP_LOAD_STORE : SPE_OP_BRANCH;
		sample.op_subclass = random >> 57 & 1;
		sample.events = events[(random >> 40 & 0xff) % ARRAY_SIZE(events)];
		sample.source = sources[random >> 37 & 7];
		sample.counter[SPE_COUNTER_TOTAL] = random >> 24 & 0xfff;
		sample.counter[SPE_COUNTER_ISSUE] = random >> 20 & 0xff;
		sample.counter[SPE_COUNTER_TRANSLATION] = random >> 16 & 0xff;
		if (sample.op_class == SPE_OP_LOAD_STORE && random >> 36 & 1)
			sample.present |= SPE_HAS_SOURCE;
		add_sample(profile, &sample, random >> 35 & 1 ? NEOVERSE_N1 : 0);
	}
}

/* For each sort order rows are sorted, and a limit keeps the heaviest. */
static void test_rows_are_sorted(void **state)
{
	struct fixture *f = *state;
	struct view all, few;
	u32 distinct = 0;

	add_many_locations(f->profile);
	for (enum view_sort sort = 0; sort < VIEW_SORTS; sort++) {
		test_row("%s", view_sort_name(sort));
		assert_int_equal(
			profile_create_view(f->profile, NULL, false, VIEW_FUNCTION, sort, 0, &all),
			0);
		assert_int_equal(
			profile_create_view(f->profile, NULL, false, VIEW_FUNCTION, sort, 3, &few),
			0);
		assert_row(all.count == 16 && few.count == 3);
		for (u32 i = 1; i < all.count; i++)
			assert_row(view_get_sort_key(&all.rows[i - 1], sort, UNITS) >=
				   view_get_sort_key(&all.rows[i], sort, UNITS));
		for (u32 i = 0; i < few.count; i++)
			assert_row(view_get_sort_key(&few.rows[i], sort, UNITS) ==
				   view_get_sort_key(&all.rows[i], sort, UNITS));
		distinct += view_get_sort_key(&all.rows[0], sort, UNITS) >
			    view_get_sort_key(&all.rows[15], sort, UNITS);
		view_clear(&all);
		view_clear(&few);
	}
	/*
	 * Some sort orders cannot distinguish locations, because the samples lack an operation or
	 * latency.
	 */
	print_message("%u of %u sorts distinguish the places\n", distinct, VIEW_SORTS);
	assert_true(distinct >= 18);
}

/* Add a window of two loads at 2000 ns and @last_ns. @last_ns 0: without timestamps */
static void add_timed_window(struct profile *profile, struct source_window *window, u64 last_ns)
{
	const u64 time[] = { 2000, last_ns };
	u8 records[128];
	size_t len = 0;

	for (u32 i = 0; i < ARRAY_SIZE(time); i++) {
		const struct spe_sample load = {
			.present = SPE_HAS_ADDRESS(0) | SPE_HAS_EVENTS | SPE_HAS_OP |
				   (last_ns ? SPE_HAS_TIMESTAMP : 0),
			.address = { 0x400000 },
			.op_class = SPE_OP_LOAD_STORE,
			.events = 1 << 1,
			.events_size = 2,
			.timestamp = time[i],
		};
		int n = spe_record_encode(&load, records + len, sizeof(records) - len);

		assert_true(n > 0);
		len += (size_t)n;
	}
	window->data = records;
	window->len = len;
	profile_add_window(profile, window);
}

/*
 * The time from the last record to the end of a window bounds the time for which an SPU had stopped
 * before its interrupt was handled. Without a time of the last record, the armed time is the bound.
 */
static void test_unhandled_time_is_bounded(void **state)
{
	static const struct {
		const char *name;
		u64 last_ns;
		u32 mult;
		bool interrupted;
		u64 unhandled_ns;
	} rows[] = {
		/* The time of a record is the end of its tick. */
		{ "full", 4000, 1, true, 999 },
		{ "flushed", 4000, 1, false, 0 },
		{ "last record at the end", 5000, 1, true, 0 },
		{ "no timestamps", 0, 1, true, 3500 },
		{ "clock not known", 4000, 0, true, 3500 },
	};
	struct fixture *f = *state;
	u64 before = 0;

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		struct source_window window = {
			.tid = -1,
			.start_ns = 1000,
			.end_ns = 5000,
			.armed_ns = 3500,
			.clock = { .mult = rows[i].mult },
			.interrupted = rows[i].interrupted,
		};

		test_row("%s", rows[i].name);
		add_timed_window(f->profile, &window, rows[i].last_ns);
		profile_flush(f->profile);
		assert_row(profile_get_header(f->profile)->unhandled_ns - before ==
			   rows[i].unhandled_ns);
		before = profile_get_header(f->profile)->unhandled_ns;
	}
	/* A fault before the first record leaves an empty window. */
	profile_add_window(f->profile, &(struct source_window){
					       .tid = -1,
					       .start_ns = 1000,
					       .end_ns = 5000,
					       .armed_ns = 3500,
					       .clock = { .mult = 1 },
					       .interrupted = true,
				       });
	assert_int_equal(profile_get_header(f->profile)->unhandled_ns - before, 3500);
	assert_int_equal(profile_get_header(f->profile)->blind_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_statistics_by_group, setup, teardown),
		cmocka_unit_test_setup_teardown(test_equal_work_has_equal_weight, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unknown_metrics_are_absent, setup, teardown),
		cmocka_unit_test_setup_teardown(test_shares_follow_weights, setup, teardown),
		cmocka_unit_test_setup_teardown(test_mixed_units_use_samples, setup, teardown),
		cmocka_unit_test_setup_teardown(test_levels_by_core, setup, teardown),
		cmocka_unit_test_setup_teardown(test_level_filter, setup, teardown),
		cmocka_unit_test_setup_teardown(test_filter_uses_task_at_sample, setup, teardown),
		cmocka_unit_test_setup_teardown(test_class_filter, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rows_are_sorted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unhandled_time_is_bounded, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
