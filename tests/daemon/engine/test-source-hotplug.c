// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test that a new source of the module replaces one that has no ring for a new CPU. */
#include "test.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "engine/source-hotplug.h"
#include "engine/source-open.h"
#include "profile/profile-read.h"

/* A source without windows, and with CPUs that it does not sample */
struct fake_source {
	struct source source;
	u32 unsampled;
	int error; /* result of start() */
	bool enabled;
	bool freed;
};

static struct fake_source first, second;
static int fd;

static struct fake_source *get_fake_source(const struct source *source)
{
	return (struct fake_source *)source;
}

static int fake_start(struct source *source)
{
	if (get_fake_source(source)->error)
		return get_fake_source(source)->error;
	get_fake_source(source)->enabled = true;
	return 0;
}

static int fake_get_fd(struct source *source __attribute__((unused)))
{
	return fd;
}

static int fake_drain(struct source *source __attribute__((unused)),
			const struct source_sink *sink __attribute__((unused)))
{
	return 0;
}

static void fake_stop(struct source *source)
{
	get_fake_source(source)->enabled = false;
}

static void fake_free(struct source *source)
{
	assert_false(get_fake_source(source)->enabled);
	get_fake_source(source)->freed = true;
}

static int fake_describe_cpu(struct source *source, u32 cpu, struct source_cpu *ret_cpu)
{
	if (cpu >= source->cpus)
		return -ENOENT;
	*ret_cpu = (struct source_cpu){ .cpu = cpu, .state = "sampling" };
	return 0;
}

static u32 fake_count_unsampled_cpus(const struct source *source)
{
	return get_fake_source(source)->unsampled;
}

static const struct source_ops fake_ops = {
	.name = "module",
	.start = fake_start,
	.fd = fake_get_fd,
	.drain = fake_drain,
	.stop = fake_stop,
	.free = fake_free,
	.cpu = fake_describe_cpu,
	.unsampled = fake_count_unsampled_cpus,
};

int source_open(const struct config *config __attribute__((unused)),
		const struct source_config *sampling __attribute__((unused)),
		struct source **ret_source,
		struct source_open_result *ret_result __attribute__((unused)))
{
	second.freed = false;
	*ret_source = &second.source;
	return 0;
}

static const struct source *source_now;
static u64 blind_now;

static int read_state(struct worker_state *state, void *arg __attribute__((unused)))
{
	const struct session *machine = worker_find_session(state, NULL);

	source_now = machine->shared_source->source;
	blind_now = profile_get_header(machine->profile)->blind_ns;
	return 0;
}

static struct worker *begin_sampling(void)
{
	const struct source_config sampling = { .interval_ns = 1000000 };
	const struct task_events_status task_status = { 0 };
	struct session_config config = { .name = SESSION_MACHINE };
	struct filter_error error;
	struct worker *worker;

	fd = eventfd(0, EFD_CLOEXEC);
	first = (struct fake_source){ .source = { .ops = &fake_ops, .cpus = 1, .cpu_end = 1 },
					.unsampled = 1 };
	second =
		(struct fake_source){ .source = { .ops = &fake_ops, .cpus = 2, .cpu_end = 2 } };
	assert_int_equal(worker_new(NULL, NULL, &task_status, &worker), 0);
	assert_int_equal(shared_source_new(&first.source, &sampling, &config.shared_source), 0);
	assert_int_equal(session_rule_new(NULL, NULL, NULL, &config.rule, &error), 0);
	assert_int_equal(worker_call(worker, worker_add_session, &config), 0);
	assert_int_equal(worker_call(worker, worker_start_session, NULL), 0);
	return worker;
}

static int sample_new_cpus(struct worker *worker, struct source_new_cpus *ret)
{
	static const struct config config = CONFIG_DEFAULT;
	int r;

	*ret = (struct source_new_cpus){ .config = &config };
	r = worker_call(worker, source_sample_new_cpus, ret);
	worker_call(worker, read_state, NULL);
	return r;
}

static void test_new_source_replaces_old(void **state __attribute__((unused)))
{
	struct worker *worker = begin_sampling();
	struct source_new_cpus new_cpus;

	assert_int_equal(sample_new_cpus(worker, &new_cpus), 0);
	assert_int_equal(new_cpus.ret_cpus, 1);
	assert_int_equal(new_cpus.ret_replaced, 1);
	assert_true(first.freed && second.enabled);
	assert_ptr_equal(source_now, &second.source);
	/* Between the two sources the session was blind, on the only CPU of the first source. */
	assert_int_equal(blind_now, new_cpus.ret_blind_ns);
	/* All CPUs are sampled now. */
	assert_int_equal(sample_new_cpus(worker, &new_cpus), 0);
	assert_int_equal(new_cpus.ret_replaced, 0);
	worker_free(worker);
	assert_true(second.freed);
	close(fd);
}

static void test_old_source_continues_on_error(void **state __attribute__((unused)))
{
	struct worker *worker = begin_sampling();
	struct source_new_cpus new_cpus;

	second.error = -EBUSY;
	assert_int_equal(sample_new_cpus(worker, &new_cpus), -EBUSY);
	assert_non_null(strstr(new_cpus.ret_reason, "could not be enabled"));
	assert_true(second.freed && first.enabled && !first.freed);
	assert_ptr_equal(source_now, &first.source);
	assert_int_equal(blind_now, new_cpus.ret_blind_ns);
	second.error = 0;
	assert_int_equal(sample_new_cpus(worker, &new_cpus), 0);
	assert_int_equal(new_cpus.ret_cpus, 1);
	assert_ptr_equal(source_now, &second.source);
	assert_true(second.enabled);
	worker_free(worker);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_new_source_replaces_old),
		cmocka_unit_test(test_old_source_continues_on_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
