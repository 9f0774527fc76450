// SPDX-License-Identifier: GPL-2.0-only
/* Probe for the memory of a module as an array by type; older kernels have a layout of the core. */
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
