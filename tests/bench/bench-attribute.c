// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Measure the cost of attributing a sample with a known TID and a PC in a mapping of its process.
 */
#include "attribution/attributor.h"
#include "tasks/task-event.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define LOOKUPS		(1U << 26)
#define RUNS		5
#define PROCESS_THREADS 8
#define MAPPINGS	24
#define LIVES		200000
#define LIFE_MAPPINGS	4

static double read_clock(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static double read_wall_time(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

static double read_cpu_time(void)
{
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

/*
 * Create a machine of processes with PROCESS_THREADS threads each and consecutive TIDs, as a
 * kernel allocates them.
 */
static struct attributor *make_machine(u32 threads)
{
	const struct attributor_config config = { .processes = threads };
	struct attributor *a;

	if (attributor_new(&config, &a) < 0)
		exit(1);
	for (u32 i = 0; i < threads; i++) {
		struct task_event e = {
			.type = TASK_COMM,
			.name = "bench",
			.pid = (s32)(1000 + i / PROCESS_THREADS * PROCESS_THREADS),
			.tid = (s32)(1000 + i),
		};

		attributor_apply_event(a, &e);
		if (e.pid != e.tid)
			continue;
		e.type = TASK_MMAP;
		e.size = 0x100000;
		for (u32 k = 0; k < MAPPINGS; k++) {
			e.start = 0x7f0000000000 + k * 0x200000ULL;
			e.name = k & 1 ? "/usr/lib/libc.so.6" : "/usr/bin/bench";
			attributor_apply_event(a, &e);
		}
	}
	return a;
}

static double measure_task_lookups(struct attributor *a, u32 threads, u64 *sum)
{
	double best = 1e9;

	for (int run = 0; run < RUNS; run++) {
		double start = read_wall_time();
		u32 x = 1;

		for (u32 i = 0; i < LOOKUPS; i++) {
			x = x * 1664525 + 1013904223;
			*sum += attributor_find_process(a, (s32)(1000 + (x >> 8) % threads));
		}
		start = read_wall_time() - start;
		best = start < best ? start : best;
	}
	return LOOKUPS / best / 1e6;
}

static double measure_location_lookups(struct attributor *a, u32 threads, u64 *sum)
{
	u32 n = LOOKUPS / 8, x = 1;
	double start = read_wall_time();

	for (u32 i = 0; i < n; i++) {
		struct attribute_location place;
		u32 index;

		x = x * 1664525 + 1013904223;
		index = attributor_find_process(a, (s32)(1000 + (x >> 8) % threads));
		if (attributor_locate_pc(a, index, 0x7f0000000000 + x % MAPPINGS * 0x200000ULL,
					 false, &place))
			*sum += place.offset;
	}
	return n / (read_wall_time() - start) / 1e6;
}

/* Measure the cost of reading /proc on this machine: look each process up once, then refresh it. */
static void measure_proc_reads(void)
{
	const struct attributor_config config = { .live = true };
	struct attributor *a;
	struct dirent *entry;
	double first = read_cpu_time(), refresh;
	DIR *proc = opendir("/proc");
	u32 found = 0;

	if (!proc || attributor_new(&config, &a) < 0)
		exit(1);
	while ((entry = readdir(proc))) {
		s32 pid = atoi(entry->d_name);

		if (pid > 0)
			found += attributor_find_process(a, pid) != ATTRIBUTE_NONE;
	}
	closedir(proc);
	first = read_cpu_time() - first;
	refresh = read_cpu_time();
	attributor_refresh(a);
	refresh = read_cpu_time() - refresh;
	printf("live: %u processes, %.0f us of CPU each at first sight, %.1f ms a refresh of all\n",
	       found, first / found * 1e6, refresh * 1e3);
	attributor_free(a);
}

static void report_event(struct attributor *a, u8 type, s32 pid, u64 start)
{
	const struct task_event event = {
		.type = type,
		.name = type == TASK_COMM ? "bench" : "/usr/lib/libc.so.6",
		.exec = true,
		.time_ns = UINT64_MAX / 2,
		.start = start,
		.size = 0x100000,
		.pid = pid,
		.tid = pid,
		.parent_pid = getpid(),
	};

	attributor_apply_event(a, &event);
}

/*
 * Measure the cost of many forks: processes with LIFE_MAPPINGS mappings start and exit without a
 * sample.
 */
static void measure_forks(void)
{
	const struct attributor_config config = { .live = true };
	struct attributor *a;
	double start;

	if (attributor_new(&config, &a) < 0)
		exit(1);
	attributor_find_process(a, getpid());
	start = read_cpu_time();
	for (s32 i = 0; i < LIVES; i++) {
		s32 pid = INT32_MAX - 1 - i % 100000;

		report_event(a, TASK_FORK, pid, 0);
		report_event(a, TASK_COMM, pid, 0);
		for (u64 k = 0; k < LIFE_MAPPINGS; k++)
			report_event(a, TASK_MMAP, pid, 0x7f0000000000 + k * 0x200000);
		report_event(a, TASK_EXIT, pid, 0);
	}
	start = read_cpu_time() - start;
	printf("lives: %.2f us each, %.0f ns an event\n", start / LIVES * 1e6,
	       start / LIVES / (LIFE_MAPPINGS + 3) * 1e9);
	attributor_free(a);
}

int main(void)
{
	static const u32 sizes[] = { 16, 1000, 32768 };
	u64 sum = 0;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct attributor *a = make_machine(sizes[i]);
		struct attributor_stats st;
		double tasks = measure_task_lookups(a, sizes[i], &sum);
		double places = measure_location_lookups(a, sizes[i], &sum);

		attributor_get_stats(a, &st);
		printf("%6u threads: task %7.1f M/s, task and place %6.1f M/s, %" PRIu64
		       " KiB, %" PRIu64 " evicted\n",
		       sizes[i], tasks, places, st.memory >> 10, st.threads_evicted);
		attributor_free(a);
	}
	measure_proc_reads();
	measure_forks();
	return sum == 1;
}
