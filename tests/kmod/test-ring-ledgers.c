// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test the module's rings under random sequences of actions by SPUs, tasks, readers and other CPUs.
 * No event may be lost, and each byte and nanosecond must be in exactly one ledger.
 */
#include "fake-spu.h"

/* ---- Ledgers under random actions -------------------------------------------------- */

/**
 * struct random_run - a ring, the actions on it, and the sums of its reader
 * @runs: whether a task of its cgroups runs
 * @up: whether the CPU is online
 * @started: whether the session is started
 * @held: whether a snapshot exists
 * @snapshot: that snapshot
 * @image: hash of the snapshot's memory
 */
struct random_run {
	struct speprof_ring *ring;
	struct speprof_sampling_program program;
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

static u32 draw_below(struct random_run *play, u32 below)
{
	play->random = play->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (u32)(play->random >> 33) % below;
}

/*
 * Arm or park the ring as arbiter.c does, as the only ring of the CPU. The interrupt may come
 * later.
 */
static void reevaluate_ring(struct random_run *play)
{
	if (!play->ring->config.for_cgroups || !play->up || !play->started)
		return;
	if (!play->runs) {
		speprof_ring_park(play->ring);
		return;
	}
	speprof_ring_begin_handover(play->ring);
	if (draw_below(play, 4))
		speprof_ring_complete_handover(play->ring);
}

static void spu_writes_randomly(struct random_run *play)
{
	u64 free_bytes = (spu[SPE_REG_PMBLIMITR] & SPE_PMBLIMITR_LIMIT) - spu[SPE_REG_PMBPTR];
	u64 bytes;

	if (play->ring->state != SPEPROF_RING_ARMED || spu[SPE_REG_PMBSR] || free_bytes < 128 ||
	    spu[SPE_REG_PMBPTR] == STRAY)
		return;
	bytes = draw_below(play, (u32)(free_bytes / 64)) * 64ULL;
	spu_write_bytes(bytes);
	play->written += bytes;
}

/* Overwrite PMBPTR: then the contents of the window are unknown. */
static void set_stray_pmbptr(struct random_run *play)
{
	const struct speprof_ring *ring = play->ring;

	if (ring->open_window != OPEN_WINDOW_IN_SPU || spu[SPE_REG_PMBPTR] == STRAY ||
	    (ring->state != SPEPROF_RING_ARMED && ring->state != SPEPROF_RING_PARKED))
		return;
	play->written -= spu[SPE_REG_PMBPTR] -
			 (u64)(uintptr_t)(ring->data + (ring->window.start & (RING - 1)));
	spu[SPE_REG_PMBPTR] = STRAY;
	if (ring->state == SPEPROF_RING_ARMED)
		spu[SPE_REG_PMBSR] = FULL;
}

/* Do the same steps as speprof_handle_interrupt(). */
static void raise_interrupt(struct random_run *play)
{
	if (!play->up || !(spu[SPE_REG_PMBSR] & SPE_PMBSR_S))
		return;
	if (!speprof_ring_handle_interrupt(play->ring))
		speprof_ring_save_registers(play->ring);
	if (play->ring->state != SPEPROF_RING_ARMED)
		spu[SPE_REG_PMBSR] = 0;
}

static void stop_with_random_syndrome(struct random_run *play)
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
	u32 n = draw_below(play, 80);

	spu_writes_randomly(play);
	if (play->ring->state == SPEPROF_RING_ARMED && !spu[SPE_REG_PMBSR])
		spu[SPE_REG_PMBSR] = syndromes[n < ARRAY_SIZE(syndromes) ? n : 0];
	if (n == ARRAY_SIZE(syndromes))
		set_stray_pmbptr(play);
	/* The interrupt may be delayed by other actions. */
	if (draw_below(play, 4))
		raise_interrupt(play);
}

static void start_or_stop_session(struct random_run *play)
{
	play->started = !play->started;
	if (play->started)
		speprof_ring_start(play->ring, &play->program, play->up);
	else
		speprof_ring_stop(play->ring);
}

static void take_cpu_off_or_on(struct random_run *play)
{
	play->up = !play->up;
	if (play->up)
		speprof_ring_bring_online(play->ring);
	else
		speprof_ring_take_offline(play->ring);
}

/* From now on the SPU has the registers of another session. */
static void load_other_ring(struct random_run *play)
{
	if (play->ring->config.for_cgroups && !play->runs && play->up) {
		speprof_ring_save_registers(play->ring);
		for (unsigned int reg = SPE_REG_PMSICR; reg < SPE_REG_COUNT; reg++)
			spu[reg] = 0;
	}
}

/* Return the FNV-1a hash of the bytes between two positions. */
static u64 hash_snapshot(const struct speprof_ring *ring, u64 start, u64 end)
{
	u64 image = 0xcbf29ce484222325ULL;

	for (; start != end; start++)
		image = (image ^ ring->data[start & (RING - 1)]) * 0x100000001b3ULL;
	return image;
}

static void take_or_release_snapshot(struct random_run *play)
{
	struct speprof_ring *ring = play->ring;

	if (!ring->flight)
		return;
	if (play->held) {
		assert_int_equal(hash_snapshot(ring, play->snapshot.start, play->snapshot.end),
				 play->image);
		assert_int_equal(speprof_ring_release_snapshot(ring, play), 0);
		play->held = false;
		return;
	}
	play->snapshot = (struct speprof_snapshot){ .max_bytes = draw_below(play, RING / 2) };
	play->held = !speprof_ring_take_snapshot(ring, play, &play->snapshot);
	if (play->held)
		play->image = hash_snapshot(ring, play->snapshot.start, play->snapshot.end);
}

/* Let userspace write random values into the control page, of which the module must read none. */
static void scribble_on_control_page(struct random_run *play)
{
	memset(play->ring->control, (int)draw_below(play, 256), sizeof(*play->ring->control));
	/* Set the tail back, or so far ahead that no head reaches it. */
	play->ring->control->tail = draw_below(play, 2) ? 0 : ~0ULL;
	play->ring->control->event_tail = draw_below(play, 2) ? 0 : ~0ULL;
}

static void reprogram_ring(struct random_run *play)
{
	play->program.generation++;
	if (play->started)
		speprof_ring_reprogram(play->ring, &play->program);
}

static void advance_clock(struct random_run *play)
{
	stand_in_now += draw_below(play, 4) ? draw_below(play, 20000) : draw_below(play, 150) * MS;
	/* Advance the clock until the module considers the reader missing. */
	if (!draw_below(play, 100))
		stand_in_now += 61 * NSEC_PER_SEC;
}

static void run_random_step(struct random_run *play)
{
	struct speprof_ring *ring = play->ring;

	advance_clock(play);
	switch (draw_below(play, 20)) {
	case 0:
		if (!play->started || ring->state == SPEPROF_RING_FAULTED || !draw_below(play, 5))
			start_or_stop_session(play);
		break;
	case 1:
		if (!play->up || !draw_below(play, 5))
			take_cpu_off_or_on(play);
		break;
	case 2:
		reprogram_ring(play);
		break;
	case 3:
		speprof_ring_kick(ring);
		break;
	case 4:
		speprof_ring_flush(ring);
		break;
	case 5:
		speprof_ring_report_cgroup_removed(ring, 1, 2);
		break;
	case 6:
		ring->control->event_tail = ring->event_published;
		speprof_ring_read_tails(ring);
		break;
	case 7:
		load_other_ring(play);
		if (!ring->flight)
			scribble_on_control_page(play);
		break;
	case 8:
		/* Keep the snapshot for several laps of the ring. */
		if (!play->held || !draw_below(play, 5))
			take_or_release_snapshot(play);
		break;
	case 9:
		WRITE_ONCE(ring->bound.bytes, draw_below(play, 3) ? 0 : 100000);
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
		spu_writes_randomly(play);
		break;
	default:
		stop_with_random_syndrome(play);
	}
	reevaluate_ring(play);
}

static void check_window_header(struct random_run *play, const struct speprof_window *window)
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

/*
 * Read a stream as its reader does, and check that the headers of its windows account for all time
 * and bytes up to the end of the last window.
 */
static void read_stream(struct random_run *play)
{
	const struct speprof_ring *ring = play->ring;
	const u64 *spent = ring->state_before;

	while (play->walked != ring->published) {
		assert_true(ring->published - play->walked <= RING);
		check_window_header(play, (const void *)(ring->data + (play->walked & (RING - 1))));
	}
	assert_int_equal(play->data_bytes, ring->counters.data_bytes);
	assert_int_equal(play->records, ring->counters.records);
	assert_int_equal(play->records * 64, play->data_bytes);
	assert_int_equal(play->armed_ns, spent[SPEPROF_RING_ARMED]);
	assert_int_equal(play->parked_ns, spent[SPEPROF_RING_PARKED]);
	assert_int_equal(play->blind_ns, spent[SPEPROF_RING_HANDLING] + spent[SPEPROF_RING_FULL] +
						 spent[SPEPROF_RING_FAULTED] +
						 spent[SPEPROF_RING_THROTTLED] +
						 spent[SPEPROF_RING_HANDOVER]);
	ring->control->tail = play->walked;
}

/*
 * Read a flight recorder as its reader does. Check that whole windows follow each other from the
 * oldest on, and that each byte is counted exactly once, as overwritten, as part of a snapshot, or
 * as readable.
 */
static void check_flight_recorder(const struct random_run *play)
{
	const struct speprof_ring *ring = play->ring;
	const struct spe_flight_recorder *flight = ring->flight;
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

		bytes -= chunk->was_claimed ? chunk->bytes : 0;
		records -= chunk->was_claimed ? chunk->records : 0;
	}
	assert_int_equal(flight->overwritten_bytes + flight->claimed_bytes + bytes,
			 ring->counters.data_bytes);
	assert_int_equal(flight->overwritten_records + flight->claimed_records + records,
			 ring->counters.records);
}

static void check_ledgers(const struct random_run *play, u64 began)
{
	const struct speprof_ring *ring = play->ring;
	u64 spent = 0;

	assert_int_equal(stand_in_warnings, 0);
	for (unsigned int state = 0; state < RING_STATES; state++)
		spent += ring->counters.state_ns[state];
	assert_int_equal(spent, ring->state_since - began);
	assert_int_equal(ring->published, ring->counters.data_bytes + ring->counters.header_bytes +
						  ring->counters.skip_bytes);
	if (!ring->flight) {
		check_slots(ring);
		assert_in_range(ring->published - ring->tail, 0, RING);
		return;
	}
	assert_in_range(ring->event_seq - ring->control->event_oldest, 0, SLOTS);
	assert_in_range(ring->published - ring->control->oldest, 0, RING);
	assert_true(ring->control->oldest <= ring->flight->oldest);
	check_flight_recorder(play);
}

static void run_seed(u64 seed, bool for_cgroups, bool flight)
{
	struct random_run play = { .random = seed, .up = true, .started = true };
	u64 began;

	spu_enabled_ns = 0;
	spu_isb_ns = 3;
	spu_drain_ns = 10000;
	play.ring = fake_ring_new_as(seed % 3 ? 10 : 0, for_cgroups, flight);
	play.program = play.ring->program;
	began = play.ring->state_since;
	for (unsigned int state = 0; state < RING_STATES; state++)
		began -= play.ring->counters.state_ns[state];
	for (unsigned int i = 0; i < 400; i++) {
		run_random_step(&play);
		check_ledgers(&play, began);
		if (!flight && !draw_below(&play, 4))
			read_stream(&play);
	}
	if (play.started)
		speprof_ring_stop(play.ring);
	if (!flight)
		read_stream(&play);
	check_ledgers(&play, began);
	assert_int_equal(play.written, play.ring->counters.data_bytes);
	assert_int_equal(spu_enabled_ns, play.ring->counters.state_ns[SPEPROF_RING_ARMED]);
	spu_isb_ns = spu_drain_ns = 0;
	speprof_ring_free(play.ring);
}

static void test_ledgers_of_random_runs(void **state)
{
	(void)state;
	for (u64 seed = 1; seed <= 300; seed++) {
		backend.disables_parked_buffer = seed % 2;
		run_seed(seed, false, false);
		run_seed(seed, true, false);
		run_seed(seed, false, true);
		run_seed(seed, true, true);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ledgers_of_random_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
