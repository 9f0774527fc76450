// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test that functions of the kernel are found for a recording, stored in it, and shown. */
#include "test.h"

#include "codec/record.h"
#include "lib/exit-status.h"
#include "lib/input.h"
#include "lib/kernel-functions.h"
#include "recording/native-format.h"
#include "recording/recorder.h"
#include "tasks/task-event.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define KERNEL 0xffffffff81000000

static const char kallsyms[] = "ffffffff81000100 T do_wait\n"
			       "ffffffff81000200 t not_sampled\n"
			       "ffffffff81002000 t probe\t[ring]\n"
			       "ffffffff81003000 T _etext\n";

static const u64 pcs[] = { KERNEL + 0x104, KERNEL + 0x108, KERNEL + 0x2000, KERNEL + 0x108,
			   0x400100 };

/* Create a file with @len bytes of @content; @path receives its name. Return its descriptor. */
static int make_temporary_file(char *path, size_t size, const char *content, size_t len)
{
	int fd;

	snprintf(path, size, "/tmp/test-kernel-functions-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, len), len);
	return fd;
}

/* Write a recording with one sample at each address of "pcs". */
static struct recorder *record_samples(int fd)
{
	const struct recorder_config config = { .backend = BACKEND_HARDWARE, .cpus = 1 };
	const struct task_event kernel = { .type = TASK_MMAP,
					   .pid = -1,
					   .tid = -1,
					   .name = "[kernel.kallsyms]_text",
					   .start = KERNEL,
					   .size = 0x1000000 };
	const struct task_event comm = {
		.type = TASK_COMM, .pid = 7, .tid = 7, .exec = true, .name = "worker"
	};
	u8 buf[ARRAY_SIZE(pcs) * 64] = { 0 };
	const struct source_window window = {
		.data = buf,
		.len = sizeof(buf),
		.start_ns = 1,
		.end_ns = 2,
		.written = WINDOW_WRITTEN_UNKNOWN,
		.tid = 7,
		.align = 64,
		.max_record = 64,
		.backend = BACKEND_HARDWARE,
	};
	struct recorder *recorder;
	struct source_sink sink;

	for (size_t i = 0; i < ARRAY_SIZE(pcs); i++) {
		const u64 el = pcs[i] < KERNEL ? 0 : SPE_FIELD_PREP(SPE_ADDRESS_EL, 1);
		const struct spe_sample sample = {
			.present = SPE_HAS_ADDRESS(SPE_ADDRESS_PC) | SPE_HAS_EVENTS | SPE_HAS_OP,
			.address = { (pcs[i] & ~(0xffULL << 56)) | el },
			.events_size = 2,
			.op_class = SPE_OP_LOAD_STORE,
		};

		assert_in_range(spe_record_encode(&sample, buf + 64 * i, 64), 1, 64);
	}
	assert_int_equal(recorder_new(fd, &config, &recorder), 0);
	sink = recorder_make_sink(recorder);
	sink.task(sink.ctx, &comm);
	sink.task(sink.ctx, &kernel);
	sink.window(sink.ctx, &window);
	assert_int_equal(recorder_flush(recorder), 0);
	return recorder;
}

/* Only functions with samples are stored, and a report shows their names. */
static void test_sampled_functions_are_stored(void **state)
{
	char path[64], list[64];
	int fd = make_temporary_file(path, sizeof(path), "", 0);
	int list_fd = make_temporary_file(list, sizeof(list), kallsyms, sizeof(kallsyms) - 1);
	struct recorder *recorder = record_samples(fd);
	struct symtab functions;
	struct input_recording input;
	struct view view;

	(void)state;
	assert_int_equal(kernel_functions_find(path, list, &functions), 0);
	assert_int_equal(functions.count, 2);
	assert_string_equal(functions.names + functions.entry[0].name, "do_wait");
	assert_true(functions.entry[0].start == KERNEL + 0x100);
	assert_int_equal(functions.entry[0].size, 0x100);
	assert_string_equal(functions.names + functions.entry[1].name, "probe [ring]");
	recorder_write_functions(recorder, &functions);
	symtab_clear(&functions);
	assert_int_equal(recorder_finish(recorder), 0);
	recorder_free(recorder);

	assert_int_equal(input_load(&(struct input_request){ .path = path }, &input), STATUS_OK);
	assert_int_equal(input_make_view(&input, VIEW_FUNCTION, VIEW_SORT_SAMPLES, 10, &view), 0);
	assert_int_equal(view.count, 3);
	assert_string_equal(view.rows[0].function, "do_wait");
	assert_int_equal(view.rows[0].samples, 3);
	view_clear(&view);
	input_deinit(&input);
	close(fd);
	close(list_fd);
	unlink(path);
	unlink(list);
}

/* A kernel that hides addresses lists each of them as 0. */
static void test_hidden_addresses(void **state)
{
	static const char hidden[] = "0000000000000000 T do_wait\n";
	char path[64], list[64];
	int fd = make_temporary_file(path, sizeof(path), "", 0);
	int list_fd = make_temporary_file(list, sizeof(list), hidden, sizeof(hidden) - 1);
	struct recorder *recorder = record_samples(fd);
	struct symtab functions;

	(void)state;
	assert_int_equal(kernel_functions_find(path, list, &functions), -EACCES);
	unlink(list);
	assert_int_equal(kernel_functions_find(path, list, &functions), -ENOENT);
	recorder_free(recorder);
	close(fd);
	close(list_fd);
	unlink(path);
}

/*
 * A function without a size, with a name without an end, or beyond the end of the window, is
 * reported as damage.
 */
static void test_damaged_functions_are_reported(void **state)
{
	static const struct {
		struct native_function function;
		const char *name;
	} damaged[] = {
		{ { KERNEL, 0, 2 }, "a" },
		{ { KERNEL, 16, 0 }, "a" },
		{ { KERNEL, 16, 1 }, "a" },
		{ { KERNEL, 16, 3 }, "a" },
		{ { UINT64_MAX - 8, 16, 2 }, "a" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(damaged); i++) {
		struct speprof_window header = {
			.magic = SPEPROF_WINDOW_MAGIC,
			.header_size = SPEPROF_WINDOW_SKIP_SIZE,
			.kind = NATIVE_KIND_FUNCTIONS,
			.span = 128,
			.data_size = sizeof(struct native_function) + 2,
			.data_offset = SPEPROF_WINDOW_SKIP_SIZE,
		};
		char path[64];
		int fd = make_temporary_file(path, sizeof(path), "", 0);
		struct recorder *recorder = record_samples(fd);
		struct input_recording input;
		u8 window[128] = { 0 };

		header.position = (u64)lseek(fd, 0, SEEK_END);
		header.seq = 3;
		memcpy(window, &header, SPEPROF_WINDOW_SKIP_SIZE);
		memcpy(window + SPEPROF_WINDOW_SKIP_SIZE, &damaged[i].function,
		       sizeof(damaged[i].function));
		memcpy(window + SPEPROF_WINDOW_SKIP_SIZE + sizeof(damaged[i].function),
		       damaged[i].name, 2);
		assert_int_equal(write(fd, window, sizeof(window)), sizeof(window));
		recorder_free(recorder);
		assert_int_equal(input_load(&(struct input_request){ .path = path }, &input), STATUS_DAMAGED);
		assert_int_equal(input.functions.count, 0);
		input_deinit(&input);
		close(fd);
		unlink(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sampled_functions_are_stored),
		cmocka_unit_test(test_hidden_addresses),
		cmocka_unit_test(test_damaged_functions_are_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
