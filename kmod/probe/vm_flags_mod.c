// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probe for constant flags of a mapping, which a function changes; older kernels let drivers assign
 * them.
 */
#include <linux/mm.h>

void probe(struct vm_area_struct *vma);
void probe(struct vm_area_struct *vma)
{
#if NEW
	vm_flags_mod(vma, VM_DONTCOPY, VM_MAYWRITE);
#else
	vma->vm_flags = (vma->vm_flags | VM_DONTCOPY) & ~VM_MAYWRITE;
#endif
}
