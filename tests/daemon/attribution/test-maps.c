// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test hostile mappings: paths of any length, in any number. */
#include "test.h"

#include "attribution/attributor-save.h"
#include "attribution/maps.h"
#include "tasks/task-event.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LONG 5000
#define ROOM (1U << 20)

static struct attributor *make_attributor(bool live)
{
	const struct attributor_config config = {
		.live = live, .processes = 64, .threads = 64, .containers = 16
	};
	struct attributor *a;

	assert_int_equal(attributor_new(&config, &a), 0);
	return a;
}

static u64 now_ns = 1000000000;

static void report_mapping(struct attributor *a, s32 pid, u64 start, const char *path)
{
	attributor_apply_event(a, &(struct task_event){ .type = TASK_MMAP,
							.time_ns = now_ns++,
							.pid = pid,
							.tid = pid,
							.start = start,
							.size = 0x1000,
							.inode = start,
							.name = path });
}

static const char *get_binary(struct attributor *a, s32 pid, u64 pc)
{
	struct attribute_location location;
	u32 index = attributor_find_process(a, pid);

	if (!attributor_locate_pc(a, index, pc, false, &location))
		return "";
	return location.binary;
}

static size_t save_maps(struct attributor *a, u8 *bytes)
{
	struct serializer to = { .at = bytes, .capacity = ROOM };

	attributor_save(a, &to);
	assert_false(to.full);
	return to.len;
}

static void load_maps_into(struct attributor *a, const u8 *bytes, size_t len)
{
	struct deserializer from = { .at = bytes, .len = len };
	struct attribute_translation translation;

	assert_int_equal(attributor_load(a, &from, &translation), 0);
	assert_int_equal(from.pos, len);
	attribute_translation_deinit(&translation);
}

static struct attributor *load_maps_new(const u8 *bytes, size_t len)
{
	struct attributor *a = make_attributor(false);

	load_maps_into(a, bytes, len);
	return a;
}

static char *make_long_path(void)
{
	char *path = malloc(LONG + 1);

	assert_non_null(path);
	for (size_t i = 0; i < LONG; i++)
		path[i] = i % 250 ? 'a' : '/';
	path[LONG] = '\0';
	return path;
}

/*
 * A path that is too long is not used as a name. A checkpoint that contains a part of it can be
 * read.
 */
static void test_long_path(void **state)
{
	struct attributor *a = make_attributor(false), *next;
	char *path = make_long_path();
	u8 *bytes = malloc(ROOM);
	size_t len;

	(void)state;
	report_mapping(a, 7, 0x1000, path);
	report_mapping(a, 7, 0x2000, "/bin/sh");
	/* A path of the maximum length that BPF reports is not too long, and is used as the name. */
	path[1290] = '\0';
	report_mapping(a, 7, 0x3000, path);
	len = save_maps(a, bytes);
	next = load_maps_new(bytes, len);
	for (int i = 0; i < 2; i++) {
		struct attributor *one = i ? next : a;

		assert_string_equal(get_binary(one, 7, 0x1010), "[long path]");
		assert_string_equal(get_binary(one, 7, 0x2010), "/bin/sh");
		assert_string_equal(get_binary(one, 7, 0x3010), path);
	}
	attributor_free(a);
	attributor_free(next);
	free(path);
	free(bytes);
}

static void put_binary(struct serializer *to, const char *path)
{
	serialize_u64(to, 1);
	serialize_u64(to, 0);
	serialize_bytes(to, "", 0);
	serialize_string(to, path);
}

/*
 * A checkpoint from a version without a limit of paths: one name is missing, and all statistics are
 * restored.
 */
static void test_long_path_saved(void **state)
{
	u8 *bytes = malloc(ROOM);
	struct serializer to = { .at = bytes, .capacity = ROOM };
	char *path = make_long_path();
	struct attributor *a;

	(void)state;
	serialize_u64(&to, 2);
	put_binary(&to, path);
	put_binary(&to, "/bin/sh");
	serialize_u64(&to, 1); /* key of container ids */
	serialize_u64(&to, 2);
	serialize_u64(&to, 15); /* number of containers */
	serialize_u64(&to, 0);
	serialize_u64(&to, 8); /* processes */
	serialize_u64(&to, 1);
	serialize_u64(&to, 1);
	/* Write the 11 numbers of a process: entry 3, generation 1, PID 7; the others are 0. */
	for (size_t i = 0; i < 11; i++)
		serialize_u64(&to, (const u64[11]){ 3, 1, 7 }[i]);
	serialize_string(&to, "sh");
	serialize_u64(&to, 2);
	for (u64 i = 0; i < 2; i++) {
		serialize_u64(&to, 0x1000 + i * 0x1000);
		serialize_u64(&to, 0x1000);
		serialize_u64(&to, 0);
		serialize_u64(&to, i);
	}
	a = load_maps_new(bytes, to.len);
	assert_string_equal(get_binary(a, 7, 0x1010), "");
	assert_string_equal(get_binary(a, 7, 0x2010), "/bin/sh");
	attributor_free(a);
	free(path);
	free(bytes);
}

static void test_damaged_name_is_skipped(void **state)
{
	u8 bytes[32];
	struct serializer to = { .at = bytes, .capacity = sizeof(bytes) };
	struct deserializer from = { .at = bytes };
	char name[4];

	(void)state;
	serialize_string(&to, "long");
	serialize_string(&to, "web");
	serialize_u64(&to, 7);
	from.len = to.len;
	assert_false(deserialize_string_or_skip(&from, name, sizeof(name)));
	assert_string_equal(name, "");
	assert_true(deserialize_string_or_skip(&from, name, sizeof(name)));
	assert_string_equal(name, "web");
	assert_int_equal(deserialize_u64(&from), 7);
	assert_false(from.bad);
	/* The length of the string, 'p', is larger than the number of remaining bytes. */
	from = (struct deserializer){ .at = (const u8 *)"pab", .len = 3 };
	assert_false(deserialize_string_or_skip(&from, name, sizeof(name)));
	assert_true(from.bad);
	from = (struct deserializer){ .at = (const u8 *)"\x80", .len = 1 };
	assert_false(deserialize_string_or_skip(&from, name, sizeof(name)));
	assert_true(from.bad);
}

/* Return false under user emulation if the kernel does not show executable memory as executable. */
static bool proc_maps_has_long_lines(size_t least)
{
	char path[32], *line = NULL;
	int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool found = false;
	size_t size = 0;
	FILE *file;

	/* Read the kernel's own file: the emulation replaces the file with the usual name. */
	snprintf(path, sizeof(path), "%d/maps", getpid());
	file = fdopen(openat(proc, path, O_RDONLY | O_CLOEXEC), "r");
	close(proc);
	assert_non_null(file);
	while (!found && getline(&line, &size, file) >= 0)
		found = strlen(line) >= least && strstr(line, " r-xp ");
	free(line);
	assert_int_equal(fclose(file), 0);
	return found;
}

/* Read the maps of a file with a long path, which any user can create. */
static void test_long_path_proc(void **state)
{
	char root[] = "/tmp/test-maps-XXXXXX", name[251], command[64];
	int dir, start_dir = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC), fd;
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
	dir = fchdir(start_dir);
	close(start_dir);
	assert_int_equal(dir, 0);
	snprintf(command, sizeof(command), "rm -r %s", root);
	if (at == MAP_FAILED ||
	    !proc_maps_has_long_lines(5000)) { /* the file system may be mounted noexec */
		assert_int_equal(system(command), 0);
		skip();
	}
	a = make_attributor(true);
	assert_string_equal(get_binary(a, getpid(), (u64)(uintptr_t)at), "[long path]");
	attributor_free(a);
	munmap(at, 4096);
	assert_int_equal(system(command), 0);
}

/* The contents of a saved attributor, in the order of attributor_save() */
struct saved_content {
	u64 bytes;
	u64 mappings;
	u64 processes;
};

static void skip_string(struct deserializer *from)
{
	char text[BINARY_PATH_SIZE + 1];

	deserialize_string(from, text, sizeof(text));
}

static void skip_numbers(struct deserializer *from, u32 count)
{
	while (count--)
		deserialize_u64(from);
}

/* Return the bytes of files and mappings in a saved attributor, without their counts. */
static struct saved_content parse_saved(const u8 *bytes, size_t len)
{
	struct deserializer from = { .at = bytes, .len = len };
	struct saved_content content = { 0 };
	u64 count = deserialize_u64(&from), mappings;
	size_t before = from.pos;

	while (count--) {
		skip_numbers(&from, 2);
		skip_string(&from);
		skip_string(&from);
	}
	content.bytes = from.pos - before;
	skip_numbers(&from, 3); /* containers: key and capacity */
	for (count = deserialize_u64(&from); count; count--) {
		skip_numbers(&from, 2);
		skip_string(&from);
	}
	skip_numbers(&from, 2);
	for (count = deserialize_u64(&from); count; count--) {
		skip_numbers(&from, 11);
		skip_string(&from);
		mappings = deserialize_u64(&from);
		before = from.pos;
		skip_numbers(&from, (u32)mappings * 4);
		content.bytes += from.pos - before;
		content.mappings += mappings;
		content.processes++;
	}
	assert_false(from.bad);
	assert_int_equal(from.pos, len);
	return content;
}

/* Above every possible pid_max, so that only events report these processes */
#define FAKE_PID  (INT32_MAX - 100000)
#define PROCESSES 256
#define MAP_BYTES (256U << 10)

#define SAVED_MAP_BYTES (32U << 10)

static struct attributor *make_small_attributor(void)
{
	const struct attributor_config config = { .live = true,
						  .processes = PROCESSES,
						  .threads = 1024,
						  .containers = 16,
						  .map_bytes = MAP_BYTES,
						  .saved_map_bytes = SAVED_MAP_BYTES };
	struct attributor *a;

	assert_int_equal(attributor_new(&config, &a), 0);
	return a;
}

static void report_fork(struct attributor *a, s32 pid)
{
	attributor_apply_event(a, &(struct task_event){ .type = TASK_FORK,
							.pid = pid,
							.tid = pid,
							.start_ns = now_ns,
							.time_ns = now_ns++,
							.name = "ghost" });
}

static u64 get_memory(struct attributor *a)
{
	struct attributor_stats stats;

	attributor_get_stats(a, &stats);
	return stats.memory;
}

static u32 get_device(struct attributor *a, s32 pid, u64 pc)
{
	struct attribute_location location;

	assert_true(attributor_locate_pc(a, attributor_find_process(a, pid), pc, false, &location));
	assert_string_equal(location.binary, "/app/server");
	assert_int_equal(location.inode, 7);
	return location.device;
}

/*
 * Two containers map different files with the same path and inode number, which are on different
 * devices.
 */
static void test_devices_distinguish_files(void **state)
{
	struct attributor *a = make_small_attributor(), *next = make_small_attributor();
	u8 *bytes = malloc(ROOM);
	size_t len;

	(void)state;
	report_fork(a, FAKE_PID);
	for (u32 i = 0; i < 3; i++)
		attributor_apply_event(a, &(struct task_event){ .type = TASK_MMAP,
								.pid = FAKE_PID,
								.tid = FAKE_PID,
								.start = 0x10000 * (i + 1),
								.size = 0x1000,
								.inode = 7,
								.device = device_number(8, i % 2),
								.time_ns = now_ns++,
								.name = "/app/server" });
	attributor_find_process(a, FAKE_PID);
	len = save_maps(a, bytes);
	load_maps_into(next, bytes, len);
	for (u32 i = 0; i < 3; i++) {
		test_row("mapping %u", i);
		assert_row(get_device(a, FAKE_PID, 0x10000 * (i + 1)) == device_number(8, i % 2));
		assert_row(get_device(next, FAKE_PID, 0x10000 * (i + 1)) ==
			   device_number(8, i % 2));
	}
	/* All mappings of one file share one entry. */
	assert_int_equal(bytes[0], 2);
	attributor_free(next);
	attributor_free(a);
	free(bytes);
}

/* Add a process of a typical program, which maps a few files that all programs map. */
static void add_typical_process(struct attributor *a, s32 pid)
{
	static const char *const paths[] = { "/bin/sh", "/lib/libc.so.6", "/lib/ld.so", "[vdso]" };

	report_fork(a, pid);
	for (u64 i = 0; i < ARRAY_SIZE(paths); i++)
		attributor_apply_event(a, &(struct task_event){ .type = TASK_MMAP,
								.pid = pid,
								.tid = pid,
								.start = 0x1000 + i * 0x10000,
								.size = 0x1000,
								.time_ns = now_ns++,
								.name = paths[i] });
}

static void assert_typical_process(struct attributor *a, s32 pid)
{
	assert_string_equal(get_binary(a, pid, 0x1010), "/bin/sh");
	assert_string_equal(get_binary(a, pid, 0x11010), "/lib/libc.so.6");
}

/* Add a process with @count mappings, each of a different file with a path of @len bytes. */
static void add_process_with_many_mappings(struct attributor *a, s32 pid, u32 count, size_t len)
{
	char path[1200];

	assert_true(len < sizeof(path));
	report_fork(a, pid);
	for (u32 i = 0; i < count; i++) {
		memset(path, 'a', len);
		path[len] = '\0';
		path[snprintf(path, sizeof(path), "/%x-%x", pid, i)] = len > 20 ? '/' : '\0';
		report_mapping(a, pid, 0x100000 + i * 0x2000ULL, path);
	}
}

/*
 * Memory stays within its limit for any mappings: the mappings of the process with the most memory
 * are evicted, and other processes keep their mappings.
 */
static void test_mapping_memory_is_limited(void **state)
{
	static const struct {
		s32 processes;
		u32 mappings;
		size_t len;
	} rows[] = {
		{ 6, 4000, 1100 },
		{ 33, 4096, 10 },
		{ 40, 100, 1100 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct attributor *a = make_small_attributor();
		struct attributor_stats stats;
		u64 before = get_memory(a);

		test_row("%d processes of %u mappings", rows[i].processes, rows[i].mappings);
		for (s32 n = 0; n < 20; n++)
			add_typical_process(a, FAKE_PID + n);
		for (s32 n = 0; n < rows[i].processes; n++) {
			add_process_with_many_mappings(a, FAKE_PID + 1000 + n, rows[i].mappings,
						       rows[i].len);
			assert_row(get_memory(a) <= before + MAP_BYTES);
		}
		for (s32 n = 20; n < 40; n++)
			add_typical_process(a, FAKE_PID + n);
		assert_row(get_memory(a) <= before + MAP_BYTES);
		for (s32 n = 0; n < 40; n++)
			assert_typical_process(a, FAKE_PID + n);
		attributor_get_stats(a, &stats);
		assert_row(stats.mappings_dropped > 1000);
		attributor_free(a);
	}
}

/*
 * A checkpoint has a limit of bytes for mappings, which suffices for the mappings of typical
 * programs.
 */
static void test_saved_mappings_are_limited(void **state)
{
	static const struct {
		s32 processes;
		u32 mappings;
		size_t len;
	} rows[] = {
		{ 6, 200, 1100 },
		{ 1, 1500, 10 },
		{ 40, 5, 1100 },
	};
	u8 *bytes = malloc(ROOM);

	(void)state;
	assert_non_null(bytes);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct attributor *a = make_small_attributor(), *next;
		struct attributor_stats stats;
		struct saved_content content;
		size_t len;

		test_row("%d processes of %u mappings", rows[i].processes, rows[i].mappings);
		for (s32 n = 0; n < rows[i].processes; n++)
			add_process_with_many_mappings(a, FAKE_PID + 1000 + n, rows[i].mappings,
						       rows[i].len);
		for (s32 n = 0; n < 20; n++)
			add_typical_process(a, FAKE_PID + n);
		for (s32 n = 0; n < rows[i].processes; n++)
			assert_row(attributor_find_process(a, FAKE_PID + 1000 + n) !=
				   ATTRIBUTE_NONE);
		for (s32 n = 0; n < 20; n++)
			assert_typical_process(a, FAKE_PID + n);
		len = save_maps(a, bytes);
		content = parse_saved(bytes, len);
		attributor_get_stats(a, &stats);
		assert_row(content.bytes <= SAVED_MAP_BYTES && content.processes >= 20);
		assert_row(stats.mappings_unsaved && content.mappings >= 80);
		next = make_small_attributor();
		load_maps_into(next, bytes, len);
		for (s32 n = 0; n < 20; n++)
			assert_typical_process(next, FAKE_PID + n);
		/* Saving the restored mappings keeps all of them and needs no more bytes. */
		assert_row(save_maps(next, bytes) <= len);
		assert_row(parse_saved(bytes, save_maps(next, bytes)).bytes == content.bytes);
		attributor_get_stats(next, &stats);
		assert_row(!stats.mappings_unsaved);
		attributor_free(a);
		attributor_free(next);
	}
	free(bytes);
}

/*
 * If processes have equally many mappings, the checkpoint contains the mappings of exited
 * processes: those of living processes can be read from /proc.
 */
static void test_mappings_of_exited_are_saved(void **state)
{
	struct attributor *a = make_small_attributor(), *next;
	u8 *bytes = malloc(ROOM);
	struct attributor_stats stats;
	struct saved_content content;
	u32 living = 0;
	size_t len;

	(void)state;
	assert_non_null(bytes);
	for (s32 n = 0; n < 10; n++) {
		add_process_with_many_mappings(a, FAKE_PID + n, 20, 250);
		assert_true(*get_binary(a, FAKE_PID + n, 0x100010));
	}
	for (s32 n = 6; n < 10; n++)
		attributor_apply_event(a, &(struct task_event){ .type = TASK_EXIT,
								.pid = FAKE_PID + n,
								.tid = FAKE_PID + n,
								.time_ns = now_ns++,
								.last = true });
	len = save_maps(a, bytes);
	content = parse_saved(bytes, len);
	attributor_get_stats(a, &stats);
	assert_true(content.processes == 10 && content.mappings + stats.mappings_unsaved == 200);
	assert_true(content.mappings && stats.mappings_unsaved && content.bytes <= SAVED_MAP_BYTES);
	next = make_small_attributor();
	load_maps_into(next, bytes, len);
	for (s32 n = 6; n < 10; n++)
		assert_true(*get_binary(next, FAKE_PID + n, 0x100010));
	for (s32 n = 0; n < 6; n++)
		living += *get_binary(next, FAKE_PID + n, 0x100010) != 0;
	assert_true(living < 6);
	attributor_free(a);
	attributor_free(next);
	free(bytes);
}

/*
 * If processes have equally many mappings, the mappings of exited processes are evicted, and a
 * later process keeps its mappings.
 */
static void test_mappings_of_exited_are_evicted(void **state)
{
	struct attributor *a = make_small_attributor();
	u32 remaining = 0;

	(void)state;
	for (s32 n = 0; n < 8; n++)
		add_process_with_many_mappings(a, FAKE_PID + n, 100, 200);
	for (s32 n = 0; n < 4; n++)
		attributor_apply_event(a, &(struct task_event){ .type = TASK_EXIT,
								.pid = FAKE_PID + n,
								.tid = FAKE_PID + n,
								.time_ns = now_ns++,
								.last = true });
	for (s32 n = 8; n < 11; n++)
		add_process_with_many_mappings(a, FAKE_PID + n, 100, 200);
	for (s32 n = 4; n < 11; n++) {
		test_row("%d", n);
		assert_row(*get_binary(a, FAKE_PID + n, 0x100010));
	}
	for (s32 n = 0; n < 4; n++)
		remaining += *get_binary(a, FAKE_PID + n, 0x100010) != 0;
	assert_true(remaining < 4);
	attributor_free(a);
}

/* A fork that needs memory evicts the mappings of its parent. */
static void test_fork_evicts_mappings_of_parent(void **state)
{
	struct attributor *a = make_small_attributor();
	u64 before = get_memory(a);

	(void)state;
	for (s32 n = 0; n < 8; n++) {
		add_process_with_many_mappings(a, FAKE_PID + n, 400, 100);
		attributor_apply_event(a, &(struct task_event){ .type = TASK_FORK,
								.pid = FAKE_PID + 100 + n,
								.tid = FAKE_PID + 100 + n,
								.parent_pid = FAKE_PID + n,
								.start_ns = now_ns,
								.time_ns = now_ns++,
								.name = "child" });
		assert_true(get_memory(a) <= before + MAP_BYTES);
	}
	attributor_free(a);
}

/* Any user can create cgroups with long paths: their memory is limited. */
static void test_cgroup_paths(void **state)
{
	struct attributor *a = make_small_attributor();
	u64 before = get_memory(a);
	char path[1000];

	(void)state;
	memset(path, 'a', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	for (u32 i = 0; i < 10000; i++) {
		path[snprintf(path, sizeof(path), "/%x", i)] = '/';
		attributor_apply_event(a, &(struct task_event){ .type = TASK_CGROUP,
								.cgroup = 0x7000000000000000ULL + i,
								.time_ns = now_ns++,
								.name = path });
	}
	assert_true(get_memory(a) <= before + (64U << 10));
	assert_true(get_memory(a) >= before + (48U << 10));
	attributor_free(a);
}

static void add_mapping_at(struct map_store *store, struct maps *maps, u64 start, u64 end,
			   u64 since_ns, const char *path)
{
	const struct mapping m = { .start = start, .end = end, .offset = start, .since_ns = since_ns };

	maps_add(store, maps, &m, &(struct mapped_binary_key){ .path = path });
}

static void assert_mapping_at(const struct maps *maps, u64 addr, u64 time_ns, const char *path,
			      u64 from_ns, u64 until_ns)
{
	u64 from, until;
	const struct mapping *m = maps_find_at(maps, addr, time_ns, &from, &until);

	test_row("%llx at %llu", (unsigned long long)addr, (unsigned long long)time_ns);
	assert_row(!m == !path);
	if (!m)
		return;
	assert_row(!strcmp(m->binary->path, path));
	assert_row(m->start <= addr && addr < m->end);
	assert_row(addr - m->start + m->offset == addr);
	assert_row(from == from_ns && until == until_ns);
	assert_row(from <= time_ns && (time_ns < until || time_ns == UINT64_MAX));
}

/*
 * A lookup returns the mapping at the given time, even if later mappings replaced all or a part of
 * it.
 */
static void test_replaced_mapping_is_found_by_time(void **state)
{
	struct map_store store;
	struct maps maps = { 0 };
	u64 empty, version;

	(void)state;
	assert_int_equal(map_store_init(&store, ROOM), 0);
	empty = store.memory;
	add_mapping_at(&store, &maps, 0x1000, 0x9000, 0, "/z");
	add_mapping_at(&store, &maps, 0x1000, 0x9000, 0, "/a");
	/* The former mapping is not stored, because the time of the replacement is unknown. */
	assert_int_equal(maps.replaced_count, 0);
	add_mapping_at(&store, &maps, 0x3000, 0x5000, 100, "/b");
	add_mapping_at(&store, &maps, 0x4000, 0x6000, 200, "/c");
	add_mapping_at(&store, &maps, 0x2000, 0x8000, 300, "/d");
	assert_mapping_at(&maps, 0x1000, 50, "/a", 0, UINT64_MAX);
	assert_mapping_at(&maps, 0x3000, 50, "/a", 0, 100);
	assert_mapping_at(&maps, 0x3000, 100, "/b", 100, 300);
	assert_mapping_at(&maps, 0x4000, 99, "/a", 0, 100);
	assert_mapping_at(&maps, 0x4fff, 150, "/b", 100, 200);
	assert_mapping_at(&maps, 0x4fff, 299, "/c", 200, 300);
	assert_mapping_at(&maps, 0x5000, 199, "/a", 0, 200);
	assert_mapping_at(&maps, 0x5fff, 200, "/c", 200, 300);
	assert_mapping_at(&maps, 0x7000, 299, "/a", 0, 300);
	assert_mapping_at(&maps, 0x4000, 300, "/d", 300, UINT64_MAX);
	assert_mapping_at(&maps, 0x4000, UINT64_MAX, "/d", 300, UINT64_MAX);
	assert_mapping_at(&maps, 0x8000, 1000, "/a", 0, UINT64_MAX);
	assert_mapping_at(&maps, 0x9000, 1000, NULL, 0, 0);
	/* Reporting the same mapping again changes nothing. */
	version = maps.version;
	add_mapping_at(&store, &maps, 0x2000, 0x8000, 400, "/d");
	assert_int_equal(maps.version, version);
	assert_mapping_at(&maps, 0x4000, 350, "/d", 300, UINT64_MAX);
	add_mapping_at(&store, &maps, 0x2000, 0x8000, 500, "/e");
	assert_true(maps.version > version);
	/* The mapping at that time is unknown, so the present mapping is the best guess. */
	add_mapping_at(&store, &maps, 0xa000, 0xb000, 600, "/f");
	assert_mapping_at(&maps, 0xa000, 550, "/f", 550, 551);
	version = maps.version;
	maps_clear(&store, &maps);
	assert_true(maps.version > version);
	assert_int_equal(store.memory, empty);
	map_store_deinit(&store);
}

/*
 * The number of replaced mappings is limited: the oldest ones, and those that no sample can need,
 * are dropped.
 */
static void test_replaced_mappings_are_limited(void **state)
{
	static const char *const paths[] = { "/a", "/b", "/c" };
	struct map_store store;
	struct maps maps = { 0 };
	u64 empty;

	(void)state;
	assert_int_equal(map_store_init(&store, ROOM), 0);
	empty = store.memory;
	for (u64 i = 1; i <= 3 * MAPS_REPLACED_MAX; i++)
		add_mapping_at(&store, &maps, 0x1000, 0x2000, 10 * i, paths[i % 3]);
	assert_in_range(maps.replaced_count, MAPS_REPLACED_MAX / 2, MAPS_REPLACED_MAX);
	assert_mapping_at(&maps, 0x1000, 30 * MAPS_REPLACED_MAX - 5, "/c",
			  30 * MAPS_REPLACED_MAX - 10, 30 * MAPS_REPLACED_MAX);
	store.replaced_ns = 25;
	add_mapping_at(&store, &maps, 0x1000, 0x2000, 30 * MAPS_REPLACED_MAX + 10, "/b");
	assert_int_equal(maps.replaced_count, 3);
	maps_clear(&store, &maps);
	assert_int_equal(store.memory, empty);
	/*
	 * If the allocation fails, the mapping is still replaced, and the dropped former mapping is
	 * counted.
	 */
	store.replaced_ns = 0;
	store.limit = store.memory + 1000;
	for (u64 i = 1; i < 100; i++)
		add_mapping_at(&store, &maps, 0x1000, 0x2000, 10 * i, paths[i % 3]);
	assert_true(store.dropped > 0);
	assert_mapping_at(&maps, 0x1000, UINT64_MAX, "/a", 990, UINT64_MAX);
	maps_clear(&store, &maps);
	assert_int_equal(store.memory, empty);
	map_store_deinit(&store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_long_path),
		cmocka_unit_test(test_long_path_saved),
		cmocka_unit_test(test_damaged_name_is_skipped),
		cmocka_unit_test(test_long_path_proc),
		cmocka_unit_test(test_devices_distinguish_files),
		cmocka_unit_test(test_mapping_memory_is_limited),
		cmocka_unit_test(test_saved_mappings_are_limited),
		cmocka_unit_test(test_mappings_of_exited_are_saved),
		cmocka_unit_test(test_mappings_of_exited_are_evicted),
		cmocka_unit_test(test_fork_evicts_mappings_of_parent),
		cmocka_unit_test(test_cgroup_paths),
		cmocka_unit_test(test_replaced_mapping_is_found_by_time),
		cmocka_unit_test(test_replaced_mappings_are_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
