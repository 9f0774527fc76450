// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test the writer of HTML reports: the contents of the file, for any names in the recording. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "html/page-data.h"
#include "html/page.h"
#include "tasks/task-event.h"
#include "util/serialize.h"

#define DATA_MARK "<script type=\"text/plain\" id=\"data\">\n"
#define PID	  70

/* Write a page, and return its text, NUL-terminated. */
static char *write_page_text(const void *data, size_t size)
{
	char path[] = "/tmp/test-page-XXXXXX";
	int fd = mkstemp(path);
	off_t length;
	char *text;

	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(page_write(fd, data, size), 0);
	length = lseek(fd, 0, SEEK_END);
	text = malloc((size_t)length + 1);
	assert_non_null(text);
	assert_int_equal(pread(fd, text, (size_t)length, 0), length);
	text[length] = 0;
	close(fd);
	return text;
}

static int get_digit_value(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Decode the data of a page, in @size bytes at @to. Returns its length. */
static size_t decode_page_data(const char *text, u8 *to, size_t size)
{
	const char *at = strstr(text, DATA_MARK);
	u8 *packed = malloc(strlen(text));
	z_stream z = { .next_out = to, .avail_out = (uInt)size };
	size_t length = 0;
	u32 bits = 0, count = 0;

	assert_non_null(at);
	assert_non_null(packed);
	for (at += strlen(DATA_MARK); *at != '<'; at++) {
		if (get_digit_value(*at) < 0) {
			assert_true(*at == '\n' || *at == '=');
			continue;
		}
		bits = bits << 6 | (u32)get_digit_value(*at);
		count += 6;
		if (count >= 8) {
			count -= 8;
			packed[length++] = (u8)(bits >> count);
		}
	}
	assert_int_equal(inflateInit2(&z, -15), Z_OK);
	z.next_in = packed;
	z.avail_in = (uInt)length;
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	inflateEnd(&z);
	free(packed);
	return z.total_out;
}

static u32 count_word(const char *text, const char *word)
{
	u32 count = 0;

	for (; (text = strstr(text, word)); text++)
		count++;
	return count;
}

static void test_page_contains_data(void **state)
{
	static const size_t sizes[] = { 0, 1, 2, 3, 89, 90, 91, 100000 };
	static u8 data[100000], read[sizeof(data)];

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (u8)(i * 2654435761U >> 13);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		char *text = write_page_text(data, sizes[i]);

		assert_int_equal(decode_page_data(text, read, sizeof(read)), sizes[i]);
		assert_memory_equal(read, data, sizes[i]);
		free(text);
	}
}

/* The page around the data is the same for each report, and contains no text from a recording. */
static void test_data_is_never_text(void **state)
{
	static const char hostile[] =
		"</script><script>alert(1)</script></style><!-- ]]> &amp; '\" @DATA@";
	char *text = write_page_text(hostile, strlen(hostile)), *empty = write_page_text("", 0);
	size_t head = (size_t)(strstr(text, DATA_MARK) - text);

	(void)state;
	assert_null(strstr(text, "alert(1)"));
	assert_int_equal(count_word(text, "</script"), count_word(empty, "</script"));
	assert_memory_equal(text, empty, head);
	assert_string_equal(strstr(text + head, "</script>"), strstr(empty + head, "</script>"));
	free(text);
	free(empty);
}

static void test_page_loads_nothing(void **state)
{
	static const char *const forbidden[] = { "http://",  "https://",  " src=",
						 "href=\"h", "url(",	  "@import",
						 "unsafe-",  "innerHTML", "eval(" };
	char *text = write_page_text("", 0);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(forbidden); i++) {
		/* The name space of pictures is no address: nothing is loaded from there. */
		u32 allowed = strcmp(forbidden[i], "http://") == 0;

		assert_int_equal(count_word(text, forbidden[i]), allowed);
	}
	assert_int_equal(count_word(text, "default-src 'none'; script-src 'sha256-"), 1);
	free(text);
}

static void test_invalid_data_is_refused(void **state)
{
	static const u8 data[1];
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(page_write(fd, data, sizeof(data)), -ENOSPC);
	assert_int_equal(page_write(fd, data, (size_t)2 << 30), -E2BIG);
	close(fd);
}

/* ---- The data of a small recording ------------------------------------------------ */

static void add_sample_to_profile(struct profile *profile, u64 pc, u16 latency, bool store)
{
	const struct spe_sample sample = {
		.present = SPE_HAS_ADDRESS(0) | SPE_HAS_EVENTS | SPE_HAS_OP |
			   SPE_HAS_COUNTER(SPE_COUNTER_TOTAL),
		.address = { pc },
		.counter = { [SPE_COUNTER_TOTAL] = latency },
		.op_class = SPE_OP_LOAD_STORE,
		.op_subclass = store,
		.events = 1 << SPE_EVENT_RETIRED | 1 << SPE_EVENT_L1D_ACCESS,
		.events_size = 2,
	};
	u8 record[64];
	int n = spe_record_encode(&sample, record, sizeof(record));

	assert_true(n > 0);
	profile_add_window(profile, &(struct source_window){ .data = record,
							     .len = (size_t)n,
							     .tid = PID,
							     .interval = 1000,
							     .unit = UNIT_INSTRUCTIONS,
							     .backend = BACKEND_EMULATED });
}

static void make_input(struct input_recording *input, const char *binary, const char *cgroup)
{
	struct attributor_config tasks = { .processes = 16 };
	const struct profile_config config = { 0 };

	*input = (struct input_recording){ .backend = BACKEND_EMULATED };
	assert_int_equal(attributor_new(&tasks, &input->attributor), 0);
	assert_int_equal(profile_new(&config, input->attributor, &input->profile), 0);
	attributor_apply_event(
		input->attributor,
		&(struct task_event){ .type = TASK_COMM, .pid = PID, .tid = PID, .name = "task" });
	attributor_apply_event(input->attributor, &(struct task_event){ .type = TASK_MMAP,
									.pid = PID,
									.tid = PID,
									.start = 0x400000,
									.size = 0x10000,
									.name = binary });
	attributor_apply_event(
		input->attributor,
		&(struct task_event){ .type = TASK_CGROUP, .pid = PID, .name = cgroup });
	for (u32 i = 0; i < 100; i++)
		add_sample_to_profile(input->profile, 0x400100 + 16 * (i % 3), (u16)(i * 7), i & 1);
}

static json_object *parse_data(const u8 *data, size_t size)
{
	struct deserializer from = { .at = data, .len = size };
	size_t length = (size_t)deserialize_u64(&from);
	json_tokener *tokener = json_tokener_new();
	json_object *json;

	assert_true(length <= size - from.pos);
	json = json_tokener_parse_ex(tokener, (const char *)data + from.pos, (int)length);
	assert_non_null(json);
	json_tokener_free(tokener);
	return json;
}

static const char *get_string(json_object *json, const char *column, size_t index)
{
	json_object *strings =
		json_object_object_get(json_object_object_get(json, "strings"), column);

	return json_object_get_string(json_object_array_get_idx(strings, index));
}

static void test_data_has_names(void **state)
{
	const struct page_config config = { .name = "</script>.data" };
	struct input_recording input;
	json_object *json;
	size_t size;
	u8 *data;

	(void)state;
	make_input(&input, "/usr/bin/</style>\xe2\x80\xae\x01", "/lxc/<b>");
	assert_int_equal(page_data_new(&input, &config, &data, &size, NULL), 0);
	json = parse_data(data, size);
	assert_string_equal(json_object_get_string(json_object_object_get(json, "name")),
			    config.name);
	assert_string_equal(get_string(json, "container", 0), "<b>");
	assert_string_equal(get_string(json, "binary", 0), "/usr/bin/</style>\\xe2\\x80\\xae\\x01");
	assert_int_equal(json_object_get_int(json_object_object_get(json, "rows")), 3);
	json_object_put(json);
	free(data);
	input_deinit(&input);
}

static void test_data_selects_container(void **state)
{
	struct page_config config = { .select.container = "two" };
	struct query_error error;
	struct input_recording input;
	json_object *json;
	size_t size;
	u8 *data;

	(void)state;
	make_input(&input, "/usr/bin/a", "/lxc/one");
	assert_int_equal(page_data_new(&input, &config, &data, &size, &error), -ENOENT);
	assert_non_null(strstr(error.text, "\"two\"; there are: one"));
	config.select.container = "o*";
	assert_int_equal(page_data_new(&input, &config, &data, &size, &error), 0);
	json = parse_data(data, size);
	assert_int_equal(json_object_get_int(json_object_object_get(json, "rows")), 3);
	json_object_put(json);
	free(data);
	input_deinit(&input);
}

/* Rows that are JSON are copied into the data, which has no columns. */
static void test_data_has_rows_of_json(void **state)
{
	const struct page_config config = { .name = "now", .select.container = "web" };
	const struct page_json rows = { .report = "{\"rows\":[{\"function\":\"</script>\"}]}",
					.memory = NULL };
	json_object *root, *value = NULL;
	size_t size;
	u8 *data;

	(void)state;
	assert_int_equal(page_data_from_json(&config, &rows, &data, &size), 0);
	root = parse_data(data, size);
	assert_int_equal(json_object_get_int(json_object_object_get(root, "format")), 2);
	assert_string_equal(json_object_get_string(json_object_object_get(root, "name")), "now");
	assert_true(json_object_object_get_ex(root, "memory", &value));
	assert_null(value);
	value = json_object_object_get(json_object_object_get(root, "report"), "rows");
	assert_int_equal(json_object_array_length(value), 1);
	json_object_put(root);
	free(data);
}

/* Tables of a profile have random seeds, which the order of rows must not depend on. */
static void test_data_is_reproducible(void **state)
{
	const struct page_config config = { .name = "x" };
	u8 *data[2];
	size_t size[2];

	(void)state;
	for (u32 i = 0; i < 2; i++) {
		struct input_recording input;

		make_input(&input, "/usr/bin/a", "/lxc/one");
		assert_int_equal(page_data_new(&input, &config, &data[i], &size[i], NULL), 0);
		input_deinit(&input);
	}
	assert_int_equal(size[0], size[1]);
	assert_memory_equal(data[0], data[1], size[0]);
	free(data[0]);
	free(data[1]);
}

/* ---- Slices of time --------------------------------------------------------------- */

#define MS 1000000ULL

static struct page_time *make_page_time(void)
{
	struct page_time *time = calloc(1, sizeof(*time));

	assert_non_null(time);
	time->programs = 1;
	time->program[0].slice = calloc(TIME_SLICES_MAX, sizeof(*time->program[0].slice));
	assert_non_null(time->program[0].slice);
	return time;
}

static void count_sample_at(struct page_time *time, u64 ns)
{
	u32 slice = page_time_get_slice(time, ns);

	assert_true(slice < time->slices && time->slices <= TIME_SLICES_MAX);
	assert_true(ns / time->slice_ns == time->first + slice);
	histogram_add(&time->program[0].slice[slice].latency, 100);
	time->ledger[slice].armed_ns += 1;
}

static u64 sum_slices(const struct page_time *time)
{
	u64 samples = 0, armed = 0;

	for (u32 i = 0; i < TIME_SLICES_MAX; i++) {
		samples += time->program[0].slice[i].latency.count;
		armed += time->ledger[i].armed_ns;
		assert_true(i < time->slices || !time->ledger[i].armed_ns);
	}
	assert_int_equal(samples, armed);
	return samples;
}

/* Whatever the order of times is, no count is lost, and slices are as short as possible. */
static void test_slices_keep_all_counts(void **state)
{
	static const u64 times[][4] = {
		{ 5 * MS, 6 * MS, 7 * MS, 124 * MS },
		{ 1000 * MS, 999 * MS, 900 * MS, 881 * MS },
		{ 5 * MS, 5000 * MS, 1, 2500 * MS },
		{ 1, UINT64_MAX, 2, UINT64_MAX / 2 },
	};
	static const u64 longest[] = { MS, MS, 64 * MS, UINT64_MAX };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		struct page_time *time = make_page_time();

		for (size_t k = 0; k < ARRAY_SIZE(times[i]); k++)
			count_sample_at(time, times[i][k]);
		assert_int_equal(sum_slices(time), ARRAY_SIZE(times[i]));
		assert_true(time->slice_ns <= longest[i]);
		page_time_deinit(time);
		free(time);
	}
}

static void test_time_is_in_data(void **state)
{
	struct page_time *time = make_page_time();
	struct page_config config = { .time = time };
	json_object *root, *json, *columns;
	struct input_recording input;
	size_t size;
	u8 *data;

	(void)state;
	count_sample_at(time, 5 * MS);
	count_sample_at(time, 7 * MS);
	strcpy(time->program[0].program, "a");
	make_input(&input, "/usr/bin/a", "/lxc/one");
	assert_int_equal(page_data_new(&input, &config, &data, &size, NULL), 0);
	root = parse_data(data, size);
	columns = json_object_object_get(root, "columns");
	assert_int_equal(json_object_get_int(json_object_object_get(columns, "time_armed")), 3);
	/* The bucket of 100 cycles twice, and a slice without latencies. */
	assert_true(json_object_get_int(json_object_object_get(columns, "time_bucket")) >= 3);
	json = json_object_object_get(root, "time");
	assert_int_equal(json_object_get_int(json_object_object_get(json, "slices")), 3);
	json_object_put(root);
	free(data);
	input_deinit(&input);
	page_time_deinit(time);
	free(time);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_page_contains_data),
		cmocka_unit_test(test_data_is_never_text),
		cmocka_unit_test(test_page_loads_nothing),
		cmocka_unit_test(test_invalid_data_is_refused),
		cmocka_unit_test(test_data_has_names),
		cmocka_unit_test(test_data_selects_container),
		cmocka_unit_test(test_data_has_rows_of_json),
		cmocka_unit_test(test_data_is_reproducible),
		cmocka_unit_test(test_slices_keep_all_counts),
		cmocka_unit_test(test_time_is_in_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
