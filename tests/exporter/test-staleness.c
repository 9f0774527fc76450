// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test that series end when the daemon does not answer, and that start times stay correct if the
 * clock is set back.
 */
#include "test.h"

#include <snappy-c.h>
#include <stdlib.h>
#include <string.h>

#include "accumulator.h"
#include "expose.h"
#include "otlp.h"
#include "remote-write.h"
#include "series.h"
#include "source/source.h"

/* CLOCK_REALTIME of the first snapshot, in nanoseconds */
#define NOW    10000000000000ULL
#define SECOND 1000000000ULL

static struct label_config labels;
static struct series_set set;

static void add_snapshot(struct accumulator *acc, u64 samples, u64 now_ns)
{
	struct metrics_snapshot m = { .count = 1 };

	m.machine.epoch = 1;
	m.machine.process = 1;
	m.machine.backend = BACKEND_HARDWARE;
	m.machine.age_ns = SECOND;
	m.machine.records = samples;
	m.machine.all.samples = samples;
	m.containers = calloc(1, sizeof(*m.containers));
	assert_non_null(m.containers);
	m.containers[0].id = 1;
	strcpy(m.containers[0].name, "web");
	m.containers[0].tally.samples = samples;
	assert_return_code(accumulator_update(acc, &m, 10000, now_ns), 0);
}

static int setup(void **state)
{
	static struct accumulator acc;

	labels_set_defaults(&labels);
	accumulator_init(&acc, &labels, 7, 0);
	add_snapshot(&acc, 100, NOW);
	*state = &acc;
	return 0;
}

static int teardown(void **state)
{
	accumulator_deinit(*state);
	series_deinit(&set);
	return 0;
}

static void build_series(const struct accumulator *acc, u32 missed)
{
	const struct series_self self = { .start_ns = 1, .daemon_up = !missed, .exportable = true, .missed = missed };

	assert_return_code(series_build(&set, acc, &self), 0);
}

static bool bytes_contain(const char *data, size_t size, const char *text)
{
	return memmem(data, size, text, strlen(text));
}

/* After one failed query the daemon may be restarting. After the second one its series end. */
static void test_exposition_ends_series(void **state)
{
	static const char *const ended[] = {
		"\nspeprof_records_total 100\n", "\nspeprof_container_samples_total{container=\"web\"} 100\n",
		"\nspeprof_exporter_containers{state=\"exported\"} 1\n",
	};
	size_t size;
	char *text;

	for (u32 missed = 0; missed < 5; missed++) {
		build_series(*state, missed);
		assert_return_code(expose_series(&set, EXPOSE_TEXT, &text, &size), 0);
		for (unsigned int i = 0; i < ARRAY_SIZE(ended); i++) {
			test_row("%u missed: %s", missed, ended[i]);
			assert_row(bytes_contain(text, size, ended[i]) == (missed < 2));
		}
		assert_true(bytes_contain(text, size, "\nspeprof_exporter_feed_errors_total "));
		free(text);
	}
}

static unsigned int count_matches(const u8 *data, size_t size, const u8 *what, size_t what_size)
{
	unsigned int n = 0;

	for (const u8 *at = data; (at = memmem(at, size - (size_t)(at - data), what, what_size)); at++)
		n++;
	return n;
}

/* Return the number of series that end in a request. */
static unsigned int write_markers(struct remote_write *write, s64 time_ms)
{
	static const u8 stale[] = { 0x09, 2, 0, 0, 0, 0, 0, 0xf0, 0x7f };
	size_t size, plain_size;
	char *data, *plain;
	unsigned int n;

	assert_return_code(remote_write_encode(write, &set, time_ms, &data, &size), 0);
	assert_int_equal(snappy_uncompressed_length(data, size, &plain_size), SNAPPY_OK);
	plain = malloc(plain_size + 1);
	assert_non_null(plain);
	assert_int_equal(snappy_uncompress(data, size, plain, &plain_size), SNAPPY_OK);
	n = count_matches((const u8 *)plain, plain_size, stale, sizeof(stale));
	free(plain);
	free(data);
	return n;
}

static void test_remote_write_marks_ended_series(void **state)
{
	struct remote_write write = { .host = "host" };
	u32 before, gauges;

	build_series(*state, 0);
	before = set.count;
	assert_int_equal(write_markers(&write, 1000), 0);
	build_series(*state, 1);
	gauges = before - set.count;
	assert_int_equal(write_markers(&write, 2000), gauges);
	build_series(*state, 2);
	assert_true(before - gauges - set.count > 30);
	assert_int_equal(write_markers(&write, 3000), before - gauges - set.count);
	build_series(*state, 3);
	assert_int_equal(write_markers(&write, 4000), 0);
	/* The daemon answers again, and its counters continue. */
	add_snapshot(*state, 107, NOW + 30 * SECOND);
	build_series(*state, 0);
	assert_int_equal(set.count, before);
	assert_int_equal(write_markers(&write, 5000), 0);
	staleness_clear(&write.last);
}

static void put_fixed64(u8 *to, u8 tag, u64 value)
{
	to[0] = tag;
	for (unsigned int i = 0; i < 8; i++)
		to[1 + i] = (u8)(value >> 8 * i);
}

/*
 * Return the number of points with the times @start_ns and @time_ns. These are fields 2 and 3 of a
 * point, which are adjacent.
 */
static unsigned int count_otlp_points(u64 start_ns, u64 time_ns)
{
	static const struct otlp_config otlp;
	u8 span[18];
	size_t size;
	unsigned int n;
	char *data;

	put_fixed64(span, 0x11, start_ns);
	put_fixed64(span + 9, 0x19, time_ns);
	assert_return_code(otlp_encode(&set, &otlp, "host", time_ns, &data, &size), 0);
	assert_true(bytes_contain(data, size, "speprof_records") == (start_ns != 0));
	n = count_matches((const u8 *)data, size, span, sizeof(span));
	free(data);
	return n;
}

static void test_otlp_start_times(void **state)
{
	const struct accumulator *acc = *state;

	build_series(acc, 1);
	assert_true(count_otlp_points(acc->start_ns, NOW + SECOND) > 30);
	build_series(acc, 2);
	assert_int_equal(count_otlp_points(0, NOW + SECOND), 0);
}

/* OTLP gets the daemon's counters and the exporter's own, each with its start time. */
static void test_created_timestamps(void **state)
{
	static const u8 own[] = { 0x1a, 4, 0x08, 0, 0x10, 1 };
	u8 daemon[10] = { 0x1a, 8, 0x08 };
	u64 seconds = (NOW - SECOND) / SECOND;
	size_t size, n = 3;
	char *data;

	build_series(*state, 0);
	assert_return_code(expose_series(&set, EXPOSE_PROTOBUF, &data, &size), 0);
	for (; seconds; seconds >>= 7)
		daemon[n++] = (u8)(seconds & 0x7f) | (seconds >> 7 ? 0x80 : 0);
	daemon[1] = (u8)n; /* the number of the field and the two bytes of nanoseconds */
	daemon[n++] = 0x10;
	daemon[n++] = 0;
	assert_true(count_matches((const u8 *)data, size, daemon, n) > 30);
	assert_true(count_matches((const u8 *)data, size, own, sizeof(own)) >= 3);
	free(data);
}

/* If the start time differed in each export, the receiver would see a counter reset each time. */
static void test_clock_is_set_back(void **state)
{
	/*
	 * The clock is set back by an hour. New times are before the old start, or up to a second
	 * after it.
	 */
	const u64 back = NOW - 3600 * SECOND;
	struct accumulator *acc = *state;
	unsigned int points;

	accumulator_correct_start_times(acc, NOW + SECOND);
	build_series(acc, 0);
	points = count_otlp_points(NOW - SECOND, NOW + SECOND);
	assert_true(points > 30);
	for (unsigned int i = 0; i < 4; i++) {
		u64 now = back + i * 1200 * SECOND;

		accumulator_correct_start_times(acc, now);
		build_series(acc, 0);
		assert_int_equal(count_otlp_points(back - 1, now), points);
		add_snapshot(acc, 100 + i, now + SECOND);
	}
	assert_int_equal(acc->groups[0].start_ns, back - 1);
}

static void count_ended(void *ctx, const u8 *series, size_t size, bool native)
{
	(void)series;
	(void)size;
	(void)native;
	++*(u32 *)ctx;
}

/*
 * If there are more series than the exporter remembers, no existing series is ended, for any order
 * of series.
 */
static void test_too_many_series_to_remember(void **state)
{
	static u8 series[8192];
	const u32 count = 2 * STALENESS_SIZE / sizeof(series);
	struct staleness_list before = { 0 }, now = { 0 }, last = { 0 };
	u32 ended = 0;

	(void)state;
	for (u32 i = 0; i < count; i++) {
		memcpy(series, &i, sizeof(i));
		staleness_add_series(&before, series, sizeof(series), false);
	}
	for (u32 i = count; i--;) {
		memcpy(series, &i, sizeof(i));
		staleness_add_series(&now, series, sizeof(series), false);
	}
	assert_int_equal(before.count, count / 2);
	staleness_report_ended(&before, &now, count_ended, &ended);
	assert_int_equal(ended, 0);
	/*
	 * After a request that contains all series, remembered series that are missing in it have
	 * ended.
	 */
	staleness_add_series(&last, series, sizeof(series), false);
	staleness_report_ended(&before, &last, count_ended, &ended);
	assert_int_equal(ended, count / 2 - 1);
	staleness_clear(&before);
	staleness_clear(&now);
	staleness_clear(&last);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_too_many_series_to_remember),
		cmocka_unit_test_setup_teardown(test_exposition_ends_series, setup, teardown),
		cmocka_unit_test_setup_teardown(test_remote_write_marks_ended_series, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_otlp_start_times, setup, teardown),
		cmocka_unit_test_setup_teardown(test_created_timestamps, setup, teardown),
		cmocka_unit_test_setup_teardown(test_clock_is_set_back, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
