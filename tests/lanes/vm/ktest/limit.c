// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test the causes that end sampling for some time: the throttle, and a missing reader. */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ktest.h"

struct limited_session {
	int session;
	pid_t child;
	struct kring ring;
	struct ktally tally;
};

static void limited_begin(struct limited_session *limited,
			  const struct speprof_session_config *config)
{
	*limited = (struct limited_session){ .session = ksession_new(config),
					     .child = kstart_spinning(0) };
	kring_open(limited->session, 0, &limited->ring);
	check(!ioctl(limited->session, SPEPROF_SESSION_START, 0), "%s", strerror(errno));
}

static void limited_end(struct limited_session *limited)
{
	check(!ioctl(limited->session, SPEPROF_SESSION_STOP, 0));
	kring_read_windows(&limited->ring, &limited->tally);
	ktally_check(&limited->ring, &limited->tally);
	kchild_end(limited->child);
	kring_close(&limited->ring);
	close(limited->session);
}

/*
 * Read until there is an event of @type. Return: a copy of the event, because its slot is released.
 */
static struct speprof_event wait_for_event(struct limited_session *limited, uint32_t type,
					   uint64_t arg1)
{
	for (unsigned int i = 0; i < 5000; i++) {
		const struct speprof_event *event = kring_next_event(&limited->ring);

		kring_read_windows(&limited->ring, &limited->tally);
		if (event && event->type == type && event->arg1 == arg1)
			return *event;
		if (!event)
			ksleep_ms(2);
	}
	check(0, "no event of type %u", type);
	abort();
}

/*
 * Wait for @ms milliseconds. Meanwhile, check each time that the ring becomes THROTTLED from ARMED
 * or IDLE, and that an event with the cause @cause follows.
 */
static void wait_throttled(struct limited_session *limited, uint32_t cause, unsigned int ms)
{
	struct speprof_event event;
	uint64_t end = kclock_ns() + ms * 1000000ULL;

	while (kclock_ns() < end) {
		event = wait_for_event(limited, SPEPROF_EVENT_STATE, SPEPROF_RING_THROTTLED);
		/* The state is IDLE if the previous test has used up this period. */
		check(event.arg0 == SPEPROF_RING_ARMED || event.arg0 == SPEPROF_RING_IDLE);
		event = wait_for_event(limited, SPEPROF_EVENT_THROTTLE, cause);
		check(event.arg0 > 0);
	}
}

static void bytes_are_bounded(void)
{
	struct speprof_session_config config = kmake_session_config();
	struct speprof_ring_stats before, after;
	struct limited_session limited;
	uint64_t from, periods;

	/* Permit less than a tenth of the bytes that the emulated SPU writes. */
	kset_parameter("throttle_bytes", 40960);
	config.watermark = 4096;
	limited_begin(&limited, &config);
	wait_throttled(&limited, SPEPROF_THROTTLE_BYTES, 200);
	before = kring_read_stats(&limited.ring);
	from = kclock_ns();
	wait_throttled(&limited, SPEPROF_THROTTLE_BYTES, 1000);
	after = kring_read_stats(&limited.ring);
	periods = (kclock_ns() - from) / 100000000 + 2;
	check(after.data_bytes - before.data_bytes <=
		      periods * (4096 + 4096 + kcpu_query_info(0).record_max),
	      "%llu in %llu", (unsigned long long)(after.data_bytes - before.data_bytes),
	      (unsigned long long)periods);
	check(after.throttles > before.throttles);
	check(after.state_ns[SPEPROF_RING_THROTTLED] > before.state_ns[SPEPROF_RING_THROTTLED]);
	/* Sampling continues when the limit is removed. */
	kset_parameter("throttle_bytes", 0);
	check(kwait_state(&limited.ring, SPEPROF_RING_ARMED));
	limited_end(&limited);
	check(limited.tally.blind_ns > 0);
	/* wait_throttled() waited for more than a second; most of the blind time is from then. */
	check(limited.tally.blind_by[SPEPROF_BLIND_THROTTLED] > limited.tally.blind_ns / 2);
}

/* If the write of each record faults, the SPU causes no more interrupts than the limit permits. */
static void fault_storm_is_bounded(void)
{
	struct speprof_session_config config = kmake_session_config();
	struct speprof_ring_stats stats;
	struct limited_session limited;
	uint64_t from, periods;

	/* Set a limit that is so small that a slow guest reaches it, too. */
	kset_parameter("throttle_interrupts", 20);
	config.watermark = 4096;
	config.max_latency_ms = 0;
	config.event_slots = 4096;
	limited_begin(&limited, &config);
	from = kclock_ns();
	wait_throttled(&limited, SPEPROF_THROTTLE_INTERRUPTS, 1000);
	stats = kring_read_stats(&limited.ring);
	periods = (kclock_ns() - from) / 100000000 + 2;
	check(stats.interrupts <= periods * 3, "%llu in %llu", (unsigned long long)stats.interrupts,
	      (unsigned long long)periods);
	for (unsigned int i = 0; i < 200; i++) {
		kinject_fault(0, 0x24, 0x11);
		kring_read_windows(&limited.ring, &limited.tally);
	}
	stats = kring_read_stats(&limited.ring);
	periods = (kclock_ns() - from) / 100000000 + 2;
	check(stats.interrupts <= periods * 3);
	check(stats.state != SPEPROF_RING_FAULTED);
	limited_end(&limited);
}

static void throttled_ring_can_be_stopped(void)
{
	struct speprof_session_config config = kmake_session_config();
	struct limited_session limited;

	kset_parameter("throttle_bytes", 10);
	config.watermark = 4096;
	config.max_latency_ms = 10000;
	limited_begin(&limited, &config);
	for (unsigned int i = 0; i < 10; i++) {
		struct speprof_sampling sampling = kmake_sampling();

		check(kwait_state(&limited.ring, SPEPROF_RING_THROTTLED));
		check(!ioctl(limited.ring.fd, SPEPROF_RING_KICK, 0));
		check(!ioctl(limited.ring.fd, SPEPROF_RING_FLUSH, 0));
		check(!ioctl(limited.session, SPEPROF_SESSION_SAMPLE, &sampling));
		if (i % 2)
			continue;
		check(!ioctl(limited.session, SPEPROF_SESSION_STOP, 0));
		check(!ioctl(limited.session, SPEPROF_SESSION_START, 0));
		while (kring_next_event(&limited.ring))
			;
	}
	limited.tally.gaps = true;
	limited_end(&limited);
}

/* ---- Commands ---------------------------------------------------------------- */

static int call_flush(const struct limited_session *limited)
{
	return ioctl(limited->ring.fd, SPEPROF_RING_FLUSH, 0);
}

static int call_stats(const struct limited_session *limited)
{
	struct speprof_ring_stats stats = { .size = sizeof(stats) };

	return ioctl(limited->ring.fd, SPEPROF_RING_STATS, &stats);
}

static int call_sample(const struct limited_session *limited)
{
	struct speprof_sampling sampling = kmake_sampling();

	return ioctl(limited->session, SPEPROF_SESSION_SAMPLE, &sampling);
}

static int call_start(const struct limited_session *limited)
{
	return ioctl(limited->session, SPEPROF_SESSION_START, 0);
}

/* Commands that interrupt CPUs are refused above their rate. STOP is never refused. */
static void commands_are_bounded(void)
{
	static int (*const commands[])(const struct limited_session *limited) = {
		call_flush, call_stats, call_sample, call_start
	};
	struct speprof_session_config config = kmake_session_config();
	struct limited_session limited;
	uint64_t from = kclock_ns();
	unsigned int done;

	limited_begin(&limited, &config);
	kset_parameter("throttle_commands", 2);
	for (unsigned int i = 0; i < 4; i++) {
		for (done = 0; !commands[i](&limited); done++)
			check(done <= 2 * ((kclock_ns() - from) / 1000000000 + 2), "%u", done);
		check(errno == EAGAIN, "%s", strerror(errno));
		for (unsigned int k = 0; k < 1000; k++)
			check(!ioctl(limited.session, SPEPROF_SESSION_STOP, 0));
	}
	kset_parameter("throttle_commands", 0);
	for (unsigned int i = 0; i < 4; i++)
		check(!commands[i](&limited), "%s", strerror(errno));
	limited.tally.gaps = true;
	limited_end(&limited);
}

/* ---- One CPU at a time ------------------------------------------------------ */

static struct speprof_tune make_tune(uint32_t cpu, uint64_t interval)
{
	return (struct speprof_tune){ .size = sizeof(struct speprof_tune),
				      .cpu = cpu,
				      .interval = interval };
}

/*
 * A session's own limit applies if the module has none, to this session only, and can be removed.
 */
static void session_has_its_own_bound(void)
{
	struct speprof_session_config config = kmake_session_config();
	struct speprof_tune tune = make_tune(0, 0);
	struct speprof_ring_stats before;
	struct limited_session limited;

	config.watermark = 4096;
	limited_begin(&limited, &config);
	tune.throttle_bytes = 40960;
	check(!ioctl(limited.session, SPEPROF_SESSION_TUNE, &tune), "%s", strerror(errno));
	wait_throttled(&limited, SPEPROF_THROTTLE_BYTES, 300);
	check(limited.tally.interval / 256 == KTEST_INTERVAL / 256);
	check(kring_read_stats(&limited.ring).throttles);
	tune.throttle_bytes = 0;
	check(!ioctl(limited.session, SPEPROF_SESSION_TUNE, &tune));
	check(kwait_state(&limited.ring, SPEPROF_RING_ARMED));
	before = kring_read_stats(&limited.ring);
	for (unsigned int i = 0;
	     i < 50 || (i < 500 && kring_read_stats(&limited.ring).data_bytes == before.data_bytes);
	     i++) {
		ksleep_ms(10);
		kring_read_windows(&limited.ring, &limited.tally);
	}
	check(kring_read_stats(&limited.ring).throttles == before.throttles);
	check(kring_read_stats(&limited.ring).data_bytes > before.data_bytes);
	limited_end(&limited);
}

static void check_tune_arguments(int session)
{
	struct speprof_tune tune = make_tune(4096, 0);

	check_errno(ioctl(session, SPEPROF_SESSION_TUNE, &tune), ENOENT);
	tune = make_tune(0, 255);
	check_errno(ioctl(session, SPEPROF_SESSION_TUNE, &tune), ERANGE);
	tune = make_tune(0, 0);
	tune.size = sizeof(tune) - 8;
	check_errno(ioctl(session, SPEPROF_SESSION_TUNE, &tune), EINVAL);
}

/*
 * Each CPU has its own interval, which its windows report, until SAMPLE sets one interval for all
 * CPUs.
 */
static void cpus_have_their_own_interval(void)
{
	struct speprof_session_config config = kmake_session_config();
	struct speprof_tune tune = make_tune(1, 4 * KTEST_INTERVAL);
	struct speprof_sampling sampling = kmake_sampling();
	int session = ksession_new(&config);
	struct ktally tally[2] = { 0 };
	struct kring ring[2];
	pid_t child[2];
	double ops[2];

	if (kcount_cpus() < 2)
		return;
	check_tune_arguments(session);
	for (unsigned int cpu = 0; cpu < 2; cpu++) {
		child[cpu] = kstart_spinning(cpu);
		kring_open(session, cpu, &ring[cpu]);
	}
	check(!ioctl(session, SPEPROF_SESSION_START, 0));
	check(!ioctl(session, SPEPROF_SESSION_TUNE, &tune), "%s", strerror(errno));
	/* Earlier samples are reported with the former interval. */
	ksleep_ms(100);
	for (unsigned int cpu = 0; cpu < 2; cpu++) {
		kring_read_windows(&ring[cpu], &tally[cpu]);
		tally[cpu] = (struct ktally){ .gaps = true, .next_seq = tally[cpu].next_seq };
	}
	for (unsigned int i = 0; i < 100; i++) {
		ksleep_ms(20);
		for (unsigned int cpu = 0; cpu < 2; cpu++)
			kring_read_windows(&ring[cpu], &tally[cpu]);
	}
	for (unsigned int cpu = 0; cpu < 2; cpu++) {
		check(tally[cpu].interval / 256 ==
		      (cpu ? 4 * KTEST_INTERVAL : KTEST_INTERVAL) / 256);
		check(tally[cpu].armed_ns > 500000000, "%llu",
		      (unsigned long long)tally[cpu].armed_ns);
		ops[cpu] = (double)tally[cpu].counted * (double)tally[cpu].interval /
			   (double)tally[cpu].armed_ns;
	}
	/*
	 * A busy host delays the ticks of the faster CPU more: neither CPU may report more
	 * operations than possible.
	 */
	for (unsigned int cpu = 0; cpu < 2; cpu++)
		check(ops[cpu] > 0 && (!kget_ops_per_ns() || ops[cpu] < 1.1 * kget_ops_per_ns()),
		      "%.3f operations a nanosecond", ops[cpu]);
	check(tally[0].counted > tally[1].counted);
	/* SAMPLE applies to all CPUs. */
	check(!ioctl(session, SPEPROF_SESSION_SAMPLE, &sampling));
	ksleep_ms(200);
	kring_read_windows(&ring[1], &tally[1]);
	check(tally[1].interval / 256 == KTEST_INTERVAL / 256);
	check(!ioctl(session, SPEPROF_SESSION_STOP, 0));
	for (unsigned int cpu = 0; cpu < 2; cpu++) {
		kchild_end(child[cpu]);
		kring_close(&ring[cpu]);
	}
	close(session);
}

/* ---- A missing reader --------------------------------------------------------- */

static void wait_for_unread(struct limited_session *limited)
{
	struct speprof_event event;

	for (unsigned int i = 0; i < 5000; i++) {
		if (limited->ring.control->flags & SPEPROF_CONTROL_UNREAD)
			break;
		ksleep_ms(2);
	}
	check(limited->ring.control->flags & SPEPROF_CONTROL_UNREAD);
	check(kwait_state(&limited->ring, SPEPROF_RING_FULL));
	/*
	 * The event must be published by then. Reading it here does not make this process a reader
	 * for the module.
	 */
	for (uint64_t seq = limited->ring.event_tail;; seq++) {
		check(seq < limited->ring.control->event_head);
		event = limited->ring.events[seq & (limited->ring.open.event_slots - 1)];
		if (event.type == SPEPROF_EVENT_UNREAD)
			break;
	}
	check(event.arg0 >= 300000000 && event.arg1 > 0);
	limited->ring.event_tail = limited->ring.control->event_head;
}

static void check_ring_is_armed(struct limited_session *limited)
{
	check(kwait_state(&limited->ring, SPEPROF_RING_ARMED));
	check(!(limited->ring.control->flags & SPEPROF_CONTROL_UNREAD));
}

static void unread_ring_stops(void)
{
	struct speprof_session_config config = kmake_session_config();
	struct speprof_ring_stats stats;
	struct limited_session limited;
	uint64_t head;
	char byte[64];

	kset_parameter("unread_ms", 300);
	config.ring_size = 16 << 20;
	limited_begin(&limited, &config);
	wait_for_unread(&limited);
	stats = kring_read_stats(&limited.ring);
	check(stats.unreads == 1 && stats.head < config.ring_size / 2);
	head = stats.head;
	ksleep_ms(300);
	check(kring_read_stats(&limited.ring).head == head);
	/*
	 * Free space alone does not prove that there is a reader. Each of the following actions of
	 * a reader suffices.
	 */
	kring_read_windows(&limited.ring, &limited.tally);
	check_ring_is_armed(&limited);
	wait_for_unread(&limited);
	check(!ioctl(limited.ring.fd, SPEPROF_RING_KICK, 0));
	check_ring_is_armed(&limited);
	wait_for_unread(&limited);
	__atomic_store_n(&limited.ring.control->event_tail, limited.ring.event_tail,
			 __ATOMIC_RELEASE);
	check_ring_is_armed(&limited);
	check(kring_read_stats(&limited.ring).unreads == 3);
	limited_end(&limited);

	/* Test the same with read(2). */
	limited_begin(&limited, &config);
	wait_for_unread(&limited);
	check(read(limited.ring.fd, byte, sizeof(byte)) == sizeof(byte));
	check_ring_is_armed(&limited);
	kchild_end(limited.child);
	kring_close(&limited.ring);
	close(limited.session);
}

/* Read slowly for longer than @ms. Return: the longest time between two reads. */
static uint64_t read_slowly(struct limited_session *limited, unsigned int ms)
{
	uint64_t began = kclock_ns(), last = began, now = began, longest = 0;

	while (now - began < ms * 1200000ULL) {
		ksleep_ms(400);
		kring_read_windows(&limited->ring, &limited->tally);
		now = kclock_ns();
		longest = now - last > longest ? now - last : longest;
		last = now;
	}
	return longest / 1000000;
}

/*
 * A slow reader counts as a reader, and so does the reader of an idle CPU, which has nothing to
 * read.
 */
static void slow_reader_is_a_reader(void)
{
	struct speprof_session_config config = kmake_session_config();
	struct limited_session limited;
	uint64_t longest = UINT64_MAX, unreads = 0;
	unsigned int limit = 2000;

	/*
	 * If the host stops the guest for seconds the reader counts as missing: then repeat with a
	 * higher limit.
	 */
	while (longest > limit / 2 && limit < 16000) {
		limit *= 2;
		kset_parameter("unread_ms", limit);
		limited_begin(&limited, &config);
		longest = read_slowly(&limited, limit);
		unreads = kring_read_stats(&limited.ring).unreads;
		limited_end(&limited);
	}
	check(longest <= limit / 2, "%llu ms from one read to the next",
	      (unsigned long long)longest);
	check(!unreads);
	/* Set a limit of a minute for other sessions, and none for this one. */
	kset_parameter("unread_ms", 0);
	limited_begin(&limited, &config);
	ksleep_ms(300);
	check(!kring_read_stats(&limited.ring).unreads);
	limited_end(&limited);
}

const struct ktest ktests_limit[] = {
	{ "bytes-are-bounded", bytes_are_bounded },
	{ "storm-is-bounded", fault_storm_is_bounded },
	{ "throttled-ring-can-be-stopped", throttled_ring_can_be_stopped },
	{ "commands-are-bounded", commands_are_bounded },
	{ "session-has-its-own-bound", session_has_its_own_bound },
	{ "cpus-have-their-own-interval", cpus_have_their_own_interval },
	{ "unread-ring-stops", unread_ring_stops },
	{ "slow-reader-is-a-reader", slow_reader_is_a_reader },
	{ 0 },
};
