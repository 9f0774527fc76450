// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test snapshots with malformed bytes, counters that only grow, names that need escaping, and the
 * limit of series.
 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "accumulator.h"
#include "codec/data-source.h"
#include "config.h"
#include "expose.h"
#include "labels.h"
#include "otlp.h"
#include "output/metrics.h"
#include "remote-write.h"
#include "series.h"
#include "source/source.h"
#include "staleness.h"
#include "util/histogram.h"

/* CLOCK_REALTIME of the first snapshot, in nanoseconds */
#define NOW    10000000000000ULL
#define SECOND 1000000000ULL

static struct label_config labels;

static int setup(void **state)
{
	(void)state;
	labels_set_defaults(&labels);
	return 0;
}

static void tally_add(struct metrics_counters *t, u64 samples)
{
	t->samples += samples;
	t->weight[1] += 1000 * samples;
	t->memory += samples;
	t->level[SPE_LEVEL_L1] += samples / 2;
	t->level[SPE_LEVEL_DRAM] += samples - samples / 2;
	for (unsigned int i = 0; i < METRICS_LATENCIES; i++) {
		t->latency[i].bucket[histogram_get_bucket(100)] += samples;
		t->latency[i].sum += 100 * samples;
	}
}

/*
 * Make metrics with containers "c0", "c1" ..., which have samples[i] each, and @unattributed
 * samples without a container.
 */
static struct metrics_snapshot make_metrics(u64 epoch, const u64 *samples, u32 count,
					    u64 unattributed)
{
	struct metrics_snapshot m = { .count = count };

	m.machine.epoch = epoch;
	m.machine.process = 1;
	m.machine.backend = BACKEND_HARDWARE;
	m.machine.age_ns = SECOND;
	m.containers = calloc(count + 1, sizeof(*m.containers));
	assert_non_null(m.containers);
	for (u32 i = 0; i < count; i++) {
		m.containers[i].id = i + 1;
		snprintf(m.containers[i].name, sizeof(m.containers[i].name), "c%u", i);
		strcpy(m.containers[i].runtime, "docker");
		tally_add(&m.containers[i].tally, samples[i]);
		tally_add(&m.machine.all, samples[i]);
		m.machine.records += samples[i];
	}
	tally_add(&m.machine.all, unattributed);
	m.machine.records += unattributed;
	return m;
}

static void add_snapshot(struct accumulator *acc, u64 epoch, const u64 *samples, u32 count,
			 u64 unattributed, u32 series)
{
	struct metrics_snapshot m = make_metrics(epoch, samples, count, unattributed);

	assert_return_code(accumulator_update(acc, &m, series, NOW), 0);
}

static u64 get_container_samples(const struct accumulator *acc, const char *name)
{
	for (u32 i = 0; i < acc->shown; i++)
		if (!strcmp(acc->groups[i].set.value[0], name))
			return acc->groups[i].sum->samples;
	return UINT64_MAX;
}

static u64 get_all_samples(const struct accumulator *acc)
{
	u64 sum = acc->other.samples;

	for (u32 i = 0; i < acc->shown; i++)
		sum += acc->groups[i].sum->samples;
	return sum;
}

static void test_counters_grow(void **state)
{
	struct accumulator acc;

	(void)state;
	accumulator_init(&acc, &labels, 7, 0);
	add_snapshot(&acc, 1, (u64[]){ 100, 50 }, 2, 7, 1000);
	assert_int_equal(get_container_samples(&acc, "c0"), 100);
	assert_int_equal(acc.other.samples, 7);
	add_snapshot(&acc, 1, (u64[]){ 110, 80 }, 2, 9, 1000);
	assert_int_equal(get_container_samples(&acc, "c1"), 80);
	assert_int_equal(get_all_samples(&acc), 199);
	/*
	 * A new process of the daemon counts from 0: they are added to the counters of the former
	 * process.
	 */
	add_snapshot(&acc, 2, (u64[]){ 5, 6 }, 2, 1, 1000);
	assert_int_equal(get_container_samples(&acc, "c0"), 115);
	assert_int_equal(get_container_samples(&acc, "c1"), 86);
	assert_int_equal(acc.other.samples, 10);
	assert_int_equal(acc.machine.records, 211);
	/*
	 * The daemon restored an earlier checkpoint: samples that it counts again are not exported
	 * again.
	 */
	add_snapshot(&acc, 2, (u64[]){ 2, 6 }, 2, 1, 1000);
	assert_int_equal(get_container_samples(&acc, "c0"), 115);
	add_snapshot(&acc, 2, (u64[]){ 7, 6 }, 2, 1, 1000);
	assert_int_equal(get_container_samples(&acc, "c0"), 117);
	assert_int_equal(get_all_samples(&acc), 213);
	accumulator_deinit(&acc);
}

static const struct series_self self = {
	.daemon_up = true, .exportable = true,
	.push = { { .destination = "a" }, { .destination = "b" }, { .destination = "c", .rejects = true } },
};

/* Return the number of containers without separate series. */
static u32 count_containers_without_series(const struct accumulator *acc)
{
	struct series_set set = { 0 };
	u32 count = UINT32_MAX;

	assert_return_code(series_build(&set, acc, &self), 0);
	for (u32 i = 0; i < set.count; i++)
		if (!strcmp(set.series[i].family->name, "speprof_exporter_containers") &&
		    !strcmp(set.series[i].label[0].value, "other"))
			count = (u32)set.series[i].value;
	series_deinit(&set);
	return count;
}

/*
 * Export series for two of five containers, in all combinations: sums are correct, and no counter
 * decreases.
 */
static void test_sums_with_limited_series(void **state)
{
	u64 samples[5] = { 10, 20, 30, 40, 50 }, before = 0, unattributed = 3;
	u32 limit = 3 * accumulator_count_series(0x7, 7);
	struct accumulator acc;

	(void)state;
	accumulator_init(&acc, &labels, 7, 0);
	for (unsigned int round = 0; round < 50; round++) {
		add_snapshot(&acc, 1, samples, 5, unattributed, limit);
		assert_int_equal(acc.shown, 2);
		assert_int_equal(count_containers_without_series(&acc), 3);
		assert_true(acc.other.samples >= before);
		assert_true(acc.series_needed > limit);
		before = acc.other.samples;
		for (unsigned int i = 0; i < 5; i++)
			samples[i] += round * i % 7 + (round > 25 && i == 0 ? 1000 : 0);
		unattributed += 2;
	}
	assert_true(get_container_samples(&acc, "c0") < UINT64_MAX);
	accumulator_deinit(&acc);
}

/*
 * A restarted exporter starts at 0, because the former exporter may have exported what the daemon
 * counted before.
 */
static void test_exporter_restarts_at_zero(void **state)
{
	const u32 limit = 2 * accumulator_count_series(0x7, 7);
	struct metrics_snapshot m = make_metrics(1, (u64[]){ 1000, 100 }, 2, 7);
	struct accumulator acc;

	(void)state;
	accumulator_init(&acc, &labels, 7, NOW - SECOND / 2);
	m.machine.written = UINT64_MAX;
	m.machine.threads_evicted = m.machine.faults = 5;
	assert_return_code(accumulator_update(&acc, &m, limit, NOW), 0);
	assert_int_equal(get_container_samples(&acc, "c0"), 0);
	assert_int_equal(get_all_samples(&acc), 0);
	assert_int_equal(acc.machine.records, 0);
	assert_int_equal(acc.machine.threads_evicted + acc.machine.faults, 0);
	assert_true(acc.machine.written == UINT64_MAX);
	assert_int_equal(acc.start_ns, NOW);
	assert_int_equal(acc.groups[0].start_ns, NOW);
	/* After that, each sample that the daemon counts is exported once. */
	add_snapshot(&acc, 1, (u64[]){ 1003, 5000 }, 2, 9, limit);
	assert_int_equal(get_container_samples(&acc, "c1"), 4900);
	assert_int_equal(acc.other.samples, 5);
	assert_int_equal(acc.machine.records, 4905);
	assert_int_equal(acc.machine.all.samples, 4905);
	/* Samples of a daemon that starts later are exported from its start. */
	add_snapshot(&acc, 2, (u64[]){ 5, 6 }, 2, 1, limit);
	assert_int_equal(get_container_samples(&acc, "c1"), 4906);
	assert_int_equal(acc.machine.records, 4917);
	accumulator_deinit(&acc);
	/*
	 * Samples of a daemon that started between the exporter's start and its first query are
	 * exported, too.
	 */
	accumulator_init(&acc, &labels, 7, NOW - SECOND);
	add_snapshot(&acc, 1, (u64[]){ 1000, 100 }, 2, 7, limit);
	assert_int_equal(acc.machine.records, 1107);
	assert_int_equal(acc.start_ns, NOW - SECOND);
	assert_int_equal(acc.groups[0].start_ns, NOW - SECOND);
	accumulator_deinit(&acc);
}

/*
 * If rate control makes the interval of a container longer, each of its samples stands for more
 * operations: the weight decides which containers have series.
 */
static void test_heaviest_containers_have_series(void **state)
{
	struct metrics_snapshot m;
	struct accumulator acc;

	(void)state;
	for (unsigned int mixed = 0; mixed < 2; mixed++) {
		accumulator_init(&acc, &labels, 7, 0);
		m = make_metrics(1, (u64[]){ 100, 50 }, 2, 0);
		m.containers[1].tally.weight[1] += 200000;
		m.machine.all.weight[1] += 200000;
		m.machine.all.weight[2] = mixed;
		assert_return_code(
			accumulator_update(&acc, &m, 2 * accumulator_count_series(0xf, 7), NOW), 0);
		assert_int_equal(acc.shown, 1);
		assert_int_equal(get_container_samples(&acc, mixed ? "c0" : "c1"),
				 mixed ? 100 : 50);
		accumulator_deinit(&acc);
	}
}

/*
 * A container of a pod gets its name once kubelet has linked its log. It is still the same
 * container, so no counter may jump.
 */
static void test_renamed_container_keeps_counters(void **state)
{
	static const char *const pod = "shop/web-7/0123456789ab";
	struct metrics_snapshot m;
	struct accumulator acc;

	(void)state;
	accumulator_init(&acc, &labels, 7, 0);
	for (unsigned int round = 0; round < 40; round++) {
		m = make_metrics(1, (u64[]){ 100 + round, 50 }, 2, 7);
		strcpy(m.containers[0].name, round < 2 ? pod : "shop/web-7/nginx");
		assert_return_code(accumulator_update(&acc, &m, 1000, NOW + round * 10 * SECOND), 0);
		assert_int_equal(get_all_samples(&acc),
				 round < 31 ? 157 + round : 157 + round - 101);
	}
	/*
	 * Samples since the rename are counted under the name, and the series with the number has
	 * ended.
	 */
	assert_int_equal(get_container_samples(&acc, "shop/web-7/nginx"), 38);
	assert_int_equal(get_container_samples(&acc, pod), UINT64_MAX);
	assert_int_equal(acc.shown, 2);
	accumulator_deinit(&acc);
}

/*
 * Make metrics of nine consecutive jobs: at @round, job @round / 20 runs, for 20 rounds. @listed:
 * whether the daemon still lists removed containers.
 */
static struct metrics_snapshot make_metrics_of_jobs(unsigned int round, bool listed)
{
	u64 samples[10] = { round };
	struct metrics_snapshot m;

	for (unsigned int i = 1; i < 10; i++)
		samples[i] = round > 20 * i ? 1000 * (round < 20 * i + 20 ? round - 20 * i : 20) : 0;
	m = make_metrics(1, samples, 10, 1);
	for (u32 i = 1; i < 10; i++)
		if (round > 20 * i + 20)
			m.containers[i].empty_ns = (round - 20 * i - 20) * 10 * SECOND;
	/* Omit containers that have no samples yet and, unless @listed, those that were removed. */
	for (u32 i = 1; i < m.count;) {
		if (samples[m.containers[i].id - 1] && (listed || !m.containers[i].empty_ns)) {
			i++;
			continue;
		}
		memmove(&m.containers[i], &m.containers[i + 1],
			(m.count - i - 1) * sizeof(*m.containers));
		m.count--;
	}
	return m;
}

/* Removed containers occupy no series, whether the daemon still lists them or not. */
static void test_removed_containers_have_no_series(void **state)
{
	u32 limit = 5 * accumulator_count_series(0x7, 7);
	u64 other = 0;
	struct metrics_snapshot m;
	struct accumulator acc;

	(void)state;
	for (unsigned int listed = 0; listed < 2; listed++) {
		accumulator_init(&acc, &labels, 7, 0);
		for (unsigned int round = 1; round <= 260; round++) {
			m = make_metrics_of_jobs(round, listed);
			assert_return_code(accumulator_update(&acc, &m, limit,
							      NOW + round * 10 * SECOND),
					   0);
			/*
			 * The running container has series although removed containers had more
			 * samples.
			 */
			assert_int_equal(get_container_samples(&acc, "c0"), round);
			/* Samples of a container with series are counted only there. */
			assert_true(acc.other.samples >= other);
			other = acc.other.samples;
		}
		/*
		 * The last job ended, too. Its series remain, because no other container needs
		 * them.
		 */
		assert_int_equal(acc.shown, 1);
		assert_int_equal(acc.count, listed ? 10 : 1);
		/* Removed containers do not count as containers without series either. */
		assert_int_equal(count_containers_without_series(&acc), 0);
		assert_int_equal(acc.series_needed, 2 * accumulator_count_series(0x7, 7));
		assert_int_equal(other, 1);
		/*
		 * A container that is created again counts from 0. Its former samples stay in
		 * "other".
		 */
		m = make_metrics_of_jobs(260, listed);
		if (listed) {
			m.containers[3].empty_ns = 0;
			tally_add(&m.containers[3].tally, 5);
			tally_add(&m.machine.all, 5);
		}
		assert_return_code(accumulator_update(&acc, &m, limit, NOW + 3000 * SECOND), 0);
		assert_int_equal(get_container_samples(&acc, "c3"), listed ? 5 : UINT64_MAX);
		accumulator_deinit(&acc);
		other = 0;
	}
	/* A new exporter shows no container that was removed before it started. */
	accumulator_init(&acc, &labels, 7, 0);
	m = make_metrics_of_jobs(260, true);
	assert_return_code(accumulator_update(&acc, &m, 100000, NOW), 0);
	assert_int_equal(get_container_samples(&acc, "c0"), 260);
	assert_int_equal(acc.shown, 1);
	/*
	 * Setting the clock back removes no container, and removed containers do not stay forever.
	 */
	m = make_metrics(1, NULL, 0, 1);
	assert_return_code(accumulator_update(&acc, &m, 100000, NOW / 2), 0);
	assert_int_equal(acc.shown, 1);
	m = make_metrics(1, NULL, 0, 1);
	assert_return_code(accumulator_update(&acc, &m, 100000, NOW / 2 + ACCUMULATOR_END_NS), 0);
	assert_int_equal(acc.shown, 0);
	accumulator_deinit(&acc);
}

/* In the last snapshot the series and "other" add up to the total. */
static void test_series_add_up(void **state)
{
	u64 samples[5] = { 10, 20, 30, 40, 50 };
	u32 limit = 3 * accumulator_count_series(0x7, 7);
	struct accumulator acc;

	(void)state;
	accumulator_init(&acc, &labels, 7, 0);
	add_snapshot(&acc, 1, samples, 5, 3, limit);
	assert_int_equal(get_all_samples(&acc), 153);
	assert_int_equal(get_container_samples(&acc, "c4"), 50);
	assert_int_equal(acc.other.samples, 63);
	accumulator_deinit(&acc);
}

/*
 * Make a container with @samples samples, which were taken at a mean interval of @interval
 * operations.
 */
static struct metrics_snapshot make_sampled_metrics(u64 samples, u64 interval)
{
	struct metrics_snapshot m = make_metrics(1, &samples, 1, 0);

	m.containers[0].tally.branches = m.machine.all.branches = samples;
	m.containers[0].tally.weight[1] = m.machine.all.weight[1] = samples * interval;
	return m;
}

/* Ten times the interval and a tenth of the samples give the same counters of operations. */
static void test_interval_changes_no_rate(void **state)
{
	static const struct {
		u64 samples, interval;
	} rows[] = { { 10000, 1000 }, { 1000, 10000 }, { 100, 100000 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct metrics_snapshot m = make_sampled_metrics(rows[i].samples, rows[i].interval);
		const struct metrics_counters *all;
		struct accumulator acc;

		test_row("interval %llu", (unsigned long long)rows[i].interval);
		accumulator_init(&acc, &labels, 7, 0);
		assert_return_code(accumulator_update(&acc, &m, 1000, NOW), 0);
		all = &acc.machine.all;
		assert_int_equal(all->samples, rows[i].samples);
		assert_int_equal(all->weight[1], 10000000);
		assert_int_equal(all->memory, 10000000);
		assert_int_equal(all->branches, 10000000);
		assert_int_equal(all->level[SPE_LEVEL_DRAM], 5000000);
		assert_int_equal(all->latency[METRICS_TOTAL].bucket[histogram_get_bucket(100)],
				 10000000);
		assert_int_equal(all->latency[METRICS_TOTAL].sum, 1000000000);
		assert_memory_equal(all, acc.groups[0].sum, sizeof(*all));
		accumulator_deinit(&acc);
	}
}

/* Each difference between two snapshots has the weight of its own samples. */
static void test_interval_changes_between_snapshots(void **state)
{
	struct metrics_snapshot m = make_sampled_metrics(100, 1000);
	struct accumulator acc;

	(void)state;
	accumulator_init(&acc, &labels, 7, 0);
	assert_return_code(accumulator_update(&acc, &m, 1000, NOW), 0);
	m = make_sampled_metrics(200, 1000);
	/* The second hundred samples were taken at an interval of 5000. */
	m.containers[0].tally.weight[1] = m.machine.all.weight[1] = 100 * 1000 + 100 * 5000;
	assert_return_code(accumulator_update(&acc, &m, 1000, NOW), 0);
	assert_int_equal(acc.machine.all.branches, 100 * 1000 + 100 * 5000);
	assert_int_equal(acc.groups[0].sum->branches, 100 * 1000 + 100 * 5000);
	accumulator_deinit(&acc);
}

/*
 * If two containers have different intervals, the counters of each container stand for its own
 * operations. Their sum equals the machine's counter, because all samples are accesses.
 */
static void test_intervals_of_containers(void **state)
{
	struct metrics_snapshot m = make_metrics(1, (u64[]){ 100, 100 }, 2, 10);
	struct accumulator acc;
	u64 sum;

	(void)state;
	m.containers[1].tally.weight[1] = 100 * 8000;
	m.machine.all.weight[1] = 100 * 1000 + 100 * 8000 + 10 * 1000;
	accumulator_init(&acc, &labels, 7, 0);
	assert_return_code(accumulator_update(&acc, &m, 1000, NOW), 0);
	assert_int_equal(acc.shown, 2);
	sum = acc.groups[0].sum->memory + acc.groups[1].sum->memory;
	assert_int_equal(sum, 100 * 1000 + 100 * 8000);
	assert_int_equal(acc.other.memory, 10 * 1000);
	assert_int_equal(acc.machine.all.memory, sum + acc.other.memory);
	accumulator_deinit(&acc);
}

/*
 * The machine's counters grow by their own difference, even if the ID of a container differs in
 * each snapshot, or a container has more samples than the machine.
 */
static void test_inconsistent_containers(void **state)
{
	struct accumulator acc;
	struct metrics_snapshot m;

	(void)state;
	accumulator_init(&acc, &labels, 7, 0);
	for (u64 round = 1; round <= 3; round++) {
		test_row("snapshot %llu", (unsigned long long)round);
		m = make_sampled_metrics(100 * round, 1000);
		m.containers[0].id = round;
		if (round == 3)
			tally_add(&m.containers[0].tally, 1000000);
		assert_return_code(accumulator_update(&acc, &m, 1000, NOW), 0);
		assert_row(acc.machine.all.samples == 100 * round);
		assert_row(acc.machine.all.weight[1] == 100 * round * 1000);
		assert_row(acc.machine.all.memory == 100 * round * 1000);
		assert_row(acc.machine.all.branches == 100 * round * 1000);
		assert_row(acc.machine.all.level[SPE_LEVEL_DRAM] == 50 * round * 1000);
	}
	accumulator_deinit(&acc);
}

/* A sample with an unknown interval counts as one operation. */
static void test_unknown_interval(void **state)
{
	struct metrics_snapshot m = make_sampled_metrics(100, 0);
	struct accumulator acc;

	(void)state;
	accumulator_init(&acc, &labels, 7, 0);
	assert_return_code(accumulator_update(&acc, &m, 1000, NOW), 0);
	assert_int_equal(acc.machine.all.branches, 100);
	accumulator_deinit(&acc);
}

static u32 count_series(const struct series_set *set)
{
	u32 count = 0;

	for (u32 i = 0; i < set->count; i++)
		count += set->series[i].histogram ? CLASSIC_SERIES : 1;
	return count;
}

static void test_series_are_limited(void **state)
{
	struct series_set set = { 0 };
	u64 samples[300];
	struct metrics_snapshot m;
	struct accumulator acc;

	(void)state;
	for (unsigned int i = 0; i < 300; i++)
		samples[i] = 1000 + i;
	for (u32 bound = 200; bound < 2000; bound += 37) {
		accumulator_init(&acc, &labels, 7, 0);
		m = make_metrics(1, samples, 300, 5);
		for (unsigned int i = 0; i < METRICS_BLINDS; i++)
			m.machine.blind_ns[i] = 1;
		u32 machine = series_count_machine(&acc, &m);

		assert_return_code(accumulator_update(&acc, &m, bound - machine, NOW), 0);
		assert_return_code(series_build(&set, &acc, &self), 0);
		assert_in_range(count_series(&set), 1, bound);
		/* The limit leaves fewer series unused than one container needs. */
		assert_true(count_series(&set) + accumulator_count_series(0x7, 7) + 8 > bound);
		accumulator_deinit(&acc);
	}
	series_deinit(&set);
}

/* With the maximum of MaxSeries= and names of 100 bytes, all series fit into one request. */
static void test_maximum_fits_request(void **state)
{
	struct remote_write write = { .host = "a-host-of-some-name.example" };
	static struct otlp_config otlp;
	struct series_set set = { 0 };
	static u64 samples[1100];
	struct metrics_snapshot m;
	struct accumulator acc;
	size_t size;
	char *data;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(samples); i++)
		samples[i] = 1000000 + i;
	m = make_metrics(1, samples, ARRAY_SIZE(samples), 5);
	for (u32 i = 0; i < m.count; i++)
		snprintf(m.containers[i].name, sizeof(m.containers[i].name), "%0100u", i);
	accumulator_init(&acc, &labels, 7, 0);
	assert_return_code(accumulator_update(&acc, &m, EXPORTER_SERIES - 200, NOW), 0);
	assert_return_code(series_build(&set, &acc, &self), 0);
	assert_in_range(count_series(&set), EXPORTER_SERIES - 200, EXPORTER_SERIES);
	assert_return_code(remote_write_encode(&write, &set, 1, &data, &size), 0);
	/* The queue counts a request by the memory that it uses, rounded up to pages. */
	assert_true(malloc_usable_size(data) <= size + 8192);
	free(data);
	staleness_clear(&write.last);
	for (unsigned int gzip = 0; gzip < 2; gzip++) {
		otlp.gzip = gzip;
		assert_return_code(otlp_encode(&set, &otlp, "host", 2, &data, &size), 0);
		assert_true(malloc_usable_size(data) <= size + 8192);
		free(data);
	}
	accumulator_deinit(&acc);
	series_deinit(&set);
}

/* Each cause of blind time has a series, and their sum is the total blind time. */
static void test_blind_causes(void **state)
{
	static const char *const causes[METRICS_BLINDS] = {
		"unknown", "full", "handling", "throttle", "handover", "fault", "restart", "hotplug",
	};
	struct series_set set = { 0 };
	struct metrics_snapshot m = make_metrics(1, NULL, 0, 5);
	char line[96], *text;
	double value, sum = 0;
	struct accumulator acc;
	const char *at;
	size_t size;

	(void)state;
	for (unsigned int i = 0; i < METRICS_BLINDS; i++)
		m.machine.blind_ns[i] = (i == METRICS_BLIND_HANDOVER ? 0 : 1000000000ULL << i);
	accumulator_init(&acc, &labels, 7, 0);
	assert_return_code(accumulator_update(&acc, &m, 10000, NOW), 0);
	assert_return_code(series_build(&set, &acc, &self), 0);
	assert_return_code(expose_series(&set, EXPOSE_TEXT, &text, &size), 0);
	for (unsigned int i = 0; i < METRICS_BLINDS; i++) {
		test_row("%s", causes[i]);
		snprintf(line, sizeof(line), "\nspeprof_blind_seconds_total{cause=\"%s\"} ", causes[i]);
		at = memmem(text, size, line, strlen(line));
		assert_row(at != NULL);
		value = strtod(at + strlen(line), NULL);
		assert_row(value == (i == METRICS_BLIND_HANDOVER ? 0 : (double)(1U << i)));
		sum += value;
	}
	assert_true(sum == 255 - 16);
	free(text);
	accumulator_deinit(&acc);
	series_deinit(&set);
}

/* Check that every line of the text format is a comment, or name{labels} value. */
static void check_text(const char *text, size_t size)
{
	bool quoted = false;

	assert_int_equal(text[size - 1], '\n');
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)text[i];

		if (!i || text[i - 1] == '\n') {
			assert_false(quoted);
			assert_true(c == '#' || !strncmp(text + i, "speprof_", 8));
			if (c == '#') {
				i += strcspn(text + i, "\n");
				continue;
			}
		}
		assert_true(c == '\n' || c >= ' ');
		if (quoted && c == '\\') {
			i++;
			assert_true(text[i] == '\\' || text[i] == '"' || text[i] == 'n');
		} else if (c == '"') {
			quoted = !quoted;
		}
	}
	assert_false(quoted);
}

static void test_hostile_names(void **state)
{
	static const char *const names[] = {
		"a\"} 1\nevil 2", "\\", "\\\"", "\xff\xfe", "\x01\x02", "", "other", "(other)",
		"\xe2\x80\xae", "a{b=\"c\"}", "none", "# EOF",
	};
	struct series_set set = { 0 };
	struct metrics_snapshot m;
	struct accumulator acc;
	u64 samples[ARRAY_SIZE(names)];
	size_t size;
	char *text;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++)
		samples[i] = 10 + i;
	m = make_metrics(1, samples, ARRAY_SIZE(names), 1);
	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++)
		snprintf(m.containers[i].name, sizeof(m.containers[i].name), "%s", names[i]);
	accumulator_init(&acc, &labels, 7, 0);
	assert_return_code(accumulator_update(&acc, &m, 10000, NOW), 0);
	/*
	 * "other" is the name of the sum, so no container may have that name. "" and "none" are one
	 * container.
	 */
	assert_int_equal(acc.shown, ARRAY_SIZE(names) - 3 + 1);
	assert_return_code(series_build(&set, &acc, &self), 0);
	for (unsigned int f = 0; f < EXPOSE_FORMATS; f++) {
		assert_return_code(expose_series(&set, f, &text, &size), 0);
		if (f != EXPOSE_PROTOBUF)
			check_text(text, size);
		free(text);
	}
	accumulator_deinit(&acc);
	series_deinit(&set);
}

static void test_damaged_snapshots_are_refused(void **state)
{
	struct metrics_snapshot m = make_metrics(9, (u64[]){ 4, 5, 6 }, 3, 1), back = { 0 };
	const char *why = NULL;
	size_t size;
	u8 *bytes;
	int fd = metrics_dump_to_memfd(&m);

	(void)state;
	assert_return_code(fd, 0);
	assert_true(fcntl(fd, F_GET_SEALS) & F_SEAL_WRITE);
	assert_return_code(metrics_load(fd, &back, &why), 0);
	assert_int_equal(back.count, 3);
	assert_memory_equal(back.containers, m.containers, 3 * sizeof(*m.containers));
	assert_memory_equal(&back.machine, &m.machine, sizeof(m.machine));
	metrics_clear(&back);

	size = (size_t)lseek(fd, 0, SEEK_END);
	bytes = malloc(size + 8);
	assert_non_null(bytes);
	assert_int_equal(pread(fd, bytes, size, 0), size);
	/* Snapshots that are truncated or have extra bytes are rejected with a reason. */
	for (size_t n = 0; n < size; n += n < 64 ? 1 : 97) {
		assert_int_equal(metrics_parse(bytes, n, &back, &why), -EBADMSG);
		assert_non_null(why);
	}
	assert_int_equal(metrics_parse(bytes, size + 8, &back, &why), -EBADMSG);
	/* If any word of the header has all bits set, the snapshot is rejected. */
	for (size_t i = 0; i < sizeof(struct metrics_head); i += 4) {
		u32 word, all = UINT32_MAX;

		memcpy(&word, bytes + i, sizeof(word));
		memcpy(bytes + i, &all, sizeof(all));
		assert_true(metrics_parse(bytes, size, &back, &why) < 0);
		memcpy(bytes + i, &word, sizeof(word));
	}
	/* a text without a terminating NUL, in fields of the first version and in later ones */
	memset(bytes + size - sizeof(struct metrics_container), 'x', 300);
	assert_int_equal(metrics_parse(bytes, size, &back, &why), -EBADMSG);
	memset(bytes + size - sizeof(struct metrics_container), 0, 300);
	assert_return_code(metrics_parse(bytes, size, &back, &why), 0);
	metrics_clear(&back);
	memset(bytes + size - 64, 'x', 64);
	assert_int_equal(metrics_parse(bytes, size, &back, &why), -EBADMSG);
	free(bytes);
	metrics_clear(&m);
	close(fd);
}

/* Older daemons send fewer fields of each container, later ones more fields: both can be read. */
static void test_snapshots_of_other_versions(void **state)
{
	static const size_t sizes[] = { offsetof(struct metrics_container, empty_ns),
					sizeof(struct metrics_container) + 8 };
	struct metrics_snapshot m = make_metrics(9, (u64[]){ 4, 5 }, 2, 1), back = { 0 };
	struct metrics_head head = {
		.version = METRICS_VERSION, .head_size = sizeof(head),
		.machine_size = sizeof(m.machine), .containers = 2,
	};
	static u8 bytes[METRICS_SECTION_MAX];
	const char *why = NULL;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		u8 *at = bytes + sizeof(head) + sizeof(m.machine);

		memcpy(head.magic, METRICS_MAGIC, sizeof(head.magic));
		head.container_size = (u32)sizes[i];
		head.size = sizeof(head) + sizeof(m.machine) + 2 * sizes[i];
		memset(bytes, 0x55, sizeof(bytes));
		memcpy(bytes, &head, sizeof(head));
		memcpy(bytes + sizeof(head), &m.machine, sizeof(m.machine));
		for (unsigned int c = 0; c < 2; c++, at += sizes[i])
			memcpy(at, &m.containers[c], i ? sizeof(*m.containers) : sizes[i]);
		assert_return_code(metrics_parse(bytes, head.size, &back, &why), 0);
		assert_memory_equal(back.containers, m.containers, 2 * sizeof(*m.containers));
		metrics_clear(&back);
	}
	head.container_size = (u32)sizes[0] - 8;
	head.size = sizeof(head) + sizeof(m.machine) + 2 * head.container_size;
	memcpy(bytes, &head, sizeof(head));
	assert_int_equal(metrics_parse(bytes, head.size, &back, &why), -EBADMSG);
	metrics_clear(&m);
}

/* Two containers of one pod have the longest possible names, which differ at the end. */
static void test_long_names(void **state)
{
	struct metrics_snapshot m = make_metrics(1, (u64[]){ 4, 5 }, 2, 0);
	char name[LABEL_SIZE];
	struct label_config l;
	struct accumulator acc;
	const char *right;

	(void)state;
	labels_set_defaults(&l);
	assert_return_code(labels_set_label(&l, "pc", "pod_container", &right), 0);
	for (unsigned int i = 0; i < 2; i++) {
		struct metrics_container *c = &m.containers[i];

		memset(c->name_space, 'n', 63);
		memset(c->pod, 'p', 253);
		snprintf(c->pod_container, 64, "%062d%u", 0, i);
		/* Fill the part of the name that an exporter of the first version reads. */
		snprintf(name, sizeof(name), "%s/%s/", c->name_space, c->pod);
		memcpy(c->name, name, sizeof(c->name) - 1);
	}
	assert_return_code(labels_set_patterns(&l, false, "*01"), 0);
	assert_true(labels_admit_container(&l, &m.containers[0]));
	assert_false(labels_admit_container(&l, &m.containers[1]));
	assert_return_code(labels_set_patterns(&l, false, ""), 0);
	accumulator_init(&acc, &l, 7, 0);
	assert_return_code(accumulator_update(&acc, &m, 10000, NOW), 0);
	assert_int_equal(acc.shown, 2);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(strlen(acc.groups[i].set.value[0]), 63 + 253 + 63 + 2);
		assert_int_equal(strlen(acc.groups[i].set.value[2]), 63);
	}
	accumulator_deinit(&acc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_counters_grow, setup),
		cmocka_unit_test_setup(test_exporter_restarts_at_zero, setup),
		cmocka_unit_test_setup(test_sums_with_limited_series, setup),
		cmocka_unit_test_setup(test_heaviest_containers_have_series, setup),
		cmocka_unit_test_setup(test_renamed_container_keeps_counters, setup),
		cmocka_unit_test_setup(test_removed_containers_have_no_series, setup),
		cmocka_unit_test_setup(test_series_add_up, setup),
		cmocka_unit_test_setup(test_interval_changes_no_rate, setup),
		cmocka_unit_test_setup(test_interval_changes_between_snapshots, setup),
		cmocka_unit_test_setup(test_intervals_of_containers, setup),
		cmocka_unit_test_setup(test_inconsistent_containers, setup),
		cmocka_unit_test_setup(test_unknown_interval, setup),
		cmocka_unit_test_setup(test_series_are_limited, setup),
		cmocka_unit_test_setup(test_maximum_fits_request, setup),
		cmocka_unit_test_setup(test_blind_causes, setup),
		cmocka_unit_test_setup(test_hostile_names, setup),
		cmocka_unit_test(test_damaged_snapshots_are_refused),
		cmocka_unit_test(test_snapshots_of_other_versions),
		cmocka_unit_test(test_long_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
