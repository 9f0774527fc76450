// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test names after some time, and names of another process with the same PID, with a simulated
 * clock.
 */
#include "test.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "symbols/symbols.h"

#define WAIT 60000

static time_t ahead_s;

int __real_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);

/* Add the simulated time to the clock of names. Deadlines and delays use another clock. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	int r = __real_clock_gettime(clock, ts);

	if (!r && clock == CLOCK_MONOTONIC_COARSE)
		ts->tv_sec += __atomic_load_n(&ahead_s, __ATOMIC_RELAXED);
	return r;
}

/* Names expire after some time. */
static void pass_time(void)
{
	__atomic_add_fetch(&ahead_s, 11, __ATOMIC_RELAXED);
}

static void map_write(const char *path, const char *how, const char *lines)
{
	FILE *f = fopen(path, how);

	assert_non_null(f);
	fputs(lines, f);
	fclose(f);
}

/* Return a location at @pc, in the process with number @process that has this PID. */
static struct attribute_location make_location(u64 process, u64 pc)
{
	return (struct attribute_location){
		.binary = "[anon]", .offset = 5, .pc = pc, .process = process
	};
}

/* Return the name that is known without waiting; "" if there is none. */
static const char *name_now(struct symbols *s, u64 process, u64 pc)
{
	const struct attribute_location location = make_location(process, pc);
	static char name[64];

	return symbols_function(s, getpid(), &location, true, name, sizeof(name)) ? name : "";
}

/* Return the name after waiting until it is resolved. */
static const char *name_of(struct symbols *s, u64 process, u64 pc)
{
	name_now(s, process, pc);
	symbols_wait_default(s);
	return name_now(s, process, pc);
}

/* Names stay valid while a perf map grows. Another process with the same PID does not get them. */
static void test_other_process(void **state)
{
	const struct symbols_config config = { .wait_ms = WAIT };
	char path[64], other[80];
	struct symbols *s;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	snprintf(other, sizeof(other), "%s.other", path);
	map_write(path, "we", "10000 10 first\n");
	assert_int_equal(symbols_new(&config, &s), 0);
	assert_string_equal(name_of(s, 1, 0x10000), "first");
	map_write(path, "ae", "20000 10 second\n");
	pass_time();
	assert_string_equal(name_now(s, 1, 0x10000), "first");
	assert_string_equal(name_of(s, 1, 0x20000), "second");
	assert_string_equal(name_of(s, 1, 0x10000), "first");
	map_write(other, "we", "20000 10 third\n");
	assert_int_equal(rename(other, path), 0);
	/* first without waiting, then after waiting */
	assert_string_equal(name_now(s, 2, 0x10000), "");
	assert_string_equal(name_now(s, 2, 0x20000), "");
	assert_string_equal(name_of(s, 2, 0x20000), "third");
	assert_string_equal(name_of(s, 2, 0x10000), "");
	/* a process without a perf map */
	unlink(path);
	assert_string_equal(name_of(s, 3, 0x20000), "");
	pass_time();
	assert_string_equal(name_of(s, 3, 0x20000), "");
	symbols_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_other_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
