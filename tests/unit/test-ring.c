// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The module's rings and its throttle on a stand-in kernel: an SPU that is a file of registers, a
 * clock that the test moves, and whatever other CPUs do in between. Of all that is played, no
 * event may be lost and no time or byte be told twice.
 */
#include "test.h"

#include "ring.h"
#include "ring_file.h"
#include "stand-in.h"

#define SLOTS  16
#define RING   65536
#define WINDOW 4096
#define MS     NSEC_PER_MSEC
#define FULL   (SPE_PMBSR_S | SPE_FIELD_PREP(SPE_PMBSR_BSC, SPE_PMBSR_BSC_FULL))
#define ABORTED                                                                           \
	(SPE_PMBSR_S | SPE_PMBSR_EA | SPE_FIELD_PREP(SPE_PMBSR_EC, SPE_PMBSR_EC_STAGE1) | \
	 SPE_FSC_EXTERNAL_SYNC)

/* ---- The SPU ------------------------------------------------------------------- */

static u64 spu[SPE_REG_COUNT];

static u64 spu_read(enum spe_reg reg)
{
	return spu[reg];
}

static void spu_write(enum spe_reg reg, u64 value)
{
	spu[reg] = value;
}

static void spu_sync(void)
{
}

static u64 spu_ticks(void)
{
	return stand_in_now;
}

static const struct speprof_backend backend = {
	.name = "played",
	.id = SPEPROF_BACKEND_HARDWARE,
	.read = spu_read,
	.write = spu_write,
	.sync = spu_sync,
	.ticks = spu_ticks,
	.tick_hz = 1000000000,
};

/* It writes @bytes and stops for @pmbsr; the interrupt is taken. */
static void spu_stops(struct ring *ring, u64 bytes, u64 pmbsr)
{
	assert_int_equal(ring->state, SPEPROF_RING_ARMED);
	spu[SPE_REG_PMBPTR] += bytes;
	assert_true(spu[SPE_REG_PMBPTR] <= (spu[SPE_REG_PMBLIMITR] & SPE_PMBLIMITR_LIMIT));
	spu[SPE_REG_PMBSR] = pmbsr;
	assert_true(ring_interrupt(ring));
}

/* ---- A ring --------------------------------------------------------------------- */

static struct ring *ring_play(u32 latency_ms, bool of_cgroups)
{
	const struct ring_config config = {
		.backend = &backend,
		.spu = { .record_align = 64, .record_max = 64, .backend = backend.id },
		.size = RING,
		.event_slots = SLOTS,
		.max_window = WINDOW,
		.latency_ms = latency_ms,
		.of_cgroups = of_cgroups,
	};
	const struct program program = { .pmscr = SPE_PMSCR_E0SPE, .interval = 1, .generation = 1 };
	struct ring *ring;

	memset(spu, 0, sizeof(spu));
	/* A period of the throttle is over before each. */
	stand_in_now += NSEC_PER_SEC;
	ring = ring_new(&config);
	ring_start(ring, &program, true);
	return ring;
}

static void ring_play_end(struct ring *ring)
{
	ring_stop(ring);
	assert_int_equal(stand_in_warnings, 0);
	ring_free(ring);
}

static void tick(struct ring *ring, u64 ms)
{
	stand_in_now += ms * MS;
	ring->timer.function(&ring->timer);
}

/* Everything is read, but for the events. */
static void consume(struct ring *ring)
{
	ring->control->tail = ring->published;
	ring_take_tails(ring);
}

/* Each event has had a slot that was free. */
static void check_slots(const struct ring *ring)
{
	assert_in_range(ring->event_seq - ring->event_tail, 0, SLOTS);
	for (u64 seq = ring->event_tail; seq != ring->event_published; seq++)
		assert_int_equal(ring->events[seq % SLOTS].seq, seq);
}

/* ---- Events --------------------------------------------------------------------- */

/* However many slots are taken when a window is armed: all that may come until the next has one. */
static void test_reserve(void **state)
{
	(void)state;
	for (unsigned int taken = 0; taken < SLOTS; taken++) {
		struct ring *ring = ring_play(0, false);

		for (unsigned int i = 0; i < taken && ring->state == SPEPROF_RING_ARMED; i++) {
			spu_stops(ring, 64, ABORTED);
			consume(ring);
		}
		/* Its syndrome, THROTTLED, that this ends, FULL, and that nobody reads. */
		ring->bound.bytes = 1;
		if (ring->state == SPEPROF_RING_ARMED)
			spu_stops(ring, 64, ABORTED);
		check_slots(ring);
		tick(ring, 100);
		check_slots(ring);
		tick(ring, 61000);
		tick(ring, 61000);
		check_slots(ring);
		ring_play_end(ring);
	}
}

/* Who kicks and never reads an event is told again, but nothing is written over for it. */
static void test_unread_again(void **state)
{
	struct ring *ring = ring_play(0, false);

	(void)state;
	while (ring->state == SPEPROF_RING_ARMED)
		spu_stops(ring, 64, ABORTED);
	for (unsigned int i = 0; i < 3 * SLOTS; i++) {
		tick(ring, 61000);
		assert_int_equal(ring->control->flags, SPEPROF_CONTROL_UNREAD);
		check_slots(ring);
		assert_int_equal(ring_kick(ring), 0);
		assert_int_equal(ring->state, SPEPROF_RING_FULL);
	}
	assert_int_equal(ring->count.unreads, 3 * SLOTS);
	ring_play_end(ring);
}

/* A ring of cgroups that is FULL as soon as it is entered has not been armed. */
static void test_full_at_once(void **state)
{
	struct ring *ring = ring_play(0, true);
	const struct program program = ring->program;

	(void)state;
	for (unsigned int i = 0; i < 3 * SLOTS; i++) {
		ring_enter(ring);
		ring_seat(ring);
		while (ring->state == SPEPROF_RING_ARMED)
			spu_stops(ring, 64, ABORTED);
		assert_int_equal(ring->state, SPEPROF_RING_FULL);
		check_slots(ring);
		ring_stop(ring);
		ring_start(ring, &program, true);
	}
	ring_play_end(ring);
}

/* ---- The throttle ---------------------------------------------------------------- */

/* A parked window ended before the period began that another ring of the CPU has spent in. */
static void test_throttle_past(void **state)
{
	const struct throttle_bound bound = { .bytes = 1000 };
	u64 now = stand_in_now + NSEC_PER_SEC;
	u32 cause = 0;

	(void)state;
	assert_int_equal(throttle_charge(now, 0, 60, &bound, &cause), 0);
	assert_int_equal(throttle_charge(now - 50 * MS, 0, 60, &bound, &cause), now + 100 * MS);
	assert_int_equal(cause, SPEPROF_THROTTLE_BYTES);
	assert_int_equal(throttle_charge(now + 99 * MS, 0, 0, &bound, &cause), now + 100 * MS);
	assert_int_equal(throttle_charge(now + 100 * MS, 0, 100, &bound, &cause), 0);
	stand_in_now = now;
}

/* What a stop closes is spent, too: the window after it has less left. */
static void test_throttle_stop(void **state)
{
	struct ring *ring = ring_play(0, false);
	const struct program program = ring->program;

	(void)state;
	ring->bound.bytes = 10 * 1000;
	spu[SPE_REG_PMBPTR] += 1024;
	ring_stop(ring);
	assert_int_equal(ring->count.throttles, 0);
	ring_start(ring, &program, true);
	spu_stops(ring, 64, FULL);
	assert_int_equal(ring->state, SPEPROF_RING_THROTTLED);
	assert_int_equal(ring->count.data_bytes, 1024 + 64);
	ring_play_end(ring);
}

/* A rest that another's tasks interrupt is told as long as it was. */
static void test_throttle_parked(void **state)
{
	struct ring *ring = ring_play(0, true);
	const struct speprof_event *event;

	(void)state;
	ring_enter(ring);
	ring_seat(ring);
	ring->bound.bytes = 1;
	spu_stops(ring, 64, FULL);
	assert_int_equal(ring->state, SPEPROF_RING_THROTTLED);
	stand_in_now += 30 * MS;
	ring_park(ring);
	stand_in_now += 10 * MS;
	ring_enter(ring);
	ring_seat(ring);
	assert_int_equal(ring->state, SPEPROF_RING_THROTTLED);
	tick(ring, 60);
	assert_int_equal(ring->state, SPEPROF_RING_ARMED);
	event = &ring->events[ring->event_seq - 1];
	assert_int_equal(event->type, SPEPROF_EVENT_THROTTLE);
	assert_int_equal(event->arg0, 90 * MS);
	assert_int_equal(event->arg0, ring->count.state_ns[SPEPROF_RING_THROTTLED]);
	ring_play_end(ring);
}

/* ---- Readers --------------------------------------------------------------------- */

static struct ring *raced;

/* A window more, and another reader takes it. */
static void publish_and_take(void)
{
	spu_stops(raced, 64, FULL);
	assert_int_equal(ring_advance(raced, raced->published, raced->event_published), 0);
}

static void publish_and_take_next(void)
{
	stand_in_elsewhere = publish_and_take;
}

static void test_two_readers(void **state)
{
	static u8 bytes[2 * RING];
	struct file file = { .f_flags = O_NONBLOCK };
	struct kiocb kiocb = { .ki_filp = &file };
	struct iov_iter to = { .to = bytes, .count = sizeof(bytes) };

	(void)state;
	raced = ring_play(0, false);
	stand_in_elsewhere = publish_and_take_next;
	assert_int_equal(ring_file_read(raced, &kiocb, &to), -EAGAIN);
	assert_int_equal(to.count, sizeof(bytes));
	stand_in_elsewhere = publish_and_take_next;
	assert_int_equal(ring_file_poll(raced, &file, NULL), 0);
	ring_play_end(raced);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reserve),	      cmocka_unit_test(test_unread_again),
		cmocka_unit_test(test_full_at_once),  cmocka_unit_test(test_throttle_past),
		cmocka_unit_test(test_throttle_stop), cmocka_unit_test(test_throttle_parked),
		cmocka_unit_test(test_two_readers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
