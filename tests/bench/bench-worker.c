// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Measure the CPU time that the daemon's worker needs for a million samples a second. A fake source
 * delivers them every ten milliseconds, with TIDs of 64 processes that this program starts.
 * usage: bench-worker [MILLISECONDS] [FILTER ...]
 *        bench-worker --history MILLISECONDS DATABASE
 *
 * Each FILTER, which may be "", adds a session on the same source. The exit status is 1 if the
 * session of the machine misses records. --history measures what one minute of the history on disk
 * costs.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "engine/worker.h"
#include "history-store/collect.h"
#include "history-store/store.h"
#include "records.h"
#include "util/time.h"

#define RATE	      1000000
#define TICK_NS	      10000000ULL
#define WINDOW	      1024 /* number of records of a window */
#define POOL	      (512 * WINDOW)
#define BURST	      (32 * WINDOW) /* maximum records at once: a slow build must end, too */
#define MILLISECONDS  5000
#define SUMS	      8 /* number of plain sums; the fastest is used */
#define MINUTES	      3 /* minutes of the history that are written; the cheapest is used */
#define HISTORY_LIMIT (256ULL << 20) /* size of the history in bytes, the default of the daemon */

/*
 * @now_ns, @tick_ns: end of the last window, and length of the next ones, ns; 0: windows have no
 * times
 */
struct records_feed {
	struct source source;
	int timer;
	u64 now_ns;
	u64 tick_ns;
	u8 *pool;
	u32 next;
	u64 due; /* number of records that were not delivered yet */
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
	shared_source->due += ticks * TICK_NS * RATE / 1000000000;
	if (shared_source->due > BURST)
		shared_source->due = BURST;
	window.start_ns = shared_source->now_ns;
	shared_source->now_ns += shared_source->tick_ns;
	window.end_ns = shared_source->now_ns;
	for (; shared_source->due >= WINDOW; shared_source->due -= WINDOW) {
		window.data = shared_source->pool + (size_t)shared_source->next * RECORDS_STRIDE;
		shared_source->next = (shared_source->next + WINDOW) % POOL;
		__atomic_fetch_add(&shared_source->records, WINDOW, __ATOMIC_RELAXED);
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

/* Start a process that does nothing, has the mappings of this one, and ends with it. */
static u32 start_process(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		exit(EXIT_FAILURE);
	if (pid)
		return (u32)pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent)
		pause();
	_exit(EXIT_SUCCESS);
}

/* Return where the code of the C library starts in this process and in those that it started. */
static u64 find_code(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long long start = 0, end;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps)) {
		if (strstr(line, " r-xp ") && strstr(line, "/libc") &&
		    sscanf(line, "%llx-%llx", &start, &end) == 2 && end - start >= 4 * RECORDS_PCS)
			break;
		start = 0;
	}
	if (maps)
		fclose(maps);
	if (!start) {
		fprintf(stderr, "bench-worker: found no C library in /proc/self/maps\n");
		exit(EXIT_FAILURE);
	}
	return start;
}

/* Make records of RECORDS_TIDS processes that execute RECORDS_PCS locations of the C library. */
static u8 *make_pool(u32 *ret_tids)
{
	u8 *pool = aligned_alloc(64, (size_t)POOL * RECORDS_STRIDE);
	static struct record_generator maker;
	u64 code = find_code();

	if (!pool)
		exit(EXIT_FAILURE);
	for (u32 i = 0; i < RECORDS_TIDS; i++)
		ret_tids[i] = start_process();
	record_generator_init(&maker, 42);
	record_generator_fill(&maker, pool, POOL);
	for (size_t i = 0; i < POOL; i++) {
		u8 *pc = pool + i * RECORDS_STRIDE + RECORDS_AT_PC;
		u8 *context = pool + i * RECORDS_STRIDE + RECORDS_AT_CONTEXT;
		u64 to = code + spe_get_le32(pc) - RECORDS_PC;

		spe_put_le32(pc, (u32)to);
		pc[4] = (u8)(to >> 32);
		pc[5] = (u8)(to >> 40);
		spe_put_le32(context, ret_tids[spe_get_le32(context) % RECORDS_TIDS]);
	}
	return pool;
}

static double read_clock_seconds(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static int add_session(struct worker *worker, struct shared_source *shared_source, const char *name,
		       const char *filter)
{
	struct session_config session = { .name = name,
					  .shared_source = shared_source_get(shared_source),
					  .shared = strcmp(name, SESSION_MACHINE) != 0 };
	struct filter_error error;
	int r = session_rule_new(NULL, filter, NULL, &session.rule, &error);

	if (r >= 0)
		r = worker_call(worker, worker_add_session, &session);
	return r < 0 ? r : worker_call(worker, worker_start_session, (void *)name);
}

/* Return the nanoseconds of CPU time to add up the bytes of one record. */
static double measure_sum_ns(const u8 *pool)
{
	const size_t len = (size_t)POOL * RECORDS_STRIDE;
	double best = 1e9;

	for (u32 n = 0; n < SUMS; n++) {
		double took = read_clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
		u64 sum = 0, word;

		for (size_t i = 0; i < len; i += sizeof(word)) {
			memcpy(&word, pool + i, sizeof(word));
			sum += word;
		}
		/* The compiler must not omit the sum. */
		__asm__ volatile("" : : "r"(sum));
		took = read_clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - took;
		best = took < best ? took : best;
	}
	return 1e9 * best / POOL;
}

/* Return whether the session of the machine counted all @records. */
static bool has_all_records(struct worker *worker, u64 records)
{
	struct worker_view_request view = { .span = VIEW_SPAN_START, .limit = 1 };
	bool all;

	if (worker_call(worker, worker_make_view, &view) < 0)
		return false;
	all = view.view.header.records == records;
	view_clear(&view.view);
	if (!all)
		fprintf(stderr, "bench-worker: the machine's session missed records\n");
	return all;
}

static void print_values(const struct records_feed *feed, double cpu, double wall)
{
	double sample_ns = 1e9 * cpu / (double)feed->records;
	struct rusage usage;
	long resident;

	getrusage(RUSAGE_SELF, &usage);
	resident = (usage.ru_maxrss >> 10) - (POOL * RECORDS_STRIDE >> 20);
	printf("worker: %.2f M samples/s for %.1f s, %.2f %% of a core, %.1f ns a sample; "
	       "resident set %ld MiB, without the records\n",
	       (double)feed->records / wall / 1e6, wall, 100 * cpu / wall, sample_ns, resident);
	printf("value sample_sums %.2f\n", sample_ns / measure_sum_ns(feed->pool));
	printf("value sample_ns %.2f\n", sample_ns);
	printf("value resident_mib %ld\n", resident);
}

/* Return the number of bytes that this process has written to files. */
static u64 count_written_bytes(void)
{
	FILE *io = fopen("/proc/self/io", "re");
	unsigned long long bytes = 0;
	char line[64];

	while (io && fgets(line, sizeof(line), io))
		if (sscanf(line, "wchar: %llu", &bytes) == 1)
			break;
	if (io)
		fclose(io);
	return bytes;
}

/**
 * struct minute_cost - what a minute of the history costs
 * @cpu: CPU time to collect and write it, seconds
 * @bytes: bytes that were written to the database and its log
 * @locations: number of stored locations
 */
struct minute_cost {
	double cpu;
	u64 bytes;
	u32 locations;
};

/**
 * struct timed_collection - a call of history_collect_minute()
 * @minute: the collected minute
 * @cpu: CPU time of the call, seconds
 */
struct timed_collection {
	struct minute_counters minute;
	double cpu;
};

/* Collect a minute on the worker's thread. Count samples that wait first: they are no cost of the history. */
static int collect_timed(struct worker_state *state, void *arg)
{
	struct timed_collection *collection = arg;
	int r;

	worker_drain_session(state, worker_find_session(state, NULL));
	collection->cpu = read_clock_seconds(CLOCK_THREAD_CPUTIME_ID);
	r = history_collect_minute(state, &collection->minute);
	collection->cpu = read_clock_seconds(CLOCK_THREAD_CPUTIME_ID) - collection->cpu;
	return r;
}

/* Sample, then collect and write a minute, as the thread of the history does. */
static int measure_minute(struct worker *worker, struct history_store *store, u32 number,
			  unsigned int milliseconds, struct minute_cost *ret_cost)
{
	struct timed_collection collection = { .cpu = 0 };
	struct minute_counters *minute = &collection.minute;
	struct minute_cost cost;
	int r;

	usleep(1000 * milliseconds);
	r = worker_call_readonly(worker, collect_timed, &collection);
	minute->length_us = 60000000;
	minute->start_us = 1000000000000000 + number * minute->length_us;
	minute->end_us = minute->start_us + minute->length_us;
	cost.bytes = count_written_bytes();
	cost.cpu = read_clock_seconds(CLOCK_THREAD_CPUTIME_ID);
	if (r >= 0)
		r = history_store_write(store, minute);
	cost.cpu = read_clock_seconds(CLOCK_THREAD_CPUTIME_ID) - cost.cpu + collection.cpu;
	cost.bytes = count_written_bytes() - cost.bytes;
	cost.locations = minute->locations;
	minute_deinit(minute);
	*ret_cost = cost;
	return r;
}

/* Measure the history. The first minute creates the database and does not count. */
static int measure_history(struct worker *worker, unsigned int milliseconds, const char *path)
{
	const struct history_store_config config = { .path = path, .bytes = HISTORY_LIMIT };
	struct minute_cost best = { .cpu = 1e9 }, cost = { 0 };
	struct history_store *store;
	int r = worker_call(worker, history_start_minutes, NULL);

	if (r >= 0)
		r = history_store_open(&config, &store);
	if (r < 0)
		return r;
	for (u32 i = 0; i <= MINUTES && r >= 0; i++) {
		r = measure_minute(worker, store, i, milliseconds, &cost);
		if (i && cost.cpu < best.cpu)
			best = cost;
	}
	history_store_free(store);
	worker_call(worker, worker_stop_session, NULL);
	if (r >= 0 && !best.locations)
		r = -ENODATA;
	if (r < 0)
		return r;
	printf("history: %.1f ms and %llu KiB a minute, for %u locations\n", 1e3 * best.cpu,
	       (unsigned long long)(best.bytes >> 10), best.locations);
	printf("value history_ms %.3f\n", 1e3 * best.cpu);
	printf("value history_kib %llu\n", (unsigned long long)(best.bytes >> 10));
	return 0;
}

/* Measure sampling with the machine's session and @argc - 2 others. Return an exit status. */
static int measure_sampling(struct worker *worker, const struct records_feed *feed,
			    unsigned int milliseconds, int argc)
{
	double cpu = read_clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
	double wall = read_clock_seconds(CLOCK_MONOTONIC);
	char name[32];

	do
		usleep(1000 * milliseconds);
	while (!__atomic_load_n(&feed->records, __ATOMIC_RELAXED));
	/* Stop the machine's session last, so that it counts every record of the source. */
	for (int i = 2; i < argc; i++) {
		snprintf(name, sizeof(name), "further%d", i);
		worker_call(worker, worker_stop_session, name);
	}
	worker_call(worker, worker_stop_session, NULL);
	cpu = read_clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	wall = read_clock_seconds(CLOCK_MONOTONIC) - wall;
	if (!has_all_records(worker, feed->records))
		return EXIT_FAILURE;
	print_values(feed, cpu, wall);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	bool history = argc == 4 && !strcmp(argv[1], "--history");
	const char *time = argc > 1 ? argv[1 + history] : NULL;
	unsigned int milliseconds = time ? (unsigned int)atoi(time) : MILLISECONDS;
	const struct task_events_status task_status = { 0 };
	const struct source_config sampling = { .interval_ns = 1000 };
	static struct records_feed shared_source;
	struct shared_source *shared;
	struct worker *worker;
	char name[32];
	u32 tids[RECORDS_TIDS];
	int status;

	shared_source.source = (struct source){
		.ops = &feed_ops, .method = "timer", .cpus = 1, .backend = BACKEND_EMULATED
	};
	shared_source.timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	shared_source.pool = make_pool(tids);
	/* Each minute of the history takes @milliseconds. */
	if (history) {
		shared_source.now_ns = time_now_ns();
		shared_source.tick_ns =
			60 * NS_PER_SECOND / (milliseconds / (TICK_NS / 1000000) + 1);
	}
	if (shared_source.timer < 0 ||
	    shared_source_new(&shared_source.source, &sampling, &shared) < 0 ||
	    worker_new(NULL, NULL, &task_status, &worker) < 0 ||
	    add_session(worker, shared, SESSION_MACHINE, NULL) < 0)
		return EXIT_FAILURE;
	for (int i = 2; i < argc && !history; i++) {
		snprintf(name, sizeof(name), "further%d", i);
		if (add_session(worker, shared, name, argv[i]) < 0)
			return EXIT_FAILURE;
	}
	if (history)
		status = measure_history(worker, milliseconds, argv[3]) < 0 ? EXIT_FAILURE :
									      EXIT_SUCCESS;
	else
		status = measure_sampling(worker, &shared_source, milliseconds, argc);
	worker_free(worker);
	shared_source_put(shared);
	for (u32 i = 0; i < RECORDS_TIDS; i++)
		kill((pid_t)tids[i], SIGKILL);
	free(shared_source.pool);
	return status;
}
