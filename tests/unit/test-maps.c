// SPDX-License-Identifier: LGPL-2.1-or-later
/* Mappings of those who want to hurt: paths of any length, and as many as they like. */
#include "test.h"

#include "attribute-save.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LONG 5000
#define ROOM (1U << 20)

static struct attributor *attributor(bool live)
{
	const struct attributor_config config = { .live = live, .processes = 64, .threads = 64,
						  .containers = 16 };
	struct attributor *a;

	assert_int_equal(attributor_new(&config, &a), 0);
	return a;
}

static void told(struct attributor *a, s32 pid, u64 start, const char *path)
{
	attributor_event(a, &(struct task_event){ .type = TASK_MMAP,
						  .pid = pid,
						  .tid = pid,
						  .start = start,
						  .size = 0x1000,
						  .inode = start,
						  .name = path });
}

static const char *binary_at(struct attributor *a, s32 pid, u64 pc)
{
	struct attribute_place place;
	u32 index = attributor_task(a, pid);

	if (!attributor_place(a, index, pc, false, &place))
		return "";
	return place.binary;
}

static size_t saved(struct attributor *a, u8 *bytes)
{
	struct blob_writer to = { .at = bytes, .room = ROOM };

	attributor_save(a, &to);
	assert_false(to.full);
	return to.len;
}

static struct attributor *loaded(const u8 *bytes, size_t len)
{
	struct blob_reader from = { .at = bytes, .len = len };
	struct attribute_translation translation;
	struct attributor *a = attributor(false);

	assert_int_equal(attributor_load(a, &from, &translation), 0);
	assert_int_equal(from.pos, len);
	attribute_translation_deinit(&translation);
	return a;
}

static char *long_path(void)
{
	char *path = malloc(LONG + 1);

	assert_non_null(path);
	for (size_t i = 0; i < LONG; i++)
		path[i] = i % 250 ? 'a' : '/';
	path[LONG] = '\0';
	return path;
}

/* A name too long is none, and what is kept of it is read again. */
static void test_long_path(void **state)
{
	struct attributor *a = attributor(false), *next;
	char *path = long_path();
	u8 *bytes = malloc(ROOM);
	size_t len;

	(void)state;
	told(a, 7, 0x1000, path);
	told(a, 7, 0x2000, "/bin/sh");
	/* The longest that BPF tells of has its name. */
	path[1290] = '\0';
	told(a, 7, 0x3000, path);
	len = saved(a, bytes);
	next = loaded(bytes, len);
	for (int i = 0; i < 2; i++) {
		struct attributor *one = i ? next : a;

		assert_string_equal(binary_at(one, 7, 0x1010), "[long path]");
		assert_string_equal(binary_at(one, 7, 0x2010), "/bin/sh");
		assert_string_equal(binary_at(one, 7, 0x3010), path);
	}
	attributor_free(a);
	attributor_free(next);
	free(path);
	free(bytes);
}

static void put_binary(struct blob_writer *to, const char *path)
{
	blob_put(to, 1);
	blob_put_bytes(to, "", 0);
	blob_put_string(to, path);
}

/* As it was written when paths had no bound: one name is missed, and no figure. */
static void test_long_path_kept(void **state)
{
	u8 *bytes = malloc(ROOM);
	struct blob_writer to = { .at = bytes, .room = ROOM };
	char *path = long_path();
	struct attributor *a;

	(void)state;
	blob_put(&to, 2);
	put_binary(&to, path);
	put_binary(&to, "/bin/sh");
	blob_put(&to, 15); /* containers */
	blob_put(&to, 0);
	blob_put(&to, 8); /* processes */
	blob_put(&to, 1);
	blob_put(&to, 1);
	for (size_t i = 0; i < 9; i++) /* entry, generation, pid, container, flags, who it is */
		blob_put(&to, (const u64[9]){ 3, 1, 7 }[i]);
	blob_put_string(&to, "sh");
	blob_put(&to, 2);
	for (u64 i = 0; i < 2; i++) {
		blob_put(&to, 0x1000 + i * 0x1000);
		blob_put(&to, 0x1000);
		blob_put(&to, 0);
		blob_put(&to, i);
	}
	a = loaded(bytes, to.len);
	assert_string_equal(binary_at(a, 7, 0x1010), "");
	assert_string_equal(binary_at(a, 7, 0x2010), "/bin/sh");
	attributor_free(a);
	free(path);
	free(bytes);
}

static void test_name_passed_over(void **state)
{
	u8 bytes[32];
	struct blob_writer to = { .at = bytes, .room = sizeof(bytes) };
	struct blob_reader from = { .at = bytes };
	char name[4];

	(void)state;
	blob_put_string(&to, "long");
	blob_put_string(&to, "web");
	blob_put(&to, 7);
	from.len = to.len;
	assert_false(blob_get_name(&from, name, sizeof(name)));
	assert_string_equal(name, "");
	assert_true(blob_get_name(&from, name, sizeof(name)));
	assert_string_equal(name, "web");
	assert_int_equal(blob_get(&from), 7);
	assert_false(from.bad);
	/* Longer than what is left. */
	from = (struct blob_reader){ .at = (const u8 *)"pab", .len = 3 };
	assert_false(blob_get_name(&from, name, sizeof(name)));
	assert_true(from.bad);
	from = (struct blob_reader){ .at = (const u8 *)"\x80", .len = 1 };
	assert_false(blob_get_name(&from, name, sizeof(name)));
	assert_true(from.bad);
}

/* What /proc tells of a file that any user can make. */
static void test_long_path_proc(void **state)
{
	char root[] = "/tmp/test-maps-XXXXXX", name[251], command[64];
	int dir, here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC), fd;
	struct attributor *a;
	void *at;

	(void)state;
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_non_null(mkdtemp(root));
	assert_int_equal(chdir(root), 0);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(mkdir(name, 0700), 0);
		assert_int_equal(chdir(name), 0);
	}
	fd = open("file", O_RDWR | O_CREAT | O_CLOEXEC, 0700);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 4096), 0);
	at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	dir = fchdir(here);
	close(here);
	assert_int_equal(dir, 0);
	snprintf(command, sizeof(command), "rm -r %s", root);
	if (at == MAP_FAILED) { /* noexec */
		assert_int_equal(system(command), 0);
		skip();
	}
	a = attributor(true);
	assert_string_equal(binary_at(a, getpid(), (u64)(uintptr_t)at), "[long path]");
	attributor_free(a);
	munmap(at, 4096);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_long_path),
		cmocka_unit_test(test_long_path_kept),
		cmocka_unit_test(test_name_passed_over),
		cmocka_unit_test(test_long_path_proc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
