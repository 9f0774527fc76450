// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test the status line for the service manager, with a simulated worker. */
#include "test.h"

#include "engine/rate-control.h"
#include "engine/drain-threads.h"
#include "main/notify.h"
#include "state/checkpoint.h"

/* A text about the health of a source that is longer than a status line may be */
static char method[2 * STATUS_SIZE];

/* Replace the function that sets the name of the worker's thread: do nothing. */
static void name_no_thread(struct source *source)
{
	(void)source;
}

static const struct source_ops ops = { .name = "module", .free = name_no_thread };
static struct source source = { .ops = &ops, .method = method, .cpus = 4 };
static struct shared_source shared_source = { .source = &source };
static struct session machine = { .shared_source = &shared_source, .running = true };
static u32 stopped;

int worker_call_readonly(struct worker *worker, worker_fn fn, void *arg)
{
	static struct worker_state state;

	(void)worker;
	source.health.cpus_stopped = stopped;
	shared_source.error = -5;
	return fn(&state, arg);
}

struct checkpoint *checkpoint_get_attached(const struct worker_state *state)
{
	(void)state;
	return NULL;
}

u64 worker_get_heartbeat(struct worker *worker)
{
	(void)worker;
	return 0;
}

struct session *worker_find_session(struct worker_state *state, const char *name)
{
	(void)state;
	(void)name;
	return &machine;
}

void attributor_get_stats(const struct attributor *attributor, struct attributor_stats *ret_stats)
{
	(void)attributor;
	*ret_stats = (struct attributor_stats){ .mappings_unsaved = 3 };
}

void drain_threads_describe(const struct drain_threads *shards, char *ret, size_t size)
{
	(void)shards;
	snprintf(ret, size, " 2 drain threads.");
}

void rate_control_describe(const struct worker_state *state, char *ret, size_t size)
{
	(void)state;
	snprintf(ret, size, " Interval 1 ns.");
}

void health_log_update(struct health_log *log, const struct daemon_health *now, u64 now_ns)
{
	(void)log;
	(void)now;
	(void)now_ns;
}

static void test_status_line(void **state)
{
	static const struct reload_status reloaded = { .waiting = "Rate=" };
	struct notify_state notify = { .reloaded = &reloaded };

	(void)state;
	strcpy(method, "BPF");
	stopped = 1;
	strcpy(source.health.last, "why");
	notify_ready(&notify);
	assert_string_equal(
		notify.status,
		"Sampling 4 CPUs, hardware SPUs, source module, by BPF. 1 not sampled (why)."
		" Reading failed: Input/output error. 3 mappings are not in the checkpoint,"
		" which is full. 2 drain threads. Interval 1 ns. Restart speprofd to apply Rate=.");
}

/* Text that does not fit is truncated, and nothing is written after the buffer. */
static void test_long_status_is_truncated(void **state)
{
	static const struct reload_status reloaded = { .waiting = "Rate=" };
	struct notify_state notify = { .reloaded = &reloaded };

	(void)state;
	for (size_t len = STATUS_SIZE - 400; len < sizeof(method); len += 7) {
		memset(method, 'x', len);
		method[len] = '\0';
		notify_ready(&notify);
		assert_true(strnlen(notify.status, STATUS_SIZE) < STATUS_SIZE);
		assert_memory_equal(notify.status, "Sampling 4 CPUs", 15);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status_line),
		cmocka_unit_test(test_long_status_is_truncated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
