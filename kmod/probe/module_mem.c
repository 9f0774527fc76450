// SPDX-License-Identifier: GPL-2.0-only
/* A module's memory is an array by type. */
#include <linux/module.h>

void *probe(struct module *module);
void *probe(struct module *module)
{
	return module->mem[MOD_TEXT].base;
}
