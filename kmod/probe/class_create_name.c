// SPDX-License-Identifier: GPL-2.0-only
/* class_create() takes a name alone; the older one takes the module too. */
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
