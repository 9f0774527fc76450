// SPDX-License-Identifier: GPL-2.0-only
/*
 * A ring: windows are armed, closed and published here, on the CPU whose SPU
 * writes them. See Documentation/kernel.md for the states and contexts.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "stats.h"
#include "ring_internal.h"
#include "policy/syndrome.h"

/* How often a FULL ring looks for room, at the least. */
#define RESUME_MS 100

/* Syndromes in a row without a byte written: going on would only repeat them. */
#define BARREN_MAX 8

static_assert(sizeof(struct speprof_window) == 192);
static_assert(offsetof(struct speprof_window, midr) == SPEPROF_WINDOW_SKIP_SIZE);
static_assert(sizeof(struct speprof_event) == 64);
static_assert(sizeof(struct speprof_control) == 384);
static_assert(offsetof(struct speprof_control, head) == 128);
static_assert(offsetof(struct speprof_control, tail) == 256);
static_assert((int)SPEPROF_SYNDROME_UNKNOWN == (int)SPE_SYNDROME_UNKNOWN);
static_assert((int)SPEPROF_ACTION_STOP_SESSION == (int)SPE_ACTION_STOP_SESSION);

/* ---- States -------------------------------------------------------------- */

#define TO(state) BIT(SPEPROF_RING_##state)

static const u16 legal_transitions[RING_STATES] = {
	[SPEPROF_RING_IDLE] = TO(HANDLING) | TO(OFFLINE) | TO(PARKED),
	[SPEPROF_RING_OFFLINE] = TO(HANDLING) | TO(IDLE) | TO(PARKED),
	[SPEPROF_RING_ARMED] = TO(HANDLING) | TO(PARKED),
	[SPEPROF_RING_HANDLING] = TO(ARMED) | TO(FULL) | TO(FAULTED) | TO(THROTTLED) | TO(IDLE) |
				  TO(OFFLINE) | TO(PARKED),
	[SPEPROF_RING_FULL] = TO(HANDLING) | TO(IDLE) | TO(OFFLINE) | TO(PARKED),
	[SPEPROF_RING_THROTTLED] = TO(HANDLING) | TO(IDLE) | TO(OFFLINE) | TO(PARKED),
	[SPEPROF_RING_FAULTED] = TO(IDLE),
	[SPEPROF_RING_HANDOVER] = TO(ARMED) | TO(FULL) | TO(THROTTLED) | TO(PARKED),
	[SPEPROF_RING_PARKED] = TO(HANDOVER) | TO(FAULTED) | TO(IDLE) | TO(OFFLINE),
};

/* Add the time up to @now to the ledger of the ring's state. */
static void ring_book_time(struct ring *ring, u64 now)
{
	ring->count.state_ns[ring->state] += now - ring->since;
	ring->since = now;
}

void ring_transition(struct ring *ring, u32 to, u64 now)
{
	WARN_ON_ONCE(!(legal_transitions[ring->state] & BIT(to)));
	ring_book_time(ring, now);
	/* Whoever sees that nothing more comes sees what was published before. */
	smp_store_release(&ring->state, to);
	WRITE_ONCE(ring->control->state, to);
}

/* ---- Arming and closing -------------------------------------------------- */

static u64 ring_va(const struct ring *ring, u64 position)
{
	return (u64)(uintptr_t)ring->data + (position & (ring->config.size - 1));
}

bool ring_has_room(struct ring *ring, struct spe_window *ret_window)
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

	ring_take_tails(ring);
	if (ring->flight)
		return !spe_flight_next(ring->flight, &view, ret_window);
	raw_spin_lock_irqsave(&ring->tail_lock, flags);
	view.tail = ring->tail;
	raw_spin_unlock_irqrestore(&ring->tail_lock, flags);

	return ring_free_slots(ring) >= EVENT_RESERVE && !spe_window_next(&view, ret_window);
}

u64 ring_event_oldest(const struct ring *ring, u32 more)
{
	u64 slots = ring->config.event_slots, used = ring->event_seq + EVENT_RESERVE + more;

	return ring->flight && used > slots ? used - slots : 0;
}

/* Readers know what is lost before the first byte of it is. */
static void ring_make_room(struct ring *ring)
{
	spe_flight_make_room(ring->flight, ring->window.limit);
	smp_store_release(&ring->control->oldest, ring->flight->oldest);
	smp_store_release(&ring->control->event_oldest, ring_event_oldest(ring, 0));
	/* Both stores are complete before the CPU and the SPU overwrite what they exclude. */
	mb();
}

/* A program of another interval has put PMSICR to zero: the SPU loads it anew (D17.3.3). */
static void ring_load(struct ring *ring)
{
	const struct speprof_backend *backend = ring->config.backend;
	const struct program *program = &ring->program;

	backend->write(SPE_REG_PMSFCR, program->pmsfcr);
	backend->write(SPE_REG_PMSEVFR, program->pmsevfr);
	if (ring->config.spu.pmsidr & SPE_PMSIDR_FNE)
		backend->write(SPE_REG_PMSNEVFR, program->pmsnevfr);
	backend->write(SPE_REG_PMSLATFR, program->pmslatfr);
	if (ring->config.spu.pmsidr & SPE_PMSIDR_FDS)
		backend->write(SPE_REG_PMSDSFR, program->pmsdsfr);
	backend->write(SPE_REG_PMSIRR, program->pmsirr);
	backend->write(SPE_REG_PMSICR, ring->saved.pmsicr);
	ring->loaded = program->generation;
}

/* What it samples from the next window on; none is open. */
static void ring_set_program(struct ring *ring, const struct program *program)
{
	ring->program = *program;
	ring->loaded = 0;
	ring->saved.pmsicr = 0;
	WRITE_ONCE(ring->control->generation, program->generation);
}

void ring_enable_buffer(struct ring *ring)
{
	const struct speprof_backend *backend = ring->config.backend;
	u64 limit = ring_va(ring, ring->window.start) + (ring->window.limit - ring->window.start);

	backend->write(SPE_REG_PMBLIMITR, limit | SPE_PMBLIMITR_E);
	/* The buffer is enabled before profiling is (D17.8, D17.6.9). */
	backend->synchronize();
}

void ring_load_buffer(struct ring *ring, u64 pmbptr)
{
	const struct speprof_backend *backend = ring->config.backend;

	if (ring->loaded != ring->program.generation)
		ring_load(ring);
	backend->write(SPE_REG_PMBPTR, pmbptr);
	ring_enable_buffer(ring);
	if (backend->records)
		ring->records_before = backend->records();
	ring->hold = RING_HOLD_SPU;
}

void ring_enable(struct ring *ring, u64 now)
{
	const struct speprof_backend *backend = ring->config.backend;

	ring_transition(ring, SPEPROF_RING_ARMED, now);
	backend->write(SPE_REG_PMSCR, ring->program.pmscr);
	backend->synchronize();
}

u32 ring_arm(struct ring *ring)
{
	if (!ring_has_room(ring, &ring->window)) {
		ring_transition(ring, SPEPROF_RING_FULL, ktime_get_ns());
		return SPEPROF_RING_FULL;
	}

	if (ring->flight)
		ring_make_room(ring);
	ring->saved.pmbsr = 0;
	ring->saved.records = 0;
	ring_load_buffer(ring, ring_va(ring, ring->window.start));
	/* In this order no record's time comes out later than the window's end. */
	ring->start_ns = ktime_get_ns();
	ring->start_ticks = ring->config.backend->ticks();
	ring_enable(ring, ring->start_ns);
	observe_arm(ring->cpu, ring->window.start, ring->window.limit, ring->program.generation);
	return SPEPROF_RING_ARMED;
}

/*
 * What PMBPTR says was written: nothing, if it is not where it may be. The offset of a PMBPTR that
 * is known would then reveal the ring's kernel address to the reader of the event.
 */
static void closed_measure(struct closed *closed, u64 start_va)
{
	u64 room = closed->at.limit - closed->at.start;
	u64 offset = closed->offset - start_va;

	closed->offset = offset;
	if (offset <= room) {
		closed->bytes = offset;
	} else {
		closed->offset = U64_MAX;
		closed->verdict.suspect = true;
	}
	closed->head = ALIGN(closed->at.start + closed->bytes, SPEPROF_WINDOW_ALIGN);
}

/* The window that is open is so no more; what its end was is yet to be filled in. */
static struct closed ring_close(struct ring *ring)
{
	ring->hold = RING_HOLD_NONE;
	return (struct closed){
		.at = ring->window,
		.start_ns = ring->start_ns,
		.start_ticks = ring->start_ticks,
		.pmbsr = ring->saved.pmbsr,
		.records = ring->saved.records,
		.interval = ring->program.interval,
		.generation = ring->program.generation,
	};
}

/* Since the end of the last RECORDS window, up to the last change of state. */
static u64 ring_spent(const struct ring *ring, u32 state)
{
	return ring->count.state_ns[state] - ring->state_before[state];
}

/* In parts of 2^32; both are shifted until the quotient's dividend has room. */
static u32 blind_share(u64 part, u64 whole)
{
	unsigned int shift = fls64(whole) > 32 ? fls64(whole) - 32 : 0;

	if (!part)
		return 0;
	return min_t(u64, div64_u64((part >> shift) << 32, whole >> shift), U32_MAX);
}

/* Enabled, but not sampling, and why. */
static void ring_account_blind(const struct ring *ring, struct closed *closed)
{
	static const u8 states[SPEPROF_BLINDS] = {
		[SPEPROF_BLIND_FULL] = SPEPROF_RING_FULL,
		[SPEPROF_BLIND_FAULTED] = SPEPROF_RING_FAULTED,
		[SPEPROF_BLIND_THROTTLED] = SPEPROF_RING_THROTTLED,
		[SPEPROF_BLIND_HANDOVER] = SPEPROF_RING_HANDOVER,
	};

	closed->flags |= SPEPROF_WINDOW_CAUSES;
	closed->blind_ns = ring_spent(ring, SPEPROF_RING_HANDLING);
	for (unsigned int i = 0; i < SPEPROF_BLINDS; i++)
		closed->blind_ns += ring_spent(ring, states[i]);
	for (unsigned int i = 0; i < SPEPROF_BLINDS; i++)
		closed->blind_share[i] = blind_share(ring_spent(ring, states[i]), closed->blind_ns);
}

/* To the books, up to the last change of state; @closed->offset is still an address. */
static void ring_account(struct ring *ring, struct closed *closed)
{
	closed->verdict = spe_syndrome_read(closed->pmbsr);
	closed_measure(closed, ring_va(ring, closed->at.start));
	if (ring->config.backend->records)
		closed->flags |= SPEPROF_WINDOW_COUNTED;
	closed->armed_ns = ring_spent(ring, SPEPROF_RING_ARMED);
	closed->parked_ns = ring_spent(ring, SPEPROF_RING_PARKED);
	ring_account_blind(ring, closed);
	if (!closed->bytes)
		return;
	ring->head = closed->head;
	memcpy(ring->state_before, ring->count.state_ns, sizeof(ring->state_before));
	if (ring->flight)
		spe_flight_add(ring->flight, closed->at.skip, closed->head, closed->bytes,
			       closed->records);
}

void ring_stop_sampling(struct ring *ring)
{
	const struct speprof_backend *backend = ring->config.backend;

	backend->write(SPE_REG_PMSCR, 0);
	backend->synchronize();
	/* Nothing is sampled from here on: the drain is blind time. */
	ring_transition(ring, SPEPROF_RING_HANDLING, ktime_get_ns());
	backend->drain();
}

/* HANDLING, and drained: read what the SPU did, and disable its buffer. */
static void ring_disarm(struct ring *ring, struct closed *ret_closed)
{
	const struct speprof_backend *backend = ring->config.backend;
	struct closed closed = ring_close(ring);

	/* After the drain: an operation may carry any time up to its own end (D17.6). */
	closed.end_ns = ktime_get_ns();
	ring_book_time(ring, closed.end_ns);
	closed.pmbsr |= backend->read(SPE_REG_PMBSR);
	closed.offset = backend->read(SPE_REG_PMBPTR);
	backend->write(SPE_REG_PMBLIMITR, 0);
	backend->write(SPE_REG_PMBSR, 0);
	backend->synchronize();
	if (backend->records)
		closed.records += backend->records() - ring->records_before;
	ring_account(ring, &closed);
	*ret_closed = closed;
}

/* The flags of a closed window, and the state after it where @to was meant. */
static u32 ring_judge(struct ring *ring, struct closed *closed, u32 to)
{
	const struct spe_verdict *verdict = &closed->verdict;
	bool odd = verdict->class != SPE_SYNDROME_NONE && verdict->class != SPE_SYNDROME_FULL;

	if (verdict->class != SPE_SYNDROME_FULL)
		closed->flags |= SPEPROF_WINDOW_PARTIAL;
	if (odd)
		closed->flags |= SPEPROF_WINDOW_FAULTED;
	if (verdict->truncated)
		closed->flags |= SPEPROF_WINDOW_TRUNCATED;
	if (verdict->collided)
		closed->flags |= SPEPROF_WINDOW_COLLIDED;
	if (verdict->suspect)
		closed->flags |= SPEPROF_WINDOW_SUSPECT;

	/* Of whatever class: an SPU that has nothing to write has nothing to say. */
	if (closed->bytes)
		ring->barren = 0;
	else if (verdict->class != SPE_SYNDROME_NONE || verdict->suspect)
		ring->barren++;
	if ((to == SPEPROF_RING_ARMED || to == SPEPROF_RING_PARKED) &&
	    (verdict->action >= SPE_ACTION_STOP_CPU || ring->barren >= BARREN_MAX))
		return SPEPROF_RING_FAULTED;
	return to;
}

/* A plain buffer full needs no event: the window says it. */
static bool closed_is_plain(const struct closed *closed)
{
	const struct spe_verdict *verdict = &closed->verdict;

	return (verdict->class == SPE_SYNDROME_NONE || verdict->class == SPE_SYNDROME_FULL) &&
	       verdict->action == SPE_ACTION_CONTINUE && !verdict->suspect;
}

static void ring_add_syndrome_event(struct ring *ring, const struct closed *closed, u32 to)
{
	ring_add_event(ring, &(struct speprof_event){
		.time_ns = closed->end_ns,
		.type = SPEPROF_EVENT_SYNDROME,
		.syndrome = closed->verdict.class,
		.action = to == SPEPROF_RING_FAULTED ?
				  max_t(u32, closed->verdict.action, SPE_ACTION_STOP_CPU) :
				  closed->verdict.action,
		.arg0 = closed->pmbsr,
		.arg1 = closed->offset,
	});
}

/* Publish a closed window, its syndrome, and the state @to that follows it. */
static void ring_report(struct ring *ring, const struct closed *closed, u32 to)
{
	bool is_news = to != SPEPROF_RING_ARMED && to != SPEPROF_RING_PARKED;

	if (closed->bytes)
		ring_write_window(ring, closed);
	if (!closed_is_plain(closed))
		ring_add_syndrome_event(ring, closed, to);
	if (ring->unread)
		ring_add_unread_event(ring);
	else if (to == SPEPROF_RING_FULL || to == SPEPROF_RING_FAULTED ||
		 to == SPEPROF_RING_THROTTLED)
		ring_add_state_event(ring, SPEPROF_RING_ARMED, to);
	else if (to == SPEPROF_RING_PARKED && ring->parked_from == SPEPROF_RING_THROTTLED)
		ring_add_state_event(ring, SPEPROF_RING_ARMED, SPEPROF_RING_THROTTLED);
	if (is_news || closed->bytes || ring->event_seq != ring->event_published)
		ring_publish(ring);
}

void ring_turn(struct ring *ring, u32 to, const struct program *next)
{
	ring_stop_sampling(ring);
	ring_turn_drained(ring, to, next);
}

/* The next window is armed before the books are kept: profiling is off in between. */
void ring_turn_drained(struct ring *ring, u32 to, const struct program *next)
{
	struct closed closed;

	ring_disarm(ring, &closed);
	if (next)
		ring_set_program(ring, next);
	to = ring_judge(ring, &closed, to);
	to = ring_throttle(ring, &closed, to);
	if (to == SPEPROF_RING_ARMED)
		to = ring_arm(ring);

	ring_report(ring, &closed, to);
	if (ring->state != to)
		ring_transition(ring, to, ktime_get_ns());
	ring_add_gone_event(ring);
}

void ring_close_parked(struct ring *ring, u32 to)
{
	struct closed closed;

	ring_put_away(ring);
	if (ring->hold == RING_HOLD_NONE)
		return;
	closed = ring_close(ring);
	closed.end_ns = ring->since;
	closed.offset = ring->saved.pmbptr;
	ring_account(ring, &closed);
	to = ring_judge(ring, &closed, to);
	to = ring_throttle(ring, &closed, to);
	ring_report(ring, &closed, to);
	if (to == SPEPROF_RING_FAULTED)
		ring_transition(ring, to, ktime_get_ns());
}

void ring_resume(struct ring *ring)
{
	struct spe_window window;
	u32 to;

	if (ring->state != SPEPROF_RING_FULL || ring->unread || !ring_has_room(ring, &window))
		return;
	ring_transition(ring, SPEPROF_RING_HANDLING, ktime_get_ns());
	to = ring_arm(ring);
	/* The tails only ever move on, so the room is still there. */
	WARN_ON_ONCE(to != SPEPROF_RING_ARMED);
	ring_add_state_event(ring, SPEPROF_RING_FULL, to);
	ring->count.resumes++;
	ring_publish(ring);
}

/* ---- The ring's timer ------------------------------------------------------- */

/* From now to when it should look again. */
static u64 ring_timer_ns(const struct ring *ring)
{
	u32 ms = ring->config.latency_ms ?: RESUME_MS;
	u64 now = ktime_get_ns();

	if (ring->state == SPEPROF_RING_THROTTLED)
		return ring->rest_until > now ? ring->rest_until - now : NSEC_PER_USEC;
	if (ring->state == SPEPROF_RING_FULL)
		ms = min_t(u32, ms, RESUME_MS);
	return ms * (u64)NSEC_PER_MSEC;
}

void ring_timer_start(struct ring *ring)
{
	hrtimer_start(&ring->timer, ns_to_ktime(ring_timer_ns(ring)), HRTIMER_MODE_REL_PINNED_HARD);
}

/* Close the window, sample on; what waits then is not left to the bound on latency. */
static void ring_turn_over(struct ring *ring, const struct program *next)
{
	ring_turn(ring, SPEPROF_RING_ARMED, next);
	if (ring->state == SPEPROF_RING_FULL || ring->state == SPEPROF_RING_THROTTLED)
		ring_timer_start(ring);
}

/* Pinned: on the ring's CPU, as ring_begin() was; hard: interrupts off. */
static enum hrtimer_restart ring_tick(struct hrtimer *timer)
{
	struct ring *ring = container_of(timer, struct ring, timer);
	bool unread = ring_is_unread(ring);

	ring_add_gone_event(ring);
	switch (ring->state) {
	case SPEPROF_RING_ARMED:
		if (unread)
			ring_stop_unread(ring);
		else if (ring->config.latency_ms)
			ring_turn(ring, SPEPROF_RING_ARMED, NULL);
		break;
	case SPEPROF_RING_FULL:
		if (unread)
			ring_stop_unread(ring);
		else
			ring_resume(ring);
		break;
	case SPEPROF_RING_THROTTLED:
		ring_rested(ring);
		break;
	case SPEPROF_RING_HANDOVER:
		break;
	case SPEPROF_RING_PARKED:
		if (unread)
			ring_stop_unread(ring);
		else if (ring->config.latency_ms)
			ring_close_parked(ring, SPEPROF_RING_PARKED);
		/* It starts again with the next task, unless it has to look for a reader. */
		if (ring->unread)
			break;
		return HRTIMER_NORESTART;
	default:
		return HRTIMER_NORESTART;
	}
	hrtimer_forward_now(timer, ns_to_ktime(ring_timer_ns(ring)));
	return HRTIMER_RESTART;
}

/* ---- What the rest of the driver calls ------------------------------------ */

static void ring_begin(struct ring *ring)
{
	bool rests = ring_rests_first(ring);
	u32 from = ring->state;

	ring->barren = 0;
	ring->parked_from = rests ? SPEPROF_RING_THROTTLED : SPEPROF_RING_ARMED;
	ring_seen(ring, ktime_get_ns());
	if (ring->config.of_cgroups) {
		ring_transition(ring, SPEPROF_RING_PARKED, ktime_get_ns());
	} else {
		ring_transition(ring, SPEPROF_RING_HANDLING, ktime_get_ns());
		if (rests)
			ring_transition(ring, SPEPROF_RING_THROTTLED, ktime_get_ns());
		else if (ring_arm(ring) == SPEPROF_RING_FULL)
			irq_work_queue(&ring->wake);
		ring_timer_start(ring);
	}
	if (rests) {
		ring_add_state_event(ring, from, SPEPROF_RING_THROTTLED);
		ring_publish(ring);
	}
}

/* Close the window of a ring of cgroups that is not ARMED; the caller settles the owner after it. */
static void ring_settle_parked(struct ring *ring, u32 to)
{
	if (ring->state == SPEPROF_RING_HANDOVER)
		ring_park(ring);
	if (ring->state == SPEPROF_RING_PARKED)
		ring_close_parked(ring, to);
}

/* To @to from any state but IDLE. */
static void ring_end(struct ring *ring, u32 to)
{
	hrtimer_try_to_cancel(&ring->timer);
	ring_settle_parked(ring, to);
	if (ring->state == SPEPROF_RING_ARMED)
		ring_turn(ring, to, NULL);
	else
		ring_transition(ring, to, ktime_get_ns());
	irq_work_queue(&ring->wake);
}

void ring_start(struct ring *ring, const struct program *program, bool up)
{
	ring_set_program(ring, program);
	if (up)
		ring_begin(ring);
	else
		ring_transition(ring, SPEPROF_RING_OFFLINE, ktime_get_ns());
}

void ring_stop(struct ring *ring)
{
	if (ring->state != SPEPROF_RING_IDLE)
		ring_end(ring, SPEPROF_RING_IDLE);
}

void ring_reprogram(struct ring *ring, const struct program *program)
{
	if (ring->state == SPEPROF_RING_ARMED) {
		ring_turn_over(ring, program);
		return;
	}
	ring_settle_parked(ring, SPEPROF_RING_PARKED);
	ring_set_program(ring, program);
}

void ring_online(struct ring *ring)
{
	if (ring->state == SPEPROF_RING_OFFLINE)
		ring_begin(ring);
}

void ring_offline(struct ring *ring)
{
	if (ring->state == SPEPROF_RING_FAULTED)
		hrtimer_try_to_cancel(&ring->timer);
	else if (ring->state != SPEPROF_RING_IDLE && ring->state != SPEPROF_RING_OFFLINE)
		ring_end(ring, SPEPROF_RING_OFFLINE);
	/* The SPU forgets. */
	ring->loaded = 0;
}

bool ring_interrupt(struct ring *ring)
{
	if (ring->state != SPEPROF_RING_ARMED)
		return false;
	ring->count.interrupts++;
	observe_interrupt(ring->cpu);
	ring_turn_over(ring, NULL);
	return true;
}

int ring_kick(struct ring *ring)
{
	if (READ_ONCE(ring->state) == SPEPROF_RING_OFFLINE)
		return -ENXIO;
	if (ring->state == SPEPROF_RING_ARMED || ring->state == SPEPROF_RING_FULL ||
	    ring->state == SPEPROF_RING_PARKED)
		ring_seen(ring, ktime_get_ns());
	ring_resume(ring);
	ring_add_gone_event(ring);
	return 0;
}

int ring_flush(struct ring *ring)
{
	if (READ_ONCE(ring->state) == SPEPROF_RING_OFFLINE)
		return -ENXIO;
	if (ring->state == SPEPROF_RING_ARMED)
		ring_turn_over(ring, NULL);
	ring_settle_parked(ring, SPEPROF_RING_PARKED);
	return 0;
}

int ring_snapshot(struct ring *ring, const void *owner, struct speprof_snapshot *snapshot)
{
	u64 want = snapshot->max_bytes ?: ring->config.size / 2, start = 0;
	int ret;

	if (!ring->flight)
		return -EOPNOTSUPP;
	if (ring->state == SPEPROF_RING_ARMED)
		ring_turn_over(ring, NULL);
	ring_settle_parked(ring, SPEPROF_RING_PARKED);
	ret = spe_flight_claim(ring->flight, (uintptr_t)owner, want,
			       ring->state == SPEPROF_RING_ARMED ? ring->window.limit : ring->head,
			       &start);
	if (ret)
		return ret;
	snapshot->start = start;
	snapshot->end = ring->head;
	snapshot->time_ns = ktime_get_ns();
	observe_snapshot(ring->cpu, ring->flight->oldest, start, ring->head);
	return 0;
}

int ring_snapshot_end(struct ring *ring, const void *owner)
{
	int ret = -EOPNOTSUPP;

	if (ring->flight)
		ret = spe_flight_release(ring->flight, (uintptr_t)owner);
	if (!ret)
		ring_resume(ring);
	return ret;
}

static void ring_flight_stats(const struct ring *ring, struct speprof_ring_stats *stats)
{
	const struct spe_flight *flight = ring->flight;
	u32 i;

	stats->oldest = flight->oldest;
	stats->event_oldest = ring_event_oldest(ring, 0);
	stats->overwritten_bytes = flight->overwritten_bytes;
	stats->overwritten_records = flight->overwritten_records;
	stats->claimed_bytes = flight->claimed_bytes;
	stats->claimed_records = flight->claimed_records;
	for (i = 0; i < SPE_FLIGHT_CLAIMS; i++)
		stats->snapshots += !!flight->claims[i].owner;
}

void ring_stats(struct ring *ring, struct speprof_ring_stats *ret_stats)
{
	struct speprof_ring_stats stats = {
		.size = sizeof(stats),
		.state = ring->state,
		.head = ring->published,
		.event_head = ring->event_published,
		.data_bytes = ring->count.data_bytes,
		.header_bytes = ring->count.header_bytes,
		.skip_bytes = ring->count.skip_bytes,
		.windows = ring->count.windows,
		.skips = ring->count.skips,
		.records = ring->count.records,
		.interrupts = ring->count.interrupts,
		.resumes = ring->count.resumes,
		.wakeups = ring->count.wakeups,
		.throttles = ring->count.throttles,
		.unreads = ring->count.unreads,
		.parked_ns = ring->count.state_ns[SPEPROF_RING_PARKED],
		.entries = ring->count.entries,
		.handovers = ring->count.handovers,
	};
	u64 now = ktime_get_ns();
	unsigned long flags;

	ring_take_tails(ring);
	if (ring->flight)
		ring_flight_stats(ring, &stats);
	memcpy(stats.state_ns, ring->count.state_ns, sizeof(stats.state_ns));
	if (ring->state == SPEPROF_RING_PARKED)
		stats.parked_ns += now - ring->since;
	else
		stats.state_ns[ring->state] += now - ring->since;
	raw_spin_lock_irqsave(&ring->tail_lock, flags);
	stats.tail = ring->tail;
	stats.event_tail = ring->event_tail;
	stats.bad_tails = ring->bad_tails;
	raw_spin_unlock_irqrestore(&ring->tail_lock, flags);
	*ret_stats = stats;
}

/* ---- Life ---------------------------------------------------------------- */

static u64 event_bytes(const struct ring_config *config)
{
	return (u64)config->event_slots * sizeof(struct speprof_event);
}

unsigned long ring_charge(const struct ring_config *config)
{
	return area_pages(config->size) + area_pages(event_bytes(config)) +
	       area_pages(sizeof(struct speprof_control));
}

static int ring_init_flight(struct ring *ring)
{
	if (!ring->config.flight)
		return 0;
	ring->flight = kmalloc_node(sizeof(*ring->flight), GFP_KERNEL_ACCOUNT, cpu_to_node(ring->cpu));
	if (!ring->flight)
		return -ENOMEM;
	spe_flight_init(ring->flight, ring->config.size);
	return 0;
}

static int ring_init_areas(struct ring *ring)
{
	int node = cpu_to_node(ring->cpu);
	int ret;

	ret = area_init(&ring->control_area, sizeof(struct speprof_control), node);
	if (ret)
		return ret;
	ret = area_init(&ring->event_area, event_bytes(&ring->config), node);
	if (ret)
		goto no_events;
	ret = area_init(&ring->data_area, ring->config.size, node);
	if (ret)
		goto no_data;
	return 0;

no_data:
	area_deinit(&ring->event_area);
no_events:
	area_deinit(&ring->control_area);
	return ret;
}

struct ring *ring_new(const struct ring_config *config)
{
	int node = cpu_to_node(config->spu.cpu), ret;
	struct ring *ring = kzalloc_node(sizeof(*ring), GFP_KERNEL_ACCOUNT, node);

	if (!ring)
		return ERR_PTR(-ENOMEM);
	ring->config = *config;
	ring->cpu = config->spu.cpu;
	ret = ring_init_flight(ring) ?: ring_init_areas(ring);
	if (ret) {
		kfree(ring->flight);
		kfree(ring);
		return ERR_PTR(ret);
	}
	ring->control = ring->control_area.address;
	ring->events = ring->event_area.address;
	ring->data = ring->data_area.address;
	ring->control->magic = SPEPROF_CONTROL_MAGIC;
	ring->control->size = sizeof(*ring->control);
	ring->control->cpu = ring->cpu;
	ring->control->data_bytes = config->size;
	ring->control->event_slots = config->event_slots;

	ring->state = SPEPROF_RING_IDLE;
	ring->since = ktime_get_ns();
	hrtimer_init(&ring->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	ring->timer.function = ring_tick;
	raw_spin_lock_init(&ring->tail_lock);
	mutex_init(&ring->read_lock);
	init_irq_work(&ring->wake, ring_wake);
	init_waitqueue_head(&ring->readers);
	return ring;
}

void ring_free(struct ring *ring)
{
	if (!ring)
		return;
	WARN_ON(ring->state != SPEPROF_RING_IDLE);
	hrtimer_cancel(&ring->timer);
	irq_work_sync(&ring->wake);
	area_deinit(&ring->data_area);
	area_deinit(&ring->event_area);
	area_deinit(&ring->control_area);
	kfree(ring->flight);
	kfree(ring);
}
