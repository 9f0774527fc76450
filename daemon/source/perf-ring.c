// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perf-ring.h"

#include <errno.h>
#include <sys/mman.h>
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

void perf_ring_unmap(struct perf_ring *ring)
{
	if (ring->control)
		munmap(ring->control, page_size() + ring->size);
	*ring = (struct perf_ring){ 0 };
}
