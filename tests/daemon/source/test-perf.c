// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test the source "perf" on a simulated kernel. The guests on arm64 test it with the kernel's own
 * driver.
 */
#include "fake-perf.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/timerfd.h>

#include "codec/registers.h"
#include "source/timestamp-clock.h"

/* ---- A simulated clock ------------------------------------------------------- */

int __wrap_clock_gettime(clockid_t id, struct timespec *ts);
int __wrap_nanosleep(const struct timespec *time, struct timespec *ret_left);
int __real_timerfd_settime(int fd, int flags, const struct itimerspec *value,
			   struct itimerspec *ret_before);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *value,
			   struct itimerspec *ret_before);

static struct {
	u64 now_ns;
	int timer;
	u64 timer_ns; /* period of the timer; 0: disarmed */
	struct perf_event_mmap_page *moves; /* if set, the next sleep sets its aux_head to 128 */
} simulated = { .now_ns = 1000000000000 };

/* Each reading is a microsecond later than the previous one. */
int __wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
	assert_int_equal(id, CLOCK_MONOTONIC);
	simulated.now_ns += 1000;
	ts->tv_sec = (time_t)(simulated.now_ns / 1000000000);
	ts->tv_nsec = (long)(simulated.now_ns % 1000000000);
	return 0;
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *ret_left)
{
	(void)ret_left;
	simulated.now_ns += (u64)time->tv_sec * 1000000000 + (u64)time->tv_nsec;
	if (simulated.moves)
		__atomic_store_n(&simulated.moves->aux_head, 128, __ATOMIC_RELEASE);
	simulated.moves = NULL;
	return 0;
}

int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *value,
			   struct itimerspec *ret_before)
{
	(void)flags;
	(void)ret_before;
	simulated.timer = fd;
	simulated.timer_ns = (u64)value->it_interval.tv_sec * 1000000000 +
			  (u64)value->it_interval.tv_nsec;
	return 0;
}

/* Let the armed timer expire. */
static void expire_timer(void)
{
	const struct itimerspec soon = { .it_value.tv_nsec = 1 };

	assert_int_not_equal(simulated.timer_ns, 0);
	simulated.now_ns += simulated.timer_ns;
	assert_int_equal(__real_timerfd_settime(simulated.timer, 0, &soon, NULL), 0);
}


static struct {
	u32 count;
	struct source_window last[8];
	u8 first[8];
	bool counts_up;
	struct source_window empty; /* the last window without bytes */
} seen;

/* Return whether all blind time of @window has the cause @cause. */
static bool blind_time_has_cause(const struct source_window *window, enum source_blind cause)
{
	u64 by[SOURCE_BLINDS] = { 0 };

	source_blind_add_window(by, window);
	return window->blind_ns && by[cause] == window->blind_ns;
}

static void record_window(void *ctx, const struct source_window *window)
{
	(void)ctx;
	if (!window->len) {
		assert_true(window->start_ns == window->end_ns);
		seen.empty = *window;
		return;
	}
	assert_true(seen.count < ARRAY_SIZE(seen.last));
	seen.first[seen.count] = window->data[0];
	for (size_t i = 1; i < window->len; i++)
		seen.counts_up &= window->data[i] == (u8)(window->data[i - 1] + 1);
	seen.last[seen.count++] = *window;
}

static int drain(struct source *source)
{
	const struct source_sink sink = { .window = record_window };

	memset(&seen, 0, sizeof(seen));
	seen.counts_up = true;
	return source->ops->drain(source, &sink);
}

/* ---- Tests ------------------------------------------------------------------ */

static void test_machine_without_spu(void **state)
{
	struct source *source = NULL;
	const char *reason = "";

	(void)state;
	assert_int_equal(source_perf_new_with_host(&host, &plain, &source, &reason), -ENOENT);
	assert_non_null(strstr(reason, "drives no SPU"));
	assert_null(source);
}

static void test_open_errors_have_reasons(void **state)
{
	static const struct {
		int error;
		const char *text;
	} rows[] = {
		{ EACCES, "perf_event_open is refused" },
		{ EMFILE, "limit of open files" },
		{ ENODEV, "online" },
	};
	struct source *source = NULL;
	const char *reason;

	(void)state;
	make_pmu("arm_spe_0", "9\n", "0-1\n");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("errno %d", rows[i].error);
		kernel.refuse = rows[i].error;
		reason = "";
		assert_row(source_perf_new_with_host(&host, &plain, &source, &reason) ==
			   -rows[i].error);
		assert_row(strstr(reason, rows[i].text));
	}
}

static void test_sysfs_damaged(void **state)
{
	static const struct {
		const char *file;
		const char *text;
	} rows[] = {
		{ "type", "nine\n" },
		{ "type", "99999999999\n" },
		{ "cpumask", "3-1\n" },
		{ "format/jitter", "config16\n" },
		{ "format/jitter", "config:16-3\n" },
		{ "format/jitter", "config9:1\n" },
		{ "format/jitter", "config:64\n" },
		{ "format/jitter", "configx:1\n" },
		{ "format/jitter", "" },
	};
	struct perf_pmu pmus[PERF_PMU_MAX];
	char folder[128];

	(void)state;
	make_pmu("arm_spe_0", "9\n", "0-1\n");
	snprintf(folder, sizeof(folder), "%s/arm_spe_0", kernel.devices);
	assert_int_equal(perf_pmu_read_all(kernel.devices, pmus), 1);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("%s \"%.12s\"", rows[i].file, rows[i].text);
		write_file(folder, rows[i].file, rows[i].text);
		assert_row(perf_pmu_read_all(kernel.devices, pmus) < 0);
		write_file(folder, "type", "9\n");
		write_file(folder, "cpumask", "0-1\n");
		write_file(folder, "format/jitter", "config:16\n");
	}
	assert_int_equal(perf_pmu_read_all(kernel.devices, pmus), 1);
}

/*
 * With two kinds of cores, each with a PMU, each setting is written into the field that sysfs
 * describes.
 */
static void test_attr_follows_sysfs(void **state)
{
	const struct source_config filtered = {
		.interval_ns = 1000,
		.jitter = true,
		.user = true,
		.filter_types = SPE_PMSFCR_LD | SPE_PMSFCR_ST,
		.filter_events = 0x82,
		.filter_latency = 40,
	};
	struct source_config physical = filtered;
	struct source *source;

	(void)state;
	make_pmu("arm_spe_0", "9\n", "0-1\n");
	make_pmu("arm_spe_1", "10\n", "3\n");
	physical.physical = true;
	source = open_perf_source(&physical);
	assert_int_equal(kernel.events[0].attr.config, 3 | 1 << 16 | 1ULL << 33 | 1ULL << 34);
	source->ops->free(source);
	source = open_perf_source(&filtered);
	assert_int_equal(source->cpus, 3);
	assert_int_equal(source->backend, BACKEND_HARDWARE);
	assert_int_equal(source->interval_ns, 1024);
	for (u32 cpu = 0; cpu < CPUS; cpu++) {
		const struct perf_event_attr *attr = &kernel.events[cpu].attr;

		test_row("cpu %u", cpu);
		assert_row((attr->size != 0) == (cpu != 2));
		if (cpu == 2)
			continue;
		assert_row(attr->type == (cpu == 3 ? 10 : 9));
		assert_row(attr->config == (1 | 1 << 16 | 1ULL << 33 | 1ULL << 34));
		assert_row(attr->config1 == 0x82 && attr->config2 == 40);
		assert_row(attr->sample_period == 1024 && attr->disabled);
		assert_row(attr->exclude_kernel && attr->exclude_hv && !attr->exclude_user);
	}
	source->ops->free(source);
}

/*
 * Settings of newer kernels are in words after the structure of this build. If one PMU does not
 * support them, they are not used.
 */
static void test_settings_of_newer_kernels(void **state)
{
	struct source_config config = plain;
	struct source *source;
	const char *reason = "";
	struct source_cpu cpu;
	char folder[128];

	(void)state;
	make_pmu("arm_spe_0", "9\n", "0-1\n");
	config.filter_sources_not = ~SPE_BIT(14);
	config.filter_events_not = 0x82;
	source = open_perf_source(&config);
	assert_false(source->filters || source->filters_not || source->filters_sources);
	assert_int_equal(kernel.events[0].attr.size, sizeof(struct perf_event_attr));
	assert_int_equal(source->ops->cpu(source, 0, &cpu), 0);
	assert_int_equal(cpu.filters, SOURCE_FILTERS_TYPES | SOURCE_FILTERS_LATENCY |
					      SOURCE_FILTERS_EVENTS);
	source->ops->free(source);

	snprintf(folder, sizeof(folder), "%s/arm_spe_0", kernel.devices);
	write_file(folder, "format/inv_event_filter", "config3:0-63\n");
	source = open_perf_source(&config);
	assert_true(source->filters_not && !source->filters_sources);
	assert_int_equal(kernel.events[1].attr.size, 136);
	assert_int_equal(kernel.events[1].config3, 0x82);
	source->ops->free(source);

	write_file(folder, "format/inv_data_src_filter", "config4:0-63\n");
	source = open_perf_source(&config);
	assert_true(source->filters_not && source->filters_sources && !source->filters);
	assert_int_equal(kernel.events[1].attr.size, 144);
	assert_int_equal(kernel.events[1].config3, 0x82);
	assert_int_equal(kernel.events[1].config4, ~SPE_BIT(14));
	assert_int_equal(source->ops->cpu(source, 0, &cpu), 0);
	assert_true(cpu.filters & SOURCE_FILTERS_SOURCES && cpu.filters & SOURCE_FILTERS_EVENTS_NOT);
	/* Without a filter the attribute is one that every kernel accepts. */
	assert_int_equal(source->ops->start(source), 0);
	config.filter_sources_not = 0;
	config.filter_events_not = 0;
	assert_int_equal(source->ops->configure(source, &config, &reason), 0);
	assert_false(source->filters_not || source->filters_sources);
	drain(source);
	assert_int_equal(kernel.events[1].attr.size, sizeof(struct perf_event_attr));
	source->ops->free(source);

	config.filter_sources_not = ~SPE_BIT(14);
	make_pmu("arm_spe_1", "10\n", "3\n");
	source = open_perf_source(&config);
	assert_false(source->filters_sources);
	assert_int_equal(kernel.events[0].config4, ~SPE_BIT(14));
	assert_int_equal(kernel.events[3].config4, 0);
	source->ops->free(source);
}

/*
 * A latency that exceeds the 12 bits of the field, and an old kernel without the filter: all
 * operations are sampled.
 */
static void test_unsupported_filters_are_dropped(void **state)
{
	struct source_config config = plain;
	struct source *source;
	char path[160];

	(void)state;
	make_pmu("arm_spe_0", "9\n", "0\n");
	config.filter_types = SPE_PMSFCR_LD;
	config.filter_latency = 4095;
	source = open_perf_source(&config);
	assert_true(source->filters);
	assert_int_equal(kernel.events[0].attr.config2, 4095);
	source->ops->free(source);
	config.filter_latency = 4096;
	source = open_perf_source(&config);
	assert_false(source->filters);
	assert_int_equal(kernel.events[0].attr.config, 1 | 1 << 16);
	assert_int_equal(kernel.events[0].attr.config2, 0);
	source->ops->free(source);
	config.filter_latency = 0;
	config.filter_events = 2;
	snprintf(path, sizeof(path), "%s/arm_spe_0/format/event_filter", kernel.devices);
	assert_int_equal(unlink(path), 0);
	source = open_perf_source(&config);
	assert_false(source->filters);
	source->ops->free(source);
	/* The fields that every record needs do not count as filters. */
	snprintf(path, sizeof(path), "%s/arm_spe_0/format/ts_enable", kernel.devices);
	assert_int_equal(unlink(path), 0);
	source = NULL;
	assert_int_equal(source_perf_new_with_host(&host, &plain, &source, &(const char *){ "" }),
			 -EOPNOTSUPP);
}

static void test_windows_are_delivered(void **state)
{
	struct fake_event *e = &kernel.events[0];
	struct source *source;
	u64 from;

	(void)state;
	make_pmu("arm_spe_0", "9\n", "0\n");
	source = open_perf_source(&plain);
	/* If the source was requested by name it also reports the limitation. */
	assert_non_null(strstr(source->reason, "hardware cannot filter by container"));
	from = now_ns();
	assert_int_equal(source->ops->start(source), 0);
	assert_int_equal(e->enables, 1);
	assert_int_equal(drain(source), 0);
	assert_int_equal(seen.count, 0);

	spu_write_window(e, 1, 640, 0, from + 1000000000);
	spu_write_window(e, 7, 64, PERF_AUX_FLAG_COLLISION | PERF_AUX_FLAG_PARTIAL,
			 from + 1500000000);
	assert_int_equal(drain(source), 0);
	assert_int_equal(seen.count, 2);
	assert_true(seen.counts_up);
	assert_int_equal(seen.first[0], 1);
	assert_int_equal(seen.last[0].len, 640);
	assert_int_equal(seen.last[0].flags, 0);
	assert_int_equal(seen.last[0].end_ns, from + 1000000000);
	assert_int_equal(seen.last[0].written, WINDOW_WRITTEN_UNKNOWN);
	assert_int_equal(seen.first[1], 7);
	assert_int_equal(seen.last[1].flags, WINDOW_COLLIDED | WINDOW_GAPS);
	assert_int_equal(seen.last[1].start_ns, from + 1000000000);
	assert_int_equal(seen.last[1].armed_ns, 500000000);
	assert_int_equal(seen.last[1].blind_ns, 0);
	assert_int_equal(e->control->aux_tail, 704);
	assert_int_equal(e->control->data_tail, e->control->data_head);
	source->ops->stop(source);
	assert_int_equal(e->disables, 1);
	source->ops->free(source);
}

/* The SPU writes a record in 64 bytes: PC, Context packet if @context, Events and End. */
static void spu_write_record(struct fake_event *e, bool context, u64 time)
{
	static const u8 with[] = { 0xb0, 0, 16, 64, 0, 0, 0, 0, 0, 0x64, 210, 4, 0, 0, 0x42, 2, 1 };
	static const u8 without[] = { 0xb0, 0, 16, 64, 0, 0, 0, 0, 0, 0x42, 2, 1 };
	u64 at = e->control->aux_head;

	memset(e->area + at, 0, 64);
	memcpy(e->area + at, context ? with : without, context ? sizeof(with) : sizeof(without));
	e->control->aux_head = at + 64;
	aux_record_write(e, at, 64, 0, time);
}

/*
 * The first record shows whether the kernel writes CONTEXTIDR. Before that, or from bytes that are
 * no record, it is unknown.
 */
static void test_contextidr_is_detected(void **state)
{
	struct fake_event *e = &kernel.events[0];
	struct source *source;

	(void)state;
	make_pmu("arm_spe_0", "9\n", "0\n");
	for (int context = 0; context < 2; context++) {
		source = open_perf_source(&plain);
		assert_int_equal(source->ops->start(source), 0);
		test_row("context %d", context);
		assert_row(source_get_contexts(source) == SOURCE_CONTEXTS_UNKNOWN);
		spu_write_window(e, 0xfd, 2, 0, now_ns());
		assert_row(!drain(source) && seen.count == 1);
		assert_row(source_get_contexts(source) == SOURCE_CONTEXTS_UNKNOWN);
		spu_write_record(e, context, now_ns());
		assert_row(!drain(source) && seen.count == 1);
		assert_row(source_get_contexts(source) ==
			   (context ? SOURCE_CONTEXTS_ALL : SOURCE_CONTEXTS_NONE));
		source->ops->free(source);
	}
}

/* Ring and AUX area wrap around many times, and each byte is read once. */
static void test_buffers_wrap_around(void **state)
{
	struct fake_event *e = &kernel.events[0];
	u64 bytes = 0, size = 3 * 4096 + 64, time = now_ns();
	struct source *source;

	(void)state;
	source = start_perf_source("0\n");
	/* 5,000 records of 40 bytes fill the ring three times. */
	for (u32 i = 0; i < 5000; i++) {
		time += 1000;
		spu_write_window(e, (u8)i, size, 0, time);
		assert_int_equal(drain(source), 0);
		assert_int_equal(seen.count, 1);
		/* PMSIRR.INTERVAL has no lower bits, and jitter adds its mean (D17.3.4.2). */
		assert_int_equal(seen.last[0].interval, 1000000 / 256 * 256 + 128);
		assert_int_equal(seen.last[0].unit, UNIT_INSTRUCTIONS);
		assert_int_equal(seen.first[0], (u8)i);
		assert_true(seen.counts_up);
		bytes += seen.last[0].len;
	}
	assert_int_equal(bytes, 5000 * size);
	source->ops->free(source);
}

/* The driver has disabled the event: the source enables it again, and the time is blind. */
static void test_truncated_event_is_enabled(void **state)
{
	struct fake_event *e = &kernel.events[0];
	u64 stopped = now_ns() - 50000000, later;
	struct source *source;

	(void)state;
	source = start_perf_source("0\n");
	spu_write_window(e, 0, 128, PERF_AUX_FLAG_TRUNCATED, stopped);
	assert_int_equal(drain(source), 0);
	assert_int_equal(seen.last[0].flags, WINDOW_TRUNCATED);
	assert_int_equal(e->enables, 2);

	/* The blind time is longer than the next window, which was therefore never armed. */
	spu_write_window(e, 0, 128, 0, now_ns() + 1000000);
	assert_int_equal(drain(source), 0);
	assert_true(seen.last[0].blind_ns >= 50000000);
	assert_int_equal(source_window_get_armed_ns(&seen.last[0]), 0);
	assert_false(source_window_is_untimed(&seen.last[0]));

	spu_write_window(e, 0, 128, PERF_AUX_FLAG_TRUNCATED, now_ns() - 50000000);
	assert_int_equal(drain(source), 0);
	assert_int_equal(e->enables, 3);
	later = now_ns() + 100000000;
	spu_write_window(e, 0, 128, 0, later);
	assert_int_equal(drain(source), 0);
	assert_true(seen.last[0].blind_ns >= 50000000);
	assert_true(blind_time_has_cause(&seen.last[0], SOURCE_BLIND_FULL));
	assert_int_equal(e->enables, 3);

	/* A PERF_RECORD_AUX without data has the same effect. */
	aux_record_write(e, e->control->aux_head, 0, PERF_AUX_FLAG_TRUNCATED, later);
	assert_int_equal(drain(source), 0);
	assert_int_equal(seen.count, 0);
	assert_int_equal(e->enables, 4);
	source->ops->free(source);
}

static void test_lost_windows_are_counted(void **state)
{
	const struct {
		struct perf_event_header header;
		u64 id, lost, time;
	} lost = { .header = { .type = PERF_RECORD_LOST, .size = sizeof(lost) }, .lost = 1 };
	struct fake_event *e = &kernel.events[0];
	struct source *source;
	u64 time = now_ns();

	(void)state;
	source = start_perf_source("0\n");
	/* The driver skips to an aligned address, but no data is lost. */
	e->control->aux_head = 4096;
	spu_write_window(e, 0, 64, 0, time + 1);
	assert_int_equal(drain(source), 0);
	assert_int_equal(seen.last[0].lost_bytes, 0);
	/* The ring had no space for the PERF_RECORD_AUX of a window, so that window is lost. */
	e->control->aux_head += 960;
	ring_write(e, &lost, sizeof(lost));
	spu_write_window(e, 0, 64, 0, time + 2);
	assert_int_equal(drain(source), 0);
	assert_int_equal(seen.last[0].lost_bytes, 960);
	assert_int_equal(source->health.unread, 1);
	source->ops->free(source);
}

/*
 * perf may write the PERF_RECORD_AUX of a window before it advances aux_head, but no data is lost.
 */
static void test_record_before_aux_head(void **state)
{
	struct fake_event *e = &kernel.events[0];
	struct source *source;

	(void)state;
	source = start_perf_source("0\n");
	for (u8 i = 0; i < 128; i++)
		e->area[i] = i;
	aux_record_write(e, 0, 128, 0, now_ns());
	simulated.moves = e->control;
	assert_int_equal(drain(source), 0);
	assert_null(simulated.moves);
	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.last[0].len, 128);
	assert_int_equal(source->health.faults, 0);
	assert_int_equal(e->open_count, 1);
	source->ops->free(source);
}

/* Because of a defect of the driver PMBPTR is 0 when it is read while a CPU goes offline. */
static void test_zero_pmbptr_of_driver(void **state)
{
	struct fake_event *e = &kernel.events[0];
	struct source *source;

	(void)state;
	source = start_perf_source("0\n");
	spu_write_window(e, 0, 128, 0, now_ns());
	aux_record_write(e, 128, 0ULL - 0x800008200080, 0, now_ns());
	e->control->aux_head = 0ULL - 0x800008200000;
	assert_int_equal(drain(source), 0);
	assert_int_equal(seen.count, 1);
	assert_int_equal(e->open_count, 2);
	assert_true(blind_time_has_cause(&seen.empty, SOURCE_BLIND_HOTPLUG));
	spu_write_window(e, 5, 64, 0, now_ns());
	assert_int_equal(drain(source), 0);
	assert_int_equal(seen.last[0].lost_bytes, 0);
	assert_int_equal(seen.last[0].blind_ns, 0);
	source->ops->free(source);
}

static void test_damaged_aux_records(void **state)
{
	static const struct {
		const char *name;
		u64 offset, size;
		u16 record;
	} rows[] = {
		{ "beyond the head", 64, 128, sizeof(struct aux_record) },
		{ "more than the area", 0, PERF_AUX_AREA_SIZE + 1, sizeof(struct aux_record) },
		{ "offset wraps", UINT64_MAX - 63, 64, sizeof(struct aux_record) },
		{ "size wraps", 64, UINT64_MAX, sizeof(struct aux_record) },
		{ "short record", 0, 64, 16 },
		{ "empty record", 0, 64, 0 },
		{ "endless record", 0, 64, UINT16_MAX },
	};

	(void)state;
	make_pmu("arm_spe_0", "9\n", "0\n");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct fake_event *e = &kernel.events[0];
		struct source *source = open_perf_source(&plain);
		struct aux_record record = {
			.header = { .type = PERF_RECORD_AUX, .size = rows[i].record },
			.offset = rows[i].offset,
			.size = rows[i].size,
		};

		test_row("%s", rows[i].name);
		assert_row(source->ops->start(source) == 0);
		e->control->aux_head = 128;
		ring_write(e, &record, sizeof(record));
		assert_row(drain(source) == 0 && seen.count == 0);
		assert_row(source->health.faults == 1 && strstr(source->health.last, "CPU 0"));
		assert_row(seen.empty.lost_bytes == 128);
		assert_row(blind_time_has_cause(&seen.empty, SOURCE_BLIND_HOTPLUG));
		/* The source opens a new event. */
		spu_write_window(e, 5, 64, 0, now_ns());
		assert_row(drain(source) == 0 && seen.count == 1);
		assert_row(seen.first[0] == 5 && seen.last[0].lost_bytes == 0);
		assert_row(seen.last[0].blind_ns == 0);
		source->ops->free(source);
	}
}

/* Another perf session uses the SPUs: the source waits, and reports the time as blind. */
static void test_busy_spu_is_blind(void **state)
{
	struct source_cpu cpu;
	struct source *source;
	u64 blind = 0, from;

	(void)state;
	make_pmu("arm_spe_0", "9\n", "0-1\n");
	write_file(kernel.cpus, "online", "0-1\n");
	kernel.refuse = EBUSY;
	source = open_perf_source(&plain);
	assert_int_equal(source->cpus, 0);
	assert_int_equal(source->health.cpus_stopped, 2);
	assert_non_null(strstr(source->health.no_event_reason, "in use"));
	/* An SPU in use by another event is no fault, so it must not replace the last fault. */
	assert_string_equal(source->health.last, "");
	from = now_ns();
	assert_int_equal(source->ops->start(source), 0);
	assert_int_equal(source->ops->cpu(source, 1, &cpu), 0);
	assert_string_equal(cpu.state, "waiting");
	for (int i = 0; i < 3000 && source->cpus < 2; i++) {
		simulated.now_ns += 1000000;
		if (blind)
			kernel.refuse = 0;
		assert_int_equal(drain(source), 0);
		if (seen.empty.blind_ns && seen.empty.cpu == 1) {
			assert_true(blind_time_has_cause(&seen.empty, SOURCE_BLIND_HANDOVER));
			blind += seen.empty.blind_ns;
		}
	}
	assert_int_equal(source->cpus, 2);
	assert_int_equal(source->health.cpus_stopped, 0);
	assert_in_range(blind, 1900000000, now_ns() - from);
	assert_int_equal(source->ops->cpu(source, 1, &cpu), 0);
	assert_string_equal(cpu.state, "sampling");
	source->ops->free(source);
}

/*
 * If an event cannot be opened again between two settings, it is not armed, and the source tries
 * again later.
 */
static void test_unopened_event_is_blind(void **state)
{
	const char *reason = "";
	struct source *source;
	u64 blind = 0, from;

	(void)state;
	source = start_perf_source("0\n");
	write_file(kernel.cpus, "online", "0\n");
	kernel.refuse = ENOMEM;
	from = now_ns();
	assert_int_equal(source->ops->configure(source, &plain, &reason), 0);
	assert_int_equal(drain(source), 0);
	assert_int_equal(kernel.events[0].open_count, 1);
	simulated.now_ns += 100000000;
	source->ops->stop(source);
	assert_int_equal(drain(source), 0);
	blind = seen.empty.blind_by[SOURCE_BLIND_UNKNOWN];
	assert_in_range(blind, 100000000, now_ns() - from);
	/* Time in which the session is stopped is not blind. */
	simulated.now_ns += 10000000;
	assert_int_equal(drain(source), 0);
	assert_int_equal(seen.empty.blind_ns, 0);
	source->ops->free(source);
}

/*
 * Drain @source until it has opened the event of @cpu @times times. The source checks for CPUs each
 * second.
 */
static void drain_until_opened(struct source *source, u32 cpu, u32 times)
{
	for (int i = 0; i < 1000 && kernel.events[cpu].open_count < times; i++) {
		simulated.now_ns += 10000000;
		assert_int_equal(drain(source), 0);
	}
	assert_int_equal(kernel.events[cpu].open_count, times);
}

static void test_cpu_hotplug(void **state)
{
	struct fake_event *e = &kernel.events[1];
	struct source *source;

	(void)state;
	source = start_perf_source("0-1\n");
	write_file(kernel.cpus, "online", "0\n");
	spu_write_window(e, 9, 64, 0, now_ns());
	/* Data from before the CPU went offline is delivered by one of the drains. */
	for (int i = 0; i < 150; i++) {
		simulated.now_ns += 10000000;
		assert_int_equal(drain(source), 0);
	}
	assert_int_equal(e->control->aux_tail, 64);
	assert_int_equal(e->open_count, 1);
	assert_int_equal(source->health.cpus_stopped, 0);
	/* Another session already uses the SPU. */
	kernel.refuse = EBUSY;
	write_file(kernel.cpus, "online", "0-1\n");
	for (int i = 0; i < 1000 && !source->health.cpus_stopped; i++) {
		simulated.now_ns += 10000000;
		assert_int_equal(drain(source), 0);
	}
	assert_int_equal(source->health.cpus_stopped, 1);
	kernel.refuse = 0;
	drain_until_opened(source, 1, 2);
	assert_int_equal(source->health.cpus_stopped, 0);
	assert_int_equal(e->enables, 1);
	spu_write_window(e, 3, 64, 0, now_ns());
	assert_int_equal(drain(source), 0);
	assert_int_equal(seen.first[0], 3);
	source->ops->free(source);
}

/* Only the SPU of a quiet CPU is flushed, at most twice a second. */
static void test_quiet_spu_is_flushed(void **state)
{
	struct fake_event *e = &kernel.events[0];
	struct source *source;

	(void)state;
	source = start_perf_source("0\n");
	assert_int_equal(drain(source), 0);
	assert_int_equal(e->disables, 0);
	for (int i = 0; i < 1000 && !e->disables; i++) {
		simulated.now_ns += 10000000;
		assert_int_equal(drain(source), 0);
	}
	assert_int_equal(e->disables, 1);
	assert_int_equal(e->enables, 2);
	/* The SPU had written nothing: the number of drains does not matter. */
	for (int i = 0; i < 1000; i++)
		assert_int_equal(drain(source), 0);
	assert_int_equal(e->disables, 1);
	for (int i = 0; i < 1000; i++) {
		simulated.now_ns += 10000000;
		assert_int_equal(drain(source), 0);
	}
	assert_in_range(e->disables, 10, 1 + 20);
	source->ops->free(source);
}

/* If a start fails for one CPU, no CPU continues to sample. */
static void test_failed_start_stops_all(void **state)
{
	struct source *source;

	(void)state;
	make_pmu("arm_spe_0", "9\n", "0-1\n");
	source = open_perf_source(&plain);
	kernel.no_enable = true;
	assert_int_equal(source->ops->start(source), -EIO);
	assert_int_equal(kernel.events[0].enables, 1);
	assert_int_equal(source->locked_bytes, 0);
	kernel.no_enable = false;
	assert_int_equal(source->ops->start(source), 0);
	assert_int_equal(kernel.events[1].enables, 1);
	source->ops->free(source);
}

/* A timer wakes the reader on an idle machine, but only while it samples. */
static void test_timer_wakes_idle_reader(void **state)
{
	struct source *source;
	struct pollfd ready;

	(void)state;
	make_pmu("arm_spe_0", "9\n", "0\n");
	source = open_perf_source(&plain);
	ready = (struct pollfd){ .fd = source->ops->fd(source), .events = POLLIN };
	assert_int_equal(poll(&ready, 1, 0), 0);
	assert_int_equal(source->ops->start(source), 0);
	expire_timer();
	assert_int_equal(poll(&ready, 1, -1), 1);
	assert_int_equal(drain(source), 0);
	assert_int_equal(kernel.events[0].disables, 1);
	source->ops->stop(source);
	assert_int_equal(simulated.timer_ns, 0);
	assert_int_equal(drain(source), 0);
	assert_int_equal(poll(&ready, 1, 0), 0);
	source->ops->free(source);
}

/* A drain after the stop must not start an event. */
static void test_drain_after_stop(void **state)
{
	struct fake_event *e = &kernel.events[0];
	struct source *source;

	(void)state;
	source = start_perf_source("0\n");
	spu_write_window(e, 0, 128, PERF_AUX_FLAG_TRUNCATED, now_ns());
	source->ops->stop(source);
	assert_int_equal(drain(source), 0);
	assert_int_equal(seen.count, 1);
	assert_int_equal(e->enables, 1);
	assert_int_equal(source->health.unread, 1);
	assert_int_equal(source->health.faults, 0);
	assert_int_equal(source->ops->start(source), 0);
	spu_write_window(e, 0, 128, PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_PARTIAL, now_ns());
	source->ops->stop(source);
	assert_int_equal(drain(source), 0);
	assert_int_equal(source->health.unread, 1);
	assert_int_equal(source->health.faults, 1);
	assert_non_null(strstr(source->health.last, "CPU 0"));
	source->ops->free(source);
}

/*
 * While an event is open, even disabled, its SPU is refused to other users of perf. So the drain
 * after the stop closes it, and the start opens another one or waits for another user.
 */
static void test_stop_releases_spu(void **state)
{
	struct fake_event *e = &kernel.events[0];
	struct source *source;
	struct source_cpu cpu;
	u64 locked;

	(void)state;
	source = start_perf_source("0\n");
	locked = source->locked_bytes;
	assert_int_not_equal(locked, 0);
	spu_write_window(e, 3, 64, 0, now_ns());
	source->ops->stop(source);
	assert_int_equal(drain(source), 0);
	assert_int_equal(seen.count, 1);
	assert_int_equal(source->locked_bytes, 0);
	assert_int_equal(fcntl(e->fd, F_GETFD), -1);
	assert_int_equal(source->cpus, 1);
	assert_int_equal(source->ops->cpu(source, 0, &cpu), 0);
	assert_string_equal(cpu.state, "stopped");
	assert_int_equal(source->ops->start(source), 0);
	assert_int_equal(e->open_count, 2);
	assert_int_equal(e->enables, 1);
	assert_int_equal(source->locked_bytes, locked);

	source->ops->stop(source);
	assert_int_equal(drain(source), 0);
	kernel.refuse = EBUSY;
	assert_int_equal(source->ops->start(source), 0);
	assert_int_equal(source->health.cpus_stopped, 1);
	assert_non_null(strstr(source->health.no_event_reason, "in use, by perf record"));
	source->ops->stop(source);
	assert_int_equal(source->health.cpus_stopped, 0);
	assert_string_equal(source->health.no_event_reason, "");
	assert_int_equal(drain(source), 0);
	assert_true(blind_time_has_cause(&seen.empty, SOURCE_BLIND_HANDOVER));
	/* Other failures end the start: the daemon must not seem to sample. */
	kernel.refuse = ENOMEM;
	assert_int_equal(source->ops->start(source), -ENOMEM);
	kernel.refuse = 0;
	assert_int_equal(source->ops->start(source), 0);
	assert_int_equal(e->open_count, 3);
	source->ops->free(source);
}

static const struct {
	const char *name;
	const char *format;
} eft_formats[] = {
	{ "branch_filter_mask", "config:36\n" }, { "load_filter_mask", "config:37\n" },
	{ "store_filter_mask", "config:38\n" },  { "simd_filter", "config:39\n" },
	{ "simd_filter_mask", "config:40\n" },	 { "float_filter", "config:41\n" },
	{ "float_filter_mask", "config:42\n" },
};

static void make_type_mask_formats(const char *pmu)
{
	char folder[160];

	snprintf(folder, sizeof(folder), "%s/%s/format", kernel.devices, pmu);
	for (size_t i = 0; i < ARRAY_SIZE(eft_formats); i++)
		write_file(folder, eft_formats[i].name, eft_formats[i].format);
}

/* Types that a record must have or must not have, by the mask bits of FEAT_SPE_EFT. */
static void test_type_mask_filters(void **state)
{
	static const struct {
		u64 types, masked, config;
	} rows[] = {
		{ 0, SPE_PMSFCR_SIMD | SPE_PMSFCR_SIMDM, SPE_BIT(39) | SPE_BIT(40) },
		{ 0, SPE_PMSFCR_FP | SPE_PMSFCR_FPM, SPE_BIT(41) | SPE_BIT(42) },
		{ 0, SPE_PMSFCR_BM, SPE_BIT(36) },
		{ SPE_PMSFCR_LD, SPE_PMSFCR_ST | SPE_PMSFCR_STM,
		  SPE_BIT(33) | SPE_BIT(34) | SPE_BIT(38) },
		/* A required type satisfies a list of alternatives that includes it. */
		{ SPE_PMSFCR_LD | SPE_PMSFCR_ST, SPE_PMSFCR_ST | SPE_PMSFCR_STM,
		  SPE_BIT(34) | SPE_BIT(38) },
		/* An excluded type is not one of the alternatives. */
		{ SPE_PMSFCR_LD | SPE_PMSFCR_B, SPE_PMSFCR_BM, SPE_BIT(33) | SPE_BIT(36) },
	};
	struct source_config config = plain;
	struct source *source;
	struct source_cpu cpu;

	(void)state;
	make_pmu("arm_spe_0", "9\n", "0\n");
	config.filter_types = rows[3].types;
	config.filter_masked = rows[3].masked;
	/* A kernel without the feature applies the types without the masks. */
	source = open_perf_source(&config);
	assert_true(source->filters && !source->filters_masked);
	assert_int_equal(kernel.events[0].attr.config, 1 | 1 << 16 | SPE_BIT(33));
	source->ops->free(source);
	make_type_mask_formats("arm_spe_0");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("%zu", i);
		config.filter_types = rows[i].types;
		config.filter_masked = rows[i].masked;
		source = open_perf_source(&config);
		assert_row(source->filters == (rows[i].types != 0) && source->filters_masked);
		assert_row(kernel.events[0].attr.config == (1 | 1 << 16 | rows[i].config));
		assert_row(source->ops->cpu(source, 0, &cpu) == 0);
		assert_row(cpu.filters & SOURCE_FILTERS_MASKED);
		source->ops->free(source);
	}
}

/*
 * format/ lists the filters of the driver, but not those of the SPU: the daemon applies filters
 * that the driver refuses. The source drops the newest filter first. A new configuration tries all
 * filters again.
 */
static void test_refused_filters(void **state)
{
	static const struct {
		u64 no_config, no_config1, no_config3;
		bool filters, filters_not, masked;
	} rows[] = {
		{ 0, 0, 0, true, true, true },
		{ SPE_BIT(40), 0, 0, true, true, false },
		{ 0, 0, 4, true, false, false },
		{ 0, 2, 0, false, false, false },
	};
	struct source_config config = plain;
	struct source *source;
	const char *reason;
	char folder[128];

	(void)state;
	make_pmu("arm_spe_0", "9\n", "0\n");
	make_type_mask_formats("arm_spe_0");
	snprintf(folder, sizeof(folder), "%s/arm_spe_0", kernel.devices);
	write_file(folder, "format/inv_event_filter", "config3:0-63\n");
	config.filter_events = 2;
	config.filter_events_not = 4;
	config.filter_masked = SPE_PMSFCR_SIMD | SPE_PMSFCR_SIMDM;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct source_cpu cpu;

		test_row("%zu", i);
		kernel.no_config = rows[i].no_config;
		kernel.no_config1 = rows[i].no_config1;
		kernel.no_config3 = rows[i].no_config3;
		source = open_perf_source(&config);
		assert_row(source->filters == rows[i].filters);
		assert_row(source->filters_not == rows[i].filters_not);
		assert_row(source->filters_masked == rows[i].masked);
		assert_row(kernel.events[0].attr.config1 == (rows[i].filters ? 2 : 0));
		assert_row(kernel.events[0].config3 == (rows[i].filters_not ? 4 : 0));
		assert_row(source->ops->cpu(source, 0, &cpu) == 0);
		assert_row(!(cpu.filters & SOURCE_FILTERS_MASKED) == !rows[i].masked);
		kernel.no_config = kernel.no_config1 = kernel.no_config3 = 0;
		assert_row(source->ops->start(source) == 0);
		assert_row(source->ops->configure(source, &config, &reason) == 0);
		assert_row(drain(source) == 0);
		assert_row(source->filters && source->filters_not && source->filters_masked);
		assert_row(kernel.events[0].attr.config1 == 2 && kernel.events[0].config3 == 4);
		source->ops->free(source);
	}
}

/* Since 6.18 the kernel lists the events that it accepts as a filter. */
static void test_filterable_events_of_kernel(void **state)
{
	struct source_cpu cpu;
	struct source *source;
	char folder[128];

	(void)state;
	make_pmu("arm_spe_0", "9\n", "0\n");
	source = open_perf_source(&plain);
	assert_int_equal(source->ops->cpu(source, 0, &cpu), 0);
	assert_int_equal(cpu.filter_events, 0);
	source->ops->free(source);
	snprintf(folder, sizeof(folder), "%s/arm_spe_0", kernel.devices);
	write_file(folder, "caps/event_filter", "0xffff000000f9fffe\n");
	source = open_perf_source(&plain);
	assert_int_equal(source->ops->cpu(source, 0, &cpu), 0);
	assert_int_equal(cpu.filter_events, 0xffff000000f9fffe);
	source->ops->free(source);
}

/* If a CPU went offline and online within a second, its event never runs again. */
static void test_short_hotplug_reopens_event(void **state)
{
	struct fake_event *e = &kernel.events[0];
	struct source *source;

	(void)state;
	source = start_perf_source("0\n");
	for (int i = 0; i < 6000 && !e->ran_ns; i++) {
		simulated.now_ns += 10000000;
		assert_int_equal(drain(source), 0);
	}
	assert_int_equal(e->ran_ns, 1);
	assert_int_equal(e->open_count, 1);
	e->runs = false;
	drain_until_opened(source, 0, 2);
	assert_int_equal(e->enables, 1);
	/*
	 * All time since the last window is blind, which is more than the second between two
	 * checks.
	 */
	assert_true(seen.empty.blind_by[SOURCE_BLIND_HOTPLUG] >= 1000000000);
	spu_write_window(e, 3, 64, 0, now_ns() + 5000000000);
	assert_int_equal(drain(source), 0);
	assert_int_equal(seen.count, 1);
	/* The SPU is armed in the whole new window: the blind time was before it. */
	assert_true(seen.last[0].armed_ns >= 4000000000);
	source->ops->free(source);
}

/*
 * Intervals are multiples of 256, because the driver programs only such intervals. The mean of the
 * jitter depends on ERnd.
 */
static void test_interval_is_multiple_of_256(void **state)
{
	static const struct {
		u64 interval_ns;
		bool jitter, ernd;
		u32 mean;
	} rows[] = {
		{ 1000000, false, false, 999936 + 1 },	     { 1000000, true, false, 999936 + 128 },
		{ 1000000, true, true, 999936 + 1 },	     { 1, false, true, 1024 + 1 },
		{ UINT64_MAX, false, true, 0xffffff00 + 1 },
	};
	char folder[128];

	(void)state;
	make_pmu("arm_spe_0", "9\n", "0\n");
	snprintf(folder, sizeof(folder), "%s/arm_spe_0", kernel.devices);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct source_config config = plain;
		struct source *source;

		test_row("%llu", (unsigned long long)rows[i].interval_ns);
		config.interval_ns = rows[i].interval_ns;
		config.jitter = rows[i].jitter;
		write_file(folder, "caps/ernd", rows[i].ernd ? "1\n" : "0\n");
		source = open_perf_source(&config);
		assert_row(source->ops->start(source) == 0);
		spu_write_window(&kernel.events[0], 0, 64, 0, now_ns());
		assert_row(drain(source) == 0 && seen.count == 1);
		assert_row(seen.last[0].interval == rows[i].mean);
		source->ops->free(source);
	}
}

/* Samples that were taken with the former interval are reported with that interval. */
static void test_samples_keep_former_interval(void **state)
{
	struct fake_event *e = &kernel.events[0];
	struct source_config slower = plain;
	const char *reason = "";
	struct source *source;

	(void)state;
	source = start_perf_source("0\n");
	spu_write_window(e, 1, 64, 0, now_ns());
	slower.interval_ns = 4000000;
	slower.filter_types = SPE_PMSFCR_LD;
	assert_int_equal(source->ops->configure(source, &slower, &reason), 0);
	assert_true(source->filters);
	assert_int_equal(source->interval_ns, 4000000);
	assert_int_equal(drain(source), 0);
	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.last[0].interval, 999936 + 128);
	assert_int_equal(e->open_count, 2);
	assert_int_equal(e->attr.sample_period, 4000000);
	assert_int_equal(e->enables, 1);
	assert_true(blind_time_has_cause(&seen.empty, SOURCE_BLIND_HANDLING));
	assert_true(seen.empty.blind_ns < 1000000000);
	spu_write_window(e, 2, 64, 0, now_ns() + 1000000000);
	assert_int_equal(drain(source), 0);
	assert_int_equal(seen.last[0].interval, 4000000 + 128);
	assert_int_equal(seen.last[0].blind_ns, 0);
	source->ops->free(source);
}

static void test_clock_conversion(void **state)
{
	static const u64 rates[] = { 1, 1000000, 24000000, 1000000000, 4000000000ULL };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rates); i++) {
		const struct timestamp_clock c = timestamp_clock_make(rates[i], 5 * rates[i], 77);
		u64 second = (u64)((unsigned __int128)(6 * rates[i]) * c.mult >> c.shift) + c.zero;

		test_row("%llu Hz", (unsigned long long)rates[i]);
		/* The time is a second later; the conversion has an error of one part in 2^31. */
		assert_row(second >= 1000000077 - 2 && second <= 1000000077 + 2);
	}
	assert_int_equal(timestamp_clock_make(0, 1, 1).mult, 0);
}

/*
 * If the interval of one CPU changes, its earlier data is reported with the former interval, and
 * other CPUs keep their intervals.
 */
static void test_interval_of_one_cpu(void **state)
{
	const struct source_tune slower = { .cpu = 0, .scale = 4 * SOURCE_TUNE_ONE };
	const struct source_tune slowest = { .cpu = 0, .scale = 8 * SOURCE_TUNE_ONE };
	struct source_tune nowhere = { .cpu = 999, .scale = SOURCE_TUNE_ONE };
	struct fake_event *e = &kernel.events[0];
	struct source *source;
	struct source_cpu cpu;

	(void)state;
	kernel.no_period = false;
	make_pmu("arm_spe_0", "9\n", "0\n");
	source = open_perf_source(&plain);
	assert_int_equal(source->ops->start(source), 0);
	spu_write_window(e, 1, 64, 0, now_ns());
	assert_int_equal(source->ops->tune(source, &nowhere), -ENOENT);
	assert_int_equal(source->ops->tune(source, &slower), 0);
	assert_int_equal(e->attr.sample_period, 4 * 999936);
	spu_write_window(e, 2, 64, 0, now_ns());
	assert_int_equal(drain(source), 0);
	assert_int_equal(seen.count, 3);
	assert_int_equal(seen.last[0].interval, 999936 + 128);
	assert_int_equal(seen.last[1].interval, 999936 + 128);
	assert_int_equal(seen.last[2].interval, 4 * 999936 + 128);
	assert_int_equal(e->open_count, 1);
	assert_int_equal(source->ops->cpu(source, 0, &cpu), 0);
	assert_int_equal(cpu.interval_ns, 4 * 999936);
	/* If the kernel cannot change the period, the source opens another event. */
	kernel.no_period = true;
	assert_int_equal(source->ops->tune(source, &slowest), 0);
	spu_write_window(e, 3, 64, 0, now_ns());
	assert_int_equal(drain(source), 0);
	assert_int_equal(seen.last[seen.count - 1].interval, 4 * 999936 + 128);
	assert_int_equal(e->open_count, 2);
	assert_int_equal(e->attr.sample_period, 8 * 999936);
	kernel.no_period = false;
	source->ops->free(source);
}

int main(void)
{
#define test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		test(test_machine_without_spu),
		test(test_open_errors_have_reasons),
		test(test_sysfs_damaged),
		test(test_attr_follows_sysfs),
		test(test_unsupported_filters_are_dropped),
		test(test_windows_are_delivered),
		test(test_settings_of_newer_kernels),
		test(test_contextidr_is_detected),
		test(test_buffers_wrap_around),
		test(test_truncated_event_is_enabled),
		test(test_lost_windows_are_counted),
		test(test_damaged_aux_records),
		test(test_record_before_aux_head),
		test(test_zero_pmbptr_of_driver),
		test(test_busy_spu_is_blind),
		test(test_unopened_event_is_blind),
		test(test_cpu_hotplug),
		test(test_quiet_spu_is_flushed),
		test(test_failed_start_stops_all),
		test(test_timer_wakes_idle_reader),
		test(test_drain_after_stop),
		test(test_short_hotplug_reopens_event),
		test(test_interval_is_multiple_of_256),
		test(test_samples_keep_former_interval),
		test(test_interval_of_one_cpu),
		test(test_clock_conversion),
		test(test_stop_releases_spu),
		test(test_type_mask_filters),
		test(test_refused_filters),
		test(test_filterable_events_of_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
