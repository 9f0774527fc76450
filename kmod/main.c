// SPDX-License-Identifier: GPL-2.0-only
/*
 * speprof.ko: controls the Statistical Profiling Units and makes their records available to
 * userspace through /dev/speprof.
 */
#include <linux/init.h>
#include <linux/module.h>

#include "arbiter.h"
#include "cgroups.h"
#include "chardev.h"
#include "cpu.h"
#include "session.h"
#include "spu_hw.h"
#include "stats.h"

static int __init speprof_init(void)
{
	int ret;

	speprof_stats_init();
	speprof_arbiter_init();
	speprof_cgroups_init(speprof_sessions_prune_cgroups);
	ret = speprof_cpus_init();
	if (ret)
		goto no_cpus;
	if (IS_ENABLED(CONFIG_ARM64))
		ret = speprof_spu_hw_init();
	if (ret)
		goto no_hardware;
	/*
	 * Register the device last: userspace may open it immediately, so no later step may fail.
	 */
	ret = speprof_chardev_init();
	if (ret)
		goto no_chardev;
	return 0;

no_chardev:
	if (IS_ENABLED(CONFIG_ARM64))
		speprof_spu_hw_deinit();
no_hardware:
	speprof_cpus_deinit();
no_cpus:
	speprof_cgroups_deinit();
	speprof_arbiter_deinit();
	speprof_stats_deinit();
	return ret;
}

static void __exit speprof_exit(void)
{
	speprof_chardev_deinit();
	if (IS_ENABLED(CONFIG_ARM64))
		speprof_spu_hw_deinit();
	speprof_cpus_deinit();
	speprof_cgroups_deinit();
	speprof_arbiter_deinit();
	speprof_stats_deinit();
}

module_init(speprof_init);
module_exit(speprof_exit);

MODULE_DESCRIPTION("Statistical Profiling Extension: sessions, rings and /dev/speprof");
MODULE_AUTHOR("The speprof project");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1.0");
