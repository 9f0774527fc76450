/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that the kernel writes and userspace maps.
 */
#ifndef SPEPROF_SHARED_BUFFER_H
#define SPEPROF_SHARED_BUFFER_H

#include <linux/mm_types.h>

/**
 * struct speprof_shared_buffer - pages that are mapped by the kernel and by userspace
 * @address: the contiguous mapping in the kernel
 * @pages: the pages
 * @count: number of pages
 */
struct speprof_shared_buffer {
	void *address;
	struct page **pages;
	unsigned long count;
};

/** speprof_shared_buffer_count_pages() - return the number of pages of a buffer of @bytes */
static inline unsigned long speprof_shared_buffer_count_pages(u64 bytes)
{
	return DIV_ROUND_UP_ULL(bytes, PAGE_SIZE);
}

/**
 * speprof_shared_buffer_init() - allocate zeroed memory, charged to the caller's memory cgroup
 * @buffer: the new buffer
 * @bytes: size, which is rounded up to pages
 * @node: NUMA node
 *
 * Context: may sleep.
 * Return: 0, or -ENOMEM if memory cannot be allocated.
 */
int speprof_shared_buffer_init(struct speprof_shared_buffer *buffer, u64 bytes, int node);

/**
 * speprof_shared_buffer_deinit() - free the memory
 * @buffer: the buffer, which is zeroed. Pages that userspace has mapped are freed when they are
 * unmapped
 */
void speprof_shared_buffer_deinit(struct speprof_shared_buffer *buffer);

/**
 * speprof_shared_buffer_map() - map the buffer from its start
 * @buffer: the buffer
 * @vma: the mapping
 * @writable: whether userspace may write
 *
 * The mapping is not inherited by fork(), not extended, not dumped, and never executable. If
 * @writable is false, mprotect() cannot make it writable later.
 *
 * Return: 0; -EINVAL if the mapping is not shared; -EPERM if it is executable, or if it is writable
 * and @writable is false; -ENXIO if it is longer than the buffer.
 */
int speprof_shared_buffer_map(const struct speprof_shared_buffer *buffer,
			      struct vm_area_struct *vma, bool writable);

#endif
