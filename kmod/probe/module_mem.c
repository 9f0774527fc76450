// SPDX-License-Identifier: GPL-2.0-only
/* A module's memory is an array by type; the older one has a layout of the core. */
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
