// SPDX-License-Identifier: GPL-2.0-only
/*
 * The states of a ring, its timer, its commands and its allocation.
 * Documentation/explanation/rings.md explains states and contexts.
 */
#include <linux/ktime.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "compat.h"
#include "policy/syndrome.h"
#include "ring_internal.h"
#include "stats.h"

/* maximum milliseconds between two checks of a FULL ring for free space */
#define RESUME_MS 100

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

/* The states that may follow each state. */
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

void speprof_ring_account_time(struct speprof_ring *ring, u64 now)
{
	ring->counters.state_ns[ring->state] += now - ring->state_since;
	ring->state_since = now;
}

void speprof_ring_transition(struct speprof_ring *ring, u32 to, u64 now)
{
	lockdep_assert_irqs_disabled();
	WARN_ON_ONCE(!(legal_transitions[ring->state] & BIT(to)));
	speprof_ring_account_time(ring, now);
	/*
	 * Nothing is published after IDLE. The release makes everything that was published before
	 * visible to a reader that loads IDLE.
	 */
	smp_store_release(&ring->state, to);
	WRITE_ONCE(ring->control->state, to);
}

/* ---- The ring's timer ------------------------------------------------------- */

/* Return the delay of the timer for the current state, in ns. */
static u64 ring_timer_delay_ns(const struct speprof_ring *ring)
{
	u32 ms = ring->config.latency_ms ?: RESUME_MS;
	u64 now = ktime_get_ns();

	if (ring->state == SPEPROF_RING_THROTTLED)
		return ring->throttled_until > now ? ring->throttled_until - now : NSEC_PER_USEC;
	if (ring->state == SPEPROF_RING_FULL)
		ms = min_t(u32, ms, RESUME_MS);
	return ms * (u64)NSEC_PER_MSEC;
}

void speprof_ring_start_timer(struct speprof_ring *ring)
{
	hrtimer_start(&ring->timer, ns_to_ktime(ring_timer_delay_ns(ring)),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

/*
 * Rotate the window. The timer is set to the maximum age of a window, so restart it if the ring
 * becomes FULL or THROTTLED.
 */
static void ring_rotate_armed(struct speprof_ring *ring,
			      const struct speprof_sampling_program *next)
{
	speprof_ring_rotate_window(ring, SPEPROF_RING_ARMED, next);
	if (ring->state == SPEPROF_RING_FULL || ring->state == SPEPROF_RING_THROTTLED)
		speprof_ring_start_timer(ring);
}

/* The timer is pinned to the ring's CPU, and runs in hard interrupt context. */
static enum hrtimer_restart ring_timer_expired(struct hrtimer *timer)
{
	struct speprof_ring *ring = container_of(timer, struct speprof_ring, timer);
	bool unread = speprof_ring_is_unread(ring);

	speprof_ring_add_cgroup_event(ring);
	switch (ring->state) {
	case SPEPROF_RING_ARMED:
		if (unread)
			speprof_ring_stop_unread(ring);
		else if (ring->config.latency_ms)
			speprof_ring_rotate_window(ring, SPEPROF_RING_ARMED, NULL);
		break;
	case SPEPROF_RING_FULL:
		if (unread)
			speprof_ring_stop_unread(ring);
		else
			speprof_ring_resume(ring);
		break;
	case SPEPROF_RING_THROTTLED:
		speprof_ring_end_throttle(ring);
		break;
	case SPEPROF_RING_HANDOVER:
		break;
	case SPEPROF_RING_PARKED:
		if (unread)
			speprof_ring_stop_unread(ring);
		else if (ring->config.latency_ms)
			speprof_ring_close_parked(ring, SPEPROF_RING_PARKED);
		/*
		 * The next handover restarts the timer. If the ring stopped because its reader is
		 * missing, the timer continues, because it detects that a reader exists again.
		 */
		if (ring->unread)
			break;
		return HRTIMER_NORESTART;
	default:
		return HRTIMER_NORESTART;
	}
	hrtimer_forward_now(timer, ns_to_ktime(ring_timer_delay_ns(ring)));
	return HRTIMER_RESTART;
}

/* ---- Commands ------------------------------------------------------------- */

/* Start sampling, from IDLE or OFFLINE. The CPU is online. */
static void ring_begin_sampling(struct speprof_ring *ring)
{
	bool throttled = speprof_ring_must_throttle(ring);
	u32 from = ring->state;

	ring->empty_syndromes = 0;
	ring->resume_state = throttled ? SPEPROF_RING_THROTTLED : SPEPROF_RING_ARMED;
	speprof_ring_note_progress(ring, ktime_get_ns());
	if (ring->config.for_cgroups) {
		speprof_ring_transition(ring, SPEPROF_RING_PARKED, ktime_get_ns());
	} else {
		speprof_ring_transition(ring, SPEPROF_RING_HANDLING, ktime_get_ns());
		if (throttled)
			speprof_ring_transition(ring, SPEPROF_RING_THROTTLED, ktime_get_ns());
		else if (speprof_ring_arm(ring) == SPEPROF_RING_FULL)
			irq_work_queue(&ring->wake);
		speprof_ring_start_timer(ring);
	}
	if (throttled) {
		speprof_ring_add_state_event(ring, from, SPEPROF_RING_THROTTLED);
		speprof_ring_publish(ring);
	}
}

/* Close the window of a ring that is PARKED or HANDOVER. The caller reevaluates the arbiter. */
static void ring_close_if_parked(struct speprof_ring *ring, u32 to)
{
	if (ring->state == SPEPROF_RING_HANDOVER)
		speprof_ring_park(ring);
	if (ring->state == SPEPROF_RING_PARKED)
		speprof_ring_close_parked(ring, to);
}

/* Publish the records, and change to IDLE or OFFLINE from any other state. */
static void ring_end_sampling(struct speprof_ring *ring, u32 to)
{
	hrtimer_try_to_cancel(&ring->timer);
	ring_close_if_parked(ring, to);
	if (ring->state == SPEPROF_RING_ARMED)
		speprof_ring_rotate_window(ring, to, NULL);
	else
		speprof_ring_transition(ring, to, ktime_get_ns());
	irq_work_queue(&ring->wake);
}

void speprof_ring_start(struct speprof_ring *ring, const struct speprof_sampling_program *program,
			bool up)
{
	speprof_ring_set_program(ring, program);
	if (up)
		ring_begin_sampling(ring);
	else
		speprof_ring_transition(ring, SPEPROF_RING_OFFLINE, ktime_get_ns());
}

void speprof_ring_stop(struct speprof_ring *ring)
{
	if (ring->state != SPEPROF_RING_IDLE)
		ring_end_sampling(ring, SPEPROF_RING_IDLE);
}

void speprof_ring_reprogram(struct speprof_ring *ring,
			    const struct speprof_sampling_program *program)
{
	if (ring->state == SPEPROF_RING_ARMED) {
		ring_rotate_armed(ring, program);
		return;
	}
	ring_close_if_parked(ring, SPEPROF_RING_PARKED);
	speprof_ring_set_program(ring, program);
}

void speprof_ring_bring_online(struct speprof_ring *ring)
{
	if (ring->state == SPEPROF_RING_OFFLINE)
		ring_begin_sampling(ring);
}

void speprof_ring_take_offline(struct speprof_ring *ring)
{
	if (ring->state == SPEPROF_RING_FAULTED)
		hrtimer_try_to_cancel(&ring->timer);
	else if (ring->state != SPEPROF_RING_IDLE && ring->state != SPEPROF_RING_OFFLINE)
		ring_end_sampling(ring, SPEPROF_RING_OFFLINE);
	/* The SPU may lose its registers while the CPU is offline, so load the program again. */
	ring->loaded_generation = 0;
}

bool speprof_ring_handle_interrupt(struct speprof_ring *ring)
{
	if (ring->state != SPEPROF_RING_ARMED)
		return false;
	ring->counters.interrupts++;
	speprof_stats_count_interrupt(ring->cpu);
	ring_rotate_armed(ring, NULL);
	return true;
}

int speprof_ring_kick(struct speprof_ring *ring)
{
	if (READ_ONCE(ring->state) == SPEPROF_RING_OFFLINE)
		return -ENXIO;
	if (ring->state == SPEPROF_RING_ARMED || ring->state == SPEPROF_RING_FULL ||
	    ring->state == SPEPROF_RING_PARKED)
		speprof_ring_note_progress(ring, ktime_get_ns());
	speprof_ring_resume(ring);
	speprof_ring_add_cgroup_event(ring);
	return 0;
}

int speprof_ring_flush(struct speprof_ring *ring)
{
	if (READ_ONCE(ring->state) == SPEPROF_RING_OFFLINE)
		return -ENXIO;
	if (ring->state == SPEPROF_RING_ARMED)
		ring_rotate_armed(ring, NULL);
	ring_close_if_parked(ring, SPEPROF_RING_PARKED);
	return 0;
}

int speprof_ring_take_snapshot(struct speprof_ring *ring, const void *owner,
			       struct speprof_snapshot *snapshot)
{
	u64 max_bytes = snapshot->max_bytes ?: ring->config.size / 2, start = 0;
	int ret;

	if (!ring->flight)
		return -EOPNOTSUPP;
	if (ring->state == SPEPROF_RING_ARMED)
		ring_rotate_armed(ring, NULL);
	ring_close_if_parked(ring, SPEPROF_RING_PARKED);
	ret = spe_flight_claim(ring->flight, (uintptr_t)owner, max_bytes,
			       ring->state == SPEPROF_RING_ARMED ? ring->window.limit : ring->head,
			       &start);
	if (ret)
		return ret;
	snapshot->start = start;
	snapshot->end = ring->head;
	snapshot->time_ns = ktime_get_ns();
	speprof_stats_count_snapshot(ring->cpu, ring->flight->oldest, start, ring->head);
	return 0;
}

int speprof_ring_release_snapshot(struct speprof_ring *ring, const void *owner)
{
	int ret = -EOPNOTSUPP;

	if (ring->flight)
		ret = spe_flight_release(ring->flight, (uintptr_t)owner);
	if (!ret)
		speprof_ring_resume(ring);
	return ret;
}

static void ring_fill_flight_stats(const struct speprof_ring *ring,
				   struct speprof_ring_stats *stats)
{
	const struct spe_flight_recorder *flight = ring->flight;
	u32 i;

	stats->oldest = flight->oldest;
	stats->event_oldest = speprof_ring_find_oldest_event(ring, 0);
	stats->overwritten_bytes = flight->overwritten_bytes;
	stats->overwritten_records = flight->overwritten_records;
	stats->claimed_bytes = flight->claimed_bytes;
	stats->claimed_records = flight->claimed_records;
	for (i = 0; i < SPE_FLIGHT_CLAIMS; i++)
		stats->snapshots += !!flight->claims[i].owner;
}

void speprof_ring_get_stats(struct speprof_ring *ring, struct speprof_ring_stats *ret_stats)
{
	struct speprof_ring_stats stats = {
		.size = sizeof(stats),
		.state = ring->state,
		.head = ring->published,
		.event_head = ring->event_published,
		.data_bytes = ring->counters.data_bytes,
		.header_bytes = ring->counters.header_bytes,
		.skip_bytes = ring->counters.skip_bytes,
		.windows = ring->counters.windows,
		.skips = ring->counters.skips,
		.records = ring->counters.records,
		.interrupts = ring->counters.interrupts,
		.resumes = ring->counters.resumes,
		.wakeups = ring->counters.wakeups,
		.throttles = ring->counters.throttles,
		.unreads = ring->counters.unreads,
		.parked_ns = ring->counters.state_ns[SPEPROF_RING_PARKED],
		.entries = ring->counters.entries,
		.handovers = ring->counters.handovers,
	};
	u64 now = ktime_get_ns();
	unsigned long flags;

	speprof_ring_read_tails(ring);
	if (ring->flight)
		ring_fill_flight_stats(ring, &stats);
	memcpy(stats.state_ns, ring->counters.state_ns, sizeof(stats.state_ns));
	if (ring->state == SPEPROF_RING_PARKED)
		stats.parked_ns += now - ring->state_since;
	else
		stats.state_ns[ring->state] += now - ring->state_since;
	raw_spin_lock_irqsave(&ring->tail_lock, flags);
	stats.tail = ring->tail;
	stats.event_tail = ring->event_tail;
	stats.bad_tails = ring->bad_tails;
	raw_spin_unlock_irqrestore(&ring->tail_lock, flags);
	*ret_stats = stats;
}

/* ---- Allocation ---------------------------------------------------------- */

static u64 compute_event_ring_bytes(const struct speprof_ring_config *config)
{
	return (u64)config->event_slots * sizeof(struct speprof_event);
}

unsigned long speprof_ring_count_pages(const struct speprof_ring_config *config)
{
	return speprof_shared_buffer_count_pages(config->size) +
	       speprof_shared_buffer_count_pages(compute_event_ring_bytes(config)) +
	       speprof_shared_buffer_count_pages(sizeof(struct speprof_control));
}

static int ring_init_flight(struct speprof_ring *ring)
{
	if (!ring->config.flight)
		return 0;
	ring->flight = kmalloc_node(sizeof(*ring->flight), GFP_KERNEL_ACCOUNT, cpu_to_node(ring->cpu));
	if (!ring->flight)
		return -ENOMEM;
	spe_flight_init(ring->flight, ring->config.size);
	return 0;
}

static int ring_init_buffers(struct speprof_ring *ring)
{
	int node = cpu_to_node(ring->cpu);
	int ret;

	ret = speprof_shared_buffer_init(&ring->control_buffer, sizeof(struct speprof_control),
					 node);
	if (ret)
		return ret;
	ret = speprof_shared_buffer_init(&ring->event_buffer,
					 compute_event_ring_bytes(&ring->config), node);
	if (ret)
		goto no_events;
	ret = speprof_shared_buffer_init(&ring->data_buffer, ring->config.size, node);
	if (ret)
		goto no_data;
	return 0;

no_data:
	speprof_shared_buffer_deinit(&ring->event_buffer);
no_events:
	speprof_shared_buffer_deinit(&ring->control_buffer);
	return ret;
}

struct speprof_ring *speprof_ring_new(const struct speprof_ring_config *config)
{
	int node = cpu_to_node(config->spu.cpu), ret;
	struct speprof_ring *ring = kzalloc_node(sizeof(*ring), GFP_KERNEL_ACCOUNT, node);

	if (!ring)
		return ERR_PTR(-ENOMEM);
	ring->config = *config;
	ring->cpu = config->spu.cpu;
	ret = ring_init_flight(ring) ?: ring_init_buffers(ring);
	if (ret) {
		kfree(ring->flight);
		kfree(ring);
		return ERR_PTR(ret);
	}
	ring->control = ring->control_buffer.address;
	ring->events = ring->event_buffer.address;
	ring->data = ring->data_buffer.address;
	ring->control->magic = SPEPROF_CONTROL_MAGIC;
	ring->control->size = sizeof(*ring->control);
	ring->control->cpu = ring->cpu;
	ring->control->data_bytes = config->size;
	ring->control->event_slots = config->event_slots;

	ring->state = SPEPROF_RING_IDLE;
	ring->state_since = ktime_get_ns();
	compat_hrtimer_setup(&ring->timer, ring_timer_expired, HRTIMER_MODE_REL_PINNED_HARD);
	raw_spin_lock_init(&ring->tail_lock);
	mutex_init(&ring->read_lock);
	init_irq_work(&ring->wake, speprof_ring_wake_readers);
	init_waitqueue_head(&ring->readers);
	return ring;
}

void speprof_ring_free(struct speprof_ring *ring)
{
	if (!ring)
		return;
	WARN_ON(ring->state != SPEPROF_RING_IDLE);
	hrtimer_cancel(&ring->timer);
	irq_work_sync(&ring->wake);
	speprof_shared_buffer_deinit(&ring->data_buffer);
	speprof_shared_buffer_deinit(&ring->event_buffer);
	speprof_shared_buffer_deinit(&ring->control_buffer);
	kfree(ring->flight);
	kfree(ring);
}
