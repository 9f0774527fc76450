// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Use /dev/speprof at random, with a seed, from threads that share descriptors: ioctls, uring_cmds,
 * mmap offsets, reads, polls, closes and duplicates, while a thread writes random values into
 * control pages, and syndromes are injected. Each round is a separate process, and every third
 * process is killed at a random time. usage: abi-fuzz SECONDS [SEED]
 *
 * Each call must succeed or fail with an error that the header documents for it. The counters must
 * add up whenever they can be read. No CPU may be busy after a round. Each kind of operation must
 * have succeeded and been refused at least once: rounds continue after SECONDS until this condition
 * holds, for at most EXTRA_ROUNDS. The lane checks the kernel's log. The program needs root and
 * both modules loaded.
 */
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/speprof.h>

#include "tally.h"

#define THREADS 4
#define SLOTS 12
#define ROUND_MS 3000
#define EXTRA_ROUNDS 100

enum fd_kind {
	DEVICE,
	SESSION,
	RING,
	KINDS,
};

/*
 * Indices of the counters: ioctls, and the same by io_uring, in the order of expectations[], then
 * other operations
 */
#define COMMANDS 15

enum act_kind {
	IOCTL,
	URING_CMD = IOCTL + COMMANDS,
	MMAP_CONTROL = URING_CMD + COMMANDS,
	MMAP_EVENTS,
	MMAP_DATA,
	READ,
	URING_READ,
	URING_READ_FIXED,
	URING_POLL,
	URING_CANCEL,
	ACT_KINDS,
};

/* Descriptors that the threads of a round share */
static _Atomic int slots[KINDS][SLOTS];
static atomic_bool over;
static uint64_t seed;

/* directories of cgroups, the second below the first; the fuzzer itself is in the first */
#define CGROUPS 4
static int cgroups[CGROUPS];

/* Counters of all rounds, in shared memory */
static struct fuzz_totals {
	atomic_ullong calls;
	atomic_ullong succeeded;
	atomic_ullong cqes;
	atomic_ullong bytes_read;
	atomic_ullong snapshots;
	atomic_ullong ledgers;
	atomic_ullong injected;
	atomic_ullong scribbles;
	struct errno_tally tallies[ACT_KINDS];
} *totals;

/*
 * A thread of a round. Commands in flight point to @sampling and the fields after it, which the
 * thread changes concurrently.
 */
struct fuzz_actor {
	uint64_t random;
	struct io_uring uring;
	uint8_t *buffer;
	struct iovec fixed;
	struct speprof_sampling sampling;
	struct speprof_tune tune;
	struct speprof_cgroups change;
	int32_t change_fds[CGROUPS];
	struct speprof_snapshot snapshot;
};

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* SplitMix64. */
static uint64_t draw_random(struct fuzz_actor *actor)
{
	uint64_t z = actor->random += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static uint64_t draw_below(struct fuzz_actor *actor, uint64_t bound)
{
	return draw_random(actor) % bound;
}

static bool draw_once_in(struct fuzz_actor *actor, uint64_t n)
{
	return !draw_below(actor, n);
}

/* Return @sane, but sometimes an extreme number instead. */
static uint64_t draw_number(struct fuzz_actor *actor, uint64_t sane)
{
	switch (draw_below(actor, 32)) {
	case 0:
		return draw_random(actor);
	case 1:
		return 1ULL << draw_below(actor, 64);
	case 2:
		return UINT64_MAX - draw_below(actor, 3);
	case 3:
		return draw_below(actor, 3);
	default:
		return sane;
	}
}

static void report_failure(const char *what, long got)
{
	fprintf(stderr, "abi-fuzz: seed %llu: %s: %ld, errno %d (%s)\n", (unsigned long long)seed,
		what, got, errno, strerror(errno));
	_exit(1);
}

/* ---- Expected results ----------------------------------------------------------- */

struct expected_errors {
	unsigned int command;
	const char *name;
	bool is_uring;
	int errors[12];
};

/* The errors of each command, in addition to those of error_is_generic() */
static const struct expected_errors expectations[COMMANDS] = {
	{ SPEPROF_DEVICE_INFO, "DEVICE_INFO", false, { EFAULT, EINVAL, E2BIG } },
	{ SPEPROF_CPU_INFO, "CPU_INFO", false, { EFAULT, EINVAL, E2BIG } },
	{ SPEPROF_SESSION_NEW, "SESSION_NEW", false, { EFAULT, EINVAL, E2BIG, ENODEV, ENOMEM, EMFILE,
						       ENFILE, EPERM, ENOTDIR, EEXIST, ENOSPC } },
	{ SPEPROF_SESSION_SAMPLE, "SAMPLE", true, { EFAULT, EINVAL, E2BIG, ERANGE, EPERM, EAGAIN } },
	{ SPEPROF_SESSION_CGROUPS, "CGROUPS", true, { EFAULT, EINVAL, E2BIG, EPERM, ENOTDIR, ENODEV,
						      EEXIST, ENOENT, ENOSPC, EBUSY, ENOMEM, EAGAIN } },
	{ SPEPROF_SESSION_TUNE, "TUNE", true, { EFAULT, EINVAL, E2BIG, ENOENT, ENODATA, ERANGE,
						EAGAIN } },
	{ SPEPROF_SESSION_START, "START", true, { EINVAL, ENODATA, EBUSY, ENOMEM, EAGAIN } },
	{ SPEPROF_SESSION_STOP, "STOP", true, { EINVAL } },
	{ SPEPROF_RING_OPEN, "RING_OPEN", false, { EFAULT, EINVAL, E2BIG, ENOENT, EMFILE, ENFILE,
						   ENOMEM } },
	{ SPEPROF_RING_ADVANCE, "ADVANCE", true, { EFAULT, ERANGE } },
	{ SPEPROF_RING_KICK, "KICK", true, { EINVAL, ENXIO, EAGAIN } },
	{ SPEPROF_RING_FLUSH, "FLUSH", true, { EINVAL, ENXIO, EAGAIN } },
	{ SPEPROF_RING_STATS, "STATS", false, { EFAULT, EINVAL, E2BIG, EAGAIN } },
	{ SPEPROF_RING_SNAPSHOT, "SNAPSHOT", true, { EFAULT, EINVAL, E2BIG, EBUSY, ENOSPC, ENODATA,
						   EAGAIN } },
	{ SPEPROF_RING_RELEASE, "RELEASE", true, { EINVAL, ENOENT } },
};

static const struct expected_errors *find_expectation(unsigned int command)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (expectations[i].command == command)
			return &expectations[i];
	return NULL;
}

/*
 * Return true if @error may occur for any descriptor, because another thread may close or reuse a
 * descriptor at any time.
 */
static bool error_is_generic(int error)
{
	return error == EBADF || error == ENOTTY || error == EOPNOTSUPP;
}

static bool error_is_expected(const struct expected_errors *expected, int error)
{
	for (size_t i = 0; expected && i < 12 && expected->errors[i]; i++)
		if (expected->errors[i] == error)
			return true;
	return false;
}

static void count_act(enum act_kind kind, bool is_done)
{
	tally_add(&totals->tallies[kind], is_done);
}

/* Check the result of a command that was called by ioctl or by io_uring. */
static void check_command_result(enum act_kind way, const struct expected_errors *expected,
				 int error)
{
	if (error && error_is_generic(error))
		return;
	if (error && !error_is_expected(expected, error)) {
		errno = error;
		report_failure(expected ? expected->name : "unknown command", -error);
	}
	if (expected)
		count_act((enum act_kind)(way + (expected - expectations)), !error);
}

static long call_ioctl(int fd, unsigned int command, void *argument)
{
	long got;

	errno = 0;
	got = ioctl(fd, command, argument);
	atomic_fetch_add(&totals->calls, 1);
	if (got >= 0)
		atomic_fetch_add(&totals->succeeded, 1);
	check_command_result(IOCTL, find_expectation(command), got < 0 ? errno : 0);
	return got;
}

/* ---- Descriptors --------------------------------------------------------------- */

static int draw_fd(struct fuzz_actor *actor, enum fd_kind kind)
{
	int fd = -1;

	for (unsigned int i = 0; i < 4 && fd < 0; i++)
		fd = atomic_load(&slots[kind][draw_below(actor, SLOTS)]);
	return fd;
}

/* Share @fd with the other threads. The former descriptor of the slot is closed. */
static void keep_fd(struct fuzz_actor *actor, enum fd_kind kind, int fd)
{
	int old = atomic_exchange(&slots[kind][draw_below(actor, SLOTS)], fd);

	if (old >= 0)
		close(old);
}

static void act_device(struct fuzz_actor *actor)
{
	int fd = open(SPEPROF_DEVICE_PATH, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		report_failure("open", fd);
	keep_fd(actor, DEVICE, fd);
}

/*
 * Choose some of the cgroup directories, and sometimes a descriptor of another kind. Return: the
 * number of descriptors.
 */
static uint32_t draw_cgroups(struct fuzz_actor *actor, int32_t *ret_fds)
{
	uint32_t count = (uint32_t)draw_below(actor, CGROUPS);

	for (uint32_t i = 0; i < count; i++)
		ret_fds[i] = draw_once_in(actor, 16) ? (int32_t)draw_number(actor, 1) :
						       cgroups[draw_below(actor, CGROUPS)];
	return count;
}

static void act_session(struct fuzz_actor *actor)
{
	int32_t fds[CGROUPS];
	uint8_t cpus[8] = { (uint8_t)draw_below(actor, 4) };
	struct speprof_session_config config = {
		.size = (uint32_t)draw_number(actor, sizeof(config)),
		.mode = (uint32_t)draw_number(actor, draw_below(actor, 2)),
		.rights = (uint32_t)draw_number(actor, 31),
		.ring_size = 65536ULL << draw_below(actor, 4),
		.event_slots = 16U << draw_below(actor, 4),
		.max_latency_ms = (uint32_t)draw_number(actor, draw_below(actor, 20)),
		.watermark = draw_number(actor, draw_below(actor, 32768)),
	};
	long fd;

	if (draw_once_in(actor, 8))
		config.ring_size =
			draw_number(actor, 65536) &
			~(1ULL << 24 | 1ULL << 25 | 1ULL << 26 | 1ULL << 27 | 1ULL << 28);
	if (cpus[0] || draw_once_in(actor, 4)) {
		config.cpus = draw_number(actor, (uintptr_t)cpus);
		config.cpus_size = (uint32_t)draw_number(actor, draw_below(actor, 9));
	}
	if (draw_below(actor, 3)) {
		config.flags = (uint32_t)draw_number(actor, SPEPROF_SESSION_OF_CGROUPS);
		config.cgroups_count = (uint32_t)draw_number(actor, draw_cgroups(actor, fds));
		config.cgroups = draw_number(actor, config.cgroups_count ? (uintptr_t)fds : 0);
	}
	fd = call_ioctl(draw_fd(actor, DEVICE), SPEPROF_SESSION_NEW, &config);
	if (fd > 0)
		keep_fd(actor, SESSION, (int)fd);
}

static void act_info(struct fuzz_actor *actor)
{
	struct speprof_device_info device = { .size = (uint32_t)draw_number(actor,
									    sizeof(device)) };
	struct speprof_cpu_info cpu = {
		.size = (uint32_t)draw_number(actor, sizeof(cpu)),
		.cpu = (uint32_t)draw_number(actor, draw_below(actor, 2)),
	};

	call_ioctl(draw_fd(actor, DEVICE), SPEPROF_DEVICE_INFO, &device);
	call_ioctl(draw_fd(actor, DEVICE), SPEPROF_CPU_INFO, &cpu);
}

static void draw_sampling(struct fuzz_actor *actor)
{
	actor->sampling = (struct speprof_sampling){
		.size = (uint32_t)draw_number(actor, sizeof(actor->sampling)),
		.flags = (uint32_t)draw_number(actor, 1 + draw_below(actor, 7)),
		.interval = draw_number(actor, 50000 + draw_below(actor, 500000)),
		.collect = (uint32_t)draw_number(actor, draw_below(actor, 16)),
		.types = draw_once_in(actor, 4) ? (uint32_t)draw_below(actor, 8) : 0,
		.events = draw_once_in(actor, 8) ? draw_random(actor) : 0,
		.events_not = draw_once_in(actor, 8) ? draw_random(actor) : 0,
		.min_latency = draw_once_in(actor, 8) ? (uint32_t)draw_number(actor, 3) : 0,
		.sources_not = draw_once_in(actor, 8) ? draw_random(actor) : 0,
	};
}

static void act_sample(struct fuzz_actor *actor)
{
	draw_sampling(actor);
	call_ioctl(draw_fd(actor, SESSION), SPEPROF_SESSION_SAMPLE, &actor->sampling);
}

static void draw_tune(struct fuzz_actor *actor)
{
	actor->tune = (struct speprof_tune){
		.size = (uint32_t)draw_number(actor, sizeof(actor->tune)),
		.cpu = (uint32_t)draw_number(actor, draw_below(actor, 3)),
		.interval = draw_once_in(actor, 2) ?
				    0 :
				    draw_number(actor, 50000 + draw_below(actor, 500000)),
		.throttle_interrupts =
			draw_once_in(actor, 2) ? 0 : draw_number(actor, draw_below(actor, 10000)),
		.throttle_bytes =
			draw_once_in(actor, 2) ? 0 : draw_number(actor, draw_below(actor, 1000000)),
	};
}

static void act_tune(struct fuzz_actor *actor)
{
	draw_tune(actor);
	call_ioctl(draw_fd(actor, SESSION), SPEPROF_SESSION_TUNE, &actor->tune);
}

static void draw_change(struct fuzz_actor *actor)
{
	actor->change = (struct speprof_cgroups){
		.size = (uint32_t)draw_number(actor, sizeof(actor->change)),
		.op = (uint32_t)draw_number(actor, 1 + draw_below(actor, 3)),
		.count = (uint32_t)draw_number(actor, draw_cgroups(actor, actor->change_fds)),
		.reserved = draw_once_in(actor, 32),
	};
	actor->change.fds =
		draw_number(actor, actor->change.count ? (uintptr_t)actor->change_fds : 0);
}

static void act_cgroups(struct fuzz_actor *actor)
{
	draw_change(actor);
	call_ioctl(draw_fd(actor, SESSION), SPEPROF_SESSION_CGROUPS, &actor->change);
}

static void act_start_or_stop(struct fuzz_actor *actor)
{
	call_ioctl(draw_fd(actor, SESSION),
		   draw_below(actor, 3) ? SPEPROF_SESSION_START : SPEPROF_SESSION_STOP,
		   (void *)(uintptr_t)draw_once_in(actor, 16));
}

static void act_ring(struct fuzz_actor *actor)
{
	struct speprof_ring_open open = {
		.size = (uint32_t)draw_number(actor, sizeof(open)),
		.cpu = (uint32_t)draw_number(actor, draw_below(actor, 3)),
		.flags = SPEPROF_RING_NONBLOCK |
			 (draw_once_in(actor, 16) ? (uint32_t)draw_random(actor) : 0),
	};
	long fd = call_ioctl(draw_fd(actor, SESSION), SPEPROF_RING_OPEN, &open);

	if (fd > 0)
		keep_fd(actor, RING, (int)fd);
}

static void act_close(struct fuzz_actor *actor)
{
	int fd = atomic_exchange(&slots[draw_below(actor, KINDS)][draw_below(actor, SLOTS)], -1);

	if (fd >= 0)
		close(fd);
}

static void act_dup(struct fuzz_actor *actor)
{
	enum fd_kind kind = (enum fd_kind)draw_below(actor, KINDS);
	int fd = dup(draw_fd(actor, kind));

	if (fd >= 0)
		keep_fd(actor, kind, fd);
}

/* ---- Rings ------------------------------------------------------------------------ */

static void check_ledger(const struct speprof_ring_stats *stats)
{
	bool ok = stats->head == stats->data_bytes + stats->header_bytes + stats->skip_bytes &&
		  stats->tail <= stats->head && stats->event_tail <= stats->event_head &&
		  stats->oldest <= stats->head && stats->event_oldest <= stats->event_head &&
		  stats->overwritten_bytes + stats->claimed_bytes <= stats->data_bytes &&
		  stats->overwritten_records + stats->claimed_records <= stats->records &&
		  stats->records * 64 <= stats->data_bytes && stats->snapshots <= 8 &&
		  stats->state <= SPEPROF_RING_STATES;

	if (!ok)
		report_failure("the ledgers do not add up", (long)stats->head);
	atomic_fetch_add(&totals->ledgers, 1);
}

static void act_stats(struct fuzz_actor *actor)
{
	struct speprof_ring_stats stats = { .size = (uint32_t)draw_number(actor, sizeof(stats)) };
	bool is_whole = stats.size == sizeof(stats);

	if (!call_ioctl(draw_fd(actor, RING), SPEPROF_RING_STATS, &stats) && is_whole)
		check_ledger(&stats);
}

static void act_snapshot(struct fuzz_actor *actor)
{
	struct speprof_snapshot snapshot = {
		.size = (uint32_t)draw_number(actor, sizeof(snapshot)),
		.reserved = draw_once_in(actor, 16),
		.max_bytes = draw_number(actor, draw_below(actor, 1 << 20)),
	};
	int fd = draw_fd(actor, RING);

	if (draw_once_in(actor, 2))
		call_ioctl(fd, SPEPROF_RING_RELEASE, (void *)(uintptr_t)draw_once_in(actor, 16));
	else if (!call_ioctl(fd, SPEPROF_RING_SNAPSHOT,
			     draw_once_in(actor, 16) ? (void *)8 : &snapshot))
		atomic_fetch_add(&totals->snapshots, 1);
}

static void act_tails(struct fuzz_actor *actor)
{
	struct speprof_ring_stats stats = { .size = sizeof(stats) };
	int fd = draw_fd(actor, RING);
	struct speprof_advance advance;

	if (call_ioctl(fd, SPEPROF_RING_STATS, &stats))
		return;
	advance.tail = draw_number(actor, stats.head);
	advance.event_tail = draw_number(actor, stats.event_head);
	call_ioctl(fd, SPEPROF_RING_ADVANCE, &advance);
	call_ioctl(fd, draw_once_in(actor, 2) ? SPEPROF_RING_KICK : SPEPROF_RING_FLUSH,
		   (void *)(uintptr_t)draw_once_in(actor, 16));
}

static void act_read(struct fuzz_actor *actor)
{
	struct iovec vec = {
		.iov_base = draw_once_in(actor, 16) ? (void *)4096 : actor->buffer,
		.iov_len = draw_number(actor, draw_below(actor, 65536)) & 0xffff,
	};
	ssize_t got = preadv2(draw_fd(actor, RING), &vec, 1, -1, RWF_NOWAIT);

	if (got > 0)
		atomic_fetch_add(&totals->bytes_read, (unsigned long long)got);
	if (got >= 0 || !error_is_generic(errno))
		count_act(READ, got >= 0);
	/* EINVAL: the file is a flight recorder; EOPNOTSUPP: it is another kind of file */
	else if (got < 0 && errno != EAGAIN && errno != EFAULT && errno != EINVAL &&
		 errno != EBADF && errno != EOPNOTSUPP)
		report_failure("read", got);
}

static void act_poll(struct fuzz_actor *actor)
{
	struct pollfd fds[4];

	for (unsigned int i = 0; i < 4; i++)
		fds[i] = (struct pollfd){
			.fd = draw_fd(actor, (enum fd_kind)draw_below(actor, KINDS)),
			.events = (short)draw_random(actor),
		};
	poll(fds, 4, (int)draw_below(actor, 3));
}

static void act_map(struct fuzz_actor *actor)
{
	static const uint64_t offsets[] = { SPEPROF_MMAP_CONTROL, SPEPROF_MMAP_EVENTS,
					    SPEPROF_MMAP_DATA };
	unsigned int area = (unsigned int)draw_below(actor, 3);
	uint64_t offset = offsets[area];
	size_t size = 4096ULL << draw_below(actor, 8);
	int prot = (int)draw_below(actor, 8);
	uint8_t *map;

	if (draw_once_in(actor, 4))
		offset = draw_once_in(actor, 2) ? draw_random(actor) & ~4095ULL & INT64_MAX :
						  offset + 4096 * (1 + draw_below(actor, 16));
	map = mmap(NULL, size, prot, draw_once_in(actor, 16) ? MAP_PRIVATE : MAP_SHARED,
		   draw_fd(actor, (enum fd_kind)(draw_once_in(actor, 8) ? draw_below(actor, KINDS) :
									  RING)),
		   (off_t)offset);
	if (map != MAP_FAILED || errno != EBADF)
		count_act((enum act_kind)(MMAP_CONTROL + area), map != MAP_FAILED);
	if (map == MAP_FAILED)
		return;
	if (offset != offsets[area])
		report_failure("mmap of what is no area", (long)(offset >> 12));
	if (mremap(map, size, 2 * size, MREMAP_MAYMOVE) != MAP_FAILED)
		report_failure("mremap beyond an area", (long)size);
	mprotect(map, size, PROT_READ);
	mprotect(map, size, draw_once_in(actor, 2) ? PROT_READ | PROT_WRITE : PROT_EXEC);
	if (!mprotect(map, size, PROT_READ))
		for (size_t at = 0; at < size; at += 4096)
			actor->buffer[0] ^= ((volatile uint8_t *)map)[at];
	if (draw_once_in(actor, 2))
		madvise(map, size, (int)draw_below(actor, 26));
	munmap(map, size);
}

/* Call any command on any descriptor. */
static void act_random_ioctl(struct fuzz_actor *actor)
{
	unsigned int command = _IOC((unsigned int)draw_below(actor, 4), SPEPROF_IOC_MAGIC,
				    (unsigned int)draw_below(actor, 64), 0);
	uint64_t words[64];

	for (unsigned int i = 0; i < 64; i++)
		words[i] = draw_number(actor, i);
	words[0] = draw_number(actor, 8 * draw_below(actor, 40));
	/* Avoid rings of gigabytes, which do not fit into memory. */
	if (command == SPEPROF_SESSION_NEW)
		return;
	call_ioctl(draw_fd(actor, (enum fd_kind)draw_below(actor, KINDS)), command,
		   draw_once_in(actor, 8) ? (void *)(uintptr_t)draw_number(actor, 0) : words);
}

/* ---- io_uring ------------------------------------------------------------------------ */

/* user_data is the number of a command, or an act_kind plus ACT_BASE. */
#define ACT_BASE 0x10000U

static void check_completion(uint64_t user_data, int res)
{
	if (user_data < ACT_BASE) {
		if (res != -ECANCELED && res != -EAGAIN && res != -EINTR)
			check_command_result(URING_CMD, find_expectation((unsigned int)user_data),
					     res < 0 ? -res : 0);
	} else if (res >= 0 || !error_is_generic(-res)) {
		count_act((enum act_kind)(user_data - ACT_BASE), res >= 0);
	}
}

static void act_reap(struct fuzz_actor *actor)
{
	struct io_uring_cqe *cqe;

	while (!io_uring_peek_cqe(&actor->uring, &cqe)) {
		atomic_fetch_add(&totals->cqes, 1);
		check_completion(cqe->user_data, cqe->res);
		io_uring_cqe_seen(&actor->uring, cqe);
	}
}

/*
 * Prepare an io_uring command of a session or a ring. Some commands are invalid or belong to the
 * other kind of file.
 */
static void prepare_uring_command(struct fuzz_actor *actor, struct io_uring_sqe *sqe)
{
	bool is_session = draw_once_in(actor, 3);
	uint32_t command = is_session ? SPEPROF_SESSION_SAMPLE + (uint32_t)draw_below(actor, 6) :
					SPEPROF_RING_ADVANCE + (uint32_t)draw_below(actor, 7);
	uint64_t payload[2] = { draw_number(actor, 0), draw_number(actor, 0) };

	if (draw_once_in(actor, 8)) {
		is_session = !is_session;
	} else if (command == SPEPROF_SESSION_SAMPLE) {
		draw_sampling(actor);
		payload[0] = draw_number(actor, (uintptr_t)&actor->sampling);
	} else if (command == SPEPROF_SESSION_TUNE) {
		draw_tune(actor);
		payload[0] = draw_number(actor, (uintptr_t)&actor->tune);
	} else if (command == SPEPROF_SESSION_CGROUPS) {
		draw_change(actor);
		payload[0] = draw_number(actor, (uintptr_t)&actor->change);
	} else if (command == SPEPROF_RING_SNAPSHOT) {
		actor->snapshot = (struct speprof_snapshot){ .size = sizeof(actor->snapshot) };
		payload[0] = draw_number(actor, (uintptr_t)&actor->snapshot);
	}
	io_uring_prep_rw(IORING_OP_URING_CMD, sqe, draw_fd(actor, is_session ? SESSION : RING),
			 NULL, 0, 0);
	sqe->cmd_op = command;
	memcpy(sqe->cmd, payload, sizeof(payload));
	sqe->user_data = command;
}

static void prepare_uring_request(struct fuzz_actor *actor, struct io_uring_sqe *sqe)
{
	int fd = draw_fd(actor, RING);
	uint64_t which = draw_below(actor, 8);

	if (which >= 4) {
		prepare_uring_command(actor, sqe);
		return;
	}
	if (which == 0)
		io_uring_prep_read(sqe, fd, draw_once_in(actor, 16) ? (void *)4096 : actor->buffer,
				   4096, 0);
	else if (which == 1)
		io_uring_prep_read_fixed(sqe, fd, actor->fixed.iov_base,
					 (unsigned int)draw_number(actor, 8192), 0,
					 draw_once_in(actor, 16) ? 1 : 0);
	else if (which == 2)
		io_uring_prep_poll_add(sqe, fd, POLLIN | POLLPRI);
	else
		io_uring_prep_cancel_fd(sqe, fd, IORING_ASYNC_CANCEL_ALL);
	if (which == 2 && draw_once_in(actor, 2))
		sqe->len |= IORING_POLL_ADD_MULTI;
	sqe->user_data = ACT_BASE + URING_READ + which;
}

static void act_uring(struct fuzz_actor *actor)
{
	for (uint64_t n = draw_below(actor, 6); n; n--) {
		struct io_uring_sqe *sqe = io_uring_get_sqe(&actor->uring);

		if (!sqe)
			break;
		prepare_uring_request(actor, sqe);
		if (draw_once_in(actor, 8))
			sqe->flags |= IOSQE_ASYNC;
	}
	io_uring_submit(&actor->uring);
	act_reap(actor);
}

/* ---- Parameters and injection --------------------------------------------------------------- */

static void parameter_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) > 0)
		atomic_fetch_add(&totals->injected, 1);
	close(fd);
}

static void act_inject(struct fuzz_actor *actor)
{
	static const unsigned int classes[] = { 0x00, 0x1e, 0x1f, 0x24, 0x25 };
	char text[64];

	snprintf(text, sizeof(text), "%u %u %u", (unsigned int)draw_below(actor, 2),
		 draw_once_in(actor, 4) ? (unsigned int)draw_below(actor, 64) :
					  classes[draw_below(actor, 5)],
		 (unsigned int)draw_below(actor, draw_once_in(actor, 4) ? 65536 : 64));
	parameter_write("/sys/module/speprof_emu/parameters/inject", text);
}

static void act_limit(struct fuzz_actor *actor)
{
	static const char *const paths[] = {
		"/sys/module/speprof/parameters/throttle_interrupts",
		"/sys/module/speprof/parameters/throttle_bytes",
		"/sys/module/speprof/parameters/unread_ms",
		"/sys/module/speprof/parameters/throttle_commands",
	};
	char text[32];

	snprintf(text, sizeof(text), "%u",
		 draw_once_in(actor, 2) ? 0 : (unsigned int)draw_below(actor, 200000));
	parameter_write(paths[draw_below(actor, 4)], text);
}

/* ---- A round --------------------------------------------------------------------------------- */

static void (*const acts[])(struct fuzz_actor *actor) = {
	act_device, act_session,  act_sample,	act_start_or_stop, act_start_or_stop, act_ring,
	act_ring,   act_stats,	  act_stats,	act_tails,	   act_tails,	      act_read,
	act_read,   act_poll,	  act_map,	act_random_ioctl,  act_uring,	      act_uring,
	act_uring,  act_snapshot, act_snapshot, act_cgroups,	   act_inject,	      act_limit,
	act_dup,    act_close,	  act_info,	act_tune,
};

static void *actor_run(void *arg)
{
	struct fuzz_actor *actor = arg;

	actor->buffer = malloc(1 << 16);
	actor->fixed = (struct iovec){ malloc(8192), 8192 };
	if (io_uring_queue_init(32, &actor->uring, 0))
		report_failure("io_uring_queue_init", 0);
	io_uring_register_buffers(&actor->uring, &actor->fixed, 1);
	while (!atomic_load(&over))
		acts[draw_below(actor, sizeof(acts) / sizeof(acts[0]))](actor);
	/* Exit while commands are in flight, which is often the case here. */
	io_uring_queue_exit(&actor->uring);
	return NULL;
}

/* Write random values to all words of the control pages that are mapped. */
static void *scribbler_run(void *arg)
{
	struct fuzz_actor *actor = arg;

	while (!atomic_load(&over)) {
		volatile uint64_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
					       draw_fd(actor, RING), SPEPROF_MMAP_CONTROL);

		if (page == MAP_FAILED) {
			sched_yield();
			continue;
		}
		for (unsigned int i = 0; i < 2000; i++)
			page[draw_below(actor, 512)] =
				draw_number(actor, page[16 + 2 * draw_below(actor, 2)]);
		atomic_fetch_add(&totals->scribbles, 2000);
		munmap((void *)page, 4096);
	}
	return NULL;
}

static void stop_sessions_and_check_ledgers(void)
{
	for (unsigned int i = 0; i < SLOTS; i++)
		if (atomic_load(&slots[SESSION][i]) >= 0)
			call_ioctl(atomic_load(&slots[SESSION][i]), SPEPROF_SESSION_STOP, NULL);
	for (unsigned int i = 0; i < SLOTS; i++) {
		struct speprof_ring_stats stats = { .size = sizeof(stats) };

		if (atomic_load(&slots[RING][i]) >= 0 &&
		    !call_ioctl(atomic_load(&slots[RING][i]), SPEPROF_RING_STATS, &stats))
			check_ledger(&stats);
	}
}

static void run_round(uint64_t round_seed)
{
	struct fuzz_actor actors[THREADS + 1];
	pthread_t threads[THREADS + 1];

	for (unsigned int kind = 0; kind < KINDS; kind++)
		for (unsigned int i = 0; i < SLOTS; i++)
			atomic_store(&slots[kind][i], -1);
	for (unsigned int i = 0; i <= THREADS; i++) {
		actors[i] = (struct fuzz_actor){ .random = round_seed * 1000 + i };
		if (pthread_create(&threads[i], NULL, i < THREADS ? actor_run : scribbler_run,
				   &actors[i]))
			report_failure("pthread_create", 0);
	}
	usleep(ROUND_MS * 1000);
	atomic_store(&over, true);
	for (unsigned int i = 0; i <= THREADS; i++)
		pthread_join(threads[i], NULL);
	stop_sessions_and_check_ledgers();
}

static bool is_busy(void)
{
	struct speprof_cpu_info info = { .size = sizeof(info) };
	int fd = open(SPEPROF_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	bool busy = false;

	if (fd < 0)
		report_failure("open", fd);
	for (; !ioctl(fd, SPEPROF_CPU_INFO, &info); info.cpu++)
		busy |= info.flags & SPEPROF_CPU_BUSY;
	close(fd);
	return busy;
}

/*
 * Wait until no session exists. A session ends when its last file is released, which io_uring
 * delays.
 */
static void wait_until_idle(void)
{
	for (uint64_t end = now_ms() + 20000; is_busy();) {
		if (now_ms() > end)
			report_failure("a CPU has a session's SPU, although no session exists", 0);
		usleep(20000);
	}
}

static void fork_round(uint64_t round_seed, bool is_killed)
{
	int status;
	pid_t pid;

	seed = round_seed;
	pid = fork();
	if (!pid) {
		alarm(300);
		run_round(round_seed);
		_exit(0);
	}
	if (pid < 0)
		report_failure("fork", pid);
	if (is_killed) {
		usleep(ROUND_MS * 500);
		kill(pid, SIGKILL);
	}
	if (waitpid(pid, &status, 0) != pid)
		report_failure("waitpid", pid);
	if (WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status) != SIGKILL || !is_killed)
		report_failure("a round ended badly", status);
	wait_until_idle();
}

/* Create the cgroups. If none can be created, invalid descriptors are used. */
static void make_cgroups(void)
{
	static const char *const names[CGROUPS] = {
		"/sys/fs/cgroup/abi-fuzz", "/sys/fs/cgroup/abi-fuzz/below",
		"/sys/fs/cgroup/abi-fuzz-other", "/sys/fs/cgroup",
	};

	for (unsigned int i = 0; i < CGROUPS; i++) {
		mkdir(names[i], 0755);
		cgroups[i] = open(names[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	parameter_write("/sys/fs/cgroup/abi-fuzz/cgroup.procs", "0");
}

/*
 * Define the requirements. Polls and cancellations need not fail: their errors depend on the state
 * of io_uring.
 */
static void tallies_init(void)
{
	struct errno_tally *tallies = totals->tallies;

	for (unsigned int i = 0; i < COMMANDS; i++) {
		tally_init(&tallies[IOCTL + i], "ioctl", expectations[i].name, TALLY_BOTH);
		if (expectations[i].is_uring)
			tally_init(&tallies[URING_CMD + i], "uring_cmd", expectations[i].name,
				   TALLY_BOTH);
	}
	tally_init(&tallies[MMAP_CONTROL], "mmap", "control", TALLY_BOTH);
	tally_init(&tallies[MMAP_EVENTS], "mmap", "events", TALLY_BOTH);
	tally_init(&tallies[MMAP_DATA], "mmap", "data", TALLY_BOTH);
	tally_init(&tallies[READ], "read", "NOWAIT", TALLY_BOTH);
	tally_init(&tallies[URING_READ], "io_uring", "read", TALLY_BOTH);
	tally_init(&tallies[URING_READ_FIXED], "io_uring", "read fixed", TALLY_BOTH);
	tally_init(&tallies[URING_POLL], "io_uring", "poll", TALLY_DONE);
	tally_init(&tallies[URING_CANCEL], "io_uring", "cancel", TALLY_DONE);
}

int main(int argc, char **argv)
{
	uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 0) : 1, rounds = 0, in_time;
	uint64_t end = now_ms() + (argc > 1 ? strtoull(argv[1], NULL, 0) : 10) * 1000;

	totals = mmap(NULL, sizeof(*totals), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (totals == MAP_FAILED)
		report_failure("mmap", 0);
	tallies_init();
	make_cgroups();
	/* Remove the limit of commands, which only some rounds have. */
	parameter_write("/sys/module/speprof/parameters/throttle_commands", "0");
	do {
		fork_round(first + rounds, rounds % 3 == 2);
		rounds++;
	} while (now_ms() < end);
	for (in_time = rounds; rounds - in_time < EXTRA_ROUNDS &&
			       tally_print_lacking(totals->tallies, ACT_KINDS, NULL);
	     rounds++)
		fork_round(first + rounds, false);
	printf("abi-fuzz: %llu rounds from seed %llu: %llu ioctls, %llu succeeded; %llu completions, %llu bytes read, %llu snapshots, %llu ledgers checked, %llu parameters set, %llu words scribbled\n",
	       (unsigned long long)rounds, (unsigned long long)first,
	       (unsigned long long)totals->calls, (unsigned long long)totals->succeeded,
	       (unsigned long long)totals->cqes, (unsigned long long)totals->bytes_read,
	       (unsigned long long)totals->snapshots, (unsigned long long)totals->ledgers,
	       (unsigned long long)totals->injected, (unsigned long long)totals->scribbles);
	tally_print(totals->tallies, ACT_KINDS, stdout);
	return tally_print_lacking(totals->tallies, ACT_KINDS, stderr) != 0;
}
