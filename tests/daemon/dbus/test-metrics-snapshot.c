// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test that DumpMetrics returns the statistics of the machine's session that the worker collects.
 */
#include "test.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "dbus/metrics-snapshot.h"
#include "engine/rate-control.h"

/* A source without samples, and with a mean interval of 1 ms */
struct quiet_source {
	struct source source;
	int fd;
};

static int quiet_get_fd(struct source *source)
{
	return ((struct quiet_source *)source)->fd;
}

static int quiet_start(struct source *source __attribute__((unused)))
{
	return 0;
}

static int quiet_drain(struct source *source __attribute__((unused)),
		       const struct source_sink *sink __attribute__((unused)))
{
	return 0;
}

static void quiet_stop(struct source *source __attribute__((unused)))
{
}

static const struct source_ops quiet_ops = {
	.name = "quiet",
	.start = quiet_start,
	.fd = quiet_get_fd,
	.drain = quiet_drain,
	.stop = quiet_stop,
	.free = quiet_stop,
};

static int set_rate_control(struct worker_state *state, void *arg)
{
	state->rate_control = arg;
	return 0;
}

static u64 read_interval(struct worker *worker)
{
	struct metrics_snapshot metrics = { 0 };
	u64 interval;

	assert_int_equal(worker_call_readonly(worker, bus_read_metrics, &metrics), 0);
	interval = metrics.machine.interval_ns;
	metrics_clear(&metrics);
	return interval;
}

/* The exported interval is the mean of the online CPUs, with and without rate control. */
static void test_exported_mean_interval(void **state __attribute__((unused)))
{
	struct quiet_source quiet = {
		.source = { .ops = &quiet_ops, .cpus = 1, .interval_ns = 1000000 }
	};
	const struct source_config sampling = { .interval_ns = 1000000 };
	struct session_config config = { .name = SESSION_MACHINE };
	const struct task_events_status task_status = { 0 };
	struct filter_error error;
	struct worker *worker;
	struct rate_control *rate_control;

	quiet.fd = eventfd(0, EFD_CLOEXEC);
	assert_true(quiet.fd >= 0);
	assert_int_equal(worker_new(NULL, NULL, &task_status, &worker), 0);
	assert_int_equal(shared_source_new(&quiet.source, &sampling, &config.shared_source), 0);
	assert_int_equal(session_rule_new(NULL, NULL, NULL, &config.rule, &error), 0);
	assert_int_equal(worker_call(worker, worker_add_session, &config), 0);
	assert_int_equal(read_interval(worker), 1000000);
	assert_int_equal(rate_control_new(2, &rate_control), 0);
	worker_call(worker, set_rate_control, rate_control);
	rate_control->scales[1].scale = 3 * RATE_CONTROLLER_ONE;
	assert_int_equal(read_interval(worker), 2000000);
	worker_call(worker, set_rate_control, NULL);
	rate_control_free(rate_control);
	worker_free(worker);
	close(quiet.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exported_mean_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
