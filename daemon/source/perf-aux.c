// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The kernel's driver disables the event if the AUX area is full or the SPU faulted, and flags the
 * record of that window as truncated. It never enables the event again, so perf_aux_drain() enables
 * it, and counts the time between as blind.
 */
#include "perf-aux.h"
#include "timestamp-clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "util/time.h"

/* Maximum time for which wait_for_head() reads aux_head, and the time between two reads. */
#define HEAD_WAIT_NS 1000000000ULL
#define HEAD_POLL_NS 100000

/* PERF_RECORD_AUX, with its trailer. */
struct perf_record_aux {
	struct perf_event_header header;
	u64 offset;
	u64 size;
	u64 flags;
	u64 time; /* sample_id_all with PERF_SAMPLE_TIME alone */
};

static int host_enable_event(int fd, bool on)
{
	return ioctl(fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0) < 0 ? -errno : 0;
}

static int host_set_period(int fd, u64 period)
{
	return ioctl(fd, PERF_EVENT_IOC_PERIOD, &period) < 0 ? -errno : 0;
}

static int host_add_to_epoll(int epoll, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

const struct perf_host perf_host_real = {
	.devices = "/sys/bus/event_source/devices",
	.cpus = "/sys/devices/system/cpu",
	.open = perf_event_open,
	.enable = host_enable_event,
	.period = host_set_period,
	.watch = host_add_to_epoll,
	.ran_ns = perf_event_read_running_ns,
};

/*
 * Map the ring first: the kernel reads the offset of the AUX area from the control page of the
 * ring.
 */
static int map_buffers(struct perf_aux *aux)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	u32 ring = perf_aux_ring_size(aux->area_size);
	int r = perf_ring_map(&aux->ring, aux->fd, ring);
	void *area;

	if (r < 0)
		return r;
	aux->ring.control->aux_offset = page + ring;
	aux->ring.control->aux_size = aux->area_size;
	/* A writable mapping makes the driver stop at aux_tail instead of overwriting records. */
	area = mmap(NULL, aux->area_size, PROT_READ | PROT_WRITE, MAP_SHARED, aux->fd,
		    (off_t)aux->ring.control->aux_offset);
	if (area == MAP_FAILED)
		return -errno;
	aux->area = area;
	return 0;
}

int perf_aux_open(struct perf_aux *aux, const struct perf_host *host,
		  const struct perf_event_attr *attr, u32 cpu, u32 area_size,
		  const struct source_window *window, struct source *source)
{
	struct perf_aux fresh = {
		.host = host,
		.cpu = cpu,
		.area_size = area_size,
		.window = *window,
		.health = &source->health,
		.contexts = &source->contexts,
		.blind_ns = aux->blind_ns,
		.lost_bytes = aux->lost_bytes,
		.fd = -1,
	};
	int r;

	memcpy(fresh.blind_by, aux->blind_by, sizeof(fresh.blind_by));
	*aux = fresh;
	r = host->open(attr, cpu);
	if (r < 0)
		return r;
	aux->fd = r;
	r = map_buffers(aux);
	if (r < 0)
		perf_aux_close(aux);
	return r;
}

void perf_aux_close(struct perf_aux *aux)
{
	if (aux->area)
		munmap((void *)aux->area, aux->area_size);
	perf_ring_unmap(&aux->ring);
	if (aux->fd >= 0)
		close(aux->fd);
	aux->area = NULL;
	aux->fd = -1;
}

int perf_aux_start(struct perf_aux *aux)
{
	int r = aux->host->enable(aux->fd, true);

	aux->enabled = r >= 0;
	aux->anchor = timestamp_clock_read();
	aux->armed_from = time_now_ns();
	return r;
}

void perf_aux_stop(struct perf_aux *aux)
{
	aux->enabled = false;
	if (aux->fd >= 0)
		aux->host->enable(aux->fd, false);
}

int perf_aux_set_period(struct perf_aux *aux, u64 period, u32 interval)
{
	int r;

	if (aux->next_interval)
		return -EAGAIN;
	r = aux->host->period(aux->fd, period);
	if (r < 0)
		return r;
	/* At this position the driver closed the last window with the old period. */
	aux->next_at = __atomic_load_n(&aux->ring.control->aux_head, __ATOMIC_ACQUIRE);
	aux->next_interval = interval;
	return 0;
}

bool perf_aux_is_dead(struct perf_aux *aux)
{
	u64 ran = aux->host->ran_ns(aux->fd), before = aux->ran_ns;

	aux->ran_ns = ran;
	return before && ran == before;
}

/*
 * Return the contiguous bytes of a window, copied if the window wraps around the end of the area;
 * NULL if memory for the copy cannot be allocated.
 */
static const u8 *get_window_bytes(struct perf_aux *aux, u64 from, size_t size)
{
	size_t offset = from & (aux->area_size - 1);
	size_t first = aux->area_size - offset;

	if (size <= first)
		return aux->area + offset;
	aux->scratch = malloc(size);
	if (!aux->scratch)
		return NULL;
	memcpy(aux->scratch, aux->area + offset, first);
	memcpy(aux->scratch + first, aux->area, size - first);
	return aux->scratch;
}

static u32 convert_window_flags(u64 aux_flags)
{
	return (aux_flags & PERF_AUX_FLAG_TRUNCATED ? WINDOW_TRUNCATED : 0) |
	       (aux_flags & PERF_AUX_FLAG_PARTIAL ? WINDOW_GAPS : 0) |
	       (aux_flags & PERF_AUX_FLAG_COLLISION ? WINDOW_COLLIDED : 0);
}

static void move_losses(struct perf_aux *aux, struct source_window *window)
{
	window->blind_ns = aux->blind_ns;
	memcpy(window->blind_by, aux->blind_by, sizeof(window->blind_by));
	window->lost_bytes = aux->lost_bytes;
	aux->blind_ns = 0;
	memset(aux->blind_by, 0, sizeof(aux->blind_by));
	aux->lost_bytes = 0;
}

/*
 * Read the first record of a window, to detect if records have the TID of their task. The driver
 * enables Context packets for all events or for none. It enables them if the kernel writes
 * CONTEXTIDR, and if this process has CAP_PERFMON or perf_event_paranoid permits it. Only a
 * complete record is used, so damage cannot cause a wrong value.
 */
static void detect_contexts(struct perf_aux *aux, const struct source_window *window)
{
	const u64 contexts = SPE_HAS_CONTEXT(SPE_CONTEXT_EL1) | SPE_HAS_CONTEXT(SPE_CONTEXT_EL2);
	struct spe_decoder decoder;
	struct spe_sample sample;

	if (*aux->contexts != SOURCE_CONTEXTS_UNKNOWN)
		return;
	if (spe_decoder_next(source_window_get_decoder(window, &decoder), &sample, NULL) ==
	    SPE_DECODE_SAMPLE)
		__atomic_store_n(aux->contexts,
				 sample.present & contexts ? SOURCE_CONTEXTS_ALL :
							     SOURCE_CONTEXTS_NONE,
				 __ATOMIC_RELAXED);
}

/*
 * A window starts where the previous one ended; &source_window.armed_ns leaves out the blind time.
 * If the whole time was blind, &source_window.start_ns equals &source_window.end_ns. Otherwise,
 * armed_ns = 0 would mean that the window was armed all the time.
 */
static void deliver_window(struct perf_aux *aux, const struct perf_record_aux *record,
			   const struct source_sink *sink)
{
	struct source_window window = aux->window;
	u64 span = record->time > aux->armed_from ? record->time - aux->armed_from : 0;

	if (aux->next_interval && (s64)(record->offset - aux->next_at) >= 0) {
		aux->window.interval = window.interval = aux->next_interval;
		aux->next_interval = 0;
	}
	window.data = get_window_bytes(aux, record->offset, record->size);
	if (!window.data) {
		aux->lost_bytes += record->size;
		return;
	}
	window.len = record->size;
	move_losses(aux, &window);
	window.end_ns = aux->armed_from + span;
	window.armed_ns = span > window.blind_ns ? span - window.blind_ns : 0;
	window.start_ns = window.armed_ns ? aux->armed_from : window.end_ns;
	window.flags = convert_window_flags(record->flags);
	/* NTP slews CLOCK_MONOTONIC but not the counter, so each window has its own conversion. */
	window.clock = aux->anchor;
	window.clock_skew_ns = timestamp_clock_measure_skew(&aux->anchor);
	aux->anchor = timestamp_clock_read();
	aux->armed_from = window.end_ns;
	detect_contexts(aux, &window);
	sink->window(sink->ctx, &window);
	free(aux->scratch);
	aux->scratch = NULL;
}

void perf_aux_add_blind(struct perf_aux *aux, enum source_blind cause, u64 ns)
{
	aux->blind_ns += ns;
	aux->blind_by[cause] += ns;
}

void perf_aux_report_pending(struct perf_aux *aux, const struct source_sink *sink)
{
	static const u8 nothing[1];
	struct source_window window = aux->window;

	if (!aux->blind_ns && !aux->lost_bytes)
		return;
	window.data = nothing;
	window.start_ns = window.end_ns = time_now_ns();
	move_losses(aux, &window);
	sink->window(sink->ctx, &window);
}

/* Enable the event, which the driver disabled at @since with a record that has @flags. */
static void reenable_event(struct perf_aux *aux, u64 since, u64 flags)
{
	u64 now;

	if (!aux->enabled || aux->host->enable(aux->fd, true) < 0)
		return;
	now = time_now_ns();
	perf_aux_add_blind(aux,
			   flags & PERF_AUX_FLAG_PARTIAL ? SOURCE_BLIND_FAULT : SOURCE_BLIND_FULL,
			   now > since ? now - since : 0);
}

/*
 * The flag PARTIAL is PMBSR_EL1.DL: records were lost. The AUX record does not contain the cause.
 */
static void count_fault(struct perf_aux *aux, u64 flags)
{
	struct source_health *health = aux->health;

	if (flags & PERF_AUX_FLAG_PARTIAL) {
		health->faults++;
		snprintf(health->last, sizeof(health->last),
			 "CPU %u: records were lost (PMBSR.DL); the kernel's log may say why",
			 aux->cpu);
	} else if (flags & PERF_AUX_FLAG_TRUNCATED) {
		health->unread++;
	}
}

/*
 * Wait until aux_head reaches @end. The kernel writes the record of a window just before it moves
 * aux_head, with interrupts disabled. The delay is longer only if a hypervisor deschedules that
 * CPU.
 */
static bool wait_for_head(const struct perf_aux *aux, u64 end)
{
	static const struct timespec moment = { .tv_nsec = HEAD_POLL_NS };
	u64 tail = aux->ring.control->aux_tail, from = 0;

	while (__atomic_load_n(&aux->ring.control->aux_head, __ATOMIC_ACQUIRE) - tail <
	       end - tail) {
		if (!from)
			from = time_now_ns();
		else if (time_now_ns() - from >= HEAD_WAIT_NS)
			return false;
		nanosleep(&moment, NULL);
	}
	return true;
}

/* Check that the area contains the bytes that @record describes. */
static bool record_is_valid(const struct perf_aux *aux, const struct perf_record_aux *record)
{
	u64 before = record->offset - aux->ring.control->aux_tail;
	u64 capacity = aux->area_size;

	return record->header.size >= sizeof(*record) && before <= capacity &&
	       record->size <= capacity - before &&
	       wait_for_head(aux, record->offset + record->size);
}

static int handle_aux_record(struct perf_aux *aux, const struct source_sink *sink)
{
	struct perf_record_aux record;

	perf_ring_copy(&aux->ring, 0, &record, sizeof(record));
	if (!record_is_valid(aux, &record))
		return -EBADMSG;
	/* If no record was lost, a gap consists of padding with which the driver aligns windows. */
	if (aux->record_lost)
		aux->lost_bytes += record.offset - aux->ring.control->aux_tail;
	aux->record_lost = false;
	count_fault(aux, record.flags);
	if (record.size)
		deliver_window(aux, &record, sink);
	__atomic_store_n(&aux->ring.control->aux_tail, record.offset + record.size,
			 __ATOMIC_RELEASE);
	if (record.flags & PERF_AUX_FLAG_TRUNCATED)
		reenable_event(aux, record.time, record.flags);
	return record.size > 0;
}

/*
 * Skip the bytes in the area that no valid record describes. Either the ring was full, or the CPU
 * went offline. When a CPU goes offline, the driver clears PMBPTR_EL1 before it computes the number
 * of written bytes. So aux_head is invalid, and the number of lost bytes is unknown.
 */
static void drop_undescribed_bytes(struct perf_aux *aux)
{
	u64 head = __atomic_load_n(&aux->ring.control->aux_head, __ATOMIC_ACQUIRE);
	u64 lost = head - aux->ring.control->aux_tail;

	aux->lost_bytes += lost <= aux->area_size ? lost : 0;
	aux->health->faults++;
	snprintf(aux->health->last, sizeof(aux->health->last),
		 "CPU %u: the driver reported an invalid window, as when a CPU goes offline",
		 aux->cpu);
	__atomic_store_n(&aux->ring.control->aux_tail, head, __ATOMIC_RELEASE);
	perf_ring_skip_all(&aux->ring);
}

/*
 * The perf ring was full, so perf dropped PERF_RECORD_AUX of some windows. Their bytes are in the
 * AUX area. The aux_offset of the next PERF_RECORD_AUX shows how many bytes.
 */
static void count_lost_records(struct perf_aux *aux)
{
	aux->record_lost = true;
	aux->health->unread++;
}

static int handle_record(struct perf_aux *aux, const struct perf_event_header *header,
			 const struct source_sink *sink)
{
	int windows = 0;

	if (header->type == PERF_RECORD_AUX)
		windows = handle_aux_record(aux, sink);
	else if (header->type == PERF_RECORD_LOST)
		count_lost_records(aux);
	if (windows >= 0)
		perf_ring_skip_record(&aux->ring, header);
	return windows;
}

int perf_aux_drain(struct perf_aux *aux, const struct source_sink *sink)
{
	struct perf_event_header header;
	int windows = 0, r;

	perf_ring_begin_read(&aux->ring);
	while ((r = perf_ring_read_header(&aux->ring, sizeof(header), &header)) > 0) {
		r = handle_record(aux, &header, sink);
		if (r < 0)
			break;
		windows += r;
	}
	if (r < 0)
		drop_undescribed_bytes(aux);
	perf_ring_end_read(&aux->ring);
	return r < 0 ? r : windows;
}

int perf_aux_flush(struct perf_aux *aux, const struct source_sink *sink)
{
	u64 from = time_now_ns(), blind = 0;
	int r;

	if (aux->host->enable(aux->fd, false) >= 0 && aux->host->enable(aux->fd, true) >= 0)
		blind = time_now_ns() - from;
	aux->flushed_at = from;
	/*
	 * The window ended before the event was disabled, so the next window reports the blind
	 * time.
	 */
	r = perf_aux_drain(aux, sink);
	perf_aux_add_blind(aux, SOURCE_BLIND_HANDLING, blind);
	return r;
}
