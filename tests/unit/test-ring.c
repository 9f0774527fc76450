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
#define STRAY  4096 /* an address outside every ring */
#define MS     NSEC_PER_MSEC
#define FULL   (SPE_PMBSR_S | SPE_FIELD_PREP(SPE_PMBSR_BSC, SPE_PMBSR_BSC_FULL))
#define ABORTED                                                                           \
	(SPE_PMBSR_S | SPE_PMBSR_EA | SPE_FIELD_PREP(SPE_PMBSR_EC, SPE_PMBSR_EC_STAGE1) | \
	 SPE_FSC_EXTERNAL_SYNC)

/* ---- The SPU ------------------------------------------------------------------- */

static u64 spu[SPE_REG_COUNT];
static u64 spu_records;
static u64 spu_barrier_ns;
static u64 spu_enabled_at;
static u64 spu_enabled_ns;
static bool spu_ends;

static u64 spu_read(enum spe_reg reg)
{
	return spu[reg];
}

/* PMSCR is 0 twice where S is found while a ring is parked: that time is the window's, too. */
static void spu_write(enum spe_reg reg, u64 value)
{
	bool buffer = spu[SPE_REG_PMBLIMITR] & SPE_PMBLIMITR_E;

	if (reg == SPE_REG_PMSCR && (value || (buffer && !spu[reg])))
		spu_enabled_at = stand_in_now;
	if (reg == SPE_REG_PMSCR && !value && buffer)
		spu_ends = true;
	spu[reg] = value;
}

/* It takes its time; what was selected before PMSCR was 0 is written in it. */
static void spu_sync(void)
{
	stand_in_now += spu_barrier_ns;
	if (spu_ends)
		spu_enabled_ns += stand_in_now - spu_enabled_at;
	spu_ends = false;
}

static u64 spu_ticks(void)
{
	return stand_in_now;
}

static u64 spu_count(void)
{
	return spu_records;
}

static const struct speprof_backend backend = {
	.name = "played",
	.id = SPEPROF_BACKEND_HARDWARE,
	.read = spu_read,
	.write = spu_write,
	.sync = spu_sync,
	.ticks = spu_ticks,
	.records = spu_count,
	.tick_hz = 1000000000,
};

/* Also where PMBPTR has not come to yet: up to the limit memory is the SPU's (RTHGCR). */
static void spu_writes(u64 bytes)
{
	u64 limit = spu[SPE_REG_PMBLIMITR] & SPE_PMBLIMITR_LIMIT;

	memset((void *)(uintptr_t)spu[SPE_REG_PMBPTR], 0xa5, limit - spu[SPE_REG_PMBPTR]);
	spu[SPE_REG_PMBPTR] += bytes;
	spu_records += bytes / 64;
	assert_true(spu[SPE_REG_PMBPTR] <= limit);
}

/* It writes @bytes and stops for @pmbsr; the interrupt is taken. */
static void spu_stops(struct ring *ring, u64 bytes, u64 pmbsr)
{
	assert_int_equal(ring->state, SPEPROF_RING_ARMED);
	spu_writes(bytes);
	spu[SPE_REG_PMBSR] = pmbsr;
	assert_true(ring_interrupt(ring));
}

/* ---- A ring --------------------------------------------------------------------- */

static struct ring *ring_play_as(u32 latency_ms, bool of_cgroups, bool flight)
{
	const struct ring_config config = {
		.backend = &backend,
		.spu = { .record_align = 64, .record_max = 64, .backend = backend.id },
		.size = RING,
		.event_slots = SLOTS,
		.max_window = WINDOW,
		.latency_ms = latency_ms,
		.of_cgroups = of_cgroups,
		.flight = flight,
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

static struct ring *ring_play(u32 latency_ms, bool of_cgroups)
{
	return ring_play_as(latency_ms, of_cgroups, false);
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
		if (ring->unread)
			assert_int_equal(ring->events[(ring->event_seq - 1) % SLOTS].type,
					 SPEPROF_EVENT_UNREAD);
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

/* A parked window ended before the period began that another window was spent in. */
static void test_throttle_past(void **state)
{
	const struct throttle_bound bound = { .bytes = 1000 };
	u64 now = stand_in_now + NSEC_PER_SEC;
	struct throttle own = { 0 };
	u32 cause = 0;

	(void)state;
	assert_int_equal(throttle_charge(now, 0, 60, &bound, &own, &cause), 0);
	assert_int_equal(throttle_charge(now - 50 * MS, 0, 60, &bound, &own, &cause),
			 now + 100 * MS);
	assert_int_equal(cause, SPEPROF_THROTTLE_BYTES);
	assert_int_equal(throttle_charge(now + 99 * MS, 0, 0, &bound, &own, &cause),
			 now + 100 * MS);
	assert_int_equal(throttle_charge(now + 100 * MS, 0, 100, &bound, &own, &cause), 0);
	stand_in_now = now;
}

/* Of two sessions on a CPU, each has its own bound, and both have the CPU's. */
static void test_throttle_two(void **state)
{
	const struct throttle_bound low = { .bytes = 1000 }, none = { 0 };
	u64 now = stand_in_now + NSEC_PER_SEC, whole = (64ULL << 20) / 10;
	struct throttle a = { 0 }, b = { 0 };
	u32 cause = 0;

	(void)state;
	assert_int_equal(throttle_charge(now, 0, 100, &low, &a, &cause), 0);
	assert_int_equal(throttle_charge(now + MS, 0, whole - 200, &none, &b, &cause), 0);
	assert_int_equal(throttle_charge(now + 2 * MS, 200, 0, &low, &a, &cause), 0);
	assert_int_equal(throttle_charge(now + 3 * MS, 0, 1, &low, &a, &cause), now + 100 * MS);
	assert_int_equal(cause, SPEPROF_THROTTLE_BYTES);
	assert_int_equal(throttle_charge(now + 4 * MS, 1, 0, &none, &b, &cause), now + 100 * MS);
	assert_int_equal(cause, SPEPROF_THROTTLE_INTERRUPTS);
	assert_int_equal(throttle_charge(now + 100 * MS, 0, 1, &none, &b, &cause), 0);
	stand_in_now = now + NSEC_PER_SEC;
}

/* What a stop closes is spent, too: the window after it has less left. */
static void test_throttle_stop(void **state)
{
	struct ring *ring = ring_play(0, false);
	const struct program program = ring->program;

	(void)state;
	ring->bound.bytes = 10 * 1000;
	spu_writes(1024);
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

/* Nor does it end without a word, or before its time, because nobody reads. */
static void test_throttle_unread(void **state)
{
	struct ring *ring = ring_play(0, true);

	(void)state;
	ring_enter(ring);
	ring_seat(ring);
	ring->bound.bytes = 1;
	spu_stops(ring, 64, FULL);
	ring_park(ring);
	tick(ring, 61000);
	tick(ring, 61000);
	assert_int_equal(ring->count.unreads, 0);
	ring_enter(ring);
	ring_seat(ring);
	assert_int_equal(ring->state, SPEPROF_RING_ARMED);
	assert_int_equal(ring->events[ring->event_seq - 1].type, SPEPROF_EVENT_THROTTLE);
	tick(ring, 0);
	assert_int_equal(ring->state, SPEPROF_RING_FULL);
	assert_int_equal(ring->events[ring->event_seq - 1].type, SPEPROF_EVENT_UNREAD);
	ring_play_end(ring);
}

/* ---- Windows of parked rings ------------------------------------------------------- */

/* A ring of cgroups whose task wrote @bytes and was switched away from. */
static struct ring *ring_play_parked(u64 bytes)
{
	struct ring *ring = ring_play(0, true);

	ring_enter(ring);
	ring_seat(ring);
	spu_writes(bytes);
	ring_park(ring);
	assert_int_equal(ring->state, SPEPROF_RING_PARKED);
	return ring;
}

/* Records that are lost because PMBPTR is outside its window are reported when it is closed. */
static void test_parked_stray(void **state)
{
	struct ring *ring = ring_play_parked(640);
	const struct speprof_event *event;

	(void)state;
	spu[SPE_REG_PMBPTR] = STRAY;
	assert_int_equal(ring_flush(ring), 0);
	assert_int_equal(ring->state, SPEPROF_RING_PARKED);
	assert_int_equal(ring->count.data_bytes, 0);
	assert_int_equal(ring->event_published, 1);
	event = &ring->events[0];
	assert_int_equal(event->type, SPEPROF_EVENT_SYNDROME);
	assert_int_equal(event->arg1, ~0ULL);
	ring_play_end(ring);
}

/* A PMBPTR outside of its window, which the reader may know, does not reveal the ring's address. */
static void test_stray_address(void **state)
{
	static const u64 before = ~0ULL;
	const u64 strays[] = { 0, STRAY, before, WINDOW };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(strays); i++) {
		struct ring *ring = ring_play(0, false);

		spu[SPE_REG_PMBPTR] = strays[i] == before ? spu[SPE_REG_PMBPTR] - 1 :
				      strays[i] == WINDOW ? spu[SPE_REG_PMBPTR] + WINDOW :
							    strays[i];
		spu[SPE_REG_PMBSR] = FULL;
		assert_true(ring_interrupt(ring));
		assert_int_equal(ring->event_published, 1);
		assert_int_equal(ring->events[0].arg1, ~0ULL);
		ring_play_end(ring);
	}
}

/* A syndrome that stops the CPU does so when it is found while the ring is parked, too. */
static void test_parked_fault(void **state)
{
	static const u64 denied = SPE_PMBSR_S | SPE_FIELD_PREP(SPE_PMBSR_EC, SPE_PMBSR_EC_STAGE1) |
				  SPE_FSC_PERMISSION;
	struct ring *ring = ring_play_parked(640);

	(void)state;
	spu[SPE_REG_PMBSR] = denied;
	assert_false(ring_interrupt(ring));
	assert_int_equal(ring_flush(ring), 0);
	assert_int_equal(ring->state, SPEPROF_RING_FAULTED);
	assert_int_equal(ring->count.data_bytes, 640);
	assert_int_equal(ring->event_published, 2);
	assert_int_equal(ring->events[0].type, SPEPROF_EVENT_SYNDROME);
	assert_int_equal(ring->events[0].arg0, denied);
	assert_int_equal(ring->events[1].arg1, SPEPROF_RING_FAULTED);
	ring_enter(ring);
	ring_seat(ring);
	assert_int_equal(ring->state, SPEPROF_RING_FAULTED);
	ring_play_end(ring);
}

/* A stop is a stop: no state but IDLE follows, and the syndrome is reported before it. */
static void test_parked_stop(void **state)
{
	struct ring *ring = ring_play_parked(0);

	(void)state;
	spu[SPE_REG_PMBSR] = ABORTED;
	ring_stop(ring);
	assert_int_equal(ring->state, SPEPROF_RING_IDLE);
	assert_int_equal(ring->event_published, 1);
	assert_int_equal(ring->events[0].type, SPEPROF_EVENT_SYNDROME);
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

/* Who waits for an error alone is woken by one, and by nothing else. */
static void test_wakes(void **state)
{
	static const u64 denied = SPE_PMBSR_S | SPE_FIELD_PREP(SPE_PMBSR_EC, SPE_PMBSR_EC_STAGE1) |
				  SPE_FSC_PERMISSION;
	struct ring *ring = ring_play(0, false);
	struct file file = { 0 };

	(void)state;
	spu_stops(ring, 64, FULL);
	ring->wake.run(&ring->wake);
	assert_int_equal(ring->readers.woken_for, EPOLLIN | EPOLLRDNORM | EPOLLPRI);
	spu_stops(ring, 64, denied);
	assert_int_equal(ring->state, SPEPROF_RING_FAULTED);
	ring->wake.run(&ring->wake);
	assert_int_equal(ring->readers.woken_for, ring_file_poll(ring, &file, NULL));
	ring_play_end(ring);
}

/* ---- Ledgers, whatever happens ----------------------------------------------------- */

/**
 * struct play - a ring, what was done to it, and what its reader has summed up
 * @runs: a task of its cgroups does
 * @up: the CPU is
 * @started: the session is
 * @held: a snapshot is
 * @snapshot: what of
 * @image: what its memory had
 */
struct play {
	struct ring *ring;
	struct program program;
	u64 random;
	bool runs;
	bool up;
	bool started;
	bool held;
	struct speprof_snapshot snapshot;
	u64 image;
	u64 written;
	u64 walked;
	u64 seq;
	u64 data_bytes;
	u64 records;
	u64 armed_ns;
	u64 blind_ns;
	u64 parked_ns;
};

static u32 draw(struct play *play, u32 below)
{
	play->random = play->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (u32)(play->random >> 33) % below;
}

/* As owner.c has it, for the only ring of the CPU; an interrupt seats it, maybe not at once. */
static void settle(struct play *play)
{
	if (!play->ring->config.of_cgroups || !play->up || !play->started)
		return;
	if (!play->runs) {
		ring_park(play->ring);
		return;
	}
	ring_enter(play->ring);
	if (draw(play, 4))
		ring_seat(play->ring);
}

static void play_writes(struct play *play)
{
	u64 left = (spu[SPE_REG_PMBLIMITR] & SPE_PMBLIMITR_LIMIT) - spu[SPE_REG_PMBPTR];
	u64 bytes;

	if (play->ring->state != SPEPROF_RING_ARMED || spu[SPE_REG_PMBSR] || left < 128 ||
	    spu[SPE_REG_PMBPTR] == STRAY)
		return;
	bytes = draw(play, (u32)(left / 64)) * 64ULL;
	spu_writes(bytes);
	play->written += bytes;
}

/* Somebody else wrote into PMBPTR: nothing is known of what is in the window. */
static void play_stray(struct play *play)
{
	const struct ring *ring = play->ring;

	if (ring->hold != RING_HOLD_SPU || spu[SPE_REG_PMBPTR] == STRAY ||
	    (ring->state != SPEPROF_RING_ARMED && ring->state != SPEPROF_RING_PARKED))
		return;
	play->written -= spu[SPE_REG_PMBPTR] -
			 (u64)(uintptr_t)(ring->data + (ring->window.start & (RING - 1)));
	spu[SPE_REG_PMBPTR] = STRAY;
	if (ring->state == SPEPROF_RING_ARMED)
		spu[SPE_REG_PMBSR] = FULL;
}

/* As speprof_interrupt() has it. */
static void play_interrupt(struct play *play)
{
	if (!play->up || !(spu[SPE_REG_PMBSR] & SPE_PMBSR_S))
		return;
	if (!ring_interrupt(play->ring))
		ring_put_away(play->ring);
	if (play->ring->state != SPEPROF_RING_ARMED)
		spu[SPE_REG_PMBSR] = 0;
}

static void play_stops(struct play *play)
{
	static const u64 syndromes[] = {
		FULL,
		FULL | SPE_PMBSR_COLL,
		FULL | SPE_PMBSR_DL,
		ABORTED,
		(ABORTED & ~SPE_PMBSR_FSC) | SPE_FSC_EXTERNAL_ASYNC,
		SPE_PMBSR_S | SPE_PMBSR_DL,
		SPE_PMBSR_S | SPE_FIELD_PREP(SPE_PMBSR_EC, SPE_PMBSR_EC_STAGE1) |
			SPE_FSC_PERMISSION,
	};
	u32 n = draw(play, 80);

	play_writes(play);
	if (play->ring->state == SPEPROF_RING_ARMED && !spu[SPE_REG_PMBSR])
		spu[SPE_REG_PMBSR] = syndromes[n < ARRAY_SIZE(syndromes) ? n : 0];
	if (n == ARRAY_SIZE(syndromes))
		play_stray(play);
	/* It may be on its way for a while. */
	if (draw(play, 4))
		play_interrupt(play);
}

static void play_session(struct play *play)
{
	play->started = !play->started;
	if (play->started)
		ring_start(play->ring, &play->program, play->up);
	else
		ring_stop(play->ring);
}

static void play_hotplug(struct play *play)
{
	play->up = !play->up;
	if (play->up)
		ring_online(play->ring);
	else
		ring_offline(play->ring);
}

/* Another session's registers are in the SPU from here on. */
static void play_other(struct play *play)
{
	if (play->ring->config.of_cgroups && !play->runs && play->up) {
		ring_put_away(play->ring);
		for (unsigned int reg = SPE_REG_PMSICR; reg < SPE_REG_COUNT; reg++)
			spu[reg] = 0;
	}
}

/* FNV-1a over what is between two positions. */
static u64 image_of(const struct ring *ring, u64 start, u64 end)
{
	u64 image = 0xcbf29ce484222325ULL;

	for (; start != end; start++)
		image = (image ^ ring->data[start & (RING - 1)]) * 0x100000001b3ULL;
	return image;
}

static void play_snapshot(struct play *play)
{
	struct ring *ring = play->ring;

	if (!ring->flight)
		return;
	if (play->held) {
		assert_int_equal(image_of(ring, play->snapshot.start, play->snapshot.end),
				 play->image);
		assert_int_equal(ring_snapshot_end(ring, play), 0);
		play->held = false;
		return;
	}
	play->snapshot = (struct speprof_snapshot){ .max_bytes = draw(play, RING / 2) };
	play->held = !ring_snapshot(ring, play, &play->snapshot);
	if (play->held)
		play->image = image_of(ring, play->snapshot.start, play->snapshot.end);
}

/* Userspace may write what it likes into the control page: nothing of it is read back. */
static void play_scribble(struct play *play)
{
	memset(play->ring->control, (int)draw(play, 256), sizeof(*play->ring->control));
	/* Back, or so far on that no head comes there. */
	play->ring->control->tail = draw(play, 2) ? 0 : ~0ULL;
	play->ring->control->event_tail = draw(play, 2) ? 0 : ~0ULL;
}

static void play_reprogram(struct play *play)
{
	play->program.generation++;
	if (play->started)
		ring_reprogram(play->ring, &play->program);
}

static void play_time(struct play *play)
{
	stand_in_now += draw(play, 4) ? draw(play, 20000) : draw(play, 150) * MS;
	/* Long enough for a reader to be missed. */
	if (!draw(play, 100))
		stand_in_now += 61 * NSEC_PER_SEC;
}

static void play_one(struct play *play)
{
	struct ring *ring = play->ring;

	play_time(play);
	switch (draw(play, 20)) {
	case 0:
		if (!play->started || ring->state == SPEPROF_RING_FAULTED || !draw(play, 5))
			play_session(play);
		break;
	case 1:
		if (!play->up || !draw(play, 5))
			play_hotplug(play);
		break;
	case 2:
		play_reprogram(play);
		break;
	case 3:
		ring_kick(ring);
		break;
	case 4:
		ring_flush(ring);
		break;
	case 5:
		ring_tell_gone(ring, 1, 2);
		break;
	case 6:
		ring->control->event_tail = ring->event_published;
		ring_take_tails(ring);
		break;
	case 7:
		play_other(play);
		if (!ring->flight)
			play_scribble(play);
		break;
	case 8:
		/* Held for laps. */
		if (!play->held || !draw(play, 5))
			play_snapshot(play);
		break;
	case 9:
		WRITE_ONCE(ring->bound.bytes, draw(play, 3) ? 0 : 100000);
		break;
	case 10:
	case 11:
	case 12:
		play->runs = !play->runs;
		break;
	case 13:
	case 14:
		if (ring->timer.after && ring->timer.function(&ring->timer) == HRTIMER_NORESTART)
			ring->timer.after = 0;
		break;
	case 15:
	case 16:
		play_writes(play);
		break;
	default:
		play_stops(play);
	}
	settle(play);
}

static void walk_one(struct play *play, const struct speprof_window *window)
{
	assert_int_equal(window->magic, SPEPROF_WINDOW_MAGIC);
	assert_int_equal(window->position, play->walked);
	assert_int_equal(window->seq, play->seq++);
	play->walked += window->span;
	if (window->kind != SPEPROF_WINDOW_RECORDS)
		return;
	play->data_bytes += window->data_size;
	play->records += window->records;
	play->armed_ns += window->armed_ns;
	play->blind_ns += window->blind_ns;
	play->parked_ns += window->parked_ns;
}

/* A stream's reader, now and then: what windows say is what was, up to the last one's end. */
static void walk(struct play *play)
{
	const struct ring *ring = play->ring;
	const u64 *spent = ring->state_before;

	while (play->walked != ring->published) {
		assert_true(ring->published - play->walked <= RING);
		walk_one(play, (const void *)(ring->data + (play->walked & (RING - 1))));
	}
	assert_int_equal(play->data_bytes, ring->count.data_bytes);
	assert_int_equal(play->records, ring->count.records);
	assert_int_equal(play->records * 64, play->data_bytes);
	assert_int_equal(play->armed_ns, spent[SPEPROF_RING_ARMED]);
	assert_int_equal(play->parked_ns, spent[SPEPROF_RING_PARKED]);
	assert_int_equal(play->blind_ns, spent[SPEPROF_RING_HANDLING] + spent[SPEPROF_RING_FULL] +
						 spent[SPEPROF_RING_FAULTED] +
						 spent[SPEPROF_RING_THROTTLED] +
						 spent[SPEPROF_RING_HANDOVER]);
	ring->control->tail = play->walked;
}

/* A flight recorder's: whole windows from the oldest on, and every byte in one ledger. */
static void walk_flight(const struct play *play)
{
	const struct ring *ring = play->ring;
	const struct spe_flight *flight = ring->flight;
	u64 bytes = 0, records = 0, seq = 0;

	for (u64 at = flight->oldest; at != ring->published;) {
		const struct speprof_window *window =
			(const void *)(ring->data + (at & (RING - 1)));

		assert_int_equal(window->magic, SPEPROF_WINDOW_MAGIC);
		assert_int_equal(window->position, at);
		assert_true(at == flight->oldest || window->seq == seq + 1);
		seq = window->seq;
		bytes += window->data_size;
		records += window->kind == SPEPROF_WINDOW_RECORDS ? window->records : 0;
		at += window->span;
	}
	for (u32 n = 0; n < flight->count; n++) {
		const struct spe_flight_chunk *chunk =
			&flight->chunks[(flight->first + n) % SPE_FLIGHT_CHUNKS];

		bytes -= chunk->kept ? chunk->bytes : 0;
		records -= chunk->kept ? chunk->records : 0;
	}
	assert_int_equal(flight->overwritten_bytes + flight->claimed_bytes + bytes,
			 ring->count.data_bytes);
	assert_int_equal(flight->overwritten_records + flight->claimed_records + records,
			 ring->count.records);
}

static void check_ledgers(const struct play *play, u64 began)
{
	const struct ring *ring = play->ring;
	u64 spent = 0;

	assert_int_equal(stand_in_warnings, 0);
	for (unsigned int state = 0; state < RING_STATES; state++)
		spent += ring->count.state_ns[state];
	assert_int_equal(spent, ring->since - began);
	assert_int_equal(ring->published, ring->count.data_bytes + ring->count.header_bytes +
						  ring->count.skip_bytes);
	if (!ring->flight) {
		check_slots(ring);
		assert_in_range(ring->published - ring->tail, 0, RING);
		return;
	}
	assert_in_range(ring->event_seq - ring->control->event_oldest, 0, SLOTS);
	assert_in_range(ring->published - ring->control->oldest, 0, RING);
	assert_true(ring->control->oldest <= ring->flight->oldest);
	walk_flight(play);
}

static void play_seed(u64 seed, bool of_cgroups, bool flight)
{
	struct play play = { .random = seed, .up = true, .started = true };
	u64 began;

	spu_enabled_ns = 0;
	spu_barrier_ns = 3;
	play.ring = ring_play_as(seed % 3 ? 10 : 0, of_cgroups, flight);
	play.program = play.ring->program;
	began = play.ring->since;
	for (unsigned int state = 0; state < RING_STATES; state++)
		began -= play.ring->count.state_ns[state];
	for (unsigned int i = 0; i < 400; i++) {
		play_one(&play);
		check_ledgers(&play, began);
		if (!flight && !draw(&play, 4))
			walk(&play);
	}
	if (play.started)
		ring_stop(play.ring);
	if (!flight)
		walk(&play);
	check_ledgers(&play, began);
	assert_int_equal(play.written, play.ring->count.data_bytes);
	assert_int_equal(spu_enabled_ns, play.ring->count.state_ns[SPEPROF_RING_ARMED]);
	spu_barrier_ns = 0;
	ring_free(play.ring);
}

static void test_ledgers(void **state)
{
	(void)state;
	for (u64 seed = 1; seed <= 300; seed++) {
		play_seed(seed, false, false);
		play_seed(seed, true, false);
		play_seed(seed, false, true);
		play_seed(seed, true, true);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reserve),		cmocka_unit_test(test_unread_again),
		cmocka_unit_test(test_full_at_once),	cmocka_unit_test(test_throttle_past),
		cmocka_unit_test(test_throttle_two),	cmocka_unit_test(test_throttle_stop),
		cmocka_unit_test(test_throttle_parked), cmocka_unit_test(test_throttle_unread),
		cmocka_unit_test(test_stray_address),	cmocka_unit_test(test_parked_stray),	cmocka_unit_test(test_parked_fault),
		cmocka_unit_test(test_parked_stop),	cmocka_unit_test(test_two_readers),
		cmocka_unit_test(test_wakes),
		cmocka_unit_test(test_ledgers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
