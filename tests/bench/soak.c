// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Check that memory stays constant while records of many locations, processes and containers are
 * attributed and counted as in the daemon. The CPU time is compared with that of a plain sum over
 * the same bytes. usage: soak [RECORDS [PCS]]
 *
 * Task events start and end processes in 10^4 containers, 4096 at a time. The exit status is 1 if
 * the resident set grows after the first tenth. The speed includes attribution and profile, and not
 * the generation of records and reports.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "profile/profile-read.h"
#include "records.h"
#include "tasks/task-event.h"

#define WINDOW	   1024
#define POOL	   (16 * WINDOW)
#define ALIVE	   4096
#define CONTAINERS 10000
#define LIFE	   10 /* number of windows between two exits */
#define FIRST_PID  1000
#define PROGRAMS   100
#define PIDS	   100000
#define TICK_NS	   1000000
#define REPORTS	   10
#define SUMS	   8 /* number of plain sums for each report; the fastest is used */
#define MARGIN	   (8ULL << 20)
#define CELL_BYTES (32ULL << 20)
#define CODE	   0x400000

static u64 random_state = 0x9e3779b97f4a7c15ULL;

static u32 draw_below(u32 below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (u32)((random_state >> 32) * below >> 32);
}

static u64 read_resident_bytes(void)
{
	unsigned long long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (!f || fscanf(f, "%*u %llu", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return pages * (u64)sysconf(_SC_PAGESIZE);
}

static double read_cpu_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* The PID of the @n-th process. */
static s32 get_pid_of_process(u32 n)
{
	return (s32)(FIRST_PID + n % PIDS);
}

static void add_task(struct attributor *a, u8 type, u32 n, u64 time_ns)
{
	char name[64];
	struct task_event event = {
		.type = type,
		.pid = get_pid_of_process(n),
		.tid = get_pid_of_process(n),
		.parent_pid = 1,
		.time_ns = time_ns,
		.name = name,
		.exec = true,
		.last = true,
		.size = 1,
		.cgroup = 100 + n % CONTAINERS,
	};

	if (type == TASK_ATTACH)
		snprintf(name, sizeof(name), "/system.slice/soak-%u.service", n % CONTAINERS);
	else
		snprintf(name, sizeof(name), "soak-%u", n);
	attributor_apply_event(a, &event);
}

/* Report that process @n maps the code of its program, which has @pcs / PROGRAMS instructions. */
static void add_mapping(struct attributor *a, u64 pcs, u32 n, u64 time_ns)
{
	char name[64];
	const struct task_event event = {
		.type = TASK_MMAP,
		.pid = get_pid_of_process(n),
		.tid = get_pid_of_process(n),
		.time_ns = time_ns,
		.name = name,
		.start = CODE + 4 * (n % PROGRAMS * (pcs / PROGRAMS)),
		.size = 4 * (pcs / PROGRAMS),
		.inode = n % PROGRAMS + 1,
	};

	snprintf(name, sizeof(name), "/opt/soak/program%u", n % PROGRAMS);
	attributor_apply_event(a, &event);
}

static void report_new_process(struct attributor *a, u64 pcs, u32 n, u64 time_ns)
{
	add_task(a, TASK_FORK, n, time_ns);
	add_task(a, TASK_COMM, n, time_ns);
	add_mapping(a, pcs, n, time_ns);
	add_task(a, TASK_ATTACH, n, time_ns);
}

/**
 * struct soak_run - the state of a run
 * @busy: seconds of CPU time of attribution and profile
 * @sum: result of the plain sums; printed, so that the compiler does not remove them
 * @sum_seconds: the shortest time of one sum over the pool
 */
struct soak_run {
	struct attributor *attributor;
	struct profile *profile;
	u8 *pool;
	u8 *window;
	u64 pcs;
	u32 born;
	u64 now;
	double busy;
	u64 sum;
	double sum_seconds;
};

/* Measure a plain sum by CPU time, because elapsed time would include other programs. */
static void measure_plain_sum(struct soak_run *s)
{
	size_t len = (size_t)POOL * RECORDS_STRIDE;
	double began = read_cpu_seconds(), took;
	u64 word;

	for (size_t i = 0; i < len; i += sizeof(word)) {
		memcpy(&word, s->pool + i, sizeof(word));
		s->sum += word;
	}
	took = read_cpu_seconds() - began;
	if (!s->sum_seconds || took < s->sum_seconds)
		s->sum_seconds = took;
}

/*
 * Return the PC of an instruction of process @n, which executes one of PROGRAMS. The first
 * instructions of a program are the most frequent.
 */
static u32 draw_pc_of_process(const struct soak_run *s, u32 n)
{
	u32 size = (u32)(s->pcs / PROGRAMS), at = draw_below(size);

	return CODE + 4 * (n % PROGRAMS * size + draw_below(draw_below(at + 1) + 1));
}

/* Make a window: a CPU runs a few tasks in it, each at any of its instructions. */
static struct source_window make_window(struct soak_run *s, u64 number)
{
	const struct source_window window = {
		.data = s->window,
		.len = WINDOW * RECORDS_STRIDE,
		.tid = -1,
		.align = RECORDS_STRIDE,
		.midr = 0x410fd0c0,
		.interval = 1024,
		.cpu = (u32)(number % 192),
		.start_ns = s->now,
		.end_ns = s->now + TICK_NS,
	};
	u32 first = s->born - 1 - draw_below(ALIVE - 8);

	memcpy(s->window, s->pool + (number % (POOL / WINDOW)) * window.len, window.len);
	for (u32 i = 0; i < WINDOW; i++) {
		u8 *record = s->window + (size_t)i * RECORDS_STRIDE;

		spe_put_le32(record + RECORDS_AT_PC, draw_pc_of_process(s, first - (i >> 7)));
		spe_put_le32(record + RECORDS_AT_CONTEXT,
			     (u32)get_pid_of_process(first - (i >> 7)));
	}
	s->now += TICK_NS;
	return window;
}

/* Do what a worker does: apply the task events before a window, then count its records. */
static void run_window(struct soak_run *s, u64 number)
{
	const struct source_window window = make_window(s, number);
	double began = read_cpu_seconds();

	profile_add_window(s->profile, &window);
	if (number % LIFE == 0) {
		add_task(s->attributor, TASK_EXIT, s->born - ALIVE, s->now);
		report_new_process(s->attributor, s->pcs, s->born++, s->now);
	}
	if (number % 4096 == 0)
		attributor_refresh(s->attributor);
	s->busy += read_cpu_seconds() - began;
}

static void report_soak(struct soak_run *s, u64 records)
{
	struct attributor_stats stats;
	double per_sum;
	struct view view;

	for (u32 i = 0; i < SUMS; i++)
		measure_plain_sum(s);
	per_sum = s->sum_seconds / POOL * (double)records / s->busy;

	attributor_get_stats(s->attributor, &stats);
	if (profile_create_view(s->profile, NULL, false, VIEW_CONTAINER, VIEW_SORT_SAMPLES, 1,
				&view) < 0)
		exit(EXIT_FAILURE);
	printf("%6.0f M records, %5.1f M/s of CPU, %4.1f %% of a plain sum's, %6" PRIu64
	       " KiB resident; %u processes started, %" PRIu64
	       " containers evicted, %.1f %% of samples evicted, %" PRIu64 " unattributed\n",
	       (double)records / 1e6, (double)records / s->busy / 1e6, 100 * per_sum,
	       read_resident_bytes() >> 10, s->born, stats.containers_evicted,
	       100.0 * (double)view.header.evicted / (double)records, view.header.unattributed);
	fflush(stdout);
	view_clear(&view);
}

int main(int argc, char **argv)
{
	u64 wanted = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000000, windows, early = 0;
	const struct attributor_config attribution = { .live = true };
	const struct profile_config config = { .cell_bytes = CELL_BYTES,
					       .programs = 4096,
					       .history = true };
	struct soak_run s = { .pcs = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000, .now = 1 };
	static struct record_generator maker;

	windows = wanted / WINDOW + 1;
	s.pool = aligned_alloc(64, (size_t)POOL * RECORDS_STRIDE);
	s.window = aligned_alloc(64, WINDOW * RECORDS_STRIDE);
	if (s.pcs < PROGRAMS || s.pcs > UINT32_MAX || !s.pool || !s.window ||
	    attributor_new(&attribution, &s.attributor) < 0 ||
	    profile_new(&config, s.attributor, &s.profile) < 0)
		return EXIT_FAILURE;
	record_generator_init(&maker, 42);
	record_generator_fill(&maker, s.pool, POOL);
	attributor_apply_event(s.attributor, &(struct task_event){ .type = TASK_SEEDED,
								    .name = "",
								    .size = TASK_REPORTS_MAPS |
									    TASK_REPORTS_CGROUPS });
	while (s.born < ALIVE)
		report_new_process(s.attributor, s.pcs, s.born++, s.now);
	for (u64 n = 0; n < windows; n++) {
		run_window(&s, n);
		if (n && n % (windows / REPORTS + 1) == 0)
			report_soak(&s, n * WINDOW);
		if (n == windows / 10)
			early = read_resident_bytes();
	}
	report_soak(&s, windows * WINDOW);
	printf("resident: %" PRIu64 " KiB after a tenth, %" PRIu64 " at the end\n", early >> 10,
	       read_resident_bytes() >> 10);
	return read_resident_bytes() > early + MARGIN ? EXIT_FAILURE : EXIT_SUCCESS;
}
