// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "attribution/procfs.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A simulated /proc with one task: plain files, which can have any contents */
struct fake_proc {
	char root[40];
	int proc;
	int task;
};

static int setup(void **state)
{
	struct fake_proc *f = calloc(1, sizeof(*f));

	strcpy(f->root, "/tmp/test-procfs-XXXXXX");
	if (!mkdtemp(f->root))
		return -1;
	f->proc = open(f->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	mkdirat(f->proc, "42", 0755);
	mkdirat(f->proc, "42/task", 0755);
	mkdirat(f->proc, "42/task/43", 0755);
	f->task = procfs_open_task(f->proc, 42);
	*state = f;
	return f->task < 0;
}

static int teardown(void **state)
{
	static const char *const files[] = { "42/stat", "42/status", "42/maps" };
	struct fake_proc *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		unlinkat(f->proc, files[i], 0);
	unlinkat(f->proc, "42/task/43", AT_REMOVEDIR);
	unlinkat(f->proc, "42/task", AT_REMOVEDIR);
	unlinkat(f->proc, "42", AT_REMOVEDIR);
	close(f->task);
	close(f->proc);
	rmdir(f->root);
	free(f);
	return 0;
}

static void write_file(struct fake_proc *f, const char *file, const char *text, size_t len)
{
	int fd = openat(f->task, file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), len);
	close(fd);
}

static void test_open_task(void **state)
{
	struct fake_proc *f = *state;

	assert_int_equal(procfs_open_task(f->proc, 41), -ENOENT);
	assert_true(procfs_has_thread(f->task, 43));
	assert_false(procfs_has_thread(f->task, 44));
}

static void test_status_ids(void **state)
{
	static const struct {
		const char *text;
		int result;
		u32 uid;
	} rows[] = {
		{ "Name:\tx\nUmask:\t0022\nState:\tS\nTgid:\t41\nUid:\t7\t0\t0\t0\n", 0, 7 },
		{ "Name:\tUid:\t9\nTgid:\t41\nPid:\t42\nUid:\t4294967295\t1\t1\t1\n", 0,
		  UINT32_MAX },
		{ "Name:\tTgid:\nTgid:\t41\n", 0, 0 },
		{ "Name:\tx\nTgid:\t0\n", -EBADMSG, 0 },
		{ "Name:\tx\nTgid:\t-41\n", -EBADMSG, 0 },
		{ "Name:\tx\nTgid:\t99999999999999999999\n", -EBADMSG, 0 },
		{ "Name:\tx\n", -EBADMSG, 0 },
		{ "", -EBADMSG, 0 },
	};
	struct fake_proc *f = *state;
	s32 tgid = -1;
	u32 uid;

	assert_int_equal(procfs_read_ids(f->task, &tgid, &uid), -ENOENT);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("row %zu", i);
		write_file(f, "status", rows[i].text, strlen(rows[i].text));
		tgid = -1;
		assert_row(procfs_read_ids(f->task, &tgid, &uid) == rows[i].result);
		assert_row(tgid == (rows[i].result ? -1 : 41));
		assert_row(rows[i].result || uid == rows[i].uid);
	}
}

#define AFTER " S 1 2 3 4 -1 2097216 1 2 3 4 5 6 7 8 20 0 9 0 777 1000 10 99 4096 8192 12288 0\n"

static void test_read_stat(void **state)
{
	static const struct {
		const char *text;
		const char *comm; /* expected result; NULL: the text must be rejected */
	} rows[] = {
		{ "42 (x)" AFTER, "x" },
		{ "42 ()" AFTER, "" },
		{ "42 () S 1 (x) R)" AFTER, ") S 1 (x) R" },
		{ "42 (a\nb c)" AFTER, "a\nb c" },
		{ "42 "
		  "(kworker/"
		  "u4:2-events_unbound-and-a-name-that-is-longer-than-there-is-room)" AFTER,
		  "kworker/u4:2-events_unbound-and-a-name-that-is-longer-than-ther" },
		{ "42 (x) S 1 2 3\n", NULL },
		{ "42 (x) ", NULL },
		{ "42 )x(" AFTER, NULL },
		{ "42 (x", NULL },
		{ "", NULL },
	};
	struct fake_proc *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct procfs_stat st;

		test_row("row %zu", i);
		write_file(f, "stat", rows[i].text, strlen(rows[i].text));
		assert_row(procfs_read_stat(f->task, &st) == (rows[i].comm ? 0 : -EBADMSG));
		if (!rows[i].comm)
			continue;
		assert_string_equal(st.comm, rows[i].comm);
		assert_row(st.state == 'S' && st.threads == 9 && st.start_time == 777);
		assert_row(st.flags == (2097216) && st.flags & PROCFS_KTHREAD);
		assert_row(st.start_code == 4096 && st.start_stack == 12288);
	}
}

struct seen_mappings {
	u32 count;
	u64 sum;
	u32 device;
	char last[64];
};

static bool count_mapping(void *ctx, const struct procfs_map *map)
{
	struct seen_mappings *s = ctx;

	s->count++;
	s->sum += map->end - map->start + map->offset + map->inode;
	s->device = map->device;
	snprintf(s->last, sizeof(s->last), "%s", map->path);
	return true;
}

static void test_read_maps(void **state)
{
	static const struct {
		const char *text;
		u32 count;
		u64 sum;
		u64 skipped;
		const char *last;
	} rows[] = {
		{ "1000-3000 r-xp 00000500 fe:01 7                   /bin/a b\n", 1, 0x2507, 0,
		  "/bin/a b" },
		{ "1000-3000 r--p 00000500 fe:01 7                   /bin/a\n", 0, 0, 0, "" },
		{ "1000-3000 rwxp 00000000 00:00 0 \n", 1, 0x2000, 0, "" },
		{ "1000-3000 rwxp 00000000 00:00 0\n", 1, 0x2000, 0, "" },
		{ "1000-3000 r-xp 0 0:0 0 /a\\012b\\0123\n", 1, 0x2000, 0, "/a\nb\n3" },
		{ "1000-3000 r-xs 0 0:0 0 /x (deleted)\n", 1, 0x2000, 0, "/x (deleted)" },
		{ "3000-1000 r-xp 0 0:0 0 /x\n", 0, 0, 1, "" },
		{ "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0  [vsyscall]\n", 1,
		  0x1000, 0, "[vsyscall]" },
		{ "\n\nx\n1000\n1000-2000 r-xp\n1000-2000 r-x\n", 0, 0, 6, "" },
		{ "1000-2000 r-xp 0 0:0 0 /no/newline", 0, 0, 0, "" },
	};
	struct fake_proc *f = *state;
	struct procfs_maps_cost cost;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct seen_mappings s = { 0 };

		test_row("row %zu", i);
		write_file(f, "maps", rows[i].text, strlen(rows[i].text));
		assert_row(!procfs_read_maps(f->task, 0, count_mapping, &s, &cost));
		assert_row(s.count == rows[i].count && s.sum == rows[i].sum);
		assert_row(cost.skipped == rows[i].skipped);
		assert_string_equal(s.last, rows[i].last);
	}
}

/* Files of two file systems may have the same inode number. Their devices distinguish them. */
static void test_maps_have_devices(void **state)
{
	static const char text[] = "1000-3000 r-xp 00000000 fe:0a 7    /bin/a\n";
	struct fake_proc *f = *state;
	struct procfs_maps_cost cost;
	struct seen_mappings s = { 0 };

	write_file(f, "maps", text, sizeof(text) - 1);
	assert_int_equal(procfs_read_maps(f->task, 0, count_mapping, &s, &cost), 0);
	assert_int_equal(s.device, 0xfe << 20 | 0x0a);
}

/*
 * A line that is longer than the buffer is skipped and counted once. The lines before and after it
 * are read.
 */
static void test_overlong_maps_line_is_skipped(void **state)
{
	static const char line[] = "1000-2000 r-xp 00000000 00:00 0 /a\n";
	struct fake_proc *f = *state;
	size_t big = 100000, n = sizeof(line) - 1;
	char *text = malloc(big + 2 * n);
	struct seen_mappings s = { 0 };
	struct procfs_maps_cost cost;

	memcpy(text, line, n);
	memset(text + n, 'x', big);
	text[n + big - 1] = '\n';
	memcpy(text + n + big, line, n);
	write_file(f, "maps", text, big + 2 * n);
	assert_int_equal(procfs_read_maps(f->task, 0, count_mapping, &s, &cost), 0);
	assert_int_equal(s.count, 2);
	assert_int_equal(cost.skipped, 1);
	free(text);
}

static void test_many_maps_lines(void **state)
{
	const u32 lines = 65530;
	struct fake_proc *f = *state;
	char *text = malloc(lines * 64UL), *at = text;
	struct seen_mappings s = { 0 };
	struct procfs_maps_cost cost;

	for (u32 i = 0; i < lines; i++)
		at += sprintf(at, "%x-%x r%c-p 00000000 fe:01 1 /lib/%u.so\n", i << 12,
			      (i + 1) << 12, i & 1 ? 'w' : '-', i);
	write_file(f, "maps", text, (size_t)(at - text));
	assert_int_equal(procfs_read_maps(f->task, 0, count_mapping, &s, &cost), 0);
	assert_int_equal(s.count, 0);
	/* Not strstr(): under ASan it reads all of the text for each line. */
	for (char *p = text; (p = memmem(p, (size_t)(at - p), "r--p", 4)); p++)
		p[2] = 'x';
	write_file(f, "maps", text, (size_t)(at - text));
	assert_int_equal(procfs_read_maps(f->task, 0, count_mapping, &s, &cost), 0);
	assert_int_equal(s.count, lines / 2);
	assert_int_equal(cost.skipped, 0);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_open_task, setup, teardown),
		cmocka_unit_test_setup_teardown(test_status_ids, setup, teardown),
		cmocka_unit_test_setup_teardown(test_read_stat, setup, teardown),
		cmocka_unit_test_setup_teardown(test_read_maps, setup, teardown),
		cmocka_unit_test_setup_teardown(test_maps_have_devices, setup, teardown),
		cmocka_unit_test_setup_teardown(test_overlong_maps_line_is_skipped, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_many_maps_lines, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
