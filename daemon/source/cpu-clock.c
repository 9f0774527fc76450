// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu-clock.h"

#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* Minimum size of the ring of a CPU in bytes. */
#define RING_MIN (64ULL << 10)
#define RING_MAX (1ULL << 20)

/* The kernel writes a PERF_RECORD_SAMPLE with these values in the order of struct tick_record. */
#define SAMPLE_TYPE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME)

struct tick_record {
	struct perf_event_header header;
	u64 pc;
	s32 pid;
	s32 tid;
	u64 time;
};

/*
 * The trailer that the kernel appends to all other records, because the event sets sample_id_all.
 */
struct id_trailer {
	s32 pid;
	s32 tid;
	u64 time;
};

/* Bytes of the longest record of this event: PERF_RECORD_THROTTLE with its trailer */
#define RECORD_MAX (sizeof(struct perf_event_header) + 3 * sizeof(u64) + sizeof(struct id_trailer))

static const char *explain_open_error(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		return perf_event_explain_open_error();
	case ENOSYS:
		return "perf_event_open does not exist: the kernel has no CONFIG_PERF_EVENTS, or "
		       "a container's seccomp filter hides it";
	case EMFILE:
	case ENFILE:
		return "perf_event_open needs one descriptor for each CPU, and the limit of "
		       "open files is reached (RLIMIT_NOFILE)";
	case ENODEV:
		return "perf_event_open found the CPU offline";
	default:
		return "perf_event_open does not know the CPU clock (PERF_COUNT_SW_CPU_CLOCK)";
	}
}

/* Return a size with space for the ticks of one second: the ring is drained four times a second. */
static u64 compute_ring_size(const struct cpu_clock_config *config)
{
	u64 need = 1000000000 / config->period_ns * sizeof(struct tick_record), size = RING_MIN;
	u64 max = config->ring_max ? config->ring_max : RING_MAX;

	while (size < need && size < max)
		size *= 2;
	return size;
}

int cpu_clock_open(struct cpu_clock *clock, u32 cpu, const struct cpu_clock_config *config,
		   const char **ret_reason)
{
	u64 size = compute_ring_size(config);
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = config->period_ns,
		.sample_type = SAMPLE_TYPE,
		.read_format = PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = 1,
		.sample_id_all = 1,
		.exclude_idle = 1,
		.exclude_kernel = !config->kernel,
		.exclude_user = !config->user,
		.exclude_hv = 1,
		.exclude_guest = 1,
		.watermark = 1,
		.wakeup_watermark = (u32)(size / 2),
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	struct perf_ring ring;
	int fd, r;

	fd = perf_event_open(&attr, cpu);
	if (fd < 0) {
		*ret_reason = explain_open_error(-fd);
		return fd;
	}
	r = perf_ring_map(&ring, fd, size);
	if (r < 0) {
		*ret_reason = "the ring of a perf event cannot be mapped: check RLIMIT_MEMLOCK and "
			      "kernel.perf_event_mlock_kb";
		close(fd);
		return r;
	}
	*clock = (struct cpu_clock){ .ring = ring, .fd = fd };
	return 0;
}

void cpu_clock_close(struct cpu_clock *clock)
{
	if (clock->fd < 0)
		return;
	perf_ring_unmap(&clock->ring);
	close(clock->fd);
	*clock = CPU_CLOCK_INIT;
}

int cpu_clock_start(struct cpu_clock *clock)
{
	return ioctl(clock->fd, PERF_EVENT_IOC_ENABLE, 0) < 0 ? -errno : 0;
}

void cpu_clock_stop(struct cpu_clock *clock)
{
	ioctl(clock->fd, PERF_EVENT_IOC_DISABLE, 0);
}

bool cpu_clock_begin_read(struct cpu_clock *clock)
{
	const struct perf_ring *ring = &clock->ring;

	perf_ring_begin_read(&clock->ring);
	return ring->size - (ring->head - ring->tail) < RECORD_MAX + sizeof(struct tick_record);
}

void cpu_clock_end_read(struct cpu_clock *clock)
{
	perf_ring_skip_all(&clock->ring);
	perf_ring_end_read(&clock->ring);
}

static bool read_tick(const struct cpu_clock *clock, const struct perf_event_header *header,
		      struct cpu_clock_event *ret_event)
{
	struct tick_record tick;
	u8 el;

	switch (header->misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_USER:
		el = 0;
		break;
	case PERF_RECORD_MISC_KERNEL:
		el = 1;
		break;
	default:
		return false;
	}
	if (header->size != sizeof(tick))
		return false;
	perf_ring_copy(&clock->ring, 0, &tick, sizeof(tick));
	*ret_event = (struct cpu_clock_event){
		.type = CPU_CLOCK_TICK,
		.time_ns = tick.time,
		.pc = tick.pc,
		.tid = tick.tid,
		.el = el,
	};
	return true;
}

/* Read an event that has only a time: lost records, throttle or unthrottle. */
static bool read_timed_event(const struct cpu_clock *clock, const struct perf_event_header *header,
			     u8 type, struct cpu_clock_event *ret_event)
{
	struct id_trailer id;

	if (header->size < sizeof(*header) + sizeof(id))
		return false;
	perf_ring_copy(&clock->ring, header->size - sizeof(id), &id, sizeof(id));
	*ret_event = (struct cpu_clock_event){ .type = type, .time_ns = id.time };
	return true;
}

bool cpu_clock_read_event(struct cpu_clock *clock, struct cpu_clock_event *ret_event)
{
	struct perf_event_header header;
	bool found = false;

	while (!found && perf_ring_read_header(&clock->ring, sizeof(header), &header) > 0) {
		switch (header.type) {
		case PERF_RECORD_SAMPLE:
			found = read_tick(clock, &header, ret_event);
			break;
		case PERF_RECORD_LOST:
			found = read_timed_event(clock, &header, CPU_CLOCK_LOST, ret_event);
			break;
		case PERF_RECORD_THROTTLE:
			found = read_timed_event(clock, &header, CPU_CLOCK_THROTTLE, ret_event);
			break;
		case PERF_RECORD_UNTHROTTLE:
			found = read_timed_event(clock, &header, CPU_CLOCK_UNTHROTTLE, ret_event);
			break;
		}
		perf_ring_skip_record(&clock->ring, &header);
	}
	return found;
}
