// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes on the kernel's tracepoints for context switches and changes of cgroups. They are
 * registered while a session of cgroups exists.
 */
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include <trace/events/cgroup.h>
#include <trace/events/sched.h>

#include "arbiter.h"
#include "cgroups.h"
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

/* Called under the runqueue lock with interrupts off, before CONTEXTIDR changes. */
static void on_sched_switch(void *unused, bool preempt, struct task_struct *prev,
			    struct task_struct *next, unsigned int prev_state)
{
	speprof_arbiter_sched_switch(next);
}

/*
 * Called under cgroup_mutex, after the move. Without this call the arbiter would notice the new
 * cgroup of a running thread only at its next context switch.
 */
static void on_attach_task(void *unused, struct cgroup *to, const char *path,
			   struct task_struct *task, bool threadgroup)
{
	speprof_arbiter_kick_cpus(task, threadgroup);
}

/* Called under cgroup_mutex. */
static void on_rmdir(void *unused, struct cgroup *cgroup, const char *path)
{
	speprof_cgroups_schedule_prune();
}

/*
 * struct hook - a tracepoint that the kernel does not export, so that it must be found by name
 * @name: name of the tracepoint
 * @probe: the function that it calls
 * @point: the tracepoint; NULL if the kernel does not have it
 */
struct hook {
	const char *name;
	void *probe;
	struct tracepoint *point;
};

static struct hook hooks[] = {
	{ "sched_switch", on_sched_switch },
	{ "cgroup_attach_task", on_attach_task },
	{ "cgroup_rmdir", on_rmdir },
};

static unsigned int watchers;

static void hook_find(struct tracepoint *point, void *unused)
{
	size_t i;

	/* Check the parameters of the probes at compile time. */
	check_trace_callback_type_sched_switch(on_sched_switch);
	check_trace_callback_type_cgroup_attach_task(on_attach_task);
	check_trace_callback_type_cgroup_rmdir(on_rmdir);

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
 * Probes stay registered for a minute after the last session, as otherwise each short session would
 * patch the scheduler's code on all CPUs twice. Without a map a probe does nothing.
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
	prune_fn = prune;
	for_each_kernel_tracepoint(hook_find, NULL);
}

void speprof_cgroups_deinit(void)
{
	cancel_delayed_work_sync(&unhook_work);
	if (hooked)
		hooks_unregister(ARRAY_SIZE(hooks));
	/* Wait for running probes first, as they may queue the work. */
	tracepoint_synchronize_unregister();
	cancel_work_sync(&prune_work);
}
