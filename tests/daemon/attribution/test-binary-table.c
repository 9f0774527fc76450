// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test the ids of binaries and programs: which mappings belong to one binary, limits, sweeps, and
 * the checkpoint.
 */
#include "test.h"

#include "attribution/binary-table.h"
#include "attribution/maps.h"
#include "attribution/program-table.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BYTES (1U << 20)

static struct binary_table *binaries_new(u32 capacity, u64 bytes)
{
	struct binary_table *t;

	assert_int_equal(binary_table_new(capacity, bytes, &t), 0);
	return t;
}

static u32 get_file_id(struct binary_table *t, const char *path, u64 inode, const char *build_id)
{
	const struct binary_identity b = { .path = path,
					   .inode = inode,
					   .device = 5,
					   .build_id = (const u8 *)build_id,
					   .build_id_size = build_id ? (u8)strlen(build_id) : 0 };

	return binary_table_find_or_add(t, &b);
}

static u32 get_memory_id(struct binary_table *t, u64 process)
{
	return binary_table_find_or_add(
		t, &(struct binary_identity){ .path = "[anon]", .process = process });
}

static void test_binary_identity(void **state)
{
	struct binary_table *t = binaries_new(100, BYTES);
	struct binary_identity b;
	u32 id;

	(void)state;
	/*
	 * A build ID alone identifies a binary. Without a build ID, device, inode and path identify
	 * it.
	 */
	id = get_file_id(t, "/usr/bin/a", 1, "0123456789");
	assert_int_equal(id, 1);
	assert_int_equal(get_file_id(t, "/merged/usr/bin/a", 2, "0123456789"), id);
	assert_int_not_equal(get_file_id(t, "/usr/bin/a", 1, "abcdefghij"), id);
	id = get_file_id(t, "/usr/bin/b", 3, NULL);
	assert_int_equal(get_file_id(t, "/usr/bin/b", 3, NULL), id);
	assert_int_not_equal(get_file_id(t, "/usr/bin/b", 4, NULL), id);
	assert_int_not_equal(get_file_id(t, "/usr/bin/c", 3, NULL), id);
	/* Anonymous memory of each process is a separate binary. */
	assert_int_equal(get_memory_id(t, 7), get_memory_id(t, 7));
	assert_int_not_equal(get_memory_id(t, 7), get_memory_id(t, 8));
	assert_true(binary_table_find_by_id(t, 1, &b));
	assert_string_equal(b.path, "/usr/bin/a");
	assert_int_equal(b.inode, 1);
	assert_int_equal(b.device, 5);
	assert_int_equal(b.build_id_size, 10);
	assert_memory_equal(b.build_id, "0123456789", 10);
	assert_true(binary_table_find_by_id(t, BINARY_OTHER, &b));
	assert_string_equal(b.path, "(other)");
	assert_false(binary_table_find_by_id(t, 99, &b));
	assert_false(binary_table_find_by_id(t, UINT32_MAX, &b));
	binary_table_free(t);
	assert_null(binary_table_free(NULL));
}

/* A binary has no name if its path does not fit. The longest path that fits is stored in full. */
static void test_long_path(void **state)
{
	struct binary_table *t = binaries_new(100, BYTES);
	char path[BINARY_PATH_SIZE + 100];
	struct binary_identity b;
	u32 id;

	(void)state;
	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = 0;
	id = get_file_id(t, path, 1, NULL);
	assert_true(binary_table_find_by_id(t, id, &b));
	assert_string_equal(b.path, BINARY_UNNAMED);
	path[BINARY_PATH_SIZE - 1] = 0;
	id = get_file_id(t, path, 1, NULL);
	assert_true(binary_table_find_by_id(t, id, &b));
	assert_string_equal(b.path, path);
	binary_table_free(t);
}

/* The number of entries and their memory are limited, and a sweep frees unmarked entries. */
static void test_table_is_bounded(void **state)
{
	struct binary_table *t = binaries_new(100, BYTES), *small = binaries_new(100, 1000);
	struct id_table_stats stats;
	struct binary_identity b;
	char path[32];

	(void)state;
	for (u32 i = 0; i < 150; i++) {
		snprintf(path, sizeof(path), "/bin/%u", i);
		assert_int_equal(get_file_id(t, path, i, NULL), i < 100 ? i + 1 : BINARY_OTHER);
		(void)get_file_id(small, path, i, NULL);
	}
	id_table_get_stats(&t->ids, &stats);
	assert_int_equal(stats.used, 100);
	assert_int_equal(stats.capacity, 100);
	assert_int_equal(stats.refused, 50);
	id_table_get_stats(&small->ids, &stats);
	assert_in_range(stats.used, 5, 20);
	assert_in_range(stats.bytes, 1000, 5000);
	/* A sweep keeps ids that were returned since the last sweep. */
	assert_int_equal(id_table_sweep(&t->ids), 0);
	assert_int_equal(id_table_get_sweeps(&t->ids), 0);
	id_table_mark(&t->ids, 17);
	id_table_mark(&t->ids, 500);
	assert_int_equal(get_file_id(t, "/bin/3", 3, NULL), 4);
	assert_int_equal(id_table_sweep(&t->ids), 98);
	assert_int_equal(id_table_get_sweeps(&t->ids), 1);
	assert_true(binary_table_find_by_id(t, 17, &b));
	assert_string_equal(b.path, "/bin/16");
	assert_true(binary_table_find_by_id(t, 4, &b));
	assert_false(binary_table_find_by_id(t, 5, &b));
	for (u32 i = 1000; i < 1098; i++) {
		snprintf(path, sizeof(path), "/bin/%u", i);
		assert_int_not_equal(get_file_id(t, path, i, NULL), BINARY_OTHER);
	}
	assert_int_equal(get_file_id(t, "/bin/x", 1, NULL), BINARY_OTHER);
	id_table_get_stats(&t->ids, &stats);
	assert_int_equal(stats.freed, 98);
	binary_table_free(t);
	binary_table_free(small);
}

static u32 find_program(struct program_table *t, u32 container, u32 generation,
			const char *executable)
{
	return program_table_find_or_add(
		t, &(struct program_identity){ .container = container,
					       .container_generation = generation,
					       .executable = executable });
}

static void test_program_ids(void **state)
{
	struct program_identity p;
	struct program_table *t;
	u32 id;

	(void)state;
	assert_int_equal(program_table_new(3, BYTES, &t), 0);
	id = find_program(t, 1, 2, "/usr/bin/make");
	assert_int_equal(find_program(t, 1, 2, "/usr/bin/make"), id);
	assert_int_not_equal(find_program(t, 1, 3, "/usr/bin/make"), id);
	assert_int_not_equal(find_program(t, 2, 2, "/usr/bin/make"), id);
	assert_int_equal(find_program(t, 1, 2, "/usr/bin/cc"), PROGRAM_OTHER);
	assert_true(program_table_find_by_id(t, id, &p));
	assert_int_equal(p.container, 1);
	assert_int_equal(p.container_generation, 2);
	assert_string_equal(p.executable, "/usr/bin/make");
	assert_true(program_table_find_by_id(t, PROGRAM_OTHER, &p));
	assert_string_equal(p.executable, "(other)");
	assert_int_equal(id_table_sweep(&t->ids), 0);
	id_table_mark(&t->ids, id);
	assert_int_equal(id_table_sweep(&t->ids), 2);
	assert_int_equal(id_table_get_sweeps(&t->ids), 1);
	assert_int_not_equal(find_program(t, 1, 2, "/usr/bin/cc"), PROGRAM_OTHER);
	program_table_free(t);
	assert_null(program_table_free(NULL));
}

/* Loading a checkpoint changes ids: the loader returns the new id for each old one. */
static void test_checkpoint_translates_ids(void **state)
{
	struct restored_entry_location containers[] = { { 0, 0, 1 }, { 4, 6, 9 } };
	const struct attribute_translation translation = { .container = containers,
							   .containers = 2 };
	struct binary_table *binaries = binaries_new(10, BYTES), *next = binaries_new(10, BYTES);
	struct program_table *programs, *next_programs;
	static u8 bytes[4096];
	struct serializer to = { .at = bytes, .capacity = sizeof(bytes) };
	struct deserializer from = { .at = bytes };
	u32 *ids, count, a, b, c, m, lost;
	struct program_identity p;
	struct binary_identity binary;

	(void)state;
	assert_int_equal(program_table_new(10, BYTES, &programs), 0);
	assert_int_equal(program_table_new(10, BYTES, &next_programs), 0);
	a = get_file_id(binaries, "/usr/bin/a", 1, "0123456789");
	b = get_file_id(binaries, "/usr/bin/b", 2, NULL);
	m = get_memory_id(binaries, 77);
	c = find_program(programs, 1, 4, "/usr/bin/a");
	lost = find_program(programs, 1, 5, "/usr/bin/a");
	binary_table_save(binaries, &to);
	program_table_save(programs, &to);
	from.len = to.len;
	assert_int_equal(get_file_id(next, "/usr/bin/b", 2, NULL), 1);
	assert_int_equal(binary_table_load(next, &from, &ids, &count), 0);
	assert_true(m < count);
	assert_int_equal(ids[b], 1);
	assert_int_equal(ids[a], get_file_id(next, "/elsewhere", 9, "0123456789"));
	assert_true(binary_table_find_by_id(next, ids[m], &binary));
	assert_string_equal(binary.path, "[anon]");
	assert_true(binary.process >> 63);
	assert_int_not_equal(get_memory_id(next, 77), ids[m]);
	free(ids);
	assert_int_equal(program_table_load(next_programs, &from, &translation, &ids, &count), 0);
	assert_int_equal(from.pos, from.len);
	assert_true(program_table_find_by_id(next_programs, ids[c], &p));
	assert_int_equal(p.container, 6);
	assert_int_equal(p.container_generation, 9);
	/* The container of the program no longer exists. */
	assert_true(program_table_find_by_id(next_programs, ids[lost], &p));
	assert_int_equal(p.container, 0);
	free(ids);
	for (size_t len = 0; len < to.len; len++) {
		from = (struct deserializer){ .at = bytes, .len = len };
		ids = NULL;
		if (!binary_table_load(next, &from, &ids, &count)) {
			free(ids);
			assert_int_equal(program_table_load(next_programs, &from, &translation,
							    &ids, &count),
					 -EBADMSG);
		}
	}
	binary_table_free(binaries);
	binary_table_free(next);
	program_table_free(programs);
	program_table_free(next_programs);
}

#define THREADS 4

static void *thread_get_ids(void *arg)
{
	struct binary_table *t = arg;
	struct binary_identity b;
	char path[32];

	for (u32 i = 0; i < 2000; i++) {
		u32 id;

		snprintf(path, sizeof(path), "/bin/%u", i % 500);
		id = get_file_id(t, path, i % 500, NULL);
		if (!binary_table_find_by_id(t, id, &b) || strcmp(b.path, path) != 0)
			return t;
	}
	return NULL;
}

/* All threads get the same ids for the same keys. */
static void test_threads_get_same_ids(void **state)
{
	struct binary_table *t = binaries_new(1000, BYTES);
	struct id_table_stats stats;
	pthread_t threads[THREADS];
	void *failed;

	(void)state;
	for (u32 i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, thread_get_ids, t), 0);
	for (u32 i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
	id_table_get_stats(&t->ids, &stats);
	assert_int_equal(stats.used, 500);
	binary_table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_binary_identity),
		cmocka_unit_test(test_long_path),
		cmocka_unit_test(test_table_is_bounded),
		cmocka_unit_test(test_program_ids),
		cmocka_unit_test(test_checkpoint_translates_ids),
		cmocka_unit_test(test_threads_get_same_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
