// SPDX-License-Identifier: LGPL-2.1-or-later
/* The source that stands in for one that is exchanged: all its time is blind, once. */
#include "test.h"

#include "away.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

#define CPUS 2

struct seen {
	u64 blind_ns[CPUS];
	u32 windows;
};

static u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000000000ULL + (u64)ts.tv_nsec;
}

static int was_cpu(struct source *source, u32 index, struct source_cpu *ret_cpu)
{
	if (index >= source->cpus)
		return -ENOENT;
	/* The last one is away: nobody is to be told of it. */
	*ret_cpu = (struct source_cpu){ .cpu = index < CPUS ? index * 4 : 3,
					.midr = 0x410fd0c0,
					.state = index < CPUS ? "sampling" : "offline" };
	return 0;
}

static const struct source_ops was_ops = { .name = "module", .cpu = was_cpu };

static struct source *away_of(struct source *was, u64 since_ns)
{
	struct source *away;

	*was = (struct source){ .ops = &was_ops, .by = "io_uring", .cpus = CPUS + 1,
				.backend = BACKEND_HARDWARE, .interval_ns = 1000 };
	was->trouble.faults = 7;
	was->locked = 4096;
	assert_int_equal(source_away_new(was, since_ns, &away), 0);
	return away;
}

static void see(void *ctx, const struct source_window *window)
{
	struct seen *seen = ctx;

	assert_int_equal(window->cpu % 4, 0);
	assert_int_equal(window->len, 0);
	assert_int_equal(window->backend, BACKEND_HARDWARE);
	assert_true(window->start_ns == window->end_ns);
	seen->blind_ns[window->cpu / 4] += window->blind_ns;
	seen->windows++;
}

static void drain(struct source *away, struct seen *seen)
{
	const struct source_sink sink = { .window = see, .ctx = seen };

	assert_int_equal(away->ops->drain(away, &sink), 0);
}

static void test_all_of_it_once(void **state)
{
	struct seen seen = { 0 };
	u64 began = now_ns() - 5000000000, before, after;
	struct source was, *away = away_of(&was, began);

	(void)state;
	assert_int_equal(away->ops->start(away), 0);
	drain(away, &seen);
	drain(away, &seen);
	before = now_ns();
	drain(away, &seen);
	after = now_ns();
	for (int i = 0; i < CPUS; i++) {
		assert_true(seen.blind_ns[i] >= before - began);
		assert_true(seen.blind_ns[i] <= after - began);
	}
	away->ops->free(away);
}

/* What was blind before a stop is told after it; what comes then is not blind. */
static void test_stopped(void **state)
{
	struct seen seen = { 0 };
	u64 began = now_ns() - 3000000000, told;
	struct source was, *away = away_of(&was, began);

	(void)state;
	away->ops->start(away);
	away->ops->stop(away);
	told = now_ns() - began;
	drain(away, &seen);
	assert_in_range(seen.blind_ns[0], 3000000000, told);
	drain(away, &seen);
	assert_int_equal(seen.windows, CPUS);
	away->ops->start(away);
	drain(away, &seen);
	assert_true(seen.blind_ns[1] < told + now_ns() - began - 3000000000);
	away->ops->free(away);
}

/* Nothing ran: nothing is blind until somebody starts it. */
static void test_not_started(void **state)
{
	struct seen seen = { 0 };
	struct source was, *away = away_of(&was, 0);

	(void)state;
	drain(away, &seen);
	assert_int_equal(seen.windows, 0);
	away->ops->start(away);
	drain(away, &seen);
	assert_in_range(seen.blind_ns[0], 0, 2000000000);
	away->ops->free(away);
}

static void test_looks_like_it(void **state)
{
	const struct source_config config = { .interval_ns = 5000 };
	struct source was, *away = away_of(&was, 0);
	struct pollfd fd = { .fd = away->ops->fd(away), .events = POLLIN };
	const struct source_tune tune = { .scale = 2 * SOURCE_TUNE_ONE };
	struct source_cpu cpu;
	const char *reason;

	(void)state;
	assert_true(away->away && !away->by);
	assert_string_equal(away->ops->name, "module");
	assert_int_equal(away->trouble.faults, 7);
	assert_int_equal(away->ops->cpu(away, 1, &cpu), 0);
	assert_int_equal(cpu.cpu, 4);
	assert_string_equal(cpu.state, "stopped");
	assert_int_equal(away->ops->cpu(away, CPUS, &cpu), 0);
	assert_string_equal(cpu.state, "offline");
	assert_int_equal(away->ops->cpu(away, CPUS + 1, &cpu), -ENOENT);
	assert_int_equal(away->ops->numbered(away, 4, &cpu), 0);
	assert_int_equal(cpu.cpu, 4);
	assert_int_equal(away->ops->numbered(away, 1000, &cpu), -ENOENT);
	assert_int_equal(away->ops->configure(away, &config, &reason), 0);
	assert_int_equal(away->interval_ns, 5000);
	/* Not "it cannot be tuned", which would hold for what comes after it. */
	assert_int_equal(away->ops->tune(away, &tune), -ENOENT);
	assert_int_equal(away->locked, 0);
	/* It wakes its reader by itself. */
	assert_int_equal(poll(&fd, 1, 5000), 1);
	away->ops->free(away);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_of_it_once),
		cmocka_unit_test(test_stopped),
		cmocka_unit_test(test_not_started),
		cmocka_unit_test(test_looks_like_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
