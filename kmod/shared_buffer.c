// SPDX-License-Identifier: GPL-2.0-only
/* Memory that the kernel writes and userspace maps; its pages need not be contiguous */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "shared_buffer.h"

int speprof_shared_buffer_init(struct speprof_shared_buffer *buffer, u64 bytes, int node)
{
	*buffer = (struct speprof_shared_buffer){};
	buffer->pages =
		kvzalloc_node(speprof_shared_buffer_count_pages(bytes) * sizeof(*buffer->pages),
			      GFP_KERNEL_ACCOUNT, node);
	if (!buffer->pages)
		return -ENOMEM;
	while (buffer->count < speprof_shared_buffer_count_pages(bytes)) {
		struct page *page = alloc_pages_node(node, GFP_KERNEL_ACCOUNT | __GFP_ZERO, 0);

		if (!page)
			goto fail;
		buffer->pages[buffer->count++] = page;
	}
	buffer->address = vmap(buffer->pages, buffer->count, VM_MAP, PAGE_KERNEL);
	if (buffer->address)
		return 0;
fail:
	speprof_shared_buffer_deinit(buffer);
	return -ENOMEM;
}

void speprof_shared_buffer_deinit(struct speprof_shared_buffer *buffer)
{
	vunmap(buffer->address);
	while (buffer->count)
		put_page(buffer->pages[--buffer->count]);
	kvfree(buffer->pages);
	*buffer = (struct speprof_shared_buffer){};
}

int speprof_shared_buffer_map(const struct speprof_shared_buffer *buffer,
			      struct vm_area_struct *vma, bool writable)
{
	unsigned long forbidden = VM_MAYEXEC;

	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (!writable)
		forbidden |= VM_MAYWRITE;
	/* VM_READ, VM_WRITE and VM_EXEC are VM_MAY* shifted right by 4. */
	if (vma->vm_flags & (forbidden >> 4))
		return -EPERM;
	compat_vm_flags_mod(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP, forbidden);
	return vm_map_pages_zero(vma, buffer->pages, buffer->count);
}
