// SPDX-License-Identifier: GPL-2.0-only
/* Probe for class_create() with only a name; older kernels also pass the module. */
#include <linux/device.h>
#include <linux/module.h>

struct class *probe(void);
struct class *probe(void)
{
#if NEW
	return class_create("probe");
#else
	return class_create(THIS_MODULE, "probe");
#endif
}
