// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test that containers are identified by their whole paths, across a restart, and within a limit of
 * bytes.
 */
#include "test.h"

#include "attribution/attributor-save.h"
#include "attribution/attributor.h"
#include "attribution/container.h"
#include "tasks/task-event.h"
#include "util/hash.h"

#include <stdlib.h>

/* path components of 50 and 250 bytes */
#define TEN   "0123456789"
#define FIFTY TEN TEN TEN TEN TEN
#define LONG  FIFTY FIFTY FIFTY FIFTY FIFTY
#define USER  "/user.slice/user-1000.slice/user@1000.service"
#define ROOM  (1U << 20)

static struct attributor *make_attributor(u32 containers)
{
	const struct attributor_config config = { .processes = 1024,
						  .threads = 1024,
						  .containers = containers,
						  .cgroup_bytes = 64U << 10 };
	struct attributor *a;

	assert_int_equal(attributor_new(&config, &a), 0);
	return a;
}

static u64 get_container_id(const struct attributor *a, u32 index)
{
	struct container_details details;

	attributor_get_container_details(a, index, &details);
	return details.id;
}

/* Test the reference vector of 15 bytes, which has whole words and a remainder. */
static void test_siphash(void **state)
{
	static const u64 key[] = { 0x0706050403020100, 0x0f0e0d0c0b0a0908 };
	u8 data[15];

	(void)state;
	for (u8 i = 0; i < sizeof(data); i++)
		data[i] = i;
	assert_true(siphash(key, data, sizeof(data)) == 0xa129ca6149be45e5);
	assert_true(siphash(key, NULL, 0) == 0x726fdb47dd0e0e31);
}

/* Add a process in the cgroup at @path. Return: the index of the container. */
static u32 add_process(struct attributor *a, s32 pid, const char *path)
{
	attributor_apply_event(
		a, &(struct task_event){ .type = TASK_COMM, .pid = pid, .tid = pid, .name = "x" });
	attributor_apply_event(
		a, &(struct task_event){ .type = TASK_CGROUP, .pid = pid, .name = path });
	return attributor_get_process(a, attributor_find_process(a, pid))->container;
}

static const char *const paths[] = {
	USER "/" LONG ".slice/web.service",
	USER "/" LONG ".slice/db.service",
	"/build/a\033b",
	"/build/a\\x1bb",
	"/build/\xff" LONG,
	"/system.slice/nginx.service",
};

/* Save @a and load it into @next. */
static void save_and_load(struct attributor *a, struct attributor *next,
			  struct attribute_translation *ret_translation)
{
	u8 *bytes = malloc(ROOM);
	struct serializer to = { .at = bytes, .capacity = ROOM };
	struct deserializer from = { .at = bytes };

	assert_non_null(bytes);
	attributor_save(a, &to);
	assert_false(to.full);
	from.len = to.len;
	assert_int_equal(attributor_load(next, &from, ret_translation), 0);
	free(bytes);
}

/*
 * A restored container has its own statistics and one entry, and gets no statistics of another
 * container.
 */
static void test_restart_keeps_container_ids(void **state)
{
	struct attributor *a = make_attributor(64), *next = make_attributor(64);
	struct attribute_translation translation;
	u32 index[ARRAY_SIZE(paths)], now, generation, containers;

	(void)state;
	for (s32 i = 0; i < (s32)ARRAY_SIZE(paths); i++) {
		index[i] = add_process(a, 100 + i, paths[i]);
		test_row("%d", i);
		assert_row(!strcmp(attributor_get_container(a, index[i])->cgroup, paths[i]));
		for (s32 k = 0; k < i; k++)
			assert_row(index[k] != index[i]);
		/* Two attributors have different ids for one path. */
		assert_row(get_container_id(next, add_process(next, 300 + i, paths[i])) !=
			   get_container_id(a, index[i]));
	}
	save_and_load(a, next, &translation);
	containers = attributor_get_container_limit(next);
	for (s32 i = 0; i < (s32)ARRAY_SIZE(paths); i++) {
		const struct attribute_container *was = attributor_get_container(a, index[i]), *is;

		now = attribute_remap_container(&translation, index[i], was->generation,
						&generation);
		test_row("%d", i);
		assert_row(now != ATTRIBUTE_NONE);
		is = attributor_get_container(next, now);
		assert_row(!strcmp(is->name, was->name) && !strcmp(is->runtime, was->runtime));
		assert_row(!strcmp(is->cgroup, paths[i]) && !strcmp(is->path, was->path));
		/* A container that is reported a second time keeps its index. */
		assert_row(add_process(next, 200 + i, paths[i]) == now);
		assert_row(get_container_id(next, now) == get_container_id(a, index[i]));
	}
	assert_int_equal(attributor_get_container_limit(next), containers);
	assert_true(get_container_id(next, 0) == get_container_id(a, 0));
	attribute_translation_deinit(&translation);
	attributor_free(a);
	attributor_free(next);
}

static struct attributor *make_live_attributor(u32 containers)
{
	const struct attributor_config config = { .live = true,
						  .processes = 1024,
						  .containers = containers };
	struct attributor *a;

	assert_int_equal(attributor_new(&config, &a), 0);
	return a;
}

/*
 * A smaller table evicts some containers before they have a process: none gets the entry of another
 * one.
 */
static void test_restore_into_smaller_table(void **state)
{
	struct attributor *a = make_attributor(1024), *next = make_live_attributor(256);
	struct attribute_translation translation;
	u32 generation, found = 0;
	char path[32];

	(void)state;
	for (s32 i = 0; i < 600; i++) {
		snprintf(path, sizeof(path), "/build/c%d", i);
		add_process(a, 100 + i, path);
	}
	save_and_load(a, next, &translation);
	for (s32 i = 0; i < 600; i++) {
		u32 was = attributor_find_process(a, 100 + i), now, container;

		now = attribute_remap_process(
			&translation, was, attributor_get_process(a, was)->generation, &generation);
		container = attributor_get_process(next, now)->container;
		snprintf(path, sizeof(path), "/build/c%d", i);
		test_row("%d", i);
		if (container == attributor_get_other_container(next))
			continue;
		assert_row(!strcmp(attributor_get_container(next, container)->cgroup, path));
		found++;
	}
	assert_in_range(found, 128, 254);
	attribute_translation_deinit(&translation);
	attributor_free(a);
	attributor_free(next);
}

/*
 * Check that only whole components of a path are stored if the path is longer than the stored
 * prefix.
 */
static void test_long_path_is_cut_at_component(void **state)
{
	static const char deep[] = "/build/" LONG "/" LONG "/" LONG "/" LONG "/" LONG "/x.service";
	struct attributor *a = make_attributor(64);
	u32 index = add_process(a, 1, deep);
	const char *cgroup = attributor_get_container(a, index)->cgroup;
	size_t len = strlen(cgroup);

	(void)state;
	assert_true(len < CONTAINER_PATH_SIZE && len + 251 >= CONTAINER_PATH_SIZE);
	assert_memory_equal(cgroup, deep, len);
	assert_int_equal(deep[len], '/');
	assert_int_equal(add_process(a, 2, cgroup), index);
	attributor_free(a);

	assert_int_equal(container_path_get_clipped_length(deep, CONTAINER_PATH_SIZE - 1),
			 CONTAINER_PATH_SIZE - 1);
	assert_int_equal(container_path_get_clipped_length(deep, CONTAINER_PATH_SIZE), len);
}

/* The paths together have a limit of bytes: later containers are "(other)", and are counted. */
static void test_path_bytes_are_limited(void **state)
{
	struct attributor *a = make_attributor(512);
	struct attributor_stats before, after;
	char path[1001];
	u32 other = 0;

	(void)state;
	add_process(a, 1, "/a");
	attributor_get_stats(a, &before);
	memset(path, 'a', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	for (u32 n = 0; n < 4; n++)
		path[n * 250] = '/';
	for (s32 i = 0; i < 300; i++) {
		u32 index;

		path[1 + snprintf(path + 1, 10, "%d", i)] = 'b';
		index = add_process(a, 1, path);
		other += index == attributor_get_other_container(a);
	}
	attributor_get_stats(a, &after);
	assert_in_range(other, 200, 250);
	assert_int_equal(after.containers_overflow, other);
	assert_true(after.memory - before.memory <= (64U << 10));
	attributor_free(a);
}

static void send_event(struct attributor *a, struct task_event e)
{
	static u64 now_ns = 1000000000;

	e.time_ns = now_ns++;
	if (!e.name)
		e.name = "";
	attributor_apply_event(a, &e);
}

/* A path that fills the buffer of the BPF program may be truncated, so it is not used. */
static void test_truncated_path_is_not_used(void **state)
{
	const struct attributor_config config = { .live = true };
	const s32 fake_pid = INT32_MAX - 100000; /* above every possible pid_max */
	const u64 cgroup = 0x7000000000000000ULL;
	struct attributor *a;
	char path[1024];

	(void)state;
	assert_int_equal(attributor_new(&config, &a), 0);
	memset(path, 'a', sizeof(path));
	for (u32 i = 0; i < 2; i++) {
		s32 pid = fake_pid + (s32)i;
		u32 index;

		for (u32 n = 0; n < sizeof(path); n += 250)
			path[n] = '/';
		path[1023 - i] = '\0';
		send_event(a, (struct task_event){
				      .type = TASK_CGROUP, .cgroup = cgroup + i, .name = path });
		send_event(a, (struct task_event){ .type = TASK_FORK,
						   .pid = pid,
						   .tid = pid,
						   .start_ns = 1,
						   .cgroup = cgroup + i });
		index = attributor_get_process(a, attributor_find_process(a, pid))->container;
		assert_int_equal(index != 0, i);
		assert_string_equal(attributor_get_container(a, index)->cgroup, i ? path : "");
	}
	attributor_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_siphash),
		cmocka_unit_test(test_restart_keeps_container_ids),
		cmocka_unit_test(test_restore_into_smaller_table),
		cmocka_unit_test(test_long_path_is_cut_at_component),
		cmocka_unit_test(test_path_bytes_are_limited),
		cmocka_unit_test(test_truncated_path_is_not_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
