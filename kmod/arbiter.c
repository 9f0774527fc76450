// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whose the SPU of a CPU is. See "Several sessions on one SPU" in Documentation/explanation/rings.md.
 */
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "cgroups.h"
#include "cpu.h"
#include "arbiter.h"
#include "ring.h"

/* ---- A CPU ------------------------------------------------------------------ */

struct speprof_cgroup_map *speprof_arbiter_swap_map(struct speprof_cpu *host,
						    struct speprof_cgroup_map *map)
{
	swap(host->map, map);
	return map;
}

struct speprof_cgroup_map *speprof_arbiter_add_ring(struct speprof_cpu *host,
						    struct speprof_ring *ring,
						    struct speprof_cgroup_map *map)
{
	hlist_add_head(&ring->on_cpu, &host->rings);
	if (!map)
		host->ring = ring;
	return speprof_arbiter_swap_map(host, map);
}

bool speprof_arbiter_serves(const struct speprof_cpu *host, const struct speprof_ring *ring)
{
	return host->backend == ring->config.backend;
}

struct speprof_cgroup_map *speprof_arbiter_remove_ring(struct speprof_cpu *host,
						       struct speprof_ring *ring)
{
	hlist_del_init(&ring->on_cpu);
	if (host->ring == ring)
		host->ring = NULL;
	if (!host->map || speprof_cgroup_map_forget_ring(host->map, ring))
		return NULL;
	return speprof_arbiter_swap_map(host, NULL);
}

/*
 * A task of @owner runs from here on. @late: it does not yet: until the switch is
 * over a record's Context packet would name the task before it, so EL1 has to wait.
 */
static void arbiter_give_spu(struct speprof_cpu *host, struct speprof_ring *owner, bool late)
{
	struct speprof_ring *last = host->ring;

	if (last && last != owner)
		speprof_ring_park(last);
	/* Its registers stay where they are: most often it is next again. */
	if (!owner)
		return;
	if (last != owner) {
		if (last)
			speprof_ring_save_registers(last);
		host->ring = owner;
	}
	speprof_ring_begin_handover(owner);
	if (late && speprof_ring_defers_handover(owner))
		irq_work_queue(&host->handover_work);
	else
		speprof_ring_complete_handover(owner);
}

/* The interrupt that comes as soon as the switch is over: current is the new task. */
static void arbiter_complete_handover(struct irq_work *work)
{
	struct speprof_cpu *host = container_of(work, struct speprof_cpu, handover_work);

	if (host->ring)
		speprof_ring_complete_handover(host->ring);
}

void speprof_arbiter_reevaluate(struct speprof_cpu *host)
{
	if (host->map && host->backend)
		arbiter_give_spu(host, speprof_cgroup_map_find(host->map, current), false);
}

void speprof_arbiter_online(struct speprof_cpu *host)
{
	struct speprof_ring *ring;

	/* A ring of a backend that was removed stays OFFLINE. */
	hlist_for_each_entry(ring, &host->rings, on_cpu)
		if (speprof_arbiter_serves(host, ring))
			speprof_ring_online(ring);
	speprof_arbiter_reevaluate(host);
}

void speprof_arbiter_offline(struct speprof_cpu *host)
{
	struct speprof_ring *ring;

	hlist_for_each_entry(ring, &host->rings, on_cpu)
		speprof_ring_offline(ring);
}

void speprof_arbiter_sched_switch(struct task_struct *next)
{
	struct speprof_cpu *host = this_cpu_ptr(&speprof_cpus);
	struct speprof_ring *owner;

	if (!host->map || !host->backend)
		return;
	owner = speprof_cgroup_map_find(host->map, next);
	if (owner == host->ring && owner && owner->state != SPEPROF_RING_PARKED)
		return;
	arbiter_give_spu(host, owner, true);
}

static void reevaluate_here(void *unused)
{
	/* A move that found this call still pending (EBUSY) is visible to the lookup. */
	smp_mb();
	speprof_arbiter_reevaluate(this_cpu_ptr(&speprof_cpus));
}

/*
 * A thread on no runqueue runs nowhere: the switch to it looks its cgroup up. With interrupts off
 * (trace_cgroup_path_lock), so only a call of one CPU may be made.
 */
static void arbiter_kick_cpu_of(const struct task_struct *thread)
{
	unsigned int cpu = task_cpu(thread);
	struct speprof_cpu *host = per_cpu_ptr(&speprof_cpus, cpu);

	/* EBUSY: the CPU is about to look. ENXIO: it is offline, and its rings with it. */
	if (READ_ONCE(thread->on_rq) && READ_ONCE(host->map))
		smp_call_function_single_async(cpu, &host->reevaluate_csd);
}

void speprof_arbiter_kick_cpus(const struct task_struct *leader, bool threadgroup)
{
	const struct task_struct *thread;

	/*
	 * The move before on_rq and task_cpu(). The scheduler has a full barrier between putting a
	 * thread on a runqueue and sched_switch: what is not seen here sees the move there.
	 */
	smp_mb();
	if (!threadgroup) {
		arbiter_kick_cpu_of(leader);
		return;
	}
	rcu_read_lock();
	for_each_thread(leader, thread)
		arbiter_kick_cpu_of(thread);
	rcu_read_unlock();
}

void speprof_arbiter_init(void)
{
	struct speprof_cpu *host;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		host = per_cpu_ptr(&speprof_cpus, cpu);
		/* In hard interrupt context everywhere: it touches the SPU. */
		host->handover_work = IRQ_WORK_INIT_HARD(arbiter_complete_handover);
		INIT_CSD(&host->reevaluate_csd, reevaluate_here, NULL);
	}
}

static void do_nothing_here(void *unused)
{
}

void speprof_arbiter_deinit(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		irq_work_sync(&per_cpu(speprof_cpus, cpu).handover_work);
	/* Calls that were made are taken before these are; what takes them is over after a grace period. */
	on_each_cpu(do_nothing_here, NULL, true);
	synchronize_rcu();
}
