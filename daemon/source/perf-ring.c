// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perf-ring.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

int perf_ring_map(struct perf_ring *ring, int fd, u64 size)
{
	void *map = mmap(NULL, page_size() + size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		return -errno;
	*ring = (struct perf_ring){
		.control = map,
		.data = (const u8 *)map + page_size(),
		.size = size,
	};
	return 0;
}

int perf_ring_open(struct perf_ring *ring, const struct perf_event_attr *what, u32 cpu, u64 size)
{
	struct perf_event_attr attr = *what;
	int fd, r;

	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr.sample_id_all = 1;
	attr.watermark = 1;
	attr.wakeup_watermark = (u32)size / 2;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = perf_ring_map(ring, fd, size);
	if (r < 0) {
		close(fd);
		return r;
	}
	return fd;
}

/* In order of read_format: the count, which is of no use, and the time. */
u64 perf_event_ran_ns(int fd)
{
	u64 values[2];

	return read(fd, values, sizeof(values)) == sizeof(values) ? values[1] : 0;
}

void perf_ring_unmap(struct perf_ring *ring)
{
	if (ring->control)
		munmap(ring->control, page_size() + ring->size);
	*ring = (struct perf_ring){ 0 };
}
