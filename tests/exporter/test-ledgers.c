// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test the machine's counters in the formats of this version and of the first version of the
 * daemon.
 */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "accumulator.h"
#include "labels.h"
#include "output/metrics.h"
#include "series.h"
#include "source/source.h"

#define NOW 1000000000000ULL

static const struct label_config labels;
static const struct series_self self = { .daemon_up = true, .exportable = true };

static struct metrics_snapshot make_metrics(u64 epoch)
{
	struct metrics_snapshot m = { 0 };

	m.machine.epoch = epoch;
	m.machine.process = epoch;
	m.machine.backend = BACKEND_HARDWARE;
	m.machine.age_ns = 1000000000;
	m.machine.records = 10;
	m.machine.all.samples = 10;
	m.containers = calloc(1, sizeof(*m.containers));
	assert_non_null(m.containers);
	return m;
}

/* Return the sum of the series of @name, with @label unless that is NULL; -1 if there are none. */
static double sum_series(const struct accumulator *acc, const char *name, const char *label)
{
	struct series_set set = { 0 };
	double value = -1;

	assert_return_code(series_build(&set, acc, &self), 0);
	for (u32 i = 0; i < set.count; i++)
		if (!strcmp(set.series[i].family->name, name) &&
		    (!label || !strcmp(set.series[i].label[0].value, label)))
			value = set.series[i].value;
	series_deinit(&set);
	return value;
}

/* A perf.data contains neither lost bytes nor times, so these series are absent instead of zero. */
static void test_unknown_ledgers(void **state)
{
	struct metrics_snapshot m = make_metrics(1);
	struct accumulator acc;

	(void)state;
	accumulator_init(&acc, &labels, 7, 0);
	m.machine.lost = m.machine.enabled_ns = UINT64_MAX;
	assert_return_code(accumulator_update(&acc, &m, 1000, NOW), 0);
	assert_true(sum_series(&acc, "speprof_records", NULL) == 10);
	assert_true(sum_series(&acc, "speprof_record_bytes", "decoded") >= 0);
	assert_true(sum_series(&acc, "speprof_record_bytes", "lost") < 0);
	assert_true(sum_series(&acc, "speprof_enabled_seconds", NULL) < 0);
	assert_true(sum_series(&acc, "speprof_blind_seconds", NULL) < 0);
	accumulator_deinit(&acc);
}

/* Counters of attribution continue after the profile is reset, and restart with the daemon. */
static void test_lost_mappings_continue(void **state)
{
	static const struct {
		u64 epoch;
		u64 process;
		u64 lost;
		double exported;
	} rows[] = { { 1, 1, 5, 5 }, { 1, 1, 8, 8 }, { 2, 1, 9, 9 }, { 3, 2, 2, 11 } };
	struct accumulator acc;

	(void)state;
	accumulator_init(&acc, &labels, 7, 0);
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		struct metrics_snapshot m = make_metrics(rows[i].epoch);

		test_row("row %u", i);
		m.machine.process = rows[i].process;
		m.machine.mappings_lost = rows[i].lost;
		m.machine.lookups_unanswered = 2 * rows[i].lost;
		assert_return_code(accumulator_update(&acc, &m, 1000, NOW), 0);
		assert_row(sum_series(&acc, "speprof_mapping_events_lost", NULL) ==
			   rows[i].exported);
		assert_row(sum_series(&acc, "speprof_lookups_unanswered", NULL) ==
			   2 * rows[i].exported);
	}
	accumulator_deinit(&acc);
}

/*
 * The counter of false sharing is weighted by the interval of the new samples, and it never
 * decreases: neither with a new epoch, nor if the daemon restored an older checkpoint.
 */
static void test_false_sharing_is_weighted(void **state)
{
	static const struct {
		const char *name;
		u64 epoch;
		u64 samples;
		u64 weight;
		u64 false_sharing;
		double exported;
	} rows[] = {
		{ "interval 1000", 1, 100, 100000, 10, 10000 },
		{ "interval 4000", 1, 125, 200000, 15, 30000 },
		{ "an older checkpoint", 1, 110, 140000, 11, 30000 },
		{ "counted before", 1, 125, 200000, 15, 30000 },
		{ "a new epoch", 2, 10, 10000, 4, 34000 },
	};
	struct accumulator acc;

	(void)state;
	accumulator_init(&acc, &labels, 7, 0);
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		struct metrics_snapshot m = make_metrics(rows[i].epoch);

		test_row("%s", rows[i].name);
		m.machine.all.samples = rows[i].samples;
		m.machine.all.weight[UNIT_INSTRUCTIONS] = rows[i].weight;
		m.machine.false_sharing = rows[i].false_sharing;
		assert_return_code(accumulator_update(&acc, &m, 1000, NOW), 0);
		assert_row(sum_series(&acc, "speprof_accesses_false_sharing", NULL) ==
			   rows[i].exported);
	}
	accumulator_deinit(&acc);
}

/* What the daemon of the first snapshot counted before the exporter started is not exported. */
static void test_false_sharing_begins_at_zero(void **state)
{
	struct metrics_snapshot m = make_metrics(1);
	struct accumulator acc;

	(void)state;
	accumulator_init(&acc, &labels, 7, NOW);
	m.machine.false_sharing = 5;
	assert_return_code(accumulator_update(&acc, &m, 1000, NOW), 0);
	assert_true(sum_series(&acc, "speprof_accesses_false_sharing", NULL) == 0);
	m = make_metrics(1);
	m.machine.all.samples = 12;
	m.machine.false_sharing = 7;
	assert_return_code(accumulator_update(&acc, &m, 1000, NOW), 0);
	assert_true(sum_series(&acc, "speprof_accesses_false_sharing", NULL) == 2);
	accumulator_deinit(&acc);
}

/* The bound of the time that interrupts took is absent if the source has no times. */
static void test_unhandled_time(void **state)
{
	struct metrics_snapshot m = make_metrics(1);
	struct accumulator acc;

	(void)state;
	accumulator_init(&acc, &labels, 7, 0);
	m.machine.unhandled_ns = 2500000000;
	assert_return_code(accumulator_update(&acc, &m, 1000, NOW), 0);
	assert_true(sum_series(&acc, "speprof_unhandled_seconds", NULL) == 2.5);
	m = make_metrics(1);
	m.machine.unhandled_ns = 3500000000;
	assert_return_code(accumulator_update(&acc, &m, 1000, NOW), 0);
	assert_true(sum_series(&acc, "speprof_unhandled_seconds", NULL) == 3.5);
	m = make_metrics(1);
	m.machine.enabled_ns = UINT64_MAX;
	assert_return_code(accumulator_update(&acc, &m, 1000, NOW), 0);
	assert_true(sum_series(&acc, "speprof_unhandled_seconds", NULL) < 0);
	accumulator_deinit(&acc);
}

/* A snapshot of the first version ends after the counters of the machine. */
static void test_snapshot_of_first_version(void **state)
{
	const size_t machine = offsetof(struct metrics_machine, mappings_lost);
	struct metrics_snapshot m = make_metrics(1), parsed;
	struct metrics_head head = { .version = METRICS_VERSION,
				     .head_size = sizeof(head),
				     .machine_size = (u32)machine,
				     .container_size = sizeof(struct metrics_container) };
	static u8 data[1 << 16];
	size_t size = sizeof(head) + machine;
	const char *why;

	(void)state;
	memcpy(head.magic, METRICS_MAGIC, sizeof(head.magic));
	head.size = size;
	memcpy(data, &head, sizeof(head));
	memcpy(data + sizeof(head), &m.machine, machine);
	assert_int_equal(metrics_parse(data, size, &parsed, &why), 0);
	assert_int_equal(parsed.machine.mappings_lost, 0);
	assert_int_equal(parsed.machine.false_sharing, 0);
	assert_int_equal(parsed.machine.all.samples, 10);
	metrics_clear(&parsed);
	metrics_clear(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unknown_ledgers),
		cmocka_unit_test(test_lost_mappings_continue),
		cmocka_unit_test(test_unhandled_time),
		cmocka_unit_test(test_false_sharing_is_weighted),
		cmocka_unit_test(test_false_sharing_begins_at_zero),
		cmocka_unit_test(test_snapshot_of_first_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
