// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test reading a ring: mmap, read, poll, io_uring. Counters must add up. */
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "ktest.h"

/* A started session of one CPU, on which a child is busy */
struct ring_scene {
	int session;
	pid_t child;
	struct kring ring;
	struct ktally tally;
};

static void scene_begin(struct ring_scene *scene, const struct speprof_session_config *config,
			unsigned int cpu)
{
	unsigned int i;

	*scene = (struct ring_scene){ .session = ksession_new(config),
				      .child = kstart_spinning(cpu) };
	scene->tally.tid = (uint32_t)scene->child;
	kring_open(scene->session, cpu, &scene->ring);
	/* io_uring releases the files of the previous test with a delay, so try for some time. */
	for (i = 0; i < 100; i++) {
		if (!ioctl(scene->session, SPEPROF_SESSION_START, 0))
			break;
		check(errno == EBUSY, "%s", strerror(errno));
		ksleep_ms(20);
	}
	/* The state HANDLING is also correct, and is short. */
	for (i = 0; i < 1000 && scene->ring.control->state == SPEPROF_RING_HANDLING; i++)
		ksleep_ms(1);
	check(scene->ring.control->state == SPEPROF_RING_ARMED ||
		      scene->ring.control->state == SPEPROF_RING_FULL,
	      "%u", scene->ring.control->state);
}

/* Stop the session, read the rest, and check the counters. */
static void scene_end(struct ring_scene *scene)
{
	check(!ioctl(scene->session, SPEPROF_SESSION_STOP, 0));
	kring_read_windows(&scene->ring, &scene->tally);
	ktally_check(&scene->ring, &scene->tally);
	kchild_end(scene->child);
	kring_close(&scene->ring);
	close(scene->session);
}

static void scene_read_for_ms(struct ring_scene *scene, unsigned int ms)
{
	uint64_t end = kclock_ns() + ms * 1000000ULL;

	while (kclock_ns() < end) {
		struct pollfd poll_fd = { .fd = scene->ring.fd, .events = POLLIN };

		check(poll(&poll_fd, 1, -1) == 1);
		check(poll_fd.revents & POLLIN, "%#x", poll_fd.revents);
		kring_read_windows(&scene->ring, &scene->tally);
	}
}

static void every_cpu_is_sampled(void)
{
	struct speprof_session_config config = kmake_session_config();
	unsigned int cpu;

	for (cpu = 0; cpu < kcount_cpus(); cpu++) {
		struct ring_scene scene;
		struct ktally *tally = &scene.tally;

		scene_begin(&scene, &config, cpu);
		/*
		 * A kernel with debugging features is slow in an emulated machine, so wait for some
		 * time.
		 */
		for (unsigned int i = 0; i < 40 && tally->ledger.records < 500; i++)
			scene_read_for_ms(&scene, 250);
		scene_end(&scene);
		check(tally->windows >= 5, "%llu", (unsigned long long)tally->windows);
		check(tally->ledger.records >= 500, "%llu",
		      (unsigned long long)tally->ledger.records);
		check(!tally->ledger.suspect && !tally->suspect_windows);
		check(tally->ledger.records == tally->counted);
		/* The child runs almost alone on the CPU, at EL0. */
		check(tally->of_tid * 10 >= tally->ledger.records * 7, "%llu of %llu",
		      (unsigned long long)tally->of_tid,
		      (unsigned long long)tally->ledger.records);
		check(tally->user * 10 >= tally->ledger.records * 7);
		check(tally->blind_ns < tally->armed_ns);
	}
}

static void filters_and_levels_apply(void)
{
	struct speprof_session_config config = kmake_session_config();
	struct speprof_sampling sampling = kmake_sampling();
	struct ring_scene scene;

	scene_begin(&scene, &config, 0);
	scene_read_for_ms(&scene, 100);
	sampling.flags = SPEPROF_SAMPLE_USER;
	check(!ioctl(scene.session, SPEPROF_SESSION_SAMPLE, &sampling));
	kring_read_windows(&scene.ring, &scene.tally);
	uint64_t kernel = scene.tally.ledger.records - scene.tally.user;
	scene_read_for_ms(&scene, 300);
	check(scene.tally.ledger.records - scene.tally.user == kernel);
	/* No operation has this latency, so nothing is recorded from now on. */
	sampling.min_latency = 0xffff;
	check(!ioctl(scene.session, SPEPROF_SESSION_SAMPLE, &sampling));
	kring_read_windows(&scene.ring, &scene.tally);
	uint64_t records = scene.tally.ledger.records;
	ksleep_ms(200);
	kring_read_windows(&scene.ring, &scene.tally);
	check(scene.tally.ledger.records == records);
	scene_end(&scene);
}

static void configuration_changes_while_running(void)
{
	struct speprof_session_config config = kmake_session_config();
	struct speprof_sampling sampling = kmake_sampling();
	struct ring_scene scene;
	unsigned int i;

	scene_begin(&scene, &config, 0);
	for (i = 2; i < 20; i++) {
		scene_read_for_ms(&scene, 20);
		check(scene.tally.generation == i - 1);
		sampling.interval = KTEST_INTERVAL * (1 + i % 3);
		sampling.flags ^= SPEPROF_SAMPLE_JITTER;
		check(!ioctl(scene.session, SPEPROF_SESSION_SAMPLE, &sampling));
		/* All earlier samples are published, and at most one later window. */
		kring_read_windows(&scene.ring, &scene.tally);
		check(scene.tally.generation == i - 1 || scene.tally.generation == i);
		check(scene.ring.control->generation == i);
		scene_read_for_ms(&scene, 20);
		check(scene.tally.generation == i);
		check(scene.tally.interval == kget_interval(scene.ring.cpu, &sampling));
	}
	sampling.interval = 1;
	check_errno(ioctl(scene.session, SPEPROF_SESSION_SAMPLE, &sampling), ERANGE);
	scene_read_for_ms(&scene, 50);
	check(scene.tally.generation == i - 1);
	scene_end(&scene);
}

static void read_is_a_stream(void)
{
	struct speprof_session_config config = kmake_session_config();
	uint8_t *bytes = malloc(8 << 20);
	struct ring_scene scene;
	size_t have = 0;
	ssize_t got;

	scene_begin(&scene, &config, 0);
	while (have < 256 << 10) {
		struct pollfd poll_fd = { .fd = scene.ring.fd, .events = POLLIN };

		check(poll(&poll_fd, 1, -1) == 1);
		/* Read with a size that is no multiple of the size of a record or window. */
		got = read(scene.ring.fd, bytes + have, 10007);
		check(got > 0, "%s", strerror(errno));
		have += (size_t)got;
	}
	check(!ioctl(scene.session, SPEPROF_SESSION_STOP, 0));
	while ((got = read(scene.ring.fd, bytes + have, 65536)) > 0)
		have += (size_t)got;
	check(!got, "%s", strerror(errno));
	kwindows_check(bytes, have, 0, &scene.tally);
	scene.ring.tail = have;
	check(scene.tally.ledger.records == scene.tally.counted);
	scene_end(&scene);
	free(bytes);
}

static void read_waits_if_blocking(void)
{
	struct speprof_session_config config = kmake_session_config();
	struct iovec vec = { .iov_base = malloc(65536), .iov_len = 65536 };
	struct speprof_ring_open open = { .size = sizeof(open) };
	struct ring_scene scene;
	int blocking;

	config.max_latency_ms = 50;
	scene_begin(&scene, &config, 0);
	blocking = ioctl(scene.session, SPEPROF_RING_OPEN, &open);
	check(blocking >= 0);
	while (read(scene.ring.fd, vec.iov_base, vec.iov_len) > 0)
		;
	check(errno == EAGAIN);
	check_errno(preadv2(blocking, &vec, 1, -1, RWF_NOWAIT), EAGAIN);
	check(read(blocking, vec.iov_base, vec.iov_len) >= 64);
	check(!read(blocking, vec.iov_base, 0));
	check_errno(syscall(SYS_read, blocking, 8L, 4096L), EFAULT);
	check(!ioctl(scene.session, SPEPROF_SESSION_STOP, 0));
	while (read(blocking, vec.iov_base, vec.iov_len) > 0)
		;
	check(!read(blocking, vec.iov_base, vec.iov_len));
	kchild_end(scene.child);
}

/* Check the event of a state change. The state changes before the event is published. */
static void check_state_event(struct kring *ring, uint32_t from, uint32_t to)
{
	const struct speprof_event *event;
	unsigned int i;

	for (i = 0; !(event = kring_next_event(ring)) && i < 100; i++)
		ksleep_ms(2);
	check(event && event->type == SPEPROF_EVENT_STATE);
	check(event->arg0 == from && event->arg1 == to);
}

/*
 * Return true if the ring has left FULL more than @before times. It may be FULL again immediately.
 */
static bool wait_for_resume(const struct kring *ring, uint64_t before)
{
	for (unsigned int i = 0; i < 2500; i++) {
		if (kring_read_stats(ring).resumes > before)
			return true;
		ksleep_ms(2);
	}
	return false;
}

static void full_ring_stops_and_resumes(void)
{
	struct speprof_session_config config = kmake_session_config();
	struct speprof_ring_stats before, after;
	struct ring_scene scene;

	config.ring_size = 64 << 10;
	config.watermark = 0;
	config.max_latency_ms = 0;
	scene_begin(&scene, &config, 0);
	check(kwait_state(&scene.ring, SPEPROF_RING_FULL));
	check_state_event(&scene.ring, SPEPROF_RING_ARMED, SPEPROF_RING_FULL);

	/* Without free space KICK does nothing, and nothing is written. */
	before = kring_read_stats(&scene.ring);
	check(!ioctl(scene.ring.fd, SPEPROF_RING_KICK, 0));
	ksleep_ms(250);
	after = kring_read_stats(&scene.ring);
	check(after.state == SPEPROF_RING_FULL && after.head == before.head && !after.resumes);
	check(after.state_ns[SPEPROF_RING_FULL] - before.state_ns[SPEPROF_RING_FULL] >= 250000000);

	/* With free space KICK takes effect at once. */
	kring_read_windows(&scene.ring, &scene.tally);
	check(!ioctl(scene.ring.fd, SPEPROF_RING_KICK, 0));
	after = kring_read_stats(&scene.ring);
	/* An SPU with large records may have filled the ring again. */
	check(after.resumes > before.resumes);
	check_state_event(&scene.ring, SPEPROF_RING_FULL, SPEPROF_RING_ARMED);

	/* Without KICK the timer has the same effect. */
	check(kwait_state(&scene.ring, SPEPROF_RING_FULL));
	after = kring_read_stats(&scene.ring);
	kring_read_windows(&scene.ring, &scene.tally);
	check(wait_for_resume(&scene.ring, after.resumes));
	check(kwait_state(&scene.ring, SPEPROF_RING_FULL));
	kring_read_windows(&scene.ring, &scene.tally);
	check(scene.tally.blind_by[SPEPROF_BLIND_FULL] >= 250000000);
	/* Any SPU may have a collision, or truncate its last record. */
	check(!(scene.tally.flags & (SPEPROF_WINDOW_FAULTED | SPEPROF_WINDOW_SUSPECT)));
	scene_end(&scene);
}

/*
 * A window must have space for a few records. If the rest of the ring is smaller, the driver skips
 * it, and the counters of skipped ranges and bytes grow.
 */
static void end_of_ring_is_skipped(void)
{
	struct speprof_session_config config = kmake_session_config();
	struct ring_scene scene;
	unsigned int i;

	config.ring_size = 64 << 10;
	config.watermark = 0;
	config.max_latency_ms = 5;
	scene_begin(&scene, &config, 0);
	/* Chance decides in which lap of the ring bytes are skipped, so read until one has some. */
	for (i = 0; i < 1000 && !scene.tally.skips; i++)
		scene_read_for_ms(&scene, 50);
	check(scene.tally.skips && scene.tally.skip_bytes >= 64);
	scene_read_for_ms(&scene, 50);
	scene_end(&scene);
}

static void full_event_ring_stops_sampling(void)
{
	struct speprof_session_config config = kmake_session_config();
	struct ring_scene scene;
	unsigned int i;

	config.event_slots = 16;
	config.max_latency_ms = 10;
	scene_begin(&scene, &config, 0);
	/* Each abort is an event, and the next window is usable. */
	for (i = 0; i < 64 && scene.ring.control->state != SPEPROF_RING_FULL; i++) {
		kinject_fault(0, 0x24, 0x11);
		ksleep_ms(30);
		kring_read_windows(&scene.ring, &scene.tally);
	}
	check(kwait_state(&scene.ring, SPEPROF_RING_FULL));
	check(scene.ring.control->event_head <= 16);
	for (i = 0; kring_next_event(&scene.ring); i++)
		;
	/*
	 * Six event slots are reserved, so the ring is FULL after eleven events; FULL is the
	 * twelfth.
	 */
	check(i >= 12);
	check(kwait_state(&scene.ring, SPEPROF_RING_ARMED));
	scene_end(&scene);
}

static void tails_are_not_trusted(void)
{
	static const uint64_t bad[] = { UINT64_MAX, 1ULL << 63, 1ULL << 40 };
	struct speprof_session_config config = kmake_session_config();
	struct speprof_advance advance;
	struct speprof_ring_stats stats;
	struct ring_scene scene;
	unsigned int i;

	scene_begin(&scene, &config, 0);
	scene_read_for_ms(&scene, 50);
	check(kring_read_stats(&scene.ring).tail == scene.ring.tail);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		scene.ring.control->tail = bad[i];
		scene.ring.control->event_tail = bad[i];
		stats = kring_read_stats(&scene.ring);
		check(stats.tail == scene.ring.tail && stats.bad_tails >= 2 * (i + 1));
		advance = (struct speprof_advance){ .tail = bad[i] };
		check_errno(ioctl(scene.ring.fd, SPEPROF_RING_ADVANCE, &advance), ERANGE);
		advance = (struct speprof_advance){ scene.ring.tail, bad[i] };
		check_errno(ioctl(scene.ring.fd, SPEPROF_RING_ADVANCE, &advance), ERANGE);
	}
	scene.ring.control->event_tail = 0;
	kring_read_windows(&scene.ring, &scene.tally);
	check(scene.ring.tail);
	/* The module refuses a tail below the last one that it accepted. */
	check(kring_read_stats(&scene.ring).tail == scene.ring.tail);
	advance = (struct speprof_advance){ .tail = scene.ring.tail - 64 };
	check_errno(ioctl(scene.ring.fd, SPEPROF_RING_ADVANCE, &advance), ERANGE);
	advance.tail = scene.ring.tail;
	check(!ioctl(scene.ring.fd, SPEPROF_RING_ADVANCE, &advance));

	/* Userspace may write to the rest of the page: the module does not use it. */
	memset(scene.ring.control, 0xff, 256);
	ksleep_ms(100);
	stats = kring_read_stats(&scene.ring);
	check(stats.head > scene.ring.tail);
	check(scene.ring.control->head == stats.head ||
	      scene.ring.control->head == kring_read_stats(&scene.ring).head);
	scene_end(&scene);
}

static void latency_is_bounded(void)
{
	struct speprof_session_config config = kmake_session_config();
	struct pollfd poll_fd = { .events = POLLIN };
	struct ring_scene scene;

	/* Without a maximum latency a window stays open until it is full or flushed. */
	config.max_latency_ms = 0;
	config.watermark = 512 << 10;
	scene_begin(&scene, &config, 0);
	poll_fd.fd = scene.ring.fd;
	ksleep_ms(50);
	check(!poll(&poll_fd, 1, 100));
	check(!ioctl(scene.ring.fd, SPEPROF_RING_FLUSH, 0));
	check(poll(&poll_fd, 1, 0) == 1);
	kring_read_windows(&scene.ring, &scene.tally);
	check(scene.tally.windows == 1 && scene.tally.flags & SPEPROF_WINDOW_PARTIAL);
	scene_end(&scene);

	/*
	 * With a maximum latency there are windows that are not full, even on a slow host.
	 */
	config.max_latency_ms = 30;
	scene_begin(&scene, &config, 0);
	for (unsigned int i = 0; i < 100 && scene.tally.windows < 5; i++)
		scene_read_for_ms(&scene, 100);
	check(scene.tally.windows >= 5);
	check(scene.tally.data_bytes < config.watermark);
	scene_end(&scene);
}

/* ---- io_uring ------------------------------------------------------------ */

static int uring_run_sqe(struct io_uring *uring, struct io_uring_sqe *sqe)
{
	struct io_uring_cqe *cqe;
	int result;

	(void)sqe;
	check(io_uring_submit(uring) == 1);
	check(!io_uring_wait_cqe(uring, &cqe));
	result = cqe->res;
	io_uring_cqe_seen(uring, cqe);
	return result;
}

static int uring_run_command(struct io_uring *uring, int fd, uint32_t number, uint64_t first,
			     uint64_t second)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(uring);
	uint64_t payload[2] = { first, second };

	io_uring_prep_rw(IORING_OP_URING_CMD, sqe, fd, NULL, 0, 0);
	sqe->cmd_op = number;
	memcpy(sqe->cmd, payload, sizeof(payload));
	return uring_run_sqe(uring, sqe);
}

static void uring_runs_ring_commands(void)
{
	struct speprof_session_config config = kmake_session_config();
	struct io_uring uring;
	struct ring_scene scene;
	int fd;

	check(!io_uring_queue_init(8, &uring, 0));
	scene_begin(&scene, &config, 0);
	fd = scene.ring.fd;
	scene_read_for_ms(&scene, 50);
	check(!uring_run_command(&uring, fd, SPEPROF_RING_ADVANCE, scene.ring.tail, 0));
	check(uring_run_command(&uring, fd, SPEPROF_RING_ADVANCE, UINT64_MAX, 0) == -ERANGE);
	check(uring_run_command(&uring, fd, SPEPROF_RING_ADVANCE, scene.ring.tail, 1) == -ERANGE);
	ksleep_ms(5);
	check(!uring_run_command(&uring, fd, SPEPROF_RING_FLUSH, 0, 0));
	check(!uring_run_command(&uring, fd, SPEPROF_RING_KICK, 0, 0));
	check(uring_run_command(&uring, fd, SPEPROF_RING_KICK, 1, 0) == -EINVAL);
	check(uring_run_command(&uring, fd, SPEPROF_RING_FLUSH, 0, 1) == -EINVAL);
	check(uring_run_command(&uring, fd, SPEPROF_RING_STATS, 0, 0) == -ENOTTY);
	check(uring_run_command(&uring, fd, 0, 0, 0) == -ENOTTY);
	scene_end(&scene);
	io_uring_queue_exit(&uring);
}

static void uring_runs_session_commands(void)
{
	struct speprof_session_config config = kmake_session_config();
	struct speprof_sampling sampling = kmake_sampling();
	struct speprof_cgroups cgroups = { .size = sizeof(cgroups), .op = SPEPROF_CGROUPS_ADD };
	struct io_uring uring;
	struct ring_scene scene;

	check(!io_uring_queue_init(8, &uring, 0));
	scene_begin(&scene, &config, 0);
#define SESSION_COMMAND(number, first, second) \
	uring_run_command(&uring, scene.session, (number), (first), (second))
	check(!SESSION_COMMAND(SPEPROF_SESSION_SAMPLE, (uintptr_t)&sampling, 0));
	check(scene.ring.control->generation == 2);
	check(!SESSION_COMMAND(SPEPROF_SESSION_STOP, 0, 0));
	check(scene.ring.control->state == SPEPROF_RING_IDLE);
	check(!SESSION_COMMAND(SPEPROF_SESSION_START, 0, 0));
	check(SESSION_COMMAND(SPEPROF_SESSION_CGROUPS, (uintptr_t)&cgroups, 0) == -EPERM);
	check(SESSION_COMMAND(SPEPROF_SESSION_CGROUPS, 8, 0) == -EFAULT);
	check(SESSION_COMMAND(SPEPROF_SESSION_SAMPLE, (uintptr_t)&sampling, 1) == -EINVAL);
	check(SESSION_COMMAND(SPEPROF_SESSION_START, 1, 0) == -EINVAL);
	check(SESSION_COMMAND(SPEPROF_RING_OPEN, 0, 0) == -ENOTTY);
	check(SESSION_COMMAND(SPEPROF_RING_KICK, 0, 0) == -ENOTTY);
#undef SESSION_COMMAND
	scene.tally.gaps = true;
	scene_end(&scene);
	io_uring_queue_exit(&uring);
}

static void uring_reads(void)
{
	struct speprof_session_config config = kmake_session_config();
	uint8_t *bytes = malloc(4 << 20);
	struct io_uring uring;
	struct ring_scene scene;
	size_t have = 0;

	check(!io_uring_queue_init(8, &uring, 0));
	scene_begin(&scene, &config, 0);
	/*
	 * With O_NONBLOCK the read would return immediately. Without O_NONBLOCK io_uring polls
	 * until there is data.
	 */
	check(!fcntl(scene.ring.fd, F_SETFL, 0));
	while (have < 128 << 10) {
		struct io_uring_sqe *sqe = io_uring_get_sqe(&uring);
		int got;

		io_uring_prep_read(sqe, scene.ring.fd, bytes + have, 20000, 0);
		got = uring_run_sqe(&uring, sqe);
		check(got > 0, "%d", got);
		have += (size_t)got;
	}
	check(!ioctl(scene.session, SPEPROF_SESSION_STOP, 0));
	for (;;) {
		ssize_t got = read(scene.ring.fd, bytes + have, 65536);

		check(got >= 0);
		if (!got)
			break;
		have += (size_t)got;
	}
	kwindows_check(bytes, have, 0, &scene.tally);
	scene.ring.tail = have;
	scene_end(&scene);
	io_uring_queue_exit(&uring);
	free(bytes);
}

/* Read into memory that io_uring has pinned, in sizes that are not whole windows. */
static void uring_reads_into_registered_buffers(void)
{
	struct speprof_session_config config = kmake_session_config();
	uint8_t *bytes = malloc(4 << 20);
	struct iovec pinned[2] = { { malloc(9000), 9000 }, { malloc(5000), 5000 } };
	struct io_uring uring;
	struct ring_scene scene;
	size_t have = 0;
	int got = 1;

	check(!io_uring_queue_init(8, &uring, 0));
	check(!io_uring_register_buffers(&uring, pinned, 2));
	scene_begin(&scene, &config, 0);
	check(!fcntl(scene.ring.fd, F_SETFL, 0));
	for (unsigned int i = 0; got; i++) {
		struct io_uring_sqe *sqe = io_uring_get_sqe(&uring);
		struct iovec *to = &pinned[i % 2];

		if (have >= 64 << 10)
			check(!ioctl(scene.session, SPEPROF_SESSION_STOP, 0));
		io_uring_prep_read_fixed(sqe, scene.ring.fd, (uint8_t *)to->iov_base + 100,
					 (unsigned int)to->iov_len - 100, 0, (int)(i % 2));
		got = uring_run_sqe(&uring, sqe);
		check(got >= 0, "%d", got);
		memcpy(bytes + have, (uint8_t *)to->iov_base + 100, (size_t)got);
		have += (size_t)got;
		check(have < 3 << 20);
	}
	kwindows_check(bytes, have, 0, &scene.tally);
	check(scene.tally.ledger.records == scene.tally.counted);
	scene.ring.tail = have;
	scene_end(&scene);
	io_uring_queue_exit(&uring);
	free(bytes);
}

/* io_uring implements a waiting read by poll, and can cancel it. */
static void uring_waits_can_be_cancelled(void)
{
	struct speprof_session_config config = kmake_session_config();
	struct io_uring_sqe *sqe;
	struct io_uring_cqe *cqe;
	struct io_uring uring;
	unsigned int seen = 0;
	struct kring ring;
	uint8_t byte;
	int session;

	check(!io_uring_queue_init(8, &uring, 0));
	session = ksession_new(&config);
	kring_open(session, 0, &ring);
	sqe = io_uring_get_sqe(&uring);
	io_uring_prep_poll_add(sqe, ring.fd, POLLIN);
	sqe->user_data = 1;
	sqe = io_uring_get_sqe(&uring);
	io_uring_prep_poll_multishot(sqe, ring.fd, POLLIN | POLLPRI);
	sqe->user_data = 2;
	check(io_uring_submit(&uring) == 2);
	ksleep_ms(20);
	check(io_uring_peek_cqe(&uring, &cqe) == -EAGAIN);
	sqe = io_uring_get_sqe(&uring);
	io_uring_prep_cancel_fd(sqe, ring.fd, IORING_ASYNC_CANCEL_ALL);
	sqe->user_data = 3;
	check(io_uring_submit(&uring) == 1);
	while (seen != 6) {
		check(!io_uring_wait_cqe(&uring, &cqe));
		check(cqe->res == (cqe->user_data == 3 ? 2 : -ECANCELED), "%llu: %d",
		      (unsigned long long)cqe->user_data, cqe->res);
		seen += (unsigned int)cqe->user_data;
		io_uring_cqe_seen(&uring, cqe);
	}
	check(!read(ring.fd, &byte, 1));
	kring_close(&ring);
	close(session);
	io_uring_queue_exit(&uring);
}

static void uring_multishot_poll(void)
{
	struct speprof_session_config config = kmake_session_config();
	struct io_uring uring;
	struct io_uring_sqe *sqe;
	struct ring_scene scene;
	unsigned int i;

	check(!io_uring_queue_init(8, &uring, 0));
	scene_begin(&scene, &config, 0);
	sqe = io_uring_get_sqe(&uring);
	io_uring_prep_poll_multishot(sqe, scene.ring.fd, POLLIN);
	check(io_uring_submit(&uring) == 1);
	for (i = 0; i < 10; i++) {
		struct __kernel_timespec limit = { .tv_sec = 2 };
		struct io_uring_cqe *cqe;

		check(!io_uring_wait_cqe_timeout(&uring, &cqe, &limit), "%u", i);
		check(cqe->res > 0 && cqe->res & POLLIN, "%d", cqe->res);
		check(cqe->flags & IORING_CQE_F_MORE);
		io_uring_cqe_seen(&uring, cqe);
		kring_read_windows(&scene.ring, &scene.tally);
	}
	scene_end(&scene);
	io_uring_queue_exit(&uring);
}

/* ---- Order of closing ---------------------------------------------------- */

/* Test that the last open descriptor or mapping of a session keeps its ring and memory. */
static void files_are_closed_in_any_order(void)
{
	struct speprof_session_config config = kmake_session_config();
	unsigned int order;

	for (order = 0; order < 6; order++) {
		struct ring_scene scene;

		scene_begin(&scene, &config, 0);
		ksleep_ms(40);
		kchild_end(scene.child);
		switch (order) {
		case 0:	/* close the session, then the ring */
			close(scene.session);
			ksleep_ms(30);
			kring_read_windows(&scene.ring, &scene.tally);
			check(scene.tally.windows);
			kring_close(&scene.ring);
			break;
		case 1:	/* close the ring, then the session */
			kring_close(&scene.ring);
			close(scene.session);
			break;
		case 2:	/* close the descriptors, then unmap */
			close(scene.session);
			close(scene.ring.fd);
			ksleep_ms(30);
			kring_read_windows(&scene.ring, &scene.tally);
			check(scene.tally.windows);
			munmap((void *)scene.ring.data, scene.ring.open.data_bytes);
			munmap((void *)scene.ring.events, scene.ring.open.event_bytes);
			check(kwait_state(&scene.ring, SPEPROF_RING_ARMED));
			munmap(scene.ring.control, scene.ring.open.control_bytes);
			break;
		case 3:	/* stopped first */
			check(!ioctl(scene.session, SPEPROF_SESSION_STOP, 0));
			close(scene.session);
			kring_close(&scene.ring);
			break;
		case 4:	/* a duplicated descriptor keeps the ring alive */
			check(dup2(scene.ring.fd, 200) == 200);
			close(scene.session);
			kring_close(&scene.ring);
			check_errno(ioctl(200, SPEPROF_SESSION_STOP, 0), ENOTTY);
			close(200);
			break;
		case 5: /* exit() closes and unmaps everything */
			break;
		}
	}
}

const struct ktest ktests_ring[] = {
	{ "every-cpu-is-sampled", every_cpu_is_sampled },
	{ "filters-and-levels-hold", filters_and_levels_apply },
	{ "reconfigured-while-running", configuration_changes_while_running },
	{ "read-is-a-stream", read_is_a_stream },
	{ "read-waits-if-blocking", read_waits_if_blocking },
	{ "full-ring-stops-and-resumes", full_ring_stops_and_resumes },
	{ "ends-are-skipped", end_of_ring_is_skipped, .on_request = true },
	{ "full-event-ring-stops-too", full_event_ring_stops_sampling },
	{ "tails-are-not-trusted", tails_are_not_trusted },
	{ "latency-is-bounded", latency_is_bounded },
	{ "uring-commands", uring_runs_ring_commands },
	{ "uring-session-commands", uring_runs_session_commands },
	{ "uring-reads", uring_reads },
	{ "uring-reads-into-registered-buffers", uring_reads_into_registered_buffers },
	{ "uring-waits-can-be-cancelled", uring_waits_can_be_cancelled },
	{ "uring-multishot-poll", uring_multishot_poll },
	{ "closed-in-any-order", files_are_closed_in_any_order },
	{ 0 },
};
