// SPDX-License-Identifier: GPL-2.0-only
/* A mapping's flags are const, and changed by a call. */
#include <linux/mm.h>

void probe(struct vm_area_struct *vma);
void probe(struct vm_area_struct *vma)
{
	vm_flags_mod(vma, VM_DONTCOPY, VM_MAYWRITE);
}
