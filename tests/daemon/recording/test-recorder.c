// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test that recordings in each format can be read back, and that damage is reported. */
#include "test.h"

#include "attribution/attributor.h"
#include "codec/record.h"
#include "output/profile-json.h"
#include "recording/native-format.h"
#include "recording/recorder.h"
#include "recording/recording.h"
#include "tasks/task-event.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define WINDOWS 4
#define RECORDS 12 /* number of records in each window */
#define MIDR	0x410fd0c1

static char temp_path[64];
static int temp_fd;

static const struct task_event tasks[] = {
	{ .type = TASK_COMM,
	  .pid = 7,
	  .tid = 8,
	  .parent_pid = -1,
	  .time_ns = 10,
	  .exec = true,
	  .name = "worker" },
	{ .type = TASK_MMAP,
	  .pid = 7,
	  .tid = 8,
	  .parent_pid = -1,
	  .time_ns = 11,
	  .name = "/bin/x",
	  .start = 0x400000,
	  .size = 0x2000,
	  .offset = 0x1000,
	  .inode = 99,
	  .device = 8 << 20 | 3 },
	{ .type = TASK_FORK, .pid = 9, .tid = 9, .parent_pid = 7, .time_ns = 12, .name = "" },
	{ .type = TASK_CGROUP,
	  .pid = -1,
	  .tid = -1,
	  .parent_pid = -1,
	  .time_ns = 13,
	  .cgroup = 5,
	  .name = "/a/b" },
	{ .type = TASK_EXIT, .pid = 9, .tid = 9, .parent_pid = 7, .time_ns = 14, .name = "" },
	{ .type = TASK_SWITCH, .pid = -1, .tid = 8, .cpu = 3, .time_ns = 20, .name = "" },
	{ .type = TASK_SWITCH, .pid = -1, .tid = -1, .cpu = 3, .time_ns = 21, .name = "" },
};

/* Write records at multiples of 64 bytes, the alignment of the window. */
static size_t make_records(u8 *buf, size_t size, u64 first)
{
	memset(buf, 0, size);
	for (u64 i = 0; i < RECORDS; i++) {
		struct spe_sample s = {
			.present = SPE_HAS_ADDRESS(0) | SPE_HAS_EVENTS | SPE_HAS_OP |
				   SPE_HAS_CONTEXT(0) | SPE_HAS_COUNTER(0) | SPE_HAS_TIMESTAMP,
			.address = { 0x400100 + 4 * i },
			.events = 2,
			.events_size = 2,
			.op_class = SPE_OP_LOAD_STORE,
			.context = { 8 },
			.counter = { (u16)(10 * i) },
			.timestamp = first + i,
		};
		int r = spe_record_encode(&s, buf + 64 * i, size - 64 * i);

		assert_in_range(r, 1, 64);
	}
	return 64 * RECORDS;
}

/* MIDR of CPU 1 */
static u64 other_midr = MIDR;

static void deliver_tasks_and_windows(const struct source_sink *sink)
{
	u8 buf[4096];

	for (size_t i = 0; i < ARRAY_SIZE(tasks) && sink->task; i++)
		sink->task(sink->ctx, &tasks[i]);
	for (u32 i = 0; i < WINDOWS; i++) {
		const struct source_window window = {
			.data = buf,
			.len = make_records(buf, sizeof(buf), 1000 * (i + 1)),
			.midr = i % 2 ? other_midr : MIDR,
			.start_ns = 1000 * (i + 1),
			.end_ns = 1000 * (i + 1) + 500,
			.armed_ns = 400,
			.blind_ns = 3,
			.blind_by = { [SOURCE_BLIND_FULL] = 1, [SOURCE_BLIND_HANDLING] = 2 },
			.lost_bytes = i == 2 ? 128 : 0,
			.written = RECORDS,
			.interval = 1024 + 128,
			.cpu = i % 2,
			.tid = -1,
			.flags = i == 1 ? WINDOW_COLLIDED : 0,
			.align = 64,
			.max_record = 64,
			.pmsver = 2,
			.backend = BACKEND_EMULATED,
			.clock = { .zero = 5, .mult = 1 << 10, .shift = 10 },
		};

		sink->window(sink->ctx, &window);
	}
}

/* Write the recording. Return: its size. */
static const struct node_range memory[] = { { 0x40000000, 0x60000000, 1 },
					    { 0x60000000, 0x70000000, 0 },
					    { 0x80000000, 0x90000000, 1 },
					    { 0x9000000000, 0x9010000000, 63 } };

static size_t write_recording(enum recorder_format format)
{
	const struct numa_nodes nodes = { .ranges = (struct node_range *)memory,
					  .count = ARRAY_SIZE(memory) };
	const struct recorder_config config = {
		.format = format,
		.backend = BACKEND_EMULATED,
		.cpus = 2,
		.line_size = 128,
		.nodes = &nodes,
		.command = "speprof record",
	};
	struct recorder *recorder;
	struct source_sink sink;

	assert_int_equal(ftruncate(temp_fd, 0), 0);
	assert_int_equal(lseek(temp_fd, 0, SEEK_SET), 0);
	assert_int_equal(recorder_new(temp_fd, &config, &recorder), 0);
	sink = recorder_make_sink(recorder);
	deliver_tasks_and_windows(&sink);
	assert_int_equal(recorder_finish(recorder), 0);
	recorder_free(recorder);
	return (size_t)lseek(temp_fd, 0, SEEK_END);
}

static void read_file(u8 *buf, size_t size)
{
	assert_int_equal(pread(temp_fd, buf, size, 0), size);
}

static void write_file(const u8 *buf, size_t size)
{
	assert_int_equal(ftruncate(temp_fd, 0), 0);
	assert_int_equal(pwrite(temp_fd, buf, size, 0), size);
}

struct seen_recording {
	struct source_window windows[WINDOWS];
	u64 hash[WINDOWS];
	u32 count;
	struct task_event tasks[ARRAY_SIZE(tasks)];
	char names[ARRAY_SIZE(tasks)][32];
	u32 task_count;
	u64 records;
	u32 line_size;
	struct node_range memory[RECORDING_RANGES_MAX];
	u32 ranges;
};

static void record_seen_window(void *ctx, const struct source_window *window)
{
	struct seen_recording *seen = ctx;
	struct spe_decoder decoder;
	struct spe_sample sample;

	assert_true(window->clock.shift < 64);
	spe_decoder_init(&decoder, NULL, window->data, window->len);
	while (spe_decoder_next(&decoder, &sample, NULL) != SPE_DECODE_END)
		;
	seen->records += decoder.ledger.records;
	if (seen->count == WINDOWS)
		return;
	for (size_t i = 0; i < window->len; i++)
		seen->hash[seen->count] = (seen->hash[seen->count] ^ window->data[i]) * 31;
	seen->windows[seen->count++] = *window;
}

static void record_seen_task(void *ctx, const struct task_event *event)
{
	struct seen_recording *seen = ctx;

	assert_true(event->type <= TASK_SWITCH);
	if (seen->task_count == ARRAY_SIZE(tasks))
		return;
	snprintf(seen->names[seen->task_count], sizeof(seen->names[0]), "%s", event->name);
	seen->tasks[seen->task_count++] = *event;
}

static int replay_file(struct seen_recording *ret_seen, struct recording_error *ret_error)
{
	const struct source_sink sink = { .window = record_seen_window,
					  .task = record_seen_task,
					  .ctx = ret_seen };
	struct recording *recording;
	int r;

	*ret_seen = (struct seen_recording){ 0 };
	*ret_error = (struct recording_error){ .text = "" };
	r = recording_open(temp_path, &recording, ret_error);
	if (r < 0)
		return r;
	r = recording_replay(recording, &sink, ret_error);
	ret_seen->line_size = recording_get_facts(recording)->line_size;
	ret_seen->ranges = recording_get_facts(recording)->ranges;
	memcpy(ret_seen->memory, recording_get_facts(recording)->memory, sizeof(ret_seen->memory));
	recording_free(recording);
	return r;
}

static void check_tasks(const struct seen_recording *seen)
{
	assert_int_equal(seen->task_count, ARRAY_SIZE(tasks));
	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++) {
		const struct task_event *a = &seen->tasks[i], *b = &tasks[i];

		test_row("task event %zu", i);
		assert_string_equal(seen->names[i], b->name);
		assert_row(a->type == b->type && a->time_ns == b->time_ns && a->exec == b->exec);
		assert_row(a->type == TASK_CGROUP || (a->pid == b->pid && a->tid == b->tid));
		assert_row(a->start == b->start && a->size == b->size && a->offset == b->offset);
		assert_row(a->cgroup == b->cgroup);
		assert_row(a->type != TASK_SWITCH || a->cpu == b->cpu);
	}
}

static void record_direct_window(void *ctx, const struct source_window *window)
{
	record_seen_window(ctx, window);
}

static void test_native_format(void **state)
{
	struct seen_recording direct = { 0 }, seen;
	const struct source_sink sink = { .window = record_direct_window, .ctx = &direct };
	struct recording_error error;

	(void)state;
	deliver_tasks_and_windows(&sink);
	assert_int_equal(write_recording(RECORDER_NATIVE) % 64, 0);
	assert_int_equal(replay_file(&seen, &error), 0);
	check_tasks(&seen);
	assert_int_equal(seen.tasks[1].inode, 99);
	assert_int_equal(seen.count, WINDOWS);
	for (u32 i = 0; i < WINDOWS; i++) {
		test_row("window %u", i);
		seen.windows[i].data = direct.windows[i].data;
		assert_memory_equal(&seen.windows[i], &direct.windows[i],
				    sizeof(struct source_window));
		assert_row(seen.hash[i] == direct.hash[i]);
	}
}

static void test_perf_format(void **state)
{
	struct recording_error error;
	struct seen_recording seen;

	const u32 file[] = { 8, 3, 99, 0 }; /* major, minor, inode */
	static u8 bytes[1 << 20];
	size_t size;

	(void)state;
	size = write_recording(RECORDER_PERF);
	assert_true(size <= sizeof(bytes));
	read_file(bytes, size);
	assert_non_null(memmem(bytes, size, file, sizeof(file)));
	assert_int_equal(replay_file(&seen, &error), 0);
	check_tasks(&seen);
	assert_int_equal(seen.count, WINDOWS);
	assert_int_equal(seen.records, WINDOWS * RECORDS);
	for (u32 i = 0; i < WINDOWS; i++) {
		const struct source_window *w = &seen.windows[i];

		test_row("window %u", i);
		assert_row(w->midr == MIDR && w->interval == 1024 + 128 && w->cpu == i % 2);
		assert_row(w->backend == BACKEND_EMULATED && w->end_ns == 1000 * (i + 1) + 500);
		assert_row(w->clock.zero == 5 && w->clock.mult == 1 << 10 && w->clock.shift == 10);
		assert_row(w->flags == (i == 1 ? WINDOW_COLLIDED : 0));
	}
}

/* windows without bytes: of a CPU that a fault stopped, and without any content */
static const struct source_window empty_windows[] = {
	{ .cpu = 1,
	  .tid = -1,
	  .blind_ns = 4985,
	  .blind_by = { [SOURCE_BLIND_FAULT] = 4000, [SOURCE_BLIND_THROTTLE] = 985 },
	  .backend = BACKEND_EMULATED },
	{ .cpu = 1, .tid = -1, .backend = BACKEND_EMULATED, .start_ns = 7, .end_ns = 7 },
	{ .cpu = 0, .tid = -1, .lost_bytes = 640 },
	{ .cpu = 0, .tid = -1, .start_ns = 10, .end_ns = 30, .flags = WINDOW_PARTIAL },
};

static struct recorder *begin_recorder(enum recorder_format format, u8 backend)
{
	const struct recorder_config config = {
		.format = format, .backend = backend, .cpus = 2, .command = ""
	};
	struct recorder *recorder;

	assert_int_equal(ftruncate(temp_fd, 0), 0);
	assert_int_equal(lseek(temp_fd, 0, SEEK_SET), 0);
	assert_int_equal(recorder_new(temp_fd, &config, &recorder), 0);
	return recorder;
}

static void recorder_finish_file(struct recorder *recorder)
{
	assert_int_equal(recorder_finish(recorder), 0);
	recorder_free(recorder);
}

static void write_empty_windows(struct recorder *recorder)
{
	struct source_sink sink = recorder_make_sink(recorder);
	static const u8 nothing[1];

	for (size_t i = 0; i < ARRAY_SIZE(empty_windows); i++) {
		struct source_window window = empty_windows[i];

		window.data = nothing;
		sink.window(sink.ctx, &window);
	}
}

/*
 * Check that the recording contains blind time, its causes, lost bytes and armed time also for
 * windows without bytes.
 */
static void test_native_empty_windows(void **state)
{
	static const u8 expected[] = { 0, 2, 3 };
	struct recorder *recorder = begin_recorder(RECORDER_NATIVE, BACKEND_EMULATED);
	struct recording_error error;
	struct seen_recording seen;

	(void)state;
	write_empty_windows(recorder);
	assert_int_equal(recorder_get_bytes(recorder), 0);
	recorder_finish_file(recorder);
	assert_int_equal(replay_file(&seen, &error), 0);
	assert_int_equal(seen.count, ARRAY_SIZE(expected));
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		const struct source_window *w = &empty_windows[expected[i]];

		test_row("window %zu", i);
		assert_row(seen.windows[i].len == 0 && seen.windows[i].data);
		assert_row(seen.windows[i].cpu == w->cpu && seen.windows[i].flags == w->flags);
		assert_row(seen.windows[i].blind_ns == w->blind_ns);
		assert_row(!memcmp(seen.windows[i].blind_by, w->blind_by, sizeof(w->blind_by)));
		assert_row(seen.windows[i].lost_bytes == w->lost_bytes);
		assert_row(seen.windows[i].start_ns == w->start_ns);
		assert_row(seen.windows[i].end_ns == w->end_ns);
	}
}

static void finish_one_window(void)
{
	struct recorder *recorder = begin_recorder(RECORDER_NATIVE, BACKEND_EMULATED);
	struct source_sink sink = recorder_make_sink(recorder);
	u8 buf[1024];

	sink.window(sink.ctx, &(struct source_window){ .data = buf,
						       .len = make_records(buf, sizeof(buf), 1),
						       .tid = -1,
						       .interval = 1024,
						       .start_ns = 5,
						       .end_ns = 900,
						       .blind_ns = 77,
						       .blind_by = { [SOURCE_BLIND_FULL] = 77 } });
	recorder_finish_file(recorder);
}

/* Return the offset of the first chunk after the facts about how the recording was made. */
static size_t find_first_chunk(const u8 *file)
{
	const struct native_header *header = (const void *)file;
	const struct speprof_window *facts = (const void *)(file + header->header_size);

	assert_int_equal(facts->kind, NATIVE_KIND_FACTS);
	return header->header_size + facts->span;
}

/* A file from a version that did not record causes has 64 bytes less in each window's header. */
static void test_native_without_causes(void **state)
{
	static u8 file[1 << 16];
	struct recording_error error;
	struct speprof_window *w;
	struct seen_recording seen;
	size_t size, at;

	(void)state;
	finish_one_window();
	size = (size_t)lseek(temp_fd, 0, SEEK_END);
	read_file(file, size);
	at = find_first_chunk(file);
	w = (void *)(file + at);
	memmove((u8 *)w + w->header_size + NATIVE_WINDOW_MIN, (u8 *)w + w->data_offset,
		size - at - w->data_offset);
	w->data_offset = w->header_size + NATIVE_WINDOW_MIN;
	w->span -= sizeof(struct native_window) - NATIVE_WINDOW_MIN;
	write_file(file, at + w->span);
	assert_int_equal(replay_file(&seen, &error), 0);
	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.records, RECORDS);
	assert_int_equal(seen.windows[0].blind_ns, 77);
	assert_int_equal(seen.windows[0].interval, 1024);
	for (u32 i = 0; i < SOURCE_BLINDS; i++)
		assert_int_equal(seen.windows[0].blind_by[i], 0);
}

static void record_build_id(void *ctx, const struct task_event *event)
{
	char *at = ctx;

	if (event->type == TASK_MMAP)
		sprintf(at + strlen(at), "%s:%u:%02x ", event->name, event->build_id_size,
			event->build_id_size ? event->build_id[0] : 0);
}

static void ignore_window(void *ctx, const struct source_window *window)
{
	(void)ctx;
	(void)window;
}

/* Build IDs of any size are found by path. A path with two builds has none. */
static void test_perf_build_ids(void **state)
{
	static const struct {
		const char *name;
		u8 size;
		u8 first;
	} rows[] = {
		{ "/bin/a", 20, 1 }, { "/bin/b", 16, 2 }, { "/bin/c", 20, 3 }, { "/bin/a", 20, 1 },
		{ "/bin/c", 20, 4 }, { "/bin/d", 0, 5 },  { "/bin/e", 8, 6 },
	};
	const struct recorder_config config = { .format = RECORDER_PERF, .cpus = 1, .command = "" };
	char text[512] = "";
	const struct source_sink out = { .window = ignore_window,
					 .task = record_build_id,
					 .ctx = text };
	struct recording_error error = { .text = "" };
	struct recording *recording;
	struct recorder *recorder;
	struct source_sink sink;
	u8 buf[1024];

	(void)state;
	assert_int_equal(ftruncate(temp_fd, 0), 0);
	assert_int_equal(lseek(temp_fd, 0, SEEK_SET), 0);
	assert_int_equal(recorder_new(temp_fd, &config, &recorder), 0);
	sink = recorder_make_sink(recorder);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const u8 id[20] = { rows[i].first };
		const struct task_event event = {
			.type = TASK_MMAP,
			.pid = 7,
			.tid = 7,
			.time_ns = 10 + i,
			.size = 0x1000,
			.start = 0x400000,
			.name = rows[i].name,
			.inode = 9,
			.build_id = rows[i].size ? id : NULL,
			.build_id_size = rows[i].size,
		};

		sink.task(sink.ctx, &event);
	}
	sink.window(sink.ctx, &(struct source_window){ .data = buf,
						       .len = make_records(buf, sizeof(buf), 1),
						       .midr = MIDR,
						       .tid = -1,
						       .interval = 1024,
						       .end_ns = 900,
						       .clock = { .mult = 1 << 10, .shift = 10 } });
	assert_int_equal(recorder_finish(recorder), 0);
	recorder_free(recorder);
	assert_int_equal(recording_open(temp_path, &recording, &error), 0);
	assert_int_equal(recording_replay(recording, &out, &error), 0);
	recording_free(recording);
	assert_string_equal(text, "/bin/a:20:01 /bin/b:16:02 /bin/c:0:00 /bin/a:20:01 "
				  "/bin/c:0:00 /bin/d:0:00 /bin/e:8:06 ");
}

/* Return whether the installed perf can read the recording: it crashes for some clocks. */
static bool perf_reads_recording(void)
{
	char command[160];
	int status;

	if (system("command -v perf >/dev/null 2>&1"))
		return true;
	snprintf(command, sizeof(command),
		 "PAGER=cat exec perf report --stdio -i /proc/%d/fd/%d </dev/null >/dev/null 2>&1",
		 (int)getpid(), temp_fd);
	status = system(command);
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* perf divides by the multiplier, so it must not be 0, and time is marked as invalid. */
static void test_perf_without_clock(void **state)
{
	const struct recorder_config config = { .format = RECORDER_PERF, .command = "" };
	const off_t conv = 104 + 8 + PERF_ATTR_SIZE_VER7 + 16;
	struct source_window window = { .start_ns = 1000, .end_ns = 2000, .midr = MIDR, .tid = -1 };
	struct {
		u32 type;
		u16 misc, size;
		u64 shift, mult, zero, cycles, mask;
		u8 cap_zero, cap_short, reserved[6];
	} written;
	struct recording_error error;
	struct recorder *recorder;
	struct source_sink sink;
	struct seen_recording seen;
	u8 buf[1024];

	(void)state;
	window.data = buf;
	window.len = make_records(buf, sizeof(buf), 1);
	for (u32 known = 0; known < 2; known++) {
		window.clock.mult = 7 * known;
		assert_int_equal(ftruncate(temp_fd, 0), 0);
		assert_int_equal(lseek(temp_fd, 0, SEEK_SET), 0);
		assert_int_equal(recorder_new(temp_fd, &config, &recorder), 0);
		sink = recorder_make_sink(recorder);
		sink.window(sink.ctx, &window);
		assert_int_equal(recorder_finish(recorder), 0);
		recorder_free(recorder);
		assert_int_equal(pread(temp_fd, &written, sizeof(written), conv), sizeof(written));
		assert_int_equal(written.type, 79);
		assert_int_equal(written.mult, known ? 7 : 1);
		assert_int_equal(written.cap_zero, known);
		assert_int_equal(replay_file(&seen, &error), 0);
		assert_int_equal(seen.count, 1);
		assert_int_equal(seen.windows[0].clock.mult, 7 * known);
		assert_true(perf_reads_recording());
	}
}

/* Suspect bytes must not become samples of perf. */
static void test_suspect_bytes_are_no_perf_samples(void **state)
{
	const struct recorder_config config = { .format = RECORDER_PERF, .command = "" };
	const u8 byte[64] = { 0 };
	const struct source_window window = { .data = byte, .len = 64, .flags = WINDOW_SUSPECT };
	struct recording_error error;
	struct recorder *recorder;
	struct source_sink sink;
	struct seen_recording seen;

	(void)state;
	assert_int_equal(ftruncate(temp_fd, 0), 0);
	assert_int_equal(lseek(temp_fd, 0, SEEK_SET), 0);
	assert_int_equal(recorder_new(temp_fd, &config, &recorder), 0);
	sink = recorder_make_sink(recorder);
	sink.window(sink.ctx, &window);
	assert_int_equal(recorder_get_bytes(recorder), 64);
	assert_int_equal(recorder_get_omitted_bytes(recorder), 64);
	assert_int_equal(recorder_finish(recorder), 0);
	recorder_free(recorder);
	assert_int_equal(replay_file(&seen, &error), 0);
	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.windows[0].len, 0);
	assert_int_equal(seen.windows[0].flags, WINDOW_TRUNCATED);
}

/* Return the number of AUX records that are marked as truncated and have no bytes. */
static u32 count_losses(void)
{
	static u8 file[1 << 16];
	size_t size = (size_t)lseek(temp_fd, 0, SEEK_END);
	u64 data[2], fields[3];
	u32 count = 0, type;
	u16 len;

	assert_true(size <= sizeof(file));
	read_file(file, size);
	memcpy(data, file + 40, sizeof(data));
	for (u64 at = data[0]; at < data[0] + data[1]; at += len) {
		memcpy(&type, file + at, sizeof(type));
		memcpy(&len, file + at + 6, sizeof(len));
		assert_true(len >= 8);
		if (type != PERF_RECORD_AUX)
			continue;
		memcpy(fields, file + at + 8, sizeof(fields));
		count += !fields[1] && fields[2] == PERF_AUX_FLAG_TRUNCATED;
	}
	return count;
}

/*
 * Each loss is one AUX record. A CPU that a fault stopped has only one, however often the loss is
 * reported.
 */
static void test_perf_loss_is_one_aux_record(void **state)
{
	static const struct {
		struct source_window window;
		u32 losses;
	} rows[] = {
		{ { .len = 64, .flags = WINDOW_SUSPECT | WINDOW_FAULTED }, 1 },
		{ { .blind_ns = 9, .blind_by = { [SOURCE_BLIND_FAULT] = 9 } }, 0 },
		{ { .cpu = 1, .blind_ns = 9, .blind_by = { [SOURCE_BLIND_FAULT] = 9 } }, 1 },
		{ { .cpu = 1, .blind_ns = 9, .blind_by = { [SOURCE_BLIND_FAULT] = 9 } }, 0 },
		{ { .cpu = 1, .blind_ns = 9, .blind_by = { [SOURCE_BLIND_FULL] = 9 } }, 0 },
		{ { .cpu = 1, .lost_bytes = 640 }, 1 },
		{ { .cpu = 1, .lost_bytes = 640 }, 1 },
		{ { .start_ns = 5, .end_ns = 9 }, 0 },
	};
	static const u8 zeros[64];
	u32 losses = 0;

	(void)state;
	for (size_t n = 0; n <= ARRAY_SIZE(rows); n++) {
		struct recorder *recorder = begin_recorder(RECORDER_PERF, BACKEND_HARDWARE);
		struct source_sink sink = recorder_make_sink(recorder);

		test_row("%zu windows", n);
		for (size_t i = 0; i < n; i++) {
			struct source_window window = rows[i].window;

			window.data = zeros;
			sink.window(sink.ctx, &window);
		}
		recorder_finish_file(recorder);
		losses += n ? rows[n - 1].losses : 0;
		assert_row(count_losses() == losses);
	}
}

static char *make_summary_of_file(void)
{
	const struct attributor_config attribution = { .live = false };
	struct attributor *attributor;
	struct profile *profile;
	struct recording *recording;
	struct recording_error error;
	struct source_sink sink;
	char *text;

	assert_int_equal(attributor_new(&attribution, &attributor), 0);
	assert_int_equal(profile_new(NULL, attributor, &profile), 0);
	assert_int_equal(recording_open(temp_path, &recording, &error), 0);
	sink = profile_make_sink(profile);
	assert_int_equal(recording_replay(recording, &sink, &error), 0);
	assert_int_equal(profile_summary_json(profile, "emulated", true, &text), 0);
	recording_free(recording);
	profile_free(profile);
	attributor_free(attributor);
	return text;
}

/* Both formats give the same summary, except for lost bytes, which a perf.data does not contain. */
static void test_summaries_agree(void **state)
{
	char *own, *perf, *lost;

	(void)state;
	write_recording(RECORDER_NATIVE);
	own = make_summary_of_file();
	write_recording(RECORDER_PERF);
	perf = make_summary_of_file();
	assert_non_null(strstr(own, "worker"));
	assert_non_null(strstr(own, "\"lost_bytes\":128,"));
	lost = strstr(perf, "\"lost_bytes\":null,");
	assert_non_null(lost);
	lost = strstr(lost, "null");
	memcpy(lost, "128", 3);
	memmove(lost + 3, lost + 4, strlen(lost + 4) + 1);
	assert_string_equal(own, perf);
	free(own);
	free(perf);
}

/*
 * A file that is truncated anywhere but between two windows is reported, and gives no additional
 * samples.
 */
/* The recording has windows, and facts about how it was made. */
#define FACTS 1

static void test_truncated_file_is_reported(void **state)
{
	static u8 buf[1 << 16];

	(void)state;
	for (int format = RECORDER_NATIVE; format <= RECORDER_PERF; format++) {
		size_t size = write_recording(format);
		u64 reported = 0;

		assert_true(size <= sizeof(buf));
		read_file(buf, size);
		for (size_t len = 1; len < size; len++) {
			struct recording_error error;
			struct seen_recording seen;
			int r;

			test_row("format %d, %zu of %zu bytes", format, len, size);
			write_file(buf, len);
			r = replay_file(&seen, &error);
			assert_row(r == 0 || r == -EBADMSG);
			assert_row(!r == !error.text[0]);
			assert_row(seen.records <= WINDOWS * RECORDS);
			/* The reader does not need all features at the end of a perf.data. */
			assert_row(r || format == RECORDER_NATIVE ||
				   seen.records == WINDOWS * RECORDS);
			reported += !!r;
		}
		/* The native format cannot detect that a file ends at the end of a window. */
		assert_true(format == RECORDER_PERF ||
			    reported >= size - 1 - FACTS - WINDOWS - ARRAY_SIZE(tasks));
	}
}

static void test_flipped_bits_are_reported(void **state)
{
	static u8 buf[1 << 16];

	(void)state;
	for (int format = RECORDER_NATIVE; format <= RECORDER_PERF; format++) {
		size_t size = write_recording(format);
		u64 reported = 0;

		read_file(buf, size);
		for (size_t bit = 0; bit < 8 * size; bit += 5) {
			struct recording_error error;
			struct seen_recording seen;
			int r;

			test_row("format %d, byte %zu bit %zu", format, bit / 8, bit % 8);
			buf[bit / 8] ^= (u8)(1U << bit % 8);
			write_file(buf, size);
			r = replay_file(&seen, &error);
			/* A flipped bit may change the kind of the trace. */
			assert_row(r == 0 || r == -EBADMSG ||
				   (r == -ENOMSG && format == RECORDER_PERF));
			assert_row(!r == !error.text[0]);
			assert_row(seen.records <= WINDOWS * RECORDS + 2);
			/*
			 * At most one chunk is lost. A flipped bit in records is visible in their
			 * ledger.
			 */
			assert_row(format == RECORDER_PERF || bit < 8 * 64 ||
				   seen.records >= (WINDOWS - 1) * RECORDS - 2);
			reported += !!r;
			buf[bit / 8] ^= (u8)(1U << bit % 8);
		}
		assert_true(reported > 100);
	}
}

struct hostile_row {
	const char *word;
	size_t at; /* offset in the header of the file, or, if @chunk is set, of the first chunk */
	unsigned int size;
	u64 value;
	bool chunk;
};

#define FILE_FIELD(f)  offsetof(struct native_header, f), sizeof(((struct native_header *)0)->f)
#define CHUNK_FIELD(f) offsetof(struct speprof_window, f), sizeof(((struct speprof_window *)0)->f)

static const struct hostile_row hostile_rows[] = {
	{ "version is 2", FILE_FIELD(version), 2, false },
	{ "byte order", FILE_FIELD(order), 0x04030201, false },
	{ "size is 65", FILE_FIELD(header_size), 65, false },
	{ "size is 0", FILE_FIELD(header_size), 0, false },
	{ "4294967232", FILE_FIELD(header_size), 0xffffffc0, false },
	{ "command line of 4294967295", FILE_FIELD(command_size), UINT32_MAX, false },
	{ "magic", CHUNK_FIELD(magic), 0, true },
	{ "header size", CHUNK_FIELD(header_size), 0, true },
	{ "header size", CHUNK_FIELD(header_size), 0xffff, true },
	{ "span", CHUNK_FIELD(span), 0, true },
	{ "span", CHUNK_FIELD(span), UINT64_MAX & ~63ULL, true },
	{ "number 7", CHUNK_FIELD(seq), 7, true },
	{ "position", CHUNK_FIELD(position), 1, true },
	{ "18446744073709551615 bytes", CHUNK_FIELD(data_size), UINT64_MAX, true },
	{ "window: ", CHUNK_FIELD(data_offset), UINT32_MAX, true },
	{ "task event of 0 bytes", CHUNK_FIELD(data_size), 0, true },
};

static void test_hostile_headers(void **state)
{
	static u8 good[1 << 16], buf[1 << 16];
	size_t size = write_recording(RECORDER_NATIVE);

	(void)state;
	read_file(good, size);
	for (size_t i = 0; i < ARRAY_SIZE(hostile_rows); i++) {
		const struct hostile_row *row = &hostile_rows[i];
		struct recording_error error;
		struct seen_recording seen;

		test_row("row %zu: %s", i, row->word);
		memcpy(buf, good, size);
		memcpy(buf + row->at + (row->chunk ? find_first_chunk(good) : 0), &row->value,
		       row->size);
		write_file(buf, size);
		assert_row(replay_file(&seen, &error) == -EBADMSG);
		if (!strstr(error.text, row->word))
			fail_msg("row %zu: \"%s\" lacks \"%s\"", i, error.text, row->word);
		assert_row(!row->chunk || seen.records == WINDOWS * RECORDS);
	}
}

/*
 * Facts about how a recording was made are those of this machine. Wrong facts are reported as
 * damage, and change nothing else.
 */
static void test_facts_of_recording(void **state)
{
	static u8 good[1 << 16], buf[1 << 16];
	size_t size = write_recording(RECORDER_NATIVE), facts;
	const struct speprof_window *window;
	struct recording_error error;
	struct utsname host;
	struct seen_recording seen;

	(void)state;
	read_file(good, size);
	uname(&host);
	assert_non_null(memmem(good, size, host.release, strlen(host.release) + 1));
	assert_int_equal(replay_file(&seen, &error), 0);
	assert_int_equal(seen.line_size, 128);
	memcpy(buf, good, size);
	/* Overwrite the NUL at the end of the last string of the facts. */
	facts = ((struct native_header *)good)->header_size;
	window = (const void *)(good + facts);
	buf[facts + window->data_offset + window->data_size - 1] = 'x';
	write_file(buf, size);
	assert_int_equal(replay_file(&seen, &error), -EBADMSG);
	assert_non_null(strstr(error.text, "facts about the making"));
	assert_int_equal(seen.records, WINDOWS * RECORDS);
}

static void assert_memory(const struct seen_recording *seen, const struct node_range *want,
			  u32 count)
{
	assert_row(seen->ranges == count);
	for (u32 i = 0; i < count; i++)
		assert_row(seen->memory[i].start == want[i].start &&
			   seen->memory[i].end == want[i].end &&
			   seen->memory[i].node == want[i].node);
}

/*
 * A recording has the memory of each node. From a range that is invalid or overlaps another one, the
 * rest of the node is ignored.
 */
static void test_memory_of_nodes(void **state)
{
	static const struct {
		const char *text; /* replaces the ranges of node 1, with the same length */
		u32 count;
		struct node_range want[5];
	} rows[] = {
		{ "40000000-60000000,80000000-90000000", 4, { { 0 } } },
		/* The ranges of node 0 and 63 are at the end; adjacent ranges are joined. */
		{ "40000000-50000000,50000000-60000000",
		  3,
		  { { 0x40000000, 0x60000000, 1 },
		    { 0x60000000, 0x70000000, 0 },
		    { 0x9000000000, 0x9010000000, 63 } } },
		{ "40000000-60000000,5fffffff-90000000",
		  3,
		  { { 0x40000000, 0x60000000, 1 },
		    { 0x60000000, 0x70000000, 0 },
		    { 0x9000000000, 0x9010000000, 63 } } },
		{ "60000000-40000000,80000000-90000000",
		  2,
		  { { 0x60000000, 0x70000000, 0 }, { 0x9000000000, 0x9010000000, 63 } } },
		{ "4000000000000000000000000-,80-90000",
		  2,
		  { { 0x60000000, 0x70000000, 0 }, { 0x9000000000, 0x9010000000, 63 } } },
	};
	static u8 good[1 << 16];
	size_t size = write_recording(RECORDER_NATIVE), length = strlen(rows[0].text);
	struct recording_error error;
	struct seen_recording seen;
	u8 *at;

	(void)state;
	read_file(good, size);
	at = memmem(good, size, rows[0].text, length + 1);
	assert_non_null(at);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("%s", rows[i].text);
		assert_row(strlen(rows[i].text) == length);
		memcpy(at, rows[i].text, length);
		write_file(good, size);
		assert_row(replay_file(&seen, &error) == 0);
		assert_memory(&seen, i ? rows[i].want : memory, rows[i].count);
	}
}

static void test_failed_writes_are_reported(void **state)
{
	const struct recorder_config config = { .format = RECORDER_NATIVE, .command = "" };
	struct recorder *recorder;
	struct source_sink sink;
	FILE *full = fopen("/dev/full", "w");
	int ends[2];

	(void)state;
	assert_non_null(full);
	assert_int_equal(recorder_new(fileno(full), &config, &recorder), 0);
	sink = recorder_make_sink(recorder);
	deliver_tasks_and_windows(&sink);
	assert_int_equal(recorder_finish(recorder), -ENOSPC);
	recorder_free(recorder);
	fclose(full);

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(recorder_new(ends[1], &(struct recorder_config){ .format = RECORDER_PERF },
				      &recorder),
			 -ESPIPE);
	close(ends[0]);
	close(ends[1]);
}

/*
 * Metadata version 1 does not name CPUs. It is written for perf before 6.13 if no information is
 * lost by that.
 */
static void test_metadata_versions(void **state)
{
	static const u64 midrs[] = { MIDR, 0x480fd060, 0 };

	(void)state;
	for (size_t m = 0; m < ARRAY_SIZE(midrs); m++) {
		static u8 file[1 << 20];
		struct recording_error error;
		u32 at = 104 + 8 + 128 + 16, size = 0, kind = 0;
		u64 len;
		struct seen_recording seen;

		test_row("CPU 1 is %#llx", (unsigned long long)midrs[m]);
		other_midr = midrs[m];
		len = write_recording(RECORDER_PERF);
		other_midr = MIDR;
		assert_row(replay_file(&seen, &error) == 0);
		assert_row(seen.count == WINDOWS);
		for (u32 i = 0; i < WINDOWS; i++)
			assert_row(seen.windows[i].midr == (i % 2 ? midrs[m] : MIDR));

		read_file(file, len);
		for (; kind != 70 && at < len; at += kind == 70 ? 0 : size) {
			memcpy(&kind, file + at, sizeof(kind));
			size = (u32)file[at + 6] | (u32)file[at + 7] << 8;
		}
		/*
		 * Version 1 contains the PMU and a flag for buffers per CPU. Version 2 begins with
		 * its number.
		 */
		assert_row(kind == 70);
		assert_row(size == (midrs[m] == MIDR ? 32 : 16 + 8 * (4 + 2 * 6)));
		assert_row(file[at + 16] == (midrs[m] == MIDR ? 11 : 2));
	}
}

int main(void)
{
	const struct CMUnitTest tests_all[] = {
		cmocka_unit_test(test_native_format),
		cmocka_unit_test(test_native_empty_windows),
		cmocka_unit_test(test_native_without_causes),
		cmocka_unit_test(test_perf_format),
		cmocka_unit_test(test_suspect_bytes_are_no_perf_samples),
		cmocka_unit_test(test_perf_loss_is_one_aux_record),
		cmocka_unit_test(test_summaries_agree),
		cmocka_unit_test(test_perf_without_clock),
		cmocka_unit_test(test_summaries_agree),
		cmocka_unit_test(test_truncated_file_is_reported),
		cmocka_unit_test(test_flipped_bits_are_reported),
		cmocka_unit_test(test_hostile_headers),
		cmocka_unit_test(test_facts_of_recording),
		cmocka_unit_test(test_memory_of_nodes),
		cmocka_unit_test(test_metadata_versions),
		cmocka_unit_test(test_failed_writes_are_reported),
		cmocka_unit_test(test_perf_build_ids),
	};

	temp_fd = memfd_create("recorder", MFD_CLOEXEC);
	assert_true(temp_fd >= 0);
	snprintf(temp_path, sizeof(temp_path), "/proc/self/fd/%d", temp_fd);
	return cmocka_run_group_tests(tests_all, NULL, NULL);
}
