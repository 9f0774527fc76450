// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probe for vm_flags_mod(), which changes the flags of a mapping; on older kernels drivers assign
 * the flags.
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
