// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test the module's rings and their throttle on a stand-in kernel, one case a test. */
#include "fake-spu.h"

#include "kmod/ring_file.h"

/* ---- Events --------------------------------------------------------------------- */

/*
 * When a window is armed, each event that can occur until the next window has a free slot, however
 * many slots are used.
 */
static void test_events_have_reserved_slots(void **state)
{
	(void)state;
	for (unsigned int taken = 0; taken < SLOTS; taken++) {
		struct speprof_ring *ring = fake_ring_new(0, false);

		for (unsigned int i = 0; i < taken && ring->state == SPEPROF_RING_ARMED; i++) {
			spu_write_and_stop(ring, 64, ABORTED);
			ring_consume_all(ring);
		}
		/*
		 * The events are the syndrome, THROTTLED, the end of throttling, FULL, and UNREAD.
		 */
		ring->bound.bytes = 1;
		if (ring->state == SPEPROF_RING_ARMED)
			spu_write_and_stop(ring, 64, ABORTED);
		check_slots(ring);
		ring_expire_timer(ring, 100);
		check_slots(ring);
		ring_expire_timer(ring, 61000);
		ring_expire_timer(ring, 61000);
		check_slots(ring);
		if (ring->unread)
			assert_int_equal(ring->events[(ring->event_seq - 1) % SLOTS].type,
					 SPEPROF_EVENT_UNREAD);
		fake_ring_free(ring);
	}
}

/*
 * If a reader kicks the ring and reads no event, UNREAD is reported a second time and overwrites no
 * event.
 */
static void test_repeated_unread_event(void **state)
{
	struct speprof_ring *ring = fake_ring_new(0, false);

	(void)state;
	while (ring->state == SPEPROF_RING_ARMED)
		spu_write_and_stop(ring, 64, ABORTED);
	for (unsigned int i = 0; i < 3 * SLOTS; i++) {
		ring_expire_timer(ring, 61000);
		assert_int_equal(ring->control->flags, SPEPROF_CONTROL_UNREAD);
		check_slots(ring);
		assert_int_equal(speprof_ring_kick(ring), 0);
		assert_int_equal(ring->state, SPEPROF_RING_FULL);
	}
	assert_int_equal(ring->counters.unreads, 3 * SLOTS);
	fake_ring_free(ring);
}

/* If a ring of cgroups becomes FULL when it is scheduled in, the SPU was never armed for it. */
static void test_full_at_handover(void **state)
{
	struct speprof_ring *ring = fake_ring_new(0, true);
	const struct speprof_sampling_program program = ring->program;

	(void)state;
	for (unsigned int i = 0; i < 3 * SLOTS; i++) {
		speprof_ring_begin_handover(ring);
		speprof_ring_complete_handover(ring);
		while (ring->state == SPEPROF_RING_ARMED)
			spu_write_and_stop(ring, 64, ABORTED);
		assert_int_equal(ring->state, SPEPROF_RING_FULL);
		check_slots(ring);
		speprof_ring_stop(ring);
		speprof_ring_start(ring, &program, true);
	}
	fake_ring_free(ring);
}

/* ---- The throttle ---------------------------------------------------------------- */

/* A parked window that ended before the present period does not count for that period. */
static void test_throttle_ignores_past_window(void **state)
{
	const struct speprof_throttle_limits bound = { .bytes = 1000 };
	u64 now = stand_in_now + NSEC_PER_SEC;
	struct speprof_throttle_usage own = { 0 };
	u32 cause = 0;

	(void)state;
	assert_int_equal(speprof_throttle_charge(now, 0, 60, &bound, &own, &cause), 0);
	assert_int_equal(speprof_throttle_charge(now - 50 * MS, 0, 60, &bound, &own, &cause),
			 now + 100 * MS);
	assert_int_equal(cause, SPEPROF_THROTTLE_BYTES);
	assert_int_equal(speprof_throttle_charge(now + 99 * MS, 0, 0, &bound, &own, &cause),
			 now + 100 * MS);
	assert_int_equal(speprof_throttle_charge(now + 100 * MS, 0, 100, &bound, &own, &cause), 0);
	stand_in_now = now;
}

/* Each of two sessions on a CPU has its own bound, and both share the bound of the CPU. */
static void test_throttle_of_two_sessions(void **state)
{
	const struct speprof_throttle_limits low = { .bytes = 1000 }, none = { 0 };
	u64 now = stand_in_now + NSEC_PER_SEC, whole = (64ULL << 20) / 10;
	struct speprof_throttle_usage a = { 0 }, b = { 0 };
	u32 cause = 0;

	(void)state;
	assert_int_equal(speprof_throttle_charge(now, 0, 100, &low, &a, &cause), 0);
	assert_int_equal(speprof_throttle_charge(now + MS, 0, whole - 200, &none, &b, &cause), 0);
	assert_int_equal(speprof_throttle_charge(now + 2 * MS, 200, 0, &low, &a, &cause), 0);
	assert_int_equal(speprof_throttle_charge(now + 3 * MS, 0, 1, &low, &a, &cause),
			 now + 100 * MS);
	assert_int_equal(cause, SPEPROF_THROTTLE_BYTES);
	assert_int_equal(speprof_throttle_charge(now + 4 * MS, 1, 0, &none, &b, &cause),
			 now + 100 * MS);
	assert_int_equal(cause, SPEPROF_THROTTLE_INTERRUPTS);
	assert_int_equal(speprof_throttle_charge(now + 100 * MS, 0, 1, &none, &b, &cause), 0);
	stand_in_now = now + NSEC_PER_SEC;
}

/* A window that a stop closes counts against the bound, so that the next window may be smaller. */
static void test_throttle_counts_stopped_window(void **state)
{
	struct speprof_ring *ring = fake_ring_new(0, false);
	const struct speprof_sampling_program program = ring->program;

	(void)state;
	ring->bound.bytes = 10 * 1000;
	spu_write_bytes(960);
	speprof_ring_stop(ring);
	assert_int_equal(ring->counters.throttles, 0);
	speprof_ring_start(ring, &program, true);
	spu_write_and_stop(ring, 64, FULL);
	assert_int_equal(ring->state, SPEPROF_RING_THROTTLED);
	assert_int_equal(ring->counters.data_bytes, 960 + 64);
	fake_ring_free(ring);
}

/* A window that a command closes counts as an interrupt, like a window that the SPU ends. */
static void test_throttle_counts_commands(void **state)
{
	(void)state;
	for (unsigned int command = 0; command < 3; command++) {
		struct speprof_ring *ring = fake_ring_new_as(0, false, command == 2);
		const struct speprof_sampling_program program = ring->program;
		struct speprof_snapshot snapshot = { 0 };
		unsigned int closed;

		ring->bound.interrupts = 100;
		for (closed = 0; ring->state == SPEPROF_RING_ARMED; closed++) {
			assert_in_range(closed, 0, 10);
			if (command == 0)
				speprof_ring_flush(ring);
			else if (command == 1)
				speprof_ring_reprogram(ring, &program);
			else
				speprof_ring_take_snapshot(ring, ring, &snapshot);
		}
		assert_int_equal(ring->state, SPEPROF_RING_THROTTLED);
		assert_int_equal(closed, 11);
		assert_int_equal(ring->throttle_cause, SPEPROF_THROTTLE_INTERRUPTS);
		fake_ring_free(ring);
	}
}

/* Throttle a ring, stop it or take its CPU offline, and start it. */
static void check_throttle_after_restart(struct speprof_ring *ring, bool offline)
{
	const struct speprof_sampling_program program = ring->program;
	bool for_cgroups = ring->config.for_cgroups;
	u64 began;

	ring->bound.bytes = 100;
	if (for_cgroups) {
		speprof_ring_begin_handover(ring);
		speprof_ring_complete_handover(ring);
	}
	spu_write_bytes(64);
	began = stand_in_now;
	if (offline) {
		speprof_ring_take_offline(ring);
		speprof_ring_bring_online(ring);
	} else {
		speprof_ring_stop(ring);
		speprof_ring_start(ring, &program, true);
	}
	if (for_cgroups) {
		assert_int_equal(ring->state, SPEPROF_RING_PARKED);
		speprof_ring_begin_handover(ring);
		speprof_ring_complete_handover(ring);
	}
	assert_int_equal(ring->state, SPEPROF_RING_THROTTLED);
	assert_int_equal(ring->counters.throttles, 1);
	assert_int_equal(ring->events[0].type, SPEPROF_EVENT_STATE);
	assert_int_equal(ring->events[0].arg0, offline ? SPEPROF_RING_OFFLINE : SPEPROF_RING_IDLE);
	assert_int_equal(ring->events[0].arg1, SPEPROF_RING_THROTTLED);
	ring_expire_timer(ring, 99);
	assert_int_equal(ring->state, SPEPROF_RING_THROTTLED);
	ring_expire_timer(ring, 1);
	assert_int_equal(ring->state, SPEPROF_RING_ARMED);
	assert_int_equal(ring->events[1].type, SPEPROF_EVENT_THROTTLE);
	assert_int_equal(ring->events[1].arg0, stand_in_now - began);
	fake_ring_free(ring);
}

/* Throttling continues after STOP and START, and after the CPU was briefly offline. */
static void test_throttle_after_restart(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 4; i++)
		check_throttle_after_restart(fake_ring_new(0, i & 1), i & 2);
}

/* A ring without free event slots for the events of throttling is FULL from its start. */
static void test_full_precedes_throttle(void **state)
{
	struct speprof_ring *ring = fake_ring_new(0, false);
	const struct speprof_sampling_program program = ring->program;

	(void)state;
	while (ring->state == SPEPROF_RING_ARMED)
		spu_write_and_stop(ring, 64, ABORTED);
	ring->bound.bytes = 1;
	speprof_ring_stop(ring);
	speprof_ring_start(ring, &program, true);
	assert_int_equal(ring->state, SPEPROF_RING_FULL);
	assert_int_equal(ring->counters.throttles, 0);
	check_slots(ring);
	fake_ring_free(ring);
}

/* Throttled time is reported in full even if tasks of other sessions interrupt it. */
static void test_throttle_of_parked_ring(void **state)
{
	struct speprof_ring *ring = fake_ring_new(0, true);
	const struct speprof_event *event;

	(void)state;
	speprof_ring_begin_handover(ring);
	speprof_ring_complete_handover(ring);
	ring->bound.bytes = 1;
	spu_write_and_stop(ring, 64, FULL);
	assert_int_equal(ring->state, SPEPROF_RING_THROTTLED);
	stand_in_now += 30 * MS;
	speprof_ring_park(ring);
	stand_in_now += 10 * MS;
	speprof_ring_begin_handover(ring);
	speprof_ring_complete_handover(ring);
	assert_int_equal(ring->state, SPEPROF_RING_THROTTLED);
	ring_expire_timer(ring, 60);
	assert_int_equal(ring->state, SPEPROF_RING_ARMED);
	event = &ring->events[ring->event_seq - 1];
	assert_int_equal(event->type, SPEPROF_EVENT_THROTTLE);
	assert_int_equal(event->arg0, 90 * MS);
	assert_int_equal(event->arg0, ring->counters.state_ns[SPEPROF_RING_THROTTLED]);
	fake_ring_free(ring);
}

/* If the reader is missing, throttling does not end early, and its end is reported. */
static void test_throttle_without_reader(void **state)
{
	struct speprof_ring *ring = fake_ring_new(0, true);

	(void)state;
	speprof_ring_begin_handover(ring);
	speprof_ring_complete_handover(ring);
	ring->bound.bytes = 1;
	spu_write_and_stop(ring, 64, FULL);
	speprof_ring_park(ring);
	ring_expire_timer(ring, 61000);
	ring_expire_timer(ring, 61000);
	assert_int_equal(ring->counters.unreads, 0);
	speprof_ring_begin_handover(ring);
	speprof_ring_complete_handover(ring);
	assert_int_equal(ring->state, SPEPROF_RING_ARMED);
	assert_int_equal(ring->events[ring->event_seq - 1].type, SPEPROF_EVENT_THROTTLE);
	ring_expire_timer(ring, 0);
	assert_int_equal(ring->state, SPEPROF_RING_FULL);
	assert_int_equal(ring->events[ring->event_seq - 1].type, SPEPROF_EVENT_UNREAD);
	fake_ring_free(ring);
}

/* ---- Blind time ------------------------------------------------------------------- */

/* The SPU samples nothing while it is drained: that time is blind and not armed. */
static void test_drain_is_blind(void **state)
{
	struct speprof_ring *ring = fake_ring_new(0, false);
	const struct speprof_window *window = NULL;
	u64 armed = ring->counters.state_ns[SPEPROF_RING_ARMED], at = 0, end = ring->start_ns;

	(void)state;
	spu_drain_ns = 10 * NSEC_PER_USEC;
	for (unsigned int i = 0; i < 10; i++) {
		stand_in_now += MS;
		spu_write_and_stop(ring, 64, FULL);
	}
	spu_drain_ns = 0;
	assert_int_equal(ring->counters.state_ns[SPEPROF_RING_ARMED] - armed, 10 * MS);
	assert_int_equal(ring->counters.state_ns[SPEPROF_RING_HANDLING], 100 * NSEC_PER_USEC);
	for (; at != ring->published; at += window->span) {
		window = (const void *)(ring->data + (at & (RING - 1)));
		if (window->kind != SPEPROF_WINDOW_RECORDS)
			continue;
		assert_int_equal(window->armed_ns, MS);
		assert_int_equal(window->blind_ns, 10 * NSEC_PER_USEC);
		assert_int_equal(window->end_ns - end, window->armed_ns + window->blind_ns);
		end = window->end_ns;
	}
	fake_ring_free(ring);
}

/* The drain of the SPU counts as HANDLING also when the task of a session is scheduled out. */
static void test_drain_before_parked(void **state)
{
	struct speprof_ring *ring = fake_ring_new(0, true);

	(void)state;
	speprof_ring_begin_handover(ring);
	speprof_ring_complete_handover(ring);
	stand_in_now += MS;
	spu_drain_ns = 10 * NSEC_PER_USEC;
	speprof_ring_park(ring);
	spu_drain_ns = 0;
	assert_int_equal(ring->counters.state_ns[SPEPROF_RING_ARMED], MS);
	assert_int_equal(ring->counters.state_ns[SPEPROF_RING_HANDLING], 10 * NSEC_PER_USEC);
	fake_ring_free(ring);
}

/*
 * PSB CSYNC, which waits for records in flight, is executed once for each window and once when a
 * ring is parked.
 */
static void test_window_drains_once(void **state)
{
	struct speprof_ring *ring = fake_ring_new(0, true);

	(void)state;
	speprof_ring_begin_handover(ring);
	speprof_ring_complete_handover(ring);
	spu_drains = 0;
	spu_write_and_stop(ring, 64, FULL);
	assert_int_equal(spu_drains, 1);
	speprof_ring_park(ring);
	assert_int_equal(spu_drains, 2);
	speprof_ring_save_registers(ring);
	speprof_ring_begin_handover(ring);
	speprof_ring_complete_handover(ring);
	assert_int_equal(spu_drains, 2);
	fake_ring_free(ring);
}

/* ---- Windows of parked rings ------------------------------------------------------- */

/* Make a ring of a session of cgroups. Its task wrote @bytes, and was scheduled out. */
static struct speprof_ring *fake_ring_new_parked(u64 bytes)
{
	struct speprof_ring *ring = fake_ring_new(0, true);

	speprof_ring_begin_handover(ring);
	speprof_ring_complete_handover(ring);
	spu_write_bytes(bytes);
	speprof_ring_park(ring);
	assert_int_equal(ring->state, SPEPROF_RING_PARKED);
	return ring;
}

/*
 * KVM does not change the buffer when it enters a guest, so the buffer of a parked ring is
 * disabled. Its window stays open.
 */
static void test_parked_buffer(void **state)
{
	struct speprof_ring *ring;
	u64 pmbptr, limit;

	(void)state;
	backend.disables_parked_buffer = true;
	ring = fake_ring_new_parked(640);
	assert_int_equal(spu[SPE_REG_PMBLIMITR] & SPE_PMBLIMITR_E, 0);
	pmbptr = spu[SPE_REG_PMBPTR];
	speprof_ring_begin_handover(ring);
	assert_int_equal(spu[SPE_REG_PMBLIMITR] & SPE_PMBLIMITR_E, 0);
	speprof_ring_complete_handover(ring);
	assert_int_equal(spu[SPE_REG_PMBPTR], pmbptr);
	assert_int_equal(spu[SPE_REG_PMBLIMITR] & SPE_PMBLIMITR_E, SPE_PMBLIMITR_E);
	limit = spu[SPE_REG_PMBLIMITR] & SPE_PMBLIMITR_LIMIT;
	assert_int_equal(limit - pmbptr + 640, ring->window.limit - ring->window.start);
	spu_write_and_stop(ring, 64, FULL);
	assert_int_equal(ring->counters.data_bytes, 640 + 64);
	fake_ring_free(ring);
	backend.disables_parked_buffer = false;
}

/* If PMBPTR is outside of its window, the loss of records is reported when the window is closed. */
static void test_stray_pmbptr_of_parked_ring(void **state)
{
	struct speprof_ring *ring = fake_ring_new_parked(640);
	const struct speprof_event *event;

	(void)state;
	spu[SPE_REG_PMBPTR] = STRAY;
	assert_int_equal(speprof_ring_flush(ring), 0);
	assert_int_equal(ring->state, SPEPROF_RING_PARKED);
	assert_int_equal(ring->counters.data_bytes, 0);
	assert_int_equal(ring->event_published, 1);
	event = &ring->events[0];
	assert_int_equal(event->type, SPEPROF_EVENT_SYNDROME);
	assert_int_equal(event->arg1, ~0ULL);
	fake_ring_free(ring);
}

/*
 * The value of a PMBPTR outside of its window must not reveal the address of the ring to the
 * reader.
 */
static void test_stray_pmbptr_is_hidden(void **state)
{
	static const u64 before = ~0ULL;
	const u64 strays[] = { 0, STRAY, before, WINDOW };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(strays); i++) {
		struct speprof_ring *ring = fake_ring_new(0, false);

		spu[SPE_REG_PMBPTR] = strays[i] == before ? spu[SPE_REG_PMBPTR] - 1 :
				      strays[i] == WINDOW ? spu[SPE_REG_PMBPTR] + WINDOW :
							    strays[i];
		spu[SPE_REG_PMBSR] = FULL;
		assert_true(speprof_ring_handle_interrupt(ring));
		assert_int_equal(ring->event_published, 1);
		assert_int_equal(ring->events[0].arg1, ~0ULL);
		fake_ring_free(ring);
	}
}

/* A syndrome that stops the CPU also stops it if it is found while the ring is parked. */
static void test_fault_of_parked_ring(void **state)
{
	static const u64 denied = SPE_PMBSR_S | SPE_FIELD_PREP(SPE_PMBSR_EC, SPE_PMBSR_EC_STAGE1) |
				  SPE_FSC_PERMISSION;
	struct speprof_ring *ring = fake_ring_new_parked(640);

	(void)state;
	spu[SPE_REG_PMBSR] = denied;
	assert_false(speprof_ring_handle_interrupt(ring));
	assert_int_equal(speprof_ring_flush(ring), 0);
	assert_int_equal(ring->state, SPEPROF_RING_FAULTED);
	assert_int_equal(ring->counters.data_bytes, 640);
	assert_int_equal(ring->event_published, 2);
	assert_int_equal(ring->events[0].type, SPEPROF_EVENT_SYNDROME);
	assert_int_equal(ring->events[0].arg0, denied);
	assert_int_equal(ring->events[1].arg1, SPEPROF_RING_FAULTED);
	speprof_ring_begin_handover(ring);
	speprof_ring_complete_handover(ring);
	assert_int_equal(ring->state, SPEPROF_RING_FAULTED);
	fake_ring_free(ring);
}

/* After a stop the state stays IDLE. The syndrome is reported before the stop. */
static void test_stop_of_parked_ring(void **state)
{
	struct speprof_ring *ring = fake_ring_new_parked(0);

	(void)state;
	spu[SPE_REG_PMBSR] = ABORTED;
	speprof_ring_stop(ring);
	assert_int_equal(ring->state, SPEPROF_RING_IDLE);
	assert_int_equal(ring->event_published, 1);
	assert_int_equal(ring->events[0].type, SPEPROF_EVENT_SYNDROME);
	fake_ring_free(ring);
}

/* ---- Readers --------------------------------------------------------------------- */

static struct speprof_ring *raced;

/* Publish a window, and let another reader take it. */
static void publish_and_take(void)
{
	spu_write_and_stop(raced, 64, FULL);
	assert_int_equal(speprof_ring_set_tails(raced, raced->published, raced->event_published),
			 0);
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
	raced = fake_ring_new(0, false);
	stand_in_elsewhere = publish_and_take_next;
	assert_int_equal(speprof_ring_read(raced, &kiocb, &to), -EAGAIN);
	assert_int_equal(to.count, sizeof(bytes));
	stand_in_elsewhere = publish_and_take_next;
	assert_int_equal(speprof_ring_poll(raced, &file, NULL), 0);
	fake_ring_free(raced);
}

/* A reader that waits only for errors is woken by an error, and by nothing else. */
static void test_error_wakes_reader(void **state)
{
	static const u64 denied = SPE_PMBSR_S | SPE_FIELD_PREP(SPE_PMBSR_EC, SPE_PMBSR_EC_STAGE1) |
				  SPE_FSC_PERMISSION;
	struct speprof_ring *ring = fake_ring_new(0, false);
	struct file file = { 0 };

	(void)state;
	spu_write_and_stop(ring, 64, FULL);
	ring->wake.run(&ring->wake);
	assert_int_equal(ring->readers.woken_for, EPOLLIN | EPOLLRDNORM | EPOLLPRI);
	spu_write_and_stop(ring, 64, denied);
	assert_int_equal(ring->state, SPEPROF_RING_FAULTED);
	ring->wake.run(&ring->wake);
	assert_int_equal(ring->readers.woken_for, speprof_ring_poll(ring, &file, NULL));
	fake_ring_free(ring);
}

/* ---- Memory ----------------------------------------------------------------------- */

/* All memory of a ring is on the node of its CPU, whichever CPU creates the session. */
static void test_memory_is_on_numa_node(void **state)
{
	const struct speprof_ring_config config = {
		.backend = &backend,
		.spu = { .cpu = 3 },
		.size = RING,
		.event_slots = SLOTS,
		.flight = true,
	};
	struct speprof_ring *ring;

	(void)state;
	stand_in_nodes = stand_in_anywhere = 0;
	ring = speprof_ring_new(&config);
	assert_int_equal(stand_in_nodes, BIT(3));
	assert_int_equal(stand_in_anywhere, 0);
	speprof_ring_free(ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events_have_reserved_slots),
		cmocka_unit_test(test_repeated_unread_event),
		cmocka_unit_test(test_full_at_handover),
		cmocka_unit_test(test_throttle_ignores_past_window),
		cmocka_unit_test(test_throttle_of_two_sessions),
		cmocka_unit_test(test_throttle_counts_stopped_window),
		cmocka_unit_test(test_throttle_counts_commands),
		cmocka_unit_test(test_throttle_after_restart),
		cmocka_unit_test(test_full_precedes_throttle),
		cmocka_unit_test(test_throttle_of_parked_ring),
		cmocka_unit_test(test_throttle_without_reader),
		cmocka_unit_test(test_drain_is_blind),
		cmocka_unit_test(test_drain_before_parked),
		cmocka_unit_test(test_window_drains_once),
		cmocka_unit_test(test_stray_pmbptr_is_hidden),
		cmocka_unit_test(test_parked_buffer),
		cmocka_unit_test(test_stray_pmbptr_of_parked_ring),
		cmocka_unit_test(test_fault_of_parked_ring),
		cmocka_unit_test(test_stop_of_parked_ring),
		cmocka_unit_test(test_two_readers),
		cmocka_unit_test(test_error_wakes_reader),
		cmocka_unit_test(test_memory_is_on_numa_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
