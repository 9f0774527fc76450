// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test which user owns a path: it is the owner of any directory on the path, if the whole path
 * exists.
 */
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dbus/cgroup-owner.h"

static s64 get_change_time_us(const struct stat *st)
{
	return st->st_ctim.tv_sec * 1000000LL + st->st_ctim.tv_nsec / 1000;
}

static void test_owner_of_path(void **state)
{
	char folder[] = "/tmp/speprof-delegated-XXXXXX", path[128], too_long[5000];
	uid_t me = geteuid(), other = me + 1;
	struct cgroup_ownership ownership;
	struct stat st, upper;
	int mount, fd;

	(void)state;
	assert_non_null(mkdtemp(folder));
	mount = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(mount >= 0);
	assert_int_equal(mkdirat(mount, "a", 0755), 0);
	assert_int_equal(mkdirat(mount, "a/b", 0755), 0);
	assert_int_equal(symlinkat("a", mount, "link"), 0);
	fd = openat(mount, "a/file", O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	close(fd);

	assert_true(cgroup_is_owned_by(mount, "/a", me));
	assert_true(cgroup_is_owned_by(mount, "/a/b", me));
	assert_true(cgroup_is_owned_by(mount, "//a/b", me));
	assert_false(cgroup_is_owned_by(mount, "/a", other));
	assert_false(cgroup_is_owned_by(mount, "/a/b", other));
	/* No user owns the root, a path that does not exist, or a directory that is no cgroup. */
	assert_false(cgroup_is_owned_by(mount, "/", me));
	assert_false(cgroup_is_owned_by(mount, "", me));
	assert_false(cgroup_is_owned_by(mount, "/a/c", me));
	assert_false(cgroup_is_owned_by(mount, "/link", me));
	assert_false(cgroup_is_owned_by(mount, "/link/b", me));
	assert_false(cgroup_is_owned_by(mount, "/a/file", me));
	/* Ownership begins with the last change of the directory that the user owns. */
	assert_int_equal(fstatat(mount, "a", &upper, 0), 0);
	assert_int_equal(fstatat(mount, "a/b", &st, 0), 0);
	assert_true(cgroup_get_ownership(mount, "/a/b", me, &ownership));
	assert_true(ownership.inode == st.st_ino);
	assert_true(ownership.since_us == (get_change_time_us(&upper) < get_change_time_us(&st) ?
						   get_change_time_us(&upper) :
						   get_change_time_us(&st)));
	assert_false(cgroup_get_ownership(mount, "/a/b", other, &ownership));
	memset(too_long, 'a', sizeof(too_long));
	too_long[0] = '/';
	too_long[sizeof(too_long) - 1] = '\0';
	assert_false(cgroup_is_owned_by(mount, too_long, me));
	if (!me) {
		/* A directory belongs to the user that owns its parent directory. */
		snprintf(path, sizeof(path), "%s/a", folder);
		assert_int_equal(chown(path, other, (gid_t)-1), 0);
		assert_true(cgroup_is_owned_by(mount, "/a/b", other));
	}
	unlinkat(mount, "a/file", 0);
	unlinkat(mount, "link", 0);
	unlinkat(mount, "a/b", AT_REMOVEDIR);
	unlinkat(mount, "a", AT_REMOVEDIR);
	close(mount);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_owner_of_path) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
