// SPDX-License-Identifier: LGPL-2.1-or-later
#include "module-ring.h"
#include "timestamp-clock.h"
#include "codec/registers.h"
#include "policy/syndrome.h"

#include <errno.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "util/time.h"

static_assert(SPEPROF_WINDOW_TRUNCATED == WINDOW_TRUNCATED &&
		      SPEPROF_WINDOW_PARTIAL == WINDOW_PARTIAL &&
		      SPEPROF_WINDOW_COLLIDED == WINDOW_COLLIDED &&
		      SPEPROF_WINDOW_FAULTED == WINDOW_FAULTED &&
		      SPEPROF_WINDOW_SUSPECT == WINDOW_SUSPECT,
	      "the flags are copied unchanged");

#define WINDOW_FLAGS \
	(WINDOW_TRUNCATED | WINDOW_PARTIAL | WINDOW_COLLIDED | WINDOW_FAULTED | WINDOW_SUSPECT)

static int map_region(int fd, u64 offset, u64 size, int protection, void *ret)
{
	void *p = mmap(NULL, size, protection, MAP_SHARED, fd, (off_t)offset);

	if (p == MAP_FAILED)
		return -errno;
	*(void **)ret = p;
	return 0;
}

const char *module_explain_abi_mismatch(u32 abi)
{
	if (abi == SPEPROF_ABI_VERSION)
		return NULL;
	return abi < SPEPROF_ABI_VERSION ?
		       "the module speprof is older than speprofd and has another ABI: install and "
		       "load the module of this release" :
		       "the module speprof is newer than speprofd and has another ABI: install the "
		       "speprofd of the module's release";
}

int module_ring_init(struct module_ring *ring, int session, u32 cpu)
{
	struct speprof_ring_open open = {
		.size = sizeof(open),
		.cpu = cpu,
		.flags = SPEPROF_RING_NONBLOCK,
	};
	int r;

	*ring = (struct module_ring){ .cpu = cpu };
	ring->fd = ioctl(session, SPEPROF_RING_OPEN, &open);
	if (ring->fd < 0)
		return -errno;
	ring->event_slots = open.event_slots;
	ring->control_bytes = open.control_bytes;
	ring->event_bytes = open.event_bytes;
	ring->data_bytes = open.data_bytes;
	r = map_region(ring->fd, SPEPROF_MMAP_CONTROL, open.control_bytes, PROT_READ | PROT_WRITE,
		       &ring->control);
	if (r >= 0)
		r = map_region(ring->fd, SPEPROF_MMAP_EVENTS, open.event_bytes, PROT_READ,
			       &ring->events);
	if (r >= 0)
		r = map_region(ring->fd, SPEPROF_MMAP_DATA, open.data_bytes, PROT_READ,
			       &ring->data);
	if (r >= 0 && ring->control->magic != SPEPROF_CONTROL_MAGIC)
		r = -EPROTO;
	if (r < 0) {
		module_ring_deinit(ring);
		return r;
	}
	ring->tail = ring->control->tail;
	ring->event_tail = ring->control->event_tail;
	return 0;
}

void module_ring_deinit(struct module_ring *ring)
{
	if (ring->control)
		munmap(ring->control, ring->control_bytes);
	if (ring->events)
		munmap((void *)ring->events, ring->event_bytes);
	if (ring->data)
		munmap((void *)ring->data, ring->data_bytes);
	if (ring->fd >= 0)
		close(ring->fd);
	*ring = (struct module_ring){ .fd = -1 };
}

static u8 abi_to_backend(u32 backend)
{
	return backend == SPEPROF_BACKEND_HARDWARE ? BACKEND_HARDWARE :
	       backend == SPEPROF_BACKEND_EMULATED ? BACKEND_EMULATED :
						     BACKEND_UNKNOWN;
}

/* The mean interval is at most 2^24 x 256 operations (D17.3.4): clamp it to 32 bits. */
static u32 get_window_interval(const struct speprof_window *w)
{
	return w->interval > UINT32_MAX ? UINT32_MAX : (u32)w->interval;
}

/*
 * Timestamps of an emulated SPU are times of CLOCK_MONOTONIC. The module reads start_ticks and
 * start_ns one after the other, so the conversion must ignore the difference between the two.
 */
static struct timestamp_clock make_window_clock(const struct speprof_window *w)
{
	bool same = w->backend == SPEPROF_BACKEND_EMULATED && w->clock == SPEPROF_CLOCK_MONOTONIC &&
		    w->tick_hz == 1000000000;

	return timestamp_clock_make(w->tick_hz, same ? w->start_ns : w->start_ticks, w->start_ns);
}

/* Return ns * share / 2^32, rounded up, in two steps: the product may exceed 64 bits. */
static u64 compute_blind_ns(u64 ns, u32 share)
{
	return (ns >> 32) * share + (((ns & UINT32_MAX) * share + UINT32_MAX) >> 32);
}

/* Set the blind time and its causes. An older module does not report the causes. */
static void set_blind_time(struct module_ring *ring, const struct speprof_window *w,
			   struct source_window *window)
{
	static const u8 causes[SPEPROF_BLINDS] = {
		[SPEPROF_BLIND_FULL] = SOURCE_BLIND_FULL,
		[SPEPROF_BLIND_FAULTED] = SOURCE_BLIND_FAULT,
		[SPEPROF_BLIND_THROTTLED] = SOURCE_BLIND_THROTTLE,
		[SPEPROF_BLIND_HANDOVER] = SOURCE_BLIND_HANDOVER,
	};
	u64 rest = w->blind_ns, ns, early;

	for (u32 i = 0; i < SPEPROF_BLINDS && w->flags & SPEPROF_WINDOW_CAUSES; i++) {
		ns = compute_blind_ns(w->blind_ns, w->blind_share[i]);
		ns = ns < rest ? ns : rest;
		window->blind_by[causes[i]] = ns;
		rest -= ns;
	}
	if (w->flags & SPEPROF_WINDOW_CAUSES)
		window->blind_by[SOURCE_BLIND_HANDLING] = rest;
	early = ring->reported_early_ns < w->blind_ns ? ring->reported_early_ns : w->blind_ns;
	window->blind_ns = w->blind_ns - early;
	ns = window->blind_by[SOURCE_BLIND_FAULT];
	window->blind_by[SOURCE_BLIND_FAULT] = ns > early ? ns - early : 0;
	ring->reported_early_ns -= early;
}

static void deliver_window(struct module_ring *ring, const struct speprof_window *w,
			   const struct source_sink *sink)
{
	struct source_window window = {
		.data = (const u8 *)w + w->data_offset,
		.len = w->data_size,
		.midr = w->midr,
		.start_ns = w->start_ns,
		.end_ns = w->end_ns,
		.armed_ns = w->armed_ns,
		.written = w->flags & SPEPROF_WINDOW_COUNTED ? w->records : WINDOW_WRITTEN_UNKNOWN,
		.interval = get_window_interval(w),
		.cpu = w->cpu,
		.tid = -1,
		.flags = w->flags & WINDOW_FLAGS,
		/* The driver closes a window with PARTIAL while PMBSR.S is 0. */
		.interrupted = !(w->flags & SPEPROF_WINDOW_PARTIAL),
		.align = 1U << SPE_FIELD_GET(SPE_PMBIDR_ALIGN, w->pmbidr),
		.max_record = 1U << SPE_FIELD_GET(SPE_PMSIDR_MAXSIZE, w->pmsidr),
		.pmsver = (u8)w->pmsver,
		.backend = abi_to_backend(w->backend),
		.unit = w->interval_unit == SPEPROF_UNIT_INSTRUCTIONS ? UNIT_INSTRUCTIONS :
									UNIT_MICRO_OPS,
		.clock = make_window_clock(w),
	};

	/*
	 * Measure the skew only for hardware: timestamps of an emulated SPU do not come from the
	 * virtual counter.
	 */
	if (window.backend == BACKEND_HARDWARE)
		window.clock_skew_ns = timestamp_clock_measure_skew(&window.clock);
	ring->backend = window.backend;
	set_blind_time(ring, w, &window);
	sink->window(sink->ctx, &window);
}

static void deliver_loss(u32 cpu, u64 bytes, const struct source_sink *sink)
{
	static const u8 nothing[1];
	const struct source_window window = {
		.data = nothing,
		.cpu = cpu,
		.tid = -1,
		.lost_bytes = bytes,
	};

	sink->window(sink->ctx, &window);
}

/* Check the header at @w. @published: number of published bytes of the ring from @w on. */
static bool header_is_valid(const struct speprof_window *w, u64 published)
{
	u64 header_min = w->kind == SPEPROF_WINDOW_RECORDS ? sizeof(*w) : SPEPROF_WINDOW_SKIP_SIZE;

	if (published < SPEPROF_WINDOW_SKIP_SIZE || w->magic != SPEPROF_WINDOW_MAGIC ||
	    w->span > published || w->span % SPEPROF_WINDOW_ALIGN)
		return false;
	if (w->header_size < header_min || w->header_size > w->span)
		return false;
	if (w->kind != SPEPROF_WINDOW_RECORDS)
		return true;
	return w->data_offset >= w->header_size && w->data_offset <= w->span &&
	       w->data_size <= w->span - w->data_offset;
}

static void count_fault(const struct speprof_event *e, struct source_health *health)
{
	health->faults++;
	snprintf(health->last, sizeof(health->last), "CPU %u: %s, PMBSR %#llx%s", e->cpu,
		 spe_syndrome_name((enum spe_syndrome_class)e->syndrome),
		 (unsigned long long)e->arg0,
		 e->action == SPEPROF_ACTION_STOP_CPU ? ", stopped" : "");
}

static void count_event(const struct speprof_event *e, struct source_health *health)
{
	switch (e->type) {
	case SPEPROF_EVENT_SYNDROME:
		count_fault(e, health);
		break;
	case SPEPROF_EVENT_THROTTLE:
		health->throttles++;
		break;
	case SPEPROF_EVENT_UNREAD:
		health->unread++;
		break;
	}
}

/*
 * A CPU that a fault has stopped is blind from the time of the event on, not from the time at which
 * the event is read.
 */
static void record_stop_time(struct module_ring *ring, const struct speprof_event *e)
{
	if (e->type == SPEPROF_EVENT_SYNDROME && e->action == SPEPROF_ACTION_STOP_CPU &&
	    !ring->stopped_ns && e->time_ns <= time_now_ns())
		ring->stopped_ns = e->time_ns;
}

static void drain_events(struct module_ring *ring, struct source_health *health)
{
	u64 head = __atomic_load_n(&ring->control->event_head, __ATOMIC_ACQUIRE);
	const struct speprof_event *e;

	for (; ring->event_tail != head; ring->event_tail++) {
		e = &ring->events[ring->event_tail % ring->event_slots];
		count_event(e, health);
		record_stop_time(ring, e);
	}
}

static u32 read_ring_state(const struct module_ring *ring)
{
	return __atomic_load_n(&ring->control->state, __ATOMIC_RELAXED);
}

/*
 * A CPU that a fault stopped may have no window for days, so each drain reports its blind time in
 * an empty window.
 */
static void report_stopped_time(struct module_ring *ring, bool stopped,
				const struct source_sink *sink)
{
	static const u8 nothing[1];
	struct source_window window = {
		.data = nothing,
		.cpu = ring->cpu,
		.tid = -1,
		.backend = ring->backend,
	};
	u64 now = stopped ? time_now_ns() : 0;

	if (stopped && ring->stopped_ns) {
		window.blind_ns = now - ring->stopped_ns;
		window.blind_by[SOURCE_BLIND_FAULT] = window.blind_ns;
		ring->reported_early_ns += window.blind_ns;
		sink->window(sink->ctx, &window);
	}
	ring->stopped_ns = now;
}

/* Return the number of contiguous bytes from @at up to @head. */
static u64 count_unread_bytes(const struct module_ring *ring, u64 at, u64 head)
{
	u64 before_end = ring->data_bytes - at % ring->data_bytes;

	return before_end < head - at ? before_end : head - at;
}

static const struct speprof_window *get_window(const struct module_ring *ring, u64 at)
{
	return (const struct speprof_window *)(ring->data + at % ring->data_bytes);
}

int module_ring_drain(struct module_ring *ring, const struct source_sink *sink,
		      struct source_health *health)
{
	/*
	 * Acquire: pairs with the release of head in the module, so the windows below head are
	 * complete.
	 */
	u64 head = __atomic_load_n(&ring->control->head, __ATOMIC_ACQUIRE);
	const struct speprof_window *w;
	bool stopped;
	int r = 0;

	if (ring->lost_bytes)
		deliver_loss(ring->cpu, ring->lost_bytes, sink);
	ring->lost_bytes = 0;
	while (ring->tail != head) {
		w = get_window(ring, ring->tail);
		if (!header_is_valid(w, count_unread_bytes(ring, ring->tail, head))) {
			ring->damaged_bytes += head - ring->tail;
			deliver_loss(ring->cpu, head - ring->tail, sink);
			r = -EBADMSG;
			ring->tail = head;
			break;
		}
		if (w->kind == SPEPROF_WINDOW_RECORDS)
			deliver_window(ring, w, sink);
		ring->tail += w->span;
	}
	drain_events(ring, health);
	stopped = read_ring_state(ring) == SPEPROF_RING_FAULTED;
	report_stopped_time(ring, stopped, sink);
	health->cpus_stopped += stopped;
	health->cpus_stopped -= ring->stopped;
	ring->stopped = stopped;
	if (!ring->deferred ||
	    (ring->spills && module_ring_get_retained_permille(ring) >= SOURCE_RETAINED_SPILL))
		module_ring_release(ring);
	return r;
}

void module_ring_release(struct module_ring *ring)
{
	/*
	 * Release: all reads of the windows and events happen before the module may overwrite them.
	 */
	__atomic_store_n(&ring->control->event_tail, ring->event_tail, __ATOMIC_RELEASE);
	__atomic_store_n(&ring->control->tail, ring->tail, __ATOMIC_RELEASE);
	/*
	 * Ignore -ENXIO, which means that the CPU went offline and that its last window is
	 * published.
	 */
	if (read_ring_state(ring) == SPEPROF_RING_FULL)
		(void)!ioctl(ring->fd, SPEPROF_RING_KICK, 0);
}

/*
 * Return true if @at is a position of this ring that was released meanwhile. Both tails of a
 * position are released together. If only one of them is below its released tail, @at belongs to
 * another ring.
 */
static bool is_released_position(const struct module_ring *ring, const struct source_position *at,
				 u64 head)
{
	return at->tail < ring->control->tail && ring->control->tail <= head &&
	       at->event_tail <= ring->control->event_tail;
}

int module_ring_resume(struct module_ring *ring, const struct source_position *at)
{
	u64 head = __atomic_load_n(&ring->control->head, __ATOMIC_ACQUIRE);
	u64 event_head = __atomic_load_n(&ring->control->event_head, __ATOMIC_ACQUIRE);
	const struct speprof_window *w = get_window(ring, at->tail);

	if (ring->spills && is_released_position(ring, at, head)) {
		ring->lost_bytes = ring->control->tail - at->tail;
		ring->tail = ring->control->tail;
		ring->event_tail = ring->control->event_tail;
		ring->reported_early_ns = 0;
		return 0;
	}
	/*
	 * Counts may wrap, so compare distances: a position outside [tail, head] is further from
	 * the head than the tail is.
	 */
	if (head - at->tail > head - ring->control->tail ||
	    event_head - at->event_tail > event_head - ring->control->event_tail)
		return -ESTALE;
	if (at->tail != head && (!header_is_valid(w, count_unread_bytes(ring, at->tail, head)) ||
				 w->position != at->tail))
		return -ESTALE;
	ring->tail = at->tail;
	ring->event_tail = at->event_tail;
	ring->reported_early_ns = at->reported_early_ns;
	return 0;
}

u32 module_ring_get_retained_permille(const struct module_ring *ring)
{
	u64 bytes = (ring->tail - ring->control->tail) * 1000 / ring->data_bytes;
	u64 events = (ring->event_tail - ring->control->event_tail) * 1000 / ring->event_slots;

	if (read_ring_state(ring) == SPEPROF_RING_FULL)
		return 1000;
	return (u32)(bytes > events ? bytes : events);
}

bool module_ring_is_offline(const struct module_ring *ring)
{
	return read_ring_state(ring) == SPEPROF_RING_OFFLINE;
}
