// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test that a problem is logged at once, then at longer and longer intervals, and that its end is
 * logged.
 */
#include "test.h"

#include "main/health-log.h"
#include "util/log.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PERIOD_NS 5000000000ULL
#define DAY	  (86400 / 5)

static void test_intervals_grow(void **state)
{
	struct log_limit pace = { 0 };
	u64 now = 1, logged = 0, lines = 0, count, pause = 0, last = 0;

	(void)state;
	assert_int_equal(log_limit_check(&pace, 3, now, &count), LOG_LIMIT_REPORT);
	assert_int_equal(count, 3);
	last = now;
	for (u32 i = 0; i < DAY; i++) {
		now += PERIOD_NS;
		if (log_limit_check(&pace, 2, now, &count) != LOG_LIMIT_REPORT)
			continue;
		lines++;
		logged += count;
		assert_true(now - last >= pause &&
			    now - last <= LOG_LIMIT_PAUSE_MAX_NS + PERIOD_NS);
		pause = now - last;
		last = now;
	}
	print_message("%llu lines of a day\n", (unsigned long long)lines);
	assert_in_range(lines, 24, 40);
	assert_true(logged + pace.count == 2 * DAY);
	count = 0;
	for (u32 i = 0; i < DAY / 24; i++) {
		u64 some = 0;

		now += PERIOD_NS;
		if (log_limit_check(&pace, 0, now, &some) != LOG_LIMIT_SILENT)
			logged += some;
	}
	/* At the end all problems have been logged, and the next problem is logged at once. */
	assert_int_equal(logged, 2 * DAY);
	assert_int_equal(log_limit_check(&pace, 1, now, &count), LOG_LIMIT_REPORT);
	for (u32 i = 0; i < DAY / 24; i++)
		assert_int_equal(log_limit_check(&pace, 0, now += PERIOD_NS, &count),
				 LOG_LIMIT_SILENT);
	assert_int_equal(pace.pause_ns, 0);
}

/* Return the number of lines that @log reports in @hours. */
static u32 count_log_lines(struct health_log *log, struct daemon_health *now, u64 *clock, u32 hours,
			   bool going_on, char *ret_text, size_t size)
{
	int fd = memfd_create("log", 0), before = dup(STDERR_FILENO);
	u32 lines = 0;
	ssize_t n;

	fflush(stderr);
	dup2(fd, STDERR_FILENO);
	for (u32 i = 0; i < hours * 720; i++) {
		if (going_on) {
			now->source.faults += 7;
			now->source.throttles++;
			now->unsaved++;
			now->stuck++;
		}
		*clock += PERIOD_NS;
		health_log_update(log, now, *clock);
	}
	fflush(stderr);
	dup2(before, STDERR_FILENO);
	n = pread(fd, ret_text, size - 1, 0);
	assert_true(n >= 0);
	ret_text[n] = 0;
	for (const char *at = ret_text; (at = strchr(at, '\n')); at++)
		lines++;
	close(before);
	close(fd);
	return lines;
}

/* Test all four causes together for a day. */
static void test_all_causes_for_a_day(void **state)
{
	struct daemon_health now = { .source.last = "CPU 3: buffer fault" };
	struct health_log log = { 0 };
	static char text[1 << 16];
	u64 clock = PERIOD_NS;
	u32 lines;

	(void)state;
	lines = count_log_lines(&log, &now, &clock, 24, true, text, sizeof(text));
	print_message("%u lines of a day\n", lines);
	assert_in_range(lines, 4 * 24, 4 * 40);
	assert_true(strstr(text, ": 7 faults of SPUs, the last one: CPU 3: buffer fault;") < strchr(text, '\n'));
	assert_non_null(strstr(text, ": 5040 faults of SPUs"));
	assert_int_equal(count_log_lines(&log, &now, &clock, 1, false, text, sizeof(text)), 4);
	assert_non_null(strstr(text, "no faults of SPUs for 10 minutes"));
	assert_non_null(strstr(text, "no throttling of SPUs for 10 minutes"));
	assert_int_equal(count_log_lines(&log, &now, &clock, 24, false, text, sizeof(text)), 0);
}

/* The counters of a new source start at 0; that decrease is not logged as a problem. */
static void test_new_source_is_no_problem(void **state)
{
	struct health_log log = { .last.source.faults = 100 };
	struct daemon_health now = { .source = { .faults = 3, .last = "CPU 0: x" } };
	static char text[1 << 12];
	u64 clock = PERIOD_NS;

	(void)state;
	assert_int_equal(count_log_lines(&log, &now, &clock, 1, false, text, sizeof(text)), 0);
}

/* Text that a caller chose can neither forge a log line nor control a terminal. */
static void test_hostile_text(void **state)
{
	int log = memfd_create("log", 0), before = dup(STDERR_FILENO);
	char text[256] = "";

	(void)state;
	fflush(stderr);
	dup2(log, STDERR_FILENO);
	log_line(LOG_ERR, "filter \"%s\"", "process == \"\033[2J\nspeprofd: all is well\"");
	fflush(stderr);
	dup2(before, STDERR_FILENO);
	assert_true(pread(log, text, sizeof(text) - 1, 0) > 0);
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	assert_null(strchr(text, '\033'));
	assert_non_null(strstr(text, "all is well"));
	close(log);
	close(before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_intervals_grow),
		cmocka_unit_test(test_all_causes_for_a_day),
		cmocka_unit_test(test_new_source_is_no_problem),
		cmocka_unit_test(test_hostile_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
