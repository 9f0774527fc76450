// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Compare the profile with the table of cells alone, in one run. Records of 64 bytes are decoded and
 * counted, and each time is divided by the time of a plain sum over the same bytes. The profile also
 * attributes the records. Both count records of many processes of few programs at 10^5 locations:
 * first of long-lived processes, then of short-lived ones. usage: bench-cells [MEGABYTES [ROUNDS]]
 *
 * The exit status is 1 if a profile or a table misses samples.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "codec/layout.h"
#include "profile/cell-table.h"
#include "profile/profile-read.h"
#include "records.h"
#include "tasks/task-event.h"

#define STRETCH	  (1U << 18)
#define MEGABYTES 64
#define ROUNDS	  8
#define BYTES	  (64ULL << 20)
#define LIVES	  64 /* records of a short-lived process in a row */

/**
 * struct process_load - the processes that wrote the counted records
 * @processes: number of processes
 * @programs: number of programs that they execute
 * @brief: whether each process exits after LIVES records, and the next one starts
 */
struct process_load {
	const char *name;
	const char *value; /* name of the profile's speed in tests/bench/bars */
	u32 processes;
	u32 programs;
	bool brief;
};

static const struct process_load loads[] = {
	{ "64 processes of 8 programs", "count_percent", 64, 8, false },
	{ "10,000 short-lived, 20 programs", "count_short_lived_percent", 10000, 20, true },
};

/** struct task_totals - counters of a process */
struct task_totals {
	sample_class_lanes ones[SAMPLE_CLASS_LANES];
	u64 latency_sum[PROFILE_LATENCIES];
	u32 samples;
	u16 bucket[HISTOGRAM_BUCKETS + 1];
};

/** struct task_entry - the cached program of a TID, and the salt of the program's only binary */
struct task_entry {
	u32 tid;
	u32 program;
	u64 owner;
	u64 salt;
	struct task_totals totals;
};

#define TASK_BITS 8

/** struct decode_stage - a decoder and a table of cells */
struct decode_stage {
	struct spe_layouts layouts;
	struct sample_class_catalog catalog;
	struct cell_table *table;
	struct task_entry task[1 << TASK_BITS];
	u32 programs;
	u8 bucket[4096];
	u64 samples;
};

struct bench_state {
	struct decode_stage stage;
	struct profile *profile;
	u64 sum;
};

static double get_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
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

static void count_profile(struct bench_state *state, const u8 *buf)
{
	const struct source_window window = {
		.data = buf,
		.len = STRETCH,
		.tid = -1,
		.align = RECORDS_STRIDE,
		.midr = 0x410fd0c0,
		.interval = 1024,
		.unit = UNIT_INSTRUCTIONS,
	};

	profile_add_window(state->profile, &window);
}

static struct task_entry *get_task_entry(struct decode_stage *s, u32 tid)
{
	struct task_entry *e = &s->task[tid * 0x9e3779b97f4a7c15ULL >> (64 - TASK_BITS)];

	if (e->tid == tid)
		return e;
	memset(e, 0, sizeof(*e));
	e->tid = tid;
	e->program = tid % s->programs;
	e->owner = cell_owner_make(e->program, e->program);
	e->salt = cell_owner_hash(s->table, e->owner);
	return e;
}

static const struct sample_class *get_sample_class(struct decode_stage *s,
						   const struct spe_sample *x)
{
	u64 key = sample_class_make_key(x->present, x->op_class, x->op_subclass, x->source, 0);
	u16 guess = s->catalog.guess[sample_class_get_slot(x->events, key)];
	const struct sample_class *t = &s->catalog.at[guess];

	if (t->events == x->events && t->key == key && t->used)
		return t;
	return &s->catalog.at[sample_class_find(&s->catalog, x->events, key,
						spe_data_sources_find(0x410fd0c0))];
}

static void add_to_totals(struct decode_stage *s, struct task_totals *totals,
			  const struct sample_class *t, const struct spe_sample *x)
{
	u16 total = x->counter[SPE_COUNTER_TOTAL];

	for (unsigned int i = 0; i < SAMPLE_CLASS_LANES; i++)
		totals->ones[i] += t->ones[i];
	totals->bucket[total < 4096 ? s->bucket[total] : histogram_get_bucket(total)]++;
	totals->latency_sum[PROFILE_TOTAL] += total;
	totals->samples++;
}

static void count_run_in_cells(struct decode_stage *s, const struct spe_layout_run *run,
			       u8 interval)
{
	struct cell_batch *b = cell_table_get_batch(s->table);
	struct spe_sample x;

	for (u32 i = 0; i < run->count; i++) {
		const struct sample_class *t;
		struct task_entry *e;

		spe_layout_read(&s->layouts.layout[run->layout[i]], run->raw[i], &x);
		e = get_task_entry(s, x.context[SPE_CONTEXT_EL1]);
		t = get_sample_class(s, &x);
		add_to_totals(s, &e->totals, t, &x);
		b->owner[i] = e->owner;
		b->offset[i] = spe_address_va(x.address[SPE_ADDRESS_PC]) - RECORDS_PC;
		b->hash[i] = cell_hash(e->salt, b->offset[i]);
		b->sample[i] = cell_sample_pack(t->id, x.counter[SPE_COUNTER_TOTAL],
						x.counter[SPE_COUNTER_ISSUE],
						x.counter[SPE_COUNTER_TRANSLATION]);
		b->interval[i] = interval;
	}
	b->count = run->count;
	s->samples += run->count;
	cell_table_add_batch(s->table);
}

static void count_cells(struct bench_state *state, const u8 *buf)
{
	struct decode_stage *s = &state->stage;
	u8 interval = cell_table_get_interval(s->table, 1024, UNIT_INSTRUCTIONS);
	struct spe_decoder decoder;
	struct spe_sample sample;
	struct spe_layout_run run;
	enum spe_decode_result r;

	spe_decoder_init(&decoder, NULL, buf, STRETCH);
	while ((r = spe_decoder_next_run(&decoder, &s->layouts, &run, &sample, NULL)) !=
	       SPE_DECODE_END)
		if (r == SPE_DECODE_RUN)
			count_run_in_cells(s, &run, interval);
}

static const struct measured_path {
	const char *name;
	void (*run)(struct bench_state *state, const u8 *buf);
} paths[] = {
	{ "plain sum", sum_bytes },
	{ "profile", count_profile },
	{ "table of cells alone", count_cells },
};

/*
 * Measure the parts of @buf. The best time of all rounds counts for each part, so that other
 * programs on the machine have little influence.
 */
static void measure_paths(struct bench_state *state, const u8 *buf, u32 stretches, u32 rounds,
			  double *best, double *ret_seconds)
{
	for (u32 i = 0; i < ARRAY_SIZE(paths) * stretches; i++)
		best[i] = 1e9;
	for (u32 round = 0; round < rounds; round++) {
		for (size_t p = 0; p < ARRAY_SIZE(paths); p++) {
			for (u32 i = 0; i < stretches; i++) {
				double began = get_time(), took;

				paths[p].run(state, buf + (size_t)i * STRETCH);
				took = get_time() - began;
				if (took < best[p * stretches + i])
					best[p * stretches + i] = took;
			}
		}
	}
	for (size_t p = 0; p < ARRAY_SIZE(paths); p++) {
		ret_seconds[p] = 0;
		for (u32 i = 0; i < stretches; i++)
			ret_seconds[p] += best[p * stretches + i];
	}
}

/*
 * Write the TIDs of a load into the records. Each location belongs to one program, as RECORDS_TID
 * is a multiple of the numbers of programs.
 */
static void write_tids(const struct process_load *load, u8 *buf, u32 count)
{
	u32 each = load->processes / load->programs;

	for (u32 i = 0; i < count; i++) {
		u8 *record = buf + (size_t)i * RECORDS_STRIDE;
		u32 program = (spe_get_le32(record + RECORDS_AT_PC) - (u32)RECORDS_PC) / 4 %
			      load->programs;
		u32 process = load->brief ? i / (LIVES * load->programs) : i * 0x9e3779b1U >> 16;

		spe_put_le32(record + RECORDS_AT_CONTEXT,
			     RECORDS_TID + program + load->programs * (process % each));
	}
}

/* Report that @pid runs the program number @program, which is mapped where the records' PCs are. */
static void report_task(struct attributor *attributor, s32 pid, u32 program)
{
	char name[32];
	struct task_event event = {
		.type = TASK_COMM,
		.pid = pid,
		.tid = pid,
		.name = "bench",
		.exec = true,
	};

	attributor_apply_event(attributor, &event);
	snprintf(name, sizeof(name), "/opt/bench/program%u", program);
	event.type = TASK_MMAP;
	event.name = name;
	event.inode = program + 1;
	event.start = RECORDS_PC;
	event.size = 4 * RECORDS_PCS;
	attributor_apply_event(attributor, &event);
}

static int state_init(struct bench_state *state, const struct process_load *load,
		      struct attributor **ret)
{
	const struct attributor_config attribution = { .processes = 16384, .threads = 32768 };
	const struct profile_config config = { .cell_bytes = BYTES, .programs = 1024 };
	struct cell_table_config cells = { .bytes = BYTES, .sample_class = &state->stage.catalog };

	memset(state, 0, sizeof(*state));
	state->stage.programs = load->programs;
	for (u16 i = 0; i < 4096; i++)
		state->stage.bucket[i] = (u8)histogram_get_bucket(i);
	if (attributor_new(&attribution, ret) < 0 || sample_class_init(&state->stage.catalog) < 0 ||
	    profile_new(&config, *ret, &state->profile) < 0)
		return -1;
	for (u32 i = 0; i < load->processes; i++)
		report_task(*ret, (s32)(RECORDS_TID + i), i % load->programs);
	return cell_table_new(&cells, &state->stage.table);
}

/* Measure the seconds to add all cells to an empty table, and to a table that already has them. */
static void measure_merge(struct bench_state *state, double ret_seconds[static 2])
{
	struct cell_table_config config = { .bytes = BYTES, .sample_class = &state->stage.catalog };
	struct cell_table *whole;

	if (cell_table_new(&config, &whole) < 0)
		exit(EXIT_FAILURE);
	for (u32 i = 0; i < 2; i++) {
		double began = get_time();

		cell_table_merge(whole, state->stage.table);
		ret_seconds[i] = get_time() - began;
	}
	cell_table_free(whole);
}

/* Return the number of samples in all cells, and in the rows of evicted samples of each program. */
static u64 sum_cells(const struct cell_table *table)
{
	struct cell_row row = { 0 };
	struct cell_cursor cursor = { 0 };
	u64 sum = 0;

	while (cell_table_next(table, &cursor, &row))
		sum += cell_row_count_samples(table, &row);
	return sum;
}

/* Return whether the profile and the table of cells counted all @samples. */
static bool report_rates(struct bench_state *state, const struct process_load *load,
			 const double *seconds, size_t len, u64 samples)
{
	bool all;
	struct cell_table_stats stats;
	struct view view = { 0 };
	double merge[2];

	cell_table_flush(state->stage.table);
	cell_table_get_stats(state->stage.table, &stats);
	measure_merge(state, merge);
	(void)profile_create_view(state->profile, NULL, false, VIEW_CONTAINER, VIEW_SORT_SAMPLES, 1,
				  &view);
	printf("%s\n", load->name);
	for (size_t p = 0; p < ARRAY_SIZE(paths); p++)
		printf("  %-32s %6.1f ns a record, %5.2f %% of the plain sum\n", paths[p].name,
		       1e9 * seconds[p] * RECORDS_STRIDE / (double)len,
		       100 * seconds[0] / seconds[p]);
	printf("  evicted: %.2f %% of the profile, %.2f %% of the table; %llu cells in %.1f MiB\n",
	       100.0 * (double)view.header.evicted / (double)view.header.records,
	       100.0 * (double)stats.evicted / (double)state->stage.samples,
	       (unsigned long long)stats.cells, (double)stats.bytes / (1 << 20));
	printf("  merge: %.0f ns a new cell, %.0f ns a known one\n",
	       1e9 * merge[0] / (double)stats.cells, 1e9 * merge[1] / (double)stats.cells);
	printf("value %s %.2f\n", load->value, 100 * seconds[0] / seconds[1]);
	all = view.header.records == samples &&
	      sum_cells(state->stage.table) == state->stage.samples;
	view_clear(&view);
	if (!all)
		fprintf(stderr, "bench-cells: not all samples were counted\n");
	return all;
}

int main(int argc, char **argv)
{
	u32 megabytes = argc > 1 ? (u32)strtoul(argv[1], NULL, 10) : MEGABYTES;
	u32 rounds = argc > 2 ? (u32)strtoul(argv[2], NULL, 10) : ROUNDS;
	size_t len = (size_t)megabytes << 20;
	u32 stretches = (u32)(len / STRETCH), count = (u32)(len / RECORDS_STRIDE);
	double *best = calloc(ARRAY_SIZE(paths) * stretches, sizeof(*best));
	u8 *buf = aligned_alloc(64, len);
	static struct record_generator records;
	static struct bench_state state;
	int status = EXIT_SUCCESS;

	if (!len || !rounds || !best || !buf)
		return EXIT_FAILURE;
	record_generator_init(&records, 42);
	record_generator_fill(&records, buf, count);
	for (size_t i = 0; i < ARRAY_SIZE(loads); i++) {
		double seconds[ARRAY_SIZE(paths)];
		struct attributor *attributor;

		write_tids(&loads[i], buf, count);
		if (state_init(&state, &loads[i], &attributor) < 0)
			return EXIT_FAILURE;
		measure_paths(&state, buf, stretches, rounds, best, seconds);
		if (!report_rates(&state, &loads[i], seconds, len, (u64)rounds * count))
			status = EXIT_FAILURE;
		cell_table_free(state.stage.table);
		sample_class_deinit(&state.stage.catalog);
		profile_free(state.profile);
		attributor_free(attributor);
	}
	free(best);
	free(buf);
	return status;
}
