// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The cost of a million samples a second for the daemon: its worker, with a source that delivers
 * that many, of tasks of this machine, every ten milliseconds.
 * usage: bench-worker [SECONDS] [FILTER ...]
 *
 * Each FILTER, which may be "", adds a session on the same source.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "engine/worker.h"
#include "records.h"

#define RATE	1000000
#define TICK_NS 10000000ULL
#define WINDOW	1024 /* records: what an SPU fills at once */
#define POOL	(512 * WINDOW)
#define CONTEXT 10 /* records that an SPU writes at once */
#define SECONDS 5

struct records_feed {
	struct source source;
	int timer;
	u8 *pool;
	u32 next;
	u64 due; /* offset of the Context payload in a record */
	u64 records;
};

static int feed_start(struct source *source)
{
	struct records_feed *shared_source = (struct records_feed *)source;
	const struct itimerspec every = { .it_value.tv_nsec = TICK_NS,
					  .it_interval.tv_nsec = TICK_NS };

	return timerfd_settime(shared_source->timer, 0, &every, NULL) < 0 ? -errno : 0;
}

static int feed_fd(struct source *source)
{
	return ((struct records_feed *)source)->timer;
}

static int feed_drain(struct source *source, const struct source_sink *sink)
{
	struct records_feed *shared_source = (struct records_feed *)source;
	struct source_window window = {
		.len = WINDOW * RECORDS_STRIDE,
		.tid = -1,
		.align = RECORDS_STRIDE,
		.midr = 0x410fd0c0,
		.backend = BACKEND_EMULATED,
		.written = WINDOW,
	};
	u64 ticks;

	if (read(shared_source->timer, &ticks, sizeof(ticks)) != sizeof(ticks))
		return 0;
	for (shared_source->due += ticks * TICK_NS * RATE / 1000000000;
	     shared_source->due >= WINDOW; shared_source->due -= WINDOW) {
		window.data = shared_source->pool + (size_t)shared_source->next * RECORDS_STRIDE;
		shared_source->next = (shared_source->next + WINDOW) % POOL;
		shared_source->records += WINDOW;
		sink->window(sink->ctx, &window);
	}
	return 0;
}

static void feed_stop(struct source *source)
{
	(void)source;
}

static void feed_free(struct source *source)
{
	close(((struct records_feed *)source)->timer);
}

static const struct source_ops feed_ops = {
	.name = "bench",
	.start = feed_start,
	.fd = feed_fd,
	.drain = feed_drain,
	.stop = feed_stop,
	.free = feed_free,
};

/* records that were not delivered yet */
static u32 find_tasks(u32 *tids, u32 room)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	u32 n = 0;
	int pid;

	while (proc && n < room && (entry = readdir(proc))) {
		pid = atoi(entry->d_name);
		if (pid > 0)
			tids[n++] = (u32)pid;
	}
	if (proc)
		closedir(proc);
	return n;
}

static u8 *make_pool(void)
{
	u8 *pool = aligned_alloc(64, (size_t)POOL * RECORDS_STRIDE), *context;
	static struct records maker;
	u32 tids[RECORDS_TIDS], n = find_tasks(tids, RECORDS_TIDS);

	if (!pool || !n)
		exit(EXIT_FAILURE);
	records_init(&maker, 42);
	records_fill(&maker, pool, POOL);
	for (size_t i = 0; i < POOL; i++) {
		context = pool + i * RECORDS_STRIDE + CONTEXT;
		spe_put_le32(context, tids[spe_get_le32(context) % n]);
	}
	return pool;
}

static double seconds_of(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static int add_session(struct worker *worker, struct shared_source *shared_source,
		       const char *name, const char *filter)
{
	struct session_config session = { .name = name,
					  .shared_source = shared_source_get(shared_source),
					  .shared = strcmp(name, SESSION_MACHINE) != 0 };
	struct filter_error error;
	int r = session_rule_new(NULL, filter, NULL, &session.rule, &error);

	if (r >= 0)
		r = worker_call(worker, worker_add, &session);
	return r < 0 ? r : worker_call(worker, worker_start, (void *)name);
}

int main(int argc, char **argv)
{
	unsigned int seconds = argc > 1 ? (unsigned int)atoi(argv[1]) : SECONDS;
	const struct task_events_status told = { 0 };
	const struct source_config sampling = { .interval_ns = 1000 };
	static struct records_feed shared_source;
	struct shared_source *shared;
	struct worker *worker;
	char name[32];
	struct rusage usage;
	double cpu, wall;

	shared_source.source = (struct source){
		.ops = &feed_ops, .method = "timer", .cpus = 1, .backend = BACKEND_EMULATED
	};
	shared_source.timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	shared_source.pool = make_pool();
	if (shared_source.timer < 0 ||
	    shared_source_new(&shared_source.source, &sampling, &shared) < 0 ||
	    worker_new(NULL, NULL, &told, &worker) < 0 ||
	    add_session(worker, shared, SESSION_MACHINE, NULL) < 0)
		return EXIT_FAILURE;
	for (int i = 2; i < argc; i++) {
		snprintf(name, sizeof(name), "further%d", i);
		if (add_session(worker, shared, name, argv[i]) < 0)
			return EXIT_FAILURE;
	}
	cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
	wall = seconds_of(CLOCK_MONOTONIC);
	sleep(seconds);
	worker_call(worker, worker_stop, NULL);
	cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	wall = seconds_of(CLOCK_MONOTONIC) - wall;
	worker_free(worker);
	shared_source_put(shared);
	getrusage(RUSAGE_SELF, &usage);
	printf("worker: %.2f M samples/s for %.1f s, %.2f %% of a core, %.1f ns a sample; "
	       "resident set %ld MiB, of which records %u MiB\n",
	       (double)shared_source.records / wall / 1e6, wall, 100 * cpu / wall,
	       1e9 * cpu / (double)shared_source.records, usage.ru_maxrss >> 10,
	       POOL * RECORDS_STRIDE >> 20);
	free(shared_source.pool);
	return EXIT_SUCCESS;
}
