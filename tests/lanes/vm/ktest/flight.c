// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test the flight recorder: what is overwritten, which bytes a reader may use, and what snapshots
 * contain.
 */
#include <errno.h>
#include <liburing.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ktest.h"

#define RING (64 << 10)

struct flight_session {
	int session;
	pid_t child;
	struct kring ring;
	uint8_t *bytes;
};

static void flight_begin(struct flight_session *flight, uint64_t watermark)
{
	struct speprof_session_config config = kmake_session_config();

	config.mode = SPEPROF_MODE_FLIGHT_RECORDER;
	config.ring_size = RING;
	config.watermark = watermark;
	config.event_slots = 16;
	*flight = (struct flight_session){
		.session = ksession_new(&config),
		.child = kstart_spinning(0),
		.bytes = malloc(RING),
	};
	kring_open(flight->session, 0, &flight->ring);
	check(!ioctl(flight->session, SPEPROF_SESSION_START, 0), "%s", strerror(errno));
}

static void flight_end(struct flight_session *flight)
{
	kchild_end(flight->child);
	kring_close(&flight->ring);
	close(flight->session);
	free(flight->bytes);
}

static uint64_t load_word(const __u64 *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* Wait until the ring was overwritten @laps times. */
static void wait_for_laps(const struct flight_session *flight, unsigned int laps)
{
	uint64_t until = load_word(&flight->ring.control->head) + (uint64_t)laps * RING;

	while (load_word(&flight->ring.control->head) < until)
		ksleep_ms(5);
}

/* Copy a range that may wrap around the end of the ring. */
static void copy_range(const struct flight_session *flight, uint64_t from, uint64_t to)
{
	uint64_t offset = from % RING, size = to - from;
	uint64_t first = size < RING - offset ? size : RING - offset;

	check(size <= RING);
	memcpy(flight->bytes, flight->ring.data + offset, first);
	memcpy(flight->bytes + first, flight->ring.data, size - first);
}

/*
 * Check that the bytes from @from to @to, in a copy that starts at @base, are complete consecutive
 * windows.
 */
static void check_windows(const struct flight_session *flight, uint64_t base, uint64_t from,
			  uint64_t to, struct ktally *tally)
{
	struct speprof_window window;

	*tally = (struct ktally){ .gaps = true };
	if (from >= to)
		return;
	memcpy(&window, flight->bytes + (from - base), SPEPROF_WINDOW_SKIP_SIZE);
	check(window.position == from);
	tally->next_seq = window.seq;
	kwindows_check(flight->bytes + (from - base), to - from, 0, tally);
}

static struct speprof_snapshot take_snapshot(int fd, uint64_t max_bytes)
{
	struct speprof_snapshot snapshot = { .size = sizeof(snapshot), .max_bytes = max_bytes };

	check(!ioctl(fd, SPEPROF_RING_SNAPSHOT, &snapshot), "%s", strerror(errno));
	check(snapshot.start < snapshot.end && snapshot.time_ns <= kclock_ns());
	check(snapshot.end - snapshot.start <= (max_bytes ? max_bytes : RING / 2));
	return snapshot;
}

static int ring_reopen(const struct flight_session *flight)
{
	struct speprof_ring_open open = { .size = sizeof(open), .flags = SPEPROF_RING_NONBLOCK };
	int fd = ioctl(flight->session, SPEPROF_RING_OPEN, &open);

	check(fd >= 0, "%s", strerror(errno));
	return fd;
}

/* ---- Overwriting ----------------------------------------------------------- */

/*
 * Stop, and check that each byte ever written was overwritten, is in a snapshot, or is in the ring.
 */
static void check_ledgers(struct flight_session *flight)
{
	struct speprof_ring_stats stats;
	struct ktally tally;

	check(!ioctl(flight->session, SPEPROF_SESSION_STOP, 0));
	stats = kring_read_stats(&flight->ring);
	check(stats.oldest == flight->ring.control->oldest);
	check(stats.head - stats.oldest <= RING);
	copy_range(flight, stats.oldest, stats.head);
	check_windows(flight, stats.oldest, stats.oldest, stats.head, &tally);
	check(tally.ledger.records == tally.counted && !tally.ledger.suspect);
	check(stats.head == stats.data_bytes + stats.header_bytes + stats.skip_bytes);
	check(stats.data_bytes ==
		      stats.overwritten_bytes + stats.claimed_bytes + tally.data_bytes ||
	      stats.claimed_bytes);
	check(stats.records == stats.overwritten_records + stats.claimed_records + tally.counted ||
	      stats.claimed_bytes || !kwindows_have_counts());
	check(stats.data_bytes >= stats.overwritten_bytes + stats.claimed_bytes);
	check(stats.data_bytes <= stats.overwritten_bytes + stats.claimed_bytes + tally.data_bytes);
	check(!stats.state_ns[SPEPROF_RING_FULL] || stats.claimed_bytes);
}

static void full_ring_is_overwritten(void)
{
	struct speprof_ring_stats stats;
	struct flight_session flight;

	flight_begin(&flight, 8192);
	wait_for_laps(&flight, 4);
	check(flight.ring.control->oldest > 0);
	check_errno(read(flight.ring.fd, flight.bytes, RING), EINVAL);
	check_ledgers(&flight);
	stats = kring_read_stats(&flight.ring);
	check(stats.overwritten_bytes > 2 * RING &&
	      (stats.overwritten_records > 1000 || !kwindows_have_counts()));
	check(!stats.state_ns[SPEPROF_RING_FULL] && !stats.claimed_bytes);
	/* After a start the recorder continues at its position. */
	check(!ioctl(flight.session, SPEPROF_SESSION_START, 0));
	wait_for_laps(&flight, 2);
	check_ledgers(&flight);
	flight_end(&flight);
}

/* Test that a reader that is too slow can determine exactly which of its bytes were overwritten. */
static void racing_reader_is_notified(void)
{
	unsigned int raced = 0, whole = 0, round;
	struct ktally tally;
	struct flight_session flight;

	flight_begin(&flight, 4096);
	wait_for_laps(&flight, 1);
	for (round = 0; raced < 20 || whole < 20; round++) {
		uint64_t oldest = load_word(&flight.ring.control->oldest);
		uint64_t head = load_word(&flight.ring.control->head), after;

		check(oldest <= head && head - oldest <= RING);
		if (round % 2)
			ksleep_ms(5 + round % 40);
		copy_range(&flight, oldest, head);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		after = load_word(&flight.ring.control->oldest);
		check(after >= oldest);
		check_windows(&flight, oldest, after, head, &tally);
		check(!tally.ledger.suspect && tally.ledger.records == tally.counted);
		raced += after != oldest;
		whole += tally.windows > 0;
	}
	check_ledgers(&flight);
	flight_end(&flight);
}

static void old_events_are_overwritten(void)
{
	const struct speprof_event *event;
	struct speprof_ring_stats stats;
	struct flight_session flight;
	uint64_t seq;

	flight_begin(&flight, 8192);
	for (unsigned int i = 0; i < 200 && flight.ring.control->event_head < 40; i++) {
		kinject_fault(0, 0x24, 0x11);
		ksleep_ms(25);
	}
	check(!ioctl(flight.session, SPEPROF_SESSION_STOP, 0));
	stats = kring_read_stats(&flight.ring);
	check(stats.event_head >= 40 && !stats.state_ns[SPEPROF_RING_FULL]);
	check(stats.event_oldest == flight.ring.control->event_oldest);
	check(stats.event_head - stats.event_oldest >= 10);
	for (seq = stats.event_oldest; seq < stats.event_head; seq++) {
		event = &flight.ring.events[seq % 16];
		check(event->seq == seq && event->type == SPEPROF_EVENT_SYNDROME);
	}
	flight_end(&flight);
}

/* ---- Snapshots ------------------------------------------------------------- */

/* Windows in a snapshot do not change over several laps, while sampling continues around them. */
static void snapshot_does_not_change(void)
{
	struct speprof_snapshot snapshot;
	uint8_t *before = malloc(RING);
	struct speprof_ring_stats stats;
	struct ktally tally;
	struct flight_session flight;

	flight_begin(&flight, 4096);
	wait_for_laps(&flight, 1);
	for (unsigned int i = 0; i < 5; i++) {
		snapshot = take_snapshot(flight.ring.fd, i % 2 ? RING / 4 : 0);
		check_errno(ioctl(flight.ring.fd, SPEPROF_RING_SNAPSHOT, &snapshot), EBUSY);
		copy_range(&flight, snapshot.start, snapshot.end);
		memcpy(before, flight.bytes, snapshot.end - snapshot.start);
		check_windows(&flight, snapshot.start, snapshot.start, snapshot.end, &tally);
		check(tally.windows && !tally.ledger.suspect);
		wait_for_laps(&flight, 3);
		copy_range(&flight, snapshot.start, snapshot.end);
		check(!memcmp(before, flight.bytes, snapshot.end - snapshot.start));
		stats = kring_read_stats(&flight.ring);
		check(stats.snapshots == 1 && stats.state != SPEPROF_RING_FULL);
		check(stats.claimed_bytes >= tally.data_bytes);
		check(!ioctl(flight.ring.fd, SPEPROF_RING_RELEASE, 0));
		check_errno(ioctl(flight.ring.fd, SPEPROF_RING_RELEASE, 0), ENOENT);
	}
	check(!kring_read_stats(&flight.ring).snapshots);
	check_ledgers(&flight);
	check(!kring_read_stats(&flight.ring).state_ns[SPEPROF_RING_FULL]);
	flight_end(&flight);
	free(before);
}

static void two_snapshots_are_independent(void)
{
	struct speprof_snapshot first, second;
	struct speprof_ring_stats stats;
	struct ktally tallies[2];
	struct flight_session flight;
	int other;

	flight_begin(&flight, 4096);
	other = ring_reopen(&flight);
	wait_for_laps(&flight, 1);
	first = take_snapshot(flight.ring.fd, RING / 4);
	second = take_snapshot(other, RING / 2);
	/*
	 * The second snapshot includes the first, unless this process was preempted for a quarter
	 * of a lap between them.
	 */
	while (second.start > first.start) {
		check(!ioctl(other, SPEPROF_RING_RELEASE, 0));
		check(!ioctl(flight.ring.fd, SPEPROF_RING_RELEASE, 0));
		first = take_snapshot(flight.ring.fd, RING / 4);
		second = take_snapshot(other, RING / 2);
	}
	check(second.end >= first.end);
	stats = kring_read_stats(&flight.ring);
	check(stats.snapshots == 2);
	copy_range(&flight, second.start, second.end);
	check_windows(&flight, second.start, second.start, second.end, &tallies[0]);
	/* Bytes in both snapshots count once. */
	check(stats.claimed_bytes == tallies[0].data_bytes);
	check(!kwindows_have_counts() || stats.claimed_records == tallies[0].counted);
	close(other);
	check(kring_read_stats(&flight.ring).snapshots == 1);
	wait_for_laps(&flight, 2);
	copy_range(&flight, first.start, first.end);
	check_windows(&flight, first.start, first.start, first.end, &tallies[1]);
	check(tallies[1].windows && !tallies[1].ledger.suspect);
	/* A snapshot belongs to the open file, so a duplicated descriptor shares it. */
	other = dup(flight.ring.fd);
	check(!ioctl(other, SPEPROF_RING_RELEASE, 0));
	check(!kring_read_stats(&flight.ring).snapshots);
	check_ledgers(&flight);
	flight_end(&flight);
}

/*
 * If snapshots contain the whole ring the CPU stops sampling, reports this, and continues when a
 * snapshot is released.
 */
static void snapshots_can_fill_the_ring(void)
{
	struct speprof_ring_stats before;
	struct speprof_snapshot snapshot;
	const struct speprof_event *event;
	struct ktally tally;
	struct flight_session flight;

	flight_begin(&flight, 4096);
	wait_for_laps(&flight, 1);
	snapshot = take_snapshot(flight.ring.fd, UINT64_MAX);
	check(snapshot.end - snapshot.start > RING / 2);
	check(kwait_state(&flight.ring, SPEPROF_RING_FULL));
	check(!ioctl(flight.ring.fd, SPEPROF_RING_KICK, 0));
	before = kring_read_stats(&flight.ring);
	ksleep_ms(250);
	check(kring_read_stats(&flight.ring).head == before.head &&
	      before.state == SPEPROF_RING_FULL);
	event = kring_next_event(&flight.ring);
	check(event && event->type == SPEPROF_EVENT_STATE && event->arg1 == SPEPROF_RING_FULL);
	copy_range(&flight, snapshot.start, snapshot.end);
	check_windows(&flight, snapshot.start, snapshot.start, snapshot.end, &tally);
	check(tally.windows && !tally.ledger.suspect);
	/* A second snapshot can only contain the same bytes as the first. */
	check(!ioctl(flight.ring.fd, SPEPROF_RING_RELEASE, 0));
	check(kring_read_stats(&flight.ring).state == SPEPROF_RING_ARMED);
	event = kring_next_event(&flight.ring);
	check(event && event->type == SPEPROF_EVENT_STATE && event->arg1 == SPEPROF_RING_ARMED);
	wait_for_laps(&flight, 1);
	check_ledgers(&flight);
	flight_end(&flight);
}

/*
 * If a process that has a snapshot is killed, the snapshot is released. A snapshot that is never
 * released ends with its session.
 */
static void killed_process_releases_snapshot(void)
{
	struct flight_session flight;
	pid_t holder;

	flight_begin(&flight, 4096);
	wait_for_laps(&flight, 1);
	holder = fork();
	if (!holder) {
		take_snapshot(ring_reopen(&flight), UINT64_MAX);
		pause();
		_exit(0);
	}
	check(kwait_state(&flight.ring, SPEPROF_RING_FULL));
	check(kring_read_stats(&flight.ring).snapshots == 1);
	kill(holder, SIGKILL);
	check(waitpid(holder, NULL, 0) == holder);
	check(kwait_state(&flight.ring, SPEPROF_RING_ARMED));
	check(!kring_read_stats(&flight.ring).snapshots);
	wait_for_laps(&flight, 1);
	take_snapshot(flight.ring.fd, 0);
	flight_end(&flight);
}

static void snapshots_are_checked(void)
{
	struct speprof_session_config config = kmake_session_config();
	struct speprof_snapshot snapshot = { .size = sizeof(snapshot) };
	struct flight_session flight;
	struct kring stream;
	int session, others[9], i;

	session = ksession_new(&config);
	kring_open(session, 0, &stream);
	check_errno(ioctl(stream.fd, SPEPROF_RING_SNAPSHOT, &snapshot), EOPNOTSUPP);
	check_errno(ioctl(stream.fd, SPEPROF_RING_RELEASE, 0), EOPNOTSUPP);
	kring_close(&stream);
	close(session);

	config.mode = SPEPROF_MODE_FLIGHT_RECORDER;
	session = ksession_new(&config);
	kring_open(session, 0, &stream);
	check_errno(ioctl(stream.fd, SPEPROF_RING_SNAPSHOT, &snapshot), ENODATA);
	kring_close(&stream);
	close(session);

	flight_begin(&flight, 4096);
	wait_for_laps(&flight, 1);
	snapshot.reserved = 1;
	check_errno(ioctl(flight.ring.fd, SPEPROF_RING_SNAPSHOT, &snapshot), EINVAL);
	snapshot = (struct speprof_snapshot){ .size = sizeof(snapshot), .max_bytes = 64 };
	check_errno(ioctl(flight.ring.fd, SPEPROF_RING_SNAPSHOT, &snapshot), ENODATA);
	check_errno(ioctl(flight.ring.fd, SPEPROF_RING_RELEASE, 1), EINVAL);
	/*
	 * The reply cannot be written to a read-only mapping, so the call fails and creates no
	 * snapshot.
	 */
	snapshot.size = 32;
	check_errno(ioctl(flight.ring.fd, SPEPROF_RING_SNAPSHOT, &snapshot), EINVAL);
	check_errno(ioctl(flight.ring.fd, SPEPROF_RING_SNAPSHOT, NULL), EFAULT);
	check(!kring_read_stats(&flight.ring).snapshots);
	for (i = 0; i < 8; i++)
		take_snapshot(others[i] = ring_reopen(&flight), 0);
	others[i] = ring_reopen(&flight);
	snapshot = (struct speprof_snapshot){ .size = sizeof(snapshot) };
	check_errno(ioctl(others[i], SPEPROF_RING_SNAPSHOT, &snapshot), ENOSPC);
	check(kring_read_stats(&flight.ring).snapshots == 8);
	while (i >= 0)
		close(others[i--]);
	/* A snapshot of a stopped ring is possible, too, and stays valid after the next start. */
	check(!ioctl(flight.session, SPEPROF_SESSION_STOP, 0));
	snapshot = take_snapshot(flight.ring.fd, 0);
	check(snapshot.end == flight.ring.control->head);
	check(!ioctl(flight.session, SPEPROF_SESSION_START, 0));
	wait_for_laps(&flight, 2);
	check(!ioctl(flight.ring.fd, SPEPROF_RING_RELEASE, 0));
	check_ledgers(&flight);
	flight_end(&flight);
}

static void snapshot_of_an_offline_cpu(void)
{
	struct speprof_session_config config = kmake_session_config();
	struct kring ring;
	pid_t child;
	int session;

	config.mode = SPEPROF_MODE_FLIGHT_RECORDER;
	session = ksession_new(&config);
	kring_open(session, 1, &ring);
	child = kstart_spinning(1);
	check(!ioctl(session, SPEPROF_SESSION_START, 0));
	for (unsigned int i = 0; i < 500 && !load_word(&ring.control->head); i++)
		ksleep_ms(10);
	check(kcpu_set_online(1, false));
	take_snapshot(ring.fd, 1 << 19);
	check(!ioctl(ring.fd, SPEPROF_RING_RELEASE, 0));
	take_snapshot(ring.fd, 1 << 19);
	check(kcpu_set_online(1, true));
	check(kwait_state(&ring, SPEPROF_RING_ARMED));
	kchild_end(child);
	kring_close(&ring);
	close(session);
}

static int uring_run_command(struct io_uring *uring, int fd, uint32_t number, const void *argument)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(uring);
	uint64_t payload[2] = { (uintptr_t)argument, 0 };
	struct io_uring_cqe *cqe;
	int result;

	io_uring_prep_rw(IORING_OP_URING_CMD, sqe, fd, NULL, 0, 0);
	sqe->cmd_op = number;
	memcpy(sqe->cmd, payload, sizeof(payload));
	check(io_uring_submit(uring) == 1);
	check(!io_uring_wait_cqe(uring, &cqe));
	result = cqe->res;
	io_uring_cqe_seen(uring, cqe);
	return result;
}

static void uring_takes_snapshots(void)
{
	struct speprof_snapshot snapshot = { .size = sizeof(snapshot) };
	struct io_uring uring;
	struct flight_session flight;
	int fd;

	check(!io_uring_queue_init(8, &uring, 0));
	flight_begin(&flight, 4096);
	fd = flight.ring.fd;
	wait_for_laps(&flight, 1);
	check(!uring_run_command(&uring, fd, SPEPROF_RING_SNAPSHOT, &snapshot));
	check(snapshot.end > snapshot.start && kring_read_stats(&flight.ring).snapshots == 1);
	check(uring_run_command(&uring, fd, SPEPROF_RING_SNAPSHOT, &snapshot) == -EBUSY);
	check(uring_run_command(&uring, fd, SPEPROF_RING_RELEASE, &snapshot) == -EINVAL);
	check(!uring_run_command(&uring, fd, SPEPROF_RING_RELEASE, NULL));
	check(uring_run_command(&uring, fd, SPEPROF_RING_RELEASE, NULL) == -ENOENT);
	check(uring_run_command(&uring, fd, SPEPROF_RING_SNAPSHOT, (void *)8) == -EFAULT);
	check(!kring_read_stats(&flight.ring).snapshots);
	flight_end(&flight);
	io_uring_queue_exit(&uring);
}

const struct ktest ktests_flight[] = {
	{ "full-ring-is-overwritten", full_ring_is_overwritten },
	{ "racing-reader-is-notified", racing_reader_is_notified },
	{ "old-events-are-overwritten", old_events_are_overwritten },
	{ "snapshot-does-not-change", snapshot_does_not_change },
	{ "two-snapshots-are-independent", two_snapshots_are_independent },
	{ "snapshots-can-fill-the-ring", snapshots_can_fill_the_ring },
	{ "killed-holder-releases", killed_process_releases_snapshot },
	{ "snapshots-are-checked", snapshots_are_checked },
	{ "snapshot-of-an-absent-cpu", snapshot_of_an_offline_cpu },
	{ "uring-snapshots", uring_takes_snapshots },
	{ 0 },
};
