// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test recordings of all kinds with all kinds of damage, through the functions for opening and
 * replay.
 */
#include "test.h"

#include "codec/record.h"
#include "gen/perfgen.h"
#include "recording/recording.h"
#include "tasks/task-event.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct seen_recording {
	u64 records;
	u64 bytes;
	u64 suspect;
	u64 windows;
	u64 parts; /* number of chunks */
	u64 truncated;
	u64 gaps;
	u64 tasks[TASK_SWITCH + 1];
	u64 named;
	struct source_window last;
	u64 hash; /* hash of the bytes of all samples and suspect ranges, in order */
	u32 line_size;
	struct node_range memory[RECORDING_RANGES_MAX];
	u32 ranges;
};

static void on_window(void *ctx, const struct source_window *window)
{
	struct seen_recording *seen = ctx;
	struct spe_decoder local, *decoder = source_window_get_decoder(window, &local);
	const struct spe_ledger *ledger = &decoder->ledger;
	struct spe_sample sample;
	struct spe_range range;
	enum spe_decode_result r;

	assert_non_null(window->data);
	seen->gaps += !decoder->open && window->flags & WINDOW_GAPS;
	if (!window->len && !window->decoder) {
		seen->truncated += !!(window->flags & WINDOW_TRUNCATED);
		return;
	}
	seen->parts++;
	do {
		r = spe_decoder_next(decoder, &sample, &range);
		for (u32 i = 0; r == SPE_DECODE_SAMPLE && i < sample.size; i++)
			seen->hash = (seen->hash ^ sample.raw[i]) * 0x100000001b3ULL;
		if (r == SPE_DECODE_SUSPECT)
			seen->hash =
				(seen->hash ^ range.offset ^ range.size << 32) * 0x100000001b3ULL;
	} while (r != SPE_DECODE_END && r != SPE_DECODE_MORE);
	seen->bytes += decoder->pos;
	if (r == SPE_DECODE_MORE)
		return;
	assert_int_equal(ledger->decoded + ledger->padding + ledger->suspect,
			 decoder->base + decoder->pos);
	seen->windows++;
	seen->truncated += !!(window->flags & WINDOW_TRUNCATED);
	seen->last = *window;
	seen->records += ledger->records;
	seen->suspect += ledger->suspect;
}

static void on_task(void *ctx, const struct task_event *event)
{
	struct seen_recording *seen = ctx;

	assert_true(event->type <= TASK_SWITCH);
	seen->tasks[event->type]++;
	seen->named += strlen(event->name) > 0;
	for (u8 i = 0; i < event->build_id_size; i++)
		seen->hash += event->build_id[i];
}

static int replay_file(const char *path, struct seen_recording *ret_seen,
		       struct recording_error *ret_error)
{
	const struct source_sink sink = { .window = on_window, .task = on_task, .ctx = ret_seen };
	struct recording *recording;
	int r;

	*ret_seen = (struct seen_recording){ 0 };
	*ret_error = (struct recording_error){ 0 };
	r = recording_open(path, &recording, ret_error);
	if (r < 0)
		return r;
	r = recording_replay(recording, &sink, ret_error);
	ret_seen->line_size = recording_get_facts(recording)->line_size;
	ret_seen->ranges = recording_get_facts(recording)->ranges;
	memcpy(ret_seen->memory, recording_get_facts(recording)->memory, sizeof(ret_seen->memory));
	recording_free(recording);
	return r;
}

/* A file in memory, which has a path in /proc */
static char temp_path[64];
static int temp_fd;

static void write_temp(const void *buf, size_t len)
{
	assert_int_equal(ftruncate(temp_fd, 0), 0);
	assert_int_equal(pwrite(temp_fd, buf, len, 0), len);
}

static int replay_bytes(const void *buf, size_t len, struct seen_recording *ret_seen,
			struct recording_error *ret_error)
{
	write_temp(buf, len);
	return replay_file(temp_path, ret_seen, ret_error);
}

/*
 * Return the directory of perf.data files of this project, each with its expected values in a JSON
 * file.
 */
static const char *get_golden_directory(void)
{
	const char *dir = getenv("SPEPROF_GOLDEN");

	assert_non_null(dir);
	return dir;
}

struct golden_perf_file {
	const char *file;
	u64 records;
	u64 bytes;
	u64 windows;
	u64 truncated;
	u64 tasks[TASK_SWITCH + 1];
	u32 cpu; /* CPU of the last window */
	s32 tid;
	u32 interval;
};

/* the values that "perf report -D", "perf script --show-task-events" and "--header" print */
static const struct golden_perf_file perf_rows[] = {
	{
		.file = "perf-arm64-branch.perf.data",
		.records = 524,
		.bytes = 0x2080 + 0x6280,
		.windows = 2,
		.tasks = { [TASK_COMM] = 63,
			   [TASK_FORK] = 62,
			   [TASK_EXIT] = 1,
			   [TASK_MMAP] = 72,
			   [TASK_SWITCH] = 354 },
		.cpu = 1,
		.tid = -1,
		.interval = 512 + 1,
	},
	{
		.file = "perf-arm64-loads.perf.data",
		.records = 52,
		.bytes = 0xd00,
		.windows = 3,
		.tasks = { [TASK_COMM] = 2, [TASK_EXIT] = 1, [TASK_MMAP] = 2, [TASK_SWITCH] = 13 },
		.cpu = 1,
		.tid = 166,
		.interval = 512 + 1,
	},
	{
		.file = "perf-arm64-full.perf.data",
		.records = 704,
		.bytes = 0xc000,
		.windows = 4,
		.truncated = 1,
		.tid = -1, /* zeros after the last AUX record */
		.tasks = { [TASK_COMM] = 2, [TASK_EXIT] = 1, [TASK_MMAP] = 8, [TASK_SWITCH] = 3 },
		.cpu = 1,
		.interval = 256 + 128,
	},
};

static void test_golden_perf_files(void **state)
{
	struct recording_error error;
	struct seen_recording seen;
	char path[512];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(perf_rows); i++) {
		const struct golden_perf_file *row = &perf_rows[i];

		test_row("%s", row->file);
		snprintf(path, sizeof(path), "%s/%s", get_golden_directory(), row->file);
		if (replay_file(path, &seen, &error) < 0)
			fail_msg("%s: offset %#llx: %s", row->file,
				 (unsigned long long)error.offset, error.text);
		assert_row(seen.records == row->records);
		assert_row(seen.bytes == row->bytes);
		assert_row(!seen.suspect);
		assert_row(seen.windows == row->windows);
		assert_row(seen.truncated == row->truncated);
		assert_row(!memcmp(seen.tasks, row->tasks, sizeof(seen.tasks)));
		assert_row(seen.last.cpu == row->cpu);
		assert_row(seen.last.tid == row->tid);
		assert_row(seen.last.interval == row->interval);
		assert_row(seen.last.midr == 0xf0510);
		assert_row(seen.last.clock.mult == 33554432 && seen.last.clock.shift == 21);
	}
}

/* Test files that are no recording. Each has an expected errno and a part of the message. */
static void test_other_files_are_refused(void **state)
{
	static const struct {
		const char *name;
		const char *bytes;
		size_t len;
		int error;
		const char *word;
	} rows[] = {
		{ "empty", "", 0, -ENODATA, "empty" },
		{ "text", "records: 17\n", 12, -EBADMSG, "text" },
		{ "ELF", "\177ELF\2\1\1\0\0", 9, -EBADMSG, "ELF" },
		{ "zeros", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16, -EBADMSG, "no SPE record" },
		{ "noise", "\x8e\x1f\x02\xd3\x00\x99\x27\x10\xfe\xfe", 10, -EBADMSG,
		  "no SPE record" },
		{ "magic alone", "PERFILE2", 8, -EBADMSG, "header" },
		{ "perf, no header", "PERFILE2\x68\0\0\0\0\0\0\0", 16, -EBADMSG, "size is 104" },
		{ "perf, old magic", "PERFFILE\x68\0\0\0\0\0\0\0", 16, -EBADMSG, "PERFFILE" },
	};
	struct recording_error error;
	struct seen_recording seen;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("%s", rows[i].name);
		assert_row(replay_bytes(rows[i].bytes, rows[i].len, &seen, &error) ==
			   rows[i].error);
		assert_row(strstr(error.text, rows[i].word));
		assert_row(!seen.records);
	}
	assert_int_equal(replay_file("/nonexistent/recording", &seen, &error), -ENOENT);
	assert_true(strlen(error.text) > 0);
	assert_int_equal(replay_file("/", &seen, &error), -EISDIR);
	assert_int_equal(replay_file("/dev/zero", &seen, &error), -EBADMSG);
}

/* Write @n records of different sizes without padding, so that no alignment helps the decoder. */
static size_t make_records(u8 *buf, size_t size, unsigned int n, u64 first)
{
	size_t len = 0;

	for (unsigned int i = 0; i < n; i++) {
		struct spe_sample s = {
			.present = SPE_HAS_ADDRESS(0) | SPE_HAS_EVENTS | SPE_HAS_OP |
				   SPE_HAS_COUNTER(0) | SPE_HAS_TIMESTAMP,
			.address = { 0x8000000000400000ULL + 4 * i },
			.events = 2,
			.events_size = i % 3 ? 1 : 2,
			.op_class = SPE_OP_LOAD_STORE,
			.counter = { (u16)i },
			.timestamp = first + i,
		};
		int r;

		if (i % 5 == 0) {
			s.present |= SPE_HAS_ADDRESS(2) | SPE_HAS_SOURCE;
			s.address[2] = 0xffff00000000ULL + i;
			s.source_size = 1;
		}
		r = spe_record_encode(&s, buf + len, size - len);
		assert_true(r > 0);
		len += (size_t)r;
	}
	return len;
}

/* Return the expected arguments of on_window(): those for @buf as one chunk. */
static struct seen_recording count_whole_buffer(const u8 *buf, size_t len)
{
	const struct source_window window = { .data = buf, .len = len };
	struct seen_recording seen = { 0 };

	on_window(&seen, &window);
	return seen;
}

/* The file is larger than the buffer: a record that a cut loses or duplicates would be noticed. */
static void test_raw_is_streamed(void **state)
{
	const size_t size = 48 << 20;
	const unsigned int n = 600000;
	struct recording_error error;
	u8 *buf = malloc(size);
	struct seen_recording seen, whole;
	size_t len;

	(void)state;
	assert_non_null(buf);
	len = make_records(buf, size, n, 1);
	assert_int_equal(replay_bytes(buf, len, &seen, &error), 0);
	assert_int_equal(seen.records, n);
	assert_int_equal(seen.bytes, len);
	assert_int_equal(seen.suspect, 0);
	assert_int_equal(seen.windows, 1);
	assert_in_range(seen.parts, 10, 100);

	/* Damage affects the same records, for any division of the data into chunks. */
	for (size_t at = 1000; at < len; at += 97531)
		buf[at] ^= 0x5a;
	assert_int_equal(replay_bytes(buf, len, &seen, &error), 0);
	assert_int_equal(seen.bytes, len);
	assert_in_range(seen.records, n - 3 * (len / 97531 + 1), n);
	whole = count_whole_buffer(buf, len);
	assert_int_equal(seen.records, whole.records);
	assert_int_equal(seen.suspect, whole.suspect);
	assert_true(seen.hash == whole.hash);
	free(buf);
}

static void test_raw_noise_is_one_range(void **state)
{
	const size_t len = 5 << 20;
	struct recording_error error;
	u8 *buf = malloc(len);
	struct seen_recording seen, whole;
	u32 x = 1;

	(void)state;
	assert_non_null(buf);
	for (size_t i = 0; i < len; i++)
		buf[i] =
			i % (1 << 20) < 1 << 16 ? (u8)((x = x * 1664525 + 1013904223) >> 24) : 0x3f;
	assert_int_equal(replay_bytes(buf, len, &seen, &error), -EBADMSG);
	assert_int_equal(seen.bytes, len);
	assert_true(seen.suspect > len / 10 * 9);
	/* A suspect range that spans several chunks is one range. */
	whole = count_whole_buffer(buf, len);
	assert_int_equal(seen.suspect, whole.suspect);
	assert_true(seen.hash == whole.hash);
	free(buf);
}

#define RECORDS 20

/*
 * Write each kind of record that the reader understands, two CPUs, and the buffer of one thread.
 * The caller ends the file.
 */
static void make_unfinished_perf(struct perfgen *gen, bool big, bool pipe, unsigned int version)
{
	static const u8 build_id[20] = { 1, 2, 3, 4, 5 };
	static const u64 midr[2] = { 0x410fd490, 0x481fd010 };
	static const char cpuid[64] = "0x00000000410fd0c0";
	u8 buf[4096];
	size_t len = make_records(buf, sizeof(buf), RECORDS, 1), half;

	perfgen_begin(gen, big, pipe, 1024);
	if (pipe) {
		/* The string is padded to 64 bytes, but the record is not. */
		perfgen_begin_record(gen, 80, 0);
		perfgen_put_u64(gen, 9);
		perfgen_put_u32(gen, 64);
		perfgen_put_bytes(gen, cpuid, sizeof(cpuid));
		perfgen_end_record(gen);
	}
	perfgen_put_auxtrace_info(gen, version, midr, 2);
	perfgen_put_time_conv(gen, 10, 40960, 7);
	perfgen_begin_record(gen, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	perfgen_put_u32(gen, 100);
	perfgen_put_u32(gen, 101);
	perfgen_put_string(gen, "worker");
	perfgen_put_trailer(gen, 101, 5000, 0);
	perfgen_end_record(gen);
	for (u32 type = PERF_RECORD_FORK; type;
	     type = type == PERF_RECORD_FORK ? PERF_RECORD_EXIT : 0) {
		perfgen_begin_record(gen, type, 0);
		perfgen_put_u32(gen, 200);
		perfgen_put_u32(gen, 100);
		perfgen_put_u32(gen, 201);
		perfgen_put_u32(gen, 101);
		perfgen_put_u64(gen, 6000);
		perfgen_put_trailer(gen, 101, 6000, 0);
		perfgen_end_record(gen);
	}
	perfgen_begin_record(gen, PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID);
	perfgen_put_u32(gen, 100);
	perfgen_put_u32(gen, 101);
	perfgen_put_u64(gen, 0x400000);
	perfgen_put_u64(gen, 0x10000);
	perfgen_put_u64(gen, 0x2000);
	perfgen_put_bytes(gen, "\24\0\0\0", 4);
	perfgen_put_bytes(gen, build_id, sizeof(build_id));
	perfgen_put_u32(gen, 5);
	perfgen_put_u32(gen, 2);
	perfgen_put_string(gen, "/usr/bin/worker");
	perfgen_put_trailer(gen, 101, 7000, 0);
	perfgen_end_record(gen);
	perfgen_begin_record(gen, PERF_RECORD_CGROUP, 0);
	perfgen_put_u64(gen, 77);
	perfgen_put_string(gen, "/system.slice/worker.service");
	perfgen_put_trailer(gen, 0, 0, 0);
	perfgen_end_record(gen);
	perfgen_begin_record(gen, 4711, 0); /* a record type of a later version of perf */
	perfgen_put_u64(gen, 1);
	perfgen_end_record(gen);

	perfgen_put_aux(gen, 0, len, PERF_AUX_FLAG_COLLISION, 101, 1);
	perfgen_put_auxtrace(gen, 0, buf, len, 101, 1);
	/* Write an AUXTRACE with two ranges, of which the second one is reported later. */
	half = make_records(buf, sizeof(buf), RECORDS / 2, 1);
	len = half + make_records(buf + half, sizeof(buf) - half, RECORDS / 2, 1);
	perfgen_put_aux(gen, 4096, half, PERF_AUX_FLAG_TRUNCATED, 300, -1);
	perfgen_put_auxtrace(gen, 4096, buf, len, 300, -1);
	perfgen_put_aux(gen, 4096 + half, len - half, PERF_AUX_FLAG_PARTIAL, 300, -1);
}

static void make_finished_perf(struct perfgen *gen, bool big, bool pipe, unsigned int version)
{
	make_unfinished_perf(gen, big, pipe, version);
	perfgen_end(gen);
}

struct replayed_items {
	struct source_window windows[8];
	unsigned int n_windows;
	struct task_event tasks[8];
	char names[8][64];
	unsigned int n_tasks;
};

static void store_window(void *ctx, const struct source_window *window)
{
	struct replayed_items *replayed = ctx;

	assert_true(replayed->n_windows < 8);
	replayed->windows[replayed->n_windows++] = *window;
}

static void store_task(void *ctx, const struct task_event *event)
{
	struct replayed_items *replayed = ctx;

	assert_true(replayed->n_tasks < 8);
	snprintf(replayed->names[replayed->n_tasks], 64, "%s", event->name);
	replayed->tasks[replayed->n_tasks++] = *event;
	if (event->build_id_size) {
		assert_int_equal(event->build_id_size, 20);
		assert_int_equal(event->build_id[4], 5);
	}
}

static void check_tasks(const struct replayed_items *replayed)
{
	const struct task_event *t = replayed->tasks + 1;

	/* Task events must be in order of time. */
	assert_row(replayed->n_tasks == 5);
	assert_row(t[-1].type == TASK_CGROUP && t[-1].cgroup == 77 && t[-1].pid == -1);
	assert_row(t[0].type == TASK_COMM && t[0].exec && t[0].pid == 100 && t[0].tid == 101);
	assert_row(t[0].time_ns == 5000 && !strcmp(replayed->names[1], "worker"));
	assert_row(t[1].type == TASK_FORK && t[1].pid == 200 && t[1].tid == 201);
	assert_row(t[1].parent_pid == 100 && t[1].time_ns == 6000);
	assert_row(t[2].type == TASK_EXIT && t[2].tid == 201);
	assert_row(t[3].type == TASK_MMAP && t[3].start == 0x400000 && t[3].size == 0x10000);
	assert_row(t[3].offset == 0x2000 && !strcmp(replayed->names[4], "/usr/bin/worker"));
}

static void check_windows(const struct replayed_items *replayed, u64 midr)
{
	const struct source_window *w = replayed->windows;

	assert_row(replayed->n_windows >= 3);
	assert_row(w[0].cpu == 1 && w[0].tid == 101 && w[0].flags == WINDOW_COLLIDED);
	assert_row(w[0].midr == midr);
	assert_row(w[0].interval == 1025 && w[0].end_ns == 1000);
	assert_row(w[0].clock.mult == 40960 && w[0].clock.shift == 10 && w[0].clock.zero == 7);
	assert_row(w[0].written == WINDOW_WRITTEN_UNKNOWN && w[0].backend == BACKEND_UNKNOWN);
	w += replayed->n_windows - 2;
	/* The bytes that pad an AUXTRACE to a multiple of 8 belong to no range. */
	if (w[1].len < 8)
		w--;
	assert_row(w[0].tid == 300 && w[0].flags == WINDOW_TRUNCATED);
	assert_row(w[1].tid == 300 && w[1].flags == WINDOW_GAPS);
}

static struct perfgen gen;

static void test_generated_perf_file(void **state)
{
	struct recording_error error;
	struct recording *recording;
	struct seen_recording seen;

	(void)state;
	for (unsigned int i = 0; i < 8; i++) {
		struct replayed_items replayed = { .n_windows = 0 };
		const struct source_sink sink = { store_window, store_task, &replayed };

		test_row("%s, %s, version %u", i & 1 ? "big-endian" : "little-endian",
			 i & 2 ? "pipe" : "file", i & 4 ? 2 : 1);
		make_finished_perf(&gen, i & 1, i & 2, i & 4 ? 2 : 1);
		assert_row(replay_bytes(gen.buf, gen.len, &seen, &error) == 0);
		assert_row(seen.records == 2 * RECORDS && !seen.suspect);

		assert_row(recording_open(temp_path, &recording, &error) == 0);
		assert_row(recording_get_format(recording) == RECORDING_PERF);
		for (int again = 0; again < 2; again++) {
			replayed.n_windows = replayed.n_tasks = 0;
			assert_row(recording_replay(recording, &sink, &error) == 0);
			check_tasks(&replayed);
			check_windows(&replayed, i & 4 ? 0x481fd010 : i & 2 ? 0x410fd0c0 : 0);
		}
		recording_free(recording);
	}
}

/* Two events have different trailers: the ID in the last word of a record distinguishes them. */
static void test_perf_trailers_differ(void **state)
{
	const u64 other = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER;
	struct replayed_items replayed = { .n_windows = 0 };
	const struct source_sink sink = { store_window, store_task, &replayed };
	struct recording_error error;
	struct recording *recording;
	u8 buf[1024];
	size_t len = make_records(buf, sizeof(buf), 2, 1);

	(void)state;
	perfgen_begin(&gen, false, true, 1024);
	perfgen_put_attr(&gen, 1024, other, 2);
	perfgen_put_auxtrace_info(&gen, 1, NULL, 0);
	for (u64 id = 1; id <= 2; id++) {
		perfgen_begin_record(&gen, PERF_RECORD_COMM, 0);
		perfgen_put_u32(&gen, 100);
		perfgen_put_u32(&gen, 100);
		perfgen_put_string(&gen, "worker");
		perfgen_put_u64(&gen, 100);
		perfgen_put_u64(&gen, 5000 + id);
		if (id == 1)
			perfgen_put_u64(&gen, 3);
		perfgen_put_u64(&gen, id);
		perfgen_end_record(&gen);
	}
	perfgen_put_aux(&gen, 0, len, PERF_AUX_FLAG_PARTIAL, 101, 1);
	perfgen_put_auxtrace(&gen, 0, buf, len, -1, 1);
	write_temp(gen.buf, gen.len);
	assert_int_equal(recording_open(temp_path, &recording, &error), 0);
	assert_int_equal(recording_replay(recording, &sink, &error), 0);
	recording_free(recording);
	assert_int_equal(replayed.n_tasks, 2);
	assert_int_equal(replayed.tasks[0].time_ns, 5001);
	assert_int_equal(replayed.tasks[1].time_ns, 5002);
	assert_int_equal(replayed.windows[0].flags, WINDOW_GAPS);
	assert_int_equal(replayed.windows[0].tid, -1);
}

/* Check that each flagged AUX record counts once, whatever its size is, as in perf. */
static void test_perf_losses(void **state)
{
	static const struct {
		const char *name;
		s32 tid, cpu;
		u64 pieces;
	} rows[] = {
		{ "of CPUs", -1, 1, 1 },
		{ "of threads", 101, -1, 1 },
		{ "a stretch in two AUXTRACE records", -1, 1, 2 },
	};
	struct recording_error error;
	struct seen_recording seen;
	u8 buf[4096];
	size_t len = make_records(buf, sizeof(buf), RECORDS, 1) & ~(size_t)127;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t piece = len / rows[i].pieces;

		test_row("%s", rows[i].name);
		perfgen_begin(&gen, false, false, 1024);
		perfgen_put_auxtrace_info(&gen, 1, NULL, 0);
		perfgen_put_aux(&gen, 0, 0, PERF_AUX_FLAG_TRUNCATED, 101, rows[i].cpu);
		perfgen_put_aux(&gen, 0, len, PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_PARTIAL, 101,
				rows[i].cpu);
		perfgen_put_aux(&gen, len, 0, PERF_AUX_FLAG_TRUNCATED, 101, rows[i].cpu);
		perfgen_put_aux(&gen, len, 0, PERF_AUX_FLAG_PARTIAL, 102, rows[i].cpu);
		perfgen_put_aux(&gen, len, 0, 0, 102, rows[i].cpu);
		perfgen_put_aux(&gen, len, 64, PERF_AUX_FLAG_OVERWRITE | PERF_AUX_FLAG_TRUNCATED,
				101, rows[i].cpu);
		for (u64 n = 0; n < rows[i].pieces; n++)
			perfgen_put_auxtrace(&gen, n * piece, buf + n * piece, piece, rows[i].tid,
					     rows[i].cpu);
		perfgen_end(&gen);
		assert_row(replay_bytes(gen.buf, gen.len, &seen, &error) == 0);
		assert_row(seen.truncated == 4 && seen.gaps == 2);
		assert_row(seen.windows == rows[i].pieces);
	}
}

static void check_truncated_anywhere(void)
{
	struct recording_error error;
	struct seen_recording seen;
	u64 before = 0;

	for (size_t len = 1; len < gen.len; len++) {
		test_row("%zu of %zu bytes", len, gen.len);
		assert_row(replay_bytes(gen.buf, len, &seen, &error) == -EBADMSG);
		assert_row(strlen(error.text) > 20);
		assert_row(seen.records >= before || len < 16);
		assert_row(seen.records <= 2 * RECORDS);
		before = seen.records;
	}
	assert_int_equal(before, 2 * RECORDS);
}

/*
 * A file that is truncated anywhere never gives more samples than the whole file, and each loss is
 * reported.
 */
static void test_perf_truncated(void **state)
{
	(void)state;
	make_finished_perf(&gen, false, false, 2);
	check_truncated_anywhere();
}

/* Test the same with build IDs after the data, to which the features in the header point. */
static void test_perf_build_ids_truncated(void **state)
{
	static const u8 ids[2][20] = { { 1, 2, 3 }, { 0xff } };
	struct recording_error error;
	struct seen_recording seen;

	(void)state;
	make_unfinished_perf(&gen, false, false, 2);
	perfgen_add_build_id(&gen, "/usr/bin/worker", ids[0]);
	perfgen_add_build_id(&gen, "/usr/lib/libwork.so.1", ids[1]);
	perfgen_end(&gen);
	assert_int_equal(replay_bytes(gen.buf, gen.len, &seen, &error), 0);
	assert_int_equal(seen.records, 2 * RECORDS);
	check_truncated_anywhere();
}

/* Numbers of perf: the record of a feature in a pipe, and the feature with the caches. */
#define FEATURE_RECORD 80
#define FEATURE_CACHE  20
#define FEATURE_MEMORY 22

/* Add the caches of a machine: @count claims their number, and @lines has the size of each line. */
static void put_caches(u32 count, const u32 *lines, size_t n)
{
	perfgen_begin_record(&gen, FEATURE_RECORD, 0);
	perfgen_put_u64(&gen, FEATURE_CACHE);
	perfgen_put_u32(&gen, 1);
	perfgen_put_u32(&gen, count);
	for (size_t i = 0; i < n; i++) {
		perfgen_put_u32(&gen, (u32)i + 1);
		perfgen_put_u32(&gen, lines[i]);
		perfgen_put_u32(&gen, 256);
		perfgen_put_u32(&gen, 4);
		for (u32 k = 0; k < 3; k++) {
			perfgen_put_u32(&gen, 8);
			perfgen_put_string(&gen, "Unified");
		}
	}
	perfgen_end_record(&gen);
}

/* The largest cache line of a perf.data is found, also if the number of caches is wrong. */
static void test_perf_cache_lines(void **state)
{
	static const struct {
		const char *name;
		u32 count;
		u32 lines[3];
		size_t n;
		u32 want;
	} rows[] = {
		{ "none", 0, { 0 }, 0, 0 },
		{ "three caches", 3, { 64, 64, 128 }, 3, 128 },
		{ "the first is the largest", 2, { 256, 64 }, 2, 256 },
		{ "fewer than claimed", UINT32_MAX, { 64, 128 }, 2, 128 },
		{ "more than claimed", 1, { 64, 128 }, 2, 64 },
	};
	struct recording_error error;
	struct seen_recording seen;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("%s", rows[i].name);
		perfgen_begin(&gen, false, true, 1024);
		perfgen_put_auxtrace_info(&gen, 1, NULL, 0);
		put_caches(rows[i].count, rows[i].lines, rows[i].n);
		perfgen_end(&gen);
		assert_row(replay_bytes(gen.buf, gen.len, &seen, &error) == 0);
		assert_row(seen.line_size == rows[i].want);
	}
}

/* Add the memory of nodes: blocks of @block bytes, and words with a bit for each block of a node. */
static void put_memory(u64 version, u64 block, u64 claimed, const u64 (*nodes)[3], size_t n)
{
	perfgen_begin_record(&gen, FEATURE_RECORD, 0);
	perfgen_put_u64(&gen, FEATURE_MEMORY);
	perfgen_put_u64(&gen, version);
	perfgen_put_u64(&gen, block);
	perfgen_put_u64(&gen, claimed);
	for (size_t i = 0; i < n; i++) {
		perfgen_put_u64(&gen, nodes[i][0]);
		perfgen_put_u64(&gen, nodes[i][1]);
		perfgen_put_u64(&gen, nodes[i][1]);
		perfgen_put_u64(&gen, nodes[i][2]);
	}
	perfgen_end_record(&gen);
}

/* A perf.data names the node of memory blocks; wrong numbers end the list of the node. */
static void test_perf_memory(void **state)
{
	static const u64 nodes[][3] = { { 1, 4, 0xb }, { 0, 64, 1ULL << 63 | 4 } };
	static const u64 same[][3] = { { 1, 4, 0xb }, { 0, 4, 8 } };
	static const u64 large[][3] = { { 1, UINT64_MAX, 0xb } };
	static const u64 unknown[][3] = { { 64, 4, 3 }, { 63, 4, 4 } };
	static const struct {
		const char *name;
		u64 version, block, claimed;
		const u64 (*nodes)[3];
		size_t n;
		u32 count;
		struct node_range want[4];
	} rows[] = {
		{ "two nodes",
		  1,
		  0x1000,
		  2,
		  nodes,
		  2,
		  4,
		  { { 0, 0x2000, 1 },
		    { 0x2000, 0x3000, 0 },
		    { 0x3000, 0x4000, 1 },
		    { 0x3f000, 0x40000, 0 } } },
		{ "fewer than claimed",
		  1,
		  0x1000,
		  UINT64_MAX,
		  nodes,
		  1,
		  2,
		  { { 0, 0x2000, 1 }, { 0x3000, 0x4000, 1 } } },
		{ "a block of two nodes",
		  1,
		  0x1000,
		  2,
		  same,
		  2,
		  2,
		  { { 0, 0x2000, 1 }, { 0x3000, 0x4000, 1 } } },
		{ "too many bits", 1, 0x1000, 1, large, 1, 0, { { 0 } } },
		{ "too large a node", 1, 0x1000, 2, unknown, 2, 1, { { 0x2000, 0x3000, 63 } } },
		{ "too large a block", 1, 1ULL << 62, 1, nodes, 1, 1, { { 0, 1ULL << 63, 1 } } },
		{ "no block", 1, 0, 2, nodes, 2, 0, { { 0 } } },
		{ "another version", 2, 0x1000, 2, nodes, 2, 0, { { 0 } } },
	};
	struct recording_error error;
	struct seen_recording seen;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("%s", rows[i].name);
		perfgen_begin(&gen, false, true, 1024);
		perfgen_put_auxtrace_info(&gen, 1, NULL, 0);
		put_memory(rows[i].version, rows[i].block, rows[i].claimed, rows[i].nodes,
			   rows[i].n);
		perfgen_end(&gen);
		assert_row(replay_bytes(gen.buf, gen.len, &seen, &error) == 0);
		assert_row(seen.ranges == rows[i].count);
		for (u32 k = 0; k < seen.ranges; k++)
			assert_row(seen.memory[k].start == rows[i].want[k].start &&
				   seen.memory[k].end == rows[i].want[k].end &&
				   seen.memory[k].node == rows[i].want[k].node);
	}
}

#define FINISHED_ROUND 68

static void put_finished_round(void)
{
	perfgen_begin_record(&gen, FINISHED_ROUND, 0);
	perfgen_end_record(&gen);
}

/* If no event waits at a FINISHED_ROUND or at the end, nothing is sorted and no memory is read. */
static void test_perf_empty_rounds(void **state)
{
	struct replayed_items replayed = { .n_windows = 0 };
	const struct source_sink sink = { store_window, store_task, &replayed };
	struct recording_error error;
	struct recording *recording;
	u8 buf[1024];
	size_t len = make_records(buf, sizeof(buf), 2, 1);

	(void)state;
	for (u32 tasks = 0; tasks < 2; tasks++) {
		test_row("%u tasks", tasks);
		replayed.n_windows = replayed.n_tasks = 0;
		perfgen_begin(&gen, false, false, 1024);
		perfgen_put_auxtrace_info(&gen, 1, NULL, 0);
		put_finished_round();
		put_finished_round();
		for (u32 i = 0; i < tasks; i++) {
			perfgen_begin_record(&gen, PERF_RECORD_COMM, 0);
			perfgen_put_u32(&gen, 100);
			perfgen_put_u32(&gen, 100);
			perfgen_put_string(&gen, "worker");
			perfgen_put_trailer(&gen, 100, 5000, 0);
			perfgen_end_record(&gen);
		}
		perfgen_put_aux(&gen, 0, len, 0, 101, 1);
		perfgen_put_auxtrace(&gen, 0, buf, len, 101, 1);
		/*
		 * The waiting event is passed on with the second round. The third round has no
		 * event either.
		 */
		for (u32 i = 0; i < 3; i++)
			put_finished_round();
		perfgen_end(&gen);
		write_temp(gen.buf, gen.len);
		assert_row(recording_open(temp_path, &recording, &error) == 0);
		assert_row(recording_replay(recording, &sink, &error) == 0);
		recording_free(recording);
		assert_row(replayed.n_tasks == tasks && replayed.n_windows > 0);
	}
}

/* A flipped bit is reported, or costs no record. */
static void test_perf_bit_flipped(void **state)
{
	struct recording_error error;
	struct seen_recording seen;
	u64 reported = 0;

	(void)state;
	make_finished_perf(&gen, false, false, 2);
	for (size_t bit = 0; bit < 8 * gen.len; bit += 3) {
		test_row("byte %zu bit %zu", bit / 8, bit % 8);
		gen.buf[bit / 8] ^= (u8)(1U << bit % 8);
		if (replay_bytes(gen.buf, gen.len, &seen, &error))
			reported++;
		else
			/*
			 * Damage of records is visible in their ledger: it costs at most two
			 * records.
			 */
			assert_row(seen.records >= 2 * RECORDS - 2);
		assert_row(seen.records <= 2 * RECORDS + 1);
		gen.buf[bit / 8] ^= (u8)(1U << bit % 8);
	}
	assert_true(reported > 300);
}

struct hostile_row {
	const char *name;
	size_t at; /* offset in the file, or, if @type is not 0, in the first record of that type */
	u32 type;
	unsigned int size;
	u64 value;
	const char *word;
	u64 records;
};

static const struct hostile_row hostile_rows[] = {
	{ "header size 0", 8, 0, 8, 0, "size is 0", 0 },
	{ "header size huge", 8, 0, 8, ~0ULL, NULL, 2 * RECORDS },
	{ "attribute size 0", 16, 0, 8, 0, "attributes", 2 * RECORDS },
	{ "attribute size huge", 16, 0, 8, ~0ULL, "attributes", 2 * RECORDS },
	{ "attributes beyond the end", 24, 0, 8, ~0ULL - 8, "attributes", 2 * RECORDS },
	{ "attributes without end", 32, 0, 8, 144ULL << 50, "attributes", 2 * RECORDS },
	{ "data beyond the end", 40, 0, 8, 1ULL << 63, "data offset", 0 },
	{ "data at 0", 40, 0, 8, 0, "data offset", 0 },
	{ "data without end", 48, 0, 8, ~0ULL, "data size", 2 * RECORDS },
	{ "data size 0", 48, 0, 8, 0, "did not finish", 2 * RECORDS },
	{ "record of size 0", 6, PERF_RECORD_COMM, 2, 0, "size is 0", 2 * RECORDS },
	{ "record of size 7", 6, PERF_RECORD_COMM, 2, 7, "size is 7", 2 * RECORDS },
	{ "record of type 0", 0, PERF_RECORD_COMM, 4, 0, "type is 0", 2 * RECORDS },
	{ "COMM too short", 6, PERF_RECORD_COMM, 2, 16, "COMM", 2 * RECORDS },
	{ "FORK too short", 6, PERF_RECORD_FORK, 2, 24, "FORK", 2 * RECORDS },
	{ "COMM without end", 16, PERF_RECORD_COMM, 8, ~0ULL, NULL, 2 * RECORDS },
	{ "build id of 21 bytes", 40, PERF_RECORD_MMAP2, 1, 21, "build id", 2 * RECORDS },
	{ "metadata version 1 of 16 words", 16, 70, 8, 1, "version 1", 2 * RECORDS },
	{ "metadata without end", 24, 70, 8, 1ULL << 61, "header of", 2 * RECORDS },
	{ "CPUs without end", 40, 70, 8, 1ULL << 61, "CPUs", 2 * RECORDS },
	{ "more CPUs than are there", 40, 70, 8, 3, "CPU entry 2", 2 * RECORDS },
	{ "parameters without end", 64, 70, 8, 1ULL << 61, "CPU entry 0", 2 * RECORDS },
	{ "shift 64", 8, 79, 8, 64, "shift is 64", 2 * RECORDS },
	{ "AUX beyond 2^64", 8, PERF_RECORD_AUX, 8, ~0ULL, "AUX record", 2 * RECORDS },
	{ "AUX size huge", 16, PERF_RECORD_AUX, 8, 1ULL << 60, NULL, 2 * RECORDS },
	{ "AUXTRACE size huge", 8, 71, 8, ~0ULL, "type 71", 2 * RECORDS },
	{ "AUXTRACE size beyond the file", 8, 71, 8, 1 << 20, "type 71", 2 * RECORDS },
	{ "AUXTRACE offset huge", 16, 71, 8, ~0ULL, NULL, 2 * RECORDS },
	{ "AUXTRACE without records", 8, 71, 8, 0, "size is", RECORDS },
};

static size_t find_record(u32 type)
{
	size_t at = 104 + 144, size;

	while (spe_get_le32(gen.buf + at) != type) {
		size = spe_get_le16(gen.buf + at + 6);
		assert_row(spe_get_le32(gen.buf + at) != 71);
		at += size;
	}
	return at;
}

/* Test a recording of another event, and one of SPE without samples. */
static void test_perf_without_spe(void **state)
{
	struct recording_error error;
	struct seen_recording seen;

	(void)state;
	for (int spe = 0; spe < 2; spe++) {
		perfgen_begin(&gen, false, false, 1024);
		if (spe)
			perfgen_put_auxtrace_info(&gen, 1, NULL, 0);
		else
			perfgen_put_time_conv(&gen, 10, 40960, 7);
		perfgen_end(&gen);
		assert_int_equal(replay_bytes(gen.buf, gen.len, &seen, &error), spe ? 0 : -ENOMSG);
		assert_true(spe || strstr(error.text, "without Arm SPE"));
		assert_int_equal(seen.windows, 0);
	}
	/* Change the type of the trace to intel_pt. */
	spe_put_le32(gen.buf + find_record(70) + 8, 1);
	assert_int_equal(replay_bytes(gen.buf, gen.len, &seen, &error), -ENOMSG);
	assert_non_null(strstr(error.text, "AUX data of type 1"));
}

/* After a record with too many AUX bytes, later records are still read. */
static void test_perf_hostile_overlap(void **state)
{
	static const u8 round[8] = { 68, 0, 0, 0, 0, 0, 8, 0 };
	struct recording_error error;
	struct seen_recording seen;
	size_t at;

	(void)state;
	make_finished_perf(&gen, false, false, 2);
	at = find_record(71);
	memset(gen.buf + at + 8, 0xff, 8);
	for (size_t i = 16; i < 48; i += sizeof(round))
		memcpy(gen.buf + at + i, round, sizeof(round));
	assert_int_equal(replay_bytes(gen.buf, gen.len, &seen, &error), -EBADMSG);
	assert_in_range(seen.records, RECORDS, 2 * RECORDS);
	assert_true(seen.bytes < gen.len);
}

static void test_perf_hostile(void **state)
{
	struct recording_error error;
	struct seen_recording seen;
	size_t at;
	int r;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(hostile_rows); i++) {
		const struct hostile_row *row = &hostile_rows[i];

		test_row("%s", row->name);
		make_finished_perf(&gen, false, false, 2);
		at = row->at + (row->type ? find_record(row->type) : 0);
		for (unsigned int b = 0; b < row->size; b++)
			gen.buf[at + b] = (u8)(row->value >> 8 * b);
		r = replay_bytes(gen.buf, gen.len, &seen, &error);
		if (r != (row->word ? -EBADMSG : 0) || seen.records < row->records ||
		    (row->word && !strstr(error.text, row->word)))
			fail_msg("%s: %d, %llu records, offset %#llx: %s", row->name, r,
				 (unsigned long long)seen.records, (unsigned long long)error.offset,
				 error.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden_perf_files),
		cmocka_unit_test(test_other_files_are_refused),
		cmocka_unit_test(test_raw_is_streamed),
		cmocka_unit_test(test_raw_noise_is_one_range),
		cmocka_unit_test(test_generated_perf_file),
		cmocka_unit_test(test_perf_trailers_differ),
		cmocka_unit_test(test_perf_losses),
		cmocka_unit_test(test_perf_truncated),
		cmocka_unit_test(test_perf_build_ids_truncated),
		cmocka_unit_test(test_perf_cache_lines),
		cmocka_unit_test(test_perf_memory),
		cmocka_unit_test(test_perf_empty_rounds),
		cmocka_unit_test(test_perf_bit_flipped),
		cmocka_unit_test(test_perf_without_spe),
		cmocka_unit_test(test_perf_hostile),
		cmocka_unit_test(test_perf_hostile_overlap),
	};

	temp_fd = memfd_create("test-recording", MFD_CLOEXEC);
	if (temp_fd < 0)
		return 1;
	snprintf(temp_path, sizeof(temp_path), "/proc/self/fd/%d", temp_fd);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
