// SPDX-License-Identifier: GPL-2.0-only
/*
 * Windows: what the SPU writes between two management events. This file arms and closes them,
 * writes their headers, and hands the SPU over between rings.
 */
#include <linux/ktime.h>
#include <linux/math64.h>

#include "policy/syndrome.h"
#include "ring_internal.h"
#include "stats.h"
#include "throttle.h"

/* a ring becomes FAULTED after this number of consecutive syndromes without a byte written */
#define EMPTY_SYNDROMES_MAX 8

/* ---- Arming ---------------------------------------------------------------- */

/* Return the kernel virtual address of byte @position of the data ring. */
static u64 ring_get_va(const struct speprof_ring *ring, u64 position)
{
	return (u64)(uintptr_t)ring->data + (position & (ring->config.size - 1));
}

/* Return true if there is space for a window and, in a stream, for the events that it may cause. */
static bool ring_has_space(struct speprof_ring *ring, struct spe_window_position *ret_window)
{
	struct spe_ring_state view = {
		.size = ring->config.size,
		.head = ring->head,
		.header = sizeof(struct speprof_window),
		.align = ring->config.spu.record_align,
		.max_record = ring->config.spu.record_max,
		.max_window = ring->config.max_window,
	};
	unsigned long flags;

	speprof_ring_read_tails(ring);
	if (ring->flight)
		return !spe_flight_place_window(ring->flight, &view, ret_window);
	raw_spin_lock_irqsave(&ring->tail_lock, flags);
	view.tail = ring->tail;
	raw_spin_unlock_irqrestore(&ring->tail_lock, flags);

	return speprof_ring_count_free_slots(ring) >= EVENT_RESERVE &&
	       !spe_window_place(&view, ret_window);
}

/*
 * Drop the windows and events that the next window overwrites. The new oldest positions are
 * published before the first byte is overwritten.
 */
static void ring_drop_overwritten(struct speprof_ring *ring)
{
	spe_flight_evict_chunks(ring->flight, ring->window.limit);
	smp_store_release(&ring->control->oldest, ring->flight->oldest);
	smp_store_release(&ring->control->event_oldest, speprof_ring_find_oldest_event(ring, 0));
	/*
	 * Both stores remove bytes from the readable range. Make them visible before the CPU or the
	 * SPU overwrites these bytes.
	 */
	mb();
}

/* Write the program. A PMSICR of 0 makes the SPU reload the interval counters (D17.3.3). */
static void ring_load_program(struct speprof_ring *ring)
{
	const struct speprof_backend *backend = ring->config.backend;
	const struct speprof_sampling_program *program = &ring->program;

	backend->write(SPE_REG_PMSFCR, program->pmsfcr);
	backend->write(SPE_REG_PMSEVFR, program->pmsevfr);
	if (ring->config.spu.pmsidr & SPE_PMSIDR_FNE)
		backend->write(SPE_REG_PMSNEVFR, program->pmsnevfr);
	backend->write(SPE_REG_PMSLATFR, program->pmslatfr);
	if (ring->config.spu.pmsidr & SPE_PMSIDR_FDS)
		backend->write(SPE_REG_PMSDSFR, program->pmsdsfr);
	backend->write(SPE_REG_PMSIRR, program->pmsirr);
	backend->write(SPE_REG_PMSICR, ring->saved.pmsicr);
	ring->loaded_generation = program->generation;
}

void speprof_ring_set_program(struct speprof_ring *ring,
			      const struct speprof_sampling_program *program)
{
	ring->program = *program;
	ring->loaded_generation = 0;
	ring->saved.pmsicr = 0;
	WRITE_ONCE(ring->control->generation, program->generation);
}

/* Enable the buffer from PMBPTR up to the limit of the open window. */
static void ring_enable_buffer(struct speprof_ring *ring)
{
	const struct speprof_backend *backend = ring->config.backend;
	u64 limit =
		ring_get_va(ring, ring->window.start) + (ring->window.limit - ring->window.start);

	backend->write(SPE_REG_PMBLIMITR, limit | SPE_PMBLIMITR_E);
	/* The buffer must be enabled before profiling is (D17.8, D17.6.9). */
	backend->synchronize();
}

/* Load the open window into the SPU, and the program if it is not loaded. */
static void ring_load_buffer(struct speprof_ring *ring, u64 pmbptr)
{
	const struct speprof_backend *backend = ring->config.backend;

	if (ring->loaded_generation != ring->program.generation)
		ring_load_program(ring);
	backend->write(SPE_REG_PMBPTR, pmbptr);
	ring_enable_buffer(ring);
	if (backend->records)
		ring->records_before = backend->records();
	ring->open_window = OPEN_WINDOW_IN_SPU;
}

/* Enable profiling and change to ARMED; the SPU then writes to the loaded window. */
static void ring_enable_profiling(struct speprof_ring *ring, u64 now)
{
	const struct speprof_backend *backend = ring->config.backend;

	speprof_ring_transition(ring, SPEPROF_RING_ARMED, now);
	backend->write(SPE_REG_PMSCR, ring->program.pmscr);
	backend->synchronize();
}

u32 speprof_ring_arm(struct speprof_ring *ring)
{
	/* Arming would lose an open window. */
	WARN_ON_ONCE(ring->open_window != OPEN_WINDOW_NONE);
	if (!ring_has_space(ring, &ring->window)) {
		speprof_ring_transition(ring, SPEPROF_RING_FULL, ktime_get_ns());
		return SPEPROF_RING_FULL;
	}

	if (ring->flight)
		ring_drop_overwritten(ring);
	ring->saved.pmbsr = 0;
	ring->saved.records = 0;
	ring_load_buffer(ring, ring_get_va(ring, ring->window.start));
	/*
	 * Read the clock before the ticks. The time of a record is computed from both; in this
	 * order it is never after the end of its window.
	 */
	ring->start_ns = ktime_get_ns();
	ring->start_ticks = ring->config.backend->ticks();
	ring_enable_profiling(ring, ring->start_ns);
	speprof_stats_trace_arm(ring->cpu, ring->window.start, ring->window.limit,
				ring->program.generation);
	return SPEPROF_RING_ARMED;
}

/* ---- Writing out ----------------------------------------------------------- */

/* Write a SKIP header for @span bytes from @position on. */
static void ring_write_skip(struct speprof_ring *ring, const struct speprof_closed_window *closed,
			    u64 position, u64 span)
{
	struct speprof_window skip = {
		.magic = SPEPROF_WINDOW_MAGIC,
		.header_size = SPEPROF_WINDOW_SKIP_SIZE,
		.kind = SPEPROF_WINDOW_SKIP,
		.span = span,
		.seq = ring->seq++,
		.position = position,
		.data_offset = SPEPROF_WINDOW_SKIP_SIZE,
		.cpu = ring->cpu,
		.backend = ring->config.backend->id,
		.generation = closed->generation,
		.pmsver = ring->config.spu.pmsver,
	};

	memcpy(ring->data + (position & (ring->config.size - 1)), &skip, SPEPROF_WINDOW_SKIP_SIZE);
	ring->counters.skips++;
	ring->counters.skip_bytes += span;
}

/*
 * Write the headers of the bytes that are skipped before a window. A stream needs two headers if
 * the bytes wrap around the end of the ring. A flight recorder writes one: a second one might
 * overwrite a snapshot.
 */
static void ring_write_skips(struct speprof_ring *ring, const struct speprof_closed_window *closed)
{
	u64 position = closed->window.header - closed->window.skip;
	u64 lap = ALIGN(position + 1, ring->config.size);
	u64 first = ring->flight ? closed->window.skip : min(closed->window.skip, lap - position);

	if (first)
		ring_write_skip(ring, closed, position, first);
	if (first < closed->window.skip)
		ring_write_skip(ring, closed, lap, closed->window.skip - first);
}

/* Write the header of a window, and of the skipped bytes before it. The caller publishes. */
static void ring_write_window(struct speprof_ring *ring, const struct speprof_closed_window *closed)
{
	const struct speprof_cpu_info *spu = &ring->config.spu;
	struct speprof_window window = {
		.magic = SPEPROF_WINDOW_MAGIC,
		.header_size = sizeof(window),
		.kind = SPEPROF_WINDOW_RECORDS,
		.position = closed->window.header,
		.data_size = closed->bytes,
		.data_offset = (u32)(closed->window.start - closed->window.header),
		.flags = closed->flags,
		.cpu = ring->cpu,
		.backend = ring->config.backend->id,
		.generation = closed->generation,
		.pmsver = spu->pmsver,
		.midr = spu->midr,
		.pmsidr = spu->pmsidr,
		.pmbidr = spu->pmbidr,
		.pmbsr = closed->pmbsr,
		.interval = closed->interval,
		.interval_unit = spu->interval_unit,
		.clock = SPEPROF_CLOCK_MONOTONIC,
		.start_ns = closed->start_ns,
		.end_ns = closed->end_ns,
		.start_ticks = closed->start_ticks,
		.tick_hz = spu->tick_hz,
		.armed_ns = closed->armed_ns,
		.blind_ns = closed->blind_ns,
		.records = closed->records,
		.parked_ns = closed->parked_ns,
	};

	memcpy(window.blind_share, closed->blind_share, sizeof(window.blind_share));
	ring_write_skips(ring, closed);
	window.seq = ring->seq++;
	window.span = closed->head - closed->window.header;
	memcpy(ring->data + (closed->window.header & (ring->config.size - 1)), &window,
	       sizeof(window));

	ring->counters.windows++;
	ring->counters.data_bytes += closed->bytes;
	ring->counters.header_bytes += window.span - closed->bytes;
	ring->counters.records += closed->records;
	speprof_stats_count_window(ring->cpu, &window);
}

/* ---- Throttling ------------------------------------------------------------ */

/* Start to measure a time in THROTTLED. */
static void ring_begin_throttle(struct speprof_ring *ring)
{
	ring->counters.throttles++;
	ring->throttled_before = ring->counters.state_ns[SPEPROF_RING_THROTTLED];
}

/*
 * Charge a closed window to the limits of the CPU. @to is the state that follows unless a limit is
 * exceeded; in that case return THROTTLED instead of ARMED. A PARKED ring becomes THROTTLED at its
 * next handover.
 */
static u32 ring_charge_throttle(struct speprof_ring *ring,
				const struct speprof_closed_window *closed, u32 to)
{
	/*
	 * Each window counts as one interrupt, whether the SPU, the timer or a command closed it.
	 */
	ring->throttled_until =
		speprof_throttle_charge(closed->end_ns, 1, closed->bytes, &ring->bound,
					&ring->throttle, &ring->throttle_cause);
	if (!ring->throttled_until || (to != SPEPROF_RING_ARMED && to != SPEPROF_RING_PARKED))
		return to;
	ring_begin_throttle(ring);
	ring->resume_state = SPEPROF_RING_THROTTLED;
	return to == SPEPROF_RING_PARKED ? to : SPEPROF_RING_THROTTLED;
}

bool speprof_ring_must_throttle(struct speprof_ring *ring)
{
	struct spe_window_position window;

	ring->throttled_until = speprof_throttle_charge(ktime_get_ns(), 0, 0, &ring->bound,
							&ring->throttle, &ring->throttle_cause);
	if (!ring->throttled_until || !ring_has_space(ring, &window))
		return false;
	ring_begin_throttle(ring);
	return true;
}

void speprof_ring_end_throttle(struct speprof_ring *ring)
{
	u64 now = ktime_get_ns();
	u32 to;

	if (now < ring->throttled_until)
		return;
	speprof_ring_transition(ring, SPEPROF_RING_HANDLING, now);
	to = speprof_ring_arm(ring);
	speprof_ring_add_event(ring, &(struct speprof_event){
		.time_ns = now,
		.type = SPEPROF_EVENT_THROTTLE,
		.arg0 = ring->counters.state_ns[SPEPROF_RING_THROTTLED] - ring->throttled_before,
		.arg1 = ring->throttle_cause,
	});
	if (to != SPEPROF_RING_ARMED)
		speprof_ring_add_state_event(ring, SPEPROF_RING_THROTTLED, to);
	speprof_ring_publish(ring);
}

/* ---- Closing --------------------------------------------------------------- */

/*
 * Compute from PMBPTR how many bytes were written. If PMBPTR is outside of the window, no byte
 * counts as written, and the offset is not reported, because it would reveal the ring's kernel
 * address to readers of the event.
 */
static void closed_window_measure(struct speprof_closed_window *closed, u64 start_va)
{
	u64 capacity = closed->window.limit - closed->window.start;
	u64 offset = closed->offset - start_va;

	closed->offset = offset;
	if (offset <= capacity) {
		closed->bytes = offset;
	} else {
		closed->offset = U64_MAX;
		closed->verdict.suspect = true;
	}
	closed->head = ALIGN(closed->window.start + closed->bytes, SPEPROF_WINDOW_ALIGN);
}

/* End the open window. The caller sets the remaining fields. */
static struct speprof_closed_window ring_end_window(struct speprof_ring *ring)
{
	ring->open_window = OPEN_WINDOW_NONE;
	return (struct speprof_closed_window){
		.window = ring->window,
		.start_ns = ring->start_ns,
		.start_ticks = ring->start_ticks,
		.pmbsr = ring->saved.pmbsr,
		.records = ring->saved.records,
		.interval = ring->program.interval,
		.generation = ring->program.generation,
	};
}

/*
 * Return the time in @state from the end of the last RECORDS window to the last change of state, in
 * ns.
 */
static u64 ring_get_time_in_state(const struct speprof_ring *ring, u32 state)
{
	return ring->counters.state_ns[state] - ring->state_before[state];
}

/*
 * Return @ns / @total in units of 2^-32. Both are shifted so that the dividend fits into 64 bits.
 */
static u32 blind_get_share(u64 ns, u64 total)
{
	unsigned int shift = fls64(total) > 32 ? fls64(total) - 32 : 0;

	if (!ns)
		return 0;
	return min_t(u64, div64_u64((ns >> shift) << 32, total >> shift), U32_MAX);
}

/* Compute the time in which the session was started but nothing was sampled, by cause. */
static void ring_account_blind_time(const struct speprof_ring *ring,
				    struct speprof_closed_window *closed)
{
	static const u8 states[SPEPROF_BLINDS] = {
		[SPEPROF_BLIND_FULL] = SPEPROF_RING_FULL,
		[SPEPROF_BLIND_FAULTED] = SPEPROF_RING_FAULTED,
		[SPEPROF_BLIND_THROTTLED] = SPEPROF_RING_THROTTLED,
		[SPEPROF_BLIND_HANDOVER] = SPEPROF_RING_HANDOVER,
	};

	closed->flags |= SPEPROF_WINDOW_CAUSES;
	closed->blind_ns = ring_get_time_in_state(ring, SPEPROF_RING_HANDLING);
	for (unsigned int i = 0; i < SPEPROF_BLINDS; i++)
		closed->blind_ns += ring_get_time_in_state(ring, states[i]);
	for (unsigned int i = 0; i < SPEPROF_BLINDS; i++)
		closed->blind_share[i] =
			blind_get_share(ring_get_time_in_state(ring, states[i]), closed->blind_ns);
}

/*
 * Compute the verdict and the size of a closed window, and its times up to the last change of
 * state. @closed->offset contains an address on entry, and an offset on return.
 */
static void ring_account_window(struct speprof_ring *ring, struct speprof_closed_window *closed)
{
	closed->verdict = spe_syndrome_interpret(closed->pmbsr);
	closed_window_measure(closed, ring_get_va(ring, closed->window.start));
	if (ring->config.backend->records)
		closed->flags |= SPEPROF_WINDOW_COUNTED;
	closed->armed_ns = ring_get_time_in_state(ring, SPEPROF_RING_ARMED);
	closed->parked_ns = ring_get_time_in_state(ring, SPEPROF_RING_PARKED);
	ring_account_blind_time(ring, closed);
	if (!closed->bytes)
		return;
	ring->head = closed->head;
	memcpy(ring->state_before, ring->counters.state_ns, sizeof(ring->state_before));
	if (ring->flight)
		spe_flight_add_window(ring->flight, closed->window.skip, closed->head,
				      closed->bytes, closed->records);
}

static void ring_stop_sampling(struct speprof_ring *ring)
{
	const struct speprof_backend *backend = ring->config.backend;

	backend->write(SPE_REG_PMSCR, 0);
	backend->synchronize();
	/* Profiling is disabled now, so the time of the drain counts as blind time. */
	speprof_ring_transition(ring, SPEPROF_RING_HANDLING, ktime_get_ns());
	backend->drain();
}

/*
 * Read the results of the window, and disable the buffer. ring_stop_sampling() was called before.
 */
static void ring_disarm(struct speprof_ring *ring, struct speprof_closed_window *ret_closed)
{
	const struct speprof_backend *backend = ring->config.backend;
	struct speprof_closed_window closed = ring_end_window(ring);

	/*
	 * Read the clock after the drain: a record may have any time up to the end of its operation
	 * (D17.6).
	 */
	closed.end_ns = ktime_get_ns();
	speprof_ring_account_time(ring, closed.end_ns);
	closed.pmbsr |= backend->read(SPE_REG_PMBSR);
	closed.offset = backend->read(SPE_REG_PMBPTR);
	backend->write(SPE_REG_PMBLIMITR, 0);
	backend->write(SPE_REG_PMBSR, 0);
	backend->synchronize();
	if (backend->records)
		closed.records += backend->records() - ring->records_before;
	ring_account_window(ring, &closed);
	*ret_closed = closed;
}

/*
 * Set the flags of a closed window. Return the state that follows: FAULTED if the syndrome stops
 * the CPU or if too many consecutive windows were empty; otherwise @to.
 */
static u32 ring_classify_window(struct speprof_ring *ring, struct speprof_closed_window *closed,
			     u32 to)
{
	const struct spe_syndrome_verdict *verdict = &closed->verdict;
	bool faulted = verdict->class != SPE_SYNDROME_NONE && verdict->class != SPE_SYNDROME_FULL;

	if (verdict->class != SPE_SYNDROME_FULL)
		closed->flags |= SPEPROF_WINDOW_PARTIAL;
	if (faulted)
		closed->flags |= SPEPROF_WINDOW_FAULTED;
	if (verdict->truncated)
		closed->flags |= SPEPROF_WINDOW_TRUNCATED;
	if (verdict->collided)
		closed->flags |= SPEPROF_WINDOW_COLLIDED;
	if (verdict->suspect)
		closed->flags |= SPEPROF_WINDOW_SUSPECT;

	/*
	 * Stop an SPU that only causes management events and writes nothing; otherwise the
	 * interrupts would never end.
	 */
	if (closed->bytes)
		ring->empty_syndromes = 0;
	else if (verdict->class != SPE_SYNDROME_NONE || verdict->suspect)
		ring->empty_syndromes++;
	if ((to == SPEPROF_RING_ARMED || to == SPEPROF_RING_PARKED) &&
	    (verdict->action >= SPE_ACTION_STOP_CPU ||
	     ring->empty_syndromes >= EMPTY_SYNDROMES_MAX))
		return SPEPROF_RING_FAULTED;
	return to;
}

/*
 * Return true if the window ended without a management event, or because the buffer was full, and
 * nothing else happened. The flags of the window report that, so no event is needed.
 */
static bool closed_window_is_only_full(const struct speprof_closed_window *closed)
{
	const struct spe_syndrome_verdict *verdict = &closed->verdict;

	return (verdict->class == SPE_SYNDROME_NONE || verdict->class == SPE_SYNDROME_FULL) &&
	       verdict->action == SPE_ACTION_CONTINUE && !verdict->suspect;
}

static void ring_add_syndrome_event(struct speprof_ring *ring,
				    const struct speprof_closed_window *closed, u32 to)
{
	speprof_ring_add_event(ring, &(struct speprof_event){
		.time_ns = closed->end_ns,
		.type = SPEPROF_EVENT_SYNDROME,
		.syndrome = closed->verdict.class,
		.action = to == SPEPROF_RING_FAULTED ?
				  max_t(u32, closed->verdict.action,
				  SPE_ACTION_STOP_CPU) :
				  closed->verdict.action,
		.arg0 = closed->pmbsr,
		.arg1 = closed->offset,
	});
}

/* Write and publish a closed window, its syndrome, and the state @to that follows it. */
static void ring_report_window(struct speprof_ring *ring,
			       const struct speprof_closed_window *closed, u32 to)
{
	bool state_changes = to != SPEPROF_RING_ARMED && to != SPEPROF_RING_PARKED;

	if (closed->bytes)
		ring_write_window(ring, closed);
	if (!closed_window_is_only_full(closed))
		ring_add_syndrome_event(ring, closed, to);
	if (ring->unread)
		speprof_ring_add_unread_event(ring);
	else if (to == SPEPROF_RING_FULL || to == SPEPROF_RING_FAULTED ||
		 to == SPEPROF_RING_THROTTLED)
		speprof_ring_add_state_event(ring, SPEPROF_RING_ARMED, to);
	else if (to == SPEPROF_RING_PARKED && ring->resume_state == SPEPROF_RING_THROTTLED)
		speprof_ring_add_state_event(ring, SPEPROF_RING_ARMED, SPEPROF_RING_THROTTLED);
	if (state_changes || closed->bytes || ring->event_seq != ring->event_published)
		speprof_ring_publish(ring);
}

/*
 * Rotate the window after ring_stop_sampling(). The next window is armed before the header of this
 * one is written, so that the time without sampling is short.
 */
static void ring_rotate_drained(struct speprof_ring *ring, u32 to,
				const struct speprof_sampling_program *next)
{
	struct speprof_closed_window closed;

	ring_disarm(ring, &closed);
	if (next)
		speprof_ring_set_program(ring, next);
	to = ring_classify_window(ring, &closed, to);
	to = ring_charge_throttle(ring, &closed, to);
	if (to == SPEPROF_RING_ARMED)
		to = speprof_ring_arm(ring);

	ring_report_window(ring, &closed, to);
	if (ring->state != to)
		speprof_ring_transition(ring, to, ktime_get_ns());
	speprof_ring_add_cgroup_event(ring);
}

void speprof_ring_rotate_window(struct speprof_ring *ring, u32 to,
				const struct speprof_sampling_program *next)
{
	ring_stop_sampling(ring);
	ring_rotate_drained(ring, to, next);
}

void speprof_ring_close_parked(struct speprof_ring *ring, u32 to)
{
	struct speprof_closed_window closed;

	speprof_ring_save_registers(ring);
	if (ring->open_window == OPEN_WINDOW_NONE)
		return;
	closed = ring_end_window(ring);
	closed.end_ns = ring->state_since;
	closed.offset = ring->saved.pmbptr;
	ring_account_window(ring, &closed);
	to = ring_classify_window(ring, &closed, to);
	to = ring_charge_throttle(ring, &closed, to);
	ring_report_window(ring, &closed, to);
	if (to == SPEPROF_RING_FAULTED)
		speprof_ring_transition(ring, to, ktime_get_ns());
}

void speprof_ring_resume(struct speprof_ring *ring)
{
	struct spe_window_position window;
	u32 to;

	if (ring->state != SPEPROF_RING_FULL || ring->unread || !ring_has_space(ring, &window))
		return;
	speprof_ring_transition(ring, SPEPROF_RING_HANDLING, ktime_get_ns());
	to = speprof_ring_arm(ring);
	/* Tails never decrease, so the space is still free. */
	WARN_ON_ONCE(to != SPEPROF_RING_ARMED);
	speprof_ring_add_state_event(ring, SPEPROF_RING_FULL, to);
	ring->counters.resumes++;
	speprof_ring_publish(ring);
}

/* ---- Handing the SPU over -------------------------------------------------- */

/* Park with an open window. Its registers stay in the SPU. */
static void ring_park_window(struct speprof_ring *ring)
{
	const struct speprof_backend *backend = ring->config.backend;

	if (backend->disables_parked_buffer) {
		backend->write(SPE_REG_PMBLIMITR, 0);
		backend->synchronize();
	}
	speprof_ring_transition(ring, SPEPROF_RING_PARKED, ktime_get_ns());
}

void speprof_ring_park(struct speprof_ring *ring)
{
	if (ring->state == SPEPROF_RING_ARMED) {
		/* All records of the previous task are written before the next task runs. */
		ring_stop_sampling(ring);
		ring->resume_state = SPEPROF_RING_ARMED;
		if (ring->config.backend->read(SPE_REG_PMBSR) & SPE_PMBSR_S)
			ring_rotate_drained(ring, SPEPROF_RING_PARKED, NULL);
		else
			ring_park_window(ring);
	} else if (ring->state == SPEPROF_RING_FULL || ring->state == SPEPROF_RING_THROTTLED) {
		ring->resume_state = ring->state;
		speprof_ring_transition(ring, SPEPROF_RING_PARKED, ktime_get_ns());
	} else if (ring->state == SPEPROF_RING_HANDOVER) {
		speprof_ring_transition(ring, SPEPROF_RING_PARKED, ktime_get_ns());
	}
}

void speprof_ring_save_registers(struct speprof_ring *ring)
{
	const struct speprof_backend *backend = ring->config.backend;

	/* A ring that is ARMED here would lose its registers while the SPU continues to sample. */
	WARN_ON_ONCE(ring->state == SPEPROF_RING_ARMED);
	if (ring->loaded_generation)
		ring->saved.pmsicr = backend->read(SPE_REG_PMSICR);
	ring->loaded_generation = 0;
	if (ring->open_window != OPEN_WINDOW_IN_SPU)
		return;
	ring->saved.pmbptr = backend->read(SPE_REG_PMBPTR);
	ring->saved.pmbsr |= backend->read(SPE_REG_PMBSR);
	backend->write(SPE_REG_PMBLIMITR, 0);
	backend->write(SPE_REG_PMBSR, 0);
	backend->synchronize();
	if (backend->records)
		ring->saved.records += backend->records() - ring->records_before;
	ring->open_window = OPEN_WINDOW_SAVED;
}

void speprof_ring_begin_handover(struct speprof_ring *ring)
{
	if (ring->state != SPEPROF_RING_PARKED)
		return;
	ring->counters.entries++;
	ring->counters.handovers += !ring->loaded_generation;
	speprof_stats_count_handover(ring->cpu, !ring->loaded_generation);
	speprof_ring_transition(ring, SPEPROF_RING_HANDOVER, ktime_get_ns());
}

void speprof_ring_complete_handover(struct speprof_ring *ring)
{
	if (ring->state != SPEPROF_RING_HANDOVER)
		return;
	if (ring->resume_state == SPEPROF_RING_FULL) {
		speprof_ring_transition(ring, SPEPROF_RING_FULL, ktime_get_ns());
		speprof_ring_resume(ring);
	} else if (ring->resume_state == SPEPROF_RING_THROTTLED) {
		speprof_ring_transition(ring, SPEPROF_RING_THROTTLED, ktime_get_ns());
		speprof_ring_end_throttle(ring);
	} else if (ring->open_window == OPEN_WINDOW_NONE) {
		/* No event slot is reserved before the first window of a ring. */
		if (speprof_ring_arm(ring) == SPEPROF_RING_FULL && speprof_ring_has_slot(ring, 0)) {
			speprof_ring_add_state_event(ring, SPEPROF_RING_ARMED, SPEPROF_RING_FULL);
			speprof_ring_publish(ring);
		}
	} else {
		if (ring->open_window == OPEN_WINDOW_SAVED)
			ring_load_buffer(ring, ring->saved.pmbptr);
		else if (ring->config.backend->disables_parked_buffer)
			ring_enable_buffer(ring);
		ring_enable_profiling(ring, ktime_get_ns());
	}
	if (!hrtimer_active(&ring->timer) || ring->state == SPEPROF_RING_THROTTLED)
		speprof_ring_start_timer(ring);
}

bool speprof_ring_defers_handover(const struct speprof_ring *ring)
{
	return ring->program.pmscr & SPE_PMSCR_E1SPE || ring->open_window == OPEN_WINDOW_NONE;
}
