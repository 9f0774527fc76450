// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Count 64 streams of records one after another, each in a shard of a profile. Print the CPU time
 * of the slowest stream, and that of one thread that counts all streams. With a core for each
 * stream, the slowest stream determines the elapsed time.
 * usage: bench-streams [MEGABYTES]
 *
 * The exit status is 1 if the merged shards do not have all records.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "profile/profile-shard.h"
#include "records.h"
#include "tasks/task-event.h"

#define STREAMS	  64
#define WINDOW	  (1U << 16) /* bytes */
#define MEGABYTES 64

static double read_cpu_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static void make_tasks(struct attributor *attributor)
{
	for (s32 tid = RECORDS_TID; tid < RECORDS_TID + RECORDS_TIDS; tid++) {
		struct task_event event = {
			.type = TASK_COMM,
			.pid = tid,
			.tid = tid,
			.name = "bench",
			.exec = true,
		};

		attributor_apply_event(attributor, &event);
		event.type = TASK_MMAP;
		event.name = "/opt/bench/program";
		event.inode = 1;
		event.start = RECORDS_PC;
		event.size = 4 * RECORDS_PCS;
		attributor_apply_event(attributor, &event);
	}
}

/* Count @len bytes, and return the seconds of CPU time that this takes. */
static double count_window(struct profile *profile, const u8 *buf, size_t len)
{
	double began = read_cpu_seconds();

	for (size_t i = 0; i < len; i += WINDOW) {
		const struct source_window window = {
			.data = buf + i,
			.len = len - i < WINDOW ? len - i : WINDOW,
			.tid = -1,
			.align = RECORDS_STRIDE,
			.midr = 0x410fd0c0,
			.interval = 1024,
			.unit = UNIT_INSTRUCTIONS,
		};

		profile_add_window(profile, &window);
	}
	return read_cpu_seconds() - began;
}

/* Count each stream in @shard and merge it into @whole; return the seconds of the slowest. */
static double count_streams(struct profile *whole, struct profile *shard, const u8 *buf, size_t len)
{
	const size_t each = len / STREAMS;
	double slowest = 0;

	for (u32 i = 0; i < STREAMS; i++) {
		double took = count_window(shard, buf + i * each, each);

		slowest = took > slowest ? took : slowest;
		profile_merge_shard(whole, shard, NULL);
	}
	return slowest;
}

static u64 count_records(struct profile *profile)
{
	struct view view;
	u64 records;

	if (profile_create_view(profile, NULL, false, VIEW_CONTAINER, VIEW_SORT_SAMPLES, 1, &view) <
	    0)
		return 0;
	records = view.header.records;
	view_clear(&view);
	return records;
}

int main(int argc, char **argv)
{
	u32 megabytes = argc > 1 ? (u32)strtoul(argv[1], NULL, 10) : MEGABYTES;
	const struct attributor_config attribution = { .live = false };
	struct profile_config config = { .skip_memory = true };
	struct profile *straight, *whole, *shard;
	size_t len = (size_t)megabytes << 20;
	u8 *buf = aligned_alloc(64, len);
	struct attributor *attributor;
	static struct record_generator records;
	double one, slowest;
	bool all;

	if (!len || !buf || attributor_new(&attribution, &attributor) < 0 ||
	    profile_new(&config, attributor, &straight) < 0 ||
	    profile_new(&config, attributor, &whole) < 0)
		return EXIT_FAILURE;
	config.whole = whole;
	if (profile_new(&config, attributor, &shard) < 0)
		return EXIT_FAILURE;
	make_tasks(attributor);
	profile_assign_ids(straight);
	profile_assign_ids(whole);
	record_generator_init(&records, 42);
	record_generator_fill(&records, buf, (u32)(len / RECORDS_STRIDE));
	one = count_window(straight, buf, len);
	slowest = count_streams(whole, shard, buf, len);
	printf("%u streams: the slowest takes %.2f ms of CPU time, one thread %.0f ms for all\n",
	       STREAMS, 1e3 * slowest, 1e3 * one);
	printf("value stream_percent %.2f\n", 100 * slowest / one);
	all = count_records(whole) == len / RECORDS_STRIDE &&
	      count_records(straight) == count_records(whole);
	if (!all)
		fprintf(stderr, "bench-streams: the shards do not have all records\n");
	profile_free(shard);
	profile_free(whole);
	profile_free(straight);
	attributor_free(attributor);
	free(buf);
	return all ? EXIT_SUCCESS : EXIT_FAILURE;
}
