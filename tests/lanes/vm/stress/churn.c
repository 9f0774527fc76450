// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Create and close sessions, half of them of cgroups, while everything changes: CPUs go offline and
 * online, cgroups with tasks are created, changed and removed, filters, sets of cgroups and limits
 * change, readers stall, and processes with snapshots are killed. Each worker is a process that is
 * killed at a random time, with io_uring commands in flight. If DIRECTORY has the modules,
 * sometimes all workers are killed at once, and the modules are unloaded as soon as possible.
 * Afterwards no CPU may be busy. usage: churn SECONDS [SEED [DIRECTORY]]
 *
 * The program needs root, both modules loaded, two CPUs and cgroup v2.
 */
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/speprof.h>

#define GROUPS	   4
#define WORKERS	   3
#define MOVED	   3
#define GROUP_PATH "/sys/fs/cgroup/speprof-churn-%u"

static struct churn_totals {
	unsigned long long sessions;
	unsigned long long records;
	unsigned long long kills;
	unsigned long long offline;
	unsigned long long groups;
	unsigned long long of_cgroups;
	unsigned long long sets;
	unsigned long long unloads;
} * totals;

static void add_to_total(unsigned long long *total, unsigned long long more)
{
	__atomic_fetch_add(total, more, __ATOMIC_RELAXED);
}

static void report_failure(const char *what)
{
	fprintf(stderr, "churn: %s: %s\n", what, strerror(errno));
	_exit(1);
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static uint64_t draw_random(uint64_t *random)
{
	uint64_t z = *random += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static void pause_ms(uint64_t ms)
{
	nanosleep(&(struct timespec){ (time_t)(ms / 1000), (long)(ms % 1000 * 1000000) }, NULL);
}

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok;

	if (fd < 0)
		return false;
	ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return ok;
}

/* ---- Changes of CPUs and cgroups ------------------------------------------------ */

static bool set_cpu_online(unsigned int cpu, bool on)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", cpu);
	return write_file(path, on ? "1" : "0");
}

/* Take one CPU after another, except CPU 0, offline and online. */
static void change_cpus(uint64_t *random)
{
	unsigned int cpus = (unsigned int)sysconf(_SC_NPROCESSORS_CONF);

	for (;;) {
		unsigned int cpu = 1 + (unsigned int)(draw_random(random) % (cpus - 1));

		if (set_cpu_online(cpu, false))
			add_to_total(&totals->offline, 1);
		pause_ms(20 + draw_random(random) % 200);
		set_cpu_online(cpu, true);
		pause_ms(20 + draw_random(random) % 200);
	}
}

/* Start a task: kind 0 spins, 1 sleeps often, 2 creates children. */
static pid_t start_task(unsigned int kind)
{
	pid_t child = fork();

	if (child)
		return child;
	for (volatile unsigned long n = 0;; n++) {
		if (kind == 1 && n % 20000 == 0)
			pause_ms(1);
		if (kind == 2 && n % 200000 == 0) {
			pid_t grandchild = fork();

			if (!grandchild)
				_exit(0);
			waitpid(grandchild, NULL, 0);
		}
	}
}

/* Create and remove groups, and move tasks between them. */
static void change_groups(uint64_t *random)
{
	char path[64], procs[80], text[16];
	pid_t tasks[MOVED];

	for (unsigned int i = 0; i < MOVED; i++)
		tasks[i] = start_task(i);
	for (;;) {
		unsigned int group = (unsigned int)(draw_random(random) % GROUPS);

		snprintf(path, sizeof(path), GROUP_PATH, group);
		snprintf(procs, sizeof(procs), "%s/cgroup.procs", path);
		if (!mkdir(path, 0755))
			add_to_total(&totals->groups, 1);
		snprintf(text, sizeof(text), "%d", tasks[draw_random(random) % MOVED]);
		write_file(procs, text);
		pause_ms(draw_random(random) % 30);
		snprintf(path, sizeof(path), GROUP_PATH,
			 (unsigned int)(draw_random(random) % GROUPS));
		rmdir(path);
	}
}

static void change_limits(uint64_t *random)
{
	static const char *const paths[] = {
		"/sys/module/speprof/parameters/throttle_interrupts",
		"/sys/module/speprof/parameters/throttle_bytes",
		"/sys/module/speprof/parameters/unread_ms",
	};
	char text[32];

	for (;;) {
		snprintf(text, sizeof(text), "%u",
			 draw_random(random) % 2 ? 0 :
						   (unsigned int)(draw_random(random) % 500000));
		write_file(paths[draw_random(random) % 3], text);
		snprintf(text, sizeof(text), "%u 36 %u", (unsigned int)(draw_random(random) % 2),
			 (unsigned int)(draw_random(random) % 64));
		write_file("/sys/module/speprof_emu/parameters/inject", text);
		pause_ms(draw_random(random) % 50);
	}
}

/* ---- Workers ------------------------------------------------------------------------ */

struct churn_worker {
	uint64_t random;
	int session;
	int ring;
	bool flight;
	struct speprof_control *control;
	struct io_uring uring;
};

static struct speprof_sampling draw_sampling(uint64_t *random)
{
	return (struct speprof_sampling){
		.size = sizeof(struct speprof_sampling),
		.flags =
			SPEPROF_SAMPLE_USER | (draw_random(random) % 2 ? SPEPROF_SAMPLE_KERNEL : 0),
		.interval = 50000 + draw_random(random) % 200000,
		.collect = SPEPROF_COLLECT_TIMESTAMP,
		.min_latency = draw_random(random) % 4 ? 0 : (uint32_t)(draw_random(random) % 100),
	};
}

/* Open up to two of the present groups. Return: their number. */
static uint32_t open_groups(uint64_t *random, int32_t *ret_fds)
{
	uint32_t count = 0;
	char path[64];

	for (uint64_t first = draw_random(random), n = draw_random(random) % 3; n; n--) {
		snprintf(path, sizeof(path), GROUP_PATH, (unsigned int)((first + n) % GROUPS));
		ret_fds[count] = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		count += ret_fds[count] >= 0;
	}
	return count;
}

static void close_groups(const int32_t *fds, uint32_t count)
{
	while (count)
		close(fds[--count]);
}

/* Change the cgroups of the session, which may be refused because of another session. */
static void worker_change_cgroups(struct churn_worker *worker)
{
	int32_t fds[2];
	struct speprof_cgroups change = {
		.size = sizeof(change),
		.op = SPEPROF_CGROUPS_ADD + (uint32_t)(draw_random(&worker->random) % 3),
		.fds = (uintptr_t)fds,
		.count = open_groups(&worker->random, fds),
	};

	if (!change.count)
		change.fds = 0;
	if (!ioctl(worker->session, SPEPROF_SESSION_CGROUPS, &change))
		add_to_total(&totals->sets, 1);
	close_groups(fds, change.count);
}

/* Open a session. The error is ENODEV if a cgroup was removed in the meantime. */
static void worker_open_session(struct churn_worker *worker, struct speprof_session_config *config)
{
	int device = open(SPEPROF_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	int32_t fds[2];

	if (draw_random(&worker->random) % 2) {
		config->flags = SPEPROF_SESSION_OF_CGROUPS;
		config->rights |= SPEPROF_RIGHT_CGROUPS;
		config->cgroups_count = open_groups(&worker->random, fds);
		config->cgroups = config->cgroups_count ? (uintptr_t)fds : 0;
		add_to_total(&totals->of_cgroups, 1);
	}
	worker->session = ioctl(device, SPEPROF_SESSION_NEW, config);
	close_groups(fds, config->cgroups_count);
	if (worker->session < 0 && errno == ENODEV && config->cgroups_count) {
		config->cgroups_count = 0;
		config->cgroups = 0;
		worker->session = ioctl(device, SPEPROF_SESSION_NEW, config);
	}
	if (worker->session < 0)
		report_failure("SESSION_NEW");
	close(device);
}

static void worker_open_all(struct churn_worker *worker)
{
	struct speprof_session_config config = {
		.size = sizeof(config),
		.rights = SPEPROF_RIGHT_KERNEL,
		.ring_size = 65536ULL << draw_random(&worker->random) % 3,
		.event_slots = 64,
		.max_latency_ms = (uint32_t)(draw_random(&worker->random) % 30),
		.watermark = 4096 << draw_random(&worker->random) % 3,
	};
	struct speprof_ring_open open_ring = {
		.size = sizeof(open_ring),
		.cpu = (uint32_t)(draw_random(&worker->random) % 2),
		.flags = SPEPROF_RING_NONBLOCK,
	};
	struct speprof_sampling sampling = draw_sampling(&worker->random);

	worker->flight = draw_random(&worker->random) % 2;
	config.mode = worker->flight ? SPEPROF_MODE_FLIGHT_RECORDER : SPEPROF_MODE_STREAM;
	worker_open_session(worker, &config);
	if (ioctl(worker->session, SPEPROF_SESSION_SAMPLE, &sampling))
		report_failure("SAMPLE");
	worker->ring = ioctl(worker->session, SPEPROF_RING_OPEN, &open_ring);
	/* The CPU was offline when the modules were loaded, and is online since SESSION_NEW. */
	if (worker->ring < 0 && errno == ENOENT) {
		open_ring.cpu = 0;
		worker->ring = ioctl(worker->session, SPEPROF_RING_OPEN, &open_ring);
	}
	if (worker->ring < 0)
		report_failure("RING_OPEN");
	worker->control = mmap(NULL, open_ring.control_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			       worker->ring, SPEPROF_MMAP_CONTROL);
	if (worker->control == MAP_FAILED)
		report_failure("mmap");
	add_to_total(&totals->sessions, 1);
}

static void worker_close(struct churn_worker *worker)
{
	struct speprof_ring_stats stats = { .size = sizeof(stats) };

	if (ioctl(worker->session, SPEPROF_SESSION_STOP, 0) ||
	    ioctl(worker->ring, SPEPROF_RING_STATS, &stats))
		report_failure("STATS");
	if (stats.head != stats.data_bytes + stats.header_bytes + stats.skip_bytes ||
	    stats.overwritten_bytes + stats.claimed_bytes > stats.data_bytes ||
	    stats.state != SPEPROF_RING_IDLE)
		report_failure("the ledgers do not close");
	add_to_total(&totals->records, stats.records);
	munmap(worker->control, sizeof(*worker->control));
	close(worker->session);
	close(worker->ring);
}

/* Submit a command that is in flight for some time, or until the worker is killed. */
static void worker_submit(struct churn_worker *worker)
{
	static const uint32_t commands[] = { SPEPROF_RING_KICK, SPEPROF_RING_FLUSH,
					     SPEPROF_RING_RELEASE };
	static uint8_t bytes[4096];
	struct io_uring_cqe *cqe;

	for (unsigned int i = 0; i < 6; i++) {
		struct io_uring_sqe *sqe = io_uring_get_sqe(&worker->uring);

		if (!sqe)
			break;
		if (i % 3 == 0) {
			io_uring_prep_poll_multishot(sqe, worker->ring, POLLIN);
		} else if (i % 3 == 1) {
			io_uring_prep_read(sqe, worker->ring, bytes, sizeof(bytes), 0);
		} else {
			io_uring_prep_rw(IORING_OP_URING_CMD, sqe, worker->ring, NULL, 0, 0);
			sqe->cmd_op = commands[draw_random(&worker->random) % 3];
			memset(sqe->cmd, 0, 16);
		}
	}
	io_uring_submit(&worker->uring);
	while (!io_uring_peek_cqe(&worker->uring, &cqe))
		io_uring_cqe_seen(&worker->uring, cqe);
}

static void worker_step(struct churn_worker *worker)
{
	struct speprof_snapshot snapshot = { .size = sizeof(snapshot) };
	struct speprof_sampling sampling = draw_sampling(&worker->random);
	uint64_t head = __atomic_load_n(&worker->control->head, __ATOMIC_ACQUIRE);

	switch (draw_random(&worker->random) % 9) {
	case 0:
		ioctl(worker->session, SPEPROF_SESSION_SAMPLE, &sampling);
		break;
	case 1:
		ioctl(worker->session, SPEPROF_SESSION_STOP, 0);
		break;
	case 2:
		ioctl(worker->ring, SPEPROF_RING_SNAPSHOT, &snapshot);
		break;
	case 3:
		ioctl(worker->ring, SPEPROF_RING_RELEASE, 0);
		break;
	case 4:
		worker_submit(worker);
		break;
	case 5:
		/* Simulate a reader that stalls. */
		pause_ms(draw_random(&worker->random) % 100);
		break;
	case 6:
		/* The command CGROUPS fails for a session that samples all tasks. */
		worker_change_cgroups(worker);
		break;
	default:
		ioctl(worker->session, SPEPROF_SESSION_START, 0);
		__atomic_store_n(&worker->control->tail, head, __ATOMIC_RELEASE);
		__atomic_store_n(&worker->control->event_tail, worker->control->event_head,
				 __ATOMIC_RELEASE);
		pause_ms(draw_random(&worker->random) % 10);
		break;
	}
}

static void worker_run(uint64_t *random)
{
	struct churn_worker worker = { .random = *random };

	if (io_uring_queue_init(32, &worker.uring, 0))
		report_failure("io_uring_queue_init");
	for (;;) {
		worker_open_all(&worker);
		for (uint64_t n = draw_random(&worker.random) % 60; n; n--)
			worker_step(&worker);
		worker_close(&worker);
	}
}

/* ---- Processes and modules --------------------------------------------------------------- */

static pid_t start_process(void (*run)(uint64_t *random), uint64_t random)
{
	pid_t pid = fork();

	if (pid < 0)
		report_failure("fork");
	if (pid)
		return pid;
	setpgid(0, 0);
	run(&random);
	_exit(1);
}

static void end_process(pid_t pid)
{
	int status;

	/* Until the child has its process group, kill only the child. */
	if (kill(-pid, SIGKILL))
		kill(pid, SIGKILL);
	if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
		report_failure("a part ended by itself");
	add_to_total(&totals->kills, 1);
}

static void module_load(const char *directory, const char *name)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s.ko", directory, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
		report_failure(path);
	close(fd);
}

static void module_unload(const char *name)
{
	/* io_uring releases files with a delay, so try for some time. */
	for (uint64_t end = now_ms() + 60000; syscall(SYS_delete_module, name, O_NONBLOCK);)
		if ((errno != EAGAIN && errno != EBUSY) || now_ms() > end)
			report_failure(name);
}

/*
 * Unload and load the modules. All descriptors are closed; commands of the last ones may still be
 * in flight.
 */
static void reload_modules(const char *directory)
{
	module_unload("speprof_emu");
	module_unload("speprof");
	module_load(directory, "speprof");
	module_load(directory, "speprof_emu");
	add_to_total(&totals->unloads, 1);
}

static bool is_busy(void)
{
	struct speprof_cpu_info info = { .size = sizeof(info) };
	int fd = open(SPEPROF_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	bool busy = false;

	for (; !ioctl(fd, SPEPROF_CPU_INFO, &info); info.cpu++)
		busy |= info.flags & SPEPROF_CPU_BUSY;
	close(fd);
	return busy;
}

static void clean_up(void)
{
	char path[64];

	for (unsigned int cpu = 1; cpu < (unsigned int)sysconf(_SC_NPROCESSORS_CONF); cpu++)
		set_cpu_online(cpu, true);
	for (unsigned int i = 0; i < GROUPS; i++) {
		snprintf(path, sizeof(path), GROUP_PATH, i);
		for (unsigned int n = 0; n < 200 && rmdir(path) && errno == EBUSY; n++)
			pause_ms(20);
	}
	for (uint64_t end = now_ms() + 20000; is_busy(); pause_ms(20))
		if (now_ms() > end)
			report_failure("a CPU has a session's SPU, although no session exists");
}

static void run_processes_and_reload(uint64_t random, uint64_t end, const char *modules)
{
	pid_t workers[WORKERS];

	for (unsigned int i = 0; i < WORKERS; i++)
		workers[i] = start_process(worker_run, random + 10 + i);
	for (uint64_t n = 100; now_ms() < end; n++) {
		bool is_renewed = modules && n % 8 == 7;

		pause_ms(200 + draw_random(&random) % 800);
		for (unsigned int i = 0; i < WORKERS; i++)
			if (is_renewed || i == n % WORKERS)
				end_process(workers[i]);
		if (is_renewed)
			reload_modules(modules);
		for (unsigned int i = 0; i < WORKERS; i++)
			if (is_renewed || i == n % WORKERS)
				workers[i] = start_process(worker_run, random + n * WORKERS + i);
	}
	for (unsigned int i = 0; i < WORKERS; i++)
		end_process(workers[i]);
}

int main(int argc, char **argv)
{
	static void (*const around[])(uint64_t * random) = { change_cpus, change_groups,
							     change_limits };
	uint64_t end = now_ms() + (argc > 1 ? strtoull(argv[1], NULL, 0) : 10) * 1000;
	uint64_t random = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	pid_t parts[3];

	totals = mmap(NULL, sizeof(*totals), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (totals == MAP_FAILED)
		report_failure("mmap");
	for (unsigned int i = 0; i < 3; i++)
		parts[i] = start_process(around[i], random + i);
	run_processes_and_reload(random, end, argc > 3 ? argv[3] : NULL);
	for (unsigned int i = 0; i < 3; i++)
		end_process(parts[i]);
	clean_up();
	printf("churn: %llu sessions, %llu of them of cgroups, %llu sets changed, %llu records in those that were closed, %llu processes killed, %llu times a CPU away, %llu cgroups made, %llu times the modules unloaded\n",
	       totals->sessions, totals->of_cgroups, totals->sets, totals->records, totals->kills,
	       totals->offline, totals->groups, totals->unloads);
	return !(totals->sessions && totals->kills && totals->offline && totals->groups &&
		 totals->of_cgroups);
}
