// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test the advice that is printed if perf_event_open() is refused, with and without the capability.
 */
#include "test.h"

#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "source/perf-event.h"

static struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };

/* Reduce the capabilities to @mask. Return: whether all of them were permitted. */
static bool set_capabilities(uint64_t mask)
{
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	bool all = true;

	assert_int_equal(syscall(SYS_capget, &head, data), 0);
	for (unsigned int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		uint32_t required = (uint32_t)(mask >> (32 * i));

		all = all && !(required & ~data[i].permitted);
		data[i].effective = data[i].permitted & required;
	}
	assert_int_equal(syscall(SYS_capset, &head, data), 0);
	return all;
}

static void assert_advice(const char *words)
{
	const char *reason = perf_event_explain_open_error();

	if (!strstr(reason, words))
		fail_msg("\"%s\", should have \"%s\"", reason, words);
}

static int read_paranoid_level(void)
{
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "r");
	int is = -1;

	if (!file)
		return -1;
	if (fscanf(file, "%d", &is) != 1)
		is = -1;
	fclose(file);
	return is;
}

static void test_advice_by_capability(void **state)
{
	static const char policy[] = "although this process has the capability for it";
	static const char always[] = "which needs CAP_SYS_ADMIN";
	bool low = read_paranoid_level() == 1 || read_paranoid_level() == 2,
	     high = read_paranoid_level() == 3 || read_paranoid_level() == 4;

	(void)state;
	set_capabilities(0);
	assert_non_null(strstr(perf_event_explain_physical_error(), "CAP_PERFMON"));
	assert_advice(low	 ? "this process does not have CAP_PERFMON" :
		    high ? always :
			   "although kernel.perf_event_paranoid allows it");
	if (set_capabilities(1ULL << CAP_PERFMON)) {
		assert_null(perf_event_explain_physical_error());
		assert_advice(low ? policy : high ? always : "a security policy");
	}
	if (set_capabilities(1ULL << CAP_SYS_ADMIN))
		assert_advice(policy);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_advice_by_capability) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
