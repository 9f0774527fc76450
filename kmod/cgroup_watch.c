// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes on the kernel's tracepoints for context switches and changes of cgroups. They are
 * registered while a session of cgroups exists, and for a minute after the last one.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/printk.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include "arbiter.h"
#include "cgroup_tracepoints.h"
#include "cgroups.h"
#include "compat.h"
#include "cpu.h"

static speprof_cgroups_prune_fn prune_fn;

static void prune_work_run(struct work_struct *work)
{
	prune_fn();
}

static DECLARE_WORK(prune_work, prune_work_run);

void speprof_cgroups_schedule_prune(void)
{
	schedule_work(&prune_work);
}

void speprof_on_sched_switch(void *unused, bool preempt, struct task_struct *prev,
			     struct task_struct *next, unsigned int prev_state)
{
	speprof_arbiter_sched_switch(next);
}

void speprof_on_cgroup_attach_task(void *unused, struct cgroup *to, const char *path,
				   struct task_struct *task, bool threadgroup)
{
	speprof_arbiter_kick_cpus(task, threadgroup);
}

void speprof_on_cgroup_rmdir(void *unused, struct cgroup *cgroup, const char *path)
{
	speprof_cgroups_schedule_prune();
}

/*
 * struct tracepoint_hook - a tracepoint to find by name, because the kernel does not export it
 * @name: name of the tracepoint
 * @probe: the function that the tracepoint calls
 * @point: the tracepoint; NULL if the kernel does not have it, or passes other arguments
 */
struct tracepoint_hook {
	const char *name;
	void *probe;
	struct tracepoint *point;
};

static struct tracepoint_hook hooks[] = {
	{ "sched_switch", speprof_on_sched_switch },
	{ "cgroup_attach_task", speprof_on_cgroup_attach_task },
	{ "cgroup_rmdir", speprof_on_cgroup_rmdir },
};

static unsigned int watchers;

static void hooks_store_tracepoint(struct tracepoint *point, void *unused)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		if (!strcmp(point->name, hooks[i].name))
			hooks[i].point = point;
}

static void hooks_unregister(size_t count)
{
	while (count--)
		tracepoint_probe_unregister(hooks[count].point, hooks[count].probe, NULL);
}

static int hooks_register(void)
{
	size_t i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		ret = hooks[i].point ? tracepoint_probe_register(hooks[i].point, hooks[i].probe,
								 NULL) :
				       -EOPNOTSUPP;
		if (ret) {
			hooks_unregister(i);
			return ret;
		}
	}
	return 0;
}

/*
 * Probes stay registered for a minute after the last session. Otherwise each short session would
 * patch the scheduler's code on all CPUs twice. A probe does nothing on a CPU without a map.
 */
#define UNHOOK_SECONDS 60

static bool hooked;

static void unhook_work_run(struct work_struct *work)
{
	mutex_lock(&speprof_control);
	if (!watchers && hooked) {
		hooks_unregister(ARRAY_SIZE(hooks));
		hooked = false;
	}
	mutex_unlock(&speprof_control);
}

static DECLARE_DELAYED_WORK(unhook_work, unhook_work_run);

int speprof_cgroups_watch_get(void)
{
	int ret = 0;

	lockdep_assert_held(&speprof_control);
	if (!hooked)
		ret = hooks_register();
	if (ret)
		return ret;
	hooked = true;
	watchers++;
	return 0;
}

void speprof_cgroups_watch_put(void)
{
	lockdep_assert_held(&speprof_control);
	if (!--watchers)
		mod_delayed_work(system_wq, &unhook_work, UNHOOK_SECONDS * HZ);
}

void speprof_cgroups_init(speprof_cgroups_prune_fn prune)
{
	size_t i;

	prune_fn = prune;
	if (!compat_tracepoints_match()) {
		pr_warn("no sessions of cgroups: this kernel's tracepoints pass other arguments than this module expects\n");
		return;
	}
	for_each_kernel_tracepoint(hooks_store_tracepoint, NULL);
	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		if (!hooks[i].point)
			pr_warn("no sessions of cgroups: this kernel has no tracepoint %s\n",
				hooks[i].name);
}

void speprof_cgroups_deinit(void)
{
	cancel_delayed_work_sync(&unhook_work);
	if (hooked)
		hooks_unregister(ARRAY_SIZE(hooks));
	/* Wait for running probes first, because they may queue the work. */
	tracepoint_synchronize_unregister();
	cancel_work_sync(&prune_work);
}
