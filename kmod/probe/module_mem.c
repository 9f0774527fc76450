// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probe for struct module.mem, an array that is indexed by the type of memory; older kernels have
 * struct module.core_layout.
 */
#include <linux/module.h>

void *probe(struct module *module);
void *probe(struct module *module)
{
#if NEW
	return module->mem[MOD_TEXT].base;
#else
	return module->core_layout.base;
#endif
}
