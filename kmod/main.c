// SPDX-License-Identifier: GPL-2.0-only
/*
 * speprof.ko: owns the Statistical Profiling Units and hands their records out.
 */
#include <linux/init.h>
#include <linux/module.h>

#include "cgroups.h"
#include "chardev.h"
#include "cpu.h"
#include "stats.h"
#include "arbiter.h"
#include "session.h"
#include "spu_hw.h"

static int __init speprof_init(void)
{
	int ret;

	observe_init();
	owner_init();
	cgroups_init(sessions_prune);
	ret = speprof_cpus_init();
	if (ret)
		goto no_cpus;
	if (IS_ENABLED(CONFIG_ARM64))
		ret = spu_hw_init();
	if (ret)
		goto no_hardware;
	/* Last: once the device is registered it may be opened, and then nothing may fail. */
	ret = chardev_init();
	if (ret)
		goto no_chardev;
	return 0;

no_chardev:
	if (IS_ENABLED(CONFIG_ARM64))
		spu_hw_exit();
no_hardware:
	speprof_cpus_exit();
no_cpus:
	cgroups_deinit();
	owner_deinit();
	observe_deinit();
	return ret;
}

static void __exit speprof_exit(void)
{
	chardev_deinit();
	if (IS_ENABLED(CONFIG_ARM64))
		spu_hw_exit();
	speprof_cpus_exit();
	cgroups_deinit();
	owner_deinit();
	observe_deinit();
}

module_init(speprof_init);
module_exit(speprof_exit);

MODULE_DESCRIPTION("Statistical Profiling Extension: sessions, rings and /dev/speprof");
MODULE_AUTHOR("The speprof project");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1.0");
