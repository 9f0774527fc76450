// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whose the SPU of a CPU is. See "Sessions of cgroups" in Documentation/kernel.md.
 */
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "cgroups.h"
#include "cpu.h"
#include "arbiter.h"
#include "ring.h"

/* ---- A CPU ------------------------------------------------------------------ */

struct cgroup_map *owner_swap(struct speprof_cpu *host, struct cgroup_map *map)
{
	swap(host->map, map);
	return map;
}

struct cgroup_map *owner_add(struct speprof_cpu *host, struct ring *ring, struct cgroup_map *map)
{
	hlist_add_head(&ring->on_cpu, &host->rings);
	if (!map)
		host->ring = ring;
	return owner_swap(host, map);
}

bool owner_serves(const struct speprof_cpu *host, const struct ring *ring)
{
	return host->backend == ring->config.backend;
}

struct cgroup_map *owner_remove(struct speprof_cpu *host, struct ring *ring)
{
	hlist_del_init(&ring->on_cpu);
	if (host->ring == ring)
		host->ring = NULL;
	if (!host->map || cgroup_map_forget(host->map, ring))
		return NULL;
	return owner_swap(host, NULL);
}

/*
 * A task of @owner runs from here on. @late: it does not yet: until the switch is
 * over a record's Context packet would name the task before it, so EL1 has to wait.
 */
static void owner_give(struct speprof_cpu *host, struct ring *owner, bool late)
{
	struct ring *last = host->ring;

	if (last && last != owner)
		ring_park(last);
	/* Its registers stay where they are: most often it is next again. */
	if (!owner)
		return;
	if (last != owner) {
		if (last)
			ring_put_away(last);
		host->ring = owner;
	}
	ring_enter(owner);
	if (late && ring_enters_late(owner))
		irq_work_queue(&host->seat);
	else
		ring_seat(owner);
}

/* The interrupt that comes as soon as the switch is over: current is the new task. */
static void owner_seat(struct irq_work *work)
{
	struct speprof_cpu *host = container_of(work, struct speprof_cpu, seat);

	if (host->ring)
		ring_seat(host->ring);
}

void owner_settle(struct speprof_cpu *host)
{
	if (host->map && host->backend)
		owner_give(host, cgroup_map_find(host->map, current), false);
}

void owner_online(struct speprof_cpu *host)
{
	struct ring *ring;

	/* A ring of a backend that was removed stays OFFLINE. */
	hlist_for_each_entry(ring, &host->rings, on_cpu)
		if (owner_serves(host, ring))
			ring_online(ring);
	owner_settle(host);
}

void owner_offline(struct speprof_cpu *host)
{
	struct ring *ring;

	hlist_for_each_entry(ring, &host->rings, on_cpu)
		ring_offline(ring);
}

void owner_switch(struct task_struct *next)
{
	struct speprof_cpu *host = this_cpu_ptr(&speprof_cpus);
	struct ring *owner;

	if (!host->map || !host->backend)
		return;
	owner = cgroup_map_find(host->map, next);
	if (owner == host->ring && owner && owner->state != SPEPROF_RING_PARKED)
		return;
	owner_give(host, owner, true);
}

static void settle_here(void *unused)
{
	/* A move that found this call still pending (EBUSY) is visible to the lookup. */
	smp_mb();
	owner_settle(this_cpu_ptr(&speprof_cpus));
}

/*
 * A thread on no runqueue runs nowhere: the switch to it looks its cgroup up. With interrupts off
 * (trace_cgroup_path_lock), so only a call of one CPU may be made.
 */
static void owner_thread_moved(const struct task_struct *thread)
{
	unsigned int cpu = task_cpu(thread);
	struct speprof_cpu *host = per_cpu_ptr(&speprof_cpus, cpu);

	/* EBUSY: the CPU is about to look. ENXIO: it is offline, and its rings with it. */
	if (READ_ONCE(thread->on_rq) && READ_ONCE(host->map))
		smp_call_function_single_async(cpu, &host->moved);
}

void owner_moved(const struct task_struct *leader, bool threadgroup)
{
	const struct task_struct *thread;

	/*
	 * The move before on_rq and task_cpu(). The scheduler has a full barrier between putting a
	 * thread on a runqueue and sched_switch: what is not seen here sees the move there.
	 */
	smp_mb();
	if (!threadgroup) {
		owner_thread_moved(leader);
		return;
	}
	rcu_read_lock();
	for_each_thread(leader, thread)
		owner_thread_moved(thread);
	rcu_read_unlock();
}

void owner_init(void)
{
	struct speprof_cpu *host;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		host = per_cpu_ptr(&speprof_cpus, cpu);
		/* In hard interrupt context everywhere: it touches the SPU. */
		host->seat = IRQ_WORK_INIT_HARD(owner_seat);
		INIT_CSD(&host->moved, settle_here, NULL);
	}
}

static void nothing_here(void *unused)
{
}

void owner_deinit(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		irq_work_sync(&per_cpu(speprof_cpus, cpu).seat);
	/* Calls that were made are taken before these are; what takes them is over after a grace period. */
	on_each_cpu(nothing_here, NULL, true);
	synchronize_rcu();
}
