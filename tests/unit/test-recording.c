// SPDX-License-Identifier: LGPL-2.1-or-later
/* Recordings of every kind, damaged in every way, through the open and replay contract. */
#include "test.h"

#include "record.h"
#include "recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct seen {
	u64 records;
	u64 bytes;
	u64 suspect;
	u64 windows;
	u64 truncated;
	u64 tasks[TASK_CGROUP + 1];
	u64 named;
	struct source_window last;
	u64 hash;	/* of all samples' raw bytes, in order */
};

static void on_window(void *ctx, const struct source_window *window)
{
	struct seen *seen = ctx;
	struct spe_decoder decoder;
	struct spe_sample sample;

	assert_true(window->len > 0);
	seen->windows++;
	seen->bytes += window->len;
	seen->truncated += !!(window->flags & WINDOW_TRUNCATED);
	seen->last = *window;
	spe_decoder_init(&decoder, NULL, window->data, window->len);
	for (enum spe_decode r; (r = spe_decoder_next(&decoder, &sample, NULL)) != SPE_DECODE_END;)
		if (r == SPE_DECODE_SAMPLE)
			for (u32 i = 0; i < sample.size; i++)
				seen->hash = (seen->hash ^ sample.raw[i]) * 0x100000001b3ULL;
	assert_int_equal(decoder.ledger.decoded + decoder.ledger.padding + decoder.ledger.suspect,
			 window->len);
	seen->records += decoder.ledger.records;
	seen->suspect += decoder.ledger.suspect;
}

static void on_task(void *ctx, const struct task_event *event)
{
	struct seen *seen = ctx;

	assert_true(event->type <= TASK_CGROUP);
	seen->tasks[event->type]++;
	seen->named += strlen(event->name) > 0;
	for (u8 i = 0; i < event->build_id_size; i++)
		seen->hash += event->build_id[i];
}

static int replay(const char *path, struct seen *ret_seen, struct recording_error *ret_error)
{
	const struct source_sink sink = { .window = on_window, .task = on_task, .ctx = ret_seen };
	struct recording *recording;
	int r;

	*ret_seen = (struct seen){ 0 };
	*ret_error = (struct recording_error){ 0 };
	r = recording_open(path, &recording, ret_error);
	if (r < 0)
		return r;
	r = recording_replay(recording, &sink, ret_error);
	recording_free(recording);
	return r;
}

static char temp_path[] = "/tmp/test-recording.XXXXXX";

/* perf.data of this project, whose truth stands beside them as JSON. */
static const char *golden(void)
{
	const char *dir = getenv("SPEPROF_GOLDEN");

	assert_non_null(dir);
	return dir;
}

struct perf_row {
	const char *file;
	u64 records;
	u64 bytes;
	u64 windows;
	u64 truncated;
	u64 tasks[TASK_CGROUP + 1];
	u32 cpu;	/* of the last window */
	u32 interval;
};

/* As perf report -D, perf script --show-task-events and --header have it. */
static const struct perf_row perf_rows[] = {
	{
		.file = "perf-arm64-branch.perf.data",
		.records = 524,
		.bytes = 0x2080 + 0x6280,
		.windows = 2,
		.tasks = { [TASK_COMM] = 63, [TASK_FORK] = 62, [TASK_EXIT] = 1, [TASK_MMAP] = 72 },
		.cpu = 1,
		.interval = 512 + 1,
	},
	{
		.file = "perf-arm64-loads.perf.data",
		.records = 52,
		.bytes = 0xd00,
		.windows = 3,
		.tasks = { [TASK_COMM] = 2, [TASK_EXIT] = 1, [TASK_MMAP] = 2 },
		.cpu = 1,
		.interval = 512 + 1,
	},
	{
		.file = "perf-arm64-full.perf.data",
		.records = 704,
		.bytes = 0xc000,
		.windows = 4,
		.truncated = 1,
		.tasks = { [TASK_COMM] = 2, [TASK_EXIT] = 1, [TASK_MMAP] = 8 },
		.cpu = 1,
		.interval = 256 + 128,
	},
};

static void test_perf(void **state)
{
	struct recording_error error;
	struct seen seen;
	char path[512];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(perf_rows); i++) {
		const struct perf_row *row = &perf_rows[i];

		test_row("%s", row->file);
		snprintf(path, sizeof(path), "%s/%s", golden(), row->file);
		if (replay(path, &seen, &error) < 0)
			fail_msg("%s: offset %#llx: %s", row->file, (unsigned long long)error.offset,
				 error.text);
		assert_row(seen.records == row->records);
		assert_row(seen.bytes == row->bytes);
		assert_row(!seen.suspect);
		assert_row(seen.windows == row->windows);
		assert_row(seen.truncated == row->truncated);
		assert_row(!memcmp(seen.tasks, row->tasks, sizeof(seen.tasks)));
		assert_row(seen.last.cpu == row->cpu);
		assert_row(seen.last.tid == -1);
		assert_row(seen.last.interval == row->interval);
		assert_row(seen.last.midr == 0xf0510);
		assert_row(seen.last.clock.mult == 33554432 && seen.last.clock.shift == 21);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_perf),
	};
	int fd = mkstemp(temp_path), r;

	if (fd < 0)
		return 1;
	close(fd);
	r = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(temp_path);
	return r;
}
