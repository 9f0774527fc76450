// SPDX-License-Identifier: GPL-2.0-only
/*
 * speprof.ko: owns the Statistical Profiling Units and hands their records out.
 */
#include <linux/init.h>
#include <linux/module.h>

#include "chardev.h"

static int __init speprof_init(void)
{
	return chardev_init();
}

static void __exit speprof_exit(void)
{
	chardev_deinit();
}

module_init(speprof_init);
module_exit(speprof_exit);

MODULE_DESCRIPTION("Statistical Profiling Extension: sessions, rings and /dev/speprof");
MODULE_AUTHOR("The speprof project");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1.0");
