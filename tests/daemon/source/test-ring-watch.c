// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test rings that become readable, simulated by eventfds: each wakes the reader once. */
#include "test.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "source/ring-watch.h"

#define RINGS 2

/* number of rings: more than fit into the completion queue */
#define MANY_RINGS 200

static int rings[RINGS];

static int setup(void **state __attribute__((unused)))
{
	for (u32 i = 0; i < RINGS; i++)
		rings[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return rings[0] < 0 || rings[1] < 0;
}

static int teardown(void **state __attribute__((unused)))
{
	for (u32 i = 0; i < RINGS; i++)
		close(rings[i]);
	return 0;
}

static void make_readable(u32 ring)
{
	u64 one = 1;

	assert_int_equal(write(rings[ring], &one, sizeof(one)), sizeof(one));
}

static bool is_readable(const struct ring_watch *watch)
{
	struct pollfd fd = { .fd = ring_watch_fd(watch), .events = POLLIN };

	return poll(&fd, 1, 0) == 1;
}

/* Unread data leaves a ring readable, and wakes the reader only when more data arrives. */
static void check_wakes(bool uring, unsigned int times)
{
	struct ring_watch watch;

	assert_int_equal(ring_watch_init(&watch, rings, RINGS, uring), 0);
	if (uring && !watch.uring) {
		ring_watch_deinit(&watch);
		skip();
	}
	for (unsigned int round = 0; round < 3; round++) {
		for (unsigned int i = 0; i < times; i++)
			for (u32 ring = 0; ring < RINGS; ring++)
				make_readable(ring);
		assert_true(is_readable(&watch));
		assert_int_equal(ring_watch_clear(&watch), 0);
		/* A poll that is armed again finds the data that is already there. */
		assert_int_equal(ring_watch_clear(&watch), 0);
		assert_false(is_readable(&watch));
		for (u32 ring = 0; ring < RINGS; ring++) {
			make_readable(ring);
			assert_true(is_readable(&watch));
			assert_int_equal(ring_watch_clear(&watch), 0);
			assert_false(is_readable(&watch));
		}
	}
	ring_watch_deinit(&watch);
}

static void test_uring_wakes_once(void **state __attribute__((unused)))
{
	check_wakes(true, 1);
}

static void test_epoll_wakes_once(void **state __attribute__((unused)))
{
	check_wakes(false, 1);
}

static void test_uring_many_wakeups(void **state __attribute__((unused)))
{
	check_wakes(true, MANY_RINGS);
}

static void test_epoll_many_wakeups(void **state __attribute__((unused)))
{
	check_wakes(false, MANY_RINGS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_uring_wakes_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_epoll_wakes_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_uring_many_wakeups, setup, teardown),
		cmocka_unit_test_setup_teardown(test_epoll_many_wakeups, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
