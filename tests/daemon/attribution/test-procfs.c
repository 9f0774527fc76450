// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "attribution/maps.h"
#include "attribution/procfs.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Answers to PROCMAP_QUERY. @mappings: number of mappings, of 0x1000 bytes each, that a simulated
 * kernel reports, with the name @name; 0: queries fail with ENOTTY, or are real with @real
 */
static struct {
	u32 mappings;
	char name[PATH_MAX + 1];
	bool real;
	u32 queries;
} kernel;

/* struct procmap_query of Linux 6.11; see procfs.c */
struct map_query {
	u64 size;
	u64 flags;
	u64 address;
	u64 start;
	u64 end;
	u64 access;
	u64 page_size;
	u64 offset;
	u64 inode;
	u32 dev_major;
	u32 dev_minor;
	u32 name_size;
	u32 build_id_size;
	u64 name;
	u64 build_id;
};

int __real_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, ...);

/* Answer as do_procmap_query() does. */
static int answer_query(struct map_query *q)
{
	u64 n = q->address >> 12;

	assert_int_equal(q->size, sizeof(*q));
	/* executable mappings; the one that contains the address, or the next one */
	assert_int_equal(q->flags, 0x04 | 0x10);
	kernel.queries++;
	if (n >= kernel.mappings)
		errno = ENOENT;
	else if (q->name_size && q->name_size < strlen(kernel.name) + 1)
		errno = ENAMETOOLONG;
	else
		errno = 0;
	if (errno)
		return -1;
	q->start = n << 12;
	q->end = (n + 1) << 12;
	q->offset = 0x500;
	q->inode = 7;
	q->dev_major = 0xfe;
	q->dev_minor = 1;
	if (q->name_size)
		strcpy((char *)(uintptr_t)q->name, kernel.name);
	return 0;
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	assert_int_equal(request, _IOWR('f', 17, struct map_query));
	if (kernel.mappings)
		return answer_query(arg);
	kernel.queries++;
	if (kernel.real)
		return __real_ioctl(fd, request, arg);
	errno = ENOTTY;
	return -1;
}

/* A simulated /proc with one task: plain files, which can have any contents */
struct fake_proc {
	char root[40];
	int proc;
	int task;
};

static int setup(void **state)
{
	struct fake_proc *f = calloc(1, sizeof(*f));

	memset(&kernel, 0, sizeof(kernel));
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

/* At most PROCFS_MAPS_BYTES of text are read, and the remainder counts as one skipped line. */
static void test_maps_text_is_limited(void **state)
{
	static const char line[] = "1000-2000 r-xp 00000000 00:00 0 /a\n";
	const size_t n = sizeof(line) - 1, lines = 2 * PROCFS_MAPS_BYTES / n;
	struct fake_proc *f = *state;
	char *text = malloc(lines * n);
	struct seen_mappings s = { 0 };
	struct procfs_maps_cost cost;

	assert_non_null(text);
	for (size_t i = 0; i < lines; i++)
		memcpy(text + i * n, line, n);
	write_file(f, "maps", text, lines * n);
	free(text);
	assert_int_equal(procfs_read_maps(f->task, 0, count_mapping, &s, &cost), 0);
	assert_int_equal(cost.skipped, 1);
	/* The last read may exceed the limit by the size of the buffer. */
	assert_in_range(cost.bytes, PROCFS_MAPS_BYTES, PROCFS_MAPS_BYTES + (64 << 10));
	assert_int_equal(s.count, cost.bytes / n);
}

/* A kernel with PROCMAP_QUERY reports one mapping after the other, and its text is not read. */
static void test_mappings_are_queried(void **state)
{
	struct fake_proc *f = *state;
	struct seen_mappings s = { 0 };
	struct procfs_maps_cost cost;

	write_file(f, "maps", "", 0);
	kernel.mappings = 5;
	strcpy(kernel.name, "/bin/a b");
	assert_int_equal(procfs_read_maps(f->task, 0x2fff, count_mapping, &s, &cost), 0);
	/* Mappings that end at or before the first address are not reported. */
	assert_int_equal(s.count, 3);
	assert_int_equal(s.sum, 3 * (0x1000 + 0x500 + 7));
	assert_int_equal(s.device, 0xfe << 20 | 1);
	assert_string_equal(s.last, "/bin/a b");
	assert_int_equal(cost.skipped, 0);
	assert_int_equal(kernel.queries, 4);
	/* The path of a mapping may be longer than PATH_MAX. */
	memset(kernel.name, 'x', PATH_MAX);
	memset(&s, 0, sizeof(s));
	assert_int_equal(procfs_read_maps(f->task, 0, count_mapping, &s, &cost), 0);
	assert_int_equal(s.count, 5);
	assert_string_equal(s.last, BINARY_UNNAMED);
}

/* Queries are limited like text, because they cost as much. */
static void test_queries_are_limited(void **state)
{
	struct fake_proc *f = *state;
	struct seen_mappings s = { 0 };
	struct procfs_maps_cost cost;

	write_file(f, "maps", "", 0);
	kernel.mappings = UINT32_MAX;
	assert_int_equal(procfs_read_maps(f->task, 0, count_mapping, &s, &cost), 0);
	assert_int_equal(cost.skipped, 1);
	assert_in_range(cost.bytes, PROCFS_MAPS_BYTES, PROCFS_MAPS_BYTES + 4096);
	assert_int_equal(s.count, kernel.queries - 1);
}

/* Mappings of this process that one way of reading reports */
struct own_mappings {
	u32 count;
	struct {
		struct procfs_map map;
		char path[PATH_MAX];
	} * entry;
};

static bool copy_mapping(void *ctx, const struct procfs_map *map)
{
	struct own_mappings *own = ctx;

	/* Only the text has this mapping of x86, which belongs to no address space. */
	if (!strcmp(map->path, "[vsyscall]"))
		return true;
	own->entry = realloc(own->entry, (own->count + 1) * sizeof(*own->entry));
	assert_non_null(own->entry);
	own->entry[own->count].map = *map;
	snprintf(own->entry[own->count++].path, PATH_MAX, "%s", map->path);
	return true;
}

static int open_myself(void)
{
	int fd = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

/*
 * The queries of the running kernel report the mappings of this process as the text of maps does. A
 * kernel without queries fails the first one.
 */
static void test_queries_equal_text(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct own_mappings own[2] = { 0 };
	struct procfs_maps_cost cost;
	int self = open_myself();
	void *anonymous =
		mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_ptr_not_equal(anonymous, MAP_FAILED);
	for (u32 i = 0; i < 2; i++) {
		kernel.real = i;
		/* Allocating memory may change mappings, but not executable ones. */
		assert_int_equal(procfs_read_maps(self, 0, copy_mapping, &own[i], &cost), 0);
		assert_int_equal(cost.skipped, 0);
	}
	assert_true(own[0].count >= 2);
	assert_int_equal(own[0].count, own[1].count);
	for (u32 i = 0; i < own[0].count; i++) {
		const struct procfs_map *a = &own[0].entry[i].map, *b = &own[1].entry[i].map;

		assert_int_equal(a->start, b->start);
		assert_int_equal(a->end, b->end);
		assert_int_equal(a->offset, b->offset);
		assert_int_equal(a->inode, b->inode);
		assert_int_equal(a->device, b->device);
		assert_string_equal(own[0].entry[i].path, own[1].entry[i].path);
	}
	free(own[0].entry);
	free(own[1].entry);
	munmap(anonymous, page);
	close(self);
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
		cmocka_unit_test_setup_teardown(test_maps_text_is_limited, setup, teardown),
		cmocka_unit_test_setup_teardown(test_mappings_are_queried, setup, teardown),
		cmocka_unit_test_setup_teardown(test_queries_are_limited, setup, teardown),
		cmocka_unit_test_setup_teardown(test_queries_equal_text, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
