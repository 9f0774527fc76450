// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test one and several drain threads, with a source that has one partition for each thread: during
 * calls of all kinds each window is counted once, for the task that ran then, and each call gets a
 * reply. The build with -fsanitize=thread (workers-threads) also detects data races.
 */
#include "test.h"

#include "dbus/property-cache.h"
#include "engine/drain-threads.h"
#include "engine/worker.h"
#include "profile/profile-read.h"
#include "source/partitioned.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define RECORDS 2 /* number of records of a window */
#define PARTS	3
#define MOST	4 /* partitions */
#define ROUNDS	60

/**
 * struct fake_source - a source of one CPU, to which a test adds windows
 * @waiting: number of windows to drain
 * @strangers: each window is of another unknown thread, the last of which is @tid
 * @parts: number of partitions of the machine's source; this source is one of them, with its share
 * of MOST CPUs. 0: it is no partition. @waiting then counts rounds with a window of each CPU. The
 * records of a window depend on CPU and @round
 */
struct fake_source {
	struct source source;
	int fd;
	u32 cpu;
	u32 waiting;
	bool strangers;
	s32 tid;
	u32 parts;
	u32 round;
};

static struct fake_source *get_fake_source(struct source *source)
{
	return (struct fake_source *)source;
}

static int fake_start(struct source *source __attribute__((unused)))
{
	return 0;
}

static void fake_stop(struct source *source __attribute__((unused)))
{
}

static int fake_get_fd(struct source *source)
{
	return get_fake_source(source)->fd;
}

static size_t fill_records(u8 *bytes, size_t size)
{
	const struct spe_sample sample = {
		.present = SPE_HAS_ADDRESS(0) | SPE_HAS_EVENTS | SPE_HAS_OP,
		.address = { 0x400000 },
		.op_class = SPE_OP_LOAD_STORE,
		.events = 1 << 1,
		.events_size = 2,
	};
	size_t len = 0;

	for (u32 i = 0; i < RECORDS; i++) {
		int n = spe_record_encode(&sample, bytes + len, size - len);

		assert_true(n > 0);
		len += (size_t)n;
	}
	return len;
}

/* Fill @bytes with different records, which depend only on @cpu and @round. */
static size_t fill_different_records(u8 *bytes, size_t size, u32 cpu, u32 round)
{
	size_t len = 0;

	for (u32 i = 0; i < RECORDS; i++) {
		u32 x = (cpu * 7919 + round * 104729 + i * 31) * 2654435761U;
		const struct spe_sample sample = {
			.present = SPE_HAS_ADDRESS(0) | SPE_HAS_EVENTS | SPE_HAS_OP |
				   SPE_HAS_COUNTER(SPE_COUNTER_TOTAL),
			.address = { 0x400000 + (x >> 8 & 63) * 4 },
			.counter = { [SPE_COUNTER_TOTAL] = (u16)(x >> 20) },
			.op_class = x >> 14 & 1 ? SPE_OP_LOAD_STORE : SPE_OP_OTHER,
			.op_subclass = x >> 15 & 1,
			.events = 2 | (x >> 16 & 3) << 2,
			.events_size = 2,
		};
		int n = spe_record_encode(&sample, bytes + len, size - len);

		assert_true(n > 0);
		len += (size_t)n;
	}
	return len;
}

static void deliver_round(struct fake_source *fake, const struct source_sink *sink)
{
	u8 bytes[64 * RECORDS];

	for (u32 cpu = fake->cpu; cpu < MOST; cpu += fake->parts) {
		const struct source_window window = {
			.data = bytes,
			.len = fill_different_records(bytes, sizeof(bytes), cpu, fake->round),
			.cpu = cpu,
			.tid = cpu % 2 ? -1 : 0, /* an unknown thread, or the idle task */
			.start_ns = 1,
			.end_ns = 2,
			.written = RECORDS,
			.interval = 1000 + cpu,
		};

		sink->window(sink->ctx, &window);
	}
	fake->round++;
}

static int fake_drain(struct source *source, const struct source_sink *sink)
{
	struct fake_source *fake = get_fake_source(source);
	u32 n = __atomic_exchange_n(&fake->waiting, 0, __ATOMIC_ACQ_REL);
	u8 bytes[64 * RECORDS];
	struct source_window window = {
		.data = bytes,
		.len = fill_records(bytes, sizeof(bytes)),
		.cpu = fake->cpu,
		.tid = -1,
		.start_ns = 1,
		.end_ns = 2,
		.written = RECORDS,
	};
	u64 count;

	(void)!read(fake->fd, &count, sizeof(count));
	for (u32 i = 0; i < n; i++) {
		if (fake->parts) {
			deliver_round(fake, sink);
			continue;
		}
		if (fake->strangers)
			window.tid = ++fake->tid;
		sink->window(sink->ctx, &window);
	}
	return 0;
}

static int fake_describe_cpu(struct source *source, u32 cpu, struct source_cpu *ret_cpu)
{
	*ret_cpu = (struct source_cpu){ .cpu = cpu, .midr = 1 + get_fake_source(source)->cpu };
	return 0;
}

static void fake_free(struct source *source)
{
	struct fake_source *fake = get_fake_source(source);

	close(fake->fd);
	free(fake);
}

static int fake_configure(struct source *source __attribute__((unused)),
			    const struct source_config *config __attribute__((unused)),
			    const char **ret_reason __attribute__((unused)))
{
	return 0;
}

static const struct source_ops fake_ops = {
	.name = "fake",
	.start = fake_start,
	.fd = fake_get_fd,
	.drain = fake_drain,
	.stop = fake_stop,
	.free = fake_free,
	.configure = fake_configure,
	.cpu = fake_describe_cpu,
};

/* @parts: number of partitions of the machine's source; 1: it is not partitioned */
struct fixture {
	u32 parts;
	struct worker *worker;
	struct shared_source *shared_source;
	struct source *part[MOST];
	u32 added; /* number of windows that were added, each of RECORDS records */
	bool quit;
};

static struct source *fake_source_new(u32 cpu)
{
	struct fake_source *fake = calloc(1, sizeof(*fake));

	assert_non_null(fake);
	*fake = (struct fake_source){ .source = { .ops = &fake_ops, .cpus = 1 }, .cpu = cpu };
	fake->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	assert_true(fake->fd >= 0);
	return &fake->source;
}

static int add_filtered_session(struct fixture *f, const char *name, const char *filter)
{
	struct session_config config = {
		.name = name,
		.shared_source = shared_source_get(f->shared_source),
		.shared = strcmp(name, SESSION_MACHINE) != 0,
		.flight_bytes = FLIGHT_MIN,
	};
	struct filter_error error;

	assert_int_equal(session_rule_new(NULL, filter, NULL, &config.rule, &error), 0);
	return worker_call(f->worker, worker_add_session, &config);
}

static int add_session(struct fixture *f, const char *name)
{
	return add_filtered_session(f, name, NULL);
}

/* @filter: filter of the machine's session */
static struct fixture *fixture_new_with_filter(u32 parts, const char *filter)
{
	const struct source_config sampling = { .interval_ns = 1000000 };
	const struct task_events_status task_status = { 0 };
	const struct memory_plan plan = { .workers = parts };
	struct fixture *f = calloc(1, sizeof(*f));
	struct source *source;

	assert_non_null(f);
	f->parts = parts;
	for (u32 i = 0; i < parts; i++)
		f->part[i] = fake_source_new(i);
	source = f->part[0];
	if (parts > 1)
		assert_int_equal(source_partitioned_new(f->part, parts, &sampling, &source), 0);
	assert_int_equal(shared_source_new(source, &sampling, &f->shared_source), 0);
	assert_int_equal(worker_new(&plan, NULL, &task_status, &f->worker), 0);
	assert_int_equal(add_filtered_session(f, SESSION_MACHINE, filter), 0);
	return f;
}

static struct fixture *fixture_new(u32 parts)
{
	return fixture_new_with_filter(parts, NULL);
}

static void fixture_free(struct fixture *f)
{
	worker_free(f->worker);
	shared_source_put(f->shared_source);
	free(f);
}

/* Add a window to partition @part. If @notify is set, wake the drain thread of the partition. */
static void add_window(struct fixture *f, u32 part, bool notify)
{
	struct fake_source *fake = get_fake_source(f->part[part % f->parts]);
	const u64 one = 1;

	__atomic_add_fetch(&fake->waiting, 1, __ATOMIC_ACQ_REL);
	if (notify)
		assert_int_equal(write(fake->fd, &one, sizeof(one)), sizeof(one));
	f->added++;
}

struct seen_counts {
	const char *session;
	u64 records;
	u64 windows;
};

static int read_state(struct worker_state *state, void *arg)
{
	struct seen_counts *seen = arg;
	const struct session *session = worker_find_session(state, seen->session);

	seen->records = profile_get_header(session->profile)->records;
	seen->windows = 0;
	for (u32 i = 0; i < session->shared_source->cpu_count; i++)
		seen->windows += session->shared_source->cpus[i].windows;
	return 0;
}

/* Return the number of records of @session. The query does not drain. */
static u64 count_session_records(struct fixture *f, const char *session)
{
	struct seen_counts seen = { .session = session };

	assert_int_equal(worker_call(f->worker, read_state, &seen), 0);
	return seen.records;
}

/* Check that windows that wait when a session starts belong only to sessions that ran before. */
static void check_late_windows(u32 parts)
{
	struct fixture *f = fixture_new(parts);

	assert_int_equal(add_session(f, "late"), 0);
	assert_int_equal(worker_call(f->worker, worker_start_session, NULL), 0);
	for (u32 i = 0; i < 4 * PARTS; i++)
		add_window(f, i, false);
	assert_int_equal(worker_call(f->worker, worker_start_session, (void *)"late"), 0);
	assert_int_equal(worker_call(f->worker, worker_stop_session, (void *)"late"), 0);
	assert_int_equal(count_session_records(f, "late"), 0);
	assert_int_equal(count_session_records(f, NULL), RECORDS * f->added);
	/* Windows that arrive while the session runs belong to it. */
	assert_int_equal(worker_call(f->worker, worker_start_session, (void *)"late"), 0);
	for (u32 i = 0; i < PARTS; i++)
		add_window(f, i, false);
	assert_int_equal(worker_call(f->worker, worker_stop_session, (void *)"late"), 0);
	assert_int_equal(count_session_records(f, "late"), RECORDS * PARTS);
	fixture_free(f);
}

static void test_late_windows(void **state __attribute__((unused)))
{
	check_late_windows(1);
	check_late_windows(PARTS);
}

/* Make all kinds of calls while windows arrive. */
static void make_all_calls(struct fixture *f, u32 round)
{
	struct worker_view_request view = { .group = round % VIEW_GROUPS,
					    .span = round % VIEW_SPANS };
	struct worker_hot_request hot = { 0 };
	struct worker_change_request change = { .interval_ns = 1000 + round };

	assert_int_equal(worker_call_readonly(f->worker, worker_make_view, &view), 0);
	view_clear(&view.view);
	assert_int_equal(worker_call(f->worker, worker_write_hot_json, &hot), 0);
	free(hot.text);
	assert_int_equal(worker_call(f->worker, worker_change_session, &change), 0);
	if (round % 4 == 1)
		assert_int_equal(add_session(f, "other"), 0);
	if (round % 4 == 2)
		assert_int_equal(worker_call(f->worker, worker_start_session, (void *)"other"), 0);
	if (round % 8 == 3)
		assert_int_equal(worker_call(f->worker, worker_stop_session, (void *)"other"), 0);
	if (round % 4 == 3)
		assert_int_equal(worker_call(f->worker, worker_remove_session, (void *)"other"), 0);
	worker_get_heartbeat(f->worker);
}

static void *add_windows_thread(void *arg)
{
	struct fixture *f = arg;

	for (u32 i = 0; i < 50 * ROUNDS; i++)
		add_window(f, i, true);
	return NULL;
}

/* While windows and calls arrive at the same time, no window is lost or counted twice. */
static void check_windows_and_calls_at_once(u32 parts)
{
	struct fixture *f = fixture_new(parts);
	struct seen_counts seen = { 0 };
	pthread_t thread;

	assert_int_equal(worker_call(f->worker, worker_start_session, NULL), 0);
	assert_int_equal(pthread_create(&thread, NULL, add_windows_thread, f), 0);
	for (u32 round = 0; round < ROUNDS; round++)
		make_all_calls(f, round);
	pthread_join(thread, NULL);
	assert_int_equal(worker_call(f->worker, worker_stop_session, NULL), 0);
	assert_int_equal(worker_call(f->worker, read_state, &seen), 0);
	assert_int_equal(seen.records, RECORDS * f->added);
	assert_int_equal(seen.windows, f->added);
	assert_int_equal(worker_call(f->worker, worker_reset_session, NULL), 0);
	assert_int_equal(count_session_records(f, NULL), 0);
	fixture_free(f);
}

static void test_at_once(void **state __attribute__((unused)))
{
	check_windows_and_calls_at_once(1);
	check_windows_and_calls_at_once(PARTS);
}

/* A TID that no process has, so that a window of it changes the tables of tasks. */
#define STRANGERS (1 << 23)
#define BACKLOG	  16 /* number of windows of each partition, while a CPU is queried */

/* Keep windows to drain in each partition until the queries end. */
static void *flood_partitions_thread(void *arg)
{
	struct fixture *f = arg;

	for (u32 i = 0; !__atomic_load_n(&f->quit, __ATOMIC_ACQUIRE); i++) {
		struct fake_source *fake = get_fake_source(f->part[i % PARTS]);

		if (__atomic_load_n(&fake->waiting, __ATOMIC_ACQUIRE) < BACKLOG)
			add_window(f, i, true);
		else
			sched_yield();
	}
	return NULL;
}

/*
 * Query a CPU while the drain thread of its partition waits for the write lock. If both waited for
 * each other, they would deadlock.
 */
static void test_cpu_query_does_not_deadlock(void **state __attribute__((unused)))
{
	struct fixture *f = fixture_new(PARTS);
	struct property_cache facts = { 0 };
	const struct cpu_properties *cpu;
	pthread_t thread;

	for (u32 i = 0; i < PARTS; i++) {
		get_fake_source(f->part[i])->strangers = true;
		get_fake_source(f->part[i])->tid = (s32)(STRANGERS * (1 + i));
	}
	assert_int_equal(worker_call(f->worker, worker_start_session, NULL), 0);
	assert_int_equal(pthread_create(&thread, NULL, flood_partitions_thread, f), 0);
	for (u32 i = 0; i < 10 * ROUNDS; i++) {
		property_cache_invalidate(&facts);
		assert_int_equal(property_cache_get_cpu(&facts, f->worker, i % PARTS, &cpu), 0);
		assert_int_equal(cpu->cpu.midr, 1 + i % PARTS);
	}
	__atomic_store_n(&f->quit, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	assert_int_equal(worker_call(f->worker, worker_stop_session, NULL), 0);
	assert_int_equal(count_session_records(f, NULL), RECORDS * f->added);
	fixture_free(f);
}

/* End the worker while windows arrive. */
static void test_worker_ends_while_draining(void **state __attribute__((unused)))
{
	for (u32 i = 0; i < ROUNDS; i++) {
		struct fixture *f = fixture_new(1 + i % PARTS);

		assert_int_equal(worker_call(f->worker, worker_start_session, NULL), 0);
		for (u32 k = 0; k < 10; k++)
			add_window(f, k, true);
		if (i % 2)
			assert_int_equal(worker_call(f->worker, worker_stop_session, NULL), 0);
		fixture_free(f);
	}
}

static int read_meter(struct worker_state *state, void *arg)
{
	struct drain_meter *meter = arg;

	*meter = drain_threads_sum_meters(state->drain_threads);
	return 0;
}

/* Return the meters after the drain threads have counted all windows. */
static struct drain_meter get_drain_meter(struct fixture *f)
{
	struct drain_meter meter;
	struct seen_counts seen = { 0 };

	while (seen.records < RECORDS * f->added) {
		assert_int_equal(worker_call_readonly(f->worker, read_state, &seen), 0);
		sched_yield();
	}
	assert_int_equal(worker_call_readonly(f->worker, read_meter, &meter), 0);
	return meter;
}

/*
 * The work of the drain threads is metered. Work in a bus call is not, because it is no cost of
 * sampling.
 */
static void check_drains_are_metered(u32 parts)
{
	struct fixture *f = fixture_new(parts);
	struct drain_meter before = { 0 }, after;
	u8 bytes[64 * RECORDS];

	assert_int_equal(worker_call(f->worker, worker_start_session, NULL), 0);
	for (u32 i = 0; i < PARTS; i++)
		add_window(f, i, true);
	before = get_drain_meter(f);
	assert_int_equal(before.bytes, PARTS * fill_records(bytes, sizeof(bytes)));
	assert_true(before.ns > 0);
	for (u32 i = 0; i < ROUNDS; i++) {
		struct worker_view_request view = { .group = VIEW_PROCESS };

		add_window(f, i, false);
		assert_int_equal(worker_call_readonly(f->worker, worker_make_view, &view), 0);
		assert_int_equal(view.view.header.records, RECORDS * f->added);
		view_clear(&view.view);
	}
	after = get_drain_meter(f);
	assert_int_equal(after.bytes, before.bytes);
	assert_int_equal(after.ns, before.ns);
	fixture_free(f);
}

static void test_drains_are_metered(void **state __attribute__((unused)))
{
	check_drains_are_metered(1);
	check_drains_are_metered(PARTS);
}

/* Sums over a view, which do not depend on the order of its rows */
struct view_sums {
	u64 records;
	u64 filtered;
	u64 bytes;
	u64 decoded;
	u64 written;
	u64 unattributed;
	u64 weight;
	u64 rows;
	u64 hash;
};

static u64 compute_hash(const void *data, size_t size)
{
	u64 hash = 0xcbf29ce484222325ULL;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ ((const u8 *)data)[i]) * 0x100000001b3ULL;
	return hash;
}

static struct view_sums get_view_sums(struct fixture *f, const char *session, enum view_group group)
{
	struct worker_view_request view = { .session = session, .group = group, .limit = 1000 };
	const struct view_header *h = &view.view.header;
	struct view_sums sums;

	assert_int_equal(worker_call_readonly(f->worker, worker_make_view, &view), 0);
	sums = (struct view_sums){ .records = h->records,
				   .filtered = h->filtered,
				   .bytes = h->bytes,
				   .decoded = h->decoded,
				   .written = h->written,
				   .unattributed = h->unattributed,
				   .weight =
					   h->weight[UNIT_MICRO_OPS] + h->weight[UNIT_INSTRUCTIONS],
				   .rows = view.view.count };
	for (u32 i = 0; i < view.view.count; i++) {
		const struct view_row *row = &view.view.rows[i];

		sums.hash +=
			compute_hash(row, offsetof(struct view_row, container)) ^
			compute_hash(row->function, strlen(row->function)) ^
			compute_hash(row->level, sizeof(*row) - offsetof(struct view_row, level));
	}
	view_clear(&view.view);
	return sums;
}

#define LOADS "op == load"

/* Run the machine's session with @filter; @loads: and another session that counts loads. */
static struct fixture *run_mixed_windows(u32 parts, const char *filter, bool loads)
{
	struct fixture *f = fixture_new_with_filter(parts, filter);

	for (u32 i = 0; i < parts; i++)
		get_fake_source(f->part[i])->parts = parts;
	assert_int_equal(worker_call(f->worker, worker_start_session, NULL), 0);
	if (loads) {
		assert_int_equal(add_filtered_session(f, "loads", LOADS), 0);
		assert_int_equal(worker_call(f->worker, worker_start_session, (void *)"loads"), 0);
	}
	for (u32 round = 0; round < 4 * ROUNDS; round++) {
		for (u32 i = 0; i < parts; i++)
			add_window(f, i, round % 3);
		/* Merge the shards from time to time. */
		if (round % 16 == 5)
			get_view_sums(f, NULL, VIEW_PROCESS);
	}
	return f;
}

static void assert_same_views(struct fixture *a, const char *in_a, struct fixture *b,
			      const char *in_b)
{
	static const enum view_group groups[] = { VIEW_PROCESS, VIEW_FUNCTION, VIEW_CONTAINER };

	for (u32 i = 0; i < ARRAY_SIZE(groups); i++) {
		const struct view_sums x = get_view_sums(a, in_a, groups[i]),
				       y = get_view_sums(b, in_b, groups[i]);

		assert_int_equal(x.records, y.records);
		assert_true(x.records && x.rows);
		assert_memory_equal(&x, &y, sizeof(x));
	}
}

/* A profile is the same with 1, 2 and 4 drain threads, and while another session runs. */
static void test_profile_is_same_for_any_threads(void **state __attribute__((unused)))
{
	struct fixture *alone = run_mixed_windows(1, NULL, false),
		       *loads = run_mixed_windows(1, LOADS, false);

	for (u32 parts = 1; parts <= MOST; parts *= 2) {
		struct fixture *both = run_mixed_windows(parts, NULL, true);

		test_row("%u drain threads", parts);
		assert_same_views(both, NULL, alone, NULL);
		assert_same_views(both, "loads", loads, NULL);
		fixture_free(both);
	}
	fixture_free(loads);
	fixture_free(alone);
}

/* usage: test-workers [TEST] */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_profile_is_same_for_any_threads),
		cmocka_unit_test(test_late_windows),
		cmocka_unit_test(test_at_once),
		cmocka_unit_test(test_cpu_query_does_not_deadlock),
		cmocka_unit_test(test_drains_are_metered),
		cmocka_unit_test(test_worker_ends_while_draining),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
