// SPDX-License-Identifier: LGPL-2.1-or-later
/* Calls that wait for their turn: whose it is, how many may wait, and that it comes. */
#include "test.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bus-queue.h"

static struct {
	sd_event *event;
	sd_bus *bus;
	int other;
	struct bus_queue queue;
	uid_t ran[4 * BUS_QUEUE];
	u32 count;
	uid_t refused[4 * BUS_QUEUE];
	u32 refused_count;
	u64 read, read_before;
	u32 slow_ms;
} fake;

static void run(void *ctx, const struct bus_waiting *waiting)
{
	assert_ptr_equal(ctx, &fake);
	assert_non_null(waiting->message);
	assert_string_equal(waiting->what, "what");
	assert_true(fake.count < ARRAY_SIZE(fake.ran));
	/* Whatever the last one took, others had their turn since. */
	if (fake.slow_ms && fake.count)
		assert_int_not_equal(fake.read, fake.read_before);
	fake.read_before = fake.read;
	if (!fake.count)
		usleep(1000 * fake.slow_ms);
	fake.ran[fake.count++] = waiting->caller.uid;
}

static void refuse(void *ctx, const struct bus_waiting *waiting)
{
	assert_ptr_equal(ctx, &fake);
	assert_non_null(waiting->message);
	assert_true(fake.refused_count < ARRAY_SIZE(fake.refused));
	fake.refused[fake.refused_count++] = waiting->caller.uid;
}

static int add_of(uid_t uid, bool reads)
{
	struct bus_caller caller = { .uid = uid, .reads = reads };
	sd_bus_message *m;
	int r;

	assert_true(sd_bus_message_new_method_call(fake.bus, &m, "a.b", "/", "a.b", "C") >= 0);
	r = bus_queue_add(&fake.queue, m, "what", &caller);
	sd_bus_message_unref(m);
	return r;
}

/* In the group, and not. */
static int add(uid_t uid)
{
	return add_of(uid, true);
}

static int add_other(uid_t uid)
{
	return add_of(uid, false);
}

/* Turns of the event loop, until nothing is left to be done. */
static void settle(void)
{
	while (sd_event_run(fake.event, 0) > 0)
		;
}

static int setup(void **state)
{
	int fds[2];

	(void)state;
	memset(&fake, 0, sizeof(fake));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds),
			 0);
	fake.other = fds[1];
	/* Messages are made of a bus that was started; nothing is sent on it. */
	assert_true(sd_bus_new(&fake.bus) >= 0);
	assert_true(sd_bus_set_fd(fake.bus, fds[0], fds[0]) >= 0);
	assert_true(sd_bus_start(fake.bus) >= 0);
	assert_true(sd_event_new(&fake.event) >= 0);
	assert_true(bus_queue_init(&fake.queue, fake.event, run, refuse, &fake) >= 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	bus_queue_deinit(&fake.queue);
	sd_event_unref(fake.event);
	sd_bus_close_unref(fake.bus);
	close(fake.other);
	return 0;
}

static void test_turns(void **state)
{
	static const uid_t came[] = { 1, 1, 1, 2, 2, 3 }, ran[] = { 1, 2, 1, 2, 1, 3 };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(came); i++)
		assert_true(add(came[i]) >= 0);
	assert_int_equal(fake.count, 0);
	settle();
	assert_int_equal(fake.count, ARRAY_SIZE(ran));
	assert_memory_equal(fake.ran, ran, sizeof(ran));
	/* And again, once it was empty. */
	assert_true(add(4) >= 0);
	settle();
	assert_int_equal(fake.count, ARRAY_SIZE(ran) + 1);
}

static void test_bounds(void **state)
{
	(void)state;
	for (u32 i = 0; i < BUS_QUEUE; i++)
		assert_true(add(i / BUS_QUEUE_USER) >= 0);
	/* All have as many: one more gives way to a user who has none, and no more than that. */
	assert_int_equal(add(0), -ENOBUFS);
	for (u32 i = 0; i < BUS_QUEUE_USER; i++)
		add(BUS_QUEUE);
	assert_int_equal(fake.queue.count, BUS_QUEUE);
	assert_int_equal(fake.refused_count, BUS_QUEUE_USER - 4);
	settle();
	assert_int_equal(fake.count, BUS_QUEUE);
	for (u32 i = 0; i < BUS_QUEUE_USER; i++)
		assert_true(add(1) >= 0);
	assert_int_equal(add(1), -ENOBUFS);
	assert_true(add(2) >= 0);
}

static u32 ran_of(uid_t uid)
{
	u32 count = 0;

	for (u32 i = 0; i < fake.count; i++)
		count += fake.ran[i] == uid;
	return count;
}

/* Users without the group, however many, leave readers their places and turns. */
static void test_others(void **state)
{
	u32 taken = 0;

	(void)state;
	for (u32 i = 0; i < 4 * BUS_QUEUE_USER; i++)
		taken += add_other(1 + i / BUS_QUEUE_USER) >= 0;
	/* The fourth has as many as the three others leave it: a quarter of what all may have. */
	assert_int_equal(fake.queue.count, BUS_QUEUE_OTHERS);
	assert_int_equal(taken - fake.refused_count, BUS_QUEUE_OTHERS);
	for (u32 i = 0; i < fake.refused_count; i++)
		assert_in_range(fake.refused[i], 1, 3);
	/* Many, one call each: as many as take from who has more. */
	for (uid_t uid = 1000; uid < 1000 + BUS_QUEUE; uid++)
		add_other(uid);
	assert_int_equal(fake.queue.count, BUS_QUEUE_OTHERS);
	taken = fake.refused_count;
	for (u32 i = 0; i < BUS_QUEUE_USER; i++)
		assert_true(add(99) >= 0);
	assert_int_equal(fake.queue.count, BUS_QUEUE);
	assert_int_equal(fake.refused_count, taken);
	/* One more of the group has its place from who has most. */
	assert_true(add(98) >= 0);
	assert_int_equal(fake.refused[taken], 99);
	settle();
	assert_int_equal(ran_of(99) + ran_of(98), BUS_QUEUE_USER);
	/* Every other turn at the least was theirs, as long as one of them waited. */
	for (u32 i = 1; i < 2 * BUS_QUEUE_USER - 1; i++)
		assert_true(fake.ran[i] == 99 || fake.ran[i] == 98 || fake.ran[i - 1] == 99 ||
			    fake.ran[i - 1] == 98);
}

static int on_read(sd_event_source *source, void *userdata)
{
	(void)source;
	(void)userdata;
	fake.read++;
	usleep(1000);
	return 0;
}

/* A bus that always has something to be read: the calls have their turn all the same. */
static void test_flood(void **state)
{
	sd_event_source *flood;

	(void)state;
	assert_true(sd_event_add_defer(fake.event, &flood, on_read, NULL) >= 0);
	assert_true(sd_event_source_set_enabled(flood, SD_EVENT_ON) >= 0);
	for (u32 i = 0; i < 2; i++)
		assert_true(add(1) >= 0);
	for (u32 i = 1; i <= 2; i++) {
		/* meson's timeout ends what never comes. */
		while (fake.count < i)
			assert_true(sd_event_run(fake.event, UINT64_MAX) >= 0);
		assert_int_equal(fake.count, i);
	}
	for (u32 i = 0; i < 100; i++)
		assert_true(sd_event_run(fake.event, UINT64_MAX) >= 0);
	assert_int_equal(fake.count, 2);
	assert_int_not_equal(fake.read, 0);
	sd_event_source_unref(flood);
}

/* Calls that take longer than those behind them may be late: the bus is read in between. */
static void test_slow(void **state)
{
	(void)state;
	fake.slow_ms = 1100;
	test_flood(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_turns, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bounds, setup, teardown),
		cmocka_unit_test_setup_teardown(test_others, setup, teardown),
		cmocka_unit_test_setup_teardown(test_flood, setup, teardown),
		cmocka_unit_test_setup_teardown(test_slow, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
