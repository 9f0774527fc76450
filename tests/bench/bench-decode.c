// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Measure the cost of decoding, divided by the cost of a plain sum over the same bytes in the same
 * run. Measured are the general path; the fast path, record by record and many at a time; and all
 * steps up to the profile, once with a cell for each location and once with too few cells. The
 * paths alternate. The result uses the best time of all rounds for each part of the bytes, so that
 * other programs on the machine have little influence. usage: bench-decode [MEGABYTES [ROUNDS]]
 *
 * The exit status is 1 if two decoders read different records, or if the profile misses records.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "codec/layout.h"
#include "codec/record.h"
#include "profile/profile-read.h"
#include "records.h"
#include "tasks/task-event.h"

#define STRETCH	  (1U << 18)
#define MEGABYTES 64
#define ROUNDS	  12
#define BYTES	  (64ULL << 20) /* memory for the cells of all locations */
#define CROWDED	  (8ULL << 20) /* memory for the cells of a few locations */
#define SCATTERED 1000000 /* number of instructions of each task */

/*
 * The state that a measured path uses for all parts of the input. @crowded: a profile with space
 * for only a few of the locations
 */
struct bench_state {
	struct spe_layouts layouts;
	struct profile *profile;
	struct profile *crowded;
	u64 sum;
};

static double get_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static void sum_bytes(struct bench_state *state, const u8 *buf)
{
	u64 sum = 0, word;

	for (size_t i = 0; i < STRETCH; i += sizeof(word)) {
		memcpy(&word, buf + i, sizeof(word));
		sum += word;
	}
	state->sum += sum;
}

static void compute_sample_fields(struct bench_state *state, const struct spe_sample *sample)
{
	/* Force the compiler to compute fields that are not read. */
	__asm__ volatile("" : : "r"(sample) : "memory");
	state->sum += sample->address[0] + sample->counter[0];
}

static void decode_general(struct bench_state *state, const u8 *buf)
{
	struct spe_decoder decoder;
	struct spe_sample sample;

	spe_decoder_init(&decoder, NULL, buf, STRETCH);
	while (spe_decoder_next(&decoder, &sample, NULL) == SPE_DECODE_SAMPLE)
		compute_sample_fields(state, &sample);
}

static void decode_fast(struct bench_state *state, const u8 *buf)
{
	struct spe_decoder decoder;
	struct spe_sample sample;

	spe_decoder_init(&decoder, NULL, buf, STRETCH);
	while (spe_decoder_next_fast(&decoder, &state->layouts, &sample, NULL) == SPE_DECODE_SAMPLE)
		compute_sample_fields(state, &sample);
}

/* Decode many records at a time, and read every field of each. */
static void decode_runs(struct bench_state *state, const u8 *buf)
{
	struct spe_decoder decoder;
	struct spe_sample sample;
	struct spe_layout_run run;
	enum spe_decode_result r;

	spe_decoder_init(&decoder, NULL, buf, STRETCH);
	while ((r = spe_decoder_next_run(&decoder, &state->layouts, &run, &sample, NULL)) !=
	       SPE_DECODE_END) {
		if (r == SPE_DECODE_SAMPLE)
			compute_sample_fields(state, &sample);
		for (u32 i = 0; r == SPE_DECODE_RUN && i < run.count; i++) {
			spe_run_decode_sample(&state->layouts, &run, i, &sample);
			compute_sample_fields(state, &sample);
		}
	}
}

static void count_window(struct profile *profile, const u8 *buf)
{
	const struct source_window window = {
		.data = buf,
		.len = STRETCH,
		.tid = -1,
		.align = RECORDS_STRIDE,
		.midr = 0x410fd0c0,
	};

	profile_add_window(profile, &window);
}

static void count_in_full_profile(struct bench_state *state, const u8 *buf)
{
	count_window(state->profile, buf);
}

static void count_in_crowded_profile(struct bench_state *state, const u8 *buf)
{
	count_window(state->crowded, buf);
}

enum { PLAIN_SUM, GENERAL, FAST, RUNS, AGGREGATE, CROWD, PATHS };

static const struct measured_path {
	const char *name;
	void (*run)(struct bench_state *state, const u8 *buf);
	bool scattered; /* whether its records are of SCATTERED instructions */
} paths[PATHS] = {
	[PLAIN_SUM] = { "plain sum", sum_bytes },
	[GENERAL] = { "general path", decode_general },
	[FAST] = { "fast path, one by one", decode_fast },
	[RUNS] = { "fast path, in runs", decode_runs },
	[AGGREGATE] = { "decode, attribute, aggregate", count_in_full_profile },
	[CROWD] = { "the same, most samples evicted", count_in_crowded_profile, true },
};

static void make_tasks(struct attributor *attributor)
{
	for (s32 tid = RECORDS_TID; tid < RECORDS_TID + RECORDS_TIDS; tid++) {
		struct task_event event = {
			.type = TASK_COMM, .pid = tid, .tid = tid, .name = "bench", .exec = true
		};

		attributor_apply_event(attributor, &event);
		event.type = TASK_MMAP;
		event.name = "/opt/bench/program";
		event.inode = 1;
		event.start = RECORDS_PC;
		event.size = 4 * SCATTERED;
		attributor_apply_event(attributor, &event);
	}
}

/*
 * Measure the seconds that each path takes for all of @buf, or of @scattered, and return the sum of
 * the values that each path read.
 */
static void measure_paths(struct bench_state *state, const u8 *buf, const u8 *scattered,
			  u32 stretches, u32 rounds, double *best, double *ret_seconds,
			  u64 *ret_sums)
{
	double began, took;

	for (u32 i = 0; i < ARRAY_SIZE(paths) * stretches; i++)
		best[i] = 1e9;
	for (u32 round = 0; round < rounds; round++) {
		for (size_t p = 0; p < ARRAY_SIZE(paths); p++) {
			const u8 *at = paths[p].scattered ? scattered : buf;

			state->sum = 0;
			for (u32 i = 0; i < stretches; i++) {
				began = get_time();
				paths[p].run(state, at + (size_t)i * STRETCH);
				took = get_time() - began;
				if (took < best[p * stretches + i])
					best[p * stretches + i] = took;
			}
			ret_sums[p] = state->sum;
		}
	}
	for (size_t p = 0; p < ARRAY_SIZE(paths); p++) {
		ret_seconds[p] = 0;
		for (u32 i = 0; i < stretches; i++)
			ret_seconds[p] += best[p * stretches + i];
	}
}

static bool has_all_records(struct profile *profile, u64 records)
{
	struct view view;
	bool all;

	if (profile_create_view(profile, NULL, false, VIEW_CONTAINER, VIEW_SORT_SAMPLES, 1, &view) <
	    0)
		return false;
	all = view.header.records == records;
	view_clear(&view);
	return all;
}

/* Return whether all decoders found the same fields, and both profiles counted all @records. */
static bool all_sums_agree(const struct bench_state *state, const u64 *sums, u64 records)
{
	return sums[GENERAL] == sums[FAST] && sums[GENERAL] == sums[RUNS] &&
	       has_all_records(state->profile, records) && has_all_records(state->crowded, records);
}

int main(int argc, char **argv)
{
	u32 megabytes = argc > 1 ? (u32)strtoul(argv[1], NULL, 10) : MEGABYTES;
	u32 rounds = argc > 2 ? (u32)strtoul(argv[2], NULL, 10) : ROUNDS;
	const struct attributor_config attribution = { .live = false };
	const struct profile_config config = { .cell_bytes = BYTES, .programs = 1024 };
	const struct profile_config crowded = { .cell_bytes = CROWDED, .programs = 1024 };
	size_t len = (size_t)megabytes << 20;
	u32 stretches = (u32)(len / STRETCH);
	double *best = calloc(ARRAY_SIZE(paths) * stretches, sizeof(*best));
	double seconds[ARRAY_SIZE(paths)];
	u64 sums[ARRAY_SIZE(paths)];
	struct attributor *attributor;
	static struct record_generator records;
	u8 *buf = aligned_alloc(64, len), *scattered = aligned_alloc(64, len);
	static struct bench_state state;

	if (!len || !rounds || !buf || !scattered || !best ||
	    attributor_new(&attribution, &attributor) < 0 ||
	    profile_new(&config, attributor, &state.profile) < 0 ||
	    profile_new(&crowded, attributor, &state.crowded) < 0)
		return 1;
	make_tasks(attributor);
	record_generator_init(&records, 42);
	record_generator_fill(&records, buf, (u32)(len / RECORDS_STRIDE));
	memcpy(scattered, buf, len);
	record_generator_scatter_pcs(&records, scattered, (u32)(len / RECORDS_STRIDE), SCATTERED);
	measure_paths(&state, buf, scattered, stretches, rounds, best, seconds, sums);
	for (size_t p = 0; p < ARRAY_SIZE(paths); p++)
		printf("%-30s %6.2f GB/s  %6.1f M records/s  %5.1f %% of the plain sum\n",
		       paths[p].name, (double)len / seconds[p] / 1e9,
		       (double)len / RECORDS_STRIDE / seconds[p] / 1e6,
		       100 * seconds[0] / seconds[p]);
	printf("value decode_percent %.2f\n", 100 * seconds[PLAIN_SUM] / seconds[RUNS]);
	if (!all_sums_agree(&state, sums, (u64)rounds * len / RECORDS_STRIDE)) {
		fprintf(stderr, "bench-decode: the paths read different records\n");
		return 1;
	}
	profile_free(state.profile);
	profile_free(state.crowded);
	attributor_free(attributor);
	free(best);
	free(buf);
	free(scattered);
	return 0;
}
