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
static void expire_names(void)
{
	__atomic_add_fetch(&ahead_s, 11, __ATOMIC_RELAXED);
}

static void write_perf_map(const char *path, const char *how, const char *lines)
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
static const char *get_known_name(struct symbols_cache *s, u64 process, u64 pc)
{
	const struct attribute_location location = make_location(process, pc);
	static char name[64];

	return symbols_get_function(s, getpid(), &location, true, name, sizeof(name)) ? name : "";
}

/* Return the name after waiting until it is resolved. */
static const char *resolve_name(struct symbols_cache *s, u64 process, u64 pc)
{
	get_known_name(s, process, pc);
	symbols_wait_configured(s);
	return get_known_name(s, process, pc);
}

/* Names stay valid while a perf map grows. Another process with the same PID does not get them. */
static void test_names_of_other_process(void **state)
{
	const struct symbols_config config = { .wait_ms = WAIT };
	char path[64], other[80];
	struct symbols_cache *s;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	snprintf(other, sizeof(other), "%s.other", path);
	write_perf_map(path, "we", "10000 10 first\n");
	assert_int_equal(symbols_new(&config, &s), 0);
	assert_string_equal(resolve_name(s, 1, 0x10000), "first");
	write_perf_map(path, "ae", "20000 10 second\n");
	expire_names();
	assert_string_equal(get_known_name(s, 1, 0x10000), "first");
	assert_string_equal(resolve_name(s, 1, 0x20000), "second");
	assert_string_equal(resolve_name(s, 1, 0x10000), "first");
	write_perf_map(other, "we", "20000 10 third\n");
	assert_int_equal(rename(other, path), 0);
	/* The name is unknown before the lookup has finished, and known afterwards. */
	assert_string_equal(get_known_name(s, 2, 0x10000), "");
	assert_string_equal(get_known_name(s, 2, 0x20000), "");
	assert_string_equal(resolve_name(s, 2, 0x20000), "third");
	assert_string_equal(resolve_name(s, 2, 0x10000), "");
	/* Remove the perf map of the process. */
	unlink(path);
	assert_string_equal(resolve_name(s, 3, 0x20000), "");
	expire_names();
	assert_string_equal(resolve_name(s, 3, 0x20000), "");
	symbols_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_of_other_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
