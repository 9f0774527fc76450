/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that the kernel writes and userspace maps.
 */
#ifndef SPEPROF_AREA_H
#define SPEPROF_AREA_H

#include <linux/mm_types.h>

struct speprof_shared_buffer {
	void *address;
	struct page **pages;
	unsigned long count;
};

/* Pages that an area of @bytes takes. */
static inline unsigned long speprof_shared_buffer_pages(u64 bytes)
{
	return DIV_ROUND_UP_ULL(bytes, PAGE_SIZE);
}

/** speprof_shared_buffer_init() - @bytes of zeroed memory on @node, charged to the caller's memory cgroup */
int speprof_shared_buffer_init(struct speprof_shared_buffer *area, u64 bytes, int node);

/** speprof_shared_buffer_deinit() - give it back; pages that are still mapped live on in the mapping */
void speprof_shared_buffer_deinit(struct speprof_shared_buffer *area);

/**
 * speprof_shared_buffer_map() - map from the area's start
 *
 * The mapping is not inherited, grown, dumped or made executable; without @writable it
 * is not writable, nor made so later.
 *
 * Return: 0; -EINVAL: not shared; -EPERM: writable or executable; -ENXIO: longer than the area.
 */
int speprof_shared_buffer_map(const struct speprof_shared_buffer *area, struct vm_area_struct *vma,
			      bool writable);

#endif
