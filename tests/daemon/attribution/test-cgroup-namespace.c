// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test paths of cgroups relative to the cgroup of a container: in plain directories, and in a real
 * cgroup namespace.
 */
#include "test.h"

#include "attribution/cgroup-namespace.h"
#include "util/cgroup-mount.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Plain directories ---- */

static void write_file(const char *root, const char *path, const char *text)
{
	char full[PATH_MAX];
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", root, path);
	if (!text) {
		assert_int_equal(mkdir(full, 0755), 0);
		return;
	}
	file = fopen(full, "we");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void test_find_namespace_root(void **state)
{
	char root[] = "/tmp/speprof-cgroups-XXXXXX", found[PATH_MAX], command[64];

	(void)state;
	assert_non_null(mkdtemp(root));
	write_file(root, "/cgroup.procs", "1\n7\n");
	write_file(root, "/system.slice", NULL);
	write_file(root, "/system.slice/cgroup.procs", "2\n3\n");
	write_file(root, "/kubepods", NULL);
	write_file(root, "/kubepods/cgroup.procs", "");
	write_file(root, "/kubepods/pod1", NULL);
	write_file(root, "/kubepods/pod1/cgroup.procs", "41\n42\n");

	assert_int_equal(cgroup_namespace_find_root(root, 42, "/", found, sizeof(found)), 0);
	assert_string_equal(found, "/kubepods/pod1");
	assert_int_equal(cgroup_namespace_find_root(root, 42, "/pod1", found, sizeof(found)), 0);
	assert_string_equal(found, "/kubepods");
	assert_int_equal(
		cgroup_namespace_find_root(root, 42, "/kubepods/pod1", found, sizeof(found)), 0);
	assert_string_equal(found, "");
	assert_int_equal(cgroup_namespace_find_root(root, 7, "/", found, sizeof(found)), 0);
	assert_string_equal(found, "");
	/*
	 * Search an id that no cgroup has, the id of another cgroup, and with a buffer that is too
	 * small.
	 */
	assert_int_equal(cgroup_namespace_find_root(root, 4, "/", found, sizeof(found)), -ENOENT);
	assert_int_equal(cgroup_namespace_find_root(root, 42, "/../x", found, sizeof(found)),
			 -ENOENT);
	assert_int_equal(cgroup_namespace_find_root(root, 42, "/", found, 10), -ENOENT);
	assert_int_equal(cgroup_namespace_find_root("/nonexistent", 42, "/", found, sizeof(found)),
			 -ENOENT);
	/* The root must be mounted: a subtree of the hierarchy does not suffice. */
	write_file(root, "/cgroup.events", "populated 1\n");
	assert_int_equal(cgroup_namespace_find_root(root, 42, "/", found, sizeof(found)), -ENOENT);
	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
}

static void test_path_in_namespace(void **state)
{
	static const struct {
		const char *root;
		const char *text;
		const char *path; /* NULL: use @text as it is */
	} rows[] = {
		{ "/kubepods/pod1/c1", "0::/\n", "/kubepods/pod1/c1" },
		{ "/kubepods/pod1/c1", "0::/init\n", "/kubepods/pod1/c1/init" },
		{ "/kubepods/pod1/c1", "0::/../c2\n", "/kubepods/pod1/c2" },
		{ "/kubepods/pod1/c1", "0::/../../../system.slice/x.service",
		  "/system.slice/x.service" },
		{ "/kubepods/pod1/c1", "4:cpu:/\n0::/../../pod2/c3 (deleted)\n",
		  "/kubepods/pod2/c3 (deleted)" },
		{ "/kubepods/pod1/c1", "0::/..\n", "/kubepods/pod1" },
		{ "/kubepods/pod1/c1", "0::/..hidden\n", "/kubepods/pod1/c1/..hidden" },
		/* the root of the machine, and paths above it */
		{ "/kubepods/pod1/c1", "0::/../../..\n", NULL },
		{ "/kubepods/pod1/c1", "0::/../../../../x\n", NULL },
		{ "/kubepods/pod1/c1", "4:cpu:/x\n", NULL },
		{ "/kubepods/pod1/c1", "", NULL },
		{ "", "0::/\n", NULL },
		{ "", "0::/x\n", "/x" },
	};
	struct cgroup_namespace space = { .is_private = true, .root_known = true };
	char path[PATH_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		snprintf(space.root, sizeof(space.root), "%s", rows[i].root);
		assert_int_equal(
			cgroup_namespace_convert_path(&space, rows[i].text, path, sizeof(path)),
			rows[i].path != NULL);
		if (rows[i].path)
			assert_string_equal(path, rows[i].path);
	}
	snprintf(space.root, sizeof(space.root), "/a");
	assert_false(cgroup_namespace_convert_path(&space, "0::/bcd", path, 6));
	assert_true(cgroup_namespace_convert_path(&space, "0::/bcd", path, 7));
	assert_string_equal(cgroup_namespace_get_warning(&space), "");
	space.root_known = false;
	assert_false(cgroup_namespace_convert_path(&space, "0::/../x", path, sizeof(path)));
	assert_string_not_equal(cgroup_namespace_get_warning(&space), "");
	space.is_private = false;
	assert_string_equal(cgroup_namespace_get_warning(&space), "");
}

/* ---- A real cgroup namespace ---- */

/* Move the calling process to @mount/@cgroup. Return: whether it worked. */
static bool enter_cgroup(const char *mount, const char *cgroup)
{
	char path[PATH_MAX];
	int fd, ok;

	snprintf(path, sizeof(path), "%s%s/cgroup.procs", mount, cgroup);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ok = write(fd, "0", 1) == 1;
	close(fd);
	return ok;
}

static bool make_cgroup(const char *mount, const char *cgroup)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s%s", mount, cgroup);
	return mkdir(path, 0755) == 0;
}

static void remove_cgroup(const char *mount, const char *cgroup)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s%s", mount, cgroup);
	/* The kernel may not have removed the last process yet. */
	for (int i = 0; i < 100 && rmdir(path) < 0 && errno == EBUSY; i++)
		usleep(20000);
}

static void read_cgroup_file(pid_t pid, char *ret_text, size_t size)
{
	char path[64];
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	file = fopen(path, "re");
	n = file ? fread(ret_text, 1, size - 1, file) : 0;
	ret_text[n] = '\0';
	if (file)
		fclose(file);
}

/*
 * Inside the container, check its own path and the path of its neighbour. Return: 0; the number of
 * the failed check; 77 if namespaces are not permitted.
 */
static int check_from_within(const char *mount, const char *own, pid_t neighbour,
			     const char *sibling)
{
	struct cgroup_namespace space;
	char text[65536], path[PATH_MAX];

	if (!enter_cgroup(mount, own) || unshare(CLONE_NEWCGROUP) < 0)
		return 77;
	cgroup_namespace_init(&space);
	if (!space.is_private || !space.root_known || strcmp(space.root, own) != 0)
		return 1;
	read_cgroup_file(getpid(), text, sizeof(text));
	if (!cgroup_namespace_convert_path(&space, text, path, sizeof(path)) ||
	    strcmp(path, own) != 0)
		return 2;
	read_cgroup_file(neighbour, text, sizeof(text));
	/* This kernel does not show paths relative to the namespace, so nothing can be tested. */
	if (!strstr(text, "0::/../"))
		return 3;
	if (!cgroup_namespace_convert_path(&space, text, path, sizeof(path)) ||
	    strcmp(path, sibling) != 0)
		return 4;
	return 0;
}

static void test_real_namespace(void **state)
{
	const char *mount = NULL;
	char top[64], own[80], other[80];
	pid_t neighbour, container;
	int ready[2], status = 77;
	char byte;

	(void)state;
	close(cgroup_mount_open(O_PATH, &mount));
	snprintf(top, sizeof(top), "/speprof-test-%d", getpid());
	snprintf(own, sizeof(own), "%s/container", top);
	snprintf(other, sizeof(other), "%s/neighbour", top);
	if (!mount || !make_cgroup(mount, top)) {
		print_message("no cgroup can be made here\n");
		skip();
	}
	assert_true(make_cgroup(mount, own) && make_cgroup(mount, other));
	assert_int_equal(pipe(ready), 0);
	neighbour = fork();
	if (!neighbour) {
		byte = enter_cgroup(mount, other);
		if (write(ready[1], &byte, 1) == 1)
			pause();
		_exit(1);
	}
	if (read(ready[0], &byte, 1) == 1 && byte) {
		container = fork();
		if (!container)
			_exit(check_from_within(mount, own, neighbour, other));
		waitpid(container, &status, 0);
		status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	}
	kill(neighbour, SIGKILL);
	waitpid(neighbour, NULL, 0);
	close(ready[0]);
	close(ready[1]);
	remove_cgroup(mount, own);
	remove_cgroup(mount, other);
	remove_cgroup(mount, top);
	if (status == 77) {
		print_message("no cgroup namespace can be made here\n");
		skip();
	}
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find_namespace_root),
		cmocka_unit_test(test_path_in_namespace),
		cmocka_unit_test(test_real_namespace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
