// SPDX-License-Identifier: LGPL-2.1-or-later
/* DumpProfile: what is done when its time comes is charged to whoever asked. */
#include "test.h"

#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bus-internal.h"
#include "bus-profile.h"

#define READER 4711

/* ---- What the rest of the bus does, and is not tried here ------------------ */

int bus_invalid(sd_bus_error *error, const char *argument, const char *value, const char *right)
{
	(void)error;
	fail_msg("%s %s: should be %s", argument, value, right);
	return -1;
}

int bus_enqueue(struct bus *bus, sd_bus_message *message, const void *what, sd_bus_error *error)
{
	(void)bus;
	(void)message;
	(void)what;
	(void)error;
	fail_msg("nothing waits here");
	return -1;
}

int bus_peer_follow(struct bus_peer *peer, sd_bus *bus, const char *name, void (*gone)(void *ctx),
		    void *ctx)
{
	(void)bus;
	(void)name;
	*peer = (struct bus_peer){ .gone = gone, .ctx = ctx };
	return 0;
}

void bus_peer_forget(struct bus_peer *peer)
{
	*peer = (struct bus_peer){ 0 };
}

/* ---- A source that brings nothing ------------------------------------------ */

static int quiet_fd(struct source *source)
{
	return *(int *)(source + 1);
}

static int quiet_start(struct source *source)
{
	(void)source;
	return 0;
}

static int quiet_drain(struct source *source, const struct source_sink *sink)
{
	(void)source;
	(void)sink;
	return 0;
}

static void quiet_stop(struct source *source)
{
	(void)source;
}

static const struct source_ops quiet_ops = {
	.name = "quiet",
	.start = quiet_start,
	.fd = quiet_fd,
	.drain = quiet_drain,
	.stop = quiet_stop,
	.free = quiet_stop,
};

static struct {
	struct {
		struct source source;
		int fd;
	} quiet;
	struct worker *worker;
	sd_event *event;
	sd_bus *other;
	struct bus bus;
} fake;

static void add_machine(void)
{
	const struct source_config sampling = { .interval_ns = 1000000 };
	struct session_config config = { .name = SESSION_MACHINE };
	struct filter_error error;

	fake.quiet.source = (struct source){ .ops = &quiet_ops, .cpus = 1 };
	fake.quiet.fd = eventfd(0, EFD_CLOEXEC);
	assert_int_equal(feed_new(&fake.quiet.source, &sampling, &config.feed), 0);
	assert_int_equal(session_rule_new(NULL, NULL, NULL, &config.rule, &error), 0);
	assert_int_equal(worker_call(fake.worker, worker_add, &config), 0);
}

static void bus_end(int fd, bool server, sd_bus **ret_bus)
{
	const sd_id128_t id = { .qwords = { 1, 2 } };

	assert_true(sd_bus_new(ret_bus) >= 0);
	assert_true(sd_bus_set_fd(*ret_bus, fd, fd) >= 0);
	assert_true(sd_bus_negotiate_fds(*ret_bus, 1) >= 0);
	if (server)
		assert_true(sd_bus_set_server(*ret_bus, 1, id) >= 0);
	assert_true(sd_bus_start(*ret_bus) >= 0);
}

static int setup(void **state)
{
	const struct task_events_status told = { 0 };
	int fds[2];

	(void)state;
	memset(&fake, 0, sizeof(fake));
	assert_int_equal(worker_new(NULL, NULL, &told, &fake.worker), 0);
	add_machine();
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds),
			 0);
	/* An answer with a descriptor is sent once both ends know that descriptors may be. */
	bus_end(fds[0], false, &fake.bus.bus);
	bus_end(fds[1], true, &fake.other);
	while (sd_bus_is_ready(fake.bus.bus) <= 0) {
		assert_true(sd_bus_process(fake.bus.bus, NULL) >= 0);
		assert_true(sd_bus_process(fake.other, NULL) >= 0);
	}
	assert_true(sd_event_new(&fake.event) >= 0);
	assert_true(sd_bus_attach_event(fake.bus.bus, fake.event, 0) >= 0);
	fake.bus.worker = fake.worker;
	fake.bus.caller = (struct bus_caller){ .name = ":1.7", .uid = READER, .reads = true };
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	bus_profiles_end(&fake.bus);
	sd_bus_detach_event(fake.bus.bus);
	sd_event_unref(fake.event);
	sd_bus_close_unref(fake.bus.bus);
	worker_free(fake.worker);
	sd_bus_close_unref(fake.other);
	close(fake.quiet.fd);
	return 0;
}

static bool is_taken(void)
{
	for (u32 i = 0; i < PPROF_AT_ONCE; i++)
		if (fake.bus.profiles[i])
			return true;
	return false;
}

static void ask(u32 seconds)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	sd_bus_message *m;

	assert_true(sd_bus_message_new_method_call(fake.bus.bus, &m, "a.b", "/", "a.b",
						   "DumpProfile") >= 0);
	assert_true(sd_bus_message_append(m, "u", seconds) >= 0);
	assert_true(sd_bus_message_seal(m, 1, 0) >= 0);
	assert_true(bus_dump_profile(m, &fake.bus, &error) > 0);
	assert_true(is_taken());
	sd_bus_message_unref(m);
}

static u64 *debt_of(uid_t uid)
{
	for (u32 i = 0; i < ACCESS_USERS; i++)
		if (fake.bus.access.users[i].used && fake.bus.access.users[i].uid == uid)
			return &fake.bus.access.users[i].debt.spent_ns;
	return NULL;
}

/* Once when names are asked for, and once when it is written: whoever called meanwhile has none of it. */
static void test_charged(void **state)
{
	u64 before;

	(void)state;
	ask(1);
	assert_null(debt_of(READER));
	fake.bus.caller = (struct bus_caller){ .name = ":1.8", .uid = READER + 1, .reads = true };
	before = worker_spent(fake.worker);
	while (!debt_of(READER) && is_taken())
		assert_true(sd_event_run(fake.event, UINT64_MAX) >= 0);
	assert_true(debt_of(READER) && is_taken());
	assert_true(*debt_of(READER) > worker_spent(fake.worker) - before);
	*debt_of(READER) = 0;
	before = worker_spent(fake.worker);
	while (is_taken())
		assert_true(sd_event_run(fake.event, UINT64_MAX) >= 0);
	assert_true(worker_spent(fake.worker) > before);
	assert_true(*debt_of(READER) > worker_spent(fake.worker) - before);
	assert_null(debt_of(READER + 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_charged, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
