// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test which cgroups a session may select: those to which samples can belong. */
#include "test.h"

#include <string.h>

#include "codec/env.h"
#include "dbus/cgroup-paths.h"

static void check_path(const char *path, const char *wrong)
{
	char *const cgroups[] = { (char *)"/system.slice", (char *)path, NULL };
	sd_bus_error error = SD_BUS_ERROR_NULL;
	int r = bus_check_cgroups(cgroups, &error);

	test_row("%s: %s", path, r < 0 ? error.message : "may be");
	assert_row((r < 0) == (wrong != NULL));
	assert_row(!wrong || strstr(error.message, wrong));
	assert_row(!wrong || sd_bus_error_has_name(&error, SD_BUS_ERROR_INVALID_ARGS));
	sd_bus_error_free(&error);
}

static void test_permitted_cgroups(void **state)
{
	static const char *const paths[] = {
		"/",
		"/system.slice/web.service",
		"/kubepods.slice",
		"/kubepods.slice/kubepods-burstable.slice",
		"/user.slice/user-1000.slice/user@1000.service",
		/*
		 * User units are in slices of the user's service manager, and not directly in the
		 * unit of that manager.
		 */
		"/user.slice/user-1000.slice/user@1000.service/app.slice",
		"/user.slice/user-1000.slice/user@1000.service/app.slice/web.service",
		"/system.slice/docker-0123456789abcdef.scope",
		"/machine.slice/machine-a.scope",
		"/a",
		"/a/b c/..c/.d",
		/* The error states which cgroups are permitted. */
		"a",
		"",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		check_path(paths[i], NULL);
}

static void test_nested_runtime(void **state)
{
	(void)state;
	check_path("/system.slice/web.service/worker", "inside \"/system.slice/web.service\"");
	check_path("/system.slice/docker-0123456789abcdef.scope/init.scope",
		   "inside \"/system.slice/docker-0123456789abcdef.scope\"");
	/* If a container contains another runtime, samples belong to the outermost container. */
	check_path("/docker/0123456789abcdef0123456789abcdef/docker/fedcba9876543210/a.service",
		   "inside \"/docker/0123456789abcdef0123456789abcdef\"");
}

static void test_other_spellings(void **state)
{
	static const char *const paths[] = {
		"/a/", "//", "//a", "/a//b", "/.", "/..", "/a/./b", "/a/../b", "/a/..", "/a/.",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		check_path(paths[i], "as in /proc/PID/cgroup");
}

/* Paths of samples do not begin with the mount point, so such paths select nothing. */
static void test_path_with_mount_point(void **state)
{
	(void)state;
	check_path("/sys/fs/cgroup/system.slice/web.service",
		   "mount point: \"/system.slice/web.service\"");
	check_path("/sys/fs/cgroup/unified/a", "mount point: \"/a\"");
	check_path("/sys/fs/cgroup", "mount point: \"/\"");
	check_path("/sys/fs/cgroups/a", NULL);
	check_path("/sys/fs", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_permitted_cgroups),
		cmocka_unit_test(test_nested_runtime),
		cmocka_unit_test(test_other_spellings),
		cmocka_unit_test(test_path_with_mount_point),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
