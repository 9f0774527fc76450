// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that the kernel writes and userspace maps.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "shared_buffer.h"
#include "compat.h"

int speprof_shared_buffer_init(struct speprof_shared_buffer *area, u64 bytes, int node)
{
	*area = (struct speprof_shared_buffer){};
	area->pages = kvzalloc_node(speprof_shared_buffer_pages(bytes) * sizeof(*area->pages),
				    GFP_KERNEL_ACCOUNT, node);
	if (!area->pages)
		return -ENOMEM;
	while (area->count < speprof_shared_buffer_pages(bytes)) {
		struct page *page = alloc_pages_node(node, GFP_KERNEL_ACCOUNT | __GFP_ZERO, 0);

		if (!page)
			goto fail;
		area->pages[area->count++] = page;
	}
	area->address = vmap(area->pages, area->count, VM_MAP, PAGE_KERNEL);
	if (area->address)
		return 0;
fail:
	speprof_shared_buffer_deinit(area);
	return -ENOMEM;
}

void speprof_shared_buffer_deinit(struct speprof_shared_buffer *area)
{
	vunmap(area->address);
	while (area->count)
		put_page(area->pages[--area->count]);
	kvfree(area->pages);
	*area = (struct speprof_shared_buffer){};
}

int speprof_shared_buffer_map(const struct speprof_shared_buffer *area, struct vm_area_struct *vma,
			      bool writable)
{
	unsigned long never = VM_MAYEXEC;

	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (!writable)
		never |= VM_MAYWRITE;
	if (vma->vm_flags & (never >> 4))
		return -EPERM;
	compat_vm_flags_mod(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP, never);
	return vm_map_pages_zero(vma, area->pages, area->count);
}
