// SPDX-License-Identifier: GPL-2.0-only
/* Compiles on every kernel, which proves that the flags of the probes are correct. */
#include <linux/module.h>

int probe(void);
int probe(void)
{
	return module_refcount(THIS_MODULE);
}
